//! Random kernels: the same one on several OpenCL platforms, whose results are compared bit by bit.
//!
//! ```text
//! cargo test --test random_kernels                                 some seeds, always the same
//! cargo test --test random_kernels -- --seed 1 --count 10000 \
//!     --icd target/debug/libpumice.so --icd /path/libpocl.so --icd /path/libintelocl.so
//! ```
//!
//! `--icd [NAME=VALUE;…]LIBRARY[,OPTIONS]` names the platforms, the one under test first, each with the variables
//! of its environment (`VK_DRIVER_FILES=/path/lvp_icd.json;/path/libpumice.so`). Without it, it is Pumice as cargo
//! built it, without and with `-cl-opt-disable` (which `clang` makes quite other code for), and PoCL where it is
//! installed. A kernel that the first platform makes something of that no other does is printed with its seed,
//! reduced, and the program fails. `--print` prints the kernels instead of running them, `--file` says what each
//! platform makes of a kernel printed earlier (its work-groups are of `--local-size`), `--no-reduce` leaves
//! the kernels as they are, `--reduce-seconds` says when to leave off (600), `--jobs` how many smaller kernels to try
//! at a time (1), `--batch` says how many make a program, and `--features 0|1|2` takes them without generic
//! pointers, with them, or by turns.

mod compare;
mod expressions;
mod floats;
mod generator;
#[path = "../common/library.rs"]
mod library;
mod platform;
#[path = "../kernels/random.rs"]
mod random;
mod scope;
#[path = "../common/skip.rs"]
mod skip;
mod statements;
mod tree;
mod types;
mod worker;

use compare::{Verdict, differences, judge, judge_alone, outcomes, reduce};
use generator::{Features, PREAMBLE, Program};
use platform::{Outcome, Platform, WORKER};
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Kernels that are tried without arguments.
const FEW: u64 = 6;

/// Seeds between two words of how far it is.
const PROGRESS: u64 = 500;

struct Arguments {
    seed: u64,
    count: u64,
    batch: u64,
    icds: Vec<String>,
    print: bool,
    reduce: bool,
    reduce_seconds: u64,
    jobs: usize,
    features: u64,
    file: Option<PathBuf>,
    local_size: u32,
}

fn arguments() -> Result<Arguments, lexopt::Error> {
    use lexopt::prelude::{Long, Value, ValueExt};
    let mut all = Arguments {
        seed: 1,
        count: FEW,
        batch: 6,
        icds: Vec::new(),
        print: false,
        reduce: true,
        reduce_seconds: 600,
        jobs: 1,
        features: 2,
        file: None,
        local_size: 1,
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("seed") => all.seed = parser.value()?.parse()?,
            Long("count") => all.count = parser.value()?.parse()?,
            Long("batch") => all.batch = parser.value()?.parse()?,
            Long("features") => all.features = parser.value()?.parse()?,
            Long("reduce-seconds") => all.reduce_seconds = parser.value()?.parse()?,
            Long("jobs") => all.jobs = parser.value()?.parse()?,
            Long("file") => all.file = Some(parser.value()?.into()),
            Long("local-size") => all.local_size = parser.value()?.parse()?,
            Long("icd") => all.icds.push(parser.value()?.string()?),
            Long("print") => all.print = true,
            Long("no-reduce") => all.reduce = false,
            // What cargo gives to its own test programs.
            Long("nocapture" | "list" | "quiet" | "exact") | Value(_) => all.count = 0,
            other => return Err(other.unexpected()),
        }
    }
    Ok(all)
}

/// The platforms that are compared without `--icd`.
fn usual_platforms() -> Vec<String> {
    let pumice = library::path();
    let pumice = pumice.display();
    let mut all = vec![pumice.to_string(), format!("{pumice},-cl-opt-disable")];
    if let Ok(library) = std::fs::read_to_string("/etc/OpenCL/vendors/pocl.icd") {
        all.push(library.trim().to_owned());
    }
    all
}

/// The platforms with a device, as number `set`; none at all where the first has none.
fn open(icds: &[String], set: usize) -> Vec<Platform> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("random-{}-{set}", std::process::id()));
    let mut platforms = Vec::new();
    for (at, icd) in icds.iter().enumerate() {
        match Platform::open(icd, &folder.join(at.to_string())) {
            Some(platform) => platforms.push(platform),
            None => println!("{icd}: no device"),
        }
        if platforms.is_empty() {
            break;
        }
    }
    platforms
}

/// The kernel of a seed, as number `at` of its program; `choice` is that of `--features`.
fn make(seed: u64, at: u64, both: Features, choice: u64) -> Program {
    let generic = match choice {
        0 => false,
        1 => true,
        _ => seed / 64 % 2 == 1,
    };
    let features = Features {
        generic: both.generic && generic,
        double: both.double && seed.is_multiple_of(3),
    };
    generator::kernel(seed, &format!("k{at}"), features)
}

fn main() -> ExitCode {
    if std::env::var_os(WORKER).is_some() {
        return match worker::run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    if arguments.print {
        for seed in arguments.seed..arguments.seed + arguments.count {
            let both = Features {
                generic: true,
                double: true,
            };
            print!(
                "{PREAMBLE}{}",
                make(seed, 0, both, arguments.features).text()
            );
        }
        return ExitCode::SUCCESS;
    }
    run(&arguments)
}

/// Compares kernel after kernel.
struct Comparison<'a> {
    arguments: &'a Arguments,
    icds: &'a [String],
    platforms: Vec<Platform>,
    /// Agreed with another platform.
    same: u64,
    /// No other platform had a result.
    unchecked: u64,
    /// The front end of the tested platform broke down.
    front_end: Vec<u64>,
    /// For each platform: the seeds where it stood alone against the tested one and another.
    alone: Vec<Vec<u64>>,
    /// Seeds of which the tested platform makes what no other does.
    wrong: Vec<u64>,
}

fn run(arguments: &Arguments) -> ExitCode {
    let icds = if arguments.icds.is_empty() {
        usual_platforms()
    } else {
        arguments.icds.clone()
    };
    let platforms = open(&icds, 0);
    if platforms.len() < 2 {
        if arguments.icds.is_empty() {
            skip::no_device();
            return ExitCode::SUCCESS;
        }
        eprintln!("there are not two OpenCL devices to compare");
        return ExitCode::FAILURE;
    }
    for platform in &platforms {
        println!("{}: {:?}", platform.name.trim(), platform.features);
    }
    if let Some(path) = &arguments.file {
        return run_file(path, arguments.local_size, platforms);
    }
    let alone = vec![Vec::new(); platforms.len()];
    let mut comparison = Comparison {
        arguments,
        icds: &icds,
        platforms,
        same: 0,
        unchecked: 0,
        front_end: Vec::new(),
        alone,
        wrong: Vec::new(),
    };
    let end = arguments.seed + arguments.count;
    let mut seed = arguments.seed;
    while seed < end {
        let last = (seed + arguments.batch).min(end);
        comparison.batch(seed, last);
        if last / PROGRESS > seed / PROGRESS {
            println!("seed {last}: {} the same so far", comparison.same);
        }
        seed = last;
    }
    comparison.report()
}

/// Says what the platforms make of a kernel that was printed earlier.
fn run_file(path: &Path, local_size: u32, mut platforms: Vec<Platform>) -> ExitCode {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    };
    let Some(kernel) = generator::printed(&text, local_size) else {
        eprintln!("{}: no kernel", path.display());
        return ExitCode::FAILURE;
    };
    let outcomes = outcomes(&mut platforms, &kernel);
    tell(&platforms, &outcomes);
    match judge(&outcomes.iter().collect::<Vec<_>>()) {
        Verdict::Same => ExitCode::SUCCESS,
        verdict => {
            println!("{verdict:?}");
            ExitCode::FAILURE
        }
    }
}

/// Prints what the platforms made of a kernel.
fn tell(platforms: &[Platform], outcomes: &[Outcome]) {
    for (platform, outcome) in platforms.iter().zip(outcomes) {
        let name = platform.name.trim();
        match outcome {
            Ok(result) => println!(
                "{name}: {}, the whole {:016x}",
                differences(outcomes, outcome),
                digest(result)
            ),
            Err(error) => println!("{name}: {error}"),
        }
    }
}

/// The same number for the same result on every machine, to tell who is right where no third platform could.
fn digest(result: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(result.as_bytes());
    hasher.finish()
}

impl Comparison<'_> {
    /// The kernel of a seed, as number `at` of its program.
    fn make(&self, seed: u64, at: u64) -> Program {
        let generic = self
            .platforms
            .first()
            .is_some_and(|one| one.features.generic);
        let double = self.platforms.iter().all(|one| one.features.double);
        make(
            seed,
            at,
            Features { generic, double },
            self.arguments.features,
        )
    }

    /// One program of the kernels of seeds `from..to`.
    fn batch(&mut self, from: u64, to: u64) {
        let kernels: Vec<_> = (from..to)
            .map(|seed| self.make(seed, seed - from))
            .collect();
        let all: Vec<_> = kernels.iter().collect();
        let outcomes: Vec<Vec<Outcome>> = self
            .platforms
            .iter_mut()
            // The third and so on are asked where the first two do not agree.
            .take(2)
            .map(|platform| platform.run(&all))
            .collect();
        for (at, seed) in (from..to).enumerate() {
            let one: Vec<_> = outcomes.iter().filter_map(|all| all.get(at)).collect();
            let verdict = match judge(&one) {
                verdict @ (Verdict::Same | Verdict::FrontEnd) => verdict,
                // See what the others say, and whether it is so without the rest of the program.
                _ => {
                    let alone = self.make(seed, 0);
                    judge_alone(&mut self.platforms, &alone)
                }
            };
            match verdict {
                Verdict::Same => self.same += 1,
                Verdict::Unchecked => self.unchecked += 1,
                Verdict::FrontEnd => self.front_end.push(seed),
                Verdict::OtherAlone(platform) => {
                    self.same += 1;
                    self.alone[platform].push(seed);
                }
                Verdict::Different | Verdict::Failed(_) => self.wrong(seed, &verdict),
            }
        }
    }

    fn wrong(&mut self, seed: u64, verdict: &Verdict) {
        self.wrong.push(seed);
        println!("seed {seed}: {verdict:?}");
        let mut kernel = self.make(seed, 0);
        if self.arguments.reduce {
            let deadline = Instant::now() + Duration::from_secs(self.arguments.reduce_seconds);
            let mut sets: Vec<_> = (1..=self.arguments.jobs)
                .map(|set| open(self.icds, set))
                .collect();
            kernel = reduce(&mut sets, &kernel, verdict, deadline);
            println!("{PREAMBLE}{}", kernel.text());
        }
        let outcomes = outcomes(&mut self.platforms, &kernel);
        tell(&self.platforms, &outcomes);
    }

    fn report(&self) -> ExitCode {
        println!(
            "{} the same, {} unchecked, {} wrong",
            self.same,
            self.unchecked,
            self.wrong.len()
        );
        for (platform, seeds) in self
            .platforms
            .iter()
            .zip(&self.alone)
            .filter(|(_, seeds)| !seeds.is_empty())
        {
            println!(
                "{} stands alone on {}: {seeds:?}",
                platform.name.trim(),
                seeds.len()
            );
        }
        if !self.front_end.is_empty() {
            println!("clang broke down on {:?}", self.front_end);
        }
        let asked = self.arguments.count;
        if self.wrong.is_empty() && (self.same > self.unchecked || asked == 0) {
            return ExitCode::SUCCESS;
        }
        println!("wrong: {:?}, or too little to compare with", self.wrong);
        ExitCode::FAILURE
    }
}
