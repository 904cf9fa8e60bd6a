//! Machine code for GPUs that are not there: programs built on a driver whose kernel device is a stand-in that computes nothing,
//! down to its pipelines. `ci/without-hardware` says where such drivers come from, and runs this.
//!
//! ```text
//! without_hardware [--programs FOLDER]… [--through WORD]… [--jobs N] [--patience SECONDS] [FILTER…]
//! ```
//!
//! `--programs` names folders of programs (`tests/common/programs.rs`). Processes build them in turn, started through the words
//! of `--through`: a loader with the libraries of the driver, say. One that ends, or takes `--patience` of a processor for a
//! kernel, was compiling what it named last; the next one goes on behind it. Nothing is tried out on such a device: what it claims it has.

mod report;
mod worker;

use report::{Outcome, Report};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How many processes in a row may end without having compiled anything, until the driver is given up.
const MOST_FAILURES: usize = 20;

/// How many times longer than at rest a process may be silent.
const SLOWEST: u32 = 20;

#[derive(Default)]
struct Arguments {
    folders: Vec<PathBuf>,
    through: Vec<String>,
    filters: Vec<String>,
    jobs: usize,
    patience: Duration,
}

fn arguments() -> Result<Arguments, lexopt::Error> {
    use lexopt::prelude::{Long, Value, ValueExt};
    let mut all = Arguments {
        jobs: 1,
        patience: Duration::from_secs(60),
        ..Arguments::default()
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("programs") => all.folders.push(parser.value()?.into()),
            Long("through") => all.through.push(parser.value()?.string()?),
            Long("jobs") => all.jobs = parser.value()?.parse::<usize>()?.max(1),
            Long("patience") => all.patience = Duration::from_secs(parser.value()?.parse()?),
            // What cargo gives to its own test programs.
            Long("nocapture" | "quiet" | "exact") => {}
            Value(filter) => all.filters.push(filter.string()?),
            other => return Err(other.unexpected()),
        }
    }
    Ok(all)
}

fn main() -> ExitCode {
    if std::env::var_os(worker::WORKER).is_some() {
        return worker::run();
    }
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("without_hardware: {error}");
            return ExitCode::FAILURE;
        }
    };
    if arguments.folders.is_empty() {
        eprintln!("skipped: without_hardware: no programs are named, see ci/without-hardware");
        return ExitCode::SUCCESS;
    }
    let programs = programs(&arguments);
    let report = Mutex::new(Report::default());
    std::thread::scope(|scope| {
        for chunk in programs.chunks(programs.len().div_ceil(arguments.jobs).max(1)) {
            let (arguments, report) = (&arguments, &report);
            scope.spawn(move || compile_all(arguments, chunk, report));
        }
    });
    let report = report.into_inner().expect("no thread has panicked");
    report.print();
    if report.is_well() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The programs of the folders that the filters choose, by their names.
fn programs(arguments: &Arguments) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in &arguments.folders {
        for entry in folder.read_dir().expect("a folder of programs") {
            let path = entry.expect("an entry").path();
            let is_program = path.extension().is_some_and(|it| it == "cl" || it == "spv");
            let name = path.display().to_string();
            let mut filters = arguments.filters.iter();
            if is_program
                && (arguments.filters.is_empty() || filters.any(|filter| name.contains(filter)))
            {
                all.push(path);
            }
        }
    }
    all.sort();
    all
}

/// Compiles programs, in one process as long as that lives.
fn compile_all(arguments: &Arguments, programs: &[PathBuf], report: &Mutex<Report>) {
    let (mut at, mut skipped_kernels, mut failures) = (0, 0, 0);
    while at < programs.len() && failures < MOST_FAILURES {
        let mut kernels = skipped_kernels;
        let mut compiled = 0;
        let mut running = None;
        let ending = watch(arguments, &programs[at..], skipped_kernels, |line| {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let mut report = report.lock().expect("no thread has panicked");
            let name = programs.get(at).and_then(|path| path.file_stem());
            let name = name.unwrap_or_default().to_string_lossy();
            let mut note = |outcome| report.add(&name, running.as_deref(), outcome);
            match word {
                "device" => report.device = Some(rest.to_owned()),
                "kernel" => running = Some(rest.to_owned()),
                "compiled" => {
                    note(Outcome::Compiled(rest.parse().expect("seconds")));
                    compiled += 1;
                }
                "refused" => note(Outcome::Refused(rest.to_owned())),
                "excess" => note(Outcome::Excess(rest.to_owned())),
                "unbuilt" => note(Outcome::Unbuilt(rest.to_owned())),
                "end" => {
                    report.programs += 1;
                    at += 1;
                    kernels = 0;
                }
                // The driver's.
                _ => {}
            }
            if matches!(word, "compiled" | "refused" | "excess") {
                kernels += 1;
                running = None;
            }
        });
        let Err(why) = ending else {
            break;
        };
        let mut report = report.lock().expect("no thread has panicked");
        if report.device.is_none() {
            report.add("no program", None, why);
            break;
        }
        let name = programs.get(at).and_then(|path| path.file_stem());
        let name = name.unwrap_or_default().to_string_lossy();
        report.add(&name, running.as_deref(), why);
        // Where no kernel was named it is the program that can't be built, or the device that can't be opened.
        (at, skipped_kernels) = match running {
            Some(_) => (at, kernels + 1),
            None => (at + 1, 0),
        };
        failures = if compiled > 0 { 0 } else { failures + 1 };
    }
}

/// Has a process compile programs but the first kernels of the first one, and gives its lines to `see`.
///
/// # Errors
/// How it ended before all were compiled.
fn watch(
    arguments: &Arguments,
    programs: &[PathBuf],
    skipped_kernels: usize,
    mut see: impl FnMut(&str),
) -> Result<(), Outcome> {
    let exe = std::env::current_exe().expect("a path").into_os_string();
    let through = arguments.through.iter().map(Into::into);
    let mut words = through.chain([exe]);
    let mut child = Command::new(words.next().expect("this program, at least"))
        .args(words)
        .env(worker::WORKER, skipped_kernels.to_string())
        .env(worker::PATIENCE, arguments.patience.as_secs().to_string())
        .env("PUMICE_ASSUME", worker::everything())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts again");
    let mut input = child.stdin.take().expect("it is piped");
    let list: String = programs
        .iter()
        .map(|it| format!("{}\n", it.display()))
        .collect();
    let (sender, lines) = mpsc::channel();
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut errors = child.stderr.take().expect("it is piped");
    std::thread::scope(|scope| {
        // One that ends early does not read all.
        scope.spawn(move || std::io::Write::write_all(&mut input, list.as_bytes()));
        scope.spawn(move || {
            output
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        let said = scope.spawn(move || {
            let mut said = Vec::new();
            let _ = errors.read_to_end(&mut said);
            String::from_utf8_lossy(&said).into_owned()
        });
        let silent = loop {
            match lines.recv_timeout(arguments.patience * SLOWEST) {
                Ok(line) => see(&line),
                Err(RecvTimeoutError::Disconnected) => break false,
                Err(RecvTimeoutError::Timeout) => {
                    let _ = child.kill();
                    break true;
                }
            }
        };
        let status = child.wait().expect("the process ends");
        let said = said.join().unwrap_or_default();
        if status.success() {
            return Ok(());
        }
        let last = said.lines().rfind(|line| !line.trim().is_empty());
        Err(if silent || status.signal() == Some(libc::SIGXCPU) {
            Outcome::GivenUp(arguments.patience)
        } else {
            Outcome::Crashed(format!("{status}: {}", last.unwrap_or_default()))
        })
    })
}
