//! The recordings of a command buffer.
//!
//! An update must not reach executions that are enqueued already. So there are as many recordings, each with
//! memory of its own, as executions were pending between updates: an update goes to one that is idle, which then
//! is the current one, and if there is none another is recorded. A loop that updates and enqueues frame after
//! frame soon has as many as frames are in flight, and records no more.

use super::instance::Instance;
use crate::runtime::command::keep_alive::KeepAlive;
use crate::runtime::command::prepared_launch::PreparedLaunch;
use crate::runtime::event::DeferredWork;
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

impl Versions {
    /// The recording to execute next, once there is one.
    pub fn current(&self) -> Option<&Arc<Instance>> {
        self.current.as_ref()
    }

    /// Brings the commands in `changed` up to date: `launch` is what a command is now, `record` makes a
    /// recording of all of them. `deferred` takes what is used no longer: memory may go with it.
    ///
    /// # Errors
    /// Those of `record`: nothing has changed then.
    pub fn update<'a, E>(
        &mut self,
        changed: &[usize],
        launch: impl Fn(usize) -> Option<&'a PreparedLaunch>,
        record: impl FnOnce() -> Result<Instance, E>,
        deferred: &mut DeferredWork,
    ) -> Result<(), E> {
        let fits = |instance: &Instance, number: usize| {
            launch(number).is_some_and(|it| instance.fits(number, it))
        };
        let fits_all = |instance: &Instance| changed.iter().all(|&number| fits(instance, number));
        let write = |instance: &Instance, number: usize, deferred: &mut DeferredWork| {
            if let Some(launch) = launch(number) {
                drop_later(deferred, instance.update(number, launch));
            }
        };
        let idle_current = self.current.as_ref().filter(|it| it.is_idle());
        if let Some(current) = idle_current.filter(|it| fits_all(it)) {
            for &number in changed {
                write(current, number, deferred);
            }
            self.miss(changed, deferred);
            return Ok(());
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
                for &number in &missed {
                    write(&instance, number, deferred);
                }
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
        self.miss(changed, deferred);
        self.trim(deferred);
        Ok(())
    }

    /// The first recording, or one that no other can become by writes to memory. `deferred` takes those of before.
    pub fn start(&mut self, instance: Instance, deferred: &mut DeferredWork) {
        for version in self.others.drain(..) {
            deferred.drop_later(version.instance);
        }
        if let Some(current) = self.current.replace(Arc::new(instance)) {
            deferred.drop_later(current);
        }
    }

    /// The others don't know of these updates. They must not keep alive what was replaced.
    fn miss(&mut self, changed: &[usize], deferred: &mut DeferredWork) {
        self.others.retain_mut(|version| {
            let held = version.instance.miss(changed);
            let keep = held.is_some();
            version.missed.extend(changed);
            match held {
                Some(held) => drop_later(deferred, held),
                None => deferred.drop_later(Arc::clone(&version.instance)),
            }
            keep
        });
    }

    fn trim(&mut self, deferred: &mut DeferredWork) {
        let mut idle = 0;
        self.others.retain(|version| {
            idle += usize::from(version.instance.is_idle());
            let keep = idle <= MOST_IDLE;
            if !keep {
                deferred.drop_later(Arc::clone(&version.instance));
            }
            keep
        });
    }
}

fn drop_later(deferred: &mut DeferredWork, held: KeepAlive) {
    if !held.is_empty() {
        deferred.drop_later(held);
    }
}
