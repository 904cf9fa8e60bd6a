//! Unified shared memory (cl_intel_unified_shared_memory).

use super::error::{Error, Result};
use super::out::{EventArguments, Info, Written};
use super::shared_region::{device_region, region};
use super::svm::{LARGEST_TYPE_BYTES, check_overlap, check_size, fill_pattern};
use super::{context, device, enqueue, handle};
use crate::runtime::context::Context;
use crate::runtime::device::Device;
use crate::runtime::residency::shared::{Access, Origin, SharedMemory, UnifiedKind};
use crate::runtime::transfer::shared_commands::{
    enqueue_empty, enqueue_shared_copy, enqueue_shared_fill,
};
use opencl_sys::{
    CL_COMMAND_MEMADVISE_INTEL, CL_COMMAND_MEMCPY_INTEL, CL_COMMAND_MEMFILL_INTEL,
    CL_COMMAND_MIGRATEMEM_INTEL, CL_FALSE, CL_INVALID_DEVICE, CL_INVALID_OPERATION,
    CL_INVALID_PROPERTY, CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
    CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL, CL_MEM_ALLOC_BASE_PTR_INTEL,
    CL_MEM_ALLOC_DEVICE_INTEL, CL_MEM_ALLOC_FLAGS_INTEL,
    CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL, CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL,
    CL_MEM_ALLOC_SIZE_INTEL, CL_MEM_ALLOC_TYPE_INTEL, CL_MEM_ALLOC_WRITE_COMBINED_INTEL,
    CL_MEM_TYPE_DEVICE_INTEL, CL_MEM_TYPE_HOST_INTEL, CL_MEM_TYPE_SHARED_INTEL,
    CL_MEM_TYPE_UNKNOWN_INTEL, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, CL_MIGRATE_MEM_OBJECT_HOST,
    CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL, CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL,
    CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL, cl_bool, cl_command_queue, cl_context,
    cl_device_id, cl_device_unified_shared_memory_capabilities_intel as Capabilities,
    cl_kernel_exec_info, cl_mem_advice_intel, cl_mem_info_intel, cl_mem_migration_flags,
    cl_mem_properties_intel, cl_uint, cl_ulong,
};
use std::ffi::c_void;
use std::sync::Arc;

// "If alignment is 0, a default alignment will be used that is equal to the size of the largest data type".
const _: () = assert!(SharedMemory::ALIGNMENT_BYTES.is_multiple_of(LARGEST_TYPE_BYTES as u64));

/// `CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL`
pub fn host_capabilities(device: &Device) -> Capabilities {
    shared_capabilities(device, device.unification().direct.is_some())
}

/// `CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL`
pub fn device_capabilities() -> Capabilities {
    CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL
}

/// `CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL`
pub fn single_device_capabilities(device: &Device) -> Capabilities {
    shared_capabilities(device, device.unification().direct.is_some())
}

/// `CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL`,
/// `CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL`
pub fn system_capabilities(device: &Device) -> Capabilities {
    shared_capabilities(device, device.unification().any_host_memory)
}

/// Memory that host and device use at once. A GPU's atomics may not work in the host's memory.
fn shared_capabilities(device: &Device, works: bool) -> Capabilities {
    let mut capabilities = 0;
    if works {
        capabilities |= CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL;
        if device.is_cpu() {
            capabilities |= CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL
                | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL;
        }
    }
    capabilities
}

/// `clHostMemAllocINTEL`
///
/// # Safety
/// `properties` is NULL or ends with 0.
pub unsafe fn host_mem_alloc(
    context: cl_context,
    properties: *const cl_mem_properties_intel,
    size: usize,
    alignment: cl_uint,
) -> Result<*mut c_void> {
    let context = context::get(context)?;
    // "CL_INVALID_OPERATION if CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL is zero for all devices in context."
    if context
        .devices()
        .iter()
        .all(|it| host_capabilities(it) == 0)
    {
        return Err(unsupported("host allocations"));
    }
    let kind = UnifiedKind::Host;
    // SAFETY: the caller's promise.
    unsafe { allocate(&context, None, kind, properties, size, alignment) }
}

/// `clDeviceMemAllocINTEL`
///
/// # Safety
/// `properties` is NULL or ends with 0.
pub unsafe fn device_mem_alloc(
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_mem_properties_intel,
    size: usize,
    alignment: cl_uint,
) -> Result<*mut c_void> {
    let context = context::get(context)?;
    // "CL_INVALID_DEVICE if device is not a valid device or is not associated with context."
    let place = device_of(&context, device)?;
    let kind = UnifiedKind::Device;
    // SAFETY: the caller's promise.
    unsafe { allocate(&context, Some(place), kind, properties, size, alignment) }
}

/// `clSharedMemAllocINTEL`
///
/// # Safety
/// `properties` is NULL or ends with 0.
pub unsafe fn shared_mem_alloc(
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_mem_properties_intel,
    size: usize,
    alignment: cl_uint,
) -> Result<*mut c_void> {
    let context = context::get(context)?;
    let place = if device.is_null() {
        None
    } else {
        Some(device_of(&context, device)?)
    };
    // "CL_INVALID_OPERATION if device is not NULL and CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL and
    // CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL are both zero, indicating that device does not support
    // shared allocations, or if device is NULL and no devices in context support shared allocations."
    let supported = |(index, device): (usize, &Arc<Device>)| {
        place.is_none_or(|place| place == index) && single_device_capabilities(device) != 0
    };
    if !context.devices().iter().enumerate().any(supported) {
        return Err(unsupported("shared allocations"));
    }
    let kind = UnifiedKind::Shared;
    // SAFETY: the caller's promise.
    unsafe { allocate(&context, place, kind, properties, size, alignment) }
}

fn device_of(context: &Context, device: cl_device_id) -> Result<usize> {
    let device = device::get(device)?;
    context
        .device_index(&device)
        .ok_or_else(|| Error::new(CL_INVALID_DEVICE, "device is not associated with context"))
}

/// `CL_MEM_ALLOC_FLAGS_INTEL`
///
/// # Safety
/// `properties` is NULL or ends with 0.
unsafe fn allocation_flags(
    properties: *const cl_mem_properties_intel,
    kind: UnifiedKind,
) -> Result<cl_ulong> {
    let invalid = |reason: String| Err(Error::new(CL_INVALID_PROPERTY, reason));
    let mut flags = None;
    // SAFETY: the caller's promise.
    for (name, value) in unsafe { handle::properties(properties) } {
        // "CL_INVALID_PROPERTY if a memory property name in properties is not a supported property name, if the
        // value specified for a supported property name is not valid, or if the same property name is specified
        // more than once."
        if name != CL_MEM_ALLOC_FLAGS_INTEL || flags.is_some() {
            return invalid(format!("property {name:#x} is unknown or given twice"));
        }
        flags = Some(value);
    }
    let flags = flags.unwrap_or(0);
    // "CL_INVALID_PROPERTY if either CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL or
    // CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL are specified" for other than shared allocations, if both are.
    let placements =
        CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL | CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;
    let known = match kind {
        UnifiedKind::Shared => CL_MEM_ALLOC_WRITE_COMBINED_INTEL | placements,
        UnifiedKind::Host | UnifiedKind::Device => CL_MEM_ALLOC_WRITE_COMBINED_INTEL,
    };
    if flags & !known != 0 || flags & placements == placements {
        return invalid(format!("CL_MEM_ALLOC_FLAGS_INTEL {flags:#x} is not valid"));
    }
    Ok(flags)
}

/// # Safety
/// `properties` is NULL or ends with 0.
unsafe fn allocate(
    context: &Context,
    device: Option<usize>,
    kind: UnifiedKind,
    properties: *const cl_mem_properties_intel,
    size_bytes: usize,
    alignment: cl_uint,
) -> Result<*mut c_void> {
    // "CL_INVALID_VALUE if alignment is not zero or a power of two.", "… if alignment is greater than the size of the
    // largest data type supported".
    if alignment != 0 && (!alignment.is_power_of_two() || alignment > LARGEST_TYPE_BYTES) {
        return Err(Error::invalid_value(format!("alignment is {alignment}")));
    }
    // SAFETY: the caller's promise.
    let flags = unsafe { allocation_flags(properties, kind) }?;
    // "CL_INVALID_BUFFER_SIZE if size is zero, or if device is not NULL and size is greater than
    // CL_DEVICE_MAX_MEM_ALLOC_SIZE for device, or if device is NULL and size is greater than
    // CL_DEVICE_MAX_MEM_ALLOC_SIZE for any device in context".
    let devices = context.devices();
    let concerned = match device {
        Some(device) => devices.get(device..=device).unwrap_or(devices),
        None => devices,
    };
    check_size(concerned, size_bytes)?;
    let origin = Origin::Unified {
        kind,
        flags,
        device,
    };
    let access = match kind {
        UnifiedKind::Device => Access::None,
        UnifiedKind::Host | UnifiedKind::Shared => Access::Any,
    };
    let memory =
        context
            .shared()
            .allocate(context.devices(), size_bytes, origin, access, device)?;
    Ok(memory.address() as usize as *mut c_void)
}

/// `clMemFreeINTEL`
pub fn mem_free(context: cl_context, ptr: *mut c_void) -> Result<()> {
    free(&*context::get(context)?, ptr, false)
}

/// `clMemBlockingFreeINTEL`: "waits for enqueued commands which use ptr to finish".
pub fn mem_blocking_free(context: cl_context, ptr: *mut c_void) -> Result<()> {
    free(&*context::get(context)?, ptr, true)
}

fn free(context: &Context, ptr: *mut c_void, blocking: bool) -> Result<()> {
    // "If ptr is NULL, no action occurs."
    if ptr.is_null() {
        return Ok(());
    }
    // "CL_INVALID_VALUE if ptr is not a value returned by clHostMemAllocINTEL, clDeviceMemAllocINTEL,
    // clSharedMemAllocINTEL, or a NULL pointer."
    let found = context.shared().find(ptr as u64);
    let is_base = found.is_some_and(|memory| {
        memory.address() == ptr as u64 && matches!(memory.origin(), Origin::Unified { .. })
    });
    if !is_base {
        return Err(Error::invalid_value(format!("{ptr:p} is no allocation")));
    }
    if blocking {
        // Any command may use it, as kernels follow pointers.
        for queue in context.queues() {
            queue.finish()?;
        }
    }
    context.shared().remove(ptr as u64);
    Ok(())
}

/// `clGetMemAllocInfoINTEL`
pub fn get_mem_alloc_info(
    context: cl_context,
    ptr: *const c_void,
    param_name: cl_mem_info_intel,
    info: Info,
) -> Result<Written> {
    let context = context::get(context)?;
    let memory = context.shared().find(ptr as u64);
    let found = memory.as_ref().and_then(|memory| match memory.origin() {
        Origin::Unified {
            kind,
            flags,
            device,
        } => Some((memory, *kind, *flags, *device)),
        Origin::Svm { .. } => None,
    });
    if u64::from(param_name) == CL_MEM_ALLOC_FLAGS_INTEL {
        return info.value::<cl_ulong>(found.map_or(0, |(_, _, flags, _)| flags));
    }
    match param_name {
        CL_MEM_ALLOC_TYPE_INTEL => info.value::<cl_uint>(match found {
            None => CL_MEM_TYPE_UNKNOWN_INTEL,
            Some((_, UnifiedKind::Host, ..)) => CL_MEM_TYPE_HOST_INTEL,
            Some((_, UnifiedKind::Device, ..)) => CL_MEM_TYPE_DEVICE_INTEL,
            Some((_, UnifiedKind::Shared, ..)) => CL_MEM_TYPE_SHARED_INTEL,
        }),
        CL_MEM_ALLOC_BASE_PTR_INTEL => {
            info.value(found.map_or(0, |(memory, ..)| memory.address()) as usize as *mut c_void)
        }
        CL_MEM_ALLOC_SIZE_INTEL => {
            info.value::<usize>(found.map_or(0, |(memory, ..)| memory.size_bytes()))
        }
        CL_MEM_ALLOC_DEVICE_INTEL => {
            let device = found.and_then(|(.., device)| context.devices().get(device?));
            info.handle_or_null(device.map(|device| &**device))
        }
        _ => Err(Error::unknown_query(param_name)),
    }
}

/// Checks `param_name` of `clSetKernelExecInfo` against the devices: "CL_INVALID_OPERATION if param_name is
/// CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL and no devices in the context associated with kernel support host
/// Unified Shared Memory allocations.", and so on.
pub(super) fn check_exec_info(context: &Context, param_name: cl_kernel_exec_info) -> Result<()> {
    let capabilities: fn(&Device) -> Capabilities = match param_name {
        CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL => host_capabilities,
        CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL => single_device_capabilities,
        // Every device has memory of its own.
        _ => return Ok(()),
    };
    if context.devices().iter().all(|it| capabilities(it) == 0) {
        Err(unsupported("memory of the kind in param_name"))
    } else {
        Ok(())
    }
}

/// `clEnqueueMemFillINTEL`
///
/// # Safety
/// `pattern` is NULL or readable for `pattern_size` bytes; `dst_ptr`, where it is host memory, is writable for
/// `size` bytes until the command is done.
pub unsafe fn enqueue_mem_fill(
    command_queue: cl_command_queue,
    dst_ptr: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    // SAFETY: the caller's promise.
    let pattern = unsafe { fill_pattern(dst_ptr, pattern, pattern_size, size) }?;
    let wait_list = enqueue::wait_list(&queue, &events)?;
    let event = enqueue_shared_fill(
        &queue,
        CL_COMMAND_MEMFILL_INTEL,
        &device_region(&queue, dst_ptr, size)?,
        size,
        pattern,
        &wait_list,
    )?;
    events.give(event);
    Ok(())
}

/// `clEnqueueMemcpyINTEL`
///
/// # Safety
/// Host memory among the pointers is valid for `size` bytes until the command is done.
pub unsafe fn enqueue_memcpy(
    command_queue: cl_command_queue,
    blocking: cl_bool,
    dst_ptr: *mut c_void,
    src_ptr: *const c_void,
    size: usize,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    // "CL_INVALID_VALUE if either dst_ptr or src_ptr are NULL."
    if dst_ptr.is_null() || src_ptr.is_null() {
        return Err(Error::invalid_value("dst_ptr or src_ptr is NULL"));
    }
    let wait_list = enqueue::wait_list(&queue, &events)?;
    check_overlap(dst_ptr, src_ptr, size)?;
    let event = enqueue_shared_copy(
        &queue,
        CL_COMMAND_MEMCPY_INTEL,
        &region(&queue, dst_ptr, size)?,
        &region(&queue, src_ptr, size)?,
        size,
        blocking != CL_FALSE,
        &wait_list,
    )?;
    events.give(event);
    Ok(())
}

/// `clEnqueueMigrateMemINTEL`: memory has one place, which is the right one.
pub fn enqueue_migrate_mem(
    command_queue: cl_command_queue,
    ptr: *const c_void,
    _size: usize,
    flags: cl_mem_migration_flags,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    // "CL_INVALID_VALUE if flags is not a supported combination of memory migration flags."
    let known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    if ptr.is_null() || flags & !known != 0 {
        return Err(Error::invalid_value("ptr is NULL or flags are not valid"));
    }
    let wait_list = enqueue::wait_list(&queue, &events)?;
    let event = enqueue_empty(&queue, CL_COMMAND_MIGRATEMEM_INTEL, false, &wait_list)?;
    events.give(event);
    Ok(())
}

/// `clEnqueueMemAdviseINTEL`: no advice changes anything.
pub fn enqueue_mem_advise(
    command_queue: cl_command_queue,
    ptr: *const c_void,
    _size: usize,
    _advice: cl_mem_advice_intel,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue_with(command_queue, &events)?;
    if ptr.is_null() {
        return Err(Error::invalid_value("ptr is NULL"));
    }
    let wait_list = enqueue::wait_list(&queue, &events)?;
    let event = enqueue_empty(&queue, CL_COMMAND_MEMADVISE_INTEL, false, &wait_list)?;
    events.give(event);
    Ok(())
}

fn unsupported(what: &'static str) -> Error {
    Error::new(CL_INVALID_OPERATION, format!("the device has no {what}"))
}
