//! The alignment of what `OpCopyMemorySized` reads, where the module's word for it is not to be trusted.

use super::decode::Id;
use super::function_parser::FunctionParser;
use crate::compiler::CompileError;
use crate::compiler::ir::{Binary, Convert, Op as IrOp, Value};

/// Longest chain of address arithmetic that is looked at.
const MAX_STEPS: usize = 16;

impl FunctionParser<'_, '_> {
    /// The alignment in bytes of what a copy reads through `pointer`, whose only memory operands state
    /// `stated_bytes` for both of its sides.
    ///
    /// LLVM's SPIR-V backend writes the alignment of the destination there (seen in LLVM 22) though the
    /// source may have less: what the address itself shows counts for its modules.
    pub(super) fn source_alignment(
        &self,
        pointer: Value,
        pointee: Id,
        stated_bytes: u32,
    ) -> Result<u32, CompileError> {
        if !self.source.is_by_llvm {
            return Ok(stated_bytes);
        }
        let natural = self.source.types.layout(pointee)?.align_bytes;
        Ok(stated_bytes.min(self.shown_alignment(pointer, natural)))
    }

    /// What a chain of offsets and where it starts tell of an address; `unknown` where it starts at a
    /// pointer of which nothing is known.
    fn shown_alignment(&self, mut pointer: Value, unknown: u32) -> u32 {
        let mut offsets = 1 << 31;
        for _ in 0..MAX_STEPS {
            let start = match self.function.op_of(pointer) {
                Some(&IrOp::PtrAdd(base, offset)) => {
                    offsets = offsets.min(self.factor(offset));
                    pointer = base;
                    continue;
                }
                Some(&IrOp::Convert(Convert::AddressSpaceCast, base)) => {
                    pointer = base;
                    continue;
                }
                Some(&IrOp::VariableAddress(id)) => self
                    .function
                    .variables
                    .get(id.index())
                    .map_or(1, |variable| variable.align_bytes),
                Some(&IrOp::GlobalAddress(id)) => self.source.module.global(id).align_bytes,
                None => match self.parameter_alignment.get(&pointer) {
                    Some(&stated) => stated,
                    None => unknown,
                },
                Some(_) => unknown,
            };
            return offsets.min(start.max(1));
        }
        1
    }

    /// The largest power of two that a number is known to be a multiple of, up to 2³¹.
    fn factor(&self, value: Value) -> u32 {
        let of_bits = |bits: u64| 1_u32 << bits.trailing_zeros().min(31);
        match self.function.op_of(value) {
            Some(&IrOp::Const(bits)) => of_bits(bits),
            Some(&IrOp::Binary(Binary::Mul, a, b)) => [a, b]
                .iter()
                .filter_map(|side| self.function.constant(*side))
                .map(of_bits)
                .max()
                .unwrap_or(1),
            Some(&IrOp::Binary(Binary::Shl, _, count)) => match self.function.constant(count) {
                Some(count) => 1 << count.min(31),
                None => 1,
            },
            _ => 1,
        }
    }
}
