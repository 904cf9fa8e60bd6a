//! Extensions and OpenCL C features that are reported. A line is added by the change that makes it work.

use super::atomics;
use super::limits::Limits;
use super::target::is_sequentially_consistent;
use crate::compiler::Capabilities;
use crate::toolchain::LanguageTarget;
use crate::vulkan::PhysicalDeviceInfo;

/// Something with a name and a version, as `cl_name_version` holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versioned {
    pub name: &'static str,
    pub version: (u32, u32, u32),
}

const fn versioned(name: &'static str, version: (u32, u32, u32)) -> Versioned {
    Versioned { name, version }
}

/// `CL_PLATFORM_EXTENSIONS`: those of the platform itself, and those that all devices have.
pub const PLATFORM_ONLY: [Versioned; 1] = [versioned("cl_khr_icd", (2, 0, 0))];

/// Extensions that kernels get on every device and the host's lists do not name: the conformance tests (`compiler
/// compiler_defines_for_extensions`, in 2026) take a Khronos extension that they don't know for one that Khronos did not
/// approve, and they don't know this one.
pub const UNLISTED: [Versioned; 1] = [versioned("cl_khr_work_group_uniform_arithmetic", (1, 0, 0))];

/// Extensions of every device.
const ALL_DEVICES: [Versioned; 47] = [
    versioned("cl_ext_float_atomics", (1, 0, 0)),
    versioned("cl_ext_buffer_device_address", (1, 0, 2)),
    versioned("cl_ext_cxx_for_opencl", (1, 0, 0)),
    versioned("cl_intel_required_subgroup_size", (1, 0, 0)),
    versioned("cl_intel_spirv_subgroups", (1, 0, 0)),
    versioned("cl_intel_subgroup_local_block_io", (1, 0, 1)),
    versioned("cl_intel_subgroups", (1, 0, 0)),
    versioned("cl_intel_subgroups_char", (1, 0, 0)),
    versioned("cl_intel_subgroups_long", (1, 0, 0)),
    versioned("cl_intel_subgroups_short", (1, 1, 0)),
    versioned("cl_intel_unified_shared_memory", (1, 2, 0)),
    versioned("cl_khr_3d_image_writes", (1, 0, 0)),
    versioned("cl_khr_byte_addressable_store", (1, 0, 0)),
    // The version that the conformance tests ask for: 0.9.7 with another definition of simultaneous use,
    // which belongs to cl_khr_command_buffer_mutable_dispatch, and without the pending state.
    versioned("cl_khr_command_buffer", (0, 9, 8)),
    versioned("cl_khr_command_buffer_multi_device", (0, 9, 2)),
    versioned("cl_khr_command_buffer_mutable_dispatch", (0, 9, 5)),
    versioned("cl_khr_create_command_queue", (1, 0, 0)),
    versioned("cl_khr_depth_images", (1, 0, 0)),
    versioned("cl_khr_device_uuid", (1, 0, 0)),
    versioned("cl_khr_expect_assume", (1, 0, 0)),
    versioned("cl_khr_extended_bit_ops", (1, 0, 0)),
    versioned("cl_khr_extended_versioning", (1, 0, 0)),
    // A device without halves, or one that does not round them to the nearest, computes with their bits.
    versioned("cl_khr_fp16", (1, 0, 0)),
    versioned("cl_khr_global_int32_base_atomics", (1, 0, 0)),
    versioned("cl_khr_global_int32_extended_atomics", (1, 0, 0)),
    versioned("cl_khr_il_program", (1, 0, 0)),
    versioned("cl_khr_integer_dot_product", (2, 0, 0)),
    versioned("cl_khr_image2d_from_buffer", (1, 0, 0)),
    versioned("cl_khr_local_int32_base_atomics", (1, 0, 0)),
    versioned("cl_khr_local_int32_extended_atomics", (1, 0, 0)),
    versioned("cl_khr_mipmap_image", (1, 0, 0)),
    versioned("cl_khr_mipmap_image_writes", (1, 0, 0)),
    versioned("cl_khr_spirv_linkonce_odr", (1, 0, 0)),
    versioned("cl_khr_spirv_no_integer_wrap_decoration", (1, 0, 0)),
    versioned("cl_khr_spirv_queries", (1, 0, 0)),
    versioned("cl_khr_srgb_image_writes", (1, 0, 0)),
    versioned("cl_khr_subgroup_ballot", (1, 0, 0)),
    versioned("cl_khr_subgroup_clustered_reduce", (1, 0, 0)),
    versioned("cl_khr_subgroup_extended_types", (1, 0, 0)),
    versioned("cl_khr_subgroup_non_uniform_arithmetic", (1, 0, 0)),
    versioned("cl_khr_subgroup_non_uniform_vote", (1, 0, 0)),
    versioned("cl_khr_subgroup_rotate", (1, 0, 0)),
    versioned("cl_khr_subgroup_shuffle", (1, 0, 0)),
    versioned("cl_khr_subgroup_shuffle_relative", (1, 0, 0)),
    versioned("cl_khr_suggested_local_work_size", (1, 0, 0)),
    versioned("cl_khr_priority_hints", (1, 0, 0)),
    versioned("cl_khr_semaphore", (1, 0, 0)),
];

/// `CL_DEVICE_EXTENSIONS`; `sub_group_progress` is `CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS`, which
/// cl_khr_subgroups promises.
pub fn device_extensions(
    info: &PhysicalDeviceInfo,
    limits: &Limits,
    sub_group_progress: bool,
) -> Vec<Versioned> {
    let mut list = ALL_DEVICES.to_vec();
    // The embedded profile has 64-bit integers by an extension alone.
    if limits.has_embedded_profile() {
        list.push(versioned("cles_khr_int64", (1, 0, 0)));
    }
    let memories = &info.memory_fds;
    if memories.opaque.import || memories.dma_buf.import {
        list.push(versioned("cl_khr_external_memory", (1, 0, 1)));
    }
    if memories.opaque.import {
        list.push(versioned("cl_khr_external_memory_opaque_fd", (1, 0, 0)));
    }
    if memories.dma_buf.import {
        list.push(versioned("cl_khr_external_memory_dma_buf", (1, 0, 0)));
    }
    let fds = &info.semaphore_fds;
    if fds.any() {
        list.push(versioned("cl_khr_external_semaphore", (1, 0, 0)));
    }
    if fds.opaque.any() {
        list.push(versioned("cl_khr_external_semaphore_opaque_fd", (1, 0, 0)));
    }
    if fds.sync.any() {
        list.push(versioned("cl_khr_external_semaphore_sync_fd", (1, 0, 0)));
    }
    if atomics::has_int64(info) {
        list.push(versioned("cl_khr_int64_base_atomics", (1, 0, 0)));
        list.push(versioned("cl_khr_int64_extended_atomics", (1, 0, 0)));
    }
    if sub_group_progress {
        list.push(versioned("cl_khr_subgroups", (1, 0, 0)));
    }
    if info.features.shader_float64 {
        list.push(versioned("cl_khr_fp64", (1, 0, 0)));
    }
    if info.pci.is_some() {
        list.push(versioned("cl_khr_pci_bus_info", (1, 0, 0)));
    }
    list
}

/// Features of OpenCL C on every device.
const ALL_DEVICES_IN_C: [Versioned; 13] = [
    versioned("__opencl_c_3d_image_writes", (3, 0, 0)),
    versioned("__opencl_c_images", (3, 0, 0)),
    versioned("__opencl_c_read_write_images", (3, 0, 0)),
    versioned("__opencl_c_atomic_order_acq_rel", (3, 0, 0)),
    versioned("__opencl_c_atomic_scope_device", (3, 0, 0)),
    versioned("__opencl_c_generic_address_space", (3, 0, 0)),
    versioned("__opencl_c_int64", (3, 0, 0)),
    versioned("__opencl_c_integer_dot_product_input_4x8bit", (3, 0, 0)),
    versioned(
        "__opencl_c_integer_dot_product_input_4x8bit_packed",
        (3, 0, 0),
    ),
    versioned("__opencl_c_pipes", (3, 0, 0)),
    versioned("__opencl_c_program_scope_global_variables", (3, 0, 0)),
    versioned("__opencl_c_subgroups", (3, 0, 0)),
    versioned("__opencl_c_work_group_collective_functions", (3, 0, 0)),
];

/// `CL_DEVICE_OPENCL_C_FEATURES`
pub fn c_features(info: &PhysicalDeviceInfo) -> Vec<Versioned> {
    let mut list = ALL_DEVICES_IN_C.to_vec();
    let float_atomics = atomics::float_features(atomics::has_double(info));
    list.extend(
        float_atomics
            .into_iter()
            .map(|name| versioned(name, (1, 0, 0))),
    );
    if is_sequentially_consistent(info) {
        list.push(versioned("__opencl_c_atomic_order_seq_cst", (3, 0, 0)));
    }
    if info.features.shader_float64 {
        list.push(versioned("__opencl_c_fp64", (3, 0, 0)));
    }
    list
}

/// What OpenCL C offers where a kernel is compiled for a kind of device and none is there: extensions and features that
/// some device with these capabilities has.
pub fn language_target(capabilities: &Capabilities) -> LanguageTarget {
    let int64_atomics = capabilities.buffer_int64_atomics && capabilities.shared_int64_atomics;
    let doubles = capabilities.float64;
    let owned = |list: &[Versioned]| list.iter().map(|it| it.name.to_owned()).collect::<Vec<_>>();
    let mut extensions = owned(&ALL_DEVICES);
    extensions.extend(owned(&UNLISTED));
    let optional = [
        (true, "cl_khr_subgroups"),
        (doubles, "cl_khr_fp64"),
        (int64_atomics, "cl_khr_int64_base_atomics"),
        (int64_atomics, "cl_khr_int64_extended_atomics"),
    ];
    extensions.extend(optional.iter().filter(|it| it.0).map(|it| it.1.to_owned()));
    let mut features = owned(&ALL_DEVICES_IN_C);
    let float_atomics = atomics::float_features(doubles && int64_atomics);
    features.extend(float_atomics.into_iter().map(str::to_owned));
    features.push("__opencl_c_atomic_order_seq_cst".to_owned());
    if doubles {
        features.push("__opencl_c_fp64".to_owned());
    }
    LanguageTarget {
        extensions,
        features,
        images: true,
        fused_multiply_add: capabilities.fused_fma32,
        embedded_profile: false,
        device_version: 300,
    }
}

/// `CL_DEVICE_ILS_WITH_VERSION`
pub const INTERMEDIATE_LANGUAGES: [Versioned; 7] = [
    versioned("SPIR-V", (1, 6, 0)),
    versioned("SPIR-V", (1, 5, 0)),
    versioned("SPIR-V", (1, 4, 0)),
    versioned("SPIR-V", (1, 3, 0)),
    versioned("SPIR-V", (1, 2, 0)),
    versioned("SPIR-V", (1, 1, 0)),
    versioned("SPIR-V", (1, 0, 0)),
];

/// `CL_DEVICE_OPENCL_C_ALL_VERSIONS`
pub const OPENCL_C_VERSIONS: [Versioned; 4] = [
    versioned("OpenCL C", (1, 0, 0)),
    versioned("OpenCL C", (1, 1, 0)),
    versioned("OpenCL C", (1, 2, 0)),
    versioned("OpenCL C", (3, 0, 0)),
];
