//! What the compiler is told about a device.

use crate::compiler::capabilities::{FloatAtomics, FloatControls, MemoryOrder, SubgroupOperations};
use crate::compiler::{Capabilities, Defects};
use crate::drivers::{Version, llvmpipe, mesa, nvidia, radv, swiftshader};
use crate::vulkan::info::{self, DeviceType};
use crate::vulkan::{PhysicalDeviceInfo, TEXTURES};

/// The device as the compiler sees it.
pub fn capabilities(info: &PhysicalDeviceInfo) -> Capabilities {
    let features = &info.features;
    let fused = rounds_fma_once(info.driver_id);
    let keeps_denormals = info.driver_id == llvmpipe::ID
        && llvmpipe::keeps_denormals(Version::of_mesa(&info.driver_info));
    Capabilities {
        // Vulkan 1.2, the least that is accepted, takes SPIR-V 1.5.
        spirv_version: (1, 5),
        int8: features.shader_int8,
        int16: features.shader_int16,
        int64: features.shader_int64,
        // Halves are to be rounded to the nearest: where the device does not promise that, they are taken
        // for integers as where it has none.
        float16: features.shader_float16 && info.float16_controls.rounding_rte,
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
        workgroup_explicit_layout: features.workgroup_explicit_layout
            && features.workgroup_explicit_layout_8bit
            && features.workgroup_explicit_layout_16bit,
        integer_dot_product: features.integer_dot_product,
        float16_controls: map_float_controls(info.float16_controls),
        float32_controls: map_float_controls(info.float32_controls),
        float64_controls: map_float_controls(info.float64_controls),
        // llvmpipe has no float control for denormals, but compiles to the processor's own arithmetic; what that makes of
        // denormals is known of versions. Those of halves are normal singles, or never flushed.
        keeps_denormals16: info.float16_controls.denorm_preserve
            || info.driver_id == llvmpipe::ID
            || !(features.shader_float16 && info.float16_controls.rounding_rte),
        keeps_denormals32: info.float32_controls.denorm_preserve || keeps_denormals,
        // NVIDIA's GPUs have doubles as IEEE 754 says, and the driver no float control for them.
        keeps_denormals64: info.float64_controls.denorm_preserve
            || info.driver_id == nvidia::ID
            || keeps_denormals,
        // Of other drivers it is not known: they get by without.
        widens_denormals: keeps_denormals,
        rounds_to_nearest32: info.driver_id == nvidia::ID,
        marks_loops: info.driver_id == nvidia::ID,
        fused_fma32: fused,
        // Its unit does (PTX ISA, ex2.approx: 2^-22.5), as the conformance tests of exp, exp2 and exp10 show.
        precise_exp2: info.driver_id == nvidia::ID,
        fused_fma64: fused && features.shader_float64,
        subgroup: map_subgroup(&info.subgroup),
        subgroup_size: subgroup_size(&info.subgroup),
        min_subgroup_size: min_subgroup_size(&info.subgroup),
        max_work_group_size: info.limits.max_compute_work_group_invocations,
        push_constant_bytes: info.limits.max_push_constant_bytes,
        shared_memory_bytes: info.limits.max_compute_shared_memory_bytes,
        maximal_reconvergence: features.maximal_reconvergence,
        max_nesting: (info.driver_id == llvmpipe::ID).then_some(llvmpipe::MAX_NESTING),
        frame: (info.driver_id == swiftshader::ID).then_some(swiftshader::FRAME),
        defects: defects(info),
        serial_memory: info.driver_id == llvmpipe::ID,
        compiles_slowly: info.device_type == DeviceType::Cpu,
        // On llvmpipe a convolution takes 3 times as long with it.
        counts_addresses: info.driver_id == nvidia::ID,
        indexes_addresses: info.driver_id == nvidia::ID,
        extracts_fields: info.driver_id == nvidia::ID,
        textures: if features.sampled_image_arrays {
            TEXTURES
        } else {
            0
        },
        names_dynamic_indexing: info.driver_id != swiftshader::ID,
        memory_order: memory_order(info),
        uniform_bytes: if reads_uniforms_better(info) {
            info.limits.max_uniform_buffer_range_bytes
        } else {
            0
        },
    }
}

/// Whether the driver makes less of loads from a uniform buffer, an array of words, than of others.
fn reads_uniforms_better(info: &PhysicalDeviceInfo) -> bool {
    info.driver_id == llvmpipe::ID
        && llvmpipe::reads_uniforms_better(Version::of_mesa(&info.driver_info))
        && info.features.scalar_block_layout
}

fn defects(info: &PhysicalDeviceInfo) -> Defects {
    let own = match info.driver_id {
        // It has no query for a GPU's generation; those before GFX8 keep no denormal doubles.
        radv::ID if !info.float64_controls.denorm_preserve => radv::DEFECTS_BEFORE_GFX8,
        nvidia::ID => nvidia::DEFECTS,
        llvmpipe::ID => llvmpipe::defects(Version::of_mesa(&info.driver_info)),
        swiftshader::ID => swiftshader::DEFECTS,
        _ => Defects::UNKNOWN,
    };
    own.union(mesa::defects(&info.driver_info))
}

/// Whether a child made by `fork` that calls `exit` takes the driver's device from its parent.
pub fn breaks_in_children(info: &PhysicalDeviceInfo) -> bool {
    info.driver_id == nvidia::ID
}

/// Whether the driver folds what specialization constants decide: SwiftShader keeps every branch and choice.
pub fn folds_specialization(info: &PhysicalDeviceInfo) -> bool {
    info.driver_id != swiftshader::ID
}

/// Software devices run on the host's processor: on x86 a locked operation is a fence.
fn memory_order(info: &PhysicalDeviceInfo) -> MemoryOrder {
    if info.driver_id == llvmpipe::ID {
        return MemoryOrder::LockedOperationsOnly;
    }
    match info.device_type {
        DeviceType::Cpu if cfg!(target_arch = "x86_64") => MemoryOrder::LockedOperations,
        _ => MemoryOrder::Semantics,
    }
}

/// Whether atomics can be sequentially consistent: by locked operations, or by acquire and release at device
/// scope and the order of exchanges of one word (`compiler::passes::sequence_memory`).
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

/// Whether sub-groups make progress independently of each other, so that one may wait for another. Vulkan
/// does not say: hardware schedules them so, while the software drivers run one after the other.
pub fn sub_groups_progress(info: &PhysicalDeviceInfo) -> bool {
    info.subgroup.size > 1 && is_hardware(info.driver_id)
}

/// Whether `Fma` rounds once. Vulkan lets it round twice and has no query for it, so this goes by
/// `VkDriverId`: those of hardware with a fused multiply-add. The software drivers multiply and add.
fn rounds_fma_once(driver_id: u32) -> bool {
    is_hardware(driver_id)
}

/// Whether it is one of the drivers known to be of hardware.
fn is_hardware(driver_id: u32) -> bool {
    const AMD_PROPRIETARY: u32 = 1;
    const AMD_OPEN_SOURCE: u32 = 2;
    const INTEL_PROPRIETARY_WINDOWS: u32 = 5;
    const INTEL_OPEN_SOURCE_MESA: u32 = 6;
    const MESA_NVK: u32 = 24;
    [
        AMD_PROPRIETARY,
        AMD_OPEN_SOURCE,
        radv::ID,
        nvidia::ID,
        INTEL_PROPRIETARY_WINDOWS,
        INTEL_OPEN_SOURCE_MESA,
        MESA_NVK,
    ]
    .contains(&driver_id)
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
    use crate::runtime::device::limits::tests::software_device;

    #[test]
    fn only_hardware_fuses() {
        let mut info = software_device();
        assert!(!capabilities(&info).fused_fma32);
        info.driver_id = 4;
        assert!(capabilities(&info).fused_fma32);
        assert!(!capabilities(&info).fused_fma64, "there is no double");
        info.features.shader_float64 = true;
        assert!(capabilities(&info).fused_fma64);
    }

    #[test]
    fn denormals_are_kept_by_order_or_by_habit() {
        let mut info = software_device();
        assert!(!capabilities(&info).keeps_denormals32);
        info.driver_id = llvmpipe::ID;
        info.driver_info = "Mesa 25.0.7 (LLVM 19.1.7)".to_owned();
        assert!(capabilities(&info).keeps_denormals32);
        assert!(capabilities(&info).keeps_denormals64);
        info.driver_info = "Mesa 26.2.6 (LLVM 22.1.8)".to_owned();
        assert!(!capabilities(&info).keeps_denormals32);
        assert!(!capabilities(&info).keeps_denormals64);
        assert!(capabilities(&info).keeps_denormals16);
        info.driver_id = nvidia::ID;
        assert!(!capabilities(&info).keeps_denormals32);
        assert!(capabilities(&info).keeps_denormals64);
        info.float32_controls.denorm_preserve = true;
        assert!(capabilities(&info).keeps_denormals32);
    }

    #[test]
    fn only_llvmpipe_has_its_defects() {
        let mut info = software_device();
        info.driver_id = llvmpipe::ID;
        assert!(capabilities(&info).has(Defects::OVERWRITES_LOOP_STATE));
        assert!(capabilities(&info).has(Defects::LIMITS_LOOP_ROUNDS));
        assert!(capabilities(&info).has(Defects::FORGETS_CASTS_OF_ATOMICS));
        assert!(capabilities(&info).serial_memory);
        assert!(capabilities(&info).has(Defects::LOSES_LOOP_RESULTS));
        assert_ne!(capabilities(&info).memory_order, MemoryOrder::Semantics);
        info.driver_id = 4;
        assert!(!capabilities(&info).has(Defects::OVERWRITES_LOOP_STATE));
        assert!(!capabilities(&info).has(Defects::LIMITS_LOOP_ROUNDS));
        assert!(!capabilities(&info).has(Defects::FORGETS_CASTS_OF_ATOMICS));
        assert!(!capabilities(&info).serial_memory);
        info.device_type = DeviceType::DiscreteGpu;
        assert_eq!(capabilities(&info).memory_order, MemoryOrder::Semantics);
    }

    #[test]
    fn sub_group_operations_count_only_in_compute() {
        let mut info = software_device();
        assert!(!capabilities(&info).subgroup.basic);
        info.subgroup.in_compute = true;
        assert!(capabilities(&info).subgroup.basic);
        assert_eq!(
            capabilities(&info).subgroup_size,
            1,
            "nothing to build from"
        );
        info.subgroup.ballot = true;
        info.subgroup.shuffle = true;
        assert_eq!(capabilities(&info).subgroup_size, 4);
    }
}
