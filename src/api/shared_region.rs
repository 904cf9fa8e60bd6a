//! Regions of memory that commands name by their address: `clEnqueueSVM*`, `clEnqueueMem*INTEL`, `clCommandSVM*KHR`.

use super::error::{Error, Result};
use crate::runtime::queue::Queue;
use crate::runtime::residency::shared::Pointed;
use std::ffi::c_void;

/// The `size_bytes` at `pointer`, in shared memory of the queue's context or in memory of the host.
///
/// # Errors
/// `CL_INVALID_VALUE` for a region that begins in an allocation and reaches beyond it.
pub(super) fn region(queue: &Queue, pointer: *const c_void, size_bytes: usize) -> Result<Pointed> {
    let pointed = queue.context().shared().pointed(pointer);
    match &pointed {
        Pointed::Shared(memory, _) if !memory.contains(pointer as u64, size_bytes) => {
            Err(Error::invalid_value(format!(
                "the {size_bytes} bytes at {pointer:?} reach beyond the allocation"
            )))
        }
        _ => Ok(pointed),
    }
}

/// The region, as [`region`] finds it, where the queue's device itself gets at it.
///
/// # Errors
/// Those of [`region`]; `CL_INVALID_VALUE` for memory of the host that the device does not reach.
pub(super) fn device_region(
    queue: &Queue,
    pointer: *const c_void,
    size_bytes: usize,
) -> Result<Pointed> {
    let pointed = region(queue, pointer, size_bytes)?;
    match &pointed {
        Pointed::Host(_) if size_bytes > 0 && !queue.device().unification().any_host_memory => Err(
            Error::invalid_value(format!("{pointer:?} is not shared memory of the context")),
        ),
        _ => Ok(pointed),
    }
}
