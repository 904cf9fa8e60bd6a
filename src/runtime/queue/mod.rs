//! Command queues.
//!
//! A command is recorded into the queue's open batch on the calling thread. A batch is submitted by a
//! flush, a blocking call, a dependency of another queue, or when it is full. The queue's timeline
//! semaphore tells when a batch is done; that time is what the events of its commands wait for.
//!
//! A command whose turn has not come is *held* instead: see [`held`].
//!
//! Locks: a queue's state is locked before an event's, never two queues' at once, and neither while the
//! application is called.

mod batch;
pub mod behind_lost;
pub mod blocking;
pub mod bring;
mod completion;
pub mod failure;
mod held;
pub mod host_commands;
mod keep;
pub mod launch;
pub mod repeat;
mod retire;
pub mod turn;
mod work;

use super::command::hazard::{Accesses, Hazards};
use super::command::keep_alive::KeepAlive;
use super::command::{Command, Ordering as Order};
use super::context::Context;
use super::context::device_queue::DeviceQueue;
use super::device::Device;
use super::device::context_device::ContextDevice;
use super::event::waits::Waits;
use super::event::{Aftermath, Event};
use super::host::process::{self, Submitter};
use super::host::trace::{self, Trace};
use super::object::error::{Error, Result};
use super::object::registry::{Handle, Kind, Object};
use super::program::lost_iterations::LostBatches;
use crate::runtime::queue::behind_lost::take_lost;
use crate::vulkan::timestamps::host_now_ns;
use crate::vulkan::{self, Clock, Priority, SemaphoreWait, Timeline};
use batch::{Batch, Entry, MOST_COMMANDS};
use failure::Failure;
use held::{HeldCommands, Ready, Resolution};
use opencl_sys::{
    CL_COMMAND_MARKER, CL_COMPLETE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, cl_command_queue_properties,
    cl_command_type, cl_queue_properties,
};
use repeat::Repeats;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use work::{Holdable, Work};

/// Batches in flight from which on an enqueue looks which are done, and at which it waits.
const BACKLOG: usize = 4;
const MOST_BACKLOG: usize = 64;

/// An idle device gets a batch of this many commands at once, a busy one a full batch. Several times as many the next
/// time, up to the greatest: a stream's first commands begin early, and the driver is not called for every few of
/// thousands. A submission takes as long as twenty launches on NVIDIA's driver, and as a hundred on some cores.
/// Drivers submit under a lock of the whole device: threads that submit on queues of their own wait for each other.
const FIRST_ENOUGH: u32 = 16;
const MOST_ENOUGH: u32 = 512;
const MORE_ENOUGH: u32 = 4;
/// From there on it is looked whether the device is idle now, after so many commands each.
const LOOK_AFTER: u32 = 32;

/// A write of so many bytes is submitted at once, so that its staging memory is soon free again: a stream of writes then
/// goes through a few pieces of memory that stay in the processor's cache.
const LARGE_STAGED_BYTES: usize = 256 << 10;

/// A command queue.
pub struct Queue {
    handle: Handle,
    device_queue: DeviceQueue,
    pub(super) vulkan: Arc<vulkan::Device>,
    flags: cl_command_queue_properties,
    properties: Option<Vec<cl_queue_properties>>,
    /// Where its commands are written to, and its number there.
    pub(super) trace: Option<(&'static Trace, u64)>,
    pub(super) timeline: Timeline,
    pub(super) clock: Clock,
    pub(super) state: Mutex<State>,
    /// One thread at a time retires.
    pub(super) retiring: Mutex<()>,
    /// Last value handed to the device.
    submitted: AtomicU64,
    /// Last value whose batch has been retired.
    pub(super) retired: AtomicU64,
    /// How long a wait looks before it sleeps.
    pub(super) spin_ns: AtomicU64,
    pub(super) failure: Failure,
    /// A kernel has lost iterations, and no call that waits has failed since then.
    pub(super) has_lost: AtomicBool,
    pub(super) lost_batches: LostBatches,
    /// Somebody wants to be told of events: a waiter thread is needed, and early callbacks.
    pub(super) watched: AtomicBool,
    pub(super) new_work: Condvar,
    /// Told when a thread's turn is over.
    pub(super) turn_over: Condvar,
    /// The application has let go of it.
    pub(super) abandoned: AtomicBool,
}

// SAFETY: the only object of this kind.
unsafe impl Object for Queue {
    const KIND: Kind = Kind::Queue;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

#[derive(Default)]
pub(super) struct State {
    // In boxes, to be handed on: a batch has many hundreds of bytes.
    pub(super) open: Option<Box<Batch>>,
    pub(super) in_flight: VecDeque<Box<Batch>>,
    #[expect(
        clippy::vec_box,
        reason = "they come from `in_flight` and become `open`"
    )]
    pub(super) spare: Vec<Box<Batch>>,
    pub(super) held: HeldCommands,
    /// The thread that enqueues alone.
    pub(super) turn: Option<turn::Owner>,
    hazards: Hazards,
    /// The next command's number, and that of the first after the last barrier.
    sequence: u64,
    barrier_sequence: u64,
    /// The time of the last command that all later ones come after.
    ordered_value: u64,
    pub(super) last_value: u64,
    /// So many commands are enough for an idle device.
    enough: u32,
    /// A waiter thread runs.
    pub(super) waiter: bool,
    /// So many batches are out of `in_flight` and not retired yet, and what is dropped when they are.
    pub(super) retiring: u32,
    pub(super) kept: KeepAlive,
    /// Launches of the open batch.
    pub(super) repeats: Repeats,
}

impl Queue {
    /// `properties` as given to `clCreateCommandQueueWithProperties`, `None` when it was NULL or the queue
    /// was made by `clCreateCommandQueue`.
    pub fn new(
        context: &Arc<Context>,
        device: &Arc<Device>,
        vulkan: &Arc<vulkan::Device>,
        flags: cl_command_queue_properties,
        priority: Priority,
        properties: Option<Vec<cl_queue_properties>>,
    ) -> Result<Arc<Self>> {
        let index = context
            .device_index(device)
            .ok_or_else(|| Error::out_of_resources("the queue's device is not in the context"))?;
        let timeline = Timeline::new(vulkan)?;
        let queue = Arc::new(Self {
            handle: Handle::default(),
            device_queue: DeviceQueue::new(
                context,
                ContextDevice::new(index, device, vulkan),
                vulkan.assign_queue(priority),
            ),
            vulkan: Arc::clone(vulkan),
            flags,
            properties,
            trace: trace::get().map(|trace| (trace, trace.queue())),
            timeline,
            clock: Clock::new(vulkan),
            state: Mutex::default(),
            retiring: Mutex::default(),
            submitted: AtomicU64::new(0),
            retired: AtomicU64::new(0),
            spin_ns: AtomicU64::new(retire::MOST_SPIN_NS),
            failure: Failure::default(),
            has_lost: AtomicBool::new(false),
            lost_batches: LostBatches::default(),
            watched: AtomicBool::new(false),
            new_work: Condvar::new(),
            turn_over: Condvar::new(),
            abandoned: AtomicBool::new(false),
        });
        let weak: Weak<Self> = Arc::downgrade(&queue);
        context.add_queue(weak.clone());
        process::add_submitter(weak);
        Ok(queue)
    }

    /// Where its commands run.
    pub fn device_queue(&self) -> &DeviceQueue {
        &self.device_queue
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        self.device_queue.context()
    }

    /// Its device.
    pub fn device(&self) -> &Arc<Device> {
        self.device_queue.device()
    }

    /// Its device as a member of its context.
    pub fn context_device(&self) -> &ContextDevice {
        self.device_queue.context_device()
    }

    /// `CL_QUEUE_PROPERTIES`
    pub fn flags(&self) -> cl_command_queue_properties {
        self.flags
    }

    /// `CL_QUEUE_PROPERTIES_ARRAY`
    pub fn properties(&self) -> Option<&[cl_queue_properties]> {
        self.properties.as_deref()
    }

    pub fn is_in_order(&self) -> bool {
        self.flags & (CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE as cl_command_queue_properties) == 0
    }

    pub fn has_profiling(&self) -> bool {
        self.flags & (CL_QUEUE_PROFILING_ENABLE as cl_command_queue_properties) != 0
    }

    /// Whether the times of its commands are taken.
    pub(super) fn times_commands(&self) -> bool {
        self.has_profiling() || self.trace.is_some()
    }

    /// Enqueues `command`; `kind` is what its event says it is.
    ///
    /// # Errors
    /// Memory ran out, or the device was lost: the command was not enqueued.
    pub fn enqueue(
        self: &Arc<Self>,
        kind: cl_command_type,
        command: Command,
        waits: Waits,
        order: Order,
    ) -> Result<Arc<Event>> {
        let event = self.new_event(kind);
        self.place(kind, &mut { command }, &mut { waits }, order, Some(&event))?;
        Ok(event)
    }

    /// Enqueues `command` with the times that the application asks for, whatever the queue. It was called at
    /// `queued_ns`.
    ///
    /// # Errors
    /// As [`Queue::enqueue`].
    pub(super) fn enqueue_timed(
        self: &Arc<Self>,
        kind: cl_command_type,
        command: Command,
        waits: Waits,
        order: Order,
        queued_ns: u64,
    ) -> Result<Arc<Event>> {
        let event = Arc::new(self.event_of(kind, queued_ns).timed());
        self.place(kind, &mut { command }, &mut { waits }, order, Some(&event))?;
        Ok(event)
    }

    /// Enqueues `command`; without `wants_event` no event is made, unless the command is held. The command is taken out
    /// of where it lies: a launch has hundreds of bytes, and to move them from call to call takes longer than the rest.
    ///
    /// # Errors
    /// As [`Queue::enqueue`].
    pub fn enqueue_if(
        self: &Arc<Self>,
        wants_event: bool,
        kind: cl_command_type,
        command: &mut Command,
        mut waits: Waits,
        order: Order,
    ) -> Result<Option<Arc<Event>>> {
        let event = self.event_if(wants_event, kind);
        self.place(kind, command, &mut waits, order, event.as_ref())?;
        Ok(event)
    }

    /// The event of a command, if somebody needs one.
    pub(super) fn event_if(
        self: &Arc<Self>,
        wants_event: bool,
        kind: cl_command_type,
    ) -> Option<Arc<Event>> {
        // Every command is written to the trace.
        (wants_event || self.trace.is_some()).then(|| self.new_event(kind))
    }

    pub(super) fn new_event(self: &Arc<Self>, kind: cl_command_type) -> Arc<Event> {
        let queued_ns = if self.times_commands() {
            host_now_ns()
        } else {
            0
        };
        Arc::new(self.event_of(kind, queued_ns))
    }

    /// The event of a command that the application has asked for at `queued_ns`.
    pub(super) fn event_of(self: &Arc<Self>, kind: cl_command_type, queued_ns: u64) -> Event {
        let source: Arc<Self> = Arc::clone(self);
        Event::of_command(self.context(), source, kind, queued_ns)
    }

    /// Records work or holds it. The application may be called, and let go of the queue: the caller holds a share of it or
    /// does not use it any more.
    pub(super) fn place<W: Holdable>(
        self: &Arc<Self>,
        kind: cl_command_type,
        work: &mut W,
        waits: &mut Waits,
        order: Order,
        event: Option<&Arc<Event>>,
    ) -> Result<()> {
        let mut rest = Rest::default();
        if self.record_now(work, waits, order, event, &mut rest)? {
            rest.finish(self)
        } else {
            let queue = Arc::clone(self);
            let event = event.map_or_else(|| queue.new_event(kind), Arc::clone);
            queue.hold(work.take(), event, std::mem::take(waits), order);
        }
        Ok(())
    }

    /// Records work whose turn has come; false if it is to be held. `rest` is what is left to do then: hold no lock
    /// there.
    #[inline]
    pub(super) fn record_now<W: Work>(
        self: &Arc<Self>,
        work: &mut W,
        waits: &Waits,
        order: Order,
        event: Option<&Arc<Event>>,
        rest: &mut Rest,
    ) -> Result<bool> {
        let mut ready = None;
        if !waits.are_none() {
            match self.resolve(waits) {
                Resolution::Failed => {
                    let code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
                    if let Some(event) = event {
                        rest.aftermath = event.finish(code, None);
                    }
                    return Ok(true);
                }
                Resolution::NotYet => return Ok(false),
                Resolution::Ready(found) => ready = Some(found),
            }
        }
        let mut state = self.lock_in_turn();
        if self.must_hold(&state, order) {
            return Ok(false);
        }
        let comes_after_others = ready.as_ref().is_some_and(|it| !it.device.is_empty());
        if work.nature().is_nothing && !comes_after_others {
            let comes_after = ready.as_ref().and_then(|ready| ready.sequence);
            let needs_none = !order.after_all && comes_after.is_none();
            if state.is_idle() || needs_none && self.is_free(&state) {
                drop(state);
                let now_ns = host_now_ns();
                if let Some(event) = event {
                    rest.aftermath = event.finish(CL_COMPLETE, Some((now_ns, now_ns)));
                    self.trace_host_command(event, now_ns);
                }
                return Ok(true);
            }
        }
        self.issue(&mut state, work, event, ready.as_mut(), order, None)?;
        rest.backlog.look(&state);
        Ok(true)
    }

    /// Waits for the oldest batch under way; false if there is none.
    pub(super) fn wait_for_oldest(self: &Arc<Self>) -> bool {
        self.flush();
        let oldest = self.lock().in_flight.front().map(|batch| batch.value);
        if let Some(oldest) = oldest {
            self.wait_for(oldest);
        }
        oldest.is_some()
    }

    /// Records `work`, which waits for what `ready` says, into the open batch. Its times are taken for `event` only. Where
    /// it was held, `held` takes what is left to do.
    #[inline]
    pub(super) fn issue<W: Work>(
        self: &Arc<Self>,
        state: &mut State,
        work: &mut W,
        event: Option<&Arc<Event>>,
        mut ready: Option<&mut Ready>,
        order: Order,
        held: Option<&mut Aftermath>,
    ) -> Result<()> {
        let after = ready.as_ref().and_then(|ready| ready.sequence);
        let own = ready.as_mut().map(|ready| std::mem::take(&mut ready.own));
        let device = ready.map(|ready| &mut ready.device);
        let device = device.filter(|device| !device.is_empty());
        let nature = work.nature();
        if device.is_some() || nature.waits_for_others {
            // The commands before need not wait for what this one waits for.
            self.submit_open(state);
        }
        self.open_batch(state)?;
        let Some(batch) = state.open.as_mut() else {
            return Err(Error::out_of_resources("no batch"));
        };
        if let Some(device) = device {
            batch.waits.extend(device.drain(..));
        }
        if let Some(own) = own {
            batch.comes_after(&own);
        }

        let sequence = state.sequence;
        let mut accesses = Accesses::new();
        let (accesses, anything) = work.accesses(&mut accesses);
        let is_asked = event.is_some_and(|event| self.times_commands() || event.is_timed());
        let is_timed = is_asked && self.clock.has_timestamps();
        let barrier = if self.is_in_order() {
            // A command that overlaps with others can't be timed.
            is_timed && self.has_profiling() || state.hazards.conflict(accesses, anything)
        } else {
            order.after_all
                || order.before_all
                || after.is_some_and(|after| after >= state.barrier_sequence)
        };
        // Not only what it conflicts with since the last barrier, if that one lets it pass.
        let barrier = barrier || !batch.is_open_to(nature.is_kernel);
        let replay = nature.is_replay;
        let is_large = nature.staged_bytes >= LARGE_STAGED_BYTES;
        if barrier && batch.commands > 0 && !replay {
            batch.barrier(nature.is_kernel);
            state.hazards.clear();
            state.barrier_sequence = sequence;
        }
        state.hazards.note(accesses, anything);

        // In order, the command begins when all before it are done, which is later than when the device
        // reads it.
        let after = replay || self.is_in_order();
        let timestamp = if is_timed {
            Some(batch.stamp_start(after)?)
        } else {
            None
        };
        let recorded = work.record(batch);
        if let Some(start) = timestamp {
            // Even of a command that failed half-way: all timestamps are read.
            batch.stamp_end(start)?;
        }
        batch.commands += 1;
        state.sequence += 1;
        if order.before_all {
            state.ordered_value = batch.value;
        }
        recorded?;
        if replay {
            // It ends with a barrier.
            state.hazards.clear();
            state.barrier_sequence = state.sequence;
        }

        batch.is_timed |= is_asked;
        if let Some(event) = event {
            batch.entries.push(Entry {
                event: Arc::clone(event),
                timestamp,
                recorded_ns: self.trace.map_or(0, |_| host_now_ns()),
            });
            event.issue(batch.value, sequence, held);
        }
        let full = batch.weight >= MOST_COMMANDS || is_large;
        let more = batch.commands.checked_sub(state.enough);
        let enough = replay || more.is_some_and(|more| more.is_multiple_of(LOOK_AFTER));
        if full || nature.signals_others || enough && self.device_is_idle(state) {
            state.enough = (state.enough * MORE_ENOUGH).clamp(FIRST_ENOUGH, MOST_ENOUGH);
            self.submit_open(state);
        } else {
            work.keep(&mut state.repeats, sequence);
        }
        Ok(())
    }

    /// Sees to it that there is an open batch.
    #[inline]
    pub(super) fn open_batch(&self, state: &mut State) -> Result<()> {
        match state.open {
            Some(_) => Ok(()),
            None => self.begin_batch(state),
        }
    }

    fn begin_batch(&self, state: &mut State) -> Result<()> {
        if self.failure.is_broken() {
            return Err(broken());
        }
        let mut batch = match state.spare.pop() {
            Some(batch) => batch,
            None => Box::new(Batch::new(self.device().internal_kernels()?)?),
        };
        batch.begin(state.last_value + 1, state.in_flight.is_empty());
        state.last_value += 1;
        if state.in_flight.is_empty() {
            state.enough = FIRST_ENOUGH;
        }
        state.hazards.clear();
        state.barrier_sequence = state.sequence;
        state.open = Some(batch);
        Ok(())
    }

    /// Hands the open batch to the device.
    pub(super) fn submit_open(self: &Arc<Self>, state: &mut State) {
        let Some(mut batch) = state.open.take() else {
            return;
        };
        state.repeats.clear();
        // Nobody may ask for the times of others.
        batch.submitted_ns = if batch.is_timed { host_now_ns() } else { 0 };
        let result = batch.close().and_then(|()| self.submit(&batch));
        if let Err(error) = result {
            log::error!("a submission failed: {error}");
            self.failure.break_from(batch.value);
            // What other queues have submitted must not wait for it for ever; but the batches before it raise
            // the timeline too, and it may only rise.
            self.wait_timeline(self.submitted.load(Ordering::Acquire));
            if let Err(error) = self.timeline.signal(batch.value) {
                log::error!("its timeline could not be raised: {error}");
                self.die_from(batch.value);
            }
        }
        if batch.is_timed || self.watched.load(Ordering::Acquire) {
            for entry in &batch.entries {
                // Sent off while nobody can retire the batch yet: "submitted" is told before "complete".
                let queues = entry.event.submitted(batch.submitted_ns).run_callbacks();
                debug_assert!(queues.is_empty(), "only the end moves queues on");
            }
        }
        self.submitted.store(batch.value, Ordering::Release);
        state.in_flight.push_back(batch);
        if state.waiter {
            self.new_work.notify_all();
        }
    }

    fn submit(&self, batch: &Batch) -> Result<()> {
        let waits = batch.waits.iter().map(|(queue, value)| SemaphoreWait {
            timeline: &queue.timeline,
            value: *value,
        });
        let recorders = batch.recorders();
        let (queue, value) = (self.device_queue.vk_queue(), batch.value);
        let [before, after] = &batch.shared;
        let shared = [before.as_slice(), after.as_slice()];
        self.vulkan
            .submit_sharing(queue, recorders, waits, &self.timeline, value, shared)?;
        Ok(())
    }

    /// Whether a command out of order comes after nothing that is held or under way but what it names.
    pub(super) fn is_free(&self, state: &State) -> bool {
        let retired = || self.retired.load(Ordering::Acquire);
        !self.is_in_order() && state.held.holds_no_barrier() && state.ordered_value <= retired()
    }

    /// Whether the device is done with everything that this queue has submitted.
    fn device_is_idle(&self, state: &State) -> bool {
        let submitted = self.submitted.load(Ordering::Acquire);
        // The driver is only asked about what nobody has seen the end of.
        state.in_flight.is_empty() || self.timeline.value().is_ok_and(|value| value >= submitted)
    }

    /// Submits what is recorded, if it holds the command of time `value`.
    pub(super) fn flush_to(self: &Arc<Self>, value: u64) {
        if !self.is_submitted(value) {
            self.flush();
        }
    }

    pub(super) fn is_submitted(&self, value: u64) -> bool {
        self.submitted.load(Ordering::Acquire) >= value
    }

    /// `clFlush`: submits what is recorded.
    pub fn flush(self: &Arc<Self>) {
        let mut state = self.lock();
        self.submit_open(&mut state);
    }

    /// `clFinish`: blocks until every command enqueued so far is done.
    pub fn finish(self: &Arc<Self>) -> Result<()> {
        self.wait_for_everything()?;
        if take_lost(self) {
            return Err(Error::out_of_resources("a kernel has lost iterations"));
        }
        Ok(())
    }

    pub(super) fn wait_for_everything(self: &Arc<Self>) -> Result<()> {
        let (value, holds) = {
            let state = self.lock();
            (state.last_value, !state.holds_nothing())
        };
        if holds {
            let order = Order {
                after_all: true,
                ..Order::default()
            };
            self.enqueue(CL_COMMAND_MARKER, Command::Nothing, Waits::default(), order)?
                .wait();
        } else if value > 0 {
            self.wait_for(value);
        }
        if self.failure.is_broken() {
            return Err(broken());
        }
        Ok(())
    }

    /// The application has let go of the queue: what it holds must still come to an end.
    pub fn abandon(self: &Arc<Self>) {
        self.flush();
        let state = self.lock();
        let idle = state.is_idle() && state.holds_nothing();
        self.abandoned.store(true, Ordering::Release);
        self.new_work.notify_all();
        drop(state);
        if !idle {
            self.watch();
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is left to do when work has been recorded.
#[derive(Default)]
pub(super) struct Rest {
    aftermath: Aftermath,
    backlog: Backlog,
}

impl Rest {
    /// Does it. Hold no lock.
    pub fn finish(self, queue: &Arc<Queue>) {
        // The application is called, which may let go of the queue.
        let backed_up = self.backlog.is_long().then(|| Arc::clone(queue));
        self.aftermath.run();
        if let Some(queue) = backed_up {
            self.backlog.work_off(&queue);
        }
    }
}

/// The batches that are in flight when work has been recorded.
#[derive(Default)]
pub(super) struct Backlog {
    batches: usize,
    /// The value of the oldest, if something is to be done about them.
    oldest: Option<u64>,
}

impl Backlog {
    /// Notes how many there are.
    pub(super) fn look(&mut self, state: &State) {
        // Only where a batch has just been handed over: to ask the driver for every command costs as much
        // as the command. Those that others have handed over, too, count in the end.
        self.batches = state.in_flight.len();
        self.oldest = match state.open {
            Some(_) if self.batches < MOST_BACKLOG => None,
            _ => state.in_flight.front().map(|batch| batch.value),
        };
    }

    /// Whether something is to be done about them.
    pub(super) fn is_long(&self) -> bool {
        self.oldest.is_some() && self.batches >= BACKLOG
    }

    /// Nobody waits for what is submitted: batches are retired so that they can be used again, and beyond a limit the
    /// caller waits. Hold no lock. The application is called, which may let go of the queue: hold a share.
    pub(super) fn work_off(self, queue: &Arc<Queue>) {
        match self.oldest {
            Some(oldest) if self.batches >= MOST_BACKLOG => queue.wait_for(oldest),
            _ => queue.retire(),
        }
    }
}

fn broken() -> Error {
    Error::out_of_resources("an earlier submission of the queue failed, or the device was lost")
}

impl State {
    /// Nothing is recorded and nothing submitted is left to retire.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_none() && self.in_flight.is_empty()
    }

    /// Whether no command is held.
    pub(super) fn holds_nothing(&self) -> bool {
        self.held.is_empty()
    }
}

impl Submitter for Queue {
    fn settle(&self, patience: Duration) -> bool {
        let value = self.submitted.load(Ordering::Acquire);
        value == 0 || self.failure.is_dead() || self.timeline.wait(value, patience).unwrap_or(true)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // Events and batches hold the queue, so all are done; the device may still be signalling.
        if !self.settle(Duration::from_secs(10)) {
            log::error!("a queue's last submission does not end");
        }
        self.vulkan.release_queue(self.device_queue.vk_queue());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::allocation::{Access, Allocation};
    use crate::runtime::command::Dispatch;
    use crate::runtime::command::hazard::ALL_BYTES;
    use crate::runtime::test_queue;
    use crate::vulkan::MemoryKind;
    use smallvec::SmallVec;

    #[test]
    fn what_is_no_kernel_comes_after_all_kernels_that_it_conflicts_with() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let memory = || Allocation::new(&queue.vulkan, 64, MemoryKind::Device).unwrap();
        let (first, second) = (memory(), memory());
        let kernel = |written: &[&Arc<Allocation>]| {
            let written = written.iter().map(|allocation| Access {
                allocation: Arc::clone(allocation),
                bytes: ALL_BYTES,
                write: true,
            });
            Command::Dispatch(Dispatch {
                accesses: written.collect(),
                ..Dispatch::default()
            })
        };
        let fill = |target: &Arc<Allocation>| Command::Fill {
            target: Arc::clone(target),
            offset_bytes: 0,
            size_bytes: 64,
            pattern: SmallVec::from_slice(&[1]),
        };
        // Some devices need none at the beginning.
        let none_first = u32::from(queue.vulkan.shows_finished_work());
        // Each command, and the barriers up to it.
        for (command, barriers) in [
            (kernel(&[&first, &second]), 1),
            (kernel(&[&first]), 2),
            (kernel(&[&first]), 3),
            // The barriers between kernels let it overtake the first one.
            (fill(&second), 4),
            // That one does not.
            (fill(&first), 4),
            (kernel(&[]), 4),
            (kernel(&[&second]), 5),
            (kernel(&[&second]), 6),
            (kernel(&[&first]), 6),
            (fill(&first), 7),
        ] {
            let (kind, order) = (CL_COMMAND_MARKER, Order::default());
            let mut command = command;
            queue
                .enqueue_if(false, kind, &mut command, Waits::default(), order)
                .unwrap();
            let state = queue.lock();
            let found = state.open.as_ref().unwrap().barriers();
            assert_eq!(found + none_first, barriers);
        }
        queue.finish().unwrap();
    }
}
