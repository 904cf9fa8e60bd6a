//! Shared virtual memory.

use super::error::{Error, Result};
use super::out::EventArguments;
use crate::runtime::callback::SvmFree;
use opencl_sys::{
    CL_INVALID_OPERATION, cl_bool, cl_command_queue, cl_context, cl_map_flags,
    cl_mem_migration_flags, cl_svm_mem_flags, cl_uint,
};
use std::ffi::c_void;

/// `clSVMAlloc`
pub fn svm_alloc(
    _context: cl_context,
    _flags: cl_svm_mem_flags,
    _size: usize,
    _alignment: cl_uint,
) -> Result<*mut c_void> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clSVMFree`
pub fn svm_free(_context: cl_context, _svm_pointer: *mut c_void) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueSVMFree`
pub fn enqueue_svm_free(
    _command_queue: cl_command_queue,
    _num_svm_pointers: cl_uint,
    _svm_pointers: *mut *mut c_void,
    _pfn_free_func: SvmFree,
    _user_data: *mut c_void,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueSVMMemcpy`
pub fn enqueue_svm_memcpy(
    _command_queue: cl_command_queue,
    _blocking_copy: cl_bool,
    _dst_ptr: *mut c_void,
    _src_ptr: *const c_void,
    _size: usize,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueSVMMemFill`
pub fn enqueue_svm_mem_fill(
    _command_queue: cl_command_queue,
    _svm_ptr: *mut c_void,
    _pattern: *const c_void,
    _pattern_size: usize,
    _size: usize,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueSVMMap`
pub fn enqueue_svm_map(
    _command_queue: cl_command_queue,
    _blocking_map: cl_bool,
    _flags: cl_map_flags,
    _svm_ptr: *mut c_void,
    _size: usize,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueSVMUnmap`
pub fn enqueue_svm_unmap(
    _command_queue: cl_command_queue,
    _svm_ptr: *mut c_void,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueSVMMigrateMem`
pub fn enqueue_svm_migrate_mem(
    _command_queue: cl_command_queue,
    _num_svm_pointers: cl_uint,
    _svm_pointers: *mut *const c_void,
    _sizes: *const usize,
    _flags: cl_mem_migration_flags,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
