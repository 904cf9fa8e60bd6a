//! Commands that a device carries out by itself: a queue can be asked for them, and a command buffer can hold them.
//!
//! A new one is a variant of [`DeviceCommand`] with an arm in each function here.

use super::hazard::{Accesses, TrackedAccess};
use super::prepared_launch::PreparedLaunch;
use crate::runtime::allocation::Allocation;
use crate::runtime::device::encoder::Encoder;
use crate::runtime::host_memory::layout::{Extent, Layout, Shape};
use crate::runtime::object::error::Result;
use smallvec::SmallVec;
use std::sync::Arc;

/// A command that a device carries out by itself, complete in itself.
pub enum DeviceCommand {
    /// The launch of a kernel.
    Launch(Box<PreparedLaunch>),
    /// Device to device.
    Copy {
        source: Arc<Allocation>,
        target: Arc<Allocation>,
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
    /// No work, only a place in the order.
    Nothing,
}

/// What holds, until the device is done, all that encoded commands use.
pub trait Holder {
    /// A command reads the allocation.
    fn hold_read(&mut self, allocation: &Arc<Allocation>);

    /// A command writes the allocation.
    fn hold_written(&mut self, allocation: &Arc<Allocation>);

    /// A kernel is launched. Also where only its first regions could be encoded: those will run.
    fn hold_launch(&mut self, launch: &PreparedLaunch);
}

impl DeviceCommand {
    /// Whether the device runs nothing but a kernel of the application for it, or nothing.
    pub fn is_kernel(&self) -> bool {
        matches!(self, Self::Launch(_) | Self::Nothing)
    }

    /// Encodes it. Whoever does has placed the barrier that it needs.
    ///
    /// # Errors
    /// Memory ran out.
    pub fn encode(&self, encoder: &mut Encoder<'_>, holder: &mut impl Holder) -> Result<()> {
        match self {
            Self::Launch(launch) => {
                holder.hold_launch(launch);
                launch.encode(encoder)
            }
            Self::Copy {
                source,
                target,
                shape,
            } => {
                holder.hold_read(source);
                holder.hold_written(target);
                encoder.copy(source.buffer(), target.buffer(), shape);
                Ok(())
            }
            Self::Fill {
                target,
                offset_bytes,
                size_bytes,
                pattern,
            } => {
                holder.hold_written(target);
                encoder.fill(target.buffer(), *offset_bytes, *size_bytes, pattern)
            }
            Self::FillRectangle {
                target,
                extent,
                layout,
                pattern,
            } => {
                holder.hold_written(target);
                encoder.fill_rectangle(target.buffer(), *extent, *layout, pattern)
            }
            Self::Nothing => Ok(()),
        }
    }

    /// Adds what it reads and writes to a list; whether it may touch more than that.
    pub fn add_accesses(&self, accesses: &mut Accesses) -> bool {
        match self {
            Self::Launch(launch) => return launch.add_accesses(accesses),
            Self::Copy {
                source,
                target,
                shape,
            } => {
                accesses.push(TrackedAccess::read(source, shape.source, shape.extent));
                accesses.push(TrackedAccess::write(target, shape.target, shape.extent));
            }
            Self::Fill {
                target,
                offset_bytes,
                size_bytes,
                ..
            } => {
                let extent = Extent::linear(*size_bytes as usize);
                let layout = extent.packed(*offset_bytes as usize);
                accesses.push(TrackedAccess::write(target, layout, extent));
            }
            Self::FillRectangle {
                target,
                extent,
                layout,
                ..
            } => accesses.push(TrackedAccess::write(target, *layout, *extent)),
            Self::Nothing => {}
        }
        false
    }

    /// Calls `visit` with every allocation that it names.
    pub fn for_each_allocation(&self, mut visit: impl FnMut(&Arc<Allocation>)) {
        match self {
            Self::Launch(launch) => {
                for access in &launch.accesses {
                    visit(&access.allocation);
                }
            }
            Self::Copy { source, target, .. } => {
                visit(source);
                visit(target);
            }
            Self::Fill { target, .. } | Self::FillRectangle { target, .. } => visit(target),
            Self::Nothing => {}
        }
    }

    /// The transfer between other allocations, which `place` finds for the old ones and their numbers; `None` for the launch
    /// of a kernel.
    ///
    /// # Errors
    /// Those of `place`.
    pub fn with_allocations(
        &self,
        mut place: impl FnMut(usize, &Arc<Allocation>) -> Result<Arc<Allocation>>,
    ) -> Result<Option<Self>> {
        Ok(Some(match self {
            Self::Launch(_) => return Ok(None),
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
        }))
    }
}
