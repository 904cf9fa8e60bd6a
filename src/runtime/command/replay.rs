//! The execution of a recorded command buffer, as a queue takes it.

use super::keep_alive::KeepAlive;
use crate::runtime::allocation::{Allocation, Uses};
use crate::runtime::printf::Output;
use crate::runtime::program::lost_iterations::Watched;
use crate::vulkan::Recorder;
use std::cell::Cell;
use std::sync::Arc;

/// What one device does of a command buffer in one go.
pub struct RecordedPart {
    pub recorder: Recorder,
    /// How many commands it holds.
    pub commands: u32,
    /// What its kernels print, in the order of recording.
    pub prints: Vec<Arc<Output>>,
    /// Its kernels that say when they have lost iterations.
    pub watched: Vec<Watched>,
    /// What must live as long as something executes.
    pub held: KeepAlive,
}

/// A recording of a command buffer, which holds what it holds until nothing executes it any more.
pub trait Recorded: Send + Sync {
    /// One of its parts.
    fn part(&self, index: usize) -> &RecordedPart;

    /// Counts the executions of parts that are enqueued and not yet known to be done.
    fn executions(&self) -> &Uses;

    /// Counts the executions that have begun, for all allocations that the command buffer names.
    fn uses(&self) -> &Arc<Uses>;

    /// Takes out what it held for executions that are done; to be dropped without a lock.
    fn let_go(&self) -> KeepAlive;
}

/// One execution of a part: keeps its recording, and the allocations in use, until it is done.
pub struct Replay {
    recorded: Arc<dyn Recorded>,
    part: usize,
    stage: Cell<Stage>,
}

/// How far an execution is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Enqueued,
    /// The uses of the allocations count it.
    Begun,
    /// The execution is over as far as its memory goes.
    Ended,
}

impl Replay {
    /// An execution of one of the parts of a recording.
    pub fn new(recorded: Arc<dyn Recorded>, part: usize) -> Self {
        recorded.executions().begin();
        Self {
            recorded,
            part,
            stage: Cell::new(Stage::Enqueued),
        }
    }

    fn part(&self) -> &RecordedPart {
        self.recorded.part(self.part)
    }

    /// Whether a command of the command buffer uses the allocation.
    pub fn is_user_of(&self, allocation: &Allocation) -> bool {
        allocation.is_counted_with(self.recorded.uses())
    }

    pub fn recorder(&self) -> &Recorder {
        &self.part().recorder
    }

    /// What its kernels have printed, once it is done.
    pub fn prints(&self) -> &[Arc<Output>] {
        &self.part().prints
    }

    /// Its kernels that say when they have lost iterations.
    pub fn watched(&self) -> &[Watched] {
        &self.part().watched
    }

    /// How many commands it holds.
    pub fn weight(&self) -> u32 {
        self.part().commands
    }

    /// It is part of a batch: from now on the host must not touch its memory.
    pub fn begin(&self) {
        if self.stage.get() == Stage::Enqueued {
            self.stage.set(Stage::Begun);
            self.recorded.uses().begin();
        }
    }

    /// It is done, or will never run. What it holds it holds until it is dropped, without a lock.
    pub fn end(&self) {
        match self.stage.replace(Stage::Ended) {
            Stage::Enqueued => self.recorded.executions().end(),
            Stage::Begun => {
                self.recorded.executions().end();
                self.recorded.uses().end();
            }
            Stage::Ended => {}
        }
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.end();
        drop(self.recorded.let_go());
    }
}
