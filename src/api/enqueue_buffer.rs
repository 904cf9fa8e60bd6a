//! Reading, writing, copying and filling buffers.

use super::error::{Error, Result};
use super::out::EventArguments;
use opencl_sys::{CL_INVALID_OPERATION, cl_bool, cl_command_queue, cl_mem};
use std::ffi::c_void;

/// `clEnqueueReadBuffer`
pub fn enqueue_read_buffer(
    _command_queue: cl_command_queue,
    _buffer: cl_mem,
    _blocking_read: cl_bool,
    _offset: usize,
    _size: usize,
    _ptr: *mut c_void,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueWriteBuffer`
pub fn enqueue_write_buffer(
    _command_queue: cl_command_queue,
    _buffer: cl_mem,
    _blocking_write: cl_bool,
    _offset: usize,
    _size: usize,
    _ptr: *const c_void,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueCopyBuffer`
pub fn enqueue_copy_buffer(
    _command_queue: cl_command_queue,
    _src_buffer: cl_mem,
    _dst_buffer: cl_mem,
    _src_offset: usize,
    _dst_offset: usize,
    _size: usize,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueFillBuffer`
pub fn enqueue_fill_buffer(
    _command_queue: cl_command_queue,
    _buffer: cl_mem,
    _pattern: *const c_void,
    _pattern_size: usize,
    _offset: usize,
    _size: usize,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
