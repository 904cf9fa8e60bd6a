//! What a batch holds until the device is done with it, and what the host does then.

use super::completion_action::CompletionAction;
use crate::runtime::allocation::Allocation;
use crate::runtime::command::device_command::Holder;
use crate::runtime::command::keep_alive::KeepAlive;
use crate::runtime::command::prepared_launch::PreparedLaunch;
use crate::runtime::program::executable::Executable;
use crate::runtime::program::lost_iterations::{UnderWay, Watched};
use crate::vulkan::Pipeline;
use std::any::Any;
use std::sync::Arc;

/// A batch looks at so many of the last things that it holds before it holds the same once more.
const REMEMBERED: usize = 8;

/// What the commands of a batch use.
#[derive(Default)]
pub(super) struct Holdings {
    allocations: Vec<Arc<Allocation>>,
    keep_alive: KeepAlive,
    actions: Vec<CompletionAction>,
    /// Launches that may say that they have lost iterations, and the entry of each.
    watched: Vec<(usize, UnderWay)>,
    /// The entry of the command that is recorded now.
    entry: usize,
    /// Memory is written that the host may look at when the batch is done.
    for_host: bool,
}

impl Holdings {
    /// What is held from now on is for the entry of that number.
    pub fn begin_entry(&mut self, entry: usize) {
        self.entry = entry;
    }

    /// Whether memory is written that the host may look at when the batch is done.
    pub fn are_for_host(&self) -> bool {
        self.for_host
    }

    /// Notes that memory is written that the host may look at when the batch is done.
    pub fn show_host(&mut self) {
        self.for_host = true;
    }

    /// Has the host do something when the device is done.
    pub fn act(&mut self, action: CompletionAction) {
        self.actions.push(action);
    }

    /// What the host does when the device is done, in order. It is taken out.
    pub fn take_actions(&mut self) -> impl Iterator<Item = CompletionAction> {
        self.actions.drain(..)
    }

    /// Looks, when the device is done, whether the kernel has lost iterations.
    pub fn watch(&mut self, watched: &Watched) {
        self.for_host = true;
        self.watched.push((self.entry, watched.begin()));
    }

    /// The first of the entries that a kernel which has lost iterations comes before or with, and what to say of that. The
    /// device is done.
    pub fn lost_iterations(&mut self) -> Option<(usize, String)> {
        let mut ended = self.watched.drain(..).filter_map(|(entry, mut launch)| {
            let message = launch.end()?;
            Some((entry, message))
        });
        let first = ended.next();
        // All have to end.
        ended.for_each(drop);
        first
    }

    /// How often the batch is counted among the uses of an allocation.
    pub fn uses_of(&self, allocation: &Allocation) -> usize {
        let is_it = |held: &&Arc<Allocation>| std::ptr::eq(Arc::as_ptr(held), allocation);
        self.allocations.iter().filter(is_it).count()
    }

    /// The device is done: the allocations may be used by the host, as far as this batch goes.
    pub fn end_uses(&self) {
        for allocation in &self.allocations {
            allocation.end_use();
        }
    }

    /// Keeps an object until the device is done.
    pub fn keep<T: Keep + ?Sized>(&mut self, object: &Arc<T>) {
        let mut last = self.keep_alive.iter().rev().take(REMEMBERED);
        let address = Arc::as_ptr(object);
        if !last.any(|kept| std::ptr::addr_eq(Arc::as_ptr(kept), address)) {
            self.keep_alive.push(T::share(object));
        }
    }

    /// Lets go of everything. Hold no lock: what is dropped may call the application.
    pub fn clear(&mut self) {
        self.actions.clear();
        self.watched.clear();
        self.allocations.clear();
        self.keep_alive.clear();
        self.for_host = false;
    }
}

impl Holder for Holdings {
    #[inline]
    fn hold_read(&mut self, allocation: &Arc<Allocation>) {
        // Streams of commands use the same memory again and again: one use counts for all of the batch.
        let mut last = self.allocations.iter().rev().take(REMEMBERED);
        if last.any(|held| Arc::ptr_eq(held, allocation)) {
            return;
        }
        allocation.begin_use();
        self.allocations.push(Arc::clone(allocation));
    }

    #[inline]
    fn hold_written(&mut self, allocation: &Arc<Allocation>) {
        self.for_host |= allocation.mapped().is_some();
        self.hold_read(allocation);
        allocation.change_by_device();
    }

    #[inline]
    fn hold_launch(&mut self, launch: &PreparedLaunch) {
        self.for_host |= launch.accesses_anything || launch.printf.is_some();
        if let Some(output) = &launch.printf {
            self.act(CompletionAction::Print(Arc::clone(output)));
        }
        if let Some(watched) = &launch.watched {
            self.watch(watched);
        }
        for access in &launch.accesses {
            if access.write {
                self.hold_written(&access.allocation);
            } else {
                self.hold_read(&access.allocation);
            }
        }
        for region in &launch.regions {
            self.keep(&region.pipeline);
        }
        if let Some(executable) = &launch.executable {
            self.keep(executable);
        }
    }
}

/// What a batch can keep alive.
pub(super) trait Keep {
    fn share(this: &Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl Keep for Pipeline {
    fn share(this: &Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        Arc::clone(this) as _
    }
}

impl Keep for Executable {
    fn share(this: &Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        Arc::clone(this) as _
    }
}

impl Keep for dyn Any + Send + Sync {
    fn share(this: &Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        Arc::clone(this)
    }
}
