//! What memory and semaphores are handed over as to others.

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
