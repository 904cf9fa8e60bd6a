//! Pipes: an optional feature, `CL_DEVICE_PIPE_SUPPORT` is false.

use super::context;
use super::error::{Error, Result};
use super::out::{Info, Written};
use opencl_sys::{
    CL_INVALID_MEM_OBJECT, CL_INVALID_OPERATION, cl_context, cl_mem, cl_mem_flags, cl_pipe_info,
    cl_pipe_properties, cl_uint,
};

/// `clCreatePipe` (section 5.4.1)
pub fn create_pipe(
    context: cl_context,
    _flags: cl_mem_flags,
    _pipe_packet_size: cl_uint,
    _pipe_max_packets: cl_uint,
    _properties: *const cl_pipe_properties,
) -> Result<cl_mem> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    context::get(context)?;
    // "CL_INVALID_OPERATION if no devices in context support pipes."
    Err(Error::unsupported(CL_INVALID_OPERATION, "pipes"))
}

/// `clGetPipeInfo` (section 5.4.2)
pub fn get_pipe_info(pipe: cl_mem, _param_name: cl_pipe_info, _info: Info) -> Result<Written> {
    // "CL_INVALID_MEM_OBJECT if pipe is not a valid pipe object", and nothing is one.
    Err(Error::new(
        CL_INVALID_MEM_OBJECT,
        format!("{pipe:p} is not a pipe: there are none"),
    ))
}
