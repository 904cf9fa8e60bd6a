//! Scalars in collectives: as 32-bit words, and the values that change nothing.

use crate::compiler::CompileError;
use crate::compiler::ir::{Binary, Builder, Compare, Convert, Type, Value, Values};
use smallvec::smallvec;

/// The value that leaves others as they are (cl_khr_subgroups: "the identity I"), as a constant.
pub fn identity_value(b: &mut Builder<'_>, op: Binary, ty: Type) -> Result<Value, CompileError> {
    Ok(b.constant(ty, identity(op, ty)?))
}

/// Its bits.
pub fn identity(op: Binary, ty: Type) -> Result<u64, CompileError> {
    let float = |half: u64, single: f32, double: f64| match ty {
        Type::F16 => half,
        Type::F64 => double.to_bits(),
        _ => single.to_bits().into(),
    };
    // The largest signed integer; the bits of the least are the others.
    let largest = ty.mask() >> 1;
    Ok(match op {
        Binary::Add | Binary::Or | Binary::Xor | Binary::UMax => 0,
        Binary::Mul => 1,
        Binary::And | Binary::UMin => ty.mask(),
        Binary::SMin => largest,
        Binary::SMax => ty.mask() - largest,
        Binary::FAdd => 0,
        Binary::FMul => float(0x3c00, 1.0, 1.0),
        Binary::FMin => float(0x7c00, f32::INFINITY, f64::INFINITY),
        Binary::FMax => float(0xfc00, f32::NEG_INFINITY, f64::NEG_INFINITY),
        other => {
            return Err(CompileError::internal(format!(
                "{other:?} is no operation of collectives"
            )));
        }
    })
}

/// The 32-bit words that make up a value, low ones first.
pub fn to_words(b: &mut Builder<'_>, value: Value) -> Values {
    let ty = b.ty(value);
    match ty {
        Type::Bool => {
            let (one, zero) = (b.i32(1), b.i32(0));
            smallvec![b.select(value, one, zero)]
        }
        Type::I64 | Type::F64 => {
            let bits = b.bitcast(value, Type::I64);
            let low = b.convert(Convert::Truncate, bits, Type::I32);
            let high = b.binary_const(Binary::LShr, bits, 32);
            let high = b.convert(Convert::Truncate, high, Type::I32);
            smallvec![low, high]
        }
        Type::I32 => smallvec![value],
        Type::F32 => smallvec![b.bitcast(value, Type::I32)],
        Type::I8 | Type::I16 | Type::F16 => {
            let bits = if ty == Type::F16 { Type::I16 } else { ty };
            let bits = b.bitcast(value, bits);
            smallvec![b.convert(Convert::ZeroExtend, bits, Type::I32)]
        }
        // Never operands of collectives; addresses would be words as they are.
        Type::Ptr(_) => {
            let bits = b.convert(Convert::PtrToInt, value, Type::I64);
            to_words(b, bits)
        }
    }
}

/// The value that [`to_words`] took apart.
pub fn from_words(b: &mut Builder<'_>, words: &[Value], ty: Type) -> Result<Value, CompileError> {
    Ok(match (ty, words) {
        (Type::Bool, &[word]) => {
            let zero = b.i32(0);
            b.compare(Compare::NotEqual, word, zero)
        }
        (Type::I64 | Type::F64 | Type::Ptr(_), &[low, high]) => {
            let low = b.convert(Convert::ZeroExtend, low, Type::I64);
            let high = b.convert(Convert::ZeroExtend, high, Type::I64);
            let high = b.binary_const(Binary::Shl, high, 32);
            let bits = b.binary(Binary::Or, low, high);
            match ty {
                Type::Ptr(_) => b.convert(Convert::IntToPtr, bits, ty),
                _ => b.bitcast(bits, ty),
            }
        }
        (Type::I32 | Type::F32, &[word]) => b.bitcast(word, ty),
        (Type::I8 | Type::I16, &[word]) => b.convert(Convert::Truncate, word, ty),
        (Type::F16, &[word]) => {
            let bits = b.convert(Convert::Truncate, word, Type::I16);
            b.bitcast(bits, ty)
        }
        _ => {
            return Err(CompileError::internal(format!(
                "{} words of {ty}",
                words.len()
            )));
        }
    })
}

/// The number of 32-bit words that a value takes.
pub fn word_count(ty: Type) -> usize {
    ty.bits().div_ceil(32) as usize
}
