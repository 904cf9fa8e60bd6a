//! Where the commands of a queue run.

use super::Context;
use crate::runtime::device::Device;
use crate::runtime::device::context_device::ContextDevice;
use std::sync::Arc;

/// A `VkQueue` of a device, as a member of a context.
pub struct DeviceQueue {
    context: Arc<Context>,
    device: ContextDevice,
    vk_queue: usize,
}

impl DeviceQueue {
    /// The `VkQueue` with that number of a device of the context.
    pub fn new(context: &Arc<Context>, device: ContextDevice, vk_queue: usize) -> Self {
        Self {
            context: Arc::clone(context),
            device,
            vk_queue,
        }
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        self.device.device()
    }

    /// The device as a member of its context.
    pub fn context_device(&self) -> &ContextDevice {
        &self.device
    }

    /// The number of the `VkQueue` that commands go to.
    pub fn vk_queue(&self) -> usize {
        self.vk_queue
    }
}
