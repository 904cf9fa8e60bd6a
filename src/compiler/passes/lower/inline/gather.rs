//! Lets the ways to shared bodies meet in groups before they come to a body.
//!
//! **Why.** All that lives across the calls of a shared body is a parameter of its first block, and each way there gives it a
//! value: calls times values. What most calls leave as it is needs no parameter where the ways of a few calls meet.
//! Back ends that leave SSA form compare, for each way, each value with the others: one took ten minutes over 128 calls of a body
//! and 412 values across them.
//!
//! **How.** A body goes on behind its calls by a switch of switches, with [`GROUP`] calls each, and the ways to a body that begin
//! behind the calls of such a switch meet in a block of their own. Ways into a loop and those back are kept apart, so that
//! the loop keeps its header.

use crate::compiler::analysis::Dominators;
use crate::compiler::ir::{Block, Edge, Function, Terminator, Values};
use std::collections::{BTreeMap, HashMap};

/// Calls of a body whose ways meet.
pub const GROUP: usize = 16;

/// Has the ways to each of `starts` meet in groups. `behind` has the switch that leads to a block behind a call.
pub fn ways(function: &mut Function, starts: &[Block], behind: &HashMap<Block, Block>) {
    let dominators = function.analysis::<Dominators>();
    let predecessors = function.predecessors();
    for &start in starts {
        let mut ways = predecessors[start.index()].clone();
        ways.sort();
        ways.dedup();
        if ways.len() <= GROUP {
            continue;
        }
        let mut groups: BTreeMap<(bool, Block), Vec<Block>> = BTreeMap::new();
        for from in ways {
            if let Some(switch) = switch_before(&dominators, from, behind) {
                let is_back = dominators.dominates(start, from);
                groups.entry((is_back, switch)).or_default().push(from);
            }
        }
        for group in groups.into_values().filter(|group| group.len() > 1) {
            meet(function, start, &group);
        }
    }
}

/// The last switch behind a body that every path to a block goes through.
fn switch_before(
    dominators: &Dominators,
    block: Block,
    behind: &HashMap<Block, Block>,
) -> Option<Block> {
    let mut at = Some(block);
    while let Some(block) = at {
        if let Some(&switch) = behind.get(&block) {
            return Some(switch);
        }
        at = dominators.immediate_dominator(block);
    }
    None
}

/// Leads the edges from some blocks to `target` through a new block.
fn meet(function: &mut Function, target: Block, from: &[Block]) {
    let block = function.add_block();
    let taken = function.block(target).params.clone();
    let params: Values = taken
        .into_iter()
        .map(|param| {
            let ty = function.ty(param);
            function.add_param(block, ty)
        })
        .collect();
    function.block_mut(block).terminator = Terminator::Jump(Edge::new(target, params));
    for &from in from {
        for edge in function.block_mut(from).terminator.edges_mut() {
            if edge.block == target {
                edge.block = block;
            }
        }
    }
}
