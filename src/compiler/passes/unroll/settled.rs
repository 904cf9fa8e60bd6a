//! Variables of a loop that are the same from the second round on, and loops that nothing is left of then.
//!
//! `while (i-- != 0) flag = n > 1;` makes one assignment, whatever the number of rounds. NVIDIA's compiler (seen in
//! 580.159.04) ends the process over such a loop, where the variable is a boolean.

use super::{Candidate, rounds};
use crate::compiler::analysis::{Uses, defined_values};
use crate::compiler::ir::{Block, Function, InstFlags, Op, Value};
use std::collections::{HashMap, HashSet};

/// Rounds of a loop of which nothing is used, at most.
const ROUNDS: usize = 4096;

/// Takes the value of a second round for that after the loop, where there is such a round; takes away a loop that
/// nothing is used of. Whether it changed anything. `uses` are those of the function, once some loop has asked for them.
pub fn run(
    function: &mut Function,
    candidate: &Candidate<'_>,
    local_sizes: [u32; 3],
    uses: &mut Option<Uses>,
) -> bool {
    let inside: HashSet<Block> = candidate.blocks.iter().copied().collect();
    let defined = defined_values(function, candidate.blocks);
    let settles = settle(function, candidate, &inside, &defined, local_sizes, uses);
    let takes_away = is_idle(function, candidate, &inside, &defined, local_sizes, uses);
    if takes_away {
        let exits = function.block(candidate.leaving).terminator.edges();
        let Some(exit) = exits.into_iter().find(|edge| !inside.contains(&edge.block)) else {
            return settles;
        };
        let exit = exit.clone();
        let before = &mut function.block_mut(candidate.before).terminator;
        for edge in before.edges_mut() {
            if edge.block == candidate.header {
                *edge = exit.clone();
            }
        }
    }
    settles || takes_away
}

/// Whether the loop ends and leaves nothing behind.
fn is_idle(
    function: &Function,
    candidate: &Candidate<'_>,
    inside: &HashSet<Block>,
    defined: &HashSet<Value>,
    local_sizes: [u32; 3],
    uses: &mut Option<Uses>,
) -> bool {
    let mut blocks = candidate.blocks.iter();
    blocks.all(|&block| is_pure(function, block))
        && rounds::count(function, candidate, local_sizes, ROUNDS).is_some()
        && used_behind(function, candidate, inside, defined, uses).is_empty()
}

/// Replaces what is read behind the loop of variables that the second round finds as every later one does.
fn settle(
    function: &mut Function,
    candidate: &Candidate<'_>,
    inside: &HashSet<Block>,
    defined: &HashSet<Value>,
    local_sizes: [u32; 3],
    uses: &mut Option<Uses>,
) -> bool {
    let params = &function.block(candidate.header).params;
    let nexts = candidate.next.iter().copied();
    let mut settled: Vec<(Value, Value)> = params.iter().copied().zip(nexts).collect();
    settled.retain(|(_, next)| !defined.contains(next) || function.constant(*next).is_some());
    if settled.is_empty() || !rounds::has_a_second(function, candidate, local_sizes) {
        return false;
    }
    let used = used_behind(function, candidate, inside, defined, uses);
    settled.retain(|(param, _)| used.contains(param));
    let replacements: HashMap<Value, Value> = settled
        .into_iter()
        .map(|(param, next)| (param, outside_of(function, candidate, defined, next)))
        .collect();
    let uses = uses.get_or_insert_with(|| Uses::new(function));
    for (&param, &next) in &replacements {
        uses.replace_outside(function, param, next, inside);
    }
    for &block in candidate.blocks {
        for edge in function.block_mut(block).terminator.edges_mut() {
            if !inside.contains(&edge.block) {
                for value in &mut edge.args {
                    *value = replacements.get(value).copied().unwrap_or(*value);
                }
            }
        }
    }
    !replacements.is_empty()
}

/// The value, if it is a constant of the loop one of before it.
fn outside_of(
    function: &mut Function,
    candidate: &Candidate<'_>,
    defined: &HashSet<Value>,
    value: Value,
) -> Value {
    match function.constant(value) {
        Some(bits) if defined.contains(&value) => {
            let ty = function.ty(value);
            let inst = function.make_inst(Op::Const(bits), [ty], InstFlags::default());
            function.block_mut(candidate.before).insts.push(inst);
            function.inst(inst).results[0]
        }
        _ => value,
    }
}

/// What other blocks use of a loop, and what its ways out take along.
fn used_behind(
    function: &Function,
    candidate: &Candidate<'_>,
    inside: &HashSet<Block>,
    defined: &HashSet<Value>,
    uses: &mut Option<Uses>,
) -> HashSet<Value> {
    let uses = uses.get_or_insert_with(|| Uses::new(function));
    let mut used = uses.left_behind(function, candidate.blocks, inside);
    for &block in candidate.blocks {
        let edges = function.block(block).terminator.edges().into_iter();
        let exits = edges.filter(|edge| !inside.contains(&edge.block));
        used.extend(exits.flat_map(|edge| edge.args.iter().copied()));
    }
    used.retain(|value| defined.contains(value));
    used.into_iter().collect()
}

fn is_pure(function: &Function, block: Block) -> bool {
    let insts = &function.block(block).insts;
    insts.iter().all(|&inst| function.inst(inst).op.is_pure())
}
