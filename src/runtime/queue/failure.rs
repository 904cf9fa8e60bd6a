//! A queue's failure: from which of its batches on the commands have failed.
//!
//! A submission that fails for want of memory breaks its queue: what comes after is not enqueued any more, as after
//! a command whose effects are missing. What was submitted before ends as it would have. When the device is lost,
//! nothing ends any more: then nobody waits for it either.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug)]
pub struct Failure {
    /// Time of the first batch that failed.
    from: AtomicU64,
    /// The queue's timeline does not move any more.
    is_dead: AtomicBool,
}

impl Default for Failure {
    fn default() -> Self {
        Self {
            from: AtomicU64::new(u64::MAX),
            is_dead: AtomicBool::new(false),
        }
    }
}

impl Failure {
    /// The batch of time `value` and all after it have failed.
    pub fn break_from(&self, value: u64) {
        self.from.fetch_min(value, Ordering::AcqRel);
    }

    /// So have they, and the timeline does not reach them either.
    pub fn die_from(&self, value: u64) {
        self.break_from(value);
        self.is_dead.store(true, Ordering::Release);
    }

    /// Whether nothing can be enqueued any more.
    pub fn is_broken(&self) -> bool {
        self.from.load(Ordering::Acquire) != u64::MAX
    }

    /// Whether to wait for the timeline is to wait for ever.
    pub fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Acquire)
    }

    /// Whether the batch of time `value` has failed.
    pub fn has(&self, value: u64) -> bool {
        value >= self.from.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_counts() {
        let failure = Failure::default();
        assert!(!failure.is_broken() && !failure.has(7));
        failure.break_from(5);
        failure.break_from(9);
        assert!(failure.is_broken() && !failure.is_dead());
        assert!(failure.has(5) && !failure.has(4));
        failure.die_from(3);
        assert!(failure.is_dead() && failure.has(3));
    }
}
