//! Large transfers between the host and a device, in pieces: the host fills or empties one piece of staging memory while
//! the device copies another.
//!
//! In order, what other threads enqueue meanwhile comes after all of the pieces: they stand before a command that is held
//! until the last of them is enqueued, and all that comes after that one is held as well. Nobody is kept waiting for as
//! long as the copy takes, which a thread might be that has to enqueue something before the copy can go on.

use crate::runtime::command::{Command, Ordering};
use crate::runtime::event::Event;
use crate::runtime::event::waits::Waits;
use crate::runtime::host_memory::layout::Shape;
use crate::runtime::object::error::{Error, Result};
use crate::runtime::queue::Queue;
use crate::runtime::queue::blocking::finish_blocking;
use crate::runtime::queue::enqueue_lock::EnqueueLock;
use crate::runtime::queue::{enqueue_waiting, finish_before, new_event, would_issue};
use opencl_sys::{
    CL_COMMAND_MARKER, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, cl_command_type,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// Staging memory for one piece of a large transfer, and how many pieces are under way at once: of a blocking
/// call, and of one that is not, which should return early.
const PIECE_BYTES: usize = 8 << 20;
const PIECES_UNDER_WAY: [usize; 2] = [3, 8];

/// The place of a transfer among the queue's commands: the user event of the command before which all pieces come. None
/// is needed out of order.
pub(in crate::runtime) struct KeptPlace(Option<Arc<Event>>);

impl Drop for KeptPlace {
    /// What comes after goes on.
    fn drop(&mut self) {
        // A command that fails is not recorded.
        let status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        if let Some(gate) = &self.0
            && let Err(error) = gate.set_user_status(status)
        {
            log::error!("a transfer's place: {error}");
        }
    }
}

/// The place of a transfer that is large enough to be made in pieces; `None` where it has to be one command, since
/// what it comes after is not under way yet. A blocking call waits for that.
///
/// # Errors
/// Those of `clFinish`.
pub(in crate::runtime) fn place_for_pieces(
    queue: &Arc<Queue>,
    shape: &Shape,
    waits: &Waits,
    blocking: bool,
) -> Result<Option<KeptPlace>> {
    if shape.extent.size_bytes() <= PIECE_BYTES || !shape.is_flat() {
        return Ok(None);
    }
    if !queue.is_in_order() {
        let at_once = blocking || would_issue(queue, waits);
        return Ok(at_once.then_some(KeptPlace(None)));
    }
    let place = keep_place(queue, waits);
    if place.is_some() || !blocking {
        return Ok(place);
    }
    finish_before(queue)?;
    Ok(keep_place(queue, waits))
}

fn keep_place(queue: &Arc<Queue>, waits: &Waits) -> Option<KeptPlace> {
    let _lock = EnqueueLock::take([queue]);
    if !would_issue(queue, waits) {
        return None;
    }
    let gate = Event::of_user(queue.context());
    let end = new_event(queue, CL_COMMAND_MARKER);
    let waits = Waits::on(&[Arc::clone(&gate)]);
    enqueue_waiting(queue, Command::NOTHING, end, waits, Ordering::default());
    Some(KeptPlace(Some(gate)))
}

/// Enqueues the pieces of a transfer. The event is that of the last one; it knows when the first began.
///
/// # Errors
/// Those of [`Queue::enqueue`]; of a piece that had to be waited for also its own.
pub(in crate::runtime) fn in_pieces(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    shape: Shape,
    command: impl Fn(Shape) -> Command,
    waits: Waits,
    blocking: bool,
    place: KeptPlace,
) -> Result<Arc<Event>> {
    let most = PIECES_UNDER_WAY[usize::from(!blocking)];
    let order = Ordering {
        before_waiting: place.0.is_some(),
        ..Ordering::default()
    };
    let mut under_way: VecDeque<Arc<Event>> = VecDeque::with_capacity(most);
    let mut first: Option<Arc<Event>> = None;
    for piece in shape.pieces(PIECE_BYTES) {
        if under_way.len() == most
            && let Some(oldest) = under_way.pop_front()
        {
            finish_blocking(&oldest)?;
        }
        let event = queue.enqueue(kind, command(piece), waits.clone(), order)?;
        queue.flush();
        first.get_or_insert_with(|| Arc::clone(&event));
        under_way.push_back(event);
    }
    drop(place);
    let last = under_way
        .back()
        .map(Arc::clone)
        .ok_or_else(|| Error::impossible("a transfer without a piece"))?;
    if let Some(first) = first {
        last.continues(&first);
    }
    if blocking {
        for event in under_way {
            finish_blocking(&event)?;
        }
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::allocation::Allocation;
    use crate::runtime::command::device_command::DeviceCommand;
    use crate::runtime::host_memory::pointer::HostPointer;
    use crate::runtime::residency::storage::Place;
    use crate::runtime::test_queue::{self, marker};
    use crate::runtime::transfer::enqueue_write;
    use crate::vulkan::MemoryKind;
    use opencl_sys::{CL_COMMAND_COPY_BUFFER, CL_COMMAND_WRITE_BUFFER, CL_COMPLETE};
    use std::cell::Cell;
    use std::time::Duration;

    const SIZE_BYTES: usize = 3 * PIECE_BYTES + 64;

    struct Bench {
        queue: Arc<Queue>,
        target: Arc<Allocation>,
        /// The target's first and last byte.
        ends: Arc<Allocation>,
    }

    impl Bench {
        fn new() -> Option<Self> {
            let queue = test_queue::new(0)?;
            let allocate = |size_bytes, kind| Allocation::new(queue.vulkan(), size_bytes, kind);
            let target = allocate(SIZE_BYTES as u64, MemoryKind::Readback).unwrap();
            let ends = allocate(64, MemoryKind::Readback).unwrap();
            Some(Self {
                queue,
                target,
                ends,
            })
        }

        /// Has the device copy the ends of the target.
        fn copy_ends(&self) -> Arc<Event> {
            let copies = [(0, 0), (SIZE_BYTES - 1, 1)].map(|(from, to)| {
                let command = DeviceCommand::Copy {
                    source: Arc::clone(&self.target),
                    target: Arc::clone(&self.ends),
                    shape: Shape::linear(from, to, 1),
                };
                let (kind, order) = (CL_COMMAND_COPY_BUFFER, Ordering::default());
                let waits = Waits::default();
                self.queue.enqueue(kind, command, waits, order).unwrap()
            });
            let [_, last] = copies;
            last
        }

        fn ends(&self) -> [u8; 2] {
            let bytes = self.ends.mapped().unwrap().as_ptr();
            // SAFETY: mapped, and the commands that use it are done.
            unsafe { [bytes.read(), bytes.add(1).read()] }
        }
    }

    #[test]
    fn what_other_threads_enqueue_meanwhile_comes_after_all_pieces() {
        for blocking in [false, true] {
            let Some(bench) = Bench::new() else { return };
            let queue = &bench.queue;
            let bytes = vec![7_u8; SIZE_BYTES];
            let shape = Shape::linear(0, 0, SIZE_BYTES);
            let waits = Waits::default();
            let place = place_for_pieces(queue, &shape, &waits, blocking).unwrap();
            let (count, copied) = (Cell::new(0), Cell::new(None));
            let command = |shape| {
                count.set(count.get() + 1);
                if count.get() == 2 {
                    let copy = || bench.copy_ends();
                    let copy = std::thread::scope(|scope| scope.spawn(copy).join().unwrap());
                    copied.set(Some(copy));
                }
                Command::Write {
                    source: HostPointer(bytes.as_ptr().cast_mut()),
                    target: Arc::clone(&bench.target),
                    shape,
                }
            };
            let (kind, place) = (CL_COMMAND_WRITE_BUFFER, place.unwrap());
            let event = in_pieces(queue, kind, shape, command, waits, blocking, place);
            assert_eq!(event.unwrap().wait(), CL_COMPLETE);
            assert_eq!(copied.take().unwrap().wait(), CL_COMPLETE);
            assert_eq!(bench.ends(), [7, 7]);
            queue.finish().unwrap();
        }
    }

    /// What is held before it may need another thread to enqueue, which comes after it or before.
    #[test]
    fn a_blocking_call_keeps_no_thread_from_enqueueing() {
        let Some(bench) = Bench::new() else { return };
        let queue = &bench.queue;
        let gate = Event::of_user(queue.context());
        let held = marker(queue, &[Arc::clone(&gate)]);
        let bytes = vec![7_u8; SIZE_BYTES];
        let copied = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                let copied = bench.copy_ends();
                gate.set_user_status(CL_COMPLETE).unwrap();
                copied
            });
            let place = Place {
                allocation: Arc::clone(&bench.target),
                offset_bytes: 0,
            };
            let (kind, shape) = (CL_COMMAND_WRITE_BUFFER, Shape::linear(0, 0, SIZE_BYTES));
            let source = HostPointer(bytes.as_ptr().cast_mut());
            let written = enqueue_write(queue, kind, &place, shape, source, true, &[]);
            assert_eq!(written.unwrap().wait(), CL_COMPLETE);
            other.join().unwrap()
        });
        assert_eq!(held.wait(), CL_COMPLETE);
        assert_eq!(copied.wait(), CL_COMPLETE);
        let [first, last] = bench.ends();
        assert_eq!(first, last);
    }

    #[test]
    fn after_a_transfer_that_fails_half_way_the_queue_goes_on() {
        let Some(bench) = Bench::new() else { return };
        let shape = Shape::linear(0, 0, SIZE_BYTES);
        let place = place_for_pieces(&bench.queue, &shape, &Waits::default(), false);
        let later = marker(&bench.queue, &[]);
        drop(place);
        assert_eq!(later.wait(), CL_COMPLETE);
    }
}
