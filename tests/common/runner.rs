//! Programs that a test compiles, started as cargo has been told to start the test itself.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// What starts the program.
pub fn command(program: &Path) -> Command {
    let runner = std::env::var("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER").unwrap_or_default();
    let mut words = runner
        .split_whitespace()
        .map(OsString::from)
        .chain([program.into()]);
    let mut command = Command::new(words.next().expect("the program at least"));
    command.args(words);
    command
}
