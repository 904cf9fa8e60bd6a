//! Several rounds at once of a loop whose number of rounds is known only as it begins.
//!
//! Such a loop counts up to a limit and may have other ways out, as the search for the round in which a point leaves a
//! circle has. Before it comes a loop whose rounds are four each, say, and that goes on as long as more than four are
//! left: within them the count is not looked at. The loop itself makes what is left, one round at least.

use super::copy::copy_blocks;
use crate::compiler::analysis::{Loop, Uses, defined_values};
use crate::compiler::ir::{Binary, Block, Builder, Compare, Edge, Function, Op, Terminator, Value};

/// Which loops it is done to, and how.
pub struct Plan {
    /// How many rounds become one: the first of these with which the new round is no longer than `most_insts`.
    factors: &'static [usize],
    most_insts: usize,
    most_blocks: usize,
    /// Whether loops may do more than compute.
    with_effects: bool,
}

/// Where counting takes time: rounds must be short for it to matter.
pub const FOUR: Plan = Plan {
    factors: &[4],
    most_insts: 4 * 24,
    most_blocks: 5,
    with_effects: false,
};

/// Where the device counts rounds, and makes so many only.
pub const FEW: Plan = Plan {
    factors: &[16, 8, 4],
    most_insts: super::JOINED,
    most_blocks: 12,
    with_effects: true,
};

/// A loop with one edge in, one back, and one way out by its count.
struct Counted {
    /// How many of its rounds become one.
    factor: usize,
    before: Block,
    latch: Block,
    /// The values of the header's parameters in the first round, and in the next.
    first: Vec<Value>,
    next: Vec<Value>,
    /// Which of them counts, by one, up to the limit.
    counter: usize,
    limit: Value,
    /// Where the count is compared, and where it goes on.
    leaving: Block,
    inside: Edge,
}

/// Puts the loop of several rounds before `found`, if the plan asks for that and it can be done.
pub fn run(function: &mut Function, found: &Loop, plan: &Plan) -> bool {
    let Some(counted) = counted(function, found, plan) else {
        return false;
    };
    let header = found.header;
    let params = function.block(header).params.clone();
    let start = function.add_block();
    let first_round = function.add_block();
    let mut incoming: Vec<Value> = params
        .iter()
        .map(|&param| function.add_param(start, function.ty(param)))
        .collect();
    let counter = incoming[counted.counter];
    let mut b = Builder::new(function, start);
    let left = b.binary(Binary::Sub, counted.limit, counter);
    let ty = b.ty(left);
    let rounds = b.constant(ty, counted.factor as u64);
    let enough = b.compare(Compare::ULess, rounds, left);
    b.branch(
        enough,
        first_round,
        Edge::new(header, incoming.iter().copied()),
    );
    let mut from = first_round;
    for _ in 0..counted.factor {
        let mut values = params.iter().copied().zip(incoming).collect();
        let blocks = copy_blocks(function, &found.blocks, header, &mut values);
        let resolve = |value: &Value| values.get(value).copied().unwrap_or(*value);
        incoming = counted.next.iter().map(resolve).collect();
        let entry = Edge::new(blocks[&header], []);
        match from == first_round {
            true => function.block_mut(from).terminator = Terminator::Jump(entry),
            false => redirect(function, from, header, entry),
        }
        let args = counted.inside.args.iter().map(resolve);
        let inside = match counted.inside.block == header {
            true => Edge::new(header, []),
            false => Edge::new(blocks[&counted.inside.block], args),
        };
        function.block_mut(blocks[&counted.leaving]).terminator = Terminator::Jump(inside);
        from = blocks[&counted.latch];
    }
    redirect(function, from, header, Edge::new(start, incoming));
    redirect(
        function,
        counted.before,
        header,
        Edge::new(start, counted.first),
    );
    true
}

/// The edge from a block to the header becomes another.
fn redirect(function: &mut Function, from: Block, header: Block, edge: Edge) {
    for old in function.block_mut(from).terminator.edges_mut() {
        if old.block == header {
            *old = edge.clone();
        }
    }
}

fn counted(function: &Function, found: &Loop, plan: &Plan) -> Option<Counted> {
    let header = found.header;
    let is_inside = |block: Block| found.blocks.contains(&block);
    let insts = || {
        found
            .blocks
            .iter()
            .flat_map(|&block| &function.block(block).insts)
    };
    let size = insts().count();
    let fits = |factor: &usize| size * factor <= plan.most_insts;
    let factor = plan.factors.iter().copied().find(fits)?;
    if found.blocks.len() > plan.most_blocks
        || !plan.with_effects && insts().any(|&inst| !function.inst(inst).op.is_pure())
        || ways_out(function, found) > 1 && is_used_outside(function, found)
    {
        return None;
    }
    let [(before, first), (latch, next)] = found.entry_and_back(function)?;
    let params = &function.block(header).params;
    let defined = defined_values(function, &found.blocks);
    found.blocks.iter().find_map(|&leaving| {
        let Terminator::Branch {
            condition,
            then,
            otherwise,
        } = &function.block(leaving).terminator
        else {
            return None;
        };
        let &Op::Compare(op @ (Compare::Equal | Compare::NotEqual), a, b) =
            function.op_of(*condition)?
        else {
            return None;
        };
        let (exit, inside) = match op {
            Compare::Equal => (then, otherwise),
            _ => (otherwise, then),
        };
        if is_inside(exit.block) || !is_inside(inside.block) {
            return None;
        }
        let (counter, limit) = [(a, b), (b, a)].into_iter().find_map(|(count, limit)| {
            let at = counter_of(function, params, &next.args, count)?;
            (!defined.contains(&limit)).then_some((at, limit))
        })?;
        Some(Counted {
            factor,
            before,
            latch,
            first: first.args.to_vec(),
            next: next.args.to_vec(),
            counter,
            limit,
            leaving,
            inside: inside.clone(),
        })
    })
}

/// Which parameter counts by one and is `count`, before or after it does.
fn counter_of(
    function: &Function,
    params: &[Value],
    next: &[Value],
    count: Value,
) -> Option<usize> {
    let at = (0..params.len()).find(|&at| [params[at], next[at]].contains(&count))?;
    let &Op::Binary(Binary::Add, a, b) = function.op_of(next[at])? else {
        return None;
    };
    let one = |value: Value| function.constant(value) == Some(1);
    (a == params[at] && one(b) || b == params[at] && one(a)).then_some(at)
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

/// Whether later code reads a value of the loop otherwise than by the arguments of its ways out. Those of several rounds
/// have as many of each.
fn is_used_outside(function: &Function, found: &Loop) -> bool {
    let inside = found.blocks.iter().copied().collect();
    let left = Uses::new(function).left_behind(function, &found.blocks, &inside);
    !left.is_empty()
}
