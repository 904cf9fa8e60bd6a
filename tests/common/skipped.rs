//! How a test says that it is skipped.

use std::io::Write;

/// Writes to standard error that the running test is skipped, and why, past what catches the output of tests: nobody reads
/// what a passed test says. ci/run-tests.sh counts these lines.
pub fn skipped(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // Where standard error is closed nobody listens.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {reason}");
}
