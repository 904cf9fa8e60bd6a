//! The ways to memory at the same addresses on GPUs: a layer (`layer.rs`, built as an example) shows the software driver as a GPU
//! with addresses of its own, each case in a process of its own.

use std::process::{Command, Output};

use crate::bench::{Bench, KINDS, Kind};
use crate::{common, layer};
use opencl_sys::{CL_DEVICE_SVM_FINE_GRAIN_BUFFER, CL_DEVICE_TYPE_CPU};

/// The kinds of memory that the device has to have, for a process of [`tests`].
const EXPECTED: &str = "PUMICE_TEST_KINDS";

/// Runs a program with the layer before the driver. `test` is the name of the case.
fn run(program: &str, arguments: &[&str], way: &str, expected: &str) -> Output {
    let case = format!("{way}-{}", arguments.len());
    Command::new(program)
        .args(arguments)
        .envs(layer::variables("own_addresses", &case))
        .env("PUMICE_TEST_WAY", way)
        .env("PUMICE_CACHE_DIR", "")
        .env(EXPECTED, expected)
        .env_remove("PUMICE_VALIDATE")
        .output()
        .expect("it runs")
}

fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&all).into_owned()
}

/// What `pumice info` says of host and shared memory.
fn reported(way: &str) -> String {
    let output = run(env!("CARGO_BIN_EXE_pumice"), &["info"], way, "");
    let text = text(&output);
    let line = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("host and shared USM: "));
    line.unwrap_or_else(|| panic!("{way}: {text}")).to_owned()
}

/// What the tests of this program say there.
fn tests(way: &str, expected: &str, names: &[&str]) {
    let this = std::env::current_exe().expect("a path");
    let arguments = [&["--test-threads=1", "--exact"], names].concat();
    let this = this.to_str().expect("a name");
    let output = run(this, &arguments, way, expected);
    let text = text(&output);
    let passed = format!("test result: ok. {} passed", names.len());
    assert!(text.contains(&passed), "{way}: {text}");
}

const USES: [&str; 7] = [
    "all_is_told_of_an_allocation_by_any_address_within",
    "allocations_are_aligned_as_asked_and_for_any_type",
    "capabilities_hold_together",
    "copies_go_from_any_memory_to_any_other",
    "fills_repeat_patterns_of_any_size",
    "kernels_follow_pointers_into_memory_that_they_are_told_of",
    "kernels_work_in_every_memory_that_the_device_has",
];

/// In a process of [`tests`]: the capabilities that the device reports. Without it, nothing is expected of them.
#[test]
fn kinds_are_as_expected() {
    let Some(bench) = Bench::new() else { return };
    let has = |kind: &Kind| bench.capabilities(kind.capabilities()) != 0;
    let found: Vec<_> = KINDS.into_iter().filter(has).collect();
    let svm = bench.device.svm_mem_capability();
    let is_fine = svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER != 0;
    assert_eq!(found.contains(&Kind::Host), found.contains(&Kind::Shared));
    assert_eq!(found.contains(&Kind::Host), is_fine);
    if let Ok(expected) = std::env::var(EXPECTED) {
        assert_eq!(format!("{found:?}"), expected);
    }
}

/// Whether the driver is one that the layer can stand before: its device is the processor.
fn can_be_shown() -> bool {
    let Some(device) = common::device() else {
        return false;
    };
    let is_cpu = device.dev_type().expect("a type") & CL_DEVICE_TYPE_CPU != 0;
    if !is_cpu {
        println!("skipped: ways: the device has addresses of its own");
    }
    is_cpu
}

fn check_way(way: &str, said: &str) {
    if !can_be_shown() {
        return;
    }
    assert_eq!(reported(way), format!("yes, by {said}"));
    let expected = "[Host, Device, Shared]";
    tests(way, expected, &["ways::kinds_are_as_expected"]);
    tests(way, expected, &USES);
}

#[test]
fn an_exported_dma_buf_is_mapped() {
    check_way("dma-buf", "a dma-buf");
}

#[test]
fn an_exported_opaque_descriptor_is_mapped() {
    check_way("opaque", "an opaque descriptor");
}

#[test]
fn the_drivers_mapping_is_mapped_again() {
    check_way("again", "the driver's mapping, mapped again");
}

#[test]
fn imported_memory_is_mapped_again() {
    check_way("host", "VK_EXT_external_memory_host");
}

/// A driver may give addresses that no process has, but for memory whose address is asked for.
#[test]
fn the_host_chooses_addresses_where_it_can() {
    check_way("chosen", "a dma-buf");
}

/// A descriptor that can be mapped, but not of the memory, and a device without any way, report no such memory.
#[test]
fn without_a_way_that_works_there_is_none() {
    if !can_be_shown() {
        return;
    }
    for (way, reason) in [
        (
            "wrong",
            "by a dma-buf: its trial failed: what is at the address is not the buffer's memory",
        ),
        (
            "incoherent",
            "by a dma-buf: its trial failed: the host does not see the device's writes",
        ),
        (
            "beyond",
            "by a dma-buf: it lacks memory at addresses that the host chooses",
        ),
        ("none", "by a dma-buf: it lacks dma-bufs of its memory"),
    ] {
        let found = reported(way);
        assert!(
            found.starts_with("no, ") && found.contains(reason),
            "{way}: {found}"
        );
        tests(way, "[Device]", &["ways::kinds_are_as_expected"]);
    }
}
