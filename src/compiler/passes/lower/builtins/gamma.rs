//! `tgamma`, which libclc derives from the logarithm of the function, too imprecisely.
//!
//! `Γ(x)` of any `x` follows from `Γ(y)` with `y` from 1 to 2 a whole number away, by multiplying (or for
//! lesser `x` dividing) with the numbers in between. `1/Γ(y)` is a polynomial there. In double precision,
//! where the factors may be 170, what each product loses is summed up.

use super::lower::{Std, glsl};
use crate::compiler::ir::{
    Binary, Builder, Compare, Convert, Edge, Function, Op, OpenClStd, Terminator, Type, Unary,
    Value,
};
use crate::compiler::passes::helpers::float_format::FloatFormat;
use smallvec::smallvec;
use std::f64::consts::FRAC_2_SQRT_PI;

/// Names of [`tgamma`] in single and double precision.
pub const TGAMMA32: &str = "pumice.tgamma32";
pub const TGAMMA64: &str = "pumice.tgamma64";

/// `1/Γ(1.5 + u)` for `u` from -0.5 to 0.5, by power: interpolated at Chebyshev's nodes.
const RECIPROCAL32: [f64; 10] = [
    1.128_379_167_146_401,
    -0.041_174_526_471_711_846,
    -0.526_654_445_569_199_2,
    0.175_102_031_329_813_64,
    0.050_967_185_131_434_31,
    -0.042_155_338_538_603_55,
    0.006_609_275_826_055_676,
    0.002_122_626_685_257_892,
    -0.001_094_343_418_193_970_6,
    0.000_143_688_283_658_426_71,
];
const RECIPROCAL64: [f64; 18] = [
    FRAC_2_SQRT_PI,
    -0.041_174_526_445_283_1,
    -0.526_654_435_525_544_5,
    0.175_102_026_043_934_57,
    0.050_966_860_247_706_23,
    -0.042_155_169_368_535_62,
    0.006_612_897_826_817_975,
    0.002_120_731_442_573_585,
    -0.001_110_730_254_468_315_9,
    0.000_152_357_620_754_171_66,
    2.535_520_346_108_625_6e-05,
    -1.389_680_556_403_704_3e-05,
    2.156_213_220_234_808_4e-06,
    5.794_159_465_633_597e-08,
    -8.917_479_963_625_39e-08,
    1.710_761_649_523_948_5e-08,
    -8.475_278_521_147_783e-10,
    -2.769_360_223_755_62e-10,
];

/// A function `ty -> ty`, for `F32` or `F64`.
pub fn tgamma(ty: Type) -> Function {
    let (name, least, most, coefficients): (_, _, _, &[f64]) = match ty {
        Type::F64 => (TGAMMA64, -184.0, 172.0, &RECIPROCAL64),
        _ => (TGAMMA32, -43.0, 36.0, &RECIPROCAL32),
    };
    // From here on down the product is kept smaller by a factor, or it might overflow before what it divides
    // vanishes.
    let (tiny_from, scale) = match ty {
        Type::F64 => (-160.0, 60),
        _ => (-30.0, 24),
    };
    let mut function = Function::new(name);
    function.return_types = vec![ty];
    let entry = function.entry();
    let x = function.add_param(entry, ty);
    let mut f = Floats {
        b: &mut Builder::new(&mut function, entry),
        ty,
    };
    f.b.flags.no_contraction = true;

    // Beyond these everything overflows or vanishes.
    let (low, high) = (f.number(least), f.number(most));
    let inside = f.binary(Binary::FMax, x, low);
    let inside = f.binary(Binary::FMin, inside, high);
    let one = f.number(1.0);
    let is_lower = f.b.compare(Compare::FOrdLess, inside, one);
    let start = f.nearest(inside, is_lower, one, coefficients);

    let tiny_from = f.number(tiny_from);
    let tiny = f.b.compare(Compare::FOrdLess, inside, tiny_from);
    let power = FloatFormat::of(ty).power_of_two(-scale);
    let power = f.b.constant(ty, power);
    let scale = f.b.select(tiny, power, one);
    let scaled = f.binary(Binary::FMul, start.value, scale);
    let product = f.product(
        inside,
        Start {
            value: scaled,
            ..start
        },
    );
    let one = f.number(1.0);
    let quotient = f.binary(Binary::FDiv, one, product);
    let quotient = f.binary(Binary::FMul, quotient, scale);
    let value = f.b.select(is_lower, quotient, product);
    let value = f.limits(x, value, least, most);
    f.b.terminate(Terminator::Return(smallvec![value]));
    function
}

/// What the product starts from.
struct Start {
    /// `Γ(y)` of the nearest `y` from 1 to 2, or its reciprocal where the product is divided by.
    value: Value,
    zero: Value,
    /// The first factor without the function's argument, and how many there are: each is less by one.
    offset: Value,
    count: Value,
}

struct Floats<'a, 'f> {
    b: &'a mut Builder<'f>,
    ty: Type,
}

impl Floats<'_, '_> {
    fn number(&mut self, value: f64) -> Value {
        let bits = FloatFormat::of(self.ty).encode(value);
        self.b.constant(self.ty, bits)
    }

    fn binary(&mut self, op: Binary, x: Value, y: Value) -> Value {
        self.b.binary(op, x, y)
    }

    fn glsl(&mut self, number: u32, x: Value) -> Value {
        self.b.op1(Op::Glsl(number, smallvec![x]), self.ty)
    }

    fn polynomial(&mut self, u: Value, coefficients: &[f64]) -> Value {
        let mut value = self.number(0.0);
        for coefficient in coefficients.iter().rev() {
            let product = self.binary(Binary::FMul, value, u);
            let coefficient = self.number(*coefficient);
            value = self.binary(Binary::FAdd, product, coefficient);
        }
        value
    }

    /// The function, or its reciprocal where the argument is `is_lower` than 1, at the nearest number from 1 to 2,
    /// and the factors in between.
    fn nearest(
        &mut self,
        inside: Value,
        is_lower: Value,
        one: Value,
        coefficients: &[f64],
    ) -> Start {
        // How many factors, and the nearest number from 1 to 2: excluding 1 from above, 2 from below.
        let whole_up = self.glsl(glsl::CEIL, inside);
        let whole_down = self.glsl(glsl::FLOOR, inside);
        let (two, minus_one) = (self.number(2.0), self.number(-1.0));
        let steps_down = self.binary(Binary::FSub, whole_up, two);
        let zero = self.number(0.0);
        let steps_down = self.binary(Binary::FMax, steps_down, zero);
        let steps_up = self.binary(Binary::FSub, one, whole_down);
        let steps = self.b.select(is_lower, steps_up, steps_down);
        let (rounding, saturate) = (None, false);
        let to_int = Convert::FloatToSigned { rounding, saturate };
        let count = self.b.convert(to_int, steps, Type::I32);
        let from_above = self.binary(Binary::FSub, inside, steps_down);
        let from_below = self.binary(Binary::FAdd, inside, steps_up);
        let near = self.b.select(is_lower, from_below, from_above);
        let center = self.number(1.5);
        let u = self.binary(Binary::FSub, near, center);
        let reciprocal = self.polynomial(u, coefficients);
        let gamma = self.binary(Binary::FDiv, one, reciprocal);

        // The product over x + first, x + first - 1, …: from below that starts with the factors next to zero.
        let first_below = self.binary(Binary::FSub, steps_up, one);
        let offset = self.b.select(is_lower, first_below, minus_one);
        let value = self.b.select(is_lower, reciprocal, gamma);
        Start {
            value,
            zero,
            offset,
            count,
        }
    }

    /// A loop that multiplies with the factors; building goes on behind it.
    fn product(&mut self, inside: Value, start: Start) -> Value {
        let ty = self.ty;
        let [head, body, exit] = [(); 3].map(|()| self.b.function.add_block());
        let product = self.b.function.add_param(head, ty);
        let lost = self.b.function.add_param(head, ty);
        let offset = self.b.function.add_param(head, ty);
        let done = self.b.function.add_param(head, Type::I32);
        let none = self.b.i32(0);
        let first = [start.value, start.zero, start.offset, none];
        self.b.jump(Edge::new(head, first));

        self.b.switch_to(head);
        let more = self.b.compare(Compare::SLess, done, start.count);
        self.b.branch(more, body, exit);

        self.b.switch_to(body);
        let factor = self.binary(Binary::FAdd, inside, offset);
        let next = self.binary(Binary::FMul, product, factor);
        let next_lost = match ty {
            Type::F64 => {
                let negated = self.b.unary(Unary::FNegate, next);
                let fma = OpenClStd(Std::fma as u32);
                let operands = smallvec![product, factor, negated];
                let error = self.b.op1(Op::OpenClStd(fma, operands), ty);
                let relative = self.binary(Binary::FDiv, error, next);
                self.binary(Binary::FAdd, lost, relative)
            }
            _ => lost,
        };
        let one = self.number(1.0);
        let next_offset = self.binary(Binary::FSub, offset, one);
        let next_done = self.b.binary_const(Binary::Add, done, 1);
        let next = [next, next_lost, next_offset, next_done];
        self.b.jump(Edge::new(head, next));

        self.b.switch_to(exit);
        if ty != Type::F64 {
            return product;
        }
        let correction = self.binary(Binary::FMul, product, lost);
        let corrected = self.binary(Binary::FAdd, product, correction);
        // Nothing is lost of an infinite product.
        let is_number = self.b.compare(Compare::FOrdEqual, corrected, corrected);
        self.b.select(is_number, corrected, product)
    }

    /// `value` but where `x` is zero, lies beyond the limits, is a pole, or no number.
    fn limits(&mut self, x: Value, value: Value, least: f64, most: f64) -> Value {
        let format = FloatFormat::of(self.ty);
        let infinity = self.b.constant(self.ty, format.infinity());
        let nan = self.b.constant(self.ty, format.nan());
        let (low, high, zero) = (self.number(least), self.number(most), self.number(0.0));
        let above = self.b.compare(Compare::FOrdLessEqual, high, x);
        let value = self.b.select(above, infinity, value);
        let below = self.b.compare(Compare::FOrdLessEqual, x, low);
        let value = self.b.select(below, zero, value);
        // The first factor loses the sign of zero.
        let one = self.number(1.0);
        let infinite = self.binary(Binary::FDiv, one, x);
        let is_zero = self.b.compare(Compare::FOrdEqual, x, zero);
        let value = self.b.select(is_zero, infinite, value);
        let floor = self.glsl(glsl::FLOOR, x);
        let whole = self.b.compare(Compare::FOrdEqual, x, floor);
        let negative = self.b.compare(Compare::FOrdLess, x, zero);
        let pole = self.binary(Binary::And, whole, negative);
        let is_nan = self.b.unary(Unary::IsNan, x);
        let undefined = self.binary(Binary::Or, pole, is_nan);
        self.b.select(undefined, nan, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Capabilities;
    use crate::compiler::passes::lower::builtins::tests::Lowered;

    /// Runs `tgamma` on a number of either precision.
    fn evaluate(lowered: &Lowered, ty: Type, x: f64) -> f64 {
        match ty {
            Type::F64 => f64::from_bits(lowered.run(&[x.to_bits()])[0]),
            _ => f32::from_bits(lowered.run(&[u64::from((x as f32).to_bits())])[0] as u32).into(),
        }
    }

    #[test]
    fn follows_the_recurrence_from_known_values() {
        for (ty, most, epsilon) in [(Type::F32, 34, 1.2e-7), (Type::F64, 170, 2.3e-16)] {
            let lowered = Lowered::new(&Capabilities::full(), Std::tgamma, &[ty], &[ty]);
            // Γ(1) = 1, Γ(1.5) = √π / 2, Γ(1.25) by tables.
            let starts = [
                (1.0, 1.0),
                (1.5, std::f64::consts::PI.sqrt() / 2.0),
                (1.25, 0.906_402_477_055_477),
            ];
            for (start, gamma) in starts {
                let (mut x, mut expected) = (start, gamma);
                while x < f64::from(most) {
                    let error = evaluate(&lowered, ty, x) / expected - 1.0;
                    assert!(error.abs() < 16.0 * epsilon, "{ty} {x}: {error:e}");
                    expected *= x;
                    x += 1.0;
                }
                let (mut x, mut expected) = (start, gamma);
                while x > -30.0 {
                    x -= 1.0;
                    if x == 0.0 {
                        break;
                    }
                    expected /= x;
                    let error = evaluate(&lowered, ty, x) / expected - 1.0;
                    assert!(error.abs() < 16.0 * epsilon, "{ty} {x}: {error:e}");
                }
            }
        }
    }

    #[test]
    fn vanishes_gradually() {
        // By the recurrence, from where the function is normal.
        for (ty, start, least, epsilon, unit) in [
            (Type::F32, -28.5, -38.0, 2e-6, f64::from_bits(874 << 52)),
            (Type::F64, -168.5, -175.0, 1e-14, f64::from_bits(1)),
        ] {
            let lowered = Lowered::new(&Capabilities::full(), Std::tgamma, &[ty], &[ty]);
            let mut x: f64 = start;
            let mut expected = evaluate(&lowered, ty, x);
            while x > least {
                x -= 1.0;
                expected /= x;
                let error = (evaluate(&lowered, ty, x) - expected).abs();
                let limit = 8.0 * unit + epsilon * expected.abs();
                assert!(error <= limit, "{ty} {x}: {error:e}");
            }
        }
    }

    #[test]
    fn poles_and_limits() {
        for ty in [Type::F32, Type::F64] {
            let lowered = Lowered::new(&Capabilities::full(), Std::tgamma, &[ty], &[ty]);
            let gamma = |x: f64| evaluate(&lowered, ty, x);
            assert_eq!(
                (gamma(0.0), gamma(-0.0)),
                (f64::INFINITY, f64::NEG_INFINITY)
            );
            assert_eq!(
                (gamma(1000.0), gamma(f64::INFINITY)),
                (f64::INFINITY, f64::INFINITY)
            );
            assert_eq!(gamma(-1000.5), 0.0);
            for x in [-1.0, -7.0, -1000.0, f64::NEG_INFINITY, f64::NAN] {
                assert!(gamma(x).is_nan(), "{ty} {x}");
            }
            let near_zero = gamma(-1e-30) * -1e-30 - 1.0;
            assert!(near_zero.abs() < 1e-6);
        }
    }
}
