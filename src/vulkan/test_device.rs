//! A Vulkan device for tests, shared by all of them.

#[path = "../../tests/common/skip.rs"]
pub(crate) mod skip;

use std::sync::{Arc, OnceLock};

use super::{Device, Instance, InstanceOptions};

/// The first usable device, `None` (said on standard error) only where this machine has none at all.
pub(crate) fn get() -> Option<Arc<Device>> {
    static DEVICE: OnceLock<Option<Arc<Device>>> = OnceLock::new();
    DEVICE
        .get_or_init(|| {
            let instance = match Instance::new(InstanceOptions {
                validate: true,
                discrete: false,
            }) {
                Ok(instance) => instance,
                Err(error) => {
                    eprintln!("{error}");
                    skip::no_device();
                    return None;
                }
            };
            let Some(index) = instance
                .physical_devices()
                .iter()
                .position(|device| device.unusable_reason.is_none())
            else {
                skip::no_device();
                return None;
            };
            Some(Device::new(&instance, index).expect("a usable device can be created"))
        })
        .clone()
}
