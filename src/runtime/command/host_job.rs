//! Commands that the host carries out, in their turn among the queue's commands.
//!
//! Such a command is two: the first, without work for the device, does the job when its batch is done. The
//! second, whose event the application gets, waits for a user event that the job completes; in order, everything
//! after it waits as well.

use super::Command;
use crate::runtime::context::Context;
use crate::runtime::event::Event;
use crate::runtime::host::notifier;
use crate::runtime::object::error::Result;
use opencl_sys::{CL_COMPLETE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST};
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
    pub(in crate::runtime) fn begin(self, context: &Arc<Context>) -> (Command, Arc<Event>) {
        let (key, gate) = Gate::new(context);
        let call: Box<dyn FnOnce() + Send> = match self {
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
        (Command::Call(call), gate)
    }
}
