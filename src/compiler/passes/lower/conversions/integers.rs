//! Integer operations on operands that Vulkan leaves undefined, or in widths that not every device does well.

use super::Lower;
use crate::compiler::ir::{Binary, Compare, Convert, Op, Type, Unary, Value, Values};
use smallvec::smallvec;

impl Lower<'_, '_> {
    pub(super) fn arithmetic(&mut self, op: Binary, x: Value, y: Value) -> Option<Value> {
        use Binary::*;
        let ty = self.b.ty(x);
        if self.is_legalized(ty) {
            return None;
        }
        match op {
            FDiv => self.divide(x, y),
            UMin | UMax | SMin | SMax if ty != Type::I32 => {
                let less = match op {
                    UMin | UMax => Compare::ULess,
                    _ => Compare::SLess,
                };
                let less = self.b.compare(less, x, y);
                Some(match op {
                    UMin | SMin => self.b.select(less, x, y),
                    _ => self.b.select(less, y, x),
                })
            }
            UDiv | URem if ty.bits() < 32 => {
                Some(self.in_words(x, y, false, |this, x, y| this.binary(op, x, y)))
            }
            SDiv => Some(self.in_words(x, y, true, Self::signed_quotient)),
            SRem => Some(self.in_words(x, y, true, |this, x, y| {
                let quotient = this.signed_quotient(x, y);
                this.rest(quotient, x, y)
            })),
            SMod => Some(self.in_words(x, y, true, |this, x, y| {
                let quotient = this.signed_quotient(x, y);
                let rest = this.rest(quotient, x, y);
                let some = this.compare_const(Compare::NotEqual, rest, 0);
                let signs = this.binary(Xor, rest, y);
                let differ = this.compare_const(Compare::SLess, signs, 0);
                let adjust = this.binary(And, some, differ);
                let adjusted = this.binary(Add, rest, y);
                this.b.select(adjust, adjusted, rest)
            })),
            _ => None,
        }
    }

    /// Whether the integer operations of a type are left to `legalize::int64`.
    pub(super) fn is_legalized(&self, ty: Type) -> bool {
        ty == Type::I64 && !self.cx.capabilities.int64
    }

    /// Builds an operation of 8- and 16-bit integers on I32.
    fn in_words(
        &mut self,
        x: Value,
        y: Value,
        signed: bool,
        build: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) -> Value {
        let ty = self.b.ty(x);
        if ty.bits() >= 32 {
            return build(self, x, y);
        }
        let constant = self.b.function.constant(y);
        let x = self.b.resize_int(x, Type::I32, signed);
        let y = match constant {
            // Stays a constant, which is safe to divide by.
            Some(bits) => {
                let unused = 64 - ty.bits();
                let extended = if signed {
                    ((bits << unused) as i64 >> unused) as u64
                } else {
                    bits
                };
                self.b.constant(Type::I32, extended)
            }
            None => self.b.resize_int(y, Type::I32, signed),
        };
        let value = build(self, x, y);
        self.b.convert(Convert::Truncate, value, ty)
    }

    /// `x / y`. Processors trap on a division by zero, and of the least number by -1; so do the drivers
    /// that run on them. The latter is the least number again, the former is undefined.
    fn signed_quotient(&mut self, x: Value, y: Value) -> Value {
        let ty = self.b.ty(x);
        if let Some(bits) = self.b.function.constant(y)
            && bits != 0
            && bits != ty.mask()
        {
            return self.binary(Binary::SDiv, x, y);
        }
        let is_zero = self.compare_const(Compare::Equal, y, 0);
        let is_minus_one = self.compare_const(Compare::Equal, y, ty.mask());
        let unsafe_divisor = self.binary(Binary::Or, is_zero, is_minus_one);
        let one = self.b.constant(ty, 1);
        let divisor = self.b.select(unsafe_divisor, one, y);
        let quotient = self.binary(Binary::SDiv, x, divisor);
        let negated = self.b.unary(Unary::Negate, x);
        self.b.select(is_minus_one, negated, quotient)
    }

    /// `x - quotient * y`
    fn rest(&mut self, quotient: Value, x: Value, y: Value) -> Value {
        let product = self.binary(Binary::Mul, quotient, y);
        self.binary(Binary::Sub, x, product)
    }

    /// Low and high half of a product in other widths than 32 bits.
    pub(super) fn mul_extended(&mut self, signed: bool, x: Value, y: Value) -> Option<Values> {
        let ty = self.b.ty(x);
        match ty {
            Type::I32 => None,
            _ if self.is_legalized(ty) => None,
            Type::I64 => Some(self.mul_extended64(signed, x, y)),
            _ => {
                let (x, y) = (
                    self.b.resize_int(x, Type::I32, signed),
                    self.b.resize_int(y, Type::I32, signed),
                );
                let product = self.binary(Binary::Mul, x, y);
                let high = self.binary_const(Binary::LShr, product, ty.bits().into());
                Some(smallvec![
                    self.b.convert(Convert::Truncate, product, ty),
                    self.b.convert(Convert::Truncate, high, ty)
                ])
            }
        }
    }

    fn mul_extended64(&mut self, signed: bool, x: Value, y: Value) -> Values {
        use Binary::{AShr, Add, And, Mul, Sub};
        let (x_low, x_high) = self.halves(x);
        let (y_low, y_high) = self.halves(y);
        let mut product = |a: Value, b: Value| {
            let words = self.b.op(
                Op::MulExtended {
                    signed: false,
                    a,
                    b,
                },
                [Type::I32, Type::I32],
            );
            self.join(words[0], words[1])
        };
        let (low, high) = (product(x_low, y_low), product(x_high, y_high));
        let (cross_a, cross_b) = (product(x_low, y_high), product(x_high, y_low));
        let mask = u64::from(u32::MAX);
        let mut middle = self.binary_const(Binary::LShr, low, 32);
        let mut high = high;
        for cross in [cross_a, cross_b] {
            let part = self.binary_const(And, cross, mask);
            middle = self.binary(Add, middle, part);
            let part = self.binary_const(Binary::LShr, cross, 32);
            high = self.binary(Add, high, part);
        }
        let carry = self.binary_const(Binary::LShr, middle, 32);
        high = self.binary(Add, high, carry);
        if signed {
            // A negative factor counted 2^64 too much.
            for (factor, other) in [(x, y), (y, x)] {
                let sign = self.binary_const(AShr, factor, 63);
                let excess = self.binary(And, sign, other);
                high = self.binary(Sub, high, excess);
            }
        }
        let low = self.binary(Mul, x, y);
        smallvec![low, high]
    }
}
