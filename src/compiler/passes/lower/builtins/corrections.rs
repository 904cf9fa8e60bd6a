//! What libclc's functions lack: denormal results, a range of `erfc`, whole powers of `INT_MIN`, and the
//! signs of zeros that OpenCL C section 7.5.1 prescribes.

use super::lower::{Lower, Std, glsl};
use crate::compiler::ir::{Binary, Compare, Convert, Type, Unary, Value, Values};
use crate::compiler::passes::helpers::float_format::FloatFormat;

/// The asymptotic series of `erfc(x) * x * exp(x * x)` by powers of `1 / (x * x)`.
const COMPLEMENT: [f64; 5] = [
    0.564_189_583_547_756_3,
    -0.282_094_791_773_878_14,
    0.423_142_187_660_817_2,
    -1.057_855_469_152_043,
    3.702_494_142_032_150_7,
];

impl Lower<'_, '_> {
    /// A function of libclc, made right where it is not. `None` if libclc has none such.
    pub fn corrected(&mut self, op: Std, name: &str, args: &[Value], ty: Type) -> Option<Value> {
        let single = ty == Type::F32;
        // Then these are our own.
        let fuses = self.cx.capabilities.fused_fma32;
        let args: Values = args.iter().map(|x| self.without_denormal(*x)).collect();
        let args = args.as_slice();
        match (op, args) {
            // NVIDIA's compiler makes 0.5 of the signalling NaN 0xfff0000000000200.
            (Std::acospi, &[x]) if !single => {
                let value = self.library(name, args, ty)?;
                let nan = self.b.unary(Unary::IsNan, x);
                Some(self.select(nan, x, value))
            }
            (Std::exp, &[x]) if single && !fuses => Some(self.exponential32(x)),
            (Std::log, &[x]) if single && !fuses => {
                let keeps_denormals = self.keeps_denormals();
                Some(self.logarithm32(x, keeps_denormals))
            }
            (Std::exp2, &[x]) if single && !fuses && self.keeps_denormals() => {
                self.vanishing(name, x, -126.0)
            }
            (Std::erfc, &[x]) if single && !fuses => self.complement(name, x),
            // libclc takes the magnitude of the power, which INT_MIN has not. A double holds every int.
            (Std::pown, &[x, power]) if !single => {
                let power = self.b.convert(Convert::SignedToFloat(None), power, ty);
                self.library("pow", &[x, power], ty)
            }
            // The next root of the same parity differs by less than the limit of error.
            (Std::rootn, &[x, root]) if !single => {
                let least = self.compare_const(Compare::Equal, root, 1 << 31);
                let next = self.b.i32((1 << 31) + 2);
                let root = self.select(least, next, root);
                self.library(name, &[x, root], ty)
            }
            (Std::sinpi | Std::atanpi, &[x]) => {
                let value = self.library(name, args, ty)?;
                Some(self.zero_signed_as(value, x))
            }
            (Std::atan | Std::erf | Std::expm1 | Std::sin | Std::tan, &[x]) if !single => {
                let value = self.library(name, args, ty)?;
                Some(self.zero_signed_as(value, x))
            }
            (Std::cospi, _) => {
                let value = self.library(name, args, ty)?;
                let zero = self.float(ty, 0.0);
                Some(self.zero_signed_as(value, zero))
            }
            (Std::tanpi, &[x]) => {
                let value = self.library(name, args, ty)?;
                let sign = self.sign_of_even(x);
                Some(self.zero_signed_as(value, sign))
            }
            _ => self.library(name, args, ty),
        }
    }

    /// A single, zero with its sign where it is denormal and those do not count: a device may flush them in
    /// comparisons and not in what follows (NVIDIA's do), and then takes a function's wrong branch.
    pub fn without_denormal(&mut self, x: Value) -> Value {
        if self.b.ty(x) != Type::F32 || self.on_halves || self.keeps_denormals() {
            return x;
        }
        let format = FloatFormat::of(Type::F32);
        let bits = self.bits(x);
        let exponent = self.binary_const(Binary::And, bits, format.infinity());
        let small = self.compare_const(Compare::Equal, exponent, 0);
        let zero = self.binary_const(Binary::And, bits, format.sign());
        let zero = self.b.bitcast(zero, Type::F32);
        self.select(small, zero, x)
    }

    fn keeps_denormals(&self) -> bool {
        self.cx.capabilities.keeps_denormals32 && !self.cx.options.denorms_are_zero
    }

    /// An exponential that libclc lets vanish where it would be denormal: below `limit` the square of that of
    /// half the power, whose error, in ulp of the least normal number, is twice as great.
    fn vanishing(&mut self, name: &str, x: Value, limit: f64) -> Option<Value> {
        let ty = self.b.ty(x);
        let (limit, half, one) = (
            self.float(ty, limit),
            self.float(ty, 0.5),
            self.float(ty, 1.0),
        );
        let tiny = self.compare(Compare::FOrdLess, x, limit);
        let factor = self.select(tiny, half, one);
        let power = self.binary(Binary::FMul, x, factor);
        let value = self.library(name, &[power], ty)?;
        let square = self.binary(Binary::FMul, value, value);
        Some(self.select(tiny, square, value))
    }

    /// `erfc` of single precision. That of libclc loses up to 32 ulp between 7.96 and 8, where the square of
    /// a truncated number and 0.5625 have a bit too many, and vanishes before it should.
    fn complement(&mut self, name: &str, x: Value) -> Option<Value> {
        let ty = self.b.ty(x);
        let lesser = self.library(name, &[x], ty)?;
        let flags = self.b.flags;
        self.b.flags.no_contraction = true;
        // Beyond this everything vanishes.
        let most = self.float(ty, 11.0);
        let near = self.binary(Binary::FMin, x, most);
        let from = self.float(ty, 7.5);
        let near = self.binary(Binary::FMax, near, from);
        // exp(-x²) = exp(-z²/2)² exp((z - x) (z + x)), where z has so few bits that its square is exact.
        let bits = self.bits(near);
        let bits = self.binary_const(Binary::And, bits, 0xffff_c000);
        let z = self.b.bitcast(bits, ty);
        let square = self.binary(Binary::FMul, z, z);
        let power = self.scale(square, -0.5);
        let root = self.library("exp", &[power], ty);
        let (less, more) = (
            self.binary(Binary::FSub, z, near),
            self.binary(Binary::FAdd, z, near),
        );
        let power = self.binary(Binary::FMul, less, more);
        let rest = self.library("exp", &[power], ty);
        let one = self.float(ty, 1.0);
        let square = self.binary(Binary::FMul, near, near);
        let s = self.binary(Binary::FDiv, one, square);
        let mut series = self.float(ty, 0.0);
        for coefficient in COMPLEMENT.iter().rev() {
            let coefficient = self.float(ty, *coefficient);
            series = self.binary(Binary::FMul, series, s);
            series = self.binary(Binary::FAdd, series, coefficient);
        }
        let value = self.binary(Binary::FDiv, series, near);
        let value = self.binary(Binary::FMul, value, rest?);
        let root = root?;
        let value = self.binary(Binary::FMul, value, root);
        let value = self.binary(Binary::FMul, value, root);
        self.b.flags = flags;
        let limit = self.float(ty, 7.9);
        let great = self.compare(Compare::FOrdLess, limit, x);
        Some(self.select(great, value, lesser))
    }

    /// `value`, with the sign of another number where it is zero.
    fn zero_signed_as(&mut self, value: Value, sign: Value) -> Value {
        let ty = self.b.ty(value);
        let zero = self.float(ty, 0.0);
        let is_zero = self.compare(Compare::FOrdEqual, value, zero);
        let signed = self.copy_sign(value, sign);
        self.select(is_zero, signed, value)
    }

    /// A number with the sign of `x` where that is even, with the other one where it is odd.
    fn sign_of_even(&mut self, x: Value) -> Value {
        let half = self.scale(x, 0.5);
        let floor = self.glsl(glsl::FLOOR, &[half]);
        let odd = self.compare(Compare::FOrdNotEqual, half, floor);
        let negated = self.b.unary(Unary::FNegate, x);
        self.select(odd, negated, x)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Lowered, plain};
    use super::*;
    use crate::compiler::Capabilities;

    /// Annex F of C99, to which OpenCL C section 7.5 refers.
    #[test]
    fn odd_functions_keep_zeros() {
        for caps in [plain(), Capabilities::full()] {
            for op in [
                Std::asin,
                Std::asinh,
                Std::asinpi,
                Std::atan,
                Std::atanh,
                Std::atanpi,
                Std::cbrt,
                Std::erf,
                Std::expm1,
                Std::log1p,
                Std::sin,
                Std::sinh,
                Std::sinpi,
                Std::tan,
                Std::tanh,
                Std::tanpi,
            ] {
                for (ty, sign) in [(Type::F32, 1 << 31), (Type::F64, 1 << 63)] {
                    let lowered = Lowered::new(&caps, op, &[ty], &[ty]);
                    for zero in [0, sign] {
                        assert_eq!(lowered.run(&[zero])[0], zero, "{op:?} of {ty:?}");
                    }
                }
            }
        }
    }

    fn single(op: Std, x: f32) -> f32 {
        let lowered = Lowered::new(&plain(), op, &[Type::F32], &[Type::F32]);
        f32::from_bits(lowered.run(&[x.to_bits().into()])[0] as u32)
    }

    /// Units of the last place of a denormal.
    fn ulp(found: f32, expected: f64) -> f64 {
        let unit = (expected.abs() * f64::from(f32::EPSILON)).max(f64::from_bits(874 << 52));
        (f64::from(found) - expected).abs() / unit
    }

    #[test]
    fn exponentials_vanish_gradually() {
        for step in 0..170 {
            let x = -86.0 - 0.1 * step as f32;
            let error = ulp(single(Std::exp, x), f64::from(x).exp());
            assert!(error <= 3.0, "exp({x}): {error}");
            let x = -125.5 - 0.15 * step as f32;
            let error = ulp(single(Std::exp2, x), f64::from(x).exp2());
            assert!(error <= 3.0, "exp2({x}): {error}");
        }
        assert_eq!(single(Std::exp, f32::NEG_INFINITY), 0.0);
        assert!(single(Std::exp2, f32::NAN).is_nan());
    }

    #[test]
    fn the_complement_of_great_numbers() {
        // By another library.
        let known = [
            (7.960_937_5, 2.103_895_480_001_476e-29),
            (8.0, 1.122_429_717_298_292_7e-29),
            (9.0, 4.137_031_746_513_811e-37),
            (9.75, 2.985_700_832_800_579e-43),
            (10.0, 2.088_487_583_762_545e-45),
        ];
        for (x, expected) in known {
            let error = ulp(single(Std::erfc, x), expected);
            assert!(error <= 8.0, "erfc({x}): {error}");
        }
        assert_eq!(single(Std::erfc, f32::INFINITY), 0.0);
        assert_eq!(single(Std::erfc, f32::MAX), 0.0);
        assert_eq!(single(Std::erfc, f32::NEG_INFINITY), 2.0);
        assert!(single(Std::erfc, f32::NAN).is_nan());
    }

    #[test]
    fn the_least_power() {
        let types = [Type::F64, Type::I32];
        let power = |op, x: f64, n: i32| {
            let lowered = Lowered::new(&plain(), op, &types, &[Type::F64]);
            f64::from_bits(lowered.run(&[x.to_bits(), u64::from(n as u32)])[0])
        };
        let x = -1.000_000_000_000_000_2;
        let expected = (f64::from(i32::MIN) * f64::EPSILON).exp();
        assert!((power(Std::pown, x, i32::MIN) / expected - 1.0).abs() < 1e-14);
        assert_eq!(power(Std::pown, -2.0, 3), -8.0);
        assert_eq!(power(Std::pown, 0.0, i32::MIN), f64::INFINITY);
        let expected = (f64::MAX.ln() / f64::from(i32::MIN)).exp();
        assert!((power(Std::rootn, f64::MAX, i32::MIN) / expected - 1.0).abs() < 1e-15);
        assert!(power(Std::rootn, -1.0, i32::MIN).is_nan());
        assert_eq!(power(Std::rootn, -8.0, 3), -2.0);
    }

    #[test]
    fn signs_of_zeros() {
        let cases = [
            (Std::sinpi, 1.0, 0.0),
            (Std::sinpi, -1.0, -0.0),
            (Std::sinpi, -0.0, -0.0),
            (Std::cospi, 0.5, 0.0),
            (Std::cospi, -0.5, 0.0),
            (Std::cospi, 2.5, 0.0),
            (Std::tanpi, 1.0, -0.0),
            (Std::tanpi, -1.0, 0.0),
            (Std::tanpi, 2.0, 0.0),
            (Std::tanpi, 3.0, -0.0),
            (Std::tanpi, -0.0, -0.0),
            (Std::atanpi, -0.0, -0.0),
        ];
        for (op, x, expected) in cases {
            let found = single(op, x);
            assert_eq!(found.to_bits(), f32::to_bits(expected), "{op:?}({x})");
            let lowered = Lowered::new(&plain(), op, &[Type::F64], &[Type::F64]);
            let found = lowered.run(&[f64::from(x).to_bits()])[0];
            assert_eq!(found, f64::from(expected).to_bits(), "{op:?}({x})");
        }
    }
}
