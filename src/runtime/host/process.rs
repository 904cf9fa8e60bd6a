//! The process around us: its end, and its children.
//!
//! **End.** When `exit` runs with work under way, drivers tear down what the device still uses. Our handler was
//! registered after the driver's, so it runs before: it waits for what is submitted, for a while, and for threads
//! of ours that are inside the driver, since what they use there is destroyed next. A thread that calls the
//! application is not waited for meanwhile: the application may call `exit` there, or never return.
//! From then on the application is not called back any more, and what it calls from within a callback fails. Its own
//! threads go on until the handler is done. What comes after it, destructors of static objects for one, finds drivers and
//! layers taken down: no call reaches them then.
//!
//! **Children.** A child made by `fork` has our memory but none of our threads, nor the driver's, and locks may
//! be held by threads that are gone. A child that executes another program, or that was made before the parent's
//! first call, is none of this. Where a driver can't bear a child that calls `exit` (NVIDIA's 580.159.04 crashes there, as it
//! waits for threads that the child does not have, and the parent waits for its device for ever; lavapipe of Mesa 26.2 waits
//! for them for ever), the child ends where our handler is: what was registered with `atexit` before the driver was opened is not
//! called, as after `_exit`, but streams are flushed.
//!
//! Where calls fail ([`is_over`]), releasing succeeds: there is nothing to complain about.

use crate::runtime::object::error::{Error, Result};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How long the end of the process waits for the device.
const PATIENCE: Duration = Duration::from_secs(5);

static IS_CHILD: AtomicBool = AtomicBool::new(false);
static IS_ENDING: AtomicBool = AtomicBool::new(false);
/// A driver is open that children must not take down.
static HAS_FRAGILE_DRIVER: AtomicBool = AtomicBool::new(false);
static HAS_ENDED: AtomicBool = AtomicBool::new(false);
/// There are threads of ours, or have been: spares the others a look whether they are one.
static HAS_OWN_THREADS: AtomicBool = AtomicBool::new(false);
static AT_WORK: AtomicUsize = AtomicUsize::new(0);
static SUBMITTERS: Mutex<Vec<Weak<dyn Submitter>>> = Mutex::new(Vec::new());

thread_local! {
    /// Whether the thread is one of ours.
    static IS_OURS: Cell<bool> = const { Cell::new(false) };
    /// How many of [`AT_WORK`] are this thread's.
    static OWN_WORK: Cell<usize> = const { Cell::new(0) };
}

/// Whether this thread is no place to go on: in a child, one of ours at the end of the process, or any after it.
pub fn is_over() -> bool {
    is_child() || is_ending() && is_over_here()
}

/// Whether this thread is no place to go on once `exit` has begun.
#[cold]
fn is_over_here() -> bool {
    IS_OURS.get() || HAS_ENDED.load(Ordering::Acquire)
}

/// Whether this is a child of the process that used us.
fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

/// Whether `exit` has begun.
fn is_ending() -> bool {
    IS_ENDING.load(Ordering::Acquire)
}

/// A thread that may be inside the driver, as long as this lives.
pub struct AtWork {
    /// It counts for the thread that began it.
    _not_send: PhantomData<*const ()>,
}

impl AtWork {
    /// On a thread of ours. Does not return once the process ends.
    pub(in crate::runtime) fn begin() -> Self {
        IS_OURS.set(true);
        HAS_OWN_THREADS.store(true, Ordering::Relaxed);
        Self::try_begin().unwrap_or_else(|| {
            loop {
                std::thread::park();
            }
        })
    }

    /// At the beginning of a call of the application; nothing where it comes from one of its own threads, which it
    /// has to see to itself.
    ///
    /// # Errors
    /// The process ends.
    #[inline]
    pub fn begin_call() -> Result<Option<Self>> {
        // A thread of ours sees what it has stored itself.
        if !HAS_OWN_THREADS.load(Ordering::Relaxed) {
            Ok(None)
        } else {
            Self::begin_call_beside_ours()
        }
    }

    /// Begins a call of the application where there are threads of ours: nothing unless it comes from one of them.
    #[inline(never)]
    fn begin_call_beside_ours() -> Result<Option<Self>> {
        if !IS_OURS.get() {
            Ok(None)
        } else {
            Self::try_begin()
                .map(Some)
                .ok_or_else(|| Error::out_of_resources("the process ends"))
        }
    }

    /// `None` once the process ends.
    fn try_begin() -> Option<Self> {
        // Together with the end's swap and load: either this thread sees the end, or the end sees this thread.
        AT_WORK.fetch_add(1, Ordering::SeqCst);
        OWN_WORK.set(OWN_WORK.get() + 1);
        let this = Self {
            _not_send: PhantomData,
        };
        (!IS_ENDING.load(Ordering::SeqCst)).then_some(this)
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        OWN_WORK.set(OWN_WORK.get() - 1);
        AT_WORK.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Calls the application: meanwhile the end of the process does not wait for this thread.
pub fn call_application<T>(function: impl FnOnce() -> T) -> T {
    let own = OWN_WORK.replace(0);
    AT_WORK.fetch_sub(own, Ordering::SeqCst);
    let result = function();
    AT_WORK.fetch_add(own, Ordering::SeqCst);
    OWN_WORK.set(own);
    if own > 0 && IS_ENDING.load(Ordering::SeqCst) {
        // Back inside, and too late for that.
        AT_WORK.fetch_sub(own, Ordering::SeqCst);
        loop {
            std::thread::park();
        }
    }
    result
}

/// The driver has been loaded and has a device open: our handler comes before its own. `is_fragile`: a child that calls
/// `exit` takes the parent's device along.
pub(in crate::runtime) fn watch_for_end(is_fragile: bool) {
    static REGISTERED: Once = Once::new();
    if is_fragile {
        HAS_FRAGILE_DRIVER.store(true, Ordering::Relaxed);
    }
    REGISTERED.call_once(|| {
        // SAFETY: a function of this library, which is never unloaded (linked with `-z nodelete`).
        if unsafe { on_exit(at_exit, std::ptr::null_mut()) } != 0 {
            log::warn!("no handler for the end of the process");
        }
    });
}

/// What has work submitted to a device.
pub trait Submitter: Send + Sync {
    /// Waits until what is submitted is done, for no longer than `patience`; whether it is done.
    fn settle(&self, patience: Duration) -> bool;
}

/// There is a new submitter, to be waited for at the end.
pub fn add_submitter(submitter: Weak<dyn Submitter>) {
    let mut submitters = SUBMITTERS.lock().unwrap_or_else(PoisonError::into_inner);
    submitters.retain(|submitter| submitter.strong_count() > 0);
    submitters.push(submitter);
}

/// The platform is about to be set up: from here on a child is no place to go on.
pub(in crate::runtime) fn watch_for_children() {
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

unsafe extern "C" {
    /// glibc: `atexit` for a function that is told the status.
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

extern "C" fn at_exit(status: c_int, _: *mut c_void) {
    if is_child() && HAS_FRAGILE_DRIVER.load(Ordering::Relaxed) {
        // SAFETY: nothing of this child is used any more.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(status);
        }
    }
    if is_child() || IS_ENDING.swap(true, Ordering::SeqCst) {
        return;
    }
    let waited = std::panic::catch_unwind(|| {
        // A thread that holds the lock may have been ended by `exit`.
        let Ok(submitters) = SUBMITTERS.try_lock() else {
            return;
        };
        let submitters: Vec<_> = submitters.iter().filter_map(Weak::upgrade).collect();
        let end = Instant::now() + PATIENCE;
        for submitter in submitters {
            if !submitter.settle(end.saturating_duration_since(Instant::now())) {
                log::debug!("the process ends before the device does");
            }
            // Its last owner would give memory back, for nothing.
            std::mem::forget(submitter);
        }
        while AT_WORK.load(Ordering::SeqCst) > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_micros(100));
        }
    });
    drop(waited);
    HAS_ENDED.store(true, Ordering::Release);
}
