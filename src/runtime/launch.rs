//! Enqueueing the launch of a kernel.
//!
//! Most launches are recorded at once: from the kernel that they lie in, which stays locked meanwhile. To make a command
//! of each that could wait, and drop it, takes as long as the rest. The lock of a kernel comes before that of a queue.

use std::sync::Arc;

use opencl_sys::cl_command_type;

use super::batch::{Accesses, Batch};
use super::command::{Command, Dispatch, Ordering};
use super::dispatch::{self, Block, Launch, NdRange};
use super::error::Result;
use super::event::Event;
use super::indirect::Addressed;
use super::kernel::{DeviceCode, Kernel};
use super::printf;
use super::queue::{LateWaits, Queue, Rest};
use super::residence::WaitList;
use super::work::{Nature, Work};

impl Work for Launch<'_> {
    fn nature(&self) -> Nature {
        Nature {
            is_kernel: true,
            ..Nature::default()
        }
    }

    fn add_accesses(&self, accesses: &mut Accesses) -> bool {
        self.dispatch().add_accesses(accesses)
    }

    fn record(&mut self, batch: &mut Batch) -> Result<()> {
        batch.record_launch(self)
    }
}

/// A kernel and the queue that it is to run on. Both are the application's for the length of its call ([`Borrowed`]).
///
/// [`Borrowed`]: super::object::Borrowed
pub struct LaunchTarget<'a> {
    queue: &'a Arc<Queue>,
    kernel: &'a Arc<Kernel>,
    code: DeviceCode<'a>,
}

impl<'a> LaunchTarget<'a> {
    /// # Errors
    /// As [`dispatch::code`].
    pub fn new(queue: &'a Arc<Queue>, kernel: &'a Arc<Kernel>) -> Result<Self> {
        Ok(Self {
            queue,
            kernel,
            code: dispatch::code(kernel, queue)?,
        })
    }

    /// Enqueues the launch of a kernel, all of whose arguments are set; `kind` is what its event says it is, which is made
    /// if `wants_event`.
    ///
    /// # Errors
    /// As `clEnqueueNDRangeKernel`; what is wrong with the wait list comes after what is wrong with the launch.
    pub fn launch(
        &self,
        kind: cl_command_type,
        range: &NdRange,
        late: &mut LateWaits,
        wants_event: bool,
    ) -> Result<Option<Arc<Event>>> {
        let &Self {
            queue,
            kernel,
            code,
        } = self;
        // What is let go of here may call the application: when the kernel is locked no longer.
        let addressed = Addressed::new(queue);
        let (mut dispatch, mut block) = (Dispatch::default(), Block::default());
        let mut rest = Rest::default();
        let mut _kept = None;
        if printf::is_used(code.compiled) && !range.is_empty() {
            // Before the kernel is locked: it may have to wait for earlier commands, whose end calls the application.
            _kept = Some((Arc::clone(queue), Arc::clone(kernel)));
            dispatch.printf = Some(printf::Output::new(queue, code.code)?);
        }
        let order = Ordering::default();
        let mut state = kernel.lock();
        let mut launch = Launch::new(&mut dispatch, &mut block, code, range);
        launch.prepare(&mut state, &addressed)?;
        let LateWaits { waits, fault } = late;
        if let Some(fault) = fault.take() {
            return Err(fault);
        }
        if addressed.matter() {
            launch.complete();
            drop(state);
            let queue = Arc::clone(queue);
            let mut command = Command::Dispatch(dispatch);
            queue.bring_for_launch(&mut command, &mut waits.events)?;
            let waits = std::mem::take(waits);
            return queue.enqueue_if(wants_event, kind, &mut command, waits, order);
        }
        let event = queue.event_if(wants_event, kind);
        if queue.record_now(&mut launch, waits, order, event.as_ref(), &mut rest)? {
            drop(state);
            rest.finish(queue);
            return Ok(event);
        }
        launch.complete();
        drop(state);
        let queue = Arc::clone(queue);
        let its = event
            .as_ref()
            .map_or_else(|| queue.new_event(kind), Arc::clone);
        let waits = std::mem::take(waits);
        queue.hold(Command::Dispatch(dispatch), its, waits, order);
        Ok(event)
    }
}

impl Queue {
    /// Has what a launch uses brought to the device before it.
    fn bring_for_launch(
        self: &Arc<Self>,
        command: &mut Command,
        wait_list: &mut WaitList,
    ) -> Result<()> {
        let mut uses = command.take_uses();
        if matches!(command, Command::Dispatch(dispatch) if dispatch.uses_any_address) {
            uses.extend(self.context().addressed_uses());
        }
        self.bring(&uses, wait_list)
    }
}
