//! Launches that come again.
//!
//! Programs launch a kernel with the same arguments over the same range again and again. What such a launch becomes is
//! kept, complete in itself, as long as the batch is open that holds what it uses: the next one of its kind takes the
//! queue's lock and no other, and needs not find out anew what it runs and accesses.

use std::sync::{Arc, Weak};

use smallvec::SmallVec;

use crate::runtime::command::Dispatch;
use crate::runtime::command::hazard::Accesses;
use crate::runtime::launch::argument::ArgumentValue;
use crate::runtime::launch::dispatch::Launch;
use crate::runtime::launch::kernel::Kernel;
use crate::runtime::launch::nd_range::NdRange;
use crate::runtime::memory::Memory;

/// So many are kept for a queue.
const KEPT: usize = 8;

/// The launches of a queue's open batch that may come again.
#[derive(Default)]
pub(in crate::runtime) struct Repeats {
    // In boxes, to be taken out and put back. Made once.
    kept: [Option<Box<Repeat>>; KEPT],
    /// The one to be replaced next.
    next: usize,
    /// Whether there may be any.
    has_any: bool,
}

/// A launch that may come again.
#[derive(Default)]
pub(in crate::runtime) struct Repeat {
    /// The kernel, none where this is free. Whoever holds it knows that no other kernel has its address.
    kernel: Weak<Kernel>,
    /// [`Kernel::version`]
    version: u64,
    range: NdRange,
    /// The memory objects among the kernel's arguments, which the kernel does not hold either.
    named: SmallVec<[Weak<Memory>; 4]>,
    pub(super) dispatch: Dispatch,
    /// What that reads and writes.
    pub(super) accessed: Accesses,
}

/// Where one was taken out.
pub(in crate::runtime) struct Slot(usize);

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

    /// Keeps a launch of `kernel` for the next time, when it has been recorded as number `sequence` of its queue: if it is
    /// worth it, since the launch of the kernel before this one was the same and not long ago.
    pub fn keep_launch(&mut self, launch: &mut Launch<'_>, kernel: &Arc<Kernel>, sequence: u64) {
        let Some((last, range, arguments)) = launch.take_last() else {
            return;
        };
        let version = kernel.version();
        let is_same = last.version == version && last.range.is_same(range);
        let is_near = last.sequence.abs_diff(sequence) <= KEPT as u64;
        last.sequence = sequence;
        if !is_same {
            (last.version, last.range) = (version, *range);
            kernel.note_kept(0);
        }
        // What has come again before may have come often since.
        let comes_again = is_same && (is_near || kernel.may_be_kept());
        if !comes_again || launch.is_looked_at() {
            return;
        }
        self.keep(kernel, version, range, arguments, |dispatch| {
            launch.move_to(dispatch);
        });
        kernel.note_kept(version);
    }

    /// Keeps the launch of a kernel with those arguments. `complete` makes an empty dispatch that launch, of which the
    /// batch holds all that it uses.
    fn keep(
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
        repeat.dispatch.add_accesses(&mut repeat.accessed);
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
        self.accessed.clear();
    }
}
