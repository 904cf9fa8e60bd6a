//! The batches that the device has, or that are completed just now.

use super::batch::Batch;
use crate::runtime::allocation::Allocation;
use crate::runtime::command::keep_alive::KeepAlive;
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

/// A queue's batches under way, the oldest first.
#[derive(Default)]
pub(super) struct InFlight {
    // In boxes, to be handed on: a batch has many hundreds of bytes.
    batches: VecDeque<Box<Batch>>,
    /// So many batches have been taken out and are not complete yet.
    completing: u32,
    /// What is dropped when those are complete.
    keep_alive: KeepAlive,
}

impl InFlight {
    /// Whether the device has none that is not taken out.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// How many there are that are not taken out.
    pub fn len(&self) -> usize {
        self.batches.len()
    }

    /// The batches that are not taken out.
    pub fn iter(&self) -> impl Iterator<Item = &Batch> {
        self.batches.iter().map(|batch| &**batch)
    }

    /// The oldest one.
    pub fn first(&self) -> Option<&Batch> {
        self.batches.front().map(|batch| &**batch)
    }

    /// The newest one, for what is kept until it is done.
    pub fn last_mut(&mut self) -> Option<&mut Batch> {
        self.batches.back_mut().map(|batch| &mut **batch)
    }

    /// The newest one.
    #[cfg(test)]
    pub fn last(&self) -> Option<&Batch> {
        self.batches.back().map(|batch| &**batch)
    }

    /// Adds the one that was submitted last.
    pub fn push(&mut self, batch: Box<Batch>) {
        self.batches.push_back(batch);
    }

    /// Takes the oldest one out, to be completed, if the device has reached its time.
    pub fn take_first(&mut self, reached: u64) -> Option<Box<Batch>> {
        if self.batches.front()?.value > reached {
            return None;
        }
        self.completing += 1;
        self.batches.pop_front()
    }

    /// Notes that one that was taken out is complete; what is to be dropped, which may call the application.
    pub fn note_completion(&mut self) -> KeepAlive {
        self.completing -= 1;
        if self.completing > 0 {
            return KeepAlive::new();
        }
        std::mem::take(&mut self.keep_alive)
    }

    /// Keeps `object` until the batches that use `allocation` are done.
    pub fn keep_while_used(
        &mut self,
        allocation: &Allocation,
        object: &Arc<dyn Any + Send + Sync>,
    ) {
        for batch in &mut self.batches {
            batch.keep_while_used(allocation, object);
        }
        if self.completing > 0 {
            // It is not known any more what that was, and it is done soon.
            self.keep_alive.push(Arc::clone(object));
        }
    }
}
