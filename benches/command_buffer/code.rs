//! The kernel's Vulkan code: the same SPIR-V that the driver makes of the same source for the same device.

use crate::support::Result;
use crate::work::{KERNEL, SOURCE};
use pumice::compiler::program::{ArgumentKind, Placement};
use pumice::compiler::{self, Options};
use pumice::runtime::device::Device;
use pumice::runtime::front_end::{FrontEnd, language_target};
use pumice::toolchain::{BuildOptions, CompileRequest, compile_source};

/// A compute shader, entry point `main`, the local size in specialization constants 0 to 2.
pub struct Code {
    pub words: Vec<u32>,
    /// Its push constants, bytes; those that are no argument are 0.
    pub block_bytes: u32,
    /// Where in them the buffer's address goes, and the value.
    pub pointer_at: u32,
    pub value_at: u32,
}

impl Code {
    /// Compiles the benchmark's kernel for `device`.
    pub fn new(device: &Device) -> Result<Self> {
        let front_end = FrontEnd::instance();
        let outcome = compile_source(
            front_end.clang(),
            front_end.cache(),
            &CompileRequest {
                source: SOURCE,
                headers: &[],
                options: &BuildOptions::default(),
                target: &language_target(device),
                is_whole: true,
                is_unoptimized: false,
            },
        );
        let module = outcome.spirv.ok_or(outcome.log)?;
        let program = compiler::compile(
            &[&module],
            front_end.library().map_err(Clone::clone)?,
            device.capabilities(),
            &Options {
                // As OpenCL C 1.2, the default, has it.
                uniform_work_groups: true,
                ..Options::default()
            },
        )?;
        let kernel = program
            .kernels
            .into_iter()
            .find(|kernel| kernel.name == KERNEL)
            .ok_or("the kernel is missing")?;
        let block = &kernel.argument_block;
        let kinds: Vec<&ArgumentKind> = kernel.arguments.iter().map(|it| &it.kind).collect();
        match (kinds.as_slice(), block.placement) {
            (
                [
                    ArgumentKind::Buffer {
                        offset_bytes: pointer_at,
                        ..
                    },
                    ArgumentKind::Value {
                        offset_bytes: value_at,
                        ..
                    },
                ],
                Placement::PushConstants,
            ) => Ok(Self {
                block_bytes: block.size_bytes,
                pointer_at: *pointer_at,
                value_at: *value_at,
                words: kernel.spirv,
            }),
            _ => Err("the kernel's arguments are not where they were".into()),
        }
    }
}
