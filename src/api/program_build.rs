//! Building programs.

use super::error::{Error, Result};
use super::out::{Info, Written};
use crate::runtime::callback::ProgramNotify;
use opencl_sys::{
    CL_INVALID_OPERATION, cl_context, cl_device_id, cl_program, cl_program_build_info, cl_uint,
};
use std::ffi::{c_char, c_void};

/// `clBuildProgram`
pub fn build_program(
    _program: cl_program,
    _num_devices: cl_uint,
    _device_list: *const cl_device_id,
    _options: *const c_char,
    _pfn_notify: ProgramNotify,
    _user_data: *mut c_void,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clGetProgramBuildInfo`
pub fn get_program_build_info(
    _program: cl_program,
    _device: cl_device_id,
    _param_name: cl_program_build_info,
    _info: Info,
) -> Result<Written> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clCompileProgram`
pub fn compile_program(
    _program: cl_program,
    _num_devices: cl_uint,
    _device_list: *const cl_device_id,
    _options: *const c_char,
    _num_input_headers: cl_uint,
    _input_headers: *const cl_program,
    _header_include_names: *mut *const c_char,
    _pfn_notify: ProgramNotify,
    _user_data: *mut c_void,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clLinkProgram`
pub fn link_program(
    _context: cl_context,
    _num_devices: cl_uint,
    _device_list: *const cl_device_id,
    _options: *const c_char,
    _num_input_programs: cl_uint,
    _input_programs: *const cl_program,
    _pfn_notify: ProgramNotify,
    _user_data: *mut c_void,
) -> Result<cl_program> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
