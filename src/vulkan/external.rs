//! Memory that others allocated, as file descriptors (VK_KHR_external_memory_fd, VK_EXT_external_memory_dma_buf).

use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use ash::vk;

use super::buffer::{Buffer, Memory};
use super::device::Device;
use super::error::Error;
use super::file_descriptors::{MemoryFd, map_memory_fd};

impl Device {
    /// Makes the memory behind `fd` a buffer of `size_bytes`. The descriptor is consumed, also by a failure.
    ///
    /// # Errors
    /// [`Error::NotImportable`] where the driver refuses it, [`Error::Unsupported`] where it can't at all.
    pub fn import_memory_fd(
        self: &Arc<Self>,
        kind: MemoryFd,
        fd: OwnedFd,
        size_bytes: u64,
    ) -> Result<Buffer, Error> {
        let functions = self
            .memory_fd
            .as_ref()
            .ok_or_else(|| Error::Unsupported("VK_KHR_external_memory_fd".to_owned()))?;
        if size_bytes > self.info().largest_allocation_bytes() {
            return Err(Error::OutOfDeviceMemory);
        }
        let handle_type = map_memory_fd(kind);
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(handle_type);
        let create = vk::BufferCreateInfo::default()
            .size(size_bytes)
            .usage(self.buffer_usage())
            .sharing_mode(vk::SharingMode::EXCLUSIVE)
            .push_next(&mut external);
        // SAFETY: a live device; the size is within its limit.
        let handle = unsafe { self.raw.create_buffer(&create, None) }
            .map_err(Error::of("vkCreateBuffer"))?;
        let mut buffer = Buffer::unbound(self, handle, size_bytes);
        // SAFETY: the buffer was made from this device.
        let requirements = unsafe { self.raw.get_buffer_memory_requirements(handle) };
        let mut bits = requirements.memory_type_bits;
        if kind == MemoryFd::DmaBuf {
            let mut found = vk::MemoryFdPropertiesKHR::default();
            let raw_fd = std::os::fd::AsRawFd::as_raw_fd(&fd);
            // SAFETY: a descriptor of ours; whatever it is, the driver looks.
            unsafe { functions.get_memory_fd_properties(handle_type, raw_fd, &mut found) }
                .map_err(|_| Error::NotImportable)?;
            bits &= found.memory_type_bits;
        }
        let types = &self.info().memory_types;
        let suits = |index: &usize| bits & (1 << index) != 0;
        // Opaque memory has the type that it was exported with, which nobody tells: the usual one is tried first.
        let mut candidates: Vec<usize> = (0..types.len()).filter(suits).collect();
        candidates.sort_by_key(|&index| !types[index].device_local);

        let mut last = Error::NotImportable;
        for memory_type in candidates {
            let own = fd.try_clone().map_err(|_| Error::OutOfHostMemory)?;
            let raw_fd = own.into_raw_fd();
            let mut import = vk::ImportMemoryFdInfoKHR::default()
                .handle_type(handle_type)
                .fd(raw_fd);
            let mut flags = self.memory_flags();
            let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().buffer(handle);
            let mut allocate = vk::MemoryAllocateInfo::default()
                .allocation_size(requirements.size)
                .memory_type_index(memory_type as u32)
                .push_next(&mut import)
                .push_next(&mut flags);
            if self.info().memory_fds.needs_dedicated {
                allocate = allocate.push_next(&mut dedicated);
            }
            // SAFETY: a live device; the descriptor is a copy made for this import.
            match unsafe { self.raw.allocate_memory(&allocate, None) } {
                Ok(memory) => {
                    buffer.memory = Memory::Own(memory);
                    // SAFETY: the memory was allocated for this buffer's requirements.
                    unsafe { self.raw.bind_buffer_memory(handle, memory, 0) }
                        .map_err(Error::of("vkBindBufferMemory"))?;
                    self.give_address(&mut buffer, size_bytes)?;
                    return Ok(buffer);
                }
                Err(result) => {
                    close_copy(&fd, raw_fd);
                    last = Error::from_vk("vkAllocateMemory", result);
                }
            }
        }
        log::debug!("{:?} is not importable: {last}", kind);
        Err(Error::NotImportable)
    }
}

/// Closes a copy of `fd` after an import that failed. The specification leaves it to us then; some drivers
/// have closed it themselves, and what has its number by now may be another's.
fn close_copy(fd: &OwnedFd, copy: RawFd) {
    // SAFETY: it was ours; it is asked what it is now, and closed if it is ours still.
    let copy = ManuallyDrop::new(unsafe { File::from_raw_fd(copy) });
    let own = fd.try_clone().map(File::from);
    let same = match (own.and_then(|it| it.metadata()), copy.metadata()) {
        (Ok(own), Ok(copy)) => (own.dev(), own.ino()) == (copy.dev(), copy.ino()),
        _ => false,
    };
    if same {
        drop(ManuallyDrop::into_inner(copy));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::{CopyRegion, MemoryKind, Recorder, Timeline, test_device};
    use super::*;
    use std::time::Duration;

    /// The kinds of descriptors that a device makes and takes.
    pub(crate) fn exchanged(device: &Device) -> Vec<MemoryFd> {
        let fds = &device.info().memory_fds;
        [
            (MemoryFd::Opaque, fds.opaque),
            (MemoryFd::DmaBuf, fds.dma_buf),
        ]
        .into_iter()
        .filter(|(_, support)| support.import && support.export)
        .map(|(kind, _)| kind)
        .collect()
    }

    /// Memory of another owner, with its descriptor.
    pub(crate) fn exported(
        device: &Arc<Device>,
        kind: MemoryFd,
        size_bytes: u64,
    ) -> (Buffer, OwnedFd) {
        let kind = map_memory_fd(kind);
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(kind);
        let create = vk::BufferCreateInfo::default()
            .size(size_bytes)
            .usage(device.buffer_usage())
            .push_next(&mut external);
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(kind);
        let mut flags = device.memory_flags();
        // SAFETY: a live device that exports such descriptors; the caller destroys both.
        unsafe {
            let buffer = device.raw.create_buffer(&create, None).unwrap();
            let requirements = device.raw.get_buffer_memory_requirements(buffer);
            let allocate = vk::MemoryAllocateInfo::default()
                .allocation_size(requirements.size)
                .memory_type_index(requirements.memory_type_bits.trailing_zeros())
                .push_next(&mut export)
                .push_next(&mut flags);
            let memory = device.raw.allocate_memory(&allocate, None).unwrap();
            device.raw.bind_buffer_memory(buffer, memory, 0).unwrap();
            let get = vk::MemoryGetFdInfoKHR::default()
                .memory(memory)
                .handle_type(kind);
            let functions = device.memory_fd.as_ref().unwrap();
            let fd = functions.get_memory_fd(&get).unwrap();
            let mut owned = Buffer::unbound(device, buffer, size_bytes);
            owned.memory = Memory::Own(memory);
            (owned, OwnedFd::from_raw_fd(fd))
        }
    }

    #[test]
    fn imported_memory_is_the_exporters() {
        let Some(device) = test_device::get() else {
            return;
        };
        for kind in exchanged(&device) {
            check_import(&device, kind);
        }
    }

    fn check_import(device: &Arc<Device>, kind: MemoryFd) {
        let (of_exporter, fd) = exported(device, kind, 4096);
        let imported = device.import_memory_fd(kind, fd, 4096).unwrap();
        let back = device.create_buffer(64, MemoryKind::Readback).unwrap();
        let timeline = Timeline::new(device).unwrap();
        let mut recorder = Recorder::new(device).unwrap();
        recorder.begin().unwrap();
        recorder.fill(&imported, 0, 4096, 0x1234_5678);
        recorder.full_barrier();
        let region = CopyRegion {
            source_offset_bytes: 1024,
            target_offset_bytes: 0,
            size_bytes: 64,
        };
        recorder.copy(&of_exporter, &back, [region]);
        recorder.end().unwrap();
        device
            .submit(device.spare_queue(), &[&recorder], &timeline, 1)
            .unwrap();
        assert!(timeline.wait(1, Duration::from_secs(20)).unwrap());
        // SAFETY: mapped, and the device is done.
        let word = unsafe { back.mapped().unwrap().cast::<u32>().read() };
        assert_eq!(word, 0x1234_5678, "{kind:?}");
    }

    #[test]
    fn a_descriptor_of_something_else_is_refused() {
        let Some(device) = test_device::get() else {
            return;
        };
        if !device.info().memory_fds.dma_buf.import {
            eprintln!("skipped: no dma-buf");
            return;
        }
        let file = std::fs::File::open("/dev/null").unwrap();
        let imported = device.import_memory_fd(MemoryFd::DmaBuf, file.into(), 4096);
        assert_eq!(imported.err(), Some(Error::NotImportable));
    }
}
