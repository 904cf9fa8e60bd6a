//! Rectangles of buffers.

use super::error::{Error, Result};
use super::out::EventArguments;
use opencl_sys::{CL_INVALID_OPERATION, cl_bool, cl_command_queue, cl_mem};
use std::ffi::c_void;

/// `clEnqueueReadBufferRect`
pub fn enqueue_read_buffer_rect(
    _command_queue: cl_command_queue,
    _buffer: cl_mem,
    _blocking_read: cl_bool,
    _buffer_origin: *const usize,
    _host_origin: *const usize,
    _region: *const usize,
    _buffer_row_pitch: usize,
    _buffer_slice_pitch: usize,
    _host_row_pitch: usize,
    _host_slice_pitch: usize,
    _ptr: *mut c_void,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueWriteBufferRect`
pub fn enqueue_write_buffer_rect(
    _command_queue: cl_command_queue,
    _buffer: cl_mem,
    _blocking_write: cl_bool,
    _buffer_origin: *const usize,
    _host_origin: *const usize,
    _region: *const usize,
    _buffer_row_pitch: usize,
    _buffer_slice_pitch: usize,
    _host_row_pitch: usize,
    _host_slice_pitch: usize,
    _ptr: *const c_void,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueCopyBufferRect`
pub fn enqueue_copy_buffer_rect(
    _command_queue: cl_command_queue,
    _src_buffer: cl_mem,
    _dst_buffer: cl_mem,
    _src_origin: *const usize,
    _dst_origin: *const usize,
    _region: *const usize,
    _src_row_pitch: usize,
    _src_slice_pitch: usize,
    _dst_row_pitch: usize,
    _dst_slice_pitch: usize,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
