//! Reading, writing, copying and filling buffers (section 5.2.2).

use super::enqueue;
use super::error::{Error, Result};
use super::out::EventArguments;
use crate::runtime::command::{Command, HostPointer, Ordering};
use crate::runtime::layout::Shape;
use crate::runtime::memory::Memory;
use crate::runtime::queue::{Queue, Waits};
use opencl_sys::{
    CL_COMMAND_COPY_BUFFER, CL_COMMAND_FILL_BUFFER, CL_COMMAND_READ_BUFFER,
    CL_COMMAND_WRITE_BUFFER, CL_FALSE, CL_MEM_COPY_OVERLAP, CL_MEM_HOST_NO_ACCESS,
    CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, cl_bool, cl_command_queue, cl_mem,
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
    let queue = enqueue::queue(command_queue)?;
    let memory = enqueue::memory(&queue, buffer)?;
    check_transfer(&memory, offset, size, ptr)?;
    let wait_list = enqueue::wait_list(&queue, &events)?;
    enqueue::check_alignment(&queue, &memory)?;
    // "CL_INVALID_OPERATION if clEnqueueReadBuffer is called on buffer which has been created with
    // CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS."
    enqueue::check_host_access(&memory, CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)?;

    let source = memory.access(&queue, false)?;
    let event = queue.enqueue_read(
        CL_COMMAND_READ_BUFFER,
        &source,
        Shape::linear(offset, 0, size),
        HostPointer(ptr.cast()),
        blocking_read != CL_FALSE,
        &wait_list,
    )?;
    events.give(event);
    Ok(())
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
    let queue = enqueue::queue(command_queue)?;
    let memory = enqueue::memory(&queue, buffer)?;
    check_transfer(&memory, offset, size, ptr)?;
    let wait_list = enqueue::wait_list(&queue, &events)?;
    enqueue::check_alignment(&queue, &memory)?;
    // "CL_INVALID_OPERATION if clEnqueueWriteBuffer is called on buffer which has been created with
    // CL_MEM_HOST_READ_ONLY or CL_MEM_HOST_NO_ACCESS."
    enqueue::check_host_access(&memory, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)?;

    let target = memory.access(&queue, true)?;
    let event = queue.enqueue_write(
        CL_COMMAND_WRITE_BUFFER,
        &target,
        Shape::linear(0, offset, size),
        HostPointer(ptr.cast_mut().cast()),
        blocking_write != CL_FALSE,
        events.wants_event(),
        &wait_list,
    )?;
    events.give(event);
    Ok(())
}

/// "CL_INVALID_VALUE if the region being read or written specified by (offset, size) is out of bounds or if
/// ptr is a NULL value."
fn check_transfer(memory: &Memory, offset: usize, size: usize, ptr: *const c_void) -> Result<()> {
    enqueue::check_bounds(memory, offset, size)?;
    if ptr.is_null() {
        return Err(Error::invalid_value("ptr is NULL"));
    }
    Ok(())
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
    let queue = enqueue::queue(command_queue)?;
    let copy = Copy {
        src_buffer,
        dst_buffer,
        src_offset,
        dst_offset,
        size,
    };
    let (transfer, wait_list) = copy.check(&queue, || enqueue::wait_list(&queue, &events))?;
    let event = queue.enqueue(
        CL_COMMAND_COPY_BUFFER,
        transfer.command,
        Waits::on(&wait_list),
        Ordering::default(),
    )?;
    events.give(event);
    Ok(())
}

/// A checked command, and the memory objects that it reads (false) and writes (true).
pub(super) struct Transfer {
    pub command: Command,
    pub memories: Vec<(Arc<Memory>, bool)>,
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
        // "CL_MEM_COPY_OVERLAP if src_buffer and dst_buffer are the same buffer or sub-buffer object and the
        // source and destination regions overlap or if src_buffer and dst_buffer are different sub-buffers of
        // the same associated buffer object and they overlap."
        if source.shares_storage(&target) {
            let from = source.origin_bytes() + src_offset;
            let to = target.origin_bytes() + dst_offset;
            if from < to + size && to < from + size {
                return Err(Error::new(
                    CL_MEM_COPY_OVERLAP,
                    "the source and destination regions overlap",
                ));
            }
        }

        let from = source.access(queue, false)?;
        let to = target.access(queue, true)?;
        let shape = Shape::linear(
            from.offset_bytes + src_offset,
            to.offset_bytes + dst_offset,
            size,
        );
        let command = if size == 0 {
            Command::Nothing
        } else {
            Command::Copy {
                source: from.allocation,
                target: to.allocation,
                shape,
            }
        };
        let memories = vec![(source, false), (target, true)];
        Ok((Transfer { command, memories }, wait_list))
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
    let queue = enqueue::queue(command_queue)?;
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
    let event = queue.enqueue(
        CL_COMMAND_FILL_BUFFER,
        transfer.command,
        Waits::on(&wait_list),
        Ordering::default(),
    )?;
    events.give(event);
    Ok(())
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
        let place = memory.access(queue, true)?;
        let command = if size == 0 {
            Command::Nothing
        } else {
            Command::Fill {
                target: Arc::clone(&place.allocation),
                offset_bytes: (place.offset_bytes + offset) as u64,
                size_bytes: size as u64,
                pattern: SmallVec::from_slice(pattern),
            }
        };
        let memories = vec![(memory, true)];
        Ok((Transfer { command, memories }, wait_list))
    }
}
