//! The memory of one unified buffer: whole pages, of which the host may get to see the file that they are of.

use std::ffi::c_void;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;

use super::buffer::{Buffer, Memory, MemoryKind};
use super::device::Device;
use super::error::Error;
use super::file_descriptors::{MemoryFd, map_memory_fd};
use super::host_range::{HostRange, HostUse, page_bytes};
use super::info::MemoryType;
use super::mapped_file::{MappedFile, may_be_written};
use super::unification::DirectWay;

/// Where the host chooses the address: no driver is known that needs more.
const CHOSEN_ALIGNMENT_BYTES: usize = 2 << 20;

/// What the host is to see at the addresses of a unified buffer ([`super::unification::HostView`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    Direct(DirectWay),
    Shadow,
    None,
}

impl Sight {
    /// What the host's range is at first.
    pub fn purpose(self) -> HostUse {
        match self {
            Self::Shadow => HostUse::Memory,
            Self::Direct(_) | Self::None => HostUse::Reserved,
        }
    }

    /// What the memory is handed over as.
    fn handle_type(self) -> Option<vk::ExternalMemoryHandleTypeFlags> {
        match self {
            Self::Direct(DirectWay::DmaBuf) => Some(map_memory_fd(MemoryFd::DmaBuf)),
            Self::Direct(DirectWay::OpaqueFd) => Some(map_memory_fd(MemoryFd::Opaque)),
            Self::Direct(DirectWay::Imported) => {
                Some(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT)
            }
            _ => None,
        }
    }
}

/// A buffer with memory of its own that the host does not see at its address yet.
pub(super) struct PageMemory {
    pub buffer: Buffer,
    pub memory_bytes: usize,
    /// What is to be mapped at the address.
    pub file: Option<MappedFile>,
}

impl Device {
    /// Whether the device claims what a way needs.
    ///
    /// # Errors
    /// [`Error::Unsupported`] with what is missing.
    pub(super) fn check_way(&self, way: DirectWay) -> Result<(), Error> {
        let info = self.info();
        let (has, what) = match way {
            // Found by comparing addresses.
            DirectWay::Pointers | DirectWay::MappedAgain => (true, ""),
            DirectWay::Placed => (self.placed_mapping.is_some(), "the extension"),
            DirectWay::DmaBuf => (info.memory_fds.dma_buf.export, "dma-bufs of its memory"),
            DirectWay::OpaqueFd => (info.memory_fds.opaque.export, "descriptors of its memory"),
            DirectWay::Imported => (
                self.import.is_some() && info.import_host_pointer_alignment_bytes.is_some(),
                "the extension",
            ),
        };
        if has {
            Ok(())
        } else {
            Err(Error::Unsupported(what.to_owned()))
        }
    }

    /// A buffer of `size_bytes` (not 0) with memory of its own. With `chooses` the host chooses its address, which is set
    /// aside then.
    ///
    /// # Errors
    /// Memory ran out, or the device can't ([`Error::Unsupported`]).
    pub(super) fn create_page_memory(
        self: &Arc<Self>,
        size_bytes: u64,
        sight: Sight,
        chooses: bool,
    ) -> Result<PageMemory, Error> {
        if let Sight::Direct(way) = sight {
            self.check_way(way)?;
        }
        let info = self.info();
        let granule_bytes = info
            .min_placed_map_alignment_bytes
            .unwrap_or(1)
            .max(info.import_host_pointer_alignment_bytes.unwrap_or(1))
            .max(page_bytes() as u64);
        let whole = |bytes: u64| bytes.checked_next_multiple_of(granule_bytes);
        let room_bytes = whole(size_bytes)
            .filter(|room| *room <= info.largest_buffer_bytes())
            .ok_or(Error::OutOfDeviceMemory)?;
        if self.needs_sparse_buffer(room_bytes) {
            return self.create_sparse_page_memory(size_bytes, room_bytes, sight);
        }
        let mut create = vk::BufferCreateInfo::default()
            .size(room_bytes)
            .usage(self.buffer_usage())
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        if chooses {
            create = create.flags(vk::BufferCreateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY);
        }
        let handle_type = sight.handle_type();
        let mut external = vk::ExternalMemoryBufferCreateInfo::default();
        if let Some(handle_type) = handle_type {
            external = external.handle_types(handle_type);
            create = create.push_next(&mut external);
        }
        // SAFETY: a live device; the size is within its limit.
        let handle = unsafe { self.raw.create_buffer(&create, None) }
            .map_err(Error::of("vkCreateBuffer"))?;
        let mut buffer = Buffer::unbound(self, handle, size_bytes);
        // SAFETY: the buffer was made from this device.
        let requirements = unsafe { self.raw.get_buffer_memory_requirements(handle) };
        let memory_bytes = whole(requirements.size).ok_or(Error::OutOfDeviceMemory)?;
        let host_bytes = usize::try_from(memory_bytes).map_err(|_| Error::OutOfDeviceMemory)?;
        let mut memory = PageMemory {
            memory_bytes: host_bytes,
            file: None,
            buffer: {
                if chooses {
                    let alignment = CHOSEN_ALIGNMENT_BYTES.max(requirements.alignment as usize);
                    let range = HostRange::aligned(host_bytes, alignment, sight.purpose());
                    buffer.range = Some(range.map_err(|_| Error::OutOfHostMemory)?);
                }
                buffer
            },
        };
        let mut bits = requirements.memory_type_bits;
        if sight == Sight::Direct(DirectWay::Imported) {
            bits &= self.import_file(&mut memory)?;
        }
        self.allocate(&mut memory, room_bytes, sight, bits)?;
        match sight {
            Sight::Direct(DirectWay::DmaBuf) => self.export(&mut memory, MemoryFd::DmaBuf)?,
            Sight::Direct(DirectWay::OpaqueFd) => self.export(&mut memory, MemoryFd::Opaque)?,
            Sight::Direct(DirectWay::MappedAgain) => self.find_mapped(&mut memory)?,
            _ => {}
        }
        Ok(memory)
    }

    /// Makes memory that takes several allocations: the host sees none of it.
    fn create_sparse_page_memory(
        self: &Arc<Self>,
        size_bytes: u64,
        room_bytes: u64,
        sight: Sight,
    ) -> Result<PageMemory, Error> {
        if matches!(sight, Sight::Direct(_)) {
            return Err(Error::OutOfDeviceMemory);
        }
        let buffer = self.create_sparse_buffer(size_bytes, room_bytes)?;
        let memory_bytes = usize::try_from(room_bytes).map_err(|_| Error::OutOfDeviceMemory)?;
        Ok(PageMemory {
            buffer,
            memory_bytes,
            file: None,
        })
    }

    /// Allocates the memory of a type among `bits`, and binds it to the buffer of `room_bytes`.
    fn allocate(
        &self,
        memory: &mut PageMemory,
        room_bytes: u64,
        sight: Sight,
        bits: u32,
    ) -> Result<(), Error> {
        let buffer = &mut memory.buffer;
        let kind = match sight {
            Sight::Direct(_) => MemoryKind::Readback,
            Sight::Shadow | Sight::None => MemoryKind::Device,
        };
        let bits = self.preferred_types(bits, kind);
        let types = &self.info().memory_types;
        let first = |wanted: &dyn Fn(&MemoryType) -> bool| {
            (0..types.len()).find(|&index| bits & (1 << index) != 0 && wanted(&types[index]))
        };
        let host = || first(&|kind| kind.host_visible && kind.host_coherent);
        let memory_type = match sight {
            Sight::Direct(_) => host(),
            Sight::Shadow | Sight::None => first(&|kind| kind.device_local).or_else(host),
        };
        let memory_type =
            memory_type.ok_or_else(|| Error::Unsupported("a memory type for it".to_owned()))?;

        let mut allocate = vk::MemoryAllocateInfo::default()
            .allocation_size(memory.memory_bytes as u64)
            .memory_type_index(memory_type as u32);
        let mut flags = self.memory_flags().flags;
        let mut chosen = vk::MemoryOpaqueCaptureAddressAllocateInfo::default();
        if let Some(range) = &buffer.range {
            flags |= vk::MemoryAllocateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY;
            chosen = chosen.opaque_capture_address(range.start().as_ptr() as u64);
            allocate = allocate.push_next(&mut chosen);
        }
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(flags);
        allocate = allocate.push_next(&mut flags);
        let mut export = vk::ExportMemoryAllocateInfo::default();
        let mut import = vk::ImportMemoryHostPointerInfoEXT::default();
        let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().buffer(buffer.handle);
        match (sight.handle_type(), &buffer.imported) {
            (Some(handle_type), Some(imported)) => {
                import = import
                    .handle_type(handle_type)
                    .host_pointer(imported.start().as_ptr().cast());
                allocate = allocate.push_next(&mut import);
            }
            (Some(handle_type), None) => {
                export = export.handle_types(handle_type);
                allocate = allocate.push_next(&mut export);
                if self.info().memory_fds.needs_dedicated {
                    allocate = allocate.push_next(&mut dedicated);
                }
            }
            (None, _) => {}
        }
        // SAFETY: a live device; the type is one of its own; memory that is imported is the buffer's for its life.
        let made = unsafe { self.raw.allocate_memory(&allocate, None) };
        let handle = made.map_err(|result| match result {
            // The extension's document warns of it where addresses are not replayed.
            vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS => {
                Error::Unsupported("memory at addresses that the host chooses".to_owned())
            }
            other => Error::from_vk("vkAllocateMemory", other),
        })?;
        buffer.memory = Memory::Own(handle);
        buffer.host_cached = types[memory_type].host_cached;
        // SAFETY: the memory is as large as the buffer and of a type that it accepts.
        unsafe { self.raw.bind_buffer_memory(buffer.handle, handle, 0) }
            .map_err(Error::of("vkBindBufferMemory"))?;
        self.give_address(buffer, room_bytes)?;
        let is_elsewhere = |range: &HostRange| range.start().as_ptr() as u64 != buffer.address;
        if buffer.range.as_ref().is_some_and(is_elsewhere) {
            return Err(Error::Unsupported("the address that was chosen".to_owned()));
        }
        Ok(())
    }

    /// Makes memory of the host, to be imported: the memory types that take it.
    fn import_file(&self, memory: &mut PageMemory) -> Result<u32, Error> {
        let import = self.import.as_ref().ok_or(Error::NotImportable)?;
        let file = new_file(memory.memory_bytes)?;
        let range = HostRange::of_file(file.as_fd(), memory.memory_bytes)
            .map_err(|_| Error::OutOfHostMemory)?;
        let mut properties = vk::MemoryHostPointerPropertiesEXT::default();
        // SAFETY: whole pages of ours.
        let asked = unsafe {
            (import.fp().get_memory_host_pointer_properties_ext)(
                self.raw.handle(),
                vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT,
                range.start().as_ptr().cast(),
                &mut properties,
            )
        };
        asked.result().map_err(|_| Error::NotImportable)?;
        memory.buffer.elsewhere = Some(range.start());
        memory.buffer.imported = Some(range);
        memory.file = Some(MappedFile {
            file,
            offset_bytes: 0,
        });
        Ok(properties.memory_type_bits)
    }

    /// Gets a descriptor of the memory that can be mapped.
    fn export(&self, memory: &mut PageMemory, kind: MemoryFd) -> Result<(), Error> {
        let functions = self
            .memory_fd
            .as_ref()
            .ok_or_else(|| Error::Unsupported("VK_KHR_external_memory_fd".to_owned()))?;
        let get = vk::MemoryGetFdInfoKHR::default()
            .memory(memory.buffer.own_memory()?)
            .handle_type(map_memory_fd(kind));
        // SAFETY: memory that was allocated for export as that kind; the descriptor is ours.
        let file = unsafe {
            let fd = functions.get_memory_fd(&get);
            OwnedFd::from_raw_fd(fd.map_err(Error::of("vkGetMemoryFdKHR"))?)
        };
        // SAFETY: a descriptor of ours.
        let (flags, size) = unsafe {
            (
                libc::fcntl(file.as_raw_fd(), libc::F_GETFL),
                libc::lseek(file.as_raw_fd(), 0, libc::SEEK_END),
            )
        };
        if !may_be_written(flags) {
            let what = "descriptors that may be written to".to_owned();
            return Err(Error::Unsupported(what));
        }
        // What can be mapped has a size. Beyond it the process would be ended by a signal.
        if size < memory.memory_bytes as libc::off_t {
            return Err(Error::Unsupported(
                "descriptors that can be mapped".to_owned(),
            ));
        }
        memory.file = Some(MappedFile {
            file,
            offset_bytes: 0,
        });
        Ok(())
    }

    /// Finds what the driver maps where the host maps the memory.
    fn find_mapped(&self, memory: &mut PageMemory) -> Result<(), Error> {
        let pointer = self.map_anywhere(&memory.buffer)?;
        memory.buffer.elsewhere = Some(pointer);
        let found = MappedFile::at(pointer.as_ptr() as u64, memory.memory_bytes as u64);
        let found = found.map_err(|error| Error::Unexpected {
            call: "the search for it",
            result: error.to_string(),
        });
        memory.file = Some(found?);
        Ok(())
    }

    /// Maps all of the buffer's own memory where the driver likes, until the memory is freed.
    pub(super) fn map_anywhere(&self, buffer: &Buffer) -> Result<NonNull<u8>, Error> {
        let memory = buffer.own_memory()?;
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: the memory is host-visible and not mapped.
        let pointer = unsafe { self.raw.map_memory(memory, 0, vk::WHOLE_SIZE, flags) }
            .map_err(Error::of("vkMapMemory"))?;
        NonNull::new(pointer.cast()).ok_or_else(|| Error::Unexpected {
            call: "vkMapMemory",
            result: "no address".to_owned(),
        })
    }

    /// Maps the whole of the buffer's own memory at `place`, a range of the host set aside for it.
    pub(super) fn map_at(&self, buffer: &Buffer, place: NonNull<u8>) -> Result<(), Error> {
        let memory = buffer.own_memory()?;
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

/// A file in memory, zero at first.
fn new_file(size_bytes: usize) -> Result<OwnedFd, Error> {
    let size = libc::off_t::try_from(size_bytes).map_err(|_| Error::OutOfHostMemory)?;
    // SAFETY: a name; the descriptor is new.
    unsafe {
        let file = libc::memfd_create(c"pumice".as_ptr(), libc::MFD_CLOEXEC);
        if file < 0 {
            return Err(Error::OutOfHostMemory);
        }
        let file = OwnedFd::from_raw_fd(file);
        if libc::ftruncate(file.as_raw_fd(), size) != 0 {
            return Err(Error::OutOfHostMemory);
        }
        Ok(file)
    }
}
