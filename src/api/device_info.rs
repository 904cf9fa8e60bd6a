//! `clGetDeviceInfo`.

use super::error::{Error, Result};
use super::out::{Info, Written};
use opencl_sys::{cl_device_id, cl_device_info};

/// `clGetDeviceInfo`
pub fn get_device_info(
    device: cl_device_id,
    param_name: cl_device_info,
    _info: Info,
) -> Result<Written> {
    super::device::get(device)?;
    Err(Error::unknown_query(param_name))
}
