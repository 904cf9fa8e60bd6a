//! From linked OpenCL SPIR-V to device code, by the compiler or from the disk cache.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::front_end::FrontEnd;
use super::modules::Modules;
use crate::compiler::{self, Capabilities, CompileError, CompiledProgram, ErrorKind, PackedModule};
use crate::config::Config;
use crate::toolchain::cache::KeyBuilder;
use crate::toolchain::validate::validate;

/// Room for the compiler's recursion over deeply nested programs. Only what is touched is ever taken.
pub const STACK_BYTES: usize = 256 << 20;

/// Compiles linked modules to device code, or takes the result of an earlier time from the cache.
///
/// # Errors
/// Lines for a build log.
pub fn compile_modules(
    capabilities: &Capabilities,
    modules: &Modules,
) -> std::result::Result<CompiledProgram, String> {
    compile(capabilities, modules, false)
}

/// [`compile_modules`], with the arguments of all kernels in memory if `arguments_in_memory`.
fn compile(
    capabilities: &Capabilities,
    modules: &Modules,
    arguments_in_memory: bool,
) -> std::result::Result<CompiledProgram, String> {
    let cache = FrontEnd::instance().cache();
    let mut builder = KeyBuilder::new("SPIR-V to program")
        .field(&postcard::to_allocvec(capabilities).unwrap_or_default())
        .field(&[
            u8::from(modules.denorms_are_zero),
            u8::from(modules.fast_relaxed_math),
            u8::from(modules.opt_disable),
            u8::from(modules.uniform_work_groups),
            u8::from(arguments_in_memory),
        ]);
    for (id, value) in &modules.specialization {
        builder = builder.field(&id.to_le_bytes()).field(value);
    }
    for module in &modules.modules {
        builder = builder.field(module.as_bytes());
    }
    let key = builder.finish();
    let validating = Config::of_process().validate;
    if !validating
        && let Some(kept) = cache.get(key)
        && let Ok(program) = postcard::from_bytes::<CompiledProgram>(&kept)
    {
        log::debug!("compiled program taken from the cache");
        return Ok(program);
    }
    let options = compiler::Options {
        specialization: modules.specialization.clone().into_iter().collect(),
        denorms_are_zero: modules.denorms_are_zero,
        fast_relaxed_math: modules.fast_relaxed_math,
        opt_disable: modules.opt_disable,
        uniform_work_groups: modules.uniform_work_groups,
        arguments_in_memory,
    };
    let made = || {
        let unpacked = modules.modules.iter().map(PackedModule::words);
        let unpacked = unpacked.collect::<std::result::Result<Vec<_>, _>>()?;
        let slices: Vec<&[u32]> = unpacked.iter().map(Vec::as_slice).collect();
        let library = FrontEnd::instance().library().map_err(Clone::clone)?;
        compiler::compile(&slices, library, capabilities, &options)
    };
    let lines = |error: CompileError| {
        if error.kind == ErrorKind::Internal {
            log::error!("{error}");
        }
        format!("{error}\n")
    };
    let program = made().map_err(lines)?;
    if validating {
        for kernel in &program.kernels {
            validate(&kernel.spirv.words().map_err(lines)?).map_err(|message| {
                let name = &kernel.name;
                format!("error: the code generated for kernel '{name}' is not valid: {message}\n")
            })?;
        }
    }
    if let Ok(bytes) = postcard::to_allocvec(&program) {
        cache.put(key, &bytes);
    }
    Ok(program)
}

/// Compiles as a build does, outside of one: while the caller waits, on a stack of its own; with the arguments of all kernels
/// in memory if `arguments_in_memory`.
///
/// # Errors
/// Lines for a build log.
pub fn compile_on_own_stack(
    capabilities: &Capabilities,
    modules: &Modules,
    arguments_in_memory: bool,
) -> std::result::Result<CompiledProgram, String> {
    let compiled = || compile(capabilities, modules, arguments_in_memory);
    let guarded = || {
        catch_unwind(AssertUnwindSafe(compiled))
            .unwrap_or_else(|_| Err("internal error of Pumice's compiler".into()))
    };
    let finished = std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("pumice-build".into())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, guarded)
            .ok()
            .and_then(|thread| thread.join().ok())
    });
    finished.unwrap_or_else(guarded)
}
