//! The driver's own Vulkan code of a kernel, for benchmarks that run it in plain Vulkan.

use super::Result;
use pumice::compiler::program::{ArgumentKind, Placement};
use pumice::compiler::{self, CompiledKernel, Options};
use pumice::runtime::code::front_end::FrontEnd;
use pumice::runtime::device::Device;
use pumice::toolchain::{BuildOptions, CompileRequest, compile_source};

/// A compute shader, entry point `main`.
pub struct VulkanCode {
    kernel: CompiledKernel,
    words: Vec<u32>,
}

impl VulkanCode {
    /// Compiles the kernel called `name` for `device`, as `clBuildProgram` does with these `options`.
    /// `uniform_work_groups` is what the language version says, true before OpenCL C 2.0.
    pub fn new(
        device: &Device,
        source: &str,
        name: &str,
        options: &str,
        uniform_work_groups: bool,
    ) -> Result<Self> {
        let front_end = FrontEnd::instance();
        let outcome = compile_source(
            front_end.clang(),
            front_end.cache(),
            &CompileRequest {
                source,
                headers: &[],
                options: &BuildOptions::parse(options)?,
                target: &device.language_target(),
                is_whole: true,
                is_unoptimized: false,
            },
        );
        let module = outcome.spirv.ok_or(outcome.log)?;
        let program = compiler::compile(
            &[&module.words()?],
            front_end.library().map_err(Clone::clone)?,
            device.capabilities(),
            &Options {
                uniform_work_groups,
                ..Options::default()
            },
        )?;
        let kernel = program
            .kernels
            .into_iter()
            .find(|kernel| kernel.name == name)
            .ok_or("the kernel is missing")?;
        match kernel.argument_block.placement {
            Placement::PushConstants => Ok(Self {
                words: kernel.spirv.words()?,
                kernel,
            }),
            Placement::DeviceAddress => Err("the arguments are not in the push constants".into()),
        }
    }

    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// `SpecId` and value for launches in work-groups of `local_size`, over a range that starts at 0 and is small, as
    /// the driver has them.
    pub fn constants(&self, local_size: [u32; 3]) -> Vec<(u32, u32)> {
        let small_range = self.kernel.small_range_spec_id.map(|id| (id, 1));
        (0..).zip(local_size).chain(small_range).collect()
    }

    /// Bytes of push constants; those that are no argument are 0.
    pub fn block_bytes(&self) -> usize {
        self.kernel.argument_block.size_bytes as usize
    }

    /// Where in them the arguments are.
    pub fn offsets(&self) -> Result<Vec<usize>> {
        let offset = |kind: &ArgumentKind| match kind {
            ArgumentKind::Buffer { offset_bytes, .. }
            | ArgumentKind::Value { offset_bytes, .. } => Ok(*offset_bytes as usize),
            _ => Err("an argument is not in the push constants".into()),
        };
        self.kernel
            .arguments
            .iter()
            .map(|argument| offset(&argument.kind))
            .collect()
    }
}
