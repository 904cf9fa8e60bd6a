//! A queue as what completes the events of its commands, and as what events tell of the commands that wait in it.

use super::{Queue, advance, completion_thread, host_wait};
use crate::runtime::event::{CompletionSource, Subscriber, WaitingQueue};
use std::any::Any;
use std::sync::Arc;

impl CompletionSource for Queue {
    fn poll(self: Arc<Self>, value: u64) {
        host_wait::poll(&self, value);
    }

    fn wait_for(self: Arc<Self>, value: u64) {
        host_wait::wait_for(&self, value);
    }

    fn is_submitted(&self, value: u64) -> bool {
        self.progress.is_submitted(value)
    }

    fn watch(self: Arc<Self>) {
        completion_thread::watch(&self);
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl WaitingQueue for Queue {
    fn note(&self, told: &[Subscriber]) {
        let mut state = self.lock();
        told.iter().for_each(|told| state.waiting.note(told));
    }

    fn advance(self: Arc<Self>) -> Vec<Subscriber> {
        advance::advance(&self).run_but_subscribers()
    }
}
