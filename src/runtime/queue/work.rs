//! What a queue records: a command that is complete in itself, or the launch of a kernel as it lies there.

use super::batch::Batch;
use super::repeat::{Repeat, Repeats};
use crate::runtime::command::Command;
use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::command::hazard::{Accesses, TrackedAccess};
use crate::runtime::command::replay::Replay;
use crate::runtime::object::error::Result;

/// What can be recorded into a batch.
pub(in crate::runtime) trait Work {
    fn sort(&self) -> SortOfWork;

    /// What it reads and writes, listed in `room` unless there is a list already; whether it may touch more than that.
    fn accesses<'a>(&'a self, room: &'a mut Accesses) -> (&'a [TrackedAccess], bool);

    /// Records it. What the batch holds may be taken out.
    fn record(&mut self, batch: &mut Batch) -> Result<()>;

    /// It has been recorded as number `sequence` of the queue, into the open batch: what may come again is kept.
    fn keep(&mut self, _: &mut Repeats, _sequence: u64) {}
}

/// Work that can wait.
pub(in crate::runtime) trait Waitable: Work {
    /// Takes it out, to wait.
    fn take(&mut self) -> Command;
}

/// What sort of work it is, as far as its place in the order goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::runtime) struct SortOfWork {
    /// The device runs nothing but a kernel of the application for it, or nothing.
    pub is_kernel: bool,
    /// No work, only a place in the order.
    pub is_nothing: bool,
    /// A command buffer, whole between two barriers.
    pub is_replay: bool,
    /// It begins after a semaphore that others signal.
    pub waits_for_others: bool,
    /// Others wait for a semaphore that it signals.
    pub signals_others: bool,
    /// Bytes that go through staging memory on the way to the device.
    pub staged_bytes: usize,
}

impl SortOfWork {
    /// The launch of a kernel.
    pub const KERNEL: Self = Self {
        is_kernel: true,
        is_nothing: false,
        is_replay: false,
        waits_for_others: false,
        signals_others: false,
        staged_bytes: 0,
    };
}

impl Work for Command {
    fn sort(&self) -> SortOfWork {
        let (mut waits_for_others, mut signals_others) = (false, false);
        if let Self::Semaphores { waits, signals } = self {
            waits_for_others = !waits.is_empty();
            signals_others = !signals.is_empty();
        }
        SortOfWork {
            is_kernel: self.is_kernel(),
            is_nothing: matches!(self, Self::Device(DeviceCommand::Nothing)),
            is_replay: matches!(self, Self::Replay(_)),
            waits_for_others,
            signals_others,
            staged_bytes: self.staged_bytes(),
        }
    }

    fn accesses<'a>(&'a self, room: &'a mut Accesses) -> (&'a [TrackedAccess], bool) {
        let anything = self.add_accesses(room);
        (room, anything)
    }

    fn record(&mut self, batch: &mut Batch) -> Result<()> {
        batch.record(self)
    }
}

impl Waitable for Command {
    fn take(&mut self) -> Command {
        Self::take(self)
    }
}

impl Work for Repeat {
    fn sort(&self) -> SortOfWork {
        SortOfWork::KERNEL
    }

    fn accesses<'a>(&'a self, _: &'a mut Accesses) -> (&'a [TrackedAccess], bool) {
        (&self.accessed, self.launch.accesses_anything)
    }

    fn record(&mut self, batch: &mut Batch) -> Result<()> {
        batch.record_held_launch(&self.launch)
    }
}

/// The execution of a command buffer, until it is taken.
impl Work for Option<Replay> {
    fn sort(&self) -> SortOfWork {
        SortOfWork {
            is_replay: true,
            ..SortOfWork::default()
        }
    }

    fn accesses<'a>(&'a self, _: &'a mut Accesses) -> (&'a [TrackedAccess], bool) {
        // As of the same command.
        (&[], false)
    }

    fn record(&mut self, batch: &mut Batch) -> Result<()> {
        match self.take() {
            Some(replay) => batch.record_replay(replay),
            None => Ok(()),
        }
    }
}

impl Waitable for Option<Replay> {
    fn take(&mut self) -> Command {
        self.take().map_or(Command::NOTHING, Command::Replay)
    }
}
