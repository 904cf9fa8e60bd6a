//! Turns private variables into values.
//!
//! Needs: pointers to private memory that escape do so visibly (calls that take them are inlined). After it a
//! private variable is left only if something about its address is not known: an index that is not constant,
//! an address that is stored, selected, compared or converted, a volatile access.
//!
//! In two steps:
//! 1. `slots.rs` finds the variables whose every use is a load, a store or a copy at a constant offset, and
//!    cuts their bytes into slots: ranges that every access takes whole. Accesses of different types and
//!    widths may overlap; a scalar that spans several slots is put together by shifts.
//! 2. `ssa.rs` replaces every access by the value that each slot has there. Block parameters are made on
//!    demand, walking up from loads, so that only live slots get them; those that turn out to have one value
//!    are removed. Memory never written reads as `Undef`.
//!
//! Cost: linear in the instructions, plus the number of merge points times the slots live there.

mod slot_values;
mod slots;
mod ssa;

pub use slot_values::SlotValues;

use crate::compiler::ir::Module;
use crate::compiler::{CompileError, Context};

/// Runs the pass on every function.
pub fn run(module: &mut Module, _cx: &Context<'_>) -> Result<(), CompileError> {
    for function in &mut module.functions {
        if function.variables.is_empty() {
            continue;
        }
        function.sort_layout();
        let plan = slots::Plan::of(function);
        if !plan.is_empty() {
            ssa::rewrite(function, &plan);
        }
    }
    Ok(())
}
