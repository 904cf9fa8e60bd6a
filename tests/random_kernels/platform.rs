//! The process that runs kernels on a platform, seen from the one that compares.

use crate::cache;
use crate::generator::{Features, PREAMBLE, Program};
use crate::worker::OPTIONS;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Set in the processes that run kernels.
pub const WORKER: &str = "PUMICE_RANDOM_WORKER";

/// Set in the one that runs them as C on the host, without OpenCL.
pub const HOST: &str = "PUMICE_RANDOM_HOST";

/// What names the host among the platforms.
const HOST_NAME: &str = "gcc";

/// What a kernel may take of processor time until its results are there, and how often that is looked at.
const PATIENCE: Duration = Duration::from_secs(20);
/// On the host, where gcc is most of it.
const HOST_PATIENCE: Duration = Duration::from_secs(4);
const LOOK: Duration = Duration::from_secs(1);

/// How long a process may take no processor time, which tells a device that hangs.
const HANGS: Duration = Duration::from_secs(300);

/// What a kernel's buffers held in the end, or why there is nothing.
pub type Outcome = Result<String, String>;

pub struct Platform {
    pub name: String,
    /// How it was named.
    pub icd: String,
    library: PathBuf,
    options: String,
    /// Variables of its processes' environment.
    environment: Vec<(String, String)>,
    folder: PathBuf,
    pub features: Features,
    /// Runs nothing but C.
    pub is_host: bool,
    process: Option<Process>,
    programs: usize,
}

struct Process {
    child: Child,
    lines: Receiver<String>,
}

impl Process {
    /// The next line, or why there is none: the process is gone, or takes longer than anyone would wait.
    fn next(&self, patience: Duration) -> Result<String, String> {
        let before = self.processor_time();
        let (mut taken, mut since) = (before, Instant::now());
        loop {
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err("the process has ended".into()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = self.processor_time();
            if now != taken {
                (taken, since) = (now, Instant::now());
            }
            if now > before + patience {
                return Err(format!("no result within {patience:?} of processor time"));
            }
            if since.elapsed() > HANGS {
                return Err(format!("no result within {HANGS:?} of doing nothing"));
            }
        }
    }

    /// What the process has taken of processor time, its children that have ended included.
    fn processor_time(&self) -> Duration {
        // SAFETY: it has no condition.
        let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
        let path = format!("/proc/{}/stat", self.child.id());
        let text = std::fs::read_to_string(path).unwrap_or_default();
        // The name of the program may hold anything; the state is the first field after it.
        let (_, fields) = text.rsplit_once(')').unwrap_or(("", ""));
        let times = fields.split_whitespace().skip(11).take(4);
        let used: u64 = times.filter_map(|field| field.parse::<u64>().ok()).sum();
        Duration::from_millis(used * 1000 / ticks)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Platform {
    /// The platform of `[NAME=VALUE;…]LIBRARY[,OPTIONS]`: an ICD's library, what its environment has beside that
    /// of this process, and what is added to the options of all programs. `None` where it has no device.
    pub fn open(icd: &str, folder: &Path) -> Option<Self> {
        let named = icd.to_owned();
        let (variables, icd) = icd.rsplit_once(';').unwrap_or(("", icd));
        let environment = variables
            .split(';')
            .filter_map(|one| one.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let (library, options) = icd.split_once(',').unwrap_or((icd, ""));
        let library = Path::new(library);
        std::fs::create_dir_all(folder).expect("the folder is writable");
        let manifest = format!("{}\n", library.display());
        std::fs::write(folder.join("one.icd"), manifest).expect("the folder is writable");
        let mut this = Self {
            name: String::new(),
            icd: named,
            library: library.into(),
            options: options.into(),
            environment,
            folder: folder.into(),
            features: Features {
                generic: false,
                double: false,
                plain: false,
            },
            is_host: icd == HOST_NAME,
            process: None,
            programs: 0,
        };
        let process = this.start();
        let line = process.next(PATIENCE).ok()?;
        let mut words = line.strip_prefix("@features ")?.split(' ');
        this.features.generic = words.next()? == "1";
        this.features.double = words.next()? == "1";
        this.name = format!("{} {options}", words.collect::<Vec<_>>().join(" "));
        this.process = Some(process);
        Some(this)
    }

    fn start(&self) -> Process {
        let mut child =
            Command::new(std::env::current_exe().expect("a running program has a path"));
        let standard = if self.features_known() && !self.features.generic {
            "-cl-std=CL1.2"
        } else {
            "-cl-std=CL3.0"
        };
        child
            .env(WORKER, "1")
            .env(OPTIONS, format!("{standard} -w {}", self.options))
            // ocl-icd wants the slash to tell a folder from a file.
            .env("OCL_ICD_VENDORS", format!("{}/", self.folder.display()))
            .env("PUMICE_CACHE_DIR", cache::folder())
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if self.is_host {
            child.env(HOST, "1");
        }
        if std::env::var_os("PUMICE_RANDOM_VERBOSE").is_none() {
            child.stderr(Stdio::null());
        }
        if let Some(beside) = self.library.parent() {
            // Intel's library finds its own this way.
            let paths = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
            if !beside.starts_with(env!("CARGO_MANIFEST_DIR")) && !beside.as_os_str().is_empty() {
                child.env("LD_LIBRARY_PATH", format!("{}:{paths}", beside.display()));
            }
        }
        let mut child = child.spawn().expect("the program starts itself");
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
        Process { child, lines }
    }

    fn features_known(&self) -> bool {
        !self.name.is_empty()
    }

    /// Runs kernels, as one program where it builds. One that keeps it from building is taken out: by its name,
    /// if the build log says it, else by halving the program.
    pub fn run(&mut self, kernels: &[&Program]) -> Vec<Outcome> {
        if self.is_host && kernels.iter().any(|kernel| !kernel.plain) {
            return vec![Err("not C".into()); kernels.len()];
        }
        let mut outcomes = self.run_program(kernels);
        let reason = match outcomes.first() {
            Some(Err(reason)) if kernels.len() > 1 && outcomes.iter().all(Result::is_err) => reason,
            _ => return outcomes,
        };
        let named = failing_kernel(reason)
            .and_then(|name| kernels.iter().position(|kernel| kernel.name == name));
        if let Some(at) = named {
            let own = outcomes.remove(at);
            let (before, after) = (&kernels[..at], &kernels[at + 1..]);
            outcomes = self.run(&[before, after].concat());
            outcomes.insert(at, own);
            return outcomes;
        }
        let (first, second) = kernels.split_at(kernels.len() / 2);
        [self.run(first), self.run(second)].concat()
    }

    /// Runs the kernels of one program.
    fn run_program(&mut self, kernels: &[&Program]) -> Vec<Outcome> {
        if self.process.is_none() {
            let process = self.start();
            // The features are known.
            let _ = process.next(PATIENCE);
            self.process = Some(process);
        }
        self.programs += 1;
        let path = self.folder.join(format!("{}.cl", self.programs % 2));
        let texts: Vec<_> = kernels.iter().map(|kernel| kernel.text()).collect();
        std::fs::write(&path, format!("{PREAMBLE}{}", texts.concat()))
            .expect("the folder is writable");
        let sizes: Vec<_> = kernels
            .iter()
            .map(|kernel| {
                let free = u8::from(kernel.free);
                format!("{}:{}:{free}", kernel.name, kernel.local_size)
            })
            .collect();
        let process = self.process.as_mut().expect("it was started above");
        if let Some(input) = process.child.stdin.as_mut() {
            // Whether it reads it shows below.
            let _ = writeln!(input, "{} {}", path.display(), sizes.join(" "));
            let _ = input.flush();
        }
        let mut outcomes = Vec::new();
        let each = if self.is_host {
            HOST_PATIENCE
        } else {
            PATIENCE
        };
        let mut patience = each * kernels.len().min(5) as u32;
        for _ in kernels {
            let line = match &self.process {
                Some(process) => process.next(patience),
                None => Err("the platform is gone".into()),
            };
            patience = each;
            outcomes.push(match line {
                Ok(line) => match line.strip_prefix("@ok ") {
                    Some(hex) => Ok(hex.to_owned()),
                    None => Err(line),
                },
                Err(error) => {
                    // Crashed, or hangs.
                    self.process = None;
                    Err(error)
                }
            });
        }
        outcomes
    }
}

/// The kernel in which clang's back end gave up, or in one of whose functions: their names start with its own.
fn failing_kernel(log: &str) -> Option<&str> {
    let (_, function) = log.split_once("(in function: ")?;
    let name = function
        .strip_prefix("__clang_ocl_kern_imp_")
        .unwrap_or(function);
    name.split(['_', ')']).next()
}
