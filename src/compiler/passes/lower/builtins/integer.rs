//! Integer functions (OpenCL C section 6.15.3), and `bitselect` and `select`.

use super::lower::{Lower, Lowered, Std, glsl};
use crate::compiler::ir::{Binary, Compare, Convert, Op, Type, Unary, Value};
use smallvec::smallvec;

impl Lower<'_, '_> {
    /// Lowers an integer function; `None` if it is none.
    pub fn integer(&mut self, op: Std, args: &[Value], ty: Type) -> Lowered {
        use Binary::*;
        let value = match (op, args) {
            (Std::bitselect, &[a, b, mask]) => self.bitselect(a, b, mask, ty),
            (Std::select, &[a, b, condition]) => {
                let condition = self.compare_const(Compare::NotEqual, condition, 0);
                self.select(condition, b, a)
            }
            _ if !ty.is_int() => return Ok(None),
            (Std::u_abs, &[x]) => x,
            (Std::s_abs, &[x]) => {
                let negated = self.b.unary(Unary::Negate, x);
                self.binary(SMax, x, negated)
            }
            (Std::s_abs_diff | Std::u_abs_diff, &[x, y]) => {
                let less = match op {
                    Std::s_abs_diff => Compare::SLess,
                    _ => Compare::ULess,
                };
                let less = self.compare(less, x, y);
                let (up, down) = (self.binary(Sub, y, x), self.binary(Sub, x, y));
                self.select(less, up, down)
            }
            (Std::u_add_sat, &[x, y]) => {
                let sum = self.binary(Add, x, y);
                let overflow = self.compare(Compare::ULess, sum, x);
                let most = self.b.constant(ty, ty.mask());
                self.select(overflow, most, sum)
            }
            (Std::u_sub_sat, &[x, y]) => {
                let difference = self.binary(Sub, x, y);
                let below = self.compare(Compare::ULess, x, y);
                let zero = self.b.constant(ty, 0);
                self.select(below, zero, difference)
            }
            (Std::s_add_sat, &[x, y]) => {
                let sum = self.binary(Add, x, y);
                let (a, b) = (self.binary(Xor, x, sum), self.binary(Xor, y, sum));
                let overflow = self.binary(And, a, b);
                self.saturate_signed(overflow, x, sum)
            }
            (Std::s_sub_sat, &[x, y]) => {
                let difference = self.binary(Sub, x, y);
                let (a, b) = (self.binary(Xor, x, y), self.binary(Xor, x, difference));
                let overflow = self.binary(And, a, b);
                self.saturate_signed(overflow, x, difference)
            }
            // x + y = 2 (x & y) + (x ^ y) = 2 (x | y) - (x ^ y)
            (Std::s_hadd | Std::u_hadd, &[x, y]) => {
                let (both, half) = (self.binary(And, x, y), self.half_difference(op, x, y));
                self.binary(Add, both, half)
            }
            (Std::s_rhadd | Std::u_rhadd, &[x, y]) => {
                let (any, half) = (self.binary(Or, x, y), self.half_difference(op, x, y));
                self.binary(Sub, any, half)
            }
            (Std::s_max, &[x, y]) => self.binary(SMax, x, y),
            (Std::u_max, &[x, y]) => self.binary(UMax, x, y),
            (Std::s_min, &[x, y]) => self.binary(SMin, x, y),
            (Std::u_min, &[x, y]) => self.binary(UMin, x, y),
            (Std::s_clamp, &[x, low, high]) => {
                let x = self.binary(SMax, x, low);
                self.binary(SMin, x, high)
            }
            (Std::u_clamp, &[x, low, high]) => {
                let x = self.binary(UMax, x, low);
                self.binary(UMin, x, high)
            }
            (Std::popcount, &[x]) => self.b.unary(Unary::BitCount, x),
            (Std::clz, &[x]) => self.leading_zeros(x),
            (Std::ctz, &[x]) => self.trailing_zeros(x),
            (Std::rotate, &[x, amount]) => self.rotate(x, amount),
            (Std::s_mul24 | Std::u_mul24, &[x, y]) => self.binary(Mul, x, y),
            (Std::s_mad24 | Std::u_mad24, &[x, y, z]) => {
                let product = self.binary(Mul, x, y);
                self.binary(Add, product, z)
            }
            (Std::s_mul_hi, &[x, y]) => self.mul_hi(true, x, y),
            (Std::u_mul_hi, &[x, y]) => self.mul_hi(false, x, y),
            (Std::s_mad_hi, &[x, y, z]) => {
                let high = self.mul_hi(true, x, y);
                self.binary(Add, high, z)
            }
            (Std::u_mad_hi, &[x, y, z]) => {
                let high = self.mul_hi(false, x, y);
                self.binary(Add, high, z)
            }
            (Std::s_mad_sat, &[x, y, z]) => self.mad_sat(true, x, y, z),
            (Std::u_mad_sat, &[x, y, z]) => self.mad_sat(false, x, y, z),
            (Std::s_upsample | Std::u_upsample, &[high, low]) => {
                let bits = self.b.ty(low).bits();
                let high = self.b.convert(Convert::ZeroExtend, high, ty);
                let low = self.b.convert(Convert::ZeroExtend, low, ty);
                let high = self.binary_const(Shl, high, bits.into());
                self.binary(Or, high, low)
            }
            _ => return Ok(None),
        };
        Ok(Some(smallvec![value]))
    }

    /// The limit on `x`'s side where `overflow` is negative, else `result`.
    fn saturate_signed(&mut self, overflow: Value, x: Value, result: Value) -> Value {
        let ty = self.b.ty(x);
        let sign = self.binary_const(Binary::AShr, x, u64::from(ty.bits()) - 1);
        let limit = self.binary_const(Binary::Xor, sign, ty.mask() >> 1);
        let overflow = self.compare_const(Compare::SLess, overflow, 0);
        self.select(overflow, limit, result)
    }

    fn half_difference(&mut self, op: Std, x: Value, y: Value) -> Value {
        let difference = self.binary(Binary::Xor, x, y);
        let shift = match op {
            Std::s_hadd | Std::s_rhadd => Binary::AShr,
            _ => Binary::LShr,
        };
        self.binary_const(shift, difference, 1)
    }

    /// Bits of `b` where `mask` has ones, of `a` elsewhere.
    fn bitselect(&mut self, a: Value, b: Value, mask: Value, ty: Type) -> Value {
        let (a, b, mask) = (self.bits(a), self.bits(b), self.bits(mask));
        let different = self.binary(Binary::Xor, a, b);
        let taken = self.binary(Binary::And, different, mask);
        let bits = self.binary(Binary::Xor, a, taken);
        self.b.bitcast(bits, ty)
    }

    /// Left by `amount` modulo the width.
    fn rotate(&mut self, x: Value, amount: Value) -> Value {
        let mask = u64::from(self.b.ty(x).bits()) - 1;
        let negated = self.b.unary(Unary::Negate, amount);
        let left = self.binary_const(Binary::And, amount, mask);
        let right = self.binary_const(Binary::And, negated, mask);
        let high = self.binary(Binary::Shl, x, left);
        let low = self.binary(Binary::LShr, x, right);
        self.binary(Binary::Or, high, low)
    }

    /// Number of zeros above the highest one: the width for zero.
    pub fn leading_zeros(&mut self, x: Value) -> Value {
        let ty = self.b.ty(x);
        if ty == Type::I64 {
            let (low, high) = self.halves(x);
            let (low, high) = (self.leading_zeros(low), self.leading_zeros(high));
            let low = self.binary_const(Binary::Add, low, 32);
            let all = self.compare_const(Compare::Equal, high, 32);
            let count = self.select(all, low, high);
            return self.b.convert(Convert::ZeroExtend, count, ty);
        }
        let word = self.b.resize_int(x, Type::I32, false);
        // -1 for zero.
        let top = self.glsl(glsl::FIND_U_MSB, &[word]);
        let last = self.b.i32(ty.bits() - 1);
        let count = self.binary(Binary::Sub, last, top);
        self.b.resize_int(count, ty, false)
    }

    /// Number of zeros below the lowest one: the width for zero.
    fn trailing_zeros(&mut self, x: Value) -> Value {
        let ty = self.b.ty(x);
        if ty == Type::I64 {
            let (low, high) = self.halves(x);
            let (low, high) = (self.trailing_zeros(low), self.trailing_zeros(high));
            let high = self.binary_const(Binary::Add, high, 32);
            let all = self.compare_const(Compare::Equal, low, 32);
            let count = self.select(all, high, low);
            return self.b.convert(Convert::ZeroExtend, count, ty);
        }
        let word = self.b.resize_int(x, Type::I32, false);
        let first = self.glsl(glsl::FIND_I_LSB, &[word]);
        let width = self.b.i32(ty.bits());
        // -1 for zero, as the greatest unsigned number.
        let count = self.binary(Binary::UMin, first, width);
        self.b.resize_int(count, ty, false)
    }

    /// Low and high word of an I64.
    pub fn halves(&mut self, x: Value) -> (Value, Value) {
        let low = self.b.convert(Convert::Truncate, x, Type::I32);
        let high = self.binary_const(Binary::LShr, x, 32);
        (low, self.b.convert(Convert::Truncate, high, Type::I32))
    }

    /// Low and high half of a product, for I32 and I64.
    pub fn mul_extended(&mut self, signed: bool, a: Value, b: Value) -> (Value, Value) {
        let ty = self.b.ty(a);
        let both = self.b.op(Op::MulExtended { signed, a, b }, [ty, ty]);
        (both[0], both[1])
    }
}
