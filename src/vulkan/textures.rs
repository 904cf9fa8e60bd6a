//! Images that texture units read: views of a buffer's memory with linear tiling, in one array of descriptors.
//!
//! A device has one descriptor set for all of its life. Descriptors are written while other ones are in use
//! (descriptor indexing), so nothing is bound for a launch but the set, once in a command buffer.

use std::sync::{Arc, PoisonError};

use ash::vk;

use super::buffer::Buffer;
use super::device::Device;
use super::error::Error;
use super::instance::Instance;
use super::texture_descriptors::{
    IMAGES_BINDING, SAMPLERS_BINDING, TEXTURES, TextureDescriptors, create_info,
};

/// How a sampler reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerSettings {
    pub normalized: bool,
    pub address: AddressMode,
    pub linear: bool,
    /// Whether the border colour's alpha is 1.
    pub opaque_border: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMode {
    Edge,
    Border,
    Repeat,
    Mirror,
}

/// Numbers of a texel's channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TexelNumbers {
    Unorm,
    Snorm,
    Float,
    /// Unorm, red, green and blue on the sRGB curve.
    Srgb,
}

/// What a texture's memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureDescription {
    /// The offset of the first texel in the buffer.
    pub offset_bytes: u64,
    pub width: u32,
    pub height: u32,
    pub row_pitch_bytes: u64,
    /// 1, 2 or 4; red first.
    pub channels: u32,
    /// 8, 16 or 32
    pub channel_bits: u32,
    pub numbers: TexelNumbers,
    /// Blue first.
    pub bgra: bool,
}

/// An image over a part of a buffer, with its descriptor. To be dropped before the buffer.
pub struct Texture {
    image: vk::Image,
    view: vk::ImageView,
    index: u32,
    device: Arc<Device>,
}

impl Device {
    /// Makes the samplers at their places in the array. Once, before the first texture is read.
    ///
    /// # Errors
    /// The driver makes no more.
    pub fn set_samplers(&self, settings: &[SamplerSettings]) -> Result<(), Error> {
        let Some(textures) = &self.textures else {
            return Ok(());
        };
        let lock = textures.samplers.lock();
        let mut samplers = lock.unwrap_or_else(PoisonError::into_inner);
        for (index, settings) in settings.iter().enumerate().skip(samplers.len()) {
            let create = map_sampler(settings);
            // SAFETY: a live device.
            let sampler = unsafe { self.raw.create_sampler(&create, None) }
                .map_err(Error::of("vkCreateSampler"))?;
            samplers.push(sampler);
            let info = [vk::DescriptorImageInfo::default().sampler(sampler)];
            self.write(
                textures,
                SAMPLERS_BINDING,
                vk::DescriptorType::SAMPLER,
                index as u32,
                &info,
            );
        }
        Ok(())
    }

    /// A texture over a part of a buffer; `None` where the device has no such one: no texture units to speak of,
    /// another pitch, memory of another kind. [`super::Recorder::prepare_texture`] must be recorded before its
    /// first use.
    ///
    /// # Errors
    /// The driver has no memory for it.
    pub fn create_texture(
        self: &Arc<Self>,
        buffer: &Buffer,
        description: &TextureDescription,
    ) -> Result<Option<Texture>, Error> {
        let Some(textures) = &self.textures else {
            return Ok(None);
        };
        let Some(format) = map_format(description) else {
            return Ok(None);
        };
        let Some((memory, place, end)) = buffer.texel_memory(description.offset_bytes) else {
            return Ok(None);
        };
        if !self.samples(format, description) {
            return Ok(None);
        }
        let create = create_info(format, description.width, description.height);
        // SAFETY: a live device, which was asked about such images.
        let image =
            unsafe { self.raw.create_image(&create, None) }.map_err(Error::of("vkCreateImage"))?;
        let index = {
            let mut free = textures.free.lock().unwrap_or_else(PoisonError::into_inner);
            free.pop()
        };
        // From here on a failure must destroy what there is: the owner does it.
        let mut texture = Texture {
            image,
            view: vk::ImageView::null(),
            index: index.unwrap_or(u32::MAX),
            device: Arc::clone(self),
        };
        let Some(index) = index else {
            return Ok(None);
        };
        // SAFETY: made from this device.
        let requirements = unsafe { self.raw.get_image_memory_requirements(image) };
        let subresource = vk::ImageSubresource {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            ..Default::default()
        };
        // SAFETY: an image of linear tiling.
        let layout = unsafe { self.raw.get_image_subresource_layout(image, subresource) };
        let memory_type_bits = textures.memory_type_bits(&self.raw)?;
        let fits = layout.offset == 0
            && layout.row_pitch == description.row_pitch_bytes
            && place.is_multiple_of(requirements.alignment)
            && place + requirements.size <= end
            && requirements.memory_type_bits & memory_type_bits == memory_type_bits;
        if !fits {
            log::debug!(
                "no texture over the memory of {description:?}: {layout:?}, {requirements:?}, at {place}"
            );
            return Ok(None);
        }
        // SAFETY: memory of a type, size and place that the image takes, not dedicated to anything.
        unsafe { self.raw.bind_image_memory(image, memory, place) }
            .map_err(Error::of("vkBindImageMemory"))?;
        let create = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(WHOLE);
        // SAFETY: the image is bound.
        texture.view = unsafe { self.raw.create_image_view(&create, None) }
            .map_err(Error::of("vkCreateImageView"))?;
        let info = [vk::DescriptorImageInfo::default()
            .image_view(texture.view)
            .image_layout(vk::ImageLayout::GENERAL)];
        self.write(
            textures,
            IMAGES_BINDING,
            vk::DescriptorType::SAMPLED_IMAGE,
            index,
            &info,
        );
        Ok(Some(texture))
    }

    /// Whether images of this format and size can be sampled and filtered in linear memory.
    fn samples(&self, format: vk::Format, description: &TextureDescription) -> bool {
        let instance: &Instance = &self.instance;
        // SAFETY: a physical device of the instance.
        let properties = unsafe {
            let raw = &instance.raw;
            raw.get_physical_device_format_properties(self.physical, format)
        };
        let wanted = vk::FormatFeatureFlags::SAMPLED_IMAGE
            | vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR;
        if !properties.linear_tiling_features.contains(wanted) {
            return false;
        }
        // SAFETY: as above.
        let limits = unsafe {
            instance.raw.get_physical_device_image_format_properties(
                self.physical,
                format,
                vk::ImageType::TYPE_2D,
                vk::ImageTiling::LINEAR,
                vk::ImageUsageFlags::SAMPLED,
                vk::ImageCreateFlags::empty(),
            )
        };
        limits.is_ok_and(|limits| {
            description.width <= limits.max_extent.width
                && description.height <= limits.max_extent.height
        })
    }

    fn write(
        &self,
        textures: &TextureDescriptors,
        binding: u32,
        ty: vk::DescriptorType,
        index: u32,
        info: &[vk::DescriptorImageInfo],
    ) {
        let write = [vk::WriteDescriptorSet::default()
            .dst_set(textures.set)
            .dst_binding(binding)
            .dst_array_element(index)
            .descriptor_type(ty)
            .image_info(info)];
        // The set is externally synchronized.
        let _writing = textures.free.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: within the array; no command in flight uses this descriptor.
        unsafe { self.raw.update_descriptor_sets(&write, &[]) };
    }
}

pub(super) const WHOLE: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

impl Texture {
    /// Its index in the array of descriptors.
    pub fn index(&self) -> u32 {
        self.index
    }

    pub(super) fn image(&self) -> vk::Image {
        self.image
    }
}

impl Drop for Texture {
    fn drop(&mut self) {
        // SAFETY: whoever submits work holds what it reads until the work is done; null is ignored.
        unsafe {
            self.device.raw.destroy_image_view(self.view, None);
            self.device.raw.destroy_image(self.image, None);
        }
        if let Some(textures) = &self.device.textures
            && self.index < TEXTURES
        {
            let mut free = textures.free.lock().unwrap_or_else(PoisonError::into_inner);
            free.push(self.index);
        }
    }
}

fn map_sampler(settings: &SamplerSettings) -> vk::SamplerCreateInfo<'static> {
    let filter = if settings.linear {
        vk::Filter::LINEAR
    } else {
        vk::Filter::NEAREST
    };
    let mode = match settings.address {
        AddressMode::Border => vk::SamplerAddressMode::CLAMP_TO_BORDER,
        AddressMode::Repeat if settings.normalized => vk::SamplerAddressMode::REPEAT,
        AddressMode::Mirror if settings.normalized => vk::SamplerAddressMode::MIRRORED_REPEAT,
        // Coordinates in texels are never repeated: OpenCL leaves that undefined.
        _ => vk::SamplerAddressMode::CLAMP_TO_EDGE,
    };
    vk::SamplerCreateInfo::default()
        .mag_filter(filter)
        .min_filter(filter)
        .mipmap_mode(vk::SamplerMipmapMode::NEAREST)
        .address_mode_u(mode)
        .address_mode_v(mode)
        // Unused, and bound to be what unnormalized coordinates allow.
        .address_mode_w(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .border_color(if settings.opaque_border {
            vk::BorderColor::FLOAT_OPAQUE_BLACK
        } else {
            vk::BorderColor::FLOAT_TRANSPARENT_BLACK
        })
        .unnormalized_coordinates(!settings.normalized)
}

/// The format, if Vulkan has it with the channels where OpenCL has them.
fn map_format(description: &TextureDescription) -> Option<vk::Format> {
    use TexelNumbers::{Float, Snorm, Srgb, Unorm};
    let TextureDescription {
        channels,
        channel_bits,
        numbers,
        bgra,
        ..
    } = *description;
    if bgra {
        return match (channels, channel_bits, numbers) {
            (4, 8, Unorm) => Some(vk::Format::B8G8R8A8_UNORM),
            (4, 8, Srgb) => Some(vk::Format::B8G8R8A8_SRGB),
            _ => None,
        };
    }
    Some(match (channels, channel_bits, numbers) {
        (1, 8, Unorm) => vk::Format::R8_UNORM,
        (2, 8, Unorm) => vk::Format::R8G8_UNORM,
        (4, 8, Unorm) => vk::Format::R8G8B8A8_UNORM,
        (4, 8, Srgb) => vk::Format::R8G8B8A8_SRGB,
        (1, 8, Snorm) => vk::Format::R8_SNORM,
        (2, 8, Snorm) => vk::Format::R8G8_SNORM,
        (4, 8, Snorm) => vk::Format::R8G8B8A8_SNORM,
        (1, 16, Unorm) => vk::Format::R16_UNORM,
        (2, 16, Unorm) => vk::Format::R16G16_UNORM,
        (4, 16, Unorm) => vk::Format::R16G16B16A16_UNORM,
        (1, 16, Snorm) => vk::Format::R16_SNORM,
        (2, 16, Snorm) => vk::Format::R16G16_SNORM,
        (4, 16, Snorm) => vk::Format::R16G16B16A16_SNORM,
        (1, 16, Float) => vk::Format::R16_SFLOAT,
        (2, 16, Float) => vk::Format::R16G16_SFLOAT,
        (4, 16, Float) => vk::Format::R16G16B16A16_SFLOAT,
        (1, 32, Float) => vk::Format::R32_SFLOAT,
        (2, 32, Float) => vk::Format::R32G32_SFLOAT,
        (4, 32, Float) => vk::Format::R32G32B32A32_SFLOAT,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{MemoryKind, test_device};
    use super::*;

    const DESCRIPTION: TextureDescription = TextureDescription {
        offset_bytes: 0,
        width: 256,
        height: 16,
        row_pitch_bytes: 1024,
        channels: 4,
        channel_bits: 8,
        numbers: TexelNumbers::Unorm,
        bgra: false,
    };

    #[test]
    fn textures_lie_over_memory_for_texels_only() {
        let Some(device) = test_device::get() else {
            return;
        };
        let texels = device.create_buffer(1 << 14, MemoryKind::Texels).unwrap();
        let plain = device.create_buffer(1 << 14, MemoryKind::Device).unwrap();
        let texture = device.create_texture(&texels, &DESCRIPTION).unwrap();
        if !device.info().features.has_sampled_image_arrays() {
            assert!(texture.is_none());
            return;
        }
        let texture = texture.expect("256 texels are a pitch that every device has");
        let other = device.create_texture(&texels, &DESCRIPTION).unwrap();
        assert_ne!(other.map(|other| other.index()), Some(texture.index()));
        assert!(
            device
                .create_texture(&plain, &DESCRIPTION)
                .unwrap()
                .is_none()
        );
        let narrow = TextureDescription {
            row_pitch_bytes: 1020,
            ..DESCRIPTION
        };
        assert!(device.create_texture(&texels, &narrow).unwrap().is_none());
        let tall = TextureDescription {
            height: 4096,
            ..DESCRIPTION
        };
        assert!(device.create_texture(&texels, &tall).unwrap().is_none());

        // When there are no descriptors left, memory is read itself. Here, because it takes them from others.
        let another = || device.create_texture(&texels, &DESCRIPTION).unwrap();
        let mut all: Vec<Texture> = std::iter::from_fn(another).collect();
        assert!(all.len() < TEXTURES as usize);
        assert!(another().is_none());
        let free = all.pop().map(|texture| texture.index());
        assert_eq!(another().map(|texture| texture.index()), free);
    }

    #[test]
    fn formats_are_those_of_the_channels() {
        let format = |channels, channel_bits, numbers, bgra| {
            map_format(&TextureDescription {
                channels,
                channel_bits,
                numbers,
                bgra,
                ..DESCRIPTION
            })
        };
        let half = format(2, 16, TexelNumbers::Float, false);
        assert_eq!(half, Some(vk::Format::R16G16_SFLOAT));
        let blue = format(4, 8, TexelNumbers::Unorm, true);
        assert_eq!(blue, Some(vk::Format::B8G8R8A8_UNORM));
        let curved = format(4, 8, TexelNumbers::Srgb, false);
        assert_eq!(curved, Some(vk::Format::R8G8B8A8_SRGB));
        assert_eq!(format(4, 8, TexelNumbers::Float, false), None);
        assert_eq!(format(2, 8, TexelNumbers::Unorm, true), None);
    }
}
