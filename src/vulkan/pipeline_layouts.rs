//! Pipeline layouts, one for each size of push constants, with descriptor sets or without.
//!
//! A pipeline's layout holds as much as its kernel reads and no more: on the H200 an enqueue takes 0.69 us so, 0.72 with
//! the 256 bytes that the device would take.

use super::error::Error;
use ash::vk;
use smallvec::SmallVec;
use std::sync::{Mutex, PoisonError};

/// The layouts of a device, made when first asked for.
pub struct PipelineLayouts {
    limit_bytes: u32,
    /// The layout of descriptor set 0, if there is one.
    textures: Option<vk::DescriptorSetLayout>,
    /// The layout of descriptor set 2, which all pipelines have if there is one.
    buffers: Option<vk::DescriptorSetLayout>,
    made: Mutex<Made>,
}

#[derive(Default)]
struct Made {
    pipelines: Vec<(Key, vk::PipelineLayout)>,
    /// The layouts of set 1, and of a set without descriptors.
    uniforms: Option<vk::DescriptorSetLayout>,
    empty: Option<vk::DescriptorSetLayout>,
}

/// Which descriptor sets a pipeline has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sets {
    /// Set 0, of the device's textures.
    pub textures: bool,
    /// Set 1, of one uniform buffer ([`super::UniformBuffer`]).
    pub uniforms: bool,
}

/// Bytes of push constants, and the sets that are there.
type Key = (u32, Sets);

impl PipelineLayouts {
    /// For a device that takes `limit_bytes` of push constants.
    pub fn new(
        limit_bytes: u32,
        textures: Option<vk::DescriptorSetLayout>,
        buffers: Option<vk::DescriptorSetLayout>,
    ) -> Self {
        Self {
            limit_bytes,
            textures,
            buffers,
            made: Mutex::default(),
        }
    }

    /// The layout for so many bytes of push constants, rounded up to words; as many as the device takes without.
    ///
    /// # Errors
    /// What `vkCreatePipelineLayout` and `vkCreateDescriptorSetLayout` return.
    pub fn of(
        &self,
        raw: &ash::Device,
        bytes: Option<u32>,
        sets: Sets,
    ) -> Result<vk::PipelineLayout, Error> {
        let bytes = bytes.map_or(self.limit_bytes, |bytes| bytes.next_multiple_of(4));
        let textures = self.textures.filter(|_| sets.textures);
        let sets = Sets {
            textures: textures.is_some(),
            ..sets
        };
        let key = (bytes, sets);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = made.pipelines.iter();
        if let Some(&(_, layout)) = known.find(|(own, _)| *own == key) {
            return Ok(layout);
        }
        let uniforms = if sets.uniforms {
            Some(uniforms(raw, &mut made)?)
        } else {
            None
        };
        let mut layouts: SmallVec<[vk::DescriptorSetLayout; 3]> = SmallVec::new();
        for (number, layout) in [textures, uniforms, self.buffers].into_iter().enumerate() {
            let Some(layout) = layout else {
                continue;
            };
            while layouts.len() < number {
                layouts.push(set_layout(raw, &mut made.empty, &[])?);
            }
            layouts.push(layout);
        }
        let range = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: bytes,
        }];
        let create = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&layouts)
            .push_constant_ranges(if bytes > 0 { &range } else { &[] });
        // SAFETY: a live device, whose limit the range is within; the sets' layouts live as long.
        let layout = unsafe { raw.create_pipeline_layout(&create, None) }
            .map_err(Error::of("vkCreatePipelineLayout"))?;
        made.pipelines.push((key, layout));
        Ok(layout)
    }

    /// The layout of set 1.
    ///
    /// # Errors
    /// What `vkCreateDescriptorSetLayout` returns.
    pub fn uniforms(&self, raw: &ash::Device) -> Result<vk::DescriptorSetLayout, Error> {
        uniforms(
            raw,
            &mut self.made.lock().unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Destroys all layouts.
    ///
    /// # Safety
    /// `raw` is the live device that the layouts were made from, and no work of it is under way.
    pub unsafe fn destroy(&mut self, raw: &ash::Device) {
        let made = self.made.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: made from the device, used by no work, by the caller's word.
        unsafe {
            for (_, layout) in made.pipelines.drain(..) {
                raw.destroy_pipeline_layout(layout, None);
            }
            for set in [made.uniforms.take(), made.empty.take()]
                .into_iter()
                .flatten()
            {
                raw.destroy_descriptor_set_layout(set, None);
            }
        }
    }
}

fn uniforms(raw: &ash::Device, made: &mut Made) -> Result<vk::DescriptorSetLayout, Error> {
    let binding = vk::DescriptorSetLayoutBinding::default()
        .binding(0)
        .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)
        .descriptor_count(1)
        .stage_flags(vk::ShaderStageFlags::COMPUTE);
    set_layout(raw, &mut made.uniforms, &[binding])
}

/// The layout that has been made, or a new one.
fn set_layout(
    raw: &ash::Device,
    made: &mut Option<vk::DescriptorSetLayout>,
    bindings: &[vk::DescriptorSetLayoutBinding<'_>],
) -> Result<vk::DescriptorSetLayout, Error> {
    if let Some(made) = *made {
        return Ok(made);
    }
    let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings);
    // SAFETY: a live device; one descriptor is within the limits of all.
    let layout = unsafe { raw.create_descriptor_set_layout(&create, None) }
        .map_err(Error::of("vkCreateDescriptorSetLayout"))?;
    *made = Some(layout);
    Ok(layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vulkan::test_device;

    #[test]
    fn one_layout_for_each_size_in_words() {
        let Some(device) = test_device::get() else {
            return;
        };
        let layouts = &device.pipeline_layouts;
        let layout = |bytes| layouts.of(&device.raw, bytes, Sets::default()).unwrap();
        assert_eq!(layout(Some(13)), layout(Some(16)));
        assert_ne!(layout(Some(16)), layout(Some(20)));
        let limit = device.info().limits.max_push_constant_bytes;
        assert_eq!(layout(None), layout(Some(limit)));
        assert_ne!(layout(Some(0)), layout(None));
        let with = |textures, uniforms| {
            let sets = Sets { textures, uniforms };
            layouts.of(&device.raw, Some(16), sets).unwrap()
        };
        let has_textures = device.textures.is_some();
        assert_eq!(layout(Some(16)) != with(true, false), has_textures);
        assert_ne!(layout(Some(16)), with(false, true));
        assert_eq!(with(false, true) != with(true, true), has_textures);
    }
}
