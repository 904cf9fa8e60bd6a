//! Completion: what happens when the device is done with a batch.

use super::Queue;
use super::batch::Batch;
use super::losses::is_behind_lost;
use super::times::Times;
use crate::runtime::event::DeferredWork;
use opencl_sys::{
    CL_COMPLETE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_OUT_OF_RESOURCES, cl_int,
};
use std::sync::Arc;

/// Completes every batch that the device is done with. The application may be called: hold no lock.
pub(in crate::runtime) fn complete_all(queue: &Arc<Queue>) {
    complete_to(queue, u64::MAX);
}

/// Completes the batches up to time `last` that the device is done with.
fn complete_to(queue: &Arc<Queue>, last: u64) {
    while !queue.progress.is_complete(last) {
        let Some(deferred) = complete_one(queue, last) else {
            return;
        };
        deferred.run();
    }
}

/// Completes the oldest batch, if its time is `last` at most and the device is done with it.
fn complete_one(queue: &Arc<Queue>, last: u64) -> Option<DeferredWork> {
    let reached = reached_with_others(queue, last)?;
    let completing = queue.progress.lock_completion();
    let mut batch = queue.lock().in_flight.take_first(reached)?;
    let mut deferred = DeferredWork::default();
    carry_out(queue, &mut batch, &mut deferred);
    if let Some(trace) = queue.trace {
        trace.write_batch(&batch);
    }
    queue.progress.note_completion(batch.value);
    drop(completing);

    batch.recycle();
    let mut state = queue.lock();
    state.recording.take_back(batch);
    let kept_alive = state.in_flight.note_completion();
    drop(state);
    if !kept_alive.is_empty() {
        deferred.drop_later(kept_alive);
    }
    Some(deferred)
}

/// The time that the device has reached, `last` at most, if it is done with the oldest batch. What that one came after in other
/// queues is complete then.
fn reached_with_others(queue: &Queue, last: u64) -> Option<u64> {
    let state = queue.lock();
    let first = state.in_flight.first()?;
    let value = first.value;
    let waits = first.waits.clone();
    drop(state);
    let reached = reached(queue).min(last);
    if reached < value {
        return None;
    }
    // It was submitted before the batch, so this ends.
    for (queue, value) in waits {
        complete_to(&queue, value);
        queue.progress.wait_for_completion(value);
    }
    Some(reached)
}

/// The time that the device has reached; all of time when nothing completes any more.
fn reached(queue: &Queue) -> u64 {
    if !queue.progress.failure().is_dead() {
        match queue.progress.reached() {
            Ok(value) => return value,
            Err(error) => {
                log::error!("the device's progress can't be read: {error}");
                die(queue);
            }
        }
    }
    u64::MAX
}

/// Does what the host has to do for a batch that the device is done with, and finishes its events.
fn carry_out(queue: &Queue, batch: &mut Batch, deferred: &mut DeferredWork) {
    let failure = queue.progress.failure();
    let mut waits = batch.waits.iter();
    let lacks_others = waits.any(|(queue, value)| queue.progress.failure().has(*value));
    if lacks_others && queue.is_in_order() {
        // What follows it would go on without its effects.
        failure.break_from(batch.value);
    }
    let lost = batch.lost_iterations();
    let has_failed = lacks_others || failure.has(batch.value);
    for action in batch.take_actions() {
        if !has_failed {
            action.run();
        }
    }
    let times = Times::of(queue, batch, has_failed);
    let behind_others = batch.first_behind(queue.losses.batches());
    let is_behind = is_behind_lost(queue);
    // Before the host finds the memory free, and reads it.
    let first_lost = lost.map(|(first, message)| {
        queue.context().report(message);
        first
    });
    let outcome = Outcome {
        has_failed,
        lacks_others,
        first_lost: if is_behind { Some(0) } else { first_lost },
        behind_others,
    };
    if outcome.first_lost.or(behind_others).is_some() {
        queue.losses.note(batch.value);
    }
    batch.end_uses();
    for (at, entry) in batch.entries.iter().enumerate() {
        let finished = entry
            .event
            .finish(outcome.status(at), times.at(entry.timestamp));
        deferred.merge(finished);
    }
}

/// How a batch has ended.
struct Outcome {
    has_failed: bool,
    /// Something that it waited for in another queue has failed.
    lacks_others: bool,
    /// The first of its events that come with or behind a kernel which has lost iterations.
    first_lost: Option<usize>,
    /// The first of those that wait for what comes behind such a kernel.
    behind_others: Option<usize>,
}

impl Outcome {
    /// The status of event number `at`.
    fn status(&self, at: usize) -> cl_int {
        let is_from = |first: Option<usize>| first.is_some_and(|first| at >= first);
        if self.lacks_others {
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
        } else if self.has_failed || is_from(self.first_lost) {
            CL_OUT_OF_RESOURCES
        } else if is_from(self.behind_others) {
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
        } else {
            CL_COMPLETE
        }
    }
}

/// Nothing that is not complete completes any more.
pub(super) fn die(queue: &Queue) {
    die_from(queue, queue.progress.first_incomplete());
}

/// Nothing from time `value` on completes any more, which the application is told of.
pub(super) fn die_from(queue: &Queue, value: u64) {
    let failure = queue.progress.failure();
    if failure.is_dead() {
        return;
    }
    failure.die_from(value);
    let message = "the device was lost: nothing that is enqueued on it completes any more";
    queue.context().report(message.to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::command::{self, Command};
    use crate::runtime::event::Event;
    use crate::runtime::event::waits::Waits;
    use crate::runtime::test_queue::{self, marker};
    use opencl_sys::CL_COMMAND_MARKER;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    #[test]
    fn after_a_failed_submission_everything_fails_and_nothing_hangs() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let gate = Event::of_user(queue.context());
        let waiting = marker(&queue, &[Arc::clone(&gate)]);
        queue.progress.failure().die_from(1);
        gate.set_user_status(CL_COMPLETE).unwrap();
        assert_eq!(waiting.wait(), CL_OUT_OF_RESOURCES);
        assert!(queue.finish().is_err());
        assert!(queue.lock().is_idle());
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
        let command = Command::Call(Box::new(job));
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
