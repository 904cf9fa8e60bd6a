//! Calls that return when their command is done.

use super::Queue;
use super::behind_lost::error_of_blocking_call;
use crate::runtime::event::{Event, Stage};
use crate::runtime::object::error::{Error, Result};
use crate::runtime::queue::behind_lost::take_lost;
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
            queue.flush_to(value);
        }
    }
    for event in wait_list {
        if event.wait() < 0 {
            failed = true;
            Queue::of(event).map(|queue| take_lost(&queue));
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
    if queue.any(|queue| (status < 0 || queue.is_in_order()) && take_lost(&queue)) {
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
        queue.trace_host_command(&event, start_ns);
    }
    event
}
