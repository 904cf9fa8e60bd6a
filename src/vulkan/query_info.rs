//! Asks Vulkan everything that [`PhysicalDeviceInfo`] holds.

use ash::{amd, arm, ext, khr, nv, vk};

use super::conv;
use super::error::Error;
use super::extension_features::ExtensionFeatures;
use super::file_descriptors;
use super::info::{
    DotProductAcceleration, FdSupport, Features, Limits, MemoryFds, PciBusInfo, PhysicalDeviceInfo,
    SemaphoreFds, SubgroupInfo,
};
use super::physical_device::PhysicalDevice;
use crate::drivers::{self, Report};

/// Queries `handle`. A device below Vulkan 1.2 answers only what 1.1 knows; it is unusable anyway.
pub(super) fn physical_device(
    instance: &ash::Instance,
    handle: vk::PhysicalDevice,
) -> Result<PhysicalDevice, Error> {
    // SAFETY: `handle` was enumerated from `instance`.
    let raw_extensions = unsafe { instance.enumerate_device_extension_properties(handle) }
        .map_err(Error::of("vkEnumerateDeviceExtensionProperties"))?;
    let mut extensions: Vec<String> = raw_extensions
        .iter()
        .map(|extension| conv::map_string(&extension.extension_name))
        .collect();
    extensions.sort();
    extensions.dedup();

    // SAFETY: as above.
    let basic = unsafe { instance.get_physical_device_properties(handle) };
    // SAFETY: as above.
    let families = unsafe { instance.get_physical_device_queue_family_properties(handle) };
    let queue_family = choose_queue_family(&families);
    let family = queue_family.and_then(|index| families.get(index as usize));
    // SAFETY: as above.
    let memory = unsafe { instance.get_physical_device_memory_properties(handle) };

    let query = Query {
        instance,
        handle,
        api_version: basic.api_version,
        extensions: &extensions,
    };
    let features = query.features();
    let properties = query.properties(&basic.limits, &features);
    let memory_fds = query.memory_fds();
    let semaphore_fds = query.semaphore_fds();
    let calibrated_timestamps = query.calibrated_with_monotonic();

    let driver = drivers::of(&Report {
        id: properties.driver_id,
        info: &properties.driver_info,
        preserves_denormals64: properties.float_controls[2].denorm_preserve,
    });

    // The query knows of such memory only where there is the extension.
    let import_host_pointer_alignment_bytes = properties
        .import_alignment_bytes
        .filter(|_| driver.host.imports_host_memory_unreported || query.reports_host_memory());

    let info = PhysicalDeviceInfo {
        name: conv::map_string(&basic.device_name),
        vendor_id: basic.vendor_id,
        device_id: basic.device_id,
        device_type: conv::map_device_type(basic.device_type),
        driver,
        driver_name: properties.driver_name,
        driver_info: properties.driver_info,
        driver_version: basic.driver_version,
        api_version: conv::map_version(basic.api_version),
        device_uuid: properties.device_uuid,
        driver_uuid: properties.driver_uuid,
        pipeline_cache_uuid: basic.pipeline_cache_uuid,
        device_luid: properties.device_luid,
        device_node_mask: properties.device_node_mask,
        pci: properties.pci,
        compute_units: properties.compute_units,
        limits: properties.limits,
        features: features.features,
        subgroup: properties.subgroup,
        float16_controls: properties.float_controls[0],
        float32_controls: properties.float_controls[1],
        float64_controls: properties.float_controls[2],
        dot_product: properties.dot_product,
        memory_heaps: memory
            .memory_heaps_as_slice()
            .iter()
            .map(conv::map_memory_heap)
            .collect(),
        memory_types: memory
            .memory_types_as_slice()
            .iter()
            .map(conv::map_memory_type)
            .collect(),
        timestamp_valid_bits: family.map_or(0, |family| family.timestamp_valid_bits),
        compute_queues: family.map_or(0, |family| family.queue_count),
        calibrated_timestamps,
        import_host_pointer_alignment_bytes,
        semaphore_fds,
        memory_fds,
        min_placed_map_alignment_bytes: properties.placed_map_alignment_bytes,
        extensions,
    };
    Ok(PhysicalDevice {
        unusable_reason: info.unusable_reason(),
        info,
        handle,
        queue_family,
    })
}

/// The family to run on: compute without graphics where it has at least as many queues to offer as
/// any other, since it runs beside a compositor; else the first with compute.
fn choose_queue_family(families: &[vk::QueueFamilyProperties]) -> Option<u32> {
    let with_compute = |family: &vk::QueueFamilyProperties| {
        family.queue_count > 0 && family.queue_flags.contains(vk::QueueFlags::COMPUTE)
    };
    let dedicated = families.iter().position(|family| {
        with_compute(family) && !family.queue_flags.contains(vk::QueueFlags::GRAPHICS)
    });
    let index = dedicated.or_else(|| families.iter().position(with_compute))?;
    u32::try_from(index).ok()
}

struct Query<'a> {
    instance: &'a ash::Instance,
    handle: vk::PhysicalDevice,
    api_version: u32,
    extensions: &'a [String],
}

/// Structures of features as the device fills them in; none is set of what it does not know. They are no chain any
/// more: their `p_next` may dangle.
#[derive(Default)]
struct FeatureStructures {
    core: vk::PhysicalDeviceFeatures,
    v11: vk::PhysicalDeviceVulkan11Features<'static>,
    v12: vk::PhysicalDeviceVulkan12Features<'static>,
    v13: vk::PhysicalDeviceVulkan13Features<'static>,
    sync2: vk::PhysicalDeviceSynchronization2Features<'static>,
    of_extensions: ExtensionFeatures,
}

/// Features, and what of them only the properties step needs.
struct FoundFeatures {
    features: Features,
    size_control: bool,
    full_subgroups: bool,
    extended_types: bool,
    rotate: bool,
    rotate_clustered: bool,
    broadcast_dynamic_id: bool,
}

struct FoundProperties {
    driver_id: u32,
    driver_name: String,
    driver_info: String,
    device_uuid: [u8; 16],
    driver_uuid: [u8; 16],
    device_luid: Option<[u8; 8]>,
    device_node_mask: u32,
    pci: Option<PciBusInfo>,
    compute_units: Option<u32>,
    limits: Limits,
    subgroup: SubgroupInfo,
    float_controls: [super::info::FloatControls; 3],
    dot_product: DotProductAcceleration,
    import_alignment_bytes: Option<u64>,
    placed_map_alignment_bytes: Option<u64>,
}

impl Query<'_> {
    fn has(&self, name: &std::ffi::CStr) -> bool {
        self.extensions
            .iter()
            .any(|have| have.as_bytes() == name.to_bytes())
    }

    fn at_least(&self, version: u32) -> bool {
        self.api_version >= version
    }

    /// Asks for features: of the core, and of those versions and extensions that the device has.
    fn feature_structures(&self) -> FeatureStructures {
        let mut found = FeatureStructures::default();
        let mut all = vk::PhysicalDeviceFeatures2::default();
        if self.at_least(vk::API_VERSION_1_2) {
            all = all.push_next(&mut found.v11).push_next(&mut found.v12);
        }
        if self.at_least(vk::API_VERSION_1_3) {
            all = all.push_next(&mut found.v13);
        } else if self.has(khr::synchronization2::NAME) {
            all = all.push_next(&mut found.sync2);
        }
        all = found.of_extensions.push(all, |name| self.has(name));
        // SAFETY: the chain holds only structures of the device's version and extensions.
        unsafe {
            self.instance
                .get_physical_device_features2(self.handle, &mut all)
        };
        found.core = all.features;
        found
    }

    fn features(&self) -> FoundFeatures {
        let FeatureStructures {
            core,
            v11,
            v12,
            v13,
            sync2,
            of_extensions,
        } = self.feature_structures();
        let ExtensionFeatures {
            explicit_layout,
            reconvergence,
            rotate,
            clock,
            expect,
            placed,
            atomic_float,
        } = of_extensions;
        let is = |flag: vk::Bool32| flag == vk::TRUE;
        let features = Features {
            shader_int8: is(v12.shader_int8),
            shader_int16: is(core.shader_int16),
            shader_int64: is(core.shader_int64),
            shader_float16: is(v12.shader_float16),
            shader_float64: is(core.shader_float64),
            storage_buffer_8bit: is(v12.storage_buffer8_bit_access),
            storage_buffer_16bit: is(v11.storage_buffer16_bit_access),
            push_constant_8bit: is(v12.storage_push_constant8),
            push_constant_16bit: is(v11.storage_push_constant16),
            buffer_int64_atomics: is(v12.shader_buffer_int64_atomics),
            shared_int64_atomics: is(v12.shader_shared_int64_atomics),
            buffer_float32_atomics: is(atomic_float.shader_buffer_float32_atomics),
            buffer_float32_atomic_add: is(atomic_float.shader_buffer_float32_atomic_add),
            buffer_float64_atomic_add: is(atomic_float.shader_buffer_float64_atomic_add),
            shared_float32_atomic_add: is(atomic_float.shader_shared_float32_atomic_add),
            shared_float64_atomic_add: is(atomic_float.shader_shared_float64_atomic_add),
            buffer_device_address: is(v12.buffer_device_address),
            timeline_semaphore: is(v12.timeline_semaphore),
            synchronization2: is(v13.synchronization2) || is(sync2.synchronization2),
            host_query_reset: is(v12.host_query_reset),
            sampled_image_arrays: is(core.shader_sampled_image_array_dynamic_indexing)
                && is(v12.descriptor_indexing)
                && is(v12.descriptor_binding_partially_bound)
                && is(v12.descriptor_binding_sampled_image_update_after_bind)
                && is(v12.descriptor_binding_update_unused_while_pending),
            vulkan_memory_model: is(v12.vulkan_memory_model),
            vulkan_memory_model_device_scope: is(v12.vulkan_memory_model_device_scope),
            scalar_block_layout: is(v12.scalar_block_layout),
            variable_pointers: is(v11.variable_pointers),
            variable_pointers_storage_buffer: is(v11.variable_pointers_storage_buffer),
            workgroup_explicit_layout: is(explicit_layout.workgroup_memory_explicit_layout),
            workgroup_explicit_layout_8bit: is(
                explicit_layout.workgroup_memory_explicit_layout8_bit_access
            ),
            workgroup_explicit_layout_16bit: is(
                explicit_layout.workgroup_memory_explicit_layout16_bit_access
            ),
            zero_initialize_workgroup_memory: is(v13.shader_zero_initialize_workgroup_memory),
            integer_dot_product: is(v13.shader_integer_dot_product),
            maintenance4: is(v13.maintenance4),
            maximal_reconvergence: is(reconvergence.shader_maximal_reconvergence),
            shader_subgroup_clock: is(clock.shader_subgroup_clock),
            shader_device_clock: is(clock.shader_device_clock),
            expect_assume: is(expect.shader_expect_assume),
            map_memory_placed: is(placed.memory_map_placed),
            storage_image_read_without_format: is(core.shader_storage_image_read_without_format),
            storage_image_write_without_format: is(core.shader_storage_image_write_without_format),
            storage_image_extended_formats: is(core.shader_storage_image_extended_formats),
            sampler_anisotropy: is(core.sampler_anisotropy),
        };
        FoundFeatures {
            features,
            size_control: is(v13.subgroup_size_control),
            full_subgroups: is(v13.compute_full_subgroups),
            extended_types: is(v12.shader_subgroup_extended_types),
            broadcast_dynamic_id: is(v12.subgroup_broadcast_dynamic_id),
            rotate: is(rotate.shader_subgroup_rotate),
            rotate_clustered: is(rotate.shader_subgroup_rotate_clustered),
        }
    }

    fn semaphore_fds(&self) -> SemaphoreFds {
        if !self.has(khr::external_semaphore_fd::NAME) {
            return SemaphoreFds::default();
        }
        let support = |kind| {
            let query = vk::PhysicalDeviceExternalSemaphoreInfo::default()
                .handle_type(file_descriptors::map_semaphore_fd(kind));
            let mut found = vk::ExternalSemaphoreProperties::default();
            // SAFETY: a command of Vulkan 1.1, which the instance has at least.
            unsafe {
                self.instance
                    .get_physical_device_external_semaphore_properties(
                        self.handle,
                        &query,
                        &mut found,
                    );
            }
            let features = found.external_semaphore_features;
            FdSupport {
                import: features.contains(vk::ExternalSemaphoreFeatureFlags::IMPORTABLE),
                export: features.contains(vk::ExternalSemaphoreFeatureFlags::EXPORTABLE),
            }
        };
        SemaphoreFds {
            opaque: support(file_descriptors::SemaphoreFd::Opaque),
            sync: support(file_descriptors::SemaphoreFd::Sync),
        }
    }

    /// What can be done with memory of one kind that comes from elsewhere, as that of a buffer of ours.
    fn external_memory_features(
        &self,
        kind: vk::ExternalMemoryHandleTypeFlags,
    ) -> vk::ExternalMemoryFeatureFlags {
        let query = vk::PhysicalDeviceExternalBufferInfo::default()
            .usage(conv::BUFFER_USAGE)
            .handle_type(kind);
        let mut found = vk::ExternalBufferProperties::default();
        // SAFETY: a command of Vulkan 1.1, which the instance has at least.
        unsafe {
            self.instance
                .get_physical_device_external_buffer_properties(self.handle, &query, &mut found);
        }
        found.external_memory_properties.external_memory_features
    }

    /// Whether the device reports that memory of the host can be that of a buffer.
    fn reports_host_memory(&self) -> bool {
        let features =
            self.external_memory_features(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT);
        features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE)
            && !features.contains(vk::ExternalMemoryFeatureFlags::DEDICATED_ONLY)
    }

    fn memory_fds(&self) -> MemoryFds {
        if !self.has(khr::external_memory_fd::NAME) {
            return MemoryFds::default();
        }
        let mut needs_dedicated = false;
        let mut support = |kind| {
            let features = self.external_memory_features(file_descriptors::map_memory_fd(kind));
            needs_dedicated |= features.contains(vk::ExternalMemoryFeatureFlags::DEDICATED_ONLY);
            FdSupport {
                import: features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE),
                export: features.contains(vk::ExternalMemoryFeatureFlags::EXPORTABLE),
            }
        };
        let opaque = support(file_descriptors::MemoryFd::Opaque);
        let dma_buf = if self.has(ext::external_memory_dma_buf::NAME) {
            support(file_descriptors::MemoryFd::DmaBuf)
        } else {
            FdSupport::default()
        };
        MemoryFds {
            opaque,
            dma_buf,
            needs_dedicated,
        }
    }

    fn properties(
        &self,
        core: &vk::PhysicalDeviceLimits,
        found: &FoundFeatures,
    ) -> FoundProperties {
        let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut v12 = vk::PhysicalDeviceVulkan12Properties::default();
        let mut v13 = vk::PhysicalDeviceVulkan13Properties::default();
        let mut floats = vk::PhysicalDeviceFloatControlsProperties::default();
        let mut pci = vk::PhysicalDevicePCIBusInfoPropertiesEXT::default();
        let mut import = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
        let mut nv_cores = vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV::default();
        let mut amd_cores = vk::PhysicalDeviceShaderCoreProperties2AMD::default();
        let mut arm_cores = vk::PhysicalDeviceShaderCoreBuiltinsPropertiesARM::default();
        let mut placed = vk::PhysicalDeviceMapMemoryPlacedPropertiesEXT::default();

        let mut all = vk::PhysicalDeviceProperties2::default();
        if self.at_least(vk::API_VERSION_1_2) {
            all = all
                .push_next(&mut v11)
                .push_next(&mut v12)
                .push_next(&mut floats);
        }
        if self.at_least(vk::API_VERSION_1_3) {
            all = all.push_next(&mut v13);
        }
        if self.has(ext::pci_bus_info::NAME) {
            all = all.push_next(&mut pci);
        }
        if self.has(ext::external_memory_host::NAME) {
            all = all.push_next(&mut import);
        }
        if self.has(nv::shader_sm_builtins::NAME) {
            all = all.push_next(&mut nv_cores);
        }
        if self.has(amd::shader_core_properties2::NAME) {
            all = all.push_next(&mut amd_cores);
        }
        if self.has(arm::shader_core_builtins::NAME) {
            all = all.push_next(&mut arm_cores);
        }
        if found.features.map_memory_placed {
            all = all.push_next(&mut placed);
        }
        // SAFETY: the chain holds only structures of the device's version and extensions.
        unsafe {
            self.instance
                .get_physical_device_properties2(self.handle, &mut all)
        };

        FoundProperties {
            driver_id: u32::try_from(v12.driver_id.as_raw()).unwrap_or(0),
            driver_name: conv::map_string(&v12.driver_name),
            driver_info: conv::map_string(&v12.driver_info),
            device_uuid: v11.device_uuid,
            driver_uuid: v11.driver_uuid,
            device_luid: (v11.device_luid_valid == vk::TRUE).then_some(v11.device_luid),
            device_node_mask: v11.device_node_mask,
            pci: self.has(ext::pci_bus_info::NAME).then_some(PciBusInfo {
                domain: pci.pci_domain,
                bus: pci.pci_bus,
                device: pci.pci_device,
                function: pci.pci_function,
            }),
            compute_units: [
                nv_cores.shader_sm_count,
                amd_cores.active_compute_unit_count,
                arm_cores.shader_core_count,
            ]
            .into_iter()
            .find(|&count| count > 0),
            limits: map_limits(core, &v11, &v13),
            subgroup: map_subgroup(&v11, &v13, found),
            float_controls: conv::map_float_controls(&floats),
            dot_product: map_dot_product(&v13),
            import_alignment_bytes: self
                .has(ext::external_memory_host::NAME)
                .then_some(import.min_imported_host_pointer_alignment),
            placed_map_alignment_bytes: found
                .features
                .map_memory_placed
                .then_some(placed.min_placed_memory_map_alignment),
        }
    }

    /// Whether the device's and CLOCK_MONOTONIC's time domains can both be calibrated.
    fn calibrated_with_monotonic(&self) -> bool {
        // Promoted unchanged: the EXT structures and functions serve both names.
        self.has(ext::calibrated_timestamps::NAME)
    }
}

fn map_limits(
    core: &vk::PhysicalDeviceLimits,
    v11: &vk::PhysicalDeviceVulkan11Properties<'_>,
    v13: &vk::PhysicalDeviceVulkan13Properties<'_>,
) -> Limits {
    let max_buffer_bytes = match v13.max_buffer_size {
        0 => v11.max_memory_allocation_size,
        size => size,
    };
    Limits {
        max_compute_work_group_count: core.max_compute_work_group_count,
        max_compute_work_group_size: core.max_compute_work_group_size,
        max_compute_work_group_invocations: core.max_compute_work_group_invocations,
        max_compute_shared_memory_bytes: core.max_compute_shared_memory_size,
        max_push_constant_bytes: core.max_push_constants_size,
        max_storage_buffer_range_bytes: core.max_storage_buffer_range,
        max_uniform_buffer_range_bytes: core.max_uniform_buffer_range,
        max_memory_allocation_bytes: v11.max_memory_allocation_size,
        max_buffer_bytes,
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
        max_compute_workgroup_subgroups: v13.max_compute_workgroup_subgroups,
    }
}

fn map_subgroup(
    v11: &vk::PhysicalDeviceVulkan11Properties<'_>,
    v13: &vk::PhysicalDeviceVulkan13Properties<'_>,
    found: &FoundFeatures,
) -> SubgroupInfo {
    let has = |flag| v11.subgroup_supported_operations.contains(flag);
    let controls_compute = v13
        .required_subgroup_size_stages
        .contains(vk::ShaderStageFlags::COMPUTE);
    let or_size = |size: u32| if size == 0 { v11.subgroup_size } else { size };
    SubgroupInfo {
        size: v11.subgroup_size,
        min_size: or_size(v13.min_subgroup_size),
        max_size: or_size(v13.max_subgroup_size),
        size_control: found.size_control && controls_compute,
        full_subgroups: found.full_subgroups,
        in_compute: v11
            .subgroup_supported_stages
            .contains(vk::ShaderStageFlags::COMPUTE),
        basic: has(vk::SubgroupFeatureFlags::BASIC),
        vote: has(vk::SubgroupFeatureFlags::VOTE),
        arithmetic: has(vk::SubgroupFeatureFlags::ARITHMETIC),
        ballot: has(vk::SubgroupFeatureFlags::BALLOT),
        shuffle: has(vk::SubgroupFeatureFlags::SHUFFLE),
        shuffle_relative: has(vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE),
        clustered: has(vk::SubgroupFeatureFlags::CLUSTERED),
        quad: has(vk::SubgroupFeatureFlags::QUAD),
        rotate: found.rotate,
        rotate_clustered: found.rotate_clustered,
        broadcast_dynamic_id: found.broadcast_dynamic_id,
        extended_types: found.extended_types,
    }
}

fn map_dot_product(v13: &vk::PhysicalDeviceVulkan13Properties<'_>) -> DotProductAcceleration {
    let is = |flag: vk::Bool32| flag == vk::TRUE;
    DotProductAcceleration {
        signed_8bit: is(v13.integer_dot_product8_bit_signed_accelerated),
        unsigned_8bit: is(v13.integer_dot_product8_bit_unsigned_accelerated),
        mixed_8bit: is(v13.integer_dot_product8_bit_mixed_signedness_accelerated),
        signed_4x8bit_packed: is(v13.integer_dot_product4x8_bit_packed_signed_accelerated),
        unsigned_4x8bit_packed: is(v13.integer_dot_product4x8_bit_packed_unsigned_accelerated),
        mixed_4x8bit_packed: is(
            v13.integer_dot_product4x8_bit_packed_mixed_signedness_accelerated
        ),
        saturating_signed_8bit: is(
            v13.integer_dot_product_accumulating_saturating8_bit_signed_accelerated,
        ),
        saturating_unsigned_8bit: is(
            v13.integer_dot_product_accumulating_saturating8_bit_unsigned_accelerated,
        ),
        saturating_mixed_8bit: is(
            v13.integer_dot_product_accumulating_saturating8_bit_mixed_signedness_accelerated,
        ),
        saturating_signed_4x8bit_packed: is(
            v13.integer_dot_product_accumulating_saturating4x8_bit_packed_signed_accelerated,
        ),
        saturating_unsigned_4x8bit_packed: is(
            v13.integer_dot_product_accumulating_saturating4x8_bit_packed_unsigned_accelerated,
        ),
        saturating_mixed_4x8bit_packed: is(
            v13.integer_dot_product_accumulating_saturating4x8_bit_packed_mixed_signedness_accelerated,
        ),
    }
}
