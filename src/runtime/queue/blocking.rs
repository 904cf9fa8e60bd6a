//! Calls that return when their command is done.

use super::Queue;
use super::host_wait::wait_for_everything;
use super::submit::flush_to;
use super::times::trace_host_command;
use crate::runtime::event::{Event, Stage};
use crate::runtime::object::error::{Error, Result};
use crate::vulkan::timestamps::host_now_ns;
use opencl_sys::{CL_COMPLETE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST};
use std::sync::Arc;

/// Blocks for the wait list of a blocking call.
///
/// # Errors
/// `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST`
pub fn wait_for_all(wait_list: &[Arc<Event>]) -> Result<()> {
    let mut failed = false;
    for event in wait_list {
        if let (Some(queue), Stage::Issued { value, .. }) = (Queue::of(event), event.stage()) {
            flush_to(&queue, value);
        }
    }
    for event in wait_list {
        if event.wait() < 0 {
            failed = true;
            Queue::of(event).map(|queue| queue.losses.take());
        }
    }
    if failed {
        // "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the read and write operations are blocking and
        // the execution status of any of the events in event_wait_list is a negative integer value."
        return Err(Error::new(
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
            "an event of event_wait_list failed",
        ));
    }
    Ok(())
}

/// Blocks until the command of a blocking call is done.
///
/// # Errors
/// The command's, or that a kernel before it has lost iterations.
pub(in crate::runtime) fn finish_blocking(event: &Event) -> Result<()> {
    let status = event.wait();
    let mut queue = Queue::of(event).into_iter();
    if queue.any(|queue| (status < 0 || queue.is_in_order()) && queue.losses.take()) {
        return Err(error_of_blocking_call());
    }
    match status {
        status if status < 0 => Err(Error::new(status, "the command failed")),
        _ => Ok(()),
    }
}

/// Completes the event of a command that the host has carried out since `start_ns`.
pub(in crate::runtime) fn done_on_host(event: Event, start_ns: u64) -> Arc<Event> {
    let event = Arc::new(event);
    event
        .finish(CL_COMPLETE, Some((start_ns, host_now_ns())))
        .run();
    if let Some(queue) = Queue::of(&event) {
        trace_host_command(&queue, &event, start_ns);
    }
    event
}

/// Blocks until every command enqueued so far is done, for a blocking command that comes behind all of them.
///
/// # Errors
/// The device was lost, or a kernel has lost iterations.
pub(in crate::runtime) fn finish_before(queue: &Arc<Queue>) -> Result<()> {
    wait_for_everything(queue)?;
    if queue.losses.take() {
        return Err(error_of_blocking_call());
    }
    Ok(())
}

/// What a blocking call fails with behind a kernel that has lost iterations.
///
/// Not `CL_OUT_OF_RESOURCES`, which some take for a lack of memory: PyOpenCL lets go of what it can and calls again, and
/// that call would succeed, with wrong data.
fn error_of_blocking_call() -> Error {
    Error::new(
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        "a kernel before it has lost iterations",
    )
}
