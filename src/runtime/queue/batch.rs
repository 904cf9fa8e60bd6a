//! A batch: commands submitted together, done together.
//!
//! Commands are recorded into one `VkCommandBuffer`. A command buffer of the application brings its own,
//! recorded long before, and the batch goes on with another one after it: all are one submission. Each begins after
//! what comes before it, by a barrier at its beginning or one of the batch's ([`Batch::order_replay`]).

use super::Queue;
use crate::runtime::allocation::Allocation;
use crate::runtime::allocation::staging::Arena;
use crate::runtime::command::hazard::{self, Accesses, TrackedAccess};
use crate::runtime::command::keep_alive::KeepAlive;
use crate::runtime::command::region::Region;
use crate::runtime::command::replay::Replay;
use crate::runtime::command::{Command, Dispatch};
use crate::runtime::device::fill::Filler;
use crate::runtime::device::internal_kernels::InternalKernels;
use crate::runtime::event::Event;
use crate::runtime::host_memory::host_copy;
use crate::runtime::host_memory::layout::{Extent, Layout, Shape};
use crate::runtime::host_memory::pointer::HostPointer;
use crate::runtime::launch::dispatch::Launch;
use crate::runtime::object::error::Result;
use crate::runtime::printf;
use crate::runtime::program::executable::Executable;
use crate::runtime::program::lost_iterations::{LostBatches, UnderWay, Watched};
use crate::vulkan::{BinarySemaphore, MemoryKind, Pipeline, Recorder, TimestampPool};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// A full batch is submitted: the device should not wait for the host much longer.
pub const MOST_COMMANDS: u32 = 1024;

/// A batch looks at so many of the last things that it holds before it holds the same once more.
const REMEMBERED: usize = 8;

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
    pub actions: Vec<CompletionAction>,
    /// Launches that may say that they have lost iterations, and how many entries there were before each.
    watched: Vec<(usize, UnderWay)>,
    /// Earlier batches of the queue in which there is what a command waits for, and how many entries there were before it.
    after: Vec<(usize, u64)>,
    /// The times of commands are asked for.
    pub is_timed: bool,
    /// Made for the first command whose times are taken.
    pub timestamps: Option<TimestampPool>,
    /// It writes memory that the host may look at when it is done.
    for_host: bool,
    /// Timestamps in use.
    pub stamps: u32,
    /// 0 unless the times of its commands are asked for.
    pub submitted_ns: u64,
    allocations: Vec<Arc<Allocation>>,
    pub keep_alive: KeepAlive,
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

/// What the host does when the device is done, in order.
pub enum CompletionAction {
    /// From staging to the application's memory.
    CopyOut {
        source: HostPointer,
        target: HostPointer,
        shape: Shape,
    },
    Call(Box<dyn FnOnce() + Send>),
    /// What a kernel printed goes to standard output.
    Print(Arc<printf::Output>),
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
            actions: Vec::new(),
            watched: Vec::new(),
            after: Vec::new(),
            is_timed: false,
            timestamps: None,
            for_host: false,
            stamps: 0,
            submitted_ns: 0,
            allocations: Vec::new(),
            keep_alive: Vec::new(),
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
        self.for_host = false;
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
        if self.for_host {
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

    /// Records `command`, and takes out of it what the batch holds. The caller has placed the barrier that it needs.
    pub fn record(&mut self, command: &mut Command) -> Result<()> {
        self.weight += 1;
        match std::mem::replace(command, Command::Nothing) {
            Command::Dispatch(mut dispatch) => {
                let recorded = match self.recorder() {
                    Ok(_) => self.dispatch(&mut dispatch),
                    Err(error) => Err(error),
                };
                *command = Command::Dispatch(dispatch);
                recorded
            }
            Command::Replay(replay) => self.replay(replay),
            Command::Nothing => Ok(()),
            Command::Copy {
                source,
                target,
                shape,
            } => {
                self.recorder()?;
                self.kernels
                    .copy(&mut self.recorder, source.buffer(), target.buffer(), &shape);
                self.hold(&source);
                self.hold_written(&target);
                Ok(())
            }
            Command::Write {
                source,
                target,
                shape,
            } => {
                self.recorder()?;
                self.write(source, target, &shape)
            }
            Command::Read {
                source,
                target,
                shape,
            } => {
                self.recorder()?;
                self.read(source, target, &shape)
            }
            Command::Fill {
                target,
                offset_bytes,
                size_bytes,
                pattern,
            } => {
                self.recorder()?;
                self.filler()
                    .fill(target.buffer(), offset_bytes, size_bytes, &pattern)?;
                self.hold_written(&target);
                Ok(())
            }
            Command::FillRectangle {
                target,
                extent,
                layout,
                pattern,
            } => {
                self.recorder()?;
                self.filler()
                    .fill_rectangle(target.buffer(), extent, layout, &pattern)?;
                self.hold_written(&target);
                Ok(())
            }
            Command::Semaphores { waits, signals } => {
                self.recorder()?;
                self.for_host = true;
                self.shared[0].extend(waits);
                self.shared[1].extend(signals);
                Ok(())
            }
        }
    }

    /// Records a launch that the batch has already: it holds what that uses. The caller has placed the barrier
    /// that it needs.
    pub fn record_repeat(&mut self, dispatch: &Dispatch) -> Result<()> {
        self.weight += 1;
        self.recorder()?;
        for access in dispatch.accesses.iter().filter(|access| access.write) {
            access.allocation.change_by_device();
        }
        for region in &dispatch.regions {
            let (recorder, staging) = (&mut self.recorder, &mut self.upload);
            let region = region.as_region();
            region.record(recorder, staging, self.kernels.device())?;
        }
        Ok(())
    }

    /// Records a launch that lies in its kernel. Otherwise as [`Batch::record`].
    pub fn record_launch(&mut self, launch: &mut Launch<'_>) -> Result<()> {
        self.weight += 1;
        self.recorder()?;
        self.begin_dispatch(launch.dispatch_mut());
        let recorded = launch.for_each_region(|region| self.region(region));
        self.keep(launch.executable());
        self.hold_uses(launch.dispatch_mut());
        recorded
    }

    /// Records the execution of a command buffer.
    pub fn record_replay(&mut self, replay: Replay) -> Result<()> {
        self.weight += 1;
        self.replay(replay)
    }

    fn replay(&mut self, replay: Replay) -> Result<()> {
        self.order_replay()?;
        self.end_part()?;
        replay.begin();
        self.weight += replay.weight();
        for output in replay.prints() {
            self.actions
                .push(CompletionAction::Print(Arc::clone(output)));
        }
        for watched in replay.watched() {
            self.watch(Some(watched));
        }
        self.parts.push(Part::Replay(replay));
        Ok(())
    }

    fn dispatch(&mut self, dispatch: &mut Dispatch) -> Result<()> {
        self.begin_dispatch(dispatch);
        let mut regions = dispatch.regions.iter();
        let recorded = regions.try_for_each(|region| self.region(region.as_region()));
        self.hold_uses(dispatch);
        recorded?;
        if let Some(action) = dispatch.on_complete.take() {
            self.actions.push(CompletionAction::Call(action));
        }
        Ok(())
    }

    fn begin_dispatch(&mut self, dispatch: &mut Dispatch) {
        self.for_host |= dispatch.accesses_anything || dispatch.printf.is_some();
        if let Some(output) = dispatch.printf.take() {
            // First, so that the buffer is held whatever is recorded of the launch.
            self.actions.push(CompletionAction::Print(output));
        }
        self.watch(dispatch.watched.as_ref());
    }

    /// Looks, when the device is done, whether the kernel has lost iterations.
    fn watch(&mut self, watched: Option<&Watched>) {
        self.for_host |= watched.is_some();
        let entries = self.entries.len();
        self.watched.extend(watched.map(|it| (entries, it.begin())));
    }

    /// The first of the entries that a kernel which has lost iterations comes before or with, and what to say of that. The
    /// device is done.
    pub fn lost_iterations(&mut self) -> Option<(usize, String)> {
        let mut ended = self.watched.drain(..).filter_map(|(entry, mut launch)| {
            let message = launch.end()?;
            Some((entry, message))
        });
        let first = ended.next();
        // All have to end.
        ended.for_each(drop);
        first
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

    fn region(&mut self, region: Region<'_>) -> Result<()> {
        region.record(&mut self.recorder, &mut self.upload, self.kernels.device())?;
        self.keep(region.pipeline);
        Ok(())
    }

    /// Holds what a launch uses, also where only its first regions could be recorded: those will run.
    fn hold_uses(&mut self, dispatch: &Dispatch) {
        for access in &dispatch.accesses {
            if access.write {
                self.hold_written(&access.allocation)
            } else {
                self.hold(&access.allocation)
            }
        }
        for object in &dispatch.keep_alive {
            self.keep(object);
        }
    }

    fn write(&mut self, source: HostPointer, target: Arc<Allocation>, shape: &Shape) -> Result<()> {
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
        // The host may write it itself the next time.
        self.for_host |= target.mapped().is_some() || target.window().is_some();
        self.hold(&target);
        Ok(())
    }

    fn read(&mut self, source: Arc<Allocation>, target: HostPointer, shape: &Shape) -> Result<()> {
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
        self.for_host = true;
        self.actions.push(CompletionAction::CopyOut {
            source: HostPointer(piece.pointer.as_ptr()),
            target,
            shape: Shape {
                source: shape.extent.packed(0),
                ..*shape
            },
        });
        self.hold(&source);
        Ok(())
    }

    fn filler(&mut self) -> Filler<'_> {
        Filler {
            recorder: &mut self.recorder,
            staging: &mut self.upload,
            kernels: &self.kernels,
        }
    }

    /// What commands have written up to here, on this queue, is there for the host when the batch is done.
    pub fn show_host(&mut self) -> Result<()> {
        self.for_host = true;
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
        let is_it = |held: &&Arc<Allocation>| std::ptr::eq(Arc::as_ptr(held), allocation);
        self.allocations.iter().filter(is_it).count()
    }

    /// Keeps `object` until the device is done, if a command of the batch uses `allocation`.
    pub fn keep_while_used(
        &mut self,
        allocation: &Allocation,
        object: &Arc<dyn Any + Send + Sync>,
    ) {
        if self.is_user_of(allocation) {
            self.keep_alive.push(Arc::clone(object));
        }
    }

    /// The batch uses it until the device is done.
    fn hold(&mut self, allocation: &Arc<Allocation>) {
        // Streams of commands use the same memory again and again: one use counts for all of the batch.
        let mut last = self.allocations.iter().rev().take(REMEMBERED);
        if last.any(|held| Arc::ptr_eq(held, allocation)) {
            return;
        }
        allocation.begin_use();
        self.allocations.push(Arc::clone(allocation));
    }

    fn hold_written(&mut self, allocation: &Arc<Allocation>) {
        self.for_host |= allocation.mapped().is_some();
        self.hold(allocation);
        allocation.change_by_device();
    }

    fn keep<T: Keep + ?Sized>(&mut self, object: &Arc<T>) {
        let mut last = self.keep_alive.iter().rev().take(REMEMBERED);
        let address = Arc::as_ptr(object);
        if !last.any(|kept| std::ptr::addr_eq(Arc::as_ptr(kept), address)) {
            self.keep_alive.push(T::share(object));
        }
    }

    /// The device is done: the allocations may be used by the host, as far as this batch goes.
    pub fn end_uses(&self) {
        for allocation in &self.allocations {
            allocation.end_use();
        }
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
        self.actions.clear();
        self.watched.clear();
        self.after.clear();
        self.allocations.clear();
        self.keep_alive.clear();
        if let Some(pool) = &self.timestamps {
            pool.reset_by_host(self.stamps);
        }
        self.stamps = 0;
        self.upload.recycle();
        self.readback.recycle();
    }
}

/// What a batch can keep alive.
trait Keep {
    fn share(this: &Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl Keep for Pipeline {
    fn share(this: &Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        Arc::clone(this) as _
    }
}

impl Keep for Executable {
    fn share(this: &Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        Arc::clone(this) as _
    }
}

impl Keep for dyn Any + Send + Sync {
    fn share(this: &Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        Arc::clone(this)
    }
}

impl CompletionAction {
    pub fn run(self) {
        match self {
            Self::CopyOut {
                source,
                target,
                shape,
            } => {
                // SAFETY: staging memory of a batch that is not recycled yet, and the application's
                // memory, valid until the command is complete by its contract.
                unsafe { host_copy::copy(&shape, source.0, target.0) };
            }
            Self::Call(action) => action(),
            Self::Print(output) => output.print(),
        }
    }
}

fn tracked(allocation: &Arc<Allocation>, bytes: Range<u64>, write: bool) -> TrackedAccess {
    TrackedAccess {
        id: Arc::as_ptr(allocation) as hazard::Id,
        // Narrow writes may be made as accesses to the vector around them.
        bytes: bytes.start & !15..bytes.end.saturating_add(15) & !15,
        write,
    }
}

impl Dispatch {
    /// Adds what the launch reads and writes to a list; whether it may touch more than that.
    pub fn add_accesses(&self, accesses: &mut Accesses) -> bool {
        for access in &self.accesses {
            let bytes = access.bytes.clone();
            accesses.push(tracked(&access.allocation, bytes, access.write));
        }
        self.accesses_anything
    }
}

impl Command {
    /// Adds what it reads and writes to a list; whether it may touch more than that.
    pub fn add_accesses(&self, accesses: &mut Accesses) -> bool {
        let span = |layout: Layout, extent: Extent| {
            layout.offset_bytes as u64..layout.end_bytes(extent) as u64
        };
        match self {
            Self::Dispatch(dispatch) => return dispatch.add_accesses(accesses),
            Self::Copy {
                source,
                target,
                shape,
            } => {
                accesses.push(tracked(source, span(shape.source, shape.extent), false));
                accesses.push(tracked(target, span(shape.target, shape.extent), true));
            }
            Self::Write { target, shape, .. } => {
                accesses.push(tracked(target, span(shape.target, shape.extent), true));
            }
            Self::Fill {
                target,
                offset_bytes,
                size_bytes,
                ..
            } => accesses.push(tracked(
                target,
                *offset_bytes..offset_bytes + size_bytes,
                true,
            )),
            Self::FillRectangle {
                target,
                extent,
                layout,
                ..
            } => accesses.push(tracked(target, span(*layout, *extent), true)),
            Self::Read { source, shape, .. } => {
                accesses.push(tracked(source, span(shape.source, shape.extent), false));
            }
            // All that it uses comes after what is before it, and before what comes after it.
            Self::Replay(_) | Self::Semaphores { .. } | Self::Nothing => {}
        }
        false
    }

    /// Calls `visit` with every allocation that it names.
    pub fn for_each_allocation(&self, mut visit: impl FnMut(&Arc<Allocation>)) {
        match self {
            Self::Dispatch(dispatch) => {
                for access in &dispatch.accesses {
                    visit(&access.allocation);
                }
            }
            Self::Copy { source, target, .. } => {
                visit(source);
                visit(target);
            }
            Self::Write { target, .. }
            | Self::Fill { target, .. }
            | Self::FillRectangle { target, .. } => visit(target),
            Self::Read { source, .. } => visit(source),
            Self::Replay(_) | Self::Semaphores { .. } | Self::Nothing => {}
        }
    }

    /// Whether it names the allocation, or is a command buffer that does.
    pub fn is_user_of(&self, allocation: &Allocation) -> bool {
        if let Self::Replay(replay) = self {
            return replay.is_user_of(allocation);
        }
        let mut found = false;
        self.for_each_allocation(|it| found |= std::ptr::eq(Arc::as_ptr(it), allocation));
        found
    }
}
