//! Regions of memory objects that the host has mapped.

use super::storage::Place;
use crate::runtime::allocation::Allocation;
use crate::runtime::host_memory::layout::{Extent, Layout};
use crate::runtime::host_memory::pointer::HostPointer;
use opencl_sys::{CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION, cl_map_flags};
use std::sync::Arc;

/// A region that the host has mapped.
#[derive(Clone)]
pub struct Mapping {
    pub pointer: HostPointer,
    /// The region in the memory object; the host sees it with the same pitches.
    pub extent: Extent,
    pub layout: Layout,
    pub flags: cl_map_flags,
    pub way: MappingWay,
    /// The device whose contents the host sees, by its place in the context, and where they are.
    pub(in crate::runtime) device: usize,
    pub(in crate::runtime) place: Place,
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

impl Mapping {
    /// What the application sees through it, if that is memory which a device reaches.
    pub(in crate::runtime) fn seen(&self) -> Option<&Arc<Allocation>> {
        match &self.way {
            MappingWay::Direct => Some(&self.place.allocation),
            MappingWay::Staged(staging) => Some(staging),
            MappingWay::HostPointer => None,
        }
    }

    pub(in crate::runtime) fn writes(&self) -> bool {
        writes(self.flags)
    }
}

/// Whether a map is for writing.
pub(in crate::runtime) fn writes(flags: cl_map_flags) -> bool {
    flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0
}
