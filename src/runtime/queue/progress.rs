//! How far the device has come with the batches of a queue, and how that is waited for.
//!
//! A time is a value of the queue's timeline semaphore: each batch has one, which the timeline reaches when the device is done
//! with it.

use super::failure::Failure;
use crate::vulkan::timestamps::host_now_ns;
use crate::vulkan::{self, Timeline};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a wait lasts before it looks whether the device was lost.
const SLICE: Duration = Duration::from_secs(2);

/// How long a wait looks at least before it sleeps: as long as a short kernel takes, since to be woken by the driver
/// takes 30 µs on an H200.
const LEAST_SPIN_NS: u64 = 60_000;

/// How long it looks at most: not for what is worth a processor's sleep.
const MOST_SPIN_NS: u64 = 5_000_000;

/// How long the next wait of a queue looks, the last one having taken so long: waits tend to be like the one before.
///
/// To sleep costs more than to be woken. The GPU fetches commands from host memory, more slowly where all processors
/// sleep, and what is handed over next finds cold caches: 3,000 small kernels took an H200 1,250 µs with a thread awake
/// and 1,500 without, and to hand them over 9 µs instead of 20.
fn next_spin_ns(waited_ns: u64) -> u64 {
    if waited_ns < MOST_SPIN_NS {
        MOST_SPIN_NS
    } else {
        LEAST_SPIN_NS
    }
}

/// The times that the device and the host have reached.
pub(super) struct Progress {
    timeline: Timeline,
    /// The device needs the processor itself.
    runs_on_host: bool,
    /// The last time that was handed to the device.
    submitted: AtomicU64,
    /// The last time whose batch is complete: the host, too, has done what there was to do.
    completed: AtomicU64,
    /// One thread at a time completes a batch.
    completing: Mutex<()>,
    /// How long a wait looks before it sleeps.
    spin_ns: AtomicU64,
    failure: Failure,
}

impl Progress {
    /// # Errors
    /// The device is out of memory.
    pub fn new(vulkan: &Arc<vulkan::Device>, runs_on_host: bool) -> Result<Self, vulkan::Error> {
        Ok(Self {
            timeline: Timeline::new(vulkan)?,
            runs_on_host,
            submitted: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            completing: Mutex::default(),
            spin_ns: AtomicU64::new(MOST_SPIN_NS),
            failure: Failure::default(),
        })
    }

    /// The timeline semaphore, for submissions and what waits for them.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// From when on the queue's commands have failed.
    pub fn failure(&self) -> &Failure {
        &self.failure
    }

    /// The last time that was handed to the device.
    pub fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }

    /// Whether the batch of time `value` was handed to the device.
    pub fn is_submitted(&self, value: u64) -> bool {
        self.submitted() >= value
    }

    /// Notes that the batch of time `value` was handed to the device.
    pub fn note_submission(&self, value: u64) {
        self.submitted.store(value, Ordering::Release);
    }

    /// Whether the batch of time `value` is complete.
    pub fn is_complete(&self, value: u64) -> bool {
        self.completed.load(Ordering::Acquire) >= value
    }

    /// The time after the last one whose batch is complete.
    pub fn first_incomplete(&self) -> u64 {
        self.completed.load(Ordering::Acquire) + 1
    }

    /// Notes that the batch of time `value` is complete.
    pub fn note_completion(&self, value: u64) {
        self.completed.store(value, Ordering::Release);
    }

    /// Locks the completion of batches: one thread at a time, so that they complete in order.
    pub fn lock_completion(&self) -> MutexGuard<'_, ()> {
        let locked = self.completing.lock();
        locked.unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks until the batch of time `value`, which the device is done with, is complete: another thread may be at it, and
    /// what the host copies need not be there yet.
    pub fn wait_for_completion(&self, value: u64) {
        if !self.is_complete(value) {
            drop(self.lock_completion());
        }
    }

    /// Whether the device is known to have reached `value`.
    pub fn has_reached(&self, value: u64) -> bool {
        self.timeline.value().is_ok_and(|reached| reached >= value)
    }

    /// The time that the device has reached.
    ///
    /// # Errors
    /// The device is lost.
    pub fn reached(&self) -> Result<u64, vulkan::Error> {
        self.timeline.value()
    }

    /// Blocks until the device has reached `value`: awake for as long as it is likely to take, by the wait before it.
    ///
    /// # Errors
    /// The device is lost.
    pub fn wait(&self, value: u64) -> Result<(), vulkan::Error> {
        // What is done already tells nothing of how long the next wait takes.
        if self.has_reached(value) {
            return Ok(());
        }
        let start_ns = host_now_ns();
        self.wait_awake(value, self.spin_ns.load(Ordering::Relaxed))?;
        let waited_ns = host_now_ns().saturating_sub(start_ns);
        self.spin_ns
            .store(next_spin_ns(waited_ns), Ordering::Relaxed);
        Ok(())
    }

    /// Blocks until the device has reached `value`, asleep but for a moment.
    ///
    /// # Errors
    /// The device is lost.
    pub fn wait_asleep(&self, value: u64) -> Result<(), vulkan::Error> {
        self.wait_awake(value, LEAST_SPIN_NS)
    }

    /// Waits until the device has reached what was submitted, for no longer than `patience`; whether it has.
    pub fn settle(&self, patience: Duration) -> bool {
        let value = self.submitted();
        value == 0 || self.failure.is_dead() || self.timeline.wait(value, patience).unwrap_or(true)
    }

    /// Blocks until the device has reached `value`, awake for `spin_ns` at most.
    fn wait_awake(&self, value: u64, spin_ns: u64) -> Result<(), vulkan::Error> {
        if self.spin(value, spin_ns) {
            return Ok(());
        }
        while value > 0 && !self.failure.is_dead() && !self.timeline.wait(value, SLICE)? {}
        Ok(())
    }

    /// Looks again and again, for a time. Not where the device needs the processor itself.
    fn spin(&self, value: u64, most_ns: u64) -> bool {
        if self.runs_on_host || self.failure.is_dead() {
            return false;
        }
        let start_ns = host_now_ns();
        loop {
            match self.timeline.value() {
                Ok(reached) if reached >= value => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
            let spun_ns = host_now_ns().saturating_sub(start_ns);
            if spun_ns >= most_ns {
                return false;
            }
            if spun_ns < LEAST_SPIN_NS {
                std::hint::spin_loop()
            } else {
                // Whoever else has something to do gets the processor.
                std::thread::yield_now()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::event::Event;
    use crate::runtime::test_queue::{self, marker};
    use opencl_sys::CL_COMPLETE;

    #[test]
    fn a_wait_for_what_is_done_says_nothing_of_the_next() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let gate = Event::of_user(queue.context());
        // It waits, so that it is recorded.
        let last = marker(&queue, &[Arc::clone(&gate)]);
        gate.set_user_status(CL_COMPLETE).unwrap();
        assert_eq!(last.wait(), CL_COMPLETE);
        let progress = &queue.progress;
        assert!(progress.submitted() > 0);
        // Another wait was long.
        progress.spin_ns.store(LEAST_SPIN_NS, Ordering::Relaxed);
        queue.finish().unwrap();
        queue.finish().unwrap();
        assert_eq!(progress.spin_ns.load(Ordering::Relaxed), LEAST_SPIN_NS);
    }

    #[test]
    fn only_short_waits_are_spent_awake() {
        for waited_ns in [0, LEAST_SPIN_NS, MOST_SPIN_NS - 1] {
            assert_eq!(next_spin_ns(waited_ns), MOST_SPIN_NS);
        }
        for waited_ns in [MOST_SPIN_NS, u64::MAX] {
            assert_eq!(next_spin_ns(waited_ns), LEAST_SPIN_NS);
        }
    }
}
