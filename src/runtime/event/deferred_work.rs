//! Work that is put off until no lock is held: it may call the application, or take the lock of another queue.

use super::subscriber::Subscriber;
use super::{Callback, Event};
use crate::runtime::host::{lock_check, notifier};
use opencl_sys::cl_int;
use std::any::Any;
use std::sync::Arc;

/// What is left to do once no lock is held. Whoever holds a lock adds to it; only [`DeferredWork::run`] does it.
// A pointer, for there is nothing to do after most commands.
#[derive(Default)]
#[must_use]
pub struct DeferredWork(Option<Box<Parts>>);

#[derive(Default)]
struct Parts {
    callbacks: Vec<(Arc<Event>, Callback, cl_int)>,
    /// What may call the application as it is dropped.
    dropped: Vec<Box<dyn Any + Send>>,
    subscribers: Vec<Subscriber>,
    last: Vec<Box<dyn FnOnce() + Send>>,
}

impl DeferredWork {
    /// The work of an event that has moved on.
    pub(super) fn of_event(
        subscribers: Vec<Subscriber>,
        callbacks: Vec<(Arc<Event>, Callback, cl_int)>,
    ) -> Self {
        if subscribers.is_empty() && callbacks.is_empty() {
            return Self::default();
        }
        Self(Some(Box::new(Parts {
            callbacks,
            subscribers,
            ..Parts::default()
        })))
    }

    /// Sends callbacks off, drops objects, tells waiting commands, and does the rest, in this order. Hold no lock.
    #[inline]
    pub fn run(self) {
        if let Some(parts) = self.0 {
            parts.run();
        }
    }

    /// Does all of it but to tell the waiting commands, which it returns. Hold no lock.
    pub(in crate::runtime) fn run_but_subscribers(self) -> Vec<Subscriber> {
        let Some(mut parts) = self.0 else {
            return Vec::new();
        };
        let subscribers = std::mem::take(&mut parts.subscribers);
        parts.run();
        subscribers
    }

    /// Hands the callbacks to the thread that calls the application, which may be done with locks held.
    pub(in crate::runtime) fn send_callbacks(&mut self) {
        if let Some(parts) = &mut self.0 {
            parts.send_callbacks();
        }
    }

    /// Adds what another event has left to do.
    pub(in crate::runtime) fn merge(&mut self, other: Self) {
        let Some(mut other) = other.0 else { return };
        let parts = self.parts();
        parts.callbacks.append(&mut other.callbacks);
        parts.dropped.append(&mut other.dropped);
        parts.subscribers.append(&mut other.subscribers);
        parts.last.append(&mut other.last);
    }

    /// Adds waiting commands that an event is to tell.
    pub(super) fn tell(&mut self, subscribers: &mut Vec<Subscriber>) {
        if !subscribers.is_empty() {
            self.parts().subscribers.append(subscribers);
        }
    }

    /// Takes out the waiting commands that are to be told and for which `is_taken` holds.
    pub(in crate::runtime) fn take_subscribers(
        &mut self,
        is_taken: impl Fn(&Subscriber) -> bool,
    ) -> Vec<Subscriber> {
        let Some(parts) = &mut self.0 else {
            return Vec::new();
        };
        let taken = parts.subscribers.extract_if(.., |it| is_taken(it));
        taken.collect()
    }

    /// Puts off the drop of an object.
    pub(in crate::runtime) fn drop_later(&mut self, object: impl Any + Send) {
        self.parts().dropped.push(Box::new(object));
    }

    /// Puts off other work, to the end.
    pub(in crate::runtime) fn add(&mut self, work: impl FnOnce() + Send + 'static) {
        self.parts().last.push(Box::new(work));
    }

    fn parts(&mut self) -> &mut Parts {
        self.0.get_or_insert_default()
    }
}

impl Parts {
    #[inline(never)]
    fn run(mut self) {
        lock_check::assert_no_queue_is_locked();
        self.send_callbacks();
        drop(self.dropped);
        Subscriber::tell_all(self.subscribers);
        self.last.into_iter().for_each(|work| work());
    }

    fn send_callbacks(&mut self) {
        for (event, callback, status) in self.callbacks.drain(..) {
            notifier::send(Box::new(move || callback.call(&event, status)));
        }
    }
}
