//! NVIDIA's management library (NVML), a part of its driver, which tells of the clock what Vulkan does not. It is loaded when it
//! is asked for, if it is there at all.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::mem::transmute_copy;
use std::ptr;

use crate::vulkan::info::PciBusInfo;

/// The name of the library for the interface that is used here.
const LIBRARY: &CStr = c"libnvidia-ml.so.1";

/// `NVML_CLOCK_SM`: the clock of the streaming multiprocessors.
const CLOCK_OF_MULTIPROCESSORS: c_int = 1;

/// `nvmlDevice_t`
type Device = *mut c_void;

/// `nvmlInit_v2`, `nvmlShutdown`
type WithoutArguments = unsafe extern "C" fn() -> c_int;
/// `nvmlDeviceGetHandleByPciBusId_v2`
type DeviceByPlace = unsafe extern "C" fn(*const c_char, *mut Device) -> c_int;
/// `nvmlDeviceGetMaxClockInfo`
type HighestClock = unsafe extern "C" fn(Device, c_int, *mut c_uint) -> c_int;

/// The highest clock of the GPU at a place of the bus, MHz; `None` where the library is missing, or does not know it.
pub fn clock_mhz(pci: PciBusInfo) -> Option<u32> {
    clock_by(LIBRARY, pci)
}

fn clock_by(library: &CStr, pci: PciBusInfo) -> Option<u32> {
    // SAFETY: the functions have these types since version 2 of the library's interface, which its name stands for; nothing is
    // called between the end of the use and the next beginning; the device is not used behind that end.
    unsafe {
        let library = libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if library.is_null() {
            return None;
        }
        let begin: WithoutArguments = function(library, c"nvmlInit_v2")?;
        let end: WithoutArguments = function(library, c"nvmlShutdown")?;
        let find: DeviceByPlace = function(library, c"nvmlDeviceGetHandleByPciBusId_v2")?;
        let clock: HighestClock = function(library, c"nvmlDeviceGetMaxClockInfo")?;
        if begin() != 0 {
            return None;
        }
        let place = place(pci);
        let (mut device, mut mhz) = (ptr::null_mut(), 0);
        let is_told = find(place.as_ptr(), &mut device) == 0
            && clock(device, CLOCK_OF_MULTIPROCESSORS, &mut mhz) == 0;
        end();
        // The library stays: what it may have left running would lose its code.
        (is_told && mhz > 0).then_some(mhz)
    }
}

/// A function of the library.
///
/// # Safety
/// `F` is the type of the function, if there is one of that name.
unsafe fn function<F: Copy>(library: *mut c_void, name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: a library that is open; the caller's word.
    unsafe {
        let found = libc::dlsym(library, name.as_ptr());
        (!found.is_null()).then(|| transmute_copy(&found))
    }
}

/// A place as the library has it: `00000000:01:00.0`.
fn place(pci: PciBusInfo) -> CString {
    let PciBusInfo {
        domain,
        bus,
        device,
        function,
    } = pci;
    CString::new(format!("{domain:08X}:{bus:02X}:{device:02X}.{function:X}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::host::test_files::Files;
    use std::process::Command;

    /// NVIDIA's library as far as it is used here, with one GPU; whoever calls it wrongly gets an error.
    const STAND_IN: &str = r#"
        #include <string.h>
        static int users, gpu;
        int nvmlInit_v2(void) { users++; return 0; }
        int nvmlShutdown(void) { users--; return 0; }
        int nvmlDeviceGetHandleByPciBusId_v2(const char *place, void **device) {
            if (users != 1) return 1;
            if (strcmp(place, "00000000:C3:00.0")) return 6;
            *device = &gpu;
            return 0;
        }
        int nvmlDeviceGetMaxClockInfo(void *device, int kind, unsigned *mhz) {
            if (users != 1 || device != &gpu || kind != 1) return 2;
            *mhz = 1980;
            return 0;
        }"#;

    #[test]
    fn the_library_is_asked_as_it_wants_to_be() {
        let files = Files::new("nvidia_management");
        files.write("stand_in.c", STAND_IN);
        let path = files.folder().join("stand_in.so");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&path);
        let status = compiler.arg(files.folder().join("stand_in.c")).status();
        assert!(status.expect("cc is installed").success());
        let library = CString::new(path.to_str().expect("UTF-8")).expect("a path");
        let pci = PciBusInfo {
            domain: 0,
            bus: 0xc3,
            device: 0,
            function: 0,
        };
        for _ in 0..2 {
            assert_eq!(clock_by(&library, pci), Some(1980));
            assert_eq!(clock_by(&library, PciBusInfo { bus: 1, ..pci }), None);
        }
        assert_eq!(clock_by(c"/nowhere/libnvidia-ml.so.1", pci), None);
        // A library without the functions.
        assert_eq!(clock_by(c"libc.so.6", pci), None);
    }

    #[test]
    fn places_are_written_as_the_library_reads_them() {
        let pci = PciBusInfo {
            domain: 1,
            bus: 0xc3,
            device: 2,
            function: 0,
        };
        assert_eq!(place(pci).as_c_str(), c"00000001:C3:02.0");
    }
}
