//! Variables of a loop that are the same from the second iteration on, and loops that nothing is left of then.
//!
//! `while (i-- != 0) flag = n > 1;` makes one assignment, whatever the number of iterations. NVIDIA's compiler (seen in
//! 580.159.04) ends the process over such a loop, where the variable is a boolean.

use super::candidate::Candidate;
use super::trip_count;
use crate::compiler::analysis::{Invariance, Uses};
use crate::compiler::ir::{Block, Builder, Function, Value};
use std::collections::{HashMap, HashSet};

/// Iterations of a loop of which nothing is used, at most.
const ITERATIONS: usize = 4096;

/// Takes the value of a second iteration for that after the loop, where there is such an iteration; takes away a loop that
/// nothing is used of. Whether it changed anything.
pub fn run(function: &mut Function, candidate: &Candidate<'_>, local_sizes: [u32; 3]) -> bool {
    let invariance = Invariance::of(function, candidate.blocks);
    let mut this = Settling {
        function,
        candidate,
        invariance,
        local_sizes,
    };
    let settles = this.settle();
    let is_idle = this.is_idle();
    if is_idle {
        this.take_away();
    }
    settles || is_idle
}

struct Settling<'a> {
    function: &'a mut Function,
    candidate: &'a Candidate<'a>,
    invariance: Invariance,
    local_sizes: [u32; 3],
}

impl Settling<'_> {
    /// Replaces what is read behind the loop of variables that the second iteration finds as every later one does.
    fn settle(&mut self) -> bool {
        let Self { candidate, .. } = *self;
        let params = &self.function.block(candidate.header).params;
        let nexts = candidate.next.iter().copied();
        let mut settled: Vec<(Value, Value)> = params.iter().copied().zip(nexts).collect();
        settled.retain(|&(_, next)| self.invariance.is_given(self.function, next));
        let has_a_second = || trip_count::has_a_second(self.function, candidate, self.local_sizes);
        if settled.is_empty() || !has_a_second() {
            return false;
        }
        let used = self.used_behind();
        settled.retain(|(param, _)| used.contains(param));
        let function = &mut *self.function;
        let mut b = Builder::new(function, candidate.before);
        let replacements: HashMap<Value, Value> = settled
            .into_iter()
            .map(|(param, next)| (param, self.invariance.hoisted(&mut b, next)))
            .collect();
        let mut uses = Uses::new(function);
        for (&param, &next) in &replacements {
            uses.replace_outside(function, param, next, &candidate.inside);
        }
        for &block in candidate.blocks {
            for edge in function.block_mut(block).terminator.edges_mut() {
                if !candidate.inside.contains(&edge.block) {
                    for value in &mut edge.args {
                        *value = replacements.get(value).copied().unwrap_or(*value);
                    }
                }
            }
        }
        !replacements.is_empty()
    }

    /// Whether the loop ends and leaves nothing behind.
    fn is_idle(&self) -> bool {
        let mut blocks = self.candidate.blocks.iter();
        blocks.all(|&block| is_pure(self.function, block))
            && trip_count::count(self.function, self.candidate, self.local_sizes, ITERATIONS)
                .is_some()
            && self.used_behind().is_empty()
    }

    /// What comes before the loop goes on behind it.
    fn take_away(&mut self) {
        let candidate = self.candidate;
        let leaving = &self.function.block(candidate.leaving).terminator;
        // Settling may have changed what it takes along.
        let exit = (leaving.edges().into_iter())
            .find(|edge| edge.block == candidate.exit.block)
            .unwrap_or(&candidate.exit)
            .clone();
        let before = &mut self.function.block_mut(candidate.before).terminator;
        for edge in before.edges_mut() {
            if edge.block == candidate.header {
                *edge = exit.clone();
            }
        }
    }

    /// What other blocks use of the loop, and what its ways out take along.
    fn used_behind(&self) -> HashSet<Value> {
        let function = &*self.function;
        let Candidate { blocks, inside, .. } = self.candidate;
        let uses = function.analysis::<Uses>();
        let mut used = uses.left_behind(function, blocks, inside);
        for &block in *blocks {
            let edges = function.block(block).terminator.edges().into_iter();
            let exits = edges.filter(|edge| !inside.contains(&edge.block));
            used.extend(exits.flat_map(|edge| edge.args.iter().copied()));
        }
        used.retain(|&value| self.invariance.is_defined_inside(value));
        used.into_iter().collect()
    }
}

fn is_pure(function: &Function, block: Block) -> bool {
    let insts = &function.block(block).insts;
    insts.iter().all(|&inst| function.inst(inst).op.is_pure())
}
