//! Memory shared with others (cl_khr_external_memory, opaque file descriptors and dma-buf).

use super::error::{Error, Result};
use super::external_handles::memory_imports;
use super::out::EventArguments;
use super::{enqueue, handle};
use crate::runtime::device::Device;
use crate::runtime::memory::Memory;
use crate::runtime::transfer::shared_commands::enqueue_empty;
use crate::vulkan::MemoryFd;
use opencl_sys::{
    CL_COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR, CL_COMMAND_RELEASE_EXTERNAL_MEM_OBJECTS_KHR,
    CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR,
    CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_INVALID_MEM_OBJECT, cl_command_queue,
    cl_command_type, cl_mem, cl_uint,
};
use std::sync::Arc;

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
    memory_imports(device)
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
        if !memory.is_external() {
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
        // "CL_INVALID_COMMAND_QUEUE … if device associated with command_queue is not one of the devices specified by
        // CL_MEM_DEVICE_HANDLE_LIST_KHR at the time of creating one or more of mem_objects".
        if !memory.is_within_reach(queue.context_device()) {
            return Err(Error::new(
                CL_INVALID_COMMAND_QUEUE,
                "a memory object was imported for another device",
            ));
        }
    }
    let wait_list = enqueue::wait_list(&queue, &events)?;
    let event = enqueue_empty(&queue, kind, false, &wait_list)?;
    events.give(event);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::buffer::create_buffer_with_properties;
    use super::*;
    use crate::runtime::context::Context;
    use crate::runtime::object::callback::UserData;
    use crate::runtime::platform::Platform;
    use crate::runtime::queue::Queue;
    use crate::vulkan::Priority;
    use crate::vulkan::external::tests::{exchanged, exported};
    use opencl_sys as cl;
    use std::os::fd::IntoRawFd;
    use std::ptr;

    /// A context of all these devices, until it is released.
    fn context_of(devices: &[Arc<Device>]) -> (Arc<Context>, cl::cl_context) {
        let user_data = UserData(ptr::null_mut());
        let context = Context::new(devices.to_vec(), Vec::new(), None, user_data);
        (Arc::clone(&context), handle::create(context))
    }

    fn create(
        context: cl::cl_context,
        properties: &[u64],
        flags: cl::cl_mem_flags,
        host: *mut u8,
    ) -> std::result::Result<cl_mem, cl::cl_int> {
        // SAFETY: everything outlives the call, and what is refused is not read.
        unsafe {
            let host = host.cast();
            create_buffer_with_properties(context, properties.as_ptr(), flags, 4096, host)
        }
        .map_err(|error| error.code())
    }

    fn property(kind: MemoryFd) -> u64 {
        match kind {
            MemoryFd::Opaque => CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR.into(),
            MemoryFd::DmaBuf => CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR.into(),
        }
    }

    #[test]
    fn a_handle_is_imported_for_the_device_that_is_named() {
        let devices = Platform::instance().devices();
        let list = cl::CL_MEM_DEVICE_HANDLE_LIST_KHR;
        let (context, handle) = context_of(devices);
        for device in devices {
            let vulkan = device.vulkan().unwrap();
            let named = handle::existing::<Device>(device) as u64;
            for kind in exchanged(vulkan) {
                let (_buffer, fd) = exported(vulkan, kind, 4096);
                let fd = fd.into_raw_fd() as u64;
                let property = property(kind);
                if devices.len() > 1 {
                    let refused = create(handle, &[property, fd, 0], 0, ptr::null_mut());
                    assert_eq!(refused, Err(cl::CL_INVALID_DEVICE));
                }
                let both = [list, named, 0, property, fd, 0];
                let refused = create(handle, &both, cl::CL_MEM_ALLOC_HOST_PTR, ptr::null_mut());
                assert_eq!(refused, Err(cl::CL_INVALID_VALUE));
                let refused = create(handle, &both, 0, ptr::dangling_mut());
                assert_eq!(refused, Err(cl::CL_INVALID_HOST_PTR));

                let buffer = create(handle, &both, 0, ptr::null_mut()).unwrap();
                for other in devices {
                    let vulkan = other.vulkan().unwrap();
                    let queue =
                        Queue::new(&context, other, vulkan, 0, Priority::Medium, None).unwrap();
                    let memory: Arc<Memory> = handle::get(buffer).unwrap();
                    let serves = Arc::ptr_eq(other, device);
                    assert_eq!(memory.place(queue.context_device()).is_ok(), serves);
                    let queue: cl_command_queue = handle::create(queue);
                    // SAFETY: live handles.
                    let acquired = unsafe {
                        let events = EventArguments::new(0, ptr::null(), ptr::null_mut());
                        enqueue_acquire(queue, 1, &buffer, events)
                    };
                    let code = acquired.map_err(|error| error.code());
                    let wanted = if serves {
                        Ok(())
                    } else {
                        Err(CL_INVALID_COMMAND_QUEUE)
                    };
                    assert_eq!(code, wanted);
                    handle::release::<Queue>(queue).unwrap();
                }
                handle::release::<Memory>(buffer).unwrap();
            }
        }
        handle::release::<Context>(handle).unwrap();
    }

    #[test]
    fn lists_that_say_nothing_are_refused() {
        for device in Platform::instance().devices() {
            let (_context, handle) = context_of(std::slice::from_ref(device));
            let create = |properties: &[u64]| create(handle, properties, 0, ptr::null_mut());
            let named = handle::existing::<Device>(device) as u64;
            let list = cl::CL_MEM_DEVICE_HANDLE_LIST_KHR;
            assert_eq!(
                create(&[list, named, 0, 0]),
                Err(cl::CL_INVALID_PROPERTY),
                "a list of devices for nothing"
            );
            let [opaque, dma_buf] = [MemoryFd::Opaque, MemoryFd::DmaBuf];
            assert_eq!(
                create(&[property(opaque), 5, property(dma_buf), 5, 0]),
                Err(cl::CL_INVALID_PROPERTY),
                "two handles"
            );
            for kind in [opaque, dma_buf] {
                let none = [property(kind), u64::from(u32::MAX), 0];
                assert_eq!(create(&none), Err(cl::CL_INVALID_PROPERTY));
                if !imports_kind(device, kind) {
                    let refused = create(&[property(kind), 5, 0]);
                    assert_eq!(refused, Err(cl::CL_INVALID_DEVICE), "{kind:?}");
                }
            }
            handle::release::<Context>(handle).unwrap();
        }
    }
}
