//! Where the contents of a memory object are, in a context of several devices.
//!
//! Every device that uses the object has a copy of its own. The object's bytes are divided into pieces, and each
//! piece has an owner: the device that writes it last. An application that uses a memory object on two devices orders the
//! commands by events, not by the order of its calls: what it enqueues first, held by an event of its own, may run last. So a
//! command *claims* what it writes after all that it waits for. It does so as it is enqueued if nothing of that is
//! held, since what is under way has claimed; a command that is held claims when its turn comes.
//!
//! A command on a device that lacks the latest contents of a piece is preceded by a *fetch* ([`super::fetch`]), which the
//! host carries out when the command's own turn comes: whoever wrote the contents is done then. It claims after that, so an
//! owner has the contents, but for what it overwrites. Nothing is fetched where the command overwrites, and nothing twice. A
//! command that fails before its turn has claimed nothing.

use crate::runtime::allocation::Allocation;
use crate::runtime::allocation::allocate::allocate;
use crate::runtime::device::Device;
use crate::runtime::object::error::{Error, Result};
use crate::vulkan::{self, MemoryKind};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Past this many pieces, neighbours that differ only in when they were written are joined.
const MANY_PIECES: usize = 64;

/// What a command does with a region of a memory object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessMode {
    Read,
    /// May write some of it, and may read.
    Modify,
    /// Writes all of it, and reads nothing.
    Overwrite,
}

impl AccessMode {
    /// The mode of a command that may write, or not.
    pub fn of(written: bool) -> Self {
        if written { Self::Modify } else { Self::Read }
    }

    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

/// The copies of one memory object.
pub(in crate::runtime) struct Residency {
    devices: Vec<Arc<Device>>,
    state: Mutex<State>,
    /// One fetch at a time.
    pub(in crate::runtime) fetching: Mutex<()>,
}

/// What is known of the copies.
pub(in crate::runtime) struct State {
    /// One for each device of the context.
    pub copies: Vec<Option<Copy>>,
    pub pieces: Pieces,
}

/// A device's copy.
#[derive(Clone)]
pub(in crate::runtime) struct Copy {
    pub allocation: Arc<Allocation>,
    pub vulkan: Arc<vulkan::Device>,
}

/// Who has what.
pub(in crate::runtime) struct Pieces {
    /// In order, each from the end of the one before; together they cover the memory object.
    list: Vec<Piece>,
    last_version: u64,
}

#[derive(Clone)]
struct Piece {
    end_bytes: usize,
    /// Tells these contents from those before and after.
    version: u64,
    owner: Owner,
    /// The devices that have fetched this version.
    fetched: u64,
}

/// Who has the contents in any case.
#[derive(Clone)]
pub(in crate::runtime) enum Owner {
    /// There are none yet.
    Nobody,
    /// The host, from the creation on: bytes of the whole memory object.
    Host(Arc<Vec<u8>>),
    /// The device at this place in the context.
    Device(usize),
}

/// Contents that a device lacks.
#[derive(Clone)]
pub(in crate::runtime) struct Missing {
    pub range: Range<usize>,
    pub version: u64,
    pub owner: Owner,
}

impl Residency {
    /// `initial` are the first contents, as many bytes as the memory object has.
    pub fn new(devices: &[Arc<Device>], size_bytes: usize, initial: Option<Vec<u8>>) -> Self {
        let owner = initial.map_or(Owner::Nobody, |bytes| Owner::Host(Arc::new(bytes)));
        Self {
            devices: devices.to_vec(),
            state: Mutex::new(State {
                copies: devices.iter().map(|_| None).collect(),
                pieces: Pieces::new(size_bytes, owner),
            }),
            fetching: Mutex::default(),
        }
    }

    /// The copy of the device at place `device`, whatever it contains.
    ///
    /// # Errors
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE`
    pub fn place(
        &self,
        device: usize,
        kind: MemoryKind,
        size_bytes: usize,
    ) -> Result<Arc<Allocation>> {
        let mut state = self.lock();
        let missing = || Error::impossible("the queue's device is not in the context");
        let slot = state.copies.get_mut(device).ok_or_else(missing)?;
        if let Some(copy) = slot {
            return Ok(Arc::clone(&copy.allocation));
        }
        let vulkan = self.devices.get(device).ok_or_else(missing)?.vulkan()?;
        // The application's memory can't be shared with several devices at once.
        let allocation = allocate(vulkan, kind, size_bytes, None, None)?;
        *slot = Some(Copy {
            allocation: Arc::clone(&allocation),
            vulkan: Arc::clone(vulkan),
        });
        Ok(allocation)
    }

    /// The copies that there are.
    pub fn allocations(&self) -> Vec<Arc<Allocation>> {
        let state = self.lock();
        let copies = state.copies.iter().flatten();
        copies.map(|copy| Arc::clone(&copy.allocation)).collect()
    }

    pub(in crate::runtime) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pieces {
    fn new(size_bytes: usize, owner: Owner) -> Self {
        Self {
            list: vec![Piece {
                end_bytes: size_bytes,
                version: 0,
                owner,
                fetched: 0,
            }],
            last_version: 0,
        }
    }

    /// What of `range` the device lacks.
    pub(in crate::runtime) fn missing(&self, device: usize, range: &Range<usize>) -> Vec<Missing> {
        let mut start = 0;
        let spans = self.list.iter().map(|piece| {
            let span = start.max(range.start)..piece.end_bytes.min(range.end);
            start = piece.end_bytes;
            (span, piece)
        });
        spans
            .filter(|(span, piece)| !span.is_empty() && !piece.is_on(device))
            .map(|(span, piece)| Missing {
                range: span,
                version: piece.version,
                owner: piece.owner.clone(),
            })
            .collect()
    }

    /// The device writes `range`.
    pub(in crate::runtime) fn claim(&mut self, device: usize, range: &Range<usize>) {
        if range.is_empty() {
            return;
        }
        let first = self.cut(range.start);
        let end = self.cut(range.end);
        self.last_version += 1;
        let piece = Piece {
            end_bytes: range.end,
            version: self.last_version,
            owner: Owner::Device(device),
            fetched: 0,
        };
        self.list.splice(first..end, [piece]);
        if self.list.len() > MANY_PIECES {
            self.join();
        }
    }

    /// Has a piece begin at `at`, and tells its number.
    fn cut(&mut self, at: usize) -> usize {
        let mut start = 0;
        for number in 0..self.list.len() {
            if at <= start {
                return number;
            }
            let Some(piece) = self.list.get(number) else {
                break;
            };
            if at < piece.end_bytes {
                let before = Piece {
                    end_bytes: at,
                    ..piece.clone()
                };
                self.list.insert(number, before);
                return number + 1;
            }
            start = piece.end_bytes;
        }
        self.list.len()
    }

    /// Joins neighbours that are in the same places. They are a version of their own: a fetch of the old ones
    /// that is under way is not noted, which costs another fetch at most.
    fn join(&mut self) {
        let mut joined: Vec<Piece> = Vec::with_capacity(self.list.len());
        for piece in self.list.drain(..) {
            match joined.last_mut() {
                Some(last) if last.is_like(&piece) => {
                    last.end_bytes = piece.end_bytes;
                    self.last_version += 1;
                    last.version = self.last_version;
                }
                _ => joined.push(piece),
            }
        }
        self.list = joined;
    }

    /// The device has fetched `missing`.
    pub(in crate::runtime) fn note_fetched(&mut self, device: usize, missing: &Missing) {
        self.cut(missing.range.start);
        self.cut(missing.range.end);
        let mut start = 0;
        for piece in &mut self.list {
            let inside = missing.range.start <= start && piece.end_bytes <= missing.range.end;
            if inside && piece.version == missing.version {
                piece.fetched |= bit(device);
            }
            start = piece.end_bytes;
        }
        if self.list.len() > MANY_PIECES {
            self.join();
        }
    }
}

impl Piece {
    fn is_fetched(&self, device: usize) -> bool {
        self.fetched & bit(device) != 0
    }

    /// Whether the device has it, or nobody.
    fn is_on(&self, device: usize) -> bool {
        match self.owner {
            Owner::Nobody => true,
            Owner::Device(owner) if owner == device => true,
            _ => self.is_fetched(device),
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        let same_owner = match (&self.owner, &other.owner) {
            (Owner::Nobody, Owner::Nobody) => true,
            (Owner::Host(one), Owner::Host(other)) => Arc::ptr_eq(one, other),
            (Owner::Device(one), Owner::Device(other)) => one == other,
            _ => false,
        };
        same_owner && self.fetched == other.fetched
    }
}

/// A device's place in a set. One past the 64th is never known to have fetched anything.
fn bit(device: usize) -> u64 {
    1_u64.checked_shl(device as u32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(missing: &[Missing]) -> Vec<(usize, usize)> {
        missing
            .iter()
            .map(|it| (it.range.start, it.range.end))
            .collect()
    }

    #[test]
    fn contents_are_fetched_from_whoever_wrote_them_last() {
        let mut pieces = Pieces::new(100, Owner::Nobody);
        // Never written: nothing to fetch.
        assert!(pieces.missing(1, &(0..100)).is_empty());
        pieces.claim(0, &(0..100));
        let missing = pieces.missing(1, &(20..40));
        assert_eq!(ranges(&missing), [(20, 40)]);
        assert!(matches!(missing[0].owner, Owner::Device(0)));
        // Asked for, not there yet.
        assert_eq!(ranges(&pieces.missing(1, &(20..40))), [(20, 40)]);
        pieces.note_fetched(1, &missing[0]);
        assert!(pieces.missing(1, &(20..40)).is_empty());
        assert_eq!(ranges(&pieces.missing(1, &(0..100))), [(0, 20), (40, 100)]);
    }

    #[test]
    fn halves_written_on_two_devices_are_both_kept() {
        let mut pieces = Pieces::new(100, Owner::Host(Arc::new(vec![0; 100])));
        assert_eq!(ranges(&pieces.missing(0, &(0..50))), [(0, 50)]);
        pieces.claim(0, &(0..50));
        pieces.claim(1, &(50..100));
        assert_eq!(ranges(&pieces.missing(0, &(0..100))), [(50, 100)]);
        assert_eq!(ranges(&pieces.missing(1, &(0..100))), [(0, 50)]);
        assert_eq!(pieces.list.len(), 2);
    }

    #[test]
    fn a_fetch_that_comes_late_says_nothing_of_newer_contents() {
        let mut pieces = Pieces::new(10, Owner::Nobody);
        pieces.claim(0, &(0..10));
        let old = pieces.missing(1, &(0..10));
        pieces.claim(0, &(0..5));
        pieces.note_fetched(1, &old[0]);
        assert_eq!(ranges(&pieces.missing(1, &(0..10))), [(0, 5)]);
    }

    #[test]
    fn many_pieces_are_joined() {
        let mut pieces = Pieces::new(10_000, Owner::Nobody);
        for start in (0..10_000).step_by(10) {
            pieces.claim(0, &(start..start + 10));
        }
        assert!(pieces.list.len() <= MANY_PIECES + 2);
        let missing = pieces.missing(1, &(0..10_000));
        let covered: usize = missing.iter().map(|it| it.range.len()).sum();
        assert_eq!(covered, 10_000);
        assert!(pieces.missing(0, &(0..10_000)).is_empty());
    }
}
