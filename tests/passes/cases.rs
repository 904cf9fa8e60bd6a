//! Runs the cases of `tests/passes`: what a pass makes of a module, and that it means the same.
//!
//! A folder is a pass, a file of it a case: what it shows, what it is run on, the module, and after a line of dashes what
//! the pass makes of that.
//!
//! ```text
//! ; A product with a power of two is a shift.
//! ; device: lavapipe       the device's capabilities; `full` without it
//! ; defects: MISTAKES_SIGNS LOSES_CONDITIONS    the defects of its driver, in place of its own
//! ; arguments: 5 6 7       words of the argument block
//! ; block: buffer 0, global_base(0) 8    what the kernel says of them: where the address of a buffer is, and what is implicit
//! ; run: 3 -> 24           arguments and results of the first function, before and after
//! ; run: fn1 3 -> 24       of the second one
//! ; run: [1 2 3] 3 -> 6    the address of these words in memory as an argument
//! fn0: function "f" -> i32 {
//! …
//! ```
//!
//! Results are the same before and after, and so is memory. `PUMICE_BLESS=1` writes what passes make into the files; their
//! meaning is checked all the same.

use super::helpers::testing;
use crate::compiler::interp::{Interpreter, Trap};
use crate::compiler::ir::{FuncId, Module, read};
use crate::compiler::pipeline::{self, Pass, Step};
use crate::compiler::program::{Argument, ArgumentBlock, ArgumentKind, BufferSpace};
use crate::compiler::{Capabilities, Defects, Stage, verify};
use std::path::{Path, PathBuf};

const DASHES: &str = "----";

macro_rules! cases {
    ($($pass:ident)*) => {
        /// The passes that have cases.
        const PASSES: &[&str] = &[$(stringify!($pass)),*];

        $(#[test]
        fn $pass() {
            check_folder(stringify!($pass));
        })*
    };
}

cases! {
    inline
    groups
    work_items
    infer_address_spaces
    promote
    align_copies
    copies
    reduce_strength
    simplify
    sequence_memory
    unroll
    report_lost_iterations
    pointers
    align_elements
    share_uniform_loads
    dot_products
    conversions
    order_memory
    memory
    float16
    int64
    small_ints
    distribute
    shorten_addresses
    join_argument_words
    index_addresses
    promote_elements
    keep_loop_results
    split_saturated_sums
    round_doubles
    divide_longs
    convert_longs
    choose_products
    complete_leading_bits
    bias_comparisons
    split_selected_elements
    hide_arms
    hide_ranges
    hide_float_bits
    widen_loop_flags
    separate_indices
    structurize
    drop_parameters
    define_arguments
    leave_loops_at_header
    hold_loop_state
    keep_selections
    keep_miscounted_loops
    hide_uniform_addresses
    end_rows
    mask_idle_lanes
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes")
}

/// The files or folders in a folder, in order.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = folder.read_dir();
    let entries = read.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    // This file lies among them.
    let mut paths: Vec<PathBuf> = paths.filter(|path| !path.ends_with("cases.rs")).collect();
    paths.sort();
    paths
}

/// Passes without cases, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("images", "the text leaves out what an image is"),
    ("pipes", "the text leaves out what a pipe is"),
    ("printf", "the text leaves out what is printed"),
    (
        "arguments",
        "a kernel's parameters become loads: no arguments suit both",
    ),
    ("read_uniforms", "the variables become a buffer"),
    (
        "limit_nesting",
        "it changes nothing, and refuses what is too large to read",
    ),
    ("measure_frame", "it changes nothing"),
    (
        "shorten_searches",
        "it changes only what is too large to read",
    ),
    (
        "bypass_selections",
        "it changes only what is too large to read",
    ),
    (
        "break_long_blocks",
        "it changes only what is too large to read",
    ),
    ("wait_behind", "it changes only what is too large to read"),
];

#[test]
fn every_pass_has_cases() {
    for step in pipeline::STEPS {
        let pass = name_of(step);
        let is_without = WITHOUT.iter().any(|(name, _)| *name == pass);
        assert_ne!(PASSES.contains(&pass), is_without, "{pass}");
    }
}

#[test]
fn every_folder_is_a_pass() {
    for folder in entries(&root()) {
        let name = folder.file_name().and_then(|name| name.to_str());
        assert!(
            name.is_some_and(|name| PASSES.contains(&name)),
            "{folder:?}"
        );
    }
}

/// The name of a pass without its folder.
fn name_of(step: &Step) -> &str {
    step.name
        .split_once("::")
        .map_or(step.name, |(_, pass)| pass)
}

fn check_folder(name: &str) {
    // Where the pass comes first: later stages forbid more.
    let mut steps = pipeline::STEPS.iter();
    let step = steps.find(|&step| name_of(step) == name).unwrap();
    let files = entries(&root().join(name));
    assert!(!files.is_empty());
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let case = Case::read(&text);
        let found = case.and_then(|case| case.run(step.pass, step.stage).map(|made| (case, made)));
        match found {
            Err(reason) => panic!("{}: {reason}", file.display()),
            Ok((case, made)) if made == case.expected => {}
            Ok((case, made)) if std::env::var_os("PUMICE_BLESS").is_some() => {
                let given = case.given;
                std::fs::write(file, format!("{given}{DASHES}\n{made}\n")).unwrap();
            }
            Ok((case, made)) => {
                let expected = case.expected;
                panic!(
                    "{}: made is\n{made}\nexpected is\n{expected}",
                    file.display()
                );
            }
        }
    }
}

/// A file.
struct Case<'a> {
    /// All above the dashes.
    given: &'a str,
    expected: &'a str,
    device: Capabilities,
    /// The argument block.
    arguments: Vec<u8>,
    /// What is known of it.
    buffers: Vec<Argument>,
    block: ArgumentBlock,
    runs: Vec<Run>,
}

/// Arguments and results.
struct Run {
    function: FuncId,
    args: Vec<Arg>,
    results: Vec<u64>,
}

enum Arg {
    Bits(u64),
    /// The address of words in memory.
    Memory(Vec<u32>),
}

impl<'a> Case<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let (given, expected) = text.split_once(DASHES).unwrap_or((text, ""));
        let mut case = Self {
            given,
            expected: expected.trim(),
            device: Capabilities::full(),
            arguments: Vec::new(),
            buffers: Vec::new(),
            block: ArgumentBlock::default(),
            runs: Vec::new(),
        };
        // The first line is the sentence.
        for line in given
            .lines()
            .skip(1)
            .filter_map(|line| line.strip_prefix("; "))
        {
            if let Some(run) = line.strip_prefix("run: ") {
                case.runs.push(Run::read(run).ok_or(line)?);
            } else if let Some(device) = line.strip_prefix("device: ") {
                case.device = match device {
                    "minimal" => Capabilities::minimal(),
                    "lavapipe" => Capabilities::lavapipe(),
                    "nvidia" => Capabilities::nvidia(),
                    _ => return Err(format!("no device is called {device}")),
                };
            } else if let Some(words) = line.strip_prefix("arguments: ") {
                let words = words.split(' ').map(|word| Some(bits(word)? as u32));
                let words: Vec<u32> = words.collect::<Option<_>>().ok_or(line)?;
                case.arguments = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            } else if let Some(parts) = line.strip_prefix("block: ") {
                for part in parts.split(", ") {
                    case.read_part(part)?;
                }
            } else if let Some(names) = line.strip_prefix("defects: ") {
                let defects = names.split(' ').map(Defects::from_name);
                case.device.defects = defects.collect::<Option<_>>().ok_or(line)?;
            } else {
                return Err(format!("what is this: {line}"));
            }
        }
        if case.runs.is_empty() {
            return Err("nothing is run".to_owned());
        }
        Ok(case)
    }

    /// `buffer 0`, `global_base(0) 8`
    fn read_part(&mut self, text: &str) -> Result<(), String> {
        let (name, offset) = text.split_once(' ').ok_or(text)?;
        let offset_bytes = offset.parse().map_err(|_| text)?;
        if name == "buffer" {
            self.buffers.push(Argument {
                kind: ArgumentKind::Buffer {
                    offset_bytes,
                    address_space: BufferSpace::Global,
                    written: true,
                    read: true,
                },
                info: Default::default(),
            });
        } else {
            let implicit = read::implicit(name)?;
            self.block.implicit.push((implicit, offset_bytes));
        }
        self.block.size_bytes = self.block.size_bytes.max(offset_bytes + 8);
        Ok(())
    }

    /// What the pass makes of the module, in text, once it is seen to mean the same.
    fn run(&self, pass: Pass, stage: Stage) -> Result<String, String> {
        let mut before = read::module(self.given)?;
        for kernel in &mut before.kernels {
            kernel.arguments.clone_from(&self.buffers);
            kernel.argument_block.clone_from(&self.block);
        }
        let mut after = before.clone();
        testing::run_on(&mut after, &self.device, pass).map_err(|error| error.to_string())?;
        for (module, stage) in [(&before, Stage::Parsed), (&after, stage)] {
            if let Err(findings) = verify::module(module, stage) {
                let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
                return Err(format!("{}\n{module}", findings.join("\n")));
            }
        }
        for run in &self.runs {
            let first = run
                .on(&before, &self.arguments)
                .map_err(|trap| format!("{trap:?} in {before}"))?;
            let second = run
                .on(&after, &self.arguments)
                .map_err(|trap| format!("{trap:?} in {after}"))?;
            if first.0 != run.results {
                return Err(format!("{:x?} is {:x?}", run.results, first.0));
            }
            if first != second {
                return Err(format!("{first:x?} has become {second:x?} in {after}"));
            }
        }
        // With numbers in the order of the text.
        let canonical = read::module(&after.to_string())?;
        Ok(canonical.to_string().trim().to_owned())
    }
}

impl Run {
    /// `[1 2 3] 3 -> 6`
    fn read(text: &str) -> Option<Self> {
        let (mut args, results) = text.split_once("->")?;
        let mut function = FuncId(0);
        if let Some(rest) = args.strip_prefix("fn") {
            let (number, rest) = rest.split_once(' ')?;
            function = FuncId(number.parse().ok()?);
            args = rest;
        }
        let mut read = Vec::new();
        loop {
            args = args.trim_start();
            if args.is_empty() {
                break;
            }
            if let Some(rest) = args.strip_prefix('[') {
                let (words, rest) = rest.split_once(']')?;
                let words = words
                    .split_whitespace()
                    .map(|word| Some(bits(word)? as u32));
                read.push(Arg::Memory(words.collect::<Option<_>>()?));
                args = rest;
            } else {
                let (word, rest) = args.split_once(' ').unwrap_or((args, ""));
                read.push(Arg::Bits(bits(word)?));
                args = rest;
            }
        }
        let results = results
            .split_whitespace()
            .map(bits)
            .collect::<Option<_>>()?;
        Some(Self {
            function,
            args: read,
            results,
        })
    }

    /// What the function returns, and what is in memory then.
    fn on(&self, module: &Module, arguments: &[u8]) -> Result<(Vec<u64>, Vec<Vec<u8>>), Trap> {
        let mut interpreter = Interpreter::new(module);
        interpreter.arguments = arguments.to_vec();
        let mut buffers = Vec::new();
        let mut args = Vec::new();
        for arg in &self.args {
            args.push(match arg {
                Arg::Bits(bits) => *bits,
                Arg::Memory(words) => {
                    let bytes: Vec<u8> = words.iter().flat_map(|it| it.to_le_bytes()).collect();
                    let address = interpreter.allocate(&bytes);
                    buffers.push((address, bytes.len()));
                    address
                }
            });
        }
        let results = interpreter.run(self.function, &args)?;
        let buffers = buffers.iter();
        let memory = buffers.map(|&(at, size)| interpreter.bytes(at, size).to_vec());
        Ok((results, memory.collect()))
    }
}

/// The bits of a number: decimal, at times negative, or hexadecimal; a float with a point and its size, `1.5f32`.
fn bits(word: &str) -> Option<u64> {
    if let Some(digits) = word.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    if let Some(float) = word.strip_suffix("f32") {
        return Some(float.parse::<f32>().ok()?.to_bits().into());
    }
    if let Some(float) = word.strip_suffix("f64") {
        return Some(float.parse::<f64>().ok()?.to_bits());
    }
    if word.starts_with('-') {
        return Some(word.parse::<i64>().ok()? as u64);
    }
    word.parse().ok()
}
