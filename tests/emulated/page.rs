//! The table of `docs/devices.md`, made of the descriptions. `PUMICE_BLESS=1` writes it anew.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use super::{descriptions, has, unusable};

const BEGIN: &str = "<!-- Made of tests/devices by tests/emulated: from here -->\n";
const END: &str = "<!-- to here -->\n";

/// What stands in for what a device lacks.
const EMULATED: [(&str, &[&str]); 5] = [
    ("addresses", &["bufferDeviceAddress"]),
    ("timelines", &["timelineSemaphore"]),
    ("64-bit integers", &["shaderInt64"]),
    ("8/16-bit integers", &["shaderInt8", "shaderInt16"]),
    (
        "8/16-bit memory",
        &["storageBuffer8BitAccess", "storageBuffer16BitAccess"],
    ),
];

/// What a device does without.
const MISSING: [(&str, &[&str]); 3] = [
    ("doubles", &["shaderFloat64"]),
    (
        "64-bit atomics",
        &[
            "shaderInt64",
            "shaderBufferInt64Atomics",
            "shaderSharedInt64Atomics",
        ],
    ),
    (
        "seq_cst atomics",
        &["vulkanMemoryModel", "vulkanMemoryModelDeviceScope"],
    ),
];

/// Drivers that give all memory addresses that no process has (`AMDGPU_VA_RANGE_HIGH` in RADV's source), and those of a guest
/// that they run below.
const ADDRESSES_BEYOND: [&str; 2] = ["RADV", "Venus"];

/// What is known of memory that host and device have at the same addresses, unless it is there.
fn lacks_host_memory(description: &Value) -> Option<&'static str> {
    if ADDRESSES_BEYOND
        .iter()
        .any(|it| description["driver"] == *it)
    {
        Some("host and shared USM")
    } else if has(description, "memoryMapPlaced") {
        None
    } else {
        Some("host and shared USM unless found by trying")
    }
}

/// OpenCL's full profile has as much local memory.
const LOCAL_BYTES: u64 = 32 << 10;

fn lacking(of: &[(&'static str, &[&str])], description: &Value) -> Vec<&'static str> {
    let lacks = |(_, features): &&(&str, &[&str])| !features.iter().all(|it| has(description, it));
    of.iter().filter(lacks).map(|(name, _)| *name).collect()
}

fn row(name: &str, description: &Value) -> String {
    let text = |key: &str| description[key].as_str().unwrap_or("?").to_owned();
    let properties = &description["properties"];
    let number = |key: &str| properties[key].as_u64();
    let operations = properties["subgroupSupportedOperations"].as_array();
    let can = |operation: &str| {
        let name = format!("VK_SUBGROUP_FEATURE_{operation}_BIT");
        operations.is_some_and(|all| all.iter().any(|it| *it == name))
    };
    let mut emulated = lacking(&EMULATED, description);
    if !has(description, "shaderFloat16")
        || !has(description, "shaderInt16")
        || properties["shaderRoundingModeRTEFloat16"] != true
    {
        emulated.push("halves");
    }
    let mut missing = lacking(&MISSING, description);
    missing.extend(lacks_host_memory(description));
    if !["BASIC", "BALLOT", "SHUFFLE"].iter().all(|it| can(it)) {
        missing.push("sub-groups of more than one");
    }
    let local_bytes = number("maxComputeSharedMemorySize").unwrap_or(0);
    let usable = match unusable(description) {
        Some(reason) => format!("no: {reason}"),
        None if local_bytes < LOCAL_BYTES => "embedded profile".to_owned(),
        None => "yes".to_owned(),
    };
    let evidence = description["evidence"][0].as_str().unwrap_or("");
    let known = if evidence.contains("gpuinfo") {
        "its report"
    } else if evidence.contains("built and run") {
        "its driver, run without it"
    } else if evidence.contains("minimum") || evidence.contains("least that") {
        "a profile"
    } else {
        "its driver's source"
    };
    let list = |all: Vec<&str>| {
        if all.is_empty() {
            "–".to_owned()
        } else {
            all.join(", ")
        }
    };
    format!(
        "| {} (`{name}`) | {} | {} | {usable} | {} | {} KiB | {} | {} | {known} |",
        text("name"),
        text("driver"),
        text("apiVersion"),
        number("maxComputeWorkGroupInvocations").unwrap_or(0),
        local_bytes >> 10,
        list(emulated),
        list(missing)
    )
}

#[test]
fn the_table_is_made_of_the_descriptions() {
    let mut table = String::from(
        "| device | driver | Vulkan | usable | work-groups | local memory | emulated | missing | known by |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for (name, path) in descriptions() {
        let text = std::fs::read_to_string(path).expect("a description");
        let description: Value = serde_json::from_str(&text).expect("a description");
        writeln!(table, "{}", row(&name, &description)).expect("a string takes everything");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/devices.md");
    let page = std::fs::read_to_string(&path).expect("docs/devices.md");
    let (before, rest) = page.split_once(BEGIN).expect("where the table begins");
    let (found, after) = rest.split_once(END).expect("where the table ends");
    if std::env::var_os("PUMICE_BLESS").is_some() {
        std::fs::write(&path, [before, BEGIN, &table, END, after].concat()).expect("the page");
    } else {
        assert!(
            found == table,
            "PUMICE_BLESS=1 cargo test --test emulated page"
        );
    }
}
