//! Commands on images. No device supports images, so none of these has anything to work on.

use super::error::{Error, Result};
use super::handle;
use super::out::EventArguments;
use crate::runtime::queue::Queue;
use opencl_sys::{CL_INVALID_OPERATION, cl_bool, cl_command_queue, cl_map_flags, cl_mem};
use std::ffi::c_void;

/// `clEnqueueReadImage` (section 5.3.3)
pub fn enqueue_read_image(
    command_queue: cl_command_queue,
    _image: cl_mem,
    _blocking_read: cl_bool,
    _origin: *const usize,
    _region: *const usize,
    _row_pitch: usize,
    _slice_pitch: usize,
    _ptr: *mut c_void,
    _events: EventArguments,
) -> Result<()> {
    Err(unsupported(command_queue))
}

/// `clEnqueueWriteImage` (section 5.3.3)
pub fn enqueue_write_image(
    command_queue: cl_command_queue,
    _image: cl_mem,
    _blocking_write: cl_bool,
    _origin: *const usize,
    _region: *const usize,
    _input_row_pitch: usize,
    _input_slice_pitch: usize,
    _ptr: *const c_void,
    _events: EventArguments,
) -> Result<()> {
    Err(unsupported(command_queue))
}

/// `clEnqueueCopyImage` (section 5.3.3)
pub fn enqueue_copy_image(
    command_queue: cl_command_queue,
    _src_image: cl_mem,
    _dst_image: cl_mem,
    _src_origin: *const usize,
    _dst_origin: *const usize,
    _region: *const usize,
    _events: EventArguments,
) -> Result<()> {
    Err(unsupported(command_queue))
}

/// `clEnqueueCopyImageToBuffer` (section 5.3.5)
pub fn enqueue_copy_image_to_buffer(
    command_queue: cl_command_queue,
    _src_image: cl_mem,
    _dst_buffer: cl_mem,
    _src_origin: *const usize,
    _region: *const usize,
    _dst_offset: usize,
    _events: EventArguments,
) -> Result<()> {
    Err(unsupported(command_queue))
}

/// `clEnqueueCopyBufferToImage` (section 5.3.5)
pub fn enqueue_copy_buffer_to_image(
    command_queue: cl_command_queue,
    _src_buffer: cl_mem,
    _dst_image: cl_mem,
    _src_offset: usize,
    _dst_origin: *const usize,
    _region: *const usize,
    _events: EventArguments,
) -> Result<()> {
    Err(unsupported(command_queue))
}

/// `clEnqueueMapImage` (section 5.3.6)
pub fn enqueue_map_image(
    command_queue: cl_command_queue,
    _image: cl_mem,
    _blocking_map: cl_bool,
    _map_flags: cl_map_flags,
    _origin: *const usize,
    _region: *const usize,
    _image_row_pitch: *mut usize,
    _image_slice_pitch: *mut usize,
    _events: EventArguments,
) -> Result<*mut c_void> {
    Err(unsupported(command_queue))
}

/// `clEnqueueFillImage` (section 5.3.4)
pub fn enqueue_fill_image(
    command_queue: cl_command_queue,
    _image: cl_mem,
    _fill_color: *const c_void,
    _origin: *const usize,
    _region: *const usize,
    _events: EventArguments,
) -> Result<()> {
    Err(unsupported(command_queue))
}

fn unsupported(command_queue: cl_command_queue) -> Error {
    // "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue."
    if let Err(error) = handle::get::<Queue>(command_queue) {
        return error;
    }
    // "CL_INVALID_OPERATION if the device associated with command_queue does not support images."
    Error::unsupported(CL_INVALID_OPERATION, "images")
}
