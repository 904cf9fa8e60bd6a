//! Kernels and their arguments.

use super::error::{Error, Result};
use opencl_sys::{CL_INVALID_OPERATION, cl_kernel, cl_kernel_exec_info, cl_program, cl_uint};
use std::ffi::{c_char, c_void};

/// `clCreateKernel`
pub fn create_kernel(_program: cl_program, _kernel_name: *const c_char) -> Result<cl_kernel> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clCreateKernelsInProgram`
pub fn create_kernels_in_program(
    _program: cl_program,
    _num_kernels: cl_uint,
    _kernels: *mut cl_kernel,
    _num_kernels_ret: *mut cl_uint,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clRetainKernel`
pub fn retain_kernel(_kernel: cl_kernel) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clReleaseKernel`
pub fn release_kernel(_kernel: cl_kernel) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clSetKernelArg`
pub fn set_kernel_arg(
    _kernel: cl_kernel,
    _arg_index: cl_uint,
    _arg_size: usize,
    _arg_value: *const c_void,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clSetKernelArgSVMPointer`
pub fn set_kernel_arg_svm_pointer(
    _kernel: cl_kernel,
    _arg_index: cl_uint,
    _arg_value: *const c_void,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clSetKernelExecInfo`
pub fn set_kernel_exec_info(
    _kernel: cl_kernel,
    _param_name: cl_kernel_exec_info,
    _param_value_size: usize,
    _param_value: *const c_void,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clCloneKernel`
pub fn clone_kernel(_source_kernel: cl_kernel) -> Result<cl_kernel> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
