//! Contexts.

use super::error::{Error, Result};
use super::handle;
use super::out::{Info, Written};
use crate::runtime::callback::{ContextDestructor, ContextNotify};
use crate::runtime::context::Context;
use opencl_sys::{
    CL_INVALID_OPERATION, CL_OUT_OF_RESOURCES, cl_context, cl_context_info, cl_context_properties,
    cl_device_id, cl_device_type, cl_uint,
};
use std::ffi::c_void;
use std::sync::Arc;

/// The context behind a handle: "CL_INVALID_CONTEXT if context is not a valid context."
pub fn get(context: cl_context) -> Result<Arc<Context>> {
    handle::get(context)
}

/// `clCreateContext`
pub fn create_context(
    _properties: *const cl_context_properties,
    _num_devices: cl_uint,
    _devices: *const cl_device_id,
    _pfn_notify: ContextNotify,
    _user_data: *mut c_void,
) -> Result<cl_context> {
    Err(Error::unsupported(CL_OUT_OF_RESOURCES, "contexts"))
}

/// `clCreateContextFromType`
pub fn create_context_from_type(
    _properties: *const cl_context_properties,
    _device_type: cl_device_type,
    _pfn_notify: ContextNotify,
    _user_data: *mut c_void,
) -> Result<cl_context> {
    Err(Error::unsupported(CL_OUT_OF_RESOURCES, "contexts"))
}

/// `clRetainContext`
pub fn retain_context(context: cl_context) -> Result<()> {
    handle::retain::<Context>(context)
}

/// `clReleaseContext`
pub fn release_context(context: cl_context) -> Result<()> {
    handle::release::<Context>(context)
}

/// `clGetContextInfo`
pub fn get_context_info(
    context: cl_context,
    param_name: cl_context_info,
    _info: Info,
) -> Result<Written> {
    get(context)?;
    Err(Error::unknown_query(param_name))
}

/// `clSetContextDestructorCallback`
pub fn set_context_destructor_callback(
    _context: cl_context,
    _pfn_notify: ContextDestructor,
    _user_data: *mut c_void,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "callbacks"))
}
