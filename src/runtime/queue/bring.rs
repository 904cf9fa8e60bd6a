//! Commands on memory objects whose contents must be brought to the device before: see [`crate::runtime::residency::contents`].

use super::Queue;
use super::advance::enqueue_fetches;
use crate::runtime::command::Ordering;
use crate::runtime::command::host_job::HostJob;
use crate::runtime::event::waits::Waits;
use crate::runtime::event::{Event, Stage, WaitList};
use crate::runtime::object::error::Result;
use crate::runtime::queue::host_commands::enqueue_host_job;
use crate::runtime::residency::backing::MemoryAccess;
use crate::runtime::residency::fetch::Fetches;
use opencl_sys::{CL_COMMAND_MIGRATE_MEM_OBJECTS, CL_COMPLETE};
use std::sync::Arc;

/// Has what a command uses brought to this queue's device before it. `wait_list` are the events that the
/// command waits for, and from here on must wait for. Whoever enqueues what overwrites has an
/// [`EnqueueLock`](super::enqueue_lock::EnqueueLock) until it is enqueued: other threads must not find the device the owner of
/// what is not there yet.
///
/// # Errors
/// `CL_MEM_OBJECT_ALLOCATION_FAILURE`, and as [`Queue::enqueue`].
pub fn bring<'a>(
    queue: &Arc<Queue>,
    accesses: impl IntoIterator<Item = &'a MemoryAccess>,
    wait_list: &mut WaitList,
) -> Result<()> {
    if queue.context().devices().len() == 1 {
        return Ok(());
    }
    let device = queue.context_device();
    let mut fetches = Fetches::default();
    for it in accesses {
        // Before it is the owner of anything, the device has room for it.
        it.backing.place(device)?;
        if let Some(fetch) = it.backing.fetch(device.index(), &it.range, it.mode) {
            fetches.push(fetch);
        }
    }
    if fetches.is_empty() {
        return Ok(());
    }
    let event = if !is_after_claims(queue, wait_list) {
        enqueue_fetches(queue, fetches, Waits::on(wait_list))
    } else if fetches.claim_if_there() {
        return Ok(());
    } else {
        let kind = CL_COMMAND_MIGRATE_MEM_OBJECTS;
        let job = HostJob::Own(Box::new(move || fetches.carry()));
        enqueue_host_job(queue, kind, job, false, wait_list)?
    };
    wait_list.push(event);
    Ok(())
}

/// Whether all that comes before a command with this wait list has claimed what it writes.
fn is_after_claims(queue: &Queue, wait_list: &[Arc<Event>]) -> bool {
    let has_claimed = |event: &Arc<Event>| {
        matches!(
            event.stage(),
            Stage::Issued { .. } | Stage::Done(CL_COMPLETE)
        )
    };
    wait_list.iter().all(has_claimed)
        && !queue
            .lock()
            .has_wait(Ordering::default(), queue.is_in_order())
}
