//! What commands wait for.

use super::Event;
use crate::runtime::object::error::Error;
use smallvec::SmallVec;
use std::sync::Arc;

/// What a command waits for.
#[derive(Clone, Default)]
pub struct Waits {
    /// The wait list.
    pub events: SmallVec<[Arc<Event>; 4]>,
    /// Events whose effect on host memory the command needs: it waits until they are done.
    pub done: SmallVec<[Arc<Event>; 1]>,
}

/// The wait list of a command, and what is wrong with it, where that comes after other faults.
#[derive(Default)]
pub struct LateWaits {
    pub waits: Waits,
    pub fault: Option<Error>,
}

impl Waits {
    /// Whether there is nothing to wait for.
    pub(in crate::runtime) fn are_none(&self) -> bool {
        self.events.is_empty() && self.done.is_empty()
    }

    /// The wait list of these events.
    pub fn on(events: &[Arc<Event>]) -> Self {
        Self {
            events: events.iter().map(Arc::clone).collect(),
            done: SmallVec::new(),
        }
    }
}
