//! The turn of a thread to enqueue.
//!
//! Some calls enqueue several commands that belong together: the parts of a command buffer, or what has memory belong to
//! a device and the command that overwrites it there. In its [`Turn`] on a queue a thread enqueues alone: what others
//! enqueue comes before all of it or after all of it. They wait for as long as it takes to enqueue, so in its turn a thread
//! waits for nothing that the application does, and does not call the application: what would as it is dropped is put off
//! until the turn is over ([`crate::runtime::host::deferral`]).

use super::{Queue, State};
use crate::runtime::host::deferral::{Deferral, this_thread};
use smallvec::SmallVec;
use std::sync::{Arc, MutexGuard, PoisonError};

/// Whose turn it is on a queue.
pub(in crate::runtime) struct Owner {
    /// See [`this_thread`].
    thread: usize,
    depth: usize,
}

/// The turn of this thread on some queues, until it is dropped.
pub(in crate::runtime) struct Turn<'a> {
    queues: SmallVec<[&'a Arc<Queue>; 2]>,
    /// Dropped after the turn is over.
    _deferral: Deferral,
}

impl<'a> Turn<'a> {
    /// Waits for it. Hold no lock. A thread that has a turn may take another on some of its queues, not on others.
    pub fn take(queues: impl IntoIterator<Item = &'a Arc<Queue>>) -> Self {
        let mut queues: SmallVec<[_; 2]> = queues.into_iter().collect();
        // In one order, whoever takes them: no two threads wait for each other.
        queues.sort_unstable_by_key(|queue| Arc::as_ptr(queue));
        queues.dedup_by_key(|queue| Arc::as_ptr(queue));
        let deferral = Deferral::begin();
        for queue in &queues {
            let mut state = queue.lock_in_turn();
            let thread = this_thread();
            let owner = state.turn.get_or_insert(Owner { thread, depth: 0 });
            owner.depth += 1;
        }
        Self {
            queues,
            _deferral: deferral,
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        for queue in &self.queues {
            let mut state = queue.lock();
            let owner = state.turn.take();
            state.turn = owner.filter(|it| it.depth > 1).map(|it| Owner {
                depth: it.depth - 1,
                ..it
            });
            if state.turn.is_none() {
                queue.turn_over.notify_all();
            }
        }
    }
}

impl Queue {
    /// Locks the queue to enqueue a command, or to have the host carry one out: not in the turn of another thread.
    pub(in crate::runtime) fn lock_in_turn(&self) -> MutexGuard<'_, State> {
        let is_of_another = |state: &mut State| {
            let owner = state.turn.as_ref();
            owner.is_some_and(|it| it.thread != this_thread())
        };
        let mut state = self.lock();
        if state.turn.is_some() {
            state = self
                .turn_over
                .wait_while(state, is_of_another)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::event::Event;
    use crate::runtime::host::deferral::is_deferring;
    use crate::runtime::memory::destruction::Destruction;
    use crate::runtime::object::callback::UserData;
    use crate::runtime::test_queue::{self, marker};
    use opencl_sys::cl_mem;
    use std::ffi::c_void;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    fn queues() -> Option<[Arc<Queue>; 2]> {
        let queue = test_queue::new(0)?;
        let other = test_queue::another(&queue, 0);
        Some([queue, other])
    }

    /// Whether what is recorded at once or held, another thread's comes after the turn.
    #[test]
    fn others_enqueue_when_the_turn_is_over() {
        let Some([queue, other]) = queues() else {
            return;
        };
        let gate = Event::of_user(queue.context());
        let place = AtomicU32::new(0);
        let next = || place.fetch_add(1, Ordering::SeqCst);
        std::thread::scope(|scope| {
            let turn = Turn::take([&other, &queue, &other]);
            let lists = [Vec::new(), vec![Arc::clone(&gate)]];
            let theirs = lists.map(|list| {
                let queue = &queue;
                scope.spawn(move || {
                    marker(queue, &list);
                    next()
                })
            });
            std::thread::sleep(Duration::from_millis(20));
            // Its own go on, in a turn within the turn too.
            let within = Turn::take([&queue]);
            marker(&queue, &[]);
            drop(within);
            marker(&other, &[]);
            std::thread::sleep(Duration::from_millis(20));
            assert_eq!(next(), 0);
            drop(turn);
            for their in theirs {
                assert!(their.join().unwrap() > 0);
            }
        });
        gate.set_user_status(0).unwrap();
        queue.finish().unwrap();
    }

    static CALLS: AtomicU32 = AtomicU32::new(0);

    unsafe extern "C" fn called(_: cl_mem, _: *mut c_void) {
        // Never in a turn.
        CALLS.fetch_add(1 + 100 * u32::from(is_deferring()), Ordering::SeqCst);
    }

    #[test]
    fn the_application_is_called_when_the_turn_is_over() {
        let Some([queue, other]) = queues() else {
            return;
        };
        let destruction = || Destruction {
            handle: UserData(std::ptr::null_mut()),
            callbacks: vec![(Some(called), UserData(std::ptr::null_mut())); 2],
        };
        let turn = Turn::take([&queue, &other]);
        drop(destruction());
        drop(Turn::take([&other]));
        assert_eq!(CALLS.load(Ordering::SeqCst), 0);
        drop(turn);
        assert_eq!(CALLS.load(Ordering::SeqCst), 2);
        drop(destruction());
        assert_eq!(CALLS.load(Ordering::SeqCst), 4);
    }
}
