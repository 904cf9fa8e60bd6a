//! Floats to floats of another width, with rounding.

use super::Lower;
use crate::compiler::ir::{Binary, Compare, Convert, Rounding, Type, Unary, Value};
use crate::compiler::passes::helpers::float_format::FloatFormat;
use crate::compiler::passes::legalize::float16;

impl Lower<'_, '_> {
    pub(super) fn float_to_float(
        &mut self,
        x: Value,
        ty: Type,
        rounding: Option<Rounding>,
    ) -> Option<Value> {
        match (self.b.ty(x), ty) {
            (Type::F16, Type::F32) if self.is_integer_half() => Some(self.single_of_half(x)),
            (Type::F32, Type::F64) if self.flushes_when_widening() => {
                Some(self.double_of_single(x))
            }
            (Type::F16, Type::F64) => {
                // No half is a denormal single.
                let single = self.single_of_half(x);
                Some(self.plain(single, ty))
            }
            (Type::F32, Type::F16) => {
                let native = !self.is_integer_half() && is_to_nearest(rounding);
                (!native || rounding.is_some()).then(|| self.half_of_single(x, rounding))
            }
            (Type::F64, Type::F16) => {
                let single = self.single_of_double(x, Inexact::Odd);
                Some(self.half_of_single(single, rounding))
            }
            (Type::F64, Type::F32) => {
                let rounding = rounding?;
                Some(self.single_of_double(x, Inexact::Rounded(rounding)))
            }
            _ => rounding.map(|_| self.plain(x, ty)),
        }
    }

    /// Whether half conversions are done in integer arithmetic here: where the device has halves, but
    /// might flush denormals or round as it likes.
    fn is_integer_half(&self) -> bool {
        let controls = self.cx.capabilities.float16_controls;
        self.cx.capabilities.float16 && !(controls.denorm_preserve && controls.rounding_rte)
    }

    /// Whether denormals, which count, get lost on the way from single to double precision.
    fn flushes_when_widening(&self) -> bool {
        let caps = self.cx.capabilities;
        caps.keeps_denormals32 && !caps.widens_denormals && !self.cx.options.denorms_are_zero
    }

    /// A single as a double, denormals too: their bits are their value in units of 2^-149.
    fn double_of_single(&mut self, x: Value) -> Value {
        let normal = self.plain(x, Type::F64);
        let format = FloatFormat::of(Type::F32);
        let bits = self.bits(x);
        let magnitude = self.binary_const(Binary::And, bits, format.magnitude());
        let number = Convert::UnsignedToFloat(None);
        let number = self.b.convert(number, magnitude, Type::F64);
        let unit = FloatFormat::of(Type::F64).power_of_two(-149);
        let unit = self.b.constant(Type::F64, unit);
        let positive = self.binary(Binary::FMul, number, unit);
        let negated = self.b.unary(Unary::FNegate, positive);
        let negative = self.compare_const(Compare::SLess, bits, 0);
        let denormal = self.b.select(negative, negated, positive);
        let is_denormal = self.compare_const(Compare::ULess, magnitude, 1 << format.fraction_bits);
        self.b.select(is_denormal, denormal, normal)
    }

    fn plain(&mut self, x: Value, ty: Type) -> Value {
        self.b.convert(Convert::FloatToFloat(None), x, ty)
    }

    /// A half as a single, exactly.
    pub(super) fn single_of_half(&mut self, half: Value) -> Value {
        if !self.is_integer_half() {
            return self.plain(half, Type::F32);
        }
        let bits = self.bits(half);
        float16::to_f32(self.b, bits)
    }

    /// A single as a half. Without halves, legalization does it.
    pub(super) fn half_of_single(&mut self, single: Value, rounding: Option<Rounding>) -> Value {
        if !self.cx.capabilities.float16 {
            let op = Convert::FloatToFloat(rounding);
            return self.b.convert(op, single, Type::F16);
        }
        if !self.is_integer_half() && is_to_nearest(rounding) {
            return self.plain(single, Type::F16);
        }
        let rounding = rounding.unwrap_or(Rounding::Rte);
        let bits = float16::from_f32(self.b, single, rounding);
        self.b.bitcast(bits, Type::F16)
    }

    /// Double to single: what the device makes of it is one of the two neighbours, and is moved to the
    /// other one if it lies on the wrong side.
    fn single_of_double(&mut self, x: Value, inexact: Inexact) -> Value {
        let near = self.plain(x, Type::F32);
        if inexact == Inexact::Rounded(Rounding::Rte) {
            return near;
        }
        let back = if self.cx.capabilities.widens_denormals {
            self.plain(near, Type::F64)
        } else {
            self.double_of_single(near)
        };
        let bits = self.bits(near);
        let away = self.binary_const(Binary::Add, bits, 1);
        let towards = self.binary_const(Binary::Sub, bits, 1);
        let sign = FloatFormat::of(Type::F32).sign();
        // Zero has two neighbours of its own, but where it is all that is left of denormals: any denormal may have been meant.
        let has_neighbours = self.cx.capabilities.keeps_denormals32;
        let magnitude = self.binary_const(Binary::And, bits, sign - 1);
        let is_zero = self.compare_const(Compare::Equal, magnitude, 0);
        let x_bits = self.bits(x);
        let negative = self.compare_const(Compare::SLess, x_bits, 0);
        let too_high = self.b.compare(Compare::FOrdLess, x, back);
        let too_low = self.b.compare(Compare::FOrdLess, back, x);
        let fixed = match inexact {
            Inexact::Rounded(Rounding::Rtp) => {
                let up = self.b.select(negative, towards, away);
                let least = if has_neighbours { self.b.i32(1) } else { bits };
                let up = self.b.select(is_zero, least, up);
                self.b.select(too_low, up, bits)
            }
            Inexact::Rounded(Rounding::Rtn) => {
                let down = self.b.select(negative, away, towards);
                let least = if has_neighbours {
                    self.b.i32(sign as u32 | 1)
                } else {
                    bits
                };
                let down = self.b.select(is_zero, least, down);
                self.b.select(too_high, down, bits)
            }
            Inexact::Rounded(_) | Inexact::Odd => {
                let too_far = self.b.select(negative, too_low, too_high);
                let truncated = self.b.select(too_far, towards, bits);
                if inexact == Inexact::Odd {
                    let lost = self.binary(Binary::Or, too_high, too_low);
                    let (one, zero) = (self.b.i32(1), self.b.i32(0));
                    let sticky = self.b.select(lost, one, zero);
                    self.binary(Binary::Or, truncated, sticky)
                } else {
                    truncated
                }
            }
        };
        self.b.bitcast(fixed, Type::F32)
    }
}

/// What happens to numbers that do not fit exactly.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inexact {
    Rounded(Rounding),
    /// Toward zero, then the last bit is set, so that another rounding is as good as one.
    Odd,
}

fn is_to_nearest(rounding: Option<Rounding>) -> bool {
    matches!(rounding, None | Some(Rounding::Rte))
}
