//! What a test does on a machine without a Vulkan device.

/// Says that the test is skipped.
///
/// # Panics
/// With `PUMICE_TEST_NEEDS_DEVICE` in the environment, as in ci/test: there a missing device is a failure, and
/// nobody reads what a passed test says.
pub fn no_device() {
    assert!(
        std::env::var_os("PUMICE_TEST_NEEDS_DEVICE").is_none(),
        "no usable Vulkan device"
    );
    eprintln!("skipped: no usable Vulkan device");
}
