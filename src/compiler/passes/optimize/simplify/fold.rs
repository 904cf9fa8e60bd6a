//! Which operations on constants are ours to decide: not those whose results a device may choose, or which are undefined.

use crate::compiler::evaluate;
use crate::compiler::ir::{Binary, Compare, Convert, Type, Unary};

/// Numbers of `GLSL.std.450` instructions.
const ROUND_EVEN: u32 = 2;
const TRUNC: u32 = 3;
const FLOOR: u32 = 8;
const CEIL: u32 = 9;

/// The result's bits, or `None` where it is not ours to decide.
pub fn unary(op: Unary, ty: Type, a: u64) -> Option<u64> {
    let is_decided = match op {
        Unary::Negate | Unary::Not | Unary::BitCount | Unary::BitReverse | Unary::FNegate => true,
        Unary::IsNan => is_single_or_double(ty),
        Unary::IsInf | Unary::IsFinite | Unary::IsNormal | Unary::SignBitSet => false,
    };
    is_decided.then(|| evaluate::unary(op, ty, a))
}

/// The result's bits; `ty` is the type of the first operand.
pub fn binary(op: Binary, ty: Type, a: u64, b: u64) -> Option<u64> {
    let result = evaluate::binary(op, ty, a, b);
    if !op.is_float() {
        return result;
    }
    // What IEEE 754 rounds once, to nearest even, unless a NaN is involved: then the payload is the device's choice. Whether
    // subnormals are kept is its choice, too.
    let is_exact = matches!(
        op,
        Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv
    );
    result.filter(|&result| {
        is_exact && is_single_or_double(ty) && [a, b, result].iter().all(|&it| is_plain(ty, it))
    })
}

fn is_single_or_double(ty: Type) -> bool {
    matches!(ty, Type::F32 | Type::F64)
}

/// Whether a single or a double is zero, normal or infinite.
fn is_plain(ty: Type, bits: u64) -> bool {
    let is_plain = |is_normal: bool, x: f64| x == 0.0 || is_normal || x.is_infinite();
    match ty {
        Type::F32 => {
            let x = f32::from_bits(bits as u32);
            is_plain(x.is_normal(), x.into())
        }
        _ => {
            let x = f64::from_bits(bits);
            is_plain(x.is_normal(), x)
        }
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

/// Whether a comparison of two values of type `ty` holds.
pub fn compare(op: Compare, ty: Type, a: u64, b: u64) -> Option<bool> {
    (!ty.is_float() || is_single_or_double(ty)).then(|| evaluate::compare(op, ty, a, b))
}

/// The value in another type.
pub fn convert(op: Convert, from: Type, to: Type, a: u64) -> Option<u64> {
    let (op, is_decided) = match op {
        Convert::Truncate | Convert::ZeroExtend | Convert::Bitcast | Convert::SignExtend => {
            (op, true)
        }
        Convert::UnsignedToFloat(None) | Convert::SignedToFloat(None) => {
            (op, is_single_or_double(to))
        }
        Convert::FloatToFloat(None) => {
            // The single tells, be it converted or the result.
            let is_known = match (from, to) {
                (Type::F32, Type::F64) => is_plain(from, a),
                (Type::F64, Type::F32) => {
                    evaluate::convert(op, from, to, a).is_some_and(|it| is_plain(to, it))
                }
                _ => false,
            };
            (op, is_known)
        }
        // What is out of range is the device's, which may saturate or not.
        Convert::FloatToUnsigned { rounding: None, .. } => {
            let op = Convert::FloatToUnsigned {
                rounding: None,
                saturate: false,
            };
            (op, is_single_or_double(from))
        }
        Convert::FloatToSigned { rounding: None, .. } => {
            let op = Convert::FloatToSigned {
                rounding: None,
                saturate: false,
            };
            (op, is_single_or_double(from))
        }
        _ => (op, false),
    };
    is_decided.then(|| evaluate::convert(op, from, to, a))?
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
