//! Timeline semaphores that wait for their next owner.

use ash::vk;

/// A semaphore between two [`Timeline`]s, with its last value.
pub(super) struct UsedTimeline {
    pub(super) handle: vk::Semaphore,
    pub(super) value: u64,
}
