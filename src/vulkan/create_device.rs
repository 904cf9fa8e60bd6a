//! What a `VkDevice` is created with: every feature and extension that is of use and exists, and its queues.

use std::ffi::{CStr, CString, c_void};

use ash::{ext, khr, vk};

use super::error::Error;
use super::feature_structures::FeatureStructures;
use super::info::PhysicalDeviceInfo;
use super::instance::Instance;
use super::physical_device::PhysicalDevice;
use super::queue_clients::{MAX_QUEUES, Priority, UNUSUAL};

/// Creates the `VkDevice`.
///
/// # Errors
/// `vkCreateDevice`'s.
pub(super) fn create_raw(
    instance: &Instance,
    physical: &PhysicalDevice,
    queue_family: u32,
) -> Result<ash::Device, Error> {
    let info = &physical.info;
    let (major, minor, patch) = info.api_version;
    let version = vk::make_api_version(0, major, minor, patch);
    let has = |name: &CStr| info.has_extension(&name.to_string_lossy());
    let mut features = FeatureStructures::of(&info.features);
    let mut all = features.chain(version, has);
    let mut extensions = FeatureStructures::extensions(version, has);
    extensions.extend(WITHOUT_FEATURES.into_iter().filter(|name| has(name)));
    let of_versions = OF_VERSIONS
        .into_iter()
        .filter(|(since, _)| version < *since);
    extensions.extend(of_versions.map(|(_, name)| name).filter(|name| has(name)));
    extensions.sort_unstable();
    extensions.dedup();

    let priorities = priorities(info);
    let of_family = |family, priorities| {
        vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(priorities)
    };
    let mut queues = vec![of_family(queue_family, &priorities[..])];
    let others = physical
        .sparse_family
        .filter(|&family| family != queue_family);
    queues.extend(others.map(|family| of_family(family, &[0.5])));
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let create = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut all);
    let functions = instance.raw.fp_v1_0();
    let mut handle = vk::Device::null();
    // SAFETY: every structure that `create` reaches outlives the call, and asks only for features and
    // extensions that the device reported.
    unsafe { (functions.create_device)(physical.handle, &create, std::ptr::null(), &mut handle) }
        .result()
        .map_err(Error::of("vkCreateDevice"))?;
    let function = |name: &CStr| {
        // SAFETY: a live device, and a name.
        let found = unsafe { (functions.get_device_proc_addr)(handle, name.as_ptr()) };
        found.map_or(std::ptr::null(), |function| function as *const c_void)
    };
    // SAFETY: the device was just made, and commands have the types of their names in every version and extension.
    let device = unsafe { ash::Device::load_with(|name| command(name, function), handle) };
    let missing = |name: &&&CStr| command(name, function).is_null();
    let needed = [
        (info.features.buffer_device_address, &OF_ADDRESSES[..]),
        (info.features.timeline_semaphore, &OF_TIMELINES[..]),
    ];
    let needed = needed.iter().filter(|(is_used, _)| *is_used);
    match needed.flat_map(|(_, names)| *names).find(missing) {
        None => Ok(device),
        Some(name) => {
            // SAFETY: nothing was made from it.
            unsafe { device.destroy_device(None) };
            let name = name.to_string_lossy();
            Err(Error::Unsupported(format!("the command {name}")))
        }
    }
}

/// Commands of features that are relied on where they are reported. To call one that is missing ends the process.
const OF_ADDRESSES: [&CStr; 1] = [c"vkGetBufferDeviceAddress"];
const OF_TIMELINES: [&CStr; 3] = [
    c"vkGetSemaphoreCounterValue",
    c"vkWaitSemaphores",
    c"vkSignalSemaphore",
];

/// The command of a version, or that of the extension which it comes from: devices of older versions have the latter
/// alone, and some drivers give no more even if they are new.
fn command(name: &CStr, function: impl Fn(&CStr) -> *const c_void) -> *const c_void {
    let of_version = function(name);
    if !of_version.is_null() {
        return of_version;
    }
    let of_extension = |suffix: &str| {
        let name = [name.to_bytes(), suffix.as_bytes()].concat();
        CString::new(name).map_or(std::ptr::null(), |name| function(&name))
    };
    let [khr, ext] = ["KHR", "EXT"].map(of_extension);
    if khr.is_null() { ext } else { khr }
}

/// The priorities of the queues, one after the other: all the same but the last ones, where there are enough.
fn priorities(info: &PhysicalDeviceInfo) -> Vec<f32> {
    let count = info.compute_queues.min(MAX_QUEUES) as usize;
    let mut priorities = vec![0.5_f32; count];
    if count > UNUSUAL.len() {
        for (index, unusual) in UNUSUAL.iter().enumerate() {
            priorities[count - 1 - index] = match unusual {
                Priority::High => 1.0,
                Priority::Medium => 0.5,
                Priority::Low => 0.0,
            };
        }
    }
    priorities
}

/// Extensions without features of their own.
const WITHOUT_FEATURES: [&CStr; 9] = [
    ext::external_memory_host::NAME,
    ext::calibrated_timestamps::NAME,
    ext::memory_budget::NAME,
    khr::external_semaphore_fd::NAME,
    khr::external_memory_fd::NAME,
    ext::external_memory_dma_buf::NAME,
    khr::portability_subset::NAME,
    // Some drivers give commands that a version took in only where the extension is turned on.
    khr::buffer_device_address::NAME,
    khr::timeline_semaphore::NAME,
];

/// Those that a version took in.
const OF_VERSIONS: [(u32, &CStr); 3] = [
    (vk::API_VERSION_1_2, khr::driver_properties::NAME),
    (vk::API_VERSION_1_2, khr::shader_float_controls::NAME),
    (vk::API_VERSION_1_2, khr::spirv_1_4::NAME),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_that_of_the_version_or_the_extension() {
        let found = |there: &'static [&CStr], name| {
            let function = |name: &CStr| match there.iter().position(|it| *it == name) {
                Some(place) => std::ptr::without_provenance(place + 1),
                None => std::ptr::null(),
            };
            command(name, function).addr()
        };
        let both = &[c"vkResetQueryPoolEXT", c"vkResetQueryPool"];
        assert_eq!(found(both, c"vkResetQueryPool"), 2);
        assert_eq!(found(&[c"vkResetQueryPoolEXT"], c"vkResetQueryPool"), 1);
        assert_eq!(found(&[c"vkWaitSemaphoresKHR"], c"vkWaitSemaphores"), 1);
        assert_eq!(found(both, c"vkWaitSemaphores"), 0);
    }
}
