//! Commands on images.

use super::error::{Error, Result};
use super::out::EventArguments;
use opencl_sys::{CL_INVALID_OPERATION, cl_bool, cl_command_queue, cl_map_flags, cl_mem};
use std::ffi::c_void;

/// `clEnqueueReadImage`
pub fn enqueue_read_image(
    _command_queue: cl_command_queue,
    _image: cl_mem,
    _blocking_read: cl_bool,
    _origin: *const usize,
    _region: *const usize,
    _row_pitch: usize,
    _slice_pitch: usize,
    _ptr: *mut c_void,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueWriteImage`
pub fn enqueue_write_image(
    _command_queue: cl_command_queue,
    _image: cl_mem,
    _blocking_write: cl_bool,
    _origin: *const usize,
    _region: *const usize,
    _input_row_pitch: usize,
    _input_slice_pitch: usize,
    _ptr: *const c_void,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueCopyImage`
pub fn enqueue_copy_image(
    _command_queue: cl_command_queue,
    _src_image: cl_mem,
    _dst_image: cl_mem,
    _src_origin: *const usize,
    _dst_origin: *const usize,
    _region: *const usize,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueCopyImageToBuffer`
pub fn enqueue_copy_image_to_buffer(
    _command_queue: cl_command_queue,
    _src_image: cl_mem,
    _dst_buffer: cl_mem,
    _src_origin: *const usize,
    _region: *const usize,
    _dst_offset: usize,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueCopyBufferToImage`
pub fn enqueue_copy_buffer_to_image(
    _command_queue: cl_command_queue,
    _src_buffer: cl_mem,
    _dst_image: cl_mem,
    _src_offset: usize,
    _dst_origin: *const usize,
    _region: *const usize,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueMapImage`
pub fn enqueue_map_image(
    _command_queue: cl_command_queue,
    _image: cl_mem,
    _blocking_map: cl_bool,
    _map_flags: cl_map_flags,
    _origin: *const usize,
    _region: *const usize,
    _image_row_pitch: *mut usize,
    _image_slice_pitch: *mut usize,
    _events: EventArguments,
) -> Result<*mut c_void> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueFillImage`
pub fn enqueue_fill_image(
    _command_queue: cl_command_queue,
    _image: cl_mem,
    _fill_color: *const c_void,
    _origin: *const usize,
    _region: *const usize,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
