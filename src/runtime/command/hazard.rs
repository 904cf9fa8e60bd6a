//! Which memory has been touched since the last barrier.

use smallvec::SmallVec;
use std::ops::Range;

/// Identifies an allocation while somebody holds it: its address.
pub type Id = usize;

/// A region of an allocation that a command reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    pub id: Id,
    /// Bytes of the allocation, [`ALL_BYTES`] where it can't be told.
    pub bytes: Range<u64>,
    pub write: bool,
}

/// The whole of an allocation.
pub const ALL_BYTES: Range<u64> = 0..u64::MAX;

/// What a command reads and writes.
pub type Accesses = SmallVec<[Touch; 8]>;

/// Past this a barrier costs less than the search.
const MOST: usize = 64;

impl Touch {
    /// Whether the order of the two can be told.
    pub fn conflicts(&self, other: &Self) -> bool {
        self.id == other.id && (self.write || other.write) && self.overlaps(other)
    }

    /// Whether the bytes of two regions of one allocation overlap.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end
    }

    /// Whether all of `other` is touched by this, and no less than it does.
    pub fn covers(&self, other: &Self) -> bool {
        self.id == other.id
            && (self.write || !other.write)
            && self.bytes.start <= other.bytes.start
            && other.bytes.end <= self.bytes.end
    }
}

/// What the commands since the last barrier read and write.
#[derive(Debug, Default)]
pub struct Hazards {
    touched: SmallVec<[Touch; MOST]>,
    anything: bool,
}

impl Hazards {
    /// Whether a command that touches `accesses` must come after a barrier. `anything`: it may use memory that
    /// is not named.
    #[inline]
    pub fn conflict(&self, accesses: &[Touch], anything: bool) -> bool {
        if anything || self.anything {
            return self.anything || !self.touched.is_empty();
        }
        if self.touched.len() + accesses.len() > MOST {
            return true;
        }
        let touched = |new: &Touch| self.touched.iter().any(|old| old.conflicts(new));
        accesses.iter().any(touched)
    }

    /// The command has been recorded.
    pub fn note(&mut self, accesses: &[Touch], anything: bool) {
        self.anything |= anything;
        for new in accesses {
            if self.touched.iter().any(|old| old.covers(new)) {
                continue;
            }
            match self.touched.iter_mut().find(|old| new.covers(old)) {
                Some(old) => *old = new.clone(),
                None => self.touched.push(new.clone()),
            }
        }
    }

    /// A barrier has been recorded.
    pub fn clear(&mut self) {
        self.touched.clear();
        self.anything = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(id: Id, write: bool) -> Touch {
        Touch {
            id,
            bytes: ALL_BYTES,
            write,
        }
    }

    fn part(bytes: Range<u64>, write: bool) -> Touch {
        Touch {
            id: 1,
            bytes,
            write,
        }
    }

    #[test]
    fn only_a_write_makes_a_conflict() {
        let mut hazards = Hazards::default();
        hazards.note(&[touch(1, false), touch(2, true)], false);
        assert!(!hazards.conflict(&[touch(1, false)], false));
        assert!(hazards.conflict(&[touch(1, true)], false));
        assert!(hazards.conflict(&[touch(2, false)], false));
        assert!(!hazards.conflict(&[touch(3, true)], false));
        hazards.clear();
        assert!(!hazards.conflict(&[touch(2, true)], false));
    }

    #[test]
    fn parts_of_an_allocation_are_apart() {
        let mut hazards = Hazards::default();
        hazards.note(&[part(0..64, true)], false);
        assert!(!hazards.conflict(&[part(64..128, true)], false));
        assert!(hazards.conflict(&[part(63..64, false)], false));
        assert!(hazards.conflict(&[touch(1, false)], false));
        hazards.note(&[part(64..128, false)], false);
        assert!(!hazards.conflict(&[part(100..128, false)], false));
        assert!(hazards.conflict(&[part(100..128, true)], false));
        // One that covers others stands for them.
        hazards.note(&[touch(1, true)], false);
        assert!(hazards.conflict(&[part(0..1, false)], false));
        assert!(hazards.conflict(&[part(200..201, false)], false));
    }

    #[test]
    fn unnamed_memory_conflicts_with_everything() {
        let mut hazards = Hazards::default();
        assert!(!hazards.conflict(&[], true));
        hazards.note(&[], true);
        assert!(hazards.conflict(&[touch(1, false)], false));
    }

    #[test]
    fn a_long_list_is_cut_by_a_barrier() {
        let mut hazards = Hazards::default();
        for id in 0..MOST {
            hazards.note(&[touch(id, false)], false);
        }
        assert!(hazards.conflict(&[touch(MOST, false)], false));
    }
}
