//! Launches that come again.
//!
//! Programs launch a kernel with the same arguments over the same range again and again. What such a launch becomes is
//! kept, complete in itself, as long as the batch is open that holds what it uses: the next one of its kind takes the
//! queue's lock and no other, and needs not find out anew what it runs and accesses.

use std::sync::{Arc, Weak};

use smallvec::SmallVec;

use crate::runtime::command::hazard::Accesses;
use crate::runtime::command::prepared_launch::PreparedLaunch;
use crate::runtime::launch::argument::ArgumentValue;
use crate::runtime::launch::kernel::{Kernel, KernelState};
use crate::runtime::launch::nd_range::NdRange;
use crate::runtime::launch::prepare::LockedKernel;
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
    pub(super) launch: Box<PreparedLaunch>,
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

    /// Keeps a launch of `kernel` over `range` for the next time, when it has been recorded as number `sequence` of its queue: if
    /// it is worth it, since the launch of the kernel before this one was the same and not long ago.
    pub fn keep_launch(
        &mut self,
        locked: &mut LockedKernel<'_>,
        kernel: &Arc<Kernel>,
        range: &NdRange,
        sequence: u64,
    ) {
        let KernelState {
            arguments,
            last,
            launch,
            ..
        } = locked.state();
        if launch.regions.is_empty() {
            return;
        }
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
        // What prints has a buffer of its own each time, and what says that it has lost iterations is looked at each time.
        if !comes_again || launch.printf.is_some() || launch.watched.is_some() {
            return;
        }
        self.keep(kernel, version, range, arguments, launch);
        kernel.note_kept(version);
    }

    /// Keeps the launch of a kernel with those arguments, of which the batch holds all that it uses. The kernel gets an empty
    /// one for it.
    fn keep(
        &mut self,
        kernel: &Arc<Kernel>,
        version: u64,
        range: &NdRange,
        arguments: &[ArgumentValue],
        launch: &mut Box<PreparedLaunch>,
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
        std::mem::swap(&mut repeat.launch, launch);
        repeat.launch.add_accesses(&mut repeat.accessed);
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
        self.launch.regions.clear();
        self.launch.accesses.clear();
        self.launch.executable = None;
        self.accessed.clear();
    }
}
