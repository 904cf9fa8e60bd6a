//! What the host has mapped of a memory object, and how it sees it.

use super::Memory;
use crate::runtime::device::context_device::ContextDevice;
use crate::runtime::host_memory::layout::{Extent, Layout};
use crate::runtime::host_memory::pointer::HostPointer;
use crate::runtime::object::error::{Error, Result};
use crate::runtime::residency::mapping::{Mapping, MappingWay};
use crate::runtime::residency::storage::Place;

impl Memory {
    /// Notes a mapping, before anything is enqueued for it.
    ///
    /// # Errors
    /// "CL_INVALID_OPERATION if mapping would lead to overlapping regions being mapped for writing."
    pub(in crate::runtime) fn add_mapping(&self, mapping: Mapping) -> Result<()> {
        if mapping.writes() {
            let (layout, extent) = self.mapped_region(&mapping);
            self.storage().begin_writing(layout, extent)?;
        }
        if let Some(seen) = mapping.seen() {
            self.context().pinned().add(seen);
        }
        self.mappings().push(mapping);
        Ok(())
    }

    /// Takes out the mapping that was noted last of those at `pointer`. Nobody else may write there until
    /// [`Memory::end_mapping`].
    pub(in crate::runtime) fn take_mapping(&self, pointer: HostPointer) -> Option<Mapping> {
        let mut mappings = self.mappings();
        let found = mappings.iter().rposition(|it| it.pointer.0 == pointer.0)?;
        Some(mappings.remove(found))
    }

    /// A mapping that was taken out stays after all.
    pub(in crate::runtime) fn put_back(&self, mapping: Mapping) {
        self.mappings().push(mapping);
    }

    /// A mapping that was taken out is at its end.
    pub(in crate::runtime) fn end_mapping(&self, mapping: &Mapping) {
        if let Some(seen) = mapping.seen() {
            self.context().pinned().remove(seen);
        }
        if mapping.writes() {
            let (layout, extent) = self.mapped_region(mapping);
            self.storage().end_writing(layout, extent);
        }
    }

    /// In the storage.
    fn mapped_region(&self, mapping: &Mapping) -> (Layout, Extent) {
        let layout = Layout {
            offset_bytes: self.origin_bytes() + mapping.layout.offset_bytes,
            ..mapping.layout
        };
        (layout, mapping.extent)
    }

    /// How the host is to see the region at `offset_bytes`, and where. Allocates staging memory where it
    /// can't see the allocation.
    pub(in crate::runtime) fn mapping_way(
        &self,
        device: &ContextDevice,
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
                .staging(device, place.offset_bytes + offset_bytes, size_bytes)?;
        let base = staging
            .mapped()
            .ok_or_else(|| Error::impossible("staging memory is not visible to the host"))?;
        let pointer = base.as_ptr().wrapping_add(offset_bytes);
        Ok((HostPointer(pointer), MappingWay::Staged(staging)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::event::WaitList;
    use crate::runtime::test_queue;
    use crate::runtime::transfer::map::{MapRequest, enqueue_map, enqueue_unmap};
    use opencl_sys::{CL_COMPLETE, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_READ_WRITE};

    #[test]
    fn to_unmap_what_was_read_takes_no_memory_of_another_device() {
        let Some([here, there]) = test_queue::pair() else {
            return;
        };
        let size_bytes = 4096;
        // SAFETY: no host pointer.
        let memory = unsafe {
            Memory::buffer(
                here.context(),
                CL_MEM_READ_WRITE,
                size_bytes,
                None,
                Vec::new(),
            )
        }
        .unwrap();
        let copies = || memory.storage().allocations().len();
        let map = |flags| {
            let none = WaitList::new();
            let request = MapRequest::of_bytes(&memory, flags, 0, size_bytes, true);
            enqueue_map(&here, &request, none).unwrap().0
        };
        let unmap = |pointer| {
            let event = enqueue_unmap(&there, &memory, pointer, Ok(WaitList::new()));
            assert_eq!(event.unwrap().wait(), CL_COMPLETE);
        };
        unmap(map(CL_MAP_READ));
        assert_eq!(copies(), 1);
        // Nor what was written, for the device that it was mapped on.
        unmap(map(CL_MAP_WRITE));
        assert_eq!(copies(), 1);
        assert!(memory.mappings().is_empty());
    }
}
