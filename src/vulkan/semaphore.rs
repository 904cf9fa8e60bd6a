//! Binary semaphores that other Vulkan devices, other processes and other APIs can share.

use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use ash::vk;

use super::device::Device;
use super::error::Error;
use super::file_descriptors::{SemaphoreFd, is_sync_file, map_semaphore_fd};

/// A `VkSemaphore` with two states. A wait must be submitted after the signal that it waits for.
pub struct BinarySemaphore {
    pub(super) handle: vk::Semaphore,
    device: Arc<Device>,
}

impl BinarySemaphore {
    /// A semaphore, not signalled, that can be exported as `exports`.
    ///
    /// # Errors
    /// Memory ran out.
    pub fn new(device: &Arc<Device>, exports: &[SemaphoreFd]) -> Result<Self, Error> {
        let types = exports.iter().fold(
            vk::ExternalSemaphoreHandleTypeFlags::empty(),
            |all, kind| all | map_semaphore_fd(*kind),
        );
        let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(types);
        let mut create = vk::SemaphoreCreateInfo::default();
        if !types.is_empty() {
            create = create.push_next(&mut export);
        }
        // SAFETY: a live device, which reported that it exports these types.
        let handle = unsafe { device.raw.create_semaphore(&create, None) }
            .map_err(Error::of("vkCreateSemaphore"))?;
        Ok(Self {
            handle,
            device: Arc::clone(device),
        })
    }

    /// A descriptor of the semaphore; of a sync file none when the signal is done already. Exporting a sync
    /// file is a wait: the semaphore is not signalled any more.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn export(&self, kind: SemaphoreFd) -> Result<Option<OwnedFd>, Error> {
        let functions = self.functions()?;
        let get = vk::SemaphoreGetFdInfoKHR::default()
            .semaphore(self.handle)
            .handle_type(map_semaphore_fd(kind));
        // SAFETY: a live semaphore, made for this export by the caller's word.
        let fd = unsafe { functions.get_semaphore_fd(&get) }
            .map_err(Error::of("vkGetSemaphoreFdKHR"))?;
        // SAFETY: a descriptor that the driver has given us, or -1.
        Ok((fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Takes over the payload behind `fd`: for good (opaque), or until the next wait (sync file, of which -1
    /// means that it is signalled). The driver owns the descriptor then.
    ///
    /// # Errors
    /// The driver refuses, or `fd` is no sync file: the descriptor is the caller's still.
    pub fn import(&self, kind: SemaphoreFd, fd: RawFd) -> Result<(), Error> {
        let functions = self.functions()?;
        // There are drivers that take whatever they are given.
        if kind == SemaphoreFd::Sync && fd >= 0 && !is_sync_file(fd) {
            return Err(Error::NotImportable);
        }
        let flags = match kind {
            SemaphoreFd::Opaque => vk::SemaphoreImportFlags::empty(),
            SemaphoreFd::Sync => vk::SemaphoreImportFlags::TEMPORARY,
        };
        let import = vk::ImportSemaphoreFdInfoKHR::default()
            .semaphore(self.handle)
            .flags(flags)
            .handle_type(map_semaphore_fd(kind))
            .fd(fd);
        // SAFETY: a live semaphore that nothing waits for; whatever the descriptor is, the driver looks.
        unsafe { functions.import_semaphore_fd(&import) }
            .map_err(Error::of("vkImportSemaphoreFdKHR"))
    }

    fn functions(&self) -> Result<&ash::khr::external_semaphore_fd::Device, Error> {
        self.device
            .semaphore_fd
            .as_ref()
            .ok_or_else(|| Error::Unsupported("VK_KHR_external_semaphore_fd".to_owned()))
    }
}

impl Drop for BinarySemaphore {
    fn drop(&mut self) {
        // SAFETY: submissions that name it hold it until they are done.
        unsafe { self.device.raw.destroy_semaphore(self.handle, None) };
    }
}
