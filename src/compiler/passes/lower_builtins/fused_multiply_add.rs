//! `fma`, rounded once whatever the device has, and `mad`, which need not be.

use super::error_free::{sum_to_odd, two_product, two_sum};
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
                if self.b.function.control.library
                    && let Some(value) = self.unfused(x, y, z)
                {
                    return Ok(value);
                }
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
        let sum = sum_to_odd(self.b, product, z);
        self.b.flags = flags;
        let narrow = Convert::FloatToFloat(Some(Rounding::Rte));
        self.b.convert(narrow, sum, ty)
    }
}

/// A function `(F64, F64, F64) -> F64`: `x * y + z`, to nearest even.
///
/// The significands of `x` and `y` are multiplied, and that of `z` added, without their exponents: product and sum are
/// exact as three doubles, of which the last two are joined by rounding to odd (Boldo and Melquiond, "Emulation of FMA
/// and Correctly Rounded Sums"). Nothing overflows on the way or becomes denormal, so that no device flushes it: the
/// exponent goes into the result's bits, and a result that is to be denormal is rounded where its last bit will be.
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

const SIGN: u64 = 1 << 63;
const FRACTION: u64 = (1 << 52) - 1;
const INFINITY: u64 = 0x7ff << 52;
const BIAS: u64 = 1023;
/// From here on down a product is far below the last bit of any double: it counts as if it were this small.
const LEAST_EXPONENT: i64 = -1200;
/// By how many bits a product is kept below an addend: enough for it to tell no more than its sign.
const MOST_BELOW: u64 = 110;
/// The same of an addend below the product.
const LEAST_DISTANCE: i64 = -200;

/// A double taken apart: `(1 + fraction / 2^52) * 2^exponent`, denormals normalized.
struct Parts {
    bits: Value,
    fraction: Value,
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

    fn double(&mut self, bits: Value) -> Value {
        self.b.bitcast(bits, Type::F64)
    }

    fn parts(&mut self, x: Value) -> Parts {
        use Binary::{And, FSub, LShr, Or, Sub};
        let bits = self.b.bitcast(x, Type::I64);
        let magnitude = self.con(And, bits, !SIGN);
        let zero = self.is(Compare::Equal, magnitude, 0);
        let denormal = self.is(Compare::ULess, magnitude, 1 << 52);
        // A denormal's bits are its number of units: the fraction of 2^52 plus that many, which is then taken off.
        let two_to_52 = (BIAS + 52) << 52;
        let above = self.con(Or, magnitude, two_to_52);
        let above = self.double(above);
        let start = self.b.constant(Type::F64, two_to_52);
        let units = self.op(FSub, above, start);
        let units = self.b.bitcast(units, Type::I64);
        let normal = self.b.select(denormal, units, magnitude);
        let field = self.con(LShr, normal, 52);
        let (one, unit) = (self.b.i64(BIAS), self.b.i64(BIAS + 1074));
        let bias = self.b.select(denormal, unit, one);
        let not_finite = self.is(Compare::ULess, magnitude, INFINITY);
        Parts {
            bits,
            fraction: self.con(And, normal, FRACTION),
            exponent: self.op(Sub, field, bias),
            zero,
            not_finite: self.b.unary(Unary::Not, not_finite),
        }
    }

    /// The significand, from 1 to below 2.
    fn significand(&mut self, parts: &Parts) -> Value {
        let bits = self.con(Binary::Or, parts.fraction, BIAS << 52);
        self.double(bits)
    }

    /// The addend in units of `2^exponent`, with its sign as seen from that of the product.
    fn addend(&mut self, parts: &Parts, exponent: Value, product_sign: Value) -> Value {
        use Binary::{Add, And, Or, SMax, Shl, Sub, Xor};
        let distance = self.op(Sub, parts.exponent, exponent);
        let distance = self.con(SMax, distance, LEAST_DISTANCE as u64);
        let field = self.con(Add, distance, BIAS);
        let field = self.con(Shl, field, 52);
        let bits = self.op(Or, field, parts.fraction);
        let none = self.b.i64(0);
        let bits = self.b.select(parts.zero, none, bits);
        let sign = self.op(Xor, parts.bits, product_sign);
        let sign = self.con(And, sign, SIGN);
        let bits = self.op(Or, bits, sign);
        self.double(bits)
    }

    fn fma(&mut self, x: Value, y: Value, z: Value) -> Value {
        use Binary::{Add, FAdd, FMul, Or, SMax, Sub, Xor};
        let (px, py, pz) = (self.parts(x), self.parts(y), self.parts(z));
        let product_sign = self.op(Xor, px.bits, py.bits);
        let exponent = self.op(Add, px.exponent, py.exponent);
        let exponent = self.con(SMax, exponent, LEAST_EXPONENT as u64);
        let floor = self.con(Sub, pz.exponent, MOST_BELOW);
        let exponent = self.op(SMax, exponent, floor);

        // The exact sum: `high + rest`, of which the latter is rounded to odd.
        let (a, b) = (self.significand(&px), self.significand(&py));
        let addend = self.addend(&pz, exponent, product_sign);
        let (product, lost) = two_product(self.b, a, b);
        let (low, lowest) = two_sum(self.b, addend, lost);
        let (high, middle) = two_sum(self.b, product, low);
        let rest = sum_to_odd(self.b, middle, lowest);

        let result = self.scaled(high, rest, exponent, product_sign);

        // What the device's own arithmetic does right: zeros, infinities, NaN.
        let plain = self.op(FMul, x, y);
        let plain = self.op(FAdd, plain, z);
        let zero_product = self.op(Or, px.zero, py.zero);
        let special = self.op(Or, px.not_finite, py.not_finite);
        let special = self.op(Or, special, zero_product);
        // A product that overflows must not meet an infinite addend.
        let result = self.b.select(pz.not_finite, z, result);
        self.b.select(special, plain, result)
    }

    /// `(high + rest) * 2^exponent`, rounded, with the sign of the product.
    fn scaled(&mut self, high: Value, rest: Value, exponent: Value, product_sign: Value) -> Value {
        use Binary::{Add, And, FAdd, Or, SMax, Shl, Sub, Xor};
        let rounded = self.op(FAdd, high, rest);
        let bits = self.b.bitcast(rounded, Type::I64);
        let magnitude = self.con(And, bits, !SIGN);
        let cancelled = self.is(Compare::Equal, magnitude, 0);

        // The least normal number in these units. Added to a lesser one, it has it rounded to units of the least
        // denormal, whose number the sum's fraction then is.
        let one = self.b.i64(1);
        let field = self.op(Sub, one, exponent);
        let field = self.con(SMax, field, 0);
        let least = self.con(Shl, field, 52);
        let denormal = self.b.compare(Compare::ULess, magnitude, least);
        let sign = self.con(And, bits, SIGN);
        let least = self.op(Or, least, sign);
        let least = self.double(least);
        let (start, below) = two_sum(self.b, least, high);
        let below = sum_to_odd(self.b, below, rest);
        let units = self.op(FAdd, start, below);
        let units = self.b.bitcast(units, Type::I64);

        let bits = self.b.select(denormal, units, bits);
        let magnitude = self.con(And, bits, !SIGN);
        let lower = self.con(Sub, exponent, 1);
        let exponent = self.b.select(denormal, lower, exponent);
        let exponent = self.con(Shl, exponent, 52);
        let magnitude = self.op(Add, magnitude, exponent);
        let fits = self.is(Compare::ULess, magnitude, INFINITY);
        let infinity = self.b.i64(INFINITY);
        let magnitude = self.b.select(fits, magnitude, infinity);
        let sign = self.op(Xor, bits, product_sign);
        let sign = self.con(And, sign, SIGN);
        let bits = self.op(Or, magnitude, sign);
        let zero = self.b.i64(0);
        let bits = self.b.select(cancelled, zero, bits);
        self.double(bits)
    }
}
