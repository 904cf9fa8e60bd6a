//! Sums and products of floats without an error: the rounded result, and exactly what it lost (Knuth's TwoSum,
//! Dekker's product). The builder's flags must forbid contraction.

use crate::compiler::ir::{Binary, Builder, Compare, Value};
use crate::compiler::passes::helpers::float_format::FloatFormat;

/// `x + y` rounded, and what that lost.
pub fn two_sum(b: &mut Builder<'_>, x: Value, y: Value) -> (Value, Value) {
    use Binary::{FAdd, FSub};
    let sum = b.binary(FAdd, x, y);
    let of_y = b.binary(FSub, sum, x);
    let of_x = b.binary(FSub, sum, of_y);
    let lost_x = b.binary(FSub, x, of_x);
    let lost_y = b.binary(FSub, y, of_y);
    let lost = b.binary(FAdd, lost_x, lost_y);
    (sum, lost)
}

/// `x + y` rounded to odd: its last bit stands for all that was lost, so that rounding it again, to fewer bits, is as
/// good as rounding once.
pub fn sum_to_odd(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let ty = b.ty(x);
    let int = ty.as_int().unwrap_or(ty);
    let (sum, lost) = two_sum(b, x, y);
    // An even sum that lost something moves by one towards the truth.
    let bits = b.bitcast(sum, int);
    let (zero, none) = (b.constant(ty, 0), b.constant(int, 0));
    let inexact = b.compare(Compare::FOrdNotEqual, lost, zero);
    let last = b.binary_const(Binary::And, bits, 1);
    let even = b.compare(Compare::Equal, last, none);
    let lost = b.bitcast(lost, int);
    let signs = b.binary(Binary::Xor, bits, lost);
    let inwards = b.compare(Compare::SLess, signs, none);
    let less = b.binary_const(Binary::Sub, bits, 1);
    let more = b.binary_const(Binary::Add, bits, 1);
    let moved = b.select(inwards, less, more);
    let moves = b.binary(Binary::And, inexact, even);
    let bits = b.select(moves, moved, bits);
    b.bitcast(bits, ty)
}

/// `x * y` rounded, and what that lost: the halves' products are exact, unless one overflows or becomes
/// denormal.
pub fn two_product(b: &mut Builder<'_>, x: Value, y: Value) -> (Value, Value) {
    let product = b.binary(Binary::FMul, x, y);
    let [(x_high, x_low), (y_high, y_low)] = [x, y].map(|value| halves(b, value));
    let high = b.binary(Binary::FMul, x_high, y_high);
    let mut lost = b.binary(Binary::FSub, high, product);
    for (one, other) in [(x_high, y_low), (x_low, y_high), (x_low, y_low)] {
        let part = b.binary(Binary::FMul, one, other);
        lost = b.binary(Binary::FAdd, lost, part);
    }
    (product, lost)
}

/// A number as the sum of two of at most half the bits each. By its bits: Veltkamp's product with a power of two and
/// one would overflow for numbers about as near as that to the greatest. (Those whose upper half rounds to infinity
/// still do.)
fn halves(b: &mut Builder<'_>, x: Value) -> (Value, Value) {
    let ty = b.ty(x);
    let format = FloatFormat::of(ty);
    // 12 of 24, 27 of 53.
    let lower_bits = (format.fraction_bits + 2) / 2;
    let bits = b.bitcast(x, format.int);
    let rounded = b.binary_const(Binary::Add, bits, 1 << (lower_bits - 1));
    let upper = format.int.mask() << lower_bits & format.int.mask();
    let high = b.binary_const(Binary::And, rounded, upper);
    let high = b.bitcast(high, ty);
    let low = b.binary(Binary::FSub, x, high);
    (high, low)
}
