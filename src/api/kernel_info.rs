//! Queries on kernels.

use super::error::{Error, Result};
use super::out::{Info, Written};
use opencl_sys::{
    CL_INVALID_OPERATION, cl_command_queue, cl_device_id, cl_kernel, cl_kernel_arg_info,
    cl_kernel_info, cl_kernel_sub_group_info, cl_kernel_work_group_info, cl_uint,
};
use std::ffi::c_void;

/// `clGetKernelInfo`
pub fn get_kernel_info(
    _kernel: cl_kernel,
    _param_name: cl_kernel_info,
    _info: Info,
) -> Result<Written> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clGetKernelWorkGroupInfo`
pub fn get_kernel_work_group_info(
    _kernel: cl_kernel,
    _device: cl_device_id,
    _param_name: cl_kernel_work_group_info,
    _info: Info,
) -> Result<Written> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clGetKernelArgInfo`
pub fn get_kernel_arg_info(
    _kernel: cl_kernel,
    _arg_index: cl_uint,
    _param_name: cl_kernel_arg_info,
    _info: Info,
) -> Result<Written> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clGetKernelSubGroupInfo`
pub fn get_kernel_sub_group_info(
    _kernel: cl_kernel,
    _device: cl_device_id,
    _param_name: cl_kernel_sub_group_info,
    _input_value_size: usize,
    _input_value: *const c_void,
    _info: Info,
) -> Result<Written> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clGetKernelSuggestedLocalWorkSize`
pub fn get_kernel_suggested_local_work_size(
    _command_queue: cl_command_queue,
    _kernel: cl_kernel,
    _work_dim: cl_uint,
    _global_work_offset: *const usize,
    _global_work_size: *const usize,
    _suggested_local_work_size: *mut usize,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
