//! Markers and barriers (section 5.13).

use super::error::{Error, Result};
use super::out::{EventArguments, Out};
use super::{enqueue, handle};
use crate::runtime::command::{Command, Ordering};
use crate::runtime::event::Event;
use crate::runtime::event::waits::Waits;
use crate::runtime::queue::Queue;
use opencl_sys::{
    CL_COMMAND_BARRIER, CL_COMMAND_MARKER, CL_INVALID_CONTEXT, cl_command_queue, cl_command_type,
    cl_event, cl_uint,
};
use std::sync::Arc;

/// `clEnqueueMarker`
///
/// # Safety
/// `event` is NULL or writable.
pub unsafe fn enqueue_marker(command_queue: cl_command_queue, event: *mut cl_event) -> Result<()> {
    let queue = enqueue::queue(command_queue)?;
    // "CL_INVALID_VALUE if event is a NULL value"
    // SAFETY: the caller's promise.
    let mut out = unsafe { Out::new(event) };
    if out.is_null() {
        return Err(Error::invalid_value("event is NULL"));
    }
    let event = sync(&queue, CL_COMMAND_MARKER, &[])?;
    out.write(handle::create(event));
    Ok(())
}

/// `clEnqueueWaitForEvents`
///
/// # Safety
/// `event_list` is NULL or holds `num_events` handles.
pub unsafe fn enqueue_wait_for_events(
    command_queue: cl_command_queue,
    num_events: cl_uint,
    event_list: *const cl_event,
) -> Result<()> {
    let queue = enqueue::queue(command_queue)?;
    // "CL_INVALID_VALUE if num_events is zero or event_list is NULL"
    if num_events == 0 || event_list.is_null() {
        return Err(Error::invalid_value(
            "num_events is 0 or event_list is NULL",
        ));
    }
    // "CL_INVALID_EVENT if event objects specified in event_list are not valid events"
    // SAFETY: the caller's promise.
    let events = unsafe { handle::get_list::<Event>(num_events, event_list, "event_list") }?;
    // "CL_INVALID_CONTEXT if the context associated with command_queue and events in event_list are not the
    // same"
    if events
        .iter()
        .any(|event| !Arc::ptr_eq(event.context(), queue.context()))
    {
        return Err(Error::new(
            CL_INVALID_CONTEXT,
            "event_list and command_queue belong to different contexts",
        ));
    }
    sync(&queue, CL_COMMAND_BARRIER, &events).map(drop)
}

/// `clEnqueueBarrier`
pub fn enqueue_barrier(command_queue: cl_command_queue) -> Result<()> {
    let queue = enqueue::queue(command_queue)?;
    sync(&queue, CL_COMMAND_BARRIER, &[]).map(drop)
}

/// `clEnqueueMarkerWithWaitList`
pub fn enqueue_marker_with_wait_list(
    command_queue: cl_command_queue,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue(command_queue)?;
    let wait_list = enqueue::wait_list(&queue, &events)?;
    let event = sync(&queue, CL_COMMAND_MARKER, &wait_list)?;
    events.give(event);
    Ok(())
}

/// `clEnqueueBarrierWithWaitList`
pub fn enqueue_barrier_with_wait_list(
    command_queue: cl_command_queue,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue(command_queue)?;
    let wait_list = enqueue::wait_list(&queue, &events)?;
    let event = sync(&queue, CL_COMMAND_BARRIER, &wait_list)?;
    events.give(event);
    Ok(())
}

/// "If event_wait_list is NULL or empty, … waits until all previous commands complete"; a barrier also
/// "blocks command execution … any following commands".
fn sync(queue: &Arc<Queue>, kind: cl_command_type, wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
    let order = Ordering {
        after_all: wait_list.is_empty(),
        before_all: kind == CL_COMMAND_BARRIER,
        before_waiting: false,
    };
    queue.enqueue(kind, Command::NOTHING, Waits::on(wait_list), order)
}
