//! Mapping and migration (sections 5.2.3, 5.5.2, 5.5.4).

use super::error::{Error, Result};
use super::out::EventArguments;
use super::transfer::Transfer;
use super::{enqueue, handle};
use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::host_memory::pointer::HostPointer;
use crate::runtime::memory::Memory;
use crate::runtime::residency::backing::MemoryAccess;
use crate::runtime::residency::contents::AccessMode;
use crate::runtime::transfer::map::{MapRequest, enqueue_map, enqueue_unmap};
use opencl_sys::{
    CL_COMMAND_MIGRATE_MEM_OBJECTS, CL_FALSE, CL_INVALID_CONTEXT, CL_INVALID_MEM_OBJECT,
    CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION, CL_MEM_HOST_NO_ACCESS,
    CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED,
    CL_MIGRATE_MEM_OBJECT_HOST, cl_bool, cl_command_queue, cl_map_flags, cl_mem,
    cl_mem_migration_flags, cl_uint,
};
use std::ffi::c_void;
use std::sync::Arc;

/// `clEnqueueMapBuffer`
pub fn enqueue_map_buffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_map: cl_bool,
    map_flags: cl_map_flags,
    offset: usize,
    size: usize,
    events: EventArguments,
) -> Result<*mut c_void> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    let memory = enqueue::memory(&queue, buffer)?;
    // "CL_INVALID_VALUE if region being mapped given by (offset, size) is out of bounds or if size is 0 or
    // if values specified in map_flags are not valid."
    enqueue::check_bounds(&memory, offset, size)?;
    if size == 0 {
        return Err(Error::invalid_value("size is 0"));
    }
    check_map_flags(map_flags)?;
    let wait_list = enqueue::wait_list(&queue, &events)?;
    enqueue::check_alignment(&queue, &memory)?;
    check_map_access(&memory, map_flags)?;

    let blocking = blocking_map != CL_FALSE;
    let request = MapRequest::of_bytes(&memory, map_flags, offset, size, blocking);
    let (pointer, event) = enqueue_map(&queue, &request, wait_list)?;
    events.give(event);
    Ok(pointer.0.cast())
}

/// "CL_MAP_READ or CL_MAP_WRITE and CL_MAP_WRITE_INVALIDATE_REGION are mutually exclusive."
pub(super) fn check_map_flags(flags: cl_map_flags) -> Result<()> {
    let known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    let invalidates = flags & CL_MAP_WRITE_INVALIDATE_REGION != 0;
    if flags & !known != 0 || invalidates && flags & (CL_MAP_READ | CL_MAP_WRITE) != 0 {
        return Err(Error::invalid_value(format!(
            "map_flags {flags:#x} are not valid"
        )));
    }
    Ok(())
}

/// "CL_INVALID_OPERATION if buffer has been created with CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS and
/// CL_MAP_READ is set in map_flags or if buffer has been created with CL_MEM_HOST_READ_ONLY or
/// CL_MEM_HOST_NO_ACCESS and CL_MAP_WRITE or CL_MAP_WRITE_INVALIDATE_REGION is set in map_flags."
pub(super) fn check_map_access(memory: &Memory, flags: cl_map_flags) -> Result<()> {
    if flags & CL_MAP_READ != 0 {
        enqueue::check_host_access(memory, CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)?;
    }
    if flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0 {
        enqueue::check_host_access(memory, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)?;
    }
    Ok(())
}

/// `clEnqueueUnmapMemObject`
pub fn enqueue_unmap_mem_object(
    command_queue: cl_command_queue,
    memobj: cl_mem,
    mapped_ptr: *mut c_void,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue(command_queue)?;
    // "CL_INVALID_MEM_OBJECT if memobj is not a valid memory object or is a pipe object."
    let memory: Arc<Memory> = handle::get(memobj)?;
    if memory.pipe().is_some() {
        return Err(Error::new(CL_INVALID_MEM_OBJECT, "memobj is a pipe"));
    }
    // What is wrong with the list comes after what is wrong with the pointer; "CL_INVALID_CONTEXT if the context
    // associated with command_queue and memobj are not the same" comes last.
    let wait_list = enqueue::wait_list(&queue, &events)
        .and_then(|list| enqueue::check_context(&queue, &memory).map(|()| list));
    let event = enqueue_unmap(&queue, &memory, HostPointer(mapped_ptr.cast()), wait_list)?;
    events.give(event);
    Ok(())
}

/// `clEnqueueMigrateMemObjects`
///
/// # Safety
/// `mem_objects` is NULL or holds `num_mem_objects` handles.
pub unsafe fn enqueue_migrate_mem_objects(
    command_queue: cl_command_queue,
    num_mem_objects: cl_uint,
    mem_objects: *const cl_mem,
    flags: cl_mem_migration_flags,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    // "CL_INVALID_VALUE if num_mem_objects is zero or if mem_objects is NULL."
    if num_mem_objects == 0 || mem_objects.is_null() {
        return Err(Error::invalid_value(
            "num_mem_objects is 0 or mem_objects is NULL",
        ));
    }
    // "CL_INVALID_MEM_OBJECT if any of the memory objects in mem_objects is not a valid memory object."
    // SAFETY: the caller's promise.
    let list = unsafe { handle::get_list::<Memory>(num_mem_objects, mem_objects, "mem_objects") }?;
    // "CL_INVALID_CONTEXT if the context associated with command_queue and memory objects in mem_objects are
    // not the same"
    if list
        .iter()
        .any(|memory| !Arc::ptr_eq(memory.context(), queue.context()))
    {
        return Err(Error::new(
            CL_INVALID_CONTEXT,
            "mem_objects and command_queue belong to different contexts",
        ));
    }
    // "CL_INVALID_VALUE if flags is not 0 or is not any of the values described in the table above."
    let known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    if flags & !known != 0 {
        return Err(Error::invalid_value(format!(
            "flags {flags:#x} holds unknown bits"
        )));
    }
    let wait_list = enqueue::wait_list(&queue, &events)?;

    // "CL_MIGRATE_MEM_OBJECT_HOST: … the specified set of memory objects are to be migrated to the host": a
    // device keeps its copy, and the next map or read finds it there.
    let to_device = flags & CL_MIGRATE_MEM_OBJECT_HOST == 0;
    // "CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED: … the contents of the set of memory objects are undefined after
    // migration".
    let mode = match flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED {
        0 => AccessMode::Read,
        _ => AccessMode::Overwrite,
    };
    let moved = list.into_iter().filter(|_| to_device);
    let transfer = Transfer {
        command: DeviceCommand::Nothing,
        memories: moved
            .map(|memory| {
                let used = MemoryAccess::whole(memory.backing(), mode);
                (memory, used)
            })
            .collect(),
    };
    transfer.enqueue(&queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, wait_list, events)
}
