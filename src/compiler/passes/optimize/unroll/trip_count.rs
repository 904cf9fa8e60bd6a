//! How often a loop runs.

use super::candidate::Candidate;
use crate::compiler::analysis::{Dominators, KnownBits, Loop, Offset};
use crate::compiler::ir::{Binary, Block, Compare, Edge, Function, Op, Terminator, Unary, Value};
use crate::compiler::passes::optimize::simplify::fold;

/// How deep an expression is followed.
const DEPTH: u32 = 8;

/// Iterations that are computed one after the other at most.
const FOLLOWED: usize = 64;

/// The loop's number of iterations, 1 at least, if it is known and at most `most`.
pub fn count(
    function: &Function,
    candidate: &Candidate<'_>,
    local_sizes: [u32; 3],
    most: usize,
) -> Option<usize> {
    by_steps(function, candidate, local_sizes, most)
        .or_else(|| by_following(function, candidate, most.min(FOLLOWED)))
}

/// Whether the loop is known to begin a second iteration.
pub fn has_a_second(function: &Function, candidate: &Candidate<'_>, local_sizes: [u32; 3]) -> bool {
    let params = &function.block(candidate.header).params;
    let first = first_counters(function, candidate);
    let followed = evaluate(function, params, &first, candidate.condition, DEPTH);
    let holds = followed.map(|bits| bits != 0).or_else(|| {
        let counters = Counters::of(candidate);
        Comparison::of(function, &counters, local_sizes, candidate.condition)?.decided(0)
    });
    holds == Some(candidate.continues_if)
}

fn first_counters(function: &Function, candidate: &Candidate<'_>) -> Vec<Option<u64>> {
    let first = candidate.first.iter();
    first.map(|&first| function.constant(first)).collect()
}

/// The number of iterations of a loop whose counters begin with constants, whatever becomes of them in an iteration:
/// `for (n = 1; n < 256; n *= 2)`.
fn by_following(function: &Function, candidate: &Candidate<'_>, most: usize) -> Option<usize> {
    let params = &function.block(candidate.header).params;
    let mut counters = first_counters(function, candidate);
    for iteration in 0..most {
        let known = |value| evaluate(function, params, &counters, value, DEPTH);
        if (known(candidate.condition)? != 0) != candidate.continues_if {
            return Some(iteration + 1);
        }
        counters = candidate.next.iter().map(|&next| known(next)).collect();
    }
    None
}

/// An integer, in an iteration in which the loop's parameters are what `counters` says, where that is known.
fn evaluate(
    function: &Function,
    params: &[Value],
    counters: &[Option<u64>],
    value: Value,
    depth: u32,
) -> Option<u64> {
    if let Some(at) = params.iter().position(|&param| param == value) {
        return *counters.get(at)?;
    }
    let op = function.op_of(value)?;
    let known = |value| evaluate(function, params, counters, value, depth.checked_sub(1)?);
    match *op {
        Op::Const(bits) => Some(bits),
        Op::Binary(op, a, b) => fold::binary(op, function.ty(a), known(a)?, known(b)?),
        Op::Compare(op, a, b) => {
            fold::compare(op, function.ty(a), known(a)?, known(b)?).map(u64::from)
        }
        Op::Convert(op, a) => fold::convert(op, function.ty(a), function.ty(value), known(a)?),
        Op::Select(condition, yes, no) => known(if known(condition)? != 0 { yes } else { no }),
        _ => None,
    }
}

/// A number of iterations that the loop does not exceed, whatever its counters begin with; `most` at most.
///
/// The loop may have other ways out, and may be left by a condition that others are part of: a bound is what every iteration
/// compares and goes on by, of several the lowest.
pub fn at_most(
    function: &Function,
    dominators: &Dominators,
    found: &Loop,
    local_sizes: [u32; 3],
    most: usize,
) -> Option<usize> {
    let [(_, first), (latch, next)] = found.entry_and_back(function)?;
    let counters = Counters {
        header: found.header,
        first: &first.args,
        next: &next.args,
    };
    let passed = found.blocks.iter().copied();
    let passed = passed.filter(|&block| dominators.dominates(block, latch));
    let mut lowest = None;
    for block in passed {
        let Terminator::Branch {
            condition,
            then,
            otherwise,
        } = &function.block(block).terminator
        else {
            continue;
        };
        let is_inside = |edge: &Edge| found.blocks.contains(&edge.block);
        if is_inside(then) == is_inside(otherwise) {
            continue;
        }
        for_each_needed(
            function,
            *condition,
            is_inside(then),
            DEPTH,
            &mut |one, goes_on_if| {
                let Some(compared) = Comparison::of(function, &counters, local_sizes, one) else {
                    return;
                };
                // Where an iteration is not the last one for all, it is for some, or for none: the numbers of the others are
                // still in range.
                let limit = lowest.unwrap_or(most);
                if let Some(iteration) = compared.first(limit, |it| it == Some(!goes_on_if)) {
                    lowest = Some(iteration + 1);
                }
            },
        );
    }
    lowest
}

/// Calls `each` with the conditions that have to hold, or not to hold, so that `condition` is what is `wanted`.
fn for_each_needed(
    function: &Function,
    condition: Value,
    wanted: bool,
    depth: u32,
    each: &mut impl FnMut(Value, bool),
) {
    let parts = match function.op_of(condition) {
        Some(&Op::Unary(Unary::Not, a)) => [Some((a, !wanted)), None],
        Some(&Op::Binary(Binary::And, a, b)) if wanted => [Some((a, true)), Some((b, true))],
        Some(&Op::Binary(Binary::Or, a, b)) if !wanted => [Some((a, false)), Some((b, false))],
        Some(&Op::Select(first, yes, no)) => {
            let is = |value, what| function.constant(value) == Some(u64::from(what));
            // What is chosen where it can't be what is wanted, is not.
            match (is(yes, !wanted), is(no, !wanted)) {
                (false, true) => [Some((first, true)), Some((yes, wanted))],
                (true, false) => [Some((first, false)), Some((no, wanted))],
                _ => [None, None],
            }
        }
        _ => return each(condition, wanted),
    };
    for (part, wanted) in parts.into_iter().flatten() {
        if depth > 0 {
            for_each_needed(function, part, wanted, depth - 1, each);
        }
    }
}

/// The number of iterations of a loop that compares values which move by a step each iteration.
fn by_steps(
    function: &Function,
    candidate: &Candidate<'_>,
    local_sizes: [u32; 3],
    most: usize,
) -> Option<usize> {
    let counters = Counters::of(candidate);
    let compared = Comparison::of(function, &counters, local_sizes, candidate.condition)?;
    let last = compared.first(most, |holds| holds != Some(candidate.continues_if))?;
    compared.decided(last).map(|_| last + 1)
}

/// The parameters of a loop's header.
struct Counters<'a> {
    header: Block,
    /// What they are in the first iteration, and in the next.
    first: &'a [Value],
    next: &'a [Value],
}

impl<'a> Counters<'a> {
    fn of(candidate: &'a Candidate<'_>) -> Self {
        Self {
            header: candidate.header,
            first: &candidate.first,
            next: &candidate.next,
        }
    }
}

/// A condition that compares two integers.
struct Comparison {
    op: Compare,
    bits: u32,
    sides: [Side; 2],
}

impl Comparison {
    /// The comparison that a condition is, if it is one.
    fn of(
        function: &Function,
        counters: &Counters<'_>,
        local_sizes: [u32; 3],
        condition: Value,
    ) -> Option<Self> {
        let &Op::Compare(op, a, b) = function.op_of(condition)? else {
            return None;
        };
        let ty = function.ty(a);
        if !ty.is_int() {
            return None;
        }
        let side = |value| Side::new(function, counters, local_sizes, value);
        Some(Self {
            op,
            bits: ty.bits(),
            sides: [side(a)?, side(b)?],
        })
    }

    /// Whether it holds in an iteration, if that is the same for all numbers of the two sides.
    fn decided(&self, iteration: usize) -> Option<bool> {
        let [a, b] = &self.sides;
        decided(self.op, a.range(iteration), b.range(iteration), self.bits)
    }

    /// The first iteration before `limit` of which [`Self::decided`] is what is looked for.
    fn first(&self, limit: usize, is_it: impl Fn(Option<bool>) -> bool) -> Option<usize> {
        let mut iteration = 0;
        while iteration < limit {
            if is_it(self.decided(iteration)) {
                return Some(iteration);
            }
            iteration = iteration.saturating_add(self.lasts(iteration));
        }
        None
    }

    /// For how many iterations, one at least, [`Self::decided`] stays what it is in this one.
    fn lasts(&self, iteration: usize) -> usize {
        let [a, b] = &self.sides;
        if a.step == 0 && b.step == 0 {
            return usize::MAX;
        }
        let type_range = type_range(self.op, self.bits);
        let [at_a, at_b] = [a, b].map(|side| side.range(iteration));
        let in_range = leaves(at_a, a.step, type_range).min(leaves(at_b, b.step, type_range));
        let approach = b.step - a.step;
        // How far the numbers are from where it holds, and from where it does not; negative beyond.
        let (until_true, until_false) = match self.op {
            Compare::ULess | Compare::SLess => (at_a.1 - at_b.0 + 1, at_b.1 - at_a.0),
            Compare::ULessEqual | Compare::SLessEqual => (at_a.1 - at_b.0, at_b.1 - at_a.0 + 1),
            // It is never known whether several numbers are equal.
            _ if at_a.0 != at_a.1 || at_b.0 != at_b.1 => return usize::MAX,
            _ => return until_equal(at_a.0 - at_b.0, approach).min(in_range).max(1),
        };
        let changes = until_in_or_out(until_true, approach);
        let changes = changes.min(until_in_or_out(until_false, -approach));
        changes.min(in_range).max(1)
    }
}

/// After how many iterations a distance that shrinks by a step each is no longer positive, or no longer at most zero.
fn until_in_or_out(distance: i128, step: i128) -> usize {
    let iterations = match (distance > 0, step) {
        (true, 1..) => distance.div_euclid(step) + i128::from(distance.rem_euclid(step) != 0),
        (false, ..=-1) => distance / step + 1,
        _ => return usize::MAX,
    };
    usize::try_from(iterations).unwrap_or(usize::MAX)
}

/// After how many iterations a difference that shrinks by a step each is zero, or no longer zero.
fn until_equal(difference: i128, step: i128) -> usize {
    match (difference, step) {
        (_, 0) => usize::MAX,
        (0, _) => 1,
        _ if difference % step != 0 || difference / step < 0 => usize::MAX,
        _ => usize::try_from(difference / step).unwrap_or(usize::MAX),
    }
}

/// After how many iterations numbers that move by a step each are no longer all in a range; none if they are not now.
fn leaves((low, high): (i128, i128), step: i128, (least, greatest): (i128, i128)) -> usize {
    if low < least || high > greatest {
        return 0;
    }
    let iterations = match step {
        1.. => (greatest - high) / step + 1,
        ..=-1 => (low - least) / -step + 1,
        0 => return usize::MAX,
    };
    usize::try_from(iterations).unwrap_or(usize::MAX)
}

/// An operand of the condition: all values between two bounds, moved by a step each iteration.
struct Side {
    low: i128,
    high: i128,
    step: i128,
}

impl Side {
    fn new(
        function: &Function,
        counters: &Counters<'_>,
        local_sizes: [u32; 3],
        value: Value,
    ) -> Option<Self> {
        let sum = Offset::of(function, value, DEPTH);
        let params = &function.block(counters.header).params;
        let counter = params.iter().position(|&param| sum.base == Some(param));
        let (start, step) = match counter {
            Some(at) => {
                let next = Offset::of(function, *counters.next.get(at)?, DEPTH);
                if next.base != sum.base {
                    return None;
                }
                let first = Offset::of(function, *counters.first.get(at)?, DEPTH);
                let start = Offset {
                    plus: first.plus + sum.plus,
                    ..first
                };
                (start, next.plus)
            }
            None => (sum, 0),
        };
        let (low, high) = match start.base {
            None => (0, 0),
            Some(base) => {
                let known = KnownBits::of(function, local_sizes, base);
                (known.least.into(), known.most.into())
            }
        };
        Some(Self {
            low: low + start.plus,
            high: high + start.plus,
            step,
        })
    }

    fn range(&self, iteration: usize) -> (i128, i128) {
        let moved = self.step * iteration as i128;
        (self.low + moved, self.high + moved)
    }
}

/// Whether a comparison of numbers of two ranges holds, if it is the same for all of them. Numbers beyond what
/// the type's bits hold wrapped around: nothing is known of them then, but equality of single ones.
fn decided(op: Compare, a: (i128, i128), b: (i128, i128), bits: u32) -> Option<bool> {
    let (least, greatest) = type_range(op, bits);
    let as_type = |(low, high): (i128, i128)| {
        // A single number has its bits whatever happened on the way.
        if low == high {
            let number = (low - least).rem_euclid(1 << bits) + least;
            return Some((number, number));
        }
        (low >= least && high <= greatest).then_some((low, high))
    };
    let (a, b) = (as_type(a)?, as_type(b)?);
    match op {
        Compare::Equal | Compare::NotEqual => {
            (a.0 == a.1 && b.0 == b.1).then(|| (a.0 == b.0) == (op == Compare::Equal))
        }
        Compare::ULess | Compare::SLess if a.1 < b.0 => Some(true),
        Compare::ULess | Compare::SLess if a.0 >= b.1 => Some(false),
        Compare::ULessEqual | Compare::SLessEqual if a.1 <= b.0 => Some(true),
        Compare::ULessEqual | Compare::SLessEqual if a.0 > b.1 => Some(false),
        _ => None,
    }
}

/// The least and the greatest number that a comparison takes its operands for.
fn type_range(op: Compare, bits: u32) -> (i128, i128) {
    let numbers = 1i128 << bits;
    match op {
        Compare::ULess | Compare::ULessEqual => (0, numbers - 1),
        _ => (-numbers / 2, numbers / 2 - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranges of single numbers and of several, that wrap around, meet, and part.
    #[test]
    fn iterations_are_skipped_in_which_nothing_changes() {
        let mut state = 88_172_645_463_325_252_u64;
        let mut between = |low: i64, high: i64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            i128::from(low + (state % (high - low + 1) as u64) as i64)
        };
        let ops = [
            Compare::Equal,
            Compare::NotEqual,
            Compare::ULess,
            Compare::SLess,
            Compare::ULessEqual,
            Compare::SLessEqual,
        ];
        let mut found = 0;
        for op in ops.into_iter().cycle().take(30_000) {
            let mut side = || {
                let low = between(-140, 260);
                Side {
                    low,
                    high: low + [0, 0, 1, 7, 60][between(0, 4) as usize],
                    step: between(-9, 9),
                }
            };
            let compared = Comparison {
                op,
                bits: 8,
                sides: [side(), side()],
            };
            for wanted in [Some(true), Some(false), None] {
                let is_wanted = |holds| holds == wanted;
                let expected = (0..200).find(|&it| compared.decided(it) == wanted);
                assert_eq!(compared.first(200, is_wanted), expected);
                found += usize::from(expected.is_some_and(|at| at > 0));
            }
        }
        assert!(found > 5_000, "{found}");
    }
}
