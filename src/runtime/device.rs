//! Devices: one for each usable Vulkan physical device.

use super::object::{Handle, Kind, Object};

/// A device.
pub struct Device {
    handle: Handle,
}

// SAFETY: the only object of this kind.
unsafe impl Object for Device {
    const KIND: Kind = Kind::Device;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}
