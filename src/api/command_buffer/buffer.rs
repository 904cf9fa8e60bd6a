//! Recording barriers, and copies and fills of buffers.

use super::super::enqueue_buffer::{Copy, Fill};
use super::super::enqueue_rect::CopyRect;
use super::super::error::Result;
use super::arguments::{Recording, SyncPointArguments, record_transfer};
use opencl_sys::{cl_command_buffer_khr, cl_command_properties_khr, cl_command_queue, cl_mem};
use std::ffi::c_void;

/// `clCommandBarrierWithWaitListKHR`
///
/// # Safety
/// `properties` is NULL or ends with 0.
pub unsafe fn command_barrier_with_wait_list(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    arguments: SyncPointArguments,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let recording =
        unsafe { Recording::begin(command_buffer, command_queue, properties, arguments) }?;
    let wait_list = recording.wait_list()?;
    recording.finish_barrier(&wait_list)
}

/// `clCommandCopyBufferKHR`
///
/// # Safety
/// As [`command_barrier_with_wait_list`].
pub unsafe fn command_copy_buffer(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    src_buffer: cl_mem,
    dst_buffer: cl_mem,
    src_offset: usize,
    dst_offset: usize,
    size: usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    let copy = Copy {
        src_buffer,
        dst_buffer,
        src_offset,
        dst_offset,
        size,
    };
    // SAFETY: the caller's promise, of `properties` and of what `copy` points at.
    unsafe {
        record_transfer(
            command_buffer,
            command_queue,
            properties,
            arguments,
            |queue, wait_list| copy.check(queue, wait_list),
        )
    }
}

/// `clCommandCopyBufferRectKHR`
///
/// # Safety
/// As [`command_barrier_with_wait_list`]; the origins and the region are NULL or three numbers.
pub unsafe fn command_copy_buffer_rect(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    src_buffer: cl_mem,
    dst_buffer: cl_mem,
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
    src_row_pitch: usize,
    src_slice_pitch: usize,
    dst_row_pitch: usize,
    dst_slice_pitch: usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    let copy = CopyRect {
        src_buffer,
        dst_buffer,
        src_origin,
        dst_origin,
        region,
        src_pitches: (src_row_pitch, src_slice_pitch),
        dst_pitches: (dst_row_pitch, dst_slice_pitch),
    };
    // SAFETY: the caller's promise, of `properties` and of what `copy` points at.
    unsafe {
        record_transfer(
            command_buffer,
            command_queue,
            properties,
            arguments,
            |queue, wait_list| copy.check(queue, wait_list),
        )
    }
}

/// `clCommandFillBufferKHR`
///
/// # Safety
/// As [`command_barrier_with_wait_list`]; `pattern` is NULL or readable for `pattern_size` bytes.
pub unsafe fn command_fill_buffer(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    buffer: cl_mem,
    pattern: *const c_void,
    pattern_size: usize,
    offset: usize,
    size: usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    let fill = Fill {
        buffer,
        pattern,
        pattern_size,
        offset,
        size,
    };
    // SAFETY: the caller's promise, of `properties` and of what `fill` points at.
    unsafe {
        record_transfer(
            command_buffer,
            command_queue,
            properties,
            arguments,
            |queue, wait_list| fill.check(queue, wait_list),
        )
    }
}
