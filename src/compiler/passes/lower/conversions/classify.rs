//! What kind of number a float is, by its bits; and operations that treat kinds apart.

use super::Lower;
use crate::compiler::ir::{Binary, Compare, Type, Unary, Value};
use crate::compiler::passes::helpers::float_format::FloatFormat;

impl Lower<'_, '_> {
    pub(super) fn unary(&mut self, op: Unary, x: Value) -> Option<Value> {
        let ty = self.b.ty(x);
        let format = FloatFormat::of(ty);
        Some(match op {
            Unary::BitCount => return self.bit_count(x),
            Unary::BitReverse => return self.bit_reverse(x),
            Unary::IsNan | Unary::IsInf if self.keeps_special_numbers(ty) => return None,
            Unary::IsNan => self.magnitude_is(x, |infinity, size| (Compare::ULess, infinity, size)),
            Unary::IsInf => self.magnitude_is(x, |infinity, size| (Compare::Equal, infinity, size)),
            Unary::IsFinite => {
                self.magnitude_is(x, |infinity, size| (Compare::ULess, size, infinity))
            }
            // The exponent, less one, is below that of infinity less one: zero wraps around.
            Unary::IsNormal => {
                let bits = self.bits(x);
                let field = self.binary_const(Binary::And, bits, format.infinity());
                let least = 1 << format.fraction_bits;
                let less = self.binary_const(Binary::Sub, field, least);
                self.compare_const(Compare::ULess, less, format.infinity() - least)
            }
            Unary::SignBitSet => {
                let bits = self.bits(x);
                self.compare_const(Compare::SLess, bits, 0)
            }
            _ => return None,
        })
    }

    /// Whether either is NaN.
    pub(super) fn unordered(&mut self, x: Value, y: Value) -> Value {
        let (x, y) = (self.is_nan(x), self.is_nan(y));
        self.binary(Binary::Or, x, y)
    }

    pub(super) fn is_nan(&mut self, x: Value) -> Value {
        match self.unary(Unary::IsNan, x) {
            Some(value) => value,
            None => self.b.unary(Unary::IsNan, x),
        }
    }

    /// Whether the device was told that NaN and infinities occur.
    fn keeps_special_numbers(&self, ty: Type) -> bool {
        self.controls(ty).signed_zero_inf_nan_preserve
    }

    /// A comparison of infinity's bits with those of `x` without its sign.
    fn magnitude_is(
        &mut self,
        x: Value,
        compare: fn(Value, Value) -> (Compare, Value, Value),
    ) -> Value {
        let format = FloatFormat::of(self.b.ty(x));
        let bits = self.bits(x);
        let magnitude = self.binary_const(Binary::And, bits, format.magnitude());
        let infinity = self.b.constant(format.int, format.infinity());
        let (op, a, b) = compare(infinity, magnitude);
        self.b.compare(op, a, b)
    }

    /// Single precision division with a divisor of any size.
    ///
    /// Vulkan limits the error to 2.5 ulp for divisors from 2^-126 to 2^126 only: many devices multiply with
    /// the reciprocal, which would be a denormal for greater ones, and is flushed to zero.
    pub(super) fn divide(&mut self, x: Value, y: Value) -> Option<Value> {
        let relaxed = self.cx.options.fast_relaxed_math || self.b.flags.fast_math;
        let ty = self.b.ty(y);
        if ty != Type::F32 || relaxed || self.controls(ty).denorm_preserve {
            return None;
        }
        let format = FloatFormat::of(ty);
        let limit = format.power_of_two(96);
        if let Some(bits) = self.b.function.constant(y)
            && bits & format.magnitude() <= limit
        {
            return None;
        }
        let bits = self.bits(y);
        let magnitude = self.binary_const(Binary::And, bits, format.magnitude());
        let limit = self.b.constant(format.int, limit);
        let big = self.b.compare(Compare::ULess, limit, magnitude);
        let (down, one) = (self.b.f32(1.0 / 4_294_967_296.0), self.b.f32(1.0));
        let scale = self.b.select(big, down, one);
        let y = self.binary(Binary::FMul, y, scale);
        let quotient = self.binary(Binary::FDiv, x, y);
        Some(self.binary(Binary::FMul, quotient, scale))
    }
}
