//! Evaluates operations on constants.

use crate::compiler::ir::{Binary, Compare, Convert, Type, Unary};

/// Numbers of `GLSL.std.450` instructions.
const ROUND_EVEN: u32 = 2;
const TRUNC: u32 = 3;
const FLOOR: u32 = 8;
const CEIL: u32 = 9;

/// The bits as a signed number.
pub fn signed(ty: Type, bits: u64) -> i64 {
    let unused = 64 - ty.bits();
    (bits << unused) as i64 >> unused
}

/// The result's bits, or `None` where it is undefined or not ours to decide.
pub fn unary(op: Unary, ty: Type, a: u64) -> Option<u64> {
    let bits = match op {
        Unary::Negate => a.wrapping_neg(),
        Unary::Not => !a,
        Unary::BitCount => u64::from(a.count_ones()),
        Unary::BitReverse => a.reverse_bits() >> (64 - ty.bits()),
        Unary::FNegate => a ^ 1 << (ty.bits() - 1),
        Unary::IsNan => is_nan(ty, a)?.into(),
        Unary::IsInf | Unary::IsFinite | Unary::IsNormal | Unary::SignBitSet => return None,
    };
    let result = match op {
        Unary::IsNan => Type::Bool,
        _ => ty,
    };
    Some(bits & result.mask())
}

/// The result's bits; `ty` is the type of the first operand.
pub fn binary(op: Binary, ty: Type, a: u64, b: u64) -> Option<u64> {
    if op.is_float() {
        return float_binary(op, ty, a, b);
    }
    let (x, y) = (signed(ty, a), signed(ty, b));
    let bits = match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::UDiv => a.checked_div(b)?,
        Binary::URem => a.checked_rem(b)?,
        Binary::SDiv => fits(ty, x.checked_div(y)?)?,
        Binary::SRem => x.checked_rem(y)? as u64,
        Binary::SMod => match x.checked_rem(y)? {
            0 => 0,
            rest if (rest < 0) != (y < 0) => (rest + y) as u64,
            rest => rest as u64,
        },
        Binary::Shl | Binary::LShr | Binary::AShr if b >= u64::from(ty.bits()) => return None,
        Binary::Shl => a << b,
        Binary::LShr => a >> b,
        Binary::AShr => (x >> b) as u64,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::UMin => a.min(b),
        Binary::UMax => a.max(b),
        Binary::SMin => x.min(y) as u64,
        Binary::SMax => x.max(y) as u64,
        _ => return None,
    };
    Some(bits & ty.mask())
}

/// A quotient that is not the one beyond the type's range.
fn fits(ty: Type, value: i64) -> Option<u64> {
    (signed(ty, value as u64) == value).then_some(value as u64)
}

/// Operations that IEEE 754 rounds once, to nearest even, unless a NaN is involved: then the payload is the
/// device's choice.
fn float_binary(op: Binary, ty: Type, a: u64, b: u64) -> Option<u64> {
    match ty {
        Type::F32 => {
            let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            let value = match op {
                Binary::FAdd => x + y,
                Binary::FSub => x - y,
                Binary::FMul => x * y,
                Binary::FDiv => x / y,
                _ => return None,
            };
            // Whether subnormals are kept is the device's choice too.
            let is_plain = |v: f32| v == 0.0 || v.is_normal() || v.is_infinite();
            (is_plain(x) && is_plain(y) && is_plain(value)).then(|| value.to_bits().into())
        }
        Type::F64 => {
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            let value = match op {
                Binary::FAdd => x + y,
                Binary::FSub => x - y,
                Binary::FMul => x * y,
                Binary::FDiv => x / y,
                _ => return None,
            };
            let is_plain = |v: f64| v == 0.0 || v.is_normal() || v.is_infinite();
            (is_plain(x) && is_plain(y) && is_plain(value)).then_some(value.to_bits())
        }
        _ => None,
    }
}

/// The nearest whole number, by the `GLSL.std.450` instruction of that number; of subnormal ones the device decides.
pub fn rounded(number: u32, ty: Type, a: u64) -> Option<u64> {
    let x = float_value(ty, a)?;
    let whole = match number {
        ROUND_EVEN => x.round_ties_even(),
        TRUNC => x.trunc(),
        FLOOR => x.floor(),
        CEIL => x.ceil(),
        _ => return None,
    };
    match ty {
        Type::F32 => {
            let single = x as f32;
            (single == 0.0 || single.is_normal()).then(|| (whole as f32).to_bits().into())
        }
        _ => (x == 0.0 || x.is_normal()).then(|| whole.to_bits()),
    }
}

fn is_nan(ty: Type, a: u64) -> Option<bool> {
    match ty {
        Type::F32 => Some(f32::from_bits(a as u32).is_nan()),
        Type::F64 => Some(f64::from_bits(a).is_nan()),
        _ => None,
    }
}

/// Whether a comparison of two values of type `ty` holds.
pub fn compare(op: Compare, ty: Type, a: u64, b: u64) -> Option<bool> {
    let (x, y) = (signed(ty, a), signed(ty, b));
    let integers = match op {
        Compare::Equal => Some(a == b),
        Compare::NotEqual => Some(a != b),
        Compare::ULess => Some(a < b),
        Compare::ULessEqual => Some(a <= b),
        Compare::SLess => Some(x < y),
        Compare::SLessEqual => Some(x <= y),
        _ => None,
    };
    if integers.is_some() {
        return integers;
    }
    let (x, y) = match ty {
        Type::F32 => (
            f64::from(f32::from_bits(a as u32)),
            f64::from(f32::from_bits(b as u32)),
        ),
        Type::F64 => (f64::from_bits(a), f64::from_bits(b)),
        _ => return None,
    };
    let unordered = x.is_nan() || y.is_nan();
    Some(match op {
        Compare::FOrdEqual => x == y,
        Compare::FUnordEqual => unordered || x == y,
        Compare::FOrdNotEqual => !unordered && x != y,
        Compare::FUnordNotEqual => unordered || x != y,
        Compare::FOrdLess => x < y,
        Compare::FUnordLess => unordered || x < y,
        Compare::FOrdLessEqual => x <= y,
        Compare::FUnordLessEqual => unordered || x <= y,
        Compare::FOrdered => !unordered,
        Compare::FUnordered => unordered,
        _ => return None,
    })
}

/// The value in another type.
pub fn convert(op: Convert, from: Type, to: Type, a: u64) -> Option<u64> {
    let bits = match op {
        Convert::Truncate | Convert::ZeroExtend | Convert::Bitcast => a,
        Convert::SignExtend => signed(from, a) as u64,
        Convert::UnsignedToFloat(None) => match to {
            Type::F32 => (a as f32).to_bits().into(),
            Type::F64 => (a as f64).to_bits(),
            _ => return None,
        },
        Convert::SignedToFloat(None) => match to {
            Type::F32 => (signed(from, a) as f32).to_bits().into(),
            Type::F64 => (signed(from, a) as f64).to_bits(),
            _ => return None,
        },
        Convert::FloatToFloat(None) => match (from, to) {
            (Type::F32, Type::F64) => {
                let x = f32::from_bits(a as u32);
                (x == 0.0 || x.is_normal() || x.is_infinite()).then(|| f64::from(x).to_bits())?
            }
            (Type::F64, Type::F32) => {
                let x = f64::from_bits(a) as f32;
                (x == 0.0 || x.is_normal() || x.is_infinite()).then(|| x.to_bits().into())?
            }
            _ => return None,
        },
        Convert::FloatToUnsigned { rounding: None, .. } => {
            let x = float_value(from, a)?.trunc();
            let limit = 2f64.powi(to.bits() as i32);
            (x >= 0.0 && x < limit).then_some(x as u64)?
        }
        Convert::FloatToSigned { rounding: None, .. } => {
            let x = float_value(from, a)?.trunc();
            let limit = 2f64.powi(to.bits() as i32 - 1);
            (x >= -limit && x < limit).then_some(x as i64 as u64)?
        }
        _ => return None,
    };
    Some(bits & to.mask())
}

fn float_value(ty: Type, bits: u64) -> Option<f64> {
    match ty {
        Type::F32 => Some(f64::from(f32::from_bits(bits as u32))),
        Type::F64 => Some(f64::from_bits(bits)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::interp::scalar;

    const NUMBERS: [u64; 14] = [
        0,
        1,
        2,
        7,
        8,
        31,
        0x7f,
        0x80,
        0xff,
        0x8000,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0000_0000_0000,
        u64::MAX,
    ];

    /// The interpreter has its own arithmetic.
    #[test]
    fn integers_agree_with_the_interpreter() {
        use Binary::*;
        let operations = [
            Add, Sub, Mul, UDiv, SDiv, URem, SRem, SMod, Shl, LShr, AShr, And, Or, Xor, UMin, UMax,
            SMin, SMax,
        ];
        for ty in [Type::I8, Type::I16, Type::I32, Type::I64] {
            for (a, b) in NUMBERS.iter().flat_map(|&a| NUMBERS.map(|b| (a, b))) {
                let (a, b) = (a & ty.mask(), b & ty.mask());
                for op in operations {
                    if let Some(folded) = binary(op, ty, a, b) {
                        let expected = scalar::binary(op, ty, a, b).map(|bits| bits & ty.mask());
                        assert_eq!(Some(folded), expected, "{op:?} {ty} {a:#x} {b:#x}");
                    }
                }
                for op in [
                    Compare::Equal,
                    Compare::NotEqual,
                    Compare::ULess,
                    Compare::ULessEqual,
                    Compare::SLess,
                    Compare::SLessEqual,
                ] {
                    assert_eq!(compare(op, ty, a, b), Some(scalar::compare(op, ty, a, b)));
                }
                for op in [
                    Unary::Negate,
                    Unary::Not,
                    Unary::BitCount,
                    Unary::BitReverse,
                ] {
                    let expected = scalar::unary(op, ty, a) & ty.mask();
                    assert_eq!(unary(op, ty, a), Some(expected), "{op:?} {ty} {a:#x}");
                }
            }
        }
    }

    #[test]
    fn floats_agree_with_the_interpreter() {
        let numbers = [
            0.0f32,
            -0.0,
            1.0,
            -1.5,
            3.0,
            1e30,
            1e-30,
            f32::INFINITY,
            16_777_217.0,
        ];
        for (a, b) in numbers.iter().flat_map(|&a| numbers.map(|b| (a, b))) {
            let (a, b) = (u64::from(a.to_bits()), u64::from(b.to_bits()));
            for op in [Binary::FAdd, Binary::FSub, Binary::FMul, Binary::FDiv] {
                if let Some(folded) = binary(op, Type::F32, a, b) {
                    assert_eq!(Some(folded), scalar::binary(op, Type::F32, a, b), "{op:?}");
                }
            }
        }
    }

    #[test]
    fn floats_are_rounded_as_asked() {
        let cases = [
            (2.5, [2.0, 2.0, 2.0, 3.0]),
            (3.5, [4.0, 3.0, 3.0, 4.0]),
            (-1.5, [-2.0, -1.0, -2.0, -1.0]),
            (-0.25, [-0.0, -0.0, -1.0, -0.0]),
            (1e30, [1e30; 4]),
        ];
        for (number, expected) in cases {
            for (op, expected) in [ROUND_EVEN, TRUNC, FLOOR, CEIL].into_iter().zip(expected) {
                let single = (number as f32).to_bits().into();
                let found = rounded(op, Type::F32, single);
                assert_eq!(
                    found,
                    Some((expected as f32).to_bits().into()),
                    "{op} {number}"
                );
                let found = rounded(op, Type::F64, f64::to_bits(number));
                assert_eq!(found, Some(f64::to_bits(expected)), "{op} {number}");
            }
        }
        for unknown in [f32::NAN, f32::INFINITY, f32::MIN_POSITIVE / 2.0] {
            assert_eq!(rounded(FLOOR, Type::F32, unknown.to_bits().into()), None);
        }
        assert_eq!(rounded(1, Type::F32, 0), None);
    }

    #[test]
    fn undefined_results_are_not_folded() {
        assert_eq!(binary(Binary::SDiv, Type::I8, 0x80, 0xff), None);
        assert_eq!(binary(Binary::UDiv, Type::I32, 1, 0), None);
        assert_eq!(binary(Binary::Shl, Type::I32, 1, 32), None);
        let nan = u64::from(f32::NAN.to_bits());
        assert_eq!(binary(Binary::FAdd, Type::F32, nan, 0), None);
        let huge = u64::from(1e20f32.to_bits());
        let to_int = Convert::FloatToSigned {
            rounding: None,
            saturate: false,
        };
        assert_eq!(convert(to_int, Type::F32, Type::I32, huge), None);
    }
}
