//! SPV_INTEL_subgroups: shuffles across two values, and reads and writes by blocks.
//!
//! A block is as many rows as each work-item has elements, and a row is as many elements as the largest sub-group has
//! work-items: work-item `l` has element `l` of each row. An access of ours is one element of each work-item, hence one
//! row: neighbours touch neighbouring elements, the device makes of a row as few transactions as it fills, and each byte
//! is moved once. To a single work-item its elements lie a row apart; an access of several of them at once would have
//! to be one of other work-items' elements, and be followed by as many shuffles as it saved accesses. So there is one
//! access for each element, of 16 for `uc16` too.
//!
//! The pointer is aligned by 4 bytes for reads and by 16 for writes, and an element's place in its row says nothing
//! beyond its own size: the lesser of the two is what an access knows. Elements of 64 bits are therefore read in two parts.

use super::decode::Instruction;
use super::function_parser::FunctionParser;
use super::group_masks::lane;
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Access, Binary, Builder, Compare, Group, GroupOp, Op as IrOp, Place, Scope, Type, Value,
    Values, WorkItem,
};
use rspirv::spirv::Op;
use smallvec::smallvec;

/// The largest size of a sub-group of this kernel, I32.
fn max_size(b: &mut Builder<'_>) -> Value {
    b.op1(IrOp::WorkItem(WorkItem::SubgroupMaxSize), Type::I32)
}

fn shuffle(b: &mut Builder<'_>, op: GroupOp, value: Value, index: Value) -> Value {
    let group = Group {
        op,
        scope: Scope::Subgroup,
    };
    let ty = b.ty(value);
    b.op1(IrOp::Group(group, smallvec![value, index]), ty)
}

impl<'a> FunctionParser<'_, 'a> {
    /// Translates an instruction of the extension; false if the instruction is another.
    pub(super) fn intel_group(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        match inst.op {
            Op::SubgroupShuffleINTEL => self.shuffle_one(inst, GroupOp::Shuffle)?,
            Op::SubgroupShuffleXorINTEL => self.shuffle_one(inst, GroupOp::ShuffleXor)?,
            Op::SubgroupShuffleDownINTEL => self.shuffle_two(inst, Binary::Add)?,
            Op::SubgroupShuffleUpINTEL => self.shuffle_two(inst, Binary::Sub)?,
            Op::SubgroupBlockReadINTEL => self.block_read(inst)?,
            Op::SubgroupBlockWriteINTEL => self.block_write(inst)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn shuffle_one(&mut self, inst: &Instruction<'a>, op: GroupOp) -> Result<(), CompileError> {
        let values = self.operand(inst, 0)?;
        let index = self.integer(inst, 1)?;
        let index = self.build().resize_int(index, Type::I32, false);
        self.each(inst, values.len(), |b, at| {
            shuffle(b, op, values[at], index)
        })
    }

    /// The two values are one row of twice the sub-group's size: `next` follows `current`, `previous` comes
    /// before it.
    fn shuffle_two(
        &mut self,
        inst: &Instruction<'a>,
        direction: Binary,
    ) -> Result<(), CompileError> {
        let (first, second) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        if first.len() != second.len() {
            return Err(inst.invalid("the two values are of different types"));
        }
        let down = direction == Binary::Add;
        let (current, other) = if down {
            (first, second)
        } else {
            (second, first)
        };
        let delta = self.integer(inst, 2)?;
        let mut b = self.build();
        let delta = b.resize_int(delta, Type::I32, false);
        let size = max_size(&mut b);
        let lane = lane(&mut b);
        let index = b.binary(direction, lane, delta);
        let inside = if down {
            b.compare(Compare::ULess, index, size)
        } else {
            b.compare(Compare::ULessEqual, delta, lane)
        };
        // Sizes are powers of two.
        let mask = b.binary_const(Binary::Sub, size, 1);
        let from = b.binary(Binary::And, index, mask);
        self.each(inst, current.len(), |b, at| {
            let near = shuffle(b, GroupOp::Shuffle, current[at], from);
            let far = shuffle(b, GroupOp::Shuffle, other[at], from);
            b.select(inside, near, far)
        })
    }

    /// The address of this work-item's first element, and the distance in bytes to each further one.
    fn block(&mut self, pointer: Value, element: Type) -> (Value, Value) {
        let size_bytes = u64::from(element.size_bytes());
        let b = &mut self.build();
        let lane = lane(b);
        let start = b.resize_int(lane, Type::I64, false);
        let start = b.binary_const(Binary::Mul, start, size_bytes);
        let size = max_size(b);
        let row = b.resize_int(size, Type::I64, false);
        let row = b.binary_const(Binary::Mul, row, size_bytes);
        (b.ptr_add(pointer, start), row)
    }

    /// "p must be aligned to a 32-bit (4-byte) boundary." "The data is read strided, so the first value read is:
    /// `p[ sub_group_local_id ]` and the second value read is: `p[ sub_group_local_id + max_sub_group_size ]` etc."
    fn block_read(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let (pointer, _) = self.pointer(inst, 0)?;
        let slots = self.result_slots(inst)?;
        let element = match slots.first() {
            Some(slot) if slot.ty.is_int() || slot.ty.is_float() => slot.ty,
            _ => return Err(inst.invalid("the result is not of numbers")),
        };
        let (mut at, row) = self.block(pointer, element);
        let mut values = Values::new();
        for index in 0..slots.len() {
            let mut b = self.build();
            if index > 0 {
                at = b.ptr_add(at, row);
            }
            let access = Access::aligned(element.size_bytes().min(4));
            values.push(b.load1(Place::Pointer(at), element, access));
        }
        self.define(inst, &values)
    }

    /// "p must be aligned to a 128-bit (16-byte) boundary": no element is larger.
    fn block_write(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let (pointer, _) = self.pointer(inst, 0)?;
        let values = self.operand(inst, 1)?;
        let element = match values.first().map(|&value| self.ty(value)) {
            Some(ty) if ty.is_int() || ty.is_float() => ty,
            _ => return Err(inst.invalid("the value is not of numbers")),
        };
        let (mut at, row) = self.block(pointer, element);
        for (index, &value) in values.iter().enumerate() {
            let mut b = self.build();
            if index > 0 {
                at = b.ptr_add(at, row);
            }
            let access = Access::aligned(element.size_bytes());
            b.store1(Place::Pointer(at), value, access);
        }
        Ok(())
    }
}
