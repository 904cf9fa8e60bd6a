//! Kernels of every kind, run through the system's OpenCL ICD loader and compared with the host.
//!
//! ```text
//! VK_DRIVER_FILES=… cargo test --test kernels [-- FILTER…]
//! ```
//!
//! The first device of the first platform that the loader finds is tested. The loader is told to find only
//! the `libpumice.so` that cargo built; `PUMICE_TEST_ICD` names another driver's library instead, which
//! shows what an established OpenCL makes of the same tests.

mod atomics;
mod call_trees;
mod checked;
mod control_flow;
mod conversions;
mod denormals;
mod documents;
mod doubles;
mod finished_work;
mod floats;
mod functions;
#[macro_use]
mod group_model;
#[path = "../common/cache.rs"]
mod cache;
mod group_exchanges;
mod group_flow;
mod group_instructions;
mod groups;
mod groups_intel;
mod halves;
mod harness;
mod integer_extensions;
mod integers;
mod iterations;
#[path = "../common/library.rs"]
mod library;
mod local_memory;
mod loops;
mod maths;
mod memory;
mod moves;
mod nesting;
mod non_uniform_groups;
mod options;
mod overloads;
mod parts;
mod pipes;
mod pointers;
mod printf;
mod private_arrays;
mod random;
mod ranges;
#[path = "../common/skip.rs"]
mod skip;
mod small_ranges;
mod sub_group_info;
mod sub_group_memory;
mod sub_groups;
mod sycl_groups;
mod tables;
mod threads;
mod tiles;
mod vectors;
mod work_items;

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// A named test; it fails by panicking.
type Test = (&'static str, fn());

/// The group of tests that every process runs.
const LOOKS_AT_OTHERS: &str = "documents";

const GROUPS: &[(&str, &[Test])] = &[
    ("integers", integers::TESTS),
    ("ranges", ranges::TESTS),
    ("small_ranges", small_ranges::TESTS),
    ("integer_extensions", integer_extensions::TESTS),
    ("conversions", conversions::TESTS),
    ("floats", floats::TESTS),
    ("doubles", doubles::TESTS),
    ("denormals", denormals::TESTS),
    ("halves", halves::TESTS),
    ("vectors", vectors::TESTS),
    ("memory", memory::TESTS),
    ("moves", moves::TESTS),
    ("parts", parts::TESTS),
    ("private_arrays", private_arrays::TESTS),
    ("pointers", pointers::TESTS),
    ("local_memory", local_memory::TESTS),
    ("tiles", tiles::TESTS),
    ("functions", functions::TESTS),
    ("call_trees", call_trees::TESTS),
    ("overloads", overloads::TESTS),
    ("checked", checked::TESTS),
    ("tables", tables::TESTS),
    ("control_flow", control_flow::TESTS),
    ("nesting", nesting::TESTS),
    ("iterations", iterations::TESTS),
    ("loops", loops::TESTS),
    ("atomics", atomics::TESTS),
    ("work_items", work_items::TESTS),
    ("threads", threads::TESTS),
    ("maths", maths::TESTS),
    ("options", options::TESTS),
    ("printf", printf::TESTS),
    ("pipes", pipes::TESTS),
    ("groups", groups::TESTS),
    ("sub_groups", sub_groups::TESTS),
    ("sub_group_info", sub_group_info::TESTS),
    ("group_flow", group_flow::TESTS),
    ("sub_group_memory", sub_group_memory::TESTS),
    ("group_exchanges", group_exchanges::TESTS),
    ("group_instructions", group_instructions::TESTS),
    ("groups_intel", groups_intel::TESTS),
    ("sycl_groups", sycl_groups::TESTS),
    ("non_uniform_groups", non_uniform_groups::TESTS),
    // Last: it looks at what the others have done, in each part of them.
    (LOOKS_AT_OTHERS, documents::TESTS),
    ("finished_work", finished_work::TESTS),
];

/// Set in a process that runs tests, to which part of them and of how many: `0/2`.
const PART: &str = "PUMICE_TEST_PART";

/// Processes that tests are run in, at most. A driver that compiles kernels has one processor busy.
const MOST_PARTS: usize = 4;

/// The driver under test: `libpumice.so`, which cargo builds with the tests.
fn driver() -> PathBuf {
    if let Some(path) = std::env::var_os("PUMICE_TEST_ICD") {
        return path.into();
    }
    library::path()
}

/// Starts this program again for each part of the tests, with an environment in which the loader finds one driver: what is
/// read at load time can't be changed safely from within.
fn start_with_one_driver(parts: usize) -> ExitCode {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("vendors-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the build's folder is writable");
    let manifest = format!("{}\n", driver().display());
    std::fs::write(folder.join("tested.icd"), manifest).expect("the build's folder is writable");
    // ocl-icd wants the slash to tell a folder from a file.
    let vendors = format!("{}/", folder.display());
    let start = |part: usize| {
        Command::new(std::env::current_exe().expect("a running test has a path"))
            .args(std::env::args_os().skip(1))
            .env(PART, format!("{part}/{parts}"))
            .env("OCL_ICD_VENDORS", &vendors)
            .env("PUMICE_CACHE_DIR", cache::folder())
            .spawn()
    };
    let started: Vec<_> = (0..parts).map(start).collect();
    let mut has_failed = false;
    for child in started {
        match child.and_then(|mut child| child.wait()) {
            Ok(status) if status.success() => {}
            Ok(status) => {
                eprintln!("kernels: {status}");
                has_failed = true;
            }
            Err(error) => {
                eprintln!("kernels: {error}");
                has_failed = true;
            }
        }
    }
    // What is left of it hurts nobody.
    let _ = std::fs::remove_dir_all(&folder);
    if has_failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// The part of the tests that this process runs, and of how many, if it runs any.
fn part() -> Option<(usize, usize)> {
    let text = std::env::var(PART).ok()?;
    let (part, parts) = text.split_once('/')?;
    Some((part.parse().ok()?, parts.parse().ok()?))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let filters: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        for (group, name) in all() {
            println!("{group}::{}: test", name.0);
        }
        return ExitCode::SUCCESS;
    }
    let Some((part, parts)) = part() else {
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get());
        // What is chosen by name is looked at: in its order.
        let is_chosen = !filters.is_empty();
        return start_with_one_driver(if is_chosen {
            1
        } else {
            processors.min(MOST_PARTS)
        });
    };
    let Some(session) = harness::session() else {
        skip::no_device();
        return ExitCode::SUCCESS;
    };
    println!("running on {}", session.name());
    let (mut passed, mut skipped, mut failed) = (0, 0, Vec::new());
    for (at, (group, (name, test))) in all().enumerate() {
        let full = format!("{group}::{name}");
        if at % parts != part && group != LOOKS_AT_OTHERS {
            continue;
        }
        if !filters.is_empty() && !filters.iter().any(|filter| full.contains(*filter)) {
            continue;
        }
        let start = Instant::now();
        let result = catch_unwind(test);
        let skip = harness::take_skipped();
        documents::remember(&full, skip, harness::take_words());
        let verdict = match &result {
            Err(_) => "FAILED",
            Ok(()) if skip => "skipped",
            Ok(()) => "ok",
        };
        println!(
            "test {full} ... {verdict} ({} ms)",
            start.elapsed().as_millis()
        );
        match result {
            Ok(()) if skip => skipped += 1,
            Ok(()) => passed += 1,
            Err(_) => failed.push(full),
        }
    }
    println!(
        "\n{passed} passed, {} failed, {skipped} skipped",
        failed.len()
    );
    for name in &failed {
        println!("    {name}");
    }
    if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn all() -> impl Iterator<Item = (&'static str, &'static Test)> {
    GROUPS
        .iter()
        .flat_map(|(group, tests)| tests.iter().map(move |test| (*group, test)))
}
