//! Devices.

use super::error::{Error, Result};
use super::handle;
use crate::runtime::device::Device;
use opencl_sys::{
    CL_DEVICE_NOT_FOUND, CL_DEVICE_PARTITION_FAILED, CL_INVALID_OPERATION, cl_device_id,
    cl_device_partition_property, cl_device_type, cl_platform_id, cl_uint, cl_ulong,
};
use std::sync::Arc;

/// The device behind a handle: "CL_INVALID_DEVICE if device is not a valid device."
pub fn get(device: cl_device_id) -> Result<Arc<Device>> {
    handle::get(device)
}

/// `clGetDeviceIDs`
pub fn get_device_ids(
    _platform: cl_platform_id,
    _device_type: cl_device_type,
    _num_entries: cl_uint,
    _devices: *mut cl_device_id,
    _num_devices: *mut cl_uint,
) -> Result<()> {
    Err(Error::new(CL_DEVICE_NOT_FOUND, "no device"))
}

/// `clCreateSubDevices`
pub fn create_sub_devices(
    _in_device: cl_device_id,
    _properties: *const cl_device_partition_property,
    _num_devices: cl_uint,
    _out_devices: *mut cl_device_id,
    _num_devices_ret: *mut cl_uint,
) -> Result<()> {
    Err(Error::unsupported(CL_DEVICE_PARTITION_FAILED, "partition"))
}

/// `clRetainDevice`
pub fn retain_device(device: cl_device_id) -> Result<()> {
    get(device).map(drop)
}

/// `clReleaseDevice`
pub fn release_device(device: cl_device_id) -> Result<()> {
    get(device).map(drop)
}

/// `clGetDeviceAndHostTimer`
pub fn get_device_and_host_timer(
    _device: cl_device_id,
    _device_timestamp: *mut cl_ulong,
    _host_timestamp: *mut cl_ulong,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "timers"))
}

/// `clGetHostTimer`
pub fn get_host_timer(_device: cl_device_id, _host_timestamp: *mut cl_ulong) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "timers"))
}
