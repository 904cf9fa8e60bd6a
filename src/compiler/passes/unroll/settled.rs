//! Variables of a loop that are the same from the second round on, and loops that nothing is left of then.
//!
//! `while (i-- != 0) flag = n > 1;` makes one assignment, whatever the number of rounds. NVIDIA's compiler (seen in
//! 580.159.04) ends the process over such a loop, where the variable is a boolean.

use super::{Candidate, rounds};
use crate::compiler::analysis::defined_values;
use crate::compiler::ir::{Block, Function, InstFlags, Op, Value};
use std::collections::{HashMap, HashSet};

/// Rounds of a loop of which nothing is used, at most.
const ROUNDS: usize = 4096;

/// Takes the value of a second round for that after the loop, where there is such a round; takes away a loop that
/// nothing is used of. Whether it changed anything.
pub fn run(function: &mut Function, candidate: &Candidate<'_>, local_sizes: [u32; 3]) -> bool {
    let inside: HashSet<Block> = candidate.blocks.iter().copied().collect();
    let defined = defined_values(function, candidate.blocks);
    let settles = settle(function, candidate, &inside, &defined, local_sizes);
    let takes_away = is_idle(function, candidate, &inside, &defined, local_sizes);
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

/// Whether the loop ends and leaves nothing behind. What looks at the whole function comes last.
fn is_idle(
    function: &Function,
    candidate: &Candidate<'_>,
    inside: &HashSet<Block>,
    defined: &HashSet<Value>,
    local_sizes: [u32; 3],
) -> bool {
    let mut blocks = candidate.blocks.iter();
    blocks.all(|&block| is_pure(function, block))
        && rounds::count(function, candidate, local_sizes, ROUNDS).is_some()
        && uses_behind(function, inside, defined).is_empty()
}

/// Replaces what is read behind the loop of variables that the second round finds as every later one does.
fn settle(
    function: &mut Function,
    candidate: &Candidate<'_>,
    inside: &HashSet<Block>,
    defined: &HashSet<Value>,
    local_sizes: [u32; 3],
) -> bool {
    let params = function.block(candidate.header).params.clone();
    let mut settled: Vec<(Value, Value)> = params
        .into_iter()
        .zip(candidate.next.iter().copied())
        .filter(|(_, next)| !defined.contains(next) || function.constant(*next).is_some())
        .collect();
    if settled.is_empty() || !rounds::has_a_second(function, candidate, local_sizes) {
        return false;
    }
    let used = uses_behind(function, inside, defined);
    settled.retain(|(param, _)| used.contains(param));
    if settled.is_empty() {
        return false;
    }
    let replacements: HashMap<Value, Value> = settled
        .into_iter()
        .map(|(param, next)| (param, outside_of(function, candidate, defined, next)))
        .collect();
    let replace = |value: &mut Value| {
        if let Some(&new) = replacements.get(value) {
            *value = new;
        }
    };
    for block in function.layout.clone() {
        if inside.contains(&block) {
            for edge in function.block_mut(block).terminator.edges_mut() {
                if !inside.contains(&edge.block) {
                    edge.args.iter_mut().for_each(replace);
                }
            }
            continue;
        }
        for inst in function.block(block).insts.clone() {
            function.inst_mut(inst).op.for_each_operand_mut(replace);
        }
        let terminator = &mut function.block_mut(block).terminator;
        terminator.for_each_operand_mut(replace);
    }
    true
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

/// What is used of a loop by other blocks and on its ways out.
fn uses_behind(
    function: &Function,
    inside: &HashSet<Block>,
    defined: &HashSet<Value>,
) -> HashSet<Value> {
    let mut used = HashSet::new();
    for block in &function.layout {
        let data = function.block(*block);
        if inside.contains(block) {
            let edges = data.terminator.edges().into_iter();
            let exits = edges.filter(|edge| !inside.contains(&edge.block));
            used.extend(exits.flat_map(|edge| edge.args.iter().copied()));
            continue;
        }
        for &inst in &data.insts {
            used.extend(function.inst(inst).op.operands());
        }
        used.extend(data.terminator.operands());
    }
    used.retain(|value| defined.contains(value));
    used
}

fn is_pure(function: &Function, block: Block) -> bool {
    let insts = &function.block(block).insts;
    insts.iter().all(|&inst| function.inst(inst).op.is_pure())
}
