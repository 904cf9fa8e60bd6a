//! What a device is known by outside of OpenCL, and what it shares: the same as Vulkan says, which is asked here as any
//! application asks it.

mod common;

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::process::Command;

use ash::vk;
use opencl_sys::{
    CL_DEVICE_LUID_KHR, CL_DEVICE_LUID_VALID_KHR, CL_DEVICE_NODE_MASK_KHR,
    CL_DEVICE_PCI_BUS_INFO_KHR, CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
    CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR, CL_DEVICE_SEMAPHORE_TYPES_KHR, CL_DEVICE_UUID_KHR,
    CL_DRIVER_UUID_KHR, CL_INVALID_VALUE, CL_PLATFORM_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
    CL_PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR, CL_READ_WRITE_CACHE,
    CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR,
    CL_SEMAPHORE_TYPE_BINARY_KHR, cl_device_info, cl_uint,
};
use opencl3::device::{CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, Device};
use opencl3::platform::{Platform, get_platforms};

/// What Vulkan says of a physical device.
struct Facts {
    name: String,
    device_uuid: [u8; 16],
    driver_uuid: [u8; 16],
    /// With the node mask.
    luid: Option<([u8; 8], u32)>,
    pci: Option<[u32; 4]>,
    imports: Vec<cl_uint>,
    exports: Vec<cl_uint>,
}

/// Every physical device.
fn facts() -> Vec<Facts> {
    // SAFETY: the loader is a sound library; the instance outlives what is asked of it.
    unsafe {
        let entry = ash::Entry::load().expect("the loader");
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let create = vk::InstanceCreateInfo::default().application_info(&application);
        let instance = entry.create_instance(&create, None).expect("an instance");
        let devices = instance.enumerate_physical_devices().expect("devices");
        let facts = devices.into_iter().map(|it| facts_of(&instance, it));
        let facts = facts.collect();
        instance.destroy_instance(None);
        facts
    }
}

/// # Safety
/// A live instance and a device of it.
unsafe fn facts_of(instance: &ash::Instance, device: vk::PhysicalDevice) -> Facts {
    // SAFETY: the caller's promise.
    let extensions = unsafe { instance.enumerate_device_extension_properties(device) };
    let extensions = extensions.expect("a list");
    let has = |name: &CStr| {
        let named = |it: &vk::ExtensionProperties| it.extension_name_as_c_str() == Ok(name);
        extensions.iter().any(named)
    };
    let mut id = vk::PhysicalDeviceIDProperties::default();
    let mut pci = vk::PhysicalDevicePCIBusInfoPropertiesEXT::default();
    let has_pci = has(ash::ext::pci_bus_info::NAME);
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut id);
    if has_pci {
        all = all.push_next(&mut pci);
    }
    // SAFETY: the caller's promise; structures of extensions that the device has.
    unsafe { instance.get_physical_device_properties2(device, &mut all) };
    let name = all.properties.device_name_as_c_str().expect("a name");
    let name = name.to_str().expect("a name in UTF-8").to_owned();
    let types = |wanted: vk::ExternalSemaphoreFeatureFlags| {
        let can = |kind| {
            let ask = vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(kind);
            let mut found = vk::ExternalSemaphoreProperties::default();
            // SAFETY: the caller's promise.
            unsafe {
                instance
                    .get_physical_device_external_semaphore_properties(device, &ask, &mut found);
            }
            has(ash::khr::external_semaphore_fd::NAME)
                && found.external_semaphore_features.contains(wanted)
        };
        let opaque = vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD;
        let sync = vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD;
        let all = [
            (CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, can(opaque)),
            (CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, can(sync)),
        ];
        let able = all.into_iter().filter(|(_, can)| *can);
        able.map(|(kind, _)| kind).collect()
    };
    Facts {
        name,
        imports: types(vk::ExternalSemaphoreFeatureFlags::IMPORTABLE),
        exports: types(vk::ExternalSemaphoreFeatureFlags::EXPORTABLE),
        device_uuid: id.device_uuid,
        driver_uuid: id.driver_uuid,
        luid: (id.device_luid_valid != 0).then_some((id.device_luid, id.device_node_mask)),
        pci: has_pci.then_some([
            pci.pci_domain,
            pci.pci_bus,
            pci.pci_device,
            pci.pci_function,
        ]),
    }
}

/// Each OpenCL device with what Vulkan says of it.
fn devices() -> Option<Vec<(Device, Facts)>> {
    common::device()?;
    let mut facts = facts();
    let platforms = get_platforms().expect("platforms");
    let devices = platforms[0].get_devices(CL_DEVICE_TYPE_ALL);
    let pair = |id| {
        let device = Device::new(id);
        let (name, uuid) = (
            device.name().expect("a name"),
            bytes(&device, CL_DEVICE_UUID_KHR),
        );
        // Several of one name have different identifiers.
        let found = facts
            .iter()
            .position(|it| it.name == name.trim_end_matches('\0') && it.device_uuid == *uuid);
        let found = found.unwrap_or_else(|| panic!("Vulkan has no {name} with UUID {uuid:x?}"));
        (device, facts.swap_remove(found))
    };
    Some(devices.expect("devices").into_iter().map(pair).collect())
}

fn bytes(device: &Device, name: cl_device_info) -> Vec<u8> {
    device.get_data(name).expect("an answer")
}

fn words(bytes: Vec<u8>) -> Vec<cl_uint> {
    let (words, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty());
    words.iter().copied().map(cl_uint::from_ne_bytes).collect()
}

fn has(device: &Device, extension: &str) -> bool {
    let all = device.extensions().expect("a list");
    all.split_ascii_whitespace().any(|it| it == extension)
}

/// "Device UUIDs must be immutable for a given device across processes, driver APIs, driver versions, and system
/// reboots."
#[test]
fn identifiers_are_those_of_vulkan() {
    let Some(devices) = devices() else { return };
    for (device, facts) in &devices {
        assert!(has(device, "cl_khr_device_uuid"));
        assert_eq!(bytes(device, CL_DEVICE_UUID_KHR), facts.device_uuid);
        assert_eq!(bytes(device, CL_DRIVER_UUID_KHR), facts.driver_uuid);
        let valid = words(bytes(device, CL_DEVICE_LUID_VALID_KHR));
        assert_eq!(valid, [cl_uint::from(facts.luid.is_some())]);
        // "It is not an error to query" them where there is none.
        let luid = bytes(device, CL_DEVICE_LUID_KHR);
        let mask = words(bytes(device, CL_DEVICE_NODE_MASK_KHR));
        assert_eq!((luid.len(), mask.len()), (8, 1));
        if let Some((wanted, node)) = facts.luid {
            assert_eq!((luid, mask), (wanted.to_vec(), vec![node]));
            assert_eq!(node.count_ones(), 1);
        }
    }
    let different: BTreeSet<_> = devices.iter().map(|(_, it)| it.device_uuid).collect();
    assert_eq!(different.len(), devices.len());
}

/// hashcat (`src/backend.c`) leaves out whatever has the name of an OpenCL driver that it found unreliable as a word of its
/// version; Mesa's Vulkan drivers are none.
#[test]
fn no_device_is_taken_for_an_opencl_of_its_vulkan_drivers_project() {
    let Some(devices) = devices() else { return };
    for (device, _) in devices {
        let version = device.version().expect("a version").to_lowercase();
        for word in ["mesa ", " mesa", "beignet ", " beignet"] {
            assert!(!version.contains(word), "{version}");
        }
        let driver = version.split_once("(vulkan ").expect("Vulkan's version").1;
        assert!(
            driver
                .split_once(", ")
                .is_some_and(|(_, driver)| driver.len() > 2),
            "{version}"
        );
    }
}

/// What `lscpu` prints: its own reading of the machine.
fn lscpu(arguments: &[&str]) -> String {
    let output = Command::new("lscpu").args(arguments).output();
    let output = output.expect("lscpu is installed (apt install util-linux)");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A device that is the host's processors has their cache and clock; of others this machine knows too little to judge.
#[test]
fn processors_have_the_cache_and_the_clock_that_the_machine_tells() {
    let Some(devices) = devices() else { return };
    for (device, _) in devices {
        if device.dev_type().expect("a type") & CL_DEVICE_TYPE_CPU == 0 {
            println!("skipped: {:?}: it has no processor", device.name());
            continue;
        }
        // SAFETY: no pointers.
        let line = unsafe { libc::sysconf(libc::_SC_LEVEL1_DCACHE_LINESIZE) };
        let found = device.global_mem_cacheline_size().expect("an answer");
        assert_eq!(i64::from(found), line);
        let caches = lscpu(&["--caches=TYPE,ONE-SIZE", "--bytes"]);
        let caches = caches
            .lines()
            .filter(|cache| !cache.starts_with("Instruction"));
        let sizes = caches.filter_map(|cache| cache.split_whitespace().nth(1)?.parse::<u64>().ok());
        let largest = sizes.max();
        assert!(largest.is_some(), "lscpu tells of no cache");
        let found = device.global_mem_cache_size().expect("an answer");
        assert_eq!(Some(found), largest);
        let kind = device.global_mem_cache_type().expect("an answer");
        assert_eq!(kind, CL_READ_WRITE_CACHE);

        let clock = device.max_clock_frequency().expect("an answer");
        let named = |text: &str, name: &str| -> Option<f64> {
            let line = text.lines().find(|line| line.trim().starts_with(name))?;
            line.split_once(':')?.1.trim().parse().ok()
        };
        let highest = named(&lscpu(&[]), "CPU max MHz:");
        let present = std::fs::read_to_string("/proc/cpuinfo");
        let present = present.ok().and_then(|text| named(&text, "cpu MHz"));
        match (highest, present) {
            (Some(highest), _) => assert_eq!(clock, highest as cl_uint),
            // It may be another one by now.
            (None, Some(present)) => {
                let share = f64::from(clock) / present;
                assert!((0.1..10.0).contains(&share), "{clock} MHz, and {present}");
            }
            (None, None) => assert_eq!(clock, 0),
        }
    }
}

#[test]
fn places_on_the_bus_are_those_of_vulkan() {
    let Some(devices) = devices() else { return };
    for (device, facts) in devices {
        let found = device.get_data(CL_DEVICE_PCI_BUS_INFO_KHR);
        let found = found.map(words).map_err(|error| error.0);
        let expected = facts.pci.map(Vec::from).ok_or(CL_INVALID_VALUE);
        assert_eq!(found, expected, "{}", facts.name);
        assert_eq!(has(&device, "cl_khr_pci_bus_info"), expected.is_ok());
    }
}

#[test]
fn semaphores_are_shared_as_vulkan_shares_them() {
    let Some(devices) = devices() else { return };
    let mut common: Option<[Vec<cl_uint>; 2]> = None;
    for (device, facts) in devices {
        assert!(has(&device, "cl_khr_semaphore"));
        let types = words(bytes(&device, CL_DEVICE_SEMAPHORE_TYPES_KHR));
        assert_eq!(types, [CL_SEMAPHORE_TYPE_BINARY_KHR]);
        let imports = words(bytes(&device, CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR));
        let exports = words(bytes(&device, CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR));
        let found = [imports, exports];
        assert_eq!(found, [facts.imports, facts.exports], "{}", facts.name);
        let any = |kind: cl_uint| found.iter().any(|list| list.contains(&kind));
        let [opaque, sync] = [
            CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR,
            CL_SEMAPHORE_HANDLE_SYNC_FD_KHR,
        ]
        .map(any);
        for (extension, expected) in [
            ("cl_khr_external_semaphore", opaque || sync),
            ("cl_khr_external_semaphore_opaque_fd", opaque),
            ("cl_khr_external_semaphore_sync_fd", sync),
        ] {
            assert_eq!(has(&device, extension), expected, "{extension}");
        }
        common = Some(match common {
            None => found,
            Some(mut all) => {
                for (all, found) in all.iter_mut().zip(found) {
                    all.retain(|kind| found.contains(kind));
                }
                all
            }
        });
    }
    // "… supported by all devices in platform."
    let platform: Platform = get_platforms().expect("platforms")[0];
    let names = [
        CL_PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR,
        CL_PLATFORM_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
    ];
    let found = names.map(|name| words(platform.get_data(name).expect("an answer")));
    assert_eq!(Some(found), common);
}
