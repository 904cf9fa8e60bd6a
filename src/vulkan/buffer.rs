//! Buffers with device addresses.
//!
//! Every buffer is one `VkBuffer`, or a part of one ([`super::unified_pool`]), for the whole of its life. Its memory is
//! sub-allocated where small, a `VkDeviceMemory` of its own where large, several where larger than one may be
//! ([`super::sparse`]), or the application's own memory, imported.

use std::any::Any;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};

use super::buffer_descriptors;
use super::conv::buffer_usage;
use super::device::Device;
use super::error::Error;
use super::host_range::HostRange;

/// `CL_DEVICE_MEM_BASE_ADDR_ALIGN` in bytes: at least the size of `long16`.
pub const BASE_ALIGNMENT_BYTES: u64 = 256;

/// Alignment of memory for texels: more than images of linear tiling ask for where it is known, and as their
/// sizes are rounded.
const TEXEL_ALIGNMENT_BYTES: u64 = 4096;

/// Device buffers up to this size lie where the host can write them, if there is such memory: a write is then a copy
/// and not a submission.
const WINDOW_BYTES: u64 = 64 << 10;

/// From this size on a buffer gets memory of its own.
const DEDICATED_BYTES: u64 = 32 << 20;

/// Where a buffer's memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// The device's own memory; host-visible too where that costs nothing (unified memory).
    Device,
    /// Memory of [`MemoryKind::Device`] that the device may read through [`super::Texture`] too.
    Texels,
    /// Host memory that the device reads: staging on the way to the device, arguments.
    Upload,
    /// Small and read again and again by the device, now and then written by the host: the device's own memory
    /// where the host can reach that, else as `Upload`.
    Arguments,
    /// Cached host memory that the device writes: staging on the way back, `CL_MEM_ALLOC_HOST_PTR`.
    Readback,
}

/// A `VkBuffer` with bound memory and a device address.
pub struct Buffer {
    pub(super) handle: vk::Buffer,
    device: Arc<Device>,
    pub(super) memory: Memory,
    size_bytes: u64,
    /// The numbers of its descriptors, where those stand in for addresses.
    descriptors: Option<Range<u32>>,
    /// The device's address of the first byte that the owner asked for.
    pub(super) address: u64,
    /// Bytes before the first byte that the owner asked for (imported memory starts at a page).
    offset_bytes: u64,
    pub(super) mapped: Option<NonNull<u8>>,
    /// See [`Buffer::window`].
    window: Option<NonNull<u8>>,
    pub(super) host_cached: bool,
    /// Host memory at the device's address that is not the buffer's.
    pub(super) shadow: Option<NonNull<u8>>,
    /// The host's addresses set aside for the buffer's.
    pub(super) range: Option<HostRange>,
    /// Whether the memory is mapped there by Vulkan, which unmaps it too.
    pub(super) is_placed: bool,
    /// Where the host sees the first byte besides.
    pub(super) elsewhere: Option<NonNull<u8>>,
    /// The host's memory there, where the buffer's is imported.
    pub(super) imported: Option<HostRange>,
    holds_texels: bool,
}

pub(super) enum Memory {
    Managed(Option<Allocation>),
    /// A `VkDeviceMemory` for this buffer alone, allocated or imported.
    Own(vk::DeviceMemory),
    /// Several that together are this buffer's alone ([`super::sparse`]).
    Parts(Vec<vk::DeviceMemory>),
    /// That of the buffer which this one is a part of. So is the `VkBuffer`.
    Part {
        _part: Box<dyn Any + Send + Sync>,
    },
}

// SAFETY: the handle and the mapping are plain addresses; who reads or writes through the mapping
// synchronizes for itself.
unsafe impl Send for Buffer {}
// SAFETY: as above; no method changes the buffer through `&self`.
unsafe impl Sync for Buffer {}

impl Device {
    /// Creates a buffer of `size_bytes` (not 0). One larger than an allocation may be is never mapped.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`], [`Error::OutOfHostMemory`].
    pub fn create_buffer(
        self: &Arc<Self>,
        size_bytes: u64,
        kind: MemoryKind,
    ) -> Result<Buffer, Error> {
        // Room up to a whole vector: narrow accesses may be made as accesses to the word around them.
        let granule_bytes = match kind {
            MemoryKind::Texels if self.textures.is_some() => TEXEL_ALIGNMENT_BYTES,
            _ => 16,
        };
        let room_bytes = size_bytes
            .checked_next_multiple_of(granule_bytes)
            .ok_or(Error::OutOfDeviceMemory)?;
        if room_bytes > self.info().largest_buffer_bytes() {
            return Err(Error::OutOfDeviceMemory);
        }
        if self.needs_sparse_buffer(room_bytes) {
            return self.create_sparse_buffer(size_bytes, room_bytes);
        }
        let create = vk::BufferCreateInfo::default()
            .size(room_bytes)
            .usage(self.buffer_usage())
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        // SAFETY: a live device; the size is within its limit.
        let handle = unsafe { self.raw.create_buffer(&create, None) }
            .map_err(Error::of("vkCreateBuffer"))?;
        let mut buffer = Buffer::unbound(self, handle, size_bytes);
        buffer.holds_texels = granule_bytes == TEXEL_ALIGNMENT_BYTES;
        let allocation = self.allocate_for(handle, kind)?;
        let is_device = matches!(kind, MemoryKind::Device | MemoryKind::Texels);
        let hidden = self.instance.options.discrete && is_device;
        buffer.host_cached = allocation
            .memory_properties()
            .contains(vk::MemoryPropertyFlags::HOST_CACHED);
        let mapped = allocation.mapped_ptr().map(NonNull::cast);
        let is_small = kind == MemoryKind::Device && size_bytes <= WINDOW_BYTES;
        if is_small && (hidden || !buffer.host_cached) {
            buffer.window = mapped
        } else {
            buffer.mapped = mapped.filter(|_| !hidden)
        }
        // SAFETY: the memory was allocated for this buffer's requirements and is bound to it only.
        let bound = unsafe {
            self.raw
                .bind_buffer_memory(handle, allocation.memory(), allocation.offset())
        };
        buffer.memory = Memory::Managed(Some(allocation));
        bound.map_err(Error::of("vkBindBufferMemory"))?;
        self.give_address(&mut buffer, room_bytes)?;
        Ok(buffer)
    }

    fn allocate_for(&self, handle: vk::Buffer, kind: MemoryKind) -> Result<Allocation, Error> {
        // SAFETY: the buffer was made from this device.
        let mut requirements = unsafe { self.raw.get_buffer_memory_requirements(handle) };
        requirements.alignment = requirements.alignment.max(BASE_ALIGNMENT_BYTES);
        let textures = match kind {
            MemoryKind::Texels => self.textures.as_ref(),
            _ => None,
        };
        if let Some(textures) = textures {
            requirements.alignment = requirements.alignment.max(TEXEL_ALIGNMENT_BYTES);
            let both = requirements.memory_type_bits & textures.memory_type_bits(&self.raw)?;
            if both != 0 {
                requirements.memory_type_bits = both;
            }
        }
        let all_types = requirements.memory_type_bits;
        let preferred = self.preferred_types(all_types, kind);
        requirements.memory_type_bits = preferred;
        if kind == MemoryKind::Device && requirements.size <= WINDOW_BYTES {
            let in_window = self.window_types(preferred);
            if in_window != 0 {
                requirements.memory_type_bits = in_window;
            }
        }
        // Memory dedicated to a buffer is for no image.
        let scheme = if requirements.size >= DEDICATED_BYTES && textures.is_none() {
            AllocationScheme::DedicatedBuffer(handle)
        } else {
            AllocationScheme::GpuAllocatorManaged
        };
        let location = match kind {
            MemoryKind::Device | MemoryKind::Texels => MemoryLocation::GpuOnly,
            MemoryKind::Upload | MemoryKind::Arguments => MemoryLocation::CpuToGpu,
            MemoryKind::Readback => MemoryLocation::GpuToCpu,
        };
        let allocate = |requirements| {
            self.allocator().allocate(&AllocationCreateDesc {
                name: "buffer",
                requirements,
                location,
                linear: true,
                allocation_scheme: scheme,
            })
        };
        let first = allocate(requirements);
        if first.is_ok() || requirements.memory_type_bits == preferred {
            return Ok(first?);
        }
        // The window may be small.
        requirements.memory_type_bits = preferred;
        Ok(allocate(requirements)?)
    }

    /// The memory types in `bits` that are the device's own memory, which the host writes over the bus.
    fn window_types(&self, bits: u32) -> u32 {
        let types = self.info().memory_types.iter().enumerate();
        types
            .filter(|(index, kind)| bits & (1 << index) != 0 && !kind.host_cached)
            .filter(|(_, kind)| kind.device_local && kind.host_visible && kind.host_coherent)
            .fold(0_u32, |bits, (index, _)| bits | (1 << index))
    }

    /// The memory types in `bits` that suit `kind` best; `bits` itself when none does.
    pub(super) fn preferred_types(&self, bits: u32, kind: MemoryKind) -> u32 {
        let types = &self.info().memory_types;
        let select = |wanted: &dyn Fn(&super::info::MemoryType) -> bool| {
            types
                .iter()
                .enumerate()
                .filter(|(index, kind)| bits & (1 << index) != 0 && wanted(kind))
                .fold(0_u32, |bits, (index, _)| bits | (1 << index))
        };
        let chosen = match kind {
            MemoryKind::Device | MemoryKind::Texels => select(&|kind| {
                kind.device_local && kind.host_visible && kind.host_coherent && kind.host_cached
            }),
            // Staging in device memory would be written over the bus and then copied once more.
            MemoryKind::Upload => {
                select(&|kind| kind.host_visible && kind.host_coherent && !kind.device_local)
            }
            MemoryKind::Arguments => {
                select(&|kind| kind.host_visible && kind.host_coherent && kind.device_local)
            }
            MemoryKind::Readback => {
                select(&|kind| kind.host_visible && kind.host_coherent && kind.host_cached)
            }
        };
        if chosen == 0 { bits } else { chosen }
    }

    /// What every buffer is used for.
    pub(super) fn buffer_usage(&self) -> vk::BufferUsageFlags {
        buffer_usage(self.buffer_descriptors.is_none())
    }

    /// What the memory of every buffer is allocated with.
    pub(super) fn memory_flags(&self) -> vk::MemoryAllocateFlagsInfo<'static> {
        let flags = match self.buffer_descriptors {
            None => vk::MemoryAllocateFlags::DEVICE_ADDRESS,
            Some(_) => vk::MemoryAllocateFlags::empty(),
        };
        vk::MemoryAllocateFlagsInfo::default().flags(flags)
    }

    /// Gives a `VkBuffer` of `room_bytes` with memory the address that kernels reach it by.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`] where descriptors stand in for addresses, and too few are left.
    pub(super) fn give_address(&self, buffer: &mut Buffer, room_bytes: u64) -> Result<(), Error> {
        buffer.address = match &self.buffer_descriptors {
            None => {
                let query = vk::BufferDeviceAddressInfo::default().buffer(buffer.handle);
                // SAFETY: made with SHADER_DEVICE_ADDRESS, bound to memory allocated with DEVICE_ADDRESS.
                unsafe { self.raw.get_buffer_device_address(&query) }
            }
            Some(descriptors) => {
                let numbers = descriptors.describe(&self.raw, buffer.handle, room_bytes)?;
                let first = numbers.start;
                buffer.descriptors = Some(numbers);
                buffer_descriptors::address_of(first)
            }
        };
        Ok(())
    }

    /// Makes the application's memory at `pointer` a buffer, without a copy (VK_EXT_external_memory_host).
    /// The pages around both ends come along, unused.
    ///
    /// # Errors
    /// [`Error::NotImportable`] where the device can't: the caller copies instead.
    ///
    /// # Safety
    /// `size_bytes` at `pointer` stay allocated until the buffer is dropped.
    pub unsafe fn import_host_memory(
        self: &Arc<Self>,
        pointer: NonNull<u8>,
        size_bytes: u64,
    ) -> Result<Buffer, Error> {
        let (Some(import), Some(alignment)) = (
            self.import.as_ref(),
            self.info().import_host_pointer_alignment_bytes,
        ) else {
            return Err(Error::NotImportable);
        };
        let start = pointer.as_ptr() as u64;
        let first = start - start % alignment;
        let offset_bytes = start - first;
        let room_bytes = offset_bytes
            .checked_add(size_bytes)
            .and_then(|end| end.checked_next_multiple_of(alignment))
            .ok_or(Error::NotImportable)?;
        // A page beyond the system's page size is not sure to be there.
        if alignment > 4096 || room_bytes > self.info().largest_allocation_bytes() {
            return Err(Error::NotImportable);
        }
        let page = first as *mut c_void;
        let handle_type = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(handle_type);
        let create = vk::BufferCreateInfo::default()
            .size(room_bytes)
            .usage(self.buffer_usage())
            .sharing_mode(vk::SharingMode::EXCLUSIVE)
            .push_next(&mut external);
        // SAFETY: a live device; the size is within its limit.
        let handle = unsafe { self.raw.create_buffer(&create, None) }
            .map_err(Error::of("vkCreateBuffer"))?;
        let mut buffer = Buffer::unbound(self, handle, size_bytes);
        buffer.offset_bytes = offset_bytes;
        buffer.mapped = Some(pointer);
        buffer.host_cached = true;

        let mut pointer_properties = vk::MemoryHostPointerPropertiesEXT::default();
        // SAFETY: the pointer is aligned as the device asks and valid by the caller's word.
        let queried = unsafe {
            (import.fp().get_memory_host_pointer_properties_ext)(
                self.raw.handle(),
                handle_type,
                page,
                &mut pointer_properties,
            )
        };
        queried.result().map_err(|_| Error::NotImportable)?;
        // SAFETY: the buffer was made from this device.
        let requirements = unsafe { self.raw.get_buffer_memory_requirements(handle) };
        let bits = requirements.memory_type_bits & pointer_properties.memory_type_bits;
        let coherent = self
            .info()
            .memory_types
            .iter()
            .enumerate()
            .find(|(index, kind)| {
                bits & (1 << index) != 0 && kind.host_visible && kind.host_coherent
            });
        let Some((memory_type, _)) = coherent else {
            return Err(Error::NotImportable);
        };
        if requirements.size > room_bytes {
            return Err(Error::NotImportable);
        }

        let mut host = vk::ImportMemoryHostPointerInfoEXT::default()
            .handle_type(handle_type)
            .host_pointer(page);
        let mut flags = self.memory_flags();
        let allocate = vk::MemoryAllocateInfo::default()
            .allocation_size(room_bytes)
            .memory_type_index(memory_type as u32)
            .push_next(&mut host)
            .push_next(&mut flags);
        // SAFETY: the pages exist (the caller's word) and the type can hold imported memory.
        let memory = unsafe { self.raw.allocate_memory(&allocate, None) }
            .map_err(|_| Error::NotImportable)?;
        buffer.memory = Memory::Own(memory);
        // SAFETY: the memory is as large as the buffer and of a type that it accepts.
        unsafe { self.raw.bind_buffer_memory(handle, memory, 0) }
            .map_err(Error::of("vkBindBufferMemory"))?;
        self.give_address(&mut buffer, room_bytes)?;
        buffer.address += offset_bytes;
        Ok(buffer)
    }
}

impl Buffer {
    /// `size_bytes` of it from `offset_bytes` on, as a buffer of their own, which holds `part`.
    pub(super) fn part(
        &self,
        offset_bytes: u64,
        size_bytes: u64,
        part: Box<dyn Any + Send + Sync>,
    ) -> Self {
        let within = |whole: Option<NonNull<u8>>| {
            NonNull::new(whole?.as_ptr().wrapping_add(offset_bytes as usize))
        };
        let mut buffer = Self::unbound(&self.device, self.handle, size_bytes);
        buffer.address = self.address + offset_bytes;
        buffer.offset_bytes = self.offset_bytes + offset_bytes;
        buffer.mapped = within(self.mapped);
        buffer.shadow = within(self.shadow);
        buffer.host_cached = self.host_cached;
        buffer.memory = Memory::Part { _part: part };
        buffer
    }

    /// A buffer without memory yet.
    pub(super) fn unbound(device: &Arc<Device>, handle: vk::Buffer, size_bytes: u64) -> Self {
        Self {
            handle,
            device: Arc::clone(device),
            memory: Memory::Managed(None),
            size_bytes,
            descriptors: None,
            address: 0,
            offset_bytes: 0,
            mapped: None,
            window: None,
            host_cached: false,
            shadow: None,
            range: None,
            is_placed: false,
            elsewhere: None,
            imported: None,
            holds_texels: false,
        }
    }

    /// Host memory at the buffer's device address that holds a copy at best
    /// ([`super::unification::HostView::Shadow`]).
    pub fn shadow(&self) -> Option<NonNull<u8>> {
        self.shadow
    }

    /// The device address of the first byte.
    pub fn device_address(&self) -> u64 {
        self.address
    }

    /// Where the host sees the first byte; `None` when only the device does.
    pub fn mapped(&self) -> Option<NonNull<u8>> {
        self.mapped
    }

    /// Where the host can write the first byte of a small buffer in the device's own memory, over the bus. To read
    /// there is slow: the buffer is not [`Buffer::mapped`].
    pub fn window(&self) -> Option<NonNull<u8>> {
        self.window
    }

    /// Whether the host reads the mapping at full speed.
    pub fn is_host_cached(&self) -> bool {
        self.host_cached && self.mapped.is_some()
    }

    /// The size that was asked for at creation, in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The buffer as Vulkan counts it: offset of the owner's first byte.
    pub(super) fn offset_bytes(&self) -> u64 {
        self.offset_bytes
    }

    /// The memory of a buffer for texels, where in it the byte at `offset_bytes` lies, and where the buffer's part
    /// ends.
    pub(super) fn texel_memory(&self, offset_bytes: u64) -> Option<(vk::DeviceMemory, u64, u64)> {
        let Memory::Managed(Some(allocation)) = &self.memory else {
            return None;
        };
        if !self.holds_texels || allocation.is_dedicated() {
            return None;
        }
        let place = allocation.offset() + self.offset_bytes + offset_bytes;
        let end = allocation.offset() + allocation.size();
        // SAFETY: the memory is freed after everything that is made over the buffer.
        Some((unsafe { allocation.memory() }, place, end))
    }

    /// The `VkDeviceMemory` that is the buffer's alone.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn own_memory(&self) -> Result<vk::DeviceMemory, Error> {
        match self.memory {
            Memory::Own(memory) => Ok(memory),
            _ => Err(Error::Unsupported("memory without a home".to_owned())),
        }
    }

    /// The device that it was made from.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if !matches!(self.memory, Memory::Part { .. }) {
            // SAFETY: whoever submits work holds its buffers until the work is done.
            unsafe { self.device.raw.destroy_buffer(self.handle, None) };
            if let (Some(descriptors), Some(numbers)) =
                (&self.device.buffer_descriptors, self.descriptors.take())
            {
                descriptors.release(numbers);
            }
        }
        match &mut self.memory {
            Memory::Part { .. } => {}
            Memory::Managed(allocation) => {
                if let Some(allocation) = allocation.take()
                    && let Err(error) = self.device.allocator().free(allocation)
                {
                    log::error!("a buffer's memory could not be freed: {error}");
                }
            }
            Memory::Own(memory) => {
                // SAFETY: bound only to the buffer destroyed above.
                unsafe { self.device.raw.free_memory(*memory, None) };
                if self.is_placed {
                    // The mapping has taken the range over, and ended with the memory.
                    std::mem::forget(self.range.take());
                }
            }
            Memory::Parts(parts) => {
                for memory in parts {
                    // SAFETY: bound only to the buffer destroyed above.
                    unsafe { self.device.raw.free_memory(*memory, None) };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_device;
    use super::*;

    #[test]
    fn buffers_have_distinct_aligned_addresses() {
        let Some(device) = test_device::get() else {
            return;
        };
        let first = device.create_buffer(5, MemoryKind::Device).unwrap();
        let second = device.create_buffer(1 << 20, MemoryKind::Device).unwrap();
        assert_ne!(first.device_address(), second.device_address());
        assert_eq!(first.device_address() % 128, 0);
        assert_eq!(second.device_address() % 128, 0);
        assert_eq!(first.size_bytes(), 5);
    }

    #[test]
    fn staging_is_mapped() {
        let Some(device) = test_device::get() else {
            return;
        };
        for kind in [MemoryKind::Upload, MemoryKind::Readback] {
            assert!(device.create_buffer(64, kind).unwrap().mapped().is_some());
        }
    }

    #[test]
    fn too_large_is_out_of_memory() {
        let Some(device) = test_device::get() else {
            return;
        };
        for size in [u64::MAX, u64::MAX / 2, 1 << 50] {
            let error = device.create_buffer(size, MemoryKind::Device).err();
            assert_eq!(error, Some(Error::OutOfDeviceMemory), "{size}");
        }
    }

    #[test]
    fn the_largest_allocation_is_a_buffers() {
        let Some(device) = test_device::get() else {
            return;
        };
        let heaps = device.info().memory_heaps.iter();
        let heap_bytes = heaps.map(|heap| heap.size_bytes).max().unwrap_or(0);
        // What the machine has free is not known.
        let largest_bytes = device.info().largest_allocation_bytes().min(heap_bytes / 2);
        let made = device.create_buffer(largest_bytes, MemoryKind::Device);
        assert_eq!(made.map(|it| it.size_bytes()), Ok(largest_bytes));
    }

    #[test]
    fn host_memory_is_imported_wherever_it_starts() {
        let Some(device) = test_device::get() else {
            return;
        };
        if device.info().import_host_pointer_alignment_bytes.is_none() {
            eprintln!("skipped: no VK_EXT_external_memory_host");
            return;
        }
        let mut memory = vec![7_u8; 10_000];
        let pointer = NonNull::new(&raw mut memory[100]).unwrap();
        // SAFETY: the vector outlives the buffer.
        let buffer = unsafe { device.import_host_memory(pointer, 5_000) }.unwrap();
        assert_eq!(buffer.mapped(), Some(pointer));
        assert_eq!(buffer.size_bytes(), 5_000);
    }
}
