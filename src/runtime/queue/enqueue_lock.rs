//! The locks of a queue: of its state, and the right to enqueue.
//!
//! Some calls enqueue several commands that belong together: the parts of a command buffer, or what has memory belong to
//! a device and the command that overwrites it there. With the [`EnqueueLock`] of a queue a thread enqueues alone: what others
//! enqueue comes before all of it or after all of it. They wait for as long as it takes to enqueue, so who has the lock
//! waits for nothing that the application does, and does not call the application: what would as it is dropped is put off
//! until the lock is released ([`crate::runtime::host::deferral`]).

use super::Queue;
use super::state::State;
use crate::runtime::host::deferral::{Deferral, this_thread};
use crate::runtime::host::lock_check::LockMark;
use smallvec::SmallVec;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A queue's state, and who may enqueue.
#[derive(Default)]
pub(super) struct StateLock {
    guarded: Mutex<Guarded>,
    /// Signalled when a thread has released its enqueue lock.
    released: Condvar,
}

#[derive(Default)]
struct Guarded {
    state: State,
    owner: Option<Owner>,
}

/// Who has the enqueue lock of a queue.
struct Owner {
    /// See [`this_thread`].
    thread: usize,
    depth: usize,
}

/// The state of a queue, locked. Its thread calls no application, and locks no other queue.
pub(in crate::runtime) struct Locked<'a> {
    guarded: MutexGuard<'a, Guarded>,
    _mark: LockMark,
}

impl StateLock {
    /// Locks the state.
    #[inline]
    pub fn lock(&self) -> Locked<'_> {
        let mark = LockMark::set();
        let guarded = self.guarded.lock();
        Locked {
            guarded: guarded.unwrap_or_else(PoisonError::into_inner),
            _mark: mark,
        }
    }

    /// Locks the state to enqueue a command, or to have the host carry one out: not while another thread has the enqueue lock.
    #[inline]
    pub fn lock_to_enqueue(&self) -> Locked<'_> {
        let mut locked = self.lock();
        if locked.guarded.owner.is_some() {
            let is_of_another = |guarded: &mut Guarded| {
                let owner = guarded.owner.as_ref();
                owner.is_some_and(|it| it.thread != this_thread())
            };
            locked.guarded = self
                .released
                .wait_while(locked.guarded, is_of_another)
                .unwrap_or_else(PoisonError::into_inner);
        }
        locked
    }

    fn acquire(&self) {
        let mut locked = self.lock_to_enqueue();
        let thread = this_thread();
        let owner = &mut locked.guarded.owner;
        owner.get_or_insert(Owner { thread, depth: 0 }).depth += 1;
    }

    fn release(&self) {
        let mut locked = self.lock();
        let owner = &mut locked.guarded.owner;
        *owner = owner.take().filter(|it| it.depth > 1).map(|it| Owner {
            depth: it.depth - 1,
            ..it
        });
        if owner.is_none() {
            self.released.notify_all();
        }
    }
}

impl Locked<'_> {
    /// Unlocks the state until `condition` is signalled, `most` at most; whether that much time has gone by.
    pub(super) fn wait(self, condition: &Condvar, most: Duration) -> (Self, bool) {
        let Self { guarded, _mark } = self;
        let waited = condition.wait_timeout(guarded, most);
        let (guarded, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        (Self { guarded, _mark }, timeout.timed_out())
    }
}

impl Deref for Locked<'_> {
    type Target = State;

    #[inline]
    fn deref(&self) -> &State {
        &self.guarded.state
    }
}

impl DerefMut for Locked<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut State {
        &mut self.guarded.state
    }
}

/// The right of this thread to enqueue alone on some queues, until it is dropped.
pub(in crate::runtime) struct EnqueueLock<'a> {
    queues: SmallVec<[&'a Arc<Queue>; 2]>,
    /// Dropped after the locks are released.
    _deferral: Deferral,
}

impl<'a> EnqueueLock<'a> {
    /// Waits for it. Hold no lock of a queue's state. A thread that has the enqueue locks of some queues may take those of some
    /// of them again, not of others.
    pub fn take(queues: impl IntoIterator<Item = &'a Arc<Queue>>) -> Self {
        let mut queues: SmallVec<[_; 2]> = queues.into_iter().collect();
        // In one order, whoever takes them: no two threads wait for each other.
        queues.sort_unstable_by_key(|queue| Arc::as_ptr(queue));
        queues.dedup_by_key(|queue| Arc::as_ptr(queue));
        let deferral = Deferral::begin();
        queues.iter().for_each(|queue| queue.state.acquire());
        Self {
            queues,
            _deferral: deferral,
        }
    }
}

impl Drop for EnqueueLock<'_> {
    fn drop(&mut self) {
        self.queues.iter().for_each(|queue| queue.state.release());
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

    /// Whether what is recorded at once or waits, another thread's comes after the lock's release.
    #[test]
    fn others_enqueue_when_the_lock_is_released() {
        let Some([queue, other]) = queues() else {
            return;
        };
        let gate = Event::of_user(queue.context());
        let place = AtomicU32::new(0);
        let next = || place.fetch_add(1, Ordering::SeqCst);
        std::thread::scope(|scope| {
            let lock = EnqueueLock::take([&other, &queue, &other]);
            let lists = [Vec::new(), vec![Arc::clone(&gate)]];
            let theirs = lists.map(|list| {
                let queue = &queue;
                scope.spawn(move || {
                    marker(queue, &list);
                    next()
                })
            });
            std::thread::sleep(Duration::from_millis(20));
            // Its own go on, with a lock within the lock, too.
            let within = EnqueueLock::take([&queue]);
            marker(&queue, &[]);
            drop(within);
            marker(&other, &[]);
            std::thread::sleep(Duration::from_millis(20));
            assert_eq!(next(), 0);
            drop(lock);
            for their in theirs {
                assert!(their.join().unwrap() > 0);
            }
        });
        gate.set_user_status(0).unwrap();
        queue.finish().unwrap();
    }

    static CALLS: AtomicU32 = AtomicU32::new(0);

    unsafe extern "C" fn called(_: cl_mem, _: *mut c_void) {
        // Never while it is held.
        CALLS.fetch_add(1 + 100 * u32::from(is_deferring()), Ordering::SeqCst);
    }

    #[test]
    fn the_application_is_called_when_the_lock_is_released() {
        let Some([queue, other]) = queues() else {
            return;
        };
        let destruction = || Destruction {
            handle: UserData(std::ptr::null_mut()),
            callbacks: vec![(Some(called), UserData(std::ptr::null_mut())); 2],
        };
        let lock = EnqueueLock::take([&queue, &other]);
        drop(destruction());
        drop(EnqueueLock::take([&other]));
        assert_eq!(CALLS.load(Ordering::SeqCst), 0);
        drop(lock);
        assert_eq!(CALLS.load(Ordering::SeqCst), 2);
        drop(destruction());
        assert_eq!(CALLS.load(Ordering::SeqCst), 4);
    }
}
