//! Reading, writing, copying and filling buffers (section 5.2.2).

use super::enqueue;
use super::error::{Error, Result};
use super::out::EventArguments;
use super::transfer::{HostTransfer, Transfer};
use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::host_memory::layout::Shape;
use crate::runtime::host_memory::pointer::HostPointer;
use crate::runtime::queue::Queue;
use opencl_sys::{
    CL_COMMAND_COPY_BUFFER, CL_COMMAND_FILL_BUFFER, CL_COMMAND_READ_BUFFER,
    CL_COMMAND_WRITE_BUFFER, cl_bool, cl_command_queue, cl_mem,
};
use smallvec::SmallVec;
use std::ffi::c_void;
use std::sync::Arc;

/// `clEnqueueReadBuffer`
///
/// # Safety
/// `ptr` is writable for `size` bytes until the command is complete.
pub unsafe fn enqueue_read_buffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_read: cl_bool,
    offset: usize,
    size: usize,
    ptr: *mut c_void,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    let memory = enqueue::memory(&queue, buffer)?;
    // "CL_INVALID_VALUE if the region being read or written specified by (offset, size) is out of bounds".
    enqueue::check_bounds(&memory, offset, size)?;
    let transfer = HostTransfer {
        kind: CL_COMMAND_READ_BUFFER,
        memory,
        shape: Shape::linear(offset, 0, size),
        pointer: HostPointer(ptr.cast()),
        blocking: blocking_read,
    };
    transfer.read(&queue, events)
}

/// `clEnqueueWriteBuffer`
///
/// # Safety
/// `ptr` is readable for `size` bytes until the command is complete.
pub unsafe fn enqueue_write_buffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_write: cl_bool,
    offset: usize,
    size: usize,
    ptr: *const c_void,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    let memory = enqueue::memory(&queue, buffer)?;
    // "CL_INVALID_VALUE if the region being read or written specified by (offset, size) is out of bounds".
    enqueue::check_bounds(&memory, offset, size)?;
    let transfer = HostTransfer {
        kind: CL_COMMAND_WRITE_BUFFER,
        memory,
        shape: Shape::linear(0, offset, size),
        pointer: HostPointer(ptr.cast_mut().cast()),
        blocking: blocking_write,
    };
    transfer.write(&queue, events)
}

/// `clEnqueueCopyBuffer`
pub fn enqueue_copy_buffer(
    command_queue: cl_command_queue,
    src_buffer: cl_mem,
    dst_buffer: cl_mem,
    src_offset: usize,
    dst_offset: usize,
    size: usize,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    let copy = Copy {
        src_buffer,
        dst_buffer,
        src_offset,
        dst_offset,
        size,
    };
    let (transfer, wait_list) = copy.check(&queue, || enqueue::wait_list(&queue, &events))?;
    transfer.enqueue(&queue, CL_COMMAND_COPY_BUFFER, wait_list, events)
}

/// The arguments of a copy between buffers.
pub(super) struct Copy {
    pub src_buffer: cl_mem,
    pub dst_buffer: cl_mem,
    pub src_offset: usize,
    pub dst_offset: usize,
    pub size: usize,
}

impl Copy {
    /// Checks them as `clEnqueueCopyBuffer` says; `wait_list` is called where the wait list's turn is.
    pub(super) fn check<W>(
        self,
        queue: &Arc<Queue>,
        wait_list: impl FnOnce() -> Result<W>,
    ) -> Result<(Transfer, W)> {
        let Self {
            src_buffer,
            dst_buffer,
            src_offset,
            dst_offset,
            size,
        } = self;
        let source = enqueue::memory(queue, src_buffer)?;
        let target = enqueue::memory(queue, dst_buffer)?;
        // "CL_INVALID_VALUE if src_offset, dst_offset, size, src_offset + size or dst_offset + size require
        // accessing elements outside the src_buffer and dst_buffer buffer objects respectively."
        enqueue::check_bounds(&source, src_offset, size)?;
        enqueue::check_bounds(&target, dst_offset, size)?;
        let wait_list = wait_list()?;
        enqueue::check_alignment(queue, &source)?;
        enqueue::check_alignment(queue, &target)?;
        let Shape {
            extent,
            source: from,
            target: to,
        } = Shape::linear(src_offset, dst_offset, size);
        let transfer = Transfer::copy(queue, (source, from), (target, to), extent)?;
        Ok((transfer, wait_list))
    }
}

/// `clEnqueueFillBuffer`
///
/// # Safety
/// `pattern` is NULL or readable for `pattern_size` bytes.
pub unsafe fn enqueue_fill_buffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    pattern: *const c_void,
    pattern_size: usize,
    offset: usize,
    size: usize,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    let fill = Fill {
        buffer,
        pattern,
        pattern_size,
        offset,
        size,
    };
    // SAFETY: the caller's promise.
    let (transfer, wait_list) =
        unsafe { fill.check(&queue, || enqueue::wait_list(&queue, &events)) }?;
    transfer.enqueue(&queue, CL_COMMAND_FILL_BUFFER, wait_list, events)
}

/// The arguments of a fill.
pub(super) struct Fill {
    pub buffer: cl_mem,
    pub pattern: *const c_void,
    pub pattern_size: usize,
    pub offset: usize,
    pub size: usize,
}

impl Fill {
    /// Checks them as `clEnqueueFillBuffer` says; `wait_list` is called where the wait list's turn is.
    ///
    /// # Safety
    /// `pattern` is NULL or readable for `pattern_size` bytes.
    pub(super) unsafe fn check<W>(
        self,
        queue: &Arc<Queue>,
        wait_list: impl FnOnce() -> Result<W>,
    ) -> Result<(Transfer, W)> {
        let Self {
            buffer,
            pattern,
            pattern_size,
            offset,
            size,
        } = self;
        let memory = enqueue::memory(queue, buffer)?;
        // "CL_INVALID_VALUE if offset or offset + size require accessing elements outside the buffer buffer
        // object respectively."
        enqueue::check_bounds(&memory, offset, size)?;
        // "CL_INVALID_VALUE if pattern is NULL or if pattern_size is 0 or if pattern_size is not one of
        // { 1, 2, 4, 8, 16, 32, 64, 128 }."
        if pattern.is_null() || !pattern_size.is_power_of_two() || pattern_size > 128 {
            return Err(Error::invalid_value(format!(
                "pattern is NULL or pattern_size {pattern_size} is not a power of two up to 128"
            )));
        }
        // "CL_INVALID_VALUE if offset and size are not a multiple of pattern_size."
        if !offset.is_multiple_of(pattern_size) || !size.is_multiple_of(pattern_size) {
            return Err(Error::invalid_value(
                "offset and size are not multiples of pattern_size",
            ));
        }
        let wait_list = wait_list()?;
        enqueue::check_alignment(queue, &memory)?;

        // SAFETY: the caller's promise.
        let pattern = unsafe { std::slice::from_raw_parts(pattern.cast::<u8>(), pattern_size) };
        let Shape { extent, target, .. } = Shape::linear(0, offset, size);
        let transfer = Transfer::fill(queue, (memory, target), extent, |place| match size {
            0 => DeviceCommand::Nothing,
            size => DeviceCommand::Fill {
                target: Arc::clone(&place.allocation),
                offset_bytes: (place.offset_bytes + offset) as u64,
                size_bytes: size as u64,
                pattern: SmallVec::from_slice(pattern),
            },
        })?;
        Ok((transfer, wait_list))
    }
}
