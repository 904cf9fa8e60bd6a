//! Rectangles of buffers (section 5.2.2).

use super::enqueue;
use super::error::{Error, Result};
use super::out::EventArguments;
use super::transfer::{HostTransfer, Transfer};
use crate::runtime::host_memory::layout::{Extent, Layout, Shape};
use crate::runtime::host_memory::pointer::HostPointer;
use crate::runtime::memory::Memory;
use crate::runtime::queue::Queue;
use opencl_sys::{
    CL_COMMAND_COPY_BUFFER_RECT, CL_COMMAND_READ_BUFFER_RECT, CL_COMMAND_WRITE_BUFFER_RECT,
    cl_bool, cl_command_queue, cl_mem,
};
use std::ffi::c_void;
use std::sync::Arc;

/// `clEnqueueReadBufferRect`
///
/// # Safety
/// `buffer_origin`, `host_origin`, `region` are NULL or three numbers; `ptr` is writable for the rectangle
/// until the command is complete.
pub unsafe fn enqueue_read_buffer_rect(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_read: cl_bool,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *mut c_void,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    let memory = enqueue::memory(&queue, buffer)?;
    // SAFETY: the caller's promise.
    let rectangle = unsafe {
        HostRectangle::parse(
            buffer_origin,
            host_origin,
            region,
            (buffer_row_pitch, buffer_slice_pitch),
            (host_row_pitch, host_slice_pitch),
        )
    }?;
    check_inside(&memory, rectangle.buffer, rectangle.extent)?;
    let transfer = HostTransfer {
        kind: CL_COMMAND_READ_BUFFER_RECT,
        memory,
        shape: Shape {
            extent: rectangle.extent,
            source: rectangle.buffer,
            target: rectangle.host,
        },
        pointer: HostPointer(ptr.cast()),
        blocking: blocking_read,
    };
    transfer.read(&queue, events)
}

/// `clEnqueueWriteBufferRect`
///
/// # Safety
/// As [`enqueue_read_buffer_rect`], `ptr` readable.
pub unsafe fn enqueue_write_buffer_rect(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_write: cl_bool,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *const c_void,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    let memory = enqueue::memory(&queue, buffer)?;
    // SAFETY: the caller's promise.
    let rectangle = unsafe {
        HostRectangle::parse(
            buffer_origin,
            host_origin,
            region,
            (buffer_row_pitch, buffer_slice_pitch),
            (host_row_pitch, host_slice_pitch),
        )
    }?;
    check_inside(&memory, rectangle.buffer, rectangle.extent)?;
    let transfer = HostTransfer {
        kind: CL_COMMAND_WRITE_BUFFER_RECT,
        memory,
        shape: Shape {
            extent: rectangle.extent,
            source: rectangle.host,
            target: rectangle.buffer,
        },
        pointer: HostPointer(ptr.cast_mut().cast()),
        blocking: blocking_write,
    };
    transfer.write(&queue, events)
}

/// `clEnqueueCopyBufferRect`
///
/// # Safety
/// `src_origin`, `dst_origin`, `region` are NULL or three numbers.
pub unsafe fn enqueue_copy_buffer_rect(
    command_queue: cl_command_queue,
    src_buffer: cl_mem,
    dst_buffer: cl_mem,
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
    src_row_pitch: usize,
    src_slice_pitch: usize,
    dst_row_pitch: usize,
    dst_slice_pitch: usize,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    let copy = CopyRect {
        src_buffer,
        dst_buffer,
        src_origin,
        dst_origin,
        region,
        src_pitches: (src_row_pitch, src_slice_pitch),
        dst_pitches: (dst_row_pitch, dst_slice_pitch),
    };
    // SAFETY: the caller's promise.
    let (transfer, wait_list) =
        unsafe { copy.check(&queue, || enqueue::wait_list(&queue, &events)) }?;
    transfer.enqueue(&queue, CL_COMMAND_COPY_BUFFER_RECT, wait_list, events)
}

/// The arguments of a copy of a rectangle between buffers.
pub(super) struct CopyRect {
    pub src_buffer: cl_mem,
    pub dst_buffer: cl_mem,
    pub src_origin: *const usize,
    pub dst_origin: *const usize,
    pub region: *const usize,
    /// Row pitch and slice pitch of the source, in bytes.
    pub src_pitches: (usize, usize),
    pub dst_pitches: (usize, usize),
}

impl CopyRect {
    /// Checks them as `clEnqueueCopyBufferRect` says; `wait_list` is called where the wait list's turn is.
    ///
    /// # Safety
    /// The origins and the region are NULL or three numbers.
    pub(super) unsafe fn check<W>(
        self,
        queue: &Arc<Queue>,
        wait_list: impl FnOnce() -> Result<W>,
    ) -> Result<(Transfer, W)> {
        let source = enqueue::memory(queue, self.src_buffer)?;
        let target = enqueue::memory(queue, self.dst_buffer)?;
        // SAFETY: the caller's promise.
        let (from, to, region) = unsafe {
            (
                three(self.src_origin, "src_origin")?,
                three(self.dst_origin, "dst_origin")?,
                three(self.region, "region")?,
            )
        };
        let extent = extent(region)?;
        let from = layout(from, region, self.src_pitches.0, self.src_pitches.1)?;
        let to = layout(to, region, self.dst_pitches.0, self.dst_pitches.1)?;
        check_inside(&source, from, extent)?;
        check_inside(&target, to, extent)?;
        // "CL_INVALID_VALUE if src_buffer and dst_buffer are the same buffer object and src_slice_pitch is not
        // equal to dst_slice_pitch and src_row_pitch is not equal to dst_row_pitch."
        let same_pitches = from.row_pitch_bytes == to.row_pitch_bytes
            && from.slice_pitch_bytes == to.slice_pitch_bytes;
        if Arc::ptr_eq(&source, &target) && !same_pitches {
            return Err(Error::invalid_value(
                "within one buffer the pitches of source and destination must be equal",
            ));
        }
        let wait_list = wait_list()?;
        enqueue::check_alignment(queue, &source)?;
        enqueue::check_alignment(queue, &target)?;

        let transfer = Transfer::copy(queue, (source, from), (target, to), extent)?;
        Ok((transfer, wait_list))
    }
}

/// A rectangle of a buffer and one of the host.
struct HostRectangle {
    extent: Extent,
    buffer: Layout,
    host: Layout,
}

impl HostRectangle {
    unsafe fn parse(
        buffer_origin: *const usize,
        host_origin: *const usize,
        region: *const usize,
        buffer_pitches: (usize, usize),
        host_pitches: (usize, usize),
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        let (buffer, host, region) = unsafe {
            (
                three(buffer_origin, "buffer_origin")?,
                three(host_origin, "host_origin")?,
                three(region, "region")?,
            )
        };
        Ok(Self {
            extent: extent(region)?,
            buffer: layout(buffer, region, buffer_pitches.0, buffer_pitches.1)?,
            host: layout(host, region, host_pitches.0, host_pitches.1)?,
        })
    }
}

unsafe fn three(numbers: *const usize, argument: &'static str) -> Result<[usize; 3]> {
    if numbers.is_null() {
        return Err(Error::invalid_value(format!("{argument} is NULL")));
    }
    // SAFETY: the caller's promise: three numbers.
    Ok(unsafe { numbers.cast::<[usize; 3]>().read() })
}

/// "CL_INVALID_VALUE if any region array element is 0."
fn extent([width_bytes, rows, slices]: [usize; 3]) -> Result<Extent> {
    if width_bytes == 0 || rows == 0 || slices == 0 {
        return Err(Error::invalid_value("an element of region is 0"));
    }
    Ok(Extent {
        width_bytes,
        rows,
        slices,
    })
}

/// A pitch of 0 is the smallest that the region allows.
fn layout(
    origin: [usize; 3],
    region: [usize; 3],
    row_pitch: usize,
    slice_pitch: usize,
) -> Result<Layout> {
    let too_large = || Error::invalid_value("the rectangle is larger than memory");
    let row_pitch_bytes = if row_pitch == 0 { region[0] } else { row_pitch };
    // "CL_INVALID_VALUE if row_pitch is not 0 and is less than region[0]."
    if row_pitch_bytes < region[0] {
        return Err(Error::invalid_value("a row pitch is less than region[0]"));
    }
    let least = region[1]
        .checked_mul(row_pitch_bytes)
        .ok_or_else(too_large)?;
    let slice_pitch_bytes = if slice_pitch == 0 { least } else { slice_pitch };
    // "CL_INVALID_VALUE if slice_pitch is not 0 and is less than region[1] × row_pitch and not a multiple of
    // row_pitch."
    if slice_pitch_bytes < least || !slice_pitch_bytes.is_multiple_of(row_pitch_bytes) {
        return Err(Error::invalid_value(
            "a slice pitch is less than region[1] rows or not a multiple of the row pitch",
        ));
    }
    let offset_bytes = origin[2]
        .checked_mul(slice_pitch_bytes)
        .and_then(|offset| offset.checked_add(origin[1].checked_mul(row_pitch_bytes)?))
        .and_then(|offset| offset.checked_add(origin[0]))
        .ok_or_else(too_large)?;
    // That `Layout::end_bytes` can't overflow.
    region[2]
        .checked_mul(slice_pitch_bytes)
        .and_then(|size| size.checked_add(offset_bytes))
        .and_then(|size| size.checked_add(least))
        .ok_or_else(too_large)?;
    Ok(Layout {
        offset_bytes,
        row_pitch_bytes,
        slice_pitch_bytes,
    })
}

/// "CL_INVALID_VALUE if the region being read or written specified by (buffer_origin, region, buffer_row_pitch,
/// buffer_slice_pitch) is out of bounds".
fn check_inside(memory: &Memory, layout: Layout, extent: Extent) -> Result<()> {
    enqueue::check_bounds(
        memory,
        layout.offset_bytes,
        layout.end_bytes(extent) - layout.offset_bytes,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pitches_default_to_the_region() {
        let layout = layout([1, 2, 3], [4, 5, 6], 0, 0).unwrap();
        assert_eq!((layout.row_pitch_bytes, layout.slice_pitch_bytes), (4, 20));
        assert_eq!(layout.offset_bytes, 3 * 20 + 2 * 4 + 1);
    }

    #[test]
    fn bad_pitches_are_refused() {
        assert!(layout([0; 3], [4, 5, 6], 3, 0).is_err());
        assert!(layout([0; 3], [4, 5, 6], 4, 19).is_err());
        assert!(layout([0; 3], [4, 5, 6], 4, 22).is_err());
        assert!(layout([0; 3], [4, 5, 6], 4, 24).is_ok());
        assert!(layout([usize::MAX, 1, 1], [4, 5, 6], 4, 24).is_err());
        assert!(extent([1, 0, 1]).is_err());
    }
}
