//! Where the contents of a memory object are, in a context of several devices.
//!
//! Every device that uses the object has a copy of its own. The object's bytes are divided into pieces, and each
//! piece has an owner: the device that writes it last, in the order in which commands are enqueued. That order
//! is the right one: an application that uses a memory object on two devices orders the commands by events, and
//! an event exists before anything can wait for it.
//!
//! A command on a device that lacks the latest contents of a piece is preceded by a *fetch*, which the host
//! carries out when the command's own turn comes: what the command waits for is done then, and so is whoever
//! wrote the contents. Nothing is fetched where the command overwrites, and nothing twice.
//!
//! Where the command may not run at all, as it waits for what is held, the fetch also keeps who had the contents before:
//! if what it waits for fails, they have them again.

use super::allocation::Allocation;
use super::device::Device;
use super::error::{Error, Result};
use super::event::{Event, Stage};
use super::host_job::HostJob;
use super::layout::{Extent, Layout};
use super::memory::Memory;
use super::queue::Queue;
use super::storage::{self, Storage};
use super::upload;
use crate::vulkan::{self, MemoryKind};
use opencl_sys::CL_COMMAND_MIGRATE_MEM_OBJECTS;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Events that a command waits for.
pub type WaitList = SmallVec<[Arc<Event>; 4]>;

/// Past this many pieces, neighbours that differ only in when they were written are joined.
const MANY_PIECES: usize = 64;

/// What a command does with a region of a memory object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Read,
    /// May write some of it, and may read.
    Modify,
    /// Writes all of it, and reads nothing.
    Overwrite,
}

impl Mode {
    /// Of a command that may write, or not.
    pub fn of(written: bool) -> Self {
        match written {
            true => Self::Modify,
            false => Self::Read,
        }
    }

    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

/// The region of a memory object that a command uses.
#[derive(Clone)]
pub struct Use {
    pub memory: Arc<Memory>,
    /// Counted from the memory object's first byte.
    pub range: Range<usize>,
    pub mode: Mode,
}

impl Use {
    /// All of it.
    pub fn whole(memory: Arc<Memory>, mode: Mode) -> Self {
        Self {
            range: 0..memory.size_bytes(),
            memory,
            mode,
        }
    }

    /// A rectangle that is read.
    pub fn read(memory: Arc<Memory>, layout: Layout, extent: Extent) -> Self {
        Self {
            range: layout.offset_bytes..layout.end_bytes(extent),
            memory,
            mode: Mode::Read,
        }
    }

    /// A rectangle that is overwritten.
    pub fn write(memory: Arc<Memory>, layout: Layout, extent: Extent) -> Self {
        let range = layout.offset_bytes..layout.end_bytes(extent);
        // What lies between the rows stays.
        let mode = match extent.size_bytes() == range.len() {
            true => Mode::Overwrite,
            false => Mode::Modify,
        };
        Self {
            memory,
            range,
            mode,
        }
    }
}

/// The copies of one memory object.
pub(super) struct Residence {
    devices: Vec<Arc<Device>>,
    state: Mutex<State>,
    /// One fetch at a time.
    fetching: Mutex<()>,
}

struct State {
    /// One for each device of the context.
    copies: Vec<Option<Copy>>,
    pieces: Pieces,
}

#[derive(Clone)]
struct Copy {
    allocation: Arc<Allocation>,
    vulkan: Arc<vulkan::Device>,
}

/// Who has what.
struct Pieces {
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
enum Owner {
    /// There are none yet.
    Nobody,
    /// The host, from the creation on: bytes of the whole memory object.
    Host(Arc<Vec<u8>>),
    /// The device at this place in the context.
    Device(usize),
}

/// Contents that a device lacks.
#[derive(Clone)]
struct Missing {
    range: Range<usize>,
    version: u64,
    owner: Owner,
}

/// Brings contents to a device.
pub(super) struct Fetch {
    storage: Arc<Storage>,
    device: usize,
    missing: Vec<Missing>,
    claim: Option<Claim>,
}

/// A write to come. Dropped before its turn has come (what it waits for failed), it is taken back.
struct Claim {
    storage: Arc<Storage>,
    /// Of what it writes.
    version: u64,
    /// What there was before, in order.
    before: Vec<(Range<usize>, Piece)>,
}

impl Residence {
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
        let missing = || Error::out_of_resources("the queue's device is not in the context");
        let slot = state.copies.get_mut(device).ok_or_else(missing)?;
        if let Some(copy) = slot {
            return Ok(Arc::clone(&copy.allocation));
        }
        let vulkan = self.devices.get(device).ok_or_else(missing)?.vulkan()?;
        // The application's memory can't be shared with several devices at once.
        let allocation = storage::allocate(vulkan, kind, size_bytes, None, None)?;
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

    /// A command of the device at place `device` writes `range` without a fetch before it.
    pub fn note_write(&self, device: usize, range: &Range<usize>) {
        self.lock().pieces.take(device, range, Mode::Overwrite);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
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

    /// The device uses `range`: what it has to fetch for that.
    fn take(&mut self, device: usize, range: &Range<usize>, mode: Mode) -> Vec<Missing> {
        if range.is_empty() {
            return Vec::new();
        }
        let first = self.cut(range.start);
        let end = self.cut(range.end);
        let mut missing = Vec::new();
        let mut start = range.start;
        for piece in self.list.get(first..end).unwrap_or_default() {
            let span = start..piece.end_bytes;
            start = piece.end_bytes;
            if mode != Mode::Overwrite && !piece.is_on(device) {
                missing.push(Missing {
                    range: span,
                    version: piece.version,
                    owner: piece.owner.clone(),
                });
            }
        }
        if mode.writes() {
            self.last_version += 1;
            let piece = Piece {
                end_bytes: range.end,
                version: self.last_version,
                owner: Owner::Device(device),
                fetched: 0,
            };
            self.list.splice(first..end, [piece]);
        }
        if self.list.len() > MANY_PIECES {
            self.join();
        }
        missing
    }

    /// Who has what in `range`.
    fn within(&self, range: &Range<usize>) -> Vec<(Range<usize>, Piece)> {
        let mut start = 0;
        let spans = self.list.iter().map(|piece| {
            let span = start.max(range.start)..piece.end_bytes.min(range.end);
            start = piece.end_bytes;
            (span, piece)
        });
        spans
            .filter(|(span, _)| !span.is_empty())
            .map(|(span, piece)| (span, piece.clone()))
            .collect()
    }

    /// Puts `before` in the place of what is of that version.
    fn put_back(&mut self, version: u64, before: &[(Range<usize>, Piece)]) {
        let mut start = 0;
        let mut list = Vec::with_capacity(self.list.len());
        for piece in self.list.drain(..) {
            let span = start..piece.end_bytes;
            start = piece.end_bytes;
            if piece.version != version {
                list.push(piece);
                continue;
            }
            let overlapping = before
                .iter()
                .filter(|(range, _)| range.start < span.end && span.start < range.end);
            list.extend(overlapping.map(|(range, old)| Piece {
                end_bytes: range.end.min(span.end),
                ..old.clone()
            }));
        }
        self.list = list;
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

    /// Whether the device has fetched `missing` meanwhile.
    fn has_fetched(&self, device: usize, missing: &Missing) -> bool {
        let mut start = 0;
        let mut found = false;
        for piece in &self.list {
            let overlaps = start < missing.range.end && missing.range.start < piece.end_bytes;
            if overlaps && (piece.version != missing.version || !piece.is_fetched(device)) {
                return false;
            }
            found |= overlaps;
            start = piece.end_bytes;
        }
        found
    }

    /// The device has fetched `missing`.
    fn note_fetched(&mut self, device: usize, missing: &Missing) {
        let mut start = 0;
        for piece in &mut self.list {
            let inside = missing.range.start <= start && piece.end_bytes <= missing.range.end;
            if inside && piece.version == missing.version {
                piece.fetched |= bit(device);
            }
            start = piece.end_bytes;
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

impl Fetch {
    /// `None` where there is nothing to do. From here on the device is the owner of what it writes; if the command
    /// `may_fail`, as long as the fetch is not dropped before its turn.
    pub fn new(
        storage: &Arc<Storage>,
        device: usize,
        range: &Range<usize>,
        mode: Mode,
        may_fail: bool,
    ) -> Option<Self> {
        let residence = storage.residence()?;
        let mut state = residence.lock();
        let before = (may_fail && mode.writes()).then(|| state.pieces.within(range));
        let missing = state.pieces.take(device, range, mode);
        let claim = before.map(|before| Claim {
            storage: Arc::clone(storage),
            version: state.pieces.last_version,
            before,
        });
        (!missing.is_empty() || claim.is_some()).then(|| Self {
            storage: Arc::clone(storage),
            device,
            missing,
            claim,
        })
    }

    /// Copies the contents. What wrote them is done, and nothing uses those bytes on the device.
    fn run(mut self) -> Result<()> {
        self.carry()?;
        if let Some(claim) = &mut self.claim {
            claim.before.clear();
        }
        Ok(())
    }

    fn carry(&self) -> Result<()> {
        let Some(residence) = self.storage.residence() else {
            return Ok(());
        };
        let _one_at_a_time = residence
            .fetching
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let gone = || Error::out_of_resources("a copy of a memory object is missing");
        for missing in &self.missing {
            let (source, target) = {
                let state = residence.lock();
                if state.pieces.has_fetched(self.device, missing) {
                    continue;
                }
                let copy = |device: usize| state.copies.get(device).cloned().flatten();
                let source = match missing.owner {
                    Owner::Device(owner) => Some(copy(owner).ok_or_else(gone)?),
                    _ => None,
                };
                (source, copy(self.device).ok_or_else(gone)?)
            };
            let offset_bytes = missing.range.start as u64;
            match (source, &missing.owner) {
                (Some(source), _) => upload::carry(
                    (&source.vulkan, &source.allocation),
                    (&target.vulkan, &target.allocation),
                    offset_bytes,
                    missing.range.len(),
                )?,
                (None, Owner::Host(bytes)) => {
                    let bytes = bytes.get(missing.range.clone()).ok_or_else(gone)?;
                    upload::upload(&target.vulkan, &target.allocation, offset_bytes, bytes)?;
                }
                (None, _) => {}
            }
            residence.lock().pieces.note_fetched(self.device, missing);
        }
        Ok(())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.before.is_empty()
            && let Some(residence) = self.storage.residence()
        {
            let mut state = residence.lock();
            state.pieces.put_back(self.version, &self.before);
        }
    }
}

impl Queue {
    /// Has what a command uses brought to this queue's device before it. `wait_list` are the events that the
    /// command waits for, and from here on must wait for.
    ///
    /// # Errors
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE`, and as [`Queue::enqueue`].
    pub fn bring<'a>(
        self: &Arc<Self>,
        uses: impl IntoIterator<Item = &'a Use>,
        wait_list: &mut WaitList,
    ) -> Result<()> {
        if self.context().devices().len() == 1 {
            return Ok(());
        }
        let device = self.context().device_index(self.device());
        let device = device
            .ok_or_else(|| Error::out_of_resources("the queue's device is not in the context"))?;
        let mut fetches = Vec::new();
        let may_fail = wait_list.iter().any(|event| event.stage() == Stage::Held);
        for it in uses {
            // Before it is the owner of anything, the device has room for it.
            it.memory.place(self)?;
            fetches.extend(it.memory.fetch(device, &it.range, it.mode, may_fail));
        }
        if fetches.is_empty() {
            return Ok(());
        }
        let job = move || fetches.into_iter().try_for_each(Fetch::run);
        let kind = CL_COMMAND_MIGRATE_MEM_OBJECTS;
        let event = self.enqueue_host_job(kind, HostJob::Own(Box::new(job)), false, wait_list)?;
        wait_list.push(event);
        Ok(())
    }
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
        assert!(pieces.take(1, &(0..100), Mode::Read).is_empty());
        assert!(pieces.take(0, &(0..100), Mode::Modify).is_empty());
        let missing = pieces.take(1, &(20..40), Mode::Read);
        assert_eq!(ranges(&missing), [(20, 40)]);
        assert!(matches!(missing[0].owner, Owner::Device(0)));
        // Asked for, not there yet.
        assert_eq!(ranges(&pieces.take(1, &(20..40), Mode::Read)), [(20, 40)]);
        pieces.note_fetched(1, &missing[0]);
        assert!(pieces.has_fetched(1, &missing[0]));
        assert!(pieces.take(1, &(20..40), Mode::Read).is_empty());
        assert_eq!(
            ranges(&pieces.take(1, &(0..100), Mode::Read)),
            [(0, 20), (40, 100)]
        );
    }

    #[test]
    fn halves_written_on_two_devices_are_both_kept() {
        let mut pieces = Pieces::new(100, Owner::Host(Arc::new(vec![0; 100])));
        assert_eq!(ranges(&pieces.take(0, &(0..50), Mode::Modify)), [(0, 50)]);
        assert!(pieces.take(1, &(50..100), Mode::Overwrite).is_empty());
        assert_eq!(ranges(&pieces.take(0, &(0..100), Mode::Read)), [(50, 100)]);
        assert_eq!(ranges(&pieces.take(1, &(0..100), Mode::Read)), [(0, 50)]);
        assert_eq!(pieces.list.len(), 2);
    }

    #[test]
    fn a_fetch_that_comes_late_says_nothing_of_newer_contents() {
        let mut pieces = Pieces::new(10, Owner::Nobody);
        pieces.take(0, &(0..10), Mode::Modify);
        let old = pieces.take(1, &(0..10), Mode::Read);
        pieces.take(0, &(0..10), Mode::Modify);
        pieces.note_fetched(1, &old[0]);
        assert!(!pieces.has_fetched(1, &old[0]));
        assert_eq!(ranges(&pieces.take(1, &(0..10), Mode::Read)), [(0, 10)]);
    }

    #[test]
    fn a_write_is_taken_back_as_far_as_nothing_came_after_it() {
        let mut pieces = Pieces::new(100, Owner::Nobody);
        pieces.take(0, &(0..50), Mode::Overwrite);
        pieces.take(1, &(50..100), Mode::Overwrite);
        let before = pieces.within(&(20..80));
        pieces.take(2, &(20..80), Mode::Overwrite);
        let version = pieces.last_version;
        pieces.take(3, &(70..90), Mode::Overwrite);
        pieces.put_back(version, &before);
        let owners: Vec<_> = (pieces.within(&(0..100)).into_iter())
            .map(|(range, piece)| match piece.owner {
                Owner::Device(device) => (range, device),
                _ => (range, usize::MAX),
            })
            .collect();
        let expected = [
            (0..20, 0),
            (20..50, 0),
            (50..70, 1),
            (70..90, 3),
            (90..100, 1),
        ];
        assert_eq!(owners, expected);
    }

    #[test]
    fn many_pieces_are_joined() {
        let mut pieces = Pieces::new(10_000, Owner::Nobody);
        for start in (0..10_000).step_by(10) {
            pieces.take(0, &(start..start + 10), Mode::Overwrite);
        }
        assert!(pieces.list.len() <= MANY_PIECES + 2);
        let missing = pieces.take(1, &(0..10_000), Mode::Read);
        let covered: usize = missing.iter().map(|it| it.range.len()).sum();
        assert_eq!(covered, 10_000);
        assert!(pieces.take(0, &(0..10_000), Mode::Read).is_empty());
    }
}
