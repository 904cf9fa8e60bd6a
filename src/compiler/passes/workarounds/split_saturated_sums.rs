//! Adds and subtracts 64-bit integers in halves where the result may give way to a constant, for a driver that
//! makes one saturating operation of the two and gets its upper half wrong.
//!
//! **Why.** NVIDIA's driver (seen in 580.159.04) recognizes `sum < a ? ~0 : sum` and `a < b ? 0 : a - b`. Where it
//! finds out that the upper halves of `a` and `b` are zero, as of a size or of a quotient, the upper half of what it
//! makes of them is whatever the register held.
//!
//! **How.** The sum is built of 32-bit ones with a carry, which the driver does not put together again, and so is the
//! condition where it compares the sum.
//!
//! **Needs** 64-bit integers. Does nothing unless the device asks for it
//! ([`crate::compiler::Defects::LOSES_SATURATED_HALVES`]).

use crate::compiler::ir::{
    Binary, Builder, Compare, Convert, Function, InstFlags, Module, Op, Rewrite, Type, Unary,
    Value, rewrite_instructions,
};
use crate::compiler::{CompileError, Context, Defects};
use smallvec::smallvec;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::LOSES_SATURATED_HALVES) {
        split(module)?;
    }
    Ok(())
}

fn split(module: &mut Module) -> Result<(), CompileError> {
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            let &Op::Select(condition, yes, no) = &b.function.inst(inst).op else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            let (yes_sum, no_sum) = (sum_of(b.function, yes), sum_of(b.function, no));
            b.flags = InstFlags::default();
            let (sum, is_yes) = match (yes_sum, no_sum) {
                (Some(sum), None) if is_limit(b.function, no) => (sum, true),
                (None, Some(sum)) if is_limit(b.function, yes) => (sum, false),
                _ => return Ok(Rewrite::Keep),
            };
            let whole = if is_yes { yes } else { no };
            let (split, carry) = in_halves(b, sum);
            let condition = match overflow(b.function, condition, whole, sum) {
                Some(true) => carry,
                Some(false) => b.unary(Unary::Not, carry),
                None => condition,
            };
            let (yes, no) = if is_yes { (split, no) } else { (yes, split) };
            Ok(Rewrite::Replace(smallvec![b.select(condition, yes, no)]))
        })?;
    }
    Ok(())
}

/// The operands of a 64-bit sum or difference.
fn sum_of(function: &Function, value: Value) -> Option<(Binary, Value, Value)> {
    match function.op_of(value) {
        Some(&Op::Binary(op @ (Binary::Add | Binary::Sub), a, b))
            if function.ty(value) == Type::I64 =>
        {
            Some((op, a, b))
        }
        _ => None,
    }
}

/// Whether it is what an unsigned number saturates to.
fn is_limit(function: &Function, value: Value) -> bool {
    matches!(function.constant(value), Some(0 | u64::MAX))
}

/// Whether a condition says that the sum `whole` has overflowed, or (`false`) that it has not.
fn overflow(
    function: &Function,
    condition: Value,
    whole: Value,
    (op, x, y): (Binary, Value, Value),
) -> Option<bool> {
    let &Op::Compare(compare, a, b) = function.op_of(condition)? else {
        return None;
    };
    let is_part = |value| value == x || value == y;
    match compare {
        _ if op != Binary::Add => None,
        Compare::ULess if a == whole && is_part(b) => Some(true),
        Compare::ULessEqual if b == whole && is_part(a) => Some(false),
        _ => None,
    }
}

/// `a + b` or `a - b` of 32-bit operations, and whether something is carried, or borrowed, beyond.
fn in_halves(b: &mut Builder<'_>, (op, x, y): (Binary, Value, Value)) -> (Value, Value) {
    let [(x_low, x_high), (y_low, y_high)] = [x, y].map(|value| {
        let high = b.binary_const(Binary::LShr, value, 32);
        (
            b.resize_int(value, Type::I32, false),
            b.resize_int(high, Type::I32, false),
        )
    });
    let (low, carry) = half(b, op, x_low, y_low);
    let (one, none) = (b.i32(1), b.i32(0));
    let carry = b.select(carry, one, none);
    let (high, beyond) = half(b, op, x_high, y_high);
    let (high, further) = half(b, op, high, carry);
    let beyond = b.binary(Binary::Or, beyond, further);
    let [low, high] = [low, high].map(|half| b.convert(Convert::ZeroExtend, half, Type::I64));
    let high = b.binary_const(Binary::Shl, high, 32);
    (b.binary(Binary::Or, high, low), beyond)
}

/// A half, and whether something is carried out of it, or borrowed.
fn half(b: &mut Builder<'_>, op: Binary, x: Value, y: Value) -> (Value, Value) {
    let result = b.binary(op, x, y);
    let carry = match op {
        Binary::Add => b.compare(Compare::ULess, result, x),
        _ => b.compare(Compare::ULess, x, y),
    };
    (result, carry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::passes::helpers::testing;
    use crate::compiler::testing::Random;

    /// `x + y` and `x - y`, saturated, as the pass leaves them.
    fn saturated() -> Module {
        testing::module_with(&[Type::I64; 2], |b, p| {
            let whole = b.binary(Binary::Add, p[0], p[1]);
            let over = b.compare(Compare::ULess, whole, p[0]);
            let (most, least) = (b.i64(u64::MAX), b.i64(0));
            let sum = b.select(over, most, whole);
            let not_over = b.compare(Compare::ULessEqual, p[1], whole);
            let same = b.select(not_over, whole, most);
            let difference = b.binary(Binary::Sub, p[0], p[1]);
            let under = b.compare(Compare::ULessEqual, p[1], p[0]);
            smallvec![sum, same, b.select(under, difference, least)]
        })
    }

    #[test]
    fn sums_in_halves_are_the_same() {
        let mut module = saturated();
        split(&mut module).unwrap();
        let mut random = Random(7);
        let edges = [0, 1, u32::MAX.into(), 1 << 32, u64::MAX - 1, u64::MAX];
        let edges = edges.iter().flat_map(|&x| edges.map(|y| (x, y)));
        let numbers: Vec<_> = (0..2000)
            .map(|_| (random.number(), random.number()))
            .collect();
        for (x, y) in edges.chain(numbers) {
            let found = testing::results(&module, &[x, y]);
            assert_eq!(
                found,
                [
                    x.saturating_add(y),
                    x.saturating_add(y),
                    x.saturating_sub(y)
                ],
                "{x:#x} {y:#x}"
            );
        }
    }

    /// What computes the arms of selections.
    fn selected(module: &Module) -> Vec<Op> {
        let function = &module.functions[0];
        let insts = &function.block(function.entry()).insts;
        let arms = insts.iter().flat_map(|&inst| match function.inst(inst).op {
            Op::Select(_, yes, no) => vec![yes, no],
            _ => Vec::new(),
        });
        arms.filter_map(|value| function.op_of(value).cloned())
            .filter(|op| matches!(op, Op::Binary(..)))
            .collect()
    }

    #[test]
    fn no_sum_is_selected_beside_a_limit() {
        let is_sum = |op: &Op| matches!(op, Op::Binary(Binary::Add | Binary::Sub, ..));
        let mut module = saturated();
        assert!(selected(&module).iter().all(is_sum));
        split(&mut module).unwrap();
        assert!(!selected(&module).iter().any(is_sum));
        assert!(selected(&module).len() >= 2);
    }
}
