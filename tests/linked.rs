//! A C program that links `libpumice.so` directly: exported symbols, handles, errors; and what happens on a
//! machine without Vulkan.

#[path = "common/library.rs"]
mod library;
#[path = "common/runner.rs"]
mod runner;
#[path = "common/skip.rs"]
mod skip;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Compiles `tests/c/linked.c` and gives the program's path.
fn program(name: &str) -> PathBuf {
    let library = library::path();
    let folder = library.parent().expect("the library lies in a folder");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/linked.c");
    let status = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Werror", "-o"])
        .arg(&program)
        .arg(source)
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .status()
        .expect("a C compiler is installed");
    assert!(status.success(), "linked.c does not compile");
    program
}

fn describe(output: &Output) -> String {
    format!(
        "{}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

const NO_DEVICE: i32 = 77;

#[test]
fn a_program_that_links_the_library_finds_its_devices() {
    let output = runner::command(&program("linked"))
        .output()
        .expect("the program starts");
    if output.status.code() == Some(NO_DEVICE) {
        let info = Command::new("vulkaninfo").arg("--summary").output();
        let has_vulkan = info.is_ok_and(|info| info.status.success());
        assert!(!has_vulkan, "there is a Vulkan device, but none was found");
        skip::no_device();
        return;
    }
    assert!(output.status.success(), "{}", describe(&output));
}

#[test]
fn a_machine_without_vulkan_devices_has_no_platform() {
    let output = Command::new(program("linked-no-device"))
        .env("VK_DRIVER_FILES", "/nonexistent.json")
        .env("VK_ICD_FILENAMES", "/nonexistent.json")
        .output()
        .expect("the program starts");
    assert_eq!(
        output.status.code(),
        Some(NO_DEVICE),
        "{}",
        describe(&output)
    );
}

#[test]
fn a_machine_without_a_vulkan_loader_has_no_platform() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-vulkan");
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    // Found first, and not a library.
    std::fs::write(folder.join("libvulkan.so.1"), "nothing").expect("a file can be written");
    let output = Command::new(program("linked-no-loader"))
        .env("LD_LIBRARY_PATH", &folder)
        .env("PUMICE_LOG", "info")
        .output()
        .expect("the program starts");
    assert_eq!(
        output.status.code(),
        Some(NO_DEVICE),
        "{}",
        describe(&output)
    );
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(
        log.contains("libvulkan.so.1"),
        "the log gives the reason: {log}"
    );
}
