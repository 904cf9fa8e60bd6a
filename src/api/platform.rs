//! Platforms.

use super::error::{Error, Result};
use super::out::{Info, List, Written};
use super::{command_buffer, external_handles, handle};
use crate::runtime::device::extensions::Versioned;
use crate::runtime::object::registry;
use crate::runtime::platform::Platform;
use opencl_sys::{
    CL_NAME_VERSION_MAX_NAME_SIZE, CL_PLATFORM_COMMAND_BUFFER_CAPABILITIES_KHR,
    CL_PLATFORM_EXTENSIONS, CL_PLATFORM_EXTENSIONS_WITH_VERSION,
    CL_PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR, CL_PLATFORM_HOST_TIMER_RESOLUTION,
    CL_PLATFORM_ICD_SUFFIX_KHR, CL_PLATFORM_NAME, CL_PLATFORM_NOT_FOUND_KHR,
    CL_PLATFORM_NUMERIC_VERSION, CL_PLATFORM_PROFILE,
    CL_PLATFORM_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, CL_PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR,
    CL_PLATFORM_SEMAPHORE_TYPES_KHR, CL_PLATFORM_VENDOR, CL_PLATFORM_VERSION,
    CL_SEMAPHORE_TYPE_BINARY_KHR, CL_VERSION_MINOR_BITS, CL_VERSION_PATCH_BITS, cl_name_version,
    cl_platform_id, cl_platform_info, cl_uint, cl_ulong, cl_version,
};
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
    registry::set_dispatch_data(dispatch_data);
    Ok(())
}

/// The handle, and NULL for the platform "chosen by the implementation".
pub fn get_or_default(platform: cl_platform_id) -> Result<Arc<Platform>> {
    Ok(match handle::get_optional(platform)? {
        Some(platform) => platform,
        None => Arc::clone(Platform::instance()),
    })
}

/// `clGetPlatformInfo` (section 4.1)
pub fn get_platform_info(
    platform: cl_platform_id,
    param_name: cl_platform_info,
    info: Info,
) -> Result<Written> {
    // "platform ... can be NULL. If platform is NULL, the behavior is implementation-defined."
    let platform = get_or_default(platform)?;
    match param_name {
        CL_PLATFORM_PROFILE => info.string("FULL_PROFILE"),
        CL_PLATFORM_VERSION => info.string(PLATFORM_VERSION),
        CL_PLATFORM_NUMERIC_VERSION => info.value(VERSION),
        CL_PLATFORM_NAME => info.string("Pumice"),
        CL_PLATFORM_VENDOR => info.string("Pumice"),
        CL_PLATFORM_EXTENSIONS => info.string(&names(platform.extensions())),
        CL_PLATFORM_EXTENSIONS_WITH_VERSION => info.slice(&name_versions(platform.extensions())),
        CL_PLATFORM_HOST_TIMER_RESOLUTION => info.value::<cl_ulong>(HOST_TIMER_RESOLUTION_NS),
        CL_PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR => info.slice(
            &external_handles::common(platform.devices(), external_handles::memory_imports),
        ),
        CL_PLATFORM_SEMAPHORE_TYPES_KHR => info.slice(&[CL_SEMAPHORE_TYPE_BINARY_KHR]),
        CL_PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR => info.slice(&external_handles::common(
            platform.devices(),
            external_handles::semaphore_imports,
        )),
        CL_PLATFORM_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR => info.slice(&external_handles::common(
            platform.devices(),
            external_handles::semaphore_exports,
        )),
        CL_PLATFORM_ICD_SUFFIX_KHR => info.string("PUMICE"),
        // One device a command buffer, and no remapping.
        CL_PLATFORM_COMMAND_BUFFER_CAPABILITIES_KHR => {
            info.value(command_buffer::PLATFORM_CAPABILITIES)
        }
        _ => Err(Error::unknown_query(param_name)),
    }
}

/// The version of OpenCL that the platform and its devices implement.
pub const VERSION: cl_version = make_version((3, 0, 0));
const PLATFORM_VERSION: &str = concat!("OpenCL 3.0 Pumice ", env!("CARGO_PKG_VERSION"));
/// CLOCK_MONOTONIC counts nanoseconds.
const HOST_TIMER_RESOLUTION_NS: cl_ulong = 1;

/// `CL_MAKE_VERSION`
pub const fn make_version((major, minor, patch): (u32, u32, u32)) -> cl_version {
    (major << (CL_VERSION_MINOR_BITS + CL_VERSION_PATCH_BITS))
        | (minor << CL_VERSION_PATCH_BITS)
        | patch
}

/// The names alone, separated by spaces.
pub fn names(list: &[Versioned]) -> String {
    let names: Vec<&str> = list.iter().map(|it| it.name).collect();
    names.join(" ")
}

/// The list as the application gets it.
pub fn name_versions(list: &[Versioned]) -> Vec<cl_name_version> {
    list.iter()
        .map(|it| {
            let mut name = [0; CL_NAME_VERSION_MAX_NAME_SIZE];
            // One byte less than there is room for: the name ends with a null.
            let room = CL_NAME_VERSION_MAX_NAME_SIZE - 1;
            for (to, from) in name.iter_mut().take(room).zip(it.name.bytes()) {
                *to = from;
            }
            cl_name_version {
                version: make_version(it.version),
                name,
            }
        })
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_names_are_packed_as_in_the_headers() {
        assert_eq!(make_version((3, 0, 0)), 0xC0_0000);
        assert_eq!(make_version((1, 2, 3)), 0x40_2003);
        let list = [Versioned {
            name: "cl_khr_icd",
            version: (2, 0, 0),
        }];
        let packed = name_versions(&list);
        assert_eq!(packed[0].version, 0x80_0000);
        assert!(packed[0].name.starts_with(b"cl_khr_icd\0"));
        assert_eq!(names(&[list[0], list[0]]), "cl_khr_icd cl_khr_icd");
    }
}
