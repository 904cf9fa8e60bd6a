//! The bytes of a memory object: a storage, or a part of one.

use super::contents::AccessMode;
use super::fetch::Fetch;
use super::storage::{Place, Places, Storage};
use crate::runtime::device::context_device::ContextDevice;
use crate::runtime::host_memory::layout::{Extent, Layout};
use crate::runtime::object::error::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// The bytes of a memory object. What commands use is named by it, so that they do not keep the memory object.
pub struct Backing {
    storage: Arc<Storage>,
    /// Where in the storage the first byte is.
    origin_bytes: usize,
    size_bytes: usize,
}

impl Backing {
    /// All of a storage.
    pub(in crate::runtime) fn whole(storage: Storage) -> Arc<Self> {
        Arc::new(Self {
            origin_bytes: 0,
            size_bytes: storage.size_bytes,
            storage: Arc::new(storage),
        })
    }

    /// `size_bytes` of it from `origin_bytes` on.
    pub(in crate::runtime) fn part(&self, origin_bytes: usize, size_bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            storage: Arc::clone(&self.storage),
            origin_bytes: self.origin_bytes + origin_bytes,
            size_bytes,
        })
    }

    /// How many there are.
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Where in the storage the first one is.
    pub fn origin_bytes(&self) -> usize {
        self.origin_bytes
    }

    pub(in crate::runtime) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// Whether commands of `device` can use it: not what another device of the context has imported.
    pub fn is_within_reach(&self, device: &ContextDevice) -> bool {
        match &self.storage.places {
            Places::One(allocation) if self.storage.is_external => {
                Arc::ptr_eq(allocation.buffer().device(), device.vulkan())
            }
            _ => true,
        }
    }

    /// Where a command of `device` finds the contents, once they have been brought there: see [`super::contents`].
    ///
    /// # Errors
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE` when the device has no room for it; `CL_INVALID_OPERATION` for external
    /// memory of another device.
    pub fn place(&self, device: &ContextDevice) -> Result<Place> {
        let storage = &*self.storage;
        if storage.is_external && !self.is_within_reach(device) {
            return Err(Error::invalid_operation(
                "external memory was imported for another device",
            ));
        }
        let allocation = match &storage.places {
            Places::One(allocation) => Arc::clone(allocation),
            Places::Shared(memory) => Arc::clone(memory.on(device)?),
            Places::Several(residency) => {
                residency.place(device.index(), storage.kind, storage.size_bytes)?
            }
        };
        Ok(Place {
            allocation,
            offset_bytes: storage.base_bytes + self.origin_bytes,
        })
    }

    /// Whether its place depends on the device that uses it, so that it must be brought there before each use.
    pub fn migrates(&self) -> bool {
        matches!(self.storage.places, Places::Several(_))
    }

    /// What a command of the device at place `device` has to have there before it uses `range`.
    pub(in crate::runtime) fn fetch(
        &self,
        device: usize,
        range: &Range<usize>,
        mode: AccessMode,
    ) -> Option<Fetch> {
        Fetch::new(&self.storage, device, self.in_storage(range), mode)
    }

    fn in_storage(&self, range: &Range<usize>) -> Range<usize> {
        let origin_bytes = self.origin_bytes();
        range.start + origin_bytes..range.end + origin_bytes
    }
}

/// The region of a memory object that a command uses.
#[derive(Clone)]
pub struct MemoryAccess {
    pub backing: Arc<Backing>,
    /// Counted from the memory object's first byte.
    pub range: Range<usize>,
    pub mode: AccessMode,
}

impl MemoryAccess {
    /// All of it.
    pub fn whole(backing: &Arc<Backing>, mode: AccessMode) -> Self {
        Self {
            backing: Arc::clone(backing),
            range: 0..backing.size_bytes(),
            mode,
        }
    }

    /// A rectangle that is read.
    pub fn read(backing: &Arc<Backing>, layout: Layout, extent: Extent) -> Self {
        Self {
            backing: Arc::clone(backing),
            range: layout.offset_bytes..layout.end_bytes(extent),
            mode: AccessMode::Read,
        }
    }

    /// A rectangle that is overwritten.
    pub fn write(backing: &Arc<Backing>, layout: Layout, extent: Extent) -> Self {
        let range = layout.offset_bytes..layout.end_bytes(extent);
        // What lies between the rows stays.
        let mode = if extent.size_bytes() == range.len() {
            AccessMode::Overwrite
        } else {
            AccessMode::Modify
        };
        Self {
            backing: Arc::clone(backing),
            range,
            mode,
        }
    }
}
