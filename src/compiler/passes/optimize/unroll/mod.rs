//! Unrolls short loops whose number of iterations is known.
//!
//! Needs `lower::work_items`, so that local ids are ranges; keeps everything that stages promise. Three kinds of
//! loops are worth it, as drivers and clang (which knows nothing of the device) leave them alone:
//! - those that index private memory by their counter: unrolled, the variable becomes registers, where nothing else keeps it
//!   in memory (`registers`);
//! - those that load: unrolled, the loads of all iterations are in flight at once. Rows of a tile are such loops,
//!   `for (row = get_local_id(1); row < 32; row += 8)`, whose iterations are known where the kernel requires its
//!   work-group size. So are those that exchange numbers through local memory, barriers between the iterations, up to a
//!   larger size: what the counter decides is known in each;
//! - those that only compute, in one block: several iterations become one, as counting iterations costs as much as three or four
//!   steps of the computation. On the H200 clpeak's 128 iterations of 16 multiply-adds run at 52.9 TFLOPS alone, at 63.0 by
//!   fours. Loops that load are left to the driver, which then schedules them better. `partial` does this where the
//!   number of iterations is known only as the loop begins, and for loops that access memory, too, where the device asks for
//!   it ([`crate::compiler::Capabilities::counts_addresses`]).
//!
//! Before that, what a loop makes of variables that no iteration but the first changes is taken out of it, and with it loops that
//! do nothing else (`settled`).
//!
//! On a device that makes 65,535 iterations in all and no more ([`crate::compiler::Defects::LIMITS_ITERATIONS`]) the
//! loops that may make many are unrolled partially, too (`partial`, `with_ways_out`), as far as the time allows that the
//! back end takes over the copies (`cost`): a kernel gets that much further. A short loop within such a loop is unrolled
//! as a whole, so that this one can be.
//!
//! Where a driver makes every access to memory once for each work-item (`Capabilities::serial_memory`), several iterations
//! become one also in loops of one block that load from where all work-items of a sub-group do: `share_uniform_loads` can
//! then make one load of those of all iterations.
//!
//! Loops that a driver would unroll at great cost are marked (`kept`).
//!
//! What is known of loops: `candidate`, `body`, `trip_count`, `iterations`, `variable`, `registers`. What is decided, and by which numbers:
//! `policy`, `cost`. What is done: `copy`, `partial`, `with_ways_out`, `settled`.
//!
//! Loops of the first two kinds have one way out that every iteration passes: every work-item of a group makes
//! the same iterations, so barriers and collective operations keep their meaning.

mod body;
mod candidate;
mod copy;
mod cost;
mod iterations;
mod kept;
mod partial;
mod policy;
mod registers;
mod settled;
mod trip_count;
mod variable;
mod with_ways_out;

#[cfg(test)]
mod tests;

use crate::compiler::analysis::{Dominators, Loops, Uniformity};
use crate::compiler::ir::{Block, FuncId, Function, Module, VariableId};
use crate::compiler::passes::optimize::simplify;
use crate::compiler::{Capabilities, CompileError, Context, Defects};
use body::{Body, loads, shared_loads};
use candidate::candidate;
use cost::{Cost, TimeBudget};
use iterations::Iterations;
use policy::{MANY, Unrolling, unrolling};
use std::collections::HashSet;
use std::sync::Arc;

/// Loops unrolled in a function at most, and loops unrolled partially.
const LOOPS: usize = 64;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let local_sizes = module.most_local_sizes();
    let few = cx.capabilities.has(Defects::LIMITS_ITERATIONS);
    let several: &[partial::Plan] = if few {
        &[partial::FEW]
    } else if cx.capabilities.counts_addresses {
        &[partial::FOUR, partial::ACCESSES]
    } else {
        &[partial::FOUR]
    };
    let uniformity = Uniformity::of_kernel(module, cx);
    let kernel = module.kernels.first().map(|kernel| kernel.function);
    let edits = |module: &Module| {
        let functions = module.functions.iter();
        functions.map(Function::edits).sum::<u64>()
    };
    let before = edits(module);
    for (id, function) in (0..).map(FuncId).zip(&mut module.functions) {
        let uniformity = uniformity.as_ref().filter(|_| kernel == Some(id));
        let mut unroller = Unroller::new(function, local_sizes, cx.capabilities);
        for _ in 0..LOOPS {
            if !unroller.unroll_one(function, uniformity) {
                break;
            }
        }
        unroller.left.clear();
        let known = function.block_count();
        for _ in 0..LOOPS {
            if !unroller.unroll_one_partially(function, several, known) {
                break;
            }
        }
    }
    if edits(module) != before {
        // What was indexed by a counter is now by constants.
        simplify::run(module, cx)?;
    }
    if cx.capabilities.serial_memory {
        for function in &mut module.functions {
            kept::mark(function, local_sizes, cx.capabilities, few);
        }
    }
    Ok(())
}

/// What is known of a function before one of its loops is changed.
struct Shape<'a> {
    dominators: Arc<Dominators>,
    loops: Arc<Loops>,
    local_sizes: [u32; 3],
    /// The private variables that unrolling makes registers of.
    registers: &'a HashSet<VariableId>,
}

impl<'a> Shape<'a> {
    fn new(
        function: &mut Function,
        local_sizes: [u32; 3],
        registers: &'a HashSet<VariableId>,
    ) -> Self {
        function.sort_layout();
        Self {
            dominators: function.analysis(),
            loops: function.analysis(),
            local_sizes,
            registers,
        }
    }

    fn iterations(&self, function: &Function) -> Iterations {
        Iterations::new(function, &self.dominators, &self.loops, self.local_sizes)
    }

    fn cost(&self, function: &Function, blocks: &[Block]) -> Cost {
        Cost::of(function, blocks, self.registers)
    }

    /// How many copies there may be of a loop of which the device may not make all iterations.
    fn copies(
        &self,
        function: &Function,
        budget: &mut Option<TimeBudget<'_>>,
        at: usize,
        most: usize,
    ) -> usize {
        let Some(budget) = budget else {
            return 0;
        };
        if !iterations::are_many(
            function,
            &self.dominators,
            &self.loops,
            self.local_sizes,
            at,
        ) {
            return 0;
        }
        let now = self.cost(function, function.layout());
        let body = self.cost(function, &self.loops.all()[at].blocks);
        budget.copies(&now, &body, most)
    }
}

/// The most iterations that a function makes of its loops, all together; `None` where that is not known.
pub fn most_iterations(function: &mut Function, local_sizes: [u32; 3]) -> Option<usize> {
    function.sort_layout();
    let dominators = function.analysis::<Dominators>();
    let loops = function.analysis::<Loops>();
    iterations::most(function, &dominators, &loops, local_sizes)
}

/// The loops of a function, as they are unrolled one after the other.
struct Unroller<'a> {
    /// See [`Capabilities::serial_memory`].
    serial_memory: bool,
    local_sizes: [u32; 3],
    /// See [`Shape`].
    registers: HashSet<VariableId>,
    /// Where the device makes few iterations.
    budget: Option<TimeBudget<'a>>,
    /// The headers of those that stay as they are: they were looked at, and so were all within them.
    left: HashSet<Block>,
}

impl<'a> Unroller<'a> {
    fn new(function: &mut Function, local_sizes: [u32; 3], capabilities: &'a Capabilities) -> Self {
        let registers = registers::variables(function, local_sizes);
        let few = capabilities.has(Defects::LIMITS_ITERATIONS);
        let budget = few.then(|| {
            let shape = Shape::new(function, local_sizes, &registers);
            let iterations = shape.iterations(function);
            let have_inner = shape.loops.have_inner().into_iter().enumerate();
            let are_many =
                have_inner.filter(|&(at, has_inner)| !has_inner && iterations.are_many(at));
            let cost = shape.cost(function, function.layout());
            TimeBudget::new(&cost, are_many.count(), capabilities)
        });
        Self {
            serial_memory: capabilities.serial_memory,
            local_sizes,
            registers,
            budget,
            left: HashSet::new(),
        }
    }

    /// Unrolls one loop, as a whole or partially.
    fn unroll_one(&mut self, function: &mut Function, uniformity: Option<&Uniformity>) -> bool {
        let local_sizes = self.local_sizes;
        let shape = Shape::new(function, local_sizes, &self.registers);
        let loops = shape.loops.all().iter().zip(shape.loops.have_inner());
        for (at, (found, has_inner)) in loops.enumerate() {
            if !self.left.insert(found.header) {
                continue;
            }
            let Some(candidate) = candidate(function, &shape.dominators, found) else {
                continue;
            };
            if settled::run(function, &candidate, local_sizes) {
                self.left.remove(&found.header);
                return true;
            }
            let shared = uniformity.and_then(|it| shared_loads(function, &candidate, it));
            let body = Body::new(function, &candidate, !has_inner, shape.registers);
            let count = |most| trip_count::count(function, &candidate, local_sizes, most);
            let is_within = found.parent.is_some();
            let copies = || shape.copies(function, &mut self.budget, at, MANY[0]);
            match unrolling(&body, self.serial_memory, shared, is_within, copies, count) {
                Some(Unrolling::Full(iterations)) => copy::unroll(function, &candidate, iterations),
                Some(Unrolling::Partial(factor)) => {
                    copy::unroll_partially(function, &candidate, factor)
                }
                None => continue,
            }
            self.left.remove(&found.header);
            return true;
        }
        false
    }

    /// Unrolls partially the first innermost loop that nobody has looked at and for which it is worth it, as the first of the
    /// plans says that can be followed, and marks what it has looked at. `known` blocks were there before any loop was unrolled
    /// so: others are of such loops. With a budget only loops are unrolled of which the device may not make all iterations.
    fn unroll_one_partially(
        &mut self,
        function: &mut Function,
        plans: &[partial::Plan],
        known: usize,
    ) -> bool {
        let local_sizes = self.local_sizes;
        let shape = Shape::new(function, local_sizes, &self.registers);
        let loops = shape.loops.all().iter().zip(shape.loops.have_inner());
        for (at, (found, has_inner)) in loops.enumerate() {
            if has_inner || found.header.index() >= known || !self.left.insert(found.header) {
                continue;
            }
            let few = self.budget.is_some();
            let copies = if few {
                shape.copies(function, &mut self.budget, at, partial::FEW.most())
            } else {
                usize::MAX
            };
            let most_iterations = |function: &Function, most| {
                trip_count::at_most(function, &shape.dominators, found, local_sizes, most)
            };
            let unroll_with_ways_out = |function: &mut Function| {
                let most = most_iterations(function, with_ways_out::MOST);
                with_ways_out::run(function, found, most, copies)
            };
            let follow = |function: &mut Function, plan: &partial::Plan| {
                let most = most_iterations(function, plan.most());
                partial::run(function, found, plan, most, copies)
            };
            let loads = few && loads(function, found);
            if loads && unroll_with_ways_out(function)
                || plans.iter().any(|plan| follow(function, plan))
                || few && !loads && unroll_with_ways_out(function)
            {
                return true;
            }
        }
        false
    }
}
