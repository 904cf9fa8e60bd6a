//! How many elements of an array accesses to scalars make, by how wide the elements are.

use crate::compiler::Capabilities;
use crate::compiler::ir::{Access, AddressSpace, Type};

/// What an access to an element costs, in uses of the array that a compiler for processors finds: an address and what is
/// done there, for each of eight work-items. A store also loads what work-items that take no part are to keep.
pub const LOAD: u64 = 16;
pub const STORE: u64 = 24;

/// What it costs to take a scalar out of a wider element, or to put it in, in the same unit.
const PART: u64 = 2;

/// Widths in bytes of scalars and elements.
const WIDTHS: [u32; 4] = [1, 2, 4, 8];

/// Numbers of scalars by size and alignment.
type Counts = [[u64; WIDTHS.len()]; WIDTHS.len()];

/// Loads and stores of elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elements {
    pub loads: u64,
    pub stores: u64,
    /// How many of them are for scalars that are parts of elements.
    part_loads: u64,
    part_stores: u64,
}

impl Elements {
    /// What they cost in private memory, in the unit of [`LOAD`] and [`STORE`].
    pub fn cost(&self) -> u64 {
        let parts = self.part_loads + 2 * self.part_stores;
        self.loads * LOAD + self.stores * STORE + parts * PART
    }

    /// How many accesses to local memory they are, where a part is stored by two.
    pub fn accesses_to_local_memory(&self) -> u64 {
        self.loads + self.stores + self.part_stores
    }

    /// What they cost in local memory, where a part is stored by two atomic operations.
    fn cost_in_local_memory(&self) -> u64 {
        self.cost() + self.part_stores * STORE
    }
}

/// Scalars that are loaded and stored, by their size and alignment.
#[derive(Clone, Debug, Default)]
pub struct AccessWidths {
    loads: Counts,
    stores: Counts,
}

impl AccessWidths {
    /// Notes an access to consecutive scalars, each at the next multiple of its size.
    pub fn add(&mut self, types: impl IntoIterator<Item = Type>, access: Access, is_store: bool) {
        for (ty, align) in aligned(types, access) {
            self.add_scalar(ty, align, is_store);
        }
    }

    /// Whether no access is noted.
    pub fn is_empty(&self) -> bool {
        let mut counts = self.loads.iter().chain(&self.stores).flatten();
        counts.all(|&count| count == 0)
    }

    /// Notes an access to one scalar.
    pub fn add_scalar(&mut self, ty: Type, align_bytes: u32, is_store: bool) {
        let counts = if is_store {
            &mut self.stores
        } else {
            &mut self.loads
        };
        counts[width_index(memory_bytes(ty))][width_index(align_bytes)] += 1;
    }

    /// Notes what another has noted so many times.
    pub fn add_all(&mut self, other: &Self, times: u64) {
        let all = |these: &mut Counts, those: &Counts| {
            let these = these.iter_mut().flatten();
            for (these, those) in these.zip(those.iter().flatten()) {
                *these = these.saturating_add(those.saturating_mul(times));
            }
        };
        all(&mut self.loads, &other.loads);
        all(&mut self.stores, &other.stores);
    }

    /// The elements of a width that the accesses make.
    pub fn elements(&self, width: u32) -> Elements {
        let mut all = Elements::default();
        for (size, &size_bytes) in WIDTHS.iter().enumerate() {
            for (align, &align_bytes) in WIDTHS.iter().enumerate() {
                let (loads, stores) = (self.loads[size][align], self.stores[size][align]);
                if size_bytes >= width && align_bytes >= width {
                    let pieces = u64::from(size_bytes / width);
                    all.loads += pieces * loads;
                    all.stores += pieces * stores;
                } else {
                    let parts = u64::from(size_bytes / size_bytes.min(align_bytes));
                    // A store changes some bits of what it loads.
                    all.loads += parts * (loads + stores);
                    all.stores += parts * stores;
                    all.part_loads += parts * loads;
                    all.part_stores += parts * stores;
                }
            }
        }
        all
    }

    /// The width of elements with which the accesses cost least, among those that the device computes with.
    pub fn best(&self, space: AddressSpace, capabilities: &Capabilities) -> u32 {
        let has = |width: &u32| match width {
            1 => capabilities.int8,
            2 => capabilities.int16,
            8 => capabilities.int64,
            _ => true,
        };
        // Atomic operations, which store parts in local memory, are on 32 bits.
        let can_store = |width: &u32| {
            space != AddressSpace::Local || *width == 4 || self.elements(*width).part_stores == 0
        };
        let widths = WIDTHS.into_iter().filter(has).filter(can_store);
        widths
            .min_by_key(|&width| {
                let elements = self.elements(width);
                match space {
                    AddressSpace::Local => elements.cost_in_local_memory(),
                    _ => elements.cost(),
                }
            })
            .unwrap_or(4)
    }
}

/// Consecutive scalars, each at the next multiple of its size, and how they are aligned.
pub fn aligned(
    types: impl IntoIterator<Item = Type>,
    access: Access,
) -> impl Iterator<Item = (Type, u32)> {
    let mut end = 0u32;
    types.into_iter().map(move |ty| {
        let size = memory_bytes(ty);
        // The alignment of one that is not first follows from its offset.
        let offset = end.next_multiple_of(size);
        end = offset + size;
        let align = match offset {
            0 => access.align_bytes,
            _ => access.align_bytes.min(1 << offset.trailing_zeros()),
        };
        (ty, align)
    })
}

/// The bytes that a scalar takes in memory.
fn memory_bytes(ty: Type) -> u32 {
    match ty {
        Type::Bool => 1,
        Type::Ptr(_) => 8,
        other => other.size_bytes(),
    }
}

/// The place in [`WIDTHS`] of the widest that fits.
fn width_index(bytes: u32) -> usize {
    (bytes.max(1).ilog2() as usize).min(WIDTHS.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIVATE: AddressSpace = AddressSpace::Private;

    fn widths(accesses: &[(&[Type], u32, bool)]) -> AccessWidths {
        let mut widths = AccessWidths::default();
        for &(types, align, is_store) in accesses {
            widths.add(types.iter().copied(), Access::aligned(align), is_store);
        }
        widths
    }

    #[test]
    fn accesses_of_one_width_are_to_elements_of_it() {
        for ty in [Type::I8, Type::I16, Type::I32, Type::F32, Type::I64] {
            let size = ty.size_bytes();
            let all = widths(&[(&[ty], size, true), (&[ty; 3], size, false)]);
            assert_eq!(all.best(PRIVATE, &Capabilities::full()), size);
            let elements = all.elements(size);
            assert_eq!(elements.cost(), 3 * LOAD + STORE);
        }
        let longs = widths(&[(&[Type::I64], 8, true)]);
        assert_eq!(longs.best(PRIVATE, &Capabilities::minimal()), 4);
        assert_eq!(longs.elements(4).stores, 2);
    }

    #[test]
    fn a_few_bytes_among_words_are_parts_of_words() {
        let heap: &[Type] = &[Type::I16, Type::I32];
        let all = widths(&[
            (&[Type::I8], 1, true),
            (&[Type::I8], 1, false),
            (heap, 4, false),
            (heap, 4, true),
        ]);
        assert_eq!(all.best(PRIVATE, &Capabilities::full()), 4);
        // Bytes and halves of words are loaded, or changed in a word that was loaded.
        let words = all.elements(4);
        assert_eq!((words.loads, words.stores), (5, 3));
        assert_eq!((words.part_loads, words.part_stores), (2, 2));
        let bytes = all.elements(1);
        assert_eq!((bytes.loads, bytes.stores), (7, 7));
    }

    #[test]
    fn parts_are_stored_in_local_words() {
        let longs: &[Type] = &[Type::I64; 8];
        let all = widths(&[(longs, 8, true), (longs, 8, false), (&[Type::I8], 1, true)]);
        assert_eq!(all.best(PRIVATE, &Capabilities::full()), 8);
        assert_eq!(all.best(AddressSpace::Local, &Capabilities::full()), 4);
        let loaded = widths(&[(longs, 8, true), (&[Type::I8], 1, false)]);
        assert_eq!(loaded.best(AddressSpace::Local, &Capabilities::full()), 8);
    }

    #[test]
    fn what_is_not_aligned_is_made_of_parts() {
        let all = widths(&[(&[Type::I32, Type::I32], 2, false)]);
        assert_eq!(all.elements(4).loads, 4);
        assert_eq!(all.elements(2).loads, 4);
        assert_eq!(all.best(PRIVATE, &Capabilities::full()), 2);
    }
}
