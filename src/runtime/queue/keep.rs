//! What commands keep until they are done.

use super::Queue;
use crate::runtime::allocation::Allocation;
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
