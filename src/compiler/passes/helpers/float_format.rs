//! The bits of IEEE 754 formats.

use crate::compiler::ir::Type;

/// How a float type is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatFormat {
    /// The integer type of the same width.
    pub int: Type,
    /// Bits of the fraction, without the implicit one.
    pub fraction_bits: u32,
    /// Exponent bias.
    pub bias: u32,
}

impl FloatFormat {
    /// The format of `F16` or `F64`; of `F32` for any other type.
    pub fn of(ty: Type) -> Self {
        let (int, fraction_bits, bias) = match ty {
            Type::F16 => (Type::I16, 10, 15),
            Type::F64 => (Type::I64, 52, 1023),
            _ => (Type::I32, 23, 127),
        };
        Self {
            int,
            fraction_bits,
            bias,
        }
    }

    /// The sign bit.
    pub fn sign(self) -> u64 {
        1 << (self.int.bits() - 1)
    }

    /// All but the sign bit.
    pub fn magnitude(self) -> u64 {
        self.sign() - 1
    }

    /// Positive infinity, which is also the exponent's mask.
    pub fn infinity(self) -> u64 {
        u64::from(2 * self.bias + 1) << self.fraction_bits
    }

    /// A quiet NaN.
    pub fn nan(self) -> u64 {
        self.infinity() | 1 << (self.fraction_bits - 1)
    }

    /// The fraction's mask.
    pub fn fraction(self) -> u64 {
        (1 << self.fraction_bits) - 1
    }

    /// Two to a power in the range of normal numbers.
    pub fn power_of_two(self, exponent: i32) -> u64 {
        ((self.bias as i32 + exponent) as u64) << self.fraction_bits
    }

    /// The number nearest to `value`, which is zero or in the range of normal numbers.
    pub fn encode(self, value: f64) -> u64 {
        let bits = value.to_bits();
        let sign = bits >> 63 << (self.int.bits() - 1);
        if value == 0.0 {
            return sign;
        }
        let cut = 52 - self.fraction_bits;
        let magnitude = bits & (u64::MAX >> 1);
        let rebased = magnitude - (u64::from(1023 - self.bias) << 52);
        if cut == 0 {
            return sign | rebased;
        }
        let odd = rebased >> cut & 1;
        sign | (rebased + (1 << (cut - 1)) - 1 + odd) >> cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_as_rust_does() {
        for value in [1.0, -2.5, 0.1, 1e10, 3.4e38, -1.2e-38, 0.0, -0.0] {
            let (single, double) = (FloatFormat::of(Type::F32), FloatFormat::of(Type::F64));
            assert_eq!(single.encode(value), u64::from((value as f32).to_bits()));
            assert_eq!(double.encode(value), value.to_bits());
        }
        let half = FloatFormat::of(Type::F16);
        assert_eq!(half.encode(1.0), 0x3c00);
        assert_eq!(half.encode(-65504.0), 0xfbff);
        assert_eq!(half.encode(1.0 / 3.0), 0x3555);
        assert_eq!(half.infinity(), 0x7c00);
        assert_eq!(half.power_of_two(1), 0x4000);
        assert_eq!(FloatFormat::of(Type::F32).nan(), 0x7fc0_0000);
    }
}
