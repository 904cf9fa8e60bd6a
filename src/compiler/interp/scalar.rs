//! What the operations on scalars compute.

use super::float::{Parts, decode, encode, from_f64, to_f64, to_integer};
use crate::compiler::ir::{Binary, Compare, Convert, Rounding, Type, Unary};

/// The value of `bits` as a signed integer.
pub fn signed(ty: Type, bits: u64) -> i64 {
    let unused = 64 - ty.bits();
    ((bits << unused) as i64) >> unused
}

pub fn unary(op: Unary, ty: Type, a: u64) -> u64 {
    let sign = 1 << (ty.bits() - 1);
    let parts = decode(ty, a);
    let bits = match op {
        Unary::Negate => a.wrapping_neg(),
        Unary::Not => !a,
        Unary::FNegate => a ^ sign,
        Unary::BitCount => (a & ty.mask()).count_ones().into(),
        Unary::BitReverse => a.reverse_bits() >> (64 - ty.bits()),
        Unary::IsNan => u64::from(parts == Parts::Nan),
        Unary::IsInf => u64::from(matches!(parts, Parts::Infinite { .. })),
        Unary::IsFinite => u64::from(matches!(parts, Parts::Finite { .. })),
        Unary::IsNormal => u64::from(match ty {
            Type::F16 => (a >> 10) & 0x1F != 0 && (a >> 10) & 0x1F != 0x1F,
            Type::F64 => f64::from_bits(a).is_normal(),
            _ => f32::from_bits(a as u32).is_normal(),
        }),
        Unary::SignBitSet => u64::from(a & sign != 0),
    };
    bits & ty.mask()
}

/// `None` where the result is undefined: division by zero or overflowing, a shift too far.
pub fn binary(op: Binary, ty: Type, a: u64, b: u64) -> Option<u64> {
    if op.is_float() {
        return Some(float_binary(op, ty, a, b));
    }
    let (sa, sb) = (signed(ty, a), signed(ty, b));
    let bits = match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::UDiv => a.checked_div(b)?,
        Binary::URem => a.checked_rem(b)?,
        Binary::SDiv => sa.checked_div(sb)? as u64,
        Binary::SRem => sa.checked_rem(sb)? as u64,
        Binary::SMod => {
            let rem = sa.checked_rem(sb)?;
            (if rem != 0 && (rem < 0) != (sb < 0) {
                rem.wrapping_add(sb)
            } else {
                rem
            }) as u64
        }
        Binary::Shl | Binary::LShr | Binary::AShr if b >= ty.bits().into() => return None,
        Binary::Shl => a << b,
        Binary::LShr => a >> b,
        Binary::AShr => (sa >> b) as u64,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::UMin => a.min(b),
        Binary::UMax => a.max(b),
        Binary::SMin => sa.min(sb) as u64,
        Binary::SMax => sa.max(sb) as u64,
        _ => return None,
    };
    Some(bits & ty.mask())
}

fn float_binary(op: Binary, ty: Type, a: u64, b: u64) -> u64 {
    if ty == Type::F32 {
        let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        let value = match op {
            Binary::FAdd => a + b,
            Binary::FSub => a - b,
            Binary::FMul => a * b,
            Binary::FDiv => a / b,
            Binary::FMod if a % b != 0.0 && (a % b < 0.0) != (b < 0.0) => a % b + b,
            Binary::FRem | Binary::FMod => a % b,
            Binary::FMin => a.min(b),
            _ => a.max(b),
        };
        return value.to_bits().into();
    }
    // Doubles are computed as such; halves too, whose second rounding is harmless for these operations.
    let (a, b) = (to_f64(ty, a), to_f64(ty, b));
    let value = match op {
        Binary::FAdd => a + b,
        Binary::FSub => a - b,
        Binary::FMul => a * b,
        Binary::FDiv => a / b,
        Binary::FMod if a % b != 0.0 && (a % b < 0.0) != (b < 0.0) => a % b + b,
        Binary::FRem | Binary::FMod => a % b,
        Binary::FMin => a.min(b),
        _ => a.max(b),
    };
    from_f64(ty, value)
}

pub fn fma(ty: Type, a: u64, b: u64, c: u64) -> u64 {
    match ty {
        Type::F32 => {
            let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
            a.mul_add(b, c).to_bits().into()
        }
        _ => {
            let [a, b, c] = [a, b, c].map(|bits| to_f64(ty, bits));
            from_f64(ty, a.mul_add(b, c))
        }
    }
}

pub fn compare(op: Compare, ty: Type, a: u64, b: u64) -> bool {
    use Compare::*;
    match op {
        Equal => return a == b,
        NotEqual => return a != b,
        ULess => return a < b,
        ULessEqual => return a <= b,
        SLess => return signed(ty, a) < signed(ty, b),
        SLessEqual => return signed(ty, a) <= signed(ty, b),
        _ => {}
    }
    let (a, b) = (to_f64(ty, a), to_f64(ty, b));
    let unordered = a.is_nan() || b.is_nan();
    match op {
        FOrdEqual => a == b,
        FUnordEqual => unordered || a == b,
        FOrdNotEqual => !unordered && a != b,
        FUnordNotEqual => a != b,
        FOrdLess => a < b,
        FUnordLess => unordered || a < b,
        FOrdLessEqual => a <= b,
        FUnordLessEqual => unordered || a <= b,
        FOrdered => !unordered,
        _ => unordered,
    }
}

/// `None` where the result is undefined.
pub fn convert(op: Convert, from: Type, to: Type, a: u64) -> Option<u64> {
    let bits = match op {
        Convert::Truncate
        | Convert::ZeroExtend
        | Convert::Bitcast
        | Convert::PtrToInt
        | Convert::IntToPtr
        | Convert::AddressSpaceCast
        | Convert::AddressSpaceCastExplicit => a,
        Convert::SignExtend => signed(from, a) as u64,
        Convert::FloatToUnsigned { rounding, saturate } => {
            let max = i128::from(to.mask());
            let value = float_to_integer(from, a, rounding, saturate, 0, max)?;
            value as u64
        }
        Convert::FloatToSigned { rounding, saturate } => {
            let max = i128::from(to.mask() >> 1);
            let value = float_to_integer(from, a, rounding, saturate, -max - 1, max)?;
            value as u64
        }
        Convert::UnsignedToFloat(rounding) => integer_to_float(to, a.into(), rounding),
        Convert::SignedToFloat(rounding) => integer_to_float(to, signed(from, a).into(), rounding),
        Convert::FloatToFloat(rounding) => {
            encode(to, decode(from, a), rounding.unwrap_or(Rounding::Rte))
        }
    };
    Some(bits & to.mask())
}

fn float_to_integer(
    from: Type,
    bits: u64,
    rounding: Option<Rounding>,
    saturate: bool,
    min: i128,
    max: i128,
) -> Option<i128> {
    let value = to_integer(from, bits, rounding);
    if saturate {
        let number = to_f64(from, bits);
        return Some(match value {
            Some(value) => value.clamp(min, max),
            None if number.is_nan() => 0,
            None if number < 0.0 => min,
            None => max,
        });
    }
    value.filter(|value| (min..=max).contains(value))
}

fn integer_to_float(to: Type, value: i128, rounding: Option<Rounding>) -> u64 {
    let parts = Parts::Finite {
        negative: value < 0,
        mantissa: value.unsigned_abs(),
        exponent: 0,
    };
    encode(to, parts, rounding.unwrap_or(Rounding::Rte))
}

/// A function of `GLSL.std.450`; `None` for those that tests have not needed.
pub fn glsl(number: u32, ty: Type, args: &[u64], arg_types: &[Type]) -> Option<u64> {
    let float = |index: usize| Some(to_f64(*arg_types.get(index)?, *args.get(index)?));
    let int = |index: usize| args.get(index).copied();
    let value = match number {
        2 => float(0)?.round_ties_even(),
        3 => float(0)?.trunc(),
        4 => float(0)?.abs(),
        6 => match float(0)? {
            0.0 => 0.0,
            x => x.signum(),
        },
        8 => float(0)?.floor(),
        9 => float(0)?.ceil(),
        10 => float(0)? - float(0)?.floor(),
        13 => float(0)?.sin(),
        14 => float(0)?.cos(),
        26 => float(0)?.powf(float(1)?),
        27 => float(0)?.exp(),
        28 => float(0)?.ln(),
        29 => float(0)?.exp2(),
        30 => float(0)?.log2(),
        31 => float(0)?.sqrt(),
        32 => 1.0 / float(0)?.sqrt(),
        37 | 79 => float(0)?.min(float(1)?),
        40 | 80 => float(0)?.max(float(1)?),
        43 => float(0)?.max(float(1)?).min(float(2)?),
        53 => {
            let exponent = signed(*arg_types.get(1)?, int(1)?).clamp(-2000, 2000);
            // Two steps, since 2^exponent alone may be out of range.
            let half = (exponent / 2) as i32;
            float(0)? * 2f64.powi(half) * 2f64.powi(exponent as i32 - half)
        }
        5 => return Some(signed(ty, int(0)?).unsigned_abs() & ty.mask()),
        38 => return Some(int(0)?.min(int(1)?)),
        41 => return Some(int(0)?.max(int(1)?)),
        39 => return Some(signed(ty, int(0)?).min(signed(ty, int(1)?)) as u64 & ty.mask()),
        42 => return Some(signed(ty, int(0)?).max(signed(ty, int(1)?)) as u64 & ty.mask()),
        50 => return Some(fma(ty, int(0)?, int(1)?, int(2)?)),
        73 => {
            return Some(match int(0)? {
                0 => ty.mask(),
                x => x.trailing_zeros().into(),
            });
        }
        75 => {
            return Some(match int(0)? {
                0 => ty.mask(),
                x => (63 - x.leading_zeros()).into(),
            });
        }
        _ => return None,
    };
    Some(from_f64(ty, value))
}
