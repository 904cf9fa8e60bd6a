//! Device memory through descriptors: set 2 holds an array of buffers, and an address is the number of one and an offset
//! ([`DESCRIPTOR_BITS`]).
//!
//! Numbers are masked to be among the descriptors that there are: drivers read descriptors for idle work-items, too, whose
//! addresses may be anything (SwiftShader does).
//!
//! The array is declared once for each type of scalars that it is accessed as. Which buffer an address leads to may differ from
//! work-item to work-item, so each pointer is marked as not uniform.

use super::Emitter;
use super::assembler::Id;
use super::function::FunctionEmitter;
use crate::compiler::CompileError;
use crate::compiler::capabilities::DESCRIPTOR_BITS;
use crate::compiler::ir::{Inst, Place, Type};
use rspirv::spirv::{Capability, Decoration, Op, StorageClass};

const SET: u32 = 2;
const BINDING: u32 = 0;

impl Emitter<'_> {
    /// The array as one of buffers of scalars of a type.
    fn buffers(&mut self, ty: Type) -> Result<Id, CompileError> {
        if let Some(&known) = self.buffers.get(&ty) {
            return Ok(known);
        }
        let scalar = self.ty(ty)?;
        let scalars = self.asm.new_type(Op::TypeRuntimeArray, &[scalar]);
        let stride = &[ty.size_bytes()];
        self.asm.decorate(scalars, Decoration::ArrayStride, stride);
        let block = self.asm.new_type(Op::TypeStruct, &[scalars]);
        self.asm.decorate(block, Decoration::Block, &[]);
        self.asm.decorate_member(block, 0, Decoration::Offset, &[0]);
        if self.orders_device_memory && !self.capabilities.vulkan_memory_model {
            self.asm
                .decorate_member(block, 0, Decoration::Coherent, &[]);
        }
        let count = self.const_u32(self.capabilities.buffer_descriptors);
        let array = self.asm.declare_type(Op::TypeArray, &[block, count]);
        let variable = self.asm.variable(StorageClass::StorageBuffer, array);
        let places = [
            (Decoration::DescriptorSet, SET),
            (Decoration::Binding, BINDING),
        ];
        for (decoration, place) in places {
            self.asm.decorate(variable, decoration, &[place]);
        }
        self.asm.decorate(variable, Decoration::Aliased, &[]);
        self.asm.capability(Capability::ShaderNonUniform);
        self.asm
            .capability(Capability::StorageBufferArrayNonUniformIndexing);
        self.asm
            .extension("SPV_EXT_descriptor_indexing", Some((1, 5)));
        self.buffers.insert(ty, variable);
        Ok(variable)
    }
}

impl FunctionEmitter<'_, '_> {
    /// Whether device memory is reached through descriptors.
    pub fn uses_buffers(&self) -> bool {
        self.emitter.capabilities.buffer_descriptors > 0
    }

    /// Pointers to `count` scalars of a type, from a place in device memory on.
    pub fn buffer_elements(
        &mut self,
        inst: Inst,
        place: Place,
        ty: Type,
        count: u32,
    ) -> Result<Vec<Id>, CompileError> {
        self.narrow_storage(inst, ty)?;
        let (number, offset) = self.number_and_offset(inst, place)?;
        let emitter = &mut *self.emitter;
        let variable = emitter.buffers(ty)?;
        let scalar = emitter.ty(ty)?;
        let pointer = emitter.pointer_type(StorageClass::StorageBuffer, scalar);
        let (uint, zero) = (emitter.uint(), emitter.const_u32(0));
        let shift = emitter.const_u32(ty.size_bytes().trailing_zeros());
        let first = emitter
            .asm
            .result(Op::ShiftRightLogical, uint, &[offset, shift]);
        let element = |element| {
            let index = match element {
                0 => first,
                _ => {
                    let element = emitter.const_u32(element);
                    emitter.asm.result(Op::IAdd, uint, &[first, element])
                }
            };
            let operands = [variable, number, zero, index];
            let element = emitter.asm.result(Op::AccessChain, pointer, &operands);
            emitter.asm.decorate(element, Decoration::NonUniform, &[]);
            element
        };
        Ok((0..count).map(element).collect())
    }

    /// The two parts of an address, 32 bits each.
    fn number_and_offset(&mut self, inst: Inst, place: Place) -> Result<(Id, Id), CompileError> {
        let ty = |value| self.function.ty(value);
        let (low, number) = match place {
            Place::Address(address) if ty(address) == Type::I64 => {
                let (long, address) = (self.emitter.ty(Type::I64)?, self.value(address)?);
                let (uint, bits) = (self.emitter.uint(), self.emitter.const_u32(DESCRIPTOR_BITS));
                let asm = &mut self.emitter.asm;
                let high = asm.result(Op::ShiftRightLogical, long, &[address, bits]);
                let number = asm.result(Op::UConvert, uint, &[high]);
                (asm.result(Op::UConvert, uint, &[address]), number)
            }
            Place::AddressPair { lo, hi } if [lo, hi].map(ty) == [Type::I32; 2] => {
                let (low, high) = (self.value(lo)?, self.value(hi)?);
                let uint = self.emitter.uint();
                let by = [DESCRIPTOR_BITS, 32 - DESCRIPTOR_BITS];
                let [right, left] = by.map(|by| self.emitter.const_u32(by));
                let asm = &mut self.emitter.asm;
                let below = asm.result(Op::ShiftRightLogical, uint, &[low, right]);
                let above = asm.result(Op::ShiftLeftLogical, uint, &[high, left]);
                (low, asm.result(Op::BitwiseOr, uint, &[above, below]))
            }
            _ => return Err(self.unexpected(inst)),
        };
        let last = self.emitter.capabilities.buffer_descriptors - 1;
        let mut masked = |value, mask| {
            let (uint, mask) = (self.emitter.uint(), self.emitter.const_u32(mask));
            let asm = &mut self.emitter.asm;
            asm.result(Op::BitwiseAnd, uint, &[value, mask])
        };
        Ok((
            masked(number, last),
            masked(low, (1 << DESCRIPTOR_BITS) - 1),
        ))
    }
}
