//! Commands on images (sections 5.3.3 to 5.3.6).

use super::enqueue;
use super::enqueue_map::{check_map_access, check_map_flags};
use super::error::{Error, Result};
use super::image_region::{HostPitches, Region};
use super::image_transfer::{
    CopyBufferToImage, CopyImage, CopyImageToBuffer, FillImage, ImageCommand,
};
use super::out::{EventArguments, Out};
use super::transfer::HostTransfer;
use crate::runtime::host_memory::layout::Shape;
use crate::runtime::host_memory::pointer::HostPointer;
use crate::runtime::transfer::map::{MapRequest, enqueue_map};
use opencl_sys::{
    CL_COMMAND_COPY_BUFFER_TO_IMAGE, CL_COMMAND_COPY_IMAGE, CL_COMMAND_COPY_IMAGE_TO_BUFFER,
    CL_COMMAND_FILL_IMAGE, CL_COMMAND_MAP_IMAGE, CL_COMMAND_READ_IMAGE, CL_COMMAND_WRITE_IMAGE,
    CL_FALSE, cl_bool, cl_command_queue, cl_command_type, cl_map_flags, cl_mem,
};
use std::ffi::c_void;

/// `clEnqueueReadImage` (section 5.3.3)
///
/// # Safety
/// `origin` and `region` are NULL or three numbers (four where [`Region::parse`] says so); `ptr` is writable for
/// the region until the command is complete.
pub unsafe fn enqueue_read_image(
    command_queue: cl_command_queue,
    image: cl_mem,
    blocking_read: cl_bool,
    origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    ptr: *mut c_void,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    let (memory, image) = enqueue::image(&queue, image)?;
    // SAFETY: the caller's promise.
    let region = unsafe { Region::parse(&image, origin, region) }?;
    let host = HostPitches::check(&image, &region, row_pitch, slice_pitch)?;
    let transfer = HostTransfer {
        kind: CL_COMMAND_READ_IMAGE,
        memory,
        shape: Shape {
            extent: region.extent(),
            source: region.layout(),
            target: host.layout(),
        },
        pointer: HostPointer(ptr.cast()),
        blocking: blocking_read,
    };
    transfer.read(&queue, events)
}

/// `clEnqueueWriteImage` (section 5.3.3)
///
/// # Safety
/// As [`enqueue_read_image`], `ptr` readable.
pub unsafe fn enqueue_write_image(
    command_queue: cl_command_queue,
    image: cl_mem,
    blocking_write: cl_bool,
    origin: *const usize,
    region: *const usize,
    input_row_pitch: usize,
    input_slice_pitch: usize,
    ptr: *const c_void,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    let (memory, image) = enqueue::image(&queue, image)?;
    // SAFETY: the caller's promise.
    let region = unsafe { Region::parse(&image, origin, region) }?;
    let host = HostPitches::check(&image, &region, input_row_pitch, input_slice_pitch)?;
    let transfer = HostTransfer {
        kind: CL_COMMAND_WRITE_IMAGE,
        memory,
        shape: Shape {
            extent: region.extent(),
            source: host.layout(),
            target: region.layout(),
        },
        pointer: HostPointer(ptr.cast_mut().cast()),
        blocking: blocking_write,
    };
    transfer.write(&queue, events)
}

/// `clEnqueueCopyImage` (section 5.3.3)
///
/// # Safety
/// `src_origin`, `dst_origin`, `region` are NULL or three numbers.
pub unsafe fn enqueue_copy_image(
    command_queue: cl_command_queue,
    src_image: cl_mem,
    dst_image: cl_mem,
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
    events: EventArguments,
) -> Result<()> {
    let command = CopyImage {
        src_image,
        dst_image,
        src_origin,
        dst_origin,
        region,
    };
    // SAFETY: the caller's promise.
    unsafe { enqueue_command(command_queue, CL_COMMAND_COPY_IMAGE, command, events) }
}

/// `clEnqueueCopyImageToBuffer` (section 5.3.5)
///
/// # Safety
/// `src_origin`, `region` are NULL or three numbers.
pub unsafe fn enqueue_copy_image_to_buffer(
    command_queue: cl_command_queue,
    src_image: cl_mem,
    dst_buffer: cl_mem,
    src_origin: *const usize,
    region: *const usize,
    dst_offset: usize,
    events: EventArguments,
) -> Result<()> {
    let command = CopyImageToBuffer {
        src_image,
        dst_buffer,
        src_origin,
        region,
        dst_offset,
    };
    // SAFETY: the caller's promise.
    unsafe {
        enqueue_command(
            command_queue,
            CL_COMMAND_COPY_IMAGE_TO_BUFFER,
            command,
            events,
        )
    }
}

/// `clEnqueueCopyBufferToImage` (section 5.3.5)
///
/// # Safety
/// `dst_origin`, `region` are NULL or three numbers.
pub unsafe fn enqueue_copy_buffer_to_image(
    command_queue: cl_command_queue,
    src_buffer: cl_mem,
    dst_image: cl_mem,
    src_offset: usize,
    dst_origin: *const usize,
    region: *const usize,
    events: EventArguments,
) -> Result<()> {
    let command = CopyBufferToImage {
        src_buffer,
        dst_image,
        src_offset,
        dst_origin,
        region,
    };
    // SAFETY: the caller's promise.
    unsafe {
        enqueue_command(
            command_queue,
            CL_COMMAND_COPY_BUFFER_TO_IMAGE,
            command,
            events,
        )
    }
}

/// `clEnqueueMapImage` (section 5.3.6)
///
/// # Safety
/// `origin`, `region` are NULL or three numbers; `image_row_pitch`, `image_slice_pitch` are NULL or writable.
pub unsafe fn enqueue_map_image(
    command_queue: cl_command_queue,
    image: cl_mem,
    blocking_map: cl_bool,
    map_flags: cl_map_flags,
    origin: *const usize,
    region: *const usize,
    image_row_pitch: *mut usize,
    image_slice_pitch: *mut usize,
    events: EventArguments,
) -> Result<*mut c_void> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    let (memory, image) = enqueue::image(&queue, image)?;
    // "CL_INVALID_VALUE if region being mapped given by (origin, origin + region) is out of bounds or if values
    // specified in map_flags are not valid."
    // SAFETY: the caller's promise.
    let region = unsafe { Region::parse(&image, origin, region) }?;
    check_map_flags(map_flags)?;
    // "CL_INVALID_VALUE if image_row_pitch is NULL", "if image is a 3D image, 1D or 2D image array object and
    // image_slice_pitch is NULL."
    // SAFETY: the caller's promise.
    let (mut row_pitch, mut slice_pitch) =
        unsafe { (Out::new(image_row_pitch), Out::new(image_slice_pitch)) };
    let has_slices = image.depth_is_used();
    if row_pitch.is_null() || has_slices && slice_pitch.is_null() {
        return Err(Error::invalid_value(
            "image_row_pitch or image_slice_pitch is NULL",
        ));
    }
    let wait_list = enqueue::wait_list(&queue, &events)?;
    check_map_access(&memory, map_flags)?;

    let request = MapRequest {
        kind: CL_COMMAND_MAP_IMAGE,
        memory: &memory,
        flags: map_flags,
        extent: region.extent(),
        layout: region.layout(),
        blocking: blocking_map != CL_FALSE,
    };
    let (pointer, event) = enqueue_map(&queue, &request, wait_list)?;
    row_pitch.write(region.image.row_pitch_bytes);
    // "For a 1D image, a 2D image … the slice pitch returned is 0".
    slice_pitch.write(if has_slices {
        region.image.slice_pitch_bytes
    } else {
        0
    });
    events.give(event);
    Ok(pointer.0.cast())
}

/// `clEnqueueFillImage` (section 5.3.4)
///
/// # Safety
/// `fill_color` is NULL or a colour of the image's format; `origin`, `region` are NULL or three numbers.
pub unsafe fn enqueue_fill_image(
    command_queue: cl_command_queue,
    image: cl_mem,
    fill_color: *const c_void,
    origin: *const usize,
    region: *const usize,
    events: EventArguments,
) -> Result<()> {
    let command = FillImage {
        image,
        fill_color,
        origin,
        region,
    };
    // SAFETY: the caller's promise.
    unsafe { enqueue_command(command_queue, CL_COMMAND_FILL_IMAGE, command, events) }
}

/// # Safety
/// As [`ImageCommand::check`].
unsafe fn enqueue_command(
    command_queue: cl_command_queue,
    kind: cl_command_type,
    command: impl ImageCommand,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    let wait_list = || enqueue::wait_list(&queue, &events);
    // SAFETY: the caller's promise.
    let (transfer, wait_list) = unsafe { command.check(&queue, wait_list) }?;
    transfer.enqueue(&queue, kind, wait_list, events)
}
