//! 64-bit division from 32-bit division and floats.
//!
//! One helper function per module divides unsigned numbers and returns quotient and remainder; it is called
//! by every division that does not fold to shifts. It holds no loop, so a division by zero, whose result
//! is undefined, ends like any other.
//!
//! **How.** Numbers that fit words are divided as words. Otherwise a divisor of one word first divides the dividend's
//! high word; what is left has a quotient of one word, which is estimated twice by the reciprocal of the divisor as a
//! float. Vulkan's floats are known to so many units in the last place, so the reciprocal is made smaller than it
//! can be: an estimate is never too large, and after the second one the quotient is the right one or one less.

use super::arithmetic::{
    add, bitwise_const, compare_pairs, constant, known, mul, negate_if, select_pair, shift_const,
    sign_mask, sub,
};
use super::{Helpers, Pair};
use crate::compiler::ir::{
    Binary, Builder, Compare, Convert, Edge, Function, FunctionControl, Terminator, Type, Value,
};
use crate::compiler::passes::helpers::folding::{binary, compare, select};
use smallvec::smallvec;

/// Division or remainder.
pub fn divide(b: &mut Builder<'_>, helpers: &mut Helpers, op: Binary, x: Pair, y: Pair) -> Pair {
    let divisor = known(b, y).filter(|d| d.is_power_of_two());
    match op {
        Binary::UDiv => match divisor {
            Some(d) => shift_const(b, Binary::LShr, x, d.trailing_zeros()),
            None => unsigned(b, helpers, x, y).0,
        },
        Binary::URem => match divisor {
            Some(d) => bitwise_const(b, Binary::And, x, d - 1),
            None => unsigned(b, helpers, x, y).1,
        },
        _ => match divisor.filter(|&d| d < 1 << 63) {
            Some(d) if op == Binary::SMod => bitwise_const(b, Binary::And, x, d - 1),
            Some(d) => signed_by_power_of_two(b, op, x, d.trailing_zeros()),
            None => signed(b, helpers, op, x, y),
        },
    }
}

fn signed(b: &mut Builder<'_>, helpers: &mut Helpers, op: Binary, x: Pair, y: Pair) -> Pair {
    let (x_sign, y_sign) = (sign_mask(b, x), sign_mask(b, y));
    let (x_size, y_size) = (negate_if(b, x, x_sign), negate_if(b, y, y_sign));
    let (quotient, remainder) = unsigned(b, helpers, x_size, y_size);
    if op == Binary::SDiv {
        let sign = binary(b, Binary::Xor, x_sign, y_sign);
        return negate_if(b, quotient, sign);
    }
    let remainder = negate_if(b, remainder, x_sign);
    if op == Binary::SRem {
        return remainder;
    }
    // The sign of the divisor: one divisor more where a remainder has the other sign.
    let zero = constant(b, 0);
    let is_inexact = compare_pairs(b, Compare::NotEqual, remainder, zero);
    let differs = binary(b, Binary::Xor, x_sign, y_sign);
    let none = b.i32(0);
    let mask = select(b, is_inexact, differs, none);
    let moved = add(b, remainder, y);
    let is_moved = compare(b, Compare::NotEqual, mask, none);
    select_pair(b, is_moved, moved, remainder)
}

/// Toward zero: a negative dividend is first moved up by the divisor less one.
fn signed_by_power_of_two(b: &mut Builder<'_>, op: Binary, x: Pair, exponent: u32) -> Pair {
    let sign = sign_mask(b, x);
    let low_bits = (1u64 << exponent) - 1;
    let bias = bitwise_const(b, Binary::And, Pair { lo: sign, hi: sign }, low_bits);
    let moved = add(b, x, bias);
    if op == Binary::SDiv {
        return shift_const(b, Binary::AShr, moved, exponent);
    }
    let whole = bitwise_const(b, Binary::And, moved, !low_bits);
    sub(b, x, whole)
}

fn unsigned(b: &mut Builder<'_>, helpers: &mut Helpers, x: Pair, y: Pair) -> (Pair, Pair) {
    let zero = b.i32(0);
    let is_zero = |b: &Builder<'_>, v: Value| b.function.constant(v) == Some(0);
    if is_zero(b, x.hi) && is_zero(b, y.hi) {
        let quotient = binary(b, Binary::UDiv, x.lo, y.lo);
        let remainder = binary(b, Binary::URem, x.lo, y.lo);
        let word = |lo: Value| Pair { lo, hi: zero };
        return (word(quotient), word(remainder));
    }
    helpers.call_divide(b, x, y)
}

/// The helper: (x.lo, x.hi, y.lo, y.hi) to (quotient.lo, quotient.hi, remainder.lo, remainder.hi).
pub fn helper() -> Function {
    let mut function = Function::new("pumice.udivrem64");
    function.return_types = vec![Type::I32; 4];
    function.control = FunctionControl {
        library: true,
        ..FunctionControl::default()
    };
    let entry = function.entry();
    let params = [(); 4].map(|()| function.add_param(entry, Type::I32));
    let x = Pair {
        lo: params[0],
        hi: params[1],
    };
    let y = Pair {
        lo: params[2],
        hi: params[3],
    };
    let [small, not_small, short, long] = [(); 4].map(|()| function.add_block());
    let [quotient_high, rest_high] = [(); 2].map(|()| function.add_param(long, Type::I32));
    let mut b = Builder::new(&mut function, entry);

    let zero = b.i32(0);
    let high = binary(&mut b, Binary::Or, x.hi, y.hi);
    let is_small = compare(&mut b, Compare::Equal, high, zero);
    b.branch(is_small, small, not_small);

    b.switch_to(small);
    let quotient = b.binary(Binary::UDiv, x.lo, y.lo);
    let remainder = b.binary(Binary::URem, x.lo, y.lo);
    let zero = b.i32(0);
    b.terminate(Terminator::Return(smallvec![
        quotient, zero, remainder, zero
    ]));

    b.switch_to(not_small);
    let zero = b.i32(0);
    let is_short = compare(&mut b, Compare::Equal, y.hi, zero);
    b.branch(is_short, short, Edge::new(long, [zero, x.hi]));

    // A divisor of one word: the remainder of the high word is below it, so the rest has a quotient of one word.
    b.switch_to(short);
    let high_quotient = b.binary(Binary::UDiv, x.hi, y.lo);
    let product = b.binary(Binary::Mul, high_quotient, y.lo);
    let carried = b.binary(Binary::Sub, x.hi, product);
    b.jump(Edge::new(long, [high_quotient, carried]));

    b.switch_to(long);
    let zero = b.i32(0);
    let rest = Pair {
        lo: x.lo,
        hi: rest_high,
    };
    let reciprocal = reciprocal(&mut b, y);
    let (first, rest) = estimate(&mut b, rest, y, reciprocal);
    let (second, rest) = estimate(&mut b, rest, y, reciprocal);
    let low_quotient = binary(&mut b, Binary::Add, first, second);
    let is_done = compare_pairs(&mut b, Compare::ULess, rest, y);
    let one = b.i32(1);
    let missing = select(&mut b, is_done, zero, one);
    let low_quotient = binary(&mut b, Binary::Add, low_quotient, missing);
    let reduced = sub(&mut b, rest, y);
    let remainder = select_pair(&mut b, is_done, rest, reduced);
    b.terminate(Terminator::Return(smallvec![
        low_quotient,
        quotient_high,
        remainder.lo,
        remainder.hi
    ]));
    function
}

/// 2^32, and `1 - 2^-19`: the reciprocal, and the dividends as floats, are known to 8.5 units in the last place together
/// (two conversions and a sum for each of both numbers, 2.5 units for the division, two products), which is below 16.
const WORD: f32 = 4_294_967_296.0;
const UNDERESTIMATE: f32 = 1.0 - 1.0 / 524_288.0;

/// A float not above `1 / y`, less than `2^-18` of it below.
fn reciprocal(b: &mut Builder<'_>, y: Pair) -> Value {
    let divisor = to_float(b, y);
    let numerator = b.f32(UNDERESTIMATE);
    b.binary(Binary::FDiv, numerator, divisor)
}

fn to_float(b: &mut Builder<'_>, x: Pair) -> Value {
    let [low, high] =
        [x.lo, x.hi].map(|word| b.convert(Convert::UnsignedToFloat(None), word, Type::F32));
    let word = b.f32(WORD);
    let high = b.binary(Binary::FMul, high, word);
    b.binary(Binary::FAdd, high, low)
}

/// At most the quotient `x / y`, which fits a word, and what is left of `x`.
fn estimate(b: &mut Builder<'_>, x: Pair, y: Pair, reciprocal: Value) -> (Value, Pair) {
    let dividend = to_float(b, x);
    let quotient = b.binary(Binary::FMul, dividend, reciprocal);
    let to_word = Convert::FloatToUnsigned {
        rounding: None,
        saturate: false,
    };
    let lo = b.convert(to_word, quotient, Type::I32);
    let hi = b.i32(0);
    let product = mul(b, Pair { lo, hi }, y);
    (lo, sub(b, x, product))
}
