//! Checks that all `clEnqueue*` functions share.

use super::error::{Error, Result};
use super::handle;
use super::out::EventArguments;
use crate::runtime::event::Event;
use crate::runtime::event::waits::LateWaits;
use crate::runtime::image::Image;
use crate::runtime::memory::Memory;
use crate::runtime::queue::Queue;
use opencl_sys::{
    CL_INVALID_CONTEXT, CL_INVALID_MEM_OBJECT, CL_MISALIGNED_SUB_BUFFER_OFFSET, cl_command_queue,
    cl_mem, cl_mem_flags,
};
use std::sync::Arc;

pub use crate::runtime::event::WaitList;

/// "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue."
pub fn queue(command_queue: cl_command_queue) -> Result<Arc<Queue>> {
    handle::get(command_queue)
}

/// [`queue`], and the check of the events' context, whose turn is before that of the arguments. That of a list with
/// other faults comes later: see [`wait_list`].
pub fn queue_with(command_queue: cl_command_queue, events: &EventArguments) -> Result<Arc<Queue>> {
    let queue = queue(command_queue)?;
    late_wait_list(&queue, events, &mut LateWaits::default())?;
    Ok(queue)
}

/// "CL_INVALID_CONTEXT if the context associated with command_queue and events in event_wait_list are not the same";
/// what else is wrong with the list is told of when its own turn comes.
pub fn late_wait_list(queue: &Queue, events: &EventArguments, late: &mut LateWaits) -> Result<()> {
    match add_wait_list(queue, events, &mut late.waits.events) {
        Err(error) if error.code() == CL_INVALID_CONTEXT => return Err(error),
        Err(error) => late.fault = Some(error),
        Ok(()) => {}
    }
    Ok(())
}

/// "CL_INVALID_MEM_OBJECT if buffer is not a valid buffer object", "CL_INVALID_CONTEXT if the context
/// associated with command_queue and buffer are not the same"
pub fn memory(queue: &Queue, buffer: cl_mem) -> Result<Arc<Memory>> {
    let memory = memory_object(queue, buffer)?;
    if !memory.is_buffer() {
        return Err(Error::new(
            CL_INVALID_MEM_OBJECT,
            "the memory object is an image or a pipe, not a buffer",
        ));
    }
    Ok(memory)
}

/// "CL_INVALID_MEM_OBJECT if image is not a valid image object", "CL_INVALID_CONTEXT if the context
/// associated with command_queue and image are not the same"
pub fn image(queue: &Queue, image: cl_mem) -> Result<(Arc<Memory>, Image)> {
    let memory = memory_object(queue, image)?;
    match memory.image().copied() {
        Some(image) => Ok((memory, image)),
        None => Err(Error::new(
            CL_INVALID_MEM_OBJECT,
            "the memory object is not an image",
        )),
    }
}

/// The memory object of a handle, of whatever kind; `CL_INVALID_CONTEXT` if it is not of the queue's context.
pub fn memory_object(queue: &Queue, memory: cl_mem) -> Result<Arc<Memory>> {
    let memory: Arc<Memory> = handle::get(memory)?;
    check_context(queue, &memory)?;
    Ok(memory)
}

/// "CL_INVALID_CONTEXT if the context associated with command_queue and memobj are not the same"
pub fn check_context(queue: &Queue, memory: &Memory) -> Result<()> {
    if Arc::ptr_eq(memory.context(), queue.context()) {
        Ok(())
    } else {
        Err(Error::new(
            CL_INVALID_CONTEXT,
            "the memory object and command_queue belong to different contexts",
        ))
    }
}

/// "CL_INVALID_EVENT_WAIT_LIST if event_wait_list is NULL and num_events_in_wait_list > 0, …",
/// "CL_INVALID_CONTEXT if the context associated with command_queue and events in event_wait_list are not
/// the same."
pub fn wait_list(queue: &Queue, events: &EventArguments) -> Result<WaitList> {
    let mut list = WaitList::new();
    add_wait_list(queue, events, &mut list)?;
    Ok(list)
}

/// Adds the events to wait for to `list`, with the checks of [`wait_list`].
pub fn add_wait_list(queue: &Queue, events: &EventArguments, list: &mut WaitList) -> Result<()> {
    events.add_wait_list::<Event>(list)?;
    if list
        .iter()
        .any(|event| !Arc::ptr_eq(event.context(), queue.context()))
    {
        return Err(Error::new(
            CL_INVALID_CONTEXT,
            "event_wait_list and command_queue belong to different contexts",
        ));
    }
    Ok(())
}

/// "CL_MISALIGNED_SUB_BUFFER_OFFSET if buffer is a sub-buffer object and offset specified when the
/// sub-buffer object is created is not aligned to CL_DEVICE_MEM_BASE_ADDR_ALIGN value for device associated
/// with queue."
pub fn check_alignment(queue: &Queue, memory: &Memory) -> Result<()> {
    let alignment_bytes = queue.device().limits().base_address_alignment_bits as usize / 8;
    if !memory.origin_bytes().is_multiple_of(alignment_bytes.max(1)) {
        return Err(Error::new(
            CL_MISALIGNED_SUB_BUFFER_OFFSET,
            format!(
                "the sub-buffer begins at byte {}, the device needs a multiple of {alignment_bytes}",
                memory.origin_bytes()
            ),
        ));
    }
    Ok(())
}

/// "CL_INVALID_VALUE if the region specified by (offset, size) is out of bounds"
pub fn check_bounds(memory: &Memory, offset_bytes: usize, size_bytes: usize) -> Result<()> {
    let end_bytes = offset_bytes.checked_add(size_bytes);
    if end_bytes.is_none_or(|end| end > memory.size_bytes()) {
        return Err(Error::invalid_value(format!(
            "{size_bytes} bytes at {offset_bytes} are outside of a buffer of {} bytes",
            memory.size_bytes()
        )));
    }
    Ok(())
}

/// "CL_INVALID_OPERATION if … is called on buffer which has been created with …": `forbidden` are the
/// flags that rule the call out.
pub fn check_host_access(memory: &Memory, forbidden: cl_mem_flags) -> Result<()> {
    if memory.flags() & forbidden != 0 {
        return Err(Error::invalid_operation(
            "the host access flags of the memory object forbid it",
        ));
    }
    Ok(())
}
