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
//! On a device that makes 65,535 iterations in all and no more ([`crate::compiler::Defects::LIMITS_ITERATIONS`]) iterations
//! of the loops that may make many are joined too (`partial`, `with_ways_out`), as far as the time allows that the
//! back end takes over the copies (`budget`): a kernel gets that much further. A short loop within such a loop is unrolled
//! as a whole, so that iterations of that one can be joined.
//!
//! Where a driver makes every access to memory once for each work-item (`Capabilities::serial_memory`), several iterations
//! become one also in loops of one block that load from where all work-items of a sub-group do: `share_uniform_loads` can
//! then make one load of those of all iterations.
//!
//! Loops that a driver would unroll at great cost are marked (`kept`).
//!
//! Loops of the first two kinds have one way out that every iteration passes: every work-item of a group makes
//! the same iterations, so barriers and collective operations keep their meaning.

mod budget;
mod copy;
mod iterations;
mod kept;
mod partial;
mod registers;
mod settled;
mod trip_count;
mod with_ways_out;

#[cfg(test)]
mod tests;

use crate::compiler::analysis::{Dominators, Loop, Loops, Uniformity};
use crate::compiler::ir::{
    AddressSpace, Block, Edge, FuncId, Function, Module, Op, Place, Terminator, Type, Value,
    VariableId,
};
use crate::compiler::passes::optimize::simplify;
use crate::compiler::{Capabilities, CompileError, Context, Defects};
use budget::{Budget, Cost};
use iterations::Iterations;
use std::collections::HashSet;

/// Iterations and instructions, all iterations together, up to which a loop over private memory is unrolled.
const PRIVATE: (usize, usize) = (64, 2048);

/// Iterations and instructions, all iterations together, up to which a loop that loads is unrolled, unless [`PRIVATE`]
/// limits it.
const LOADS: (usize, usize) = (8, 320);

/// Iterations, and instructions and bytes loaded from device memory, all iterations together, up to which a loop with
/// barriers and no loop within is unrolled. With more bytes, in a row for each work-item, NVIDIA's driver would load
/// all rows' first quarters, then all rows' second ones: at a third of the bandwidth, as what the cache held of the
/// lines is gone by then.
const EXCHANGES: (usize, usize, usize) = (16, 1024, 64);

/// Iterations of a loop that only computes, and instructions of those that become one, up to which they are joined;
/// [`FACTORS`] is how many may become one.
const COMPUTES: (usize, usize) = (4096, 160);
const FACTORS: [usize; 3] = [8, 4, 2];

/// Where the device counts iterations: instructions of those that become one, and how many may do.
const JOINED: usize = 512;
const MANY: [usize; 6] = [64, 32, 16, 8, 4, 2];

/// Iterations and instructions, all iterations together, of a loop that is unrolled so that the one around it can be joined.
const WITHIN: (usize, usize) = (16, 128);

/// Instructions, all iterations that become one together, of a loop that loads the same for all work-items.
const SHARES: usize = 640;

/// Loops unrolled in a function at most, and loops whose iterations are joined.
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
    let mut changed = false;
    for (id, function) in (0..).map(FuncId).zip(&mut module.functions) {
        let uniformity = uniformity.as_ref().filter(|_| kernel == Some(id));
        let mut budget = few.then(|| budget_of(function, local_sizes, cx.capabilities));
        let mut left = HashSet::new();
        for _ in 0..LOOPS {
            if !unroll_one(function, local_sizes, uniformity, &mut budget, &mut left) {
                break;
            }
            changed = true;
        }
        let (known, mut left) = (function.block_count(), HashSet::new());
        for _ in 0..LOOPS {
            if !join_one(
                function,
                local_sizes,
                several,
                &mut budget,
                known,
                &mut left,
            ) {
                break;
            }
            changed = true;
        }
    }
    if changed {
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
struct Shape {
    dominators: Dominators,
    loops: Loops,
    local_sizes: [u32; 3],
    /// The private variables that unrolling makes registers of.
    registers: HashSet<VariableId>,
}

impl Shape {
    fn new(function: &mut Function, local_sizes: [u32; 3]) -> Self {
        function.layout = function.reverse_postorder();
        let dominators = Dominators::new(function);
        let loops = Loops::new(function, &dominators);
        let registers = registers::variables(function, &dominators, &loops);
        Self {
            dominators,
            loops,
            local_sizes,
            registers,
        }
    }

    fn iterations(&self, function: &Function) -> Iterations {
        Iterations::new(function, &self.dominators, &self.loops, self.local_sizes)
    }

    fn cost(&self, function: &Function, blocks: &[Block]) -> Cost {
        Cost::of(function, blocks, &self.registers)
    }

    /// How many copies there may be of a loop of which the device may not make all iterations.
    fn copies(
        &self,
        function: &Function,
        budget: &mut Option<Budget<'_>>,
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
        let now = self.cost(function, &function.layout);
        let body = self.cost(function, &self.loops.all()[at].blocks);
        budget.copies(&now, &body, most)
    }
}

/// The most iterations that a function makes of its loops, all together; `None` where that is not known.
pub fn most_iterations(function: &mut Function, local_sizes: [u32; 3]) -> Option<usize> {
    function.layout = function.reverse_postorder();
    let dominators = Dominators::new(function);
    let loops = Loops::new(function, &dominators);
    iterations::most(function, &dominators, &loops, local_sizes)
}

/// The budget for the loops of a function that may make more iterations than a device does.
fn budget_of<'a>(
    function: &mut Function,
    local_sizes: [u32; 3],
    capabilities: &'a Capabilities,
) -> Budget<'a> {
    let shape = Shape::new(function, local_sizes);
    let iterations = shape.iterations(function);
    let have_inner = shape.loops.have_inner().into_iter().enumerate();
    let are_many = have_inner.filter(|&(at, has_inner)| !has_inner && iterations.are_many(at));
    let cost = shape.cost(function, &function.layout);
    Budget::new(&cost, are_many.count(), capabilities)
}

/// A loop that the pass can unroll: one edge in, one back, one out.
struct Candidate<'a> {
    /// In reverse postorder, the header first.
    blocks: &'a [Block],
    inside: HashSet<Block>,
    header: Block,
    /// Where the edge back is.
    latch: Block,
    /// The block before it, and the values that the header's parameters have in the first iteration.
    before: Block,
    first: Vec<Value>,
    /// The values that they have in the next.
    next: Vec<Value>,
    /// Where the way out is; every iteration passes it.
    leaving: Block,
    condition: Value,
    /// What the condition is if the iteration goes on.
    continues_if: bool,
    /// Where it goes on, and where the loop ends.
    onward: Edge,
    exit: Edge,
}

/// Unrolls one loop, or joins its iterations; there is a budget where the device makes few of them. `left` are the headers of
/// those that stay as they are: they were looked at, and so were all within them.
fn unroll_one(
    function: &mut Function,
    local_sizes: [u32; 3],
    uniformity: Option<&Uniformity>,
    budget: &mut Option<Budget<'_>>,
    left: &mut HashSet<Block>,
) -> bool {
    let shape = Shape::new(function, local_sizes);
    let mut uses = None;
    let loops = shape.loops.all().iter().zip(shape.loops.have_inner());
    for (at, (found, has_inner)) in loops.enumerate() {
        if !left.insert(found.header) {
            continue;
        }
        let Some(candidate) = candidate(function, &shape.dominators, found) else {
            continue;
        };
        if settled::run(function, &candidate, local_sizes, &mut uses) {
            left.remove(&found.header);
            return true;
        }
        let shared = uniformity.and_then(|it| shared_loads(function, &candidate, it));
        let body = Body::new(function, &candidate, !has_inner, &shape.registers);
        let count = |most| trip_count::count(function, &candidate, local_sizes, most);
        let is_within = found.parent.is_some();
        let copies = || shape.copies(function, budget, at, MANY[0]);
        match plan(&body, shared, is_within, copies, count) {
            Some(Plan::Whole(iterations)) => copy::unroll(function, &candidate, iterations),
            Some(Plan::Join(factor)) => copy::join_iterations(function, &candidate, factor),
            None => continue,
        }
        left.remove(&found.header);
        return true;
    }
    false
}

/// Joins iterations of the first innermost loop that nobody has looked at and for which it is worth it, as the first of the
/// plans says that can be followed, and marks what it has looked at. `known` blocks were there before any were joined:
/// others are joined already. With a budget only loops are joined of which the device may not make all iterations.
fn join_one(
    function: &mut Function,
    local_sizes: [u32; 3],
    plans: &[partial::Plan],
    budget: &mut Option<Budget<'_>>,
    known: usize,
    left: &mut HashSet<Block>,
) -> bool {
    let shape = Shape::new(function, local_sizes);
    let loops = shape.loops.all().iter().zip(shape.loops.have_inner());
    for (at, (found, has_inner)) in loops.enumerate() {
        if has_inner || found.header.index() >= known || !left.insert(found.header) {
            continue;
        }
        let few = budget.is_some();
        let copies = if few {
            shape.copies(function, budget, at, partial::FEW.most())
        } else {
            usize::MAX
        };
        let most_iterations = |function: &Function, most| {
            trip_count::at_most(function, &shape.dominators, found, local_sizes, most)
        };
        let join_with_ways_out = |function: &mut Function| {
            let most = most_iterations(function, with_ways_out::MOST);
            with_ways_out::run(function, found, most, copies)
        };
        let follow = |function: &mut Function, plan: &partial::Plan| {
            let most = most_iterations(function, plan.most());
            partial::run(function, found, plan, most, copies)
        };
        let loads = few && loads(function, found);
        if loads && join_with_ways_out(function)
            || plans.iter().any(|plan| follow(function, plan))
            || few && !loads && join_with_ways_out(function)
        {
            return true;
        }
    }
    false
}

impl<'a> Candidate<'a> {
    fn iteration(&'a self) -> copy::Iteration<'a> {
        copy::Iteration {
            blocks: self.blocks,
            latch: self.latch,
            next: &self.next,
            onward: Some((self.leaving, &self.onward)),
        }
    }
}

/// What is done with a loop.
enum Plan {
    /// It is unrolled as a whole, so many iterations.
    Whole(usize),
    /// So many iterations become one.
    Join(usize),
}

/// `shared` is the size of an iteration of [`shared_loads`], `is_within` whether there is a loop around it, `copies` how many
/// there may be because the device makes too few iterations (see [`Shape::copies`]), `count` the number of iterations if it is
/// no more than that.
fn plan(
    body: &Body,
    shared: Option<usize>,
    is_within: bool,
    copies: impl FnOnce() -> usize,
    count: impl Fn(usize) -> Option<usize>,
) -> Option<Plan> {
    if let Some(size) = shared
        && let Some(iterations) = count(COMPUTES.0)
    {
        if iterations <= FACTORS[0] && iterations * size <= SHARES {
            return Some(Plan::Whole(iterations));
        }
        return factor(iterations, size, SHARES, &FACTORS).map(Plan::Join);
    }
    if let Some(iterations) = body.most_iterations().and_then(&count) {
        return Some(Plan::Whole(iterations));
    }
    if body.exchanges
        && let Some(iterations) = count(EXCHANGES.0)
        && iterations * body.size <= EXCHANGES.1
        && iterations * body.device_bytes <= EXCHANGES.2
    {
        return Some(Plan::Whole(iterations));
    }
    let iterations = count(COMPUTES.0)?;
    let copies = copies();
    if is_within && iterations <= WITHIN.0.min(copies) && iterations * body.size <= WITHIN.1 {
        return Some(Plan::Whole(iterations));
    }
    if let Some(factor) = factor(iterations, body.size, JOINED.min(copies * body.size), &MANY) {
        return Some(Plan::Join(factor));
    }
    let factor = factor(iterations, body.size, COMPUTES.1, &FACTORS);
    factor.filter(|_| body.computes).map(Plan::Join)
}

/// How many iterations of `size` instructions become one of `most`, so that some of those are left.
fn factor(iterations: usize, size: usize, most: usize, factors: &[usize]) -> Option<usize> {
    let fits = |factor: &usize| {
        iterations.is_multiple_of(*factor) && iterations > *factor && size * factor <= most
    };
    factors.iter().copied().find(fits)
}

fn candidate<'a>(
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

/// Instructions of an iteration, if the loop is one of one block that computes and loads, some of it from where all work-items of
/// a sub-group do.
fn shared_loads(
    function: &Function,
    candidate: &Candidate<'_>,
    uniformity: &Uniformity,
) -> Option<usize> {
    let &[block] = candidate.blocks else {
        return None;
    };
    let (mut size, mut shares) = (0, false);
    for &inst in &function.block(block).insts {
        match function.inst(inst).op {
            Op::Const(_) => continue,
            Op::Load(Place::Pointer(pointer), access) if !access.volatile => {
                let is_private = function.ty(pointer) == Type::Ptr(AddressSpace::Private);
                shares |= uniformity.is_uniform(pointer) && !is_private;
            }
            ref op if op.is_pure() => {}
            _ => return None,
        }
        size += 1;
    }
    let shares = shares && uniformity.is_converged(block);
    shares.then_some(size)
}

/// What a loop does in an iteration.
struct Body {
    /// Instructions other than constants; accesses by the vectors of four that they make.
    size: usize,
    loads: bool,
    /// Whether it has barriers, and no loop within.
    exchanges: bool,
    /// The bytes of device memory that an iteration loads.
    device_bytes: usize,
    /// Whether it indexes private memory by its counters, and that becomes registers.
    indexes_private: bool,
    /// Whether it is one block that only computes.
    computes: bool,
}

impl Body {
    fn new(
        function: &Function,
        candidate: &Candidate<'_>,
        is_innermost: bool,
        registers: &HashSet<VariableId>,
    ) -> Self {
        let insts = candidate
            .blocks
            .iter()
            .flat_map(|&block| &function.block(block).insts);
        let mut body = Self {
            size: 0,
            loads: false,
            exchanges: false,
            device_bytes: 0,
            indexes_private: false,
            computes: candidate.blocks.len() == 1,
        };
        let counters = &function.block(candidate.header).params;
        for &inst in insts {
            let data = function.inst(inst);
            body.computes &= data.op.is_pure();
            match &data.op {
                Op::Const(_) => continue,
                Op::ControlBarrier { .. } => body.exchanges = is_innermost,
                Op::Load(place, _) => {
                    body.loads = true;
                    if is_in_device_memory(function, place) {
                        let bytes = |&value: &Value| function.ty(value).size_bytes() as usize;
                        body.device_bytes += data.results.iter().map(bytes).sum::<usize>();
                    }
                }
                Op::PtrAdd(_, offset) => {
                    let variable = data
                        .results
                        .first()
                        .and_then(|&it| registers::variable_of(function, it));
                    body.indexes_private |= variable.is_some_and(|it| registers.contains(&it))
                        && depends_on_counters(function, *offset, counters, 6);
                }
                _ => {}
            }
            body.size += vectors(&data.op, &data.results);
        }
        body
    }

    /// How many iterations the loop may have to be unrolled as a whole, if that is worth anything.
    fn most_iterations(&self) -> Option<usize> {
        let (iterations, total) = match (self.indexes_private, self.loads) {
            (true, _) => PRIVATE,
            (false, true) => LOADS,
            _ => return None,
        };
        let most = iterations.min(total / self.size.max(1));
        (most > 0).then_some(most)
    }
}

/// How many vectors of four an instruction loads or stores; one for all others.
fn vectors(op: &Op, results: &[Value]) -> usize {
    match op {
        Op::Load(..) => results.len().div_ceil(4),
        Op::Store(_, values, _) => values.len().div_ceil(4),
        _ => 1,
    }
}

/// Whether a loop loads from device memory.
fn loads(function: &Function, found: &Loop) -> bool {
    let blocks = found.blocks.iter();
    let mut insts = blocks.flat_map(|&block| &function.block(block).insts);
    insts.any(|&inst| match &function.inst(inst).op {
        Op::Load(place, _) => is_in_device_memory(function, place),
        _ => false,
    })
}

fn is_in_device_memory(function: &Function, place: &Place) -> bool {
    let &Place::Pointer(pointer) = place else {
        return false;
    };
    !matches!(
        function.ty(pointer),
        Type::Ptr(AddressSpace::Private | AddressSpace::Local)
    )
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
