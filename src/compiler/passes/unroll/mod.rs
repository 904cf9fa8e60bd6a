//! Unrolls short loops whose number of rounds is known.
//!
//! Needs `lower_work_items`, so that local ids are ranges; keeps everything that stages promise. Three kinds of
//! loops are worth it, as drivers and clang (which knows nothing of the device) leave them alone:
//! - those that index private memory by their counter: unrolled, the variable becomes registers;
//! - those that load: unrolled, the loads of all rounds are in flight at once. Rows of a tile are such loops,
//!   `for (row = get_local_id(1); row < 32; row += 8)`, whose rounds are known where the kernel requires its
//!   work-group size;
//! - those that only compute, in one block: several rounds become one, as counting rounds costs as much as three or four
//!   steps of the computation. On the H200 clpeak's 128 rounds of 16 multiply-adds run at 52.9 TFLOPS alone, at 63.0 by
//!   fours. Loops that load are left to the driver, which then schedules them better. `four_rounds` does this where the
//!   number of rounds is known only as the loop begins.
//!
//! Loops of the first two kinds have one way out that every round passes: every work-item of a group makes
//! the same rounds, so barriers and collective operations keep their meaning.

mod copy;
mod four_rounds;
mod rounds;

#[cfg(test)]
mod tests;

use super::simplify;
use crate::compiler::analysis::{Dominators, Loop, Loops};
use crate::compiler::ir::{
    AddressSpace, Block, Edge, Function, Module, Op, Terminator, Type, Value,
};
use crate::compiler::{CompileError, Context};

/// Rounds and instructions, all rounds together, up to which a loop over private memory is unrolled.
const PRIVATE: (usize, usize) = (64, 2048);

/// The same for a loop that only loads.
const LOADS: (usize, usize) = (8, 160);

/// The same for a loop that only computes and is not unrolled as a whole; and how many rounds may become one.
const COMPUTES: (usize, usize) = (4096, 160);
const FACTORS: [usize; 3] = [8, 4, 2];

/// Loops unrolled in a function at most.
const LOOPS: usize = 64;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let local_sizes = module.most_local_sizes();
    let mut changed = false;
    for function in &mut module.functions {
        for _ in 0..LOOPS {
            if !unroll_one(function, local_sizes) {
                break;
            }
            changed = true;
        }
        changed |= unroll_unknown(function);
    }
    if changed {
        // What was indexed by a counter is now by constants.
        simplify::run(module, cx)?;
    }
    Ok(())
}

/// A loop that the pass can unroll: one edge in, one back, one out.
struct Candidate<'a> {
    /// In reverse postorder, the header first.
    blocks: &'a [Block],
    header: Block,
    /// Where the edge back is.
    latch: Block,
    /// The block before it, and the values that the header's parameters have in the first round.
    before: Block,
    first: Vec<Value>,
    /// The values that they have in the next.
    next: Vec<Value>,
    /// Where the way out is; every round passes it.
    leaving: Block,
    condition: Value,
    /// What the condition is if the round goes on.
    continues_if: bool,
    /// Where it goes on, and where the loop ends.
    inside: Edge,
    exit: Edge,
}

fn unroll_one(function: &mut Function, local_sizes: [u32; 3]) -> bool {
    function.layout = function.reverse_postorder();
    let dominators = Dominators::new(function);
    let loops = Loops::new(function, &dominators);
    for found in loops.all() {
        let Some(candidate) = candidate(function, &dominators, found) else {
            continue;
        };
        let Some((kind, most)) = most_rounds(function, &candidate) else {
            continue;
        };
        let Some(rounds) = rounds::count(function, &candidate, local_sizes, most) else {
            continue;
        };
        match kind {
            Kind::Whole => copy::unroll(function, &candidate, rounds),
            Kind::Computes { size } => match factor(rounds, size) {
                Some(factor) => copy::join_rounds(function, &candidate, factor),
                None => continue,
            },
        }
        function.layout = function.reverse_postorder();
        return true;
    }
    false
}

/// Unrolls the innermost loops that only compute, a number of rounds known when they begin.
fn unroll_unknown(function: &mut Function) -> bool {
    let dominators = Dominators::new(function);
    let loops = Loops::new(function, &dominators);
    let all = loops.all();
    let mut changed = false;
    for (index, found) in all.iter().enumerate().take(LOOPS) {
        if all.iter().any(|inner| inner.parent == Some(index)) {
            continue;
        }
        if four_rounds::run(function, found) {
            function.layout = function.reverse_postorder();
            changed = true;
        }
    }
    changed
}

/// What is done with a loop.
enum Kind {
    /// It is unrolled as a whole.
    Whole,
    /// Rounds of so many instructions are joined.
    Computes { size: usize },
}

/// How many rounds become one, so that some of those are left.
fn factor(rounds: usize, size: usize) -> Option<usize> {
    let fits = |factor: &usize| {
        rounds.is_multiple_of(*factor) && rounds > *factor && size * factor <= COMPUTES.1
    };
    FACTORS.into_iter().find(fits)
}

fn candidate<'a>(
    function: &Function,
    dominators: &Dominators,
    found: &'a Loop,
) -> Option<Candidate<'a>> {
    let &[latch] = found.latches.as_slice() else {
        return None;
    };
    let header = found.header;
    let is_inside = |block: Block| found.blocks.contains(&block);
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
    let (inside, exit) = match continues_if {
        true => (then, otherwise),
        false => (otherwise, then),
    };
    let (mut entries, mut backs) = (Vec::new(), Vec::new());
    for &block in &function.layout {
        for edge in function.block(block).terminator.edges() {
            if edge.block == header {
                let edges = if is_inside(block) {
                    &mut backs
                } else {
                    &mut entries
                };
                edges.push((block, edge.args.to_vec()));
            }
        }
    }
    let ([(before, first)], [(_, next)]) = (entries.as_slice(), backs.as_slice()) else {
        return None;
    };
    Some(Candidate {
        blocks: &found.blocks,
        header,
        latch,
        before: *before,
        first: first.clone(),
        next: next.clone(),
        leaving,
        condition: *condition,
        continues_if,
        inside: inside.clone(),
        exit: exit.clone(),
    })
}

/// What is worth doing with the loop, if anything is, and how many rounds it may have for that.
fn most_rounds(function: &Function, candidate: &Candidate<'_>) -> Option<(Kind, usize)> {
    let insts = candidate
        .blocks
        .iter()
        .flat_map(|&block| &function.block(block).insts);
    let (mut size, mut loads, mut indexes_private) = (0usize, false, false);
    let mut computes = candidate.blocks.len() == 1;
    let counters = &function.block(candidate.header).params;
    for &inst in insts {
        let data = function.inst(inst);
        computes &= data.op.is_pure();
        match &data.op {
            Op::Const(_) => continue,
            Op::Load(..) => loads = true,
            Op::PtrAdd(_, offset) => {
                let is_private = data
                    .results
                    .first()
                    .is_some_and(|&it| function.ty(it) == Type::Ptr(AddressSpace::Private));
                indexes_private |=
                    is_private && depends_on_counters(function, *offset, counters, 6);
            }
            _ => {}
        }
        size += 1;
    }
    let (rounds, total) = match (indexes_private, loads) {
        (true, _) => PRIVATE,
        (false, true) => LOADS,
        _ if computes => return Some((Kind::Computes { size }, COMPUTES.0)),
        _ => return None,
    };
    let most = rounds.min(total / size.max(1));
    (most > 0).then_some((Kind::Whole, most))
}

/// Whether a value is computed from counters and constants alone.
fn depends_on_counters(function: &Function, value: Value, counters: &[Value], depth: u32) -> bool {
    if counters.contains(&value) {
        return true;
    }
    let Some(op) = function.op_of(value).filter(|_| depth > 0) else {
        return false;
    };
    match *op {
        Op::Binary(_, a, b) => {
            let from = |value| depends_on_counters(function, value, counters, depth - 1);
            let known = |value| function.constant(value).is_some() || from(value);
            known(a) && known(b) && (from(a) || from(b))
        }
        Op::Convert(_, from) => depends_on_counters(function, from, counters, depth - 1),
        _ => false,
    }
}
