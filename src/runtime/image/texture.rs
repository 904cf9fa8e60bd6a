//! Which images texture units read, and how samplers are ordered among their descriptors.

use super::Image;
use crate::compiler::image::{self, Addressing, ChannelNumbers, ImageDimension};
use crate::vulkan::textures::{AddressMode, SamplerSettings, TexelNumbers, TextureDescription};

/// Larger texels are filtered faster by code than by texture units: of RGBA32F in linear memory an H200's filter 129
/// billion a second, code filters 441.
const LARGEST_FILTERED_BITS: u32 = 64;

impl Image {
    /// The image as a texture over memory in which it starts at `offset_bytes`; `None` for those that are none:
    /// not flat, with mip levels, or of a format that Vulkan orders otherwise.
    pub fn texture(&self, offset_bytes: u64) -> Option<TextureDescription> {
        if self.dimension != ImageDimension::Two || self.levels != 1 {
            return None;
        }
        let (channels, channel_bits, bgra) = self.format.plain_channels()?;
        let numbers = match self.format.numbers() {
            ChannelNumbers::Unorm => TexelNumbers::Unorm,
            ChannelNumbers::Snorm => TexelNumbers::Snorm,
            ChannelNumbers::Float => TexelNumbers::Float,
            ChannelNumbers::Srgb => TexelNumbers::Srgb,
            ChannelNumbers::Signed | ChannelNumbers::Unsigned => return None,
        };
        if channels * channel_bits > LARGEST_FILTERED_BITS {
            return None;
        }
        Some(TextureDescription {
            offset_bytes,
            width: u32::try_from(self.width).ok()?,
            height: u32::try_from(self.height).ok()?,
            row_pitch_bytes: self.row_pitch_bytes as u64,
            channels,
            channel_bits,
            numbers,
            bgra,
        })
    }

    /// Whether single texels come faster through a texture unit than by loads: where there are several channels to
    /// convert.
    pub fn is_fetched_through_texture(&self) -> bool {
        let channels = self.format.plain_channels();
        channels.is_some_and(|(count, bits, _)| count > 1 && bits < 32)
    }
}

/// The samplers, in the order in which generated code counts them ([`image::Sampler::DESCRIPTOR_BITS`]).
pub fn samplers() -> Vec<SamplerSettings> {
    (0..image::Sampler::DESCRIPTORS)
        .map(|index| {
            let part = |(bit, width): (u32, u32)| index >> bit & ((1 << width) - 1);
            let addressing = part(image::Sampler::ADDRESSING);
            SamplerSettings {
                normalized: part(image::Sampler::NORMALIZED) == 1,
                address: match addressing {
                    mode if mode == Addressing::Clamp as u32 => AddressMode::Border,
                    mode if mode == Addressing::Repeat as u32 => AddressMode::Repeat,
                    mode if mode == Addressing::RepeatMirrored as u32 => AddressMode::Mirror,
                    _ => AddressMode::Edge,
                },
                linear: part(image::Sampler::LINEAR) == 1,
                opaque_border: index >> image::Sampler::DESCRIPTOR_BITS == 1,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::format::Format;
    use super::*;
    use crate::runtime::memory::Memory;
    use crate::runtime::test_queue;

    #[test]
    fn texture_units_read_what_they_read_faster() {
        let image = |order, channel_type| {
            let format = opencl_sys::cl_image_format {
                image_channel_order: order,
                image_channel_data_type: channel_type,
            };
            let dimension = ImageDimension::Two;
            let format = Format::supported(format, dimension).unwrap();
            Image::new(format, dimension, [8, 8, 1], 0, 0)
        };
        use opencl_sys::{CL_FLOAT, CL_R, CL_RGBA, CL_UNORM_INT8, CL_UNSIGNED_INT8, CL_sBGRA};
        assert!(image(CL_RGBA, CL_UNORM_INT8).is_fetched_through_texture());
        assert!(!image(CL_R, CL_FLOAT).is_fetched_through_texture());
        assert!(image(CL_R, CL_FLOAT).texture(0).is_some());
        assert!(image(CL_RGBA, CL_UNSIGNED_INT8).texture(0).is_none());
        assert!(image(CL_RGBA, CL_FLOAT).texture(0).is_none());
        let curved = image(CL_sBGRA, CL_UNORM_INT8);
        assert!(curved.is_fetched_through_texture());
        let description = curved.texture(0).unwrap();
        assert_eq!(
            (description.numbers, description.bgra),
            (TexelNumbers::Srgb, true)
        );
    }

    #[test]
    fn rows_of_whole_256_bytes_have_a_texture() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let (context, device) = (queue.context(), queue.device());
        use opencl_sys::{CL_FLOAT, CL_HALF_FLOAT, CL_R, CL_RGBA, CL_UNORM_INT8};
        for (order, channel_type) in [
            (CL_R, CL_FLOAT),
            (CL_RGBA, CL_UNORM_INT8),
            (CL_RGBA, CL_HALF_FLOAT),
        ] {
            let format = opencl_sys::cl_image_format {
                image_channel_order: order,
                image_channel_data_type: channel_type,
            };
            let format = Format::supported(format, ImageDimension::Two).unwrap();
            let image = |dimension, width| {
                let image = Image::new(format, dimension, [width, 5, 1], 0, 0);
                // SAFETY: no host memory is given.
                unsafe { Memory::image_with_memory(context, 0, image, None, Vec::new()) }.unwrap()
            };
            let has_units = device.info().features.has_sampled_image_arrays();
            let flat = image(ImageDimension::Two, 64);
            let texture = flat.texture(queue.context_device(), queue.device_queue().vk_queue());
            assert_eq!(texture.is_some(), has_units, "{format:?}");
            // Made once.
            let again = flat
                .texture(queue.context_device(), queue.device_queue().vk_queue())
                .map(|texture| texture.index());
            assert_eq!(again, texture.map(|texture| texture.index()));
            let layers = image(ImageDimension::TwoArray, 64);
            assert!(
                layers
                    .texture(queue.context_device(), queue.device_queue().vk_queue())
                    .is_none()
            );
        }
    }

    #[test]
    fn samplers_are_where_their_bits_say() {
        let all = samplers();
        let sampler = image::Sampler::new(true, Addressing::Repeat, true).0;
        let index = sampler & ((1 << image::Sampler::DESCRIPTOR_BITS) - 1);
        let expected = SamplerSettings {
            normalized: true,
            address: AddressMode::Repeat,
            linear: true,
            opaque_border: false,
        };
        assert_eq!(all[index as usize], expected);
        let opaque = SamplerSettings {
            opaque_border: true,
            ..expected
        };
        assert_eq!(all[index as usize + 32], opaque);
    }
}
