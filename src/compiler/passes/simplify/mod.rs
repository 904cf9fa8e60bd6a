//! Makes code smaller without changing what it does.
//!
//! Needs nothing; keeps everything that stages promise. Repeats a few times, each a linear walk:
//! 1. `values.rs`: every pure instruction is folded (`fold.rs`), rewritten by identities (`identities.rs`,
//!    `bits.rs`, `high_half.rs`), and replaced by an equal one that dominates it.
//! 2. `flow.rs`: decided branches, empty blocks, chains of blocks, parameters with one value.
//! 3. `dead.rs`: what has no effect goes, parameters of loops included.
//! 4. `narrow.rs`: parameters of which only the lower half is used.
//!
//! Floats are folded only where IEEE 754 gives one answer, and reassociated never. Control flow is never
//! changed around barriers or collective operations: blocks with instructions are neither duplicated nor
//! moved, and a branch goes only when it is decided or its sides are empty.

mod bits;
mod dead;
mod flow;
pub(super) mod fold;
mod high_half;
mod identities;
mod memory;
mod narrow;
mod values;

use crate::compiler::ir::{Function, Global, Module};
use crate::compiler::{CompileError, Context};

/// How often the walks are repeated at most: more rounds find less each.
const ROUNDS: usize = 6;

/// Runs the pass on every function.
pub fn run(module: &mut Module, _cx: &Context<'_>) -> Result<(), CompileError> {
    let local_sizes = module.most_local_sizes();
    for function in &mut module.functions {
        simplify(function, &module.globals, local_sizes);
    }
    Ok(())
}

/// Removes what nothing depends on.
pub(super) fn remove_dead(function: &mut Function) {
    dead::run(function);
}

fn simplify(function: &mut Function, globals: &[Global], local_sizes: [u32; 3]) {
    for _ in 0..ROUNDS {
        function.layout = function.reverse_postorder();
        let mut changed = values::sweep(function, globals, local_sizes);
        changed |= flow::run(function);
        changed |= dead::run(function);
        changed |= narrow::run(function);
        if !changed {
            break;
        }
    }
    function.layout = function.reverse_postorder();
}

#[cfg(test)]
mod tests;
