//! What the compiler is told about a device.

use super::findings::{Findings, Subject};
use crate::compiler::Capabilities;
use crate::compiler::capabilities::{
    DESCRIPTOR_BITS, FloatAtomics, FloatControls, MemoryOrder, SubgroupOperations,
};
use crate::vulkan::buffer_descriptors::{DESCRIPTOR_BYTES, descriptor_count};
use crate::vulkan::info::{self, DeviceType};
use crate::vulkan::{PhysicalDeviceInfo, TEXTURES};

// Addresses are taken apart as they are made.
const _: () = assert!(DESCRIPTOR_BYTES == 1 << DESCRIPTOR_BITS);

/// The device as the compiler sees it, with what was found of it beside what it reports.
pub fn capabilities(info: &PhysicalDeviceInfo, findings: &Findings) -> Capabilities {
    let features = &info.features;
    let (driver, arithmetic) = (&info.driver, &info.driver.arithmetic);
    let (preferences, execution) = (&driver.preferences, &driver.execution);
    Capabilities {
        spirv_version: spirv_version(info),
        int8: features.shader_int8,
        int16: features.shader_int16,
        int64: features.shader_int64,
        float16: has_halves(info),
        float64: features.shader_float64,
        storage8: features.storage_buffer_8bit,
        storage16: features.storage_buffer_16bit,
        vulkan_memory_model: features.vulkan_memory_model,
        vulkan_memory_model_device_scope: features.vulkan_memory_model_device_scope,
        buffer_int64_atomics: features.buffer_int64_atomics,
        shared_int64_atomics: features.shared_int64_atomics,
        float_atomics: FloatAtomics {
            buffer_add32: features.buffer_float32_atomic_add,
            buffer_add64: features.buffer_float64_atomic_add,
        },
        workgroup_explicit_layout: spirv_version(info) >= (1, 4)
            && features.workgroup_explicit_layout
            && features.workgroup_explicit_layout_8bit
            && features.workgroup_explicit_layout_16bit,
        integer_dot_product: features.integer_dot_product,
        float16_controls: map_float_controls(info.float16_controls),
        float32_controls: map_float_controls(info.float32_controls),
        float64_controls: map_float_controls(info.float64_controls),
        keeps_denormals16: info.float16_controls.denorm_preserve
            || arithmetic.keeps_denormals16
            || !has_halves(info),
        keeps_denormals32: info.float32_controls.denorm_preserve || arithmetic.keeps_denormals32,
        keeps_denormals64: info.float64_controls.denorm_preserve || arithmetic.keeps_denormals64,
        widens_denormals: arithmetic.widens_denormals,
        rounds_to_nearest32: arithmetic.rounds_to_nearest32,
        marks_loops: preferences.marks_loops,
        fused_fma16: findings.has(Subject::FusedHalves) && features.shader_float16,
        fused_fma32: findings.has(Subject::FusedSingles),
        precise_exp2: findings.has(Subject::PreciseExp2),
        fused_fma64: findings.has(Subject::FusedDoubles) && features.shader_float64,
        subgroup: map_subgroup(&info.subgroup),
        subgroup_size: subgroup_size(&info.subgroup),
        lanes: info.subgroup.max_size.max(info.subgroup.size).max(1),
        min_subgroup_size: min_subgroup_size(&info.subgroup),
        max_work_group_size: info.limits.max_compute_work_group_invocations,
        push_constant_bytes: info.limits.max_push_constant_bytes,
        shared_memory_bytes: info.limits.max_compute_shared_memory_bytes,
        maximal_reconvergence: features.maximal_reconvergence,
        max_nesting: execution.max_nesting,
        frame: execution.frame,
        defects: driver.defects,
        serial_memory: preferences.has_serial_memory,
        shares_bodies: preferences.shares_bodies,
        compiles_slowly: preferences.compiles_slowly || info.device_type == DeviceType::Cpu,
        counts_addresses: preferences.counts_addresses,
        buffer_descriptors: if features.buffer_device_address {
            0
        } else {
            descriptor_count(info.limits.max_storage_buffer_descriptors)
        },
        indexes_addresses: preferences.indexes_addresses && features.buffer_device_address,
        extracts_fields: preferences.extracts_fields,
        textures: if features.has_sampled_image_arrays() {
            TEXTURES
        } else {
            0
        },
        names_dynamic_indexing: preferences.names_dynamic_indexing,
        memory_order: memory_order(info),
        // An array of words is one of words there.
        uniform_bytes: if preferences.reads_uniforms && features.scalar_block_layout {
            info.limits.max_uniform_buffer_range_bytes
        } else {
            0
        },
    }
}

/// Whether halves are the device's own. They are to be rounded to the nearest, and their bits are 16-bit integers: where the
/// device does not promise the one or lacks the other, they are taken for integers as where it has none.
fn has_halves(info: &PhysicalDeviceInfo) -> bool {
    let features = &info.features;
    features.shader_float16 && features.shader_int16 && info.float16_controls.rounding_rte
}

/// The newest version of SPIR-V that the device takes, of those up to what is of use.
fn spirv_version(info: &PhysicalDeviceInfo) -> (u8, u8) {
    let (major, minor, _) = info.api_version;
    if (major, minor) >= (1, 2) {
        (1, 5)
    } else if info.has_extension("VK_KHR_spirv_1_4") {
        (1, 4)
    } else {
        (1, 3)
    }
}

/// Software devices run on the host's processor: on x86 a locked operation is a fence.
fn memory_order(info: &PhysicalDeviceInfo) -> MemoryOrder {
    if (info.driver.execution).is_ordered_by_locked_operations_only {
        return MemoryOrder::LockedOperationsOnly;
    }
    match info.device_type {
        DeviceType::Cpu if cfg!(target_arch = "x86_64") => MemoryOrder::LockedOperations,
        _ => MemoryOrder::Semantics,
    }
}

/// Whether atomics can be sequentially consistent: by locked operations, or by acquire and release at device
/// scope and the order of exchanges of one word (`compiler::passes::lower::sequence_memory`).
pub fn is_sequentially_consistent(info: &PhysicalDeviceInfo) -> bool {
    let features = &info.features;
    match memory_order(info) {
        MemoryOrder::Semantics => {
            features.vulkan_memory_model && features.vulkan_memory_model_device_scope
        }
        MemoryOrder::LockedOperations | MemoryOrder::LockedOperationsOnly => {
            cfg!(target_arch = "x86_64")
        }
    }
}

fn map_float_controls(controls: info::FloatControls) -> FloatControls {
    FloatControls {
        denorm_preserve: controls.denorm_preserve,
        denorm_flush_to_zero: controls.denorm_flush_to_zero,
        rounding_rte: controls.rounding_rte,
        rounding_rtz: controls.rounding_rtz,
        signed_zero_inf_nan_preserve: controls.signed_zero_inf_nan_preserve,
    }
}

/// Work-items in the sub-groups that OpenCL sees.
pub fn subgroup_size(subgroup: &info::SubgroupInfo) -> u32 {
    if map_subgroup(subgroup).is_sufficient() {
        subgroup.max_size.max(subgroup.size).max(1)
    } else {
        1
    }
}

/// The smallest that a kernel may ask for.
pub fn min_subgroup_size(subgroup: &info::SubgroupInfo) -> u32 {
    let size = subgroup_size(subgroup);
    if subgroup.size_control {
        subgroup.min_size.clamp(1, size)
    } else {
        size
    }
}

fn map_subgroup(subgroup: &info::SubgroupInfo) -> SubgroupOperations {
    let here = subgroup.in_compute;
    SubgroupOperations {
        basic: here && subgroup.basic,
        vote: here && subgroup.vote,
        arithmetic: here && subgroup.arithmetic,
        ballot: here && subgroup.ballot,
        shuffle: here && subgroup.shuffle,
        shuffle_relative: here && subgroup.shuffle_relative,
        clustered: here && subgroup.clustered,
        rotate: here && subgroup.rotate,
        extended_types: here && subgroup.extended_types,
        broadcast_dynamic_id: here && subgroup.broadcast_dynamic_id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers::{self, Report};
    use crate::runtime::device::findings::{Finding, Origin};
    use crate::runtime::device::limits::tests::software_device;

    fn seen(info: &PhysicalDeviceInfo) -> Capabilities {
        capabilities(info, &Findings::default())
    }

    /// The device with another driver.
    fn driven_by(info: &PhysicalDeviceInfo, id: u32, driver_info: &str) -> PhysicalDeviceInfo {
        let driver = drivers::of(&Report {
            id,
            info: driver_info,
            preserves_denormals64: false,
        });
        PhysicalDeviceInfo {
            driver,
            ..info.clone()
        }
    }

    /// `VK_DRIVER_ID_NVIDIA_PROPRIETARY`, `VK_DRIVER_ID_MESA_LLVMPIPE`
    const NVIDIA: u32 = 4;
    const LLVMPIPE: u32 = 13;

    #[test]
    fn only_what_there_is_is_fused() {
        let software = software_device();
        assert!(!seen(&software).fused_fma32);
        let found = [Subject::FusedSingles, Subject::FusedDoubles].map(|subject| Finding {
            subject,
            holds: true,
            origin: Origin::Tried,
        });
        let findings = Findings(found.to_vec());
        let mut info = driven_by(&software, NVIDIA, "");
        assert!(capabilities(&info, &findings).fused_fma32);
        assert!(
            !capabilities(&info, &findings).fused_fma64,
            "there is no double"
        );
        info.features.shader_float64 = true;
        assert!(capabilities(&info, &findings).fused_fma64);
    }

    #[test]
    fn denormals_are_kept_by_order_or_by_habit() {
        let software = software_device();
        assert!(!seen(&software).keeps_denormals32);
        let info = driven_by(&software, LLVMPIPE, "Mesa 25.0.7 (LLVM 19.1.7)");
        assert!(seen(&info).keeps_denormals32);
        assert!(seen(&info).keeps_denormals64);
        let info = driven_by(&software, LLVMPIPE, "Mesa 26.2.6 (LLVM 22.1.8)");
        assert!(!seen(&info).keeps_denormals32);
        assert!(!seen(&info).keeps_denormals64);
        assert!(seen(&info).keeps_denormals16);
        let mut info = driven_by(&software, NVIDIA, "");
        assert!(!seen(&info).keeps_denormals32);
        assert!(seen(&info).keeps_denormals64);
        info.float32_controls.denorm_preserve = true;
        assert!(seen(&info).keeps_denormals32);
    }

    #[test]
    fn memory_is_ordered_as_the_driver_and_the_processor_do() {
        let order = |info: &PhysicalDeviceInfo| seen(info).memory_order;
        let software = software_device();
        let locked = order(&driven_by(&software, LLVMPIPE, ""));
        assert_eq!(locked, MemoryOrder::LockedOperationsOnly);
        let mut info = driven_by(&software, NVIDIA, "");
        info.device_type = DeviceType::DiscreteGpu;
        assert_eq!(order(&info), MemoryOrder::Semantics);
    }

    #[test]
    fn sub_group_operations_count_only_in_compute() {
        let mut info = software_device();
        assert!(!seen(&info).subgroup.basic);
        info.subgroup.in_compute = true;
        assert!(seen(&info).subgroup.basic);
        assert_eq!(seen(&info).subgroup_size, 1, "nothing to build from");
        info.subgroup.ballot = true;
        info.subgroup.shuffle = true;
        assert_eq!(seen(&info).subgroup_size, 4);
    }
}
