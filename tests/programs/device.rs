//! The processes that run programs on the device, seen from the one that compares.

use crate::listing::Case;
use crate::worker::WORKER;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long to wait for a process that uses no CPU time, on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// What became of a program on the device.
pub enum Outcome {
    /// The CPU seconds of its first launch, and its output.
    Ran(f64, Vec<u32>),
    /// Its first launch took more CPU seconds than it was given.
    Slow,
    Failed(String),
}

/// One process at a time that runs programs on the device under test.
pub struct Device {
    folder: PathBuf,
    /// CPU seconds that a first launch is given.
    patience: f64,
    process: Process,
    pub name: String,
    pub double: bool,
}

struct Process {
    child: Child,
    lines: Receiver<String>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Device {
    /// The device of a driver's library; `None` where it has none. The folder, which exists, is for its files.
    pub fn open(library: &Path, folder: &Path, patience: f64) -> Option<Self> {
        let vendors = folder.join("vendors");
        std::fs::create_dir_all(&vendors).expect("the folder is writable");
        let manifest = format!("{}\n", library.display());
        std::fs::write(vendors.join("tested.icd"), manifest).expect("the folder is writable");
        let process = Process::start(folder, patience);
        let line = process.lines.recv_timeout(PATIENCE).ok()?;
        let (double, name) = line.strip_prefix("@device ")?.split_once(' ')?;
        Some(Self {
            folder: folder.into(),
            patience,
            process,
            name: name.trim().into(),
            double: double == "1",
        })
    }

    /// Runs a program once.
    pub fn run(&mut self, case: &Case, input: &[u32], work_bytes: usize) -> Outcome {
        let outcome = self.ask(case, input, work_bytes);
        if !matches!(outcome, Outcome::Ran(..)) {
            // The process may be gone, or be in a state that is not to be trusted.
            self.restart();
        }
        outcome
    }

    /// Goes on in a new process, which has compiled nothing yet.
    pub fn restart(&mut self) {
        self.process = Process::start(&self.folder, self.patience);
        let _ = self.process.lines.recv_timeout(PATIENCE);
    }

    fn ask(&mut self, case: &Case, input: &[u32], work_bytes: usize) -> Outcome {
        let (source, words) = (self.folder.join("test.cl"), self.folder.join("input"));
        let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
        std::fs::write(&source, case.device_source()).expect("the folder is writable");
        std::fs::write(&words, bytes).expect("the folder is writable");
        if let Some(to) = self.process.child.stdin.as_mut() {
            // Whether it reads it shows below.
            let _ = writeln!(
                to,
                "{} {} {} {} {} {}",
                source.display(),
                words.display(),
                case.outputs * case.units,
                work_bytes * case.units,
                case.global_size,
                case.local_size
            );
            let _ = to.flush();
        }
        match self.process.lines.recv_timeout(PATIENCE) {
            Ok(line) => answer(&line),
            Err(error) => {
                let status = self.process.child.try_wait();
                Outcome::Failed(match status {
                    Ok(Some(status)) => format!("the process ended: {status}"),
                    _ => format!("no answer: {error}"),
                })
            }
        }
    }
}

/// The outcome that a line of a process tells.
fn answer(line: &str) -> Outcome {
    if line.starts_with("@slow") {
        return Outcome::Slow;
    }
    let ran = line.strip_prefix("@ok ").and_then(|rest| {
        let (seconds, hex) = rest.split_once(' ')?;
        Some(Outcome::Ran(seconds.parse().ok()?, words(hex)?))
    });
    ran.unwrap_or_else(|| {
        let reason = line.strip_prefix("@error ").unwrap_or(line);
        Outcome::Failed(reason.replace("\\n", "\n"))
    })
}

/// Words of four bytes in the order of memory, each byte two digits.
fn words(hex: &str) -> Option<Vec<u32>> {
    let word = |at: usize| {
        let word = u32::from_str_radix(hex.get(at..at + 8)?, 16).ok()?;
        Some(word.swap_bytes())
    };
    (0..hex.len()).step_by(8).map(word).collect()
}

impl Process {
    fn start(folder: &Path, patience: f64) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("a running test has a path"))
            .env(WORKER, patience.to_string())
            // ocl-icd wants the slash to tell a folder from a file.
            .env("OCL_ICD_VENDORS", format!("{}/vendors/", folder.display()))
            // First launches are to be first.
            .env("PUMICE_CACHE_DIR", "")
            .env("MESA_SHADER_CACHE_DISABLE", "true")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test starts itself");
        let out = child.stdout.take().expect("standard output is a pipe");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(out).lines().map_while(Result::ok);
            for line in lines.filter(|line| line.starts_with('@')) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }
}
