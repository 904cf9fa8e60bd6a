//! `fmod`, `remainder` and `remquo` in single precision, by long division of the significands.
//!
//! Those of libclc take denormals for zeros. The results are exact, whatever the device's arithmetic is.

use super::lower::glsl;
use crate::compiler::ir::{Binary, Builder, Compare, Edge, Function, Op, Terminator, Type, Value};
use crate::compiler::passes::helpers::float_format::FloatFormat;
use smallvec::smallvec;

/// Names of [`remainder`], truncated and rounded.
pub const FMOD32: &str = "pumice.fmod32";
pub const REMQUO32: &str = "pumice.remquo32";

/// Bits of the quotient that one step of the division finds: the rest, of 24 bits, is shifted by as many.
const STEP_BITS: u64 = 8;

/// Twice a significand is less than this.
const FRACTION_BITS: u64 = 23;

/// A float's significand with its leading one at bit 23, and its biased exponent, less than one for
/// denormals.
struct Parts {
    significand: Value,
    exponent: Value,
}

/// An operand of the division: its bits, and those without the sign.
struct Operand {
    bits: Value,
    size: Value,
}

/// A quotient truncated to a whole number, and what is left of the dividend, in units of the divisor's last place.
struct Division {
    quotient: Value,
    rest: Value,
}

/// A function `(F32, F32) -> (F32, I32)`: what is left of `x` after taking away a whole number of `y`, and
/// the lowest seven bits of that number with the quotient's sign. The number is the quotient truncated, or
/// rounded to the nearest even one.
pub fn remainder(rounded: bool) -> Function {
    use Binary::{And, Or, Shl, Sub, Xor};
    let name = if rounded { REMQUO32 } else { FMOD32 };
    let mut function = Function::new(name);
    function.return_types = vec![Type::F32, Type::I32];
    let entry = function.entry();
    let [x, y] = [(); 2].map(|()| function.add_param(entry, Type::F32));
    let mut builder = Builder::new(&mut function, entry);
    let mut w = Words { b: &mut builder };
    let format = FloatFormat::of(Type::F32);

    let (x_bits, y_bits) = (w.b.bitcast(x, Type::I32), w.b.bitcast(y, Type::I32));
    let x_size = w.con(And, x_bits, format.magnitude());
    let y_size = w.con(And, y_bits, format.magnitude());
    let (px, py) = (w.parts(x_size), w.parts(y_size));
    let ahead = w.op(Sub, px.exponent, py.exponent);
    let divided = w.divide(&px, &py, ahead);

    // In units of half of the divisor's last place: the dividend with an exponent less by one fits too.
    let zero = w.b.i32(0);
    let double_rest = w.con(Shl, divided.rest, 1);
    let double_divisor = w.con(Shl, py.significand, 1);
    let below = w.is(Compare::SLess, ahead, 0);
    let far_below = w.is(Compare::SLess, ahead, u64::from(u32::MAX));
    let rest = w.b.select(below, px.significand, double_rest);
    let quotient = w.b.select(below, zero, divided.quotient);
    let (Division { quotient, rest }, turned) = if rounded {
        w.round(Division { quotient, rest }, double_divisor)
    } else {
        (Division { quotient, rest }, zero)
    };
    let size = w.float_bits(rest, py.exponent);
    let sign = w.con(And, x_bits, format.sign());
    // A rest of zero has the dividend's sign: it comes from no rounding up.
    let signed = w.op(Or, size, sign);
    let bits = w.op(Xor, signed, turned);
    // Less than half of the divisor, or truncated less than it: nothing is taken away.
    let untouched = if rounded { far_below } else { below };
    let bits = w.b.select(untouched, x_bits, bits);
    let quotient = w.b.select(untouched, zero, quotient);

    let (x, y) = (
        Operand {
            bits: x_bits,
            size: x_size,
        },
        Operand {
            bits: y_bits,
            size: y_size,
        },
    );
    let (bits, quotient) = w.results(&x, &y, bits, quotient, zero);
    let value = w.b.bitcast(bits, Type::F32);
    w.b.terminate(Terminator::Return(smallvec![value, quotient]));
    function
}

/// Builds on I32.
struct Words<'a, 'f> {
    b: &'a mut Builder<'f>,
}

impl Words<'_, '_> {
    fn op(&mut self, op: Binary, x: Value, y: Value) -> Value {
        self.b.binary(op, x, y)
    }

    fn con(&mut self, op: Binary, x: Value, bits: u64) -> Value {
        self.b.binary_const(op, x, bits)
    }

    fn is(&mut self, op: Compare, x: Value, bits: u64) -> Value {
        let y = self.b.constant(Type::I32, bits);
        self.b.compare(op, x, y)
    }

    fn one_if(&mut self, condition: Value) -> Value {
        let (one, zero) = (self.b.i32(1), self.b.i32(0));
        self.b.select(condition, one, zero)
    }

    /// How far bit 23 lies above the highest one.
    fn distance(&mut self, x: Value) -> Value {
        let top = Op::Glsl(glsl::FIND_U_MSB, smallvec![x]);
        let top = self.b.op1(top, Type::I32);
        let place = self.b.i32(FRACTION_BITS as u32);
        self.op(Binary::Sub, place, top)
    }

    /// The parts of a number without its sign. Zero, infinity and NaN have some, too, with a significand that may
    /// be divided by.
    fn parts(&mut self, size: Value) -> Parts {
        use Binary::{And, LShr, Or, Shl, Sub};
        let format = FloatFormat::of(Type::F32);
        let field = self.con(LShr, size, FRACTION_BITS);
        let denormal = self.is(Compare::Equal, field, 0);
        let fraction = self.con(And, size, format.fraction());
        let explicit = self.con(Or, fraction, 1 << FRACTION_BITS);
        let shift = self.distance(size);
        let shift = self.con(And, shift, 31);
        let shifted = self.op(Shl, size, shift);
        let shifted = self.con(Or, shifted, 1 << FRACTION_BITS);
        let one = self.b.i32(1);
        let lowered = self.op(Sub, one, shift);
        Parts {
            significand: self.b.select(denormal, shifted, explicit),
            exponent: self.b.select(denormal, lowered, field),
        }
    }

    /// Long division of significands, `ahead` bits behind the first one: a loop, behind which building goes on.
    fn divide(&mut self, x: &Parts, y: &Parts, ahead: Value) -> Division {
        use Binary::{Add, SMin, Shl, Sub, UDiv, URem};
        let [head, body, exit] = [(); 3].map(|()| self.b.function.add_block());
        let [rest, quotient, left] = [(); 3].map(|()| self.b.function.add_param(head, Type::I32));
        // The first bit of the quotient; then the rest is less than the divisor.
        let divisible = self
            .b
            .compare(Compare::ULessEqual, y.significand, x.significand);
        let less = self.op(Sub, x.significand, y.significand);
        let first_rest = self.b.select(divisible, less, x.significand);
        let first_bit = self.one_if(divisible);
        self.b.jump(Edge::new(head, [first_rest, first_bit, ahead]));

        self.b.switch_to(head);
        let more = self.is(Compare::SLess, left, 1);
        self.b.branch(more, exit, body);

        self.b.switch_to(body);
        let count = self.con(SMin, left, STEP_BITS);
        let shifted = self.op(Shl, rest, count);
        let digits = self.op(UDiv, shifted, y.significand);
        let next_rest = self.op(URem, shifted, y.significand);
        let next_quotient = self.op(Shl, quotient, count);
        let next_quotient = self.op(Add, next_quotient, digits);
        let next_left = self.op(Sub, left, count);
        let next = [next_rest, next_quotient, next_left];
        self.b.jump(Edge::new(head, next));

        self.b.switch_to(exit);
        Division { quotient, rest }
    }

    /// Rounds to the nearest whole number, halves to the even one. Also a sign that flips the rest's where it was
    /// rounded up.
    fn round(&mut self, truncated: Division, divisor: Value) -> (Division, Value) {
        use Binary::{Add, And, Or, Shl, Sub};
        let Division { quotient, rest } = truncated;
        let double = self.con(Shl, rest, 1);
        let above = self.b.compare(Compare::ULess, divisor, double);
        let half = self.b.compare(Compare::Equal, divisor, double);
        let odd = self.con(And, quotient, 1);
        let odd = self.is(Compare::NotEqual, odd, 0);
        let tie_up = self.op(And, half, odd);
        let up = self.op(Or, above, tie_up);
        let turned = self.op(Sub, divisor, rest);
        let one = self.one_if(up);
        let sign = self.con(Shl, one, 31);
        let rest = self.b.select(up, turned, rest);
        let quotient = self.op(Add, quotient, one);
        (Division { quotient, rest }, sign)
    }

    /// The remainder's bits and the lowest bits of the signed quotient: those given, but where an operand is zero,
    /// infinite, or no number.
    fn results(
        &mut self,
        x: &Operand,
        y: &Operand,
        bits: Value,
        quotient: Value,
        zero: Value,
    ) -> (Value, Value) {
        use Binary::{And, Or, Sub, Xor};
        let format = FloatFormat::of(Type::F32);
        let infinity = self.b.i32(format.infinity() as u32);
        let divisor_infinite = self.b.compare(Compare::Equal, y.size, infinity);
        let bits = self.b.select(divisor_infinite, x.bits, bits);
        let dividend_zero = self.is(Compare::Equal, x.size, 0);
        let bits = self.b.select(dividend_zero, x.bits, bits);
        let divisor_zero = self.is(Compare::Equal, y.size, 0);
        let dividend_wrong = self.b.compare(Compare::ULessEqual, infinity, x.size);
        let divisor_wrong = self.b.compare(Compare::ULess, infinity, y.size);
        let wrong = self.op(Or, divisor_zero, dividend_wrong);
        let wrong = self.op(Or, wrong, divisor_wrong);
        let nan = self.b.i32(format.nan() as u32);
        let bits = self.b.select(wrong, nan, bits);
        let special = self.op(Or, wrong, divisor_infinite);
        let special = self.op(Or, special, dividend_zero);
        let quotient = self.con(And, quotient, 0x7f);
        let signs = self.op(Xor, x.bits, y.bits);
        let negative = self.is(Compare::SLess, signs, 0);
        let negated = self.op(Sub, zero, quotient);
        let quotient = self.b.select(negative, negated, quotient);
        let quotient = self.b.select(special, zero, quotient);
        (bits, quotient)
    }

    /// The bits of a number of at most 25 bits in units of half the last place of numbers with a (biased)
    /// exponent. The number can be represented exactly.
    fn float_bits(&mut self, number: Value, exponent: Value) -> Value {
        use Binary::{Add, LShr, SMax, SMin, Shl, Sub};
        let distance = self.distance(number);
        let left = self.con(SMax, distance, 0);
        let left = self.con(SMin, left, 31);
        let right = self.b.unary(crate::compiler::ir::Unary::Negate, distance);
        let right = self.con(SMax, right, 0);
        let significand = self.op(Shl, number, left);
        let significand = self.op(LShr, significand, right);
        let field = self.op(Sub, exponent, distance);
        let field = self.con(Sub, field, 1);
        // Normal: the leading one adds one to the exponent. Denormal: shifted out of its place.
        let base = self.con(Sub, field, 1);
        let base = self.con(Shl, base, FRACTION_BITS);
        let normal = self.op(Add, base, significand);
        let one = self.b.i32(1);
        let excess = self.op(Sub, one, field);
        let excess = self.con(SMax, excess, 0);
        let excess = self.con(SMin, excess, 31);
        let denormal = self.op(LShr, significand, excess);
        let is_denormal = self.is(Compare::SLess, field, 1);
        let bits = self.b.select(is_denormal, denormal, normal);
        let none = self.is(Compare::Equal, number, 0);
        let zero = self.b.i32(0);
        self.b.select(none, zero, bits)
    }
}

#[cfg(test)]
mod tests {
    use super::super::lower::Std;
    use super::super::tests::{Bits, Lowered, plain};
    use super::*;
    use crate::compiler::Capabilities;
    use crate::compiler::ir::AddressSpace;

    /// Exactly, in double precision where that has room enough, by subtraction where it has not.
    fn truncated(x: f32, y: f32) -> f32 {
        x % y
    }

    /// (remainder, lowest bits of the quotient), by the definition.
    fn rounded(x: f32, y: f32) -> (f32, i32) {
        let (x, y) = (f64::from(x), f64::from(y));
        let rest = x % (2.0 * y);
        let (rest, size, half) = (rest.abs(), y.abs(), y.abs() / 2.0);
        // `rest` is below twice the divisor; what lies beyond adds an even number to the quotient.
        let (value, odd) = match () {
            () if rest <= half => (rest, 0),
            () if rest < 3.0 * half => (rest - size, 1),
            () => (rest - 2.0 * size, 0),
        };
        let signed = if x.is_sign_negative() { -value } else { value };
        (signed as f32, odd)
    }

    fn samples() -> Vec<(f32, f32)> {
        let mut bits = Bits(0x1234_5678_9abc_def1);
        let mut samples: Vec<(f32, f32)> = (0..600)
            .map(|i| {
                let (a, b) = (bits.next(), bits.next());
                let x = f32::from_bits(a as u32);
                match i % 3 {
                    0 => (x, f32::from_bits(b as u32)),
                    // Of a similar size, and denormals.
                    1 => (x, f32::from_bits((a as u32).wrapping_add(b as u32 >> 6))),
                    _ => (
                        f32::from_bits(a as u32 & 0x807f_ffff),
                        f32::from_bits(b as u32 & 0x80ff_ffff),
                    ),
                }
            })
            .collect();
        let special = [
            0.0,
            -0.0,
            1.0,
            -3.5,
            7.0,
            2.0,
            0.5,
            f32::MIN_POSITIVE,
            f32::MAX,
            1e-45,
            -1e-45,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
        ];
        for x in special {
            samples.extend(special.iter().map(|&y| (x, y)));
        }
        samples
    }

    #[test]
    fn truncated_as_rust_does() {
        // The second device has a function of its own.
        for caps in [plain(), Capabilities::full()] {
            let lowered = Lowered::new(&caps, Std::fmod, &[Type::F32; 2], &[Type::F32]);
            for (x, y) in samples() {
                let args = [x, y].map(|v| u64::from(v.to_bits()));
                let found = f32::from_bits(lowered.run(&args)[0] as u32);
                let expected = truncated(x, y);
                assert!(
                    found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan()),
                    "{x:e} % {y:e} = {expected:e}, found {found:e}"
                );
            }
        }
    }

    #[test]
    fn rounded_by_the_definition() {
        let types = [Type::F32, Type::F32, Type::Ptr(AddressSpace::Global)];
        let remquo = Lowered::new(&plain(), Std::remquo, &types, &[Type::F32]);
        let remainder = Lowered::new(&plain(), Std::remainder, &[Type::F32; 2], &[Type::F32]);
        for (x, y) in samples() {
            let args = [x, y].map(|v| u64::from(v.to_bits()));
            let (found, quotient) = remquo.run_with_pointer(&args);
            assert_eq!(remainder.run(&args)[0], found);
            let found = f32::from_bits(found as u32);
            if x.is_nan() || y.is_nan() || x.is_infinite() || y == 0.0 {
                assert!(found.is_nan() && quotient as i32 == 0, "{x:e} {y:e}");
                continue;
            }
            if y.is_infinite() {
                assert_eq!((found.to_bits(), quotient as i32), (x.to_bits(), 0));
                continue;
            }
            let (expected, odd) = rounded(x, y);
            assert!(
                found.to_bits() == expected.to_bits(),
                "{x:e} rem {y:e} = {expected:e}, found {found:e}"
            );
            assert_eq!(quotient as i32 & 1, odd, "{x:e} / {y:e}");
        }
        for (x, y, expected) in [(7.5, 2.0, 4), (-7.5, 2.0, -4), (1000.0, 1.0, 1000 & 0x7f)] {
            let args = [x, y].map(|v: f32| u64::from(v.to_bits()));
            assert_eq!(remquo.run_with_pointer(&args).1 as i32, expected);
        }
    }
}
