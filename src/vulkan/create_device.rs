//! What a `VkDevice` is created with: every feature and extension that is of use and exists, and its queues.

use std::ffi::CStr;

use ash::{ext, khr, vk};

use super::error::Error;
use super::extension_features::ExtensionFeatures;
use super::info::{Features, PhysicalDeviceInfo};
use super::instance::Instance;
use super::physical_device::PhysicalDevice;
use super::queue_clients::{MAX_QUEUES, Priority, UNUSUAL};

fn flag(on: bool) -> vk::Bool32 {
    if on { vk::TRUE } else { vk::FALSE }
}

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
    let features = &info.features;
    let is_1_3 = (info.api_version.0, info.api_version.1) >= (1, 3);
    let mut v11 = features_1_1(features);
    let mut v12 = features_1_2(info);
    let mut v13 = features_1_3(info);
    let mut sync2 = vk::PhysicalDeviceSynchronization2Features {
        synchronization2: vk::TRUE,
        ..Default::default()
    };
    let mut optional = extension_features(info);
    let mut extensions = extensions(info);

    let mut all = vk::PhysicalDeviceFeatures2::default()
        .features(core_features(features))
        .push_next(&mut v11)
        .push_next(&mut v12);
    if is_1_3 {
        all = all.push_next(&mut v13);
    } else {
        extensions.push(khr::synchronization2::NAME);
        all = all.push_next(&mut sync2);
    }
    all = optional.push(all, |name| extensions.contains(&name));

    let priorities = priorities(info);
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(queue_family)
        .queue_priorities(&priorities)];
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let create = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut all);
    // SAFETY: every structure that `create` reaches outlives the call, and asks only for features and
    // extensions that the device reported.
    unsafe { instance.raw.create_device(physical.handle, &create, None) }
        .map_err(Error::of("vkCreateDevice"))
}

/// The features of Vulkan 1.0 that the device is created with.
fn core_features(features: &Features) -> vk::PhysicalDeviceFeatures {
    vk::PhysicalDeviceFeatures {
        shader_int16: flag(features.shader_int16),
        shader_int64: flag(features.shader_int64),
        shader_sampled_image_array_dynamic_indexing: flag(features.sampled_image_arrays),
        shader_float64: flag(features.shader_float64),
        shader_storage_image_read_without_format: flag(features.storage_image_read_without_format),
        shader_storage_image_write_without_format: flag(
            features.storage_image_write_without_format,
        ),
        shader_storage_image_extended_formats: flag(features.storage_image_extended_formats),
        sampler_anisotropy: flag(features.sampler_anisotropy),
        ..Default::default()
    }
}

/// The features of Vulkan 1.1 that the device is created with.
fn features_1_1(features: &Features) -> vk::PhysicalDeviceVulkan11Features<'static> {
    vk::PhysicalDeviceVulkan11Features {
        storage_buffer16_bit_access: flag(features.storage_buffer_16bit),
        storage_push_constant16: flag(features.push_constant_16bit),
        variable_pointers: flag(features.variable_pointers),
        variable_pointers_storage_buffer: flag(features.variable_pointers_storage_buffer),
        ..Default::default()
    }
}

/// The features of Vulkan 1.2 that the device is created with.
fn features_1_2(info: &PhysicalDeviceInfo) -> vk::PhysicalDeviceVulkan12Features<'static> {
    let features = &info.features;
    vk::PhysicalDeviceVulkan12Features {
        storage_buffer8_bit_access: flag(features.storage_buffer_8bit),
        storage_push_constant8: flag(features.push_constant_8bit),
        shader_buffer_int64_atomics: flag(features.buffer_int64_atomics),
        shader_shared_int64_atomics: flag(features.shared_int64_atomics),
        shader_float16: flag(features.shader_float16),
        shader_int8: flag(features.shader_int8),
        buffer_device_address: vk::TRUE,
        timeline_semaphore: vk::TRUE,
        host_query_reset: flag(features.host_query_reset),
        descriptor_indexing: flag(features.sampled_image_arrays),
        descriptor_binding_partially_bound: flag(features.sampled_image_arrays),
        descriptor_binding_sampled_image_update_after_bind: flag(features.sampled_image_arrays),
        descriptor_binding_update_unused_while_pending: flag(features.sampled_image_arrays),
        vulkan_memory_model: flag(features.vulkan_memory_model),
        vulkan_memory_model_device_scope: flag(features.vulkan_memory_model_device_scope),
        scalar_block_layout: flag(features.scalar_block_layout),
        shader_subgroup_extended_types: flag(info.subgroup.extended_types),
        subgroup_broadcast_dynamic_id: flag(info.subgroup.broadcast_dynamic_id),
        ..Default::default()
    }
}

/// The features of Vulkan 1.3 that the device is created with, if it has that version.
fn features_1_3(info: &PhysicalDeviceInfo) -> vk::PhysicalDeviceVulkan13Features<'static> {
    let features = &info.features;
    vk::PhysicalDeviceVulkan13Features {
        synchronization2: vk::TRUE,
        maintenance4: flag(features.maintenance4),
        subgroup_size_control: flag(info.subgroup.size_control),
        compute_full_subgroups: flag(info.subgroup.full_subgroups),
        shader_integer_dot_product: flag(features.integer_dot_product),
        shader_zero_initialize_workgroup_memory: flag(features.zero_initialize_workgroup_memory),
        ..Default::default()
    }
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

/// The features of extensions that the device is created with.
fn extension_features(info: &PhysicalDeviceInfo) -> ExtensionFeatures {
    let features = &info.features;
    ExtensionFeatures {
        explicit_layout: vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR {
            workgroup_memory_explicit_layout: vk::TRUE,
            workgroup_memory_explicit_layout8_bit_access: flag(
                features.workgroup_explicit_layout_8bit,
            ),
            workgroup_memory_explicit_layout16_bit_access: flag(
                features.workgroup_explicit_layout_16bit,
            ),
            ..Default::default()
        },
        reconvergence: vk::PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR {
            shader_maximal_reconvergence: vk::TRUE,
            ..Default::default()
        },
        rotate: vk::PhysicalDeviceShaderSubgroupRotateFeaturesKHR {
            shader_subgroup_rotate: vk::TRUE,
            shader_subgroup_rotate_clustered: flag(info.subgroup.rotate_clustered),
            ..Default::default()
        },
        clock: vk::PhysicalDeviceShaderClockFeaturesKHR {
            shader_subgroup_clock: flag(features.shader_subgroup_clock),
            shader_device_clock: flag(features.shader_device_clock),
            ..Default::default()
        },
        expect: vk::PhysicalDeviceShaderExpectAssumeFeaturesKHR {
            shader_expect_assume: vk::TRUE,
            ..Default::default()
        },
        placed: vk::PhysicalDeviceMapMemoryPlacedFeaturesEXT {
            memory_map_placed: vk::TRUE,
            ..Default::default()
        },
        atomic_float: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT {
            shader_buffer_float32_atomics: flag(features.buffer_float32_atomics),
            shader_buffer_float32_atomic_add: flag(features.buffer_float32_atomic_add),
            shader_buffer_float64_atomic_add: flag(features.buffer_float64_atomic_add),
            shader_shared_float32_atomic_add: flag(features.shared_float32_atomic_add),
            shader_shared_float64_atomic_add: flag(features.shared_float64_atomic_add),
            ..Default::default()
        },
    }
}

/// The extensions that the device is created with: those of which it has a feature of use, and others that it has.
fn extensions(info: &PhysicalDeviceInfo) -> Vec<&'static CStr> {
    let features = &info.features;
    let is_placed = info.places_mappings();
    let of_features = [
        (
            khr::workgroup_memory_explicit_layout::NAME,
            features.workgroup_explicit_layout,
        ),
        (
            khr::shader_maximal_reconvergence::NAME,
            features.maximal_reconvergence,
        ),
        (khr::shader_subgroup_rotate::NAME, info.subgroup.rotate),
        (
            khr::shader_clock::NAME,
            features.shader_subgroup_clock || features.shader_device_clock,
        ),
        (khr::shader_expect_assume::NAME, features.expect_assume),
        (khr::map_memory2::NAME, is_placed),
        (ext::map_memory_placed::NAME, is_placed),
    ];
    let others = [
        ext::shader_atomic_float::NAME,
        ext::external_memory_host::NAME,
        ext::calibrated_timestamps::NAME,
        ext::memory_budget::NAME,
        khr::external_semaphore_fd::NAME,
        khr::external_memory_fd::NAME,
        ext::external_memory_dma_buf::NAME,
        khr::portability_subset::NAME,
    ];
    let others = others.map(|name| (name, info.has_extension(&name.to_string_lossy())));
    let all = of_features.into_iter().chain(others);
    all.filter_map(|(name, is_there)| is_there.then_some(name))
        .collect()
}
