//! Conversions between 64-bit integers, as pairs of I32, and F32.
//!
//! Done on the bits: nothing depends on how the device rounds its own conversions.

use super::Pair;
use super::arithmetic::{negate_if, shift, sign_mask};
use crate::compiler::ir::{Binary, Builder, Compare, Op, Rounding, Type, Unary, Value};
use crate::compiler::passes::helpers::folding::{binary, binary_const, compare, select};
use smallvec::smallvec;

/// `FindUMsb` of `GLSL.std.450`.
const FIND_U_MSB: u32 = 75;

/// The F32 nearest to an integer in the given direction.
pub fn to_f32(b: &mut Builder<'_>, a: Pair, signed: bool, rounding: Rounding) -> Value {
    use Binary::{Add, And, LShr, Or, Shl, Sub};
    let zero = b.i32(0);
    let negative = if signed { sign_mask(b, a) } else { zero };
    let size = if signed { negate_if(b, a, negative) } else { a };

    // The highest bit set, 0 to 63; the number is shifted left until that is bit 63.
    let is_wide = compare(b, Compare::NotEqual, size.hi, zero);
    let word = select(b, is_wide, size.hi, size.lo);
    let top_of_word = b.op1(Op::Glsl(FIND_U_MSB, smallvec![word]), Type::I32);
    let top_of_high = binary_const(b, Add, top_of_word, 32);
    let top = select(b, is_wide, top_of_high, top_of_word);
    let last = b.i32(63);
    let distance = binary(b, Sub, last, top);
    let distance = binary_const(b, And, distance, 63);
    let aligned = shift(b, Shl, size, distance);

    // 24 bits are kept; of the eight below them the last one also stands for all that was cut off.
    let is_inexact = compare(b, Compare::NotEqual, aligned.lo, zero);
    let one = b.i32(1);
    let sticky = select(b, is_inexact, one, zero);
    let bits = binary(b, Or, aligned.hi, sticky);
    let kept = binary_const(b, LShr, bits, 8);
    let cut = binary_const(b, And, bits, 0xff);
    let increment = match rounding {
        Rounding::Rte => {
            let odd = binary_const(b, And, kept, 1);
            binary_const(b, Add, odd, 0x7f)
        }
        Rounding::Rtz => zero,
        Rounding::Rtn => binary_const(b, And, negative, 0xff),
        Rounding::Rtp => {
            let positive = b.unary(Unary::Not, negative);
            binary_const(b, And, positive, 0xff)
        }
    };
    let sum = binary(b, Add, cut, increment);
    let carry = binary_const(b, LShr, sum, 8);

    // The leading one of `kept` adds one to the exponent field, as does a carry out of the significand.
    let exponent = binary_const(b, Add, top, 126);
    let exponent = binary_const(b, Shl, exponent, 23);
    let number = binary(b, Add, exponent, kept);
    let number = binary(b, Add, number, carry);
    let any = binary(b, Or, size.lo, size.hi);
    let is_zero = compare(b, Compare::Equal, any, zero);
    let number = select(b, is_zero, zero, number);
    let sign = binary_const(b, And, negative, 0x8000_0000);
    let all = binary(b, Or, number, sign);
    b.bitcast(all, Type::F32)
}

/// The integer part of an F32; what lies outside the range of the result has no defined result.
pub fn from_f32(b: &mut Builder<'_>, single: Value, signed: bool) -> Pair {
    use Binary::{AShr, And, LShr, Or, Shl, Sub, UMin};
    let zero = b.i32(0);
    let bits = b.bitcast(single, Type::I32);
    let magnitude = binary_const(b, And, bits, 0x7fff_ffff);
    let exponent = binary_const(b, LShr, magnitude, 23);
    let fraction = binary_const(b, And, bits, 0x007f_ffff);
    let significand = binary_const(b, Or, fraction, 0x0080_0000);

    // The significand counts units of 2^(exponent - 150).
    let up = binary_const(b, Sub, exponent, 150);
    let is_down = compare(b, Compare::SLess, up, zero);
    let limited = binary_const(b, And, up, 63);
    let whole = Pair {
        lo: significand,
        hi: zero,
    };
    let raised = shift(b, Shl, whole, limited);
    let down = binary(b, Sub, zero, up);
    let down = binary_const(b, UMin, down, 31);
    let lowered = binary(b, LShr, significand, down);
    let size = Pair {
        lo: select(b, is_down, lowered, raised.lo),
        hi: select(b, is_down, zero, raised.hi),
    };
    if !signed {
        return size;
    }
    let negative = binary_const(b, AShr, bits, 31);
    negate_if(b, size, negative)
}
