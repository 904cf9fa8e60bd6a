//! OpenCL SPIR-V in, Vulkan SPIR-V and reflection out.
//!
//! A pure function: no Vulkan handle, no file, no clock. See [`compile`].

pub mod analysis;
pub mod capabilities;
pub mod context;
pub mod emit;
pub mod error;
pub mod evaluate;
pub mod extract_kernel;
pub mod image;
#[cfg(test)]
pub mod interp;
pub mod ir;
pub mod library;
pub mod link;
pub mod operations;
pub mod parse;
pub mod passes;
pub mod pipe;
mod pipeline;
pub mod printf;
pub mod program;
mod requirements;
mod sharing;
pub mod spirv;
#[cfg(test)]
pub(crate) mod testing;
pub mod verify;

pub use capabilities::Capabilities;
pub use context::{Context, Options};
pub use error::{CompileError, ErrorKind};
pub use ir::{MAX_WORK_GROUP_SIZE, Sharing};
pub use library::Library;
pub use program::{CompiledKernel, CompiledProgram};
pub use spirv::PackedModule;

pub use crate::drivers::Defects;
use pipeline::{run_pass, verify_after};
use verify::Stage;

/// The code of a program, as it is kept. A function that every kernel calls is in each of them.
const MOST_CODE_BYTES: usize = 1 << 29;

/// Compiles OpenCL SPIR-V modules, linked together in order, for one device.
///
/// `modules` are SPIR-V words (1.0 to 1.6, capability `Kernel`, addressing Physical32/64). The result
/// holds one Vulkan module per kernel. `library` is indexed once and shared by all compilations. Errors
/// name the instruction and its word offset.
pub fn compile(
    modules: &[&[u32]],
    library: &Library,
    capabilities: &Capabilities,
    options: &Options,
) -> Result<CompiledProgram, CompileError> {
    compile_observed(
        modules,
        library,
        capabilities,
        options,
        &mut |pass, module| {
            log::trace!("after {pass}:\n{module}");
        },
    )
}

/// [`compile`], showing the IR to `observe` after each pass: first the whole program's (`link`,
/// `lower::builtins`), then each kernel's.
pub fn compile_observed(
    modules: &[&[u32]],
    library: &Library,
    capabilities: &Capabilities,
    options: &Options,
    observe: &mut dyn FnMut(&str, &ir::Module),
) -> Result<CompiledProgram, CompileError> {
    let cx = Context {
        capabilities,
        options,
        library,
        sharing: Sharing::All,
    };
    let parsed: Vec<ir::Module> = modules
        .iter()
        .map(|words| parse::parse(words, options))
        .collect::<Result<_, _>>()?;
    let mut program = link::link(parsed)?;
    verify_after("link", &program, Stage::Parsed)?;
    observe("link", &program);
    let lower_builtins = passes::lower::builtins::run;
    run_pass("lower::builtins", lower_builtins, &mut program, &cx)?;
    verify_after("lower::builtins", &program, Stage::BuiltinsLowered)?;
    observe("lower::builtins", &program);

    let data = passes::helpers::data_segment::layout(&program)?;
    let mut compiled = CompiledProgram {
        data,
        ..CompiledProgram::default()
    };
    let mut left_out = Vec::new();
    let mut code_bytes = 0;
    for (index, kernel) in program.kernels.iter().enumerate() {
        let Some(module) = extract_kernel::extract_kernel(&program, index) else {
            continue;
        };
        let located = |error: CompileError| error.in_function(kernel.name.as_str());
        if let Err(error) = requirements::check_sub_groups(&kernel.attributes, capabilities) {
            left_out.push((kernel.name.as_str(), located(error)));
            continue;
        }
        verify_after("extract_kernel", &module, Stage::BuiltinsLowered).map_err(located)?;
        observe("extract_kernel", &module);
        requirements::check(&module, capabilities).map_err(located)?;
        let lower = |module: &mut ir::Module, cx: &Context<'_>| pipeline::run(module, cx, observe);
        let module = sharing::lowered(module, &cx, lower).map_err(located)?;
        let emitted = emit::emit(&module, &cx).map_err(located)?;
        code_bytes += emitted.spirv.as_bytes().len();
        if code_bytes > MOST_CODE_BYTES {
            return Err(located(CompileError::unsupported(
                "the program is too large: the code of its kernels takes more than 512 MiB",
            )));
        }
        compiled.kernels.push(emitted);
    }
    let is_for_callers = |kernel: &CompiledKernel| !kernel.attributes.is_initializer;
    if !compiled.kernels.iter().any(is_for_callers)
        && let Some((_, error)) = left_out.first()
    {
        return Err(error.clone());
    }
    let reasons = left_out.into_iter();
    compiled.left_out = reasons
        .map(|(name, error)| (name.to_owned(), error.reason))
        .collect();
    Ok(compiled)
}

#[cfg(test)]
mod tests;
