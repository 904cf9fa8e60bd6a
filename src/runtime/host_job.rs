//! Commands that the host carries out, in their turn among the queue's commands.
//!
//! Such a command is two: the first, without work for the device, does the job when its batch is done. The
//! second, whose event the application gets, is held by a user event that the job opens; in order, everything
//! after it is held as well.

use super::command::{Command, Dispatch, Ordering};
use super::context::Context;
use super::error::Result;
use super::event::{Event, Stage};
use super::notifier;
use super::queue::{Queue, Waits};
use super::transfer::{done_on_host, finish_blocking, wait_for_all};
use super::turn::Turn;
use crate::vulkan::timestamps::host_now_ns;
use opencl_sys::{CL_COMPLETE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, cl_command_type};
use std::sync::Arc;

/// Work that calls no application.
pub type OwnJob = Box<dyn FnOnce() -> Result<()> + Send>;

/// What is to be done.
pub enum HostJob {
    /// Work of our own: runs on whatever thread sees that its turn has come. If it fails, so does the command.
    Own(OwnJob),
    /// Calls the application: runs on the thread for that.
    CallsApplication(Box<dyn FnOnce() + Send>),
}

/// A user event that holds a command back. Dropped unopened (what was to open it failed), it fails.
pub struct Gate(Option<Arc<Event>>);

impl Gate {
    /// A closed gate, and its event.
    pub fn new(context: &Arc<Context>) -> (Self, Arc<Event>) {
        let event = Event::of_user(context);
        (Self(Some(Arc::clone(&event))), event)
    }

    /// Completes the event.
    pub fn open(mut self) {
        if let Some(event) = self.0.take()
            && let Err(error) = event.set_user_status(CL_COMPLETE)
        {
            log::error!("a host command: {error}");
        }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        if let Some(event) = self.0.take() {
            // Commands are dropped under a queue's lock.
            notifier::send(Box::new(move || {
                let status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
                if let Err(error) = event.set_user_status(status) {
                    log::error!("a host command: {error}");
                }
            }));
        }
    }
}

impl HostJob {
    /// The first of the two commands, and the user event that holds the second.
    pub(super) fn begin(self, context: &Arc<Context>) -> (Command, Arc<Event>) {
        let (key, gate) = Gate::new(context);
        let on_complete: Box<dyn FnOnce() + Send> = match self {
            Self::Own(job) => Box::new(move || match job() {
                Ok(()) => key.open(),
                Err(error) => log::error!("a host command failed: {error}"),
            }),
            Self::CallsApplication(job) => Box::new(move || {
                notifier::send(Box::new(move || {
                    job();
                    key.open();
                }));
            }),
        };
        let first = Command::Dispatch(Dispatch {
            on_complete: Some(on_complete),
            ..Dispatch::default()
        });
        (first, gate)
    }
}

impl Queue {
    /// Enqueues `job`, whose event says it is a `kind`.
    ///
    /// # Errors
    /// Memory ran out, or the device was lost; of a blocking call also
    /// `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST`.
    pub fn enqueue_host_job(
        self: &Arc<Self>,
        kind: cl_command_type,
        job: HostJob,
        blocking: bool,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        if blocking {
            wait_for_all(wait_list)?;
            if self.is_in_order() {
                self.finish_before()?;
            }
        }
        // Nobody comes between its two commands, or while the host carries it out.
        let turn = Turn::take([self]);
        let job = match job {
            HostJob::Own(job) if self.is_turn_of_host(wait_list) => {
                let event = Event::of_command(self, kind, host_now_ns());
                let start_ns = host_now_ns();
                job()?;
                return Ok(done_on_host(event, start_ns));
            }
            job => job,
        };
        let (first, gate) = job.begin(self.context());
        self.enqueue(kind, first, Waits::on(wait_list), Ordering::default())?;
        self.flush();
        // Nobody waits for the first command.
        self.watch();
        let waits = Waits::on(&[gate]);
        let event = self.enqueue(kind, Command::Nothing, waits, Ordering::default())?;
        drop(turn);
        if blocking {
            finish_blocking(&event)?;
        }
        Ok(event)
    }

    /// Whether a command with this wait list could be carried out at once.
    fn is_turn_of_host(self: &Arc<Self>, wait_list: &[Arc<Event>]) -> bool {
        let is_done = |event: &Arc<Event>| event.stage() == Stage::Done(CL_COMPLETE);
        if !wait_list.iter().all(is_done) {
            return false;
        }
        // After a barrier even a command of an out-of-order queue has to wait.
        self.retire();
        let state = self.lock();
        state.is_idle() && state.holds_nothing()
    }
}
