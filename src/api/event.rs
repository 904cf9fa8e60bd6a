//! Events.

use super::error::{Error, Result};
use super::out::{Info, Written};
use crate::runtime::callback::EventNotify;
use opencl_sys::{
    CL_INVALID_OPERATION, cl_context, cl_event, cl_event_info, cl_int, cl_profiling_info, cl_uint,
};
use std::ffi::c_void;

/// `clWaitForEvents`
pub fn wait_for_events(_num_events: cl_uint, _event_list: *const cl_event) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clGetEventInfo`
pub fn get_event_info(
    _event: cl_event,
    _param_name: cl_event_info,
    _info: Info,
) -> Result<Written> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clRetainEvent`
pub fn retain_event(_event: cl_event) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clReleaseEvent`
pub fn release_event(_event: cl_event) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clGetEventProfilingInfo`
pub fn get_event_profiling_info(
    _event: cl_event,
    _param_name: cl_profiling_info,
    _info: Info,
) -> Result<Written> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clSetEventCallback`
pub fn set_event_callback(
    _event: cl_event,
    _command_exec_callback_type: cl_int,
    _pfn_notify: EventNotify,
    _user_data: *mut c_void,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clCreateUserEvent`
pub fn create_user_event(_context: cl_context) -> Result<cl_event> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clSetUserEventStatus`
pub fn set_user_event_status(_event: cl_event, _execution_status: cl_int) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
