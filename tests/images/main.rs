//! Images through the API: host commands on regions, and what kernels read and write, against formulas
//! computed here.

#[path = "../common/mod.rs"]
mod common;
#[macro_use]
#[path = "../common/entry.rs"]
mod entry;

mod command_buffer;
mod copies;
mod formats;
mod host;
mod kernels;
mod kinds;
mod levels;
mod literals;
mod model;
mod recorded;
mod refused;
mod samplers;
mod session;
mod textures;
mod writes;

/// Runs the tests of copies and fills once more as on a discrete device, which moves rectangles by kernels.
#[test]
fn the_same_by_kernels() {
    const AGAIN: &str = "IMAGES_BY_KERNELS";
    if std::env::var_os(AGAIN).is_some() {
        return;
    }
    let test = std::env::current_exe().expect("a running test has a path");
    let output = std::process::Command::new(test)
        .args([
            "host::",
            "copies::",
            "formats::",
            "kinds::",
            "levels::",
            "command_buffer::",
        ])
        .env(AGAIN, "1")
        .env("PUMICE_DISCRETE", "1")
        .output()
        .expect("the test starts");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
