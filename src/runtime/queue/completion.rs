//! A queue as what completes the events of its commands, and as what events tell of the commands that it holds.

use super::Queue;
use crate::runtime::event::{CompletionSource, Dependents, Event, Told};
use std::any::Any;
use std::sync::Arc;

impl CompletionSource for Queue {
    fn poll(self: Arc<Self>, value: u64) {
        Queue::poll(&self, value);
    }

    fn wait_for(self: Arc<Self>, value: u64) {
        Queue::wait_for(&self, value);
    }

    fn is_submitted(&self, value: u64) -> bool {
        Queue::is_submitted(self, value)
    }

    fn watch(self: Arc<Self>) {
        Queue::watch(&self);
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl Dependents for Queue {
    fn note(&self, told: &[Told]) {
        self.note_told(told);
    }

    fn advance(self: Arc<Self>) -> Vec<Told> {
        Queue::advance(&self).run_callbacks()
    }
}

impl Queue {
    /// The queue that completes an event; `None` for user events.
    pub fn of(event: &Event) -> Option<Arc<Self>> {
        let source = Arc::clone(event.source()?);
        source.into_any().downcast().ok()
    }

    /// Whether the queue completes an event. Takes no share of it, as [`Queue::of`] does: each wait list is asked.
    pub fn completes(&self, event: &Event) -> bool {
        let source = event.source();
        source.is_some_and(|source| std::ptr::addr_eq(Arc::as_ptr(source), self))
    }
}
