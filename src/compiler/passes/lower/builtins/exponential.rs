//! `exp` and `log` of single precision: range reduction and a polynomial. Those of libclc divide and read tables in
//! memory, one access waiting for the other. The coefficients are those of the Cephes library, whose error is
//! below 2 ulp where OpenCL C allows 3 (section 7.4).

use super::lower::{Lower, glsl};
use crate::compiler::ir::{Binary, Compare, Convert, Type, Unary, Value};
use crate::compiler::passes::helpers::float_format::FloatFormat;

/// ln 2 in two parts, the first with so few bits that its product with an exponent is exact.
const LN_2: [f64; 2] = [0.693_359_375, -2.121_944_400_546_905_8e-4];
/// (e^x - 1 - x) / x² for |x| <= ln 2 / 2, highest power first.
const EXPONENTIAL: [f64; 6] = [
    1.987_569_150_0e-4,
    1.398_199_950_7e-3,
    8.333_451_907_3e-3,
    4.166_579_589_4e-2,
    1.666_666_545_9e-1,
    5.000_000_120_1e-1,
];
/// (ln(1 + x) - x + x²/2) / x³ for 1 + x between the roots of 1/2 and 2, highest power first.
const LOGARITHM: [f64; 9] = [
    7.037_683_629_2e-2,
    -1.151_461_031_0e-1,
    1.167_699_874_0e-1,
    -1.242_014_084_6e-1,
    1.424_932_278_7e-1,
    -1.666_805_766_5e-1,
    2.000_071_476_5e-1,
    -2.499_999_399_3e-1,
    3.333_333_117_4e-1,
];
/// Beyond these e^x is infinite, and rounds to zero.
const RANGE: [f64; 2] = [-104.0, 89.0];
/// The bits of the root of 1/2: from there on significands are taken as below one and a half.
const ROOT_OF_HALF: u32 = 0x3f35_04f3;
/// What lifts denormal numbers to normal ones, as a power of two.
const LIFT: i32 = 25;

impl Lower<'_, '_> {
    /// `exp` of a single, denormal results included.
    pub fn exponential32(&mut self, x: Value) -> Value {
        let ty = Type::F32;
        let [low, high] = RANGE.map(|limit| self.float(ty, limit));
        let near = self.binary(Binary::FMin, x, high);
        let near = self.binary(Binary::FMax, near, low);
        // e^x = 2^n e^r
        let n = self.scale(near, std::f64::consts::LOG2_E);
        let n = self.glsl(glsl::ROUND_EVEN, &[n]);
        let mut r = near;
        for part in LN_2 {
            let part = self.float(ty, -part);
            r = self.multiply_add(n, part, r);
        }
        let polynomial = self.polynomial(r, &EXPONENTIAL);
        let square = self.binary(Binary::FMul, r, r);
        let value = self.multiply_add(polynomial, square, r);
        let one = self.float(ty, 1.0);
        let value = self.binary(Binary::FAdd, value, one);
        // In two steps: 2^n itself may be too great or too small.
        let to_int = Convert::FloatToSigned {
            rounding: None,
            saturate: false,
        };
        let n = self.b.convert(to_int, n, Type::I32);
        let first = self.binary_const(Binary::AShr, n, 1);
        let second = self.binary(Binary::Sub, n, first);
        let value = [first, second].into_iter().fold(value, |value, power| {
            let factor = self.power_of_two(power);
            self.binary(Binary::FMul, value, factor)
        });
        let nan = self.b.unary(Unary::IsNan, x);
        self.select(nan, x, value)
    }

    /// `log` of a single; that of a denormal one where `keeps_denormals`, else denormals count as zero.
    pub fn logarithm32(&mut self, x: Value, keeps_denormals: bool) -> Value {
        let ty = Type::F32;
        let format = FloatFormat::of(ty);
        let mut lifted = None;
        let mut normal = x;
        if keeps_denormals {
            let least = self.float(ty, f64::from(f32::MIN_POSITIVE));
            let denormal = self.compare(Compare::FOrdLess, x, least);
            let more = self.scale(x, f64::from(LIFT).exp2());
            normal = self.select(denormal, more, x);
            lifted = Some(denormal);
        }
        // x = 2^e (1 + f)
        let bits = self.bits(normal);
        let above = self.binary_const(Binary::Sub, bits, ROOT_OF_HALF.into());
        let e = self.binary_const(Binary::AShr, above, 23);
        let exponent = self.binary_const(Binary::Shl, e, 23);
        let significand = self.binary(Binary::Sub, bits, exponent);
        let significand = self.b.bitcast(significand, ty);
        let minus_one = self.float(ty, -1.0);
        let f = self.binary(Binary::FAdd, significand, minus_one);
        let mut e = self.b.convert(Convert::SignedToFloat(None), e, ty);
        if let Some(lifted) = lifted {
            let (lift, zero) = (self.float(ty, f64::from(-LIFT)), self.float(ty, 0.0));
            let lift = self.select(lifted, lift, zero);
            e = self.binary(Binary::FAdd, e, lift);
        }
        let square = self.binary(Binary::FMul, f, f);
        let polynomial = self.polynomial(f, &LOGARITHM);
        let cube = self.binary(Binary::FMul, square, f);
        let [high, low] = LN_2.map(|part| self.float(ty, part));
        let rest = self.binary(Binary::FMul, e, low);
        let rest = self.multiply_add(polynomial, cube, rest);
        let minus_half = self.float(ty, -0.5);
        let rest = self.multiply_add(square, minus_half, rest);
        let value = self.binary(Binary::FAdd, f, rest);
        let value = self.multiply_add(e, high, value);

        let [infinity, zero, nan, minus_infinity] = [
            format.infinity(),
            0,
            format.nan(),
            format.infinity() | format.sign(),
        ]
        .map(|bits| self.b.constant(ty, bits));
        let infinite = self.compare(Compare::FOrdEqual, x, infinity);
        let value = self.select(infinite, x, value);
        let positive = self.compare(Compare::FOrdLess, zero, x);
        let none = self.compare(Compare::FOrdEqual, x, zero);
        let other = self.select(none, minus_infinity, nan);
        self.select(positive, value, other)
    }

    /// `a * b + c`, fused where the device likes.
    fn multiply_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        let product = self.binary(Binary::FMul, a, b);
        self.binary(Binary::FAdd, product, c)
    }

    /// The polynomial with these coefficients, that of the highest power first.
    fn polynomial(&mut self, x: Value, coefficients: &[f64]) -> Value {
        let ty = self.b.ty(x);
        let first = self.float(ty, coefficients.first().copied().unwrap_or(0.0));
        coefficients.iter().skip(1).fold(first, |sum, coefficient| {
            let coefficient = self.float(ty, *coefficient);
            self.multiply_add(sum, x, coefficient)
        })
    }

    /// 2 to an integer power between -126 and 127.
    fn power_of_two(&mut self, power: Value) -> Value {
        let biased = self.binary_const(Binary::Add, power, 127);
        let bits = self.binary_const(Binary::Shl, biased, 23);
        self.b.bitcast(bits, Type::F32)
    }
}

#[cfg(test)]
mod tests {
    use super::super::lower::Std;
    use super::super::tests::{Bits, Lowered, plain};
    use super::*;
    use crate::compiler::Capabilities;

    fn lowered(op: Std, keeps_denormals32: bool) -> impl Fn(f32) -> f32 {
        let capabilities = Capabilities {
            keeps_denormals32,
            ..plain()
        };
        let lowered = Lowered::new(&capabilities, op, &[Type::F32], &[Type::F32]);
        move |x| f32::from_bits(lowered.run(&[x.to_bits().into()])[0] as u32)
    }

    /// In units of the last place of the exact value, or of a denormal number.
    fn error_ulp(found: f32, exact: f64) -> f64 {
        let unit = (exact.abs() * f64::from(f32::EPSILON) / 2.0).max(f64::from_bits(874 << 52));
        (f64::from(found) - exact).abs() / unit
    }

    #[test]
    fn any_number() {
        let (exp, log) = (lowered(Std::exp, true), lowered(Std::log, true));
        let mut bits = Bits(5);
        for _ in 0..20_000 {
            let x = f32::from_bits(bits.next() as u32);
            let (power, logarithm) = (exp(x), log(x));
            let exact = f64::from(x).exp();
            if x.is_nan() {
                assert!(power.is_nan() && logarithm.is_nan());
                continue;
            }
            if exact as f32 == f32::INFINITY {
                assert_eq!(power, f32::INFINITY, "exp({x})");
            } else {
                assert!(error_ulp(power, exact) <= 3.0, "exp({x}) = {power}");
            }
            if x > 0.0 {
                let error = error_ulp(logarithm, f64::from(x).ln());
                assert!(error <= 3.0, "log({x}) = {logarithm}: {error}");
            } else {
                assert!(logarithm.is_nan() || x == 0.0, "log({x}) = {logarithm}")
            }
        }
    }

    #[test]
    fn around_one_and_at_the_edges() {
        let log = lowered(Std::log, true);
        for step in -2000..2000 {
            let x = 1.0 + step as f32 * 2e-4;
            let error = error_ulp(log(x), f64::from(x).ln());
            assert!(error <= 3.0, "log({x}): {error}");
        }
        assert_eq!(log(1.0), 0.0);
        assert_eq!(log(0.0), f32::NEG_INFINITY);
        assert_eq!(log(-0.0), f32::NEG_INFINITY);
        assert_eq!(log(f32::INFINITY), f32::INFINITY);
        assert!(log(f32::NEG_INFINITY).is_nan() && log(-1e-45).is_nan());
        let exp = lowered(Std::exp, true);
        assert_eq!(exp(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!([exp(0.0), exp(-0.0), exp(1e-45)], [1.0; 3]);
        // Where denormal numbers don't count they are zero.
        let log = lowered(Std::log, false);
        assert_eq!(log(1e-40), f32::NEG_INFINITY);
        assert_eq!(log(1.0), 0.0);
    }
}
