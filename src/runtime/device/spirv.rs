//! What a device accepts of SPIR-V (cl_khr_spirv_queries), told from the extensions and features that it
//! reports: the OpenCL SPIR-V environment specification ties each to SPIR-V extensions and capabilities.

use super::extensions::{INTERMEDIATE_LANGUAGES, UNLISTED, Versioned};
use rspirv::spirv::Capability;
use std::ffi::CStr;

/// Answers of `CL_DEVICE_SPIRV_*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpirvSupport {
    /// `CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS`
    pub instruction_sets: Vec<&'static CStr>,
    /// `CL_DEVICE_SPIRV_EXTENSIONS`
    pub extensions: Vec<&'static CStr>,
    /// `CL_DEVICE_SPIRV_CAPABILITIES`
    pub capabilities: Vec<u32>,
}

/// A reported name, and what of SPIR-V comes with it.
type Entry = (
    &'static str,
    &'static [&'static CStr],
    &'static [Capability],
);

/// OpenCL extensions (OpenCL SPIR-V environment specification, section "OpenCL Extensions").
const BY_EXTENSION: &[Entry] = {
    use Capability as C;
    &[
        (
            "cl_khr_expect_assume",
            &[c"SPV_KHR_expect_assume"],
            &[C::ExpectAssumeKHR],
        ),
        (
            "cl_khr_extended_bit_ops",
            &[c"SPV_KHR_bit_instructions"],
            &[C::BitInstructions],
        ),
        ("cl_khr_fp16", &[], &[C::Float16]),
        ("cl_khr_fp64", &[], &[C::Float64]),
        ("cl_khr_int64_base_atomics", &[], &[C::Int64Atomics]),
        ("cl_khr_int64_extended_atomics", &[], &[C::Int64Atomics]),
        (
            "cl_khr_integer_dot_product",
            &[c"SPV_KHR_integer_dot_product"],
            &[
                C::DotProduct,
                C::DotProductInputAll,
                C::DotProductInput4x8Bit,
                C::DotProductInput4x8BitPacked,
            ],
        ),
        // Reported with cl_khr_mipmap_image or not at all.
        ("cl_khr_mipmap_image_writes", &[], &[C::ImageMipmap]),
        ("cl_khr_spirv_linkonce_odr", &[c"SPV_KHR_linkonce_odr"], &[]),
        (
            "cl_khr_spirv_no_integer_wrap_decoration",
            &[c"SPV_KHR_no_integer_wrap_decoration"],
            &[],
        ),
        (
            "cl_khr_subgroup_ballot",
            &[],
            &[C::GroupNonUniform, C::GroupNonUniformBallot],
        ),
        (
            "cl_khr_subgroup_clustered_reduce",
            &[],
            &[C::GroupNonUniform, C::GroupNonUniformClustered],
        ),
        (
            "cl_khr_subgroup_non_uniform_arithmetic",
            &[],
            &[C::GroupNonUniform, C::GroupNonUniformArithmetic],
        ),
        (
            "cl_khr_subgroup_non_uniform_vote",
            &[],
            &[C::GroupNonUniform, C::GroupNonUniformVote],
        ),
        (
            "cl_khr_subgroup_rotate",
            &[c"SPV_KHR_subgroup_rotate"],
            &[C::GroupNonUniform, C::GroupNonUniformRotateKHR],
        ),
        (
            "cl_khr_subgroup_shuffle",
            &[],
            &[C::GroupNonUniform, C::GroupNonUniformShuffle],
        ),
        (
            "cl_khr_subgroup_shuffle_relative",
            &[],
            &[C::GroupNonUniform, C::GroupNonUniformShuffleRelative],
        ),
        (
            "cl_khr_work_group_uniform_arithmetic",
            &[c"SPV_KHR_uniform_group_instructions"],
            &[C::GroupUniformArithmeticKHR],
        ),
        (
            "cl_intel_spirv_subgroups",
            &[c"SPV_INTEL_subgroups"],
            &[
                C::SubgroupShuffleINTEL,
                C::SubgroupBufferBlockIOINTEL,
                C::SubgroupImageBlockIOINTEL,
            ],
        ),
    ]
};

/// OpenCL C features.
const BY_FEATURE: &[Entry] = {
    use Capability as C;
    &[
        (
            "__opencl_c_images",
            &[],
            &[
                C::ImageBasic,
                C::LiteralSampler,
                C::Image1D,
                C::Sampled1D,
                C::ImageBuffer,
                C::SampledBuffer,
            ],
        ),
        ("__opencl_c_read_write_images", &[], &[C::ImageReadWrite]),
        (
            "__opencl_c_generic_address_space",
            &[],
            &[C::GenericPointer],
        ),
        (
            "__opencl_c_subgroups",
            &[],
            &[C::Groups, C::SubgroupDispatch],
        ),
        (
            "__opencl_c_work_group_collective_functions",
            &[],
            &[C::Groups],
        ),
        ("__opencl_c_pipes", &[], &[C::Pipes]),
        (
            "__opencl_c_ext_fp32_global_atomic_add",
            &[c"SPV_EXT_shader_atomic_float_add"],
            &[C::AtomicFloat32AddEXT],
        ),
        (
            "__opencl_c_ext_fp32_local_atomic_add",
            &[c"SPV_EXT_shader_atomic_float_add"],
            &[C::AtomicFloat32AddEXT],
        ),
        (
            "__opencl_c_ext_fp32_global_atomic_min_max",
            &[c"SPV_EXT_shader_atomic_float_min_max"],
            &[C::AtomicFloat32MinMaxEXT],
        ),
        (
            "__opencl_c_ext_fp32_local_atomic_min_max",
            &[c"SPV_EXT_shader_atomic_float_min_max"],
            &[C::AtomicFloat32MinMaxEXT],
        ),
        (
            "__opencl_c_ext_fp64_global_atomic_add",
            &[c"SPV_EXT_shader_atomic_float_add"],
            &[C::AtomicFloat64AddEXT],
        ),
        (
            "__opencl_c_ext_fp64_local_atomic_add",
            &[c"SPV_EXT_shader_atomic_float_add"],
            &[C::AtomicFloat64AddEXT],
        ),
        (
            "__opencl_c_ext_fp64_global_atomic_min_max",
            &[c"SPV_EXT_shader_atomic_float_min_max"],
            &[C::AtomicFloat64MinMaxEXT],
        ),
        (
            "__opencl_c_ext_fp64_local_atomic_min_max",
            &[c"SPV_EXT_shader_atomic_float_min_max"],
            &[C::AtomicFloat64MinMaxEXT],
        ),
        (
            "__opencl_c_ext_fp16_global_atomic_add",
            &[c"SPV_EXT_shader_atomic_float16_add"],
            &[C::AtomicFloat16AddEXT],
        ),
        (
            "__opencl_c_ext_fp16_local_atomic_add",
            &[c"SPV_EXT_shader_atomic_float16_add"],
            &[C::AtomicFloat16AddEXT],
        ),
        (
            "__opencl_c_ext_fp16_global_atomic_min_max",
            &[c"SPV_EXT_shader_atomic_float_min_max"],
            &[C::AtomicFloat16MinMaxEXT],
        ),
        (
            "__opencl_c_ext_fp16_local_atomic_min_max",
            &[c"SPV_EXT_shader_atomic_float_min_max"],
            &[C::AtomicFloat16MinMaxEXT],
        ),
    ]
};

/// What every device has. "Addresses, Float16Buffer, Int16, Int8, Kernel, Linkage, Vector16" are required of
/// all, "Int64" of the full profile; the others are those that take nothing of a device.
const ALWAYS: &[Capability] = {
    use Capability as C;
    &[
        C::Addresses,
        C::Float16Buffer,
        C::Int16,
        C::Int64,
        C::Int8,
        C::Kernel,
        C::Linkage,
        C::Vector16,
    ]
};

impl SpirvSupport {
    /// For a device that reports these extensions and OpenCL C features.
    pub fn of(extensions: &[Versioned], features: &[Versioned]) -> Self {
        let mut support = Self {
            instruction_sets: vec![c"OpenCL.std"],
            // Its `printf` formats are what clang makes of them.
            extensions: vec![c"SPV_EXT_relaxed_printf_string_address_space"],
            capabilities: Vec::new(),
        };
        support.add_capabilities(ALWAYS);
        let takes_1_6 = INTERMEDIATE_LANGUAGES
            .iter()
            .any(|language| language.version >= (1, 6, 0));
        if takes_1_6 {
            support.add_capabilities(&[Capability::UniformDecoration]);
        }
        for (entries, reported) in [(BY_EXTENSION, extensions), (BY_FEATURE, features)] {
            for (name, spirv_extensions, capabilities) in entries {
                if !reported
                    .iter()
                    .chain(&UNLISTED)
                    .any(|have| have.name == *name)
                {
                    continue;
                }
                for extension in *spirv_extensions {
                    if !support.extensions.contains(extension) {
                        support.extensions.push(extension);
                    }
                }
                support.add_capabilities(capabilities);
            }
        }
        support
    }

    fn add_capabilities(&mut self, capabilities: &[Capability]) {
        for capability in capabilities {
            let number = *capability as u32;
            if !self.capabilities.contains(&number) {
                self.capabilities.push(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(name: &'static str) -> Versioned {
        Versioned {
            name,
            version: (1, 0, 0),
        }
    }

    #[test]
    fn what_is_reported_brings_its_spirv_along() {
        let plain = SpirvSupport::of(&[], &[]);
        assert_eq!(plain.instruction_sets, [c"OpenCL.std"]);
        assert!(plain.capabilities.contains(&(Capability::Kernel as u32)));
        assert!(!plain.capabilities.contains(&(Capability::Float64 as u32)));

        let more = SpirvSupport::of(
            &[
                reported("cl_khr_fp64"),
                reported("cl_khr_expect_assume"),
                reported("cl_khr_int64_base_atomics"),
                reported("cl_khr_int64_extended_atomics"),
            ],
            &[reported("__opencl_c_generic_address_space")],
        );
        let is_new = |it: &&u32| !plain.capabilities.contains(it);
        let added: Vec<u32> = more.capabilities.iter().filter(is_new).copied().collect();
        assert_eq!(
            added,
            [
                Capability::ExpectAssumeKHR as u32,
                Capability::Float64 as u32,
                Capability::Int64Atomics as u32,
                Capability::GenericPointer as u32,
            ]
        );
        assert_eq!(more.extensions.len(), plain.extensions.len() + 1);
        assert!(more.extensions.contains(&c"SPV_KHR_expect_assume"));
    }
}
