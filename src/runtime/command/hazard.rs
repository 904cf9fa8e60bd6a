//! Which memory has been accessed since the last barrier.

use crate::runtime::allocation::Allocation;
use crate::runtime::host_memory::layout::{Extent, Layout};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// Identifies an allocation while somebody holds it: its address.
pub type Id = usize;

/// A region of an allocation that a command reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedAccess {
    pub id: Id,
    /// Bytes of the allocation, [`ALL_BYTES`] where it can't be told.
    pub bytes: Range<u64>,
    pub write: bool,
}

/// The whole of an allocation.
pub const ALL_BYTES: Range<u64> = 0..u64::MAX;

/// What a command reads and writes.
pub type Accesses = SmallVec<[TrackedAccess; 8]>;

/// Past this a barrier costs less than the search.
const MOST: usize = 64;

impl TrackedAccess {
    /// An access to `bytes` of an allocation.
    pub fn new(allocation: &Arc<Allocation>, bytes: Range<u64>, write: bool) -> Self {
        Self {
            id: Arc::as_ptr(allocation) as Id,
            // Narrow writes may be made as accesses to the vector around them.
            bytes: bytes.start & !15..bytes.end.saturating_add(15) & !15,
            write,
        }
    }

    /// A read of a rectangle of an allocation.
    pub fn read(allocation: &Arc<Allocation>, layout: Layout, extent: Extent) -> Self {
        Self::new(allocation, span(layout, extent), false)
    }

    /// A write of a rectangle of an allocation.
    pub fn write(allocation: &Arc<Allocation>, layout: Layout, extent: Extent) -> Self {
        Self::new(allocation, span(layout, extent), true)
    }

    /// Whether the order of the two can be told.
    pub fn conflicts(&self, other: &Self) -> bool {
        self.id == other.id && (self.write || other.write) && self.overlaps(other)
    }

    /// Whether the bytes of two regions of one allocation overlap.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end
    }

    /// Whether all of `other` is accessed by this, and no less than it does.
    pub fn covers(&self, other: &Self) -> bool {
        self.id == other.id
            && (self.write || !other.write)
            && self.bytes.start <= other.bytes.start
            && other.bytes.end <= self.bytes.end
    }
}

/// The bytes from the first to the last of a rectangle.
fn span(layout: Layout, extent: Extent) -> Range<u64> {
    layout.offset_bytes as u64..layout.end_bytes(extent) as u64
}

/// What the commands since the last barrier read and write.
#[derive(Debug, Default)]
pub struct Hazards {
    accessed: SmallVec<[TrackedAccess; MOST]>,
    anything: bool,
}

impl Hazards {
    /// Whether a command that makes `accesses` must come after a barrier. `anything`: it may use memory that
    /// is not named.
    #[inline]
    pub fn conflict(&self, accesses: &[TrackedAccess], anything: bool) -> bool {
        if anything || self.anything {
            return self.anything || !self.accessed.is_empty();
        }
        if self.accessed.len() + accesses.len() > MOST {
            return true;
        }
        let touched = |new: &TrackedAccess| self.accessed.iter().any(|old| old.conflicts(new));
        accesses.iter().any(touched)
    }

    /// The command has been recorded.
    pub fn note(&mut self, accesses: &[TrackedAccess], anything: bool) {
        self.anything |= anything;
        for new in accesses {
            if self.accessed.iter().any(|old| old.covers(new)) {
                continue;
            }
            match self.accessed.iter_mut().find(|old| new.covers(old)) {
                Some(old) => *old = new.clone(),
                None => self.accessed.push(new.clone()),
            }
        }
    }

    /// A barrier has been recorded.
    pub fn clear(&mut self) {
        self.accessed.clear();
        self.anything = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tracked(id: Id, write: bool) -> TrackedAccess {
        TrackedAccess {
            id,
            bytes: ALL_BYTES,
            write,
        }
    }

    fn part(bytes: Range<u64>, write: bool) -> TrackedAccess {
        TrackedAccess {
            id: 1,
            bytes,
            write,
        }
    }

    #[test]
    fn only_a_write_makes_a_conflict() {
        let mut hazards = Hazards::default();
        hazards.note(&[tracked(1, false), tracked(2, true)], false);
        assert!(!hazards.conflict(&[tracked(1, false)], false));
        assert!(hazards.conflict(&[tracked(1, true)], false));
        assert!(hazards.conflict(&[tracked(2, false)], false));
        assert!(!hazards.conflict(&[tracked(3, true)], false));
        hazards.clear();
        assert!(!hazards.conflict(&[tracked(2, true)], false));
    }

    #[test]
    fn parts_of_an_allocation_are_apart() {
        let mut hazards = Hazards::default();
        hazards.note(&[part(0..64, true)], false);
        assert!(!hazards.conflict(&[part(64..128, true)], false));
        assert!(hazards.conflict(&[part(63..64, false)], false));
        assert!(hazards.conflict(&[tracked(1, false)], false));
        hazards.note(&[part(64..128, false)], false);
        assert!(!hazards.conflict(&[part(100..128, false)], false));
        assert!(hazards.conflict(&[part(100..128, true)], false));
        // One that covers others stands for them.
        hazards.note(&[tracked(1, true)], false);
        assert!(hazards.conflict(&[part(0..1, false)], false));
        assert!(hazards.conflict(&[part(200..201, false)], false));
    }

    #[test]
    fn unnamed_memory_conflicts_with_everything() {
        let mut hazards = Hazards::default();
        assert!(!hazards.conflict(&[], true));
        hazards.note(&[], true);
        assert!(hazards.conflict(&[tracked(1, false)], false));
    }

    #[test]
    fn a_long_list_is_cut_by_a_barrier() {
        let mut hazards = Hazards::default();
        for id in 0..MOST {
            hazards.note(&[tracked(id, false)], false);
        }
        assert!(hazards.conflict(&[tracked(MOST, false)], false));
    }
}
