//! The thread of a queue that completes its batches as soon as the device is done with them.
//!
//! Whoever waits completes batches; this thread does so for a queue that somebody wants to be told about (event
//! callbacks, commands of other devices, a queue that the application has released). It starts when first
//! needed and ends when its queue has been idle for a while. One for each such queue, and not one for the
//! device: to wait for any of several timelines is a busy loop in drivers that emulate them (Mesa's do).

use super::Queue;
use super::completion::{complete_all, die};
use super::state::State;
use crate::runtime::host::process::AtWork;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar};
use std::time::Duration;

/// An idle thread ends after this.
const LIFE: Duration = Duration::from_millis(500);

/// Whether a queue has such a thread, and needs one.
#[derive(Default)]
pub(super) struct CompletionThread {
    /// Somebody wants to be told of events: the thread is needed, and early callbacks.
    is_watched: AtomicBool,
    /// The application has let go of the queue.
    is_abandoned: AtomicBool,
    /// The thread runs. Changed with the queue's state locked.
    runs: AtomicBool,
    new_work: Condvar,
}

impl CompletionThread {
    /// Whether somebody wants to be told of events.
    pub fn is_watched(&self) -> bool {
        self.is_watched.load(Ordering::Acquire)
    }

    /// Wakes the thread, if it runs, for a batch that was submitted. Its caller has the state locked.
    pub fn note_work(&self, _: &State) {
        if self.runs.load(Ordering::Relaxed) {
            self.new_work.notify_all();
        }
    }
}

/// Has a thread see to it that what is submitted is completed as soon as the device is done with it.
pub(in crate::runtime) fn watch(queue: &Arc<Queue>) {
    let thread = &queue.completion_thread;
    thread.is_watched.store(true, Ordering::Release);
    let _state = queue.lock();
    if thread.runs.load(Ordering::Relaxed) {
        return;
    }
    let its = Arc::clone(queue);
    let spawned = std::thread::Builder::new()
        .name("pumice-wait".to_owned())
        .spawn(move || {
            let mut at_work = Some(AtWork::begin());
            wait_and_complete(its, &mut at_work);
        });
    match spawned {
        Ok(_) => thread.runs.store(true, Ordering::Relaxed),
        Err(error) => log::error!("no thread to wait for the device: {error}"),
    }
}

/// The application has let go of the queue: what waits in it must still come to an end.
pub(super) fn abandon(queue: &Arc<Queue>) {
    queue.flush();
    let state = queue.lock();
    let has_ended = state.is_idle() && state.none_waits();
    queue
        .completion_thread
        .is_abandoned
        .store(true, Ordering::Release);
    queue.completion_thread.new_work.notify_all();
    drop(state);
    if !has_ended {
        watch(queue);
    }
}

/// The thread; at work but for the time that it waits for work. It has its own share of the queue, to be dropped there.
fn wait_and_complete(queue: Arc<Queue>, at_work: &mut Option<AtWork>) {
    let thread = &queue.completion_thread;
    loop {
        let mut state = queue.lock();
        if state.in_flight.is_empty() {
            // Nobody will enqueue anything: what the queue has is given back at once.
            let is_abandoned = thread.is_abandoned.load(Ordering::Acquire);
            if is_abandoned && state.none_waits() && state.is_idle() {
                thread.runs.store(false, Ordering::Relaxed);
                return;
            }
            *at_work = None;
            let (woken, is_over) = state.wait(&thread.new_work, LIFE);
            drop(woken);
            *at_work = Some(AtWork::begin());
            state = queue.lock();
            if is_over && state.in_flight.is_empty() {
                // With commands that wait or are recorded there will be work again; otherwise somebody calls `watch` when
                // they care.
                if state.none_waits() && state.is_idle() {
                    thread.runs.store(false, Ordering::Relaxed);
                    return;
                }
                continue;
            }
        }
        let first = state.in_flight.first().map(|batch| batch.value);
        drop(state);
        if let Some(value) = first {
            if let Err(error) = queue.progress.wait_asleep(value) {
                log::error!("waiting for the device failed: {error}");
                die(&queue);
            }
            complete_all(&queue);
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
    fn an_abandoned_queue_is_freed_when_its_work_is_done() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let other = test_queue::another(&queue, 0);
        let gate = Event::of_user(queue.context());
        let first = marker(&queue, &[Arc::clone(&gate)]);
        // Recorded, it does not wait: it waits for the other queue on the device.
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
        panic!("somebody has the queue still");
    }
}
