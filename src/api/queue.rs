//! Command queues.

use super::error::{Error, Result};
use super::out::{Info, Written};
use opencl_sys::{
    CL_INVALID_OPERATION, cl_bool, cl_command_queue, cl_command_queue_info,
    cl_command_queue_properties, cl_context, cl_device_id, cl_queue_properties,
};

/// `clCreateCommandQueue`
pub fn create_command_queue(
    _context: cl_context,
    _device: cl_device_id,
    _properties: cl_command_queue_properties,
) -> Result<cl_command_queue> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clRetainCommandQueue`
pub fn retain_command_queue(_command_queue: cl_command_queue) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clReleaseCommandQueue`
pub fn release_command_queue(_command_queue: cl_command_queue) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clGetCommandQueueInfo`
pub fn get_command_queue_info(
    _command_queue: cl_command_queue,
    _param_name: cl_command_queue_info,
    _info: Info,
) -> Result<Written> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clSetCommandQueueProperty`
pub fn set_command_queue_property(
    _command_queue: cl_command_queue,
    _properties: cl_command_queue_properties,
    _enable: cl_bool,
    _old_properties: *mut cl_command_queue_properties,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clFlush`
pub fn flush(_command_queue: cl_command_queue) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clFinish`
pub fn finish(_command_queue: cl_command_queue) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clCreateCommandQueueWithProperties`
pub fn create_command_queue_with_properties(
    _context: cl_context,
    _device: cl_device_id,
    _properties: *const cl_queue_properties,
) -> Result<cl_command_queue> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clSetDefaultDeviceCommandQueue`
pub fn set_default_device_command_queue(
    _context: cl_context,
    _device: cl_device_id,
    _command_queue: cl_command_queue,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
