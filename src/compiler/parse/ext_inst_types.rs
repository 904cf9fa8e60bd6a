//! The types that functions of `OpenCL.std` take (OpenCL Extended Instruction Set Specification, section 2):
//! what is built on them afterwards relies on it.

use crate::compiler::ir::Type;
use rspirv::spirv::OpenclStd100Op as Std;

/// What one operand must be, for a component.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    /// The type of the result.
    Same,
    /// A 32-bit integer.
    Int32,
    /// An integer of the result's width.
    IntOfWidth,
    /// An integer of half the result's width.
    IntOfHalfWidth,
    /// A float of any width.
    Float,
    Pointer,
}

/// What the result must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float,
    Int,
    Number,
}

/// Whether a component-wise function takes operands of these types for a result of that type. What the table does not know is
/// no such function.
pub(super) fn fits(function: Std, operands: &[Type], result: Type) -> bool {
    let Some((kind, expected)) = signature(function) else {
        return false;
    };
    let kind_fits = match kind {
        Kind::Float => result.is_float(),
        Kind::Int => result.is_int(),
        Kind::Number => result.is_float() || result.is_int(),
    };
    let operand_fits = |(operand, expected): (&Type, &Operand)| match expected {
        Operand::Same => *operand == result,
        Operand::Int32 => *operand == Type::I32,
        Operand::IntOfWidth => operand.is_int() && operand.bits() == result.bits(),
        Operand::IntOfHalfWidth => operand.is_int() && operand.bits() * 2 == result.bits(),
        Operand::Float => operand.is_float(),
        Operand::Pointer => operand.is_pointer(),
    };
    kind_fits && operands.len() == expected.len() && operands.iter().zip(expected).all(operand_fits)
}

/// Whether a geometric function takes vectors of so many components, all of the type of the first result, for these results:
/// one or two vectors (section 2.4), of which a scalar is one.
pub(super) fn fits_vectors(function: Std, operands: &[usize], results: &[Type]) -> bool {
    let is_of_floats = results.first().is_some_and(|ty| ty.is_float());
    let is_of_one_type = results.windows(2).all(|pair| pair[0] == pair[1]);
    let count_fits = matches!(*operands, [1..=4] | [1, 1] | [2, 2] | [3, 3] | [4, 4]);
    let fits = match function {
        Std::cross => matches!(*operands, [a, b] if a == b && a == results.len() && a > 2),
        Std::distance | Std::fast_distance => operands.len() == 2 && results.len() == 1,
        Std::length | Std::fast_length => operands.len() == 1 && results.len() == 1,
        _ => *operands == [results.len()],
    };
    is_of_floats && is_of_one_type && count_fits && fits
}

fn signature(function: Std) -> Option<(Kind, &'static [Operand])> {
    use Operand::{Float, Int32, IntOfHalfWidth, IntOfWidth, Pointer, Same};
    const ONE: &[Operand] = &[Same];
    const TWO: &[Operand] = &[Same, Same];
    const THREE: &[Operand] = &[Same, Same, Same];
    Some(match function {
        Std::acos | Std::acosh | Std::acospi | Std::asin | Std::asinh | Std::asinpi => {
            (Kind::Float, ONE)
        }
        Std::atan | Std::atanh | Std::atanpi | Std::cbrt | Std::ceil | Std::cos | Std::cosh => {
            (Kind::Float, ONE)
        }
        Std::cospi | Std::erfc | Std::erf | Std::exp | Std::exp2 | Std::exp10 | Std::expm1 => {
            (Kind::Float, ONE)
        }
        Std::fabs | Std::floor | Std::lgamma | Std::log | Std::log2 | Std::log10 | Std::log1p => {
            (Kind::Float, ONE)
        }
        Std::logb | Std::rint | Std::round | Std::rsqrt | Std::sin | Std::sinh | Std::sinpi => {
            (Kind::Float, ONE)
        }
        Std::sqrt | Std::tan | Std::tanh | Std::tanpi | Std::tgamma | Std::trunc => {
            (Kind::Float, ONE)
        }
        Std::half_cos | Std::half_exp | Std::half_exp2 | Std::half_exp10 | Std::half_log => {
            (Kind::Float, ONE)
        }
        Std::half_log2 | Std::half_log10 | Std::half_recip | Std::half_rsqrt | Std::half_sin => {
            (Kind::Float, ONE)
        }
        Std::half_sqrt | Std::half_tan | Std::native_cos | Std::native_exp | Std::native_exp2 => {
            (Kind::Float, ONE)
        }
        Std::native_exp10 | Std::native_log | Std::native_log2 | Std::native_log10 => {
            (Kind::Float, ONE)
        }
        Std::native_recip | Std::native_rsqrt | Std::native_sin | Std::native_sqrt => {
            (Kind::Float, ONE)
        }
        Std::native_tan | Std::degrees | Std::radians | Std::sign => (Kind::Float, ONE),
        Std::atan2 | Std::atan2pi | Std::copysign | Std::fdim | Std::fmax | Std::fmin => {
            (Kind::Float, TWO)
        }
        Std::fmod | Std::hypot | Std::maxmag | Std::minmag | Std::nextafter | Std::pow => {
            (Kind::Float, TWO)
        }
        Std::powr | Std::remainder | Std::half_divide | Std::half_powr => (Kind::Float, TWO),
        Std::native_divide | Std::native_powr | Std::fmax_common | Std::fmin_common | Std::step => {
            (Kind::Float, TWO)
        }
        Std::fma | Std::mad | Std::fclamp | Std::mix | Std::smoothstep => (Kind::Float, THREE),
        Std::fract | Std::frexp | Std::lgamma_r | Std::modf | Std::sincos => {
            (Kind::Float, &[Same, Pointer])
        }
        Std::remquo => (Kind::Float, &[Same, Same, Pointer]),
        Std::ldexp | Std::pown | Std::rootn => (Kind::Float, &[Same, Int32]),
        Std::nan => (Kind::Float, &[IntOfWidth]),
        Std::ilogb => (Kind::Int, &[Float]),

        Std::s_abs | Std::u_abs | Std::clz | Std::ctz | Std::popcount => (Kind::Int, ONE),
        Std::s_abs_diff | Std::u_abs_diff | Std::s_add_sat | Std::u_add_sat => (Kind::Int, TWO),
        Std::s_hadd | Std::u_hadd | Std::s_rhadd | Std::u_rhadd => (Kind::Int, TWO),
        Std::s_max | Std::u_max | Std::s_min | Std::u_min | Std::s_mul_hi => (Kind::Int, TWO),
        Std::u_mul_hi | Std::rotate | Std::s_sub_sat | Std::u_sub_sat => (Kind::Int, TWO),
        Std::s_mul24 | Std::u_mul24 => (Kind::Int, TWO),
        Std::s_clamp | Std::u_clamp | Std::s_mad_hi | Std::u_mad_hi => (Kind::Int, THREE),
        Std::s_mad_sat | Std::u_mad_sat | Std::s_mad24 | Std::u_mad24 => (Kind::Int, THREE),
        Std::s_upsample | Std::u_upsample => (Kind::Int, &[IntOfHalfWidth, IntOfHalfWidth]),
        Std::bitselect => (Kind::Number, THREE),
        Std::select => (Kind::Number, &[Same, Same, IntOfWidth]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::AddressSpace;

    /// A damaged module had `distance` of one operand, which ended the compiler.
    #[test]
    fn geometric_functions_take_one_or_two_vectors() {
        let fits = |function, operands: &[usize], results: usize| {
            fits_vectors(function, operands, &vec![Type::F32; results])
        };
        for lanes in 1..=4 {
            assert!(fits(Std::length, &[lanes], 1) && fits(Std::distance, &[lanes, lanes], 1));
            assert!(fits(Std::normalize, &[lanes], lanes));
            assert!(!fits(Std::distance, &[lanes], 1) && !fits(Std::length, &[lanes, lanes], 1));
            assert_eq!(fits(Std::cross, &[lanes, lanes], lanes), lanes > 2);
        }
        assert!(!fits(Std::length, &[], 1) && !fits(Std::length, &[3], 0));
        assert!(!fits(Std::distance, &[3, 4], 1) && !fits(Std::normalize, &[8], 8));
        assert!(!fits_vectors(Std::length, &[3], &[Type::I32]));
    }

    #[test]
    fn types_and_their_number_must_be_those_of_the_function() {
        const F: Type = Type::F32;
        const I: Type = Type::I32;
        let pointer = Type::Ptr(AddressSpace::Private);
        assert!(fits(Std::pow, &[F, F], F));
        assert!(!fits(Std::pow, &[F], F));
        assert!(!fits(Std::pow, &[F, I], F));
        assert!(!fits(Std::pow, &[F, Type::F64], F));
        assert!(fits(Std::ldexp, &[Type::F64, I], Type::F64));
        assert!(!fits(Std::sincos, &[F, F], F));
        assert!(fits(Std::sincos, &[F, pointer], F));
        assert!(fits(Std::ilogb, &[Type::F64], I));
        assert!(fits(Std::u_upsample, &[Type::I8, Type::I8], Type::I16));
        assert!(!fits(Std::u_upsample, &[Type::I8, Type::I8], I));
        assert!(!fits(Std::rotate, &[pointer, pointer], pointer));
        assert!(fits(Std::select, &[F, F, I], F));
        assert!(!fits(Std::select, &[F, F, Type::I64], F));
    }
}
