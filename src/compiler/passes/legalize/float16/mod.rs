//! Half floats as the 16 bits that encode them, on devices without `shaderFloat16`.
//!
//! Needs: `legalize::memory` ran, so halves are loaded and stored as I16.
//!
//! An F16 becomes an I16 (and an I32 in `legalize::small_ints` where that is lacking too). Conversions to and
//! from F32 are done in integer arithmetic, exactly and with any rounding: the pack and unpack functions
//! of GLSL may flush denormals and round as they like. Arithmetic goes through F32 and is rounded
//! back, which is correctly rounded for + - * / because 24 ≥ 2·11 + 2; a fused multiply-add is not, and
//! is refused.
//!
//! Afterwards: no F16.

#[cfg(test)]
mod tests;

use crate::compiler::ir::{
    Binary, Builder, Compare, Convert, Edge, Module, Op, Rounding, Type, Unary, Value,
};
use crate::compiler::passes::helpers::expand_values::{
    Expanded, Expander, Expansion, expand_function,
};
use crate::compiler::passes::helpers::folding;
use crate::compiler::{Capabilities, CompileError, Context};
use smallvec::smallvec;

const SIGN: u64 = 0x8000;
const MAGNITUDE: u64 = 0x7fff;
const INFINITY: u64 = 0x7c00;
const LARGEST: u64 = 0x7bff;
const QUIET_NAN: u64 = 0x7e00;
const MIN_NORMAL: u64 = 0x400;
/// The difference between the biases of the exponents of F32 and F16, in F32's exponent field.
const REBIAS: u64 = (127 - 15) << 23;

/// Replaces half floats in every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    legalize(module, cx.capabilities)
}

fn legalize(module: &mut Module, device: &Capabilities) -> Result<(), CompileError> {
    if device.float16 {
        return Ok(());
    }
    if let Some(array) = module.arrays.iter().find(|a| a.element == Type::F16) {
        return Err(CompileError::unsupported(format!(
            "the array '{}' has f16 elements, which the device lacks",
            array.name
        )));
    }
    module
        .functions
        .iter_mut()
        .try_for_each(|function| expand_function(function, &mut Halves))
}

struct Halves;

impl Expander for Halves {
    fn parts(&self, ty: Type) -> Option<&'static [Type]> {
        (ty == Type::F16).then_some(&[Type::I16])
    }

    fn instruction(&mut self, x: &mut Expansion<'_>, op: &Op, types: &[Type]) -> Expanded {
        // The same operation on F32 operands.
        let wide = |x: &mut Expansion<'_>| {
            let mut wide = op.clone();
            wide.for_each_operand_mut(|v| *v = widened(x, *v));
            wide
        };
        let result = match op {
            Op::Const(bits) => x.b.constant(Type::I16, *bits),
            Op::Unary(Unary::FNegate, a) => {
                let a = x.one(*a);
                folding::binary_const(&mut x.b, Binary::Xor, a, SIGN)
            }
            Op::Unary(Unary::SignBitSet, a) => {
                let a = x.one(*a);
                let sign = folding::binary_const(&mut x.b, Binary::And, a, SIGN);
                let zero = x.b.constant(Type::I16, 0);
                folding::compare(&mut x.b, Compare::NotEqual, sign, zero)
            }
            Op::Unary(op @ (Unary::IsNan | Unary::IsInf | Unary::IsFinite), a) => {
                let a = x.one(*a);
                classify(&mut x.b, *op, a)
            }
            Op::Compare(..) => {
                let op = wide(x);
                x.b.op1(op, Type::Bool)
            }
            Op::Binary(op, ..) if op.is_float() => {
                let op = wide(x);
                let value = x.b.op1(op, Type::F32);
                from_f32(&mut x.b, value, Rounding::Rte)
            }
            Op::Glsl(_, _) if types == [Type::F16] => {
                let op = wide(x);
                let value = x.b.op1(op, Type::F32);
                from_f32(&mut x.b, value, Rounding::Rte)
            }
            Op::Convert(op, a) => convert(x, *op, *a, types[0])?,
            other => {
                return Err(CompileError::unsupported(format!(
                    "'{other}' on half floats is not supported on a device without them"
                )));
            }
        };
        Ok(vec![smallvec![result]])
    }

    fn switch(
        &mut self,
        _: &mut Expansion<'_>,
        _: Value,
        _: Vec<(u64, Edge)>,
        _: Edge,
    ) -> Result<(), CompileError> {
        Err(CompileError::invalid("a switch on a half float"))
    }
}

/// What stands for `value`, as F32 if it is a half.
fn widened(x: &mut Expansion<'_>, value: Value) -> Value {
    let half = x.ty(value) == Type::F16;
    let value = x.one(value);
    if half { to_f32(&mut x.b, value) } else { value }
}

fn convert(x: &mut Expansion<'_>, op: Convert, a: Value, to: Type) -> Result<Value, CompileError> {
    let from = x.ty(a);
    match op {
        Convert::Bitcast => Ok(x.one(a)),
        Convert::FloatToFloat(rounding) => match (from, to) {
            (Type::F16, Type::F32) => Ok(widened(x, a)),
            (Type::F16, Type::F64) => {
                let single = widened(x, a);
                Ok(x.b.convert(op, single, Type::F64))
            }
            (Type::F32, Type::F16) => {
                let a = x.one(a);
                Ok(from_f32(&mut x.b, a, rounding.unwrap_or(Rounding::Rte)))
            }
            _ => Err(CompileError::unsupported(format!(
                "conversion from {from} to {to} is not supported on a device without half floats"
            ))),
        },
        Convert::FloatToUnsigned { .. } | Convert::FloatToSigned { .. } => {
            let single = widened(x, a);
            Ok(x.b.convert(op, single, to))
        }
        // Integers that F32 can't hold exactly are infinite as halves anyway.
        Convert::UnsignedToFloat(rounding) | Convert::SignedToFloat(rounding) => {
            let a = x.one(a);
            let single = x.b.convert(op, a, Type::F32);
            Ok(from_f32(
                &mut x.b,
                single,
                rounding.unwrap_or(Rounding::Rte),
            ))
        }
        _ => Err(CompileError::unsupported(format!(
            "conversion {op:?} from {from} to {to} of half floats is not supported"
        ))),
    }
}

fn classify(b: &mut Builder<'_>, op: Unary, a: Value) -> Value {
    let magnitude = folding::binary_const(b, Binary::And, a, MAGNITUDE);
    let infinity = b.constant(Type::I16, INFINITY);
    match op {
        Unary::IsInf => folding::compare(b, Compare::Equal, magnitude, infinity),
        Unary::IsNan => folding::compare(b, Compare::ULess, infinity, magnitude),
        _ => folding::compare(b, Compare::ULess, magnitude, infinity),
    }
}

/// The F32 of equal value, from an I16 that encodes a half.
pub fn to_f32(b: &mut Builder<'_>, half: Value) -> Value {
    let bits = b.convert(Convert::ZeroExtend, half, Type::I32);
    let magnitude = folding::binary_const(b, Binary::And, bits, MAGNITUDE);
    let field = folding::binary_const(b, Binary::Shl, magnitude, 13);
    let normal = folding::binary_const(b, Binary::Add, field, REBIAS);
    let special = folding::binary_const(b, Binary::Or, field, 0x7f80_0000);
    // A denormal is its significand times 2^-24, a normal F32.
    let significand = b.convert(Convert::UnsignedToFloat(None), magnitude, Type::F32);
    let scale = b.f32(1.0 / 16_777_216.0);
    let denormal = b.binary(Binary::FMul, significand, scale);
    let denormal = b.bitcast(denormal, Type::I32);

    let infinity = b.i32(INFINITY as u32);
    let is_finite = folding::compare(b, Compare::ULess, magnitude, infinity);
    let min_normal = b.i32(MIN_NORMAL as u32);
    let is_denormal = folding::compare(b, Compare::ULess, magnitude, min_normal);
    let finite = folding::select(b, is_denormal, denormal, normal);
    let unsigned = folding::select(b, is_finite, finite, special);
    let sign = folding::binary_const(b, Binary::And, bits, SIGN);
    let sign = folding::binary_const(b, Binary::Shl, sign, 16);
    let all = folding::binary(b, Binary::Or, unsigned, sign);
    b.bitcast(all, Type::F32)
}

/// The I16 that encodes the half nearest to an F32 in the given direction.
pub fn from_f32(b: &mut Builder<'_>, single: Value, rounding: Rounding) -> Value {
    use Binary::{AShr, Add, And, LShr, Or, Shl, Sub, UMin};
    let bits = b.bitcast(single, Type::I32);
    let magnitude = folding::binary_const(b, And, bits, 0x7fff_ffff);
    let exponent = folding::binary_const(b, LShr, magnitude, 23);
    let zero = b.i32(0);

    // The half's bits are `base` shifted right by `shift`, rounded. A normal result keeps exponent and
    // significand in place; a denormal one is the significand, its leading one made explicit, in units
    // of 2^-24. Beyond a shift of 25 every bit is below half a unit.
    let least = b.i32(REBIAS as u32 + (1 << 23));
    let is_denormal = folding::compare(b, Compare::ULess, magnitude, least);
    let fraction = folding::binary_const(b, And, magnitude, 0x007f_ffff);
    let explicit = folding::binary_const(b, Or, fraction, 0x0080_0000);
    let is_tiny = folding::compare(b, Compare::Equal, exponent, zero);
    let significand = folding::select(b, is_tiny, fraction, explicit);
    let rebased = folding::binary_const(b, Sub, magnitude, REBIAS);
    let base = folding::select(b, is_denormal, significand, rebased);
    let distance = b.i32(126);
    let distance = folding::binary(b, Sub, distance, exponent);
    let distance = folding::binary_const(b, UMin, distance, 25);
    let normal_shift = b.i32(13);
    let shift = folding::select(b, is_denormal, distance, normal_shift);

    let one = b.i32(1);
    let unit = folding::binary(b, Shl, one, shift);
    let below_unit = folding::binary_const(b, Sub, unit, 1);
    let sign_mask = folding::binary_const(b, AShr, bits, 31);
    let increment = match rounding {
        Rounding::Rte => {
            let half = folding::binary_const(b, LShr, unit, 1);
            let below_half = folding::binary_const(b, Sub, half, 1);
            let kept = folding::binary(b, LShr, base, shift);
            let odd = folding::binary_const(b, And, kept, 1);
            folding::binary(b, Add, below_half, odd)
        }
        Rounding::Rtz => zero,
        Rounding::Rtn => folding::binary(b, And, below_unit, sign_mask),
        Rounding::Rtp => {
            let positive = b.unary(Unary::Not, sign_mask);
            folding::binary(b, And, below_unit, positive)
        }
    };
    let sum = folding::binary(b, Add, base, increment);
    let rounded = folding::binary(b, LShr, sum, shift);

    // Overflow goes to infinity, or to the largest number where rounding points back to zero.
    let (largest, infinite) = (b.i32(LARGEST as u32), b.i32(INFINITY as u32));
    let is_negative = folding::compare(b, Compare::NotEqual, sign_mask, zero);
    let limit = match rounding {
        Rounding::Rte => infinite,
        Rounding::Rtz => largest,
        Rounding::Rtn => folding::select(b, is_negative, infinite, largest),
        Rounding::Rtp => folding::select(b, is_negative, largest, infinite),
    };
    let finite = folding::binary(b, UMin, rounded, limit);

    let float_infinity = b.i32(0x7f80_0000);
    let is_infinite = folding::compare(b, Compare::Equal, magnitude, float_infinity);
    let is_nan = folding::compare(b, Compare::ULess, float_infinity, magnitude);
    let nan = b.i32(QUIET_NAN as u32);
    let unsigned = folding::select(b, is_infinite, infinite, finite);
    let unsigned = folding::select(b, is_nan, nan, unsigned);
    let sign = folding::binary_const(b, LShr, bits, 16);
    let sign = folding::binary_const(b, And, sign, SIGN);
    let all = folding::binary(b, Or, unsigned, sign);
    b.convert(Convert::Truncate, all, Type::I16)
}
