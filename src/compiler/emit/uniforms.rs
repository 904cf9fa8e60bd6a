//! The uniform buffer that holds the program's constant variables: set 1, binding 0.
//!
//! It is declared as an array of words, and as one of 64-bit numbers, in so far as it is read so.

use super::Emitter;
use super::assembler::Id;
use crate::compiler::CompileError;
use crate::compiler::ir::Type;
use rspirv::spirv::{Decoration, Op, StorageClass};

const SET: u32 = 1;
const BINDING: u32 = 0;

impl Emitter<'_> {
    /// A pointer to a number of a type in the buffer.
    pub fn uniform_number(&mut self, ty: Type, index: Id) -> Result<Id, CompileError> {
        let number = self.ty(ty)?;
        let size_bytes = ty.size_bytes();
        let variable = match self.uniforms.get(&size_bytes) {
            Some(&variable) => variable,
            None => self.declare_uniforms(number, size_bytes),
        };
        let pointer = self.pointer_type(StorageClass::Uniform, number);
        let zero = self.const_u32(0);
        let operands = [variable, zero, index];
        Ok(self.asm.result(Op::AccessChain, pointer, &operands))
    }

    fn declare_uniforms(&mut self, number: Id, size_bytes: u32) -> Id {
        let kernels = self.module.kernels.iter();
        let buffer_bytes = kernels.map(|kernel| kernel.uniform_bytes).max();
        let length = self.const_u32((buffer_bytes.unwrap_or(0) / size_bytes).max(1));
        let numbers = self.asm.new_type(Op::TypeArray, &[number, length]);
        let stride = &[size_bytes];
        self.asm.decorate(numbers, Decoration::ArrayStride, stride);
        let block = self.asm.new_type(Op::TypeStruct, &[numbers]);
        self.asm.decorate(block, Decoration::Block, &[]);
        self.asm.decorate_member(block, 0, Decoration::Offset, &[0]);
        let variable = self.asm.variable(StorageClass::Uniform, block);
        let places = [
            (Decoration::DescriptorSet, SET),
            (Decoration::Binding, BINDING),
        ];
        for (decoration, place) in places {
            self.asm.decorate(variable, decoration, &[place]);
        }
        self.asm.name(variable, "constants");
        self.uniforms.insert(size_bytes, variable);
        variable
    }
}
