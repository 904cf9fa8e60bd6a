//! Scalars as the integers that memory holds for them, whole or in pieces (little-endian).
//!
//! Shared by the passes that turn memory into values: `promote`, `lower::arguments`, `lower::pointers`.

use crate::compiler::ir::{Binary, Builder, Compare, Convert, Type, Value};

/// The integer type that memory holds for a value of type `ty`: 8 bits for booleans, 64 for pointers.
pub fn memory_int(ty: Type) -> Type {
    match ty.size_bytes() {
        1 => Type::I8,
        2 => Type::I16,
        4 => Type::I32,
        _ => Type::I64,
    }
}

/// The value's bits as an integer of its size in memory.
pub fn to_int(b: &mut Builder<'_>, value: Value) -> Value {
    let ty = b.ty(value);
    match ty {
        Type::Bool => {
            let (one, zero) = (b.constant(Type::I8, 1), b.constant(Type::I8, 0));
            b.select(value, one, zero)
        }
        Type::Ptr(_) => b.convert(Convert::PtrToInt, value, Type::I64),
        _ => b.bitcast(value, memory_int(ty)),
    }
}

/// A value of type `ty` from an integer of its size in memory.
pub fn from_int(b: &mut Builder<'_>, int: Value, ty: Type) -> Value {
    match ty {
        Type::Bool => {
            let zero = b.constant(Type::I8, 0);
            b.compare(Compare::NotEqual, int, zero)
        }
        Type::Ptr(_) => b.convert(Convert::IntToPtr, int, ty),
        _ => b.bitcast(int, ty),
    }
}

/// A value of type `ty` from another of the same size in memory.
pub fn reinterpret(b: &mut Builder<'_>, value: Value, ty: Type) -> Value {
    let from = b.ty(value);
    if from == ty {
        return value;
    }
    if let (Type::Ptr(_), Type::Ptr(_)) = (from, ty) {
        return b.convert(Convert::AddressSpaceCast, value, ty);
    }
    let int = to_int(b, value);
    from_int(b, int, ty)
}

/// The integer of type `piece` at `offset_bytes` in an integer.
pub fn extract(b: &mut Builder<'_>, int: Value, offset_bytes: u32, piece: Type) -> Value {
    let mut shifted = int;
    if offset_bytes > 0 {
        let amount = b.i32(offset_bytes * 8);
        shifted = b.binary(Binary::LShr, int, amount);
    }
    b.resize_int(shifted, piece, false)
}

/// The integer of type `ty` made of integers at byte offsets, which do not overlap.
pub fn join(b: &mut Builder<'_>, pieces: &[(u32, Value)], ty: Type) -> Value {
    let mut whole = None;
    for &(offset_bytes, piece) in pieces {
        let mut part = b.resize_int(piece, ty, false);
        if offset_bytes > 0 {
            let amount = b.i32(offset_bytes * 8);
            part = b.binary(Binary::Shl, part, amount);
        }
        whole = Some(match whole {
            None => part,
            Some(low) => b.binary(Binary::Or, low, part),
        });
    }
    whole.unwrap_or_else(|| b.constant(ty, 0))
}

/// Byte offsets of consecutive scalars, each at the next multiple of its size, and where they end.
pub fn offsets_of(types: impl IntoIterator<Item = Type>) -> (Vec<u32>, u32) {
    let mut end = 0u32;
    let offsets = types
        .into_iter()
        .map(|ty| {
            let offset = end.next_multiple_of(ty.size_bytes());
            end = offset + ty.size_bytes();
            offset
        })
        .collect();
    (offsets, end)
}
