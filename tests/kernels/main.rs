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
mod group_exchanges;
mod group_flow;
mod group_instructions;
mod groups;
mod groups_intel;
mod halves;
mod harness;
mod integer_extensions;
mod integers;
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
    // Last: it looks at what the others have done.
    ("documents", documents::TESTS),
    ("finished_work", finished_work::TESTS),
];

/// Set in the process that runs the tests.
const INNER: &str = "PUMICE_TEST_INNER";

/// The driver under test: `libpumice.so`, which cargo builds with the tests.
fn driver() -> PathBuf {
    if let Some(path) = std::env::var_os("PUMICE_TEST_ICD") {
        return path.into();
    }
    library::path()
}

/// Starts this program again with an environment in which the loader finds one driver: what is read at
/// load time can't be changed safely from within.
fn start_with_one_driver() -> ExitCode {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("vendors-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the build's folder is writable");
    let manifest = format!("{}\n", driver().display());
    std::fs::write(folder.join("tested.icd"), manifest).expect("the build's folder is writable");
    // ocl-icd wants the slash to tell a folder from a file.
    let vendors = format!("{}/", folder.display());
    let status = Command::new(std::env::current_exe().expect("a running test has a path"))
        .args(std::env::args_os().skip(1))
        .env(INNER, "1")
        .env("OCL_ICD_VENDORS", vendors)
        .env("PUMICE_CACHE_DIR", "")
        .status();
    // What is left of it hurts nobody.
    let _ = std::fs::remove_dir_all(&folder);
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => {
            eprintln!("kernels: {status}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("kernels: {error}");
            ExitCode::FAILURE
        }
    }
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
    if std::env::var_os(INNER).is_none() {
        return start_with_one_driver();
    }
    let Some(session) = harness::session() else {
        skip::no_device();
        return ExitCode::SUCCESS;
    };
    println!("running on {}", session.name());
    let (mut passed, mut skipped, mut failed) = (0, 0, Vec::new());
    for (group, (name, test)) in all() {
        let full = format!("{group}::{name}");
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
