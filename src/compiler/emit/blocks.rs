//! The order of blocks.

use crate::compiler::ir::{Block, Function, Merge};

/// Blocks in an order that SPIR-V accepts: each after what dominates it, structurally too (a header's
/// continue target and merge block follow its body, in this order). Merge blocks and continue targets that
/// nothing jumps to are included.
pub fn emission_order(function: &Function) -> Vec<Block> {
    let mut seen = vec![false; function.block_count()];
    let mut postorder = Vec::with_capacity(function.layout().len());
    let mut stack = vec![(function.entry(), targets(function, function.entry()), 0)];
    seen[function.entry().index()] = true;
    while let Some((block, targets_of, next)) = stack.last_mut() {
        match targets_of.get(*next) {
            Some(&target) => {
                *next += 1;
                if !std::mem::replace(&mut seen[target.index()], true) {
                    stack.push((target, targets(function, target), 0));
                }
            }
            None => {
                postorder.push(*block);
                stack.pop();
            }
        }
    }
    postorder.reverse();
    postorder
}

/// Where a depth-first search goes from a block: what shall come last in the result first.
fn targets(function: &Function, block: Block) -> Vec<Block> {
    let mut targets = match function.block(block).merge {
        None => Vec::new(),
        Some(Merge::Selection { merge }) => vec![merge],
        Some(Merge::Loop { merge, continues }) => vec![merge, continues],
    };
    targets.extend(function.successors(block).into_iter().rev());
    targets
}
