//! The process that builds programs, and says what becomes of them.

use pumice::compiler::{CompiledKernel, PackedModule};
use pumice::runtime::context::Context;
use pumice::runtime::device::Device;
use pumice::runtime::device::findings::Subject;
use pumice::runtime::device::work_limits::WorkLimits;
use pumice::runtime::object::callback::UserData;
use pumice::runtime::platform::Platform;
use pumice::runtime::program::build::{self, Notify};
use pumice::runtime::program::executable::Executable;
use pumice::runtime::program::pipeline_key::PipelineKey;
use pumice::runtime::program::source::Source;
use pumice::runtime::program::{Origin, Program};
use pumice::toolchain::BuildOptions;
use pumice::vulkan::{Pipeline, ShaderModule};
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Says that the process is such a one, and how many kernels of the first program it leaves out.
pub const WORKER: &str = "PUMICE_TEST_WORKER";

/// How many seconds of a processor a kernel may take.
pub const PATIENCE: &str = "PUMICE_TEST_PATIENCE";

/// The local size of kernels that require none.
const GROUP: u32 = 64;

/// `PUMICE_ASSUME` for a device that is taken at its word.
pub fn everything() -> String {
    let all = Subject::ALL
        .iter()
        .map(|subject| format!("{}=1", subject.name()));
    all.collect::<Vec<_>>().join(",")
}

/// Builds the programs that standard input names.
pub fn run() -> ExitCode {
    pumice::config::Config::of_process().start_logging();
    let Some(device) = Platform::instance().devices().first() else {
        eprintln!("no usable Vulkan device");
        return ExitCode::FAILURE;
    };
    let info = device.info();
    say(&format!(
        "device {} ({} {})",
        info.name, info.driver_name, info.driver_info
    ));
    let context = Context::new(
        vec![Arc::clone(device)],
        Vec::new(),
        None,
        UserData(std::ptr::null_mut()),
    );
    let first = std::env::var(WORKER)
        .ok()
        .and_then(|value| value.parse().ok());
    let mut skipped = first.unwrap_or(0);
    let patience = std::env::var(PATIENCE)
        .ok()
        .and_then(|value| value.parse().ok());
    let patience = patience.unwrap_or(f64::MAX);
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        match executable(&context, Path::new(&line)) {
            Ok(built) => compile(device, &built, skipped, patience),
            Err(reason) => say(&format!("unbuilt {reason}")),
        }
        skipped = 0;
        say("end");
    }
    // What is left of the driver is of no interest.
    ExitCode::SUCCESS
}

/// Writes a line, at once.
fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    // A reader that has gone ends the process anyway.
    let _ = writeln!(output, "{}", line.replace('\n', " "));
    let _ = output.flush();
}

/// The built program of a file.
fn executable(context: &Arc<Context>, path: &Path) -> Result<Arc<Executable>, String> {
    let code = std::fs::read(path).map_err(|error| error.to_string())?;
    let origin = if path.extension().is_some_and(|it| it == "spv") {
        let module = PackedModule::of_bytes(&code).map_err(|error| error.to_string())?;
        Origin::Il {
            bytes: code,
            module,
        }
    } else {
        let mut source = Source::default();
        source.push(&code).map_err(|error| error.to_string())?;
        Origin::Source(source)
    };
    let text = std::fs::read_to_string(path.with_extension("options"));
    let text = text.unwrap_or_else(|_| "-cl-std=CL3.0".into());
    let options = BuildOptions::parse(&text).map_err(|error| error.to_string())?;
    let program = Program::new(context, origin);
    let built = build::build(&program, vec![0], &text, options, Notify::default());
    match (built, program.executables().pop().flatten()) {
        (Ok(()), Some(executable)) => Ok(executable),
        _ => {
            let log = program.build(0).log;
            let error = log.lines().find(|line| line.contains("error"));
            // Without the place in the source, so that the same reason has the same text.
            let error = error.unwrap_or("no reason");
            Err(error
                .split_once("error: ")
                .map_or(error, |(_, reason)| reason)
                .to_owned())
        }
    }
}

/// Makes the pipelines of all kernels but the first ones.
fn compile(device: &Arc<Device>, executable: &Executable, skipped: usize, patience: f64) {
    for kernel in executable.program().kernels.iter().skip(skipped) {
        say(&format!("kernel {}", kernel.name));
        if let Some(excess) = &kernel.excess {
            say(&format!("excess {excess}"));
            continue;
        }
        let start = processor_seconds();
        limit(start + patience);
        match pipeline(device, executable, kernel) {
            Ok(_) => say(&format!("compiled {}", processor_seconds() - start)),
            Err(reason) => say(&format!("refused {reason}")),
        }
    }
}

/// Has the system end the process once it has used so many seconds of a processor.
fn limit(seconds: f64) {
    let limit = libc::rlimit {
        rlim_cur: seconds.ceil() as u64,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the limit is read. One that is not taken ends nothing.
    unsafe { libc::setrlimit(libc::RLIMIT_CPU, &raw const limit) };
}

/// Seconds of all processors that this process has used.
fn processor_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the place is a `timespec`.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The pipeline as a launch with arguments like any has it, made without any cache on a disk.
fn pipeline(
    device: &Arc<Device>,
    executable: &Executable,
    kernel: &CompiledKernel,
) -> Result<Pipeline, String> {
    let most = WorkLimits::of(device, kernel).max_group_size;
    let required = kernel.attributes.required_work_group_size;
    let key = PipelineKey {
        local_size: required.unwrap_or([GROUP.min(most), 1, 1]),
        ..PipelineKey::default()
    };
    let options = executable.pipeline_options(kernel, &key);
    let constants: Vec<(u32, u32)> = (0..).zip(key.local_size).collect();
    let vulkan = device.vulkan().map_err(|error| error.to_string())?;
    let words = kernel.spirv.words().map_err(|error| error.to_string())?;
    let module = ShaderModule::new(vulkan, &words).map_err(|error| error.to_string())?;
    Pipeline::new(vulkan, &module, &constants, options, None).map_err(|error| error.to_string())
}
