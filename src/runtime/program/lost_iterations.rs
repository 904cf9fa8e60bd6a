//! Launches of which the device did not make all iterations.
//!
//! Some devices make so many and no more, and go on as if loops were done: see
//! [`crate::compiler::passes::workarounds::report_lost_iterations`]. A kernel that may come to that has a word in memory that the host
//! sees, in which its launches say so. The host looks at it when they are done, before their events are: these then end in
//! `CL_OUT_OF_RESOURCES`, and so do those of what the batch holds behind them, of what waits for one of them in any queue, and
//! in an in-order queue those of all behind them until a call that waits has failed.
//!
//! All launches of a kernel have the same word, as its address is part of what is recorded once and run many times. So
//! those that are under way together are taken to have lost iterations together.

use super::executable::Executable;
use crate::runtime::allocation::iterations_word::{Word, is_watched, message};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

/// A kernel that says when it has lost iterations.
#[derive(Clone)]
pub struct Watched {
    executable: Arc<Executable>,
    kernel: usize,
}

impl Watched {
    /// Kernel `kernel` of a program, if it is one.
    pub fn of(executable: &Arc<Executable>, kernel: usize) -> Option<Self> {
        let compiled = executable.program().kernels.get(kernel)?;
        is_watched(compiled).then(|| Self {
            executable: Arc::clone(executable),
            kernel,
        })
    }

    /// A launch of it is about to be given to the device.
    pub fn begin(&self) -> UnderWay {
        if let Some(word) = self.word() {
            word.begin();
        }
        UnderWay(self.clone(), false)
    }

    fn word(&self) -> Option<&Word> {
        self.executable.iterations_lost(self.kernel)
    }
}

/// The batches of a queue in which a command failed because a kernel had lost iterations.
#[derive(Default)]
pub struct LostBatches(Mutex<Vec<RangeInclusive<u64>>>);

impl LostBatches {
    /// The batch of time `value`, which comes after all that were added.
    pub fn add(&self, value: u64) {
        let mut ranges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match ranges.last_mut() {
            Some(last) if last.end() + 1 >= value => *last = *last.start()..=value,
            _ => ranges.push(value..=value),
        }
    }

    /// Whether the batch of time `value` is one of them.
    pub fn has(&self, value: u64) -> bool {
        let ranges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ranges.iter().rev().any(|range| range.contains(&value))
    }
}

/// A launch under way, and whether it has ended.
pub struct UnderWay(Watched, bool);

impl UnderWay {
    /// The device is done with it: what to tell the application if it has lost iterations.
    pub fn end(&mut self) -> Option<String> {
        let Self(watched, has_ended) = self;
        if std::mem::replace(has_ended, true) || !watched.word().is_some_and(Word::end) {
            return None;
        }
        let kernels = &watched.executable.program().kernels;
        let name = kernels.get(watched.kernel).map_or("", |it| &it.name);
        Some(message(name))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // It may never have run.
        self.end();
    }
}
