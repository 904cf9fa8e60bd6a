//! Regions of memory objects that the host has mapped.

use super::allocation::Allocation;
use super::command::HostPointer;
use super::error::{Error, Result};
use super::layout::{Extent, Layout};
use super::memory::Memory;
use super::queue::Queue;
use super::storage::Place;
use opencl_sys::cl_map_flags;
use std::sync::Arc;

/// A region that the host has mapped.
pub struct Mapping {
    pub pointer: HostPointer,
    /// The region in the memory object; the host sees it with the same pitches.
    pub extent: Extent,
    pub layout: Layout,
    pub flags: cl_map_flags,
    pub way: MappingWay,
    /// The device whose contents the host sees, by its place in the context, and where they are.
    pub(super) device: Option<usize>,
    pub(super) place: Place,
}

/// How the host sees a mapped region.
#[derive(Clone)]
pub enum MappingWay {
    /// The allocation itself.
    Direct,
    /// Other memory, copied from and to the allocation.
    Staged(Arc<Allocation>),
    /// The application's `host_ptr`, copied from and to the allocation.
    HostPointer,
}

impl Memory {
    /// How the host is to see the region at `offset_bytes`, and where. Allocates staging memory where it
    /// can't see the allocation.
    pub(super) fn mapping_way(
        &self,
        queue: &Arc<Queue>,
        place: &Place,
        offset_bytes: usize,
        size_bytes: usize,
    ) -> Result<(HostPointer, MappingWay)> {
        let mapped = place.allocation.mapped();
        if let (Some(_), Some(host)) = (self.storage().shared, self.host_ptr()) {
            // "CL_MEM_USE_HOST_PTR: the pointer value returned is guaranteed to be derived from host_ptr."
            let pointer = host.0.wrapping_add(offset_bytes);
            let direct = mapped.is_some_and(|base| {
                base.as_ptr()
                    .wrapping_add(place.offset_bytes + offset_bytes)
                    == pointer
            });
            let way = if direct {
                MappingWay::Direct
            } else {
                MappingWay::HostPointer
            };
            return Ok((HostPointer(pointer), way));
        }
        if let Some(base) = mapped {
            let pointer = base
                .as_ptr()
                .wrapping_add(place.offset_bytes + offset_bytes);
            return Ok((HostPointer(pointer), MappingWay::Direct));
        }
        let (staging, offset_bytes) =
            self.storage()
                .staging(queue, place.offset_bytes + offset_bytes, size_bytes)?;
        let base = staging
            .mapped()
            .ok_or_else(|| Error::out_of_resources("staging memory is not visible to the host"))?;
        let pointer = base.as_ptr().wrapping_add(offset_bytes);
        Ok((HostPointer(pointer), MappingWay::Staged(staging)))
    }
}
