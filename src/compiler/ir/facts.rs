//! What analyses have found, by the number of edits after which that was.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// What was found of a function, one thing of each type.
#[derive(Default)]
pub(super) struct Facts {
    kept: Mutex<Vec<Kept>>,
}

#[derive(Clone)]
struct Kept {
    facts: Arc<dyn Any + Send + Sync>,
    /// The number of edits when it was last known to hold.
    edits: u64,
    outlasts_edits: bool,
}

impl Facts {
    /// What was found of a type, and the number of edits when that was last known to hold.
    pub fn get<A: Any + Send + Sync>(&self) -> Option<(Arc<A>, u64)> {
        let is_wanted = |kept: &&Kept| (*kept.facts).is::<A>();
        let found = self.with(|kept| kept.iter().find(is_wanted).cloned())?;
        Some((found.facts.downcast().ok()?, found.edits))
    }

    /// Keeps what holds after so many edits, in the place of what was kept of the type.
    pub fn set<A: Any + Send + Sync>(&self, facts: Arc<A>, edits: u64, outlasts_edits: bool) {
        self.with(|kept| {
            kept.retain(|it| !(*it.facts).is::<A>());
            kept.push(Kept {
                facts,
                edits,
                outlasts_edits,
            });
        });
    }

    /// Frees what outlasts no edit and is not of so many.
    pub fn drop_stale(&mut self, edits: u64) {
        self.with(|kept| kept.retain(|it| it.outlasts_edits || it.edits == edits));
    }

    fn with<T>(&self, f: impl FnOnce(&mut Vec<Kept>) -> T) -> T {
        f(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Clone for Facts {
    fn clone(&self) -> Self {
        Self {
            kept: Mutex::new(self.with(|kept| kept.clone())),
        }
    }
}

impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Facts")
    }
}
