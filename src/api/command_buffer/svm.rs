//! Recording commands on shared virtual memory.

use super::super::error::{Error, Result};
use super::arguments::{Recording, SyncPointArguments};
use opencl_sys::{
    CL_INVALID_OPERATION, cl_command_buffer_khr, cl_command_properties_khr, cl_command_queue,
};
use std::ffi::c_void;

/// "CL_INVALID_OPERATION if the device associated with command queue does not support SVM."
fn unsupported() -> Error {
    Error::unsupported(CL_INVALID_OPERATION, "shared virtual memory")
}

/// `clCommandSVMMemcpyKHR`
///
/// # Safety
/// `properties` is NULL or ends with 0.
pub unsafe fn command_svm_memcpy(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    _dst_ptr: *mut c_void,
    _src_ptr: *const c_void,
    _size: usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { Recording::begin(command_buffer, command_queue, properties, arguments) }?;
    Err(unsupported())
}

/// `clCommandSVMMemFillKHR`
///
/// # Safety
/// As [`command_svm_memcpy`].
pub unsafe fn command_svm_mem_fill(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    _svm_ptr: *mut c_void,
    _pattern: *const c_void,
    _pattern_size: usize,
    _size: usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { Recording::begin(command_buffer, command_queue, properties, arguments) }?;
    Err(unsupported())
}
