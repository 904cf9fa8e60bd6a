//! Commands on memory that is named by its address: `clEnqueueSVM*` and `clEnqueueMem*INTEL`.

use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::command::host_job::HostJob;
use crate::runtime::command::{Command, Ordering};
use crate::runtime::event::Event;
use crate::runtime::event::waits::Waits;
use crate::runtime::host_memory::layout::Shape;
use crate::runtime::host_memory::pointer::HostPointer;
use crate::runtime::object::error::Result;
use crate::runtime::queue::Queue;
use crate::runtime::queue::blocking::{finish_blocking, wait_for_all};
use crate::runtime::queue::host_commands::enqueue_host_job;
use crate::runtime::residency::shared::{Pointed, SharedMap, SharedMemory, of_another_device};
use crate::runtime::residency::storage::Place;
use crate::runtime::transfer::{enqueue_read, enqueue_write};
use opencl_sys::{
    CL_COMMAND_SVM_MAP, CL_COMMAND_SVM_UNMAP, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION,
    cl_command_type, cl_map_flags,
};
use smallvec::SmallVec;
use std::sync::Arc;

pub use crate::runtime::command::host_job::HostJob as Job;

/// Copies `size_bytes` between places that do not overlap. Host memory is valid until the command is done.
///
/// # Errors
/// `CL_INVALID_OPERATION` for memory of another device.
pub fn enqueue_shared_copy(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    target: &Pointed,
    source: &Pointed,
    size_bytes: usize,
    blocking: bool,
    wait_list: &[Arc<Event>],
) -> Result<Arc<Event>> {
    if size_bytes == 0 {
        return enqueue_empty(queue, kind, blocking, wait_list);
    }
    // Where kernels may use any memory of the host, its contents are not known before the command's turn.
    let by_host = queue.device().unification().any_host_memory;
    match (target, source) {
        (Pointed::Shared(to, to_bytes), Pointed::Shared(from, from_bytes)) => {
            let command = DeviceCommand::Copy {
                source: Arc::clone(from.on(queue.context_device())?),
                target: Arc::clone(to.on(queue.context_device())?),
                shape: Shape::linear(*from_bytes, *to_bytes, size_bytes),
            };
            enqueue_and_wait(queue, kind, command.into(), blocking, wait_list)
        }
        (Pointed::Shared(to, to_bytes), Pointed::Host(from)) if !by_host => {
            let place = place(to, *to_bytes, queue)?;
            let shape = Shape::linear(0, 0, size_bytes);
            enqueue_write(queue, kind, &place, shape, *from, blocking, wait_list)
        }
        (Pointed::Host(to), Pointed::Shared(from, from_bytes)) if !by_host => {
            let place = place(from, *from_bytes, queue)?;
            let shape = Shape::linear(0, 0, size_bytes);
            enqueue_read(queue, kind, &place, shape, *to, blocking, wait_list)
        }
        _ => {
            let (to, from) = (host_pointer(target)?, host_pointer(source)?);
            let copy = move || {
                let (to, from) = (to, from);
                // SAFETY: memory of the application, valid until the command is done by its contract,
                // or shared memory that the host reads and writes.
                unsafe { std::ptr::copy(from.0.cast_const(), to.0, size_bytes) };
                Ok(())
            };
            enqueue_host_job(
                queue,
                kind,
                HostJob::Own(Box::new(copy)),
                blocking,
                wait_list,
            )
        }
    }
}

/// Fills `size_bytes`, a multiple of the pattern's length, of memory that the device reaches.
///
/// # Errors
/// Those of [`Queue::enqueue`].
pub fn enqueue_shared_fill(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    target: &Pointed,
    size_bytes: usize,
    pattern: &[u8],
    wait_list: &[Arc<Event>],
) -> Result<Arc<Event>> {
    if size_bytes == 0 {
        return enqueue_empty(queue, kind, false, wait_list);
    }
    let pattern: SmallVec<[u8; 16]> = SmallVec::from_slice(pattern);
    match target {
        Pointed::Shared(memory, offset_bytes) => {
            let command = DeviceCommand::Fill {
                target: Arc::clone(memory.on(queue.context_device())?),
                offset_bytes: *offset_bytes as u64,
                size_bytes: size_bytes as u64,
                pattern,
            };
            enqueue_and_wait(queue, kind, command.into(), false, wait_list)
        }
        Pointed::Host(to) => {
            let to = *to;
            let fill = move || {
                let to = to;
                // SAFETY: memory of the application, valid until the command is done by its contract.
                let bytes = unsafe { std::slice::from_raw_parts_mut(to.0, size_bytes) };
                for chunk in bytes.chunks_exact_mut(pattern.len()) {
                    chunk.copy_from_slice(&pattern);
                }
                Ok(())
            };
            enqueue_host_job(queue, kind, HostJob::Own(Box::new(fill)), false, wait_list)
        }
    }
}

/// `clEnqueueSVMMap`
pub fn enqueue_shared_map(
    queue: &Arc<Queue>,
    target: &Pointed,
    size_bytes: usize,
    flags: cl_map_flags,
    blocking: bool,
    wait_list: &[Arc<Event>],
) -> Result<Arc<Event>> {
    let Pointed::Shared(memory, offset_bytes) = target else {
        // Any memory of the host, which host and device see alike.
        return enqueue_empty(queue, CL_COMMAND_SVM_MAP, blocking, wait_list);
    };
    let address = memory.address() + *offset_bytes as u64;
    let place = place(memory, *offset_bytes, queue)?;
    let event = match place.allocation.buffer().shadow() {
        Some(shadow) if flags & CL_MAP_WRITE_INVALIDATE_REGION == 0 => {
            let host = HostPointer(shadow.as_ptr().wrapping_add(*offset_bytes));
            let shape = Shape::linear(0, 0, size_bytes);
            enqueue_read(
                queue,
                CL_COMMAND_SVM_MAP,
                &place,
                shape,
                host,
                blocking,
                wait_list,
            )?
        }
        _ => enqueue_empty(queue, CL_COMMAND_SVM_MAP, blocking, wait_list)?,
    };
    memory.maps().push(SharedMap {
        address,
        size_bytes,
        flags,
    });
    Ok(event)
}

/// `clEnqueueSVMUnmap`
pub fn enqueue_shared_unmap(
    queue: &Arc<Queue>,
    target: &Pointed,
    wait_list: &[Arc<Event>],
) -> Result<Arc<Event>> {
    let Pointed::Shared(memory, offset_bytes) = target else {
        return enqueue_empty(queue, CL_COMMAND_SVM_UNMAP, false, wait_list);
    };
    let address = memory.address() + *offset_bytes as u64;
    let place = place(memory, *offset_bytes, queue)?;
    let map = {
        let mut maps = memory.maps();
        let found = maps.iter().rposition(|map| map.address == address);
        found.map(|index| maps.remove(index))
    };
    let writes = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    match (place.allocation.buffer().shadow(), map) {
        (Some(shadow), Some(map)) if map.flags & writes != 0 => {
            let host = HostPointer(shadow.as_ptr().wrapping_add(*offset_bytes));
            let shape = Shape::linear(0, 0, map.size_bytes);
            enqueue_write(
                queue,
                CL_COMMAND_SVM_UNMAP,
                &place,
                shape,
                host,
                false,
                wait_list,
            )
        }
        _ => enqueue_empty(queue, CL_COMMAND_SVM_UNMAP, false, wait_list),
    }
}

/// A command without work.
pub fn enqueue_empty(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    blocking: bool,
    wait_list: &[Arc<Event>],
) -> Result<Arc<Event>> {
    enqueue_and_wait(queue, kind, Command::NOTHING, blocking, wait_list)
}

fn enqueue_and_wait(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    command: Command,
    blocking: bool,
    wait_list: &[Arc<Event>],
) -> Result<Arc<Event>> {
    if blocking {
        wait_for_all(wait_list)?;
    }
    let event = queue.enqueue(kind, command, Waits::on(wait_list), Ordering::default())?;
    if blocking {
        finish_blocking(&event)?;
    }
    Ok(event)
}

fn place(memory: &SharedMemory, offset_bytes: usize, queue: &Queue) -> Result<Place> {
    Ok(Place {
        allocation: Arc::clone(memory.on(queue.context_device())?),
        offset_bytes,
    })
}

/// Where the host finds it at any time: not the memory of another device of the context that is no processor.
fn host_pointer(pointed: &Pointed) -> Result<HostPointer> {
    match pointed {
        Pointed::Shared(memory, offset_bytes) if memory.is_of_host() => Ok(HostPointer(
            (memory.address() as usize + offset_bytes) as *mut u8,
        )),
        Pointed::Shared(..) => Err(of_another_device()),
        Pointed::Host(pointer) => Ok(*pointer),
    }
}
