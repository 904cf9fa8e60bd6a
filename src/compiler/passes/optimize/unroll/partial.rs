//! Several iterations at once of a loop whose number of iterations is known only as it begins.
//!
//! Such a loop counts up to a limit and may have other ways out, as the search for the iteration in which a point leaves a
//! circle has. Before it comes a loop whose iterations are four each, say, and that goes on as long as more than four are
//! left: within them the count is not looked at. The loop itself makes what is left, one iteration at least.
//!
//! Where the device makes few iterations, or accesses to memory are to be in flight together, this is done as well to counters
//! that go on in steps as long as they are less than the limit, or greater:
//! `for (i = get_global_id(0); i < n; i += get_global_size(0))`.
//!
//! What is left of eight iterations can also be four if there are so many, two, one, and the last, in a straight line: short
//! loops in loops, over the window of a filter, lose less time so. That takes a count that is known exactly.

use super::copy::{Iteration, block_before, block_like, redirect};
use crate::compiler::analysis::{Amount, Induction, Invariance, Loop, Step, Uses};
use crate::compiler::ir::{Binary, Block, Builder, Compare, Edge, Function, Op, Terminator, Value};

/// Which loops it is done to, and how.
pub struct Plan {
    /// How many iterations become one: the first of these with which the new iteration is no longer than `most_insts`.
    factors: &'static [usize],
    most_insts: usize,
    most_blocks: usize,
    /// What loops may do.
    effects: Effects,
    /// Whether counters may go on in steps, up to where they are no longer less or greater.
    with_steps: bool,
    /// Up to how long an iteration, in instructions, what is left is made in a straight line, where the count tells exactly how
    /// many iterations that is.
    straight_insts: usize,
}

/// What a loop does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effects {
    /// It only computes.
    None,
    /// It may load from device memory and store there, too.
    Accesses,
    Any,
}

/// Where counting takes time: iterations must be short for it to matter.
pub const FOUR: Plan = Plan {
    factors: &[4],
    most_insts: 4 * 24,
    most_blocks: 5,
    effects: Effects::None,
    with_steps: false,
    straight_insts: 0,
};

/// Where accesses of several iterations are to be in flight together, which the driver does not see to.
pub const ACCESSES: Plan = Plan {
    factors: &[8, 4],
    most_insts: 8 * 24,
    most_blocks: 5,
    effects: Effects::Accesses,
    with_steps: true,
    straight_insts: 16,
};

/// Where the device counts iterations, and makes so many only.
pub const FEW: Plan = Plan {
    factors: &[32, 16, 8, 4],
    most_insts: super::policy::PARTIAL,
    most_blocks: 12,
    effects: Effects::Any,
    with_steps: true,
    straight_insts: 0,
};

impl Plan {
    /// How many iterations become one at most.
    pub fn most(&self) -> usize {
        self.factors.iter().copied().max().unwrap_or(0)
    }
}

impl Effects {
    fn include(self, function: &Function, op: &Op) -> bool {
        let accesses = match op {
            Op::Load(place, access) | Op::Store(place, _, access) => {
                !access.volatile && super::body::is_in_device_memory(function, place)
            }
            _ => false,
        };
        self == Self::Any || op.is_pure() || self == Self::Accesses && accesses
    }
}

/// Steps in which a loop may compute what is the same in all iterations.
const STEPS: u32 = 6;

/// A loop with one edge in, one back, and one way out by its count.
struct Counted {
    /// How many of its iterations become one.
    factor: usize,
    before: Block,
    latch: Block,
    /// The values of the header's parameters in the first iteration, and in the next.
    first: Vec<Value>,
    next: Vec<Value>,
    /// Which of them counts, how, and up to what.
    counter: usize,
    step: Step,
    ends: Ends,
    limit: Value,
    rest: Rest,
    invariance: Invariance,
    /// Where the count is compared, and where it goes on.
    leaving: Block,
    inside: Edge,
}

/// What makes the iterations that are left, between one and as many as the factor.
enum Rest {
    /// The loop itself.
    Loop,
    /// Copies of it: how many is known exactly, as the loop ends with its iteration, by nothing but the count. That is compared
    /// before it has gone on, or after. `exit` is the way out.
    StraightLine { counts_next: bool, exit: Edge },
}

/// When a counter has reached its limit.
#[derive(Clone, Copy)]
enum Ends {
    /// When it is the limit, and it counts up by one.
    Equal,
    /// When it is not less than the limit if it goes up, or not greater if it goes down. The comparison is one of less.
    Past(Compare),
}

/// Puts the loop of several iterations before `found`, if the plan asks for that and it can be done. `most_iterations` is what the
/// loop makes at most, if that is known; `copies` is how many there may be of it.
pub fn run(
    function: &mut Function,
    found: &Loop,
    plan: &Plan,
    most_iterations: Option<usize>,
    copies: usize,
) -> bool {
    let Some(counted) = counted(function, found, plan, most_iterations, copies) else {
        return false;
    };
    let header = found.header;
    let iteration = Iteration {
        blocks: &found.blocks,
        latch: counted.latch,
        next: &counted.next,
        onward: Some((counted.leaving, &counted.inside)),
    };
    let (start, incoming) = block_like(function, header);
    let rest = match &counted.rest {
        Rest::Loop => Edge::new(header, incoming.iter().copied()),
        Rest::StraightLine { counts_next, exit } => {
            let (rest, params) = block_like(function, header);
            straighten(function, &iteration, &counted, *counts_next, rest, params);
            function.block_mut(counted.leaving).terminator = Terminator::Jump(exit.clone());
            Edge::new(rest, incoming.iter().copied())
        }
    };
    let first_iteration = block_before(function, header);
    let counter = incoming[counted.counter];
    let mut b = Builder::new(function, start);
    let enough = enough_left(&mut b, counter, &counted);
    b.branch(enough, first_iteration, rest);
    let (last, next) = iteration.copy(function, first_iteration, incoming, counted.factor);
    redirect(function, last, header, Edge::new(start, next));
    let first = Edge::new(start, counted.first.iter().copied());
    redirect(function, counted.before, header, first);
    true
}

/// Makes the iterations that are left, up to the factor, without a loop: half as many if there are more, and so on, and at last
/// the body of the loop itself, so that what later code reads of the loop stays where it is. They begin in the block `at`,
/// where the header's parameters are `values`.
fn straighten(
    function: &mut Function,
    iteration: &Iteration<'_>,
    counted: &Counted,
    counts_next: bool,
    mut at: Block,
    mut values: Vec<Value>,
) {
    let header = iteration.blocks[0];
    let mut b = Builder::new(function, at);
    let left = left_after_this(&mut b, values[counted.counter], counted, counts_next);
    let mut iterations = counted.factor / 2;
    while iterations > 0 {
        let some = block_before(function, header);
        let (next, params) = block_like(function, header);
        let mut b = Builder::new(function, at);
        let bit = b.binary_const(Binary::And, left, iterations as u64);
        let zero = b.constant(b.ty(left), 0);
        let are_none = b.compare(Compare::Equal, bit, zero);
        b.branch(are_none, Edge::new(next, values.iter().copied()), some);
        let (last, after) = iteration.copy(function, some, values, iterations);
        redirect(function, last, header, Edge::new(next, after));
        (at, values, iterations) = (next, params, iterations / 2);
    }
    function.block_mut(at).terminator = Terminator::Jump(Edge::new(header, values));
}

/// How many iterations come after this one, of a [count that tells](is_exact).
fn left_after_this(
    b: &mut Builder<'_>,
    counter: Value,
    counted: &Counted,
    counts_next: bool,
) -> Value {
    let limit = counted.invariance.hoisted(b, counted.limit);
    let count = match (counts_next, counted.step.goes_up) {
        (false, _) => counter,
        (true, true) => b.binary_const(Binary::Add, counter, 1),
        (true, false) => b.binary_const(Binary::Sub, counter, 1),
    };
    let (lesser, greater) = if counted.step.goes_up {
        (count, limit)
    } else {
        (limit, count)
    };
    let left = b.binary(Binary::Sub, greater, lesser);
    match counted.ends {
        Ends::Equal => left,
        Ends::Past(compare) => {
            let goes_on = b.compare(compare, lesser, greater);
            let none = b.constant(b.ty(left), 0);
            b.select(goes_on, left, none)
        }
    }
}

/// Whether more iterations than the factor are left.
fn enough_left(b: &mut Builder<'_>, counter: Value, counted: &Counted) -> Value {
    let factor = counted.factor as u64;
    let limit = counted.invariance.hoisted(b, counted.limit);
    let ty = b.ty(counter);
    if let Rest::StraightLine { counts_next, .. } = counted.rest {
        let left = left_after_this(b, counter, counted, counts_next);
        let most = b.constant(b.ty(left), factor - 1);
        return b.compare(Compare::ULess, most, left);
    }
    let Ends::Past(compare) = counted.ends else {
        let left = b.binary(Binary::Sub, limit, counter);
        let iterations = b.constant(ty, factor);
        return b.compare(Compare::ULess, iterations, left);
    };
    let (lesser, greater) = if counted.step.goes_up {
        (counter, limit)
    } else {
        (limit, counter)
    };
    // Farther from the limit than all iterations together go, no counter wraps around.
    let is_before = b.compare(compare, lesser, greater);
    let left = b.binary(Binary::Sub, greater, lesser);
    let step = match counted.step.by {
        Amount::Constant(bits) => b.constant(ty, bits),
        Amount::Variable(value) => counted.invariance.hoisted(b, value),
    };
    let iterations = b.binary_const(Binary::Mul, step, factor);
    let is_far = b.compare(Compare::ULess, iterations, left);
    let most = b.constant(ty, (ty.mask() >> 1) / factor);
    let is_small = b.compare(Compare::ULess, step, most);
    let far = b.binary(Binary::And, is_far, is_small);
    b.binary(Binary::And, is_before, far)
}

fn counted(
    function: &Function,
    found: &Loop,
    plan: &Plan,
    most_iterations: Option<usize>,
    copies: usize,
) -> Option<Counted> {
    let insts = || {
        found
            .blocks
            .iter()
            .flat_map(|&block| &function.block(block).insts)
    };
    let size = insts().count();
    // As many as the factor are left to the loop itself.
    let fits = |&factor: &usize| {
        size * factor <= plan.most_insts
            && factor <= copies
            && most_iterations.is_none_or(|most| factor < most)
    };
    let factor = plan.factors.iter().copied().find(fits)?;
    let has_one_way_out = ways_out(function, found) <= 1;
    if found.blocks.len() > plan.most_blocks
        || insts().any(|&inst| !plan.effects.include(function, &function.inst(inst).op))
        || !has_one_way_out && is_used_outside(function, found)
    {
        return None;
    }
    let [(before, first), (latch, next)] = found.entry_and_back(function)?;
    let invariance = Invariance::of(function, &found.blocks);
    let mut leaving = found.blocks.iter();
    let (way_out, count) = leaving.find_map(|&leaving| {
        let way_out = WayOut::of(function, found, leaving)?;
        let count = Count::of(
            function,
            found.header,
            &next.args,
            plan,
            &invariance,
            &way_out,
        )?;
        Some((way_out, count))
    })?;
    let WayOut {
        leaving,
        op,
        operands,
        goes_on_if,
        inside,
        exit,
    } = way_out;
    let is_short = size <= plan.straight_insts;
    let ends_iteration = leaving == latch && has_one_way_out;
    let rest = if is_short && ends_iteration && is_exact(op, goes_on_if, count.step) {
        Rest::StraightLine {
            counts_next: operands.contains(&next.args[count.counter]),
            exit,
        }
    } else {
        Rest::Loop
    };
    Some(Counted {
        factor,
        before,
        latch,
        first: first.args.to_vec(),
        next: next.args.to_vec(),
        counter: count.counter,
        step: count.step,
        ends: count.ends,
        limit: count.limit,
        rest,
        invariance,
        leaving,
        inside,
    })
}

/// A way out of a loop that a comparison decides on.
struct WayOut {
    leaving: Block,
    op: Compare,
    operands: [Value; 2],
    /// What the comparison says where the iteration goes on.
    goes_on_if: bool,
    inside: Edge,
    exit: Edge,
}

impl WayOut {
    /// The way out at the end of a block, if there is one.
    fn of(function: &Function, found: &Loop, leaving: Block) -> Option<Self> {
        let is_inside = |block: Block| found.blocks.contains(&block);
        let Terminator::Branch {
            condition,
            then,
            otherwise,
        } = &function.block(leaving).terminator
        else {
            return None;
        };
        let &Op::Compare(op, a, b) = function.op_of(*condition)? else {
            return None;
        };
        let goes_on_if = is_inside(then.block);
        let (exit, inside) = if goes_on_if {
            (otherwise, then)
        } else {
            (then, otherwise)
        };
        (!is_inside(exit.block) && is_inside(inside.block)).then(|| Self {
            leaving,
            op,
            operands: [a, b],
            goes_on_if,
            inside: inside.clone(),
            exit: exit.clone(),
        })
    }
}

/// What counts in a loop, and up to what.
struct Count {
    /// Which of the header's parameters.
    counter: usize,
    step: Step,
    ends: Ends,
    limit: Value,
}

impl Count {
    /// The count that a way out compares, if it does. `next` are the values of the header's parameters in the next iteration.
    fn of(
        function: &Function,
        header: Block,
        next: &[Value],
        plan: &Plan,
        invariance: &Invariance,
        way_out: &WayOut,
    ) -> Option<Self> {
        let &WayOut {
            op,
            operands: [a, b],
            goes_on_if,
            ..
        } = way_out;
        let params = &function.block(header).params;
        let is_outside = |value| {
            let steps = if plan.with_steps { STEPS } else { 0 };
            invariance.is_invariant(function, value, steps)
        };
        [(a, b), (b, a)].into_iter().find_map(|(count, limit)| {
            let (counter, step) = counter_of(function, params, next, count)?;
            let ends = match op {
                Compare::Equal | Compare::NotEqual => {
                    let is_one = step.goes_up && matches!(step.by, Amount::Constant(1));
                    let fits = goes_on_if == (op == Compare::NotEqual) && is_one;
                    fits.then_some(Ends::Equal)
                }
                _ if !plan.with_steps => None,
                Compare::ULess | Compare::ULessEqual => Some(Ends::Past(Compare::ULess)),
                Compare::SLess | Compare::SLessEqual => Some(Ends::Past(Compare::SLess)),
                _ => None,
            }?;
            // It goes on while the first is less, or, if that ends it, while the second is.
            let goes_up = (count == a) == goes_on_if;
            let is_right = matches!(ends, Ends::Equal) || goes_up == step.goes_up;
            let is_known = match step.by {
                Amount::Constant(_) => true,
                Amount::Variable(by) => is_outside(by),
            };
            (is_right && is_known && is_outside(limit)).then_some(Self {
                counter,
                step,
                ends,
                limit,
            })
        })
    }
}

/// Whether it is known of a count how many iterations are left: it passes the limit, so that it cannot wrap around beyond it.
fn is_exact(op: Compare, goes_on_if: bool, step: Step) -> bool {
    let ends_at_limit = match op {
        Compare::Equal | Compare::NotEqual => true,
        Compare::ULess | Compare::SLess => goes_on_if,
        Compare::ULessEqual | Compare::SLessEqual => !goes_on_if,
        _ => false,
    };
    ends_at_limit && matches!(step.by, Amount::Constant(1))
}

/// Which parameter counts and is `count`, before or after it does, and what it counts by.
fn counter_of(
    function: &Function,
    params: &[Value],
    next: &[Value],
    count: Value,
) -> Option<(usize, Step)> {
    let at = (0..params.len()).find(|&at| [params[at], next[at]].contains(&count))?;
    Some((
        at,
        Induction::of(function, params[at], next[at])?.step(function)?,
    ))
}

/// How many edges leave the loop. If one does, the loop that makes what is left is where later code comes from.
fn ways_out(function: &Function, found: &Loop) -> usize {
    let edges = found
        .blocks
        .iter()
        .flat_map(|&block| function.block(block).terminator.edges());
    edges
        .filter(|edge| !found.blocks.contains(&edge.block))
        .count()
}

/// Whether later code reads a value of the loop otherwise than by the arguments of its ways out. Those of several iterations
/// have as many of each.
fn is_used_outside(function: &Function, found: &Loop) -> bool {
    let inside = found.blocks.iter().copied().collect();
    let uses = function.analysis::<Uses>();
    let left = uses.left_behind(function, &found.blocks, &inside);
    !left.is_empty()
}
