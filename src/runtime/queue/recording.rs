//! The open batch of a queue, which commands are recorded into.

use super::Queue;
use super::batch::{Batch, Entry, MOST_COMMANDS};
use super::in_flight::InFlight;
use super::repeat::Repeats;
use super::waiting_commands::Ready;
use super::work::{SortOfWork, Work};
use crate::runtime::command::Ordering as Order;
use crate::runtime::command::hazard::{Accesses, Hazards};
use crate::runtime::event::{DeferredWork, Event};
use crate::runtime::object::error::{Error, Result};
use std::sync::Arc;

/// An idle device gets a batch of this many commands at once, a busy one a full batch. Several times as many the next
/// time, up to the greatest: a stream's first commands begin early, and the driver is not called for every few of
/// thousands. A submission takes as long as twenty launches on NVIDIA's driver, and as a hundred on some cores.
/// Drivers submit under a lock of the whole device: threads that submit on queues of their own wait for each other.
const FIRST_ENOUGH: u32 = 16;
const MOST_ENOUGH: u32 = 512;
const MORE_ENOUGH: u32 = 4;
/// From there on it is looked whether the device is idle now, after so many commands each.
const LOOK_AFTER: u32 = 32;

/// A write of so many bytes is submitted at once, so that its staging memory is soon free again: a stream of writes then
/// goes through a few pieces of memory that stay in the processor's cache.
const LARGE_STAGED_BYTES: usize = 256 << 10;

/// What commands are recorded into, and how they are ordered.
#[derive(Default)]
pub(super) struct Recording {
    // In boxes, to be handed on: a batch has many hundreds of bytes.
    open: Option<Box<Batch>>,
    #[expect(
        clippy::vec_box,
        reason = "they come from `InFlight` and become `open`"
    )]
    spare: Vec<Box<Batch>>,
    hazards: Hazards,
    /// The next command's number, and that of the first after the last barrier.
    sequence: u64,
    barrier_sequence: u64,
    /// The time of the last command that all later ones come after.
    ordered_value: u64,
    last_value: u64,
    /// So many commands are enough for an idle device.
    enough: u32,
    /// Launches of the open batch.
    repeats: Repeats,
}

impl Recording {
    /// Whether there is an open batch.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The open batch.
    pub fn batch(&self) -> Option<&Batch> {
        self.open.as_deref()
    }

    /// The open batch.
    pub fn batch_mut(&mut self) -> Option<&mut Batch> {
        self.open.as_deref_mut()
    }

    /// The time of the newest batch.
    pub fn last_value(&self) -> u64 {
        self.last_value
    }

    /// The time of the last command that all later ones come after.
    pub fn ordered_value(&self) -> u64 {
        self.ordered_value
    }

    /// The launches of the open batch that may come again.
    #[inline]
    pub fn repeats(&mut self) -> &mut Repeats {
        &mut self.repeats
    }

    /// The open batch, which is begun if there is none.
    ///
    /// # Errors
    /// Memory ran out, or the queue has failed.
    #[inline]
    pub fn open(&mut self, queue: &Queue, in_flight: &InFlight) -> Result<&mut Batch> {
        if self.open.is_none() {
            self.begin(queue, in_flight)?;
        }
        self.batch_mut()
            .ok_or_else(|| Error::impossible("no batch"))
    }

    fn begin(&mut self, queue: &Queue, in_flight: &InFlight) -> Result<()> {
        queue.check()?;
        let mut batch = match self.spare.pop() {
            Some(batch) => batch,
            None => Box::new(Batch::new(queue.device().internal_kernels()?)?),
        };
        self.last_value += 1;
        batch.begin(self.last_value, in_flight.is_empty());
        if in_flight.is_empty() {
            self.enough = FIRST_ENOUGH;
        }
        self.hazards.clear();
        self.barrier_sequence = self.sequence;
        self.open = Some(batch);
        Ok(())
    }

    /// Takes the open batch out, to be submitted.
    pub fn take(&mut self) -> Option<Box<Batch>> {
        let batch = self.open.take()?;
        self.repeats.clear();
        Some(batch)
    }

    /// Takes back a batch that holds nothing any more.
    pub fn take_back(&mut self, batch: Box<Batch>) {
        self.spare.push(batch);
    }

    /// Has the open batch begin after what the next command comes after; the latest command of the queue among that.
    pub fn come_after(&mut self, ready: &mut Ready) -> Option<u64> {
        if let Some(batch) = &mut self.open {
            batch.waits.extend(ready.device.drain(..));
            batch.comes_after(&std::mem::take(&mut ready.own));
        }
        ready.sequence
    }

    /// Places the barrier before `work`, if it needs one: for `needs_barrier`, or for what it accesses.
    #[inline]
    pub fn place_barrier<W: Work>(
        &mut self,
        work: &W,
        sort: SortOfWork,
        needs_barrier: bool,
        in_order: bool,
    ) {
        let Some(batch) = &mut self.open else { return };
        let mut accesses = Accesses::new();
        let (accesses, anything) = work.accesses(&mut accesses);
        let barrier = needs_barrier || in_order && self.hazards.conflict(accesses, anything);
        // Not only what it conflicts with since the last barrier, if that one lets it pass.
        let barrier = barrier || !batch.is_open_to(sort.is_kernel);
        if barrier && batch.commands > 0 && !sort.is_replay {
            batch.barrier(sort.is_kernel);
            self.hazards.clear();
            self.barrier_sequence = self.sequence;
        }
        self.hazards.note(accesses, anything);
    }

    /// Records `work`; the number of its first timestamp. Where times are taken, `timed` says whether it begins when all before
    /// it are done.
    #[inline]
    pub fn record<W: Work>(
        &mut self,
        work: &mut W,
        sort: SortOfWork,
        order: Order,
        timed: Option<bool>,
    ) -> Result<Option<u32>> {
        let Some(batch) = &mut self.open else {
            return Err(Error::impossible("no batch"));
        };
        let timestamp = match timed {
            Some(after) => Some(batch.stamp_start(after)?),
            None => None,
        };
        let recorded = work.record(batch);
        if let Some(start) = timestamp {
            // Even of a command that failed half-way: all timestamps are read.
            batch.stamp_end(start)?;
        }
        batch.commands += 1;
        batch.weight += 1;
        self.sequence += 1;
        if order.before_all {
            self.ordered_value = batch.value;
        }
        recorded?;
        if sort.is_replay {
            // It ends with a barrier.
            self.hazards.clear();
            self.barrier_sequence = self.sequence;
        }
        Ok(timestamp)
    }

    /// Enters the event of the command that has just been recorded.
    #[inline]
    pub fn enter(
        &mut self,
        event: Option<&Arc<Event>>,
        is_asked: bool,
        timestamp: Option<u32>,
        recorded_ns: u64,
        waited: Option<&mut DeferredWork>,
    ) {
        if let (Some(batch), Some(event)) = (&mut self.open, event) {
            batch.is_timed |= is_asked;
            batch.entries.push(Entry {
                event: Arc::clone(event),
                timestamp,
                recorded_ns,
            });
            event.issue(batch.value, self.sequence - 1, waited);
        }
    }

    /// Notes that the open batch has enough: the next one will be larger.
    pub fn raise_enough(&mut self) {
        self.enough = (self.enough * MORE_ENOUGH).clamp(FIRST_ENOUGH, MOST_ENOUGH);
    }

    /// Has `work`, which has just been recorded, kept for the next time if it may come again.
    #[inline]
    pub fn keep<W: Work>(&mut self, work: &mut W) {
        work.keep(&mut self.repeats, self.sequence - 1);
    }

    /// Whether a command is before the last barrier, by its number.
    pub fn is_before_barrier(&self, sequence: u64) -> bool {
        sequence < self.barrier_sequence
    }

    /// Whether the open batch is to be submitted: it is full, or enough for a device that is idle.
    #[inline]
    pub fn has_enough(&self, sort: SortOfWork, is_device_idle: impl FnOnce() -> bool) -> bool {
        let Some(batch) = &self.open else {
            return false;
        };
        let full = batch.weight >= MOST_COMMANDS || sort.staged_bytes >= LARGE_STAGED_BYTES;
        let more = batch.commands.checked_sub(self.enough);
        let enough = sort.is_replay || more.is_some_and(|more| more.is_multiple_of(LOOK_AFTER));
        full || sort.signals_others || enough && is_device_idle()
    }
}
