//! The command line: what Pumice sees, a program run on it, a kernel compiled by it, its installation.

mod compile;
mod info;
mod install;
mod library;
mod run;

use std::process::ExitCode;

use lexopt::prelude::*;

const HELP: &str = "\
Pumice: an OpenCL driver that runs on any Vulkan device.

pumice info
    Devices, what each can and cannot do and why; the compiler found; the ICD files seen.
pumice run PROGRAM [ARGUMENT...]
    Runs an OpenCL program with Pumice as its only platform. Nothing needs to be installed.
pumice compile FILE.cl|FILE.spv [-o FILE] [--emit spirv|asm|ir|il] [--kernel NAME]
        [--options 'BUILD OPTIONS'] [--device-like full|lavapipe|nvidia|radv|swiftshader|minimal]
    Compiles OpenCL C or OpenCL SPIR-V as the driver does. spirv: Vulkan SPIR-V, one module for each
    kernel; asm: the same as text (the default); ir: the kernels' reflection and argument blocks;
    il: the OpenCL SPIR-V that clang makes. Several modules are written to FILE.KERNEL each.
pumice install [--user|--system] [--uninstall]
    Writes (or removes) the .icd file by which OpenCL loaders find Pumice. --system (the default for
    root): /etc/OpenCL/vendors. --user: $XDG_CONFIG_HOME/OpenCL/vendors.

--help, -h       this text
--version, -V    the version
";

/// A failure as the user reads it.
type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match command() {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("pumice: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn command() -> Result<ExitCode, Failure> {
    let mut arguments = lexopt::Parser::from_env();
    match arguments.next()? {
        Some(Long("help") | Short('h')) => {
            print(HELP);
            Ok(ExitCode::SUCCESS)
        }
        Some(Long("version") | Short('V')) => {
            print(concat!("pumice ", env!("CARGO_PKG_VERSION"), "\n"));
            Ok(ExitCode::SUCCESS)
        }
        Some(Value(name)) => match name.to_str() {
            Some("info") => info::command(arguments),
            Some("run") => run::command(arguments),
            Some("compile") => compile::command(arguments),
            Some("install") => install::command(arguments),
            Some("help") => {
                print(HELP);
                Ok(ExitCode::SUCCESS)
            }
            _ => Err(format!("unknown command {name:?}; see pumice --help").into()),
        },
        Some(other) => Err(other.unexpected().into()),
        None => Err("a command is missing; see pumice --help".into()),
    }
}

/// Writes to standard output; a reader that has gone (`pumice info | head`) is no failure.
fn print(text: &str) {
    use std::io::Write;
    let _ = std::io::stdout().write_all(text.as_bytes());
}
