//! Loops that can be unrolled: which they are, and what of them is needed for that.

use crate::compiler::analysis::{Dominators, Loop};
use crate::compiler::ir::{Block, Edge, Function, Terminator, Value};
use std::collections::HashSet;

/// A loop that the pass can unroll: one edge in, one back, one out.
pub struct Candidate<'a> {
    /// In reverse postorder, the header first.
    pub blocks: &'a [Block],
    pub inside: HashSet<Block>,
    pub header: Block,
    /// Where the edge back is.
    pub latch: Block,
    /// The block before it, and the values that the header's parameters have in the first iteration.
    pub before: Block,
    pub first: Vec<Value>,
    /// The values that they have in the next.
    pub next: Vec<Value>,
    /// Where the way out is; every iteration passes it.
    pub leaving: Block,
    pub condition: Value,
    /// What the condition is if the iteration goes on.
    pub continues_if: bool,
    /// Where it goes on, and where the loop ends.
    pub onward: Edge,
    pub exit: Edge,
}

/// The candidate that a loop is, if it is one.
pub fn candidate<'a>(
    function: &Function,
    dominators: &Dominators,
    found: &'a Loop,
) -> Option<Candidate<'a>> {
    let inside: HashSet<Block> = found.blocks.iter().copied().collect();
    let is_inside = |block: Block| inside.contains(&block);
    let mut leaving = None;
    for &block in &found.blocks {
        let terminator = &function.block(block).terminator;
        let outside = |edge: &&Edge| !is_inside(edge.block);
        match terminator.edges().into_iter().filter(outside).count() {
            _ if terminator.edges().is_empty() => return None,
            0 => {}
            1 if leaving.is_none() => leaving = Some(block),
            _ => return None,
        }
    }
    let [(before, first), (latch, next)] = found.entry_and_back(function)?;
    let leaving = leaving.filter(|&block| dominators.dominates(block, latch))?;
    let Terminator::Branch {
        condition,
        then,
        otherwise,
    } = &function.block(leaving).terminator
    else {
        return None;
    };
    let continues_if = is_inside(then.block);
    let (onward, exit) = if continues_if {
        (then, otherwise)
    } else {
        (otherwise, then)
    };
    let (onward, exit) = (onward.clone(), exit.clone());
    Some(Candidate {
        blocks: &found.blocks,
        inside,
        header: found.header,
        latch,
        before,
        first: first.args.to_vec(),
        next: next.args.to_vec(),
        leaving,
        condition: *condition,
        continues_if,
        onward,
        exit,
    })
}
