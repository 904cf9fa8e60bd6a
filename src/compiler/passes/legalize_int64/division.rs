//! 64-bit division from 32-bit division.
//!
//! One helper function per module divides unsigned numbers and returns quotient and remainder; it is called
//! by every division that does not fold to shifts. It holds no loop, so a division by zero, whose result
//! is undefined, ends like any other. The method is schoolbook long division in base 2^16 with a
//! normalized divisor (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D; the 64-by-64 case by
//! way of a halved dividend as in Warren, Hacker's Delight, 9-5).

use super::super::folding::{binary, binary_const, compare, select};
use super::arithmetic::{
    add, bitwise_const, compare_pairs, constant, known, mul, negate_if, select_pair, shift,
    shift_const, sign_mask, sub,
};
use super::{Helpers, Pair};
use crate::compiler::ir::{
    Binary, Builder, Compare, Function, FunctionControl, Op, Terminator, Type, Value,
};
use smallvec::smallvec;

/// `FindUMsb` of `GLSL.std.450`: the number of the highest bit set, -1 for none.
const FIND_U_MSB: u32 = 75;

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
    let callee = helpers.divide();
    let args = smallvec![x.lo, x.hi, y.lo, y.hi];
    let parts = b.op(Op::Call(callee, args), [Type::I32; 4]);
    let pair = |at: usize| Pair {
        lo: parts[at],
        hi: parts[at + 1],
    };
    (pair(0), pair(2))
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
    let mut b = Builder::new(&mut function, entry);
    let [small, not_small, short, long] = [(); 4].map(|()| b.function.add_block());

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
    b.branch(is_short, short, long);

    // One word of divisor: two steps, the remainder of the first being below the divisor.
    b.switch_to(short);
    let high_quotient = b.binary(Binary::UDiv, x.hi, y.lo);
    let product = b.binary(Binary::Mul, high_quotient, y.lo);
    let carried = b.binary(Binary::Sub, x.hi, product);
    let high = Pair {
        lo: x.lo,
        hi: carried,
    };
    let low_quotient = divide_by_word(&mut b, high, y.lo);
    let product = b.binary(Binary::Mul, low_quotient, y.lo);
    let remainder = b.binary(Binary::Sub, x.lo, product);
    let zero = b.i32(0);
    b.terminate(Terminator::Return(smallvec![
        low_quotient,
        high_quotient,
        remainder,
        zero
    ]));

    b.switch_to(long);
    let (quotient, remainder) = divide_long(&mut b, x, y);
    b.terminate(Terminator::Return(smallvec![
        quotient.lo,
        quotient.hi,
        remainder.lo,
        remainder.hi
    ]));
    function
}

/// Leading zeros of a word that is not zero.
fn leading_zeros(b: &mut Builder<'_>, word: Value) -> Value {
    let top = b.op1(Op::Glsl(FIND_U_MSB, smallvec![word]), Type::I32);
    let last = b.i32(31);
    binary(b, Binary::Sub, last, top)
}

/// `y.hi` is not zero, so the quotient fits a word.
fn divide_long(b: &mut Builder<'_>, x: Pair, y: Pair) -> (Pair, Pair) {
    let zero = b.i32(0);
    let zeros = leading_zeros(b, y.hi);
    let normalized = shift(b, Binary::Shl, y, zeros);
    // Half the dividend is below the normalized divisor: the estimate fits.
    let half = shift_const(b, Binary::LShr, x, 1);
    let estimate = divide_by_word(b, half, normalized.hi);
    let estimate = Pair {
        lo: estimate,
        hi: zero,
    };
    let scaled = shift(b, Binary::Shl, estimate, zeros);
    let scaled = shift_const(b, Binary::LShr, scaled, 31).lo;
    // It is now the quotient or one more; one less of it is the quotient or one less.
    let is_some = compare(b, Compare::NotEqual, scaled, zero);
    let less = binary_const(b, Binary::Sub, scaled, 1);
    let low = select(b, is_some, less, zero);
    let low = Pair { lo: low, hi: zero };
    let product = mul(b, low, y);
    let remainder = sub(b, x, product);
    let is_done = compare_pairs(b, Compare::ULess, remainder, y);
    let one = constant(b, 1);
    let next = add(b, low, one);
    let next = Pair {
        lo: next.lo,
        hi: zero,
    };
    let reduced = sub(b, remainder, y);
    (
        select_pair(b, is_done, low, next),
        select_pair(b, is_done, remainder, reduced),
    )
}

/// The quotient of a pair by a word that is greater than the pair's high word.
fn divide_by_word(b: &mut Builder<'_>, x: Pair, y: Value) -> Value {
    let zeros = leading_zeros(b, y);
    // A zero divisor would make it 32; the result is undefined, the shift should not be.
    let zeros = binary_const(b, Binary::And, zeros, 31);
    let y = binary(b, Binary::Shl, y, zeros);
    let y_digits = digits(b, y);
    let x = shift(b, Binary::Shl, x, zeros);
    let (x1, x0) = digits(b, x.lo);

    let first = digit(b, x.hi, x1, y_digits);
    // x.hi * 2^16 + x1 - first * y, which fits a word: the carries beyond it cancel.
    let shifted = binary_const(b, Binary::Shl, x.hi, 16);
    let with_digit = binary(b, Binary::Or, shifted, x1);
    let product = binary(b, Binary::Mul, first, y);
    let rest = binary(b, Binary::Sub, with_digit, product);
    let second = digit(b, rest, x0, y_digits);
    let first = binary_const(b, Binary::Shl, first, 16);
    binary(b, Binary::Or, first, second)
}

/// The high and low 16 bits of a word.
fn digits(b: &mut Builder<'_>, word: Value) -> (Value, Value) {
    let high = binary_const(b, Binary::LShr, word, 16);
    let low = binary_const(b, Binary::And, word, 0xffff);
    (high, low)
}

/// One digit of the quotient, `(x * 2^16 + next) / y`, for a normalized `y` (of digits `y1`, `y0`) greater
/// than `x`.
fn digit(b: &mut Builder<'_>, x: Value, next: Value, (y1, y0): (Value, Value)) -> Value {
    let mut guess = binary(b, Binary::UDiv, x, y1);
    let product = binary(b, Binary::Mul, guess, y1);
    let mut rest = binary(b, Binary::Sub, x, product);
    // The guess is at most two too large, and is corrected only while the rest is a digit.
    for _ in 0..2 {
        let limit = b.i32(0x1_0000);
        let is_digit = compare(b, Compare::ULess, rest, limit);
        let is_wide = compare(b, Compare::ULessEqual, limit, guess);
        let product = binary(b, Binary::Mul, guess, y0);
        let shifted = binary_const(b, Binary::Shl, rest, 16);
        let least = binary(b, Binary::Or, shifted, next);
        let is_large = compare(b, Compare::ULess, least, product);
        let yes = b.bool(true);
        let too_large = select(b, is_wide, yes, is_large);
        let no = b.bool(false);
        let corrects = select(b, is_digit, too_large, no);
        let fewer = binary_const(b, Binary::Sub, guess, 1);
        let more = binary(b, Binary::Add, rest, y1);
        guess = select(b, corrects, fewer, guess);
        rest = select(b, corrects, more, rest);
    }
    guess
}
