//! Destructor callbacks of memory objects: `clSetMemObjectDestructorCallback`.
//!
//! They are made after "the memobj reference count becomes zero and commands queued for execution on a
//! command-queue(s) that use memobj have finished". Commands hold allocations, not memory objects. Where an allocation
//! is a memory object's own, its end is the moment. Where others have it too (a sub-buffer's, an image's over a buffer, a
//! buffer's over shared virtual memory), whatever is held or under way and names it keeps the callbacks.

use crate::runtime::allocation::Allocation;
use crate::runtime::context::Context;
use crate::runtime::host::deferral;
use crate::runtime::host::process;
use crate::runtime::object::callback::{MemoryDestructor, UserData};
use std::any::Any;
use std::mem::take;
use std::sync::Arc;

/// Makes the callbacks when it is dropped.
pub(in crate::runtime) struct Destruction {
    pub handle: UserData,
    /// In the order of registration.
    pub callbacks: Vec<(MemoryDestructor, UserData)>,
}

impl Destruction {
    /// Makes the callbacks once the commands that are enqueued by now and use one of `allocations` are done. Hold no lock.
    pub fn after_uses(self, context: &Context, allocations: &[Arc<Allocation>]) {
        let this: Arc<dyn Any + Send + Sync> = Arc::new(self);
        for queue in context.queues() {
            queue.keep_while_used(allocations, &this);
        }
    }
}

impl Drop for Destruction {
    fn drop(&mut self) {
        if deferral::is_deferring() && !self.callbacks.is_empty() {
            deferral::defer(Box::new(Self {
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
