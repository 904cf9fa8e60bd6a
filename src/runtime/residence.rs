//! Where the contents of a memory object are, in a context of several devices.
//!
//! Every device that uses the object has a copy of its own. The object's bytes are divided into pieces, and each
//! piece has an owner: the device that writes it last. An application that uses a memory object on two devices orders the
//! commands by events, not by the order of its calls: what it enqueues first, held by an event of its own, may run last. So a
//! command *claims* what it writes after all that it waits for. It does so as it is enqueued if nothing of that is
//! held, since what is under way has claimed; a command that is held claims when its turn comes.
//!
//! A command on a device that lacks the latest contents of a piece is preceded by a *fetch*, which the host carries out
//! when the command's own turn comes: whoever wrote the contents is done then. It claims after that, so an owner has the
//! contents, but for what it overwrites. Nothing is fetched where the command overwrites, and nothing twice. A command that
//! fails before its turn has claimed nothing.

use super::allocation::Allocation;
use super::command::{Command, Ordering};
use super::device::Device;
use super::error::{Error, Result};
use super::event::{Event, Stage};
use super::host_job::HostJob;
use super::layout::{Extent, Layout};
use super::memory::Memory;
use super::queue::{Queue, Waits};
use super::storage::{self, Storage};
use super::turn::Turn;
use super::upload;
use crate::vulkan::{self, MemoryKind};
use opencl_sys::{CL_COMMAND_MIGRATE_MEM_OBJECTS, CL_COMPLETE, cl_command_type};
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

/// All that a command uses.
pub(super) struct Fetches(SmallVec<[Fetch; 2]>);

/// What a command of a device uses, and has to have there.
pub(super) struct Fetch {
    storage: Arc<Storage>,
    device: usize,
    range: Range<usize>,
    mode: Mode,
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

    /// What of `range` the device lacks.
    fn missing(&self, device: usize, range: &Range<usize>) -> Vec<Missing> {
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
    fn claim(&mut self, device: usize, range: &Range<usize>) {
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
    fn note_fetched(&mut self, device: usize, missing: &Missing) {
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

impl Fetches {
    /// Claims what the command writes, unless the device lacks something.
    pub fn claim_if_there(&self) -> bool {
        let are_there = self.0.iter().all(Fetch::is_there);
        if are_there {
            self.0.iter().for_each(Fetch::claim);
        }
        are_there
    }

    /// Fetches what the device lacks, and claims what the command writes.
    pub fn into_job(self) -> HostJob {
        HostJob::Own(Box::new(move || {
            self.0.iter().try_for_each(Fetch::carry)?;
            self.0.iter().for_each(Fetch::claim);
            Ok(())
        }))
    }
}

impl Fetch {
    /// `None` where the copies are all in one place.
    pub fn new(
        storage: &Arc<Storage>,
        device: usize,
        range: Range<usize>,
        mode: Mode,
    ) -> Option<Self> {
        storage.residence()?;
        Some(Self {
            storage: Arc::clone(storage),
            device,
            range,
            mode,
        })
    }

    /// What the device lacks.
    fn missing(&self, residence: &Residence) -> Vec<Missing> {
        match self.mode {
            Mode::Overwrite => Vec::new(),
            _ => residence.lock().pieces.missing(self.device, &self.range),
        }
    }

    /// Whether the device lacks nothing.
    fn is_there(&self) -> bool {
        let residence = self.storage.residence();
        residence.is_none_or(|residence| self.missing(residence).is_empty())
    }

    /// From here on the device is the owner of what is written.
    pub fn claim(&self) {
        if let Some(residence) = self.storage.residence()
            && self.mode.writes()
        {
            residence.lock().pieces.claim(self.device, &self.range);
        }
    }

    /// Copies what the device lacks. What wrote it is done, and nothing uses those bytes on the device.
    fn carry(&self) -> Result<()> {
        let Some(residence) = self.storage.residence() else {
            return Ok(());
        };
        let _one_at_a_time = residence
            .fetching
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let gone = || Error::out_of_resources("a copy of a memory object is missing");
        for missing in self.missing(residence) {
            let (source, target) = {
                let state = residence.lock();
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
            residence.lock().pieces.note_fetched(self.device, &missing);
        }
        Ok(())
    }
}

impl Queue {
    /// Has what a command uses brought to this queue's device before it. `wait_list` are the events that the
    /// command waits for, and from here on must wait for. Whoever enqueues what overwrites has a [`Turn`] until
    /// it is enqueued: other threads must not find the device the owner of what is not there yet.
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
        let mut fetches = Fetches(SmallVec::new());
        for it in uses {
            // Before it is the owner of anything, the device has room for it.
            it.memory.place(self)?;
            fetches
                .0
                .extend(it.memory.fetch(device, &it.range, it.mode));
        }
        if fetches.0.is_empty() {
            return Ok(());
        }
        let event = match self.is_after_claims(wait_list) {
            true if fetches.claim_if_there() => return Ok(()),
            true => {
                let kind = CL_COMMAND_MIGRATE_MEM_OBJECTS;
                self.enqueue_host_job(kind, fetches.into_job(), false, wait_list)?
            }
            false => self.hold_fetches(fetches, Waits::on(wait_list)),
        };
        wait_list.push(event);
        Ok(())
    }

    /// [`Queue::enqueue_if`] of a command with what it uses brought to the device before it, unless the host carries it
    /// out.
    ///
    /// # Errors
    /// As there, and as [`Queue::bring`].
    pub fn enqueue_using(
        self: &Arc<Self>,
        uses: &[Use],
        wants_event: bool,
        kind: cl_command_type,
        command: &mut Command,
        wait_list: &mut WaitList,
    ) -> Result<Option<Arc<Event>>> {
        let travels = uses.iter().any(|it| it.memory.travels());
        if !travels && let Some(event) = self.move_on_host(kind, command, wait_list)? {
            return Ok(Some(event));
        }
        let _turn = travels.then(|| Turn::take([self]));
        self.bring(uses, wait_list)?;
        let (waits, order) = (Waits::on(wait_list), Ordering::default());
        self.enqueue_if(wants_event, kind, command, waits, order)
    }

    /// Whether all that comes before a command with this wait list has claimed what it writes.
    fn is_after_claims(&self, wait_list: &[Arc<Event>]) -> bool {
        let has_claimed = |event: &Arc<Event>| {
            matches!(
                event.stage(),
                Stage::Issued { .. } | Stage::Done(CL_COMPLETE)
            )
        };
        wait_list.iter().all(has_claimed) && !self.must_hold(&self.lock(), Ordering::default())
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
