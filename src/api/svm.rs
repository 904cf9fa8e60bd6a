//! Shared virtual memory (section 5.6).

use super::error::{Error, Result};
use super::out::EventArguments;
use super::shared_region::{device_region, region};
use super::{context, enqueue, enqueue_map, handle};
use crate::runtime::context::Context;
use crate::runtime::device::Device;
use crate::runtime::host::process;
use crate::runtime::object::callback::{SvmFree, UserData};
use crate::runtime::object::registry::Object;
use crate::runtime::queue::Queue;
use crate::runtime::queue::host_commands::enqueue_host_job;
use crate::runtime::residency::shared::{Access, Origin};
use crate::runtime::transfer::shared_commands::Job;
use crate::runtime::transfer::shared_commands::{
    enqueue_empty, enqueue_shared_copy, enqueue_shared_fill, enqueue_shared_map,
    enqueue_shared_unmap,
};
use opencl_sys::{
    CL_COMMAND_SVM_FREE, CL_COMMAND_SVM_MEMCPY, CL_COMMAND_SVM_MEMFILL, CL_COMMAND_SVM_MIGRATE_MEM,
    CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, CL_DEVICE_SVM_FINE_GRAIN_BUFFER,
    CL_DEVICE_SVM_FINE_GRAIN_SYSTEM, CL_FALSE, CL_MEM_COPY_OVERLAP, CL_MEM_READ_ONLY,
    CL_MEM_READ_WRITE, CL_MEM_SVM_ATOMICS, CL_MEM_SVM_FINE_GRAIN_BUFFER, CL_MEM_WRITE_ONLY,
    CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, CL_MIGRATE_MEM_OBJECT_HOST, cl_bool, cl_command_queue,
    cl_context, cl_device_svm_capabilities, cl_map_flags, cl_mem_migration_flags, cl_svm_mem_flags,
    cl_uint,
};
use std::ffi::c_void;
use std::sync::Arc;

/// The largest type of OpenCL C, `long16`, in bytes.
pub(super) const LARGEST_TYPE_BYTES: cl_uint = 128;

/// `CL_DEVICE_SVM_CAPABILITIES`
pub fn capabilities(device: &Device) -> cl_device_svm_capabilities {
    let works = device.unification();
    let mut capabilities = 0;
    if works.shadow || works.direct.is_some() {
        capabilities |= CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
    }
    if works.direct.is_some() {
        capabilities |= CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
    }
    if works.any_host_memory {
        capabilities |= CL_DEVICE_SVM_FINE_GRAIN_SYSTEM;
    }
    capabilities
}

/// `clSVMAlloc` (section 5.6.1)
pub fn svm_alloc(
    context: cl_context,
    flags: cl_svm_mem_flags,
    size: usize,
    alignment: cl_uint,
) -> Result<*mut c_void> {
    // "clSVMAlloc will fail if context is not a valid context, or no devices in context support SVM."
    let context = context::get(context)?;
    check_support(&context)?;
    // "… if flags does not contain CL_MEM_SVM_FINE_GRAIN_BUFFER but does contain CL_MEM_SVM_ATOMICS."
    let fine = flags & CL_MEM_SVM_FINE_GRAIN_BUFFER != 0;
    let atomics = flags & CL_MEM_SVM_ATOMICS != 0;
    if atomics && !fine {
        return Err(Error::invalid_value(
            "CL_MEM_SVM_ATOMICS needs CL_MEM_SVM_FINE_GRAIN_BUFFER",
        ));
    }
    // "… if the values specified in flags do not follow rules for that particular buffer type", "… values
    // specified in flags are not valid".
    let accesses = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
    let known = accesses | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
    if flags & !known != 0 || (flags & accesses).count_ones() > 1 {
        return Err(Error::invalid_value(format!(
            "flags {flags:#x} are not valid"
        )));
    }
    // "… CL_MEM_SVM_FINE_GRAIN_BUFFER or CL_MEM_SVM_ATOMICS is specified in flags and these are not supported
    // by at least one device in context."
    let devices = context.devices();
    let supported = devices.iter().any(|device| {
        let capabilities = capabilities(device);
        (!fine || capabilities & CL_DEVICE_SVM_FINE_GRAIN_BUFFER != 0)
            && (!atomics || capabilities & opencl_sys::CL_DEVICE_SVM_ATOMICS != 0)
    });
    if !supported {
        return Err(Error::invalid_operation(
            "no device has shared memory of the kind in flags",
        ));
    }
    // "… size is 0 or > CL_DEVICE_MAX_MEM_ALLOC_SIZE value for any device in context."
    check_size(context.devices(), size)?;
    // "… alignment is not a power of two or the OpenCL implementation cannot support the specified alignment
    // for at least one device in context."
    if alignment != 0 && (!alignment.is_power_of_two() || alignment > LARGEST_TYPE_BYTES) {
        return Err(Error::invalid_value(format!("alignment is {alignment}")));
    }
    let access = if fine { Access::Any } else { Access::Mapped };
    let memory =
        context
            .shared()
            .allocate(context.devices(), size, Origin::Svm { flags }, access, None)?;
    Ok(memory.address() as usize as *mut c_void)
}

/// "size is 0 or > CL_DEVICE_MAX_MEM_ALLOC_SIZE value for any device in context."
pub(super) fn check_size(devices: &[Arc<Device>], size_bytes: usize) -> Result<()> {
    let fits = |device: &Arc<Device>| size_bytes as u64 <= device.limits().max_allocation_bytes;
    if size_bytes == 0 || !devices.iter().all(fits) {
        return Err(Error::new(
            opencl_sys::CL_INVALID_BUFFER_SIZE,
            format!("size is {size_bytes}"),
        ));
    }
    Ok(())
}

/// "CL_INVALID_OPERATION if no devices in the context … support SVM."
pub(super) fn check_support(context: &Context) -> Result<()> {
    if context.devices().iter().any(|it| capabilities(it) != 0) {
        Ok(())
    } else {
        Err(Error::invalid_operation("no device supports SVM"))
    }
}

/// `clSVMFree` (section 5.6.1)
pub fn svm_free(context: cl_context, svm_pointer: *mut c_void) -> Result<()> {
    // "If svm_pointer is NULL, clSVMFree has no effect."
    if svm_pointer.is_null() {
        return Ok(());
    }
    let context = context::get(context)?;
    match context.shared().remove(svm_pointer as u64) {
        Some(_) => Ok(()),
        None => Err(Error::invalid_value(format!(
            "{svm_pointer:p} is not shared memory of this context"
        ))),
    }
}

/// "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue", "CL_INVALID_OPERATION if the
/// device associated with command_queue does not support SVM", and then the events' context.
fn queue(command_queue: cl_command_queue, events: &EventArguments) -> Result<Arc<Queue>> {
    if capabilities(enqueue::queue(command_queue)?.device()) == 0 {
        return Err(Error::invalid_operation(
            "the queue's device does not support SVM",
        ));
    }
    enqueue::queue_with(command_queue, events)
}

/// `clEnqueueSVMFree` (section 5.6.2)
///
/// # Safety
/// `svm_pointers` is NULL or holds `num_svm_pointers` pointers.
pub unsafe fn enqueue_svm_free(
    command_queue: cl_command_queue,
    num_svm_pointers: cl_uint,
    svm_pointers: *mut *mut c_void,
    pfn_free_func: SvmFree,
    user_data: *mut c_void,
    events: EventArguments,
) -> Result<()> {
    let queue = queue(command_queue, &events)?;
    // "CL_INVALID_VALUE if num_svm_pointers is 0 and svm_pointers is non-NULL, or if svm_pointers is NULL and
    // num_svm_pointers is not 0."
    // SAFETY: the caller's promise.
    let pointers =
        unsafe { handle::slice(svm_pointers, num_svm_pointers as usize, "svm_pointers") }?;
    let wait_list = enqueue::wait_list(&queue, &events)?;

    // "The svm_pointers array can be reused or freed after this call returns."
    let mut pointers: Vec<UserData> = pointers.iter().copied().map(UserData).collect();
    let user_data = UserData(user_data);
    let of_queue = Arc::clone(&queue);
    let job = match pfn_free_func {
        None => Job::Own(Box::new(move || {
            for UserData(pointer) in pointers {
                of_queue.context().shared().remove(pointer as u64);
            }
            Ok(())
        })),
        Some(free) => Job::CallsApplication(Box::new(move || {
            let user_data = user_data;
            let mut list: Vec<*mut c_void> = pointers.drain(..).map(|it| it.0).collect();
            let handle = of_queue.handle().as_ptr();
            // SAFETY: the application's function, called as the specification says.
            process::call_application(|| unsafe {
                free(
                    handle,
                    list.len() as cl_uint,
                    list.as_mut_ptr(),
                    user_data.0,
                );
            });
        })),
    };
    let event = enqueue_host_job(&queue, CL_COMMAND_SVM_FREE, job, false, &wait_list)?;
    events.give(event);
    Ok(())
}

/// `clEnqueueSVMMemcpy` (section 5.6.2)
///
/// # Safety
/// Host memory among the pointers is valid for `size` bytes until the command is done.
pub unsafe fn enqueue_svm_memcpy(
    command_queue: cl_command_queue,
    blocking_copy: cl_bool,
    dst_ptr: *mut c_void,
    src_ptr: *const c_void,
    size: usize,
    events: EventArguments,
) -> Result<()> {
    let queue = queue(command_queue, &events)?;
    // "CL_INVALID_VALUE if dst_ptr or src_ptr is NULL."
    if dst_ptr.is_null() || src_ptr.is_null() {
        return Err(Error::invalid_value("dst_ptr or src_ptr is NULL"));
    }
    let wait_list = enqueue::wait_list(&queue, &events)?;
    check_overlap(dst_ptr, src_ptr, size)?;
    let event = enqueue_shared_copy(
        &queue,
        CL_COMMAND_SVM_MEMCPY,
        &region(&queue, dst_ptr, size)?,
        &region(&queue, src_ptr, size)?,
        size,
        blocking_copy != CL_FALSE,
        &wait_list,
    )?;
    events.give(event);
    Ok(())
}

/// "CL_MEM_COPY_OVERLAP if the values specified for dst_ptr, src_ptr and size result in an overlapping copy."
pub(super) fn check_overlap(to: *mut c_void, from: *const c_void, size_bytes: usize) -> Result<()> {
    let (to, from) = (to as usize, from as usize);
    if to < from.saturating_add(size_bytes) && from < to.saturating_add(size_bytes) {
        return Err(Error::new(
            CL_MEM_COPY_OVERLAP,
            "the source and destination regions overlap",
        ));
    }
    Ok(())
}

/// `clEnqueueSVMMemFill` (section 5.6.2)
///
/// # Safety
/// `pattern` is NULL or readable for `pattern_size` bytes; `svm_ptr`, where it is host memory, is writable for
/// `size` bytes until the command is done.
pub unsafe fn enqueue_svm_mem_fill(
    command_queue: cl_command_queue,
    svm_ptr: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    events: EventArguments,
) -> Result<()> {
    let queue = queue(command_queue, &events)?;
    // SAFETY: the caller's promise.
    let pattern = unsafe { fill_pattern(svm_ptr, pattern, pattern_size, size) }?;
    let wait_list = enqueue::wait_list(&queue, &events)?;
    let event = enqueue_shared_fill(
        &queue,
        CL_COMMAND_SVM_MEMFILL,
        &device_region(&queue, svm_ptr, size)?,
        size,
        pattern,
        &wait_list,
    )?;
    events.give(event);
    Ok(())
}

/// The pattern of a fill of `size_bytes` at `pointer`.
///
/// # Safety
/// `pattern` is NULL or readable for `pattern_size` bytes.
pub(super) unsafe fn fill_pattern<'a>(
    pointer: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size_bytes: usize,
) -> Result<&'a [u8]> {
    // "CL_INVALID_VALUE if svm_ptr is NULL."
    if pointer.is_null() {
        return Err(Error::invalid_value("the pointer to fill is NULL"));
    }
    // "CL_INVALID_VALUE if pattern is NULL or if pattern_size is 0 or if pattern_size is not one of
    // { 1, 2, 4, 8, 16, 32, 64, 128 }."
    if pattern.is_null() || !pattern_size.is_power_of_two() || pattern_size > 128 {
        return Err(Error::invalid_value(format!(
            "pattern is NULL or pattern_size {pattern_size} is not a power of two up to 128"
        )));
    }
    // "CL_INVALID_VALUE if svm_ptr is not aligned to pattern_size bytes."
    // "CL_INVALID_VALUE if size is not a multiple of pattern_size."
    if !(pointer as usize).is_multiple_of(pattern_size) || !size_bytes.is_multiple_of(pattern_size)
    {
        return Err(Error::invalid_value(format!(
            "{pointer:?} or {size_bytes} is not a multiple of pattern_size {pattern_size}"
        )));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(pattern.cast(), pattern_size) })
}

/// `clEnqueueSVMMap` (section 5.6.2)
pub fn enqueue_svm_map(
    command_queue: cl_command_queue,
    blocking_map: cl_bool,
    flags: cl_map_flags,
    svm_ptr: *mut c_void,
    size: usize,
    events: EventArguments,
) -> Result<()> {
    let queue = queue(command_queue, &events)?;
    // "CL_INVALID_VALUE if svm_ptr is NULL.", "CL_INVALID_VALUE if size is 0 or if values specified in map_flags
    // are not valid."
    if svm_ptr.is_null() || size == 0 {
        return Err(Error::invalid_value("svm_ptr is NULL or size is 0"));
    }
    enqueue_map::check_map_flags(flags)?;
    let wait_list = enqueue::wait_list(&queue, &events)?;
    let event = enqueue_shared_map(
        &queue,
        &region(&queue, svm_ptr, size)?,
        size,
        flags,
        blocking_map != CL_FALSE,
        &wait_list,
    )?;
    events.give(event);
    Ok(())
}

/// `clEnqueueSVMUnmap` (section 5.6.2)
pub fn enqueue_svm_unmap(
    command_queue: cl_command_queue,
    svm_ptr: *mut c_void,
    events: EventArguments,
) -> Result<()> {
    let queue = queue(command_queue, &events)?;
    // "CL_INVALID_VALUE if svm_ptr is NULL."
    if svm_ptr.is_null() {
        return Err(Error::invalid_value("svm_ptr is NULL"));
    }
    let wait_list = enqueue::wait_list(&queue, &events)?;
    let target = queue.context().shared().pointed(svm_ptr);
    let event = enqueue_shared_unmap(&queue, &target, &wait_list)?;
    events.give(event);
    Ok(())
}

/// `clEnqueueSVMMigrateMem` (section 5.6.2)
///
/// # Safety
/// `svm_pointers` is NULL or holds `num_svm_pointers` pointers; so does `sizes`.
pub unsafe fn enqueue_svm_migrate_mem(
    command_queue: cl_command_queue,
    num_svm_pointers: cl_uint,
    svm_pointers: *mut *const c_void,
    sizes: *const usize,
    flags: cl_mem_migration_flags,
    events: EventArguments,
) -> Result<()> {
    let queue = queue(command_queue, &events)?;
    // "CL_INVALID_VALUE if num_svm_pointers is zero or svm_pointers is NULL."
    if num_svm_pointers == 0 || svm_pointers.is_null() {
        return Err(Error::invalid_value(
            "num_svm_pointers is 0 or svm_pointers is NULL",
        ));
    }
    let count = num_svm_pointers as usize;
    // SAFETY: the caller's promise.
    let pointers = unsafe { std::slice::from_raw_parts(svm_pointers, count) };
    // "sizes may be NULL, indicating that … each of the pointers … must be … allocations".
    let sizes = if sizes.is_null() {
        &[]
    } else {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(sizes, count) }
    };
    // "CL_INVALID_VALUE if sizes[i] is non-zero range [svm_pointers[i], svm_pointers[i]+sizes[i]) is not
    // contained within an existing clSVMAlloc allocation."
    for (index, &pointer) in pointers.iter().enumerate() {
        let size_bytes = sizes.get(index).copied().unwrap_or(0);
        let found = queue.context().shared().find(pointer as u64);
        let is_within = found.is_some_and(|memory| {
            matches!(memory.origin(), Origin::Svm { .. })
                && memory.contains(pointer as u64, size_bytes)
        });
        if !is_within {
            return Err(Error::invalid_value(format!(
                "svm_pointers[{index}] is not within shared memory of the context"
            )));
        }
    }
    // "CL_INVALID_VALUE if flags is not 0 or is not any of the values described in the table above."
    let known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    if flags & !known != 0 {
        return Err(Error::invalid_value(format!(
            "flags {flags:#x} holds unknown bits"
        )));
    }
    let wait_list = enqueue::wait_list(&queue, &events)?;
    // The memory has one place, which is the right one.
    let event = enqueue_empty(&queue, CL_COMMAND_SVM_MIGRATE_MEM, false, &wait_list)?;
    events.give(event);
    Ok(())
}
