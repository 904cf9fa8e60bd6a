//! Execution modes and module-wide capabilities.

use super::Emitter;
use super::assembler::Id;
use crate::compiler::Options;
use rspirv::spirv::{Capability, ExecutionMode};

/// Declares the float controls for each float width in use, and what the whole module needs. Call it
/// after all code was emitted.
pub fn declare(emitter: &mut Emitter, entry: Id, options: &Options) {
    let caps = emitter.capabilities;
    let asm = &mut emitter.asm;
    asm.capability(Capability::Shader);
    if caps.buffer_descriptors == 0 {
        asm.capability(Capability::PhysicalStorageBufferAddresses);
        asm.extension("SPV_KHR_physical_storage_buffer", Some((1, 5)));
    }
    if caps.vulkan_memory_model {
        asm.capability(Capability::VulkanMemoryModel);
        asm.extension("SPV_KHR_vulkan_memory_model", Some((1, 5)));
    }
    for &bits in &emitter.used_floats {
        let controls = match bits {
            16 => caps.float16_controls,
            64 => caps.float64_controls,
            _ => caps.float32_controls,
        };
        // `-cl-denorms-are-zero` speaks of single precision; the others keep theirs.
        let flush = bits == 32 && options.denorms_are_zero && controls.denorm_flush_to_zero;
        let wanted = [
            (
                flush,
                ExecutionMode::DenormFlushToZero,
                Capability::DenormFlushToZero,
            ),
            (
                controls.denorm_preserve && !flush,
                ExecutionMode::DenormPreserve,
                Capability::DenormPreserve,
            ),
            (
                controls.rounding_rte && !(bits == 32 && caps.rounds_to_nearest32),
                ExecutionMode::RoundingModeRTE,
                Capability::RoundingModeRTE,
            ),
            (
                controls.signed_zero_inf_nan_preserve,
                ExecutionMode::SignedZeroInfNanPreserve,
                Capability::SignedZeroInfNanPreserve,
            ),
        ];
        for (_, mode, capability) in wanted.into_iter().filter(|(wanted, ..)| *wanted) {
            asm.capability(capability);
            asm.extension("SPV_KHR_float_controls", Some((1, 4)));
            asm.execution_mode(entry, mode, &[bits]);
        }
    }
    if emitter.uses_collectives && caps.maximal_reconvergence {
        asm.extension("SPV_KHR_maximal_reconvergence", None);
        asm.execution_mode(entry, ExecutionMode::MaximallyReconvergesKHR, &[]);
    }
}
