//! `clBuildProgram`, `clCompileProgram`, `clLinkProgram`: from what a program holds to what runs.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};

use opencl_sys::{CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE, CL_LINK_PROGRAM_FAILURE};

use super::executable::Executable;
use super::object::Object;
use super::{Origin, Product, Program};
use crate::compiler::CompiledProgram;
use crate::runtime::code::compile::{STACK_BYTES, compile_modules};
use crate::runtime::code::front_end::FrontEnd;
use crate::runtime::code::modules::Modules;
use crate::runtime::device::Device;
use crate::runtime::host::process::{self, AtWork};
use crate::runtime::object::callback::{ProgramNotify, UserData};
use crate::runtime::{Error, Result};
use crate::toolchain::options::{LanguageVersion, MathOptions};
use crate::toolchain::request::{Rest, SourceOutcome};
use crate::toolchain::{BuildOptions, CompileRequest, LinkOptions, compile_source};

/// The outcome for one device.
pub(super) struct Built {
    /// `None` when it failed.
    pub product: Option<Product>,
    pub log: String,
}

/// A build that may still run when the call has returned.
#[derive(Clone, Copy, Default)]
pub struct Notify {
    pub function: ProgramNotify,
    pub user_data: Option<UserData>,
}

/// What a build is to do.
enum Task {
    Build(BuildOptions),
    Compile(BuildOptions, Vec<(String, String)>),
    Link(LinkOptions, Vec<Arc<Program>>),
}

impl Task {
    fn failure(&self) -> Error {
        let reason = "see the build log";
        match self {
            Self::Build(_) => Error::new(CL_BUILD_PROGRAM_FAILURE, reason),
            Self::Compile(..) => Error::new(CL_COMPILE_PROGRAM_FAILURE, reason),
            Self::Link(..) => Error::new(CL_LINK_PROGRAM_FAILURE, reason),
        }
    }
}

/// Compiles and links for the devices at `devices` (places in the program's list).
///
/// # Errors
/// `CL_INVALID_OPERATION` as the specification says; without a callback also
/// `CL_BUILD_PROGRAM_FAILURE`.
pub fn build(
    program: &Arc<Program>,
    devices: Vec<usize>,
    text: &str,
    options: BuildOptions,
    notify: Notify,
) -> Result<()> {
    start(program, devices, text, Task::Build(options), notify)
}

/// Compiles without linking. `headers` are include names and texts.
///
/// # Errors
/// As [`build`], with `CL_COMPILE_PROGRAM_FAILURE`.
pub fn compile(
    program: &Arc<Program>,
    devices: Vec<usize>,
    text: &str,
    options: BuildOptions,
    headers: Vec<(String, String)>,
    notify: Notify,
) -> Result<()> {
    start(
        program,
        devices,
        text,
        Task::Compile(options, headers),
        notify,
    )
}

/// Links the objects and libraries of `inputs` into `program`, a new one.
///
/// # Errors
/// Without a callback `CL_LINK_PROGRAM_FAILURE`.
pub fn link(
    program: &Arc<Program>,
    devices: Vec<usize>,
    text: &str,
    options: LinkOptions,
    inputs: Vec<Arc<Program>>,
    notify: Notify,
) -> Result<()> {
    start(program, devices, text, Task::Link(options, inputs), notify)
}

fn start(
    program: &Arc<Program>,
    devices: Vec<usize>,
    text: &str,
    task: Task,
    notify: Notify,
) -> Result<()> {
    program.begin(&devices, text)?;
    let Some(function) = notify.function else {
        return run_on_own_stack(program, &devices, &task);
    };
    // "If pfn_notify is not NULL, clBuildProgram does not need to wait for the build to complete and can
    // return immediately".
    let handle = UserData(program_handle(program));
    let user_data = notify.user_data.unwrap_or(UserData(std::ptr::null_mut()));
    let held = Arc::clone(program);
    let work = move || {
        let (handle, user_data) = (handle, user_data);
        // The application learns of a failure by the build status.
        let _ = run(&held, &devices, &task);
        // What is dropped here may be the last to hold something of the driver's.
        let _at_work = AtWork::begin();
        drop(task);
        // SAFETY: the application's function with the program it was given for, and its own data. No lock
        // is held.
        process::call_application(|| unsafe { function(handle.0.cast(), user_data.0) });
        drop(held);
    };
    detach(work);
    Ok(())
}

/// Does `work` on a thread of its own; on this one if there is none to be had.
fn detach<F: FnOnce() + Send + 'static>(work: F) {
    // A thread that can't be had takes along what it was made with: so the work is sent to one that is there.
    let (sender, receiver) = mpsc::channel::<F>();
    let spawned = std::thread::Builder::new()
        .name("pumice-build".into())
        .stack_size(STACK_BYTES)
        .spawn(move || receiver.recv().map_or((), |work| work()));
    match spawned {
        Ok(_) => drop(sender.send(work)),
        Err(error) => {
            log::warn!("no thread for the build, which runs on the caller's: {error}");
            work();
        }
    }
}

/// Runs the build while the caller waits. Not on the caller's stack: an application's thread may have little.
fn run_on_own_stack(program: &Program, devices: &[usize], task: &Task) -> Result<()> {
    let finished = std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("pumice-build".into())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || run(program, devices, task))
            .ok()
            .and_then(|thread| thread.join().ok())
    });
    // No thread to be had: the caller's stack must do.
    finished.unwrap_or_else(|| run(program, devices, task))
}

/// The handle the callback gets: the program exists for the application already, or is about to.
fn program_handle(program: &Program) -> *mut std::ffi::c_void {
    use crate::runtime::object::registry::Object;
    program.handle().as_ptr()
}

fn run(program: &Program, devices: &[usize], task: &Task) -> Result<()> {
    let mut sources = SourceMemo::default();
    let mut failed = false;
    for index in devices {
        let built = catch_unwind(AssertUnwindSafe(|| {
            build_for(program, *index, task, &mut sources)
        }))
        .unwrap_or_else(|panic| {
            let message = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            Built {
                product: None,
                log: format!("error: internal error of Pumice's compiler: {message}\n"),
            }
        });
        failed |= built.product.is_none();
        if built.product.is_none() {
            log::debug!("build failed:\n{}", built.log);
        }
        program.finish(*index, built);
    }
    if failed { Err(task.failure()) } else { Ok(()) }
}

fn build_for(program: &Program, index: usize, task: &Task, sources: &mut SourceMemo) -> Built {
    let Some(device) = program.devices().get(index) else {
        return Built {
            product: None,
            log: "error: the program has no such device\n".into(),
        };
    };
    match task {
        Task::Compile(options, headers) => {
            let (modules, rest, log) = modules_of(program, device, options, Some(headers), sources);
            let object = modules.map(|modules| Arc::new(Object::new(modules, rest)));
            Built {
                product: object.map(Product::Object),
                log,
            }
        }
        Task::Build(options) => match program.build(index).product {
            // A program binary is loaded, or linked if it is an object.
            Product::Loaded(stored) if matches!(program.origin(), Origin::Binary) => {
                let modules = Arc::new(stored.modules.clone());
                let compiled = match &stored.program {
                    Some(compiled) => Ok(compiled.clone()),
                    None => compile_modules(device.capabilities(), &modules),
                };
                executable(device, modules, compiled, String::new())
            }
            Product::Executable(built) if matches!(program.origin(), Origin::Binary) => Built {
                product: Some(Product::Executable(built)),
                log: String::new(),
            },
            Product::Object(object) if matches!(program.origin(), Origin::Binary) => {
                link_modules(device, object.alone().clone())
            }
            Product::Library(modules) if matches!(program.origin(), Origin::Binary) => {
                link_modules(device, (*modules).clone())
            }
            _ => build_modules(program, device, options, sources),
        },
        Task::Link(options, inputs) => link_for(device, options, inputs),
    }
}

fn build_modules(
    program: &Program,
    device: &Arc<Device>,
    options: &BuildOptions,
    sources: &mut SourceMemo,
) -> Built {
    match modules_of(program, device, options, None, sources) {
        (Some(modules), _, log) => {
            let modules = Arc::new(modules);
            let compiled = compile_modules(device.capabilities(), &modules);
            let again = match compiled {
                Ok(_) => None,
                Err(_) => without_optimizations(program, device, options),
            };
            again.unwrap_or_else(|| executable(device, modules, compiled, log))
        }
        (None, _, log) => Built { product: None, log },
    }
}

/// The program, if it is none but for what clang's optimizations made of its source: its back end makes invalid SPIR-V
/// of integers of 192 bits, say.
fn without_optimizations(
    program: &Program,
    device: &Arc<Device>,
    options: &BuildOptions,
) -> Option<Built> {
    if !matches!(program.origin(), Origin::Source(_)) {
        return None;
    }
    let mut sources = SourceMemo {
        are_unoptimized: true,
        ..SourceMemo::default()
    };
    let (modules, _, log) = modules_of(program, device, options, None, &mut sources);
    let modules = Arc::new(modules?);
    let compiled = compile_modules(device.capabilities(), &modules).ok()?;
    Some(executable(device, modules, Ok(compiled), log))
}

fn executable(
    device: &Arc<Device>,
    modules: Arc<Modules>,
    compiled: std::result::Result<CompiledProgram, String>,
    mut log: String,
) -> Built {
    match compiled {
        Ok(compiled) => {
            for (name, reason) in &compiled.left_out {
                log.push_str(&format!(
                    "warning: the program is built without kernel '{name}': {reason}\n"
                ));
            }
            for kernel in &compiled.kernels {
                if let Some(excess) = &kernel.excess {
                    let warning = format!("kernel '{}' can't be launched: {excess}", kernel.name);
                    log::warn!("{warning}");
                    log.push_str(&format!("warning: {warning}\n"));
                }
            }
            Built {
                product: Some(Product::Executable(Executable::new(
                    device, modules, compiled,
                ))),
                log,
            }
        }
        Err(message) => {
            log.push_str(&message);
            Built { product: None, log }
        }
    }
}

fn link_for(device: &Arc<Device>, options: &LinkOptions, inputs: &[Arc<Program>]) -> Built {
    let is_alone = inputs.len() == 1 && !options.create_library;
    let mut linked = Modules::default();
    for input in inputs {
        let modules = match modules_to_link(device, input, is_alone) {
            Ok(modules) => modules,
            Err(log) => return Built { product: None, log },
        };
        linked.modules.extend(modules.modules);
        linked.specialization.extend(modules.specialization);
        linked.denorms_are_zero |= modules.denorms_are_zero;
        linked.fast_relaxed_math |= modules.fast_relaxed_math;
        linked.opt_disable |= modules.opt_disable;
        linked.uniform_work_groups |= modules.uniform_work_groups;
    }
    linked.denorms_are_zero |= options.math.denorms_are_zero;
    linked.fast_relaxed_math |= is_fast(options.math);
    if options.create_library {
        return Built {
            product: Some(Product::Library(Arc::new(linked))),
            log: String::new(),
        };
    }
    link_modules(device, linked)
}

fn link_modules(device: &Arc<Device>, modules: Modules) -> Built {
    let compiled = compile_modules(device.capabilities(), &modules);
    executable(device, Arc::new(modules), compiled, String::new())
}

/// What an input of a link is to it; `is_alone`: its only one, of an executable.
///
/// # Errors
/// Lines for the build log.
fn modules_to_link(
    device: &Arc<Device>,
    input: &Program,
    is_alone: bool,
) -> std::result::Result<Modules, String> {
    let product = input
        .device_index(device)
        .map(|index| input.build(index).product)
        .unwrap_or_default();
    match product {
        Product::Object(object) if is_alone => Ok(object.alone().clone()),
        Product::Object(object) => object.whole(),
        Product::Library(modules) => Ok((*modules).clone()),
        // The caller has checked the inputs; a build that replaced one meanwhile is the application's race.
        _ => Err(
            "error: an input program holds no compiled object or library for this device\n".into(),
        ),
    }
}

fn is_fast(math: MathOptions) -> bool {
    math.fast_relaxed || math.unsafe_math
}

/// OpenCL C before 2.0 knows no other work-groups than uniform ones; without `-cl-std` it is 1.2.
fn is_before_2(program: &Program, options: &BuildOptions) -> bool {
    let before = match options.language {
        None => true,
        Some(LanguageVersion::C(version)) => version < 200,
        Some(LanguageVersion::Cpp1 | LanguageVersion::Cpp2021) => false,
    };
    before && matches!(program.origin(), Origin::Source(_))
}

/// Sources compiled in this call: devices that speak the same language share the run of clang.
#[derive(Default)]
struct SourceMemo {
    outcomes: HashMap<crate::toolchain::LanguageTarget, SourceOutcome>,
    /// Whether they are compiled without clang's optimizations, whatever the options say.
    are_unoptimized: bool,
}

/// The OpenCL SPIR-V of a program for a device, functions that it lacks, and the log. `headers` are those of
/// `clCompileProgram`: then more is linked to it.
fn modules_of(
    program: &Program,
    device: &Device,
    options: &BuildOptions,
    headers: Option<&[(String, String)]>,
    sources: &mut SourceMemo,
) -> (Option<Modules>, Option<Rest>, String) {
    let (module, rest, log) = match program.origin() {
        Origin::Source(source) => {
            let is_unoptimized = sources.are_unoptimized;
            let outcome = sources
                .outcomes
                .entry(device.language_target())
                .or_insert_with_key(|target| {
                    let front_end = FrontEnd::instance();
                    let request = CompileRequest {
                        source: &source.for_compiler(),
                        headers: headers.unwrap_or_default(),
                        options,
                        target,
                        is_whole: headers.is_none(),
                        is_unoptimized,
                    };
                    compile_source(front_end.clang(), front_end.cache(), &request)
                });
            (
                outcome.spirv.clone(),
                outcome.rest.clone(),
                outcome.log.clone(),
            )
        }
        Origin::Il { module, .. } => (Some(module.clone()), None, String::new()),
        Origin::Binary | Origin::Linked => (
            None,
            None,
            "error: the program has neither source nor intermediate language\n".into(),
        ),
    };
    let modules = module.map(|module| Modules {
        modules: vec![module],
        denorms_are_zero: options.math.denorms_are_zero,
        fast_relaxed_math: is_fast(options.math),
        opt_disable: options.opt_disable,
        uniform_work_groups: options.uniform_work_group_size || is_before_2(program, options),
        specialization: program.specialization(),
    });
    (modules, rest, log)
}
