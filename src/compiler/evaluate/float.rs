//! Floats of any width, exactly: taken apart, put together with any rounding.

use crate::compiler::ir::{Rounding, Type};

/// A binary interchange format of IEEE 754.
#[derive(Clone, Copy)]
struct Format {
    mantissa_bits: u32,
    exponent_bits: u32,
}

impl Format {
    fn of(ty: Type) -> Self {
        let (mantissa_bits, exponent_bits) = match ty {
            Type::F16 => (10, 5),
            Type::F64 => (52, 11),
            _ => (23, 8),
        };
        Self {
            mantissa_bits,
            exponent_bits,
        }
    }

    fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.mantissa_bits
    }

    fn sign(self, negative: bool) -> u64 {
        u64::from(negative) << (self.mantissa_bits + self.exponent_bits)
    }
}

/// A number taken apart; finite ones are `mantissa * 2^exponent`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parts {
    Nan,
    Infinite {
        negative: bool,
    },
    Finite {
        negative: bool,
        mantissa: u128,
        exponent: i32,
    },
}

/// Takes a float apart.
pub fn decode(ty: Type, bits: u64) -> Parts {
    let format = Format::of(ty);
    let negative = bits & format.sign(true) != 0;
    let fraction = bits & ((1 << format.mantissa_bits) - 1);
    let field = (bits >> format.mantissa_bits) & ((1 << format.exponent_bits) - 1);
    if bits & format.infinity() == format.infinity() {
        return match fraction {
            0 => Parts::Infinite { negative },
            _ => Parts::Nan,
        };
    }
    let (mantissa, field) = match field {
        0 => (fraction, 1),
        _ => (fraction | (1 << format.mantissa_bits), field),
    };
    Parts::Finite {
        negative,
        mantissa: mantissa.into(),
        exponent: field as i32 - format.bias() - format.mantissa_bits as i32,
    }
}

/// The float nearest in the direction that `rounding` names.
pub fn encode(ty: Type, parts: Parts, rounding: Rounding) -> u64 {
    let format = Format::of(ty);
    let (negative, mantissa, exponent) = match parts {
        Parts::Nan => return format.infinity() | (1 << (format.mantissa_bits - 1)),
        Parts::Infinite { negative } => return format.infinity() | format.sign(negative),
        Parts::Finite {
            negative,
            mantissa,
            exponent,
        } => (negative, mantissa, exponent),
    };
    let sign = format.sign(negative);
    if mantissa == 0 {
        return sign;
    }
    let top = 127 - mantissa.leading_zeros() as i32 + exponent;
    let mut last = top.max(1 - format.bias()) - format.mantissa_bits as i32;
    let shift = last - exponent;
    let (mut kept, above_half, exact, half) = match shift {
        ..=0 => (mantissa << -shift, false, true, false),
        1..=127 => {
            let rest = mantissa & ((1 << shift) - 1);
            let half = 1 << (shift - 1);
            (mantissa >> shift, rest > half, rest == 0, rest == half)
        }
        _ => (0, false, false, false),
    };
    let up = match rounding {
        Rounding::Rte => above_half || (half && kept & 1 == 1),
        Rounding::Rtz => false,
        Rounding::Rtp => !exact && !negative,
        Rounding::Rtn => !exact && negative,
    };
    kept += u128::from(up);
    if kept >> (format.mantissa_bits + 1) != 0 {
        kept >>= 1;
        last += 1;
    }
    if kept >> format.mantissa_bits == 0 {
        return sign | kept as u64;
    }
    let field = last + format.mantissa_bits as i32 + format.bias();
    if field >= (1 << format.exponent_bits) - 1 {
        let to_infinity = match rounding {
            Rounding::Rte => true,
            Rounding::Rtz => false,
            Rounding::Rtp => !negative,
            Rounding::Rtn => negative,
        };
        return sign | (format.infinity() - u64::from(!to_infinity));
    }
    sign | ((field as u64) << format.mantissa_bits)
        | (kept as u64 & ((1 << format.mantissa_bits) - 1))
}

/// The value as a double; exact for every format.
pub fn to_f64(ty: Type, bits: u64) -> f64 {
    f64::from_bits(encode(Type::F64, decode(ty, bits), Rounding::Rte))
}

/// A double rounded to nearest even.
pub fn from_f64(ty: Type, value: f64) -> u64 {
    encode(ty, decode(Type::F64, value.to_bits()), Rounding::Rte)
}

/// The integer of `value` rounded as asked (`None`: toward zero); `None` for NaN and beyond 127 bits.
pub fn to_integer(ty: Type, bits: u64, rounding: Option<Rounding>) -> Option<i128> {
    let value = to_f64(ty, bits);
    let rounded = match rounding {
        Some(Rounding::Rte) => value.round_ties_even(),
        None | Some(Rounding::Rtz) => value.trunc(),
        Some(Rounding::Rtp) => value.ceil(),
        Some(Rounding::Rtn) => value.floor(),
    };
    (rounded.abs() < 1e38).then_some(rounded as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_round_to_floats_as_the_processor_does() {
        let mut state = 1u64;
        for _ in 0..10_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // Exponents around the range of floats, subnormal ones and overflow included.
            let exponent = 1023 - 160 + (state >> 33) % 320;
            let value = f64::from_bits((state << 32 >> 12) | (exponent << 52) | (state << 63));
            let float = f32::from_bits(from_f64(Type::F32, value) as u32);
            assert_eq!(float.to_bits(), (value as f32).to_bits(), "{value:e}");
            assert_eq!(to_f64(Type::F32, float.to_bits().into()), f64::from(float));
        }
    }

    #[test]
    fn directed_rounding_brackets_the_value() {
        let third = decode(Type::F64, (1.0f64 / 3.0).to_bits());
        let up = encode(Type::F16, third, Rounding::Rtp);
        let down = encode(Type::F16, third, Rounding::Rtn);
        assert_eq!(up, down + 1);
        let huge = decode(Type::F64, 1e10f64.to_bits());
        assert_eq!(encode(Type::F16, huge, Rounding::Rtz), 0x7BFF);
        assert_eq!(encode(Type::F16, huge, Rounding::Rte), 0x7C00);
    }
}
