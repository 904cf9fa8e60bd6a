//! Host memory that a device moves from and to by itself: what the application has mapped ([`crate::runtime::allocation::pinned`]).
//!
//! An application maps a buffer of `CL_MEM_ALLOC_HOST_PTR` and gives pointers into it to reads and writes of others.
//! Such a transfer is a copy between two allocations, and needs no staging memory.

use crate::runtime::allocation::Allocation;
use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::context::Context;
use crate::runtime::host_memory::layout::Shape;
use crate::runtime::host_memory::pointer::HostPointer;
use crate::runtime::queue::Queue;
use std::sync::Arc;

/// The allocation whose memory the host sees at `pointer`, and how far into it that is: mapped, or shared with the
/// host at all times.
fn pinned_at(context: &Context, pointer: HostPointer) -> Option<(Arc<Allocation>, usize)> {
    let address = pointer.0 as usize;
    context.pinned().find(address).or_else(|| {
        let memory = context.shared().find(address as u64)?;
        let base = memory.address() as usize;
        let sees = |it: &&Arc<Allocation>| {
            let mapped = it.mapped();
            mapped.is_some_and(|first| first.as_ptr() as usize == base)
        };
        let place = memory.allocations().find(sees)?;
        Some((Arc::clone(place), address - base))
    })
}

/// The read as a copy between allocations, if the device itself can write all of the host's memory that it names.
/// `shape.source` counts from the allocation's first byte, `shape.target` from `target`.
pub(in crate::runtime) fn read_to_pinned(
    queue: &Queue,
    source: &Arc<Allocation>,
    shape: &Shape,
    target: HostPointer,
) -> Option<DeviceCommand> {
    let mut shape = *shape;
    let (pinned, offset_bytes) = pinned_at(queue.context(), target)?;
    shape.target.offset_bytes += offset_bytes;
    let end_bytes = shape.target.end_bytes(shape.extent);
    can_copy(queue, source, &pinned, end_bytes).then(|| DeviceCommand::Copy {
        source: Arc::clone(source),
        target: pinned,
        shape,
    })
}

/// The write as a copy between allocations, if the device itself can read all of the host's memory that it names.
/// `shape.target` counts from the allocation's first byte, `shape.source` from `source`.
pub(in crate::runtime) fn write_from_pinned(
    queue: &Queue,
    target: &Arc<Allocation>,
    shape: &Shape,
    source: HostPointer,
) -> Option<DeviceCommand> {
    let mut shape = *shape;
    let (pinned, offset_bytes) = pinned_at(queue.context(), source)?;
    shape.source.offset_bytes += offset_bytes;
    let end_bytes = shape.source.end_bytes(shape.extent);
    can_copy(queue, target, &pinned, end_bytes).then(|| DeviceCommand::Copy {
        source: pinned,
        target: Arc::clone(target),
        shape,
    })
}

/// Whether its device can copy between `allocation` and the first `end_bytes` of `pinned`: a copy within one may
/// overlap itself, and another device has no part in either.
fn can_copy(
    queue: &Queue,
    allocation: &Arc<Allocation>,
    pinned: &Arc<Allocation>,
    end_bytes: usize,
) -> bool {
    !Arc::ptr_eq(allocation, pinned)
        && end_bytes as u64 <= pinned.size_bytes()
        && Arc::ptr_eq(pinned.buffer().device(), queue.vulkan())
        && Arc::ptr_eq(allocation.buffer().device(), queue.vulkan())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::event::WaitList;
    use crate::runtime::memory::Memory;
    use crate::runtime::residency::shared::{Access, Origin, UnifiedKind};
    use crate::runtime::test_queue;
    use crate::runtime::transfer::map::{MapRequest, enqueue_map, enqueue_unmap};
    use crate::vulkan::MemoryKind;
    use opencl_sys::{CL_MAP_READ, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE, cl_mem_flags};

    const SIZE_BYTES: usize = 8192;

    fn memory(queue: &Queue, flags: cl_mem_flags) -> Arc<Memory> {
        let (context, flags) = (queue.context(), CL_MEM_READ_WRITE | flags);
        // SAFETY: no host pointer.
        unsafe { Memory::buffer(context, flags, SIZE_BYTES, None, Vec::new()) }.unwrap()
    }

    fn map(queue: &Arc<Queue>, memory: &Arc<Memory>, offset_bytes: usize) -> HostPointer {
        let (size_bytes, none) = (SIZE_BYTES - offset_bytes, WaitList::new());
        let request = MapRequest::of_bytes(memory, CL_MAP_READ, offset_bytes, size_bytes, true);
        enqueue_map(queue, &request, none).unwrap().0
    }

    fn unmap(queue: &Arc<Queue>, memory: &Arc<Memory>, pointer: HostPointer) {
        let unmapped = enqueue_unmap(queue, memory, pointer, Ok(WaitList::new()));
        unmapped.unwrap().wait();
    }

    /// Where in which allocation a read of `size_bytes` would write, if the device itself would.
    fn target(
        queue: &Queue,
        source: &Arc<Allocation>,
        pointer: HostPointer,
        size_bytes: usize,
    ) -> Option<(Arc<Allocation>, usize)> {
        let shape = Shape::linear(0, 0, size_bytes);
        match read_to_pinned(queue, source, &shape, pointer)? {
            DeviceCommand::Copy { target, shape, .. } => Some((target, shape.target.offset_bytes)),
            _ => None,
        }
    }

    fn device_memory(queue: &Queue) -> Arc<Allocation> {
        Allocation::new(queue.vulkan(), SIZE_BYTES as u64, MemoryKind::Device).unwrap()
    }

    /// On a device that has the host see its memory, and on one that has not: there it sees a mirror.
    #[test]
    fn what_is_mapped_is_found_by_its_addresses() {
        for queue in [test_queue::new(0), test_queue::discrete()] {
            let Some(queue) = queue else { return };
            let source = device_memory(&queue);
            for flags in [0, CL_MEM_ALLOC_HOST_PTR] {
                let memory = memory(&queue, flags);
                let pointer = map(&queue, &memory, 1000);
                let (first, at) = target(&queue, &source, pointer, 1).unwrap();
                assert_eq!(at, 1000);
                let end = HostPointer(pointer.0.wrapping_add(SIZE_BYTES - 1000));
                for (bytes_before, size_bytes) in [(100, 100), (1, 1), (SIZE_BYTES, SIZE_BYTES)] {
                    let pointer = HostPointer(end.0.wrapping_sub(bytes_before));
                    let found = target(&queue, &source, pointer, size_bytes).unwrap();
                    assert!(Arc::ptr_eq(&found.0, &first));
                    assert_eq!(found.1, SIZE_BYTES - bytes_before);
                    assert!(target(&queue, &source, pointer, size_bytes + 1).is_none());
                }
                assert!(target(&queue, &first, pointer, 1).is_none(), "itself");
                let again = map(&queue, &memory, 0);
                unmap(&queue, &memory, pointer);
                assert!(target(&queue, &source, pointer, 1).is_some());
                unmap(&queue, &memory, again);
                assert!(target(&queue, &source, pointer, 1).is_none());
            }
        }
    }

    #[test]
    fn what_is_released_is_forgotten() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let memory = memory(&queue, CL_MEM_ALLOC_HOST_PTR);
        map(&queue, &memory, 0);
        let count = || queue.context().pinned().len();
        assert_eq!(count(), 1);
        drop(memory);
        assert_eq!(count(), 0);
    }

    #[test]
    fn another_device_has_no_part_in_it() {
        let Some([here, there]) = test_queue::pair() else {
            return;
        };
        let memory = memory(&here, CL_MEM_ALLOC_HOST_PTR);
        let pointer = map(&here, &memory, 0);
        assert!(target(&here, &device_memory(&here), pointer, 1).is_some());
        assert!(target(&there, &device_memory(&there), pointer, 1).is_none());
    }

    #[test]
    fn memory_that_host_and_device_share_needs_no_map() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let origin = Origin::Unified {
            kind: UnifiedKind::Host,
            flags: 0,
            device: None,
        };
        let context = queue.context();
        let Ok(memory) =
            context
                .shared()
                .allocate(context.devices(), SIZE_BYTES, origin, Access::Any, None)
        else {
            eprintln!("skipped: the device shares no memory with the host");
            return;
        };
        let pointer = HostPointer((memory.address() + 100) as *mut u8);
        let (_, at) = target(&queue, &device_memory(&queue), pointer, 200).unwrap();
        assert_eq!(at, 100);
    }
}
