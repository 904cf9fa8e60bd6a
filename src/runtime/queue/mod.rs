//! Command queues.
//!
//! A command is recorded into the queue's open batch on the calling thread ([`issue`]). A batch is submitted by a
//! flush, a blocking call, a dependency of another queue, or when it is full ([`submit`]). The queue's timeline
//! semaphore tells when a batch is done ([`progress`]); that time is what the events of its commands wait for. When the device
//! is done with a batch the host completes it ([`completion`]).
//!
//! A command whose turn has not come *waits* instead: see [`waiting`].
//!
//! [`Queue`] is what others see. Its parts keep their fields to themselves; what takes several of them is a function of the
//! file that is named after it.
//!
//! Locks: a queue's state is locked before an event's, never two queues' at once, and neither while the
//! application is called. What may call it is put into [`DeferredWork`](super::event::DeferredWork).

mod advance;
mod batch;
pub mod blocking;
pub mod bring;
mod completion;
mod completion_action;
mod completion_thread;
pub mod enqueue_lock;
mod events;
mod failure;
mod holdings;
pub mod host_commands;
mod host_wait;
mod in_flight;
mod issue;
mod keep;
pub mod launch;
mod losses;
mod place;
mod progress;
mod recording;
mod repeat;
mod source;
mod state;
mod submit;
mod subscription;
mod times;
mod waiting_commands;
mod work;

use super::command::{Command, Ordering};
use super::context::Context;
use super::context::device_queue::DeviceQueue;
use super::device::Device;
use super::device::context_device::ContextDevice;
use super::event::Event;
use super::event::waits::Waits;
use super::host::process::{self, Submitter};
use super::object::error::{Error, Result};
use super::object::registry::{Handle, Kind, Object};
use crate::vulkan::{self, Clock, Priority};
use completion_thread::CompletionThread;
use enqueue_lock::{Locked, StateLock};
use losses::Losses;
use opencl_sys::{
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, cl_command_queue_properties,
    cl_command_type, cl_queue_properties,
};
use progress::Progress;
use std::sync::{Arc, Weak};
use std::time::Duration;
use submit::submit_open;
use times::QueueTrace;

pub(in crate::runtime) use advance::{enqueue_waiting, would_issue};
pub(in crate::runtime) use blocking::finish_before;
pub(in crate::runtime) use completion::complete_all;
pub(in crate::runtime) use events::{event_if, event_of, new_event};
pub(in crate::runtime) use losses::is_behind_lost;
pub(in crate::runtime) use place::{is_free, place};
pub(in crate::runtime) use times::trace_recording;

/// A command queue.
pub struct Queue {
    handle: Handle,
    device_queue: DeviceQueue,
    vulkan: Arc<vulkan::Device>,
    flags: cl_command_queue_properties,
    properties: Option<Vec<cl_queue_properties>>,
    /// Where its commands are written to.
    trace: Option<QueueTrace>,
    clock: Clock,
    state: StateLock,
    progress: Progress,
    losses: Losses,
    completion_thread: CompletionThread,
}

// SAFETY: the only object of this kind.
unsafe impl Object for Queue {
    const KIND: Kind = Kind::Queue;

    fn handle(&self) -> &Handle {
        &self.handle
    }
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
            .ok_or_else(|| Error::impossible("the queue's device is not in the context"))?;
        let progress = Progress::new(vulkan, device.is_cpu())?;
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
            trace: QueueTrace::begin(),
            clock: Clock::new(vulkan),
            state: StateLock::default(),
            progress,
            losses: Losses::default(),
            completion_thread: CompletionThread::default(),
        });
        let weak: Weak<Self> = Arc::downgrade(&queue);
        context.add_queue(weak.clone());
        process::add_submitter(weak);
        Ok(queue)
    }

    /// The queue that completes an event; `None` for user events.
    pub fn of(event: &Event) -> Option<Arc<Self>> {
        let source = Arc::clone(event.source()?);
        source.into_any().downcast().ok()
    }

    /// Whether the queue completes an event. Takes no share of it, as [`Queue::of`] does: each wait list is asked.
    pub fn completes(&self, event: &Event) -> bool {
        let source = event.source();
        source.is_some_and(|source| std::ptr::addr_eq(Arc::as_ptr(source), self))
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

    /// Its device as Vulkan has it.
    pub(super) fn vulkan(&self) -> &Arc<vulkan::Device> {
        &self.vulkan
    }

    /// `CL_QUEUE_PROPERTIES`
    pub fn flags(&self) -> cl_command_queue_properties {
        self.flags
    }

    /// `CL_QUEUE_PROPERTIES_ARRAY`
    pub fn properties(&self) -> Option<&[cl_queue_properties]> {
        self.properties.as_deref()
    }

    /// Whether its commands are executed in the order in which they are enqueued.
    #[inline]
    pub fn is_in_order(&self) -> bool {
        self.flags & (CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE as cl_command_queue_properties) == 0
    }

    /// Whether the application may ask for the times of its commands.
    pub fn has_profiling(&self) -> bool {
        self.flags & (CL_QUEUE_PROFILING_ENABLE as cl_command_queue_properties) != 0
    }

    /// Whether the times of its commands are taken.
    fn times_commands(&self) -> bool {
        self.has_profiling() || self.trace.is_some()
    }

    /// Enqueues `command`; `kind` is what its event says it is.
    ///
    /// # Errors
    /// Memory ran out, or the device was lost: the command was not enqueued.
    pub fn enqueue(
        self: &Arc<Self>,
        kind: cl_command_type,
        command: impl Into<Command>,
        waits: Waits,
        order: Ordering,
    ) -> Result<Arc<Event>> {
        let event = new_event(self, kind);
        let (mut command, mut waits) = (command.into(), waits);
        place(self, kind, &mut command, &mut waits, order, Some(&event))?;
        Ok(event)
    }

    /// Enqueues `command` with the times that the application asks for, whatever the queue. It was called at
    /// `queued_ns`.
    ///
    /// # Errors
    /// Those of [`Queue::enqueue`].
    pub(super) fn enqueue_timed(
        self: &Arc<Self>,
        kind: cl_command_type,
        command: Command,
        waits: Waits,
        order: Ordering,
        queued_ns: u64,
    ) -> Result<Arc<Event>> {
        let event = Arc::new(event_of(self, kind, queued_ns).timed());
        let (mut command, mut waits) = (command, waits);
        place(self, kind, &mut command, &mut waits, order, Some(&event))?;
        Ok(event)
    }

    /// Enqueues `command`; without `wants_event` no event is made, unless the command waits. The command is taken out
    /// of where it lies: a launch has hundreds of bytes, and to move them from call to call takes longer than the rest.
    ///
    /// # Errors
    /// Those of [`Queue::enqueue`].
    pub fn enqueue_if(
        self: &Arc<Self>,
        wants_event: bool,
        kind: cl_command_type,
        command: &mut Command,
        mut waits: Waits,
        order: Ordering,
    ) -> Result<Option<Arc<Event>>> {
        let event = event_if(self, wants_event, kind);
        place(self, kind, command, &mut waits, order, event.as_ref())?;
        Ok(event)
    }

    /// `clFlush`: submits what is recorded.
    pub fn flush(&self) {
        submit_open(self, &mut self.lock());
    }

    /// `clFinish`: blocks until every command enqueued so far is done.
    ///
    /// # Errors
    /// The device was lost, a submission has failed, or a kernel has lost iterations.
    pub fn finish(self: &Arc<Self>) -> Result<()> {
        host_wait::wait_for_everything(self)?;
        if self.losses.take() {
            return Err(Error::out_of_resources("a kernel has lost iterations"));
        }
        Ok(())
    }

    /// Lets go of it for the application: what waits in it must still come to an end.
    pub fn abandon(self: &Arc<Self>) {
        completion_thread::abandon(self);
    }

    /// Fails if the queue has: nothing is enqueued any more then.
    ///
    /// # Errors
    /// The device was lost, or a submission has failed.
    fn check(&self) -> Result<()> {
        if !self.progress.failure().is_broken() {
            return Ok(());
        }
        let message = "an earlier submission of the queue failed, or the device was lost";
        Err(Error::out_of_resources(message))
    }

    /// Blocks until the device is done with what is submitted, and completes none of it.
    #[cfg(test)]
    pub(super) fn wait_for_device(&self) {
        let submitted = self.progress.submitted();
        self.progress.wait_asleep(submitted).unwrap();
    }

    /// Locks its state.
    #[inline]
    pub(super) fn lock(&self) -> Locked<'_> {
        self.state.lock()
    }

    /// Locks its state to enqueue a command, or to have the host carry one out: not while another thread has its enqueue lock.
    #[inline]
    pub(super) fn lock_to_enqueue(&self) -> Locked<'_> {
        self.state.lock_to_enqueue()
    }
}

impl Submitter for Queue {
    fn settle(&self, patience: Duration) -> bool {
        self.progress.settle(patience)
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
