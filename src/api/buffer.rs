//! Buffers.

use super::error::{Error, Result};
use opencl_sys::{
    CL_INVALID_OPERATION, cl_buffer_create_type, cl_context, cl_mem, cl_mem_flags,
    cl_mem_properties,
};
use std::ffi::c_void;

/// `clCreateBuffer`
pub fn create_buffer(
    _context: cl_context,
    _flags: cl_mem_flags,
    _size: usize,
    _host_ptr: *mut c_void,
) -> Result<cl_mem> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clCreateSubBuffer`
pub fn create_sub_buffer(
    _buffer: cl_mem,
    _flags: cl_mem_flags,
    _buffer_create_type: cl_buffer_create_type,
    _buffer_create_info: *const c_void,
) -> Result<cl_mem> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clCreateBufferWithProperties`
pub fn create_buffer_with_properties(
    _context: cl_context,
    _properties: *const cl_mem_properties,
    _flags: cl_mem_flags,
    _size: usize,
    _host_ptr: *mut c_void,
) -> Result<cl_mem> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
