//! Where an enqueued command goes: into the open batch, or among the commands that wait.

use super::advance::enqueue_waiting;
use super::completion::complete_all;
use super::host_wait::wait_for;
use super::issue::{Placement, issue};
use super::state::State;
use super::subscription::{Resolution, resolve};
use super::times::trace_host_command;
use super::work::{Waitable, Work};
use super::{Queue, new_event};
use crate::runtime::command::Ordering as Order;
use crate::runtime::event::waits::Waits;
use crate::runtime::event::{DeferredWork, Event};
use crate::runtime::object::error::Result;
use crate::vulkan::timestamps::host_now_ns;
use opencl_sys::{CL_COMPLETE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, cl_command_type};
use std::sync::Arc;

/// Batches in flight from which on an enqueue looks which are done, and at which it waits.
const BACKLOG: usize = 4;
const MOST_BACKLOG: usize = 64;

/// Records work, or has it wait. The application may be called, and let go of the queue: the caller holds a share of it or
/// does not use it any more.
///
/// # Errors
/// Memory ran out, or the queue has failed.
pub(in crate::runtime) fn place<W: Waitable>(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    work: &mut W,
    waits: &mut Waits,
    order: Order,
    event: Option<&Arc<Event>>,
) -> Result<()> {
    let mut deferred = DeferredWork::default();
    if record_now(queue, work, waits, order, event, &mut deferred)? {
        deferred.run();
    } else {
        let queue = Arc::clone(queue);
        let event = event.map_or_else(|| new_event(&queue, kind), Arc::clone);
        enqueue_waiting(&queue, work.take(), event, std::mem::take(waits), order);
    }
    Ok(())
}

/// Records work whose turn has come; false if it is to wait. `deferred` takes what is left to do then.
///
/// # Errors
/// Memory ran out, or the queue has failed.
#[inline]
pub(super) fn record_now<W: Work>(
    queue: &Arc<Queue>,
    work: &mut W,
    waits: &Waits,
    order: Order,
    event: Option<&Arc<Event>>,
    deferred: &mut DeferredWork,
) -> Result<bool> {
    let mut ready = None;
    if !waits.are_none() {
        match resolve(queue, waits) {
            Resolution::Failed => {
                let code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
                if let Some(event) = event {
                    deferred.merge(event.finish(code, None));
                }
                return Ok(true);
            }
            Resolution::NotYet => return Ok(false),
            Resolution::Ready(found) => ready = Some(found),
        }
    }
    let mut state = queue.lock_to_enqueue();
    if state.has_wait(order, queue.is_in_order()) {
        return Ok(false);
    }
    let comes_after_others = ready.as_ref().is_some_and(|it| !it.device.is_empty());
    if work.sort().is_nothing && !comes_after_others {
        let comes_after = ready.as_ref().and_then(|ready| ready.sequence);
        let needs_none = !order.after_all && comes_after.is_none();
        if state.is_idle() || needs_none && is_free(queue, &state) {
            drop(state);
            let now_ns = host_now_ns();
            if let Some(event) = event {
                deferred.merge(event.finish(CL_COMPLETE, Some((now_ns, now_ns))));
                trace_host_command(queue, event, now_ns);
            }
            return Ok(true);
        }
    }
    let placement = Placement {
        event,
        ready: ready.as_mut(),
        order,
        waited: None,
    };
    issue(queue, &mut state, work, placement)?;
    work_off(queue, &state, deferred);
    Ok(true)
}

/// Whether a command out of order comes after nothing that waits or is under way but what it names.
pub(in crate::runtime) fn is_free(queue: &Queue, state: &State) -> bool {
    let is_complete = |value| queue.progress.is_complete(value);
    !queue.is_in_order()
        && state.waiting.holds_no_barrier()
        && is_complete(state.recording.ordered_value())
}

/// Sees to it that batches are used again, when a command has been recorded: nobody waits for what is submitted. Beyond a limit
/// of batches under way the caller will wait.
#[inline]
pub(super) fn work_off(queue: &Arc<Queue>, state: &State, deferred: &mut DeferredWork) {
    // Only where a batch has just been handed over: to ask the driver for every command costs as much as the command. Those
    // that others have handed over, too, count in the end.
    let batches = state.in_flight.len();
    if batches < BACKLOG || batches < MOST_BACKLOG && state.recording.is_open() {
        return;
    }
    let oldest = state.in_flight.first().map(|batch| batch.value);
    // Its own share: the application is called, and may let go of the queue.
    let queue = Arc::clone(queue);
    deferred.add(move || match oldest {
        Some(oldest) if batches >= MOST_BACKLOG => wait_for(&queue, oldest),
        _ => complete_all(&queue),
    });
}
