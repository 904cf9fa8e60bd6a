//! Reads values from the argument block.

use crate::compiler::ir::{Access, Binary, Builder, Convert, Op, Place, Type, Value, Values};
use crate::compiler::passes::helpers::scalar_bits;
use crate::compiler::program::Placement;

/// Reads words of the argument block, within one function.
pub struct BlockReader {
    /// The block's device address, where it lies in memory.
    base: Option<Value>,
}

/// Arguments do not change while a kernel runs.
const ACCESS: Access = Access {
    align_bytes: 4,
    volatile: false,
    read_only: true,
};

impl BlockReader {
    /// Builds what reading needs: `b` must stand where it dominates every read.
    pub fn new(b: &mut Builder<'_>, placement: Placement) -> Self {
        let base = match placement {
            Placement::PushConstants => None,
            Placement::DeviceAddress => {
                let words = [0, 4].map(|offset_bytes| {
                    (
                        offset_bytes,
                        b.load1(Place::Argument { offset_bytes }, Type::I32, ACCESS),
                    )
                });
                Some(scalar_bits::join(b, &words, Type::I64))
            }
        };
        Self { base }
    }

    /// `count` words from a multiple of 4 bytes on.
    fn words(&self, b: &mut Builder<'_>, offset_bytes: u32, count: u32) -> Values {
        let Some(base) = self.base else {
            return (0..count)
                .map(|index| {
                    let offset_bytes = offset_bytes + 4 * index;
                    b.load1(Place::Argument { offset_bytes }, Type::I32, ACCESS)
                })
                .collect();
        };
        let mut words = Values::new();
        let mut index = 0;
        while index < count {
            let some = (count - index).min(4);
            let offset = offset_bytes + 4 * index;
            let address = b.binary_const(Binary::Add, base, offset.into());
            // The block is aligned to 16 bytes.
            let align_bytes = 16u32.min(1 << (offset | 16).trailing_zeros());
            let access = Access {
                align_bytes,
                ..ACCESS
            };
            words.extend(b.load(Place::Address(address), Type::I32, some as usize, access));
            index += some;
        }
        words
    }

    /// Scalars of the given types at byte offsets of the block; each word is read once.
    pub fn scalars(&self, b: &mut Builder<'_>, places: &[(u32, Type)]) -> Values {
        let start = places.iter().map(|&(offset, _)| offset).min().unwrap_or(0) & !3;
        let end = places
            .iter()
            .map(|&(offset, ty)| offset + ty.size_bytes())
            .max()
            .unwrap_or(0);
        let words = self.words(b, start, end.saturating_sub(start).div_ceil(4));
        places
            .iter()
            .map(|&(offset, ty)| {
                let int = int_at(b, &words, offset - start, scalar_bits::memory_int(ty));
                scalar_bits::from_int(b, int, ty)
            })
            .collect()
    }

    /// One scalar at a byte offset of the block.
    pub fn scalar(&self, b: &mut Builder<'_>, offset_bytes: u32, ty: Type) -> Value {
        self.scalars(b, &[(offset_bytes, ty)])[0]
    }

    /// A 64-bit address, as a pointer type.
    pub fn pointer(&self, b: &mut Builder<'_>, offset_bytes: u32, ty: Type) -> Value {
        let address = self.scalar(b, offset_bytes, Type::I64);
        b.op1(Op::Convert(Convert::IntToPtr, address), ty)
    }
}

/// The integer at a byte offset of consecutive words, aligned or not.
fn int_at(b: &mut Builder<'_>, words: &[Value], offset_bytes: u32, ty: Type) -> Value {
    let (first, within) = ((offset_bytes / 4) as usize, offset_bytes % 4);
    let size = ty.size_bytes();
    if within + size <= 4 {
        return scalar_bits::extract(b, words[first], within, ty);
    }
    if size == 8 {
        let low = int_at(b, words, offset_bytes, Type::I32);
        let high = int_at(b, words, offset_bytes + 4, Type::I32);
        return scalar_bits::join(b, &[(0, low), (4, high)], Type::I64);
    }
    let bytes: Vec<_> = (0..size)
        .map(|byte| (byte, int_at(b, words, offset_bytes + byte, Type::I8)))
        .collect();
    scalar_bits::join(b, &bytes, ty)
}
