//! Recording commands on images.

use super::super::error::Result;
use super::super::image_transfer::{
    CopyBufferToImage, CopyImage, CopyImageToBuffer, FillImage, ImageCommand,
};
use super::arguments::{SyncPointArguments, record_transfer};
use opencl_sys::{cl_command_buffer_khr, cl_command_properties_khr, cl_command_queue, cl_mem};
use std::ffi::c_void;

/// `clCommandCopyBufferToImageKHR`
///
/// # Safety
/// `properties` is NULL or ends with 0; origins and regions are NULL or three numbers, `fill_color` NULL or a
/// colour of the image's format.
pub unsafe fn command_copy_buffer_to_image(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    src_buffer: cl_mem,
    dst_image: cl_mem,
    src_offset: usize,
    dst_origin: *const usize,
    region: *const usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    let command = CopyBufferToImage {
        src_buffer,
        dst_image,
        src_offset,
        dst_origin,
        region,
    };
    let target = (command_buffer, command_queue, properties);
    // SAFETY: the caller's promise.
    unsafe { record(target, command, arguments) }
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
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    let command = CopyImage {
        src_image,
        dst_image,
        src_origin,
        dst_origin,
        region,
    };
    let target = (command_buffer, command_queue, properties);
    // SAFETY: the caller's promise.
    unsafe { record(target, command, arguments) }
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
    src_origin: *const usize,
    region: *const usize,
    dst_offset: usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    let command = CopyImageToBuffer {
        src_image,
        dst_buffer,
        src_origin,
        region,
        dst_offset,
    };
    let target = (command_buffer, command_queue, properties);
    // SAFETY: the caller's promise.
    unsafe { record(target, command, arguments) }
}

/// `clCommandFillImageKHR`
///
/// # Safety
/// As [`command_copy_buffer_to_image`].
pub unsafe fn command_fill_image(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    image: cl_mem,
    fill_color: *const c_void,
    origin: *const usize,
    region: *const usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    let command = FillImage {
        image,
        fill_color,
        origin,
        region,
    };
    let target = (command_buffer, command_queue, properties);
    // SAFETY: the caller's promise.
    unsafe { record(target, command, arguments) }
}

/// # Safety
/// The properties are NULL or end with 0; otherwise as [`ImageCommand::check`].
unsafe fn record(
    (command_buffer, command_queue, properties): (
        cl_command_buffer_khr,
        cl_command_queue,
        *const cl_command_properties_khr,
    ),
    command: impl ImageCommand,
    arguments: SyncPointArguments,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        record_transfer(
            command_buffer,
            command_queue,
            properties,
            arguments,
            |queue, wait_list| command.check(queue, wait_list),
        )
    }
}
