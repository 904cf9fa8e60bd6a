//! Recording commands on images.

use super::super::error::{Error, Result};
use super::super::{enqueue, handle};
use super::arguments::{Recording, SyncPointArguments};
use crate::runtime::memory::Memory;
use opencl_sys::{
    CL_INVALID_CONTEXT, CL_INVALID_MEM_OBJECT, cl_command_buffer_khr, cl_command_properties_khr,
    cl_command_queue, cl_mem,
};
use std::ffi::c_void;
use std::sync::Arc;

/// "CL_INVALID_CONTEXT if the context associated with command_buffer, … and … is not the same.",
/// "CL_INVALID_MEM_OBJECT if … is not a valid image object": no device makes images yet.
fn image(recording: &Recording, image: cl_mem) -> Result<()> {
    let memory: Arc<Memory> = handle::get(image)?;
    if !Arc::ptr_eq(memory.context(), recording.buffer.context()) {
        return Err(Error::new(
            CL_INVALID_CONTEXT,
            "the image and the command buffer belong to different contexts",
        ));
    }
    Err(Error::unsupported(CL_INVALID_MEM_OBJECT, "images"))
}

/// `clCommandCopyBufferToImageKHR`
///
/// # Safety
/// `properties` is NULL or ends with 0.
pub unsafe fn command_copy_buffer_to_image(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    src_buffer: cl_mem,
    dst_image: cl_mem,
    _src_offset: usize,
    _dst_origin: *const usize,
    _region: *const usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let recording =
        unsafe { Recording::begin(command_buffer, command_queue, properties, arguments) }?;
    enqueue::memory(&recording.queue, src_buffer)?;
    image(&recording, dst_image)
}

/// `clCommandCopyImageKHR`
///
/// # Safety
/// As [`command_copy_buffer_to_image`].
pub unsafe fn command_copy_image(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    src_image: cl_mem,
    dst_image: cl_mem,
    _src_origin: *const usize,
    _dst_origin: *const usize,
    _region: *const usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let recording =
        unsafe { Recording::begin(command_buffer, command_queue, properties, arguments) }?;
    image(&recording, src_image)?;
    image(&recording, dst_image)
}

/// `clCommandCopyImageToBufferKHR`
///
/// # Safety
/// As [`command_copy_buffer_to_image`].
pub unsafe fn command_copy_image_to_buffer(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    src_image: cl_mem,
    dst_buffer: cl_mem,
    _src_origin: *const usize,
    _region: *const usize,
    _dst_offset: usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let recording =
        unsafe { Recording::begin(command_buffer, command_queue, properties, arguments) }?;
    image(&recording, src_image)?;
    enqueue::memory(&recording.queue, dst_buffer).map(drop)
}

/// `clCommandFillImageKHR`
///
/// # Safety
/// As [`command_copy_buffer_to_image`].
pub unsafe fn command_fill_image(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    image_handle: cl_mem,
    _fill_color: *const c_void,
    _origin: *const usize,
    _region: *const usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let recording =
        unsafe { Recording::begin(command_buffer, command_queue, properties, arguments) }?;
    image(&recording, image_handle)
}
