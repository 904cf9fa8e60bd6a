//! 64-bit arithmetic, shifts and comparisons on pairs of I32.

use super::Pair;
use crate::compiler::ir::{Binary, Builder, Compare, Op, Type, Unary, Value};
use crate::compiler::passes::helpers::folding::{
    binary, binary_const, bool_to_int, compare, select,
};

pub fn constant(b: &mut Builder<'_>, bits: u64) -> Pair {
    Pair {
        lo: b.i32(bits as u32),
        hi: b.i32((bits >> 32) as u32),
    }
}

/// The value, if both halves are constants.
pub fn known(b: &Builder<'_>, a: Pair) -> Option<u64> {
    let (lo, hi) = (b.function.constant(a.lo)?, b.function.constant(a.hi)?);
    Some(hi << 32 | lo)
}

/// `add` and the carry out of it, 0 or 1.
fn add_with_carry(b: &mut Builder<'_>, x: Value, y: Value) -> (Value, Value) {
    let sum = binary(b, Binary::Add, x, y);
    if sum == x || sum == y {
        // One of them is zero.
        return (sum, b.i32(0));
    }
    let carry = compare(b, Compare::ULess, sum, x);
    (sum, bool_to_int(b, carry))
}

pub fn add(b: &mut Builder<'_>, x: Pair, y: Pair) -> Pair {
    let (lo, carry) = add_with_carry(b, x.lo, y.lo);
    let hi = binary(b, Binary::Add, x.hi, y.hi);
    let hi = binary(b, Binary::Add, hi, carry);
    Pair { lo, hi }
}

pub fn sub(b: &mut Builder<'_>, x: Pair, y: Pair) -> Pair {
    let lo = binary(b, Binary::Sub, x.lo, y.lo);
    let borrow = compare(b, Compare::ULess, x.lo, y.lo);
    let borrow = bool_to_int(b, borrow);
    let hi = binary(b, Binary::Sub, x.hi, y.hi);
    let hi = binary(b, Binary::Sub, hi, borrow);
    Pair { lo, hi }
}

pub fn negate(b: &mut Builder<'_>, a: Pair) -> Pair {
    let zero = constant(b, 0);
    sub(b, zero, a)
}

pub fn not(b: &mut Builder<'_>, a: Pair) -> Pair {
    bitwise_const(b, Binary::Xor, a, u64::MAX)
}

/// And, or, exclusive or.
pub fn bitwise(b: &mut Builder<'_>, op: Binary, x: Pair, y: Pair) -> Pair {
    Pair {
        lo: binary(b, op, x.lo, y.lo),
        hi: binary(b, op, x.hi, y.hi),
    }
}

pub fn bitwise_const(b: &mut Builder<'_>, op: Binary, x: Pair, bits: u64) -> Pair {
    let y = constant(b, bits);
    bitwise(b, op, x, y)
}

/// The 64-bit product of two unsigned I32.
fn wide_mul(b: &mut Builder<'_>, x: Value, y: Value) -> Pair {
    match (b.function.constant(x), b.function.constant(y)) {
        (Some(x), Some(y)) => return constant(b, x * y),
        (Some(0), _) | (_, Some(0)) => return constant(b, 0),
        (Some(m), _) if m.is_power_of_two() => return shifted_word(b, y, m.trailing_zeros()),
        (_, Some(m)) if m.is_power_of_two() => return shifted_word(b, x, m.trailing_zeros()),
        _ => {}
    }
    let op = Op::MulExtended {
        signed: false,
        a: x,
        b: y,
    };
    let parts = b.op(op, [Type::I32; 2]);
    Pair {
        lo: parts[0],
        hi: parts[1],
    }
}

fn shifted_word(b: &mut Builder<'_>, word: Value, amount: u32) -> Pair {
    let hi = b.i32(0);
    shift_const(b, Binary::Shl, Pair { lo: word, hi }, amount)
}

pub fn mul(b: &mut Builder<'_>, x: Pair, y: Pair) -> Pair {
    for (value, factor) in [(x, known(b, y)), (y, known(b, x))] {
        if let Some(factor) = factor.filter(|factor| factor.is_power_of_two()) {
            return shift_const(b, Binary::Shl, value, factor.trailing_zeros());
        }
    }
    let low = wide_mul(b, x.lo, y.lo);
    let cross = binary(b, Binary::Mul, x.lo, y.hi);
    let hi = binary(b, Binary::Add, low.hi, cross);
    let cross = binary(b, Binary::Mul, x.hi, y.lo);
    let hi = binary(b, Binary::Add, hi, cross);
    Pair { lo: low.lo, hi }
}

/// The 128-bit product: its low and its high half.
pub fn mul_extended(b: &mut Builder<'_>, x: Pair, y: Pair, signed: bool) -> (Pair, Pair) {
    let zero = b.i32(0);
    let word = |lo: Value| Pair { lo, hi: zero };
    let low = wide_mul(b, x.lo, y.lo);
    let cross = wide_mul(b, x.lo, y.hi);
    let other_cross = wide_mul(b, x.hi, y.lo);
    let high = wide_mul(b, x.hi, y.hi);
    // Each sum is at most (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1.
    let middle = add(b, cross, word(low.hi));
    let second = add(b, other_cross, word(middle.lo));
    let high = add(b, high, word(middle.hi));
    let mut high = add(b, high, word(second.hi));
    let low = Pair {
        lo: low.lo,
        hi: second.lo,
    };
    if signed {
        // A negative factor was taken as 2^64 too large.
        for (factor, other) in [(x, y), (y, x)] {
            let sign = binary_const(b, Binary::AShr, factor.hi, 31);
            let excess = bitwise(b, Binary::And, other, Pair { lo: sign, hi: sign });
            high = sub(b, high, excess);
        }
    }
    (low, high)
}

/// A shift by a constant amount; 64 and more have no defined result.
pub fn shift_const(b: &mut Builder<'_>, op: Binary, a: Pair, amount: u32) -> Pair {
    let amount = amount & 63;
    let near = u64::from(amount & 31);
    let zero = b.i32(0);
    if amount == 0 {
        return a;
    }
    if op == Binary::Shl {
        if amount >= 32 {
            let hi = binary_const(b, Binary::Shl, a.lo, near);
            return Pair { lo: zero, hi };
        }
        let lo = binary_const(b, Binary::Shl, a.lo, near);
        let kept = binary_const(b, Binary::Shl, a.hi, near);
        let moved = binary_const(b, Binary::LShr, a.lo, 32 - near);
        let hi = binary(b, Binary::Or, kept, moved);
        return Pair { lo, hi };
    }
    if amount >= 32 {
        let lo = binary_const(b, op, a.hi, near);
        let hi = match op {
            Binary::AShr => binary_const(b, op, a.hi, 31),
            _ => zero,
        };
        return Pair { lo, hi };
    }
    let kept = binary_const(b, Binary::LShr, a.lo, near);
    let moved = binary_const(b, Binary::Shl, a.hi, 32 - near);
    let lo = binary(b, Binary::Or, kept, moved);
    let hi = binary_const(b, op, a.hi, near);
    Pair { lo, hi }
}

/// A shift by an I32 below 64.
pub fn shift(b: &mut Builder<'_>, op: Binary, a: Pair, amount: Value) -> Pair {
    if let Some(amount) = b.function.constant(amount) {
        return shift_const(b, op, a, amount as u32);
    }
    let far_bit = binary_const(b, Binary::And, amount, 32);
    let zero = b.i32(0);
    let is_far = compare(b, Compare::NotEqual, far_bit, zero);
    let near = binary_const(b, Binary::And, amount, 31);
    // A word shifted by 32 - near in two steps, since near may be 0.
    let rest = binary_const(b, Binary::Xor, near, 31);
    if op == Binary::Shl {
        let lo = binary(b, Binary::Shl, a.lo, near);
        let half_moved = binary_const(b, Binary::LShr, a.lo, 1);
        let moved = binary(b, Binary::LShr, half_moved, rest);
        let kept = binary(b, Binary::Shl, a.hi, near);
        let hi = binary(b, Binary::Or, kept, moved);
        return Pair {
            lo: select(b, is_far, zero, lo),
            hi: select(b, is_far, lo, hi),
        };
    }
    let hi = binary(b, op, a.hi, near);
    let half_moved = binary_const(b, Binary::Shl, a.hi, 1);
    let moved = binary(b, Binary::Shl, half_moved, rest);
    let kept = binary(b, Binary::LShr, a.lo, near);
    let lo = binary(b, Binary::Or, kept, moved);
    let fill = match op {
        Binary::AShr => binary_const(b, op, a.hi, 31),
        _ => zero,
    };
    Pair {
        lo: select(b, is_far, hi, lo),
        hi: select(b, is_far, fill, hi),
    }
}

/// Integer comparison.
pub fn compare_pairs(b: &mut Builder<'_>, op: Compare, x: Pair, y: Pair) -> Value {
    let high = match op {
        Compare::Equal | Compare::NotEqual => {
            let lo = binary(b, Binary::Xor, x.lo, y.lo);
            let hi = binary(b, Binary::Xor, x.hi, y.hi);
            let all = binary(b, Binary::Or, lo, hi);
            let zero = b.i32(0);
            return compare(b, op, all, zero);
        }
        Compare::SLess | Compare::SLessEqual => Compare::SLess,
        _ => Compare::ULess,
    };
    let low = match op {
        Compare::ULess | Compare::SLess => Compare::ULess,
        _ => Compare::ULessEqual,
    };
    let same_high = compare(b, Compare::Equal, x.hi, y.hi);
    let low = compare(b, low, x.lo, y.lo);
    let high = compare(b, high, x.hi, y.hi);
    select(b, same_high, low, high)
}

pub fn select_pair(b: &mut Builder<'_>, condition: Value, x: Pair, y: Pair) -> Pair {
    Pair {
        lo: select(b, condition, x.lo, y.lo),
        hi: select(b, condition, x.hi, y.hi),
    }
}

/// Minimum or maximum.
pub fn min_max(b: &mut Builder<'_>, op: Binary, x: Pair, y: Pair) -> Pair {
    let less = match op {
        Binary::SMin | Binary::SMax => Compare::SLess,
        _ => Compare::ULess,
    };
    let is_less = compare_pairs(b, less, x, y);
    match op {
        Binary::UMin | Binary::SMin => select_pair(b, is_less, x, y),
        _ => select_pair(b, is_less, y, x),
    }
}

/// The sign: all bits of the word set if negative.
pub fn sign_mask(b: &mut Builder<'_>, a: Pair) -> Value {
    binary_const(b, Binary::AShr, a.hi, 31)
}

/// `a` negated where every bit of `mask` is set, unchanged where none is.
pub fn negate_if(b: &mut Builder<'_>, a: Pair, mask: Value) -> Pair {
    let mask = Pair { lo: mask, hi: mask };
    let flipped = bitwise(b, Binary::Xor, a, mask);
    sub(b, flipped, mask)
}

/// Number of bits set, as I64.
pub fn bit_count(b: &mut Builder<'_>, a: Pair) -> Pair {
    let lo = b.unary(Unary::BitCount, a.lo);
    let hi = b.unary(Unary::BitCount, a.hi);
    Pair {
        lo: binary(b, Binary::Add, lo, hi),
        hi: b.i32(0),
    }
}

pub fn bit_reverse(b: &mut Builder<'_>, a: Pair) -> Pair {
    Pair {
        lo: b.unary(Unary::BitReverse, a.hi),
        hi: b.unary(Unary::BitReverse, a.lo),
    }
}
