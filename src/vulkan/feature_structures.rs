//! The structures that features lie in, as a device is asked for them and created with them.
//!
//! A feature of a version is one of an extension before it, with the same members: devices below a version are asked by the
//! extension's structure. Vulkan 1.2 has one structure for all its features, which may not stand beside those of the extensions
//! that it took in.

use std::ffi::CStr;

use ash::{ext, khr, vk};

use super::info::Features;

/// Which devices know a structure.
#[derive(Clone, Copy)]
struct Known {
    /// The version that has it without an extension, if one does.
    since: Option<u32>,
    /// The version from which on another structure stands in for it.
    until: Option<u32>,
    /// Extensions that bring it to devices of older versions, all of them needed; none where no extension does.
    by: &'static [&'static CStr],
}

impl Known {
    fn since(version: u32) -> Self {
        let (since, until, by) = (Some(version), None, &[][..]);
        Self { since, until, by }
    }

    fn by(by: &'static [&'static CStr]) -> Self {
        let (since, until) = (None, None);
        Self { since, until, by }
    }

    fn or_by(self, by: &'static [&'static CStr]) -> Self {
        Self { by, ..self }
    }

    fn until(self, version: u32) -> Self {
        let until = Some(version);
        Self { until, ..self }
    }

    fn is_core(&self, version: u32) -> bool {
        self.since.is_some_and(|since| version >= since)
    }

    /// Whether a device of that version with the extensions that `has` tells of knows the structure.
    fn is_there(&self, version: u32, has: &impl Fn(&CStr) -> bool) -> bool {
        let has_all = !self.by.is_empty() && self.by.iter().all(|name| has(name));
        self.until.is_none_or(|until| version < until) && (self.is_core(version) || has_all)
    }
}

macro_rules! structures {
    ($($name:ident: $structure:ident $known:expr;)*) => {
        /// The structures, each of which is set for those devices alone that know it.
        #[derive(Default)]
        pub(super) struct FeatureStructures {
            pub core: vk::PhysicalDeviceFeatures,
            $($name: vk::$structure<'static>,)*
        }

        impl FeatureStructures {
            /// Chains the structures that a device of a version with the extensions that `has` tells of knows.
            pub fn chain(&mut self, version: u32, has: impl Fn(&CStr) -> bool) -> vk::PhysicalDeviceFeatures2<'_> {
                let mut all = vk::PhysicalDeviceFeatures2::default().features(self.core);
                $(if $known.is_there(version, &has) {
                    all = all.push_next(&mut self.$name);
                })*
                all
            }

            /// The extensions by which such a device knows structures, to be turned on with them.
            pub fn extensions(version: u32, has: impl Fn(&CStr) -> bool) -> Vec<&'static CStr> {
                let mut names = Vec::new();
                $(let known = $known;
                if known.is_there(version, &has) && !known.is_core(version) {
                    names.extend(known.by);
                })*
                names
            }
        }
    };
}

structures! {
    storage16: PhysicalDevice16BitStorageFeatures Known::since(vk::API_VERSION_1_1);
    variable_pointers: PhysicalDeviceVariablePointersFeatures Known::since(vk::API_VERSION_1_1);

    v12: PhysicalDeviceVulkan12Features Known::since(vk::API_VERSION_1_2);
    storage8: PhysicalDevice8BitStorageFeatures
        Known::by(&[khr::_8bit_storage::NAME]).until(vk::API_VERSION_1_2);
    atomic_int64: PhysicalDeviceShaderAtomicInt64Features
        Known::by(&[khr::shader_atomic_int64::NAME]).until(vk::API_VERSION_1_2);
    float16_int8: PhysicalDeviceShaderFloat16Int8Features
        Known::by(&[khr::shader_float16_int8::NAME]).until(vk::API_VERSION_1_2);
    device_address: PhysicalDeviceBufferDeviceAddressFeatures
        Known::by(&[khr::buffer_device_address::NAME]).until(vk::API_VERSION_1_2);
    timeline: PhysicalDeviceTimelineSemaphoreFeatures
        Known::by(&[khr::timeline_semaphore::NAME]).until(vk::API_VERSION_1_2);
    query_reset: PhysicalDeviceHostQueryResetFeatures
        Known::by(&[ext::host_query_reset::NAME]).until(vk::API_VERSION_1_2);
    indexing: PhysicalDeviceDescriptorIndexingFeatures
        Known::by(&[ext::descriptor_indexing::NAME]).until(vk::API_VERSION_1_2);
    memory_model: PhysicalDeviceVulkanMemoryModelFeatures
        Known::by(&[khr::vulkan_memory_model::NAME]).until(vk::API_VERSION_1_2);
    scalar_layout: PhysicalDeviceScalarBlockLayoutFeatures
        Known::by(&[ext::scalar_block_layout::NAME]).until(vk::API_VERSION_1_2);
    extended_types: PhysicalDeviceShaderSubgroupExtendedTypesFeatures
        Known::by(&[khr::shader_subgroup_extended_types::NAME]).until(vk::API_VERSION_1_2);

    maintenance4: PhysicalDeviceMaintenance4Features
        Known::since(vk::API_VERSION_1_3).or_by(&[khr::maintenance4::NAME]);
    size_control: PhysicalDeviceSubgroupSizeControlFeatures
        Known::since(vk::API_VERSION_1_3).or_by(&[ext::subgroup_size_control::NAME]);
    dot_product: PhysicalDeviceShaderIntegerDotProductFeatures
        Known::since(vk::API_VERSION_1_3).or_by(&[khr::shader_integer_dot_product::NAME]);
    zero_initialize: PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures
        Known::since(vk::API_VERSION_1_3).or_by(&[khr::zero_initialize_workgroup_memory::NAME]);

    explicit_layout: PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR
        Known::by(&[khr::workgroup_memory_explicit_layout::NAME]);
    reconvergence: PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR
        Known::by(&[khr::shader_maximal_reconvergence::NAME]);
    rotate: PhysicalDeviceShaderSubgroupRotateFeaturesKHR
        Known::by(&[khr::shader_subgroup_rotate::NAME]);
    clock: PhysicalDeviceShaderClockFeaturesKHR Known::by(&[khr::shader_clock::NAME]);
    expect: PhysicalDeviceShaderExpectAssumeFeaturesKHR
        Known::by(&[khr::shader_expect_assume::NAME]);
    placed: PhysicalDeviceMapMemoryPlacedFeaturesEXT
        Known::by(&[ext::map_memory_placed::NAME, khr::map_memory2::NAME]);
    atomic_float: PhysicalDeviceShaderAtomicFloatFeaturesEXT
        Known::by(&[ext::shader_atomic_float::NAME]);
}

macro_rules! features {
    ($($feature:ident: $($structure:ident.$member:ident),+;)*) => {
        impl FeatureStructures {
            /// The features that are set in the structures, whichever of them they lie in.
            pub fn read(&self) -> Features {
                Features {
                    $($feature: $(self.$structure.$member == vk::TRUE)||+,)*
                }
            }

            /// The structures with the features set, in each that has them.
            pub fn of(features: &Features) -> Self {
                let mut all = Self::default();
                let flag = |on| if on { vk::TRUE } else { vk::FALSE };
                $($(all.$structure.$member = flag(features.$feature);)+)*
                all
            }
        }
    };
}

features! {
    shader_int8: v12.shader_int8, float16_int8.shader_int8;
    shader_int16: core.shader_int16;
    shader_int64: core.shader_int64;
    shader_float16: v12.shader_float16, float16_int8.shader_float16;
    shader_float64: core.shader_float64;
    storage_buffer_8bit: v12.storage_buffer8_bit_access, storage8.storage_buffer8_bit_access;
    storage_buffer_16bit: storage16.storage_buffer16_bit_access;
    push_constant_8bit: v12.storage_push_constant8, storage8.storage_push_constant8;
    push_constant_16bit: storage16.storage_push_constant16;
    buffer_int64_atomics: v12.shader_buffer_int64_atomics, atomic_int64.shader_buffer_int64_atomics;
    shared_int64_atomics: v12.shader_shared_int64_atomics, atomic_int64.shader_shared_int64_atomics;
    buffer_float32_atomics: atomic_float.shader_buffer_float32_atomics;
    buffer_float32_atomic_add: atomic_float.shader_buffer_float32_atomic_add;
    buffer_float64_atomic_add: atomic_float.shader_buffer_float64_atomic_add;
    shared_float32_atomic_add: atomic_float.shader_shared_float32_atomic_add;
    shared_float64_atomic_add: atomic_float.shader_shared_float64_atomic_add;
    buffer_device_address: v12.buffer_device_address, device_address.buffer_device_address;
    address_capture_replay: v12.buffer_device_address_capture_replay,
        device_address.buffer_device_address_capture_replay;
    timeline_semaphore: v12.timeline_semaphore, timeline.timeline_semaphore;
    host_query_reset: v12.host_query_reset, query_reset.host_query_reset;
    sampled_image_dynamic_indexing: core.shader_sampled_image_array_dynamic_indexing;
    partially_bound: v12.descriptor_binding_partially_bound, indexing.descriptor_binding_partially_bound;
    sampled_image_update_after_bind: v12.descriptor_binding_sampled_image_update_after_bind,
        indexing.descriptor_binding_sampled_image_update_after_bind;
    update_unused_while_pending: v12.descriptor_binding_update_unused_while_pending,
        indexing.descriptor_binding_update_unused_while_pending;
    storage_buffer_array_non_uniform_indexing: v12.shader_storage_buffer_array_non_uniform_indexing,
        indexing.shader_storage_buffer_array_non_uniform_indexing;
    storage_buffer_update_after_bind: v12.descriptor_binding_storage_buffer_update_after_bind,
        indexing.descriptor_binding_storage_buffer_update_after_bind;
    vulkan_memory_model: v12.vulkan_memory_model, memory_model.vulkan_memory_model;
    vulkan_memory_model_device_scope: v12.vulkan_memory_model_device_scope,
        memory_model.vulkan_memory_model_device_scope;
    scalar_block_layout: v12.scalar_block_layout, scalar_layout.scalar_block_layout;
    subgroup_extended_types: v12.shader_subgroup_extended_types, extended_types.shader_subgroup_extended_types;
    subgroup_broadcast_dynamic_id: v12.subgroup_broadcast_dynamic_id;
    variable_pointers: variable_pointers.variable_pointers;
    variable_pointers_storage_buffer: variable_pointers.variable_pointers_storage_buffer;
    subgroup_size_control: size_control.subgroup_size_control;
    compute_full_subgroups: size_control.compute_full_subgroups;
    zero_initialize_workgroup_memory: zero_initialize.shader_zero_initialize_workgroup_memory;
    integer_dot_product: dot_product.shader_integer_dot_product;
    maintenance4: maintenance4.maintenance4;
    workgroup_explicit_layout: explicit_layout.workgroup_memory_explicit_layout;
    workgroup_explicit_layout_8bit: explicit_layout.workgroup_memory_explicit_layout8_bit_access;
    workgroup_explicit_layout_16bit: explicit_layout.workgroup_memory_explicit_layout16_bit_access;
    maximal_reconvergence: reconvergence.shader_maximal_reconvergence;
    subgroup_rotate: rotate.shader_subgroup_rotate;
    subgroup_rotate_clustered: rotate.shader_subgroup_rotate_clustered;
    shader_subgroup_clock: clock.shader_subgroup_clock;
    shader_device_clock: clock.shader_device_clock;
    expect_assume: expect.shader_expect_assume;
    map_memory_placed: placed.memory_map_placed;
    storage_image_read_without_format: core.shader_storage_image_read_without_format;
    storage_image_write_without_format: core.shader_storage_image_write_without_format;
    storage_image_extended_formats: core.shader_storage_image_extended_formats;
    sampler_anisotropy: core.sampler_anisotropy;
    sparse_binding: core.sparse_binding;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_looked_for_where_the_version_has_it() {
        let mut old = FeatureStructures::default();
        old.timeline.timeline_semaphore = vk::TRUE;
        let mut new = FeatureStructures::default();
        new.v12.timeline_semaphore = vk::TRUE;
        assert_eq!(old.read(), new.read());
        assert!(old.read().timeline_semaphore);
        let both = FeatureStructures::of(&old.read());
        assert_eq!(both.v12.timeline_semaphore, vk::TRUE);
        assert_eq!(both.timeline.timeline_semaphore, vk::TRUE);
        assert_eq!(both.v12.host_query_reset, vk::FALSE);
    }

    #[test]
    fn extensions_are_needed_below_the_version_that_took_them_in() {
        let needs =
            |version, name: &CStr| FeatureStructures::extensions(version, |_| true).contains(&name);
        for name in [
            khr::timeline_semaphore::NAME,
            ext::descriptor_indexing::NAME,
        ] {
            assert!(needs(vk::API_VERSION_1_1, name));
            assert!(!needs(vk::API_VERSION_1_2, name));
        }
        assert!(needs(vk::API_VERSION_1_2, khr::maintenance4::NAME));
        assert!(!needs(vk::API_VERSION_1_3, khr::maintenance4::NAME));
        assert!(needs(vk::API_VERSION_1_3, khr::shader_clock::NAME));
        assert_eq!(
            FeatureStructures::extensions(vk::API_VERSION_1_1, |_| false),
            [c""; 0]
        );
    }

    #[test]
    fn the_structure_of_a_version_stands_alone() {
        let structures = |version| {
            let mut all = FeatureStructures::default();
            let chain = all.chain(version, |_| true);
            let mut kinds = Vec::new();
            let mut next = chain.p_next.cast_const().cast::<vk::BaseInStructure<'_>>();
            while !next.is_null() {
                // SAFETY: structures of Vulkan begin so, and these live in `all`.
                unsafe {
                    kinds.push((*next).s_type);
                    next = (*next).p_next;
                }
            }
            kinds
        };
        let (all, one) = (
            vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
            vk::StructureType::PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        );
        let old = structures(vk::API_VERSION_1_1);
        assert!(!old.contains(&all) && old.contains(&one));
        let new = structures(vk::API_VERSION_1_2);
        assert!(new.contains(&all) && !new.contains(&one));
    }
}
