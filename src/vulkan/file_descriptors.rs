//! What memory and semaphores are handed over as to others.

use std::os::fd::RawFd;

use ash::vk;

/// What the file descriptor of memory stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFd {
    /// Memory of the same driver.
    Opaque,
    /// A Linux dma-buf.
    DmaBuf,
}

/// How a semaphore is handed over as a file descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SemaphoreFd {
    /// Shares the semaphore itself, with the same driver.
    Opaque,
    /// A Linux sync file: a copy of the semaphore's pending signal.
    Sync,
}

/// `VkExternalMemoryHandleTypeFlagBits`
pub(super) fn map_memory_fd(kind: MemoryFd) -> vk::ExternalMemoryHandleTypeFlags {
    match kind {
        MemoryFd::Opaque => vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD,
        MemoryFd::DmaBuf => vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT,
    }
}

/// `VkExternalSemaphoreHandleTypeFlagBits`
pub(super) fn map_semaphore_fd(kind: SemaphoreFd) -> vk::ExternalSemaphoreHandleTypeFlags {
    match kind {
        SemaphoreFd::Opaque => vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD,
        SemaphoreFd::Sync => vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD,
    }
}

/// `struct sync_file_info` of `linux/sync_file.h`, asked for no fences.
#[repr(C)]
struct SyncFileInfo {
    name: [u8; 32],
    status: i32,
    flags: u32,
    num_fences: u32,
    pad: u32,
    fences: u64,
}

/// `SYNC_IOC_FILE_INFO`, which is `_IOWR('>', 4, struct sync_file_info)`
const SYNC_IOC_FILE_INFO: u32 =
    3 << 30 | (size_of::<SyncFileInfo>() as u32) << 16 | (b'>' as u32) << 8 | 4;

/// Whether a descriptor is a Linux sync file, as the kernel says.
pub(super) fn is_sync_file(fd: RawFd) -> bool {
    let mut info = SyncFileInfo {
        name: [0; 32],
        status: 0,
        flags: 0,
        num_fences: 0,
        pad: 0,
        fences: 0,
    };
    // SAFETY: a sync file writes to `info` alone, having no fences to tell; anything else refuses the number. One that is no
    // descriptor is refused, too.
    unsafe { libc::ioctl(fd, SYNC_IOC_FILE_INFO as _, &raw mut info) == 0 }
}
