//! The memory objects whose place depends on the device, and that must be brought there before an execution.

use crate::runtime::residency::backing::{Backing, MemoryAccess};
use crate::runtime::residency::contents::AccessMode;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Accesses to one memory object beyond which they are taken for one of the whole.
const MOST_RANGES: usize = 16;

/// What some commands use of such memory objects, in the order of the commands. They are not kept alive: "A
/// command-buffer object does not update the reference count of objects set as arguments on kernels".
#[derive(Clone, Default)]
pub struct Migrations {
    list: Vec<Migration>,
}

#[derive(Clone)]
struct Migration {
    backing: Weak<Backing>,
    accesses: Vec<(Range<usize>, AccessMode)>,
}

impl Migrations {
    pub fn add(&mut self, new: &MemoryAccess) {
        if new.backing.migrates() {
            self.entry(&Arc::downgrade(&new.backing))
                .add(new.range.clone(), new.mode);
        }
    }

    /// Adds those of later commands.
    pub fn extend(&mut self, others: &Self) {
        for other in &others.list {
            let own = self.entry(&other.backing);
            for (range, mode) in &other.accesses {
                own.add(range.clone(), *mode);
            }
        }
    }

    fn entry(&mut self, backing: &Weak<Backing>) -> &mut Migration {
        let known = self.list.iter().position(|it| it.backing.ptr_eq(backing));
        let index = known.unwrap_or_else(|| {
            self.list.push(Migration {
                backing: Weak::clone(backing),
                accesses: Vec::new(),
            });
            self.list.len() - 1
        });
        &mut self.list[index]
    }

    /// The accesses of those memory objects that still live.
    pub fn accesses(&self) -> impl Iterator<Item = MemoryAccess> + '_ {
        self.list.iter().flat_map(|it| {
            let backing = it.backing.upgrade();
            it.accesses.iter().filter_map(move |(range, mode)| {
                Some(MemoryAccess {
                    backing: Arc::clone(backing.as_ref()?),
                    range: range.clone(),
                    mode: *mode,
                })
            })
        })
    }
}

impl Migration {
    fn add(&mut self, range: Range<usize>, mode: AccessMode) {
        let covers = |old: &Range<usize>| old.start <= range.start && range.end <= old.end;
        if let Some((_, old)) = self.accesses.iter_mut().find(|(old, _)| covers(old)) {
            // What was overwritten is there; what was read, or is changed in part, is fetched.
            if mode.writes() && !old.writes() {
                *old = AccessMode::Modify;
            }
            return;
        }
        self.accesses.push((range, mode));
        if self.accesses.len() > MOST_RANGES {
            let writes = self.accesses.iter().any(|(_, mode)| mode.writes());
            let end = self.accesses.iter().map(|(range, _)| range.end).max();
            let start = self.accesses.iter().map(|(range, _)| range.start).min();
            self.accesses = vec![(start.unwrap_or(0)..end.unwrap_or(0), AccessMode::of(writes))];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accesses(list: &[(Range<usize>, AccessMode)]) -> Vec<(Range<usize>, AccessMode)> {
        let mut migration = Migration {
            backing: Weak::new(),
            accesses: Vec::new(),
        };
        for (range, mode) in list {
            migration.add(range.clone(), *mode);
        }
        migration.accesses
    }

    #[test]
    fn uses_of_the_same_bytes_are_one() {
        let twice = [(0..64, AccessMode::Read), (0..64, AccessMode::Overwrite)];
        assert_eq!(accesses(&twice), [(0..64, AccessMode::Modify)]);
        let made = [(0..64, AccessMode::Overwrite), (8..16, AccessMode::Read)];
        assert_eq!(accesses(&made), [(0..64, AccessMode::Overwrite)]);
        let apart = [(0..64, AccessMode::Read), (64..128, AccessMode::Overwrite)];
        assert_eq!(accesses(&apart), apart);
    }

    #[test]
    fn many_uses_are_taken_for_one() {
        let many: Vec<_> = (0..40)
            .map(|index| (index * 8..index * 8 + 4, AccessMode::Overwrite))
            .collect();
        let joined = accesses(&many);
        assert!(joined.len() <= MOST_RANGES + 1);
        // What lies between stays.
        assert_eq!(joined[0].1, AccessMode::Modify);
        assert!(joined[0].0.start == 0 && joined.last().unwrap().0.end == 39 * 8 + 4);
    }
}
