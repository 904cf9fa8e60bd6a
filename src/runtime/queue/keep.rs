//! What commands keep until they are done.

use super::{Queue, State};
use crate::runtime::allocation::Allocation;
use crate::runtime::command::keep_alive::KeepAlive;
use crate::runtime::context::ContextQueue;
use crate::runtime::object::error::Result;
use std::any::Any;
use std::sync::Arc;

impl ContextQueue for Queue {
    fn keep_while_used(
        &self,
        allocations: &[Arc<Allocation>],
        object: &Arc<dyn Any + Send + Sync>,
    ) {
        let mut state = self.lock();
        for allocation in allocations {
            state.keep_while_used(allocation, object);
        }
    }

    fn finish(self: Arc<Self>) -> Result<()> {
        Queue::finish(&self)
    }
}

impl State {
    /// Keeps `object` until what is held or under way and uses `allocation` is done.
    fn keep_while_used(&mut self, allocation: &Allocation, object: &Arc<dyn Any + Send + Sync>) {
        self.held.keep_while_used(allocation, object);
        for batch in self.in_flight.iter_mut().chain(&mut self.open) {
            if batch.is_user_of(allocation) {
                batch.keep_alive.push(Arc::clone(object));
            }
        }
        if self.retiring > 0 {
            // It is not known any more what that was, and it is done soon.
            self.kept.push(Arc::clone(object));
        }
    }

    /// What a command kept that has just been recorded.
    pub(in crate::runtime) fn keep_with_last(&mut self, kept: KeepAlive) {
        let last = match &mut self.open {
            Some(open) => Some(open),
            None => self.in_flight.back_mut(),
        };
        if let Some(batch) = last {
            batch.keep_alive.extend(kept);
        }
    }
}
