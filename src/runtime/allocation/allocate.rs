//! How memory objects get their allocations.

use super::Allocation;
use super::upload;
use crate::runtime::object::error::{Error, Result};
use crate::vulkan::{self, MemoryKind};
use std::ptr::NonNull;
use std::sync::Arc;

/// Where images start: at multiples of the largest texel, in bytes. Generated code reads texels where they are
/// aligned, and small ones in whole words.
pub const TEXEL_ALIGNMENT: usize = 16;

/// An allocation, sharing the application's memory where the device can, with its first contents.
pub(in crate::runtime) fn allocate(
    device: &Arc<vulkan::Device>,
    kind: MemoryKind,
    size_bytes: usize,
    shared: Option<NonNull<u8>>,
    initial: Option<&[u8]>,
) -> Result<Arc<Allocation>> {
    // Generated code reads texels where they are aligned.
    let shared = shared.filter(|pointer| {
        kind != MemoryKind::Texels || pointer.addr().get().is_multiple_of(TEXEL_ALIGNMENT)
    });
    if let Some(pointer) = shared {
        // SAFETY: the creator of the buffer promised that the memory outlives it.
        match unsafe { device.import_host_memory(pointer, size_bytes as u64) } {
            Ok(buffer) => return Ok(Allocation::from_buffer(buffer)),
            Err(error) => log::debug!("host memory is copied instead of shared: {error}"),
        }
    }
    let failed = |error: Error| match error.code() {
        opencl_sys::CL_OUT_OF_HOST_MEMORY => error,
        _ => Error::allocation_failure(format!("{size_bytes} bytes: {}", error.reason())),
    };
    let allocation = Allocation::new(device, size_bytes as u64, kind).map_err(failed)?;
    if let Some(bytes) = initial {
        upload::upload(device, &allocation, 0, bytes).map_err(failed)?;
    }
    Ok(allocation)
}
