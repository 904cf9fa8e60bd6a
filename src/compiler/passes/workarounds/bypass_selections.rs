//! Keeps the ways through a loop few, for a driver that follows each.
//!
//! **Why.** SwiftShader (seen in Chromium 147 and 153) asks which blocks can be reached from a loop's header, breadth first, and
//! goes on from a block as many times as it came there before it first went on. Two arms of a selection that are equally
//! long bring it to the merge block twice for each time that it was at the selection's header: with thirty such selections
//! in a row it takes minutes to make a pipeline.
//!
//! **How.** A way that is never taken leads from the selection's header to its merge block, as a case of a switch, or to where
//! else its arms meet, the end of the iteration or what is behind the loop, as a branch before the selection. By it the search
//! comes there with the arms, not after them, so that what comes behind the selection is gone to as often as the selection,
//! and once more for each arm.
//!
//! **Needs** structured control flow, and keeps it. Does nothing unless the device asks for it
//! ([`Defects::FOLLOWS_ALL_WAYS`]), and nothing to loops that are searched in few steps.

use crate::compiler::analysis::Dominators;
use crate::compiler::ir::{
    Block, Builder, Compare, Edge, FuncId, Function, Merge, Module, Op, Terminator, Type, Value,
    Values,
};
use crate::compiler::{CompileError, Context, Defects};
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashSet};

/// Steps in which a loop may be searched: some milliseconds.
const MOST_STEPS: u64 = 1 << 14;

/// By block: the blocks that go to it.
type Predecessors = Vec<SmallVec<[Block; 4]>>;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::FOLLOWS_ALL_WAYS) {
        bypass(module);
    }
    Ok(())
}

fn bypass(module: &mut Module) {
    let ways = ways_through(module);
    let mut called: Vec<FuncId> = Vec::new();
    for function in &mut module.functions {
        let mut predecessors = function.predecessors();
        for header in function.layout().to_vec() {
            let Some(Merge::Loop { merge, .. }) = function.block(header).merge else {
                continue;
            };
            let search = Search::new(function, &predecessors, &ways, header, Some(merge));
            if search.steps <= MOST_STEPS {
                continue;
            }
            for &block in &search.seen {
                called.extend(callees(function, block));
            }
            add_ways(function, &search.seen);
            predecessors = function.predecessors();
        }
    }
    // The driver inlines all.
    let mut done: HashSet<FuncId> = HashSet::new();
    while let Some(id) = called.pop() {
        if done.insert(id) {
            let function = &mut module.functions[id.index()];
            let blocks = function.layout().to_vec();
            for &block in &blocks {
                called.extend(callees(function, block));
            }
            add_ways(function, &blocks);
        }
    }
}

/// The functions that a block calls, each as often as it does.
fn callees(function: &Function, block: Block) -> Vec<FuncId> {
    let insts = function.block(block).insts.iter();
    let callee = |&inst| match function.inst(inst).op {
        Op::Call(callee, _) => Some(callee),
        _ => None,
    };
    insts.filter_map(callee).collect()
}

/// By function: how often the search comes to its end for each time that it is at its beginning.
fn ways_through(module: &Module) -> Vec<u64> {
    let mut ways: Vec<Option<u64>> = vec![None; module.functions.len()];
    loop {
        let known: Vec<u64> = ways.iter().map(|ways| ways.unwrap_or(1)).collect();
        let mut found = false;
        for (at, function) in module.functions.iter().enumerate() {
            let mut called = function
                .layout()
                .iter()
                .flat_map(|&it| callees(function, it));
            if ways[at].is_none() && called.all(|callee| ways[callee.index()].is_some()) {
                let entry = function.entry();
                let search = Search::new(function, &function.predecessors(), &known, entry, None);
                // Arms of different lengths double the ways, too: the driver may make one block of a selection in the longer one.
                let dominators = function.analysis::<Dominators>();
                let doubling = without_way(function, &dominators, function.layout()).len();
                let most = 1u64.checked_shl(doubling as u32).unwrap_or(u64::MAX);
                ways[at] = Some(search.returns.max(most));
                found = true;
                break;
            }
        }
        if !found {
            return known;
        }
    }
}

/// What the driver does to find out what can be reached from a loop's header.
struct Search {
    /// How often it goes on from a block.
    steps: u64,
    /// How often it comes to an end of the function.
    returns: u64,
    /// The blocks that it comes to.
    seen: Vec<Block>,
}

impl Search {
    /// Searches from a block up to the merge block of its loop. `ways` is what [`ways_through`] says.
    fn new(
        function: &Function,
        predecessors: &Predecessors,
        ways: &[u64],
        header: Block,
        merge: Option<Block>,
    ) -> Self {
        let mut seen: HashSet<Block> = merge.into_iter().chain([header]).collect();
        let mut order = vec![header];
        let (mut steps, mut returns) = (0u64, 0u64);
        let mut level = BTreeMap::from([(header, 1u64)]);
        while !level.is_empty() {
            let mut next = BTreeMap::new();
            for (&block, &times) in &level {
                let called = callees(function, block).into_iter();
                let times = called.fold(times, |times, callee| {
                    times.saturating_mul(ways[callee.index()])
                });
                steps = steps.saturating_add(times);
                if matches!(function.block(block).terminator, Terminator::Return(_)) {
                    returns = returns.saturating_add(times);
                }
                for target in function.successors(block) {
                    let target = last_of_chain(function, predecessors, target, merge, &mut order);
                    if !seen.contains(&target) {
                        let of_target: &mut u64 = next.entry(target).or_default();
                        *of_target = of_target.saturating_add(times);
                    }
                }
            }
            seen.extend(next.keys());
            order.extend(next.keys());
            level = next;
        }
        order.sort();
        order.dedup();
        Self {
            steps,
            returns: returns.max(1),
            seen: order,
        }
    }
}

/// The last of the blocks that follow each other without a branch, which the driver has made one; those before are passed.
fn last_of_chain(
    function: &Function,
    predecessors: &Predecessors,
    mut block: Block,
    end: Option<Block>,
    passed: &mut Vec<Block>,
) -> Block {
    while let Terminator::Jump(edge) = &function.block(block).terminator
        && Some(block) != end
        && Some(edge.block) != end
        && callees(function, block).is_empty()
        && predecessors[edge.block.index()].len() == 1
    {
        passed.push(block);
        block = edge.block;
    }
    block
}

/// The selections whose arms meet in one of these blocks and from whose headers no way leads there: header, that block and the
/// selection's merge block.
fn without_way(
    function: &Function,
    dominators: &Dominators,
    blocks: &[Block],
) -> Vec<(Block, Block, Block)> {
    let predecessors = function.predecessors();
    let meet = blocks.iter().copied();
    let meet = meet.filter(|join| predecessors[join.index()].len() > 1);
    meet.filter_map(|join| {
        let header = dominators.immediate_dominator(join)?;
        match function.block(header).merge {
            Some(Merge::Selection { merge }) if !function.successors(header).contains(&join) => {
                Some((header, join, merge))
            }
            _ => None,
        }
    })
    .collect()
}

/// Adds a way to each of the blocks where the arms of a selection meet, from its header, if there is none.
fn add_ways(function: &mut Function, blocks: &[Block]) {
    // The ways added change no dominator: they lead from a block to those that it dominates immediately.
    let dominators = function.analysis::<Dominators>();
    let mut exits = Vec::new();
    for (header, join, merge) in without_way(function, &dominators, blocks) {
        if join == merge {
            add_case(function, header, join);
        } else if may_exit_to(function, &dominators, header, join) {
            exits.push((header, join));
        }
    }
    // The merge instruction leaves the header with these.
    for (header, join) in exits {
        add_exit(function, header, join);
    }
}

/// Whether a block is where the innermost loop around a header goes on when it, or its iteration, is left.
fn may_exit_to(function: &Function, dominators: &Dominators, header: Block, target: Block) -> bool {
    let mut around = Some(header);
    while let Some(block) = around {
        if let Some(Merge::Loop { merge, continues }) = function.block(block).merge
            && !dominators.dominates(merge, header)
        {
            let is_at_end = dominators.dominates(continues, header);
            return [merge, continues].contains(&target) && !is_at_end;
        }
        around = dominators.immediate_dominator(block);
    }
    false
}

/// Adds the way from the header of a selection to its merge block: a case of a switch.
fn add_case(function: &mut Function, header: Block, merge: Block) {
    let terminator = function.block(header).terminator.clone();
    let mut b = Builder::new(function, header);
    let way = way_to(&mut b, merge);
    let Some((value, taken)) = unused_value(&mut b, &terminator) else {
        return;
    };
    let terminator = match terminator {
        Terminator::Branch {
            then, otherwise, ..
        } => Terminator::Switch {
            value,
            cases: vec![(0, otherwise), (1, then)],
            default: way,
        },
        Terminator::Switch {
            mut cases, default, ..
        } => {
            cases.push((taken, way));
            Terminator::Switch {
                value,
                cases,
                default,
            }
        }
        other => other,
    };
    b.terminate(terminator);
}

/// Adds a way from the header of a selection out of the loop, or out of its iteration. No case of a switch may lead there but
/// by a block of its own, so that a block before the selection branches.
fn add_exit(function: &mut Function, header: Block, target: Block) {
    let selection = function.add_block_behind(header);
    let before = function.block_mut(header);
    let merge = before.merge.take();
    let keeps_selection = std::mem::replace(&mut before.keeps_selection, false);
    let terminator = std::mem::replace(&mut before.terminator, Terminator::Unreachable);
    let after = function.block_mut(selection);
    (after.merge, after.keeps_selection) = (merge, keeps_selection);
    after.terminator = terminator.clone();
    let mut b = Builder::new(function, header);
    let is_taken = match unused_value(&mut b, &terminator) {
        Some((value, taken)) => {
            let taken = b.constant(b.ty(value), taken);
            b.compare(Compare::Equal, value, taken)
        }
        None => {
            b.jump(selection);
            return;
        }
    };
    let way = way_to(&mut b, target);
    b.branch(is_taken, way, selection);
}

/// An edge that is never taken, which hands over zeros.
fn way_to(b: &mut Builder<'_>, target: Block) -> Edge {
    let params = b.function.block(target).params.iter();
    let types: Vec<Type> = params.map(|&param| b.function.ty(param)).collect();
    let nothing: Values = types.into_iter().map(|ty| b.constant(ty, 0)).collect();
    Edge::new(target, nothing)
}

/// A value by which a switch goes where a terminator does, and one of a branch is 0 or 1, and a literal that it never is:
/// where it would be, it is another for which there is no case either.
fn unused_value(b: &mut Builder<'_>, terminator: &Terminator) -> Option<(Value, u64)> {
    match terminator {
        Terminator::Branch {
            condition,
            then,
            otherwise,
        } if then.block != otherwise.block => {
            let (one, zero) = (b.i32(1), b.i32(0));
            Some((b.select(*condition, one, zero), 2))
        }
        Terminator::Switch { value, cases, .. } => {
            let ty = b.ty(*value);
            let literals: HashSet<u64> = cases.iter().map(|(literal, _)| *literal).collect();
            let mut unused = (0..=ty.mask()).filter(|literal| !literals.contains(literal));
            let (taken, instead) = (unused.next()?, unused.next()?);
            let (taken_value, instead) = (b.constant(ty, taken), b.constant(ty, instead));
            let is_taken = b.compare(Compare::Equal, *value, taken_value);
            Some((b.select(is_taken, instead, *value), taken))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::Binary;

    use crate::compiler::passes::helpers::testing;
    use crate::compiler::passes::structure::structurize;
    use crate::compiler::verify::{self, Stage};
    use smallvec::smallvec;

    /// `do { for each of `count` bits of x: bit set ? sum * 3 + bit : sum ^ x; } while (--n)`; every third selection is a
    /// switch on two bits.
    fn many_selections(count: u32) -> Module {
        testing::module_with(&[Type::I32, Type::I32], |b, p| {
            let (head, done) = (b.function.add_block(), b.function.add_block());
            let left = b.function.add_param(head, Type::I32);
            let first = b.function.add_param(head, Type::I32);
            let zero = b.i32(0);
            b.jump(Edge::new(head, [p[1], zero]));
            b.switch_to(head);
            let mut sum = first;
            for bit in 0..count {
                let [one, other, next] = [0; 3].map(|_| b.function.add_block());
                let result = b.function.add_param(next, Type::I32);
                let shifted = b.binary_const(Binary::LShr, p[0], u64::from(bit % 31));
                if bit % 3 == 2 {
                    let value = b.binary_const(Binary::And, shifted, 3);
                    b.terminate(Terminator::Switch {
                        value,
                        cases: vec![(0, other.into()), (2, other.into())],
                        default: one.into(),
                    });
                } else {
                    let value = b.binary_const(Binary::And, shifted, 1);
                    let is_set = b.compare(Compare::NotEqual, value, zero);
                    b.branch(is_set, one, other);
                }
                b.switch_to(one);
                let tripled = b.binary_const(Binary::Mul, sum, 3);
                let more = b.binary_const(Binary::Add, tripled, u64::from(bit));
                b.jump(Edge::new(next, [more]));
                b.switch_to(other);
                let flipped = b.binary(Binary::Xor, sum, p[0]);
                b.jump(Edge::new(next, [flipped]));
                b.switch_to(next);
                sum = result;
            }
            let fewer = b.binary_const(Binary::Sub, left, 1);
            let again = b.compare(Compare::NotEqual, fewer, zero);
            b.branch(again, Edge::new(head, [fewer, sum]), done);
            b.switch_to(done);
            smallvec![sum]
        })
    }

    fn expected(count: u32, x: u32, n: u32) -> u32 {
        let mut sum = 0u32;
        for bit in (0..n).flat_map(|_| 0..count) {
            sum = match x >> (bit % 31) & 1 {
                0 => sum ^ x,
                _ => sum.wrapping_mul(3).wrapping_add(bit),
            };
        }
        sum
    }

    /// Steps of the search of the only loop, and the switches.
    fn steps_and_switches(module: &Module) -> (u64, usize) {
        let function = &module.functions[0];
        let predecessors = function.predecessors();
        let mut loops = function.layout().iter().filter_map(|&block| {
            let Some(Merge::Loop { merge, .. }) = function.block(block).merge else {
                return None;
            };
            let ways = ways_through(module);
            let search = Search::new(function, &predecessors, &ways, block, Some(merge));
            Some(search.steps)
        });
        let steps = loops.next().expect("there is a loop");
        let switches = function.layout().iter().filter(|&&block| {
            matches!(function.block(block).terminator, Terminator::Switch { .. })
        });
        (steps, switches.count())
    }

    #[test]
    fn loops_of_many_selections_are_searched_in_few_steps() {
        for count in [6, 60] {
            let mut module = many_selections(count);
            testing::run(&mut module, structurize::run).expect("it has structure");
            let (before, switches) = steps_and_switches(&module);
            assert_eq!(before > MOST_STEPS, count == 60);
            bypass(&mut module);
            verify::module(&module, Stage::Emit).expect("the module is valid");
            let (after, new_switches) = steps_and_switches(&module);
            if count == 60 {
                assert!(after < MOST_STEPS, "{before} steps became {after}");
            } else {
                assert_eq!((after, new_switches), (before, switches));
            }
            for x in [0, 1, 0x1234_5678, 0xdead_beef, u32::MAX] {
                let found = testing::results(&module, &[x.into(), 3]);
                assert_eq!(found, [u64::from(expected(count, x, 3))]);
            }
        }
    }

    /// `do { for each of `count` calls: sum = f(sum, x); } while (--n)`.
    fn many_calls(count: u32, callee: Module) -> Module {
        let mut module = testing::module_with(&[Type::I32, Type::I32], |b, p| {
            let (head, done) = (b.function.add_block(), b.function.add_block());
            let left = b.function.add_param(head, Type::I32);
            let first = b.function.add_param(head, Type::I32);
            let zero = b.i32(0);
            b.jump(Edge::new(head, [p[1], zero]));
            b.switch_to(head);
            let mut sum = first;
            for _ in 0..count {
                sum = b.op1(Op::Call(FuncId(1), smallvec![sum, p[0]]), Type::I32);
            }
            let fewer = b.binary_const(Binary::Sub, left, 1);
            let again = b.compare(Compare::NotEqual, fewer, zero);
            b.branch(again, Edge::new(head, [fewer, sum]), done);
            b.switch_to(done);
            smallvec![sum]
        });
        module.functions.extend(callee.functions);
        module
    }

    /// A function that is a selection.
    fn selection() -> Module {
        testing::module_with(&[Type::I32, Type::I32], |b, p| {
            let [one, other, next] = [0; 3].map(|_| b.function.add_block());
            let result = b.function.add_param(next, Type::I32);
            let is_less = b.compare(Compare::ULess, p[0], p[1]);
            b.branch(is_less, one, other);
            b.switch_to(one);
            let tripled = b.binary_const(Binary::Mul, p[0], 3);
            let more = b.binary_const(Binary::Add, tripled, 1);
            b.jump(Edge::new(next, [more]));
            b.switch_to(other);
            let flipped = b.binary(Binary::Sub, p[0], p[1]);
            b.jump(Edge::new(next, [flipped]));
            b.switch_to(next);
            smallvec![result]
        })
    }

    /// A function that is a loop of two iterations, at the end of which the cases of a switch meet.
    fn loop_of_a_switch() -> Module {
        testing::module_with(&[Type::I32, Type::I32], |b, p| {
            let [head, next, done] = [0; 3].map(|_| b.function.add_block());
            let counter = b.function.add_param(head, Type::I32);
            let number = b.function.add_param(head, Type::I32);
            let result = b.function.add_param(next, Type::I32);
            let arms = [0; 4].map(|_| b.function.add_block());
            let (zero, two) = (b.i32(0), b.i32(2));
            b.jump(Edge::new(head, [zero, p[0]]));
            b.switch_to(head);
            let value = b.binary_const(Binary::And, number, 3);
            b.terminate(Terminator::Switch {
                value,
                cases: (0..3)
                    .zip(&arms)
                    .map(|(at, &arm)| (at, arm.into()))
                    .collect(),
                default: arms[3].into(),
            });
            for (at, arm) in (0..).zip(arms) {
                b.switch_to(arm);
                let tripled = b.binary_const(Binary::Mul, number, 3);
                let more = b.binary(Binary::Add, tripled, p[1]);
                let more = b.binary_const(Binary::Add, more, at);
                b.jump(Edge::new(next, [more]));
            }
            b.switch_to(next);
            let after = b.binary_const(Binary::Add, counter, 1);
            let again = b.compare(Compare::NotEqual, after, two);
            b.branch(again, Edge::new(head, [after, result]), done);
            b.switch_to(done);
            smallvec![result]
        })
    }

    #[test]
    fn the_end_of_an_iteration_is_come_to_with_what_leads_there() {
        for count in [2, 20] {
            let mut module = many_calls(count, loop_of_a_switch());
            testing::run(&mut module, structurize::run).expect("it has structure");
            let before = steps_and_switches(&module).0;
            assert_eq!(before > MOST_STEPS, count == 20);
            bypass(&mut module);
            verify::module(&module, Stage::Emit).expect("the module is valid");
            let after = steps_and_switches(&module).0;
            assert!(after < MOST_STEPS, "{before} steps became {after}");
            let mut sum = 0u32;
            for _ in 0..3 * count * 2 {
                sum = sum.wrapping_mul(3).wrapping_add(77 + (sum & 3));
            }
            let found = testing::results(&module, &[77, 3]);
            assert_eq!(found, [u64::from(sum)]);
        }
    }

    #[test]
    fn calls_are_as_many_ways_as_what_they_call() {
        for (count, switches) in [(4, 0), (40, 1)] {
            let mut module = many_calls(count, selection());
            testing::run(&mut module, structurize::run).expect("it has structure");
            assert_eq!(steps_and_switches(&module).0 > MOST_STEPS, count == 40);
            bypass(&mut module);
            verify::module(&module, Stage::Emit).expect("the module is valid");
            let text = module.functions[1].to_string();
            assert_eq!(text.matches("switch").count(), switches, "{text}");
            let mut sum = 0u32;
            for _ in 0..3 * count {
                sum = if sum < 77 { sum * 3 + 1 } else { sum - 77 };
            }
            assert_eq!(testing::results(&module, &[77, 3]), [u64::from(sum)]);
        }
    }
}
