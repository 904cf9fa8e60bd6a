//! Ranges of host memory that reads under way will write. A write that takes its data from there must come
//! after them, and the data is taken when the command is recorded: so it waits until they are done. Where the device
//! both writes there and reads, their order on the device is enough.

use crate::runtime::event::{Event, Stage};
use crate::runtime::host_memory::layout::Shape;
use crate::runtime::host_memory::pointer::HostPointer;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Who writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// The host, once the device is done.
    Host,
    Device,
}

struct Pending {
    start: usize,
    end: usize,
    event: Weak<Event>,
    by: By,
}

static PENDING: Mutex<Vec<Pending>> = Mutex::new(Vec::new());
/// Spares the lock in the usual case, that there is none.
static COUNT: AtomicUsize = AtomicUsize::new(0);

pub(super) fn add(target: HostPointer, shape: &Shape, event: &Arc<Event>, by: By) {
    let base = target.0 as usize;
    let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
    pending.retain(|other| other.event.upgrade().is_some_and(|event| !is_done(&event)));
    pending.push(Pending {
        start: base + shape.target.offset_bytes,
        end: base + shape.target.end_bytes(shape.extent),
        event: Arc::downgrade(event),
        by,
    });
    COUNT.store(pending.len(), Ordering::Release);
}

pub(super) fn overlapping(source: HostPointer, shape: &Shape) -> SmallVec<[Arc<Event>; 1]> {
    find(source, shape, |_| true)
}

pub(super) fn overlapping_by(
    by: By,
    source: HostPointer,
    shape: &Shape,
) -> SmallVec<[Arc<Event>; 1]> {
    find(source, shape, |other| other == by)
}

fn find(
    source: HostPointer,
    shape: &Shape,
    matters: impl Fn(By) -> bool,
) -> SmallVec<[Arc<Event>; 1]> {
    if COUNT.load(Ordering::Acquire) == 0 {
        return SmallVec::new();
    }
    let base = source.0 as usize;
    let start = base + shape.source.offset_bytes;
    let end = base + shape.source.end_bytes(shape.extent);
    let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
    pending.retain(|other| other.event.upgrade().is_some_and(|event| !is_done(&event)));
    COUNT.store(pending.len(), Ordering::Release);
    pending
        .iter()
        .filter(|other| other.start < end && start < other.end && matters(other.by))
        .filter_map(|other| other.event.upgrade())
        .collect()
}

fn is_done(event: &Event) -> bool {
    matches!(event.stage(), Stage::Done(_))
}
