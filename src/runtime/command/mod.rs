//! What a queue can be asked to do.

pub mod hazard;
pub mod host_job;
pub mod keep_alive;
pub mod region;
pub mod replay;

use super::allocation::{Access, Allocation};
use super::host_memory::layout::{Extent, Layout, Shape};
use super::host_memory::pointer::HostPointer;
use super::object::error::{Error, Result};
use super::printf;
use super::program::lost_iterations::Watched;
use super::residency::backing::MemoryAccess;
use crate::vulkan::{self, BinarySemaphore};
use replay::Replay;
use smallvec::SmallVec;
use std::any::Any;
use std::sync::Arc;

/// A command, complete in itself: it can be recorded now, or wait until what it comes after is done.
// A launch is the large one, and the one that must not allocate.
#[allow(clippy::large_enum_variant)]
pub enum Command {
    Dispatch(Dispatch),
    /// Device to device.
    Copy {
        source: Arc<Allocation>,
        target: Arc<Allocation>,
        shape: Shape,
    },
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
    /// `size_bytes` is a multiple of the pattern's length.
    Fill {
        target: Arc<Allocation>,
        offset_bytes: u64,
        size_bytes: u64,
        pattern: SmallVec<[u8; 16]>,
    },
    /// Fills rows and slices; a row is a multiple of the pattern's length.
    FillRectangle {
        target: Arc<Allocation>,
        extent: Extent,
        layout: Layout,
        pattern: SmallVec<[u8; 16]>,
    },
    /// A command buffer, recorded before.
    Replay(Replay),
    /// Waits for semaphores shared with others, or signals them; without any, no work.
    Semaphores {
        waits: SmallVec<[Arc<BinarySemaphore>; 1]>,
        signals: SmallVec<[Arc<BinarySemaphore>; 1]>,
    },
    /// No work, only a place in the order.
    Nothing,
}

impl Command {
    /// Whether the device runs nothing but a kernel of the application for it, or nothing.
    pub fn is_kernel(&self) -> bool {
        matches!(self, Self::Dispatch(_) | Self::Nothing)
    }

    /// Takes out [`Dispatch::memory_accesses`].
    pub fn take_memory_accesses(&mut self) -> Vec<MemoryAccess> {
        match self {
            Self::Dispatch(dispatch) => std::mem::take(&mut dispatch.memory_accesses),
            _ => Vec::new(),
        }
    }

    /// Bytes that go through staging memory on the way to the device.
    pub fn staged_bytes(&self) -> usize {
        match self {
            Self::Write { shape, .. } => shape.extent.size_bytes(),
            _ => 0,
        }
    }

    /// The transfer between other allocations, which `place` finds for the old ones and their numbers.
    ///
    /// # Errors
    /// Those of `place`; `CL_OUT_OF_RESOURCES` for what is no transfer between allocations.
    pub fn with_allocations(
        &self,
        mut place: impl FnMut(usize, &Arc<Allocation>) -> Result<Arc<Allocation>>,
    ) -> Result<Self> {
        Ok(match self {
            Self::Copy {
                source,
                target,
                shape,
            } => Self::Copy {
                source: place(0, source)?,
                target: place(1, target)?,
                shape: *shape,
            },
            Self::Fill {
                target,
                offset_bytes,
                size_bytes,
                pattern,
            } => Self::Fill {
                target: place(0, target)?,
                offset_bytes: *offset_bytes,
                size_bytes: *size_bytes,
                pattern: pattern.clone(),
            },
            Self::FillRectangle {
                target,
                extent,
                layout,
                pattern,
            } => Self::FillRectangle {
                target: place(0, target)?,
                extent: *extent,
                layout: *layout,
                pattern: pattern.clone(),
            },
            Self::Nothing => Self::Nothing,
            _ => return Err(Error::out_of_resources("it is no transfer")),
        })
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

/// The launch of a kernel.
#[derive(Default)]
pub struct Dispatch {
    /// One for each part of the range that needs its own pipeline or base; none when there is nothing to
    /// run, the event still completes.
    pub regions: SmallVec<[DispatchRegion; 1]>,
    pub accesses: SmallVec<[Access; 4]>,
    /// May touch memory that `accesses` doesn't name (the kernel follows pointers).
    pub accesses_anything: bool,
    /// What it uses whose place depends on the device: whoever enqueues or records it takes that out, and has it
    /// brought there before ([`crate::runtime::queue::bring::bring`]).
    pub memory_accesses: Vec<MemoryAccess>,
    /// It may also use every buffer whose device address the application knows.
    pub uses_any_address: bool,
    /// Held until the device is done.
    pub keep_alive: SmallVec<[Arc<dyn Any + Send + Sync>; 2]>,
    /// What the kernel prints; written out before the event is complete.
    pub printf: Option<Arc<printf::Output>>,
    /// The kernel, if it says when it has lost iterations.
    pub watched: Option<Watched>,
    /// Runs on completion, before the event is complete, on whatever thread sees it. Must not block.
    pub on_complete: Option<Box<dyn FnOnce() + Send>>,
}

/// One `vkCmdDispatch`.
pub struct DispatchRegion {
    pub pipeline: Arc<vulkan::Pipeline>,
    /// Within the device's `maxComputeWorkGroupCount`; none 0.
    pub groups: [u32; 3],
    pub arguments: Arguments,
}

/// The argument block.
pub enum Arguments {
    /// Goes into the push constants.
    PushConstants(SmallVec<[u8; 256]>),
    /// Goes into device memory, 16-byte aligned; the push constants get its device address.
    Block(SmallVec<[u8; 256]>),
}
