//! What applications read of a device to choose by: that it is what the device tells, and that what none tells is said to be
//! unknown.

use std::collections::BTreeMap;
use std::path::Path;

use opencl_sys::{
    CL_DEVICE_BOARD_NAME_AMD, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, CL_DEVICE_IP_VERSION_INTEL,
    CL_DEVICE_PCI_BUS_INFO_KHR, cl_device_info,
};
use opencl3::device::Device;
use pumice::runtime::device::findings::Subject;
use serde_json::Value;

use super::{common, descriptions, shown_as, unusable};

/// Has this program print the facts of the device that it is shown.
const CHILD: &str = "PUMICE_TEST_FACTS";

/// What vendors' own OpenCL drivers call them, by which applications compare; some have none.
const VENDORS: [(u64, &str); 10] = [
    (0x1002, "Advanced Micro Devices, Inc."),
    (0x1010, "Imagination Technologies"),
    (0x106b, "Apple"),
    (0x10de, "NVIDIA Corporation"),
    (0x13b5, "ARM"),
    (0x144d, "Samsung Electronics Co., Ltd."),
    (0x14e4, "Broadcom"),
    (0x5143, "QUALCOMM"),
    (0x8086, "Intel(R) Corporation"),
    (0x10005, "Mesa"),
];

/// One query of each extension by which vendors tell more of their devices than OpenCL does, and its name.
const ATTRIBUTE_QUERIES: [(cl_device_info, &str); 3] = [
    (
        CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV,
        "cl_nv_device_attribute_query",
    ),
    (CL_DEVICE_BOARD_NAME_AMD, "cl_amd_device_attribute_query"),
    (
        CL_DEVICE_IP_VERSION_INTEL,
        "cl_intel_device_attribute_query",
    ),
];

#[test]
fn are_those_of_the_device() {
    if std::env::var_os(CHILD).is_some() {
        return print(&common::device().expect("the device"));
    }
    if common::device().is_none() {
        return;
    }
    let this = std::env::current_exe().expect("a path");
    let (mut units, mut places) = (0, 0);
    for (name, path) in descriptions() {
        let text = std::fs::read_to_string(&path).expect("a description");
        let description: Value = serde_json::from_str(&text).expect("a description");
        if unusable(&description).is_some() {
            continue;
        }
        let facts = facts(&this, &path, &name);
        let fact = |key: &str| facts.get(key).map_or("", String::as_str);
        let property = |key: &str| description["properties"][key].as_u64();

        let reported = ["shaderSMCount", "activeComputeUnitCount", "shaderCoreCount"];
        let reported = reported.into_iter().find_map(property);
        units += usize::from(reported.is_some());
        // "The minimum value is 1."
        let expected = reported.unwrap_or(1).to_string();
        assert_eq!(fact("compute units"), expected, "{name}");

        let vendor = description["vendorID"].as_u64().expect("a vendor");
        let vendor = VENDORS.iter().find(|(id, _)| *id == vendor);
        let expected = vendor.unwrap_or_else(|| panic!("{name}: whose is it?")).1;
        assert_eq!(fact("vendor"), expected, "{name}");

        let place = ["pciDomain", "pciBus", "pciDevice", "pciFunction"].map(property);
        let expected = place.map(|number| number.map_or(String::new(), |it| it.to_string()));
        assert_eq!(fact("place"), expected.join(" ").trim(), "{name}");
        let is_listed = place[0].is_some().to_string();
        assert_eq!(fact("cl_khr_pci_bus_info"), is_listed, "{name}");
        places += usize::from(place[0].is_some());

        // Not all of what these extensions promise is reported of any device.
        for (_, extension) in ATTRIBUTE_QUERIES {
            assert_eq!(fact(extension), "false", "{name}: {extension}");
        }
        // No extension of Vulkan tells of caches and clocks; one names the device to the system that this runs on.
        assert_eq!(fact("cache"), "0 0 0", "{name}");
        let extensions = description["extensions"].as_array().expect("extensions");
        if !extensions
            .iter()
            .any(|it| it == "VK_EXT_physical_device_drm")
        {
            assert_eq!(fact("clock"), "0", "{name}");
        }

        // "Max size in bytes of a constant buffer allocation. The minimum value is 64 KB." All memory is alike here.
        let number = |key| fact(key).parse::<u64>().expect("a number");
        let whole = number("allocation").min(u32::MAX.into());
        assert!(number("constant") <= whole, "{name}");
        assert!(number("constant") > whole - 4, "{name}");
    }
    println!("{units} tell of their compute units, {places} of their places");
    assert!(units >= 6 && places >= 8, "{units}, {places}");
}

/// The facts of a device, by their names.
fn facts(this: &Path, path: &Path, name: &str) -> BTreeMap<String, String> {
    let assumed: Vec<String> = (Subject::ALL.iter())
        .map(|subject| format!("{}=1", subject.name()))
        .collect();
    let output = shown_as(this, path, &format!("facts-{name}"))
        .args(["--exact", "facts::are_those_of_the_device", "--nocapture"])
        .env(CHILD, "1")
        // llvmpipe, as itself, has more units than it has.
        .env("PUMICE_TEST_UNKNOWN_DRIVER", "1")
        // Nothing is tried out: it would take most of the time.
        .env("PUMICE_ASSUME", assumed.join(","))
        .output()
        .expect("the test itself");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {said}");
    let text = String::from_utf8_lossy(&output.stdout);
    let facts = text.lines().filter_map(|line| line.strip_prefix("fact: "));
    let pairs = facts.filter_map(|fact| fact.split_once(" = "));
    pairs.map(|(key, it)| (key.into(), it.into())).collect()
}

fn print(device: &Device) {
    let fact = |key: &str, value: String| println!("fact: {key} = {value}");
    let extensions = device.extensions().expect("extensions");
    let has = |name: &str| extensions.split_ascii_whitespace().any(|it| it == name);
    fact("vendor", device.vendor().expect("a vendor"));
    let units = device.max_compute_units().expect("a number");
    fact("compute units", units.to_string());
    let clock = device.max_clock_frequency().expect("a number");
    fact("clock", clock.to_string());
    let cache = [
        u64::from(device.global_mem_cache_type().expect("a type")),
        device.global_mem_cacheline_size().expect("a size").into(),
        device.global_mem_cache_size().expect("a size"),
    ];
    fact("cache", cache.map(|it| it.to_string()).join(" "));
    let constant = device.max_constant_buffer_size().expect("a size");
    fact("constant", constant.to_string());
    let allocation = device.max_mem_alloc_size().expect("a size");
    fact("allocation", allocation.to_string());
    let place = device.get_data(CL_DEVICE_PCI_BUS_INFO_KHR);
    let words: Vec<String> = place
        .iter()
        .flat_map(|bytes| bytes.as_chunks::<4>().0)
        .map(|word| u32::from_ne_bytes(*word).to_string())
        .collect();
    fact("place", words.join(" "));
    fact(
        "cl_khr_pci_bus_info",
        has("cl_khr_pci_bus_info").to_string(),
    );
    for (query, name) in ATTRIBUTE_QUERIES {
        let is_there = has(name) || device.get_data(query).is_ok();
        fact(name, is_there.to_string());
    }
}
