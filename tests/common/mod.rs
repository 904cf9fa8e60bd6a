//! What the tests through the API share: the library, loaded as an OpenCL implementation.

mod library;
pub mod skip;

use std::sync::OnceLock;

use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::platform::get_platforms;
use pumice::runtime::platform::Platform;

/// Points `opencl3` at the `libpumice.so` that cargo built with the tests.
fn load() {
    static LOADED: OnceLock<()> = OnceLock::new();
    LOADED.get_or_init(|| {
        let library = library::path();
        // SAFETY: every test comes through here first, and nothing else reads the environment meanwhile.
        unsafe {
            std::env::set_var("OPENCL_DYLIB_PATH", library);
            // Every run starts from nothing.
            std::env::set_var("PUMICE_CACHE_DIR", "");
        }
        let _ = get_platforms();
    });
}

/// A device, or `None` (said on standard error) where the machine has none.
pub fn device() -> Option<Device> {
    load();
    let platforms = get_platforms().unwrap_or_default();
    let ids = platforms
        .first()
        .map(|platform| platform.get_devices(CL_DEVICE_TYPE_ALL).expect("devices"));
    let Some(id) = ids.as_deref().and_then(<[_]>::first) else {
        assert!(Platform::instance().devices().is_empty());
        skip::no_device();
        return None;
    };
    Some(Device::new(*id))
}
