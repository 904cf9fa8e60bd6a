//! Pipeline layouts, one for each size of push constants, with the textures or without.
//!
//! A pipeline's layout holds as much as its kernel reads and no more: on the H200 an enqueue takes 0.69 us so, 0.72 with
//! the 256 bytes that the device would take.

use super::error::Error;
use ash::vk;
use std::sync::{Mutex, PoisonError};

/// The layouts of a device, made when first asked for.
pub struct PipelineLayouts {
    limit_bytes: u32,
    /// The layout of descriptor set 0, if there is one.
    set: Option<vk::DescriptorSetLayout>,
    made: Mutex<Vec<(Key, vk::PipelineLayout)>>,
}

/// Bytes of push constants, and whether descriptor set 0 is there.
type Key = (u32, bool);

impl PipelineLayouts {
    /// For a device that takes `limit_bytes` of push constants.
    pub fn new(limit_bytes: u32, set: Option<vk::DescriptorSetLayout>) -> Self {
        Self {
            limit_bytes,
            set,
            made: Mutex::default(),
        }
    }

    /// The layout for so many bytes of push constants, rounded up to words; as many as the device takes without.
    /// `textures`: with descriptor set 0.
    ///
    /// # Errors
    /// What `vkCreatePipelineLayout` returns.
    pub fn of(
        &self,
        raw: &ash::Device,
        bytes: Option<u32>,
        textures: bool,
    ) -> Result<vk::PipelineLayout, Error> {
        let bytes = bytes.map_or(self.limit_bytes, |bytes| bytes.next_multiple_of(4));
        let set = self.set.filter(|_| textures);
        let key = (bytes, set.is_some());
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&(_, layout)) = made.iter().find(|(own, _)| *own == key) {
            return Ok(layout);
        }
        let range = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: bytes,
        }];
        let create = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(set.as_slice())
            .push_constant_ranges(if bytes > 0 { &range } else { &[] });
        // SAFETY: a live device, whose limit the range is within; the set's layout lives as long.
        let layout = unsafe { raw.create_pipeline_layout(&create, None) }
            .map_err(Error::of("vkCreatePipelineLayout"))?;
        made.push((key, layout));
        Ok(layout)
    }

    /// Destroys all layouts.
    ///
    /// # Safety
    /// Of a live device, no work of which is under way.
    pub unsafe fn destroy(&mut self, raw: &ash::Device) {
        let made = self.made.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (_, layout) in made.drain(..) {
            // SAFETY: made from the device, used by no work, by the caller's word.
            unsafe { raw.destroy_pipeline_layout(layout, None) };
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::vulkan::test_device;

    #[test]
    fn one_layout_for_each_size_in_words() {
        let Some(device) = test_device::get() else {
            return;
        };
        let layouts = &device.pipeline_layouts;
        let layout = |bytes| layouts.of(&device.raw, bytes, false).unwrap();
        assert_eq!(layout(Some(13)), layout(Some(16)));
        assert_ne!(layout(Some(16)), layout(Some(20)));
        let limit = device.info().limits.max_push_constant_bytes;
        assert_eq!(layout(None), layout(Some(limit)));
        assert_ne!(layout(Some(0)), layout(None));
        let with_textures = layouts.of(&device.raw, Some(16), true).unwrap();
        assert_eq!(layout(Some(16)) != with_textures, device.textures.is_some());
    }
}
