//! What comes in a queue behind a kernel that has lost iterations: see [`crate::runtime::program::lost_iterations`].

use super::Queue;
use crate::runtime::program::lost_iterations::LostBatches;
use std::sync::atomic::{AtomicBool, Ordering};

/// The losses of a queue's kernels.
#[derive(Default)]
pub(super) struct Losses {
    /// A kernel has lost iterations, and no call that waits has failed since then.
    has_any: AtomicBool,
    batches: LostBatches,
}

impl Losses {
    /// Notes that a command of the batch of time `value`, which comes after all that were noted, fails for a loss.
    pub fn note(&self, value: u64) {
        self.has_any.store(true, Ordering::Release);
        self.batches.add(value);
    }

    /// The batches with commands that failed for one.
    pub fn batches(&self) -> &LostBatches {
        &self.batches
    }

    /// Whether there is a loss for which no call has failed, as the caller does now.
    pub fn take(&self) -> bool {
        self.has_any.swap(false, Ordering::AcqRel)
    }
}

/// Whether what is enqueued now comes behind a kernel that has lost iterations, and no call has failed for that.
pub(in crate::runtime) fn is_behind_lost(queue: &Queue) -> bool {
    queue.is_in_order() && queue.losses.has_any.load(Ordering::Acquire)
}
