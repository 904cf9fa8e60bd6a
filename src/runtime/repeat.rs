//! Launches that come again.
//!
//! Programs launch a kernel with the same arguments over the same range again and again. What such a launch becomes is
//! kept, complete in itself, as long as the batch is open that holds what it uses: the next one of its kind takes the
//! queue's lock and no other, and needs not find out anew what it runs and touches.

use std::sync::{Arc, Weak};

use opencl_sys::cl_command_type;
use smallvec::SmallVec;

use super::batch::{Accesses, Batch};
use super::command::{Dispatch, Ordering};
use super::dispatch::NdRange;
use super::error::Result;
use super::event::Event;
use super::hazard::Touch;
use super::kernel::{ArgumentValue, Kernel};
use super::memory::Memory;
use super::queue::{Backlog, Queue};
use super::work::{Nature, Work};

/// So many are kept for a queue.
pub const KEPT: usize = 8;

/// The launches of a queue's open batch that may come again.
#[derive(Default)]
pub(super) struct Repeats {
    // In boxes, to be taken out and put back. Made once.
    kept: [Option<Box<Repeat>>; KEPT],
    /// The one to be replaced next.
    next: usize,
    /// Whether there may be any.
    has_any: bool,
}

/// A launch that may come again.
#[derive(Default)]
pub(super) struct Repeat {
    /// Of none where this is free. Whoever holds it knows that no other kernel has its address.
    kernel: Weak<Kernel>,
    /// [`Kernel::version`]
    version: u64,
    range: NdRange,
    /// The memory objects among the kernel's arguments, which the kernel does not hold either.
    named: SmallVec<[Weak<Memory>; 4]>,
    dispatch: Dispatch,
    /// What that reads and writes.
    touched: Accesses,
}

/// Where one was taken out.
pub(super) struct Slot(usize);

/// A command that has been enqueued, with its event if there is one.
pub struct Enqueued {
    pub event: Option<Arc<Event>>,
}

impl Repeats {
    /// Takes out the launch of `kernel` as it is now over the range that `is_range` knows, if it is here.
    #[inline]
    pub fn take(
        &mut self,
        kernel: &Arc<Kernel>,
        is_range: impl Fn(&NdRange) -> bool,
    ) -> Option<(Slot, Box<Repeat>)> {
        let is_it = |kept: &Option<Box<Repeat>>| {
            let it = kept.as_ref();
            it.is_some_and(|it| it.is_of(kernel) && is_range(&it.range))
        };
        let slot = self.kept.iter().position(is_it)?;
        Some((Slot(slot), self.kept[slot].take()?))
    }

    /// Puts it back, for the next time if the batch `is_open` still.
    #[inline]
    pub fn put_back(&mut self, slot: Slot, mut repeat: Box<Repeat>, is_open: bool) {
        if !is_open {
            repeat.clear();
        }
        self.kept[slot.0] = Some(repeat);
    }

    /// Keeps the launch of a kernel with those arguments. `complete` makes an empty dispatch that launch, of which the
    /// batch holds all that it uses.
    pub fn keep(
        &mut self,
        kernel: &Arc<Kernel>,
        version: u64,
        range: &NdRange,
        arguments: &[ArgumentValue],
        complete: impl FnOnce(&mut Dispatch),
    ) {
        let repeat = self.kept[self.next].get_or_insert_default();
        repeat.clear();
        repeat.kernel = Arc::downgrade(kernel);
        repeat.version = version;
        repeat.range = *range;
        let named = arguments.iter().filter_map(|argument| match argument {
            ArgumentValue::Memory(memory) => memory.clone(),
            _ => None,
        });
        repeat.named.extend(named);
        complete(&mut repeat.dispatch);
        repeat.dispatch.add_accesses(&mut repeat.touched);
        self.next = (self.next + 1) % KEPT;
        self.has_any = true;
    }

    /// The batch is open no more. It holds what is let go of here.
    pub fn clear(&mut self) {
        if self.has_any {
            self.kept.iter_mut().flatten().for_each(|it| it.clear());
            // Found first.
            self.next = 0;
            self.has_any = false;
        }
    }
}

impl Repeat {
    fn is_of(&self, kernel: &Arc<Kernel>) -> bool {
        Weak::as_ptr(&self.kernel) == Arc::as_ptr(kernel)
            && self.version == kernel.version()
            // A released buffer is refused.
            && self.named.iter().all(|memory| memory.strong_count() > 0)
    }

    fn clear(&mut self) {
        self.kernel = Weak::new();
        self.named.clear();
        // What has room stays where it is.
        self.dispatch.regions.clear();
        self.dispatch.accesses.clear();
        self.touched.clear();
    }
}

impl Work for Repeat {
    fn nature(&self) -> Nature {
        Nature {
            is_kernel: true,
            ..Nature::default()
        }
    }

    fn accesses<'a>(&'a self, _: &'a mut Accesses) -> (&'a [Touch], bool) {
        (&self.touched, self.dispatch.touches_anything)
    }

    fn record(&mut self, batch: &mut Batch) -> Result<()> {
        batch.record_repeat(&self.dispatch)
    }
}

impl Queue {
    /// Records the launch of a kernel, as it is, over the range that `is_range` knows once more, if the open batch has it;
    /// `None` if not. Otherwise as [`Queue::enqueue_if`] without anything to wait for.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub(super) fn enqueue_again(
        self: &Arc<Self>,
        wants_event: bool,
        kind: cl_command_type,
        kernel: &Arc<Kernel>,
        is_range: impl Fn(&NdRange) -> bool,
        backlog: &mut Backlog,
    ) -> Result<Option<Enqueued>> {
        let order = Ordering::default();
        let mut state = self.lock_in_turn();
        if self.must_hold(&state, order) {
            return Ok(None);
        }
        let Some((slot, mut launch)) = state.repeats.take(kernel, is_range) else {
            return Ok(None);
        };
        let event = self.event_if(wants_event, kind);
        let issued = self.issue(&mut state, &mut *launch, event.as_ref(), None, order, None);
        let is_open = state.open.is_some();
        state.repeats.put_back(slot, launch, is_open);
        issued?;
        if !is_open {
            backlog.look(&state);
        }
        Ok(Some(Enqueued { event }))
    }
}
