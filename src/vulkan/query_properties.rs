//! Asks Vulkan for the properties of a device, by structures that later versions took in from extensions.

use std::ffi::CStr;

use ash::{amd, arm, ext, khr, nv, vk};

use super::conv;
use super::info::{
    DotProductAcceleration, DrmNode, Features, FloatControls, Limits, PciBusInfo, SubgroupInfo,
};

/// The properties of a device, of which those are zero that it does not know.
#[derive(Default)]
pub(super) struct Properties {
    /// `VkDriverId`; 0 where there is none.
    pub driver_id: u32,
    pub driver_name: String,
    pub driver_info: String,
    pub device_uuid: [u8; 16],
    pub driver_uuid: [u8; 16],
    pub device_luid: Option<[u8; 8]>,
    pub device_node_mask: u32,
    pub pci: Option<PciBusInfo>,
    pub drm: Option<DrmNode>,
    pub compute_units: Option<u32>,
    pub limits: Limits,
    pub subgroup: SubgroupInfo,
    pub float_controls: [FloatControls; 3],
    pub dot_product: DotProductAcceleration,
    pub import_alignment_bytes: Option<u64>,
    pub placed_map_alignment_bytes: Option<u64>,
}

/// Asks a device of Vulkan 1.1 at least.
pub(super) fn properties(
    instance: &ash::Instance,
    handle: vk::PhysicalDevice,
    basic: &vk::PhysicalDeviceProperties,
    features: &Features,
    has: impl Fn(&CStr) -> bool,
) -> Properties {
    let mut ids = vk::PhysicalDeviceIDProperties::default();
    let mut groups = vk::PhysicalDeviceSubgroupProperties::default();
    let mut maintenance3 = vk::PhysicalDeviceMaintenance3Properties::default();
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut floats = vk::PhysicalDeviceFloatControlsProperties::default();
    let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
    let mut dot_product = vk::PhysicalDeviceShaderIntegerDotProductProperties::default();
    let mut maintenance4 = vk::PhysicalDeviceMaintenance4Properties::default();
    let mut pci = vk::PhysicalDevicePCIBusInfoPropertiesEXT::default();
    let mut drm = vk::PhysicalDeviceDrmPropertiesEXT::default();
    let mut import = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
    let mut nv_cores = vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV::default();
    let mut amd_arrays = vk::PhysicalDeviceShaderCorePropertiesAMD::default();
    let mut amd_cores = vk::PhysicalDeviceShaderCoreProperties2AMD::default();
    let mut arm_cores = vk::PhysicalDeviceShaderCoreBuiltinsPropertiesARM::default();
    let mut indexing = vk::PhysicalDeviceDescriptorIndexingProperties::default();
    let mut placed = vk::PhysicalDeviceMapMemoryPlacedPropertiesEXT::default();

    let knows = |since, name: &CStr| basic.api_version >= since || has(name);
    let mut all = vk::PhysicalDeviceProperties2::default()
        .push_next(&mut ids)
        .push_next(&mut groups)
        .push_next(&mut maintenance3);
    if knows(vk::API_VERSION_1_2, khr::driver_properties::NAME) {
        all = all.push_next(&mut driver);
    }
    if knows(vk::API_VERSION_1_2, khr::shader_float_controls::NAME) {
        all = all.push_next(&mut floats);
    }
    if knows(vk::API_VERSION_1_2, ext::descriptor_indexing::NAME) {
        all = all.push_next(&mut indexing);
    }
    if knows(vk::API_VERSION_1_3, ext::subgroup_size_control::NAME) {
        all = all.push_next(&mut sizes);
    }
    if knows(vk::API_VERSION_1_3, khr::shader_integer_dot_product::NAME) {
        all = all.push_next(&mut dot_product);
    }
    if knows(vk::API_VERSION_1_3, khr::maintenance4::NAME) {
        all = all.push_next(&mut maintenance4);
    }
    if has(ext::pci_bus_info::NAME) {
        all = all.push_next(&mut pci);
    }
    if has(ext::physical_device_drm::NAME) {
        all = all.push_next(&mut drm);
    }
    if has(ext::external_memory_host::NAME) {
        all = all.push_next(&mut import);
    }
    if has(nv::shader_sm_builtins::NAME) {
        all = all.push_next(&mut nv_cores);
    }
    if has(amd::shader_core_properties::NAME) {
        all = all.push_next(&mut amd_arrays);
    }
    if has(amd::shader_core_properties2::NAME) {
        all = all.push_next(&mut amd_cores);
    }
    if has(arm::shader_core_builtins::NAME) {
        all = all.push_next(&mut arm_cores);
    }
    if features.map_memory_placed {
        all = all.push_next(&mut placed);
    }
    // SAFETY: the chain holds only structures of the device's version and extensions.
    unsafe { instance.get_physical_device_properties2(handle, &mut all) };

    Properties {
        driver_id: u32::try_from(driver.driver_id.as_raw()).unwrap_or(0),
        driver_name: conv::map_string(&driver.driver_name),
        driver_info: conv::map_string(&driver.driver_info),
        device_uuid: ids.device_uuid,
        driver_uuid: ids.driver_uuid,
        device_luid: (ids.device_luid_valid == vk::TRUE).then_some(ids.device_luid),
        device_node_mask: ids.device_node_mask,
        pci: has(ext::pci_bus_info::NAME).then_some(PciBusInfo {
            domain: pci.pci_domain,
            bus: pci.pci_bus,
            device: pci.pci_device,
            function: pci.pci_function,
        }),
        drm: map_drm(&drm),
        compute_units: compute_units(&nv_cores, &amd_cores, &amd_arrays, &arm_cores),
        limits: map_limits(
            &basic.limits,
            maintenance3.max_memory_allocation_size,
            maintenance4.max_buffer_size,
            sizes.max_compute_workgroup_subgroups,
            &indexing,
        ),
        subgroup: map_subgroup(&groups, &sizes, features),
        float_controls: conv::map_float_controls(&floats),
        dot_product: map_dot_product(&dot_product),
        import_alignment_bytes: has(ext::external_memory_host::NAME)
            .then_some(import.min_imported_host_pointer_alignment),
        placed_map_alignment_bytes: features
            .map_memory_placed
            .then_some(placed.min_placed_memory_map_alignment),
    }
}

/// What the first of these structures that is filled says.
fn compute_units(
    nv: &vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV<'_>,
    amd: &vk::PhysicalDeviceShaderCoreProperties2AMD<'_>,
    amd_arrays: &vk::PhysicalDeviceShaderCorePropertiesAMD<'_>,
    arm: &vk::PhysicalDeviceShaderCoreBuiltinsPropertiesARM<'_>,
) -> Option<u32> {
    // Those that a GPU was made with: drivers without the newer structure do not tell how many of them are in use.
    let made = amd_arrays
        .shader_engine_count
        .saturating_mul(amd_arrays.shader_arrays_per_engine_count)
        .saturating_mul(amd_arrays.compute_units_per_shader_array);
    [
        nv.shader_sm_count,
        amd.active_compute_unit_count,
        made,
        arm.shader_core_count,
    ]
    .into_iter()
    .find(|&count| count > 0)
}

fn map_drm(found: &vk::PhysicalDeviceDrmPropertiesEXT<'_>) -> Option<DrmNode> {
    let node = |is_there, major, minor| (is_there == vk::TRUE).then_some(DrmNode { major, minor });
    node(found.has_primary, found.primary_major, found.primary_minor)
        .or_else(|| node(found.has_render, found.render_major, found.render_minor))
}

fn map_limits(
    core: &vk::PhysicalDeviceLimits,
    max_memory_allocation_bytes: u64,
    max_buffer_bytes: u64,
    max_compute_workgroup_subgroups: u32,
    indexing: &vk::PhysicalDeviceDescriptorIndexingProperties<'_>,
) -> Limits {
    Limits {
        max_compute_work_group_count: core.max_compute_work_group_count,
        max_compute_work_group_size: core.max_compute_work_group_size,
        max_compute_work_group_invocations: core.max_compute_work_group_invocations,
        max_compute_shared_memory_bytes: core.max_compute_shared_memory_size,
        max_push_constant_bytes: core.max_push_constants_size,
        max_storage_buffer_range_bytes: core.max_storage_buffer_range,
        max_uniform_buffer_range_bytes: core.max_uniform_buffer_range,
        max_memory_allocation_bytes,
        // Structures of later versions alone tell; before them the allocation is the limit.
        max_buffer_bytes: match max_buffer_bytes {
            0 => max_memory_allocation_bytes,
            bytes => bytes,
        },
        max_sparse_bytes: core.sparse_address_space_size,
        max_storage_buffer_descriptors: indexing
            .max_per_stage_descriptor_update_after_bind_storage_buffers
            .min(indexing.max_descriptor_set_update_after_bind_storage_buffers)
            .min(indexing.max_per_stage_update_after_bind_resources / 2),
        max_memory_allocation_count: core.max_memory_allocation_count,
        max_image_dimension_1d: core.max_image_dimension1_d,
        max_image_dimension_2d: core.max_image_dimension2_d,
        max_image_dimension_3d: core.max_image_dimension3_d,
        max_image_array_layers: core.max_image_array_layers,
        max_texel_buffer_elements: core.max_texel_buffer_elements,
        max_per_stage_storage_images: core.max_per_stage_descriptor_storage_images,
        max_per_stage_sampled_images: core.max_per_stage_descriptor_sampled_images,
        max_per_stage_samplers: core.max_per_stage_descriptor_samplers,
        max_sampler_anisotropy: core.max_sampler_anisotropy,
        non_coherent_atom_bytes: core.non_coherent_atom_size,
        min_memory_map_alignment_bytes: core.min_memory_map_alignment as u64,
        buffer_image_granularity_bytes: core.buffer_image_granularity,
        timestamp_period_ns: core.timestamp_period,
        max_compute_workgroup_subgroups,
    }
}

fn map_subgroup(
    groups: &vk::PhysicalDeviceSubgroupProperties<'_>,
    sizes: &vk::PhysicalDeviceSubgroupSizeControlProperties<'_>,
    features: &Features,
) -> SubgroupInfo {
    let has = |flag| groups.supported_operations.contains(flag);
    let controls_compute = sizes
        .required_subgroup_size_stages
        .contains(vk::ShaderStageFlags::COMPUTE);
    let or_size = |size: u32| {
        if size == 0 {
            groups.subgroup_size
        } else {
            size
        }
    };
    SubgroupInfo {
        size: groups.subgroup_size,
        min_size: or_size(sizes.min_subgroup_size),
        max_size: or_size(sizes.max_subgroup_size),
        size_control: features.subgroup_size_control && controls_compute,
        full_subgroups: features.compute_full_subgroups,
        in_compute: groups
            .supported_stages
            .contains(vk::ShaderStageFlags::COMPUTE),
        basic: has(vk::SubgroupFeatureFlags::BASIC),
        vote: has(vk::SubgroupFeatureFlags::VOTE),
        arithmetic: has(vk::SubgroupFeatureFlags::ARITHMETIC),
        ballot: has(vk::SubgroupFeatureFlags::BALLOT),
        shuffle: has(vk::SubgroupFeatureFlags::SHUFFLE),
        shuffle_relative: has(vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE),
        clustered: has(vk::SubgroupFeatureFlags::CLUSTERED),
        quad: has(vk::SubgroupFeatureFlags::QUAD),
        rotate: features.subgroup_rotate,
        rotate_clustered: features.subgroup_rotate_clustered,
        broadcast_dynamic_id: features.subgroup_broadcast_dynamic_id,
        extended_types: features.subgroup_extended_types,
    }
}

fn map_dot_product(
    found: &vk::PhysicalDeviceShaderIntegerDotProductProperties<'_>,
) -> DotProductAcceleration {
    let is = |flag: vk::Bool32| flag == vk::TRUE;
    DotProductAcceleration {
        signed_8bit: is(found.integer_dot_product8_bit_signed_accelerated),
        unsigned_8bit: is(found.integer_dot_product8_bit_unsigned_accelerated),
        mixed_8bit: is(found.integer_dot_product8_bit_mixed_signedness_accelerated),
        signed_4x8bit_packed: is(found.integer_dot_product4x8_bit_packed_signed_accelerated),
        unsigned_4x8bit_packed: is(found.integer_dot_product4x8_bit_packed_unsigned_accelerated),
        mixed_4x8bit_packed: is(
            found.integer_dot_product4x8_bit_packed_mixed_signedness_accelerated
        ),
        saturating_signed_8bit: is(
            found.integer_dot_product_accumulating_saturating8_bit_signed_accelerated,
        ),
        saturating_unsigned_8bit: is(
            found.integer_dot_product_accumulating_saturating8_bit_unsigned_accelerated,
        ),
        saturating_mixed_8bit: is(
            found.integer_dot_product_accumulating_saturating8_bit_mixed_signedness_accelerated,
        ),
        saturating_signed_4x8bit_packed: is(
            found.integer_dot_product_accumulating_saturating4x8_bit_packed_signed_accelerated,
        ),
        saturating_unsigned_4x8bit_packed: is(
            found.integer_dot_product_accumulating_saturating4x8_bit_packed_unsigned_accelerated,
        ),
        saturating_mixed_4x8bit_packed: is(
            found.integer_dot_product_accumulating_saturating4x8_bit_packed_mixed_signedness_accelerated,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_in_use_stand_above_those_that_there_are() {
        let (nv, arm) = (Default::default(), Default::default());
        let mut amd = vk::PhysicalDeviceShaderCoreProperties2AMD::default();
        let arrays = vk::PhysicalDeviceShaderCorePropertiesAMD {
            shader_engine_count: 4,
            shader_arrays_per_engine_count: 2,
            compute_units_per_shader_array: 8,
            ..Default::default()
        };
        assert_eq!(compute_units(&nv, &amd, &arrays, &arm), Some(64));
        amd.active_compute_unit_count = 60;
        assert_eq!(compute_units(&nv, &amd, &arrays, &arm), Some(60));
        let none = Default::default();
        amd.active_compute_unit_count = 0;
        assert_eq!(compute_units(&nv, &amd, &none, &arm), None);
    }

    #[test]
    fn the_primary_node_stands_above_that_for_rendering() {
        let mut found = vk::PhysicalDeviceDrmPropertiesEXT {
            primary_major: 226,
            render_major: 226,
            render_minor: 128,
            ..Default::default()
        };
        assert_eq!(map_drm(&found), None);
        found.has_render = vk::TRUE;
        assert_eq!(map_drm(&found).map(|node| node.minor), Some(128));
        found.has_primary = vk::TRUE;
        assert_eq!(map_drm(&found).map(|node| node.minor), Some(0));
    }
}
