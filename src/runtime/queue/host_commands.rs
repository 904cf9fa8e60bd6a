//! Commands that the host carries out, in their turn among the queue's commands: see [`crate::runtime::command::host_job`].

use super::blocking::{done_on_host, finish_before, finish_blocking, wait_for_all};
use super::completion::complete_all;
use super::completion_thread::watch;
use super::enqueue_lock::EnqueueLock;
use super::{Queue, event_of};
use crate::runtime::command::host_job::HostJob;
use crate::runtime::command::{Command, Ordering};
use crate::runtime::event::waits::Waits;
use crate::runtime::event::{Event, Stage};
use crate::runtime::object::error::Result;
use crate::vulkan::timestamps::host_now_ns;
use opencl_sys::{CL_COMPLETE, cl_command_type};
use std::sync::Arc;

/// Enqueues `job`, whose event says it is a `kind`.
///
/// # Errors
/// Memory ran out, or the device was lost; of a blocking call also
/// `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST`.
pub fn enqueue_host_job(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    job: HostJob,
    blocking: bool,
    wait_list: &[Arc<Event>],
) -> Result<Arc<Event>> {
    if blocking {
        wait_for_all(wait_list)?;
        if queue.is_in_order() {
            finish_before(queue)?;
        }
    }
    // Nobody comes between its two commands, or while the host carries it out.
    let lock = EnqueueLock::take([queue]);
    let job = match job {
        HostJob::Own(job) if is_turn_of_host(queue, wait_list) => {
            let event = event_of(queue, kind, host_now_ns());
            let start_ns = host_now_ns();
            job()?;
            return Ok(done_on_host(event, start_ns));
        }
        job => job,
    };
    let (first, gate) = job.begin(queue.context());
    queue.enqueue(kind, first, Waits::on(wait_list), Ordering::default())?;
    queue.flush();
    // Nobody waits for the first command.
    watch(queue);
    let waits = Waits::on(&[gate]);
    let event = queue.enqueue(kind, Command::NOTHING, waits, Ordering::default())?;
    drop(lock);
    if blocking {
        finish_blocking(&event)?;
    }
    Ok(event)
}

/// Whether a command with this wait list could be carried out at once.
fn is_turn_of_host(queue: &Arc<Queue>, wait_list: &[Arc<Event>]) -> bool {
    let is_done = |event: &Arc<Event>| event.stage() == Stage::Done(CL_COMPLETE);
    if !wait_list.iter().all(is_done) {
        return false;
    }
    // After a barrier even a command of an out-of-order queue has to wait.
    complete_all(queue);
    let state = queue.lock();
    state.is_idle() && state.none_waits()
}
