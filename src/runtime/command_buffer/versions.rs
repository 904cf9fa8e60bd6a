//! The recordings of a command buffer.
//!
//! An update must not reach executions that are enqueued already. So there are as many recordings, each with
//! memory of its own, as executions were pending between updates: an update goes to one that is idle, which then
//! is the current one, and if there is none another is recorded. A loop that updates and enqueues frame after
//! frame soon has as many as frames are in flight, and records no more.

use super::instance::Instance;
use crate::runtime::command::Dispatch;
use crate::runtime::command::keep_alive::KeepAlive;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Idle recordings beyond this many are let go.
const MOST_IDLE: usize = 8;

/// The recordings: the one to execute next, and others.
#[derive(Default)]
pub struct Versions {
    current: Option<Arc<Instance>>,
    others: Vec<Version>,
}

/// A recording that does not know of the latest updates.
struct Version {
    instance: Arc<Instance>,
    /// The numbers of the commands updated since it was the current one.
    missed: BTreeSet<usize>,
}

/// What is left behind, to be dropped without a lock: memory may go, which calls the application.
#[derive(Default)]
#[must_use]
pub struct Leftovers {
    pub held: KeepAlive,
    pub instances: Vec<Arc<Instance>>,
}

impl Versions {
    /// The recording to execute next, once there is one.
    pub fn current(&self) -> Option<&Arc<Instance>> {
        self.current.as_ref()
    }

    /// Brings the commands in `changed` up to date: `dispatch` is what a command is now, `record` makes a
    /// recording of all of them.
    ///
    /// # Errors
    /// Those of `record`: nothing has changed then.
    pub fn update<'a, E>(
        &mut self,
        changed: &[usize],
        dispatch: impl Fn(usize) -> Option<&'a Dispatch>,
        record: impl FnOnce() -> Result<Instance, E>,
    ) -> Result<Leftovers, E> {
        let fits = |instance: &Instance, number: usize| {
            dispatch(number).is_some_and(|it| instance.fits(number, it))
        };
        let fits_all = |instance: &Instance| changed.iter().all(|&number| fits(instance, number));
        let mut leftovers = Leftovers::default();
        let mut write = |instance: &Instance, number: usize| {
            if let Some(dispatch) = dispatch(number) {
                leftovers.held.extend(instance.update(number, dispatch));
            }
        };
        let idle_current = self.current.as_ref().filter(|it| it.is_idle());
        if let Some(current) = idle_current.filter(|it| fits_all(it)) {
            changed.iter().for_each(|&number| write(current, number));
            self.miss(changed, &mut leftovers);
            return Ok(leftovers);
        }
        let idle = self.others.iter().position(|other| {
            let Version { instance, missed } = other;
            let fits_missed = || missed.iter().all(|&number| fits(instance, number));
            instance.is_idle() && fits_all(instance) && fits_missed()
        });
        let next = match idle {
            Some(index) => {
                let Version {
                    instance,
                    mut missed,
                } = self.others.swap_remove(index);
                missed.extend(changed);
                missed.iter().for_each(|&number| write(&instance, number));
                instance
            }
            None => Arc::new(record()?),
        };
        if let Some(previous) = self.current.replace(next) {
            self.others.push(Version {
                instance: previous,
                missed: BTreeSet::new(),
            });
        }
        self.miss(changed, &mut leftovers);
        self.trim(&mut leftovers);
        Ok(leftovers)
    }

    /// The first recording, or one that no other can become by writes to memory.
    pub fn start(&mut self, instance: Instance) -> Leftovers {
        let others = std::mem::take(&mut self.others);
        let others = others.into_iter().map(|version| version.instance);
        let current = self.current.replace(Arc::new(instance));
        Leftovers {
            held: KeepAlive::new(),
            instances: others.chain(current).collect(),
        }
    }

    /// The others don't know of these updates. They must not keep alive what was replaced.
    fn miss(&mut self, changed: &[usize], leftovers: &mut Leftovers) {
        self.others.retain_mut(|version| {
            let held = version.instance.miss(changed);
            let keep = held.is_some();
            version.missed.extend(changed);
            match held {
                Some(held) => leftovers.held.extend(held),
                None => leftovers.instances.push(Arc::clone(&version.instance)),
            }
            keep
        });
    }

    fn trim(&mut self, leftovers: &mut Leftovers) {
        let mut idle = 0;
        self.others.retain(|version| {
            idle += usize::from(version.instance.is_idle());
            let keep = idle <= MOST_IDLE;
            if !keep {
                leftovers.instances.push(Arc::clone(&version.instance));
            }
            keep
        });
    }
}
