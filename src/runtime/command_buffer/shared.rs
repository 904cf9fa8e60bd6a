//! Commands on memory that is named by its address, as a command buffer records them.

use crate::runtime::allocation::Allocation;
use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::host_memory::layout::Shape;
use crate::runtime::queue::Queue;
use crate::runtime::residency::shared::Pointed;
use crate::runtime::{Error, Result};
use smallvec::SmallVec;
use std::ptr::NonNull;
use std::sync::Arc;

/// A command, and whether the memory that it names may have other names.
pub type Named = (DeviceCommand, bool);

/// Copies `size_bytes` between places that do not overlap and that the device reaches.
///
/// # Errors
/// `CL_OUT_OF_RESOURCES`
///
/// # Safety
/// Memory of the host stays valid for as long as the command buffer may be executed.
pub unsafe fn copy(
    queue: &Queue,
    target: &Pointed,
    source: &Pointed,
    size_bytes: usize,
) -> Result<Named> {
    if size_bytes == 0 {
        return Ok((DeviceCommand::Nothing, false));
    }
    // SAFETY: the caller's promise.
    let (from, to) = unsafe {
        (
            place(queue, source, size_bytes)?,
            place(queue, target, size_bytes)?,
        )
    };
    let aliased = from.aliased || to.aliased;
    let command = DeviceCommand::Copy {
        shape: Shape::linear(from.offset_bytes, to.offset_bytes, size_bytes),
        source: from.allocation,
        target: to.allocation,
    };
    Ok((command, aliased))
}

/// Fills `size_bytes`, a multiple of the pattern's length.
///
/// # Errors
/// As [`copy`].
///
/// # Safety
/// As [`copy`].
pub unsafe fn fill(
    queue: &Queue,
    target: &Pointed,
    size_bytes: usize,
    pattern: &[u8],
) -> Result<Named> {
    if size_bytes == 0 {
        return Ok((DeviceCommand::Nothing, false));
    }
    // SAFETY: the caller's promise.
    let place = unsafe { place(queue, target, size_bytes) }?;
    let command = DeviceCommand::Fill {
        target: place.allocation,
        offset_bytes: place.offset_bytes as u64,
        size_bytes: size_bytes as u64,
        pattern: SmallVec::from_slice(pattern),
    };
    Ok((command, place.aliased))
}

struct Place {
    allocation: Arc<Allocation>,
    offset_bytes: usize,
    /// Another allocation may be the same memory.
    aliased: bool,
}

/// # Safety
/// Memory of the host stays valid for as long as the answer lives.
unsafe fn place(queue: &Queue, pointed: &Pointed, size_bytes: usize) -> Result<Place> {
    match pointed {
        Pointed::Shared(memory, offset_bytes) => Ok(Place {
            allocation: Arc::clone(memory.on(queue.context_device())?),
            offset_bytes: *offset_bytes,
            aliased: false,
        }),
        Pointed::Host(pointer) => {
            let pointer = NonNull::new(pointer.0)
                .ok_or_else(|| Error::impossible("a pointer that was checked is NULL"))?;
            // SAFETY: the caller's promise.
            let buffer = unsafe {
                queue
                    .vulkan()
                    .import_host_memory(pointer, size_bytes as u64)
            }?;
            Ok(Place {
                allocation: Allocation::from_buffer(buffer),
                offset_bytes: 0,
                aliased: true,
            })
        }
    }
}
