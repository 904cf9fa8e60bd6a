//! A device as a member of a context, opened: what tells where on it the context's memory objects are.

use super::Device;
use crate::vulkan;
use std::sync::Arc;

/// A device of a context.
#[derive(Clone)]
pub struct ContextDevice {
    index: usize,
    device: Arc<Device>,
    vulkan: Arc<vulkan::Device>,
}

impl ContextDevice {
    /// The device at place `index` in the context's list, whose `VkDevice` is `vulkan`.
    pub fn new(index: usize, device: &Arc<Device>, vulkan: &Arc<vulkan::Device>) -> Self {
        Self {
            index,
            device: Arc::clone(device),
            vulkan: Arc::clone(vulkan),
        }
    }

    /// Its place in the context's list: how objects keep what they have per device.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The device itself.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Its `VkDevice`.
    pub fn vulkan(&self) -> &Arc<vulkan::Device> {
        &self.vulkan
    }
}
