//! A Vulkan layer that shows a device as another one: with that one's name, version, extensions, features, limits and memory,
//! as far as the device below has them. `PUMICE_TEST_DEVICE` is the file that describes it (`tests/devices`), `PUMICE_TEST_WITHOUT`
//! names features that it shall lack, with commas between them.
//!
//! The driver's identity is that of the device below, since its defects are. What the shown device does not have fails where it is
//! asked for: commands of newer versions are not found, a device with more features or extensions is not made, memory that the
//! host may not see is not mapped. The validation layer, before this one, checks the rest.

#[path = "../common/layer_chain.rs"]
mod layer_chain;

mod description;
mod members;
mod memory;
mod structures;
mod wrong;

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::transmute;
use std::sync::OnceLock;

use ash::vk;
use description::Description;
use layer_chain::{Layer, layer, next_of_device, next_of_instance};

/// The device that is shown.
fn shown() -> &'static Description {
    static SHOWN: OnceLock<Description> = OnceLock::new();
    SHOWN.get_or_init(|| {
        let path = std::env::var("PUMICE_TEST_DEVICE").expect("PUMICE_TEST_DEVICE names a file");
        let without = std::env::var("PUMICE_TEST_WITHOUT").unwrap_or_default();
        Description::read(&path).without(&without)
    })
}

/// Commands of devices that a version brought, as far as Pumice may look for them.
const COMMANDS: [(u32, &[&str]); 2] = [
    (
        vk::API_VERSION_1_2,
        &[
            "vkGetBufferDeviceAddress",
            "vkGetBufferOpaqueCaptureAddress",
            "vkGetDeviceMemoryOpaqueCaptureAddress",
            "vkGetSemaphoreCounterValue",
            "vkResetQueryPool",
            "vkSignalSemaphore",
            "vkWaitSemaphores",
        ],
    ),
    (
        vk::API_VERSION_1_3,
        &[
            "vkCmdCopyBuffer2",
            "vkCmdPipelineBarrier2",
            "vkCmdResetEvent2",
            "vkCmdSetEvent2",
            "vkCmdWaitEvents2",
            "vkCmdWriteTimestamp2",
            "vkGetDeviceBufferMemoryRequirements",
            "vkGetDeviceImageMemoryRequirements",
            "vkQueueSubmit2",
        ],
    ),
];

/// Extensions that a version took in: a device of that version can stand for one that has the extension.
const TAKEN_IN: [(u32, &[&CStr]); 2] = [
    (
        vk::API_VERSION_1_2,
        &[
            c"VK_EXT_descriptor_indexing",
            c"VK_EXT_host_query_reset",
            c"VK_EXT_scalar_block_layout",
            c"VK_KHR_8bit_storage",
            c"VK_KHR_buffer_device_address",
            c"VK_KHR_driver_properties",
            c"VK_KHR_shader_atomic_int64",
            c"VK_KHR_shader_float16_int8",
            c"VK_KHR_shader_float_controls",
            c"VK_KHR_shader_subgroup_extended_types",
            c"VK_KHR_spirv_1_4",
            c"VK_KHR_timeline_semaphore",
            c"VK_KHR_uniform_buffer_standard_layout",
            c"VK_KHR_vulkan_memory_model",
        ],
    ),
    (
        vk::API_VERSION_1_3,
        &[
            c"VK_EXT_subgroup_size_control",
            c"VK_KHR_maintenance4",
            c"VK_KHR_shader_integer_dot_product",
            c"VK_KHR_synchronization2",
            c"VK_KHR_zero_initialize_workgroup_memory",
        ],
    ),
];

/// Extensions that bring nothing but properties: any device can stand for one that has them.
const TOLD: [&CStr; 5] = [
    c"VK_AMD_shader_core_properties",
    c"VK_AMD_shader_core_properties2",
    c"VK_ARM_shader_core_builtins",
    c"VK_EXT_pci_bus_info",
    c"VK_NV_shader_sm_builtins",
];

/// Adds the extensions that a device of the version need not name, and those that only tell.
fn add_stand_ins(all: &mut Vec<vk::ExtensionProperties>, version: u32) {
    let taken_in = TAKEN_IN.iter().filter(|(by, _)| *by <= version);
    for name in taken_in.flat_map(|(_, names)| *names).chain(&TOLD) {
        if !all
            .iter()
            .any(|it| it.extension_name_as_c_str() == Ok(name))
        {
            let mut extension = vk::ExtensionProperties::default().spec_version(1);
            for (to, byte) in extension.extension_name.iter_mut().zip(name.to_bytes()) {
                *to = *byte as c_char;
            }
            all.push(extension);
        }
    }
}

struct Emulated;

impl Layer for Emulated {
    const COMMANDS: &[&CStr] = &[
        c"vkEnumerateDeviceExtensionProperties",
        c"vkGetPhysicalDeviceProperties",
        c"vkGetPhysicalDeviceProperties2",
        c"vkGetPhysicalDeviceFeatures",
        c"vkGetPhysicalDeviceFeatures2",
        c"vkGetPhysicalDeviceQueueFamilyProperties",
        c"vkGetPhysicalDeviceQueueFamilyProperties2",
        c"vkGetPhysicalDeviceMemoryProperties",
        c"vkGetPhysicalDeviceMemoryProperties2",
    ];

    fn of_instance(name: &[u8]) -> Option<*const c_void> {
        let function = match name {
            b"vkEnumerateDeviceExtensionProperties" => extensions as *const c_void,
            b"vkGetPhysicalDeviceProperties" => properties as *const c_void,
            b"vkGetPhysicalDeviceProperties2" | b"vkGetPhysicalDeviceProperties2KHR" => {
                properties2 as *const c_void
            }
            b"vkGetPhysicalDeviceFeatures" => features as *const c_void,
            b"vkGetPhysicalDeviceFeatures2" | b"vkGetPhysicalDeviceFeatures2KHR" => {
                features2 as *const c_void
            }
            b"vkGetPhysicalDeviceQueueFamilyProperties" => queue_families as *const c_void,
            b"vkGetPhysicalDeviceQueueFamilyProperties2"
            | b"vkGetPhysicalDeviceQueueFamilyProperties2KHR" => queue_families2 as *const c_void,
            _ => return memory::of_instance(name),
        };
        Some(function)
    }

    fn of_device(name: &[u8], next: *const c_void) -> *const c_void {
        let newer = COMMANDS
            .iter()
            .filter(|(since, _)| *since > shown().api_version);
        if newer
            .into_iter()
            .any(|(_, names)| names.iter().any(|it| it.as_bytes() == name))
        {
            return std::ptr::null();
        }
        if next.is_null() {
            // The command of an extension that the device below has no more than as a part of its version.
            let core = [b"KHR", b"EXT"]
                .into_iter()
                .find_map(|suffix| name.strip_suffix(suffix));
            return core
                .and_then(|core| CString::new(core).ok())
                .map_or(next, |core| {
                    // SAFETY: a device exists, since it is asked for a command.
                    unsafe { next_of_device(&core) }
                });
        }
        let ours = memory::of_device(name);
        ours.or_else(|| wrong::of_device(name)).unwrap_or(next)
    }

    unsafe fn extensions_below(
        physical: vk::PhysicalDevice,
        create: &vk::DeviceCreateInfo<'_>,
    ) -> Result<Vec<*const c_char>, vk::Result> {
        let refuse = |what: &str, why| {
            eprintln!(
                "{}: VUID-emulated: a device with {what} is asked for",
                shown().name
            );
            Err(why)
        };
        // SAFETY: the structures of the caller of vkCreateDevice.
        unsafe {
            let mut names = layer_chain::asked_for(create);
            for name in &names {
                let name = CStr::from_ptr(*name).to_string_lossy();
                if !shown().has_extension(&name) {
                    return refuse(&name, vk::Result::ERROR_EXTENSION_NOT_PRESENT);
                }
            }
            let mut missing = create
                .p_enabled_features
                .as_ref()
                .and_then(|core| structures::first_missing_of_core(core, shown()));
            structures::each(create.p_next.cast_mut().cast(), |it| {
                let found = match (*it).s_type {
                    vk::StructureType::PHYSICAL_DEVICE_FEATURES_2 => {
                        let all = &*it.cast::<vk::PhysicalDeviceFeatures2<'_>>();
                        structures::first_missing_of_core(&all.features, shown())
                    }
                    vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_1_FEATURES
                    | vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES
                        if shown().api_version < vk::API_VERSION_1_2 =>
                    {
                        Some("a structure of Vulkan 1.2")
                    }
                    vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES
                        if shown().api_version < vk::API_VERSION_1_3 =>
                    {
                        Some("a structure of Vulkan 1.3")
                    }
                    _ => structures::first_missing_of(it, shown()),
                };
                missing = missing.or(found);
            });
            if let Some(missing) = missing {
                return refuse(missing, vk::Result::ERROR_FEATURE_NOT_PRESENT);
            }
            memory::begin(physical);
            let there = found_below(physical).1;
            names.retain(|name| {
                let name = CStr::from_ptr(*name);
                there
                    .iter()
                    .any(|it| it.extension_name_as_c_str() == Ok(name))
            });
            Ok(names)
        }
    }
}

layer!(Emulated);

/// The next layer's command of the name, as a function of the type that the place asks for.
macro_rules! next {
    ($name:literal) => {
        transmute(next_of_instance($name))
    };
}
pub(crate) use next;

/// The extensions of the device below, and what the call that lists them returned.
///
/// # Safety
/// A physical device.
unsafe fn found_below(physical: vk::PhysicalDevice) -> (vk::Result, Vec<vk::ExtensionProperties>) {
    // SAFETY: the caller's word, and that of the next layer for its command.
    unsafe {
        let next: vk::PFN_vkEnumerateDeviceExtensionProperties =
            next!(c"vkEnumerateDeviceExtensionProperties");
        let mut count = 0;
        let _ = next(physical, std::ptr::null(), &mut count, std::ptr::null_mut());
        let mut all = vec![vk::ExtensionProperties::default(); count as usize];
        let result = next(physical, std::ptr::null(), &mut count, all.as_mut_ptr());
        all.truncate(count as usize);
        (result, all)
    }
}

unsafe extern "system" fn extensions(
    physical: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    found: *mut vk::ExtensionProperties,
) -> vk::Result {
    // SAFETY: the caller's word, and that of the next layer for its command.
    unsafe {
        let next: vk::PFN_vkEnumerateDeviceExtensionProperties =
            next!(c"vkEnumerateDeviceExtensionProperties");
        if !layer.is_null() {
            return next(physical, layer, count, found);
        }
        let (result, mut all) = found_below(physical);
        let next: vk::PFN_vkGetPhysicalDeviceProperties = next!(c"vkGetPhysicalDeviceProperties");
        let mut here = vk::PhysicalDeviceProperties::default();
        next(physical, &mut here);
        add_stand_ins(&mut all, here.api_version);
        all.retain(|it| {
            let name = it.extension_name_as_c_str().unwrap_or_default();
            shown().has_extension(&name.to_string_lossy())
        });
        if found.is_null() {
            *count = all.len() as u32;
            return result;
        }
        let given = all.len().min(*count as usize);
        std::ptr::copy_nonoverlapping(all.as_ptr(), found, given);
        *count = given as u32;
        if given < all.len() {
            vk::Result::INCOMPLETE
        } else {
            result
        }
    }
}

fn show(found: &mut vk::PhysicalDeviceProperties) {
    let device = shown();
    found.api_version = found.api_version.min(device.api_version);
    found.vendor_id = device.vendor_id;
    found.device_id = device.device_id;
    found.device_type = device.device_type;
    found.device_name = [0; vk::MAX_PHYSICAL_DEVICE_NAME_SIZE];
    let name = device
        .name
        .bytes()
        .take(vk::MAX_PHYSICAL_DEVICE_NAME_SIZE - 1);
    for (to, byte) in found.device_name.iter_mut().zip(name) {
        *to = byte as c_char;
    }
    structures::show_limits(&mut found.limits, device);
}

unsafe extern "system" fn properties(
    physical: vk::PhysicalDevice,
    found: *mut vk::PhysicalDeviceProperties,
) {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceProperties = next!(c"vkGetPhysicalDeviceProperties");
        next(physical, found);
        show(&mut *found);
    }
}

unsafe extern "system" fn properties2(
    physical: vk::PhysicalDevice,
    found: *mut vk::PhysicalDeviceProperties2<'_>,
) {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceProperties2 = next!(c"vkGetPhysicalDeviceProperties2");
        next(physical, found);
        show(&mut (*found).properties);
        structures::each((*found).p_next.cast(), |it| {
            structures::show_properties(it, shown());
        });
    }
}

unsafe extern "system" fn features(
    physical: vk::PhysicalDevice,
    found: *mut vk::PhysicalDeviceFeatures,
) {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceFeatures = next!(c"vkGetPhysicalDeviceFeatures");
        next(physical, found);
        structures::hide_core(&mut *found, shown());
    }
}

unsafe extern "system" fn features2(
    physical: vk::PhysicalDevice,
    found: *mut vk::PhysicalDeviceFeatures2<'_>,
) {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceFeatures2 = next!(c"vkGetPhysicalDeviceFeatures2");
        next(physical, found);
        structures::hide_core(&mut (*found).features, shown());
        structures::each((*found).p_next.cast(), |it| {
            structures::hide_features(it, shown());
        });
    }
}

fn show_family(family: &mut vk::QueueFamilyProperties) {
    family.timestamp_valid_bits = family
        .timestamp_valid_bits
        .min(shown().timestamp_valid_bits);
}

unsafe extern "system" fn queue_families(
    physical: vk::PhysicalDevice,
    count: *mut u32,
    found: *mut vk::QueueFamilyProperties,
) {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties =
            next!(c"vkGetPhysicalDeviceQueueFamilyProperties");
        next(physical, count, found);
        if !found.is_null() {
            let found = std::slice::from_raw_parts_mut(found, *count as usize);
            found.iter_mut().for_each(show_family);
        }
    }
}

unsafe extern "system" fn queue_families2(
    physical: vk::PhysicalDevice,
    count: *mut u32,
    found: *mut vk::QueueFamilyProperties2<'_>,
) {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties2 =
            next!(c"vkGetPhysicalDeviceQueueFamilyProperties2");
        next(physical, count, found);
        if !found.is_null() {
            let found = std::slice::from_raw_parts_mut(found, *count as usize);
            for family in found {
                show_family(&mut family.queue_family_properties);
            }
        }
    }
}
