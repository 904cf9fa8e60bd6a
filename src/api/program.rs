//! Programs.

use super::error::{Error, Result};
use super::out::{Info, Written};
use crate::runtime::callback::ProgramNotify;
use opencl_sys::{
    CL_INVALID_OPERATION, cl_context, cl_device_id, cl_int, cl_program, cl_program_info, cl_uint,
};
use std::ffi::{c_char, c_void};

/// `clCreateProgramWithSource`
pub fn create_program_with_source(
    _context: cl_context,
    _count: cl_uint,
    _strings: *mut *const c_char,
    _lengths: *const usize,
) -> Result<cl_program> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clCreateProgramWithBinary`
pub fn create_program_with_binary(
    _context: cl_context,
    _num_devices: cl_uint,
    _device_list: *const cl_device_id,
    _lengths: *const usize,
    _binaries: *mut *const ::core::ffi::c_uchar,
    _binary_status: *mut cl_int,
) -> Result<cl_program> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clRetainProgram`
pub fn retain_program(_program: cl_program) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clReleaseProgram`
pub fn release_program(_program: cl_program) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clGetProgramInfo`
pub fn get_program_info(
    _program: cl_program,
    _param_name: cl_program_info,
    _info: Info,
) -> Result<Written> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clCreateProgramWithBuiltInKernels`
pub fn create_program_with_built_in_kernels(
    _context: cl_context,
    _num_devices: cl_uint,
    _device_list: *const cl_device_id,
    _kernel_names: *const c_char,
) -> Result<cl_program> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clCreateProgramWithIL`
pub fn create_program_with_il(
    _context: cl_context,
    _il: *const c_void,
    _length: usize,
) -> Result<cl_program> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clSetProgramReleaseCallback`
pub fn set_program_release_callback(
    _program: cl_program,
    _pfn_notify: ProgramNotify,
    _user_data: *mut c_void,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clSetProgramSpecializationConstant`
pub fn set_program_specialization_constant(
    _program: cl_program,
    _spec_id: cl_uint,
    _spec_size: usize,
    _spec_value: *const c_void,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
