//! Byte offsets in 32 bits, and element indices from them.
//!
//! Offsets within local and private memory fit 32 bits, but front ends compute them in 64. The truncation is
//! pushed through the arithmetic, so that no 64-bit operation is left for them. Dividing by the element size
//! undoes the multiplication where the offset was made of multiples: sums and products in an offset are taken
//! not to wrap around 32 bits, as they could only do and still end within the array by a detour of 2 GiB.

use crate::compiler::ir::{Binary, Builder, Convert, Op, Type, Value, ValueDef};
use std::collections::HashMap;

/// How deep an expression is followed.
const DEPTH: u32 = 8;

/// What is known of the offsets of one function.
#[derive(Default)]
pub struct Offsets {
    /// Pointers as before, and the offsets that they became.
    lowered: HashMap<Value, Value>,
}

impl Offsets {
    /// Notes that a pointer became an offset.
    pub fn set(&mut self, pointer: Value, offset: Value) {
        self.lowered.insert(pointer, offset);
    }

    /// The offset that a pointer became, as far as it is known already.
    fn get(&self, pointer: Value) -> Value {
        self.lowered.get(&pointer).copied().unwrap_or(pointer)
    }

    /// `base + offset`, offsets within an array.
    pub fn add(&mut self, b: &mut Builder<'_>, base: Value, offset: Value) -> Value {
        let base = self.get(base);
        if b.function.constant(offset) == Some(0) {
            return base;
        }
        if b.function.constant(base) == Some(0) {
            return offset;
        }
        b.op1(Op::Binary(Binary::Add, base, offset), Type::I32)
    }

    /// `count * stride_bytes`, an offset within an array.
    pub fn scale(&self, b: &mut Builder<'_>, count: Value, stride_bytes: u32) -> Value {
        if stride_bytes == 1 {
            return count;
        }
        b.binary_const(Binary::Mul, count, stride_bytes.into())
    }

    /// The low 32 bits of an integer (sign-extended if narrower), an offset in bytes.
    pub fn narrow(&self, b: &mut Builder<'_>, value: Value) -> Value {
        match b.ty(value) {
            Type::I64 => self.narrow64(b, value, DEPTH),
            _ => b.resize_int(value, Type::I32, true),
        }
    }

    fn narrow64(&self, b: &mut Builder<'_>, value: Value, depth: u32) -> Value {
        let op = b.function.op_of(value).cloned();
        match op {
            Some(Op::Const(bits)) if i32::try_from(bits as i64).is_ok() => b.i32(bits as u32),
            Some(Op::Convert(convert @ (Convert::ZeroExtend | Convert::SignExtend), from)) => {
                let signed = convert == Convert::SignExtend;
                b.resize_int(from, Type::I32, signed)
            }
            Some(Op::Binary(op @ (Binary::Add | Binary::Sub | Binary::Mul), x, y))
                if depth > 0 && fits(b, x) && fits(b, y) =>
            {
                let x = self.narrow64(b, x, depth - 1);
                let y = self.narrow64(b, y, depth - 1);
                b.binary(op, x, y)
            }
            Some(Op::Binary(Binary::Shl, x, amount))
                if depth > 0 && b.function.constant(amount).is_some_and(|n| n < 31) =>
            {
                let bits = b.function.constant(amount).unwrap_or(0);
                let x = self.narrow64(b, x, depth - 1);
                let amount = b.i32(bits as u32);
                b.binary(Binary::Shl, x, amount)
            }
            _ => b.convert(Convert::Truncate, value, Type::I32),
        }
    }

    /// The index of the element of `stride_bytes` (a power of two) that a pointer's offset, a multiple of
    /// it, names.
    pub fn index(&self, b: &mut Builder<'_>, pointer: Value, stride_bytes: u32) -> Value {
        let offset = self.get(pointer);
        let shift = stride_bytes.trailing_zeros();
        if shift == 0 {
            return offset;
        }
        match self.divide(b, offset, shift, DEPTH) {
            Some(index) => index,
            None => self.shift_right(b, offset, shift),
        }
    }

    fn shift_right(&self, b: &mut Builder<'_>, offset: Value, shift: u32) -> Value {
        // Signed: a part of a sum may be negative.
        let amount = b.i32(shift);
        b.op1(Op::Binary(Binary::AShr, offset, amount), Type::I32)
    }

    /// `value >> shift` where that needs no shift.
    fn divide(&self, b: &mut Builder<'_>, value: Value, shift: u32, depth: u32) -> Option<Value> {
        if let Some(bits) = b.function.constant(value) {
            let offset = bits as u32 as i32;
            return (offset % (1 << shift) == 0).then(|| b.i32((offset >> shift) as u32));
        }
        let ValueDef::Result { inst, .. } = b.function.value(value).def else {
            return None;
        };
        let Op::Binary(op, x, y) = b.function.inst(inst).op else {
            return None;
        };
        if depth == 0 {
            return None;
        }
        match op {
            Binary::Add | Binary::Sub => {
                let x_part = self.divide(b, x, shift, depth - 1);
                let y_part = self.divide(b, y, shift, depth - 1);
                // If one part is a multiple, and the whole is, so is the other.
                let (x, y) = match (x_part, y_part) {
                    (None, None) => return None,
                    (Some(x), Some(y)) => (x, y),
                    (Some(x), None) => (x, self.shift_right(b, y, shift)),
                    (None, Some(y)) => (self.shift_right(b, x, shift), y),
                };
                if b.function.constant(x) == Some(0) && op == Binary::Add {
                    return Some(y);
                }
                if b.function.constant(y) == Some(0) {
                    return Some(x);
                }
                Some(b.op1(Op::Binary(op, x, y), Type::I32))
            }
            Binary::Mul => {
                let factor = |value: Value| b.function.constant(value);
                let (x, factor) = match (factor(x), factor(y)) {
                    (_, Some(factor)) => (x, factor),
                    (Some(factor), None) => (y, factor),
                    (None, None) => return None,
                };
                // Signed, as a remainder is a number less a multiple of its quotient.
                let factor = factor as u32 as i32;
                if factor % (1 << shift) != 0 {
                    return None;
                }
                match factor >> shift {
                    1 => Some(x),
                    factor => {
                        let factor = b.i32(factor as u32);
                        Some(b.op1(Op::Binary(Binary::Mul, x, factor), Type::I32))
                    }
                }
            }
            Binary::Shl => {
                let amount = b.function.constant(y)? as u32;
                match amount.checked_sub(shift)? {
                    0 => Some(x),
                    left => {
                        let left = b.i32(left);
                        Some(b.op1(Op::Binary(Binary::Shl, x, left), Type::I32))
                    }
                }
            }
            _ => None,
        }
    }
}

/// Whether a constant operand keeps its value in 32 bits; others are not known, and assumed to.
fn fits(b: &Builder<'_>, value: Value) -> bool {
    b.function
        .constant(value)
        .is_none_or(|bits| i32::try_from(bits as i64).is_ok())
}
