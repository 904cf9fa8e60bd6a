//! SPV_INTEL_subgroups: reads and writes of images by blocks.
//!
//! The coordinate is in bytes, each component of a work-item's vector is of the row below the one before, and
//! nothing is converted. "Out-of-bounds reads will return the edge image element …, and out-of-bounds writes
//! will be ignored": cl_intel_subgroups promises that for elements of four bytes; here it holds for all.

use super::decode::Instruction;
use super::function_parser::FunctionParser;
use super::group_masks::lane;
use crate::compiler::CompileError;
use crate::compiler::image::{ImageField, TexelFormat};
use crate::compiler::ir::{Access, Binary, Builder, Compare, Edge, Place, Type, Value, Values};
use rspirv::spirv::Op;

/// Where a work-item's column of elements lies.
struct Column {
    address: Value,
    height: Value,
    row_pitch: Value,
    element: Type,
    /// Bytes of a texel, and of a row of them, I32.
    texel_bytes: Value,
    row_bytes: Value,
    /// Byte of the row where the element starts, and the first row, I32: anywhere.
    x: Value,
    y: Value,
}

impl Column {
    fn new(
        inst: &Instruction<'_>,
        b: &mut Builder<'_>,
        image: &[Value],
        coordinate: &[Value],
        element: Type,
    ) -> Result<Self, CompileError> {
        let field = |field: ImageField| {
            let value = image.get(field.index()).copied();
            value.ok_or_else(|| inst.invalid("the operand is not an image"))
        };
        let &[x, y] = coordinate else {
            return Err(inst.invalid("the coordinate does not have two components"));
        };
        if b.ty(x) != Type::I32 || !element.is_int() {
            return Err(inst.invalid("the operands are not integers"));
        }
        let (first, bits) = TexelFormat::LOG2_BYTES;
        let log2_bytes = b.binary_const(Binary::LShr, field(ImageField::Format)?, first.into());
        let log2_bytes = b.binary_const(Binary::And, log2_bytes, (1 << bits) - 1);
        let one = b.i32(1);
        let lane = lane(b);
        let start = b.binary_const(Binary::Mul, lane, element.size_bytes().into());
        Ok(Self {
            address: field(ImageField::Address)?,
            height: field(ImageField::Height)?,
            row_pitch: field(ImageField::RowPitch)?,
            element,
            texel_bytes: b.binary(Binary::Shl, one, log2_bytes),
            row_bytes: b.binary(Binary::Shl, field(ImageField::Width)?, log2_bytes),
            x: b.binary(Binary::Add, x, start),
            y,
        })
    }

    /// Images start at multiples of four bytes.
    fn align_bytes(&self) -> u32 {
        self.element.size_bytes().min(4)
    }

    /// Whether every element of the column may be accessed at once: within its row, and aligned.
    fn is_plain(&self, b: &mut Builder<'_>) -> Value {
        let zero = b.i32(0);
        let from_start = b.compare(Compare::SLessEqual, zero, self.x);
        let size = self.element.size_bytes();
        let end = b.binary_const(Binary::Add, self.x, size.into());
        let to_end = b.compare(Compare::SLessEqual, end, self.row_bytes);
        let inside = b.binary(Binary::And, from_start, to_end);
        let places = b.binary(Binary::Or, self.x, self.row_pitch);
        let odd = b.binary_const(Binary::And, places, (self.align_bytes() - 1).into());
        let aligned = b.compare(Compare::Equal, odd, zero);
        b.binary(Binary::And, inside, aligned)
    }

    /// The row `index` below the first; whether it is in the image.
    fn row(&self, b: &mut Builder<'_>, index: usize) -> (Value, Value) {
        let row = b.binary_const(Binary::Add, self.y, index as u64);
        let inside = b.compare(Compare::ULess, row, self.height);
        (row, inside)
    }

    fn clamped_row(&self, b: &mut Builder<'_>, index: usize) -> Value {
        let (row, _) = self.row(b, index);
        let last = b.binary_const(Binary::Sub, self.height, 1);
        let row = b.binary(Binary::SMin, row, last);
        let zero = b.i32(0);
        b.binary(Binary::SMax, row, zero)
    }

    /// The byte `x` of a row.
    fn pointer(&self, b: &mut Builder<'_>, row: Value, x: Value) -> Value {
        let start = b.binary(Binary::Mul, row, self.row_pitch);
        let offset = b.binary(Binary::Add, start, x);
        let offset = b.resize_int(offset, Type::I64, false);
        b.ptr_add(self.address, offset)
    }

    /// Builds `for (i = 0, sum = 0; i < element size; i++) sum = body(i, sum)`; returns the sum.
    fn each_byte(
        &self,
        b: &mut Builder<'_>,
        body: impl FnOnce(&mut Builder<'_>, Value, Value) -> Value,
    ) -> Value {
        let [header, inner, after] = [(); 3].map(|()| b.function.add_block());
        let index = b.function.add_param(header, Type::I32);
        let sum = b.function.add_param(header, self.element);
        let (zero, none) = (b.i32(0), b.constant(self.element, 0));
        b.jump(Edge::new(header, [zero, none]));
        b.switch_to(header);
        let size = b.i32(self.element.size_bytes());
        let more = b.compare(Compare::ULess, index, size);
        b.branch(more, inner, after);
        b.switch_to(inner);
        let next_sum = body(b, index, sum);
        let next = b.binary_const(Binary::Add, index, 1);
        b.jump(Edge::new(header, [next, next_sum]));
        b.switch_to(after);
        sum
    }

    /// An element anywhere, byte by byte; outside of the row the edge texel's bytes.
    fn read_bytes(&self, b: &mut Builder<'_>, row: Value) -> Value {
        self.each_byte(b, |b, index, sum| {
            let zero = b.i32(0);
            let x = b.binary(Binary::Add, self.x, index);
            let mask = b.binary_const(Binary::Sub, self.texel_bytes, 1);
            let within = b.binary(Binary::And, x, mask);
            let last = b.binary(Binary::Sub, self.row_bytes, self.texel_bytes);
            let at_end = b.binary(Binary::Add, last, within);
            let before = b.compare(Compare::SLess, x, zero);
            let beyond = b.compare(Compare::SLessEqual, self.row_bytes, x);
            let x = b.select(beyond, at_end, x);
            let x = b.select(before, within, x);
            let pointer = self.pointer(b, row, x);
            let byte = b.load1(Place::Pointer(pointer), Type::I8, Access::aligned(1));
            let byte = b.resize_int(byte, self.element, false);
            let amount = b.binary_const(Binary::Shl, index, 3);
            let byte = b.binary(Binary::Shl, byte, amount);
            b.binary(Binary::Or, sum, byte)
        })
    }

    /// The bytes of an element that are in the row.
    fn write_bytes(&self, b: &mut Builder<'_>, row: Value, value: Value) {
        self.each_byte(b, |b, index, sum| {
            let x = b.binary(Binary::Add, self.x, index);
            let inside = b.compare(Compare::ULess, x, self.row_bytes);
            b.only(inside, |b| {
                let amount = b.binary_const(Binary::Shl, index, 3);
                let byte = b.binary(Binary::LShr, value, amount);
                let byte = b.resize_int(byte, Type::I8, false);
                let pointer = self.pointer(b, row, x);
                b.store1(Place::Pointer(pointer), byte, Access::aligned(1));
            });
            sum
        });
    }
}

impl<'a> FunctionParser<'_, 'a> {
    /// Translates a block access to an image; false if the instruction is another.
    pub(super) fn intel_image_group(
        &mut self,
        inst: &Instruction<'a>,
    ) -> Result<bool, CompileError> {
        match inst.op {
            Op::SubgroupImageBlockReadINTEL => self.image_block_read(inst)?,
            Op::SubgroupImageBlockWriteINTEL => self.image_block_write(inst)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn image_block_read(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let (_, image) = self.image_operand(inst, inst.id(0)?, false)?;
        let coordinate = self.operand(inst, 1)?;
        let slots = self.result_slots(inst)?;
        let element = slots.first().map_or(Type::I32, |slot| slot.ty);
        let mut b = self.build();
        let column = Column::new(inst, &mut b, &image, &coordinate, element)?;
        let plain = column.is_plain(&mut b);
        let [fast, slow, end] = [(); 3].map(|()| b.function.add_block());
        let results: Values = slots
            .iter()
            .map(|_| b.function.add_param(end, element))
            .collect();
        b.branch(plain, fast, slow);

        b.switch_to(fast);
        let mut values = Values::new();
        for index in 0..slots.len() {
            let row = column.clamped_row(&mut b, index);
            let pointer = column.pointer(&mut b, row, column.x);
            let access = Access::aligned(column.align_bytes());
            values.push(b.load1(Place::Pointer(pointer), element, access));
        }
        b.jump(Edge::new(end, values));

        b.switch_to(slow);
        let mut values = Values::new();
        for index in 0..slots.len() {
            let row = column.clamped_row(&mut b, index);
            values.push(column.read_bytes(&mut b, row));
        }
        b.jump(Edge::new(end, values));
        self.block = end;
        self.define(inst, &results)
    }

    fn image_block_write(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let (_, image) = self.image_operand(inst, inst.id(0)?, false)?;
        let coordinate = self.operand(inst, 1)?;
        let values = self.operand(inst, 2)?;
        let element = values.first().map_or(Type::I32, |&value| self.ty(value));
        let mut b = self.build();
        let column = Column::new(inst, &mut b, &image, &coordinate, element)?;
        let plain = column.is_plain(&mut b);
        let [fast, slow, end] = [(); 3].map(|()| b.function.add_block());
        b.branch(plain, fast, slow);

        b.switch_to(fast);
        for (index, &value) in values.iter().enumerate() {
            let (row, inside) = column.row(&mut b, index);
            b.only(inside, |b| {
                let pointer = column.pointer(b, row, column.x);
                let access = Access::aligned(column.align_bytes());
                b.store1(Place::Pointer(pointer), value, access);
            });
        }
        b.jump(end);

        b.switch_to(slow);
        for (index, &value) in values.iter().enumerate() {
            let (row, inside) = column.row(&mut b, index);
            b.only(inside, |b| column.write_bytes(b, row, value));
        }
        b.jump(end);
        self.block = end;
        Ok(())
    }
}
