//! What a command comes after: its wait list as far as it has come, and what the events of it are asked to tell.

use super::Queue;
use super::completion_thread::watch;
use super::submit::flush_to;
use super::waiting_commands::{Question, Ready};
use crate::runtime::event::waits::Waits;
use crate::runtime::event::{Event, Stage, Subscriber, WaitingQueue};
use std::sync::{Arc, Weak};

/// A waiting command that asks events to tell it.
pub(super) struct Subscription<'a> {
    queue: &'a Arc<Queue>,
    number: u64,
    asked: &'a mut [Question],
    count: i64,
}

/// Whether a command can be recorded.
pub(in crate::runtime) enum Resolution {
    Ready(Ready),
    NotYet,
    Failed,
}

impl<'a> Subscription<'a> {
    /// Command number `number`, which has asked what `asked` says of the events of its wait list.
    pub fn new(queue: &'a Arc<Queue>, number: u64, asked: &'a mut [Question]) -> Self {
        Self {
            queue,
            number,
            asked,
            count: 0,
        }
    }

    /// How many events have been asked that had not been before.
    pub fn count(&self) -> i64 {
        self.count
    }

    /// Asks the event, number `at` among those waited for; whether there is something still to come.
    fn ask(&mut self, event: &Event, at: usize, question: Question) -> bool {
        let Some(asked) = self.asked.get_mut(at) else {
            return true;
        };
        if *asked == question {
            return true;
        }
        let weak: Weak<Queue> = Arc::downgrade(self.queue);
        let queue: Weak<dyn WaitingQueue> = weak;
        let subscriber = Subscriber {
            queue,
            number: self.number,
            has_failed: false,
        };
        let is_to_come = event.subscribe(subscriber, question == Question::Done);
        if is_to_come {
            *asked = question;
            self.count += 1;
        }
        is_to_come
    }
}

/// Whether the events allow a command to be recorded now. Hold no queue's lock.
pub(in crate::runtime) fn resolve(queue: &Arc<Queue>, waits: &Waits) -> Resolution {
    if waits.are_none() {
        return Resolution::Ready(Ready::default());
    }
    resolve_for(queue, waits, &mut None)
}

/// Whether the events allow a command to be recorded now; if not yet, they tell `subscription` when that may have changed.
pub(super) fn resolve_for(
    queue: &Arc<Queue>,
    waits: &Waits,
    subscription: &mut Option<Subscription<'_>>,
) -> Resolution {
    let mut ready = Ready::default();
    let mut not_yet = false;
    for (at, event) in waits.events.iter().enumerate() {
        match look_at(queue, event, at, subscription, &mut ready) {
            Progress::Under => {}
            Progress::ToCome => not_yet = true,
            Progress::Failed => return Resolution::Failed,
        }
    }
    for (at, event) in waits.done.iter().enumerate() {
        not_yet |= !is_done(event, waits.events.len() + at, subscription);
    }
    if not_yet {
        return Resolution::NotYet;
    }
    for (queue, value) in &ready.device {
        flush_to(queue, *value);
    }
    Resolution::Ready(ready)
}

/// How far the command of an event has come, for one of `queue` that waits for it.
enum Progress {
    /// It is done, or under way where the device waits for it.
    Under,
    ToCome,
    Failed,
}

/// Looks at event number `at` of a wait list; what the device has to wait for is added to `ready`.
fn look_at(
    queue: &Arc<Queue>,
    event: &Arc<Event>,
    at: usize,
    subscription: &mut Option<Subscription<'_>>,
    ready: &mut Ready,
) -> Progress {
    loop {
        match event.stage() {
            Stage::Done(status) if status < 0 => return Progress::Failed,
            Stage::Done(_) => return Progress::Under,
            Stage::Waiting if await_move(subscription, event, at) => return Progress::ToCome,
            // It has moved on since: look again.
            Stage::Waiting => {}
            Stage::Issued { value, sequence } => {
                if queue.completes(event) {
                    ready.sequence = ready.sequence.max(Some(sequence));
                    ready.own.push(value);
                    return Progress::Under;
                }
                let Some(other) = Queue::of(event) else {
                    return Progress::Under;
                };
                if other.progress.is_complete(value) {
                    // Done since the event was looked at, or failed.
                } else if Arc::ptr_eq(&other.vulkan, &queue.vulkan) {
                    ready.device.push((other, value));
                    return Progress::Under;
                } else if await_done(subscription, event, at, &other, value) {
                    return Progress::ToCome;
                }
                // It is done since, or has failed.
            }
        }
    }
}

/// Whether event number `at` is done; if not, it is asked to tell.
fn is_done(event: &Arc<Event>, at: usize, subscription: &mut Option<Subscription<'_>>) -> bool {
    loop {
        match event.stage() {
            Stage::Done(_) => return true,
            Stage::Issued { value, .. } => {
                let other = Queue::of(event);
                return other.is_none_or(|it| !await_done(subscription, event, at, &it, value));
            }
            Stage::Waiting if await_move(subscription, event, at) => return false,
            Stage::Waiting => {}
        }
    }
}

/// Asks for when an event moves on whose command waits; false if it has.
fn await_move(subscription: &mut Option<Subscription<'_>>, event: &Event, at: usize) -> bool {
    let ask = |it: &mut Subscription<'_>| it.ask(event, at, Question::Moved);
    subscription.as_mut().is_none_or(ask)
}

/// Asks for the end of a command of `queue`; whether it is still to come.
fn await_done(
    subscription: &mut Option<Subscription<'_>>,
    event: &Event,
    at: usize,
    queue: &Arc<Queue>,
    value: u64,
) -> bool {
    let ask = |it: &mut Subscription<'_>| it.ask(event, at, Question::Done);
    if !subscription.as_mut().is_none_or(ask) {
        return false;
    }
    flush_to(queue, value);
    watch(queue);
    true
}
