//! Floats to integers, with rounding and saturation.

use super::Lower;
use crate::compiler::ir::{Binary, Compare, Convert, Op, Rounding, Type, Value};
use crate::compiler::passes::helpers::float_format::FloatFormat;
use smallvec::smallvec;

/// Numbers of `GLSL.std.450` instructions.
const ROUND_EVEN: u32 = 2;
const FLOOR: u32 = 8;
const CEIL: u32 = 9;

impl Lower<'_, '_> {
    pub(super) fn float_to_integer(
        &mut self,
        x: Value,
        ty: Type,
        signed: bool,
        rounding: Option<Rounding>,
        saturate: bool,
    ) -> Option<Value> {
        let plain = matches!(rounding, None | Some(Rounding::Rtz)) && !saturate;
        let from = self.b.ty(x);
        if plain && rounding.is_none() && ty.bits() >= 32 && from != Type::F16 {
            return None;
        }
        let x = self.widen(x);
        let x = match rounding {
            None | Some(Rounding::Rtz) => x,
            Some(Rounding::Rte) => self.glsl(ROUND_EVEN, x),
            Some(Rounding::Rtp) => self.glsl(CEIL, x),
            Some(Rounding::Rtn) => self.glsl(FLOOR, x),
        };
        Some(if saturate {
            self.saturating(x, ty, signed)
        } else {
            let wide = self.truncating(x, ty, signed);
            self.b.resize_int(wide, ty, signed)
        })
    }

    /// A half as a single; other floats stay.
    pub(super) fn widen(&mut self, x: Value) -> Value {
        match self.b.ty(x) {
            Type::F16 => self.single_of_half(x),
            _ => x,
        }
    }

    fn glsl(&mut self, number: u32, x: Value) -> Value {
        let ty = self.b.ty(x);
        self.b.op1(Op::Glsl(number, smallvec![x]), ty)
    }

    /// Toward zero, to `ty` or to I32 where that is wider. Narrow unsigned results come from signed ones,
    /// so that negative numbers wrap as they do on processors.
    fn truncating(&mut self, x: Value, ty: Type, signed: bool) -> Value {
        let narrow = ty.bits() < 32;
        let (rounding, saturate) = (None, false);
        let op = if signed || narrow {
            Convert::FloatToSigned { rounding, saturate }
        } else {
            Convert::FloatToUnsigned { rounding, saturate }
        };
        self.b.convert(op, x, if narrow { Type::I32 } else { ty })
    }

    /// Toward zero, at the limits of `ty` beyond them; NaN becomes zero.
    fn saturating(&mut self, x: Value, ty: Type, signed: bool) -> Value {
        let from = self.b.ty(x);
        let bits = ty.bits() as i32;
        let format = FloatFormat::of(from);
        // The first number above the range is a power of two, the least one too.
        let (end, start) = if signed {
            (
                format.power_of_two(bits - 1),
                format.power_of_two(bits - 1) | format.sign(),
            )
        } else {
            (format.power_of_two(bits), 0)
        };
        let (end, start) = (self.b.constant(from, end), self.b.constant(from, start));
        let above = self.b.compare(Compare::FOrdLessEqual, end, x);
        let below = self.b.compare(Compare::FOrdLess, x, start);
        let before_end = self.b.compare(Compare::FOrdLess, x, end);
        let from_start = self.b.compare(Compare::FOrdLessEqual, start, x);
        let inside = self.binary(Binary::And, before_end, from_start);
        let zero = self.b.constant(from, 0);
        let safe = self.b.select(inside, x, zero);
        let number = self.truncating(safe, ty, signed);
        let wide = self.b.ty(number);
        let (most, least) = if signed {
            (ty.mask() >> 1, !(ty.mask() >> 1))
        } else {
            (ty.mask(), 0)
        };
        let (most, least) = (self.b.constant(wide, most), self.b.constant(wide, least));
        let number = self.b.select(above, most, number);
        let number = self.b.select(below, least, number);
        self.b.resize_int(number, ty, signed)
    }
}
