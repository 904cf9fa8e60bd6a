//! Mapping and migration.

use super::error::{Error, Result};
use super::out::EventArguments;
use opencl_sys::{
    CL_INVALID_OPERATION, cl_bool, cl_command_queue, cl_map_flags, cl_mem, cl_mem_migration_flags,
    cl_uint,
};
use std::ffi::c_void;

/// `clEnqueueMapBuffer`
pub fn enqueue_map_buffer(
    _command_queue: cl_command_queue,
    _buffer: cl_mem,
    _blocking_map: cl_bool,
    _map_flags: cl_map_flags,
    _offset: usize,
    _size: usize,
    _events: EventArguments,
) -> Result<*mut c_void> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueUnmapMemObject`
pub fn enqueue_unmap_mem_object(
    _command_queue: cl_command_queue,
    _memobj: cl_mem,
    _mapped_ptr: *mut c_void,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clEnqueueMigrateMemObjects`
pub fn enqueue_migrate_mem_objects(
    _command_queue: cl_command_queue,
    _num_mem_objects: cl_uint,
    _mem_objects: *const cl_mem,
    _flags: cl_mem_migration_flags,
    _events: EventArguments,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
