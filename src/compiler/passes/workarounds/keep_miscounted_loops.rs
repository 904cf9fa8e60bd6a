//! Marks the loops whose iterations a driver would count wrongly, and unroll as often.
//!
//! **Why.** Mesa (`nir_loop_analyze`, seen in 22.3, and in what 25.0 and 26.2 make of such loops) divides the way from a
//! counter's first value to what it is compared with by its step, and looks only whether the loop is left about there, not
//! whether it was left before:
//! - `for (uint i = -3; i > 21; i += 2)` is left when `i` wraps around, after two iterations. The way to 21 goes over the same
//!   end of the numbers: 12 steps, and `i` is 19 behind the loop;
//! - `uint i = -2; do i += 7; while (i < 10);` makes two iterations, of which one is seen: the first value would leave the loop;
//! - `uint i = 5; do i += 1 << 30; while (i != 5);` makes four, of which one is seen;
//! - a float is multiplied where the loop adds: `for (double x = 0; x < 1; x += 0.1)` makes 11 iterations, as the sum of ten
//!   is less than 1, and 10 are seen.
//!
//! **How.** Loops with a counter that wraps around before they are left, or in the step after which they are, are marked
//! `DontUnroll`, which the driver heeds before it uses what it counted; so are those with a float for a counter, and those that
//! are left when a counter is back at its first value. Only counters that move by a constant from a constant matter: of others
//! the driver counts nothing.
//!
//! **Needs** structured control flow, and keeps it. Does nothing unless the device asks for it
//! ([`Defects::MISCOUNTS_ITERATIONS`]).

use crate::compiler::analysis::Induction;
use crate::compiler::evaluate;
use crate::compiler::ir::{Block, Compare, Function, Merge, Module, Op, Type, Value};
use crate::compiler::passes::optimize::simplify::fold;
use crate::compiler::{CompileError, Context, Defects};
use std::collections::HashMap;

/// The iterations that are followed: more than any driver of Mesa's unrolls.
const FOLLOWED: usize = 128;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::MISCOUNTS_ITERATIONS) {
        for function in &mut module.functions {
            mark(function);
        }
    }
    Ok(())
}

/// Marks the loops of one function, whatever the device.
fn mark(function: &mut Function) {
    let counters: Vec<_> = loops(function)
        .flat_map(|(header, continues)| counters(function, header, continues))
        .collect();
    if counters.is_empty() {
        return;
    }
    let comparisons = comparisons(function);
    let is_miscounted = |counter: &Counter| {
        [counter.value, counter.next].iter().any(|operand| {
            let of = comparisons.get(operand).into_iter().flatten();
            of.copied()
                .any(|it| may_be_miscounted(function, counter, it))
        })
    };
    let miscounted = counters.into_iter().filter(is_miscounted);
    let headers: Vec<Block> = miscounted.map(|it| it.header).collect();
    for header in headers {
        function.block_mut(header).keeps_loop = true;
    }
}

/// The headers of the loops, with their continue targets.
fn loops(function: &Function) -> impl Iterator<Item = (Block, Block)> + '_ {
    let blocks = function.layout().iter();
    blocks.filter_map(|&block| match function.block(block).merge {
        Some(Merge::Loop { continues, .. }) => Some((block, continues)),
        _ => None,
    })
}

/// A variable of a loop that starts at a constant and moves by one.
struct Counter {
    header: Block,
    value: Value,
    next: Value,
    ty: Type,
    first: u64,
    step: Step,
}

/// What a counter is moved by in an iteration.
#[derive(Clone, Copy)]
enum Step {
    Integer(i64),
    Float,
}

fn counters(function: &Function, header: Block, continues: Block) -> Vec<Counter> {
    let params = function.block(header).params.iter().enumerate();
    params
        .filter_map(|(at, &value)| {
            let next = argument(function, continues, header, at)?;
            let mut firsts = function.layout().iter().filter(|&&from| from != continues);
            let first = firsts.find_map(|&from| argument(function, from, header, at))?;
            let ty = function.ty(value);
            Some(Counter {
                header,
                value,
                next,
                ty,
                first: function.constant(first)?,
                step: step(function, value, next)?,
            })
        })
        .collect()
}

/// What a block passes to another one's parameter.
fn argument(function: &Function, from: Block, to: Block, at: usize) -> Option<Value> {
    let edges = function.block(from).terminator.edges().into_iter();
    let mut edges = edges.filter(|edge| edge.block == to);
    edges.next()?.args.get(at).copied()
}

/// The step between a value and the next one, if that is a constant.
fn step(function: &Function, value: Value, next: Value) -> Option<Step> {
    let induction = Induction::of(function, value, next)?;
    function.constant(induction.by)?;
    let integer = induction.signed_step(function).map(Step::Integer);
    Some(integer.unwrap_or(Step::Float))
}

/// The comparisons of a function, by operand.
fn comparisons(function: &Function) -> HashMap<Value, Vec<(Compare, Value, Value)>> {
    let mut all: HashMap<_, Vec<_>> = HashMap::new();
    for &block in function.layout() {
        for &inst in &function.block(block).insts {
            if let Op::Compare(op, a, b) = function.inst(inst).op {
                all.entry(a).or_default().push((op, a, b));
                all.entry(b).or_default().push((op, a, b));
            }
        }
    }
    all
}

/// Whether the driver may count wrongly how often a comparison of a counter, or of its next value, comes out the same.
fn may_be_miscounted(
    function: &Function,
    counter: &Counter,
    (op, a, b): (Compare, Value, Value),
) -> bool {
    let Step::Integer(step) = counter.step else {
        return true;
    };
    let is_counter = |operand| operand == counter.value || operand == counter.next;
    let limit = function.constant(if is_counter(a) { b } else { a });
    let is_signed = match op {
        Compare::Equal | Compare::NotEqual => return limit == Some(counter.first),
        Compare::SLess | Compare::SLessEqual => true,
        _ => false,
    };
    let holds = |bits| {
        let limit = limit?;
        let [a, b] = [a, b].map(|operand| if is_counter(operand) { bits } else { limit });
        fold::compare(op, counter.ty, a, b)
    };
    let steps = [a, b].contains(&counter.next);
    wraps_around(counter, step, is_signed, steps, holds)
}

/// Whether a counter wraps around up to where a comparison comes out otherwise than at first. `steps` is whether what is
/// compared is the next value.
fn wraps_around(
    counter: &Counter,
    step: i64,
    is_signed: bool,
    steps: bool,
    holds: impl Fn(u64) -> Option<bool>,
) -> bool {
    let mask = u64::MAX >> (64 - counter.ty.bits());
    let number = |bits: u64| {
        if is_signed {
            i128::from(evaluate::signed(counter.ty, bits))
        } else {
            i128::from(bits & mask)
        }
    };
    let mut at = counter.first & mask;
    let mut before = if steps { None } else { holds(at) };
    for _ in 0..FOLLOWED {
        let next = at.wrapping_add_signed(step) & mask;
        if number(next) != number(at) + i128::from(step) {
            return true;
        }
        let now = holds(next);
        if before.is_some() && now != before {
            return false;
        }
        (at, before) = (next, now);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Binary, Builder, Edge, Terminator};

    /// `for (n = first; n < limit; n += step)` with other operators, or with the next value for what is compared.
    struct Case {
        ty: Type,
        first: u64,
        op: Binary,
        step: u64,
        comparison: Compare,
        limit: u64,
        /// Whether the limit is the left one.
        limit_first: bool,
        /// Whether the next value is compared.
        next: bool,
    }

    /// `for (uint n = -3; n > 21; n += 2)`
    const WRAPPING: Case = Case {
        ty: Type::I32,
        first: 0xffff_fffd,
        op: Binary::Add,
        step: 2,
        comparison: Compare::ULess,
        limit: 21,
        limit_first: true,
        next: false,
    };

    fn is_marked(case: &Case) -> bool {
        let mut f = Function::new("f");
        let entry = f.entry();
        let [header, body, merge] = [0; 3].map(|_| f.add_block());
        let n = f.add_param(header, case.ty);
        let mut b = Builder::new(&mut f, entry);
        let first = b.constant(case.ty, case.first);
        b.jump(Edge::new(header, [first]));
        b.switch_to(header);
        let step = b.constant(case.ty, case.step);
        let next = b.binary(case.op, n, step);
        let limit = b.constant(case.ty, case.limit);
        let compared = if case.next { next } else { n };
        let (left, right) = if case.limit_first {
            (limit, compared)
        } else {
            (compared, limit)
        };
        let holds = b.compare(case.comparison, left, right);
        b.branch(holds, body, merge);
        b.switch_to(body);
        b.jump(Edge::new(header, [next]));
        b.switch_to(merge);
        b.terminate(Terminator::Return(smallvec::smallvec![]));
        f.block_mut(header).merge = Some(Merge::Loop {
            merge,
            continues: body,
        });
        mark(&mut f);
        f.block(header).keeps_loop
    }

    #[test]
    fn loops_left_by_wrapping_around_are_marked() {
        assert!(is_marked(&WRAPPING));
        let long = Case {
            ty: Type::I64,
            first: u64::MAX - 2,
            ..WRAPPING
        };
        assert!(is_marked(&long));
        let signed = Case {
            first: 0x7fff_fffd,
            comparison: Compare::SLess,
            limit: 0x8000_0010,
            ..WRAPPING
        };
        assert!(is_marked(&signed));
        let down = Case {
            first: 0x8000_0003,
            op: Binary::Sub,
            limit: 0x7fff_fff0,
            limit_first: false,
            ..signed
        };
        assert!(is_marked(&down));
    }

    #[test]
    fn loops_that_begin_by_wrapping_around_are_marked() {
        let begins = Case {
            first: 0xffff_fffe,
            step: 7,
            limit: 10,
            limit_first: false,
            next: true,
            ..WRAPPING
        };
        assert!(is_marked(&begins));
        let returns = Case {
            first: 5,
            step: 1 << 30,
            comparison: Compare::NotEqual,
            limit: 5,
            next: true,
            ..WRAPPING
        };
        assert!(is_marked(&returns));
    }

    #[test]
    fn loops_with_a_float_for_a_counter_are_marked() {
        let float = Case {
            ty: Type::F32,
            first: 0,
            op: Binary::FAdd,
            step: 0.3_f32.to_bits().into(),
            comparison: Compare::FOrdLess,
            limit: 3.0_f32.to_bits().into(),
            limit_first: false,
            next: false,
        };
        assert!(is_marked(&float));
    }

    #[test]
    fn loops_that_come_to_their_limit_stay_as_they_are() {
        let up = Case {
            first: 0,
            limit_first: false,
            ..WRAPPING
        };
        assert!(!is_marked(&up));
        // `for (int n = -3; n < 21; n += 2)`
        let signed = Case {
            comparison: Compare::SLess,
            limit_first: false,
            ..WRAPPING
        };
        assert!(!is_marked(&signed));
        // `for (uint n = 41; n > 21; n -= 2)`
        let down = Case {
            first: 41,
            op: Binary::Sub,
            ..WRAPPING
        };
        assert!(!is_marked(&down));
        // `for (int n = -3; n != 3; n += 2)`
        let unequal = Case {
            comparison: Compare::NotEqual,
            limit: 3,
            ..WRAPPING
        };
        assert!(!is_marked(&unequal));
    }
}
