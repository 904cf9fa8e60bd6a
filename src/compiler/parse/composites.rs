//! Vectors, arrays and structures as values: lists of scalars that are cut, joined and reordered.

use super::arithmetic::Class;
use super::decode::{Id, Instruction};
use super::function_parser::{FunctionParser, Local};
use crate::compiler::CompileError;
use crate::compiler::ir::{Binary, Builder, Compare, Op as IrOp, Type, Value, Values};
use rspirv::spirv::Op;
use std::ops::Range;

impl<'a> FunctionParser<'_, 'a> {
    /// Translates instructions on composites; false if the instruction is another.
    pub(super) fn composite(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        match inst.op {
            Op::Undef => {
                let slots = self.result_slots(inst)?;
                self.each(inst, slots.len(), |b, lane| b.undef(slots[lane].ty))?;
            }
            Op::CopyObject => self.copy_object(inst)?,
            Op::CopyLogical => {
                let values = self.operand(inst, 0)?;
                self.define(inst, &values)?;
            }
            Op::CompositeConstruct => self.construct(inst)?,
            Op::CompositeExtract => {
                let (ty, values) = self.values(inst.id(0)?)?;
                let (part, range) = self.part(inst, ty, 1)?;
                self.check_type(inst, part, inst.result_type()?)?;
                let values = values.get(range).unwrap_or(&[]);
                self.define(inst, values)?;
            }
            Op::CompositeInsert => {
                let (part_type, part) = self.values(inst.id(0)?)?;
                let (ty, values) = self.values(inst.id(1)?)?;
                self.check_type(inst, ty, inst.result_type()?)?;
                let (wanted, range) = self.part(inst, ty, 2)?;
                self.check_type(inst, part_type, wanted)?;
                let mut values = values.to_vec();
                match values.get_mut(range) {
                    Some(to) if to.len() == part.len() => to.copy_from_slice(&part),
                    _ => return Err(inst.invalid("the part does not match the composite")),
                }
                self.define(inst, &values)?;
            }
            Op::VectorShuffle => self.vector_shuffle(inst)?,
            Op::VectorExtractDynamic => {
                let index = self.integer(inst, 1)?;
                let values = self.vector(inst, 0)?;
                let mut b = self.build();
                let value = pick(&mut b, &values, index).ok_or_else(|| inst.invalid("empty"))?;
                self.define(inst, &[value])?;
            }
            Op::VectorInsertDynamic => {
                let values = self.vector(inst, 0)?;
                let new = self.scalar(inst, 1)?;
                let index = self.integer(inst, 2)?;
                if values.iter().any(|&value| self.ty(value) != self.ty(new)) {
                    return Err(inst.invalid("the component's type is not that of the vector"));
                }
                self.each(inst, values.len(), |b, lane| {
                    let ty = b.ty(index);
                    let lane_number = b.constant(ty, lane as u64);
                    let here = b.compare(Compare::Equal, index, lane_number);
                    b.select(here, new, values[lane])
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The result is the first operand: `OpCopyObject`, also on pointers to inputs.
    pub(super) fn copy_object(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let (ty, local) = self.local(inst.id(0)?)?;
        self.check_type(inst, ty, inst.result_type()?)?;
        match local {
            Local::Values(values) => self.define(inst, &values),
            Local::Input(pointer) => self.define_local(inst, ty, Local::Input(pointer)),
        }
    }

    fn check_type(&self, inst: &Instruction<'a>, a: Id, b: Id) -> Result<(), CompileError> {
        if a == b {
            Ok(())
        } else {
            Err(inst.invalid("the types do not match"))
        }
    }

    /// An operand that is a vector.
    fn vector(
        &mut self,
        inst: &Instruction<'a>,
        index: usize,
    ) -> Result<std::rc::Rc<[Value]>, CompileError> {
        let (ty, values) = self.values(inst.id(index)?)?;
        match self.source.types.lanes(ty)? {
            1 => Err(inst.invalid(format!("operand {} is not a vector", index + 1))),
            _ => Ok(values),
        }
    }

    /// The part that the literal indices from operand `first` on reach.
    fn part(
        &self,
        inst: &Instruction<'a>,
        composite: Id,
        first: usize,
    ) -> Result<(Id, Range<usize>), CompileError> {
        let mut at = (composite, 0..self.slots(composite)?.len());
        for &index in inst.operands.get(first..).unwrap_or(&[]) {
            let (part, range) = self.source.types.part(at.0, index)?;
            let start = at.1.start;
            at = (part, start + range.start..start + range.end);
        }
        Ok(at)
    }

    fn construct(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let ty = inst.result_type()?;
        let parts = self.source.types.part_types(ty)?;
        let is_vector = self.source.types.lanes(ty)? > 1;
        let mut values = Values::new();
        for (index, id) in inst.ids_from(0).enumerate() {
            let (part_type, part) = self.values(id)?;
            // A vector may be made of shorter vectors; what is left to check there is the sum.
            if !is_vector {
                self.check_type(inst, part_type, parts.ty(index).unwrap_or(ty))?;
            }
            self.spend(part.len())?;
            values.extend_from_slice(&part);
        }
        self.define(inst, &values)
    }

    fn vector_shuffle(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let first = self.vector(inst, 0)?;
        let second = self.vector(inst, 1)?;
        let slots = self.result_slots(inst)?;
        let all: Values = first.iter().chain(&*second).copied().collect();
        let indices = inst.operands.get(2..).unwrap_or(&[]);
        if indices.len() != slots.len() {
            return Err(inst.invalid("the number of components is not that of the result"));
        }
        let mut values = Values::new();
        for (&index, slot) in indices.iter().zip(slots.iter()) {
            values.push(match (index, all.get(index as usize)) {
                (u32::MAX, _) => self.build().undef(slot.ty),
                (_, Some(&value)) => value,
                (_, None) => return Err(inst.invalid(format!("there is no component {index}"))),
            });
        }
        self.define(inst, &values)
    }

    /// `shuffle` and `shuffle2` of OpenCL C: components of `from` picked by the low bits of the masks.
    pub(super) fn shuffle(
        &mut self,
        inst: &Instruction<'a>,
        from: &[Value],
        mask_operand: usize,
    ) -> Result<(), CompileError> {
        let masks = self.class_operand(inst, mask_operand, Class::Int)?;
        let count = from.len().next_power_of_two() as u64;
        let mut values = Values::new();
        for &mask in masks.iter() {
            let constant = self.function.constant(mask).map(|bits| bits & (count - 1));
            values.push(match constant.and_then(|index| from.get(index as usize)) {
                Some(&value) => value,
                None => {
                    let mut b = self.build();
                    pick(&mut b, from, mask).ok_or_else(|| inst.invalid("empty"))?
                }
            });
        }
        self.define(inst, &values)
    }
}

/// Component `index` (its low bits) of `from`: a tree of selections, one level for each bit.
fn pick(b: &mut Builder<'_>, from: &[Value], index: Value) -> Option<Value> {
    let index_type = b.ty(index);
    let mut level: Values = from.iter().copied().collect();
    let mut bit = 0;
    while level.len() > 1 {
        let is_set = {
            let bit = b.binary_const(Binary::And, index, 1 << bit);
            let zero = b.constant(index_type, 0);
            b.compare(Compare::NotEqual, bit, zero)
        };
        level = level
            .chunks(2)
            .map(|pair| match *pair {
                [even, odd] => b.select(is_set, odd, even),
                _ => pair[0],
            })
            .collect();
        bit += 1;
    }
    level.first().copied()
}

/// A boolean as one byte of memory, and back.
pub(super) fn bool_to_byte(b: &mut Builder<'_>, value: Value) -> Value {
    let one = b.constant(Type::I8, 1);
    let zero = b.constant(Type::I8, 0);
    b.op1(IrOp::Select(value, one, zero), Type::I8)
}

pub(super) fn byte_to_bool(b: &mut Builder<'_>, value: Value) -> Value {
    let zero = b.constant(Type::I8, 0);
    b.compare(Compare::NotEqual, value, zero)
}
