//! The buffers of a device that its kernels print into: those that are free, and how many are in use.

use super::Allocation;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Buffers kept for later launches.
const MOST_FREE: usize = 8;

/// A device's buffers for `printf`.
#[derive(Default)]
pub struct PrintfBuffers {
    free: Mutex<Vec<Arc<Allocation>>>,
    in_use: AtomicUsize,
}

impl PrintfBuffers {
    /// Takes a buffer that an earlier launch has left empty, if there is one.
    pub fn take(&self) -> Option<Arc<Allocation>> {
        self.free().pop()
    }

    /// Keeps an empty buffer for later launches, unless there are enough.
    pub fn give_back(&self, buffer: &Arc<Allocation>) {
        let mut free = self.free();
        if free.len() < MOST_FREE {
            free.push(Arc::clone(buffer));
        }
    }

    /// Counts a launch that has a buffer and is not done.
    pub fn begin_use(&self) {
        self.in_use.fetch_add(1, Ordering::AcqRel);
    }

    /// Counts that launch no longer.
    pub fn end_use(&self) {
        self.in_use.fetch_sub(1, Ordering::AcqRel);
    }

    /// Launches that have a buffer and are not done.
    pub fn in_use(&self) -> usize {
        self.in_use.load(Ordering::Acquire)
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Allocation>>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
