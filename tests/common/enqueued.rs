//! What calls that enqueue are given and answer, where `opencl3` has no wrapper for them.

use opencl_sys::{CL_SUCCESS, cl_event, cl_int, cl_uint};
use opencl3::event::Event;
use std::ptr;

/// A wait list as a call gets it.
pub type List = (cl_uint, *const cl_event);

pub const NO_LIST: List = (0, ptr::null());
/// `CL_INVALID_EVENT_WAIT_LIST`
pub const BAD_LIST: List = (1, ptr::null());

/// The event, or the error.
pub fn ended(code: cl_int, event: cl_event) -> Result<Event, cl_int> {
    match code {
        CL_SUCCESS => Ok(Event::new(event)),
        code => {
            assert!(event.is_null());
            Err(code)
        }
    }
}
