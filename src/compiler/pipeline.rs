//! What is done to a kernel, in order: a line a pass, and what holds behind it.
//!
//! A pass runs again where what lies between has made work for it: `promote` and `simplify` behind each lowering, which makes
//! variables and arithmetic of what was one operation; `infer_address_spaces` once arguments are loads from a block, whose
//! pointers are global; `small_ints` behind the last `simplify`, which makes words narrow again.

use super::context::Context;
use super::error::CompileError;
use super::ir::{Inst, Module, Type, Value};
use super::passes;
use super::verify::{self, Stage};

/// A pass over a module.
pub(super) type Pass = fn(&mut Module, &Context<'_>) -> Result<(), CompileError>;

/// A pass at its place.
pub(super) struct Step {
    /// The folder and the name of its module.
    pub name: &'static str,
    pub pass: Pass,
    /// How far the module is behind it.
    pub stage: Stage,
}

macro_rules! pipeline {
    ($($folder:ident::$pass:ident -> $stage:ident)*) => {
        &[$(Step {
            name: concat!(stringify!($folder), "::", stringify!($pass)),
            pass: passes::$folder::$pass::run,
            stage: Stage::$stage,
        }),*]
    };
}

/// The passes, in order.
pub(super) const STEPS: &[Step] = pipeline! {
    // Normalize: one function where that can be, its variables as values, and no copy of memory larger than a vector.
    lower::images                       -> ImagesLowered
    lower::inline                       -> ImagesLowered
    legalize::limit_nesting             -> ImagesLowered
    lower::pipes                        -> ImagesLowered
    lower::groups                       -> ImagesLowered
    lower::work_items                   -> WorkItemsLowered
    lower::infer_address_spaces         -> WorkItemsLowered
    optimize::promote                   -> WorkItemsLowered
    optimize::align_copies              -> WorkItemsLowered
    lower::copies                       -> WorkItemsLowered

    // Optimize, while pointers are pointers and loops are loops.
    optimize::reduce_strength           -> WorkItemsLowered
    optimize::simplify                  -> WorkItemsLowered
    lower::sequence_memory              -> WorkItemsLowered
    optimize::unroll                    -> WorkItemsLowered
    // It counts the iterations that unroll has left, and reads an implicit argument.
    workarounds::report_lost_iterations -> WorkItemsLowered

    // Lower: arguments to a block, pointers to addresses and indices.
    lower::printf                       -> WorkItemsLowered
    optimize::read_uniforms             -> WorkItemsLowered
    lower::arguments                    -> ArgumentsLowered
    optimize::promote                   -> ArgumentsLowered
    optimize::simplify                  -> ArgumentsLowered
    lower::infer_address_spaces         -> ArgumentsLowered
    lower::pointers                     -> PointersLowered
    optimize::simplify                  -> PointersLowered
    optimize::align_elements            -> PointersLowered
    optimize::share_uniform_loads       -> PointersLowered
    lower::dot_products                 -> PointersLowered
    lower::conversions                  -> PointersLowered
    lower::order_memory                 -> PointersLowered

    // Legalize: what the device lacks.
    legalize::memory                    -> PointersLowered
    legalize::float16                   -> PointersLowered
    legalize::int64                     -> PointersLowered
    legalize::small_ints                -> PointersLowered

    // Optimize what that has become.
    optimize::distribute                -> PointersLowered
    optimize::shorten_addresses         -> PointersLowered
    optimize::join_argument_words       -> PointersLowered
    optimize::index_addresses           -> PointersLowered
    optimize::promote_elements          -> PointersLowered
    optimize::simplify                  -> Emit
    legalize::small_ints                -> Emit

    // Work around: values that a driver gets wrong.
    workarounds::keep_loop_results      -> Emit
    workarounds::split_saturated_sums   -> Emit
    workarounds::round_doubles          -> Emit
    workarounds::divide_longs           -> Emit
    workarounds::convert_longs          -> Emit
    workarounds::choose_products        -> Emit
    workarounds::complete_leading_bits  -> Emit
    workarounds::bias_comparisons       -> Emit
    workarounds::split_selected_elements -> Emit
    workarounds::hide_arms              -> Emit
    workarounds::hide_ranges            -> Emit
    workarounds::hide_float_bits        -> Emit
    workarounds::widen_loop_flags       -> Emit
    workarounds::shorten_searches       -> Emit
    workarounds::separate_indices       -> Emit

    // Structurize. From here on only code goes in or out that keeps control flow structured.
    structure::structurize              -> Emit
    structure::drop_parameters          -> Emit

    // Work around: control flow that a driver gets wrong, or is slow at.
    workarounds::bypass_selections      -> Emit
    structure::define_arguments         -> Emit
    workarounds::leave_loops_at_header  -> Emit
    workarounds::hold_loop_state        -> Emit
    workarounds::keep_selections        -> Emit
    workarounds::keep_miscounted_loops  -> Emit
    workarounds::hide_uniform_addresses -> Emit
    workarounds::break_long_blocks      -> Emit
    workarounds::wait_behind            -> Emit
    optimize::end_rows                  -> Emit
    workarounds::mask_idle_lanes        -> Emit

    // What is emitted is what is measured.
    legalize::measure_frame             -> Emit
};

/// Runs all passes on a kernel's module, and shows it to `observe` behind each.
///
/// # Errors
/// Those of the passes.
pub(super) fn run(
    module: &mut Module,
    cx: &Context<'_>,
    observe: &mut dyn FnMut(&str, &Module),
) -> Result<(), CompileError> {
    // Whether what comes must do without 64-bit integers.
    let mut is_narrow = false;
    for step in STEPS {
        run_pass(step.name, step.pass, module, cx)?;
        verify_after(step.name, module, step.stage)?;
        is_narrow |= step.name == "legalize::int64" && !cx.capabilities.int64;
        if is_narrow && cfg!(debug_assertions) {
            refuse_long_integers(step.name, module)?;
        }
        observe(step.name, module);
    }
    Ok(())
}

/// Runs a pass. A module that it made too large is refused for that, whatever else became of it.
pub(super) fn run_pass(
    name: &'static str,
    pass: Pass,
    module: &mut Module,
    cx: &Context<'_>,
) -> Result<(), CompileError> {
    let result = pass(module, cx).map_err(|error| error.in_pass(name));
    for function in &mut module.functions {
        function.drop_stale_analyses();
    }
    let mut functions = module.functions.iter();
    match functions.find(|function| function.is_too_large()) {
        Some(function) => {
            Err(CompileError::unsupported("the code is too large").in_function(&function.name))
        }
        None => result,
    }
}

/// Finds in debug builds that a pass has made 64-bit integers for a device that has none, at once and by its name.
fn refuse_long_integers(pass: &'static str, module: &Module) -> Result<(), CompileError> {
    for function in &module.functions {
        let are_long =
            |values: &[Value]| values.iter().any(|&value| function.ty(value) == Type::I64);
        let mut blocks = function.layout().iter().map(|&block| function.block(block));
        let makes_long = |&inst: &Inst| are_long(&function.inst(inst).results);
        if blocks.any(|block| are_long(&block.params) || block.insts.iter().any(makes_long)) {
            let error = CompileError::internal("64-bit integers, which the device does not have");
            return Err(error.in_pass(pass).in_function(&function.name));
        }
    }
    Ok(())
}

/// Finds in debug builds that a pass has broken the IR, at once and by its name.
pub(super) fn verify_after(
    pass: &'static str,
    module: &Module,
    stage: Stage,
) -> Result<(), CompileError> {
    if cfg!(debug_assertions)
        && let Err(errors) = verify::module(module, stage)
    {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let errors = errors.join("\n");
        return Err(CompileError::internal(errors).in_pass(pass));
    }
    Ok(())
}
