//! Memory shared with others (cl_khr_external_memory, opaque file descriptors and dma-buf).

use super::error::{Error, Result};
use super::out::EventArguments;
use super::{enqueue, handle};
use crate::runtime::device::Device;
use crate::runtime::memory::Memory;
use crate::vulkan::MemoryFd;
use opencl_sys::{
    CL_COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR, CL_COMMAND_RELEASE_EXTERNAL_MEM_OBJECTS_KHR,
    CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR,
    CL_INVALID_CONTEXT, CL_INVALID_MEM_OBJECT, cl_command_queue, cl_command_type,
    cl_external_memory_handle_type_khr, cl_mem, cl_uint,
};
use std::sync::Arc;

/// `CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR`
pub fn imports(device: &Device) -> Vec<cl_external_memory_handle_type_khr> {
    let fds = &device.info().memory_fds;
    let opaque = fds.opaque.import;
    let opaque = opaque.then_some(CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR);
    let dma_buf = fds.dma_buf.import;
    let dma_buf = dma_buf.then_some(CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR);
    opaque.into_iter().chain(dma_buf).collect()
}

/// The kind of descriptor that a property of `clCreateBufferWithProperties` names.
pub fn kind_of(property: u64) -> Option<MemoryFd> {
    match u32::try_from(property) {
        Ok(CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR) => Some(MemoryFd::Opaque),
        Ok(CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR) => Some(MemoryFd::DmaBuf),
        _ => None,
    }
}

/// Whether the device imports descriptors of the kind.
pub fn imports_kind(device: &Device, kind: MemoryFd) -> bool {
    imports(device)
        .into_iter()
        .any(|handle_type| kind_of(handle_type.into()) == Some(kind))
}

/// `clEnqueueAcquireExternalMemObjectsKHR`
///
/// # Safety
/// `mem_objects` is NULL or holds `num_mem_objects` handles.
pub unsafe fn enqueue_acquire(
    command_queue: cl_command_queue,
    num_mem_objects: cl_uint,
    mem_objects: *const cl_mem,
    events: EventArguments,
) -> Result<()> {
    let kind = CL_COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR;
    // SAFETY: the caller's promise.
    unsafe { hand_over(kind, command_queue, num_mem_objects, mem_objects, events) }
}

/// `clEnqueueReleaseExternalMemObjectsKHR`
///
/// # Safety
/// As [`enqueue_acquire`].
pub unsafe fn enqueue_release(
    command_queue: cl_command_queue,
    num_mem_objects: cl_uint,
    mem_objects: *const cl_mem,
    events: EventArguments,
) -> Result<()> {
    let kind = CL_COMMAND_RELEASE_EXTERNAL_MEM_OBJECTS_KHR;
    // SAFETY: the caller's promise.
    unsafe { hand_over(kind, command_queue, num_mem_objects, mem_objects, events) }
}

/// A batch begins and ends with full barriers, so the hand-over is a place in the order.
///
/// # Safety
/// As [`enqueue_acquire`].
unsafe fn hand_over(
    kind: cl_command_type,
    command_queue: cl_command_queue,
    count: cl_uint,
    list: *const cl_mem,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue(command_queue)?;
    // "CL_INVALID_VALUE if num_mem_objects is zero and mem_objects is not a NULL value or if num_mem_objects is
    // greater than zero and mem_objects is NULL.", "If num_mem_objects is 0 and mem_objects is NULL the command
    // will trivially succeed".
    // SAFETY: the caller's promise.
    let memories = unsafe { handle::get_list::<Memory>(count, list, "mem_objects") }?;
    for memory in &memories {
        // "CL_INVALID_MEM_OBJECT if any of the memory objects in mem_objects is not a valid OpenCL memory object
        // created using an external memory handle."
        let is_external = memory
            .properties()
            .chunks_exact(2)
            .any(|pair| pair.first().is_some_and(|name| kind_of(*name).is_some()));
        if !is_external {
            return Err(Error::new(
                CL_INVALID_MEM_OBJECT,
                "a memory object was not made from an external handle",
            ));
        }
        // "CL_INVALID_CONTEXT if the context associated with command_queue and … mem_objects are not the same."
        if !Arc::ptr_eq(memory.context(), queue.context()) {
            return Err(Error::new(
                CL_INVALID_CONTEXT,
                "mem_objects and command_queue belong to different contexts",
            ));
        }
    }
    let wait_list = enqueue::wait_list(&queue, &events)?;
    let event = queue.enqueue_empty(kind, false, &wait_list)?;
    events.give(event);
    Ok(())
}
