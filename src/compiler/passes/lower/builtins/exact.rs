//! Float functions whose result is exact, or rounded once: spelled out on the bits or with one operation.

use super::lower::{Lower, Std, glsl};
use crate::compiler::CompileError;
use crate::compiler::ir::{Binary, Compare, Convert, Op, Type, Unary, Value};
use crate::compiler::passes::helpers::float_format::FloatFormat;

impl Lower<'_, '_> {
    /// Whether a function is as good on halves as on wider floats, so that these need no conversion.
    pub fn is_exact_on_halves(op: Std) -> bool {
        use Std::*;
        matches!(
            op,
            fabs | copysign
                | fmax
                | fmin
                | fmax_common
                | fmin_common
                | fclamp
                | floor
                | ceil
                | trunc
                | rint
                | round
                | nan
                | nextafter
                | fma
                | maxmag
                | minmag
                | sign
                | step
        )
    }

    /// Lowers an exact function; `None` if it is none.
    pub fn exact(
        &mut self,
        op: Std,
        args: &[Value],
        ty: Type,
    ) -> Result<Option<Value>, CompileError> {
        let value = match (op, args) {
            (Std::fabs, &[x]) => self.magnitude(x),
            (Std::copysign, &[x, y]) => self.copy_sign(x, y),
            (Std::fmax | Std::fmax_common, &[x, y]) => self.binary(Binary::FMax, x, y),
            (Std::fmin | Std::fmin_common, &[x, y]) => self.binary(Binary::FMin, x, y),
            (Std::fclamp, &[x, low, high]) => {
                let x = self.binary(Binary::FMax, x, low);
                self.binary(Binary::FMin, x, high)
            }
            (Std::floor, &[x]) => self.glsl(glsl::FLOOR, &[x]),
            (Std::ceil, &[x]) => self.glsl(glsl::CEIL, &[x]),
            (Std::trunc, &[x]) => self.glsl(glsl::TRUNC, &[x]),
            (Std::rint, &[x]) => self.glsl(glsl::ROUND_EVEN, &[x]),
            (Std::round, &[x]) => self.round(x),
            (Std::sign, &[x]) => self.sign(x),
            (Std::step, &[edge, x]) => {
                let below = self.compare(Compare::FOrdLess, x, edge);
                let (zero, one) = (self.float(ty, 0.0), self.float(ty, 1.0));
                self.select(below, zero, one)
            }
            (Std::fdim, &[x, y]) => {
                // A NaN makes the difference one; of two infinities there is none.
                let below = self.compare(Compare::FOrdLessEqual, x, y);
                let difference = self.binary(Binary::FSub, x, y);
                let zero = self.float(ty, 0.0);
                self.select(below, zero, difference)
            }
            (Std::maxmag, &[x, y]) => self.by_magnitude(x, y, true),
            (Std::minmag, &[x, y]) => self.by_magnitude(x, y, false),
            (Std::nan, &[code]) => {
                let format = FloatFormat::of(ty);
                let payload = self.binary_const(Binary::And, code, format.fraction() >> 1);
                let bits = self.binary_const(Binary::Or, payload, format.nan());
                self.b.bitcast(bits, ty)
            }
            (Std::nextafter, &[x, y]) => self.next_after(x, y),
            (Std::ilogb, &[x]) => self.ilogb(x),
            (Std::logb, &[x]) => self.logb(x),
            (Std::ldexp, &[x, power]) => self.ldexp(x, power),
            (Std::fma, &[x, y, z]) => self.fma(x, y, z)?,
            (Std::mad, &[x, y, z]) => self.mad(x, y, z),
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    /// A conversion of the library: it converts infinities and NaN on the way to a result that it then does
    /// not use, but SPIR-V leaves undefined what happens. Out of range becomes zero.
    pub fn defined_conversion(&mut self, mut op: Op, x: Value, to: Type) -> Value {
        let ty = self.b.ty(x);
        let size = self.magnitude(x);
        let end = FloatFormat::of(ty).power_of_two(to.bits() as i32 - 1);
        let end = self.b.constant(ty, end);
        let fits = self.compare(Compare::FOrdLess, size, end);
        let zero = self.float(ty, 0.0);
        let safe = self.select(fits, x, zero);
        op.for_each_operand_mut(|operand| *operand = safe);
        self.b.op1(op, to)
    }

    /// `x` without its sign.
    pub fn magnitude(&mut self, x: Value) -> Value {
        self.glsl(glsl::FABS, &[x])
    }

    pub fn copy_sign(&mut self, x: Value, sign: Value) -> Value {
        let ty = self.b.ty(x);
        let format = FloatFormat::of(ty);
        let (x, sign) = (self.bits(x), self.bits(sign));
        let x = self.binary_const(Binary::And, x, format.magnitude());
        let sign = self.binary_const(Binary::And, sign, format.sign());
        let bits = self.binary(Binary::Or, x, sign);
        self.b.bitcast(bits, ty)
    }

    /// To the nearest integer, halves away from zero.
    fn round(&mut self, x: Value) -> Value {
        let ty = self.b.ty(x);
        let towards = self.glsl(glsl::TRUNC, &[x]);
        let rest = self.binary(Binary::FSub, x, towards);
        let rest = self.magnitude(rest);
        let half = self.float(ty, 0.5);
        // False for infinities, whose rest is NaN.
        let up = self.compare(Compare::FOrdLessEqual, half, rest);
        let (one, zero) = (self.float(ty, 1.0), self.float(ty, 0.0));
        let step = self.select(up, one, zero);
        let step = self.copy_sign(step, x);
        let rounded = self.binary(Binary::FAdd, towards, step);
        // -0.0 + -0.0 is -0.0, but drivers drop additions of zero with either sign.
        self.copy_sign(rounded, x)
    }

    fn sign(&mut self, x: Value) -> Value {
        let ty = self.b.ty(x);
        let zero = self.float(ty, 0.0);
        let one = self.float(ty, 1.0);
        let one = self.copy_sign(one, x);
        let is_zero = self.compare(Compare::FOrdEqual, x, zero);
        let value = self.select(is_zero, x, one);
        let is_nan = self.b.unary(Unary::IsNan, x);
        self.select(is_nan, zero, value)
    }

    /// The one of greater (or lesser) magnitude; the greater (lesser) number if that does not tell.
    fn by_magnitude(&mut self, x: Value, y: Value, greater: bool) -> Value {
        // By the bits, since a device that flushes denormals may see all of them as equal. NaN is neither
        // less nor greater.
        let format = FloatFormat::of(self.b.ty(x));
        let [size_x, size_y] = [x, y].map(|value| {
            let bits = self.bits(value);
            self.binary_const(Binary::And, bits, format.magnitude())
        });
        let mut is_less = |a, b| {
            let less = self.compare(Compare::ULess, a, b);
            let number = self.compare_const(Compare::ULess, b, format.infinity() + 1);
            self.binary(Binary::And, less, number)
        };
        let x_less = is_less(size_x, size_y);
        let y_less = is_less(size_y, size_x);
        let (op, take_x, take_y) = if greater {
            (Binary::FMax, y_less, x_less)
        } else {
            (Binary::FMin, x_less, y_less)
        };
        let other = self.binary(op, x, y);
        let value = self.select(take_y, y, other);
        self.select(take_x, x, value)
    }

    fn next_after(&mut self, x: Value, y: Value) -> Value {
        let ty = self.b.ty(x);
        let sum = self.binary(Binary::FAdd, x, y);
        let unordered = {
            let (a, b) = (self.b.unary(Unary::IsNan, x), self.b.unary(Unary::IsNan, y));
            self.binary(Binary::Or, a, b)
        };
        let (from, to) = (self.ordered_bits(x), self.ordered_bits(y));
        let up = self.compare(Compare::SLess, from, to);
        let down = self.compare(Compare::SLess, to, from);
        let (higher, lower) = (
            self.binary_const(Binary::Add, from, 1),
            self.binary_const(Binary::Sub, from, 1),
        );
        let next = self.select(up, higher, lower);
        // The mapping is its own inverse, but loses -0: what follows the greatest negative number, -1 here.
        let bits = self.flip_negative(next);
        let greatest = self.compare_const(Compare::Equal, from, u64::MAX);
        let to_zero = self.binary(Binary::And, up, greatest);
        let int = self.b.ty(bits);
        let zero = self.b.constant(int, FloatFormat::of(ty).sign());
        let bits = self.select(to_zero, zero, bits);
        let value = self.b.bitcast(bits, ty);
        let different = self.binary(Binary::Or, up, down);
        let value = self.select(different, value, y);
        self.select(unordered, sum, value)
    }

    /// A float's bits as an integer of the same order; both zeros are 0.
    fn ordered_bits(&mut self, x: Value) -> Value {
        let bits = self.bits(x);
        self.flip_negative(bits)
    }

    fn flip_negative(&mut self, bits: Value) -> Value {
        let int = self.b.ty(bits);
        let least = self.b.constant(int, 1 << (int.bits() - 1));
        let flipped = self.binary(Binary::Sub, least, bits);
        let negative = self.compare_const(Compare::SLess, bits, 0);
        self.select(negative, flipped, bits)
    }

    /// The unbiased exponent of a finite nonzero number (I32), denormals being normalized; and the
    /// number's fraction then (without the implicit one), in the format's integer type.
    pub fn exponent_and_fraction(&mut self, x: Value) -> (Value, Value) {
        let format = FloatFormat::of(self.b.ty(x));
        let bits = self.bits(x);
        let magnitude = self.binary_const(Binary::And, bits, format.magnitude());
        let field = self.binary_const(Binary::LShr, magnitude, format.fraction_bits.into());
        let denormal = self.compare_const(Compare::Equal, field, 0);
        // Denormals: shift the leading one to the implicit one's place.
        let zeros = self.leading_zeros(magnitude);
        let above = format.int.bits() - format.fraction_bits - 1;
        let shift = self.binary_const(Binary::Sub, zeros, above.into());
        let mask = u64::from(format.int.bits()) - 1;
        let shift = self.binary_const(Binary::And, shift, mask);
        let shifted = self.binary(Binary::Shl, magnitude, shift);
        let one = self.b.constant(format.int, 1);
        let lower = self.binary(Binary::Sub, one, shift);
        let field = self.select(denormal, lower, field);
        let fraction = self.select(denormal, shifted, magnitude);
        let fraction = self.binary_const(Binary::And, fraction, format.fraction());
        let field = self.b.resize_int(field, Type::I32, true);
        let exponent = self.binary_const(Binary::Sub, field, format.bias.into());
        (exponent, fraction)
    }

    /// Whether a float is zero or not finite, by its bits.
    pub fn is_special(&mut self, x: Value) -> (Value, Value) {
        let format = FloatFormat::of(self.b.ty(x));
        let bits = self.bits(x);
        let magnitude = self.binary_const(Binary::And, bits, format.magnitude());
        let zero = self.compare_const(Compare::Equal, magnitude, 0);
        let infinity = self.b.constant(format.int, format.infinity());
        let not_finite = self.compare(Compare::ULessEqual, infinity, magnitude);
        (zero, not_finite)
    }

    /// `FP_ILOGB0` is the least int, `FP_ILOGBNAN` (and the answer for infinities) the greatest.
    fn ilogb(&mut self, x: Value) -> Value {
        let (exponent, _) = self.exponent_and_fraction(x);
        let (zero, not_finite) = self.is_special(x);
        let (least, most) = (self.b.i32(0x8000_0000), self.b.i32(0x7fff_ffff));
        let value = self.select(zero, least, exponent);
        self.select(not_finite, most, value)
    }

    fn logb(&mut self, x: Value) -> Value {
        let ty = self.b.ty(x);
        let (exponent, _) = self.exponent_and_fraction(x);
        let exponent = self.b.convert(Convert::SignedToFloat(None), exponent, ty);
        let (zero, not_finite) = self.is_special(x);
        let format = FloatFormat::of(ty);
        let negative = self.b.constant(ty, format.infinity() | format.sign());
        let value = self.select(zero, negative, exponent);
        // The square of an infinity is positive; NaN stays.
        let square = self.binary(Binary::FMul, x, x);
        self.select(not_finite, square, value)
    }

    /// `x * 2^power`, rounded once: by three multiplications with powers of two of which only the last can
    /// be inexact, because the first ones leave room for all bits of the significand above the denormals.
    fn ldexp(&mut self, x: Value, power: Value) -> Value {
        let ty = self.b.ty(x);
        let format = FloatFormat::of(ty);
        let most = format.bias as i32;
        let least = 1 - most;
        let step_down = least + format.fraction_bits as i32 + 1;
        let (mut x, mut power) = (x, power);
        let clamp = |this: &mut Self, v: Value, low: i32, high: i32| {
            let v = this.binary_const(Binary::SMax, v, low as u32 as u64);
            this.binary_const(Binary::SMin, v, high as u32 as u64)
        };
        power = clamp(self, power, -4 * most, 4 * most);
        for _ in 0..2 {
            let most_value = self.b.i32(most as u32);
            let big = self.compare(Compare::SLess, most_value, power);
            let small = self.compare_const(Compare::SLess, power, least as u32 as u64);
            let up = self.b.constant(ty, format.power_of_two(most));
            let down = self.b.constant(ty, format.power_of_two(step_down));
            let one = self.float(ty, 1.0);
            let factor = self.select(small, down, one);
            let factor = self.select(big, up, factor);
            x = self.binary(Binary::FMul, x, factor);
            let (up, down) = (self.b.i32(most as u32), self.b.i32(step_down as u32));
            let zero = self.b.i32(0);
            let done = self.select(small, down, zero);
            let done = self.select(big, up, done);
            power = self.binary(Binary::Sub, power, done);
        }
        power = clamp(self, power, least, most);
        let field = self.binary_const(Binary::Add, power, format.bias.into());
        let field = self.b.resize_int(field, format.int, false);
        let bits = self.binary_const(Binary::Shl, field, format.fraction_bits.into());
        let factor = self.b.bitcast(bits, ty);
        self.binary(Binary::FMul, x, factor)
    }
}
