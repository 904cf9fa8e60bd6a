//! Recorded `VkCommandBuffer`s, one for each part, with the memory that their commands read, and their executions.
//!
//! A command that may be updated has its arguments and its numbers of work-groups in memory that the device
//! reads when it gets there. An update is a write to that memory, as long as the pipeline stays: another local
//! size, or other sizes of local arguments, need another pipeline and so another recording.

use super::schedule::Place;
use crate::compiler::program::Placement;
use crate::runtime::Result;
use crate::runtime::allocation::staging::Arena;
use crate::runtime::allocation::{Allocation, Uses};
use crate::runtime::command::device_command::{DeviceCommand, Holder};
use crate::runtime::command::keep_alive::KeepAlive;
use crate::runtime::command::prepared_launch::PreparedLaunch;
use crate::runtime::command::replay::{Recorded, RecordedPart};
use crate::runtime::device::encoder::Encoder;
use crate::runtime::device::internal_kernels::InternalKernels;
use crate::runtime::printf::Output;
use crate::runtime::program::executable::Executable;
use crate::runtime::program::lost_iterations::Watched;
use crate::vulkan::{MemoryKind, Pipeline, Recorder};
use smallvec::SmallVec;
use std::any::Any;
use std::collections::BTreeSet;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A recording. What it holds, it holds until nothing executes it any more.
pub struct Instance {
    parts: Vec<RecordedPart>,
    /// Executions of parts enqueued and not yet known to be done.
    executions: Uses,
    /// Uses of all that the command buffer names, by executions that have begun.
    uses: Arc<Uses>,
    /// Where updates of commands go, by the commands' numbers.
    slots: Mutex<Slots>,
    /// Whether any of them are stale.
    has_stale: AtomicBool,
}

#[derive(Default)]
struct Slots {
    /// Up to the last that has one.
    all: Vec<Option<Slot>>,
    /// The numbers of those that still hold what has been replaced elsewhere.
    stale: BTreeSet<usize>,
}

/// A command as the instance takes it.
pub struct Recordable<'a> {
    /// Its place among the commands of the command buffer.
    pub number: usize,
    pub place: Place,
    pub command: &'a DeviceCommand,
    /// Whether it may be updated.
    pub updatable: bool,
}

/// The memory of a command that may be updated.
#[derive(Default)]
struct Slot {
    regions: SmallVec<[SlotRegion; 1]>,
    held: KeepAlive,
}

/// What one `vkCmdDispatchIndirect` runs and reads.
struct SlotRegion {
    pipeline: Arc<Pipeline>,
    /// The argument block of this many bytes, in mapped memory that lives as long as the instance.
    block: NonNull<u8>,
    block_bytes: usize,
    /// Three words.
    groups: NonNull<[u32; 3]>,
}

// SAFETY: plain addresses into memory that the instance owns; who writes there makes sure that nobody else does.
unsafe impl Send for SlotRegion {}
// SAFETY: as above; nothing is written through a shared reference.
unsafe impl Sync for SlotRegion {}

impl Instance {
    /// Records `commands`, given in the order of recording: a part for each of `devices`, in it the levels in
    /// ascending order, with a barrier between each and the next. Who submits it orders it after what comes before where
    /// the device shows finished work; elsewhere it begins with a barrier. What comes later does. `uses` counts for the allocations of the command buffer.
    pub fn record<'a>(
        devices: &[Arc<InternalKernels>],
        commands: impl Iterator<Item = Recordable<'a>>,
        uses: &Arc<Uses>,
    ) -> Result<Self> {
        let mut ordered: Vec<Vec<Recordable<'_>>> = devices.iter().map(|_| Vec::new()).collect();
        for command in commands {
            if let Some(part) = ordered.get_mut(command.place.part) {
                part.push(command);
            }
        }
        let mut slots = Slots::default();
        let mut parts = Vec::with_capacity(devices.len());
        for (device, mut commands) in devices.iter().zip(ordered) {
            commands.sort_by_key(|recordable| recordable.place.level);
            let mut recording = Recording::new(device)?;
            recording.commands(&commands)?;
            slots.add(std::mem::take(&mut recording.slots));
            parts.push(recording.finish(commands.len())?);
        }
        Ok(Self {
            parts,
            executions: Uses::default(),
            uses: Arc::clone(uses),
            slots: Mutex::new(slots),
            has_stale: AtomicBool::new(false),
        })
    }

    /// Barriers in the `VkCommandBuffer`s, the one before all, if there is one, and the one towards the host among them.
    pub fn barriers(&self) -> u32 {
        self.parts.iter().map(|part| part.recorder.barriers()).sum()
    }

    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Whether no execution is enqueued or under way.
    pub fn is_idle(&self) -> bool {
        self.executions.is_idle()
    }

    /// Whether only one execution at a time is possible: its kernels print, each to a buffer of its own.
    pub fn is_exclusive(&self) -> bool {
        self.parts.iter().any(|part| !part.prints.is_empty())
    }

    /// Whether the command of that number can become `launch` by writes to memory.
    pub fn fits(&self, number: usize, launch: &PreparedLaunch) -> bool {
        self.slots().get(number).is_some_and(|slot| {
            launch.regions.len() <= slot.regions.len()
                && slot.regions.iter().zip(&launch.regions).all(|(own, new)| {
                    Arc::ptr_eq(&own.pipeline, &new.pipeline)
                        && new.placement == Placement::DeviceAddress
                        && new.arguments.len() <= own.block_bytes
                })
        })
    }

    /// Makes the command of that number `launch`, which fits, from the next execution on; the instance must be
    /// idle. Answers with what is no longer used, to be dropped without a lock.
    pub fn update(&self, number: usize, launch: &PreparedLaunch) -> KeepAlive {
        let mut slots = self.slots();
        slots.stale.remove(&number);
        let Some(slot) = slots.get_mut(number) else {
            return KeepAlive::new();
        };
        for (index, region) in slot.regions.iter().enumerate() {
            let new = launch.regions.get(index);
            // A dispatch that is no longer needed runs no work-group.
            let groups = new.map_or([0; 3], |new| new.groups);
            // SAFETY: mapped memory of this instance, aligned by `Recording::updatable`, which the device does not
            // read while the instance is idle.
            unsafe { region.groups.as_ptr().write(groups) };
            if let Some(bytes) = new.map(|new| &new.arguments) {
                let length = bytes.len().min(region.block_bytes);
                // SAFETY: as above; no longer than the block.
                unsafe {
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), region.block.as_ptr(), length);
                }
            }
        }
        let held = slot.held.iter().map(|it| Arc::as_ptr(it).cast());
        if held.eq(used_by(launch).map(|it| it.address())) {
            // A new value, most often.
            return KeepAlive::new();
        }
        let held = used_by(launch).map(|it| it.hold()).collect();
        std::mem::replace(&mut slot.held, held)
    }

    /// The commands of these numbers have become others, which this recording is not told: it is not executed again
    /// before it is. Answers with what is no longer used, now or once it is idle ([`Instance::let_go`]), to be dropped
    /// without a lock; `None` if it can't become what it has missed.
    pub fn miss(&self, numbers: &[usize]) -> Option<KeepAlive> {
        let mut slots = self.slots();
        if !numbers.iter().all(|number| slots.get(*number).is_some()) {
            return None;
        }
        slots.stale.extend(numbers);
        drop(slots);
        self.has_stale.store(true, Ordering::Relaxed);
        Some(self.let_go())
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorded for Instance {
    fn part(&self, index: usize) -> &RecordedPart {
        &self.parts[index]
    }

    fn executions(&self) -> &Uses {
        &self.executions
    }

    fn uses(&self) -> &Arc<Uses> {
        &self.uses
    }

    /// What missed updates have replaced, if nothing executes it.
    fn let_go(&self) -> KeepAlive {
        // Either who notes what is stale finds that the last execution has ended, or that one finds what is stale.
        fence(Ordering::SeqCst);
        if !self.has_stale.load(Ordering::Relaxed) || !self.is_idle() {
            return KeepAlive::new();
        }
        let mut slots = self.slots();
        self.has_stale.store(false, Ordering::Relaxed);
        let stale = std::mem::take(&mut slots.stale).into_iter();
        let held =
            stale.filter_map(|number| Some(std::mem::take(&mut slots.get_mut(number)?.held)));
        held.flatten().collect()
    }
}

impl Slots {
    fn get(&self, number: usize) -> Option<&Slot> {
        self.all.get(number)?.as_ref()
    }

    fn get_mut(&mut self, number: usize) -> Option<&mut Slot> {
        self.all.get_mut(number)?.as_mut()
    }

    fn add(&mut self, slots: Vec<(usize, Slot)>) {
        let end = slots.iter().map(|(number, _)| number + 1).max();
        if let Some(end) = end.filter(|end| *end > self.all.len()) {
            self.all.resize_with(end, || None);
        }
        for (number, slot) in slots {
            self.all[number] = Some(slot);
        }
    }
}

/// What the device uses in a launch.
enum Used<'a> {
    Pipeline(&'a Arc<Pipeline>),
    Allocation(&'a Arc<Allocation>),
    Executable(&'a Arc<Executable>),
}

impl Used<'_> {
    fn hold(&self) -> Arc<dyn Any + Send + Sync> {
        match *self {
            Self::Pipeline(it) => Arc::clone(it) as _,
            Self::Allocation(it) => Arc::clone(it) as _,
            Self::Executable(it) => Arc::clone(it) as _,
        }
    }

    fn address(&self) -> *const () {
        match *self {
            Self::Pipeline(it) => Arc::as_ptr(it).cast(),
            Self::Allocation(it) => Arc::as_ptr(it).cast(),
            Self::Executable(it) => Arc::as_ptr(it).cast(),
        }
    }
}

fn used_by(launch: &PreparedLaunch) -> impl Iterator<Item = Used<'_>> {
    let pipelines = launch.regions.iter().map(|it| &it.pipeline);
    let allocations = launch.accesses.iter().map(|it| &it.allocation);
    pipelines
        .map(Used::Pipeline)
        .chain(allocations.map(Used::Allocation))
        .chain(launch.executable.iter().map(Used::Executable))
}

/// Whether the host may look at the memory without a command.
fn is_seen_by_host(allocation: &Allocation) -> bool {
    allocation.mapped().is_some() || allocation.is_addressed()
}

/// Whether updates of a launch go to memory. Without that, each is another recording.
fn has_slot(launch: &PreparedLaunch) -> bool {
    let mut regions = launch.regions.iter();
    launch.printf.is_none() && regions.all(|it| it.placement == Placement::DeviceAddress)
}

struct Recording {
    recorder: Recorder,
    arguments: Arena,
    holdings: Holdings,
    /// Each with its command's number.
    slots: Vec<(usize, Slot)>,
    kernels: Arc<InternalKernels>,
}

/// What the commands of a recording use.
struct Holdings {
    held: KeepAlive,
    /// Each with its command's number.
    prints: Vec<(usize, Arc<Output>)>,
    watched: Vec<Watched>,
    /// A command writes memory that the host may look at.
    for_host: bool,
    /// The number of the command that is recorded now.
    number: usize,
}

impl Recording {
    fn new(kernels: &Arc<InternalKernels>) -> Result<Self> {
        let mut recorder = Recorder::reusable(kernels.device())?;
        recorder.begin()?;
        Ok(Self {
            recorder,
            arguments: Arena::new(MemoryKind::Arguments),
            holdings: Holdings {
                // Its pipelines.
                held: vec![Arc::clone(kernels) as _],
                prints: Vec::new(),
                watched: Vec::new(),
                for_host: false,
                number: 0,
            },
            slots: Vec::new(),
            kernels: Arc::clone(kernels),
        })
    }

    /// Records commands, in the order of their levels.
    fn commands(&mut self, ordered: &[Recordable<'_>]) -> Result<()> {
        if !self.kernels.device().shows_finished_work() {
            self.recorder.full_barrier();
        }
        let levels = ordered.chunk_by(|one, other| one.place.level == other.place.level);
        for (index, level) in levels.enumerate() {
            if index > 0 {
                let only_kernels = level.iter().all(|it| it.command.is_kernel());
                self.recorder.barrier(only_kernels);
            }
            for recordable in level {
                let number = recordable.number;
                match (recordable.updatable, recordable.command) {
                    (true, DeviceCommand::Launch(launch)) if has_slot(launch) => {
                        self.updatable(number, launch)?;
                    }
                    (_, command) => self.command(number, command)?,
                }
            }
        }
        Ok(())
    }

    fn finish(mut self, commands: usize) -> Result<RecordedPart> {
        let Holdings {
            mut held,
            mut prints,
            watched,
            for_host,
            ..
        } = self.holdings;
        if for_host {
            self.recorder.end()?
        } else {
            self.recorder.end_unseen()?
        }
        // In order, commands that ran at the same time still print one after the other.
        prints.sort_by_key(|(number, _)| *number);
        held.push(Arc::new(self.arguments));
        Ok(RecordedPart {
            recorder: self.recorder,
            commands: u32::try_from(commands).unwrap_or(u32::MAX),
            prints: prints.into_iter().map(|(_, output)| output).collect(),
            watched,
            held,
        })
    }

    fn command(&mut self, number: usize, command: &DeviceCommand) -> Result<()> {
        let mut encoder = Encoder {
            recorder: &mut self.recorder,
            staging: &mut self.arguments,
            kernels: &self.kernels,
        };
        self.holdings.number = number;
        command.encode(&mut encoder, &mut self.holdings)
    }

    /// A launch whose arguments and numbers of work-groups the device reads from memory.
    fn updatable(&mut self, number: usize, launch: &PreparedLaunch) -> Result<()> {
        // Who knows what it writes after an update.
        self.holdings.for_host = true;
        self.holdings.watched.extend(launch.watched.clone());
        let mut slot = Slot {
            held: used_by(launch).map(|it| it.hold()).collect(),
            ..Slot::default()
        };
        for region in &launch.regions {
            let bytes = &region.arguments;
            let block_bytes = bytes.len().next_multiple_of(16).max(16);
            let size_bytes = block_bytes + size_of::<[u32; 3]>();
            let piece = self
                .arguments
                .take(self.kernels.device(), size_bytes as u64)?;
            // SAFETY: the piece is that long, and aligned to more than a word.
            let groups = unsafe { piece.pointer.add(block_bytes) }.cast::<[u32; 3]>();
            // SAFETY: the piece is ours alone, as long as the block and three words.
            unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), piece.pointer.as_ptr(), bytes.len());
                groups.as_ptr().write(region.groups);
            }
            let address = piece.device_address().to_le_bytes();
            self.recorder.dispatch_indirect(
                &region.pipeline,
                &address,
                piece.buffer,
                piece.offset_bytes + block_bytes as u64,
            );
            slot.regions.push(SlotRegion {
                pipeline: Arc::clone(&region.pipeline),
                block: piece.pointer,
                block_bytes: bytes.len(),
                groups,
            });
        }
        self.slots.push((number, slot));
        Ok(())
    }
}

impl Holder for Holdings {
    fn hold_read(&mut self, allocation: &Arc<Allocation>) {
        self.held.push(Arc::clone(allocation) as _);
    }

    fn hold_written(&mut self, allocation: &Arc<Allocation>) {
        self.for_host |= is_seen_by_host(allocation);
        self.hold_read(allocation);
    }

    fn hold_launch(&mut self, launch: &PreparedLaunch) {
        self.watched.extend(launch.watched.clone());
        let output = launch.printf.as_ref();
        self.prints
            .extend(output.map(|it| (self.number, Arc::clone(it))));
        let mut written = launch.accesses.iter().filter(|access| access.write);
        self.for_host |= launch.accesses_anything
            || launch.printf.is_some()
            || launch.watched.is_some()
            || written.any(|access| is_seen_by_host(&access.allocation));
        self.held.extend(used_by(launch).map(|it| it.hold()));
    }
}
