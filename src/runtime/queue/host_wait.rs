//! Waits of the calling thread for a queue's commands.

use super::Queue;
use super::completion::{complete_all, die};
use super::submit::flush_to;
use crate::runtime::command::{Command, Ordering};
use crate::runtime::event::waits::Waits;
use crate::runtime::object::error::Result;
use opencl_sys::CL_COMMAND_MARKER;
use std::sync::Arc;

/// Blocks until the batch of time `value` is complete.
pub(super) fn wait_for(queue: &Arc<Queue>, value: u64) {
    flush_to(queue, value);
    if let Err(error) = queue.progress.wait(value) {
        log::error!("waiting for the device failed: {error}");
        die(queue);
    }
    complete_all(queue);
    queue.progress.wait_for_completion(value);
}

/// Submits the batch of time `value` if it is still open, and completes what the device is done with. Does not block.
pub(super) fn poll(queue: &Arc<Queue>, value: u64) {
    flush_to(queue, value);
    complete_all(queue);
}

/// Blocks until the oldest batch under way is complete; false if there is none.
pub(super) fn wait_for_oldest(queue: &Arc<Queue>) -> bool {
    queue.flush();
    let oldest = queue.lock().in_flight.first().map(|batch| batch.value);
    if let Some(oldest) = oldest {
        wait_for(queue, oldest);
    }
    oldest.is_some()
}

/// Blocks until every command enqueued so far is done.
///
/// # Errors
/// The device was lost, or a submission has failed.
pub(super) fn wait_for_everything(queue: &Arc<Queue>) -> Result<()> {
    let (value, none_waits) = {
        let state = queue.lock();
        (state.recording.last_value(), state.none_waits())
    };
    if !none_waits {
        let order = Ordering {
            after_all: true,
            ..Ordering::default()
        };
        let kind = CL_COMMAND_MARKER;
        let marker = queue.enqueue(kind, Command::NOTHING, Waits::default(), order)?;
        marker.wait();
    } else if value > 0 {
        wait_for(queue, value);
    }
    queue.check()
}
