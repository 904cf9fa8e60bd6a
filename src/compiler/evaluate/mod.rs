//! What the operations on scalars compute: for folding, for specialization and for the interpreter.
//!
//! Values are bits, those above the width of their type zero. Floats round to nearest even, and denormals are numbers; what a
//! device may do otherwise is for those to know who ask.

pub mod float;

use crate::compiler::ir::{Binary, Compare, Convert, Rounding, Type, Unary};
use float::{Parts, decode, encode, from_f64, to_f64, to_integer};

/// The value of `bits` as a signed integer.
pub fn signed(ty: Type, bits: u64) -> i64 {
    let unused = 64 - ty.bits();
    ((bits << unused) as i64) >> unused
}

/// The result of an operation of one operand of that type.
pub fn unary(op: Unary, ty: Type, a: u64) -> u64 {
    let sign = 1 << (ty.bits() - 1);
    let bits = match op {
        Unary::Negate => a.wrapping_neg(),
        Unary::Not => !a,
        Unary::FNegate => a ^ sign,
        Unary::BitCount => (a & ty.mask()).count_ones().into(),
        Unary::BitReverse => a.reverse_bits() >> (64 - ty.bits()),
        Unary::IsNan => u64::from(decode(ty, a) == Parts::Nan),
        Unary::IsInf => u64::from(matches!(decode(ty, a), Parts::Infinite { .. })),
        Unary::IsFinite => u64::from(matches!(decode(ty, a), Parts::Finite { .. })),
        Unary::IsNormal => u64::from(match ty {
            Type::F16 => (a >> 10) & 0x1F != 0 && (a >> 10) & 0x1F != 0x1F,
            Type::F64 => f64::from_bits(a).is_normal(),
            _ => f32::from_bits(a as u32).is_normal(),
        }),
        Unary::SignBitSet => u64::from(a & sign != 0),
    };
    bits & ty.mask()
}

/// The result of an operation of two operands of that type, but for the amount of a shift. `None` where it is undefined:
/// division by zero or overflowing, a shift too far.
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
        Binary::SDiv => {
            let quotient = sa.checked_div(sb)?;
            (signed(ty, quotient as u64) == quotient).then_some(quotient as u64)?
        }
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

/// The result of an operation on numbers of one of Rust's types.
macro_rules! float_operation {
    ($op:expr, $a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        match $op {
            Binary::FAdd => a + b,
            Binary::FSub => a - b,
            Binary::FMul => a * b,
            Binary::FDiv => a / b,
            Binary::FMod if a % b != 0.0 && (a % b < 0.0) != (b < 0.0) => a % b + b,
            Binary::FRem | Binary::FMod => a % b,
            Binary::FMin => a.min(b),
            _ => a.max(b),
        }
    }};
}

fn float_binary(op: Binary, ty: Type, a: u64, b: u64) -> u64 {
    if ty == Type::F32 {
        let [a, b] = [a, b].map(|bits| f32::from_bits(bits as u32));
        return float_operation!(op, a, b).to_bits().into();
    }
    // Doubles are computed as such; halves too, whose second rounding is harmless for these operations.
    from_f64(ty, float_operation!(op, to_f64(ty, a), to_f64(ty, b)))
}

/// Whether a comparison of two operands of that type holds.
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

/// The value in another type. `None` where it is undefined: a float beyond the integers of that type.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::testing::Random;

    /// Compares what is evaluated with Rust's own numbers of a width.
    macro_rules! agrees {
        ($ty:expr, $unsigned:ty, $signed:ty) => {{
            let mut random = Random(11);
            let edges = [
                0,
                1,
                2,
                7,
                8,
                <$unsigned>::MAX,
                <$unsigned>::MAX >> 1,
                (<$unsigned>::MAX >> 1) + 1,
            ];
            let mut numbers: Vec<$unsigned> = edges.to_vec();
            numbers.extend((0..40).map(|_| random.number() as $unsigned));
            for (&x, &y) in numbers
                .iter()
                .flat_map(|x| numbers.iter().map(move |y| (x, y)))
            {
                let (a, b) = (x as $signed, y as $signed);
                let amount = u32::try_from(y).ok();
                let shift =
                    |f: fn($unsigned, u32) -> Option<$unsigned>| amount.and_then(|it| f(x, it));
                let modulo = a.checked_rem(b).map(|rest| {
                    let is_other = rest != 0 && (rest < 0) != (b < 0);
                    if is_other { rest + b } else { rest }
                });
                use Binary::*;
                let expected: [(Binary, Option<$unsigned>); 18] = [
                    (Add, Some(x.wrapping_add(y))),
                    (Sub, Some(x.wrapping_sub(y))),
                    (Mul, Some(x.wrapping_mul(y))),
                    (UDiv, x.checked_div(y)),
                    (URem, x.checked_rem(y)),
                    (SDiv, a.checked_div(b).map(|it| it as $unsigned)),
                    (SRem, (b != 0).then(|| a.wrapping_rem(b) as $unsigned)),
                    (
                        SMod,
                        modulo.or((b == -1).then_some(0)).map(|it| it as $unsigned),
                    ),
                    (Shl, shift(<$unsigned>::checked_shl)),
                    (LShr, shift(<$unsigned>::checked_shr)),
                    (
                        AShr,
                        amount
                            .and_then(|it| a.checked_shr(it))
                            .map(|it| it as $unsigned),
                    ),
                    (And, Some(x & y)),
                    (Or, Some(x | y)),
                    (Xor, Some(x ^ y)),
                    (UMin, Some(x.min(y))),
                    (UMax, Some(x.max(y))),
                    (SMin, Some(a.min(b) as $unsigned)),
                    (SMax, Some(a.max(b) as $unsigned)),
                ];
                for (op, expected) in expected {
                    let found = binary(op, $ty, x.into(), y.into());
                    // Rust has no result of the least number's remainder by -1, nor need there be one.
                    if found != expected.map(u64::from) {
                        assert!(
                            b == -1 && found.unwrap_or(0) == 0,
                            "{op:?} {x:#x} {y:#x}: {found:?}"
                        );
                    }
                }
                for (op, expected) in [
                    (Compare::Equal, x == y),
                    (Compare::NotEqual, x != y),
                    (Compare::ULess, x < y),
                    (Compare::ULessEqual, x <= y),
                    (Compare::SLess, a < b),
                    (Compare::SLessEqual, a <= b),
                ] {
                    assert_eq!(
                        compare(op, $ty, x.into(), y.into()),
                        expected,
                        "{op:?} {x:#x} {y:#x}"
                    );
                }
                for (op, expected) in [
                    (Unary::Negate, x.wrapping_neg()),
                    (Unary::Not, !x),
                    (Unary::BitCount, x.count_ones() as $unsigned),
                    (Unary::BitReverse, x.reverse_bits()),
                ] {
                    assert_eq!(
                        unary(op, $ty, x.into()),
                        u64::from(expected),
                        "{op:?} {x:#x}"
                    );
                }
                let single = convert(Convert::SignedToFloat(None), $ty, Type::F32, x.into());
                assert_eq!(single, Some((a as f32).to_bits().into()), "{a}");
                let double = convert(Convert::UnsignedToFloat(None), $ty, Type::F64, x.into());
                assert_eq!(double, Some((x as f64).to_bits()), "{x}");
            }
        }};
    }

    #[test]
    fn integers_are_those_of_rust() {
        agrees!(Type::I8, u8, i8);
        agrees!(Type::I16, u16, i16);
        agrees!(Type::I32, u32, i32);
        agrees!(Type::I64, u64, i64);
    }

    #[test]
    fn floats_of_another_type_are_those_of_rust() {
        let to_signed = Convert::FloatToSigned {
            rounding: None,
            saturate: true,
        };
        for x in [
            0.0,
            -0.0,
            1.5,
            -2.75,
            1e-42,
            3.4e38,
            -1e300,
            2147483648.5,
            f64::INFINITY,
        ] {
            let single = convert(
                Convert::FloatToFloat(None),
                Type::F64,
                Type::F32,
                x.to_bits(),
            );
            assert_eq!(single, Some((x as f32).to_bits().into()), "{x}");
            let integer = convert(to_signed, Type::F64, Type::I32, x.to_bits());
            assert_eq!(integer, Some(u64::from(x as i32 as u32)), "{x}");
        }
    }
}
