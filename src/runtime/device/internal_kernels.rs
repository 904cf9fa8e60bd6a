//! The driver's own kernels (`shaders/`) on a device: compiled and made into pipelines at their first use.
//!
//! They are what any program is: OpenCL SPIR-V, brought to the device by the compiler, kept in the disk cache. A
//! pipeline, once made, is found without a lock.

use std::sync::{Arc, OnceLock};

use crate::compiler::program::{ArgumentKind, Implicit, Placement};
use crate::compiler::{Capabilities, CompiledKernel, CompiledProgram, Defects, PackedModule};
use crate::runtime::Error;
use crate::runtime::code::compile::compile_on_own_stack;
use crate::runtime::code::front_end::FrontEnd;
use crate::runtime::code::kept_pipelines;
use crate::runtime::code::modules::Modules;
use crate::runtime::object::error::Result;
use crate::vulkan::{self, PipelineOptions, Recorder, ShaderModule};

/// Most bytes of an argument block: what every Vulkan device takes as push constants.
const MOST_BLOCK_BYTES: usize = 128;

/// One of `shaders/rectangles.cl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InternalKernel {
    Copy(Unit),
    Fill(Unit),
}

/// What rows are moved by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Byte,
    /// So many bytes, to which everything is aligned.
    Four,
    Eight,
    Sixteen,
}

impl InternalKernel {
    /// By [`Self::number`].
    const NAMES: [&str; 8] = [
        "copy_bytes",
        "copy_4",
        "copy_8",
        "copy_16",
        "fill_bytes",
        "fill_4",
        "fill_8",
        "fill_16",
    ];

    fn number(self) -> usize {
        match self {
            Self::Copy(unit) => unit as usize,
            Self::Fill(unit) => Self::NAMES.len() / 2 + unit as usize,
        }
    }

    fn name(self) -> &'static str {
        Self::NAMES.get(self.number()).copied().unwrap_or_default()
    }
}

/// The kernels of one device.
pub struct InternalKernels {
    device: Arc<vulkan::Device>,
    capabilities: Capabilities,
    program: OnceLock<Option<CompiledProgram>>,
    made: [OnceLock<Option<Made>>; InternalKernel::NAMES.len()],
}

struct Made {
    pipeline: vulkan::Pipeline,
    block_bytes: usize,
    /// Where the kernel's only argument, a structure, lies in the block. The rest of it is zeros: the dispatch
    /// is the first and only part of its range.
    argument_offset: usize,
    argument_bytes: usize,
}

impl InternalKernels {
    /// For a device of which the compiler is told `capabilities`. Nothing is made yet.
    pub fn new(device: &Arc<vulkan::Device>, capabilities: &Capabilities) -> Arc<Self> {
        Arc::new(Self {
            device: Arc::clone(device),
            capabilities: capabilities.clone(),
            program: OnceLock::new(),
            made: Default::default(),
        })
    }

    /// The device that they are for.
    pub fn device(&self) -> &Arc<vulkan::Device> {
        &self.device
    }

    /// Whether the kernel can be launched: made now, unless it was before.
    pub fn has(&self, kernel: InternalKernel) -> bool {
        self.made(kernel).is_some()
    }

    /// Records a dispatch over `groups`, within the device's limits, of a kernel that [`Self::has`] told to be
    /// there. `argument` is its structure. `self` must stay until the device is done.
    pub fn dispatch(
        &self,
        recorder: &mut Recorder,
        kernel: InternalKernel,
        argument: &[u8],
        groups: [u32; 3],
    ) {
        let Some(made) = self.made(kernel) else {
            return;
        };
        debug_assert_eq!(made.argument_bytes, argument.len());
        let mut block = [0; MOST_BLOCK_BYTES];
        let place = block.get_mut(made.argument_offset..);
        if let Some(place) = place.and_then(|place| place.get_mut(..argument.len())) {
            place.copy_from_slice(argument);
        }
        let block = block.get(..made.block_bytes).unwrap_or_default();
        recorder.dispatch(&made.pipeline, block, groups);
    }

    fn made(&self, kernel: InternalKernel) -> Option<&Made> {
        let make = || {
            let made = self.make(kernel.name());
            made.inspect_err(|error| log::warn!("{kernel:?}: {error}"))
                .ok()
        };
        let place = self.made.get(kernel.number())?;
        place.get_or_init(make).as_ref()
    }

    fn make(&self, name: &str) -> Result<Made> {
        let missing = || Error::out_of_resources(format!("the kernel '{name}' can't be had"));
        let program = self.program.get_or_init(|| {
            compile(&self.capabilities)
                .inspect_err(|message| log::warn!("the driver's own kernels: {message}"))
                .ok()
        });
        let kernels = &program.as_ref().ok_or_else(missing)?.kernels;
        let found = kernels.iter().find(|kernel| kernel.name == name);
        let kernel = found.ok_or_else(missing)?;
        let (argument_offset, argument_bytes) = argument(kernel).ok_or_else(missing)?;
        let block_bytes = kernel.argument_block.size_bytes;
        let recipe = kept_pipelines::Recipe {
            spirv: &kernel.spirv,
            module: &ShaderModule::new(&self.device, &kernel.spirv.words()?)?,
            constants: &[],
            options: PipelineOptions {
                push_constant_bytes: Some(block_bytes),
                ..PipelineOptions::default()
            },
        };
        log::debug!("pipeline for the driver's own kernel '{name}'");
        Ok(Made {
            pipeline: kept_pipelines::make(&self.device, &recipe, FrontEnd::instance().cache())?,
            block_bytes: block_bytes as usize,
            argument_offset,
            argument_bytes,
        })
    }
}

fn compile(capabilities: &Capabilities) -> std::result::Result<CompiledProgram, String> {
    // Loops over the bytes of a word lose no iterations, whatever the device makes of others.
    let capabilities = Capabilities {
        defects: capabilities.defects - Defects::LIMITS_ITERATIONS,
        ..capabilities.clone()
    };
    let bytes = include_bytes!(concat!(env!("OUT_DIR"), "/rectangles.spv"));
    let modules = Modules {
        modules: vec![PackedModule::of_bytes(bytes).map_err(|error| error.to_string())?],
        ..Modules::default()
    };
    compile_on_own_stack(&capabilities, &modules, false)
}

/// Offset and size of the only argument, if the block is as [`InternalKernels::dispatch`] fills it.
fn argument(kernel: &CompiledKernel) -> Option<(usize, usize)> {
    let block = &kernel.argument_block;
    let is_zero = |(implicit, _): &(Implicit, u32)| {
        matches!(implicit, Implicit::GroupBase(_) | Implicit::GlobalBase(_))
    };
    let fits = block.placement == Placement::PushConstants
        && block.size_bytes as usize <= MOST_BLOCK_BYTES
        && block.implicit.iter().all(is_zero);
    match (fits, kernel.arguments.as_slice()) {
        (true, [only]) => match only.kind {
            ArgumentKind::Value {
                offset_bytes,
                size_bytes,
            } => Some((offset_bytes as usize, size_bytes as usize)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::device::findings::Findings;
    use crate::runtime::device::target;
    use crate::vulkan::test_device;

    #[test]
    fn all_are_made_for_the_device() {
        let Some(device) = test_device::get() else {
            return;
        };
        let kernels = InternalKernels::new(
            &device,
            &target::capabilities(device.info(), &Findings::default()),
        );
        for unit in [Unit::Byte, Unit::Four, Unit::Eight, Unit::Sixteen] {
            for kernel in [InternalKernel::Copy(unit), InternalKernel::Fill(unit)] {
                assert!(kernels.has(kernel), "{kernel:?}");
            }
        }
    }

    #[test]
    fn they_fit_the_least_of_devices() {
        for capabilities in [Capabilities::minimal(), Capabilities::lavapipe()] {
            let program = compile(&capabilities).unwrap();
            assert_eq!(program.kernels.len(), InternalKernel::NAMES.len());
            for kernel in &program.kernels {
                assert!(argument(kernel).is_some(), "{}", kernel.name);
            }
        }
    }
}
