//! Where the library under test keeps compiled programs.

use std::ffi::OsString;

/// What `PUMICE_CACHE_DIR` is to be: the folder that `PUMICE_TEST_CACHE_DIR` names, which ci/run-tests.sh makes
/// for the length of one run: the same sources are built for one driver after the other. Nothing otherwise.
pub fn folder() -> OsString {
    std::env::var_os("PUMICE_TEST_CACHE_DIR").unwrap_or_default()
}
