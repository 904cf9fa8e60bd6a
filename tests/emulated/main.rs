//! Devices that are not at hand, as their descriptions in `tests/devices` have them: what Pumice says of each, and that a device
//! is not relied on for what it gets wrong. A Vulkan layer (`layer.rs`, built as an example) stands before the driver, so each
//! case runs in a process of its own. `ci/emulated` runs `tests/kernels` on all of them.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/layer.rs"]
mod layer;

mod facts;
mod page;
mod programs;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The files that describe devices.
fn descriptions() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/devices");
    let files = std::fs::read_dir(folder).expect("descriptions");
    let paths = files.map(|file| file.expect("a file").path());
    let named = |path: PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy();
        (name.into_owned(), path.clone())
    };
    let mut all: Vec<_> = paths.map(named).collect();
    all.sort();
    assert!(all.len() > 20, "the descriptions are not read");
    all
}

/// The description of a device that has whatever the software drivers have.
fn able_device() -> PathBuf {
    let mut devices = descriptions().into_iter();
    let (_, path) = devices
        .find(|(name, _)| name == "nvidia_5080")
        .expect("it is there");
    path
}

/// A command that runs on the first device as if it were another one. `test` is the name of the test, and of the case.
fn shown_as(program: &Path, path: &Path, test: &str) -> Command {
    let mut command = Command::new(program);
    command
        .envs(layer::variables("emulated_device", test))
        .env("PUMICE_TEST_DEVICE", path)
        .env("PUMICE_CACHE_DIR", "")
        .env_remove("PUMICE_VALIDATE");
    command
}

/// What `pumice info` says of a device, and what it logs.
fn info(path: &Path, test: &str, environment: &[(&str, &str)]) -> String {
    let mut command = shown_as(Path::new(env!("CARGO_BIN_EXE_pumice")), path, test);
    let output = command
        .arg("info")
        .envs(environment.iter().copied())
        .output()
        .expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// What is said behind `name: `.
fn said<'a>(text: &'a str, name: &str) -> &'a str {
    let start = format!("{name}: ");
    let mut lines = text.lines().map(str::trim);
    lines
        .find_map(|line| line.strip_prefix(&start))
        .unwrap_or("")
}

/// Whether the description lists a feature.
fn has(description: &Value, feature: &str) -> bool {
    let features = description["features"].as_array().expect("features");
    features.iter().any(|it| it == feature)
}

/// Why a device can't be used, if it can't.
fn unusable(description: &Value) -> Option<&'static str> {
    let version = description["apiVersion"].as_str().expect("a version");
    if version.starts_with("1.0.") {
        return Some("Vulkan 1.0");
    }
    let extensions = description["extensions"].as_array().expect("extensions");
    // VK_EXT_buffer_device_address has a feature of the same name.
    let has_addresses = has(description, "bufferDeviceAddress")
        && (!version.starts_with("1.1.")
            || (extensions.iter()).any(|it| it == "VK_KHR_buffer_device_address"));
    let is_addressed = has_addresses || has_buffer_descriptors(description);
    (!is_addressed).then_some("bufferDeviceAddress")
}

/// Whether descriptors can stand in for addresses.
fn has_buffer_descriptors(description: &Value) -> bool {
    let needed = [
        "shaderStorageBufferArrayNonUniformIndexing",
        "descriptorBindingStorageBufferUpdateAfterBind",
        "descriptorBindingUpdateUnusedWhilePending",
        "descriptorBindingPartiallyBound",
    ];
    needed.into_iter().all(|it| has(description, it))
}

/// Every device is usable or has a reason why it is not, and what it lacks is named with what stands in for it.
#[test]
fn what_devices_lack_is_said() {
    if common::device().is_none() {
        return;
    }
    // What needs which features, and what is said where one is missing.
    let needs: [(&str, &[&str], &str); 7] = [
        ("addresses", &["bufferDeviceAddress"], "emulated"),
        ("timelines", &["timelineSemaphore"], "emulated"),
        ("double (cl_khr_fp64)", &["shaderFloat64"], "no,"),
        (
            "half (cl_khr_fp16)",
            &["shaderFloat16", "shaderInt16"],
            "emulated,",
        ),
        ("64-bit integers", &["shaderInt64"], "emulated,"),
        (
            "8- and 16-bit integers",
            &["shaderInt8", "shaderInt16"],
            "emulated,",
        ),
        (
            "8- and 16-bit memory accesses",
            &["storageBuffer8BitAccess", "storageBuffer16BitAccess"],
            "emulated by accesses to whole words,",
        ),
    ];
    let (mut usable, mut unusable_devices) = (0, 0);
    for (name, path) in descriptions() {
        let text = std::fs::read_to_string(&path).expect("a description");
        let description: Value = serde_json::from_str(&text).expect("a description");
        let shown = description["name"].as_str().expect("a name");
        let text = info(&path, &format!("said-{name}"), &[]);
        assert!(text.contains(shown), "{name}: {text}");
        assert!(!text.contains("VUID"), "{name}: {text}");
        if let Some(reason) = unusable(&description) {
            let found = said(&text, shown);
            let is_told = found.starts_with("not usable, it ") && found.contains(reason);
            assert!(is_told, "{name}: {reason}: {text}");
            unusable_devices += 1;
            continue;
        }
        usable += 1;
        for (what, features, instead) in needs {
            let is_whole = features.iter().all(|it| has(&description, it));
            let found = said(&text, what);
            assert!(
                is_whole || found.starts_with(instead),
                "{name}: {what}: {found}"
            );
        }
    }
    println!("{usable} usable, {unusable_devices} not");
    assert!(usable > 20 && unusable_devices > 0);
}

/// Results that a device gets wrong are found before a program relies on them: all else then gets by without.
#[test]
fn what_a_device_gets_wrong_is_found() {
    if common::device().is_none() {
        return;
    }
    let path = &able_device();
    let unknown = ("PUMICE_TEST_UNKNOWN_DRIVER", "1");
    let right = info(path, "right", &[unknown]);
    let mut found = 0;
    for wrong in [
        "singles",
        "fused-singles",
        "halves",
        "doubles",
        "longs",
        "narrow-integers",
        "barriers",
        "sub-group-arithmetic",
        "sub-group-votes",
        "sub-group-exchanges",
    ] {
        if said(&right, wrong).is_empty() {
            println!("skipped: {wrong}: the device does not claim it");
            continue;
        }
        let text = info(
            path,
            &format!("wrong-{wrong}"),
            &[unknown, ("PUMICE_TEST_WRONG", wrong)],
        );
        assert!(
            said(&text, wrong).starts_with("no, tried: "),
            "{wrong}: {text}"
        );
        if wrong != "fused-singles" {
            assert!(
                said(&right, wrong).starts_with("yes, tried"),
                "{wrong}: {right}"
            );
            assert!(
                text.contains(&format!("was tried and gets {wrong} wrong")),
                "{text}"
            );
        }
        // What was right stays so.
        for other in ["singles", "longs", "doubles", "barriers"] {
            let is_apart = other != wrong && !said(&right, other).is_empty();
            assert!(
                !is_apart || said(&text, other) == said(&right, other),
                "{wrong}: {other}: {text}"
            );
        }
        found += 1;
    }
    assert!(found >= 5, "{found}");
}

/// `PUMICE_ASSUME` stands above what was found.
#[test]
fn what_is_assumed_stands_above_what_was_found() {
    if common::device().is_none() {
        return;
    }
    let path = &able_device();
    let text = info(
        path,
        "assumed",
        &[("PUMICE_ASSUME", "sub-group-progress=1,messages=0")],
    );
    assert_eq!(said(&text, "sub-group-progress"), "yes, assumed", "{text}");
    assert!(
        said(&text, "messages").starts_with("no, assumed: "),
        "{text}"
    );
    assert!(text.contains("cl_khr_subgroups"), "{text}");
}
