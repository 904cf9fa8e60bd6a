//! Integer functions whose intermediate result is wider than their operands.

use super::lower::Lower;
use crate::compiler::ir::{Binary, Compare, Convert, Type, Value};

impl Lower<'_, '_> {
    /// The high half of a product.
    pub fn mul_hi(&mut self, signed: bool, x: Value, y: Value) -> Value {
        let ty = self.b.ty(x);
        if ty.bits() >= 32 {
            return self.mul_extended(signed, x, y).1;
        }
        let (x, y) = (
            self.b.resize_int(x, Type::I32, signed),
            self.b.resize_int(y, Type::I32, signed),
        );
        let product = self.binary(Binary::Mul, x, y);
        let high = self.binary_const(Binary::LShr, product, ty.bits().into());
        self.b.convert(Convert::Truncate, high, ty)
    }

    /// `x * y + z`, at the limit where it does not fit.
    pub fn mad_sat(&mut self, signed: bool, x: Value, y: Value, z: Value) -> Value {
        use Binary::{Add, Mul, SMax, SMin, UMin};
        let ty = self.b.ty(x);
        if ty.bits() < 32 {
            let [x, y, z] = [x, y, z].map(|v| self.b.resize_int(v, Type::I32, signed));
            let product = self.binary(Mul, x, y);
            let sum = self.binary(Add, product, z);
            let clamped = if signed {
                let most = ty.mask() >> 1;
                let sum = self.binary_const(SMin, sum, most);
                self.binary_const(SMax, sum, !most)
            } else {
                self.binary_const(UMin, sum, ty.mask())
            };
            return self.b.convert(Convert::Truncate, clamped, ty);
        }
        let (low, high) = self.mul_extended(signed, x, y);
        let sum = self.binary(Add, low, z);
        let carry = self.compare(Compare::ULess, sum, z);
        if !signed {
            let too_big = self.compare_const(Compare::NotEqual, high, 0);
            let most = self.b.constant(ty, ty.mask());
            let sum = self.select(carry, most, sum);
            return self.select(too_big, most, sum);
        }
        // The sum's high half: it can't overflow.
        let last = u64::from(ty.bits()) - 1;
        let sign = self.binary_const(Binary::AShr, z, last);
        let high = self.binary(Add, high, sign);
        let (one, zero) = (self.b.constant(ty, 1), self.b.constant(ty, 0));
        let carry = self.select(carry, one, zero);
        let high = self.binary(Add, high, carry);
        // It fits if the high half is the extension of the low half's sign.
        let extension = self.binary_const(Binary::AShr, sum, last);
        let fits = self.compare(Compare::Equal, high, extension);
        let sign = self.binary_const(Binary::AShr, high, last);
        let limit = self.binary_const(Binary::Xor, sign, ty.mask() >> 1);
        self.select(fits, sum, limit)
    }
}
