//! `PUMICE_VALIDATE=1`: generated code is checked with `spirv-val`, if that is installed.

use std::ffi::OsStr;
use std::io;
use std::time::Duration;

use super::process::{self, End};
use crate::compiler::spirv::words;

const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Checks a Vulkan SPIR-V module.
///
/// # Errors
/// What `spirv-val` finds wrong.
pub fn validate(module: &[u32]) -> Result<(), String> {
    let environment = words::environment(module);
    let arguments = ["--target-env", environment, "--scalar-block-layout", "-"].map(OsStr::new);
    let finished = match process::run(
        OsStr::new("spirv-val"),
        &arguments,
        &words::to_bytes(module),
        TIME_LIMIT,
    ) {
        Ok(finished) => finished,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            log::warn!("spirv-val is not installed (apt install spirv-tools): code is not checked");
            return Ok(());
        }
        Err(error) => return Err(format!("spirv-val can't be run: {error}")),
    };
    match finished.end {
        End::Exit(0) | End::Unknown => Ok(()),
        _ => {
            Err(String::from_utf8_lossy(&[finished.stdout, finished.stderr].concat()).into_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_module_is_refused() {
        // The header of an empty module, which lacks a memory model.
        let error = validate(&[words::MAGIC, 0x0001_0500, 0, 1, 0]).unwrap_err();
        assert!(error.contains("OpMemoryModel"), "{error}");
    }
}
