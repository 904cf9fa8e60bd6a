//! Pipes (section 5.4).

use super::error::{Error, Result};
use super::out::{Info, Written};
use super::{context, handle};
use crate::runtime::device::limits::MAX_PIPE_PACKET_BYTES;
use crate::runtime::memory::{Memory, Pipe};
use opencl_sys::{
    CL_INVALID_MEM_OBJECT, CL_INVALID_PIPE_SIZE, CL_MEM_HOST_NO_ACCESS, CL_MEM_READ_WRITE,
    CL_PIPE_MAX_PACKETS, CL_PIPE_PACKET_SIZE, CL_PIPE_PROPERTIES, cl_context, cl_mem, cl_mem_flags,
    cl_pipe_info, cl_pipe_properties, cl_uint,
};
use std::sync::Arc;

/// `clCreatePipe` (section 5.4.1)
pub fn create_pipe(
    context: cl_context,
    flags: cl_mem_flags,
    pipe_packet_size: cl_uint,
    pipe_max_packets: cl_uint,
    properties: *const cl_pipe_properties,
) -> Result<cl_mem> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    let context = context::get(context)?;
    // "CL_INVALID_VALUE if values specified in flags are not as defined above": "Only CL_MEM_READ_WRITE and
    // CL_MEM_HOST_NO_ACCESS can be specified when creating a pipe object. If the value specified for flags is
    // 0, the default is used which is CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS."
    let default = CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS;
    if flags & !default != 0 {
        return Err(Error::invalid_value(
            "flags of a pipe are CL_MEM_READ_WRITE and CL_MEM_HOST_NO_ACCESS",
        ));
    }
    // "CL_INVALID_VALUE if properties is not NULL."
    if !properties.is_null() {
        return Err(Error::invalid_value("properties of a pipe are NULL"));
    }
    // "CL_INVALID_PIPE_SIZE if pipe_packet_size is 0 or the pipe_packet_size exceeds
    // CL_DEVICE_PIPE_MAX_PACKET_SIZE value specified for all devices in context or if pipe_max_packets is 0."
    if pipe_packet_size == 0 || pipe_packet_size > MAX_PIPE_PACKET_BYTES || pipe_max_packets == 0 {
        return Err(Error::new(
            CL_INVALID_PIPE_SIZE,
            format!("{pipe_max_packets} packets of {pipe_packet_size} bytes"),
        ));
    }
    let flags = if flags == 0 { default } else { flags };
    let pipe = Pipe {
        packet_bytes: pipe_packet_size,
        max_packets: pipe_max_packets,
    };
    Ok(handle::create(Memory::pipe_of(&context, flags, pipe)?))
}

/// `clGetPipeInfo` (section 5.4.2)
pub fn get_pipe_info(pipe: cl_mem, param_name: cl_pipe_info, info: Info) -> Result<Written> {
    // "CL_INVALID_MEM_OBJECT if pipe is not a valid pipe object."
    let memory: Arc<Memory> = handle::get(pipe)?;
    let pipe = memory
        .pipe()
        .ok_or_else(|| Error::new(CL_INVALID_MEM_OBJECT, "the memory object is not a pipe"))?;
    match param_name {
        CL_PIPE_PACKET_SIZE => info.value::<cl_uint>(pipe.packet_bytes),
        CL_PIPE_MAX_PACKETS => info.value::<cl_uint>(pipe.max_packets),
        // "If properties was NULL … the implementation must return param_value_size_ret equal to 0."
        CL_PIPE_PROPERTIES => info.slice::<cl_pipe_properties>(&[]),
        _ => Err(Error::unknown_query(param_name)),
    }
}
