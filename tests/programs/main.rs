//! Ordinary C programs, each written once: compiled by the host's C compiler and as an OpenCL kernel, and compared.
//!
//! ```text
//! VK_DRIVER_FILES=… cargo test --test programs [-- FILTER…]
//! ```
//!
//! Every program of the folders beside this file runs in several ways that its head names: with its working memory in
//! private, local or global memory, with elements of several types, in one work-item or many. The words that it writes
//! must be the host's, bit by bit, or within the program's tolerance; and its first launch must end within a bound of
//! CPU time, as measured in the process that runs it. What else the machine does can only add to that (caches and memory
//! are shared): long ones are divided by how much slower than at rest the processor is, and a first launch that exceeds its
//! bound is measured again in a new process, and the least counts.
//!
//! The device is the first one that the loader finds, which is told to find only the `libpumice.so` that cargo built;
//! `PUMICE_TEST_ICD` names another driver's library instead. `--patience SECONDS` gives first launches so many CPU
//! seconds until they are given up, to see what becomes of those that exceed their bound. `--times` prints what belongs
//! into `swiftshader.txt`. `--source` prints the OpenCL C of the cases, `--jobs` says how many processes run them.

mod device;
mod host;
#[path = "../common/library.rs"]
mod library;
mod listing;
#[path = "../common/skip.rs"]
mod skip;
mod times;
mod worker;

use device::{Device, Outcome};
use host::Compiler;
use listing::{Case, Tolerance};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use times::Bounds;

/// Words that are told of a result that is wrong.
const TOLD: usize = 4;

/// Processes that measure a first launch that exceeds its bound.
const TRIES: usize = 3;

/// How many times slower than at rest a machine may be before first launches are given up that would be within a bound.
const SLOWEST: f64 = 4.0;

struct Arguments {
    filters: Vec<String>,
    list: bool,
    source: bool,
    times: bool,
    patience: Option<f64>,
    jobs: usize,
}

fn arguments() -> Result<Arguments, lexopt::Error> {
    use lexopt::prelude::{Long, Value, ValueExt};
    let mut all = Arguments {
        filters: Vec::new(),
        list: false,
        source: false,
        times: false,
        patience: None,
        jobs: thread::available_parallelism().map_or(1, usize::from),
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("list") => all.list = true,
            Long("source") => all.source = true,
            Long("times") => all.times = true,
            Long("patience") => all.patience = Some(parser.value()?.parse()?),
            Long("jobs") => all.jobs = parser.value()?.parse()?,
            // What cargo gives to its own test programs.
            Long("nocapture" | "quiet" | "exact") => {}
            Value(filter) => all.filters.push(filter.string()?),
            other => return Err(other.unexpected()),
        }
    }
    Ok(all)
}

/// The driver under test: `libpumice.so`, which cargo builds with the tests.
fn driver() -> PathBuf {
    std::env::var_os("PUMICE_TEST_ICD").map_or_else(library::path, PathBuf::from)
}

fn main() -> ExitCode {
    if let Ok(patience) = std::env::var(worker::WORKER) {
        return match worker::run(&patience) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("programs: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("programs: {error}");
            return ExitCode::FAILURE;
        }
    };
    let all = listing::cases();
    let unknown = Bounds::read();
    let unknown = unknown.unknown(all.iter().map(|case| case.name.as_str()));
    assert!(unknown.is_empty(), "swiftshader.txt tells of {unknown:?}");
    let chosen = |case: &Case| {
        let mut filters = arguments.filters.iter();
        arguments.filters.is_empty() || filters.any(|filter| case.name.contains(filter))
    };
    let cases: Vec<Case> = all.into_iter().filter(chosen).collect();
    if arguments.list || arguments.source {
        for case in &cases {
            if arguments.source {
                println!("{}", case.device_source())
            } else {
                println!("{}: test", case.name)
            }
        }
        return ExitCode::SUCCESS;
    }
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("programs-{}", std::process::id()));
    let result = run(&arguments, &cases, &folder);
    // What is left of it hurts nobody.
    let _ = std::fs::remove_dir_all(&folder);
    result
}

/// What is known of the cases that have run.
#[derive(Default)]
struct Report {
    passed: usize,
    skipped: usize,
    failed: Vec<String>,
    /// CPU seconds of first launches.
    times: Vec<(String, f64)>,
}

/// All that the threads that run cases share.
struct Session<'a> {
    cases: &'a [Case],
    next: AtomicUsize,
    compiler: Compiler,
    bounds: Bounds,
    report: Mutex<Report>,
}

fn run(arguments: &Arguments, cases: &[Case], folder: &Path) -> ExitCode {
    let bounds = Bounds::read();
    let patience = arguments
        .patience
        .unwrap_or_else(|| SLOWEST * bounds.most());
    let mut devices = Vec::new();
    for job in 0..arguments.jobs.max(1) {
        let folder = folder.join(job.to_string());
        match Device::open(&driver(), &folder, patience) {
            Some(device) => devices.push(device),
            None => {
                skip::no_device();
                return ExitCode::SUCCESS;
            }
        }
    }
    println!("running on {}", devices[0].name);
    let session = Session {
        cases,
        next: AtomicUsize::new(0),
        compiler: Compiler::new(folder),
        bounds,
        report: Mutex::default(),
    };
    thread::scope(|scope| {
        for device in devices {
            scope.spawn(|| session.work(device));
        }
    });
    let report = session.report.into_inner();
    let mut report = report.unwrap_or_else(PoisonError::into_inner);
    report.failed.sort();
    report.times.sort_by(|a, b| a.0.cmp(&b.0));
    let total: f64 = report.times.iter().map(|(_, seconds)| seconds).sum();
    println!(
        "\n{} passed, {} failed, {} skipped; {total:.0} s of CPU time in first launches",
        report.passed,
        report.failed.len(),
        report.skipped
    );
    for name in &report.failed {
        println!("    {name}");
    }
    if arguments.times {
        let told = report.times.iter().filter(|(_, s)| *s >= times::TOLD_FROM);
        told.for_each(|(name, seconds)| println!("{name}\t{seconds:.1}"));
    }
    if report.failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

impl Session<'_> {
    /// Runs cases until none is left.
    fn work(&self, mut device: Device) {
        while let Some(case) = self.cases.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if case.double && !device.double {
                self.tell(case, "skipped: no doubles", |report| report.skipped += 1);
                continue;
            }
            match self.judge(case, &mut device) {
                Ok(seconds) => self.tell(case, &format!("ok ({seconds:.2} s)"), |report| {
                    report.passed += 1;
                    report.times.push((case.name.clone(), seconds));
                }),
                Err(reason) => self.tell(case, &format!("FAILED: {reason}"), |report| {
                    report.failed.push(case.name.clone());
                }),
            }
        }
    }

    fn tell(&self, case: &Case, verdict: &str, note: impl FnOnce(&mut Report)) {
        println!("test {} ... {verdict}", case.name);
        note(&mut self.report.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The CPU seconds of a case's first launch, or what is wrong with it.
    fn judge(&self, case: &Case, device: &mut Device) -> Result<f64, String> {
        let compiled = self.compiler.compile(case)?;
        let input = input(case);
        let expected = compiled.run(case, &input);
        let bound = self.bounds.of(&case.name);
        let mut least: Option<f64> = None;
        for _ in 0..TRIES {
            match device.run(case, &input, compiled.work_bytes) {
                Outcome::Ran(seconds, found) => {
                    compare(case, &found, &expected)?;
                    if seconds <= bound {
                        return Ok(seconds);
                    }
                    least = Some(least.map_or(seconds, |it| it.min(seconds)));
                    device.restart();
                }
                Outcome::Slow => {}
                Outcome::Failed(reason) => return Err(reason),
            }
        }
        Err(least.map_or_else(
            || "its first launch takes too long".into(),
            |seconds| {
                format!(
                    "right, but its first launch took {seconds:.1} s of CPU time at least, and may take {bound:.1} s"
                )
            },
        ))
    }
}

/// The input of a case: the same for every way to run a program, in every run.
fn input(case: &Case) -> Vec<u32> {
    let name = case.name.split(' ').next().unwrap_or_default();
    let mut state = name.bytes().fold(7, |seed: u64, byte| {
        seed.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte)
    });
    // SplitMix64.
    let word = |_| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 32) as u32
    };
    (0..case.inputs * case.units).map(word).collect()
}

/// Says where the device's result is not the host's.
fn compare(case: &Case, found: &[u32], expected: &[u32]) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("{} words, not {}", found.len(), expected.len()));
    }
    let wrong: Vec<String> = found
        .iter()
        .zip(expected)
        .enumerate()
        .filter(|(_, (found, expected))| match case.tolerance {
            Some(tolerance) => !is_near(tolerance, **found, **expected),
            None => found != expected,
        })
        .map(|(at, (found, expected))| {
            let (unit, word) = (at / case.outputs, at % case.outputs);
            match case.tolerance {
                Some(_) => format!(
                    "unit {unit}, word {word}: {} instead of {}",
                    f32::from_bits(*found),
                    f32::from_bits(*expected)
                ),
                None => format!("unit {unit}, word {word}: {found:#x} instead of {expected:#x}"),
            }
        })
        .collect();
    match wrong.len() {
        0 => Ok(()),
        count => Err(format!(
            "{count} of {} words are wrong\n    {}",
            found.len(),
            wrong[..TOLD.min(count)].join("\n    ")
        )),
    }
}

/// Whether two words are the same, or floats that are near each other.
fn is_near(tolerance: Tolerance, found: u32, expected: u32) -> bool {
    let (one, other) = (f32::from_bits(found), f32::from_bits(expected));
    let distance = (one - other).abs();
    found == expected
        || distance <= tolerance.absolute
        || distance <= tolerance.relative * other.abs()
}
