//! The end of a process, the library's unloading and `fork`, each with work under way: a C program of its own for
//! each.

#[path = "common/library.rs"]
mod library;
#[path = "common/skip.rs"]
mod skip;

#[path = "common/layer.rs"]
mod layer;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const NO_DEVICE: i32 = 77;

const FORK: &str = "fork";

/// Runs the scenario of `tests/c/process.c`, with the layer that tells whether somebody is inside the driver when it
/// is taken down: pipelines take 300 ms there.
fn run_watched(scenario: &str) {
    let mut environment = layer::variables("fault_layer", scenario).to_vec();
    environment.push(("PUMICE_TEST_SLOW_PIPELINES_MS", "300".into()));
    run_with(scenario, &environment);
}

fn run(scenario: &str) {
    run_with(scenario, &[]);
}

fn run_with(scenario: &str, environment: &[(&str, PathBuf)]) {
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
    let mut command = Command::new(program);
    command.arg(scenario).arg(library::path());
    if scenario == FORK {
        // The destructors of the Khronos layer wait in a child for threads that only its parent has.
        command
            .env_remove("VK_INSTANCE_LAYERS")
            .env_remove("PUMICE_VALIDATE");
    }
    let output = command
        .envs(environment.iter().cloned())
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    if output.status.code() == Some(NO_DEVICE) {
        skip::no_device();
        return;
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{errors}", output.status);
    let printed = if scenario == FORK { "child" } else { "" };
    assert_eq!(String::from_utf8_lossy(&output.stdout), printed);
}

#[test]
fn a_process_may_end_with_work_under_way() {
    run("exit");
}

#[test]
fn a_process_ends_after_a_callback_that_is_inside_the_driver() {
    run_watched("callback-works");
}

#[test]
fn a_process_ends_after_a_build_that_is_inside_the_driver() {
    run_watched("build-works");
}

#[test]
fn a_callback_may_end_the_process() {
    run("callback-exits");
}

#[test]
fn a_callback_that_never_returns_is_not_waited_for() {
    run("callback-stays");
}

#[test]
fn objects_may_be_released_after_the_end_has_begun() {
    run("late");
}

#[test]
fn the_library_may_be_unloaded_with_work_under_way() {
    run("unload");
}

#[test]
fn a_child_is_told_so_and_its_parent_goes_on() {
    run(FORK);
}
