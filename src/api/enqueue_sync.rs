//! Markers and barriers.

use super::error::{Error, Result};
use super::out::EventArguments;
use opencl_sys::{CL_INVALID_OPERATION, cl_command_queue, cl_event, cl_uint};

/// `clEnqueueMarker`
pub fn enqueue_marker(_command_queue: cl_command_queue, _event: *mut cl_event) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueWaitForEvents`
pub fn enqueue_wait_for_events(
    _command_queue: cl_command_queue,
    _num_events: cl_uint,
    _event_list: *const cl_event,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueBarrier`
pub fn enqueue_barrier(_command_queue: cl_command_queue) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueMarkerWithWaitList`
pub fn enqueue_marker_with_wait_list(
    _command_queue: cl_command_queue,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueBarrierWithWaitList`
pub fn enqueue_barrier_with_wait_list(
    _command_queue: cl_command_queue,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
