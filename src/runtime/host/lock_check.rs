//! A check of builds with debug assertions: who holds the lock of a queue does not call the application.

#[cfg(debug_assertions)]
thread_local! {
    /// How many queues this thread has locked.
    static LOCKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The note that this thread has locked a queue, until it is dropped.
pub struct LockMark(());

impl LockMark {
    /// Notes that this thread has locked a queue.
    #[inline]
    pub fn set() -> Self {
        #[cfg(debug_assertions)]
        {
            assert_eq!(LOCKED.get(), 0, "two queues are locked at once");
            LOCKED.set(1);
        }
        Self(())
    }
}

impl Drop for LockMark {
    #[inline]
    fn drop(&mut self) {
        #[cfg(debug_assertions)]
        LOCKED.set(0);
    }
}

/// Panics in builds with debug assertions if this thread has locked a queue.
#[inline]
pub fn assert_no_queue_is_locked() {
    #[cfg(debug_assertions)]
    assert_eq!(
        LOCKED.get(),
        0,
        "what may call the application is done with a queue locked"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_call_the_application_is_found_where_a_queue_is_locked() {
        assert_no_queue_is_locked();
        let mark = LockMark::set();
        assert!(std::panic::catch_unwind(assert_no_queue_is_locked).is_err());
        assert!(std::panic::catch_unwind(|| drop(LockMark::set())).is_err());
        drop(mark);
        assert_no_queue_is_locked();
    }
}
