//! What a queue can be asked to do.

pub mod device_command;
pub mod hazard;
pub mod host_job;
pub mod keep_alive;
pub mod prepared_launch;
pub mod replay;

use super::allocation::Allocation;
use super::host_memory::layout::Shape;
use super::host_memory::pointer::HostPointer;
use crate::vulkan::BinarySemaphore;
use device_command::DeviceCommand;
use hazard::{Accesses, TrackedAccess};
use replay::Replay;
use smallvec::SmallVec;
use std::sync::Arc;

/// A command, complete in itself: it can be recorded now, or wait until what it comes after is done.
pub enum Command {
    /// What a command buffer can hold as well.
    Device(DeviceCommand),
    /// Host to device. The host memory is read when the command is recorded.
    Write {
        source: HostPointer,
        target: Arc<Allocation>,
        shape: Shape,
    },
    /// Device to host. The host memory is written on completion.
    Read {
        source: Arc<Allocation>,
        target: HostPointer,
        shape: Shape,
    },
    /// A command buffer, recorded before.
    Replay(Replay),
    /// Waits for semaphores shared with others, or signals them; without any, no work.
    Semaphores {
        waits: SmallVec<[Arc<BinarySemaphore>; 1]>,
        signals: SmallVec<[Arc<BinarySemaphore>; 1]>,
    },
    /// A call that the host makes on completion, before the event is complete, on whatever thread sees it. It must not
    /// block. No work for the device.
    Call(Box<dyn FnOnce() + Send>),
}

impl From<DeviceCommand> for Command {
    fn from(command: DeviceCommand) -> Self {
        Self::Device(command)
    }
}

impl Command {
    /// No work, only a place in the order.
    pub const NOTHING: Self = Self::Device(DeviceCommand::Nothing);

    /// Takes it out of where it lies.
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, Self::NOTHING)
    }

    /// Whether the device runs nothing but a kernel of the application for it, or nothing.
    pub fn is_kernel(&self) -> bool {
        match self {
            Self::Device(command) => command.is_kernel(),
            Self::Call(_) => true,
            Self::Write { .. } | Self::Read { .. } | Self::Replay(_) | Self::Semaphores { .. } => {
                false
            }
        }
    }

    /// Bytes that go through staging memory on the way to the device.
    pub fn staged_bytes(&self) -> usize {
        match self {
            Self::Write { shape, .. } => shape.extent.size_bytes(),
            _ => 0,
        }
    }

    /// Adds what it reads and writes to a list; whether it may touch more than that.
    pub fn add_accesses(&self, accesses: &mut Accesses) -> bool {
        match self {
            Self::Device(command) => return command.add_accesses(accesses),
            Self::Write { target, shape, .. } => {
                accesses.push(TrackedAccess::write(target, shape.target, shape.extent));
            }
            Self::Read { source, shape, .. } => {
                accesses.push(TrackedAccess::read(source, shape.source, shape.extent));
            }
            // All that it uses comes after what is before it, and before what comes after it.
            Self::Replay(_) | Self::Semaphores { .. } | Self::Call(_) => {}
        }
        false
    }

    /// Whether it names the allocation, or is a command buffer that does.
    pub fn is_user_of(&self, allocation: &Allocation) -> bool {
        let is_it = |it: &Arc<Allocation>| std::ptr::eq(Arc::as_ptr(it), allocation);
        match self {
            Self::Device(command) => {
                let mut found = false;
                command.for_each_allocation(|it| found |= is_it(it));
                found
            }
            Self::Write { target, .. } => is_it(target),
            Self::Read { source, .. } => is_it(source),
            Self::Replay(replay) => replay.is_user_of(allocation),
            Self::Semaphores { .. } | Self::Call(_) => false,
        }
    }
}

/// Which commands of the queue a command must come after, or before, beyond its wait list. Only
/// matters out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ordering {
    /// Comes after everything enqueued before it.
    pub after_all: bool,
    /// Everything enqueued later comes after it.
    pub before_all: bool,
    /// It comes before what waits: see [`super::transfer::pieces`].
    pub before_waiting: bool,
}
