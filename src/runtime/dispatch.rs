//! From a kernel and a range to the dispatches that a queue records.

use std::ops::Range;
use std::sync::Arc;

use opencl_sys::{CL_INVALID_KERNEL_ARGS, CL_INVALID_PROGRAM_EXECUTABLE, cl_command_type};
use smallvec::SmallVec;

use super::allocation::Access;
use super::command::{Arguments, Command, Dispatch, DispatchRegion, Ordering};
use super::event::Event;
use super::hazard::ALL_BYTES;
use super::indirect;
use super::kernel::{ArgumentValue, Kernel, KernelCode};
use super::launch_plan::{self, LaunchPlan};
use super::memory::Memory;
use super::printf;
use super::queue::{Queue, Waits};
use super::residence::{Mode, Use, WaitList};
use super::storage::Place;
use super::{Error, Result};
use crate::compiler::image::ImageField;
use crate::compiler::program::{ArgumentBlock, ArgumentKind, Implicit, Placement};

/// The range of `clEnqueueNDRangeKernel`. Dimensions beyond `dimensions` have offset 0 and size 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NdRange {
    pub dimensions: u32,
    pub offset: [u64; 3],
    pub global: [u64; 3],
    /// `None`: the implementation chooses.
    pub local: Option<[u64; 3]>,
}

impl NdRange {
    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.global.contains(&0)
    }
}

impl Queue {
    /// Enqueues the launch of a kernel; `kind` is what its event says it is, which is made if `wants_event`.
    ///
    /// # Errors
    /// As `clEnqueueNDRangeKernel`; what is wrong with the wait list comes after what is wrong with the launch.
    pub fn launch(
        self: &Arc<Self>,
        kind: cl_command_type,
        kernel: &Kernel,
        range: &NdRange,
        wait_list: Result<WaitList>,
        wants_event: bool,
    ) -> Result<Option<Arc<Event>>> {
        let mut command = Command::Dispatch(Dispatch::default());
        if let Command::Dispatch(dispatch) = &mut command {
            // Before the kernel is locked: it may have to wait for earlier commands, whose end calls the application.
            dispatch.printf = match kernel.code(self.device()) {
                Some((_, code)) if printf::is_used(code.compiled()) && !range.is_empty() => {
                    Some(printf::Output::new(self, code)?)
                }
                _ => None,
            };
            prepare_in(dispatch, kernel, self, range)?;
        }
        let mut wait_list = wait_list?;
        if self.context().devices().len() > 1 {
            let mut uses = command.take_uses();
            if matches!(&command, Command::Dispatch(dispatch) if dispatch.uses_any_address) {
                uses.extend(self.context().addressed_uses());
            }
            self.bring(&uses, &mut wait_list)?;
        }
        let waits = Waits::on(&wait_list);
        self.enqueue_if(wants_event, kind, &mut command, waits, Ordering::default())
    }
}

/// Makes the command for a launch that is recorded: one that prints has no buffer for that yet
/// ([`with_output`]).
///
/// # Errors
/// As `clEnqueueNDRangeKernel`.
pub fn prepare(kernel: &Kernel, queue: &Arc<Queue>, range: &NdRange) -> Result<Dispatch> {
    let mut dispatch = Dispatch::default();
    prepare_in(&mut dispatch, kernel, queue, range)?;
    if !range.is_empty() {
        finish_textures(kernel, queue)?;
    }
    Ok(dispatch)
}

/// What is recorded runs on other queues too, of which it is not known that they come after a new texture's
/// transition.
fn finish_textures(kernel: &Kernel, queue: &Queue) -> Result<()> {
    let textures: SmallVec<[_; 4]> = {
        let Some((_, code)) = kernel.code(queue.device()) else {
            return Ok(());
        };
        let state = kernel.lock();
        let arguments = code.compiled().arguments.iter().zip(&state.arguments);
        let sampled = arguments.filter_map(|(argument, value)| match (&argument.kind, value) {
            (ArgumentKind::Image { fields, .. }, ArgumentValue::Memory(Some(memory))) => {
                let mut fields = fields.iter().map(|(field, _)| field);
                let is_sampled = fields.any(|field| *field == ImageField::Texture);
                memory.upgrade().filter(|_| is_sampled)
            }
            _ => None,
        });
        sampled.filter_map(|memory| memory.texture(queue)).collect()
    };
    textures.iter().try_for_each(|texture| texture.finish())
}

/// [`prepare`] in a dispatch that is empty, but for where it prints.
fn prepare_in(
    dispatch: &mut Dispatch,
    kernel: &Kernel,
    queue: &Arc<Queue>,
    range: &NdRange,
) -> Result<()> {
    let device = queue.device();
    // "CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built program executable available for
    // device associated with command_queue."
    let (place, code) = kernel.code(device).ok_or_else(|| {
        Error::new(
            CL_INVALID_PROGRAM_EXECUTABLE,
            "the program was not built for the queue's device",
        )
    })?;
    let compiled = code.compiled();
    // Let go of when the kernel is locked no longer.
    let addressed = indirect::addressed(queue);
    let state = &mut *kernel.lock();
    // "CL_INVALID_KERNEL_ARGS if the kernel argument values have not been specified."
    if let Some(index) = state
        .arguments
        .iter()
        .position(|argument| matches!(argument, ArgumentValue::Unset))
    {
        return Err(Error::new(
            CL_INVALID_KERNEL_ARGS,
            format!(
                "argument {index} of kernel '{}' was never set",
                kernel.name()
            ),
        ));
    }
    dispatch.touches_anything = compiled.follows_pointers;
    if range.is_empty() {
        // "If … the value in any passed dimension is 0 then the kernel command will trivially succeed after
        // its event dependencies are satisfied".
        return Ok(());
    }
    let plan = launch_plan::plan(&mut state.plan, &state.arguments, code, place, queue, range)?;
    let mut block = Block::new(&compiled.argument_block);
    for (argument, value) in compiled.arguments.iter().zip(&state.arguments) {
        add_argument(
            dispatch,
            &mut block,
            queue,
            &addressed,
            &argument.kind,
            value,
        )?;
    }
    if compiled.follows_pointers && queue.context().devices().len() > 1 {
        indirect::add_followed(dispatch, queue, &addressed, &state.indirect)?;
    }
    add_implicit(dispatch, &mut block, code, range, plan)?;
    for region in &plan.regions {
        let base = region.groups.base;
        for (implicit, offset) in &compiled.argument_block.implicit {
            match implicit {
                Implicit::GroupBase(dimension) => {
                    block.put(*offset, &element(&base, *dimension).to_le_bytes());
                }
                Implicit::GlobalBase(dimension) => {
                    let group = u64::from(element(&base, *dimension));
                    let first = group * u64::from(element(&plan.local, *dimension));
                    let start = element(&range.offset, *dimension) + first;
                    block.put(*offset, &start.to_le_bytes());
                }
                _ => {}
            }
        }
        dispatch.regions.push(DispatchRegion {
            pipeline: Arc::clone(&region.pipeline),
            groups: region.groups.count,
            arguments: block.arguments(compiled.argument_block.placement),
        });
    }
    dispatch.keep_alive.push(Arc::clone(&code.executable) as _);
    Ok(())
}

/// The same launch of `code` with a buffer of its own for what it prints; `None` where it prints nothing.
///
/// # Errors
/// `CL_OUT_OF_RESOURCES`
pub fn with_output(dispatch: &Dispatch, code: &KernelCode) -> Result<Option<Dispatch>> {
    let compiled = code.compiled();
    if !printf::is_used(compiled) || dispatch.regions.is_empty() {
        return Ok(None);
    }
    let output = printf::Output::of_recording(code)?;
    let implicit = &compiled.argument_block.implicit;
    let mut places = implicit
        .iter()
        .filter(|(implicit, _)| matches!(implicit, Implicit::PrintfBuffer));
    let place = places.next().map(|(_, offset)| *offset);
    let regions = dispatch.regions.iter().map(|region| {
        let (Arguments::PushConstants(bytes) | Arguments::Block(bytes)) = &region.arguments;
        let mut block = Block(SmallVec::from_slice(bytes));
        if let Some(offset) = place {
            block.put(offset, &output.device_address().to_le_bytes());
        }
        DispatchRegion {
            pipeline: Arc::clone(&region.pipeline),
            groups: region.groups,
            arguments: block.arguments(compiled.argument_block.placement),
        }
    });
    Ok(Some(Dispatch {
        regions: regions.collect(),
        accesses: dispatch.accesses.clone(),
        touches_anything: dispatch.touches_anything,
        uses: Vec::new(),
        uses_any_address: dispatch.uses_any_address,
        keep_alive: dispatch.keep_alive.clone(),
        printf: Some(output),
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
    queue: &Arc<Queue>,
    addressed: &[Arc<Memory>],
    kind: &ArgumentKind,
    value: &ArgumentValue,
) -> Result<()> {
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
            let place = memory.place(queue)?;
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
                    allocation: Arc::clone(memory.on(queue)?),
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
            indirect::add_address(dispatch, queue, addressed, *address, *written)?;
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
            let place = memory.place(queue)?;
            for (field, offset_bytes) in fields {
                let value = match field {
                    // Read only where the format says that there is one.
                    ImageField::Texture => memory
                        .texture(queue)
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
        dispatch.uses.push(Use::whole(memory, mode));
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
    code: &KernelCode,
    range: &NdRange,
    plan: &LaunchPlan,
) -> Result<()> {
    for (implicit, offset) in &code.compiled().argument_block.implicit {
        let value: u64 = match implicit {
            Implicit::GlobalOffset(dimension) => element(&range.offset, *dimension),
            Implicit::GlobalSize(dimension) => element(&range.global, *dimension),
            Implicit::NumGroups(dimension) => element(&plan.groups, *dimension),
            Implicit::EnqueuedLocalSize(dimension) => element(&plan.local, *dimension).into(),
            Implicit::WorkDim => range.dimensions.into(),
            // Written for each region.
            Implicit::GroupBase(_) | Implicit::GlobalBase(_) => continue,
            Implicit::DataSegment => match code.executable.data()? {
                Some(allocation) => {
                    dispatch.accesses.push(Access {
                        allocation: Arc::clone(allocation),
                        bytes: ALL_BYTES,
                        write: code.executable.program().data.writable,
                    });
                    allocation.device_address()
                }
                None => 0,
            },
            Implicit::OrderWord => code.executable.device().order_word()?,
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
struct Block(SmallVec<[u8; 256]>);

impl Block {
    fn new(block: &ArgumentBlock) -> Self {
        Self(smallvec::smallvec![0; block.size_bytes as usize])
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

    fn arguments(&self, placement: Placement) -> Arguments {
        // `clone` copies byte by byte.
        let bytes = SmallVec::from_slice(&self.0);
        match placement {
            Placement::PushConstants => Arguments::PushConstants(bytes),
            Placement::DeviceAddress => Arguments::Block(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_written_where_the_compiler_says() {
        let mut block = Block::new(&ArgumentBlock {
            size_bytes: 12,
            ..ArgumentBlock::default()
        });
        block.put(4, &7u32.to_le_bytes());
        assert_eq!(block.0.as_slice(), [0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
    }
}
