//! Waiting commands, as the events know them that they wait for.

use smallvec::SmallVec;
use std::sync::Weak;

/// What has commands that wait for events: a queue, as the events know it.
pub trait WaitingQueue: Send + Sync {
    /// Counts what its commands have been told.
    fn note(&self, told: &[Subscriber]);

    /// Records the commands that are due and whose time has come; the commands of other queues that are to be told then. Hold
    /// no lock.
    fn advance(self: std::sync::Arc<Self>) -> Vec<Subscriber>;
}

/// A waiting command that is told when an event moves on.
pub struct Subscriber {
    /// The queue that it waits in.
    pub(in crate::runtime) queue: Weak<dyn WaitingQueue>,
    /// Its number there.
    pub(in crate::runtime) number: u64,
    /// Whether the event has failed.
    pub(in crate::runtime) has_failed: bool,
}

impl Subscriber {
    /// The subscriber of an event that has failed.
    pub(super) fn fails(self) -> Self {
        Self {
            has_failed: true,
            ..self
        }
    }

    /// Tells waiting commands, has their queues look at them, and tells whatever that moves on in turn. Hold no lock.
    pub(in crate::runtime) fn tell_all(mut subscribers: Vec<Self>) {
        while let Some(last) = subscribers.last() {
            let queue = Weak::clone(&last.queue);
            let is_its_own = |it: &mut Self| Weak::ptr_eq(&it.queue, &queue);
            let own: SmallVec<[Self; 4]> = subscribers.extract_if(.., is_its_own).collect();
            let Some(queue) = queue.upgrade() else {
                continue;
            };
            queue.note(&own);
            subscribers.extend(queue.advance());
        }
    }
}
