//! `fma`, rounded once whatever the device has, and `mad`, which need not be.

use super::error_free::{sum_to_odd, two_product, two_sum};
use super::lower::Lower;
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Binary, Builder, Compare, Convert, Function, InstFlags, Op, Rounding, Terminator, Type, Unary,
    Value,
};
use crate::compiler::passes::helpers::float_format::FloatFormat;
use smallvec::smallvec;

/// The names of [`emulated`] of singles and doubles.
pub const FMA32: &str = "pumice.fma32";
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
            Type::F16 => caps.fused_fma16 && caps.float16,
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
            Type::F32 => Ok(self.emulated_fma(FMA32, [x, y, z])),
            _ => {
                let unfused = if self.b.function.control.library {
                    self.unfused(x, y, z)
                } else {
                    None
                };
                Ok(unfused.unwrap_or_else(|| self.emulated_fma(FMA64, [x, y, z])))
            }
        }
    }

    fn emulated_fma(&mut self, name: &str, operands: [Value; 3]) -> Value {
        let ty = self.b.ty(operands[0]);
        let function = self.imports.function(name);
        self.b
            .op1(Op::Call(function, operands.into_iter().collect()), ty)
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

/// A function `(ty, ty, ty) -> ty` for `F32` or `F64`: `x * y + z`, to nearest even.
///
/// The significands of `x` and `y` are multiplied, and that of `z` added, without their exponents: product and sum are
/// exact as three numbers, of which the last two are joined by rounding to odd (Boldo and Melquiond, "Emulation of FMA
/// and Correctly Rounded Sums"). Nothing overflows on the way or becomes denormal, so that no device flushes it: the
/// exponent goes into the result's bits, and a result that is to be denormal is rounded where its last bit will be.
pub fn emulated(ty: Type) -> Function {
    let (name, range) = match ty {
        Type::F64 => (FMA64, RANGE64),
        _ => (FMA32, RANGE32),
    };
    let mut function = Function::new(name);
    function.return_types = vec![ty];
    let entry = function.entry();
    let [x, y, z] = [(); 3].map(|()| function.add_param(entry, ty));
    let mut b = Builder::new(&mut function, entry);
    b.flags = InstFlags {
        no_contraction: true,
        ..InstFlags::default()
    };
    let mut soft = Soft {
        b: &mut b,
        ty,
        format: FloatFormat::of(ty),
        range,
    };
    let result = soft.fma(x, y, z);
    b.terminate(Terminator::Return(smallvec![result]));
    function
}

/// How far apart exponents are kept: what is farther off tells no more than its sign.
struct Range {
    /// From here on down a product is far below the last bit of any number, and counts as if it were this small.
    least: i64,
    /// By how many bits a product is at most below the addend.
    most_below: u64,
    /// By how many bits an addend is at most below the product, negated.
    least_distance: i64,
}

const RANGE32: Range = Range {
    least: -160,
    most_below: 52,
    least_distance: -80,
};
const RANGE64: Range = Range {
    least: -1200,
    most_below: 110,
    least_distance: -200,
};

/// A number taken apart: `1.fraction * 2^exponent`, denormals normalized.
struct Parts {
    bits: Value,
    fraction: Value,
    exponent: Value,
    zero: Value,
    not_finite: Value,
}

struct Soft<'a, 'f> {
    b: &'a mut Builder<'f>,
    ty: Type,
    format: FloatFormat,
    range: Range,
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

    fn float(&mut self, bits: Value) -> Value {
        self.b.bitcast(bits, self.ty)
    }

    fn bits(&mut self, float: Value) -> Value {
        self.b.bitcast(float, self.format.int)
    }

    /// An integer constant as wide as a number.
    fn int(&mut self, value: i64) -> Value {
        let int = self.format.int;
        self.b.constant(int, value as u64 & int.mask())
    }

    /// The bits of 1.
    fn one(&self) -> u64 {
        self.format.power_of_two(0)
    }

    fn parts(&mut self, x: Value) -> Parts {
        use Binary::{And, FSub, LShr, Or, Sub};
        let format = self.format;
        let fraction_bits = format.fraction_bits;
        let bits = self.bits(x);
        let magnitude = self.con(And, bits, format.magnitude());
        let zero = self.is(Compare::Equal, magnitude, 0);
        let denormal = self.is(Compare::ULess, magnitude, 1 << fraction_bits);
        // A denormal's bits are its number of units: behind the one of a power of two of which they are units, too,
        // and which is then taken off.
        let power = format.power_of_two(fraction_bits as i32);
        let above = self.con(Or, magnitude, power);
        let above = self.float(above);
        let start = self.b.constant(self.ty, power);
        let units = self.op(FSub, above, start);
        let units = self.bits(units);
        let normal = self.b.select(denormal, units, magnitude);
        let field = self.con(LShr, normal, fraction_bits.into());
        let bias = i64::from(format.bias);
        let unit = self.int(2 * bias - 1 + i64::from(fraction_bits));
        let bias = self.int(bias);
        let bias = self.b.select(denormal, unit, bias);
        let finite = self.is(Compare::ULess, magnitude, format.infinity());
        Parts {
            bits,
            fraction: self.con(And, normal, format.fraction()),
            exponent: self.op(Sub, field, bias),
            zero,
            not_finite: self.b.unary(Unary::Not, finite),
        }
    }

    /// The significand, from 1 to below 2.
    fn significand(&mut self, parts: &Parts) -> Value {
        let one = self.one();
        let bits = self.con(Binary::Or, parts.fraction, one);
        self.float(bits)
    }

    /// The addend in units of `2^exponent`, with its sign as seen from that of the product.
    fn addend(&mut self, parts: &Parts, exponent: Value, product_sign: Value) -> Value {
        use Binary::{Add, And, Or, SMax, Shl, Sub, Xor};
        let format = self.format;
        let distance = self.op(Sub, parts.exponent, exponent);
        let least = self.int(self.range.least_distance);
        let distance = self.op(SMax, distance, least);
        let field = self.con(Add, distance, format.bias.into());
        let field = self.con(Shl, field, format.fraction_bits.into());
        let bits = self.op(Or, field, parts.fraction);
        let none = self.int(0);
        let bits = self.b.select(parts.zero, none, bits);
        let sign = self.op(Xor, parts.bits, product_sign);
        let sign = self.con(And, sign, format.sign());
        let bits = self.op(Or, bits, sign);
        self.float(bits)
    }

    fn fma(&mut self, x: Value, y: Value, z: Value) -> Value {
        use Binary::{Add, FAdd, FMul, Or, SMax, Sub, Xor};
        let (px, py, pz) = (self.parts(x), self.parts(y), self.parts(z));
        let product_sign = self.op(Xor, px.bits, py.bits);
        let exponent = self.op(Add, px.exponent, py.exponent);
        let least = self.int(self.range.least);
        let exponent = self.op(SMax, exponent, least);
        let floor = self.con(Sub, pz.exponent, self.range.most_below);
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
        let format = self.format;
        let fraction_bits = u64::from(format.fraction_bits);
        let rounded = self.op(FAdd, high, rest);
        let bits = self.bits(rounded);
        let magnitude = self.con(And, bits, format.magnitude());
        let cancelled = self.is(Compare::Equal, magnitude, 0);

        // The least normal number in these units. Added to a lesser one, it has it rounded to units of the least
        // denormal, whose number the sum's fraction then is.
        let (zero, one) = (self.int(0), self.int(1));
        let field = self.op(Sub, one, exponent);
        let field = self.op(SMax, field, zero);
        let least = self.con(Shl, field, fraction_bits);
        let denormal = self.b.compare(Compare::ULess, magnitude, least);
        let sign = self.con(And, bits, format.sign());
        let least = self.op(Or, least, sign);
        let least = self.float(least);
        let (start, below) = two_sum(self.b, least, high);
        let below = sum_to_odd(self.b, below, rest);
        let units = self.op(FAdd, start, below);
        let units = self.bits(units);

        let bits = self.b.select(denormal, units, bits);
        let magnitude = self.con(And, bits, format.magnitude());
        let lower = self.con(Sub, exponent, 1);
        let exponent = self.b.select(denormal, lower, exponent);
        let exponent = self.con(Shl, exponent, fraction_bits);
        let magnitude = self.op(Add, magnitude, exponent);
        let fits = self.is(Compare::ULess, magnitude, format.infinity());
        let infinity = self.b.constant(format.int, format.infinity());
        let magnitude = self.b.select(fits, magnitude, infinity);
        let sign = self.op(Xor, bits, product_sign);
        let sign = self.con(And, sign, format.sign());
        let bits = self.op(Or, magnitude, sign);
        let bits = self.b.select(cancelled, zero, bits);
        self.float(bits)
    }
}
