//! Reads, writes, copies and fills that the host makes itself, where it sees the memory.

use crate::runtime::allocation::Allocation;
use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::command::host_job::{HostJob, OwnJob};
use crate::runtime::command::{Command, Ordering};
use crate::runtime::event::Event;
use crate::runtime::event::waits::Waits;
use crate::runtime::host_memory::bus_read;
use crate::runtime::host_memory::host_copy;
use crate::runtime::host_memory::layout::{Extent, Shape};
use crate::runtime::host_memory::pointer::HostPointer;
use crate::runtime::object::error::Result;
use crate::runtime::queue::Queue;
use crate::runtime::queue::blocking::{done_on_host, finish_blocking};
use crate::runtime::queue::host_commands::enqueue_host_job;
use crate::runtime::queue::{complete_all, event_of, finish_before, is_behind_lost, is_free};
use crate::runtime::transfer::host_may_touch;
use crate::vulkan::timestamps::host_now_ns;
use opencl_sys::cl_command_type;
use std::sync::Arc;

/// So many runs of so many bytes at most are moved by the host rather than by a software driver: where the host's turn
/// is still to come, that takes some 100 µs.
const FINE_RUNS: usize = 64;
const FINE_BYTES: usize = 4096;

/// The event of the read, if the host can make it at once; a blocking call on an in-order queue waits until it
/// can. What it reads over the bus in a call that does not wait must be little, and there already.
/// `shape.source` counts from the allocation's first byte.
///
/// # Errors
/// Those of `clFinish`.
pub(in crate::runtime) fn read_on_host(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    allocation: &Allocation,
    shape: &Shape,
    target: HostPointer,
    blocking: bool,
    wait_list: &[Arc<Event>],
) -> Result<Option<Arc<Event>>> {
    let cached = allocation
        .mapped()
        .filter(|_| allocation.buffer().is_host_cached());
    let waits = blocking && queue.is_in_order();
    let size_bytes = shape.extent.size_bytes();
    let is_worth_it = if waits {
        size_bytes <= bus_read::most_bytes()
    } else {
        allocation.window().is_some() && size_bytes <= bus_read::most_bytes_at_once()
    };
    let queued_ns = if cached.is_some() || is_worth_it {
        host_now_ns()
    } else {
        return Ok(None);
    };
    match cached {
        Some(_) if waits => finish_before(queue)?,
        Some(_) => {}
        None if waits && !show_host(queue, allocation, size_bytes)? => return Ok(None),
        None => {}
    }
    if !host_may_touch(queue, allocation, wait_list) {
        return Ok(None);
    }
    let state = queue.lock_to_enqueue();
    let in_turn = is_free(queue, &state) || state.is_idle() && state.none_waits();
    // Where a kernel before it has lost iterations its event is to say so, as those of the device's commands do.
    if !in_turn || !allocation.is_idle() || is_behind_lost(queue) {
        return Ok(None);
    }
    // A command of another queue may have come and gone meanwhile, and closed the window.
    let Some(base) = cached.or_else(|| allocation.window()) else {
        return Ok(None);
    };
    let event = event_of(queue, kind, queued_ns);
    let start_ns = host_now_ns();
    // SAFETY: the shape lies within the allocation, which nothing uses while the queue is locked and of which
    // whole pages are mapped, and within the application's memory by its contract.
    unsafe {
        match cached {
            Some(_) => host_copy::copy(shape, base.as_ptr(), target.0),
            None => bus_read::copy(shape, base.as_ptr(), target.0),
        }
    }
    drop(state);
    Ok(Some(done_on_host(event, start_ns)))
}

/// The event of the write, if the host can make it at once; its turn may come later. A blocking call
/// waits for it. `shape.target` counts from the allocation's first byte.
///
/// # Errors
/// Those of [`Queue::enqueue`]; of a blocking call also the command's own.
#[allow(clippy::too_many_arguments)]
pub(in crate::runtime) fn write_on_host(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    allocation: &Allocation,
    shape: &Shape,
    source: HostPointer,
    blocking: bool,
    waits: &Waits,
) -> Result<Option<Arc<Event>>> {
    let reach = || allocation.mapped().or(allocation.window());
    let Some(base) = reach().filter(|_| waits.done.is_empty()) else {
        return Ok(None);
    };
    let queued_ns = host_now_ns();
    if !host_may_touch(queue, allocation, &waits.events) {
        return Ok(None);
    }
    let state = queue.lock_to_enqueue();
    // Commands before it may use memory that they don't name.
    let is_free = is_free(queue, &state);
    let in_turn = is_free
        || state.none_waits()
            && (state.is_idle() || queue.is_in_order() && !allocation.is_addressed());
    // A command of another queue may have come and gone meanwhile, and closed the window.
    if !in_turn || !allocation.is_idle() || reach().is_none() {
        return Ok(None);
    }
    let start_ns = host_now_ns();
    // SAFETY: as in `read_on_host`.
    unsafe { host_copy::copy(shape, source.0, base.as_ptr()) };
    let at_once = is_free || state.is_idle();
    drop(state);
    if at_once {
        let event = event_of(queue, kind, queued_ns);
        return Ok(Some(done_on_host(event, start_ns)));
    }
    // The data is there, the command's turn is not.
    let event = queue.enqueue(kind, Command::NOTHING, waits.clone(), Ordering::default())?;
    if blocking {
        finish_blocking(&event)?;
    }
    Ok(Some(event))
}

/// The event of a copy or a fill, if the host makes it, as it does on a processor where there are many short runs:
/// a software driver takes half a microsecond for each of them. Its turn may come later.
///
/// # Errors
/// Those of [`Queue::enqueue`].
pub(in crate::runtime) fn move_on_host(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    command: &Command,
    wait_list: &[Arc<Event>],
) -> Result<Option<Arc<Event>>> {
    if !queue.device().is_cpu() {
        return Ok(None);
    }
    let is_fine = |extent: Extent| {
        extent.rows * extent.slices >= FINE_RUNS && extent.width_bytes <= FINE_BYTES
    };
    let is_seen = |allocation: &Allocation| allocation.mapped().is_some();
    let Command::Device(command) = command else {
        return Ok(None);
    };
    let job: OwnJob = match command {
        DeviceCommand::Copy {
            source,
            target,
            shape,
        } if is_fine(shape.merged().extent) && is_seen(source) && is_seen(target) => {
            let (source, target, shape) = (Arc::clone(source), Arc::clone(target), *shape);
            Box::new(move || {
                if let (Some(from), Some(to)) = (source.mapped(), target.mapped()) {
                    // SAFETY: the shape lies within both allocations, and it is the command's turn.
                    unsafe { host_copy::copy(&shape, from.as_ptr(), to.as_ptr()) };
                }
                Ok(())
            })
        }
        DeviceCommand::FillRectangle {
            target,
            extent,
            layout,
            pattern,
        } if is_fine(*extent) && is_seen(target) => {
            let (target, pattern) = (Arc::clone(target), pattern.clone());
            let (extent, layout) = (*extent, *layout);
            Box::new(move || {
                if let Some(to) = target.mapped() {
                    // SAFETY: as above.
                    unsafe { host_copy::fill(extent, layout, &pattern, to.as_ptr()) };
                }
                Ok(())
            })
        }
        _ => return Ok(None),
    };
    enqueue_host_job(queue, kind, HostJob::Own(job), false, wait_list).map(Some)
}

/// Waits for what has been enqueued, and has the host see what it wrote to device memory, if `size_bytes` of that are
/// worth it; false if that can't be known.
fn show_host(queue: &Arc<Queue>, allocation: &Allocation, size_bytes: usize) -> Result<bool> {
    if allocation.window_if_shown().is_none() {
        return Ok(false);
    }
    complete_all(queue);
    let changes = {
        let mut state = queue.lock();
        if !state.none_waits() {
            return Ok(false);
        }
        let changes = allocation.changes();
        if allocation.window().is_none() {
            if size_bytes > bus_read::most_bytes_with_round_trip() {
                return Ok(false);
            }
            // What another queue writes is not known to come before.
            if !allocation.is_used(state.uses_of(allocation)) {
                return Ok(false);
            }
            state.show_host(queue)?;
        }
        changes
    };
    finish_before(queue)?;
    allocation.show(changes);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::event::Stage;
    use crate::runtime::residency::storage::Place;
    use crate::runtime::test_queue;
    use crate::runtime::transfer::enqueue_read;
    use crate::vulkan::MemoryKind;
    use opencl_sys::{CL_COMMAND_FILL_BUFFER, CL_COMMAND_READ_BUFFER};

    /// Two queues of a device whose memory the host reaches through windows alone.
    fn queues() -> Option<[Arc<Queue>; 2]> {
        let queue = test_queue::discrete()?;
        let other = test_queue::another(&queue, 0);
        Some([queue, other])
    }

    fn small(queue: &Queue) -> Option<Arc<Allocation>> {
        let made = Allocation::new(queue.vulkan(), 4096, MemoryKind::Device).unwrap();
        made.window().is_some().then_some(made)
    }

    fn fill(queue: &Arc<Queue>, target: &Arc<Allocation>, byte: u8) {
        let command = DeviceCommand::Fill {
            target: Arc::clone(target),
            offset_bytes: 0,
            size_bytes: 4096,
            pattern: [byte; 4].into_iter().collect(),
        };
        queue
            .enqueue(
                CL_COMMAND_FILL_BUFFER,
                command,
                Waits::default(),
                Ordering::default(),
            )
            .unwrap();
    }

    /// The bytes, all the same, that a blocking read of some finds.
    fn read(queue: &Arc<Queue>, source: &Arc<Allocation>) -> u8 {
        let mut bytes = [0; 100];
        read_to(&mut bytes, queue, source, true);
        assert!(bytes.iter().all(|byte| *byte == bytes[0]));
        bytes[0]
    }

    /// The event of a read of some bytes.
    fn read_to(
        bytes: &mut [u8; 100],
        queue: &Arc<Queue>,
        source: &Arc<Allocation>,
        blocking: bool,
    ) -> Arc<Event> {
        let place = Place {
            allocation: Arc::clone(source),
            offset_bytes: 100,
        };
        let target = HostPointer(bytes.as_mut_ptr());
        let shape = Shape::linear(0, 0, bytes.len());
        enqueue_read(
            queue,
            CL_COMMAND_READ_BUFFER,
            &place,
            shape,
            target,
            blocking,
            &[],
        )
        .unwrap()
    }

    #[test]
    fn a_read_that_does_not_wait_is_made_at_once_where_the_window_is_open_and_all_is_done() {
        let Some([queue, _]) = queues() else {
            return;
        };
        let Some(memory) = small(&queue) else { return };
        let mut bytes = [0; 100];
        fill(&queue, &memory, 1);
        let event = read_to(&mut bytes, &queue, &memory, false);
        assert!(!matches!(event.stage(), Stage::Done(_)));
        assert_eq!(event.wait(), 0);
        assert_eq!(bytes, [1; 100]);
        assert_eq!(read(&queue, &memory), 1);
        // Not while something is under way, though it be something else.
        bytes = [0; 100];
        let other = small(&queue).unwrap();
        fill(&queue, &other, 2);
        let event = read_to(&mut bytes, &queue, &memory, false);
        assert!(!matches!(event.stage(), Stage::Done(_)));
        assert_eq!(event.wait(), 0);
        assert_eq!(bytes, [1; 100]);
        bytes = [0; 100];
        let event = read_to(&mut bytes, &queue, &memory, false);
        assert!(matches!(event.stage(), Stage::Done(0)));
        assert_eq!(bytes, [1; 100]);
    }

    #[test]
    fn a_read_opens_the_window_that_a_command_closed() {
        let Some([queue, other]) = queues() else {
            return;
        };
        let Some(memory) = small(&queue) else { return };
        for byte in 1..5 {
            fill(&queue, &memory, byte);
            assert!(memory.window().is_none());
            assert_eq!(read(&queue, &memory), byte);
            assert!(memory.window().is_some());
            assert_eq!(read(&queue, &memory), byte);
        }
        fill(&other, &memory, 9);
        other.finish().unwrap();
        assert!(memory.window().is_none());
        assert_eq!(read(&queue, &memory), 9);
        assert!(memory.window().is_some());
    }

    #[test]
    fn a_large_write_is_under_way_at_once() {
        let Some([queue, _]) = queues() else {
            return;
        };
        let bytes = vec![7_u8; 1 << 20];
        let target = Allocation::new(queue.vulkan(), 1 << 20, MemoryKind::Device).unwrap();
        let command = Command::Write {
            source: HostPointer(bytes.as_ptr().cast_mut()),
            target: Arc::clone(&target),
            shape: Shape::linear(0, 0, bytes.len()),
        };
        let kind = opencl_sys::CL_COMMAND_WRITE_BUFFER;
        let event = queue
            .enqueue(kind, command, Waits::default(), Ordering::default())
            .unwrap();
        assert!(!queue.lock().has_open_batch());
        event.wait();
        assert_eq!(read(&queue, &target), 7);
    }

    #[test]
    fn it_stays_closed_while_another_queue_uses_the_memory() {
        let Some([queue, other]) = queues() else {
            return;
        };
        let Some(memory) = small(&queue) else { return };
        fill(&queue, &memory, 1);
        fill(&other, &memory, 2);
        read(&queue, &memory);
        assert!(memory.window().is_none());
        other.finish().unwrap();
        assert!(memory.window().is_none());
        assert_eq!(read(&queue, &memory), 2);
    }
}
