//! Programs in files: what `tests/kernels` builds on one device, for drivers that run nothing.
//!
//! `NAME.cl` is a source and `NAME.spv` a module; `NAME.options`, if there is one, are its build options.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;

/// Keeps a program that the running test builds, in the folder that `PUMICE_TEST_PROGRAMS` names, if it names one: by the name
/// of the test and a number that follows from the contents.
///
/// # Panics
/// The folder can't be written to.
pub fn keep(code: &[u8], is_module: bool, options: &str) {
    let Some(folder) = std::env::var_os("PUMICE_TEST_PROGRAMS") else {
        return;
    };
    let mut hasher = DefaultHasher::new();
    (code, options).hash(&mut hasher);
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("unknown").replace("::", ".");
    let name = format!("{test}-{:016x}", hasher.finish());
    let path = |extension: &str| Path::new(&folder).join(format!("{name}.{extension}"));
    std::fs::write(path("options"), options).expect("the folder is writable");
    let code_path = path(if is_module { "spv" } else { "cl" });
    std::fs::write(code_path, code).expect("the folder is writable");
}
