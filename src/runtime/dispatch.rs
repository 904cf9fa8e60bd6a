//! From a kernel and a range to the dispatches that a queue records.

use std::sync::Arc;

use opencl_sys::{
    CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_KERNEL_ARGS, CL_INVALID_PROGRAM_EXECUTABLE,
    CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_ITEM_SIZE,
};
use smallvec::SmallVec;

use super::allocation::Access;
use super::command::{Arguments, Dispatch, DispatchRegion};
use super::device::Device;
use super::kernel::{ArgumentValue, ChosenSize, Kernel, KernelCode, KernelState, RecentPipeline};
use super::printf;
use super::program::executable::PipelineKey;
use super::queue::Queue;
use super::work_size::{WorkLimits, choose_local_size, split_groups};
use super::{Error, Result};
use crate::compiler::CompiledKernel;
use crate::compiler::program::{ArgumentKind, Implicit, Placement};

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

/// What a device allows of one dispatch.
pub fn work_limits(device: &Device) -> WorkLimits {
    let limits = device.limits();
    WorkLimits {
        max_group_size: limits.max_work_group_size as u32,
        max_item_sizes: limits.max_work_item_sizes.map(|size| size as u32),
        max_group_counts: device.info().limits.max_compute_work_group_count,
        subgroup_size: limits.subgroup_size,
    }
}

/// The local size of a range: as given, as required, or chosen.
///
/// # Errors
/// `CL_INVALID_WORK_GROUP_SIZE`, `CL_INVALID_WORK_ITEM_SIZE`, in the specification's order.
pub fn local_size(
    kernel: &CompiledKernel,
    range: &NdRange,
    limits: &WorkLimits,
) -> Result<[u32; 3]> {
    let required = kernel.attributes.required_work_group_size;
    let bad_group = |reason: String| Error::new(CL_INVALID_WORK_GROUP_SIZE, reason);
    let local = match (range.local, required) {
        (Some(local), Some(required)) if local != required.map(u64::from) => {
            // "CL_INVALID_WORK_GROUP_SIZE if local_work_size is specified and does not match the required
            // work-group size for kernel in the program source."
            return Err(bad_group(format!(
                "local_work_size is {local:?}, the kernel requires {required:?}"
            )));
        }
        (Some(local), _) => local,
        (None, Some(required)) => required.map(u64::from),
        (None, None) => return Ok(choose_local_size(range.global, limits)),
    };
    // "CL_INVALID_WORK_GROUP_SIZE if local_work_size is specified and the total number of work-items in the
    // work-group computed as local_work_size[0] × … local_work_size[work_dim - 1] is greater than the value
    // specified by CL_KERNEL_WORK_GROUP_SIZE".
    let total = local
        .iter()
        .try_fold(1u64, |total, size| total.checked_mul(*size));
    if total.is_none_or(|total| total > u64::from(limits.max_group_size)) {
        return Err(bad_group(format!(
            "local_work_size {local:?} has more than {} work-items",
            limits.max_group_size
        )));
    }
    // "CL_INVALID_WORK_GROUP_SIZE if the program was compiled with -cl-uniform-work-group-size and the number
    // of work-items specified by global_work_size is not evenly divisible by size of work-group given by
    // local_work_size"; the device supports no other.
    let divides = range
        .global
        .iter()
        .zip(local)
        .all(|(global, local)| local != 0 && global.is_multiple_of(local));
    if !divides {
        return Err(bad_group(format!(
            "local_work_size {local:?} does not divide global_work_size {:?}",
            range.global
        )));
    }
    // "CL_INVALID_WORK_ITEM_SIZE if the number of work-items specified in any of local_work_size[0], …
    // local_work_size[work_dim - 1] is greater than the corresponding values specified by
    // CL_DEVICE_MAX_WORK_ITEM_SIZES".
    for (dimension, (size, limit)) in local.iter().zip(limits.max_item_sizes).enumerate() {
        if *size > u64::from(limit) {
            return Err(Error::new(
                CL_INVALID_WORK_ITEM_SIZE,
                format!("local_work_size[{dimension}] is {size}, the device's limit is {limit}"),
            ));
        }
    }
    // Within limits of 32 bits by now.
    Ok(local.map(|size| size as u32))
}

/// Makes the command for one launch.
///
/// # Errors
/// As `clEnqueueNDRangeKernel`.
pub fn prepare(kernel: &Kernel, queue: &Arc<Queue>, range: &NdRange) -> Result<Dispatch> {
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
    let mut state = kernel.lock();
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
    let mut dispatch = Dispatch {
        touches_anything: compiled.follows_pointers,
        ..Dispatch::default()
    };
    if range.is_empty() {
        // "If … the value in any passed dimension is 0 then the kernel command will trivially succeed after
        // its event dependencies are satisfied".
        return Ok(dispatch);
    }
    let limits = work_limits(device);
    // Choosing costs microseconds; launches tend to repeat their range.
    let local = match &state.chosen {
        Some(chosen)
            if range.local.is_none() && chosen.device == place && chosen.global == range.global =>
        {
            chosen.local
        }
        _ => {
            let local = local_size(compiled, range, &limits)?;
            if range.local.is_none() {
                state.chosen = Some(ChosenSize {
                    device: place,
                    global: range.global,
                    local,
                });
            }
            local
        }
    };
    let mut groups = [0u64; 3];
    for ((groups, global), local) in groups.iter_mut().zip(range.global).zip(local) {
        *groups = global / u64::from(local);
    }
    let regions = split_groups(groups, local, &limits).ok_or_else(|| {
        Error::new(
            CL_INVALID_GLOBAL_WORK_SIZE,
            format!("{groups:?} work-groups are more than 2^32 - 1 in a dimension"),
        )
    })?;
    let key = pipeline_key(compiled, &state, local);
    check_local_memory(compiled, &state, device)?;
    let pipeline = match &state.recent {
        Some(recent) if recent.device == place && recent.key == key => Arc::clone(&recent.pipeline),
        _ => {
            let pipeline = code.executable.pipeline(code.index(), &key)?;
            state.recent = Some(RecentPipeline {
                device: place,
                key,
                pipeline: Arc::clone(&pipeline),
            });
            pipeline
        }
    };
    let mut block = Block::new(compiled);
    for (argument, value) in compiled.arguments.iter().zip(&state.arguments) {
        add_argument(&mut dispatch, &mut block, queue, &argument.kind, value)?;
    }
    drop(state);
    if dispatch.touches_anything && queue.context().devices().len() > 1 {
        // Whatever the kernel may find an address of has to be on its device.
        for memory in queue.context().addressed() {
            let place = memory.access(queue, true)?;
            dispatch.accesses.push(Access {
                allocation: place.allocation,
                write: true,
            });
        }
    }
    add_implicit(&mut dispatch, &mut block, queue, code, range, local, groups)?;
    for region in regions {
        for (implicit, offset) in &compiled.argument_block.implicit {
            match implicit {
                Implicit::GroupBase(dimension) => {
                    block.put(*offset, &element(&region.base, *dimension).to_le_bytes());
                }
                Implicit::GlobalBase(dimension) => {
                    let group = u64::from(element(&region.base, *dimension));
                    let first = group * u64::from(element(&local, *dimension));
                    let base = element(&range.offset, *dimension) + first;
                    block.put(*offset, &base.to_le_bytes());
                }
                _ => {}
            }
        }
        dispatch.regions.push(DispatchRegion {
            pipeline: Arc::clone(&pipeline),
            groups: region.count,
            arguments: block.arguments(compiled.argument_block.placement),
        });
    }
    dispatch.keep_alive.push(Arc::clone(&code.executable) as _);
    Ok(dispatch)
}

fn element<T: Copy + Default>(values: &[T; 3], dimension: u8) -> T {
    values
        .get(usize::from(dimension))
        .copied()
        .unwrap_or_default()
}

fn pipeline_key(kernel: &CompiledKernel, state: &KernelState, local_size: [u32; 3]) -> PipelineKey {
    let mut local_arguments = SmallVec::new();
    for (argument, value) in kernel.arguments.iter().zip(&state.arguments) {
        if let (
            ArgumentKind::Local {
                spec_id,
                element_bytes,
                granule_bytes,
            },
            ArgumentValue::LocalBytes(bytes),
        ) = (&argument.kind, value)
        {
            let bytes = bytes
                .checked_next_multiple_of(u64::from((*granule_bytes).max(1)))
                .unwrap_or(u64::MAX);
            let elements = bytes.div_ceil(u64::from((*element_bytes).max(1))).max(1);
            // Sizes beyond are refused by `check_local_memory`.
            local_arguments.push((*spec_id, u32::try_from(elements).unwrap_or(u32::MAX)));
        }
    }
    PipelineKey {
        local_size,
        local_arguments,
    }
}

/// "CL_OUT_OF_RESOURCES if there is a failure to queue the execution instance of kernel on the command-queue
/// because of insufficient resources needed to execute the kernel."
fn check_local_memory(kernel: &CompiledKernel, state: &KernelState, device: &Device) -> Result<()> {
    let mut total = kernel.local_memory_bytes;
    for value in &state.arguments {
        if let ArgumentValue::LocalBytes(bytes) = value {
            total = total.saturating_add(*bytes);
        }
    }
    let limit = device.limits().local_memory_bytes;
    if total > limit {
        return Err(Error::out_of_resources(format!(
            "kernel '{}' needs {total} bytes of local memory, the device has {limit}",
            kernel.name
        )));
    }
    Ok(())
}

fn add_argument(
    dispatch: &mut Dispatch,
    block: &mut Block,
    queue: &Arc<Queue>,
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
            let place = memory.access(queue, *written)?;
            block.put(*offset_bytes, &place.device_address().to_le_bytes());
            dispatch.accesses.push(Access {
                allocation: place.allocation,
                write: *written,
            });
        }
        (
            ArgumentKind::Buffer {
                offset_bytes,
                written,
                ..
            },
            ArgumentValue::Address(address),
        ) => {
            block.put(*offset_bytes, &address.to_le_bytes());
            match queue.context().shared().find(*address) {
                Some(memory) => dispatch.accesses.push(Access {
                    allocation: Arc::clone(memory.on(queue)?),
                    write: *written,
                }),
                None => dispatch.touches_anything |= *address != 0,
            }
        }
        // NULL is address 0, which the block holds from the start; local sizes are in the pipeline; unused
        // arguments are written nowhere.
        _ => {}
    }
    Ok(())
}

fn add_implicit(
    dispatch: &mut Dispatch,
    block: &mut Block,
    queue: &Arc<Queue>,
    code: &KernelCode,
    range: &NdRange,
    local: [u32; 3],
    groups: [u64; 3],
) -> Result<()> {
    for (implicit, offset) in &code.compiled().argument_block.implicit {
        let value: u64 = match implicit {
            Implicit::GlobalOffset(dimension) => element(&range.offset, *dimension),
            Implicit::GlobalSize(dimension) => element(&range.global, *dimension),
            Implicit::NumGroups(dimension) => element(&groups, *dimension),
            Implicit::EnqueuedLocalSize(dimension) => element(&local, *dimension).into(),
            Implicit::WorkDim => range.dimensions.into(),
            // Written for each region.
            Implicit::GroupBase(_) | Implicit::GlobalBase(_) => continue,
            Implicit::DataSegment => match code.executable.data()? {
                Some(allocation) => {
                    dispatch.accesses.push(Access {
                        allocation: Arc::clone(allocation),
                        write: code.executable.program().data.writable,
                    });
                    allocation.device_address()
                }
                None => 0,
            },
            Implicit::PrintfBuffer => {
                let output = printf::Output::new(queue, code)?;
                let address = output.device_address();
                dispatch.printf = Some(output);
                address
            }
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
    fn new(kernel: &CompiledKernel) -> Self {
        Self(smallvec::smallvec![0; kernel.argument_block.size_bytes as usize])
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
        match placement {
            Placement::PushConstants => Arguments::PushConstants(self.0.clone()),
            Placement::DeviceAddress => Arguments::Block(self.0.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::program::KernelAttributes;

    const LIMITS: WorkLimits = WorkLimits {
        max_group_size: 256,
        max_item_sizes: [256, 256, 64],
        max_group_counts: [65535; 3],
        subgroup_size: 8,
    };

    fn kernel(required: Option<[u32; 3]>) -> CompiledKernel {
        CompiledKernel {
            name: "k".into(),
            spirv: Vec::new(),
            arguments: Vec::new(),
            argument_block: Default::default(),
            attributes: KernelAttributes {
                required_work_group_size: required,
                ..Default::default()
            },
            local_memory_bytes: 0,
            private_memory_bytes: 0,
            uses_barrier: false,
            follows_pointers: false,
            printf_calls: Vec::new(),
            uses_subgroups: false,
        }
    }

    fn code(required: Option<[u32; 3]>, global: [u64; 3], local: Option<[u64; 3]>) -> Option<i32> {
        let range = NdRange {
            dimensions: 3,
            offset: [0; 3],
            global,
            local,
        };
        local_size(&kernel(required), &range, &LIMITS)
            .err()
            .map(|error| error.code())
    }

    #[test]
    fn local_sizes_are_checked_as_the_specification_says() {
        assert_eq!(code(None, [64, 1, 1], Some([64, 1, 1])), None);
        assert_eq!(code(None, [64, 1, 1], None), None);
        assert_eq!(code(Some([8, 1, 1]), [64, 1, 1], None), None);
        for (required, global, local, expected) in [
            (
                Some([8, 1, 1]),
                [64, 1, 1],
                Some([4, 1, 1]),
                CL_INVALID_WORK_GROUP_SIZE,
            ),
            (
                Some([8, 1, 1]),
                [65, 1, 1],
                None,
                CL_INVALID_WORK_GROUP_SIZE,
            ),
            (
                None,
                [512, 1, 1],
                Some([512, 1, 1]),
                CL_INVALID_WORK_GROUP_SIZE,
            ),
            (
                None,
                [64, 1, 1],
                Some([7, 1, 1]),
                CL_INVALID_WORK_GROUP_SIZE,
            ),
            (
                None,
                [64, 1, 1],
                Some([0, 1, 1]),
                CL_INVALID_WORK_GROUP_SIZE,
            ),
            (
                None,
                [64, 64, 1],
                Some([u64::MAX, u64::MAX, 1]),
                CL_INVALID_WORK_GROUP_SIZE,
            ),
            (
                None,
                [1, 1, 128],
                Some([1, 1, 128]),
                CL_INVALID_WORK_ITEM_SIZE,
            ),
        ] {
            assert_eq!(
                code(required, global, local),
                Some(expected),
                "{global:?} {local:?}"
            );
        }
    }

    #[test]
    fn a_block_is_written_where_the_compiler_says() {
        let mut kernel = kernel(None);
        kernel.argument_block.size_bytes = 12;
        let mut block = Block::new(&kernel);
        block.put(4, &7u32.to_le_bytes());
        assert_eq!(block.0.as_slice(), [0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
    }
}
