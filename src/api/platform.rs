//! Platforms.

use super::error::{Error, Result};
use super::handle;
use super::out::{Info, List, Written};
use crate::runtime::object;
use crate::runtime::platform::Platform;
use opencl_sys::{CL_PLATFORM_NOT_FOUND_KHR, cl_platform_id, cl_platform_info, cl_uint};
use std::ffi::c_void;
use std::sync::Arc;

/// The platform behind a handle: "CL_INVALID_PLATFORM if platform is not a valid platform."
pub fn get(platform: cl_platform_id) -> Result<Arc<Platform>> {
    handle::get(platform)
}

/// `clGetPlatformIDs` and `clIcdGetPlatformIDsKHR` (section 4.1, and of the extension section 3).
///
/// # Safety
/// `platforms` has room for `num_entries`; both pointers are NULL or writable.
pub unsafe fn get_platform_ids(
    num_entries: cl_uint,
    platforms: *mut cl_platform_id,
    num_platforms: *mut cl_uint,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let list = unsafe { List::new(num_entries, platforms, num_platforms) };
    // "CL_INVALID_VALUE if num_entries is equal to zero and platforms is not NULL or if both
    // num_platforms and platforms are NULL."
    list.check()?;
    let platform = Platform::instance();
    // "CL_PLATFORM_NOT_FOUND_KHR if zero platforms are available."
    if platform.devices().is_empty() {
        return Err(Error::new(
            CL_PLATFORM_NOT_FOUND_KHR,
            "no usable Vulkan device: see `pumice info`",
        ));
    }
    list.write(&[handle::existing(&**platform)]);
    Ok(())
}

/// `clIcdSetPlatformDispatchDataKHR`
pub fn icd_set_platform_dispatch_data(
    platform: cl_platform_id,
    dispatch_data: *mut c_void,
) -> Result<()> {
    get(platform)?;
    object::set_dispatch_data(dispatch_data);
    Ok(())
}

/// `clGetPlatformInfo` (section 4.1)
pub fn get_platform_info(
    platform: cl_platform_id,
    param_name: cl_platform_info,
    info: Info,
) -> Result<Written> {
    let _ = (get(platform)?, info);
    Err(Error::unknown_query(param_name))
}

/// `clUnloadPlatformCompiler` (section 5.8.4): a hint, and `clang` is a process that ends by itself.
pub fn unload_platform_compiler(platform: cl_platform_id) -> Result<()> {
    get(platform)?;
    Ok(())
}

/// `clUnloadCompiler`: the same for all platforms.
pub fn unload_compiler() -> Result<()> {
    Ok(())
}
