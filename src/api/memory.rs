//! What all memory objects share.

use super::error::{Error, Result};
use super::out::{Info, Written};
use crate::runtime::callback::MemoryDestructor;
use opencl_sys::{CL_INVALID_OPERATION, cl_mem, cl_mem_info};
use std::ffi::c_void;

/// `clRetainMemObject`
pub fn retain_mem_object(_memobj: cl_mem) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clReleaseMemObject`
pub fn release_mem_object(_memobj: cl_mem) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clGetMemObjectInfo`
pub fn get_mem_object_info(
    _memobj: cl_mem,
    _param_name: cl_mem_info,
    _info: Info,
) -> Result<Written> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clSetMemObjectDestructorCallback`
pub fn set_mem_object_destructor_callback(
    _memobj: cl_mem,
    _pfn_notify: MemoryDestructor,
    _user_data: *mut c_void,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
