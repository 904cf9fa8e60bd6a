//! Small programs from public bug reports of other OpenCL drivers, each with the results that the specification gives it.
//!
//! ```text
//! VK_DRIVER_FILES=… cargo test --test reports [-- FILTER…]
//! ```
//!
//! Each `.cl` file of the folders beside this file is a program with one kernel, `test`, and a head that says whose report
//! it is and how the kernel is launched:
//!
//! ```text
//! // pocl 553: what went wrong there.
//! // options: -cl-std=CL3.0        of the build
//! // needs: cl_khr_fp64            extensions and features; skipped where one is missing
//! // range: 8x2 by 4x1             global and local sizes; 1 without it
//! // in: int 1 2 3 4               a buffer, in the order of the kernel's arguments
//! // out: int 4*0                  a buffer, and what must be in it in the end
//! // inout: int 1 2 -> int 3 4     the same, with what it holds before
//! // out: float near 1e-6 0.5      the same, with a relative tolerance
//! // value: uint 7                 an argument by value
//! // local: 64                     an argument in local memory, in bytes
//! // refused: TEXT                 the program must not build, and the log says TEXT
//! ```
//!
//! Expected results are what the specification says, computed by hand or by the host, never what a driver made.
//! `PUMICE_TEST_ICD` names another driver's library to test.

#[path = "../common/cache.rs"]
mod cache;
#[path = "../common/library.rs"]
mod library;
mod report;
mod run;
#[path = "../common/skip.rs"]
mod skip;

use report::Report;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Set in the process that runs the tests: the loader reads its environment when it is loaded.
const INNER: &str = "PUMICE_TEST_INNER";

/// Runs this program again with an environment in which the loader finds one driver.
fn start_with_one_driver() -> Result<ExitCode, std::io::Error> {
    let driver = std::env::var_os("PUMICE_TEST_ICD").map_or_else(library::path, PathBuf::from);
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("reports-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("tested.icd"), format!("{}\n", driver.display()))?;
    let status = Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env(INNER, "1")
        // ocl-icd wants the slash to tell a folder from a file.
        .env("OCL_ICD_VENDORS", format!("{}/", folder.display()))
        .env("PUMICE_CACHE_DIR", cache::folder())
        .status();
    // What is left of it hurts nobody.
    let _ = std::fs::remove_dir_all(&folder);
    let status = status?;
    println!("reports: {status}");
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The files with a report, and their names: `pocl/553`.
fn files() -> std::io::Result<Vec<(String, PathBuf)>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports");
    let mut all = Vec::new();
    for folder in root.read_dir()? {
        let folder = folder?.path();
        if !folder.is_dir() {
            continue;
        }
        for file in folder.read_dir()? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "cl") {
                let name = path.strip_prefix(&root).unwrap_or(&path).with_extension("");
                all.push((name.display().to_string(), path));
            }
        }
    }
    all.sort();
    Ok(all)
}

fn main() -> ExitCode {
    let filters: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let listed = std::env::args().any(|word| word == "--list");
    let mut all = files().expect("the tests' folder can be read");
    all.retain(|(name, _)| {
        filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()))
    });
    if listed {
        all.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    if std::env::var_os(INNER).is_none() {
        return start_with_one_driver().expect("this program can run itself");
    }
    let Some(device) = run::Device::open() else {
        skip::no_device();
        return ExitCode::SUCCESS;
    };
    let (mut passed, mut skipped, mut failed) = (0, 0, 0);
    for (name, path) in &all {
        match examine(&device, path) {
            Ok(true) => {
                passed += 1;
                println!("test {name} ... ok");
            }
            Ok(false) => {
                skipped += 1;
                println!("test {name} ... skipped");
            }
            Err(reason) => {
                failed += 1;
                println!("test {name} ... FAILED: {reason}");
            }
        }
    }
    println!("\n{passed} passed, {failed} failed, {skipped} skipped");
    if failed == 0 && passed + skipped == all.len() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Whether the program could run on the device.
fn examine(device: &run::Device, path: &Path) -> Result<bool, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let report = Report::parse(&text)?;
    if !report.needs.iter().all(|name| device.has(name)) {
        return Ok(false);
    }
    device
        .run(&report)
        .map(|()| true)
        .map_err(|reason| format!("{reason}\n    {}", report.title))
}
