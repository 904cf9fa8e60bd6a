//! In which form a platform gets kernels: each has the same results.

use crate::generator::ITEMS;
use crate::worker::Wanted;
use opencl3::context::Context;
use opencl3::program::Program;
use std::path::Path;
use std::process::Command;

/// The variable of the environment that chooses: `split`, `local=SIZE` or `spirv`.
const FORM: &str = "PUMICE_RANDOM_FORM";

/// What makes modules: not the compiler that Pumice itself uses, but the way that other applications take.
const CLANG: &str = "clang-15";
pub const TRANSLATOR: &str = "llvm-spirv-15";

/// What the reason starts with where they don't make one.
pub const NO_MODULE: &str = "the module can't be made";

/// What is optimized has integers of widths that the translator does not know.
const CLANG_ARGUMENTS: [&str; 10] = [
    "--target=spir64",
    "-cl-std=CL3.0",
    "-Xclang",
    "-finclude-default-header",
    "-O0",
    "-w",
    "-emit-llvm",
    "-c",
    "-x",
    "cl",
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As source, in one launch with the kernel's own local size.
    Usual,
    /// In three launches, where that makes no difference.
    Split,
    /// With work-groups of another size, where that makes no difference.
    Local(usize),
    /// As a module, made without Pumice.
    Spirv,
}

/// A launch.
pub struct Part {
    pub first: usize,
    pub count: usize,
    pub local_size: usize,
}

impl Form {
    pub fn of_environment() -> Self {
        let form = std::env::var(FORM).unwrap_or_default();
        match form.split_once('=') {
            Some(("local", size)) => size.parse().map_or(Self::Usual, Self::Local),
            _ if form == "split" => Self::Split,
            _ if form == "spirv" => Self::Spirv,
            _ => Self::Usual,
        }
    }

    pub fn build(self, context: &Context, path: &Path, options: &str) -> Result<Program, String> {
        if self == Self::Spirv {
            let module = path.with_extension("spv");
            compile(path, &module)?;
            let module = std::fs::read(module).map_err(|error| error.to_string())?;
            let mut program =
                Program::create_from_il(context, &module).map_err(|error| error.to_string())?;
            let built = program.build(context.devices(), "");
            return match built {
                Ok(()) => Ok(program),
                Err(error) => {
                    let log = program.get_build_log(context.devices()[0]);
                    Err(format!("{error}: {}", log.unwrap_or_default()))
                }
            };
        }
        let source = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        Program::create_and_build_from_source(context, &source, options)
    }

    /// The launches of a kernel.
    pub fn parts(self, kernel: &Wanted) -> Vec<Part> {
        let all = ITEMS as usize;
        let part = |first, count, local_size| Part {
            first,
            count,
            local_size,
        };
        match self {
            Self::Split if kernel.free => {
                vec![part(0, 7, 7), part(7, 1, 1), part(8, all - 8, 8)]
            }
            Self::Local(size) if kernel.free => vec![part(0, all, size)],
            _ => vec![part(0, all, kernel.local_size)],
        }
    }
}

/// Has an older clang and the SPIR-V translator make a module of a program, as it is written.
fn compile(source: &Path, module: &Path) -> Result<(), String> {
    let bitcode = source.with_extension("bc");
    let mut clang = Command::new(CLANG);
    clang
        .args(CLANG_ARGUMENTS)
        .arg(source)
        .arg("-o")
        .arg(&bitcode);
    let mut translator = Command::new(TRANSLATOR);
    translator.arg(&bitcode).arg("-o").arg(module);
    for command in [&mut clang, &mut translator] {
        let output = command.output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            let reason = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{NO_MODULE}: {reason}"));
        }
    }
    Ok(())
}
