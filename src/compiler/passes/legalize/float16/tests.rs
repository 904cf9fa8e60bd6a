//! All 65536 halves against conversions computed here by definition, not by bits.

use crate::compiler::Capabilities;
use crate::compiler::ir::{Binary, Compare, Convert, Module, Rounding, Type, Unary};
use crate::compiler::passes::helpers::testing;
use crate::compiler::testing::Random;
use smallvec::smallvec;

fn legalize(module: &mut Module) {
    super::legalize(module, &Capabilities::minimal()).unwrap();
    assert!(!module.to_string().contains("f16"), "{module}");
}

/// The value of a half by its definition.
fn value(half: u16) -> f64 {
    let sign = if half & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// The positive half that `x` rounds to, found among its neighbours.
fn rounded(x: f64, rounding: Rounding) -> u16 {
    let size = x.abs();
    let negative = x.is_sign_negative();
    // Encodings of positive halves are ordered as the numbers; infinity stands for 65536 here.
    let size_of = |half: u16| if half == 0x7c00 { 65536.0 } else { value(half) };
    let (mut low, mut high) = (0u16, 0x7c00);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if size_of(middle) <= size {
            low = middle
        } else {
            high = middle
        }
    }
    let up = match rounding {
        _ if size_of(low) == size => false,
        Rounding::Rtz => false,
        Rounding::Rtp => !negative,
        Rounding::Rtn => negative,
        Rounding::Rte => {
            let (below, above) = (size - size_of(low), size_of(high) - size);
            above < below || above == below && low & 1 == 1
        }
    };
    let found = match (size.is_infinite(), up) {
        (true, _) => 0x7c00,
        (_, true) => high,
        _ => low,
    };
    found | u16::from(negative) << 15
}

#[test]
fn every_half_widens_exactly() {
    let mut module = testing::module_with(&[Type::F16], |b, p| {
        smallvec![b.convert(Convert::FloatToFloat(None), p[0], Type::F32)]
    });
    legalize(&mut module);
    for half in 0..=u16::MAX {
        let found = testing::results(&module, &[half.into()])[0];
        let found = f32::from_bits(found as u32);
        let expected = value(half);
        if expected.is_nan() {
            assert!(found.is_nan());
        } else {
            assert_eq!(f64::from(found).to_bits(), expected.to_bits(), "{half:#x}");
        }
    }
}

#[test]
fn singles_round_in_every_direction() {
    use Rounding::{Rte, Rtn, Rtp, Rtz};
    for rounding in [Rte, Rtz, Rtp, Rtn] {
        let mut module = testing::module_with(&[Type::F32], |b, p| {
            smallvec![b.convert(Convert::FloatToFloat(Some(rounding)), p[0], Type::F16)]
        });
        legalize(&mut module);
        let mut random = Random(23);
        // Halves, what lies a little beside and half-way between them, and anything.
        let near = (0..0x7c00u16).step_by(37).flat_map(|half| {
            let here = value(half) as f32;
            let between = ((value(half) + value(half + 1).min(65536.0)) / 2.0) as f32;
            [
                here,
                here.next_up(),
                here.next_down(),
                between,
                between.next_up(),
                between.next_down(),
            ]
        });
        let special = [
            f32::INFINITY,
            f32::MAX,
            65519.99,
            65520.0,
            65504.0,
            65505.0,
            1e-45,
            2.98e-8,
            0.0,
        ];
        let anything: Vec<f32> = (0..4_000)
            .map(|_| f32::from_bits(random.bits() as u32))
            .collect();
        for x in near.chain(special).chain(anything).flat_map(|x| [x, -x]) {
            let found = testing::results(&module, &[x.to_bits().into()])[0];
            if x.is_nan() {
                assert!(value(found as u16).is_nan(), "{rounding:?} {x:e}");
            } else {
                let expected = rounded(x.into(), rounding);
                assert_eq!(
                    found as u16,
                    expected,
                    "{rounding:?} {x:e} {:#x}",
                    x.to_bits()
                );
            }
        }
    }
}

#[test]
fn arithmetic_rounds_once() {
    for op in [Binary::FAdd, Binary::FSub, Binary::FMul, Binary::FDiv] {
        let mut module =
            testing::module_with(&[Type::F16; 2], |b, p| smallvec![b.binary(op, p[0], p[1])]);
        legalize(&mut module);
        let mut random = Random(29);
        for _ in 0..4_000 {
            let (x, y) = (random.bits() as u16, random.bits() as u16);
            let (a, b) = (value(x), value(y));
            // Exact in F64, but for the quotient, whose rounding there can't make a tie.
            let exact = match op {
                Binary::FAdd => a + b,
                Binary::FSub => a - b,
                Binary::FMul => a * b,
                _ => a / b,
            };
            let found = testing::results(&module, &[x.into(), y.into()])[0] as u16;
            if exact.is_nan() {
                assert!(value(found).is_nan());
            } else {
                assert_eq!(found, rounded(exact, Rounding::Rte), "{op:?} {a} {b}");
            }
        }
    }
}

#[test]
fn signs_classes_and_comparisons() {
    let mut module = testing::module_with(&[Type::F16; 2], |b, p| {
        smallvec![
            b.unary(Unary::FNegate, p[0]),
            b.unary(Unary::IsNan, p[0]),
            b.unary(Unary::IsInf, p[0]),
            b.unary(Unary::IsFinite, p[0]),
            b.unary(Unary::SignBitSet, p[0]),
            b.compare(Compare::FOrdLess, p[0], p[1])
        ]
    });
    legalize(&mut module);
    let mut random = Random(31);
    for half in 0..=u16::MAX {
        let other = random.bits() as u16;
        let found = testing::results(&module, &[half.into(), other.into()]);
        let x = value(half);
        let expected = [
            x.is_nan(),
            x.is_infinite(),
            x.is_finite(),
            half & 0x8000 != 0,
            x < value(other),
        ];
        assert_eq!(found[0], u64::from(half ^ 0x8000));
        assert_eq!(found[1..], expected.map(u64::from), "{half:#x} {other:#x}");
    }
}
