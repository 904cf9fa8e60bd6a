//! Events (sections 5.11 to 5.14).

use super::error::{Error, Result};
use super::out::{Info, Written};
use super::{context, handle};
use crate::runtime::event::Event;
use crate::runtime::object::callback::{EventNotify, UserData};
use crate::runtime::object::registry::Object;
use crate::runtime::queue::Queue;
use crate::runtime::queue::blocking;
use opencl_sys::{
    CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EVENT_COMMAND_QUEUE, CL_EVENT_COMMAND_TYPE,
    CL_EVENT_CONTEXT, CL_EVENT_REFERENCE_COUNT, CL_INVALID_CONTEXT, CL_INVALID_EVENT,
    CL_PROFILING_COMMAND_COMPLETE, CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_QUEUED,
    CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_INFO_NOT_AVAILABLE,
    CL_RUNNING, CL_SUBMITTED, cl_context, cl_event, cl_event_info, cl_int, cl_profiling_info,
    cl_uint,
};
use std::ffi::c_void;
use std::sync::Arc;

/// `clWaitForEvents`
///
/// # Safety
/// `event_list` is NULL or holds `num_events` handles.
pub unsafe fn wait_for_events(num_events: cl_uint, event_list: *const cl_event) -> Result<()> {
    // "CL_INVALID_VALUE if num_events is zero or event_list is NULL."
    if num_events == 0 || event_list.is_null() {
        return Err(Error::invalid_value(
            "num_events is 0 or event_list is NULL",
        ));
    }
    // "CL_INVALID_EVENT if event objects specified in event_list are not valid event objects."
    // SAFETY: the caller's promise.
    let events = unsafe { handle::get_list::<Event>(num_events, event_list, "event_list") }?;
    // "CL_INVALID_CONTEXT if events specified in event_list do not belong to the same context."
    let same = events
        .windows(2)
        .all(|pair| Arc::ptr_eq(pair[0].context(), pair[1].context()));
    if !same {
        return Err(Error::new(
            CL_INVALID_CONTEXT,
            "the events belong to different contexts",
        ));
    }
    // "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the execution status of any of the events in
    // event_list is a negative integer value."
    blocking::wait_for_all(&events)
}

/// `clGetEventInfo`
pub fn get_event_info(event: cl_event, param_name: cl_event_info, info: Info) -> Result<Written> {
    let event: Arc<Event> = handle::get(event)?;
    match param_name {
        // "… for events returned by a command-buffer enqueue operation to multiple command-queues, NULL is
        // returned."
        CL_EVENT_COMMAND_QUEUE => {
            let queue = Queue::of(&event).filter(|_| !event.spans_queues());
            info.handle_or_null(queue.as_deref())
        }
        CL_EVENT_CONTEXT => info.handle(&**event.context()),
        CL_EVENT_COMMAND_TYPE => info.value(event.kind()),
        CL_EVENT_COMMAND_EXECUTION_STATUS => info.value(event.status()),
        CL_EVENT_REFERENCE_COUNT => info.value(event.handle().references()),
        _ => Err(Error::unknown_query(param_name)),
    }
}

/// `clRetainEvent`
pub fn retain_event(event: cl_event) -> Result<()> {
    handle::retain::<Event>(event)
}

/// `clReleaseEvent`
pub fn release_event(event: cl_event) -> Result<()> {
    handle::release::<Event>(event)
}

/// `clGetEventProfilingInfo`
pub fn get_event_profiling_info(
    event: cl_event,
    param_name: cl_profiling_info,
    info: Info,
) -> Result<Written> {
    let event: Arc<Event> = handle::get(event)?;
    // "CL_PROFILING_INFO_NOT_AVAILABLE if the CL_QUEUE_PROFILING_ENABLE flag is not set for the
    // command-queue, if the execution status of the command identified by event is not CL_COMPLETE or if
    // event is a user event object."
    let unavailable = |reason| Error::new(CL_PROFILING_INFO_NOT_AVAILABLE, reason);
    let queue = Queue::of(&event).ok_or_else(|| unavailable("a user event"))?;
    if !queue.has_profiling() {
        return Err(unavailable("the queue has no CL_QUEUE_PROFILING_ENABLE"));
    }
    if event.status() != CL_COMPLETE {
        return Err(unavailable("the command is not complete"));
    }
    let profile = event
        .profile()
        .ok_or_else(|| unavailable("the command is not complete"))?;
    let time_ns = match param_name {
        CL_PROFILING_COMMAND_QUEUED => profile.queued_ns,
        CL_PROFILING_COMMAND_SUBMIT => profile.submit_ns,
        CL_PROFILING_COMMAND_START => profile.start_ns,
        // There are no child commands that could end later.
        CL_PROFILING_COMMAND_END | CL_PROFILING_COMMAND_COMPLETE => profile.end_ns,
        _ => return Err(Error::unknown_query(param_name)),
    };
    info.value(time_ns)
}

/// `clSetEventCallback`
pub fn set_event_callback(
    event: cl_event,
    command_exec_callback_type: cl_int,
    pfn_notify: EventNotify,
    user_data: *mut c_void,
) -> Result<()> {
    let event: Arc<Event> = handle::get(event)?;
    // "CL_INVALID_VALUE if pfn_event_notify is NULL or if command_exec_callback_type is not CL_SUBMITTED,
    // CL_RUNNING, or CL_COMPLETE."
    if pfn_notify.is_none() {
        return Err(Error::invalid_value("pfn_notify is NULL"));
    }
    if ![CL_SUBMITTED, CL_RUNNING, CL_COMPLETE].contains(&command_exec_callback_type) {
        return Err(Error::invalid_value(format!(
            "command_exec_callback_type {command_exec_callback_type} is not a state to call back for"
        )));
    }
    event.on_status(command_exec_callback_type, pfn_notify, UserData(user_data));
    Ok(())
}

/// `clCreateUserEvent`
pub fn create_user_event(context: cl_context) -> Result<cl_event> {
    let context = context::get(context)?;
    Ok(handle::create(Event::of_user(&context)))
}

/// `clSetUserEventStatus`
pub fn set_user_event_status(event: cl_event, execution_status: cl_int) -> Result<()> {
    // "CL_INVALID_EVENT if event is not a valid user event object."
    let event: Arc<Event> = handle::get(event)?;
    if !event.is_user() {
        return Err(Error::new(CL_INVALID_EVENT, "event is not a user event"));
    }
    // "CL_INVALID_VALUE if the execution_status is not CL_COMPLETE or a negative integer value."
    if execution_status > CL_COMPLETE {
        return Err(Error::invalid_value(format!(
            "execution_status {execution_status} is neither CL_COMPLETE nor negative"
        )));
    }
    // "CL_INVALID_OPERATION if the execution_status for event has already been changed by a previous call"
    event.set_user_status(execution_status)
}
