//! Commands that use memory objects: what they use is brought to the device before them, or the host carries them out.

use super::host_access::move_on_host;
use crate::runtime::command::{Command, Ordering};
use crate::runtime::event::waits::Waits;
use crate::runtime::event::{Event, WaitList};
use crate::runtime::object::error::Result;
use crate::runtime::queue::Queue;
use crate::runtime::queue::bring::bring;
use crate::runtime::queue::enqueue_lock::EnqueueLock;
use crate::runtime::residency::backing::MemoryAccess;
use opencl_sys::cl_command_type;
use std::sync::Arc;

/// [`Queue::enqueue_if`] of a command with what it uses brought to the device before it, unless the host carries it
/// out.
///
/// # Errors
/// Those of [`Queue::enqueue_if`] and of [`bring`].
pub fn enqueue_using(
    queue: &Arc<Queue>,
    accesses: &[MemoryAccess],
    wants_event: bool,
    kind: cl_command_type,
    command: &mut Command,
    wait_list: &mut WaitList,
) -> Result<Option<Arc<Event>>> {
    let migrates = accesses.iter().any(|it| it.backing.migrates());
    if !migrates && let Some(event) = move_on_host(queue, kind, command, wait_list)? {
        return Ok(Some(event));
    }
    let _lock = migrates.then(|| EnqueueLock::take([queue]));
    bring(queue, accesses, wait_list)?;
    let (waits, order) = (Waits::on(wait_list), Ordering::default());
    queue.enqueue_if(wants_event, kind, command, waits, order)
}
