//! Shared virtual memory: `CL_DEVICE_SVM_CAPABILITIES` is 0, so there is none to work on.

use super::error::{Error, Result};
use super::out::EventArguments;
use super::{context, handle};
use crate::runtime::callback::SvmFree;
use crate::runtime::queue::Queue;
use opencl_sys::{
    CL_INVALID_OPERATION, cl_bool, cl_command_queue, cl_context, cl_map_flags,
    cl_mem_migration_flags, cl_svm_mem_flags, cl_uint,
};
use std::ffi::c_void;

/// `clSVMAlloc` (section 5.6.1)
pub fn svm_alloc(
    context: cl_context,
    _flags: cl_svm_mem_flags,
    _size: usize,
    _alignment: cl_uint,
) -> Result<*mut c_void> {
    // "clSVMAlloc will fail if context is not a valid context, or no device in context supports SVM."
    context::get(context)?;
    Err(Error::unsupported(CL_INVALID_OPERATION, "SVM"))
}

/// `clSVMFree` (section 5.6.1)
pub fn svm_free(context: cl_context, svm_pointer: *mut c_void) -> Result<()> {
    // "If svm_pointer is NULL, clSVMFree has no effect."
    if svm_pointer.is_null() {
        return Ok(());
    }
    context::get(context)?;
    // No other pointer came from clSVMAlloc.
    Err(Error::invalid_value(format!(
        "{svm_pointer:p} is not shared memory of this context"
    )))
}

/// `clEnqueueSVMFree` (section 5.6.2)
pub fn enqueue_svm_free(
    command_queue: cl_command_queue,
    _num_svm_pointers: cl_uint,
    _svm_pointers: *mut *mut c_void,
    _pfn_free_func: SvmFree,
    _user_data: *mut c_void,
    _events: EventArguments,
) -> Result<()> {
    Err(unsupported(command_queue))
}

/// `clEnqueueSVMMemcpy` (section 5.6.2)
pub fn enqueue_svm_memcpy(
    command_queue: cl_command_queue,
    _blocking_copy: cl_bool,
    _dst_ptr: *mut c_void,
    _src_ptr: *const c_void,
    _size: usize,
    _events: EventArguments,
) -> Result<()> {
    Err(unsupported(command_queue))
}

/// `clEnqueueSVMMemFill` (section 5.6.2)
pub fn enqueue_svm_mem_fill(
    command_queue: cl_command_queue,
    _svm_ptr: *mut c_void,
    _pattern: *const c_void,
    _pattern_size: usize,
    _size: usize,
    _events: EventArguments,
) -> Result<()> {
    Err(unsupported(command_queue))
}

/// `clEnqueueSVMMap` (section 5.6.2)
pub fn enqueue_svm_map(
    command_queue: cl_command_queue,
    _blocking_map: cl_bool,
    _flags: cl_map_flags,
    _svm_ptr: *mut c_void,
    _size: usize,
    _events: EventArguments,
) -> Result<()> {
    Err(unsupported(command_queue))
}

/// `clEnqueueSVMUnmap` (section 5.6.2)
pub fn enqueue_svm_unmap(
    command_queue: cl_command_queue,
    _svm_ptr: *mut c_void,
    _events: EventArguments,
) -> Result<()> {
    Err(unsupported(command_queue))
}

/// `clEnqueueSVMMigrateMem` (section 5.6.2)
pub fn enqueue_svm_migrate_mem(
    command_queue: cl_command_queue,
    _num_svm_pointers: cl_uint,
    _svm_pointers: *mut *const c_void,
    _sizes: *const usize,
    _flags: cl_mem_migration_flags,
    _events: EventArguments,
) -> Result<()> {
    Err(unsupported(command_queue))
}

fn unsupported(command_queue: cl_command_queue) -> Error {
    // "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue."
    if let Err(error) = handle::get::<Queue>(command_queue) {
        return error;
    }
    // "CL_INVALID_OPERATION if the device associated with command_queue does not support SVM."
    Error::unsupported(CL_INVALID_OPERATION, "SVM")
}
