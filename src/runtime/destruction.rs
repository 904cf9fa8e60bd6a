//! Destructor callbacks of memory objects: `clSetMemObjectDestructorCallback`.
//!
//! They are made after "the memobj reference count becomes zero and commands queued for execution on a
//! command-queue(s) that use memobj have finished". Commands hold allocations, not memory objects. Where an allocation
//! is a memory object's own, its end is the moment. Where others have it too (a sub-buffer's, an image's over a buffer, a
//! buffer's over shared virtual memory), whatever is held or under way and names it keeps the callbacks.

use super::allocation::Allocation;
use super::callback::{MemoryDestructor, UserData};
use super::context::Context;
use super::process;
use super::queue::State;
use super::turn;
use std::any::Any;
use std::mem::take;
use std::sync::Arc;

/// What is dropped when commands are done.
pub(super) type Kept = Vec<Arc<dyn Any + Send + Sync>>;

/// Makes the callbacks when it is dropped.
pub(super) struct Destruction {
    pub handle: UserData,
    /// In the order of registration.
    pub callbacks: Vec<(MemoryDestructor, UserData)>,
}

impl Destruction {
    /// Makes the callbacks once the commands that are enqueued by now and use one of `allocations` are done. Hold no lock.
    pub fn after_uses(self, context: &Context, allocations: &[Arc<Allocation>]) {
        let this: Arc<dyn Any + Send + Sync> = Arc::new(self);
        for queue in context.queues() {
            let mut state = queue.lock();
            for allocation in allocations {
                state.keep_while_used(allocation, &this);
            }
        }
    }
}

impl Drop for Destruction {
    fn drop(&mut self) {
        if turn::is_taken() && !self.callbacks.is_empty() {
            turn::keep(Box::new(Self {
                handle: self.handle,
                callbacks: take(&mut self.callbacks),
            }));
        }
        // "… called in the reverse order in which they were registered".
        for (notify, user_data) in self.callbacks.drain(..).rev() {
            if let Some(notify) = notify {
                // SAFETY: the application's function, with the handle that it knew the object by.
                process::call_application(|| unsafe { notify(self.handle.0, user_data.0) });
            }
        }
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
    pub(super) fn keep_with_last(&mut self, kept: Kept) {
        let last = match &mut self.open {
            Some(open) => Some(open),
            None => self.in_flight.back_mut(),
        };
        if let Some(batch) = last {
            batch.keep_alive.extend(kept);
        }
    }
}
