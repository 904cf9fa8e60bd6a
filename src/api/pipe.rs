//! Pipes.

use super::error::{Error, Result};
use super::out::{Info, Written};
use opencl_sys::{
    CL_INVALID_OPERATION, cl_context, cl_mem, cl_mem_flags, cl_pipe_info, cl_pipe_properties,
    cl_uint,
};

/// `clCreatePipe`
pub fn create_pipe(
    _context: cl_context,
    _flags: cl_mem_flags,
    _pipe_packet_size: cl_uint,
    _pipe_max_packets: cl_uint,
    _properties: *const cl_pipe_properties,
) -> Result<cl_mem> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clGetPipeInfo`
pub fn get_pipe_info(_pipe: cl_mem, _param_name: cl_pipe_info, _info: Info) -> Result<Written> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
