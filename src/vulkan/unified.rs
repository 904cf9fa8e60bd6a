//! Buffers whose device address means something to the host too: shared virtual memory.
//!
//! On software drivers a device address *is* a host pointer; that is found out by comparing the two. On other
//! devices the host addresses equal to a buffer's device addresses are set aside, and then either the
//! buffer's memory itself is mapped there (VK_EXT_map_memory_placed), or memory of the host's own, to be
//! copied to and from the buffer, or nothing at all. Where another use of the address is in the way, the next
//! buffer has another address.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;

use super::buffer::{Buffer, Memory, MemoryKind};
use super::conv::BUFFER_USAGE;
use super::device::Device;
use super::error::Error;
use super::host_range::{HostRange, HostUse, page_bytes};
use super::info::{DeviceType, MemoryType};
use super::unification::{HostView, Unification};
use super::unified_pool;

/// Buffers whose addresses are taken are kept while this many others are tried.
const ATTEMPTS: usize = 16;

impl Device {
    /// What works, found out by trying, once.
    pub fn unification(self: &Arc<Self>) -> Unification {
        *self.unification.get_or_init(|| {
            let works = |view| self.create_whole_unified_buffer(64, view).is_ok();
            let found = Unification {
                direct: works(HostView::Direct),
                shadow: works(HostView::Shadow),
                any_host_memory: self.sees_host_memory(),
            };
            log::debug!("{}: {found:?}", self.info().name);
            found
        })
    }

    /// Whether device addresses are host addresses by nature, as on software drivers.
    fn addresses_are_pointers(self: &Arc<Self>) -> bool {
        *self.addresses_are_pointers.get_or_init(|| {
            self.create_buffer(64, MemoryKind::Readback)
                .is_ok_and(|buffer| is_at_own_address(&buffer))
        })
    }

    /// A device that runs in this process and gives memory that it did not allocate (imported memory) the
    /// address that the host knows it by has the process's address space for its own.
    fn sees_host_memory(self: &Arc<Self>) -> bool {
        if self.info().device_type != DeviceType::Cpu || !self.addresses_are_pointers() {
            return false;
        }
        let Ok(range) = HostRange::anywhere(page_bytes(), HostUse::Memory) else {
            return false;
        };
        // SAFETY: the range outlives the buffer, which ends within the expression.
        let imported = unsafe { self.import_host_memory(range.start(), range.size_bytes() as u64) };
        imported.is_ok_and(|buffer| is_at_own_address(&buffer))
    }

    /// A buffer of `size_bytes` (not 0) at an address that nothing else of the host uses. Small ones share memory.
    ///
    /// # Errors
    /// Memory ran out, or the device can't ([`Error::Unsupported`]).
    pub fn create_unified_buffer(
        self: &Arc<Self>,
        size_bytes: u64,
        view: HostView,
    ) -> Result<Buffer, Error> {
        unified_pool::create_buffer(self, size_bytes, view)
    }

    /// A buffer of `size_bytes` (not 0), with memory of its own, at an address that nothing else of the host uses.
    ///
    /// # Errors
    /// As [`Device::create_unified_buffer`].
    pub(super) fn create_whole_unified_buffer(
        self: &Arc<Self>,
        size_bytes: u64,
        view: HostView,
    ) -> Result<Buffer, Error> {
        if self.addresses_are_pointers() {
            let kind = match view {
                HostView::None => MemoryKind::Device,
                HostView::Direct | HostView::Shadow => MemoryKind::Readback,
            };
            let buffer = self.create_buffer(size_bytes, kind)?;
            if kind == MemoryKind::Device || is_at_own_address(&buffer) {
                return Ok(buffer);
            }
            return Err(Error::Unsupported(
                "a host pointer as an address".to_owned(),
            ));
        }
        if view == HostView::Direct && self.placed_mapping.is_none() {
            return Err(Error::Unsupported(
                "memory mapped at its device address".to_owned(),
            ));
        }
        let mut in_the_way = Vec::new();
        for _ in 0..ATTEMPTS {
            let (buffer, memory_bytes) = self.create_page_buffer(size_bytes, view)?;
            match self.place(buffer, memory_bytes, view)? {
                Ok(buffer) => return Ok(buffer),
                Err(taken) => in_the_way.push(taken),
            }
        }
        Err(Error::Unsupported(
            "device addresses that are free on the host".to_owned(),
        ))
    }

    /// A buffer with memory of its own, whole pages of it: how many bytes.
    fn create_page_buffer(
        self: &Arc<Self>,
        size_bytes: u64,
        view: HostView,
    ) -> Result<(Buffer, u64), Error> {
        let granule_bytes = self
            .info()
            .min_placed_map_alignment_bytes
            .unwrap_or(1)
            .max(page_bytes() as u64);
        let room_bytes = size_bytes
            .checked_next_multiple_of(granule_bytes)
            .filter(|room| *room <= self.info().largest_buffer_bytes())
            .ok_or(Error::OutOfDeviceMemory)?;
        if view != HostView::Direct && self.needs_sparse_buffer(room_bytes) {
            let buffer = self.create_sparse_buffer(size_bytes, room_bytes)?;
            return Ok((buffer, room_bytes));
        }
        let create = vk::BufferCreateInfo::default()
            .size(room_bytes)
            .usage(BUFFER_USAGE)
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        // SAFETY: a live device; the size is within its limit.
        let handle = unsafe { self.raw.create_buffer(&create, None) }
            .map_err(Error::of("vkCreateBuffer"))?;
        let mut buffer = Buffer::unbound(self, handle, size_bytes);
        // SAFETY: the buffer was made from this device.
        let requirements = unsafe { self.raw.get_buffer_memory_requirements(handle) };
        let kind = match view {
            HostView::Direct => MemoryKind::Readback,
            HostView::Shadow | HostView::None => MemoryKind::Device,
        };
        let bits = self.preferred_types(requirements.memory_type_bits, kind);
        let types = &self.info().memory_types;
        let first = |wanted: &dyn Fn(&MemoryType) -> bool| {
            (0..types.len()).find(|&index| bits & (1 << index) != 0 && wanted(&types[index]))
        };
        let host = || first(&|kind| kind.host_visible && kind.host_coherent);
        let memory_type = match view {
            HostView::Direct => host(),
            HostView::Shadow | HostView::None => first(&|kind| kind.device_local).or_else(host),
        };
        let memory_type =
            memory_type.ok_or_else(|| Error::Unsupported("a memory type for it".to_owned()))?;
        let memory_bytes = requirements
            .size
            .checked_next_multiple_of(granule_bytes)
            .ok_or(Error::OutOfDeviceMemory)?;
        let mut flags =
            vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let allocate = vk::MemoryAllocateInfo::default()
            .allocation_size(memory_bytes)
            .memory_type_index(memory_type as u32)
            .push_next(&mut flags);
        // SAFETY: a live device; the type is one of its own.
        let memory = unsafe { self.raw.allocate_memory(&allocate, None) }
            .map_err(Error::of("vkAllocateMemory"))?;
        buffer.memory = Memory::Own(memory);
        // SAFETY: the memory is as large as the buffer and of a type that it accepts.
        unsafe { self.raw.bind_buffer_memory(handle, memory, 0) }
            .map_err(Error::of("vkBindBufferMemory"))?;
        buffer.address = self.address_of(handle);
        Ok((buffer, memory_bytes))
    }

    /// Takes the host's addresses for `buffer`; gives it back when they are not free.
    #[allow(clippy::type_complexity)]
    fn place(
        &self,
        mut buffer: Buffer,
        memory_bytes: u64,
        view: HostView,
    ) -> Result<Result<Buffer, Buffer>, Error> {
        let purpose = match view {
            HostView::Shadow => HostUse::Memory,
            HostView::Direct | HostView::None => HostUse::Reserved,
        };
        let size_bytes = usize::try_from(memory_bytes).map_err(|_| Error::OutOfDeviceMemory)?;
        let range = match HostRange::at(buffer.address, size_bytes, purpose) {
            Ok(range) => range,
            Err(error) => {
                log::debug!("{:#x} is not free on the host: {error}", buffer.address);
                return Ok(Err(buffer));
            }
        };
        let start = range.start();
        match view {
            HostView::Direct => {
                let Memory::Own(memory) = buffer.memory else {
                    return Err(Error::Unsupported("memory without a home".to_owned()));
                };
                self.map_at(memory, start)?;
                buffer.mapped = Some(start);
                buffer.host_cached = true;
            }
            HostView::Shadow => buffer.shadow = Some(start),
            HostView::None => {}
        }
        buffer.range = Some(range);
        Ok(Ok(buffer))
    }

    /// Maps the whole of `memory` at `place`, a range of the host set aside for it.
    fn map_at(&self, memory: vk::DeviceMemory, place: NonNull<u8>) -> Result<(), Error> {
        let Some(functions) = &self.placed_mapping else {
            return Err(Error::Unsupported("VK_EXT_map_memory_placed".to_owned()));
        };
        let mut placed = vk::MemoryMapPlacedInfoEXT {
            p_placed_address: place.as_ptr().cast(),
            ..Default::default()
        };
        let map = vk::MemoryMapInfoKHR::default()
            .flags(vk::MemoryMapFlags::PLACED_EXT)
            .memory(memory)
            .offset(0)
            .size(vk::WHOLE_SIZE)
            .push_next(&mut placed);
        let mut pointer: *mut c_void = std::ptr::null_mut();
        // SAFETY: the memory is host-visible and not mapped; the range is ours and as long as the memory.
        let mapped =
            unsafe { (functions.fp().map_memory2_khr)(self.raw.handle(), &map, &mut pointer) };
        mapped.result().map_err(Error::of("vkMapMemory2"))
    }
}

fn is_at_own_address(buffer: &Buffer) -> bool {
    buffer
        .mapped()
        .is_some_and(|pointer| pointer.as_ptr() as u64 == buffer.device_address())
}

#[cfg(test)]
mod tests {
    use super::super::test_device;
    use super::*;

    #[test]
    fn what_works_gives_buffers_at_the_hosts_addresses() {
        let Some(device) = test_device::get() else {
            return;
        };
        let works = device.unification();
        let direct = device.create_unified_buffer(1000, HostView::Direct);
        assert_eq!(direct.is_ok(), works.direct);
        if let Ok(buffer) = &direct {
            assert!(is_at_own_address(buffer));
        }
        let shadow = device.create_unified_buffer(1000, HostView::Shadow);
        assert_eq!(shadow.is_ok(), works.shadow);
        if let Ok(buffer) = &shadow {
            let pointer = buffer.shadow().or(buffer.mapped()).unwrap();
            assert_eq!(pointer.as_ptr() as u64, buffer.device_address());
        }
        // Software drivers all have it.
        if device.info().device_type == DeviceType::Cpu {
            assert!(works.direct && works.shadow);
        }
    }
}
