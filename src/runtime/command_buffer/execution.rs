//! Executing a command buffer.
//!
//! A command buffer of one device is one command of a queue. One of several devices is a command for each of its
//! parts, which wait for each other by events, as commands of different devices always do: on the host. They are enqueued
//! in a [`Turn`] on all queues, so that whatever else is enqueued comes before the whole or after it, and any two executions
//! come in the same order on each of their queues.

use super::migrations::Migrations;
use super::{CommandBuffer, State, not_executable};
use crate::runtime::Result;
use crate::runtime::command::replay::Replay;
use crate::runtime::command::{Command, Ordering};
use crate::runtime::context::Context;
use crate::runtime::event::waits::Waits;
use crate::runtime::event::{DeferredWork, Event, WaitList};
use crate::runtime::queue::Queue;
use crate::runtime::queue::bring::bring;
use crate::runtime::queue::enqueue_lock::EnqueueLock;
use crate::runtime::queue::{complete_all, event_if, place};
use crate::runtime::residency::backing::MemoryAccess;
use crate::runtime::transfer::using::enqueue_using;
use crate::vulkan::timestamps::host_now_ns;
use opencl_sys::{CL_COMMAND_COMMAND_BUFFER_KHR, CL_COMMAND_MARKER};
use smallvec::SmallVec;
use std::sync::Arc;

/// A part to be enqueued.
struct PartExecution {
    replay: Replay,
    /// Number of its queue.
    queue: usize,
    after: Vec<usize>,
    accesses: Vec<MemoryAccess>,
}

type PartExecutions = SmallVec<[PartExecution; 1]>;

/// The memory that a part's commands use.
#[derive(Default)]
pub(super) struct PartAccesses {
    pub migrations: Migrations,
    /// A kernel may use every buffer whose device address the application knows.
    pub any_address: bool,
}

impl PartAccesses {
    /// What has to be brought to the part's device.
    fn to_bring(&self, context: &Context) -> Vec<MemoryAccess> {
        if context.devices().len() == 1 {
            return Vec::new();
        }
        let mut accesses: Vec<MemoryAccess> = self.migrations.accesses().collect();
        if self.any_address {
            accesses.extend(context.addressed_accesses());
        }
        accesses
    }
}

impl CommandBuffer {
    /// `clEnqueueCommandBufferKHR`, on `queues` or the ones that it was created with. Without `wants_event` there need
    /// not be an event.
    ///
    /// # Errors
    /// "CL_INVALID_OPERATION if command_buffer is not in the Executable state."
    pub fn enqueue(
        self: &Arc<Self>,
        queues: &[Arc<Queue>],
        waits: &mut Waits,
        wants_event: bool,
    ) -> Result<Option<Arc<Event>>> {
        let queues = match queues {
            [] => &self.queues,
            queues => queues,
        };
        let state = self.lock();
        let instance = state.versions.current().ok_or_else(not_executable)?;
        let is_usual = (queues.len(), instance.parts()) == (1, 1) && !instance.is_exclusive();
        if is_usual && self.context().devices().len() == 1 {
            let mut replay = Some(Replay::new(Arc::clone(instance) as _, 0));
            drop(state);
            let (queue, kind) = (&queues[0], CL_COMMAND_COMMAND_BUFFER_KHR);
            let event = event_if(queue, wants_event, kind);
            let order = Ordering::default();
            place(queue, kind, &mut replay, waits, order, event.as_ref())?;
            return Ok(event);
        }
        drop(state);
        // The application may be called, and let go of it.
        let buffer = Arc::clone(self);
        buffer.enqueue_any(queues, waits, wants_event)
    }

    /// Enqueues the command buffer, whatever devices it runs on, and whether or not it has to be recorded once more.
    fn enqueue_any(
        &self,
        queues: &[Arc<Queue>],
        waits: &mut Waits,
        wants_event: bool,
    ) -> Result<Option<Arc<Event>>> {
        let mut deferred = DeferredWork::default();
        let mut state = self.lock();
        if state.needs_recording() {
            // Unless executions are done that were not seen to be.
            drop(state);
            self.complete_all(queues);
            state = self.lock();
        }
        if state.needs_recording() {
            self.bring_up_to_date(&mut state, &[], false, &mut deferred)?;
        }
        let instance = state.versions.current().ok_or_else(not_executable)?;
        if let ([queue], 1, [accesses, ..]) = (queues, instance.parts(), state.accesses.as_slice())
        {
            let mut replay = Command::Replay(Replay::new(Arc::clone(instance) as _, 0));
            let accesses = accesses.to_bring(self.context());
            drop(state);
            deferred.run();
            let (kind, list) = (CL_COMMAND_COMMAND_BUFFER_KHR, &mut waits.events);
            return enqueue_using(queue, &accesses, wants_event, kind, &mut replay, list);
        }
        let plans = state.schedule.parts.iter().zip(&state.accesses);
        let parts = plans
            .take(instance.parts())
            .enumerate()
            .map(|(part, (plan, accesses))| PartExecution {
                replay: Replay::new(Arc::clone(instance) as _, part),
                queue: queue_of_part(queues, plan.queue),
                after: plan.after.clone(),
                accesses: accesses.to_bring(self.context()),
            })
            .collect();
        drop(state);
        deferred.run();
        enqueue_parts(queues, parts, &waits.events).map(Some)
    }

    /// Sees which executions are done, on its own queues and `others`. Hold no lock.
    pub(super) fn complete_all(&self, others: &[Arc<Queue>]) {
        self.queues.iter().chain(others).for_each(complete_all);
    }
}

impl State {
    /// Whether the current version can't be executed now: its kernels print, each execution to buffers of its own.
    fn needs_recording(&self) -> bool {
        let current = self.versions.current();
        current.is_some_and(|it| it.is_exclusive() && !it.is_idle())
    }
}

/// The queue that a part runs on: that of its plan, or another one of the device that takes times, as those of the
/// whole are asked for as soon as one queue does.
fn queue_of_part(queues: &[Arc<Queue>], planned: usize) -> usize {
    let device = queues.get(planned).map(|queue| Arc::as_ptr(queue.device()));
    let takes_times =
        |queue: &Arc<Queue>| queue.has_profiling() && Some(Arc::as_ptr(queue.device())) == device;
    queues.iter().position(takes_times).unwrap_or(planned)
}

/// Enqueues `command` as the execution of a command buffer, or a piece of it. Its times are taken if the application
/// may ask for them: then it called at `queued_ns`.
fn enqueue_piece(
    queue: &Arc<Queue>,
    command: Command,
    waits: &[Arc<Event>],
    queued_ns: Option<u64>,
) -> Result<Arc<Event>> {
    let (kind, waits) = (CL_COMMAND_COMMAND_BUFFER_KHR, Waits::on(waits));
    let order = Ordering::default();
    match queued_ns {
        Some(queued_ns) => queue.enqueue_timed(kind, command, waits, order, queued_ns),
        None => queue.enqueue(kind, command, waits, order),
    }
}

/// A place in the order of a queue that comes after `waits`.
fn enqueue_marker(queue: &Arc<Queue>, waits: &[Arc<Event>]) -> Result<Arc<Event>> {
    queue.enqueue(
        CL_COMMAND_MARKER,
        Command::NOTHING,
        Waits::on(waits),
        Ordering::default(),
    )
}

/// Enqueues the parts so that the whole stands in the order of each of `queues`. Answers with the event of the whole.
fn enqueue_parts(
    queues: &[Arc<Queue>],
    parts: PartExecutions,
    wait_list: &[Arc<Event>],
) -> Result<Arc<Event>> {
    // "CL_PROFILING_INFO_NOT_AVAILABLE is returned if all the queues passed do not have CL_QUEUE_PROFILING_ENABLE set".
    let takes_times = queues.iter().any(|queue| queue.has_profiling());
    let queued_ns = takes_times.then(host_now_ns);
    let distinct: Vec<&Arc<Queue>> = queues
        .iter()
        .enumerate()
        .filter(|(index, queue)| !queues[..*index].iter().any(|it| Arc::ptr_eq(it, queue)))
        .map(|(_, queue)| queue)
        .collect();
    let runs_parts = |queue: &Arc<Queue>| {
        let own = |part: &PartExecution| {
            queues
                .get(part.queue)
                .is_some_and(|it| Arc::ptr_eq(it, queue))
        };
        parts.iter().any(own)
    };
    let _lock = EnqueueLock::take(distinct.iter().copied());
    let mut begin = WaitList::from_iter(wait_list.iter().map(Arc::clone));
    for queue in distinct
        .iter()
        .filter(|it| it.is_in_order() && !runs_parts(it))
    {
        begin.push(enqueue_marker(queue, &[])?);
    }
    let mut done: Vec<(usize, Arc<Event>)> = Vec::with_capacity(parts.len());
    for part in parts {
        let Some(queue) = queues.get(part.queue) else {
            continue;
        };
        let mut waits = begin.clone();
        // The device's own part before, and those of others.
        let previous = done.iter().rfind(|(queue, _)| *queue == part.queue);
        waits.extend(previous.map(|(_, event)| Arc::clone(event)));
        let others = part.after.iter().filter_map(|&index| done.get(index));
        waits.extend(others.map(|(_, event)| Arc::clone(event)));
        bring(queue, &part.accesses, &mut waits)?;
        let replay = Command::Replay(part.replay);
        done.push((part.queue, enqueue_piece(queue, replay, &waits, queued_ns)?));
    }
    let events: Vec<Arc<Event>> = done.into_iter().map(|(_, event)| event).collect();
    let tells_times = |event: &Event| Queue::of(event).is_some_and(|queue| queue.has_profiling());
    let whole = match events.as_slice() {
        [event] if !takes_times || tells_times(event) => Arc::clone(event),
        events => join(&distinct, events, queued_ns)?,
    };
    for queue in distinct {
        if !queue.completes(&whole) {
            enqueue_marker(queue, std::slice::from_ref(&whole))?;
        }
    }
    if queues.len() > 1 {
        whole.set_spans_queues();
    }
    Ok(whole)
}

/// One event for several parts. It belongs to a queue that takes times, if any.
fn join(
    queues: &[&Arc<Queue>],
    events: &[Arc<Event>],
    queued_ns: Option<u64>,
) -> Result<Arc<Event>> {
    let timed = queues.iter().find(|queue| queue.has_profiling());
    let Some(queue) = timed.or(queues.first()) else {
        return Err(not_executable());
    };
    let whole = enqueue_piece(queue, Command::NOTHING, events, queued_ns)?;
    events.iter().for_each(|event| whole.continues(event));
    Ok(whole)
}
