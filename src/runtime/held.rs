//! Commands whose turn has not come.
//!
//! A command is *held* while something that it waits for is not under way on the same Vulkan device: a user
//! event, a command that is itself held, a command of another device. In order, everything after it is
//! held too; out of order, only what depends on it. Whatever moves such an event on has the queue look at
//! its held commands again ([`Queue::advance_all`]), so a submission never waits for a value that is not
//! submitted before it: a Vulkan device with a single `VkQueue` would wait for ever.

use super::command::{Command, Ordering as Order};
use super::event::{Aftermath, Event, Stage};
use super::queue::{Queue, State, Waits};
use opencl_sys::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// The held commands of a queue, in the order in which they were enqueued.
#[derive(Default)]
pub(super) struct HeldCommands {
    pub list: VecDeque<Held>,
    /// A thread is going over them; another one that wants to only sets `look_again`.
    advancing: bool,
    look_again: bool,
}

/// A command of which nothing is recorded yet.
pub(super) struct Held {
    command: Command,
    event: Arc<Event>,
    waits: Waits,
    order: Order,
}

/// Whether a command can be recorded.
pub(super) enum Resolution {
    Ready(Ready),
    NotYet,
    Failed,
}

/// What a command that can be recorded comes after.
pub(super) struct Ready {
    pub device: DeviceWaits,
    /// The latest command of its own queue among the events.
    pub sequence: Option<u64>,
}

/// Submissions of other queues that the device waits for.
pub(super) type DeviceWaits = SmallVec<[(Arc<Queue>, u64); 2]>;

impl Queue {
    /// Whether a command that waits for `waits` would be recorded at once.
    pub(super) fn would_issue(self: &Arc<Self>, waits: &Waits) -> bool {
        matches!(self.resolve(waits), Resolution::Ready(_))
            && !self.must_hold(&self.lock(), Order::default())
    }

    pub(super) fn must_hold(&self, state: &State, order: Order) -> bool {
        if state.holds_nothing() {
            return false;
        }
        self.is_in_order()
            || order.after_all
            || state.held.list.iter().any(|held| held.order.before_all)
    }

    pub(super) fn hold(
        self: &Arc<Self>,
        command: Command,
        event: Arc<Event>,
        waits: Waits,
        order: Order,
    ) {
        self.lock().held.list.push_back(Held {
            command,
            event,
            waits,
            order,
        });
        // What it waits for may have moved on before it was in the list.
        Self::advance_all(vec![Arc::downgrade(self)]);
    }

    /// Whether the events allow the command to be recorded now. Where they don't, the queue will be told
    /// when that may have changed. Hold no queue's lock.
    pub(super) fn resolve(self: &Arc<Self>, waits: &Waits) -> Resolution {
        let mut device = DeviceWaits::new();
        let mut sequence = None;
        let mut not_yet = false;
        for event in &waits.events {
            match event.stage() {
                Stage::Done(status) if status < 0 => return Resolution::Failed,
                Stage::Done(_) => {}
                Stage::Held => not_yet |= event.notify_queue(self, false),
                Stage::Issued {
                    value,
                    sequence: number,
                } => {
                    let Some(queue) = event.queue() else { continue };
                    if Arc::ptr_eq(queue, self) {
                        sequence = sequence.max(Some(number));
                    } else if queue.retired.load(Ordering::Acquire) >= value {
                        // Done since the event was looked at.
                    } else if Arc::ptr_eq(&queue.vulkan, &self.vulkan) {
                        device.push((Arc::clone(queue), value));
                    } else {
                        not_yet |= self.await_done(event, queue, value);
                    }
                }
            }
        }
        for event in &waits.done {
            match (event.stage(), event.queue()) {
                (Stage::Done(_), _) => {}
                (Stage::Issued { value, .. }, Some(queue)) => {
                    not_yet |= self.await_done(event, queue, value);
                }
                _ => not_yet |= event.notify_queue(self, true),
            }
        }
        if not_yet {
            // Between looking and registering an event may have been issued: then nothing tells us, but
            // the caller looks again after the command is in the list.
            return Resolution::NotYet;
        }
        for (queue, value) in &device {
            queue.flush_to(*value);
        }
        Resolution::Ready(Ready { device, sequence })
    }

    /// Registers for the end of a command of `queue`; whether it is still to come.
    fn await_done(self: &Arc<Self>, event: &Arc<Event>, queue: &Arc<Queue>, value: u64) -> bool {
        if !event.notify_queue(self, true) {
            return false;
        }
        queue.flush_to(value);
        queue.watch();
        true
    }

    /// Goes over the held commands of `queues`, and of whatever queues that moves on in turn.
    pub(super) fn advance_all(queues: Vec<Weak<Self>>) {
        let mut queues = queues;
        while let Some(queue) = queues.pop() {
            // Several events that moved on at once may have told of it.
            queues.retain(|other| !Weak::ptr_eq(other, &queue));
            if let Some(queue) = queue.upgrade() {
                let aftermath = queue.advance();
                queues.extend(aftermath.run_callbacks());
            }
        }
    }

    /// Records the held commands whose time has come.
    fn advance(self: &Arc<Self>) -> Aftermath {
        let mut aftermath = Aftermath::default();
        let mut state = self.lock();
        if state.held.advancing {
            state.held.look_again = true;
            return aftermath;
        }
        if state.holds_nothing() {
            return aftermath;
        }
        state.held.advancing = true;
        let mut issued = false;
        loop {
            state.held.look_again = false;
            let mut index = 0;
            while let Some(held) = state.held.list.get(index) {
                let order = held.order;
                let must_be_first = self.is_in_order() || order.after_all;
                let mut resolution = Resolution::NotYet;
                if index == 0 || !must_be_first {
                    let waits = held.waits.clone();
                    drop(state);
                    resolution = self.resolve(&waits);
                    state = self.lock();
                }
                // Only this thread takes commands out, so `index` still names the same one.
                let ready = match resolution {
                    Resolution::NotYet => {
                        if self.is_in_order() || order.before_all {
                            break;
                        }
                        index += 1;
                        continue;
                    }
                    Resolution::Failed => {
                        if let Some(held) = state.held.list.remove(index) {
                            let code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
                            aftermath.merge(held.event.finish(code, None));
                        }
                        continue;
                    }
                    Resolution::Ready(ready) => ready,
                };
                let Some(held) = state.held.list.remove(index) else {
                    break;
                };
                let Held {
                    mut command, event, ..
                } = held;
                match self.issue(&mut state, &mut command, Some(&event), ready, order, true) {
                    Ok(more) => aftermath.merge(more),
                    Err(error) => {
                        log::debug!("a held command failed: {error}");
                        aftermath.merge(event.finish(error.code(), None));
                    }
                }
                issued = true;
            }
            if !state.held.look_again {
                break;
            }
        }
        state.held.advancing = false;
        if issued {
            // A flush that came while they were held was for them as well.
            self.submit_open(&mut state);
        }
        aftermath
    }
}
