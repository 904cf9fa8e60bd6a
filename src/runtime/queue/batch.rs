//! A batch: commands submitted together, done together.
//!
//! Commands are recorded into one `VkCommandBuffer`. A command buffer of the application brings its own,
//! recorded long before, and the batch goes on with another one after it: all are one submission. Each begins after
//! what comes before it, by a barrier at its beginning or one of the batch's ([`Batch::order_replay`]).

use super::Queue;
use super::completion_action::CompletionAction;
use super::holdings::Holdings;
use crate::runtime::allocation::Allocation;
use crate::runtime::allocation::staging::Arena;
use crate::runtime::command::Command;
use crate::runtime::command::device_command::{DeviceCommand, Holder};
use crate::runtime::command::keep_alive::KeepAlive;
use crate::runtime::command::prepared_launch::PreparedLaunch;
use crate::runtime::command::replay::Replay;
use crate::runtime::device::encoder::Encoder;
use crate::runtime::device::internal_kernels::InternalKernels;
use crate::runtime::event::Event;
use crate::runtime::host_memory::host_copy;
use crate::runtime::host_memory::layout::Shape;
use crate::runtime::host_memory::pointer::HostPointer;
use crate::runtime::object::error::Result;
use crate::runtime::program::lost_iterations::LostBatches;
use crate::vulkan::{BinarySemaphore, MemoryKind, Recorder, TimestampPool};
use std::any::Any;
use std::sync::Arc;

/// A full batch is submitted: the device should not wait for the host much longer.
pub const MOST_COMMANDS: u32 = 1024;

/// One batch, reused over and over. What it holds, it holds until the device is done.
pub struct Batch {
    /// The open part. Begun by [`Batch::recorder`].
    recorder: Recorder,
    recording: bool,
    /// The first part needs no barrier at its beginning.
    comes_after_nothing: bool,
    /// The parts before it.
    parts: Vec<Part>,
    spare_recorders: Vec<Recorder>,
    /// A barrier and nothing else, made for the first [`Part::Barrier`].
    barrier: Option<Recorder>,
    /// The queue's timeline reaches this when the batch is done.
    pub value: u64,
    pub commands: u32,
    /// Commands, those within command buffers among them.
    pub weight: u32,
    /// Values of other queues' timelines that it begins after.
    pub waits: Vec<(Arc<Queue>, u64)>,
    /// Semaphores shared with others that it begins after, and signals.
    pub shared: [Vec<Arc<BinarySemaphore>>; 2],
    pub entries: Vec<Entry>,
    /// Earlier batches of the queue in which there is what a command waits for, and how many entries there were before it.
    after: Vec<(usize, u64)>,
    /// The times of commands are asked for.
    pub is_timed: bool,
    /// Made for the first command whose times are taken.
    pub timestamps: Option<TimestampPool>,
    /// Timestamps in use.
    pub stamps: u32,
    /// 0 unless the times of its commands are asked for.
    pub submitted_ns: u64,
    holdings: Holdings,
    upload: Arena,
    readback: Arena,
    kernels: Arc<InternalKernels>,
}

enum Part {
    Recorded(Recorder),
    Barrier,
    Replay(Replay),
}

/// A command of the batch.
pub struct Entry {
    pub event: Arc<Event>,
    /// Number of its first timestamp; the second follows.
    pub timestamp: Option<u32>,
    /// Host time at which it had been recorded, if anybody asks.
    pub recorded_ns: u64,
}

impl Batch {
    pub fn new(kernels: &Arc<InternalKernels>) -> Result<Self> {
        let device = kernels.device();
        Ok(Self {
            recorder: Recorder::new(device)?,
            recording: false,
            comes_after_nothing: false,
            parts: Vec::new(),
            spare_recorders: Vec::new(),
            barrier: None,
            value: 0,
            commands: 0,
            weight: 0,
            waits: Vec::new(),
            shared: Default::default(),
            entries: Vec::new(),
            after: Vec::new(),
            is_timed: false,
            timestamps: None,
            stamps: 0,
            submitted_ns: 0,
            holdings: Holdings::default(),
            upload: Arena::new(MemoryKind::Upload),
            readback: Arena::new(MemoryKind::Readback),
            kernels: Arc::clone(kernels),
        })
    }

    /// Starts recording anew. The device must be done with the last use. `comes_after_nothing`: the host has seen the end
    /// of all that the queue was given before.
    pub fn begin(&mut self, value: u64, comes_after_nothing: bool) {
        self.value = value;
        self.comes_after_nothing = comes_after_nothing;
        self.commands = 0;
        self.weight = 0;
        self.is_timed = false;
    }

    /// The open part. It begins after everything submitted before.
    pub fn recorder(&mut self) -> Result<&mut Recorder> {
        if !self.recording {
            self.recorder.begin()?;
            // Earlier batches and parts, and writes of other queues that the host has seen the end of.
            let is_first = self.comes_after_nothing && self.parts.is_empty();
            if !(is_first && self.kernels.device().shows_finished_work()) {
                self.recorder.full_barrier();
            }
            self.recording = true;
        }
        Ok(&mut self.recorder)
    }

    /// Orders a command buffer of the application, which is next, after what comes before it. Where the device shows
    /// finished work the recording has no barrier of its own for that: most executions begin when the queue is idle.
    fn order_replay(&mut self) -> Result<()> {
        let device = self.kernels.device();
        let is_first = self.comes_after_nothing && self.parts.is_empty() && self.commands == 0;
        if is_first || !device.shows_finished_work() {
            return Ok(());
        }
        if self.recording {
            self.recorder.full_barrier();
            return Ok(());
        }
        if self.barrier.is_none() {
            let mut recorder = Recorder::reusable(device)?;
            recorder.begin()?;
            recorder.full_barrier();
            recorder.end_unseen()?;
            self.barrier = Some(recorder);
        }
        self.parts.push(Part::Barrier);
        Ok(())
    }

    /// Orders what comes next, a kernel or something else, and what follows it, after what is recorded.
    pub fn barrier(&mut self, is_kernel: bool) {
        // A part that is not begun yet begins with a barrier.
        if self.recording {
            self.recorder.barrier(is_kernel);
        }
    }

    /// Whether a command, a kernel or not, comes after what the last barrier comes after.
    pub fn is_open_to(&self, is_kernel: bool) -> bool {
        !self.recording || self.recorder.is_open_to(is_kernel)
    }

    /// Barriers in the open part.
    #[cfg(test)]
    pub fn barriers(&self) -> u32 {
        self.recorder.barriers()
    }

    /// Barriers in what there is to submit, once the batch is closed.
    #[cfg(test)]
    pub fn barriers_of_parts(&self) -> u32 {
        self.recorders().map(Recorder::barriers).sum()
    }

    /// Writes the timestamp before a command, as [`Recorder::timestamp`]; its number. The next one is for
    /// [`Batch::stamp_end`].
    pub fn stamp_start(&mut self, after: bool) -> Result<u32> {
        self.recorder()?;
        if self.timestamps.is_none() {
            self.timestamps = Some(TimestampPool::new(
                self.kernels.device(),
                MOST_COMMANDS * 2,
            )?);
        }
        let start = self.stamps;
        if let Some(pool) = &self.timestamps {
            if start == 0 && !pool.is_reset_by_host() {
                self.recorder.reset_timestamps(pool, pool.count());
            }
            self.recorder.timestamp(pool, start, after);
            self.stamps += 2;
        }
        Ok(start)
    }

    /// Writes the timestamp after the command whose first one is `start`.
    pub fn stamp_end(&mut self, start: u32) -> Result<()> {
        self.recorder()?;
        if let Some(pool) = &self.timestamps {
            self.recorder.timestamp(pool, start + 1, true);
        }
        Ok(())
    }

    /// Ends the open part: nothing more is recorded.
    pub fn close(&mut self) -> Result<()> {
        if self.parts.is_empty() {
            // Even a batch of nothing is a place in the order.
            self.recorder()?;
        }
        self.end_part()
    }

    fn end_part(&mut self) -> Result<()> {
        if !self.recording {
            return Ok(());
        }
        if self.holdings.are_for_host() {
            self.recorder.end()?
        } else {
            self.recorder.end_unseen()?
        }
        let next = match self.spare_recorders.pop() {
            Some(recorder) => recorder,
            None => Recorder::new(self.kernels.device())?,
        };
        let done = std::mem::replace(&mut self.recorder, next);
        self.parts.push(Part::Recorded(done));
        self.recording = false;
        Ok(())
    }

    /// What there is to submit, once the batch is closed.
    pub fn recorders(&self) -> impl Iterator<Item = &Recorder> {
        self.parts.iter().filter_map(|part| match part {
            Part::Recorded(recorder) => Some(recorder),
            Part::Barrier => self.barrier.as_ref(),
            Part::Replay(replay) => Some(replay.recorder()),
        })
    }

    /// Where the next command is encoded, and what holds what it uses.
    #[inline]
    fn encoder(&mut self) -> Result<(Encoder<'_>, &mut Holdings)> {
        self.recorder()?;
        self.holdings.begin_entry(self.entries.len());
        let encoder = Encoder {
            recorder: &mut self.recorder,
            staging: &mut self.upload,
            kernels: &self.kernels,
        };
        Ok((encoder, &mut self.holdings))
    }

    /// Records `command`; what it does once is taken out of it. The caller has placed the barrier that it needs.
    pub fn record(&mut self, command: &mut Command) -> Result<()> {
        match command {
            Command::Device(DeviceCommand::Nothing) => Ok(()),
            Command::Device(device) => {
                let (mut encoder, holdings) = self.encoder()?;
                device.encode(&mut encoder, holdings)
            }
            Command::Write {
                source,
                target,
                shape,
            } => self.write(*source, target, shape),
            Command::Read {
                source,
                target,
                shape,
            } => self.read(source, *target, shape),
            Command::Semaphores { waits, signals } => {
                self.recorder()?;
                self.holdings.show_host();
                self.shared[0].extend(waits.drain(..));
                self.shared[1].extend(signals.drain(..));
                Ok(())
            }
            Command::Replay(_) | Command::Call(_) => match command.take() {
                Command::Replay(replay) => self.record_replay(replay),
                Command::Call(call) => self.record_call(call),
                _ => Ok(()),
            },
        }
    }

    /// Records a launch. The caller has placed the barrier that it needs.
    #[inline]
    pub fn record_launch(&mut self, launch: &PreparedLaunch) -> Result<()> {
        let (mut encoder, holdings) = self.encoder()?;
        holdings.hold_launch(launch);
        launch.encode(&mut encoder)
    }

    /// Records a launch of which the batch holds already what it uses. The caller has placed the barrier that it needs.
    #[inline]
    pub fn record_held_launch(&mut self, launch: &PreparedLaunch) -> Result<()> {
        for access in launch.accesses.iter().filter(|access| access.write) {
            access.allocation.change_by_device();
        }
        let (mut encoder, _) = self.encoder()?;
        launch.encode(&mut encoder)
    }

    /// Records the execution of a command buffer.
    pub fn record_replay(&mut self, replay: Replay) -> Result<()> {
        self.order_replay()?;
        self.end_part()?;
        replay.begin();
        self.weight += replay.weight();
        self.holdings.begin_entry(self.entries.len());
        for output in replay.prints() {
            let print = CompletionAction::Print(Arc::clone(output));
            self.holdings.act(print);
        }
        for watched in replay.watched() {
            self.holdings.watch(watched);
        }
        self.parts.push(Part::Replay(replay));
        Ok(())
    }

    fn record_call(&mut self, call: Box<dyn FnOnce() + Send>) -> Result<()> {
        self.recorder()?;
        self.holdings.act(CompletionAction::Call(call));
        Ok(())
    }

    /// What the host does when the device is done, in order. It is taken out.
    pub fn take_actions(&mut self) -> impl Iterator<Item = CompletionAction> {
        self.holdings.take_actions()
    }

    /// [`Holdings::lost_iterations`]
    pub fn lost_iterations(&mut self) -> Option<(usize, String)> {
        self.holdings.lost_iterations()
    }

    /// The next command waits for commands of these batches of the queue.
    pub fn comes_after(&mut self, values: &[u64]) {
        let entries = self.entries.len();
        let earlier = values.iter().filter(|&&value| value != self.value);
        self.after.extend(earlier.map(|&value| (entries, value)));
    }

    /// The first of the entries that waits for a command of such a batch of its queue, or of another queue.
    pub fn first_behind(&self, own: &LostBatches) -> Option<usize> {
        let mut others = self.waits.iter();
        if others.any(|(queue, value)| queue.losses.batches().has(*value)) {
            return Some(0);
        }
        let mut after = self.after.iter();
        let first = after.find(|&&(_, value)| own.has(value));
        first.map(|&(entry, _)| entry)
    }

    fn write(
        &mut self,
        source: HostPointer,
        target: &Arc<Allocation>,
        shape: &Shape,
    ) -> Result<()> {
        self.recorder()?;
        let size_bytes = shape.extent.size_bytes();
        let piece = self.upload.take(self.kernels.device(), size_bytes as u64)?;
        let to_staging = Shape {
            target: shape.extent.packed(0),
            ..*shape
        };
        // SAFETY: the application's memory is valid for the shape (its contract), and the piece is ours
        // alone and as long as the packed extent.
        unsafe { host_copy::copy(&to_staging, source.0, piece.pointer.as_ptr()) };
        let to_device = Shape {
            source: shape.extent.packed(piece.offset_bytes as usize),
            ..*shape
        };
        self.kernels.copy(
            &mut self.recorder,
            piece.buffer,
            target.buffer(),
            &to_device,
        );
        if target.mapped().is_some() || target.window().is_some() {
            // The host may write it itself the next time.
            self.holdings.show_host();
        }
        self.holdings.hold_read(target);
        Ok(())
    }

    fn read(&mut self, source: &Arc<Allocation>, target: HostPointer, shape: &Shape) -> Result<()> {
        self.recorder()?;
        let size_bytes = shape.extent.size_bytes();
        let piece = self
            .readback
            .take(self.kernels.device(), size_bytes as u64)?;
        let to_staging = Shape {
            target: shape.extent.packed(piece.offset_bytes as usize),
            ..*shape
        };
        self.kernels.copy(
            &mut self.recorder,
            source.buffer(),
            piece.buffer,
            &to_staging,
        );
        self.holdings.show_host();
        self.holdings.act(CompletionAction::CopyOut {
            source: HostPointer(piece.pointer.as_ptr()),
            target,
            shape: Shape {
                source: shape.extent.packed(0),
                ..*shape
            },
        });
        self.holdings.hold_read(source);
        Ok(())
    }

    /// What commands have written up to here, on this queue, is there for the host when the batch is done.
    pub fn show_host(&mut self) -> Result<()> {
        self.holdings.show_host();
        self.recorder()?;
        Ok(())
    }

    /// Whether one of its commands uses the allocation.
    pub fn is_user_of(&self, allocation: &Allocation) -> bool {
        let mut parts = self.parts.iter();
        self.uses_of(allocation) > 0
            || parts.any(|part| matches!(part, Part::Replay(it) if it.is_user_of(allocation)))
    }

    /// How often it is counted among the uses of an allocation.
    pub fn uses_of(&self, allocation: &Allocation) -> usize {
        self.holdings.uses_of(allocation)
    }

    /// Keeps `object` until the device is done, if a command of the batch uses `allocation`.
    pub fn keep_while_used(
        &mut self,
        allocation: &Allocation,
        object: &Arc<dyn Any + Send + Sync>,
    ) {
        if self.is_user_of(allocation) {
            self.holdings.keep(object);
        }
    }

    /// Keeps objects until the device is done.
    pub fn keep(&mut self, objects: KeepAlive) {
        objects.iter().for_each(|it| self.holdings.keep(it));
    }

    /// The device is done: the allocations may be used by the host, as far as this batch goes.
    pub fn end_uses(&self) {
        self.holdings.end_uses();
        for part in &self.parts {
            if let Part::Replay(replay) = part {
                replay.end();
            }
        }
    }

    /// Lets go of everything it held. Hold no lock: what is dropped may call the application.
    pub fn recycle(&mut self) {
        for part in self.parts.drain(..) {
            if let Part::Recorded(recorder) = part {
                self.spare_recorders.push(recorder);
            }
        }
        self.waits.clear();
        self.shared.iter_mut().for_each(Vec::clear);
        self.entries.clear();
        self.after.clear();
        self.holdings.clear();
        if let Some(pool) = &self.timestamps {
            pool.reset_by_host(self.stamps);
        }
        self.stamps = 0;
        self.upload.recycle();
        self.readback.recycle();
    }
}
