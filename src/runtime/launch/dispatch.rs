//! From a kernel and a range to the dispatches that a queue records.

use std::convert::Infallible;
use std::sync::Arc;

use opencl_sys::CL_INVALID_PROGRAM_EXECUTABLE;
use smallvec::SmallVec;

use super::argument::ArgumentValue;
use super::arguments::{Arguments, Block, element};
use super::indirect::{self, Addressed};
use super::kernel::{Kernel, KernelState, Launched};
use super::nd_range::NdRange;
use super::plan::LaunchPlan;
use crate::compiler::image::ImageField;
use crate::compiler::program::{ArgumentKind, Implicit};
use crate::runtime::command::Dispatch;
use crate::runtime::command::region::Region;
use crate::runtime::context::device_queue::DeviceQueue;
use crate::runtime::device::Device;
use crate::runtime::printf;
use crate::runtime::program::executable::Executable;
use crate::runtime::program::kernel_code::DeviceCode;
use crate::runtime::{Error, Result};

/// Makes the command for a launch that is recorded: one that prints has no buffer for that yet
/// ([`with_output`]). All arguments of the kernel are set.
///
/// # Errors
/// As `clEnqueueNDRangeKernel`.
pub fn prepare(kernel: &Kernel, queue: &DeviceQueue, range: &NdRange) -> Result<Dispatch> {
    let mut dispatch = Dispatch::default();
    prepare_in(&mut dispatch, kernel, queue, range)?;
    Ok(dispatch)
}

/// Makes `dispatch`, an empty one, the command for a launch that is recorded. Otherwise as [`prepare`].
///
/// # Errors
/// As [`prepare`].
pub fn prepare_in(
    dispatch: &mut Dispatch,
    kernel: &Kernel,
    queue: &DeviceQueue,
    range: &NdRange,
) -> Result<()> {
    // What is let go of here may call the application: when the kernel is locked no longer.
    let addressed = Addressed::new(queue);
    let mut block = Block::default();
    let code = code(kernel, queue.device())?;
    {
        let mut state = kernel.lock();
        let mut launch = Launch::new(dispatch, &mut block, code, range);
        launch.prepare(&mut state, &addressed)?;
        launch.complete();
    }
    if range.is_empty() {
        Ok(())
    } else {
        finish_textures(kernel, queue)
    }
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

/// A launch whose kernel is locked: it can be recorded as it lies there. To wait, it has to be complete in itself
/// ([`Launch::complete`]), which takes as long as to record it.
pub(in crate::runtime) struct Launch<'a> {
    /// All but its regions and what it keeps alive.
    dispatch: &'a mut Dispatch,
    code: DeviceCode<'a>,
    range: &'a NdRange,
    /// `None` where there is nothing to run.
    plan: Option<&'a LaunchPlan>,
    block: &'a mut Block,
    arguments: &'a [ArgumentValue],
    /// The kernel's launch before.
    last: Option<&'a mut Launched>,
}

impl<'a> Launch<'a> {
    /// A launch of nothing yet ([`Launch::prepare`]). `dispatch` is empty, but for where it prints, and so is `block`.
    pub fn new(
        dispatch: &'a mut Dispatch,
        block: &'a mut Block,
        code: DeviceCode<'a>,
        range: &'a NdRange,
    ) -> Self {
        Self {
            dispatch,
            code,
            range,
            plan: None,
            block,
            arguments: &[],
            last: None,
        }
    }

    /// Makes it that of a kernel, whose state is given, with all arguments set.
    ///
    /// # Errors
    /// As `clEnqueueNDRangeKernel`.
    pub fn prepare(&mut self, state: &'a mut KernelState, addressed: &Addressed<'_>) -> Result<()> {
        let (code, range) = (self.code, self.range);
        let compiled = code.compiled;
        self.dispatch.accesses_anything = compiled.follows_pointers;
        if range.is_empty() {
            // "If … the value in any passed dimension is 0 then the kernel command will trivially succeed after
            // its event dependencies are satisfied".
            return Ok(());
        }
        let KernelState {
            arguments,
            plans,
            indirect,
            last,
        } = state;
        let plan = plans.plan(arguments, code, addressed.queue(), range)?;
        self.plan = Some(plan);
        let (dispatch, block) = (&mut *self.dispatch, &mut *self.block);
        block.clear(&compiled.argument_block);
        let mut added = Arguments {
            dispatch,
            block,
            addressed,
        };
        for (argument, value) in compiled.arguments.iter().zip(&*arguments) {
            added.add(&argument.kind, value)?;
        }
        added.add_implicit(code, range, plan)?;
        if compiled.follows_pointers && addressed.matter() {
            indirect::add_followed(self.dispatch, addressed, indirect)?;
        }
        self.arguments = arguments;
        self.last = Some(last);
        Ok(())
    }

    /// The kernel's launch before this one, and what this one is, once: `None` where there is nothing to run.
    pub fn take_last(&mut self) -> Option<(&'a mut Launched, &'a NdRange, &'a [ArgumentValue])> {
        self.plan?;
        Some((self.last.take()?, self.range, self.arguments))
    }

    /// Whether each launch of the kernel is another: what prints has a buffer of its own each time, and what says that it
    /// has lost iterations is looked at each time.
    pub fn is_looked_at(&self) -> bool {
        printf::is_used(self.code.compiled) || self.dispatch.watched.is_some()
    }

    /// Makes an empty dispatch this launch, of which somebody else holds all that it uses. Its accesses are taken.
    pub fn move_to(&mut self, dispatch: &mut Dispatch) {
        let Ok(()) = self.for_each_region::<Infallible>(|region| {
            dispatch.regions.push(region.to_owned());
            Ok(())
        });
        dispatch.accesses.append(&mut self.dispatch.accesses);
        dispatch.accesses_anything = self.dispatch.accesses_anything;
    }

    /// What it uses, and what else there is to know of it.
    pub fn dispatch(&self) -> &Dispatch {
        self.dispatch
    }

    /// What the launch uses, and what else there is to know of it, for the batch to take from.
    pub fn dispatch_mut(&mut self) -> &mut Dispatch {
        self.dispatch
    }

    /// Its code, which has to stay until the device is done.
    pub fn executable(&self) -> &'a Arc<Executable> {
        &self.code.code.executable
    }

    /// Calls `visit` with one part of the range after the other.
    ///
    /// # Errors
    /// The first of `visit`.
    pub fn for_each_region<E>(
        &mut self,
        visit: impl FnMut(Region<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.plan {
            Some(plan) => plan_regions(plan, self.code, self.range, self.block, visit),
            None => Ok(()),
        }
    }

    /// Makes the dispatch complete in itself.
    pub fn complete(self) {
        let Some(plan) = self.plan else {
            return;
        };
        let regions = &mut self.dispatch.regions;
        let Ok(()) =
            plan_regions::<Infallible>(plan, self.code, self.range, self.block, |region| {
                regions.push(region.to_owned());
                Ok(())
            });
        if !regions.is_empty() {
            let executable = Arc::clone(self.executable());
            self.dispatch.keep_alive.push(executable as _);
        }
    }
}

/// Calls `visit` with one part of a launch after the other, whose argument block is `block`.
fn plan_regions<E>(
    plan: &LaunchPlan,
    code: DeviceCode<'_>,
    range: &NdRange,
    block: &mut Block,
    mut visit: impl FnMut(Region<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let argument_block = &code.compiled.argument_block;
    for region in &plan.regions {
        let base = region.groups.base;
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
                Implicit::DispatchWidth => block.put(*offset, &region.groups.width.to_le_bytes()),
                _ => {}
            }
        }
        visit(Region {
            pipeline: &region.pipeline,
            groups: region.groups.count,
            placement: argument_block.placement,
            arguments: &block.0,
        })?;
    }
    Ok(())
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

/// `dispatch`, a launch of `code`, with a buffer of its own for what it prints; `None` where it prints nothing.
///
/// # Errors
/// `CL_OUT_OF_RESOURCES`
pub fn with_output(dispatch: &Dispatch, code: DeviceCode<'_>) -> Result<Option<Dispatch>> {
    let compiled = code.compiled;
    if !printf::is_used(compiled) || dispatch.regions.is_empty() {
        return Ok(None);
    }
    let output = printf::Output::of_recording(code.code)?;
    let implicit = &compiled.argument_block.implicit;
    let mut places = implicit
        .iter()
        .filter(|(implicit, _)| matches!(implicit, Implicit::PrintfBuffer));
    let place = places.next().map(|(_, offset)| *offset);
    let regions = dispatch.regions.iter().map(|region| {
        let region = region.as_region();
        let mut block = Block(SmallVec::from_slice(region.arguments));
        if let Some(offset) = place {
            block.put(offset, &output.device_address().to_le_bytes());
        }
        let arguments = &block.0;
        Region {
            arguments,
            ..region
        }
        .to_owned()
    });
    Ok(Some(Dispatch {
        regions: regions.collect(),
        accesses: dispatch.accesses.clone(),
        accesses_anything: dispatch.accesses_anything,
        memory_accesses: Vec::new(),
        uses_any_address: dispatch.uses_any_address,
        keep_alive: dispatch.keep_alive.clone(),
        printf: Some(output),
        watched: dispatch.watched.clone(),
        on_complete: None,
    }))
}
