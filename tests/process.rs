//! The end of a process, the library's unloading and `fork`, each with work under way: a C program of its own for
//! each.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const NO_DEVICE: i32 = 77;

fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    let path = test.with_file_name("libpumice.so");
    assert!(path.exists(), "{} is missing", path.display());
    path
}

fn run(scenario: &str) {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("process-{scenario}"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/process.c");
    let status = Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Werror", "-o"])
        .arg(&program)
        .arg(source)
        .arg("-ldl")
        .status()
        .expect("a C compiler is installed");
    assert!(status.success(), "process.c does not compile");
    let output = Command::new(program)
        .arg(scenario)
        .arg(library())
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    if output.status.code() == Some(NO_DEVICE) {
        eprintln!("skipped: no usable Vulkan device");
        return;
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{errors}", output.status);
}

#[test]
fn a_process_may_end_with_work_under_way() {
    run("exit");
}

#[test]
fn the_library_may_be_unloaded_with_work_under_way() {
    run("unload");
}

#[test]
fn a_child_is_told_so_and_its_parent_goes_on() {
    run("fork");
}
