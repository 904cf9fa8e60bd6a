//! The C face of the library: every entry point's name and signature, once.
//!
//! [`table`] is written in the order of `cl_icd.h`. From each line come the `extern "C"` function, its slot in
//! [`DISPATCH`], its exported symbol and its place in the look-up by name; the compiler compares order and
//! signatures with the headers (`cl_icd_dispatch`).
//!
//! The exported symbols are separate functions that call the ones in the table: an ICD loader exports the
//! same names, and the dynamic linker would otherwise resolve our own references to the loader's.

mod stub;
mod table;

use std::ffi::{CStr, c_void};

/// A word of the dispatch table.
#[repr(C)]
#[derive(Clone, Copy)]
pub union Slot {
    function: *const c_void,
    tag: usize,
}

// SAFETY: the table never changes.
unsafe impl Sync for Slot {}

/// `CL_ICD2_TAG_KHR`: stands in the slots of `clGetPlatformIDs` and `clUnloadCompiler`, which loaders never
/// call, and tells a loader of cl_khr_icd 2.0 that the second word of every handle is its own.
#[cfg(target_pointer_width = "64")]
const ICD2_TAG: usize = 0x4F50_454E_434C_3331;
#[cfg(target_pointer_width = "32")]
const ICD2_TAG: usize = 0x434C_3331;

/// `cl_icd_dispatch`, what the first word of every handle points to.
pub static DISPATCH: [Slot; table::ENTRIES.len()] = {
    let mut slots = [Slot { tag: 0 }; table::ENTRIES.len()];
    let mut place = 0;
    while place < slots.len() {
        slots[place] = Slot {
            function: table::ENTRIES[place].function,
        };
        place += 1;
    }
    slots[GET_PLATFORM_IDS] = Slot { tag: ICD2_TAG };
    slots[UNLOAD_COMPILER] = Slot { tag: ICD2_TAG };
    slots
};

const GET_PLATFORM_IDS: usize = table::slot_of_get_platform_ids();
const UNLOAD_COMPILER: usize = table::slot_of_unload_compiler();

/// An entry point, as the look-ups by name see it.
#[derive(Clone, Copy)]
pub struct EntryPoint {
    pub name: &'static str,
    function: *const c_void,
    kind: Kind,
}

// SAFETY: only the address of a function, which is never written to.
unsafe impl Sync for EntryPoint {}

/// What an entry point belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The core specification: exported, and not an extension function.
    Core,
    /// An extension that is reported, or harmless: exported, found by `clGetExtensionFunctionAddress`.
    Extension,
    /// Sharing with another API, which is not supported: only its slot in the dispatch table exists.
    Sharing,
}

/// `clGetExtensionFunctionAddress`: the address of a supported extension's function, else NULL.
fn extension_function(name: &CStr) -> *mut c_void {
    find(name, |kind| kind == Kind::Extension)
}

/// `clIcdGetFunctionAddressForPlatformKHR`: the address of any entry point of the platform, else NULL.
fn any_function(name: &CStr) -> *mut c_void {
    find(name, |_| true)
}

fn find(name: &CStr, wanted: impl Fn(Kind) -> bool) -> *mut c_void {
    let Ok(name) = name.to_str() else {
        return std::ptr::null_mut();
    };
    let all = || table::ENTRIES.iter().chain(table::BEYOND_DISPATCH);
    let name = table::ALIASES
        .iter()
        .find(|(alias, _)| *alias == name)
        .map(|&(_, target)| (target, true))
        .unwrap_or((name, false));
    all()
        .find(|entry| entry.name == name.0 && (name.1 || wanted(entry.kind)))
        .map_or(std::ptr::null_mut(), |entry| entry.function.cast_mut())
}

/// The rows of the table that are about the table.
mod lookup {
    use super::{any_function, extension_function};
    use crate::api;
    use crate::api::error::{Error, Result};
    use crate::runtime::object::registry;
    use opencl_sys::{cl_platform_id, cl_uint};
    use std::ffi::{CStr, c_char, c_void};

    /// `clGetPlatformIDs`, `clIcdGetPlatformIDsKHR`: from here on handles carry the dispatch table.
    ///
    /// # Safety
    /// `platforms` is NULL or has room for `num_entries` handles; `num_platforms` is NULL or writable.
    pub unsafe fn get_platform_ids(
        num_entries: cl_uint,
        platforms: *mut cl_platform_id,
        num_platforms: *mut cl_uint,
    ) -> Result<()> {
        registry::set_dispatch((&raw const super::DISPATCH).cast());
        // SAFETY: the caller's promise.
        unsafe { api::platform::get_platform_ids(num_entries, platforms, num_platforms) }
    }

    /// # Safety
    /// `func_name` is NULL or a C string.
    pub unsafe fn get_extension_function_address(func_name: *const c_char) -> Result<*mut c_void> {
        // SAFETY: the caller's promise.
        let name = unsafe { name(func_name) }?;
        Ok(extension_function(name))
    }

    /// # Safety
    /// `func_name` is NULL or a C string.
    pub unsafe fn get_extension_function_address_for_platform(
        platform: cl_platform_id,
        func_name: *const c_char,
    ) -> Result<*mut c_void> {
        // "Returns NULL if ... platform is not a valid platform."
        api::platform::get(platform)?;
        // SAFETY: the caller's promise.
        let name = unsafe { name(func_name) }?;
        Ok(extension_function(name))
    }

    /// # Safety
    /// `func_name` is NULL or a C string.
    pub unsafe fn icd_get_function_address_for_platform(
        platform: cl_platform_id,
        func_name: *const c_char,
    ) -> Result<*mut c_void> {
        api::platform::get(platform)?;
        // SAFETY: the caller's promise.
        let name = unsafe { name(func_name) }?;
        Ok(any_function(name))
    }

    unsafe fn name<'a>(func_name: *const c_char) -> Result<&'a CStr> {
        if func_name.is_null() {
            return Err(Error::invalid_value("func_name is NULL"));
        }
        // SAFETY: the caller's promise.
        Ok(unsafe { CStr::from_ptr(func_name) })
    }
}

#[cfg(test)]
mod tests {
    use super::{DISPATCH, ICD2_TAG, any_function, extension_function, table};
    use std::collections::HashSet;

    #[test]
    fn no_slot_of_the_dispatch_table_is_empty() {
        // SAFETY: every bit pattern is a `usize`.
        let words: Vec<usize> = DISPATCH.iter().map(|slot| unsafe { slot.tag }).collect();
        assert_eq!(
            words.len(),
            size_of::<opencl_sys::cl_icd::cl_icd_dispatch>() / size_of::<usize>()
        );
        assert!(words.iter().all(|&word| word != 0));
        let tags: Vec<_> = (0..words.len()).filter(|&i| words[i] == ICD2_TAG).collect();
        assert_eq!(tags, [super::GET_PLATFORM_IDS, super::UNLOAD_COMPILER]);
    }

    #[test]
    fn extension_functions_are_found_and_core_functions_are_not() {
        assert!(!extension_function(c"clIcdGetPlatformIDsKHR").is_null());
        assert!(!extension_function(c"clCreateCommandQueueWithPropertiesKHR").is_null());
        assert!(extension_function(c"clCreateBuffer").is_null());
        assert!(extension_function(c"clCreateFromGLBuffer").is_null());
        assert!(extension_function(c"clNoSuchFunction").is_null());
        assert!(!any_function(c"clCreateBuffer").is_null());
        assert!(!any_function(c"clIcdSetPlatformDispatchDataKHR").is_null());
    }

    #[test]
    fn names_and_functions_are_unique() {
        let all = || table::ENTRIES.iter().chain(table::BEYOND_DISPATCH);
        let names: HashSet<_> = all().map(|entry| entry.name).collect();
        assert_eq!(names.len(), all().count());
        for (alias, target) in table::ALIASES {
            assert!(names.contains(target) && !names.contains(alias), "{alias}");
        }
    }

    /// What a C program can do: calls with arguments that don't fit the signature.
    type AnyFunction = unsafe extern "C" fn(
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
    ) -> usize;

    fn call(entry: &super::EntryPoint, first: usize) -> usize {
        // SAFETY: every entry point takes at most 16 integers and pointers; the C calling convention of
        // Linux passes them so that unused ones don't matter. Handles may be anything, pointers NULL.
        unsafe {
            let function: AnyFunction = std::mem::transmute(entry.function);
            function(first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        }
    }

    fn returns_pointer(name: &str) -> bool {
        let code = [
            "clCreateSubDevices",
            "clCreateSubDevicesEXT",
            "clCreateKernelsInProgram",
        ];
        let pointer = [
            "clCreate",
            "clLink",
            "clSVM",
            "clEnqueueMap",
            "clGetExtension",
            "clClone",
            "clIcdGetFunction",
            "clRemap",
            "clHostMemAlloc",
            "clDeviceMemAlloc",
            "clSharedMemAlloc",
        ];
        !code.contains(&name) && pointer.iter().any(|prefix| name.starts_with(prefix))
    }

    #[test]
    fn no_entry_point_trusts_its_arguments() {
        let mut memory = [0x5Au8; 256];
        let garbage = memory.as_mut_ptr().expose_provenance();
        let platform = crate::runtime::platform::Platform::instance();
        let wrong_type = crate::api::handle::existing(&**platform).expose_provenance();
        for entry in table::ENTRIES.iter().chain(table::BEYOND_DISPATCH) {
            let name = entry.name;
            // A number comes first, a string, or what any value serves for.
            let skip_handles = name.contains("PlatformIDs")
                || name == "clGetExtensionFunctionAddress"
                || name == "clWaitForEvents";
            // NULL is a platform in these, or the platform is the right type; no error, nothing to check.
            let takes_platform = [
                "Platform",
                "GetDeviceIDs",
                "UnloadCompiler",
                "ContextFromType",
            ]
            .iter()
            .any(|part| name.contains(part));
            for first in [0, 1, garbage, wrong_type] {
                if first != 0 && (skip_handles || (takes_platform && first == wrong_type))
                    || first != 0 && name.starts_with("clCreateContext")
                    || first != 0 && name.starts_with("clGetGLContext")
                {
                    continue;
                }
                let returned = call(entry, first);
                if name == "clSVMFree" {
                    continue;
                }
                if returns_pointer(name) {
                    assert_eq!(returned, 0, "{name}({first:#x}, 0, ...) gave a pointer");
                } else if name != "clUnloadCompiler" && !(takes_platform && first == 0) {
                    assert!(
                        (returned as i32) < 0,
                        "{name}({first:#x}, 0, ...) succeeded"
                    );
                }
            }
        }
    }
}
