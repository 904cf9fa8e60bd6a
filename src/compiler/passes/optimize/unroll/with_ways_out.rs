//! Several iterations in one, each with its ways out.
//!
//! Where the device makes few iterations, in loops that load from memory or of which the number of iterations is not told by a
//! counter. Drivers with that limit have no branches but those of loops (Mesa's llvmpipe): what work-items don't take part in
//! is executed for none, and a loop's body once at least. So a [loop of many iterations](super::partial) in front of
//! another costs as much as that many iterations where there are too few for it, and loads, which are loops over the work-items
//! there, cost even if nobody loads: sums of 9 products took 2.3 times as long.

use super::copy::{Iteration, block_before, redirect};
use crate::compiler::analysis::{Loop, Uses};
use crate::compiler::ir::{Block, Edge, Function, Op, Terminator, Value};
use std::collections::HashSet;

/// How many iterations become one: the first of these with which it is no longer than [`MOST_INSTS`]. With 17, a million iterations
/// (2²⁰) are 61,681, of the 65,535 that Mesa makes.
const FACTORS: [usize; 3] = [17, 8, 4];

/// The most of them.
pub const MOST: usize = FACTORS[0];

const MOST_INSTS: usize = super::policy::PARTIAL;

const MOST_BLOCKS: usize = 12;

/// Unrolls a loop partially, if that can be done. `most_iterations` is what it makes at most, if that is known; `copies` is how
/// many there may be of it.
pub fn run(
    function: &mut Function,
    found: &Loop,
    most_iterations: Option<usize>,
    copies: usize,
) -> bool {
    let insts = || {
        let blocks = found.blocks.iter();
        blocks.flat_map(|&block| &function.block(block).insts)
    };
    let size = insts().count();
    let fits = |&factor: &usize| {
        size * factor <= MOST_INSTS
            && factor <= copies
            && most_iterations.is_none_or(|most| factor <= most)
    };
    let Some(factor) = FACTORS.into_iter().find(fits) else {
        return false;
    };
    let is_alone = |&inst| is_of_one_work_item(&function.inst(inst).op);
    if found.blocks.len() > MOST_BLOCKS || !insts().all(is_alone) {
        return false;
    }
    let Some((latch, next)) = found.back(function) else {
        return false;
    };
    let next = next.args.to_vec();
    if !hand_over(function, found) {
        return false;
    }
    let header = found.header;
    let second = block_before(function, header);
    let iteration = Iteration {
        blocks: &found.blocks,
        latch,
        next: &next,
        onward: None,
    };
    let (last, incoming) = iteration.copy(function, second, next.clone(), factor - 1);
    redirect(function, latch, header, Edge::new(second, []));
    redirect(function, last, header, Edge::new(header, incoming));
    true
}

/// Whether work-items execute it each for itself.
fn is_of_one_work_item(op: &Op) -> bool {
    op.is_pure() || matches!(op, Op::Load(..) | Op::Store(..) | Op::Atomic { .. })
}

/// Has later code read what the loop computes by the arguments of its way out, since it comes from several copies then.
/// False where that can't be done: the loop has several, and is not as they should be.
fn hand_over(function: &mut Function, found: &Loop) -> bool {
    let inside: HashSet<Block> = found.blocks.iter().copied().collect();
    let mut uses = Uses::new(function);
    let left = uses.left_behind(function, &found.blocks, &inside);
    if left.is_empty() {
        return true;
    }
    let mut ways_out = found.blocks.iter().flat_map(|&block| {
        let edges = function.block(block).terminator.edges();
        let edges = edges
            .into_iter()
            .filter(|edge| !inside.contains(&edge.block));
        edges
            .map(move |edge| (block, edge.clone()))
            .collect::<Vec<_>>()
    });
    let (Some((leaving, exit)), None) = (ways_out.next(), ways_out.next()) else {
        return false;
    };
    let between = function.add_block();
    let mut add_param = |value: &Value| {
        let ty = function.ty(*value);
        function.add_param(between, ty)
    };
    let handed: Vec<Value> = left.iter().map(&mut add_param).collect();
    let args: Vec<Value> = exit.args.iter().map(&mut add_param).collect();
    for (&value, &param) in left.iter().zip(&handed) {
        uses.replace_outside(function, value, param, &inside);
    }
    let way = Edge::new(between, left.into_iter().chain(exit.args));
    for edge in function.block_mut(leaving).terminator.edges_mut() {
        if edge.block == exit.block {
            *edge = way.clone();
        }
    }
    function.block_mut(between).terminator = Terminator::Jump(Edge::new(exit.block, args));
    true
}
