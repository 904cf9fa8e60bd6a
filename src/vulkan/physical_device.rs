//! One physical device of the machine.

use super::info::PhysicalDeviceInfo;
use ash::vk;

/// One physical device.
#[derive(Clone, Debug)]
pub struct PhysicalDevice {
    pub info: PhysicalDeviceInfo,
    /// Why Pumice can't use it; `None` when it can.
    pub unusable_reason: Option<String>,
    pub(super) handle: vk::PhysicalDevice,
    /// The family that compute work goes to, when there is one.
    pub(super) queue_family: Option<u32>,
    /// The family that binds the memory of sparse buffers, where the device has them.
    pub(super) sparse_family: Option<u32>,
}
