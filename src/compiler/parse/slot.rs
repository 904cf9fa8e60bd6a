//! Scalars of a value, and where they lie in memory.

use crate::compiler::ir::Type;

/// One scalar of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub ty: Type,
    /// The bits that count: fewer than its type has of an integer of another width ([`super::widths`]).
    pub bits: u32,
    /// Where it lies in memory from the start of the value.
    pub offset_bytes: u64,
}

impl Slot {
    /// A scalar of which all bits count.
    pub fn new(ty: Type, offset_bytes: u64) -> Self {
        Self {
            ty,
            bits: ty.bits(),
            offset_bytes,
        }
    }

    /// Whether it is an integer of another width than its type.
    pub fn is_cut(&self) -> bool {
        self.bits != self.ty.bits()
    }
}

/// How much memory a value takes, and how it is aligned there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub size_bytes: u64,
    pub align_bytes: u32,
}

/// The alignment known at `offset_bytes` from something aligned to `align_bytes`.
pub(super) fn align_at(align_bytes: u32, offset_bytes: u64) -> u32 {
    let offset_align = 1 << offset_bytes.trailing_zeros().min(31);
    align_bytes.min(offset_align)
}
