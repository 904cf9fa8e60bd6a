//! Kernels that give program-scope variables their first values: the constructors of C++ for OpenCL.
//!
//! They run once for each device, in the order of the program, one work-item each, after the variables were
//! laid out in memory and before any other kernel can see them.

use super::pipeline_key::PipelineKey;
use crate::compiler::CompiledKernel;
use crate::compiler::program::{Implicit, Placement};
use crate::runtime::allocation::Allocation;
use crate::runtime::allocation::iterations_word::{self, Word};
use crate::runtime::allocation::upload::dispatch_once;
use crate::runtime::device::Device;
use crate::runtime::{Error, Result};
use crate::vulkan;
use smallvec::SmallVec;
use std::sync::Arc;

/// Runs the initializers among the kernels of a program over `data`, its segment, and waits for them. `code` gives the
/// pipeline of a kernel for a key, and the word in which the kernel says that it has lost iterations, if it may come to that.
///
/// # Errors
/// No memory, a pipeline that the driver can't make, an initializer that prints, or one that makes more iterations than the
/// device does.
pub fn run<'a>(
    device: &Device,
    kernels: &[CompiledKernel],
    data: &Allocation,
    code: impl Fn(usize, &PipelineKey) -> Result<(Arc<vulkan::Pipeline>, Option<&'a Word>)>,
) -> Result<()> {
    let kernels = kernels.iter().enumerate();
    for (index, kernel) in kernels.filter(|(_, kernel)| kernel.attributes.is_initializer) {
        let key = PipelineKey {
            local_size: kernel.attributes.required_work_group_size.unwrap_or([1; 3]),
            constants: SmallVec::new(),
        };
        let (pipeline, word) = code(index, &key)?;
        let block = block(kernel, key.local_size, data, device, word)?;
        let in_memory = kernel.argument_block.placement == Placement::DeviceAddress;
        log::debug!("initializer '{}'", kernel.name);
        dispatch_once(device.vulkan()?, &pipeline, &block, in_memory)?;
        if word.is_some_and(Word::take) {
            return Err(Error::out_of_resources(iterations_word::message(
                &kernel.name,
            )));
        }
    }
    Ok(())
}

/// The argument block of a launch of one work-group.
fn block(
    kernel: &CompiledKernel,
    local_size: [u32; 3],
    data: &Allocation,
    device: &Device,
    word: Option<&Word>,
) -> Result<Vec<u8>> {
    let mut block = vec![0; kernel.argument_block.size_bytes as usize];
    for (implicit, offset) in &kernel.argument_block.implicit {
        let value: u64 = match *implicit {
            Implicit::DataSegment => data.device_address(),
            Implicit::OrderWord => device.order_word()?,
            Implicit::IterationsLost => match word {
                Some(word) => word.address(device.vulkan()?)?,
                None => 0,
            },
            Implicit::GlobalSize(dimension) | Implicit::EnqueuedLocalSize(dimension) => local_size
                .get(usize::from(dimension))
                .map_or(1, |&size| size.into()),
            Implicit::NumGroups(_) | Implicit::WorkDim => 1,
            Implicit::DispatchWidth => local_size[0].into(),
            Implicit::GlobalOffset(_) | Implicit::GlobalBase(_) | Implicit::GroupBase(_) => 0,
            Implicit::PrintfBuffer => {
                return Err(Error::out_of_resources(format!(
                    "the initializer '{}' prints, which is possible in kernels only",
                    kernel.name
                )));
            }
        };
        let start = *offset as usize;
        let bytes = value.to_le_bytes();
        let size = implicit.size_bytes() as usize;
        if let (Some(place), Some(bytes)) = (block.get_mut(start..start + size), bytes.get(..size))
        {
            place.copy_from_slice(bytes);
        }
    }
    Ok(block)
}
