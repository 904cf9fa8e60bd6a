//! Recording copies and fills of shared virtual memory.

use super::super::error::{Error, Result};
use super::super::shared_region::device_region;
use super::super::svm::{capabilities, check_overlap, fill_pattern};
use super::arguments::{Recording, SyncPointArguments};
use crate::runtime::command_buffer::{NewCommand, Origin, shared};
use opencl_sys::{cl_command_buffer_khr, cl_command_properties_khr, cl_command_queue};
use std::ffi::c_void;

/// "CL_INVALID_OPERATION if the device associated with command queue does not support SVM."
fn check_support(recording: &Recording) -> Result<()> {
    match capabilities(recording.queue.device()) {
        0 => Err(Error::invalid_operation(
            "the queue's device does not support SVM",
        )),
        _ => Ok(()),
    }
}

/// `clCommandSVMMemcpyKHR`
///
/// # Safety
/// `properties` is NULL or ends with 0; host memory among the pointers stays valid for as long as the command
/// buffer may be executed.
pub unsafe fn command_svm_memcpy(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    dst_ptr: *mut c_void,
    src_ptr: *const c_void,
    size: usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let recording =
        unsafe { Recording::begin(command_buffer, command_queue, properties, arguments) }?;
    check_support(&recording)?;
    // "CL_INVALID_VALUE if dst_ptr or src_ptr is NULL."
    if dst_ptr.is_null() || src_ptr.is_null() {
        return Err(Error::invalid_value("dst_ptr or src_ptr is NULL"));
    }
    let wait_list = recording.wait_list()?;
    check_overlap(dst_ptr, src_ptr, size)?;
    let (target, source) = (
        device_region(&recording.queue, dst_ptr, size)?,
        device_region(&recording.queue, src_ptr, size)?,
    );
    // SAFETY: the caller's promise.
    let (command, accesses_anything) =
        unsafe { shared::copy(&recording.queue, &target, &source, size) }?;
    let new = NewCommand {
        accesses_anything,
        ..NewCommand::new(command, Origin::Addresses)
    };
    recording.finish(&wait_list, new)
}

/// `clCommandSVMMemFillKHR`
///
/// # Safety
/// As [`command_svm_memcpy`]; `pattern` is NULL or readable for `pattern_size` bytes.
pub unsafe fn command_svm_mem_fill(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    svm_ptr: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let recording =
        unsafe { Recording::begin(command_buffer, command_queue, properties, arguments) }?;
    check_support(&recording)?;
    // SAFETY: the caller's promise.
    let pattern = unsafe { fill_pattern(svm_ptr, pattern, pattern_size, size) }?;
    let wait_list = recording.wait_list()?;
    let target = device_region(&recording.queue, svm_ptr, size)?;
    // SAFETY: the caller's promise.
    let (command, accesses_anything) =
        unsafe { shared::fill(&recording.queue, &target, size, pattern) }?;
    let new = NewCommand {
        accesses_anything,
        ..NewCommand::new(command, Origin::Addresses)
    };
    recording.finish(&wait_list, new)
}
