//! From a kernel and a range to the launch that a queue records.

use std::sync::{Arc, MutexGuard};

use opencl_sys::CL_INVALID_PROGRAM_EXECUTABLE;
use smallvec::SmallVec;

use super::argument::ArgumentValue;
use super::argument_block::{ArgumentWriter, Block, element, put};
use super::indirect::{self, Addressed};
use super::kernel::{Kernel, KernelState};
use super::nd_range::NdRange;
use super::plan::LaunchPlan;
use crate::compiler::image::ImageField;
use crate::compiler::program::{ArgumentKind, Implicit};
use crate::runtime::command::prepared_launch::{LaunchRegion, LaunchUses, PreparedLaunch};
use crate::runtime::context::device_queue::DeviceQueue;
use crate::runtime::device::Device;
use crate::runtime::printf;
use crate::runtime::program::kernel_code::DeviceCode;
use crate::runtime::{Error, Result};

/// Prepares a launch that is recorded into a command buffer: one that prints has no buffer for that yet
/// ([`with_output`]). All arguments of the kernel are set.
///
/// # Errors
/// Those of `clEnqueueNDRangeKernel`.
pub fn prepare(
    kernel: &Kernel,
    queue: &DeviceQueue,
    range: &NdRange,
) -> Result<Box<PreparedLaunch>> {
    // What is let go of here may call the application: when the kernel is locked no longer.
    let addressed = Addressed::new(queue);
    let mut locked = LockedKernel::new(kernel, code(kernel, queue.device())?);
    locked.prepare(range, &addressed, None)?;
    let launch = locked.take();
    drop(locked);
    if !range.is_empty() {
        finish_textures(kernel, queue)?;
    }
    Ok(launch)
}

/// What is recorded runs on other queues too, of which it is not known that they come after a new texture's
/// transition.
fn finish_textures(kernel: &Kernel, queue: &DeviceQueue) -> Result<()> {
    let textures: SmallVec<[_; 4]> = {
        let Some(code) = kernel.code(queue.device()) else {
            return Ok(());
        };
        let state = kernel.lock();
        let arguments = code.compiled.arguments.iter().zip(&state.arguments);
        let sampled = arguments.filter_map(|(argument, value)| match (&argument.kind, value) {
            (ArgumentKind::Image { fields, .. }, ArgumentValue::Memory(Some(memory))) => {
                let mut fields = fields.iter().map(|(field, _)| field);
                let is_sampled = fields.any(|field| *field == ImageField::Texture);
                memory.upgrade().filter(|_| is_sampled)
            }
            _ => None,
        });
        sampled
            .filter_map(|memory| memory.texture(queue.context_device(), queue.vk_queue()))
            .collect()
    };
    textures.iter().try_for_each(|texture| texture.finish())
}

/// A kernel that is locked while a launch of it is prepared, and recorded from where it lies.
pub(in crate::runtime) struct LockedKernel<'a> {
    code: DeviceCode<'a>,
    state: MutexGuard<'a, KernelState>,
    /// What is left of the launch as it is unlocked. It comes after the lock: it is dropped later.
    uses: LaunchUses,
}

impl<'a> LockedKernel<'a> {
    /// Locks a kernel, to be launched with `code`.
    pub fn new(kernel: &'a Kernel, code: DeviceCode<'a>) -> Self {
        Self {
            code,
            state: kernel.lock(),
            uses: LaunchUses::default(),
        }
    }

    /// What changes about the kernel; the launch that was prepared among that.
    pub fn state(&mut self) -> &mut KernelState {
        &mut self.state
    }

    /// The launch that was prepared.
    pub fn launch(&self) -> &PreparedLaunch {
        &self.state.launch
    }

    /// Takes the launch that was prepared: it is complete in itself.
    pub fn take(&mut self) -> Box<PreparedLaunch> {
        std::mem::take(&mut self.state.launch)
    }

    /// Prepares a launch over `range`, all arguments set, which prints to `output`.
    ///
    /// # Errors
    /// Those of `clEnqueueNDRangeKernel`.
    pub fn prepare(
        &mut self,
        range: &NdRange,
        addressed: &Addressed<'_>,
        output: Option<Arc<printf::Output>>,
    ) -> Result<()> {
        let code = self.code;
        let compiled = code.compiled;
        let KernelState {
            arguments,
            plans,
            indirect,
            launch,
            ..
        } = &mut *self.state;
        launch.accesses_anything = compiled.follows_pointers;
        launch.uses_any_address = false;
        launch.printf = output;
        if range.is_empty() {
            // "If … the value in any passed dimension is 0 then the kernel command will trivially succeed after
            // its event dependencies are satisfied".
            launch.regions.clear();
            launch.executable = None;
            return Ok(());
        }
        let plan = plans.plan(arguments, code, addressed.queue(), range)?;
        let mut block = Block::default();
        block.clear(&compiled.argument_block);
        let mut added = ArgumentWriter {
            launch,
            block: &mut block,
            addressed,
        };
        for (argument, value) in compiled.arguments.iter().zip(&*arguments) {
            added.add(&argument.kind, value)?;
        }
        added.add_implicit(code, range, plan)?;
        if compiled.follows_pointers && addressed.matter() {
            indirect::add_followed(launch, addressed, indirect)?;
        }
        set_regions(launch, plan, code, range, &mut block);
        let executable = &code.code.executable;
        if !matches!(&launch.executable, Some(own) if Arc::ptr_eq(own, executable)) {
            launch.executable = Some(Arc::clone(executable));
        }
        Ok(())
    }
}

impl Drop for LockedKernel<'_> {
    fn drop(&mut self) {
        self.state.launch.take_uses(&mut self.uses);
    }
}

/// Sets the regions of a launch, whose argument block is `block` but for what differs from region to region. Those of the
/// launch before, most often the same but for their arguments, are in their place.
fn set_regions(
    launch: &mut PreparedLaunch,
    plan: &LaunchPlan,
    code: DeviceCode<'_>,
    range: &NdRange,
    block: &mut Block,
) {
    let argument_block = &code.compiled.argument_block;
    launch.regions.truncate(plan.regions.len());
    for (index, planned) in plan.regions.iter().enumerate() {
        let base = planned.groups.base;
        for (implicit, offset) in &argument_block.implicit {
            match implicit {
                Implicit::GroupBase(dimension) => {
                    let base = element(&base, *dimension);
                    block.put(*offset, &base.to_le_bytes());
                }
                Implicit::GlobalBase(dimension) => {
                    let group = u64::from(element(&base, *dimension));
                    let first = group * u64::from(element(&plan.local, *dimension));
                    let start = element(&range.offset, *dimension) + first;
                    block.put(*offset, &start.to_le_bytes());
                }
                Implicit::DispatchWidth => block.put(*offset, &planned.groups.width.to_le_bytes()),
                _ => {}
            }
        }
        match launch.regions.get_mut(index) {
            Some(region) => {
                if !Arc::ptr_eq(&region.pipeline, &planned.pipeline) {
                    region.pipeline = Arc::clone(&planned.pipeline);
                }
                region.groups = planned.groups.count;
                region.placement = argument_block.placement;
                region.arguments.clear();
                region.arguments.extend_from_slice(&block.0);
            }
            None => launch.regions.push(LaunchRegion {
                pipeline: Arc::clone(&planned.pipeline),
                groups: planned.groups.count,
                placement: argument_block.placement,
                arguments: SmallVec::from_slice(&block.0),
            }),
        }
    }
}

/// The code of a kernel for the device of a queue.
///
/// # Errors
/// "CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built program executable available for device
/// associated with command_queue."
pub fn code<'a>(kernel: &'a Kernel, device: &Arc<Device>) -> Result<DeviceCode<'a>> {
    kernel.code(device).ok_or_else(|| {
        Error::new(
            CL_INVALID_PROGRAM_EXECUTABLE,
            "the program was not built for the queue's device",
        )
    })
}

/// `launch`, one of `code`, with a buffer of its own for what it prints; `None` where it prints nothing.
///
/// # Errors
/// `CL_OUT_OF_RESOURCES`
pub fn with_output(
    launch: &PreparedLaunch,
    code: DeviceCode<'_>,
) -> Result<Option<Box<PreparedLaunch>>> {
    let compiled = code.compiled;
    if !printf::is_used(compiled) || launch.regions.is_empty() {
        return Ok(None);
    }
    let output = printf::Output::of_recording(code.code)?;
    let implicit = &compiled.argument_block.implicit;
    let mut places = implicit
        .iter()
        .filter(|(implicit, _)| matches!(implicit, Implicit::PrintfBuffer));
    let place = places.next().map(|(_, offset)| *offset);
    let mut regions = launch.regions.clone();
    if let Some(offset) = place {
        let address = output.device_address().to_le_bytes();
        for region in &mut regions {
            put(&mut region.arguments, offset, &address);
        }
    }
    Ok(Some(Box::new(PreparedLaunch {
        regions,
        accesses: launch.accesses.clone(),
        accesses_anything: launch.accesses_anything,
        memory_accesses: Vec::new(),
        uses_any_address: launch.uses_any_address,
        executable: launch.executable.clone(),
        printf: Some(output),
        watched: launch.watched.clone(),
    })))
}
