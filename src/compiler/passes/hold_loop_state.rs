//! Keeps a loop's variables unchanged until its way back, for a driver that loses values otherwise.
//!
//! **Why.** llvmpipe (seen in Mesa 22.3) computes a loop's values for all work-items of a vector until the
//! last one leaves. For those that left before only the registers stay as they were, which the variables of
//! loops become; all else is computed again from them. That gives the same again, unless the new value of a
//! variable was put into its register before the work-item left: a value computed from the old one and used
//! behind the loop is then wrong.
//!
//! **How.** Only the continue target gives variables their new values: `select(always, new, old)` needs the
//! old value up to there, so that both can't share a register before. That the condition always holds only
//! the launch can tell: no dispatch has zero work-groups. Loops that all work-items leave in the same round, and the loops
//! around them likewise, stay as they are: nothing is computed for any that has left then.
//!
//! **Needs** structured control flow whose continue targets do not leave the loop, and keeps it. Does
//! nothing unless the device asks for it ([`crate::compiler::Defects::OVERWRITES_LOOP_STATE`]).

use super::hidden_zero::holds_always;
use crate::compiler::analysis::{Dominators, Loops, loops_left_together};
use crate::compiler::ir::{Block, Builder, Function, Merge, Module, Terminator};
use crate::compiler::{CompileError, Context, Defects};

pub fn run(module: &mut Module, cx: &Context) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::OVERWRITES_LOOP_STATE) {
        for function in &mut module.functions {
            hold(function);
        }
    }
    Ok(())
}

/// Does it to one function, whatever the device.
pub(super) fn hold(function: &mut Function) {
    let mut always = None;
    for head in loops_left_apart(function) {
        let Some(Merge::Loop { continues, .. }) = function.block(head).merge else {
            continue;
        };
        let Terminator::Jump(edge) = &function.block(continues).terminator else {
            continue;
        };
        let mut edge = edge.clone();
        let old = function.block(head).params.clone();
        for (new, &old) in edge.args.iter_mut().zip(&old) {
            if *new == old {
                continue;
            }
            let condition = *always.get_or_insert_with(|| {
                let entry = function.entry();
                holds_always(&mut Builder::new(function, entry))
            });
            *new = Builder::new(function, continues).select(condition, *new, old);
        }
        function.block_mut(continues).terminator = Terminator::Jump(edge);
    }
}

/// The headers of the loops that work-items may leave, or loops around them, in different rounds.
fn loops_left_apart(function: &Function) -> Vec<Block> {
    let dominators = Dominators::new(function);
    let loops = Loops::new(function, &dominators);
    let is_left_together = loops_left_together(function, &dominators, &loops);
    let headers = loops.all().iter().map(|it| it.header);
    headers
        .filter(|&header| loops.around(header).any(|it| !is_left_together[it]))
        .collect()
}
