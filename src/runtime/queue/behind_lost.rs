//! What comes in a queue behind a kernel that has lost iterations: see [`crate::runtime::program::lost_iterations`].

use super::Queue;
use crate::runtime::object::error::{Error, Result};
use opencl_sys::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What a blocking call fails with behind a kernel that has lost iterations.
///
/// Not `CL_OUT_OF_RESOURCES`, which some take for a lack of memory: PyOpenCL lets go of what it can and calls again, and
/// that call would succeed, with wrong data.
pub fn error_of_blocking_call() -> Error {
    Error::new(
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        "a kernel before it has lost iterations",
    )
}

/// Whether what is enqueued now comes behind a kernel that has lost iterations, and no call has failed for that.
pub(in crate::runtime) fn is_behind_lost(queue: &Queue) -> bool {
    queue.is_in_order() && queue.has_lost.load(Ordering::Acquire)
}

/// Whether a kernel has lost iterations and no call has failed for that, as the caller does now.
pub(in crate::runtime) fn take_lost(queue: &Queue) -> bool {
    queue.has_lost.swap(false, Ordering::AcqRel)
}

/// Blocks until every command enqueued so far is done, for a blocking command that comes behind all of them.
///
/// # Errors
/// The device was lost, or a kernel has lost iterations.
pub(in crate::runtime) fn finish_before(queue: &Arc<Queue>) -> Result<()> {
    queue.wait_for_everything()?;
    if take_lost(queue) {
        return Err(error_of_blocking_call());
    }
    Ok(())
}
