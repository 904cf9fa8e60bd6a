//! Keeps the phis of selections in loops, for a driver that loses values otherwise.
//!
//! **Why.** A phi keeps what it held for the work-items that have left a loop: its ways write it for those that take them
//! alone. SPIRV-Tools, which SwiftShader runs before anything else, and Mesa make `OpSelect` of a phi behind a selection where both
//! values are known before (`x = a[i]; if (x < 0) { b[i] = x; x = 1; }`). That is computed anew in every further
//! iteration, of a condition and of values that are not what they were: what was loaded is zero for those that have left.
//!
//! **How.** Where a phi that is used behind a loop joins the ways of selections, these are marked `DontFlatten`, which both
//! optimizers heed. [`super::legalize_loop_results`] says which loops do harm, and does the same for what is no phi.
//!
//! **Needs** structured control flow, and keeps it. Does nothing unless the device asks for it
//! ([`Defects::LOSES_LOOP_RESULTS`]).

use crate::compiler::analysis::{Dominators, LoopResults};
use crate::compiler::ir::{Block, Function, Merge, Module};
use crate::compiler::{CompileError, Context, Defects};

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::LOSES_LOOP_RESULTS) {
        for function in &mut module.functions {
            mark(function);
        }
    }
    Ok(())
}

fn mark(function: &mut Function) {
    let joining = LoopResults::of(function).joining;
    if joining.is_empty() {
        return;
    }
    let dominators = Dominators::new(function);
    let predecessors = function.predecessors();
    for join in joining {
        let first = dominators.immediate_dominator(join);
        for &from in &predecessors[join.index()] {
            for block in up_to(&dominators, from, first) {
                let data = function.block_mut(block);
                data.keeps_selection = matches!(data.merge, Some(Merge::Selection { .. }));
            }
        }
    }
}

/// The block, and those that dominate it, up to and with one of them.
fn up_to(
    dominators: &Dominators,
    from: Block,
    first: Option<Block>,
) -> impl Iterator<Item = Block> + '_ {
    let mut next = Some(from);
    std::iter::from_fn(move || {
        let block = next?;
        next = if next == first {
            None
        } else {
            dominators.immediate_dominator(block)
        };
        Some(block)
    })
}
