//! The process around us: its end, and its children.
//!
//! **End.** When `exit` runs with work under way, drivers tear down what the device still uses. Our handler was
//! registered after the driver's, so it runs before: it waits for what is submitted, for a while, and from then on
//! the application is not called back any more. A thread of ours that is inside the driver is waited for as well:
//! what it uses there is destroyed next.
//!
//! **Children.** A child made by `fork` has our memory but none of our threads, nor the driver's, and locks may
//! be held by threads that are gone. In a child of a process that used us every call fails, except that
//! releasing succeeds: the parent holds the objects. A child that executes another program, or that was made
//! before the parent's first call, is none of this.

use super::queue::Queue;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How long the end of the process waits for the device.
const PATIENCE: Duration = Duration::from_secs(5);

static IS_CHILD: AtomicBool = AtomicBool::new(false);
static IS_ENDING: AtomicBool = AtomicBool::new(false);
static AT_WORK: AtomicUsize = AtomicUsize::new(0);
static QUEUES: Mutex<Vec<Weak<Queue>>> = Mutex::new(Vec::new());

/// Whether this is a child of the process that used us.
pub fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

/// Whether `exit` has begun.
pub(super) fn is_ending() -> bool {
    IS_ENDING.load(Ordering::Acquire)
}

/// A thread of ours that may be inside the driver, as long as it lives.
pub(super) struct AtWork;

impl AtWork {
    /// Does not return once the process ends.
    pub(super) fn begin() -> Self {
        AT_WORK.fetch_add(1, Ordering::AcqRel);
        let this = Self;
        if is_ending() {
            drop(this);
            loop {
                std::thread::park();
            }
        }
        this
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        AT_WORK.fetch_sub(1, Ordering::AcqRel);
    }
}

/// There is a new queue. The driver is loaded by now, so that our handler comes before its own.
pub(super) fn add_queue(queue: &Arc<Queue>) {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // SAFETY: a function of this library, which is never unloaded (linked with `-z nodelete`).
        if unsafe { libc::atexit(at_exit) } != 0 {
            log::warn!("no handler for the end of the process");
        }
    });
    let mut queues = QUEUES.lock().unwrap_or_else(PoisonError::into_inner);
    queues.retain(|queue| queue.strong_count() > 0);
    queues.push(Arc::downgrade(queue));
}

/// The platform is about to be set up: from here on a child is no place to go on.
pub(super) fn watch_for_children() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // SAFETY: as above; the handler only stores a flag.
        if unsafe { libc::pthread_atfork(None, None, Some(in_child)) } != 0 {
            log::warn!("no handler for fork");
        }
    });
}

unsafe extern "C" fn in_child() {
    IS_CHILD.store(true, Ordering::Relaxed);
}

extern "C" fn at_exit() {
    if is_child() || IS_ENDING.swap(true, Ordering::AcqRel) {
        return;
    }
    let waited = std::panic::catch_unwind(|| {
        // A thread that holds the lock may have been ended by `exit`.
        let Ok(queues) = QUEUES.try_lock() else {
            return;
        };
        let queues: Vec<_> = queues.iter().filter_map(Weak::upgrade).collect();
        let end = Instant::now() + PATIENCE;
        for queue in queues {
            if !queue.settle(end.saturating_duration_since(Instant::now())) {
                log::debug!("the process ends before the device does");
            }
            // Its last owner would give memory back, for nothing.
            std::mem::forget(queue);
        }
        while AT_WORK.load(Ordering::Acquire) > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_micros(100));
        }
    });
    drop(waited);
}
