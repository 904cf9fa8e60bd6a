//! Shifts, bit counting and bit fields.

use super::arithmetic::Class;
use super::decode::Instruction;
use super::function_parser::FunctionParser;
use crate::compiler::CompileError;
use crate::compiler::ir::{Binary, Builder, Compare, Type, Unary, Value};
use rspirv::spirv::Op;

impl<'a> FunctionParser<'_, 'a> {
    fn is_boolean(&mut self, inst: &Instruction<'a>, index: usize) -> Result<bool, CompileError> {
        let values = self.operand(inst, index)?;
        Ok(values.iter().all(|&value| self.ty(value) == Type::Bool))
    }

    /// Translates instructions on bits; false if the instruction is another.
    pub(super) fn bit_instruction(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        match inst.op {
            Op::ShiftLeftLogical => self.shift(inst, Binary::Shl)?,
            Op::ShiftRightLogical => self.shift(inst, Binary::LShr)?,
            Op::ShiftRightArithmetic => self.shift(inst, Binary::AShr)?,
            // clang-22 asks for the one bit of a boolean to be reversed, which the specification knows nothing of.
            Op::BitReverse if self.is_boolean(inst, 0)? => {
                let base = self.operand(inst, 0)?;
                self.each(inst, base.len(), |_, lane| base[lane])?;
            }
            Op::BitCount | Op::BitReverse => {
                let base = self.class_operand(inst, 0, Class::Int)?;
                let to = self.source.types.scalar(inst.result_type()?)?;
                let op = match inst.op {
                    Op::BitCount => Unary::BitCount,
                    _ => Unary::BitReverse,
                };
                if !to.is_int() {
                    return Err(inst.invalid("the result is not an integer"));
                }
                self.each(inst, base.len(), |b, lane| {
                    let count = b.unary(op, base[lane]);
                    b.resize_int(count, to, false)
                })?;
            }
            Op::BitFieldInsert => {
                let base = self.class_operand(inst, 0, Class::Int)?;
                let insert = self.class_operand(inst, 1, Class::Int)?;
                let (offset, count) = (self.integer(inst, 2)?, self.integer(inst, 3)?);
                let same = base.len() == insert.len()
                    && base
                        .iter()
                        .zip(&*insert)
                        .all(|(&a, &b)| self.ty(a) == self.ty(b));
                if !same {
                    return Err(inst.invalid("the operands' types do not match"));
                }
                self.each(inst, base.len(), |b, lane| {
                    let field = Field::new(b, base[lane], offset, count);
                    let mask = b.binary(Binary::Shl, field.mask, field.offset);
                    let moved = b.binary(Binary::Shl, insert[lane], field.offset);
                    let inside = b.binary(Binary::And, moved, mask);
                    let keep = b.unary(Unary::Not, mask);
                    let outside = b.binary(Binary::And, base[lane], keep);
                    b.binary(Binary::Or, inside, outside)
                })?;
            }
            Op::BitFieldUExtract | Op::BitFieldSExtract => {
                let base = self.class_operand(inst, 0, Class::Int)?;
                let (offset, count) = (self.integer(inst, 1)?, self.integer(inst, 2)?);
                let signed = inst.op == Op::BitFieldSExtract;
                self.each(inst, base.len(), |b, lane| {
                    let field = Field::new(b, base[lane], offset, count);
                    let low = b.binary(Binary::LShr, base[lane], field.offset);
                    let value = b.binary(Binary::And, low, field.mask);
                    if !signed {
                        return value;
                    }
                    // (v ^ sign) - sign, where sign is the field's highest bit.
                    let half = b.binary_const(Binary::LShr, field.mask, 1);
                    let sign = b.binary(Binary::Xor, field.mask, half);
                    let flipped = b.binary(Binary::Xor, value, sign);
                    b.binary(Binary::Sub, flipped, sign)
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn shift(&mut self, inst: &Instruction<'a>, op: Binary) -> Result<(), CompileError> {
        let mut base = self.class_operand(inst, 0, Class::Int)?;
        if op == Binary::Shl {
            base = self.low_bits(inst, base)?;
        }
        let amount = self.class_operand(inst, 1, Class::Int)?;
        if base.len() != amount.len() {
            return Err(inst.invalid("the operands' types do not match"));
        }
        self.each(inst, base.len(), |b, lane| {
            b.binary(op, base[lane], amount[lane])
        })
    }
}

/// A bit field in a value: what to shift by and which bits.
struct Field {
    offset: Value,
    /// `count` ones; any count from 0 to the width.
    mask: Value,
}

impl Field {
    fn new(b: &mut Builder<'_>, base: Value, offset: Value, count: Value) -> Self {
        let ty = b.ty(base);
        let bits = u64::from(ty.bits());
        // An empty field may start at the width; a shift must stay below it.
        let offset = b.resize_int(offset, Type::I32, false);
        let offset = b.binary_const(Binary::And, offset, bits - 1);
        let offset = b.resize_int(offset, ty, false);
        let count = b.resize_int(count, Type::I32, false);
        let empty = {
            let zero = b.i32(0);
            b.compare(Compare::Equal, count, zero)
        };
        let width = b.i32(bits as u32);
        let unused = b.binary(Binary::Sub, width, count);
        let unused = b.binary_const(Binary::And, unused, bits - 1);
        let unused = b.resize_int(unused, ty, false);
        let ones = b.constant(ty, u64::MAX);
        let none = b.constant(ty, 0);
        let mask = b.binary(Binary::LShr, ones, unused);
        let mask = b.select(empty, none, mask);
        Self { offset, mask }
    }
}
