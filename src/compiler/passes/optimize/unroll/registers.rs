//! Which private variables become registers once loops are unrolled.
//!
//! An access by a constant offset needs no memory. So a loop that indexes a variable by its counter is worth unrolling if all
//! else that accesses the variable does so by constants or by counters of such loops, too. One access by another number, as
//! sorts and queues have them, or in a loop that is too long for it, keeps the variable in memory, and all copies of the others
//! with it. It is to be found out before any loop is unrolled: behind it the counter is a parameter like others.

use super::candidate::{Candidate, candidate};
use super::policy::is_for_registers;
use super::variable::variable_of;
use super::{body, trip_count};
use crate::compiler::analysis::{Dominators, Loops};
use crate::compiler::ir::{Block, Function, Op, Place, Terminator, Value, VariableId};
use std::collections::HashSet;

/// How deep an offset is followed.
const DEPTH: u32 = 8;

/// Iterations that are counted.
const COUNTED: usize = u16::MAX as usize;

/// The variables of which every access has an offset that is known in each iteration.
pub fn variables(function: &Function, local_sizes: [u32; 3]) -> HashSet<VariableId> {
    let mut variables: HashSet<VariableId> = (0..)
        .map(VariableId)
        .take(function.variables.len())
        .collect();
    if variables.is_empty() {
        return variables;
    }
    let loops = function.analysis::<Loops>();
    let counters = counters(function, &unrollable(function, &loops, local_sizes));
    let mut remove = |value: &Value| {
        if let Some(variable) = variable_of(function, *value) {
            variables.remove(&variable);
        }
    };
    for &block in function.layout() {
        let data = function.block(block);
        for &inst in &data.insts {
            match &function.inst(inst).op {
                Op::PtrAdd(_, offset) if is_known(function, &counters, *offset, DEPTH) => {}
                Op::Load(Place::Pointer(_), _) => {}
                Op::Store(Place::Pointer(_), values, _) => values.iter().for_each(&mut remove),
                op => op.operands().iter().for_each(&mut remove),
            }
        }
        data.terminator.operands().iter().for_each(&mut remove);
    }
    variables
}

/// The loops that are unrolled as a whole where they index a variable, some perhaps once one around is.
fn unrollable<'a>(
    function: &Function,
    loops: &'a Loops,
    local_sizes: [u32; 3],
) -> Vec<Candidate<'a>> {
    let dominators = function.analysis::<Dominators>();
    let all = loops.all();
    // What copies of loops within add.
    let mut added = vec![0_usize; all.len()];
    let mut unrollable = Vec::new();
    // Those around come after those within.
    for (at, found) in all.iter().enumerate() {
        if let Some(candidate) = candidate(function, &dominators, found) {
            let size = added[at].saturating_add(body::size(function, &found.blocks));
            let fits = match trip_count::count(function, &candidate, local_sizes, COUNTED) {
                Some(count) if is_for_registers(count, size) => {
                    added[at] += (count - 1) * size;
                    true
                }
                Some(_) => false,
                None => found.parent.is_some(),
            };
            if fits {
                unrollable.push(candidate);
            }
        }
        if let Some(parent) = found.parent {
            added[parent] = added[parent].saturating_add(added[at]);
        }
    }
    unrollable
}

/// The parameters of headers whose values in each iteration constants tell, of loops whose number of iterations they tell,
/// perhaps only when a loop around is unrolled.
fn counters(function: &Function, candidates: &[Candidate<'_>]) -> HashSet<Value> {
    let params = |candidate: &Candidate<'_>| function.block(candidate.header).params.clone();
    let mut counters: HashSet<Value> = candidates.iter().flat_map(params).collect();
    loop {
        let before = counters.len();
        for candidate in candidates {
            let known =
                |counters: &HashSet<Value>, value| is_known(function, counters, value, DEPTH);
            let is_counted = is_condition_known(function, &counters, candidate.leaving);
            let from = candidate.first.iter().zip(&candidate.next);
            for (param, (&first, &next)) in params(candidate).into_iter().zip(from) {
                if !(is_counted && known(&counters, first) && known(&counters, next)) {
                    counters.remove(&param);
                }
            }
        }
        if counters.len() == before {
            return counters;
        }
    }
}

/// Whether constants and counters tell what a block branches on.
fn is_condition_known(function: &Function, counters: &HashSet<Value>, block: Block) -> bool {
    match function.block(block).terminator {
        Terminator::Branch { condition, .. } => is_known(function, counters, condition, DEPTH),
        _ => false,
    }
}

/// Whether a value is computed from constants and counters alone.
fn is_known(function: &Function, counters: &HashSet<Value>, value: Value, depth: u32) -> bool {
    if counters.contains(&value) {
        return true;
    }
    let Some(op) = function.op_of(value).filter(|_| depth > 0) else {
        return false;
    };
    let known = |value| is_known(function, counters, value, depth - 1);
    match *op {
        Op::Const(_) => true,
        Op::Binary(_, a, b) | Op::Compare(_, a, b) => known(a) && known(b),
        Op::Convert(_, a) => known(a),
        Op::Select(condition, a, b) => known(condition) && known(a) && known(b),
        _ => false,
    }
}
