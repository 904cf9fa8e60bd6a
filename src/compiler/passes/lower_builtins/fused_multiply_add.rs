//! `fma`, rounded once whatever the device has, and `mad`, which need not be.

use super::lower::Lower;
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Binary, Builder, Compare, Convert, Function, InstFlags, Op, Rounding, Terminator, Type, Unary,
    Value,
};
use smallvec::smallvec;

/// The name of [`fma64`].
pub const FMA64: &str = "pumice.fma64";

impl Lower<'_, '_> {
    /// `x * y + z` as is cheapest.
    pub fn mad(&mut self, x: Value, y: Value, z: Value) -> Value {
        let ty = self.b.ty(x);
        if self.is_fused(ty) {
            return self.b.op1(Op::Fma(x, y, z), ty);
        }
        let product = self.binary(Binary::FMul, x, y);
        self.binary(Binary::FAdd, product, z)
    }

    fn is_fused(&self, ty: Type) -> bool {
        let caps = self.cx.capabilities;
        match ty {
            Type::F32 => caps.fused_fma32,
            Type::F64 => caps.fused_fma64,
            // Hardware that fuses singles and has halves fuses those too.
            Type::F16 => caps.fused_fma32 && caps.float16,
            _ => false,
        }
    }

    /// `x * y + z`, rounded once.
    pub fn fma(&mut self, x: Value, y: Value, z: Value) -> Result<Value, CompileError> {
        let ty = self.b.ty(x);
        if self.is_fused(ty) {
            return Ok(self.b.op1(Op::Fma(x, y, z), ty));
        }
        match ty {
            Type::F16 => Ok(self.fma_through(x, y, z, Type::F32)),
            Type::F32 if self.cx.capabilities.float64 => Ok(self.fma_through(x, y, z, Type::F64)),
            Type::F32 => self
                .library("__clc_sw_fma", &[x, y, z], ty)
                .ok_or_else(|| CompileError::new("the built-in library has no fma")),
            _ => {
                let function = self.imports.function(FMA64);
                Ok(self.b.op1(Op::Call(function, smallvec![x, y, z]), ty))
            }
        }
    }

    /// In a format of more than twice the precision: the product is exact there, the sum is rounded to
    /// odd (its last bit stands for all that was lost), so that rounding it again is as good as once.
    fn fma_through(&mut self, x: Value, y: Value, z: Value, wide: Type) -> Value {
        let flags = self.b.flags;
        self.b.flags.no_contraction = true;
        let ty = self.b.ty(x);
        let [x, y, z] = [x, y, z].map(|v| self.float_to(v, wide));
        let product = self.binary(Binary::FMul, x, y);
        let sum = self.binary(Binary::FAdd, product, z);
        // What the sum lost, exactly (Knuth's TwoSum).
        let of_z = self.binary(Binary::FSub, sum, product);
        let of_product = self.binary(Binary::FSub, sum, of_z);
        let lost_product = self.binary(Binary::FSub, product, of_product);
        let lost_z = self.binary(Binary::FSub, z, of_z);
        let lost = self.binary(Binary::FAdd, lost_product, lost_z);
        // An even sum that lost something moves by one towards the truth.
        let bits = self.bits(sum);
        let zero = self.float(wide, 0.0);
        let inexact = self.compare(Compare::FOrdNotEqual, lost, zero);
        let odd = self.binary_const(Binary::And, bits, 1);
        let even = self.compare_const(Compare::Equal, odd, 0);
        let lost_bits = self.bits(lost);
        let signs = self.binary(Binary::Xor, bits, lost_bits);
        let inwards = self.compare_const(Compare::SLess, signs, 0);
        let (less, more) = (
            self.binary_const(Binary::Sub, bits, 1),
            self.binary_const(Binary::Add, bits, 1),
        );
        let moved = self.select(inwards, less, more);
        let moves = self.binary(Binary::And, inexact, even);
        let bits = self.select(moves, moved, bits);
        let sum = self.b.bitcast(bits, wide);
        self.b.flags = flags;
        let narrow = Convert::FloatToFloat(Some(Rounding::Rte));
        self.b.convert(narrow, sum, ty)
    }
}

/// A number of 128 bits.
#[derive(Clone, Copy)]
struct Wide {
    low: Value,
    high: Value,
}

/// A function `(F64, F64, F64) -> F64` in integer arithmetic: `x * y + z`, to nearest even.
pub fn fma64() -> Function {
    let mut function = Function::new(FMA64);
    function.return_types = vec![Type::F64];
    let entry = function.entry();
    let [x, y, z] = [(); 3].map(|()| function.add_param(entry, Type::F64));
    let mut b = Builder::new(&mut function, entry);
    b.flags = InstFlags {
        no_contraction: true,
        ..InstFlags::default()
    };
    let result = Soft { b: &mut b }.fma(x, y, z);
    b.terminate(Terminator::Return(smallvec![result]));
    function
}

/// A float taken apart: `significand * 2^exponent`, its leading one at bit 52.
struct Parts {
    bits: Value,
    significand: Value,
    exponent: Value,
    zero: Value,
    not_finite: Value,
}

struct Soft<'a, 'f> {
    b: &'a mut Builder<'f>,
}

impl Soft<'_, '_> {
    fn op(&mut self, op: Binary, x: Value, y: Value) -> Value {
        self.b.binary(op, x, y)
    }

    fn con(&mut self, op: Binary, x: Value, bits: u64) -> Value {
        self.b.binary_const(op, x, bits)
    }

    fn is(&mut self, op: Compare, x: Value, bits: u64) -> Value {
        let ty = self.b.ty(x);
        let y = self.b.constant(ty, bits);
        self.b.compare(op, x, y)
    }

    /// 1 where `condition` holds, else 0, as I64.
    fn number(&mut self, condition: Value) -> Value {
        let (one, zero) = (self.b.i64(1), self.b.i64(0));
        self.b.select(condition, one, zero)
    }

    fn leading_zeros(&mut self, x: Value) -> Value {
        let high = self.con(Binary::LShr, x, 32);
        let high = self.b.convert(Convert::Truncate, high, Type::I32);
        let low = self.b.convert(Convert::Truncate, x, Type::I32);
        let no_high = self.is(Compare::Equal, high, 0);
        let word = self.b.select(no_high, low, high);
        let top = Op::Glsl(super::lower::glsl::FIND_U_MSB, smallvec![word]);
        // -1 for zero, of which 64 zeros follow.
        let top = self.b.op1(top, Type::I32);
        let (low_top, high_top) = (self.b.i32(63), self.b.i32(31));
        let last = self.b.select(no_high, low_top, high_top);
        let zeros = self.op(Binary::Sub, last, top);
        self.b.convert(Convert::ZeroExtend, zeros, Type::I64)
    }

    fn parts(&mut self, x: Value) -> Parts {
        use Binary::{Add, And, LShr, Or, Shl, Sub};
        let bits = self.b.bitcast(x, Type::I64);
        let magnitude = self.con(And, bits, u64::MAX >> 1);
        let zero = self.is(Compare::Equal, magnitude, 0);
        let field = self.con(LShr, magnitude, 52);
        let not_finite = self.is(Compare::Equal, field, 0x7ff);
        let denormal = self.is(Compare::Equal, field, 0);
        let fraction = self.con(And, magnitude, (1 << 52) - 1);
        let explicit = self.con(Or, fraction, 1 << 52);
        let zeros = self.leading_zeros(magnitude);
        let shift = self.con(Sub, zeros, 11);
        let shift = self.con(And, shift, 63);
        let shifted = self.op(Shl, magnitude, shift);
        let one = self.b.i64(1);
        let lowered = self.op(Sub, one, shift);
        let significand = self.b.select(denormal, shifted, explicit);
        let field = self.b.select(denormal, lowered, field);
        let exponent = self.con(Add, field, -(1023_i64 + 52) as u64);
        Parts {
            bits,
            significand,
            exponent,
            zero,
            not_finite,
        }
    }

    /// Right by 0 to 127; a one that falls out sticks to the last bit.
    fn shift_right(&mut self, x: Wide, by: Value) -> Wide {
        use Binary::{And, LShr, Or, Shl, Xor};
        let part = self.con(And, by, 63);
        let rest = self.con(Xor, part, 63);
        let far = self.is(Compare::ULess, by, 64);
        // What falls out of a word, in the word below. Shifted twice: a shift by 64 is none.
        let mut fall = |v: Value| {
            let v = self.con(Shl, v, 1);
            self.op(Shl, v, rest)
        };
        let (from_high, from_low) = (fall(x.high), fall(x.low));
        let high = self.op(LShr, x.high, part);
        let low = self.op(LShr, x.low, part);
        let low = self.op(Or, low, from_high);
        let zero = self.b.i64(0);
        let lost_far = self.op(Or, x.low, from_high);
        let lost = self.b.select(far, from_low, lost_far);
        let low = self.b.select(far, low, high);
        let high = self.b.select(far, high, zero);
        let lost = self.is(Compare::NotEqual, lost, 0);
        let sticky = self.number(lost);
        let low = self.op(Or, low, sticky);
        Wide { low, high }
    }

    fn negate_if(&mut self, condition: Value, x: Wide) -> Wide {
        let zero = self.b.i64(0);
        let low = self.op(Binary::Sub, zero, x.low);
        let no_borrow = self.is(Compare::Equal, x.low, 0);
        let carry = self.number(no_borrow);
        let high = self.b.unary(Unary::Not, x.high);
        let high = self.op(Binary::Add, high, carry);
        Wide {
            low: self.b.select(condition, low, x.low),
            high: self.b.select(condition, high, x.high),
        }
    }

    fn fma(&mut self, x: Value, y: Value, z: Value) -> Value {
        use Binary::{Add, And, FAdd, FMul, LShr, Or, SMax, SMin, Shl, Sub, Xor};
        let (px, py, pz) = (self.parts(x), self.parts(y), self.parts(z));

        // Product and addend as 128-bit numbers below 2^127 in units of 2^exponent.
        let a = self.con(Shl, px.significand, 10);
        let b = self.con(Shl, py.significand, 11);
        let product = self.b.op(
            Op::MulExtended {
                signed: false,
                a,
                b,
            },
            [Type::I64, Type::I64],
        );
        let product = Wide {
            low: product[0],
            high: product[1],
        };
        let product_exponent = self.op(Add, px.exponent, py.exponent);
        let product_exponent = self.con(Sub, product_exponent, 21);
        let addend = Wide {
            low: self.b.i64(0),
            high: self.con(Shl, pz.significand, 10),
        };
        let addend_exponent = self.con(Sub, pz.exponent, 74);

        // Both in units of the greater exponent.
        let ahead = self.op(Sub, product_exponent, addend_exponent);
        let behind = self.b.unary(Unary::Negate, ahead);
        let mut distance = |v: Value| {
            let v = self.con(SMax, v, 0);
            self.con(SMin, v, 127)
        };
        let (ahead, behind) = (distance(ahead), distance(behind));
        let product = self.shift_right(product, behind);
        let addend = self.shift_right(addend, ahead);
        let exponent = self.op(SMax, product_exponent, addend_exponent);

        // Their sum or difference.
        let product_sign = self.op(Xor, px.bits, py.bits);
        let signs = self.op(Xor, product_sign, pz.bits);
        let differ = self.is(Compare::SLess, signs, 0);
        let addend = self.negate_if(differ, addend);
        let low = self.op(Add, product.low, addend.low);
        let carry = self.b.compare(Compare::ULess, low, addend.low);
        let carry = self.number(carry);
        let high = self.op(Add, product.high, addend.high);
        let high = self.op(Add, high, carry);
        let below = self.is(Compare::SLess, high, 0);
        let negative = self.op(And, differ, below);
        let sum = self.negate_if(negative, Wide { low, high });
        // The product's, or the other one: chosen by the bits, since llvmpipe (Mesa 22.3) does the reverse of
        // a selection here when `z` is a constant.
        let turned = self.op(And, signs, high);
        let sign = self.op(Xor, product_sign, turned);
        let sign = self.con(And, sign, 1 << 63);
        let any = self.op(Or, sum.low, sum.high);
        let cancelled = self.is(Compare::Equal, any, 0);

        // The leading one to bit 127.
        let no_high = self.is(Compare::Equal, sum.high, 0);
        let word = self.b.select(no_high, sum.low, sum.high);
        let zeros = self.leading_zeros(word);
        let zeros = self.con(And, zeros, 63);
        let rest = self.con(Xor, zeros, 63);
        let spill = self.con(LShr, sum.low, 1);
        let spill = self.op(LShr, spill, rest);
        let near = self.op(Shl, sum.high, zeros);
        let near = self.op(Or, near, spill);
        let shifted = self.op(Shl, sum.low, zeros);
        let zero = self.b.i64(0);
        let normal = Wide {
            low: self.b.select(no_high, zero, shifted),
            high: self.b.select(no_high, shifted, near),
        };
        let far = self.number(no_high);
        let far = self.con(Shl, far, 6);
        let zeros = self.op(Add, zeros, far);
        let field = self.op(Sub, exponent, zeros);
        let field = self.con(Add, field, 127 + 1023);

        // Denormals lose more bits. Then 53 bits stay, and the nearest even is taken.
        let one = self.b.i64(1);
        let denormal_shift = self.op(Sub, one, field);
        let denormal_shift = self.con(SMax, denormal_shift, 0);
        let denormal_shift = self.con(SMin, denormal_shift, 127);
        let kept = self.shift_right(normal, denormal_shift);
        let significand = self.con(LShr, kept.high, 11);
        let cut = self.con(And, kept.high, 0x7ff);
        let more = self.is(Compare::NotEqual, kept.low, 0);
        let more = self.number(more);
        let cut = self.con(Shl, cut, 1);
        let cut = self.op(Or, cut, more);
        let odd = self.con(And, significand, 1);
        let cut = self.op(Add, cut, odd);
        // Of 12 bits: above one half, or one half with an odd significand.
        let up = self.is(Compare::ULess, cut, 0x801);
        let up = self.b.unary(Unary::Not, up);
        let up = self.number(up);
        let field = self.con(SMax, field, 1);
        let overflow = self.is(Compare::SLess, field, 0x7ff);
        let overflow = self.b.unary(Unary::Not, overflow);
        let base = self.con(Sub, field, 1);
        let base = self.con(Shl, base, 52);
        let bits = self.op(Add, base, significand);
        let bits = self.op(Add, bits, up);
        let infinity = self.b.i64(0x7ff << 52);
        let bits = self.b.select(overflow, infinity, bits);
        let bits = self.op(Or, bits, sign);
        let result = self.b.bitcast(bits, Type::F64);

        // What the device's own arithmetic does right: zeros, infinities, NaN.
        let positive_zero = self.b.constant(Type::F64, 0);
        let result = self.b.select(cancelled, positive_zero, result);
        let plain_product = self.op(FMul, x, y);
        let plain = self.op(FAdd, plain_product, z);
        let result = self.b.select(pz.zero, plain_product, result);
        let zero_product = self.op(Or, px.zero, py.zero);
        let special = self.op(Or, px.not_finite, py.not_finite);
        let special = self.op(Or, special, zero_product);
        // A product that overflows must not meet an infinite addend.
        let result = self.b.select(pz.not_finite, z, result);
        self.b.select(special, plain, result)
    }
}
