//! The allocations behind memory objects.

use super::contents::Residency;
use super::shared::SharedMemory;
use crate::runtime::allocation::Allocation;
use crate::runtime::device::context_device::ContextDevice;
use crate::runtime::host_memory::layout::{Extent, Layout};
use crate::runtime::host_memory::pointer::HostPointer;
use crate::runtime::object::error::{Error, Result};
use crate::vulkan::MemoryKind;
use std::sync::{Arc, Mutex, PoisonError};

/// Buffers up to this size are mirrored whole however little of them is mapped.
const MIRROR_BYTES: usize = 16 << 20;

/// A place in an allocation.
#[derive(Clone)]
pub struct Place {
    pub allocation: Arc<Allocation>,
    /// Where the memory object's first byte lies in the allocation.
    pub offset_bytes: usize,
}

impl Place {
    pub fn device_address(&self) -> u64 {
        self.allocation.device_address() + self.offset_bytes as u64
    }
}

/// The allocations behind a buffer and its sub-buffers.
pub(in crate::runtime) struct Storage {
    pub size_bytes: usize,
    pub kind: MemoryKind,
    /// The application's memory, which the allocation shares or copies (`CL_MEM_USE_HOST_PTR`).
    pub shared: Option<HostPointer>,
    /// Where in its allocation it begins: not at the first byte when `shared` is shared virtual memory.
    pub base_bytes: usize,
    /// `CL_MEM_USES_SVM_POINTER`
    pub uses_svm: bool,
    /// Memory that others allocated, imported for one device.
    pub is_external: bool,
    pub places: Places,
    /// What the host sees of memory that it can't reach, made by the first map on each device.
    pub mirrors: Mutex<Vec<(usize, Arc<Allocation>)>>,
    /// What the host has mapped for writing, of the buffer and of all that lies in it.
    pub written: Mutex<Vec<(Layout, Extent)>>,
}

/// On which devices there is memory for it.
pub(in crate::runtime) enum Places {
    One(Arc<Allocation>),
    /// Shared virtual memory, which every device reaches at its one address.
    Shared(Arc<SharedMemory>),
    Several(Residency),
}

impl Storage {
    /// What it is where, in a context of several devices.
    pub fn residency(&self) -> Option<&Residency> {
        match &self.places {
            Places::Several(residency) => Some(residency),
            _ => None,
        }
    }

    /// The allocations that there are.
    pub fn allocations(&self) -> Vec<Arc<Allocation>> {
        match &self.places {
            Places::One(allocation) => vec![Arc::clone(allocation)],
            Places::Shared(memory) => memory.allocations().map(Arc::clone).collect(),
            Places::Several(residency) => residency.allocations(),
        }
    }

    /// The host maps a region for writing.
    ///
    /// # Errors
    /// "CL_INVALID_OPERATION if mapping would lead to overlapping regions being mapped for writing."
    pub fn begin_writing(&self, layout: Layout, extent: Extent) -> Result<()> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if (written.iter()).any(|(other, size)| layout.overlaps(extent, other, *size)) {
            return Err(Error::invalid_operation(
                "a part of the region is mapped for writing already",
            ));
        }
        written.push((layout, extent));
        Ok(())
    }

    /// That region is unmapped.
    pub fn end_writing(&self, layout: Layout, extent: Extent) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let found = written.iter().position(|it| *it == (layout, extent));
        if let Some(found) = found {
            written.swap_remove(found);
        }
    }

    /// Memory through which the host sees `size_bytes` at `offset_bytes` on the device, and where in it they
    /// are. A mirror of the whole buffer, so that mapping again costs no allocation, unless that is
    /// large and the region small.
    pub fn staging(
        &self,
        device: &ContextDevice,
        offset_bytes: usize,
        size_bytes: usize,
    ) -> Result<(Arc<Allocation>, usize)> {
        let staging = |size_bytes: usize| {
            Allocation::new(device.vulkan(), size_bytes as u64, MemoryKind::Readback)
        };
        if self.size_bytes > MIRROR_BYTES && size_bytes < self.size_bytes / 2 {
            return Ok((staging(size_bytes)?, 0));
        }
        let device = device.index();
        let mut mirrors = self.mirrors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, mirror)) = mirrors.iter().find(|(other, _)| *other == device) {
            return Ok((Arc::clone(mirror), offset_bytes));
        }
        let mirror = staging(self.size_bytes)?;
        mirrors.push((device, Arc::clone(&mirror)));
        Ok((mirror, offset_bytes))
    }
}
