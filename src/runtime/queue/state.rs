//! What of a queue changes as commands come and go.

use super::Queue;
use super::in_flight::InFlight;
use super::recording::Recording;
use super::waiting_commands::WaitingCommands;
use crate::runtime::allocation::Allocation;
use crate::runtime::command::Ordering as Order;
use crate::runtime::command::keep_alive::KeepAlive;
use crate::runtime::object::error::Result;
use std::any::Any;
use std::sync::Arc;

/// The parts of a queue that its lock is for, in the order in which a command goes through them.
#[derive(Default)]
pub(in crate::runtime) struct State {
    pub(super) waiting: WaitingCommands,
    pub(super) recording: Recording,
    pub(super) in_flight: InFlight,
}

impl State {
    /// Whether nothing is recorded, and nothing submitted is left to complete.
    #[inline]
    pub(in crate::runtime) fn is_idle(&self) -> bool {
        !self.recording.is_open() && self.in_flight.is_empty()
    }

    /// Whether no command waits for its turn.
    #[inline]
    pub(in crate::runtime) fn none_waits(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether commands that wait have a command wait, too.
    #[inline]
    pub(super) fn has_wait(&self, order: Order, in_order: bool) -> bool {
        if self.none_waits() || order.before_waiting {
            return false;
        }
        in_order || order.after_all || !self.waiting.holds_no_barrier()
    }

    /// Whether there is an open batch.
    #[cfg(test)]
    pub(in crate::runtime) fn has_open_batch(&self) -> bool {
        self.recording.is_open()
    }

    /// The batch that was submitted last, unless it is complete.
    #[cfg(test)]
    pub(in crate::runtime) fn last_submitted(&self) -> Option<&super::batch::Batch> {
        self.in_flight.last()
    }

    /// How often the batches that are not complete count among the uses of an allocation.
    pub(in crate::runtime) fn uses_of(&self, allocation: &Allocation) -> usize {
        let batches = self.in_flight.iter().chain(self.recording.batch());
        batches.map(|batch| batch.uses_of(allocation)).sum()
    }

    /// Has the open batch, which is begun if there is none, show the host what commands of the queue have written up to here.
    ///
    /// # Errors
    /// Memory ran out, or the queue has failed.
    pub(in crate::runtime) fn show_host(&mut self, queue: &Queue) -> Result<()> {
        self.recording.open(queue, &self.in_flight)?.show_host()
    }

    /// Keeps `object` until what waits or is under way and uses `allocation` is done.
    pub(super) fn keep_while_used(
        &mut self,
        allocation: &Allocation,
        object: &Arc<dyn Any + Send + Sync>,
    ) {
        self.waiting.keep_while_used(allocation, object);
        self.in_flight.keep_while_used(allocation, object);
        if let Some(batch) = self.recording.batch_mut() {
            batch.keep_while_used(allocation, object);
        }
    }

    /// Keeps what a command that has just been recorded kept alive while it waited.
    pub(super) fn keep_with_last(&mut self, keep_alive: KeepAlive) {
        let open = self.recording.batch_mut();
        if let Some(batch) = open.or(self.in_flight.last_mut()) {
            batch.keep(keep_alive);
        }
    }
}
