//! OpenCL SPIR-V in, Vulkan SPIR-V and reflection out.
//!
//! A pure function: no Vulkan handle, no file, no clock. See [`compile`].

pub mod analysis;
pub mod capabilities;
pub mod emit;
pub mod error;
pub mod extract_kernel;
pub mod image;
#[cfg(test)]
pub mod interp;
pub mod ir;
pub mod library;
pub mod link;
pub mod packed;
pub mod parse;
pub mod passes;
pub mod pipe;
pub mod printf;
pub mod program;
mod requirements;
pub mod shape;
mod sharing;
pub mod specialize;
#[cfg(test)]
pub(crate) mod testing;
pub mod verify;
pub mod words;

pub use capabilities::Capabilities;
pub use error::CompileError;
pub use ir::Sharing;
pub use library::Library;
pub use packed::PackedModule;
pub use program::{CompiledKernel, CompiledProgram};

pub use crate::drivers::Defects;
use std::collections::HashMap;
use verify::Stage;

/// How an OpenCL program is compiled, beyond what the module itself says.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `clSetProgramSpecializationConstant`: values by `SpecId`, little-endian bytes.
    pub specialization: HashMap<u32, Vec<u8>>,
    /// `-cl-denorms-are-zero`
    pub denorms_are_zero: bool,
    /// `-cl-fast-relaxed-math`, `-cl-unsafe-math-optimizations`: cheap built-ins are allowed.
    pub fast_relaxed_math: bool,
    /// `-cl-opt-disable`
    pub opt_disable: bool,
    /// `-cl-uniform-work-group-size`, or OpenCL C before 2.0: all work-groups have the local size.
    pub uniform_work_groups: bool,
}

/// What every pass may read.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub capabilities: &'a Capabilities,
    pub options: &'a Options,
    /// The built-in library, for `lower_builtins`.
    pub library: &'a Library,
    /// Which functions' calls may go to one body in the kernel, for `inline`.
    pub sharing: Sharing,
}

/// A pass over a module.
type Pass = fn(&mut ir::Module, &Context<'_>) -> Result<(), CompileError>;

/// Work-items that a work-group has at most. Local ids are known to be below.
pub const MAX_WORK_GROUP_SIZE: u16 = u16::MAX;

/// The code of a program, as it is kept. A function that every kernel calls is in each of them.
const MOST_CODE_BYTES: usize = 1 << 29;

/// What is done to each kernel, in order, and how far its module is then.
const KERNEL_PASSES: &[(&str, Pass, Stage)] = {
    use Stage::{ArgumentsLowered, ImagesLowered, PointersLowered, WorkItemsLowered};
    &[
        ("lower_images", passes::lower_images::run, ImagesLowered),
        ("inline", passes::inline::run, ImagesLowered),
        ("limit_nesting", passes::limit_nesting::run, ImagesLowered),
        ("lower_pipes", passes::lower_pipes::run, ImagesLowered),
        ("lower_groups", passes::lower_groups::run, ImagesLowered),
        (
            "lower_work_items",
            passes::lower_work_items::run,
            WorkItemsLowered,
        ),
        (
            "infer_address_spaces",
            passes::infer_address_spaces::run,
            WorkItemsLowered,
        ),
        ("promote", passes::promote::run, WorkItemsLowered),
        ("align_copies", passes::align_copies::run, WorkItemsLowered),
        ("lower_copies", passes::lower_copies::run, WorkItemsLowered),
        (
            "reduce_strength",
            passes::reduce_strength::run,
            WorkItemsLowered,
        ),
        ("simplify", passes::simplify::run, WorkItemsLowered),
        (
            "sequence_memory",
            passes::sequence_memory::run,
            WorkItemsLowered,
        ),
        ("unroll", passes::unroll::run, WorkItemsLowered),
        (
            "report_lost_iterations",
            passes::report_lost_iterations::run,
            WorkItemsLowered,
        ),
        ("lower_printf", passes::lower_printf::run, WorkItemsLowered),
        (
            "read_uniforms",
            passes::read_uniforms::run,
            WorkItemsLowered,
        ),
        (
            "lower_arguments",
            passes::lower_arguments::run,
            ArgumentsLowered,
        ),
        ("promote", passes::promote::run, ArgumentsLowered),
        ("simplify", passes::simplify::run, ArgumentsLowered),
        (
            "infer_address_spaces",
            passes::infer_address_spaces::run,
            ArgumentsLowered,
        ),
        (
            "lower_pointers",
            passes::lower_pointers::run,
            PointersLowered,
        ),
        ("simplify", passes::simplify::run, PointersLowered),
        (
            "align_elements",
            passes::align_elements::run,
            PointersLowered,
        ),
        (
            "share_uniform_loads",
            passes::share_uniform_loads::run,
            PointersLowered,
        ),
        (
            "lower_dot_products",
            passes::lower_dot_products::run,
            PointersLowered,
        ),
        (
            "lower_conversions",
            passes::lower_conversions::run,
            PointersLowered,
        ),
        ("order_memory", passes::order_memory::run, PointersLowered),
        (
            "legalize_memory",
            passes::legalize_memory::run,
            PointersLowered,
        ),
        (
            "legalize_float16",
            passes::legalize_float16::run,
            PointersLowered,
        ),
        (
            "legalize_int64",
            passes::legalize_int64::run,
            PointersLowered,
        ),
        (
            "legalize_small_ints",
            passes::legalize_small_ints::run,
            PointersLowered,
        ),
        ("distribute", passes::distribute::run, PointersLowered),
        (
            "shorten_addresses",
            passes::shorten_addresses::run,
            PointersLowered,
        ),
        (
            "join_argument_words",
            passes::join_argument_words::run,
            PointersLowered,
        ),
        (
            "index_addresses",
            passes::index_addresses::run,
            PointersLowered,
        ),
        (
            "promote_elements",
            passes::promote_elements::run,
            PointersLowered,
        ),
        ("simplify", passes::simplify::run, Stage::Emit),
        // What was made narrow again of words, where only memory may be narrow.
        (
            "legalize_small_ints",
            passes::legalize_small_ints::run,
            Stage::Emit,
        ),
        (
            "legalize_loop_results",
            passes::legalize_loop_results::run,
            Stage::Emit,
        ),
        (
            "split_saturated_sums",
            passes::split_saturated_sums::run,
            Stage::Emit,
        ),
        ("round_doubles", passes::round_doubles::run, Stage::Emit),
        ("divide_longs", passes::divide_longs::run, Stage::Emit),
        ("convert_longs", passes::convert_longs::run, Stage::Emit),
        (
            "complete_leading_bits",
            passes::complete_leading_bits::run,
            Stage::Emit,
        ),
        (
            "bias_comparisons",
            passes::bias_comparisons::run,
            Stage::Emit,
        ),
        (
            "split_selected_elements",
            passes::split_selected_elements::run,
            Stage::Emit,
        ),
        ("hide_arms", passes::hide_arms::run, Stage::Emit),
        ("hide_ranges", passes::hide_ranges::run, Stage::Emit),
        ("hide_float_bits", passes::hide_float_bits::run, Stage::Emit),
        (
            "widen_loop_flags",
            passes::widen_loop_flags::run,
            Stage::Emit,
        ),
        (
            "shorten_searches",
            passes::shorten_searches::run,
            Stage::Emit,
        ),
        (
            "separate_indices",
            passes::separate_indices::run,
            Stage::Emit,
        ),
        ("structurize", passes::structurize::run, Stage::Emit),
        ("drop_parameters", passes::drop_parameters::run, Stage::Emit),
        (
            "bypass_selections",
            passes::bypass_selections::run,
            Stage::Emit,
        ),
        (
            "define_arguments",
            passes::define_arguments::run,
            Stage::Emit,
        ),
        (
            "leave_loops_at_header",
            passes::leave_loops_at_header::run,
            Stage::Emit,
        ),
        ("hold_loop_state", passes::hold_loop_state::run, Stage::Emit),
        ("keep_selections", passes::keep_selections::run, Stage::Emit),
        (
            "keep_miscounted_loops",
            passes::keep_miscounted_loops::run,
            Stage::Emit,
        ),
        (
            "hide_uniform_addresses",
            passes::hide_uniform_addresses::run,
            Stage::Emit,
        ),
        (
            "break_long_blocks",
            passes::break_long_blocks::run,
            Stage::Emit,
        ),
        ("wait_behind", passes::wait_behind::run, Stage::Emit),
        ("end_rows", passes::end_rows::run, Stage::Emit),
        ("mask_idle_lanes", passes::mask_idle_lanes::run, Stage::Emit),
        ("measure_frame", passes::measure_frame::run, Stage::Emit),
    ]
};

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
/// `lower_builtins`), then each kernel's.
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
    run_pass(passes::lower_builtins::run, &mut program, &cx)?;
    verify_after("lower_builtins", &program, Stage::BuiltinsLowered)?;
    observe("lower_builtins", &program);

    let data = passes::data_segment::layout(&program)?;
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
        let lower = |module: &mut ir::Module, cx: &Context<'_>| lower(module, cx, observe);
        let module = sharing::lowered(module, &cx, lower).map_err(located)?;
        let emitted = emit::emit(&module, &cx).map_err(located)?;
        code_bytes += emitted.spirv.as_bytes().len();
        if code_bytes > MOST_CODE_BYTES {
            return Err(located(CompileError::new(
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

/// Runs [`KERNEL_PASSES`] on a kernel's module.
fn lower(
    module: &mut ir::Module,
    cx: &Context<'_>,
    observe: &mut dyn FnMut(&str, &ir::Module),
) -> Result<(), CompileError> {
    for (name, pass, stage) in KERNEL_PASSES {
        run_pass(*pass, module, cx)?;
        verify_after(name, module, *stage)?;
        observe(name, module);
    }
    Ok(())
}

/// Runs a pass. A module that it made too large is refused for that, whatever else became of it.
fn run_pass(pass: Pass, module: &mut ir::Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let result = pass(module, cx);
    let mut functions = module.functions.iter();
    match functions.find(|function| function.is_too_large()) {
        Some(function) => {
            Err(CompileError::new("the code is too large").in_function(&function.name))
        }
        None => result,
    }
}

/// In debug builds: a pass that broke the IR is found at once, and named.
fn verify_after(pass: &str, module: &ir::Module, stage: Stage) -> Result<(), CompileError> {
    if cfg!(debug_assertions)
        && let Err(errors) = verify::module(module, stage)
    {
        let errors = errors.join("\n");
        return Err(CompileError::new(format!(
            "internal: after {pass}: {errors}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
