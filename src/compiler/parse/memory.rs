//! Variables, loads, stores and copies.

use super::composites::{bool_to_byte, byte_to_bool};
use super::decode::{Id, Instruction};
use super::function_parser::{FunctionParser, Local};
use super::narrow_integers;
use super::slot::{Slot, align_at};
use super::types::Storage;
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Access, AddressSpace, Op as IrOp, Place, PrivateVariable, Type, Value, Values,
};
use rspirv::spirv::{MemoryAccess, Op};

/// Scalars of one IR load or store.
const MAX_ACCESS_SCALARS: usize = 16;

/// All variables of a function together; each work-item has them.
const MAX_PRIVATE_BYTES: u64 = 1 << 26;

/// Memory operands of an instruction.
#[derive(Clone, Copy)]
pub(super) struct Operands {
    pub align_bytes: Option<u32>,
    pub volatile: bool,
    /// How many operands they took.
    length: usize,
}

impl<'a> FunctionParser<'_, 'a> {
    /// Translates memory instructions; false if the instruction is another.
    pub(super) fn memory(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        match inst.op {
            Op::Variable => self.variable(inst)?,
            Op::Load => match self.local(inst.id(0)?)? {
                (_, Local::Input(pointer)) => self.load_input(inst, pointer)?,
                (ty, Local::Values(_)) => {
                    let (pointer, pointee) = self.pointer(inst, 0)?;
                    self.check_pointee(inst, ty, pointee, inst.result_type()?)?;
                    let operands = memory_operands(inst, 1)?;
                    let slots = self.result_slots(inst)?;
                    let access = self.access(pointer, pointee, operands)?;
                    let values = self.load_slots(pointer, &slots, access)?;
                    self.define(inst, &values)?;
                }
            },
            Op::Store => {
                let (pointer, pointee) = self.pointer(inst, 0)?;
                let (ty, values) = self.values(inst.id(1)?)?;
                self.check_pointee(inst, ty, pointee, ty)?;
                let operands = memory_operands(inst, 2)?;
                let slots = self.slots(ty)?;
                let access = self.access(pointer, pointee, operands)?;
                self.store_slots(pointer, &slots, &values, access)?;
            }
            Op::CopyMemory => {
                let (_, pointee) = self.pointer(inst, 0)?;
                let (_, from_pointee) = self.pointer(inst, 1)?;
                let layout = self.source.types.layout(pointee)?;
                if pointee != from_pointee {
                    return Err(inst.invalid("the pointers are to different types"));
                }
                let size_bytes = self.build().i64(layout.size_bytes);
                self.copy_memory(inst, size_bytes, 2)?;
            }
            Op::CopyMemorySized => {
                let size_bytes = self.integer(inst, 2)?;
                let size_bytes = self.build().resize_int(size_bytes, Type::I64, false);
                self.copy_memory(inst, size_bytes, 3)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn variable(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let ty = inst.result_type()?;
        let (storage, pointee) = self.source.types.pointee(ty)?;
        if storage != Storage::Space(AddressSpace::Private) {
            return Err(inst.invalid("a variable of a function is not in private memory"));
        }
        let id = inst.result()?;
        let layout = self.source.types.layout(pointee)?;
        self.take_private_memory(inst, layout.size_bytes)?;
        let align = self.source.alignment(id).unwrap_or(1);
        let name = match self.source.decorations.name(id) {
            Some(name) => name.to_owned(),
            None => format!("variable_{}", id.0),
        };
        let variable = self.function.add_variable(PrivateVariable {
            name,
            size_bytes: layout.size_bytes,
            align_bytes: layout.align_bytes.max(align),
        });
        let ty = Type::Ptr(AddressSpace::Private);
        let pointer = self.build().op1(IrOp::VariableAddress(variable), ty);
        self.define(inst, &[pointer])?;
        if let Some(&initializer) = inst.operands.get(1) {
            let (ty, values) = self.values(Id(initializer))?;
            if !self.source.types.interchangeable(ty, pointee) {
                return Err(inst.invalid("the initializer has another type"));
            }
            let slots = self.slots(ty)?;
            let access = Access::aligned(layout.align_bytes);
            self.store_slots(pointer, &slots, &values, access)?;
        }
        Ok(())
    }

    fn take_private_memory(
        &mut self,
        inst: &Instruction<'a>,
        size_bytes: u64,
    ) -> Result<(), CompileError> {
        self.private_bytes = self.private_bytes.saturating_add(size_bytes);
        if self.private_bytes > MAX_PRIVATE_BYTES {
            Err(inst.unsupported("the function's variables are too large"))
        } else {
            Ok(())
        }
    }

    /// A variable is at least as large as its lifetime says: clang-22 makes one pointer of an array of pointers that are
    /// indexed by a variable, `local ushort *rows[4]`.
    pub(super) fn start_of_lifetime(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let (_, values) = self.values(inst.id(0)?)?;
        let size_bytes = u64::from(inst.word(1)?);
        let [mut value] = *values else {
            return Ok(());
        };
        while let Some(&IrOp::Convert(_, from)) = self.function.op_of(value) {
            value = from;
        }
        let Some(&IrOp::VariableAddress(variable)) = self.function.op_of(value) else {
            return Ok(());
        };
        let declared = self.function.variables[variable.index()].size_bytes;
        if size_bytes > declared {
            self.take_private_memory(inst, size_bytes - declared)?;
            self.function.variables[variable.index()].size_bytes = size_bytes;
        }
        Ok(())
    }

    /// A pointer operand and the type it points to.
    pub(super) fn pointer(
        &mut self,
        inst: &Instruction<'a>,
        index: usize,
    ) -> Result<(Value, Id), CompileError> {
        let (ty, values) = self.values(inst.id(index)?)?;
        let (_, pointee) = self.source.types.pointee(ty)?;
        match *values {
            [value] if self.ty(value).is_pointer() => Ok((value, pointee)),
            _ => Err(inst.invalid(format!("operand {} is not a pointer", index + 1))),
        }
    }

    /// Checks that a value of type `value` may be behind a pointer to `pointee`.
    fn check_pointee(
        &self,
        inst: &Instruction<'a>,
        pointer: Id,
        pointee: Id,
        value: Id,
    ) -> Result<(), CompileError> {
        if pointee != value {
            let error = format!("the type is not the one that {pointer} points to");
            return Err(inst.invalid(error));
        }
        let slots = self.slots(value)?;
        if self.source.types.physical32 && slots.iter().any(|slot| slot.ty.is_pointer()) {
            return Err(inst.invalid("pointers in memory need the addressing model Physical64"));
        }
        Ok(())
    }

    /// What is known of an access through `pointer` to a value of type `pointee`.
    fn access(
        &self,
        pointer: Value,
        pointee: Id,
        operands: Operands,
    ) -> Result<Access, CompileError> {
        let natural = self.source.types.layout(pointee)?.align_bytes;
        Ok(Access {
            align_bytes: operands.align_bytes.unwrap_or(natural),
            volatile: operands.volatile,
            read_only: self.ty(pointer) == Type::Ptr(AddressSpace::Constant),
        })
    }

    fn copy_memory(
        &mut self,
        inst: &Instruction<'a>,
        size_bytes: Value,
        first: usize,
    ) -> Result<(), CompileError> {
        let (to, to_pointee) = self.pointer(inst, 0)?;
        let (from, from_pointee) = self.pointer(inst, 1)?;
        let to_operands = memory_operands(inst, first)?;
        // SPIR-V 1.4: a second set is that of the source.
        let from_operands = match inst.operands.get(first + to_operands.length) {
            Some(_) => memory_operands(inst, first + to_operands.length)?,
            None => Operands {
                align_bytes: match to_operands.align_bytes {
                    Some(stated) => Some(self.source_alignment(from, from_pointee, stated)?),
                    None => None,
                },
                ..to_operands
            },
        };
        let to_access = self.access(to, to_pointee, to_operands)?;
        let from_access = self.access(from, from_pointee, from_operands)?;
        self.build().op0(IrOp::Copy {
            to,
            from,
            size_bytes,
            to_access,
            from_access,
        });
        Ok(())
    }

    /// Loads the scalars of a value that starts at `pointer`.
    pub(super) fn load_slots(
        &mut self,
        pointer: Value,
        slots: &[Slot],
        access: Access,
    ) -> Result<Values, CompileError> {
        self.spend(slots.len())?;
        let mut b = self.build();
        let mut values = Values::new();
        for run in runs(slots) {
            let start = run.first().map_or(0, |slot| slot.offset_bytes);
            let pointer = b.ptr_add_const(pointer, start as i64);
            let place = Place::Pointer(pointer);
            let access = Access {
                align_bytes: align_at(access.align_bytes, start),
                ..access
            };
            if let [slot] = run
                && slot.is_cut()
            {
                values.push(narrow_integers::load(&mut b, pointer, slot, access));
                continue;
            }
            let types = run.iter().map(|slot| in_memory(slot.ty));
            let loaded = b.op(IrOp::Load(place, access), types);
            for (slot, value) in run.iter().zip(loaded) {
                values.push(match slot.ty {
                    Type::Bool => byte_to_bool(&mut b, value),
                    _ => value,
                });
            }
        }
        Ok(values)
    }

    /// Stores the scalars of a value that starts at `pointer`.
    pub(super) fn store_slots(
        &mut self,
        pointer: Value,
        slots: &[Slot],
        values: &[Value],
        access: Access,
    ) -> Result<(), CompileError> {
        self.spend(slots.len())?;
        let mut b = self.build();
        let mut rest = values.iter();
        for run in runs(slots) {
            let start = run.first().map_or(0, |slot| slot.offset_bytes);
            let pointer = b.ptr_add_const(pointer, start as i64);
            let place = Place::Pointer(pointer);
            let access = Access {
                align_bytes: align_at(access.align_bytes, start),
                ..access
            };
            if let [slot] = run
                && slot.is_cut()
            {
                let value = rest.next().copied();
                let value =
                    value.ok_or_else(|| CompileError::invalid("a stored value is too short"))?;
                narrow_integers::store(&mut b, pointer, slot, value, access);
                continue;
            }
            let stored: Values = run
                .iter()
                .zip(&mut rest)
                .map(|(slot, &value)| match slot.ty {
                    Type::Bool => bool_to_byte(&mut b, value),
                    _ => value,
                })
                .collect();
            b.store(place, stored, access);
        }
        Ok(())
    }
}

/// How a scalar is held in memory.
fn in_memory(ty: Type) -> Type {
    match ty {
        Type::Bool => Type::I8,
        other => other,
    }
}

/// Scalars of one type that follow each other, cut into accesses; integers of other widths alone.
fn runs(slots: &[Slot]) -> impl Iterator<Item = &[Slot]> {
    slots
        .chunk_by(|a, b| {
            let size = u64::from(a.ty.size_bytes());
            let is_whole = !a.is_cut() && !b.is_cut();
            is_whole && a.ty == b.ty && a.offset_bytes + size == b.offset_bytes
        })
        .flat_map(|run| run.chunks(MAX_ACCESS_SCALARS))
}

/// Reads the memory operands that start at operand `first`.
fn memory_operands(inst: &Instruction<'_>, first: usize) -> Result<Operands, CompileError> {
    let mut operands = Operands {
        align_bytes: None,
        volatile: false,
        length: 0,
    };
    let Some(&mask) = inst.operands.get(first) else {
        return Ok(operands);
    };
    let bits = MemoryAccess::from_bits_retain(mask);
    operands.volatile = bits.contains(MemoryAccess::VOLATILE);
    operands.length = 1;
    if bits.contains(MemoryAccess::ALIGNED) {
        let align = inst.word(first + 1)?;
        operands.align_bytes = match align {
            // What clang 22 makes of 2^32, which is the alignment of null: the access is never made.
            0 => None,
            _ if align.is_power_of_two() => Some(align),
            _ => return Err(inst.invalid(format!("the alignment {align} is not a power of two"))),
        };
        operands.length += 1;
    }
    let with_operand = MemoryAccess::MAKE_POINTER_AVAILABLE
        | MemoryAccess::MAKE_POINTER_VISIBLE
        | MemoryAccess::ALIAS_SCOPE_INTEL_MASK
        | MemoryAccess::NO_ALIAS_INTEL_MASK;
    operands.length += (bits & with_operand).bits().count_ones() as usize;
    Ok(operands)
}
