//! Debian's `clinfo`, unmodified, through the system's ICD loader: every query answers, none with an error.

#[path = "common/library.rs"]
mod library;
#[path = "common/skip.rs"]
mod skip;

use std::path::PathBuf;
use std::process::Command;

/// What `clinfo` prints with Pumice as the only platform, through a folder of manifests.
fn clinfo() -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("vendors");
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let manifest = include_str!("../layer-manifest/pumice.icd.in")
        .replace("@LIBRARY@", &library::path().display().to_string());
    std::fs::write(folder.join("pumice.icd"), manifest).expect("a file can be written");
    let output = Command::new("clinfo")
        .env("OCL_ICD_VENDORS", folder)
        .env("PUMICE_CACHE_DIR", "")
        .output()
        .expect("clinfo is installed (apt install clinfo)");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}\n{text}", output.status);
    text
}

#[test]
fn clinfo_is_complete() {
    let text = clinfo();
    if text.contains("Number of platforms                               0") {
        skip::no_device();
        return;
    }
    let errors: Vec<&str> = text
        .lines()
        .filter(|line| line.to_lowercase().contains("error") && !line.contains("Error Correction"))
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    for expected in [
        "Pumice",
        "PUMICE",
        "FULL_PROFILE",
        "OpenCL 3.0 Pumice",
        "__opencl_c_int64",
        "SPIR-V_1.4",
    ] {
        assert!(text.contains(expected), "{expected} is missing in\n{text}");
    }
}
