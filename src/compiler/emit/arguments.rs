//! The push-constant block, as the kernel reads it: by words, or by 64-bit numbers where a pass has joined them.

use super::Emitter;
use super::assembler::Id;
use crate::compiler::CompileError;
use crate::compiler::ir::{Function, Op as IrOp, Place, Type};
use rspirv::spirv::{Decoration, Op, StorageClass};
use std::collections::BTreeSet;

/// What the functions of a kernel read of the block.
#[derive(Default)]
pub struct ArgumentReads {
    /// Words up to the last one.
    words: u32,
    /// Byte offsets of 64-bit numbers, multiples of 8.
    longs: BTreeSet<u32>,
}

impl ArgumentReads {
    /// Adds what a function reads.
    pub fn add(&mut self, function: &Function) {
        let blocks = function.layout().iter();
        for &inst in blocks.flat_map(|&block| &function.block(block).insts) {
            let data = function.inst(inst);
            let IrOp::Load(Place::Argument { offset_bytes }, _) = data.op else {
                continue;
            };
            let mut end_bytes = offset_bytes;
            for &result in &data.results {
                if function.ty(result) == Type::I64 {
                    self.longs.insert(end_bytes);
                }
                end_bytes += function.ty(result).size_bytes();
            }
            self.words = self.words.max(end_bytes.div_ceil(4));
        }
    }

    /// The block's members, by offset, where it has 64-bit ones.
    fn members(&self) -> Vec<(u32, Type)> {
        let mut members = Vec::new();
        let mut offset_bytes = 0;
        while offset_bytes < self.words * 4 {
            let ty = if self.longs.contains(&offset_bytes) {
                Type::I64
            } else {
                Type::I32
            };
            members.push((offset_bytes, ty));
            offset_bytes += ty.size_bytes();
        }
        members
    }
}

/// The block that has been declared.
pub struct ArgumentBlock {
    variable: Id,
    /// Empty where it is an array of words.
    members: Vec<(u32, Type)>,
}

/// Where an argument is read.
pub struct ArgumentPlace {
    pub pointer: Id,
    /// What is there: a word, or the 64-bit number that holds it.
    pub ty: Type,
    /// Bytes into that.
    pub within_bytes: u32,
}

impl Emitter<'_> {
    /// The word or 64-bit number at a byte offset of the block.
    pub fn argument_place(&mut self, offset_bytes: u32) -> Result<ArgumentPlace, CompileError> {
        let block = match self.push_constants.take() {
            Some(block) => block,
            None => self.declare_arguments()?,
        };
        let variable = block.variable;
        let (indices, (start, ty)) = if block.members.is_empty() {
            let zero = self.const_u32(0);
            let word = self.const_u32(offset_bytes / 4);
            (vec![zero, word], (offset_bytes, Type::I32))
        } else {
            let after = block
                .members
                .partition_point(|&(start, _)| start <= offset_bytes);
            let member = after.saturating_sub(1);
            (vec![self.const_u32(member as u32)], block.members[member])
        };
        self.push_constants = Some(block);
        let pointee = self.ty(ty)?;
        let pointer_ty = self.pointer_type(StorageClass::PushConstant, pointee);
        let operands = [&[variable], indices.as_slice()].concat();
        Ok(ArgumentPlace {
            pointer: self.asm.result(Op::AccessChain, pointer_ty, &operands),
            ty,
            within_bytes: offset_bytes - start,
        })
    }

    /// `struct { uint words[N]; }`, or one member after the other where some are of 64 bits.
    fn declare_arguments(&mut self) -> Result<ArgumentBlock, CompileError> {
        let members = if self.arguments.longs.is_empty() {
            Vec::new()
        } else {
            self.arguments.members()
        };
        let (types, offsets): (Vec<Id>, Vec<u32>) = if members.is_empty() {
            let uint = self.uint();
            let length = self.const_u32(self.arguments.words.max(1));
            let words = self.asm.new_type(Op::TypeArray, &[uint, length]);
            self.asm.decorate(words, Decoration::ArrayStride, &[4]);
            (vec![words], vec![0])
        } else {
            let types = members.iter().map(|&(_, ty)| self.ty(ty));
            let types = types.collect::<Result<_, _>>()?;
            (types, members.iter().map(|&(offset, _)| offset).collect())
        };
        let block = self.asm.new_type(Op::TypeStruct, &types);
        self.asm.decorate(block, Decoration::Block, &[]);
        for (member, &offset) in offsets.iter().enumerate() {
            let member = member as u32;
            self.asm
                .decorate_member(block, member, Decoration::Offset, &[offset]);
        }
        let variable = self.asm.variable(StorageClass::PushConstant, block);
        self.asm.name(variable, "arguments");
        Ok(ArgumentBlock { variable, members })
    }
}
