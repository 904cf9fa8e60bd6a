//! Running kernels.

use super::error::{Error, Result};
use super::out::EventArguments;
use crate::runtime::callback::NativeKernel;
use opencl_sys::{CL_INVALID_OPERATION, cl_command_queue, cl_kernel, cl_mem, cl_uint};
use std::ffi::c_void;

/// `clEnqueueNDRangeKernel`
pub fn enqueue_nd_range_kernel(
    _command_queue: cl_command_queue,
    _kernel: cl_kernel,
    _work_dim: cl_uint,
    _global_work_offset: *const usize,
    _global_work_size: *const usize,
    _local_work_size: *const usize,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueTask`
pub fn enqueue_task(
    _command_queue: cl_command_queue,
    _kernel: cl_kernel,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueNativeKernel`
pub fn enqueue_native_kernel(
    _command_queue: cl_command_queue,
    _user_func: NativeKernel,
    _args: *mut c_void,
    _cb_args: usize,
    _num_mem_objects: cl_uint,
    _mem_list: *const cl_mem,
    _args_mem_loc: *mut *const c_void,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
