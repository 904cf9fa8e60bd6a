//! Drops that may call the application, put off while a thread enqueues alone.
//!
//! A thread that has an enqueue lock ([`crate::runtime::queue::enqueue_lock`]) keeps others waiting, so that it does not call
//! the application: what would as it is dropped is kept until the last of the thread's locks is released.

use std::any::Any;
use std::cell::{Cell, RefCell};

thread_local! {
    /// What puts drops off on this thread, one within the other.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// What is dropped when nothing does any more.
    static DEFERRED: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Puts drops off on this thread until it is dropped. What was put off is dropped with the last one: hold no lock.
pub struct Deferral(());

impl Deferral {
    /// Begins to put drops off.
    pub fn begin() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Self(())
    }
}

impl Drop for Deferral {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if !is_deferring() {
            let deferred = DEFERRED.take();
            // May call the application.
            drop(deferred);
        }
    }
}

/// Whether this thread puts drops off.
pub fn is_deferring() -> bool {
    DEPTH.get() > 0
}

/// Puts off the drop of `object`, which may call the application, until this thread puts nothing off any more.
pub fn defer(object: Box<dyn Any>) {
    DEFERRED.with_borrow_mut(|deferred| deferred.push(object));
}

/// Tells this thread from the others that there are.
pub fn this_thread() -> usize {
    DEPTH.with(|depth| std::ptr::from_ref(depth).addr())
}
