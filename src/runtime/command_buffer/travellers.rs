//! The memory objects whose place depends on the device, and that must be brought there before an execution.

use crate::runtime::residency::backing::{Backing, Use};
use crate::runtime::residency::residence::Mode;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Uses of one memory object beyond which they are taken for one of the whole.
const MOST_RANGES: usize = 16;

/// What some commands use of such memory objects, in the order of the commands. They are not kept alive: "A
/// command-buffer object does not update the reference count of objects set as arguments on kernels".
#[derive(Clone, Default)]
pub struct Travellers {
    list: Vec<Traveller>,
}

#[derive(Clone)]
struct Traveller {
    backing: Weak<Backing>,
    uses: Vec<(Range<usize>, Mode)>,
}

impl Travellers {
    pub fn add(&mut self, new: &Use) {
        if new.backing.travels() {
            self.entry(&Arc::downgrade(&new.backing))
                .add(new.range.clone(), new.mode);
        }
    }

    /// Adds those of later commands.
    pub fn extend(&mut self, others: &Self) {
        for other in &others.list {
            let own = self.entry(&other.backing);
            for (range, mode) in &other.uses {
                own.add(range.clone(), *mode);
            }
        }
    }

    fn entry(&mut self, backing: &Weak<Backing>) -> &mut Traveller {
        let known = self.list.iter().position(|it| it.backing.ptr_eq(backing));
        let index = known.unwrap_or_else(|| {
            self.list.push(Traveller {
                backing: Weak::clone(backing),
                uses: Vec::new(),
            });
            self.list.len() - 1
        });
        &mut self.list[index]
    }

    /// The uses of those memory objects that still live.
    pub fn uses(&self) -> impl Iterator<Item = Use> + '_ {
        self.list.iter().flat_map(|it| {
            let backing = it.backing.upgrade();
            it.uses.iter().filter_map(move |(range, mode)| {
                Some(Use {
                    backing: Arc::clone(backing.as_ref()?),
                    range: range.clone(),
                    mode: *mode,
                })
            })
        })
    }
}

impl Traveller {
    fn add(&mut self, range: Range<usize>, mode: Mode) {
        let covers = |old: &Range<usize>| old.start <= range.start && range.end <= old.end;
        if let Some((_, old)) = self.uses.iter_mut().find(|(old, _)| covers(old)) {
            // What was overwritten is there; what was read, or is changed in part, is fetched.
            if mode.writes() && !old.writes() {
                *old = Mode::Modify;
            }
            return;
        }
        self.uses.push((range, mode));
        if self.uses.len() > MOST_RANGES {
            let writes = self.uses.iter().any(|(_, mode)| mode.writes());
            let end = self.uses.iter().map(|(range, _)| range.end).max();
            let start = self.uses.iter().map(|(range, _)| range.start).min();
            self.uses = vec![(start.unwrap_or(0)..end.unwrap_or(0), Mode::of(writes))];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(list: &[(Range<usize>, Mode)]) -> Vec<(Range<usize>, Mode)> {
        let mut traveller = Traveller {
            backing: Weak::new(),
            uses: Vec::new(),
        };
        for (range, mode) in list {
            traveller.add(range.clone(), *mode);
        }
        traveller.uses
    }

    #[test]
    fn uses_of_the_same_bytes_are_one() {
        let twice = [(0..64, Mode::Read), (0..64, Mode::Overwrite)];
        assert_eq!(uses(&twice), [(0..64, Mode::Modify)]);
        let made = [(0..64, Mode::Overwrite), (8..16, Mode::Read)];
        assert_eq!(uses(&made), [(0..64, Mode::Overwrite)]);
        let apart = [(0..64, Mode::Read), (64..128, Mode::Overwrite)];
        assert_eq!(uses(&apart), apart);
    }

    #[test]
    fn many_uses_are_taken_for_one() {
        let many: Vec<_> = (0..40)
            .map(|index| (index * 8..index * 8 + 4, Mode::Overwrite))
            .collect();
        let joined = uses(&many);
        assert!(joined.len() <= MOST_RANGES + 1);
        // What lies between stays.
        assert_eq!(joined[0].1, Mode::Modify);
        assert!(joined[0].0.start == 0 && joined.last().unwrap().0.end == 39 * 8 + 4);
    }
}
