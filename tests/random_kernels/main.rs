//! Random kernels: the same one on several OpenCL platforms, whose results are compared bit by bit.
//!
//! ```text
//! cargo test --test random_kernels                                 some seeds, always the same
//! cargo test --test random_kernels -- --library target/release/libpumice.so
//! cargo test --test random_kernels -- --seed 1 --count 10000 \
//!     --icd target/debug/libpumice.so --icd gcc --icd /path/libpocl.so --icd /path/libintelocl.so
//! ci/random MINUTES [DRIVER…]                                      for as long as one likes
//! ```
//!
//! `--icd [NAME=VALUE;…]LIBRARY[,OPTIONS]` names the platforms, the one under test first, each with the variables
//! of its environment (`VK_DRIVER_FILES=/path/lvp_icd.json;/path/libpumice.so`). `gcc` is the host, which judges the
//! three of four kernels that are plain C but for the names of types and address spaces. `--form` names the platform
//! under test once more, in another environment or with other options, which takes turns with the first one:
//! `PUMICE_RANDOM_FORM` in an environment is `split` for several launches, `local=SIZE`, or `spirv` for a module that
//! clang and the SPIR-V translator made. Without `--icd` it is Pumice as cargo built it, or as `--library` names it, in all its forms, `gcc`, and PoCL where it is installed.
//!
//! A kernel that the first platform makes something of that no other does, or that takes more than 20 s of processor
//! time, is printed with its seed, reduced, and the program fails. `--seed N --count 1` tries it again in all forms.
//! `--print` prints the kernels instead of running them, `--file` says what each platform makes of a kernel printed
//! earlier (its work-groups are of `--local-size`), `--no-reduce` leaves the kernels as they are, `--reduce-seconds`
//! says when to leave off (600), `--jobs` how many smaller kernels to try at a time (1), `--batch` says how many make
//! a program, `--seconds` ends it before all seeds are through, `--features 0|1|2` takes kernels without generic
//! pointers, with them, or by turns, and `--kinds c|opencl` only those that are C, or those that are not.
//! `--kinds csmith` takes those that csmith makes, which must be installed.
//!
//! `--record FILE` writes down what the platforms agree on, or, with `--icd gcc --kinds c` alone, what gcc makes of each
//! kernel. `--expect FILE` compares with that instead of asking other platforms, on a machine that has none.

#[path = "../common/cache.rs"]
mod cache;
mod compare;
mod comparison;
mod csmith;
mod expected;
mod expressions;
mod floats;
mod form;
mod generator;
mod groups;
mod host;
#[path = "../common/library.rs"]
mod library;
mod loops;
mod platform;
mod pointers;
#[path = "../kernels/random.rs"]
mod random;
mod scope;
#[path = "../common/skip.rs"]
mod skip;
mod statements;
mod tree;
mod types;
mod worker;

use compare::{Verdict, judge, outcomes};
use comparison::{Comparison, tell};
use form::TRANSLATOR;
use generator::{Features, PREAMBLE, Program};
use platform::{Platform, WORKER};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Kernels that are tried without arguments.
const FEW: u64 = 56;

/// Seeds in a row of kernels of one kind, in one program.
const BATCH: u64 = 8;

/// What kernels are wanted.
#[derive(Clone, Copy)]
struct Choice {
    /// Without generic pointers, with them, or by turns.
    features: u64,
    /// Only those that are C, only those that are not, or three to one.
    plain: Option<bool>,
    /// Only those that csmith makes.
    csmith: bool,
}

struct Arguments {
    seed: u64,
    count: u64,
    batch: u64,
    icds: Vec<String>,
    library: Option<PathBuf>,
    print: bool,
    reduce: bool,
    reduce_seconds: u64,
    jobs: usize,
    choice: Choice,
    forms: Vec<String>,
    seconds: Option<u64>,
    record: Option<PathBuf>,
    expect: Option<PathBuf>,
    file: Option<PathBuf>,
    local_size: u32,
}

impl Arguments {
    /// How many kernels make a program; what csmith makes is one.
    fn batch(&self) -> u64 {
        if self.choice.csmith { 1 } else { self.batch }
    }
}

fn arguments() -> Result<Arguments, lexopt::Error> {
    use lexopt::prelude::{Long, Value, ValueExt};
    let mut all = Arguments {
        seed: 1,
        count: FEW,
        batch: BATCH,
        icds: Vec::new(),
        library: None,
        print: false,
        reduce: true,
        reduce_seconds: 600,
        jobs: 1,
        choice: Choice {
            features: 2,
            plain: None,
            csmith: false,
        },
        forms: Vec::new(),
        seconds: None,
        record: None,
        expect: None,
        file: None,
        local_size: 1,
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("seed") => all.seed = parser.value()?.parse()?,
            Long("count") => all.count = parser.value()?.parse()?,
            Long("batch") => all.batch = parser.value()?.parse()?,
            Long("features") => all.choice.features = parser.value()?.parse()?,
            Long("kinds") => {
                let kinds = parser.value()?.string()?;
                all.choice.csmith = kinds == "csmith";
                all.choice.plain = Some(kinds != "opencl");
            }
            Long("form") => all.forms.push(parser.value()?.string()?),
            Long("seconds") => all.seconds = Some(parser.value()?.parse()?),
            Long("record") => all.record = Some(parser.value()?.into()),
            Long("expect") => all.expect = Some(parser.value()?.into()),
            Long("reduce-seconds") => all.reduce_seconds = parser.value()?.parse()?,
            Long("jobs") => all.jobs = parser.value()?.parse()?,
            Long("file") => all.file = Some(parser.value()?.into()),
            Long("local-size") => all.local_size = parser.value()?.parse()?,
            Long("library") => all.library = Some(parser.value()?.into()),
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

/// The forms of Pumice that are compared without `--icd`, and what they are compared with.
fn usual_platforms(pumice: &Path) -> (Vec<String>, Vec<String>) {
    let pumice = pumice.display();
    let mut forms = vec![
        pumice.to_string(),
        format!("{pumice},-cl-opt-disable"),
        format!("PUMICE_DEFECTS_OF=nvidia;{pumice}"),
        format!("PUMICE_RANDOM_FORM=split;{pumice}"),
        format!("PUMICE_DEFECTS_OF=lavapipe;{pumice}"),
        format!("PUMICE_RANDOM_FORM=local=32;{pumice}"),
    ];
    if Command::new(TRANSLATOR).arg("--version").output().is_ok() {
        forms.push(format!("PUMICE_RANDOM_FORM=spirv;{pumice}"));
    }
    let mut judges = vec!["gcc".to_owned()];
    if let Ok(library) = std::fs::read_to_string("/etc/OpenCL/vendors/pocl.icd") {
        judges.push(library.trim().to_owned());
    }
    // Tells who is right about a kernel that is not C.
    judges.push(format!("{pumice},-cl-opt-disable"));
    (forms, judges)
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

/// The kernel of a seed, as number `at` of its program.
fn make(seed: u64, at: u64, both: Features, choice: Choice) -> Program {
    let name = format!("k{at}");
    if choice.csmith {
        return csmith::kernel(seed, &name).unwrap_or_else(|error| panic!("{error}"));
    }
    let generic = match choice.features {
        0 => false,
        1 => true,
        _ => seed / 64 % 2 == 1,
    };
    let plain = choice.plain.unwrap_or(!(seed / BATCH).is_multiple_of(4));
    let features = Features {
        generic: both.generic && generic,
        double: both.double && seed.is_multiple_of(3),
        plain: both.plain && plain,
    };
    generator::kernel(seed, &name, features)
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
                plain: true,
            };
            let kernel = make(seed, 0, both, arguments.choice);
            print!("{PREAMBLE}{}", kernel.text());
        }
        return ExitCode::SUCCESS;
    }
    run(&arguments)
}

fn run(arguments: &Arguments) -> ExitCode {
    let (mut forms, mut judges) = match arguments.icds.split_first() {
        Some((tested, others)) => (vec![tested.clone()], others.to_vec()),
        None => match &arguments.library {
            Some(pumice) => usual_platforms(pumice),
            None => usual_platforms(&library::path()),
        },
    };
    forms.extend(arguments.forms.iter().cloned());
    if arguments.expect.is_some() {
        judges.clear();
    }
    let tested = open(&forms, 0);
    if tested.is_empty() && arguments.icds.is_empty() {
        skip::no_device();
        return ExitCode::SUCCESS;
    }
    let judges = open(&judges, 1);
    // gcc needs no judge to record what it makes of kernels.
    let alone = arguments.expect.is_some() || tested.first().is_some_and(|one| one.is_host);
    if tested.is_empty() || judges.is_empty() && !alone {
        eprintln!("there are no two platforms to compare");
        return ExitCode::FAILURE;
    }
    for platform in tested.iter().chain(&judges) {
        println!("{}: {:?}", platform.name.trim(), platform.features);
    }
    if let Some(path) = &arguments.file {
        return run_file(path, arguments.local_size, tested, judges);
    }
    match Comparison::new(arguments, tested, judges) {
        Ok(comparison) => comparison.run(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Says what the platforms make of a kernel that was printed earlier.
fn run_file(
    path: &Path,
    local_size: u32,
    mut platforms: Vec<Platform>,
    judges: Vec<Platform>,
) -> ExitCode {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    };
    // Whether it is C shows when gcc compiles it.
    let Some(kernel) = generator::printed(&text, local_size, true) else {
        eprintln!("{}: no kernel", path.display());
        return ExitCode::FAILURE;
    };
    platforms.truncate(1);
    platforms.extend(judges);
    let mut all: Vec<_> = platforms.iter_mut().collect();
    let outcomes = outcomes(&mut all, &kernel);
    tell(&all, &outcomes);
    match judge(&outcomes.iter().collect::<Vec<_>>()) {
        Verdict::Same => ExitCode::SUCCESS,
        verdict => {
            println!("{verdict:?}");
            ExitCode::FAILURE
        }
    }
}
