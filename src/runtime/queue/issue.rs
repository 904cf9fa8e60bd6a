//! The recording of a command whose turn has come.

use super::Queue;
use super::in_flight::InFlight;
use super::state::State;
use super::submit::submit_open;
use super::waiting_commands::Ready;
use super::work::Work;
use crate::runtime::command::Ordering as Order;
use crate::runtime::event::{DeferredWork, Event};
use crate::runtime::object::error::Result;
use crate::vulkan::timestamps::host_now_ns;
use std::sync::Arc;

/// Where a command comes among the others of its queue.
pub(super) struct Placement<'a> {
    /// Its times are taken for this event only.
    pub event: Option<&'a Arc<Event>>,
    /// What it comes after of its wait list.
    pub ready: Option<&'a mut Ready>,
    pub order: Order,
    /// Takes what is left to do, where the command has waited.
    pub waited: Option<&'a mut DeferredWork>,
}

/// Records `work` into the open batch, and submits that when it has enough.
///
/// # Errors
/// Memory ran out, or the queue has failed.
#[inline]
pub(super) fn issue<W: Work>(
    queue: &Queue,
    state: &mut State,
    work: &mut W,
    placement: Placement<'_>,
) -> Result<()> {
    let Placement {
        event,
        ready,
        order,
        waited,
    } = placement;
    let sort = work.sort();
    let waits_for_device = ready.as_ref().is_some_and(|it| !it.device.is_empty());
    if waits_for_device || sort.waits_for_others {
        // The commands before need not wait for what this one waits for.
        submit_open(queue, state);
    }
    let State {
        recording,
        in_flight,
        ..
    } = state;
    recording.open(queue, in_flight)?;
    let after = ready.and_then(|ready| recording.come_after(ready));
    let is_asked = event.is_some_and(|event| queue.times_commands() || event.is_timed());
    let is_timed = is_asked && queue.clock.has_timestamps();
    let needs_barrier = if queue.is_in_order() {
        // A command that overlaps with others can't be timed.
        is_timed && queue.has_profiling()
    } else {
        order.after_all
            || order.before_all
            || after.is_some_and(|after| !recording.is_before_barrier(after))
    };
    recording.place_barrier(work, sort, needs_barrier, queue.is_in_order());
    // In order, the command begins when all before it are done, which is later than when the device reads it.
    let begins_after_others = sort.is_replay || queue.is_in_order();
    let timestamp = recording.record(work, sort, order, is_timed.then_some(begins_after_others))?;

    let recorded_ns = queue.trace.map_or(0, |_| host_now_ns());
    recording.enter(event, is_asked, timestamp, recorded_ns, waited);
    if recording.has_enough(sort, || is_device_idle(queue, in_flight)) {
        recording.raise_enough();
        submit_open(queue, state);
    } else {
        recording.keep(work);
    }
    Ok(())
}

/// Whether the device is done with everything that the queue has submitted.
fn is_device_idle(queue: &Queue, in_flight: &InFlight) -> bool {
    // The driver is only asked about what nobody has seen the end of.
    let progress = &queue.progress;
    in_flight.is_empty() || progress.has_reached(progress.submitted())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::allocation::{Access, Allocation};
    use crate::runtime::command::device_command::DeviceCommand;
    use crate::runtime::command::hazard::ALL_BYTES;
    use crate::runtime::command::prepared_launch::PreparedLaunch;
    use crate::runtime::event::waits::Waits;
    use crate::runtime::test_queue;
    use crate::vulkan::MemoryKind;
    use opencl_sys::CL_COMMAND_MARKER;
    use smallvec::SmallVec;

    #[test]
    fn what_is_no_kernel_comes_after_all_kernels_that_it_conflicts_with() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let memory = || Allocation::new(&queue.vulkan, 64, MemoryKind::Device).unwrap();
        let (first, second) = (memory(), memory());
        let kernel = |written: &[&Arc<Allocation>]| {
            let written = written.iter().map(|allocation| Access {
                allocation: Arc::clone(allocation),
                bytes: ALL_BYTES,
                write: true,
            });
            DeviceCommand::Launch(Box::new(PreparedLaunch {
                accesses: written.collect(),
                ..PreparedLaunch::default()
            }))
        };
        let fill = |target: &Arc<Allocation>| DeviceCommand::Fill {
            target: Arc::clone(target),
            offset_bytes: 0,
            size_bytes: 64,
            pattern: SmallVec::from_slice(&[1]),
        };
        // Some devices need none at the beginning.
        let none_first = u32::from(queue.vulkan.shows_finished_work());
        // Each command, and the barriers up to it.
        for (command, barriers) in [
            (kernel(&[&first, &second]), 1),
            (kernel(&[&first]), 2),
            (kernel(&[&first]), 3),
            // The barriers between kernels let it overtake the first one.
            (fill(&second), 4),
            // That one does not.
            (fill(&first), 4),
            (kernel(&[]), 4),
            (kernel(&[&second]), 5),
            (kernel(&[&second]), 6),
            (kernel(&[&first]), 6),
            (fill(&first), 7),
        ] {
            let (kind, order) = (CL_COMMAND_MARKER, Order::default());
            let mut command = command.into();
            queue
                .enqueue_if(false, kind, &mut command, Waits::default(), order)
                .unwrap();
            let state = queue.lock();
            let found = state.recording.batch().unwrap().barriers();
            assert_eq!(found + none_first, barriers);
        }
        queue.finish().unwrap();
    }
}
