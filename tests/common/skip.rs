//! What a test does on a machine that lacks what it needs.

#[path = "skipped.rs"]
pub mod skipped;

/// Says that the test is skipped, for want of a Vulkan device.
///
/// # Panics
/// Those of [`lacks`].
pub fn no_device() {
    lacks("no usable Vulkan device");
}

/// Says that the test is skipped, and what is missing.
///
/// # Panics
/// With `PUMICE_TEST_NEEDS_DEVICE` in the environment, as in ci/test: there what is missing is a failure.
pub fn lacks(what: &str) {
    assert!(
        std::env::var_os("PUMICE_TEST_NEEDS_DEVICE").is_none(),
        "{what}"
    );
    skipped::skipped(what);
}
