//! What the target device can do, as far as generated code depends on it.

use super::Defects;
use super::program::KernelAttributes;
use crate::drivers::{FrameLimit, llvmpipe, nvidia, radv, swiftshader};
use serde::{Deserialize, Serialize};

/// Bits of an address that are an offset into what a descriptor covers, on devices where kernels reach memory through
/// descriptors; the bits above are the descriptor's number.
pub const DESCRIPTOR_BITS: u32 = 27;

/// Float behaviour that the device can be told to follow (`SPV_KHR_float_controls`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FloatControls {
    /// `DenormPreserve`
    pub denorm_preserve: bool,
    /// `DenormFlushToZero`
    pub denorm_flush_to_zero: bool,
    /// `RoundingModeRTE`
    pub rounding_rte: bool,
    /// `RoundingModeRTZ`
    pub rounding_rtz: bool,
    /// `SignedZeroInfNanPreserve`
    pub signed_zero_inf_nan_preserve: bool,
}

/// Additions to floats in device memory (VK_EXT_shader_atomic_float). Elsewhere, and for minimum and maximum,
/// a loop of compare-exchanges serves, which is exact about NaNs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FloatAtomics {
    /// `shaderBufferFloat32AtomicAdd`, `shaderBufferFloat64AtomicAdd`
    pub buffer_add32: bool,
    pub buffer_add64: bool,
}

/// What makes the order of atomic operations and fences on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MemoryOrder {
    /// Vulkan's memory semantics: acquire and release, and no sequential consistency.
    #[default]
    Semantics,
    /// Vulkan's memory semantics; on the processor every atomic read-modify-write orders everything around it.
    LockedOperations,
    /// Read-modify-writes do, and the driver's memory barriers must not be used: they wait for the whole
    /// work-group, as llvmpipe's do.
    LockedOperationsOnly,
}

/// Sub-group operations of `VkSubgroupFeatureFlags` and its extensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SubgroupOperations {
    pub basic: bool,
    pub vote: bool,
    pub arithmetic: bool,
    pub ballot: bool,
    pub shuffle: bool,
    pub shuffle_relative: bool,
    pub clustered: bool,
    pub rotate: bool,
    /// `shaderSubgroupExtendedTypes`: 8-, 16- and 64-bit operands.
    pub extended_types: bool,
    /// `subgroupBroadcastDynamicId`: broadcasts from where a variable says, the same for all.
    pub broadcast_dynamic_id: bool,
}

impl SubgroupOperations {
    /// Whether every other operation can be built from these.
    pub fn is_sufficient(&self) -> bool {
        self.basic && self.ballot && self.shuffle
    }
}

/// Everything the compiler asks of a Vulkan device. Two devices with equal values get equal code,
/// so this is also part of the key of the disk cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Capabilities {
    /// SPIR-V version to emit, e.g. `(1, 5)`.
    pub spirv_version: (u8, u8),
    /// `shaderInt8`, `shaderInt16`, `shaderInt64`: arithmetic on those widths.
    pub int8: bool,
    pub int16: bool,
    pub int64: bool,
    /// `shaderFloat16`, `shaderFloat64`
    pub float16: bool,
    pub float64: bool,
    /// `storageBuffer8BitAccess`, `storageBuffer16BitAccess`: loads and stores of those widths through
    /// physical storage buffer pointers.
    pub storage8: bool,
    pub storage16: bool,
    /// `vulkanMemoryModel`, and `vulkanMemoryModelDeviceScope`.
    pub vulkan_memory_model: bool,
    pub vulkan_memory_model_device_scope: bool,
    /// `shaderBufferInt64Atomics`, `shaderSharedInt64Atomics`
    pub buffer_int64_atomics: bool,
    pub shared_int64_atomics: bool,
    pub float_atomics: FloatAtomics,
    /// `workgroupMemoryExplicitLayout`, with its 8- and 16-bit parts.
    pub workgroup_explicit_layout: bool,
    /// `shaderIntegerDotProduct`, and expect/assume, are asked for by later passes.
    pub integer_dot_product: bool,
    /// Float controls for 16-, 32- and 64-bit floats.
    pub float16_controls: FloatControls,
    pub float32_controls: FloatControls,
    pub float64_controls: FloatControls,
    /// Whether arithmetic on 16-bit floats keeps denormals; so it does without `float16`.
    pub keeps_denormals16: bool,
    /// Whether arithmetic on 32-bit floats keeps denormals: where the device can be told so, or where its
    /// driver is known to.
    pub keeps_denormals32: bool,
    /// Whether arithmetic on 64-bit floats keeps denormals.
    pub keeps_denormals64: bool,
    /// Whether the conversion of a denormal 32-bit float to 64 bits is exact: NVIDIA's takes it for zero
    /// even where it was told to preserve denormals.
    pub widens_denormals: bool,
    /// Whether 32-bit floats are rounded to the nearest without `RoundingModeRTE`. NVIDIA's driver does, and with
    /// the mode divides in 2.4 times the time, since the quotient is then rounded correctly too: OpenCL C allows
    /// 2.5 ulp.
    pub rounds_to_nearest32: bool,
    /// Whether loops are marked as not to be unrolled (`DontUnroll`): those that gain by it are unrolled already. Of a
    /// loop without a mark NVIDIA's driver makes slower code (by 6 % where it is short and has two exits), with one of
    /// either kind it does not; the mark to unroll costs others (an n-body kernel 20 %).
    pub marks_loops: bool,
    /// Whether `GLSL.std.450 Fma` on 32-bit floats rounds once, as hardware with an FMA unit does.
    pub fused_fma32: bool,
    /// Whether `Fma` of halves rounds once.
    pub fused_fma16: bool,
    /// Whether `GLSL.std.450 Exp2` of a 32-bit float between -24 and 2 is within 2 ulp, where Vulkan allows some more.
    pub precise_exp2: bool,
    /// Whether `GLSL.std.450 Fma` on 64-bit floats rounds once, as hardware with an FMA unit does.
    pub fused_fma64: bool,
    /// `VkPhysicalDeviceSubgroupProperties`: supported operations, and the size in work-items that kernels
    /// are compiled for: the largest; 1 on a device that lacks what other operations are built from (see
    /// [`SubgroupOperations::is_sufficient`]).
    pub subgroup: SubgroupOperations,
    pub subgroup_size: u32,
    /// Work-items that the device runs in step at most: those of Vulkan's sub-groups, also where OpenCL's have one each.
    pub lanes: u32,
    /// The smallest size that a kernel may require; each power of two from it to `subgroup_size` can be had.
    pub min_subgroup_size: u32,
    /// `maxComputeWorkGroupInvocations`
    pub max_work_group_size: u32,
    /// `maxPushConstantsSize`, bytes.
    pub push_constant_bytes: u32,
    /// `maxComputeSharedMemorySize`, bytes.
    pub shared_memory_bytes: u32,
    /// `shaderMaximalReconvergence` (VK_KHR_shader_maximal_reconvergence).
    pub maximal_reconvergence: bool,
    /// How deep conditions, and how deep loops, may be nested, where the driver has a limit.
    pub max_nesting: Option<u32>,
    /// How much stack a kernel may take, where the driver has a limit.
    pub frame: Option<FrameLimit>,
    /// What the driver gets wrong.
    pub defects: Defects,
    /// Whether the driver makes an access to memory in a loop over the work-items of a sub-group, once for each
    /// component of a vector in device memory, as llvmpipe does (seen in Mesa 22.3, about 80 cycles each): few wide
    /// accesses are better than many narrow ones, and exchanges between work-items better than either.
    pub serial_memory: bool,
    /// Whether the driver's compiler takes much longer than in proportion to the size of a kernel, as those for processors
    /// do: large kernels hold bodies that calls share.
    pub compiles_slowly: bool,
    /// Whether large kernels hold bodies that calls share, as where the driver's compiler takes long, and nothing else is done
    /// about its time.
    pub shares_bodies: bool,
    /// Whether loops count addresses on, rather than compute them anew in each iteration, and several iterations of loops that
    /// access memory are joined: for drivers that do neither, as NVIDIA's for Vulkan. Its OpenCL does both, and ran a sum in
    /// the strides of the grid in 0.4 of the time, a filter in 0.7, a plain matrix product in 0.8, before this was asked for
    /// (driver 580, H200); now all take as long or less.
    pub counts_addresses: bool,
    /// Descriptors of buffers that kernels reach memory through, on a device without buffer device addresses, a power of two; 0
    /// elsewhere:
    /// see [`DESCRIPTOR_BITS`].
    pub buffer_descriptors: u32,
    /// Whether the driver computes an address of which it is told the index of 32 bits better than a sum of 64.
    pub indexes_addresses: bool,
    /// Whether bytes and halves of words are to be extracted, rather than shifted and masked.
    pub extracts_fields: bool,
    /// Descriptors of images that kernels read through, 0 where the device has no arrays of them.
    pub textures: u32,
    /// Whether modules that index them name the capability: SwiftShader has it, and warns of its name on standard
    /// error.
    pub names_dynamic_indexing: bool,
    /// What memory order is made of: see [`crate::compiler::passes::lower::order_memory`].
    pub memory_order: MemoryOrder,
    /// Bytes of a uniform buffer that holds constant variables, where the driver makes less of loads from one than of loads
    /// from device memory; 0 elsewhere: see [`crate::compiler::passes::optimize::read_uniforms`].
    pub uniform_bytes: u32,
}

impl Capabilities {
    /// Work-items in a full sub-group of a kernel, 1 or more.
    pub fn subgroup_size_of(&self, attributes: &KernelAttributes) -> u32 {
        attributes
            .required_sub_group_size
            .unwrap_or(self.subgroup_size)
            .max(1)
    }

    /// Whether the device computes with 8-bit integers, and rightly.
    pub fn computes8(&self) -> bool {
        self.int8 && !self.has(Defects::MISCOMPUTES_NARROW_INTEGERS)
    }

    /// Whether the device computes with 16-bit integers, and rightly.
    pub fn computes16(&self) -> bool {
        self.int16 && !self.has(Defects::MISCOMPUTES_NARROW_INTEGERS)
    }

    /// Whether the driver has one of these defects.
    pub fn has(&self, defects: Defects) -> bool {
        self.defects.intersects(defects)
    }

    /// Sub-group sizes that a kernel may require, ascending.
    pub fn subgroup_sizes(&self) -> impl Iterator<Item = u32> + use<> {
        let (least, most) = (self.min_subgroup_size.max(1), self.subgroup_size);
        (0..u32::BITS)
            .map(|bit| 1 << bit)
            .filter(move |size| (least..=most).contains(size))
    }

    /// The device that a name stands for: `full`, `minimal` (or `swiftshader`), `lavapipe`, `nvidia`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "full" => Self::full(),
            "minimal" | "swiftshader" => Self::minimal(),
            "lavapipe" => Self::lavapipe(),
            "nvidia" => Self::nvidia(),
            "radv" => Self::radv(),
            _ => return None,
        })
    }

    /// A device with every feature: what tests of the compiler start from.
    pub fn full() -> Self {
        let controls = FloatControls {
            denorm_preserve: true,
            denorm_flush_to_zero: true,
            rounding_rte: true,
            rounding_rtz: true,
            signed_zero_inf_nan_preserve: true,
        };
        Self {
            spirv_version: (1, 5),
            int8: true,
            int16: true,
            int64: true,
            float16: true,
            float64: true,
            storage8: true,
            storage16: true,
            vulkan_memory_model: true,
            vulkan_memory_model_device_scope: true,
            buffer_int64_atomics: true,
            shared_int64_atomics: true,
            float_atomics: FloatAtomics {
                buffer_add32: true,
                buffer_add64: true,
            },
            workgroup_explicit_layout: true,
            integer_dot_product: true,
            float16_controls: controls,
            float32_controls: controls,
            float64_controls: controls,
            keeps_denormals16: true,
            keeps_denormals32: true,
            keeps_denormals64: true,
            widens_denormals: true,
            rounds_to_nearest32: false,
            marks_loops: false,
            fused_fma32: true,
            fused_fma16: true,
            precise_exp2: true,
            fused_fma64: true,
            subgroup: SubgroupOperations {
                basic: true,
                vote: true,
                arithmetic: true,
                ballot: true,
                shuffle: true,
                shuffle_relative: true,
                clustered: true,
                rotate: true,
                extended_types: true,
                broadcast_dynamic_id: true,
            },
            subgroup_size: 32,
            lanes: 32,
            min_subgroup_size: 32,
            max_work_group_size: 1024,
            push_constant_bytes: 256,
            shared_memory_bytes: 48 << 10,
            maximal_reconvergence: false,
            max_nesting: None,
            frame: None,
            defects: Defects::empty(),
            serial_memory: false,
            compiles_slowly: false,
            shares_bodies: false,
            counts_addresses: false,
            buffer_descriptors: 0,
            indexes_addresses: false,
            extracts_fields: false,
            textures: 4096,
            names_dynamic_indexing: true,
            memory_order: MemoryOrder::Semantics,
            uniform_bytes: 0,
        }
    }

    /// Mesa's software driver, version 22.3.
    pub fn lavapipe() -> Self {
        let full = Self::full();
        Self {
            workgroup_explicit_layout: false,
            keeps_denormals16: true,
            keeps_denormals32: true,
            keeps_denormals64: true,
            defects: llvmpipe::defects(Some(llvmpipe::DEBIAN_12)),
            max_nesting: Some(llvmpipe::MAX_NESTING),
            serial_memory: true,
            compiles_slowly: true,
            memory_order: MemoryOrder::LockedOperationsOnly,
            uniform_bytes: 64 << 10,
            rounds_to_nearest32: false,
            fused_fma32: false,
            fused_fma16: false,
            precise_exp2: false,
            fused_fma64: false,
            subgroup: SubgroupOperations {
                clustered: false,
                rotate: false,
                ..full.subgroup
            },
            subgroup_size: 8,
            lanes: 8,
            min_subgroup_size: 8,
            push_constant_bytes: 128,
            shared_memory_bytes: 32 << 10,
            ..full
        }
    }

    /// NVIDIA's driver, version 580, on an H200.
    pub fn nvidia() -> Self {
        Self {
            defects: nvidia::DEFECTS,
            widens_denormals: false,
            rounds_to_nearest32: true,
            marks_loops: true,
            counts_addresses: true,
            indexes_addresses: true,
            extracts_fields: true,
            ..Self::full()
        }
    }

    /// Mesa's driver for AMD's GPUs, version 22.3, on one of GFX11.
    pub fn radv() -> Self {
        let full = Self::full();
        Self {
            defects: radv::DEFECTS_IN_DEBIAN_12,
            float_atomics: FloatAtomics::default(),
            widens_denormals: false,
            precise_exp2: false,
            subgroup: SubgroupOperations {
                rotate: false,
                ..full.subgroup
            },
            subgroup_size: 64,
            lanes: 64,
            shared_memory_bytes: 64 << 10,
            ..full
        }
    }

    /// A device of Vulkan 1.1 with 32-bit integers and floats only, as SwiftShader has them.
    pub fn minimal() -> Self {
        Self {
            spirv_version: (1, 3),
            compiles_slowly: true,
            int8: false,
            int16: false,
            int64: false,
            float16: false,
            float64: false,
            storage8: false,
            storage16: false,
            buffer_int64_atomics: false,
            shared_int64_atomics: false,
            float_atomics: FloatAtomics::default(),
            workgroup_explicit_layout: false,
            integer_dot_product: false,
            float16_controls: FloatControls::default(),
            float32_controls: FloatControls::default(),
            float64_controls: FloatControls::default(),
            keeps_denormals16: true,
            keeps_denormals32: false,
            keeps_denormals64: false,
            widens_denormals: false,
            rounds_to_nearest32: false,
            fused_fma32: false,
            fused_fma16: false,
            precise_exp2: false,
            fused_fma64: false,
            subgroup: SubgroupOperations {
                clustered: false,
                rotate: false,
                extended_types: false,
                broadcast_dynamic_id: false,
                ..Self::full().subgroup
            },
            subgroup_size: 4,
            lanes: 4,
            min_subgroup_size: 4,
            max_work_group_size: 256,
            push_constant_bytes: 128,
            shared_memory_bytes: 32 << 10,
            defects: swiftshader::DEFECTS,
            frame: Some(swiftshader::FRAME),
            ..Self::full()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_groups_are_as_large_as_the_device_or_the_kernel_says() {
        let device = Capabilities {
            min_subgroup_size: 8,
            ..Capabilities::full()
        };
        assert_eq!(device.subgroup_sizes().collect::<Vec<_>>(), [8, 16, 32]);
        let mut attributes = KernelAttributes::default();
        assert_eq!(device.subgroup_size_of(&attributes), 32);
        attributes.required_sub_group_size = Some(16);
        assert_eq!(device.subgroup_size_of(&attributes), 16);
    }
}
