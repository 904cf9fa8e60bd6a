//! Integers to floats, with rounding.

use super::Lower;
use crate::compiler::ir::{Binary, Compare, Convert, Op, Rounding, Type, Unary, Value};
use crate::compiler::passes::helpers::float_format::FloatFormat;
use smallvec::smallvec;

/// `FindUMsb` of `GLSL.std.450`.
const FIND_U_MSB: u32 = 75;

impl Lower<'_, '_> {
    pub(super) fn integer_to_float(
        &mut self,
        x: Value,
        ty: Type,
        signed: bool,
        rounding: Option<Rounding>,
    ) -> Option<Value> {
        let from = self.b.ty(x);
        if ty == Type::F16 {
            // What a single can't hold exactly overflows a half in any case.
            let single = self.widening(x, Type::F32, signed);
            return Some(self.half_of_single(single, rounding));
        }
        let exact = from.bits() <= FloatFormat::of(ty).fraction_bits;
        if from.bits() < 32 || (exact && rounding.is_some()) {
            return Some(self.widening(x, ty, signed));
        }
        match rounding {
            None | Some(Rounding::Rte) if self.is_inexact_unsigned(from, ty, signed) => {
                Some(self.unsigned_through_signed(x))
            }
            None => None,
            Some(Rounding::Rte) => Some(self.widening(x, ty, signed)),
            // Left to legalization.
            Some(_) if from == Type::I64 && !self.cx.capabilities.int64 => None,
            Some(rounding) => Some(self.rounded(x, ty, signed, rounding)),
        }
    }

    /// SwiftShader converts unsigned integers by parts and rounds more than once.
    fn is_inexact_unsigned(&self, from: Type, to: Type, signed: bool) -> bool {
        !signed && (from, to) == (Type::I32, Type::F32) && !self.controls(to).rounding_rte
    }

    /// An unsigned I32 to F32 by the conversion of signed ones: of great ones half, where the last bit of
    /// the half stands for both that were there.
    fn unsigned_through_signed(&mut self, x: Value) -> Value {
        let great = self.compare_const(Compare::SLess, x, 0);
        let half = self.binary_const(Binary::LShr, x, 1);
        let last = self.binary_const(Binary::And, x, 1);
        let half = self.binary(Binary::Or, half, last);
        let number = self.b.select(great, half, x);
        let number = self
            .b
            .convert(Convert::SignedToFloat(None), number, Type::F32);
        let (two, one) = (self.b.f32(2.0), self.b.f32(1.0));
        let scale = self.b.select(great, two, one);
        self.binary(Binary::FMul, number, scale)
    }

    /// To nearest even, by the device, from at least 32 bits.
    fn widening(&mut self, x: Value, ty: Type, signed: bool) -> Value {
        let narrow = self.b.ty(x).bits() < 32;
        let x = if narrow {
            self.b.resize_int(x, Type::I32, signed)
        } else {
            x
        };
        let op = if signed || narrow {
            Convert::SignedToFloat(None)
        } else {
            Convert::UnsignedToFloat(None)
        };
        self.b.convert(op, x, ty)
    }

    /// By the bits. I32 or I64 to F32, I64 to F64.
    fn rounded(&mut self, x: Value, ty: Type, signed: bool, rounding: Rounding) -> Value {
        use Binary::{AShr, Add, And, LShr, Or, Shl, Sub, Xor};
        let int = self.b.ty(x);
        let width = int.bits();
        let format = FloatFormat::of(ty);
        let zero = self.b.constant(int, 0);
        // All ones for negative numbers.
        let sign = if signed {
            self.binary_const(AShr, x, u64::from(width) - 1)
        } else {
            zero
        };
        let flipped = self.binary(Xor, x, sign);
        let magnitude = self.binary(Sub, flipped, sign);

        // The leading one goes to the top; below the bits that stay lies what is cut.
        let top = self.highest_bit(magnitude);
        let last = self.b.constant(int, u64::from(width) - 1);
        let shift = self.binary(Sub, last, top);
        let shift = self.binary_const(And, shift, u64::from(width) - 1);
        let aligned = self.binary(Shl, magnitude, shift);
        let cut_bits = width - format.fraction_bits - 1;
        let kept = self.binary_const(LShr, aligned, cut_bits.into());
        let cut = self.binary_const(And, aligned, (1 << cut_bits) - 1);
        let inexact = self.b.compare(Compare::NotEqual, cut, zero);
        let away = match rounding {
            Rounding::Rtp => {
                let positive = self.compare_const(Compare::Equal, sign, 0);
                self.binary(And, inexact, positive)
            }
            Rounding::Rtn => {
                let negative = self.compare_const(Compare::NotEqual, sign, 0);
                self.binary(And, inexact, negative)
            }
            Rounding::Rte | Rounding::Rtz => self.b.bool(false),
        };
        let one = self.b.constant(int, 1);
        let carry = self.b.select(away, one, zero);

        // In the float's integer type from here: the leading one of `kept` adds one to the exponent.
        let to = format.int;
        let [top, kept, carry, sign] =
            [top, kept, carry, sign].map(|v| self.b.resize_int(v, to, true));
        let exponent = self.binary_const(Add, top, u64::from(format.bias) - 1);
        let exponent = self.binary_const(Shl, exponent, format.fraction_bits.into());
        let number = self.binary(Add, exponent, kept);
        let number = self.binary(Add, number, carry);
        let sign = self.binary_const(And, sign, format.sign());
        let number = self.binary(Or, number, sign);
        let is_zero = self.b.compare(Compare::Equal, magnitude, zero);
        let none = self.b.constant(to, 0);
        let bits = self.b.select(is_zero, none, number);
        self.b.bitcast(bits, ty)
    }

    /// The position of the highest one of an I32 or I64, in its type; -1 for zero.
    fn highest_bit(&mut self, x: Value) -> Value {
        if self.b.ty(x) != Type::I64 {
            return self.b.op1(Op::Glsl(FIND_U_MSB, smallvec![x]), Type::I32);
        }
        let (low, high) = self.halves(x);
        let (low, high) = (self.highest_bit(low), self.highest_bit(high));
        let none = self.compare_const(Compare::SLess, high, 0);
        let above = self.binary_const(Binary::Add, high, 32);
        let top = self.b.select(none, low, above);
        self.b.convert(Convert::SignExtend, top, Type::I64)
    }

    /// Low and high word of an I64.
    pub(super) fn halves(&mut self, x: Value) -> (Value, Value) {
        let low = self.b.convert(Convert::Truncate, x, Type::I32);
        let high = self.binary_const(Binary::LShr, x, 32);
        (low, self.b.convert(Convert::Truncate, high, Type::I32))
    }

    /// An I64 of two words.
    pub(super) fn join(&mut self, low: Value, high: Value) -> Value {
        let low = self.b.convert(Convert::ZeroExtend, low, Type::I64);
        let high = self.b.convert(Convert::ZeroExtend, high, Type::I64);
        let high = self.binary_const(Binary::Shl, high, 32);
        self.binary(Binary::Or, low, high)
    }

    /// Bits counted in words of 32.
    pub(super) fn bit_count(&mut self, x: Value) -> Option<Value> {
        let ty = self.b.ty(x);
        let count = match ty {
            _ if ty == Type::I32 || self.is_legalized(ty) => return None,
            Type::I64 => {
                let (low, high) = self.halves(x);
                let (low, high) = (
                    self.b.unary(Unary::BitCount, low),
                    self.b.unary(Unary::BitCount, high),
                );
                self.binary(Binary::Add, low, high)
            }
            _ => {
                let word = self.b.resize_int(x, Type::I32, false);
                self.b.unary(Unary::BitCount, word)
            }
        };
        Some(self.b.resize_int(count, ty, false))
    }

    pub(super) fn bit_reverse(&mut self, x: Value) -> Option<Value> {
        let ty = self.b.ty(x);
        Some(match ty {
            _ if ty == Type::I32 || self.is_legalized(ty) => return None,
            Type::I64 => {
                let (low, high) = self.halves(x);
                let (low, high) = (
                    self.b.unary(Unary::BitReverse, low),
                    self.b.unary(Unary::BitReverse, high),
                );
                self.join(high, low)
            }
            _ => {
                let word = self.b.resize_int(x, Type::I32, false);
                let reversed = self.b.unary(Unary::BitReverse, word);
                let shift = u64::from(32 - ty.bits());
                let low = self.binary_const(Binary::LShr, reversed, shift);
                self.b.resize_int(low, ty, false)
            }
        })
    }
}
