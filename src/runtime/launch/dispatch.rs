//! From a kernel and a range to the dispatches that a queue records.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use opencl_sys::{CL_INVALID_KERNEL_ARGS, CL_INVALID_PROGRAM_EXECUTABLE};
use smallvec::SmallVec;

use super::argument::ArgumentValue;
use super::indirect::{self, Addressed};
use super::kernel::{Kernel, KernelState, Launched};
use super::nd_range::NdRange;
use super::plan::LaunchPlan;
use crate::compiler::image::ImageField;
use crate::compiler::program::{ArgumentBlock, ArgumentKind, Implicit};
use crate::runtime::allocation::Access;
use crate::runtime::command::Dispatch;
use crate::runtime::command::hazard::ALL_BYTES;
use crate::runtime::command::region::Region;
use crate::runtime::context::device_queue::DeviceQueue;
use crate::runtime::device::Device;
use crate::runtime::memory::Memory;
use crate::runtime::printf;
use crate::runtime::program::executable::Executable;
use crate::runtime::program::kernel_code::DeviceCode;
use crate::runtime::program::lost_iterations::Watched;
use crate::runtime::residency::backing::Use;
use crate::runtime::residency::residence::Mode;
use crate::runtime::residency::storage::Place;
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
        self.dispatch.touches_anything = compiled.follows_pointers;
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
        for (argument, value) in compiled.arguments.iter().zip(&*arguments) {
            add_argument(dispatch, block, addressed, &argument.kind, value)?;
        }
        if compiled.follows_pointers && addressed.matter() {
            indirect::add_followed(dispatch, addressed, indirect)?;
        }
        self.arguments = arguments;
        self.last = Some(last);
        add_implicit(dispatch, block, code, range, plan)
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
        dispatch.touches_anything = self.dispatch.touches_anything;
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
        touches_anything: dispatch.touches_anything,
        uses: Vec::new(),
        uses_any_address: dispatch.uses_any_address,
        keep_alive: dispatch.keep_alive.clone(),
        printf: Some(output),
        watched: dispatch.watched.clone(),
        on_complete: None,
    }))
}

fn element<T: Copy + Default>(values: &[T; 3], dimension: u8) -> T {
    values
        .get(usize::from(dimension))
        .copied()
        .unwrap_or_default()
}

fn add_argument(
    dispatch: &mut Dispatch,
    block: &mut Block,
    addressed: &Addressed<'_>,
    kind: &ArgumentKind,
    value: &ArgumentValue,
) -> Result<()> {
    let queue = addressed.queue();
    match (kind, value) {
        (ArgumentKind::Value { offset_bytes, .. }, ArgumentValue::Bytes(bytes)) => {
            block.put(*offset_bytes, bytes);
        }
        (
            ArgumentKind::Buffer {
                offset_bytes,
                written,
                ..
            },
            ArgumentValue::Memory(Some(memory)),
        ) => {
            let memory = memory.upgrade().ok_or_else(|| {
                Error::new(
                    CL_INVALID_KERNEL_ARGS,
                    "a buffer set as an argument was released before the launch",
                )
            })?;
            let place = memory.place(queue.context_device())?;
            block.put(*offset_bytes, &place.device_address().to_le_bytes());
            dispatch.accesses.push(Access {
                bytes: bytes_of(&memory, &place),
                allocation: place.allocation,
                write: *written,
            });
            add_use(dispatch, memory, *written);
        }
        (
            ArgumentKind::Buffer {
                offset_bytes,
                written,
                ..
            },
            ArgumentValue::Address(address) | ArgumentValue::SharedAddress(address),
        ) => {
            block.put(*offset_bytes, &address.to_le_bytes());
            if let Some(memory) = queue.context().shared().find(*address) {
                dispatch.accesses.push(Access {
                    allocation: Arc::clone(memory.on(queue.context_device())?),
                    bytes: ALL_BYTES,
                    write: *written,
                });
                return Ok(());
            }
            let is_shared = matches!(value, ArgumentValue::SharedAddress(1..));
            if is_shared && !queue.device().unification().any_host_memory {
                // "CL_INVALID_OPERATION if SVM pointers are passed as arguments to a kernel and the device does not support
                // SVM or if system pointers are passed as arguments to a kernel … and the device does not support fine
                // grain system SVM allocations."
                return Err(Error::invalid_operation(format!(
                    "the argument {address:#x} is no address of shared virtual memory"
                )));
            }
            dispatch.touches_anything |= *address != 0;
            indirect::add_address(dispatch, addressed, *address, *written)?;
        }
        (
            ArgumentKind::Image {
                fields, written, ..
            },
            ArgumentValue::Memory(Some(memory)),
        ) => {
            let released = || {
                Error::new(
                    CL_INVALID_KERNEL_ARGS,
                    "an image set as an argument was released before the launch",
                )
            };
            let memory = memory.upgrade().ok_or_else(released)?;
            let image = memory.image().ok_or_else(released)?;
            let place = memory.place(queue.context_device())?;
            for (field, offset_bytes) in fields {
                let value = match field {
                    // Read only where the format says that there is one.
                    ImageField::Texture => memory
                        .texture(queue.context_device(), queue.vk_queue())
                        .map_or(0, |texture| texture.index().into()),
                    field => image.field(*field, place.device_address()),
                };
                let value = value.to_le_bytes();
                if let Some(bytes) = value.get(..field.size_bytes() as usize) {
                    block.put(*offset_bytes, bytes);
                }
            }
            dispatch.accesses.push(Access {
                bytes: bytes_of(&memory, &place),
                allocation: place.allocation,
                write: *written,
            });
            add_use(dispatch, memory, *written);
        }
        // NULL is address 0, which the block holds from the start; local sizes are in the pipeline; unused
        // arguments are written nowhere.
        _ => {}
    }
    Ok(())
}

fn add_use(dispatch: &mut Dispatch, memory: Arc<Memory>, written: bool) {
    if memory.travels() {
        let mode = Mode::of(written);
        dispatch.uses.push(Use::whole(memory.backing(), mode));
    }
}

/// The bytes of an allocation that a kernel reaches through `memory`: a sub-buffer's own, since "the behavior of
/// reading from and writing to a buffer outside" of it is not defined.
fn bytes_of(memory: &Memory, place: &Place) -> Range<u64> {
    let start = place.offset_bytes as u64;
    match memory.parent() {
        Some(_) => start..start + memory.size_bytes() as u64,
        None => ALL_BYTES,
    }
}

fn add_implicit(
    dispatch: &mut Dispatch,
    block: &mut Block,
    code: DeviceCode<'_>,
    range: &NdRange,
    plan: &LaunchPlan,
) -> Result<()> {
    for (implicit, offset) in &code.compiled.argument_block.implicit {
        let value: u64 = match implicit {
            Implicit::GlobalOffset(dimension) => element(&range.offset, *dimension),
            Implicit::GlobalSize(dimension) => element(&range.global, *dimension),
            Implicit::NumGroups(dimension) => element(&plan.groups, *dimension),
            Implicit::EnqueuedLocalSize(dimension) => element(&plan.local, *dimension).into(),
            Implicit::WorkDim => range.dimensions.into(),
            // Written for each region.
            Implicit::GroupBase(_) | Implicit::GlobalBase(_) | Implicit::DispatchWidth => continue,
            Implicit::DataSegment => match code.code.executable.data()? {
                Some(allocation) => {
                    dispatch.accesses.push(Access {
                        allocation: Arc::clone(allocation),
                        bytes: ALL_BYTES,
                        write: code.code.executable.program().data.writable,
                    });
                    allocation.device_address()
                }
                None => 0,
            },
            Implicit::OrderWord => code.code.executable.device().order_word()?,
            Implicit::IterationsLost => {
                let (executable, index) = (&code.code.executable, code.code.index());
                dispatch.watched = Watched::of(executable, index);
                match executable.iterations_lost(index) {
                    Some(word) => word.address(executable.device().vulkan()?)?,
                    None => 0,
                }
            }
            Implicit::PrintfBuffer => match &dispatch.printf {
                Some(output) => output.device_address(),
                None => 0,
            },
        };
        let size = implicit.size_bytes() as usize;
        if let Some(bytes) = value.to_le_bytes().get(..size) {
            block.put(*offset, bytes);
        }
    }
    Ok(())
}

/// The argument block being filled.
#[derive(Default)]
pub(in crate::runtime) struct Block(SmallVec<[u8; 256]>);

impl Block {
    /// Makes it one of zeros.
    fn clear(&mut self, block: &ArgumentBlock) {
        let size_bytes = block.size_bytes as usize;
        self.0.clear();
        // At once: SmallVec::resize takes ten instructions for each byte.
        match [0; 256].get(..size_bytes) {
            Some(zeros) => self.0.extend_from_slice(zeros),
            None => self.0.resize(size_bytes, 0),
        }
    }

    /// Writes at `offset`; what the compiler placed always fits.
    fn put(&mut self, offset: u32, bytes: &[u8]) {
        let start = offset as usize;
        let place = self.0.get_mut(start..start.saturating_add(bytes.len()));
        debug_assert!(place.is_some(), "an argument lies outside its block");
        if let Some(place) = place {
            place.copy_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_written_where_the_compiler_says() {
        let mut block = Block::default();
        block.clear(&ArgumentBlock {
            size_bytes: 12,
            ..ArgumentBlock::default()
        });
        block.put(4, &7u32.to_le_bytes());
        assert_eq!(block.0.as_slice(), [0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
        for size_bytes in [8, 256, 300] {
            block.clear(&ArgumentBlock {
                size_bytes,
                ..ArgumentBlock::default()
            });
            assert_eq!(block.0.as_slice(), vec![0; size_bytes as usize]);
        }
    }
}
