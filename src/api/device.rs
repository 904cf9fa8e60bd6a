//! Devices: finding them, sub-devices, timers.

use super::error::{Error, Result};
use super::out::{List, Out};
use super::{handle, platform};
use crate::runtime::device::{Device, DeviceType, host_time_ns};
use crate::runtime::platform::Platform;
use opencl_sys::{
    CL_DEVICE_NOT_FOUND, CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_PARTITION_BY_COUNTS,
    CL_DEVICE_PARTITION_EQUALLY, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL,
    CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_CUSTOM, CL_DEVICE_TYPE_DEFAULT, CL_DEVICE_TYPE_GPU,
    CL_INVALID_DEVICE_TYPE, cl_device_id, cl_device_partition_property, cl_device_type,
    cl_platform_id, cl_uint, cl_ulong,
};
use std::sync::Arc;

/// The device behind a handle: "CL_INVALID_DEVICE if device is not a valid device."
pub fn get(device: cl_device_id) -> Result<Arc<Device>> {
    handle::get(device)
}

/// `clGetDeviceIDs` (section 4.2)
///
/// # Safety
/// `devices` has room for `num_entries`; both pointers are NULL or writable.
pub unsafe fn get_device_ids(
    platform: cl_platform_id,
    device_type: cl_device_type,
    num_entries: cl_uint,
    devices: *mut cl_device_id,
    num_devices: *mut cl_uint,
) -> Result<()> {
    // "CL_INVALID_PLATFORM if platform is not a valid platform."
    let platform = platform::get_or_default(platform)?;
    // "CL_INVALID_DEVICE_TYPE if device_type is not a valid value."
    check_device_type(device_type)?;
    // SAFETY: the caller's promise.
    let list = unsafe { List::new(num_entries, devices, num_devices) };
    // "CL_INVALID_VALUE if num_entries is equal to zero and devices is not NULL or if both num_devices
    // and devices are NULL."
    list.check()?;
    // "CL_DEVICE_NOT_FOUND if no OpenCL devices that matched device_type were found."
    let found = devices_of_type(&platform, device_type)?;
    let handles: Vec<cl_device_id> = found.iter().map(|it| handle::existing(&**it)).collect();
    list.write(&handles);
    Ok(())
}

/// "CL_INVALID_DEVICE_TYPE if device_type is not a valid value": no bits, or bits without a meaning.
pub fn check_device_type(device_type: cl_device_type) -> Result<()> {
    let known = CL_DEVICE_TYPE_DEFAULT
        | CL_DEVICE_TYPE_CPU
        | CL_DEVICE_TYPE_GPU
        | CL_DEVICE_TYPE_ACCELERATOR
        | CL_DEVICE_TYPE_CUSTOM;
    if device_type != CL_DEVICE_TYPE_ALL && (device_type == 0 || device_type & !known != 0) {
        return Err(Error::new(
            CL_INVALID_DEVICE_TYPE,
            format!("device_type is {device_type:#x}"),
        ));
    }
    Ok(())
}

/// The platform's devices of the types in `device_type`; the first device is the default one.
///
/// # Errors
/// `CL_DEVICE_NOT_FOUND` when there is none.
pub fn devices_of_type(
    platform: &Platform,
    device_type: cl_device_type,
) -> Result<Vec<Arc<Device>>> {
    let wanted = |(index, device): &(usize, &Arc<Device>)| {
        device_type & type_of(device) != 0
            || (*index == 0 && device_type & CL_DEVICE_TYPE_DEFAULT != 0)
    };
    let found: Vec<_> = platform
        .devices()
        .iter()
        .enumerate()
        .filter(wanted)
        .map(|(_, device)| Arc::clone(device))
        .collect();
    if found.is_empty() {
        return Err(Error::new(
            CL_DEVICE_NOT_FOUND,
            format!("no device is of device_type {device_type:#x}"),
        ));
    }
    Ok(found)
}

/// `CL_DEVICE_TYPE`
pub fn type_of(device: &Device) -> cl_device_type {
    match device.kind() {
        DeviceType::DiscreteGpu | DeviceType::IntegratedGpu | DeviceType::VirtualGpu => {
            CL_DEVICE_TYPE_GPU
        }
        DeviceType::Cpu => CL_DEVICE_TYPE_CPU,
        DeviceType::Other => CL_DEVICE_TYPE_ACCELERATOR,
    }
}

/// `clCreateSubDevices` (section 4.3): no device can be partitioned.
///
/// # Safety
/// `properties` is NULL or a list that ends with 0; `out_devices` has room for `num_devices`;
/// `num_devices_ret` is NULL or writable.
pub unsafe fn create_sub_devices(
    in_device: cl_device_id,
    properties: *const cl_device_partition_property,
    num_devices: cl_uint,
    out_devices: *mut cl_device_id,
    num_devices_ret: *mut cl_uint,
) -> Result<()> {
    // "CL_INVALID_DEVICE if in_device is not a valid device."
    get(in_device)?;
    // "CL_INVALID_VALUE if values specified in properties are not valid or if values specified in
    // properties are valid but not supported by the device."
    let _ = (num_devices, out_devices, num_devices_ret);
    if properties.is_null() {
        return Err(Error::invalid_value("properties is NULL"));
    }
    // SAFETY: not NULL, so it holds at least the 0 that ends it.
    match unsafe { properties.read() } {
        CL_DEVICE_PARTITION_EQUALLY
        | CL_DEVICE_PARTITION_BY_COUNTS
        | CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN => Err(Error::invalid_value(
            "the device can't be partitioned: CL_DEVICE_PARTITION_PROPERTIES is empty",
        )),
        other => Err(Error::invalid_value(format!(
            "properties begins with {other:#x}"
        ))),
    }
}

/// `clRetainDevice` (section 4.3): "If device is a root-level device ... the reference count is
/// unchanged."
pub fn retain_device(device: cl_device_id) -> Result<()> {
    get(device).map(drop)
}

/// `clReleaseDevice` (section 4.3): as [`retain_device`].
pub fn release_device(device: cl_device_id) -> Result<()> {
    get(device).map(drop)
}

/// `clGetDeviceAndHostTimer` (section 4.4). The times of events are on the host's clock already, so both
/// timers are one.
///
/// # Safety
/// Both pointers are NULL or writable.
pub unsafe fn get_device_and_host_timer(
    device: cl_device_id,
    device_timestamp: *mut cl_ulong,
    host_timestamp: *mut cl_ulong,
) -> Result<()> {
    // "CL_INVALID_DEVICE if device is not a valid device."
    get(device)?;
    // "CL_INVALID_VALUE if host_timestamp or device_timestamp is NULL."
    if device_timestamp.is_null() || host_timestamp.is_null() {
        return Err(Error::invalid_value(
            "device_timestamp or host_timestamp is NULL",
        ));
    }
    let now = host_time_ns();
    // SAFETY: the caller's promise.
    unsafe {
        Out::new(device_timestamp).write(now);
        Out::new(host_timestamp).write(now);
    }
    Ok(())
}

/// `clGetHostTimer` (section 4.4)
///
/// # Safety
/// The pointer is NULL or writable.
pub unsafe fn get_host_timer(device: cl_device_id, host_timestamp: *mut cl_ulong) -> Result<()> {
    // "CL_INVALID_DEVICE if device is not a valid device."
    get(device)?;
    // "CL_INVALID_VALUE if host_timestamp is NULL."
    if host_timestamp.is_null() {
        return Err(Error::invalid_value("host_timestamp is NULL"));
    }
    // SAFETY: the caller's promise.
    unsafe { Out::new(host_timestamp).write(host_time_ns()) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_types_are_checked() {
        for good in [CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_CPU] {
            check_device_type(good).unwrap();
        }
        for bad in [0, 1 << 20, CL_DEVICE_TYPE_GPU | 1 << 40] {
            let code = check_device_type(bad).unwrap_err().code();
            assert_eq!(code, CL_INVALID_DEVICE_TYPE);
        }
    }
}
