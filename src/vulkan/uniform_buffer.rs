//! A buffer's start as a uniform buffer: a descriptor set of its own, the only one of its pool.

use std::sync::Arc;

use ash::vk;

use super::buffer::Buffer;
use super::descriptor_set;
use super::device::Device;
use super::error::Error;

/// Descriptor set 1 of the pipelines that read it ([`super::PipelineOptions::reads_uniforms`]).
pub struct UniformBuffer {
    pub(super) set: vk::DescriptorSet,
    pool: vk::DescriptorPool,
    device: Arc<Device>,
}

impl UniformBuffer {
    /// The first `size_bytes` of `buffer`, which must outlive all work that reads them so; not 0, and within the device's limit.
    ///
    /// # Errors
    /// [`Error::OutOfHostMemory`], [`Error::OutOfDeviceMemory`].
    pub fn new(device: &Arc<Device>, buffer: &Buffer, size_bytes: u64) -> Result<Self, Error> {
        let raw = &device.raw;
        let layout = device.pipeline_layouts.uniforms(raw)?;
        let sizes = [vk::DescriptorPoolSize {
            ty: vk::DescriptorType::UNIFORM_BUFFER,
            descriptor_count: 1,
        }];
        let flags = vk::DescriptorPoolCreateFlags::empty();
        let (pool, set) = descriptor_set::allocate(raw, layout, &sizes, flags)?;
        let made = Self {
            set,
            pool,
            device: Arc::clone(device),
        };
        let buffers = [vk::DescriptorBufferInfo {
            buffer: buffer.handle,
            offset: buffer.offset_bytes(),
            range: size_bytes,
        }];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(made.set)
            .dst_binding(0)
            .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)
            .buffer_info(&buffers);
        // SAFETY: the set is new, the range is within the buffer by the caller's word, and buffers have the usage.
        unsafe { raw.update_descriptor_sets(&[write], &[]) };
        Ok(made)
    }
}

impl Drop for UniformBuffer {
    fn drop(&mut self) {
        // SAFETY: pipelines hold it, and whoever submits work holds those until it is done. The set goes along.
        unsafe { self.device.raw.destroy_descriptor_pool(self.pool, None) };
    }
}
