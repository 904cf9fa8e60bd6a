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
use super::kernel::Kernel;
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

impl Queue {
    /// Enqueues the launch of a kernel; `kind` is what its event says it is, which is made if `wants_event`.
    ///
    /// # Errors
    /// As `clEnqueueNDRangeKernel`; what is wrong with the wait list comes after what is wrong with the launch.
    pub fn launch(
        self: &Arc<Self>,
        kind: cl_command_type,
        kernel: &Kernel,
        range: &NdRange,
        late: &mut LateWaits,
        wants_event: bool,
    ) -> Result<Option<Arc<Event>>> {
        // What is let go of here may call the application: when the kernel is locked no longer.
        let addressed = Addressed::new(self);
        let (mut dispatch, mut block) = (Dispatch::default(), Block::default());
        let mut rest = Rest::default();
        let (place, code) = dispatch::code(kernel, self)?;
        if printf::is_used(code.compiled()) && !range.is_empty() {
            // Before the kernel is locked: it may have to wait for earlier commands, whose end calls the application.
            dispatch.printf = Some(printf::Output::new(self, code)?);
        }
        let order = Ordering::default();
        let mut state = kernel.lock();
        let mut launch = Launch::new(&mut dispatch, &mut block, code, range);
        launch.prepare(kernel, &mut state, place, &addressed)?;
        let LateWaits { waits, fault } = late;
        if let Some(fault) = fault.take() {
            return Err(fault);
        }
        if addressed.matter() {
            launch.complete();
            drop(state);
            let mut command = Command::Dispatch(dispatch);
            self.bring_for_launch(&mut command, &mut waits.events)?;
            let waits = std::mem::take(waits);
            return self.enqueue_if(wants_event, kind, &mut command, waits, order);
        }
        let event = self.event_if(wants_event, kind);
        if self.record_now(&mut launch, waits, order, event.as_ref(), &mut rest)? {
            drop(state);
            rest.finish(self);
            return Ok(event);
        }
        launch.complete();
        drop(state);
        let its = event
            .as_ref()
            .map_or_else(|| self.new_event(kind), Arc::clone);
        let waits = std::mem::take(waits);
        self.hold(Command::Dispatch(dispatch), its, waits, order);
        Ok(event)
    }

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
