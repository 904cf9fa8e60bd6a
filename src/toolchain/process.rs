//! Runs one program to its end, within a bound of time and one of memory.
//!
//! Standard input, output and error are anonymous memory files and not pipes. So no thread is needed to
//! drain them, none can fill up, and no `SIGPIPE` (which a C host does not ignore, as Rust programs do) can
//! reach the application when the child dies early.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::FromRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What a program may take of memory. clang 22 takes more and more over some programs with vectors (`moreElementsVector` of its
/// SPIR-V back end), 17 GB in half a minute, before it breaks down. Over 640 KB of source that csmith made it takes 0.14 GB.
const MOST_MEMORY_BYTES: libc::rlim_t = 4 << 30;

/// What a program may write to its standard output, and to its standard error: a macro that stands for itself twice is the
/// start of any amount of text.
const MOST_OUTPUT_BYTES: u64 = 512 << 20;

/// How often it is looked at how much that is.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited by itself with this code.
    Exit(i32),
    /// It was ended by this signal.
    Signal(i32),
    /// It ran past the limit and was killed.
    TimedOut,
    /// Its status went to someone else: the host reaps all children (`SIGCHLD` ignored, or `wait(-1)`).
    Unknown,
}

/// What a program left behind.
#[derive(Debug)]
pub struct Finished {
    pub end: End,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Runs `program` with `arguments`, `input` on its standard input, for at most `limit`.
///
/// # Errors
/// The program can't be started, or the memory files can't be made, or it writes more than 512 MiB, or more than there is memory
/// for.
pub fn run(
    program: &OsStr,
    arguments: &[&OsStr],
    input: &[u8],
    limit: Duration,
) -> io::Result<Finished> {
    let mut stdin = memory_file()?;
    stdin.write_all(input)?;
    stdin.seek(SeekFrom::Start(0))?;
    let stdout = memory_file()?;
    let stderr = memory_file()?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout.try_clone()?))
        .stderr(Stdio::from(stderr.try_clone()?));
    // Variables that would change what the same call means.
    for name in [
        "CPATH",
        "C_INCLUDE_PATH",
        "CPLUS_INCLUDE_PATH",
        "CCC_OVERRIDE_OPTIONS",
    ] {
        command.env_remove(name);
    }
    // Diagnostics are matched and shown: one language, no colour.
    command.env("LC_ALL", "C");
    // Where clang crashes, naming the functions of its stack would take longer than the build that is tried next.
    command.env("LLVM_DISABLE_SYMBOLIZATION", "1");
    let child = command.spawn()?;
    limit_memory(&child);
    let end = wait(child, limit, &[&stdout, &stderr])?;
    Ok(Finished {
        end,
        stdout: contents(stdout)?,
        stderr: contents(stderr)?,
    })
}

/// Has a process fail to get more memory than it may take. Where that can't be done, it goes without a limit.
fn limit_memory(child: &Child) {
    let pid = child.id() as libc::pid_t;
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid place for the old limit, and there is no new one.
    let result = unsafe { libc::prlimit(pid, libc::RLIMIT_DATA, std::ptr::null(), &mut limit) };
    if result == 0 && limit.rlim_cur > MOST_MEMORY_BYTES {
        limit.rlim_cur = MOST_MEMORY_BYTES;
        // SAFETY: `limit` is a valid limit, and the old one is not asked for. A failure leaves what was there.
        unsafe { libc::prlimit(pid, libc::RLIMIT_DATA, &limit, std::ptr::null_mut()) };
    }
}

fn memory_file() -> io::Result<File> {
    // SAFETY: the name is a literal with its terminating zero.
    let fd = unsafe { libc::memfd_create(c"pumice".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `fd` was just made and has no other owner.
    Ok(unsafe { File::from_raw_fd(fd) })
}

fn is_too_long(output: &Metadata) -> bool {
    output.len() > MOST_OUTPUT_BYTES
}

fn contents(mut file: File) -> io::Result<Vec<u8>> {
    if is_too_long(&file.metadata()?) {
        let too_much = "it wrote more than 512 MiB";
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, too_much));
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn wait(mut child: Child, limit: Duration, outputs: &[&File]) -> io::Result<End> {
    let start = Instant::now();
    // A process file descriptor becomes readable when the process ends (Linux 5.3). Without it, poll.
    // SAFETY: `pidfd_open` takes a process id and flags and touches no memory of ours.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id() as libc::pid_t, 0) };
    let pidfd = (fd >= 0).then(|| {
        // SAFETY: `fd` was just made and has no other owner.
        unsafe { File::from_raw_fd(fd as i32) }
    });
    loop {
        let is_too_long = |output: &&File| output.metadata().is_ok_and(|it| is_too_long(&it));
        let left = if outputs.iter().any(is_too_long) {
            Duration::ZERO
        } else {
            limit.saturating_sub(start.elapsed())
        };
        match child.try_wait() {
            Ok(Some(status)) => return Ok(map_status(status)),
            Ok(None) if left.is_zero() => {
                child.kill()?;
                // The status no longer matters, but the process must not stay as a zombie.
                let _ = child.wait();
                return Ok(End::TimedOut);
            }
            Ok(None) => {}
            Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(End::Unknown),
            Err(error) => return Err(error),
        }
        pause(pidfd.as_ref(), left);
    }
}

/// Waits until the process may have ended, at most `left`.
fn pause(pidfd: Option<&File>, left: Duration) {
    use std::os::fd::AsRawFd;
    let Some(pidfd) = pidfd else {
        std::thread::sleep(left.min(Duration::from_millis(1)));
        return;
    };
    let mut entry = libc::pollfd {
        fd: pidfd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let milliseconds = left.min(BETWEEN_LOOKS).as_millis().max(1) as i32;
    // SAFETY: one valid entry, and the count says one. A failure (a signal) only makes the caller look again.
    unsafe { libc::poll(&mut entry, 1, milliseconds) };
}

fn map_status(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exit(code),
        (None, Some(signal)) => End::Signal(signal),
        (None, None) => End::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, input: &[u8], limit: Duration) -> Finished {
        run(
            OsStr::new("sh"),
            &[OsStr::new("-c"), OsStr::new(script)],
            input,
            limit,
        )
        .unwrap()
    }

    #[test]
    fn endless_output_is_refused() {
        let written = run(
            OsStr::new("sh"),
            &[OsStr::new("-c"), OsStr::new("exec yes")],
            b"",
            Duration::from_secs(100),
        );
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        // 10 MB are no endless output.
        let finished = shell("head -c 10000000 /dev/zero", b"", Duration::from_secs(100));
        assert_eq!(
            (finished.end, finished.stdout.len()),
            (End::Exit(0), 10_000_000)
        );
    }

    #[test]
    fn carries_input_output_and_status() {
        let input = vec![b'x'; 300_000];
        let finished = shell(
            "cat; echo note >&2; exit 3",
            &input,
            Duration::from_secs(20),
        );
        assert_eq!(finished.end, End::Exit(3));
        assert_eq!(finished.stdout, input);
        assert_eq!(finished.stderr, b"note\n");
    }

    #[test]
    fn memory_is_limited() {
        // It may start before it has the limit.
        let script = "while [ \"$(ulimit -d)\" = unlimited ]; do :; done; ulimit -d";
        let finished = shell(script, b"", Duration::from_secs(20));
        assert_eq!(finished.end, End::Exit(0));
        let kilobytes = String::from_utf8_lossy(&finished.stdout);
        let kilobytes: u64 = kilobytes.trim().parse().expect("a number");
        assert!(kilobytes << 10 <= MOST_MEMORY_BYTES, "{kilobytes}");
    }

    #[test]
    fn a_signal_is_told_apart_from_an_exit() {
        let finished = shell("kill -SEGV $$", b"", Duration::from_secs(20));
        assert_eq!(finished.end, End::Signal(libc::SIGSEGV));
    }

    #[test]
    fn a_program_that_never_ends_is_killed() {
        let start = Instant::now();
        let finished = shell("exec sleep 60", b"", Duration::from_millis(100));
        assert_eq!(finished.end, End::TimedOut);
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let error = run(
            OsStr::new("/nonexistent/clang"),
            &[],
            b"",
            Duration::from_secs(1),
        );
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
