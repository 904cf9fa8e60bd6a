//! Completion: what happens when the device is done with a batch.
//!
//! Whoever waits retires; a waiter thread does so for a queue that somebody wants to be told about (event
//! callbacks, commands of other devices, a queue that the application has released). It starts when first
//! needed and ends when its queue has been idle for a while. One for each such queue, and not one for the
//! device: to wait for any of several timelines is a busy loop in drivers that emulate them (Mesa's do).

use super::Queue;
use super::batch::Batch;
use crate::runtime::command::keep_alive::KeepAlive;
use crate::runtime::event::{Aftermath, Event};
use crate::runtime::host::process::AtWork;
use crate::runtime::host::trace::CommandTimes;
use crate::runtime::queue::behind_lost::is_behind_lost;
use crate::vulkan::timestamps::host_now_ns;
use opencl_sys::{CL_COMPLETE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_OUT_OF_RESOURCES};
use smallvec::SmallVec;
use std::mem::take;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// How long a wait lasts before it looks whether the device was lost.
const SLICE: Duration = Duration::from_secs(2);

/// How long a wait looks at least before it sleeps: as long as a short kernel takes, since to be woken by the driver
/// takes 30 µs on an H200.
const LEAST_SPIN_NS: u64 = 60_000;

/// How long it looks at most: not for what is worth a processor's sleep.
pub(in crate::runtime) const MOST_SPIN_NS: u64 = 5_000_000;

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

/// An idle waiter thread ends after this.
const WAITER_LIFE: Duration = Duration::from_millis(500);

impl Queue {
    /// Blocks until the batch of time `value` is done and retired.
    pub(in crate::runtime) fn wait_for(self: &Arc<Self>, value: u64) {
        self.flush_to(value);
        // What is done already tells nothing of how long the next wait takes.
        if !self.timeline.value().is_ok_and(|reached| reached >= value) {
            let start_ns = host_now_ns();
            self.wait_awake(value, self.spin_ns.load(Ordering::Relaxed));
            let waited_ns = host_now_ns().saturating_sub(start_ns);
            self.spin_ns
                .store(next_spin_ns(waited_ns), Ordering::Relaxed);
        }
        self.retire();
        self.wait_for_retirement(value);
    }

    /// Another thread may have taken the batch of time `value`, which the device is done with, and be at its end: what the
    /// host copies need not be there yet.
    fn wait_for_retirement(&self, value: u64) {
        if self.retired.load(Ordering::Acquire) < value {
            drop(self.retiring.lock());
        }
    }

    /// Blocks until the device has reached `value`.
    pub(in crate::runtime) fn wait_timeline(&self, value: u64) {
        self.wait_awake(value, LEAST_SPIN_NS);
    }

    /// Blocks until the device has reached `value`, awake for `spin_ns` at most.
    fn wait_awake(&self, value: u64, spin_ns: u64) {
        if !self.spin(value, spin_ns) {
            self.sleep(value);
        }
    }

    fn sleep(&self, value: u64) {
        while value > 0 && !self.failure.is_dead() {
            match self.timeline.wait(value, SLICE) {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => {
                    log::error!("waiting for the device failed: {error}");
                    self.die();
                }
            }
        }
    }

    /// Looks again and again, for a time. Not where the device needs the processor itself.
    fn spin(&self, value: u64, most_ns: u64) -> bool {
        if self.device().is_cpu() || self.failure.is_dead() {
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

    /// Submits the batch of time `value` if it is still open, and retires what is done. Does not block.
    pub(in crate::runtime) fn poll(self: &Arc<Self>, value: u64) {
        self.flush_to(value);
        self.retire();
    }

    /// Retires every batch that the device is done with.
    pub(in crate::runtime) fn retire(self: &Arc<Self>) {
        self.retire_to(u64::MAX);
    }

    /// Retires the batches up to time `last` that the device is done with.
    fn retire_to(self: &Arc<Self>, last: u64) {
        while self.retired.load(Ordering::Acquire) < last {
            let Some(aftermath) = self.retire_one(last) else {
                return;
            };
            aftermath.run();
        }
    }

    /// The time that the device has reached; all of time when nothing completes any more.
    fn reached(&self) -> u64 {
        if !self.failure.is_dead() {
            match self.timeline.value() {
                Ok(value) => return value,
                Err(error) => {
                    log::error!("the device's progress can't be read: {error}");
                    self.die();
                }
            }
        }
        u64::MAX
    }

    /// Nothing that is not retired completes any more.
    fn die(&self) {
        self.die_from(self.retired.load(Ordering::Acquire) + 1);
    }

    /// Nothing from time `value` on completes any more, which the application is told of.
    pub(in crate::runtime) fn die_from(&self, value: u64) {
        if self.failure.is_dead() {
            return;
        }
        self.failure.die_from(value);
        let message = "the device was lost: nothing that is enqueued on it completes any more";
        self.context().report(message.to_owned());
    }

    fn retire_one(self: &Arc<Self>, last: u64) -> Option<Aftermath> {
        let reached = {
            let state = self.lock();
            let first = state.in_flight.front()?;
            let value = first.value;
            let waits = first.waits.clone();
            drop(state);
            let reached = self.reached().min(last);
            if reached < value {
                return None;
            }
            // What it came after must be seen done before it. It was submitted before it, so this ends.
            for (queue, value) in waits {
                queue.retire_to(value);
                queue.wait_for_retirement(value);
            }
            reached
        };

        let retiring = self.retiring.lock().unwrap_or_else(PoisonError::into_inner);
        let mut batch = {
            let mut state = self.lock();
            if state.in_flight.front()?.value > reached {
                return None;
            }
            state.retiring += 1;
            state.in_flight.pop_front()?
        };
        let mut waits = batch.waits.iter();
        let lacks = waits.any(|(queue, value)| queue.failure.has(*value));
        if lacks && self.is_in_order() {
            // What follows it would go on without its effects.
            self.failure.break_from(batch.value);
        }
        let lost = batch.lost_iterations();
        let failed = lacks || self.failure.has(batch.value);
        for post in batch.posts.drain(..) {
            if !failed {
                post.run();
            }
        }
        let times = self.times_of(&batch, failed);
        let waits_for_lost = batch.first_behind(&self.lost_batches);
        let behind_lost = is_behind_lost(self).then_some(0);
        // Before the host finds the memory free, and reads it.
        let first_lost = lost.map(|(first, message)| {
            self.context().report(message);
            first
        });
        let first_lost = behind_lost.or(first_lost);
        if first_lost.or(waits_for_lost).is_some() {
            self.has_lost.store(true, Ordering::Release);
            self.lost_batches.add(batch.value);
        }
        batch.end_uses();
        let mut aftermath = Aftermath::default();
        let status = match failed {
            true if lacks => CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
            true => CL_OUT_OF_RESOURCES,
            false => CL_COMPLETE,
        };
        for (at, entry) in batch.entries.iter().enumerate() {
            let is_from = |first: Option<usize>| first.is_some_and(|first| at >= first);
            let status = if status != CL_COMPLETE {
                status
            } else if is_from(first_lost) {
                CL_OUT_OF_RESOURCES
            } else if is_from(waits_for_lost) {
                CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
            } else {
                CL_COMPLETE
            };
            aftermath.merge(entry.event.finish(status, times.of(entry.timestamp)));
        }
        self.write_trace(&batch);
        self.retired.store(batch.value, Ordering::Release);
        drop(retiring);

        batch.recycle();
        let mut state = self.lock();
        state.spare.push(batch);
        state.retiring -= 1;
        let kept = match state.retiring {
            0 => take(&mut state.kept),
            _ => KeepAlive::new(),
        };
        drop(state);
        // May call the application.
        drop(kept);
        Some(aftermath)
    }

    /// Writes the commands of `batch`, which are done, to the trace.
    fn write_trace(&self, batch: &Batch) {
        let Some((trace, _)) = self.trace else {
            return;
        };
        for entry in &batch.entries {
            self.write_command(&entry.event, entry.recorded_ns, batch.submitted_ns);
        }
        trace.flush();
    }

    /// Writes a command that the host has carried out to the trace, if there is one: it was recorded and submitted
    /// when it began.
    pub(in crate::runtime) fn trace_host_command(&self, event: &Event, start_ns: u64) {
        if let Some((trace, _)) = self.trace {
            self.write_command(event, start_ns, start_ns);
            trace.flush();
        }
    }

    fn write_command(&self, event: &Event, recorded_ns: u64, submit_ns: u64) {
        let (Some((trace, queue)), Some(profile)) = (self.trace, event.profile()) else {
            return;
        };
        let times = CommandTimes {
            queued_ns: profile.queued_ns,
            recorded_ns,
            submit_ns,
            start_ns: profile.start_ns,
            end_ns: profile.end_ns,
        };
        trace.command(queue, event.kind(), times);
    }

    /// When the commands of `batch` ran, on the host's clock.
    fn times_of(&self, batch: &Batch, failed: bool) -> Times {
        if failed || !batch.is_timed {
            return Times::default();
        }
        let seen_ns = host_now_ns();
        let mut times = Times {
            host_ns: SmallVec::new(),
            otherwise: Some((batch.submitted_ns, seen_ns)),
        };
        let Some(pool) = batch
            .timestamps
            .as_ref()
            .filter(|_| self.clock.has_timestamps())
        else {
            return times;
        };
        let mut ticks: SmallVec<[u64; 16]> = smallvec::smallvec![0; batch.stamps as usize];
        if let Err(error) = pool.read(&mut ticks) {
            log::warn!("timestamps can't be read: {error}");
            return times;
        }
        if let (Some(first), Some(last)) = (ticks.first(), ticks.last()) {
            self.clock
                .observe(*first, *last, batch.submitted_ns, seen_ns);
        }
        times.host_ns = ticks
            .iter()
            .map(|tick| {
                self.clock
                    .host_ns(*tick)
                    .clamp(batch.submitted_ns, seen_ns.max(batch.submitted_ns))
            })
            .collect();
        times
    }

    /// Has a thread see to it that what is submitted is retired as soon as it is done.
    pub(in crate::runtime) fn watch(self: &Arc<Self>) {
        self.watched.store(true, Ordering::Release);
        let mut state = self.lock();
        if state.waiter {
            return;
        }
        let queue = Arc::clone(self);
        let spawned = std::thread::Builder::new()
            .name("pumice-wait".to_owned())
            .spawn(move || {
                let mut at_work = Some(AtWork::begin());
                queue.wait_and_retire(&mut at_work);
            });
        match spawned {
            Ok(_) => state.waiter = true,
            Err(error) => log::error!("no thread to wait for the device: {error}"),
        }
    }

    /// The waiter thread; at work but for the time that it waits for work.
    fn wait_and_retire(self: Arc<Self>, at_work: &mut Option<AtWork>) {
        loop {
            let mut state = self.lock();
            if state.in_flight.is_empty() {
                // Nobody will enqueue anything: what the queue has is given back at once.
                let abandoned = self.abandoned.load(Ordering::Acquire);
                if abandoned && state.holds_nothing() && state.is_idle() {
                    state.waiter = false;
                    return;
                }
                *at_work = None;
                let (woken, timeout) = self
                    .new_work
                    .wait_timeout(state, WAITER_LIFE)
                    .unwrap_or_else(PoisonError::into_inner);
                drop(woken);
                *at_work = Some(AtWork::begin());
                state = self.lock();
                if timeout.timed_out() && state.in_flight.is_empty() {
                    // With commands held or recorded there will be work again; otherwise somebody
                    // calls `watch` when they care.
                    if state.holds_nothing() && state.is_idle() {
                        state.waiter = false;
                        return;
                    }
                    continue;
                }
            }
            let first = state.in_flight.front().map(|batch| batch.value);
            drop(state);
            if let Some(value) = first {
                self.wait_timeline(value);
                self.retire();
            }
        }
    }
}

/// Start and end of commands, host nanoseconds.
#[derive(Default)]
struct Times {
    host_ns: SmallVec<[u64; 16]>,
    /// For commands without timestamps.
    otherwise: Option<(u64, u64)>,
}

impl Times {
    fn of(&self, timestamp: Option<u32>) -> Option<(u64, u64)> {
        let first = timestamp.map(|first| first as usize);
        let pair = first.and_then(|first| {
            let start = *self.host_ns.get(first)?;
            let end = *self.host_ns.get(first + 1)?;
            Some((start, end.max(start)))
        });
        pair.or(self.otherwise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::command::{self, Command, Dispatch};
    use crate::runtime::event::waits::Waits;
    use crate::runtime::test_queue::{self, marker};
    use opencl_sys::CL_COMMAND_MARKER;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn after_a_failed_submission_everything_fails_and_nothing_hangs() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let gate = Event::of_user(queue.context());
        let held = marker(&queue, &[Arc::clone(&gate)]);
        queue.failure.die_from(1);
        gate.set_user_status(CL_COMPLETE).unwrap();
        assert_eq!(held.wait(), CL_OUT_OF_RESOURCES);
        assert!(queue.finish().is_err());
        assert!(queue.lock().is_idle());
    }

    #[test]
    fn an_abandoned_queue_is_freed_when_its_work_is_done() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let other = test_queue::another(&queue, 0);
        let gate = Event::of_user(queue.context());
        let first = marker(&queue, &[Arc::clone(&gate)]);
        // Recorded, not held: it waits for the other queue on the device.
        drop(marker(&other, &[first]));
        gate.set_user_status(CL_COMPLETE).unwrap();
        let weak = Arc::downgrade(&queue);
        queue.abandon();
        other.abandon();
        drop((queue, other));
        for _ in 0..2000 {
            if weak.strong_count() == 0 {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the queue is still held");
    }

    #[test]
    fn a_wait_for_what_is_done_says_nothing_of_the_next() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let gate = Event::of_user(queue.context());
        // Held, so that it is recorded.
        let last = marker(&queue, &[Arc::clone(&gate)]);
        gate.set_user_status(CL_COMPLETE).unwrap();
        assert_eq!(last.wait(), CL_COMPLETE);
        assert!(queue.lock().last_value > 0);
        // As after a long wait.
        queue.spin_ns.store(LEAST_SPIN_NS, Ordering::Relaxed);
        queue.finish().unwrap();
        queue.finish().unwrap();
        assert_eq!(queue.spin_ns.load(Ordering::Relaxed), LEAST_SPIN_NS);
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

    #[test]
    fn who_waits_sees_what_another_thread_is_still_carrying_out() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let done = Arc::new(AtomicBool::new(false));
        let job = {
            let done = Arc::clone(&done);
            move || {
                std::thread::sleep(Duration::from_millis(200));
                done.store(true, Ordering::Release);
            }
        };
        let command = Command::Dispatch(Dispatch {
            on_complete: Some(Box::new(job)),
            ..Dispatch::default()
        });
        let (waits, order) = (Waits::default(), command::Ordering::default());
        let enqueued = queue.enqueue(CL_COMMAND_MARKER, command, waits, order);
        enqueued.unwrap();
        queue.flush();
        std::thread::scope(|scope| {
            scope.spawn(|| queue.finish().unwrap());
            // The other thread has it.
            while !queue.lock().in_flight.is_empty() {
                std::thread::yield_now();
            }
            queue.finish().unwrap();
            assert!(done.load(Ordering::Acquire));
        });
    }
}
