//! The clock of a device. Vulkan tells of none: the operating system does, or the driver by another library.

use crate::drivers::ClockSource;
use crate::runtime::host::{kernel_driver, nvidia_management, processors};
use crate::vulkan::PhysicalDeviceInfo;
use crate::vulkan::info::DeviceType;

/// The highest clock, MHz, where anybody tells.
pub(super) fn of(info: &PhysicalDeviceInfo) -> Option<u32> {
    match (info.device_type, info.driver.clock) {
        (DeviceType::Cpu, _) => processors::clock_mhz(),
        (_, ClockSource::Kernel) => kernel_driver::clock_mhz(info.drm?),
        (_, ClockSource::NvidiaManagement) => nvidia_management::clock_mhz(info.pci?),
    }
}
