//! The members of Vulkan's structures that the layer shows as a device has them: those that compute is about.
//!
//! Sizes of sub-groups and the length of a timestamp's tick are left as they are: what runs is the device below.

use ash::vk;

use crate::description::Description;
use crate::members::{AtLeast, AtMost, Both, Member, There};

/// Where a structure lies whose type is not known yet.
type Structure = vk::BaseOutStructure<'static>;

/// Calls `visit` for each structure behind `first`.
///
/// # Safety
/// A chain as Vulkan has them.
pub unsafe fn each(first: *mut Structure, mut visit: impl FnMut(*mut Structure)) {
    let mut next = first;
    while !next.is_null() {
        // SAFETY: the caller's word.
        let after = unsafe { (*next).p_next };
        visit(next);
        next = after;
    }
}

macro_rules! features {
    (core { $($core:ident)* } $($structure:ident { $($member:ident)* })*) => {
        /// Takes out what the device does not have.
        pub fn hide_core(features: &mut vk::PhysicalDeviceFeatures, device: &Description) {
            $(hide(&mut features.$core, device.has_feature(stringify!($core)));)*
        }

        /// The first that is set and that the device does not have.
        pub fn first_missing_of_core(
            features: &vk::PhysicalDeviceFeatures,
            device: &Description,
        ) -> Option<&'static str> {
            let set = [$((features.$core, stringify!($core)),)*];
            first_missing(&set, device)
        }

        /// Takes out of a structure, if it is one of features, what the device does not have.
        ///
        /// # Safety
        /// A structure of Vulkan.
        pub unsafe fn hide_features(structure: *mut Structure, device: &Description) {
            // SAFETY: the caller's word; the type is by its tag.
            unsafe {
                match (*structure).s_type {
                    $(<vk::$structure<'static> as vk::TaggedStructure>::STRUCTURE_TYPE => {
                        let found = &mut *structure.cast::<vk::$structure<'static>>();
                        $(hide(&mut found.$member, device.has_feature(stringify!($member)));)*
                    })*
                    _ => {}
                }
            }
        }

        /// The first feature that is set in a structure and that the device does not have.
        ///
        /// # Safety
        /// A structure of Vulkan.
        pub unsafe fn first_missing_of(
            structure: *const Structure,
            device: &Description,
        ) -> Option<&'static str> {
            // SAFETY: the caller's word; the type is by its tag.
            unsafe {
                match (*structure).s_type {
                    $(<vk::$structure<'static> as vk::TaggedStructure>::STRUCTURE_TYPE => {
                        let asked = &*structure.cast::<vk::$structure<'static>>();
                        let set = [$((asked.$member, stringify!($member)),)*];
                        first_missing(&set, device)
                    })*
                    _ => None,
                }
            }
        }
    };
}

fn hide(feature: &mut vk::Bool32, is_there: bool) {
    if !is_there {
        *feature = vk::FALSE;
    }
}

fn first_missing(set: &[(vk::Bool32, &'static str)], device: &Description) -> Option<&'static str> {
    let missing =
        |(value, name): &&(vk::Bool32, &str)| *value == vk::TRUE && !device.has_feature(name);
    set.iter().find(missing).map(|(_, name)| *name)
}

features! {
    core {
        robust_buffer_access sampler_anisotropy pipeline_statistics_query shader_storage_image_extended_formats
        shader_storage_image_read_without_format shader_storage_image_write_without_format
        shader_uniform_buffer_array_dynamic_indexing shader_sampled_image_array_dynamic_indexing
        shader_storage_buffer_array_dynamic_indexing shader_storage_image_array_dynamic_indexing shader_float64
        shader_int64 shader_int16 shader_resource_residency sparse_binding sparse_residency_buffer
    }
    PhysicalDevice16BitStorageFeatures {
        storage_buffer16_bit_access uniform_and_storage_buffer16_bit_access storage_push_constant16
        storage_input_output16
    }
    PhysicalDeviceVariablePointersFeatures { variable_pointers_storage_buffer variable_pointers }
    PhysicalDeviceVulkan11Features {
        storage_buffer16_bit_access uniform_and_storage_buffer16_bit_access storage_push_constant16
        storage_input_output16 variable_pointers_storage_buffer variable_pointers
    }
    PhysicalDeviceVulkan12Features {
        storage_buffer8_bit_access uniform_and_storage_buffer8_bit_access storage_push_constant8
        shader_buffer_int64_atomics shader_shared_int64_atomics shader_float16 shader_int8 descriptor_indexing
        shader_uniform_texel_buffer_array_dynamic_indexing shader_storage_texel_buffer_array_dynamic_indexing
        shader_uniform_buffer_array_non_uniform_indexing shader_sampled_image_array_non_uniform_indexing
        shader_storage_buffer_array_non_uniform_indexing shader_storage_image_array_non_uniform_indexing
        descriptor_binding_uniform_buffer_update_after_bind descriptor_binding_sampled_image_update_after_bind
        descriptor_binding_storage_image_update_after_bind descriptor_binding_storage_buffer_update_after_bind
        descriptor_binding_uniform_texel_buffer_update_after_bind
        descriptor_binding_storage_texel_buffer_update_after_bind descriptor_binding_update_unused_while_pending
        descriptor_binding_partially_bound descriptor_binding_variable_descriptor_count runtime_descriptor_array
        sampler_filter_minmax scalar_block_layout uniform_buffer_standard_layout shader_subgroup_extended_types
        host_query_reset timeline_semaphore buffer_device_address buffer_device_address_capture_replay vulkan_memory_model
        vulkan_memory_model_device_scope vulkan_memory_model_availability_visibility_chains
        subgroup_broadcast_dynamic_id
    }
    PhysicalDeviceVulkan13Features {
        robust_image_access inline_uniform_block pipeline_creation_cache_control private_data
        subgroup_size_control compute_full_subgroups synchronization2 shader_zero_initialize_workgroup_memory
        shader_integer_dot_product maintenance4
    }
    PhysicalDevice8BitStorageFeatures {
        storage_buffer8_bit_access uniform_and_storage_buffer8_bit_access storage_push_constant8
    }
    PhysicalDeviceShaderAtomicInt64Features { shader_buffer_int64_atomics shader_shared_int64_atomics }
    PhysicalDeviceShaderFloat16Int8Features { shader_float16 shader_int8 }
    PhysicalDeviceBufferDeviceAddressFeatures { buffer_device_address buffer_device_address_capture_replay }
    PhysicalDeviceTimelineSemaphoreFeatures { timeline_semaphore }
    PhysicalDeviceHostQueryResetFeatures { host_query_reset }
    PhysicalDeviceDescriptorIndexingFeatures {
        shader_uniform_texel_buffer_array_dynamic_indexing shader_storage_texel_buffer_array_dynamic_indexing
        shader_uniform_buffer_array_non_uniform_indexing shader_sampled_image_array_non_uniform_indexing
        shader_storage_buffer_array_non_uniform_indexing shader_storage_image_array_non_uniform_indexing
        descriptor_binding_uniform_buffer_update_after_bind descriptor_binding_sampled_image_update_after_bind
        descriptor_binding_storage_image_update_after_bind descriptor_binding_storage_buffer_update_after_bind
        descriptor_binding_update_unused_while_pending descriptor_binding_partially_bound
        descriptor_binding_variable_descriptor_count runtime_descriptor_array
    }
    PhysicalDeviceVulkanMemoryModelFeatures {
        vulkan_memory_model vulkan_memory_model_device_scope vulkan_memory_model_availability_visibility_chains
    }
    PhysicalDeviceScalarBlockLayoutFeatures { scalar_block_layout }
    PhysicalDeviceUniformBufferStandardLayoutFeatures { uniform_buffer_standard_layout }
    PhysicalDeviceShaderSubgroupExtendedTypesFeatures { shader_subgroup_extended_types }
    PhysicalDeviceSubgroupSizeControlFeatures { subgroup_size_control compute_full_subgroups }
    PhysicalDeviceShaderIntegerDotProductFeatures { shader_integer_dot_product }
    PhysicalDeviceMaintenance4Features { maintenance4 }
    PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures { shader_zero_initialize_workgroup_memory }
    PhysicalDeviceSynchronization2Features { synchronization2 }
    PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR {
        workgroup_memory_explicit_layout workgroup_memory_explicit_layout_scalar_block_layout
        workgroup_memory_explicit_layout8_bit_access workgroup_memory_explicit_layout16_bit_access
    }
    PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR { shader_maximal_reconvergence }
    PhysicalDeviceShaderSubgroupRotateFeaturesKHR { shader_subgroup_rotate shader_subgroup_rotate_clustered }
    PhysicalDeviceShaderClockFeaturesKHR { shader_subgroup_clock shader_device_clock }
    PhysicalDeviceShaderExpectAssumeFeaturesKHR { shader_expect_assume }
    PhysicalDeviceMapMemoryPlacedFeaturesEXT { memory_map_placed memory_map_range_placed memory_unmap_reserve }
    PhysicalDeviceShaderAtomicFloatFeaturesEXT {
        shader_buffer_float32_atomics shader_buffer_float32_atomic_add shader_buffer_float64_atomics
        shader_buffer_float64_atomic_add shader_shared_float32_atomics shader_shared_float32_atomic_add
        shader_shared_float64_atomics shader_shared_float64_atomic_add
    }
    PhysicalDeviceShaderFloatControls2FeaturesKHR { shader_float_controls2 }
}

macro_rules! properties {
    ($($structure:ident { $($rule:ident { $($member:ident)* })* })*) => {
        /// Changes a structure, if it is one of properties, into what the device shows where this one can stand for it.
        ///
        /// # Safety
        /// A structure of Vulkan.
        pub unsafe fn show_properties(structure: *mut Structure, device: &Description) {
            // SAFETY: the caller's word; the type is by its tag.
            unsafe {
                hide_driver(structure);
                match (*structure).s_type {
                    $(<vk::$structure<'static> as vk::TaggedStructure>::STRUCTURE_TYPE => {
                        let found = &mut *structure.cast::<vk::$structure<'static>>();
                        $($(found.$member.show::<$rule>(device.property(stringify!($member)));)*)*
                    })*
                    _ => {}
                }
            }
        }
    };
}

properties! {
    PhysicalDeviceSubgroupProperties { Both { supported_stages supported_operations } }
    PhysicalDeviceMaintenance3Properties { AtMost { max_per_set_descriptors max_memory_allocation_size } }
    PhysicalDeviceFloatControlsProperties {
        Both {
            shader_signed_zero_inf_nan_preserve_float16 shader_signed_zero_inf_nan_preserve_float32
            shader_signed_zero_inf_nan_preserve_float64 shader_denorm_preserve_float16
            shader_denorm_preserve_float32 shader_denorm_preserve_float64 shader_denorm_flush_to_zero_float16
            shader_denorm_flush_to_zero_float32 shader_denorm_flush_to_zero_float64
            shader_rounding_mode_rte_float16 shader_rounding_mode_rte_float32 shader_rounding_mode_rte_float64
            shader_rounding_mode_rtz_float16 shader_rounding_mode_rtz_float32 shader_rounding_mode_rtz_float64
        }
    }
    PhysicalDeviceVulkan11Properties {
        Both { subgroup_supported_stages subgroup_supported_operations }
        AtMost { max_per_set_descriptors max_memory_allocation_size }
    }
    PhysicalDeviceVulkan12Properties {
        Both {
            shader_signed_zero_inf_nan_preserve_float16 shader_signed_zero_inf_nan_preserve_float32
            shader_signed_zero_inf_nan_preserve_float64 shader_denorm_preserve_float16
            shader_denorm_preserve_float32 shader_denorm_preserve_float64 shader_denorm_flush_to_zero_float16
            shader_denorm_flush_to_zero_float32 shader_denorm_flush_to_zero_float64
            shader_rounding_mode_rte_float16 shader_rounding_mode_rte_float32 shader_rounding_mode_rte_float64
            shader_rounding_mode_rtz_float16 shader_rounding_mode_rtz_float32 shader_rounding_mode_rtz_float64
        }
        AtMost {
            max_update_after_bind_descriptors_in_all_pools
            max_per_stage_descriptor_update_after_bind_sampled_images
            max_descriptor_set_update_after_bind_sampled_images max_per_stage_update_after_bind_resources
            max_timeline_semaphore_value_difference
        }
    }
    PhysicalDeviceVulkan13Properties { AtMost { max_compute_workgroup_subgroups max_buffer_size } }
    PhysicalDeviceDescriptorIndexingProperties {
        AtMost {
            max_update_after_bind_descriptors_in_all_pools
            max_per_stage_descriptor_update_after_bind_sampled_images
            max_descriptor_set_update_after_bind_sampled_images max_per_stage_update_after_bind_resources
        }
    }
    PhysicalDeviceTimelineSemaphoreProperties { AtMost { max_timeline_semaphore_value_difference } }
    PhysicalDeviceSubgroupSizeControlProperties { AtMost { max_compute_workgroup_subgroups } }
    PhysicalDeviceShaderIntegerDotProductProperties {
        Both {
            integer_dot_product8_bit_unsigned_accelerated integer_dot_product8_bit_signed_accelerated
            integer_dot_product8_bit_mixed_signedness_accelerated
            integer_dot_product4x8_bit_packed_unsigned_accelerated
            integer_dot_product4x8_bit_packed_signed_accelerated
            integer_dot_product4x8_bit_packed_mixed_signedness_accelerated
        }
    }
    PhysicalDeviceMaintenance4Properties { AtMost { max_buffer_size } }
    PhysicalDeviceExternalMemoryHostPropertiesEXT { AtLeast { min_imported_host_pointer_alignment } }
    PhysicalDeviceMapMemoryPlacedPropertiesEXT { AtLeast { min_placed_memory_map_alignment } }
    PhysicalDevicePCIBusInfoPropertiesEXT { There { pci_domain pci_bus pci_device pci_function } }
    PhysicalDeviceShaderSMBuiltinsPropertiesNV { There { shader_sm_count shader_warps_per_sm } }
    PhysicalDeviceShaderCorePropertiesAMD {
        There {
            shader_engine_count shader_arrays_per_engine_count compute_units_per_shader_array simd_per_compute_unit
            wavefronts_per_simd wavefront_size
        }
    }
    PhysicalDeviceShaderCoreProperties2AMD { There { active_compute_unit_count } }
    PhysicalDeviceShaderCoreBuiltinsPropertiesARM { There { shader_core_mask shader_core_count shader_warps_per_core } }
}

/// Takes out which driver it is, where none is to be known.
///
/// # Safety
/// A structure of Vulkan.
unsafe fn hide_driver(structure: *mut Structure) {
    if std::env::var_os("PUMICE_TEST_UNKNOWN_DRIVER").is_none() {
        return;
    }
    // SAFETY: the caller's word; the type is by its tag.
    unsafe {
        match (*structure).s_type {
            vk::StructureType::PHYSICAL_DEVICE_DRIVER_PROPERTIES => {
                let found = &mut *structure.cast::<vk::PhysicalDeviceDriverProperties<'_>>();
                (found.driver_id, found.driver_info) = (vk::DriverId::default(), [0; 256]);
            }
            vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES => {
                let found = &mut *structure.cast::<vk::PhysicalDeviceVulkan12Properties<'_>>();
                (found.driver_id, found.driver_info) = (vk::DriverId::default(), [0; 256]);
            }
            _ => {}
        }
    }
}

macro_rules! limits {
    ($($rule:ident { $($member:ident)* })*) => {
        /// Changes limits into what the device shows where this one can stand for it.
        pub fn show_limits(limits: &mut vk::PhysicalDeviceLimits, device: &Description) {
            $($(limits.$member.show::<$rule>(device.property(stringify!($member)));)*)*
        }
    };
}

limits! {
    AtMost {
        max_image_dimension1_d max_image_dimension2_d max_image_dimension3_d max_image_array_layers
        max_texel_buffer_elements max_uniform_buffer_range max_storage_buffer_range max_push_constants_size
        max_memory_allocation_count max_sampler_allocation_count sparse_address_space_size
        max_bound_descriptor_sets max_per_stage_descriptor_samplers max_per_stage_descriptor_uniform_buffers
        max_per_stage_descriptor_storage_buffers max_per_stage_descriptor_sampled_images
        max_per_stage_descriptor_storage_images max_per_stage_resources max_descriptor_set_samplers
        max_descriptor_set_uniform_buffers max_descriptor_set_storage_buffers
        max_descriptor_set_sampled_images max_descriptor_set_storage_images max_compute_shared_memory_size
        max_compute_work_group_count max_compute_work_group_invocations max_compute_work_group_size
        max_sampler_lod_bias max_sampler_anisotropy discrete_queue_priorities
    }
    AtLeast {
        buffer_image_granularity min_memory_map_alignment min_texel_buffer_offset_alignment
        min_uniform_buffer_offset_alignment min_storage_buffer_offset_alignment
        optimal_buffer_copy_offset_alignment optimal_buffer_copy_row_pitch_alignment non_coherent_atom_size
    }
    Both { timestamp_compute_and_graphics }
}
