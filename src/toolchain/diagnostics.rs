//! What clang wrote, as the build log shows it.

use std::path::Path;

use super::process::End;

/// The name of the application's source in messages: `<program source>:3:5: error: …`.
pub const SOURCE_NAME: &str = "<program source>";

/// Whether clang gave up on its own account, and not on the program's: a signal, or the exit code of an
/// error in its back end (70), or a shell's way of telling a signal.
pub fn is_crash(end: End, stderr: &str) -> bool {
    match end {
        End::Signal(_) => true,
        End::Exit(code) => code == 70 || code >= 128 || stderr.contains("error in backend"),
        End::TimedOut | End::Unknown => false,
    }
}

/// The log text for clang's standard error; header files appear under the names they were given.
pub fn readable(stderr: &[u8], header_directory: Option<&Path>) -> String {
    let text = String::from_utf8_lossy(stderr);
    match header_directory {
        Some(path) => text.replace(&format!("{}/", path.display()), ""),
        None => text.into_owned(),
    }
}

/// Where the stack of a crash begins, with what asks for a report of it.
const STACK: [&str; 2] = ["PLEASE submit a bug report", "Stack dump:"];

/// Leaves out the stack of a crash: clang's own functions tell the application nothing.
pub fn leave_out_stack(log: &mut String) {
    let places = STACK.iter().filter_map(|start| log.find(start));
    if let Some(place) = places.min() {
        log.truncate(place);
    }
}

/// One line on an end that is not the program's fault.
pub fn end_note(end: End, clang: &Path) -> Option<String> {
    let clang = clang.display();
    Some(match end {
        End::Signal(signal) => format!(
            "error: {clang} crashed (signal {signal}) on this program. This is a defect of clang; another \
             version can be chosen with PUMICE_CLANG.\n"
        ),
        End::Exit(code) if code == 70 || code >= 128 => format!(
            "error: {clang} gave up with an internal error (exit code {code}) on this program. This is a \
             defect of clang; another version can be chosen with PUMICE_CLANG.\n"
        ),
        End::TimedOut => {
            format!("error: {clang} was stopped: it took too long for this program.\n")
        }
        End::Exit(_) | End::Unknown => return None,
    })
}

/// One line on a module with integers of more than 64 bits.
pub const WIDE_INTEGER: &str = "error: an integer of more than 64 bits is not supported: in OpenCL C, `long long` and a \
                                number with the suffix `LL` have 128 bits, `long` and `L` have 64.\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashes_are_told_from_errors() {
        assert!(is_crash(End::Signal(11), ""));
        assert!(is_crash(End::Exit(70), "fatal error: error in backend: x"));
        assert!(is_crash(End::Exit(139), ""));
        assert!(!is_crash(End::Exit(1), "error: expected ';'"));
        assert_eq!(end_note(End::Exit(1), Path::new("clang")), None);
        assert!(
            end_note(End::Signal(11), Path::new("clang"))
                .unwrap()
                .contains("signal 11")
        );
    }

    #[test]
    fn of_a_crash_the_error_is_left() {
        let mut log = "a.cl:1: warning: x\nfatal error: error in backend: y\nPLEASE submit a bug report to z\n\
                       Stack dump:\n0. clang\n"
            .to_owned();
        leave_out_stack(&mut log);
        assert_eq!(
            log,
            "a.cl:1: warning: x\nfatal error: error in backend: y\n"
        );
    }

    #[test]
    fn headers_appear_under_their_own_names() {
        let text = readable(b"/tmp/p-1/a.h:1:2: error: x\n", Some(Path::new("/tmp/p-1")));
        assert_eq!(text, "a.h:1:2: error: x\n");
    }
}
