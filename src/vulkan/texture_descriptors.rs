//! The descriptors of the images and samplers of a device.

use super::descriptor_set;
use super::error::Error;
use ash::vk;
use smallvec::SmallVec;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Images that can have a descriptor at a time.
pub const TEXTURES: u32 = 4096;

/// Descriptors of samplers.
const MAX_SAMPLERS: u32 = 64;

pub(super) const IMAGES_BINDING: u32 = 0;
pub(super) const SAMPLERS_BINDING: u32 = 1;

/// The descriptors of a device.
pub(super) struct TextureDescriptors {
    pub(super) layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
    pub(super) set: vk::DescriptorSet,
    pub(super) samplers: Mutex<Vec<vk::Sampler>>,
    /// Images' descriptors that are free; writing any takes this lock.
    pub(super) free: Mutex<Vec<u32>>,
    /// See [`TextureDescriptors::memory_type_bits`].
    memory_type_bits: OnceLock<u32>,
}

impl TextureDescriptors {
    pub(super) fn new(raw: &ash::Device) -> Result<Self, Error> {
        let bindings = [
            (IMAGES_BINDING, vk::DescriptorType::SAMPLED_IMAGE, TEXTURES),
            (SAMPLERS_BINDING, vk::DescriptorType::SAMPLER, MAX_SAMPLERS),
        ];
        let layout_bindings = bindings.map(|(binding, ty, count)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(ty)
                .descriptor_count(count)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        });
        let flags = [vk::DescriptorBindingFlags::UPDATE_AFTER_BIND
            | vk::DescriptorBindingFlags::UPDATE_UNUSED_WHILE_PENDING
            | vk::DescriptorBindingFlags::PARTIALLY_BOUND; 2];
        let mut flags =
            vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
        let create = vk::DescriptorSetLayoutCreateInfo::default()
            .flags(vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL)
            .bindings(&layout_bindings)
            .push_next(&mut flags);
        // SAFETY: a live device with these features; the counts are within every such device's limits.
        let layout = unsafe { raw.create_descriptor_set_layout(&create, None) }
            .map_err(Error::of("vkCreateDescriptorSetLayout"))?;
        let mut textures = Self {
            layout,
            pool: vk::DescriptorPool::null(),
            set: vk::DescriptorSet::null(),
            samplers: Mutex::default(),
            free: Mutex::new((0..TEXTURES).rev().collect()),
            memory_type_bits: OnceLock::new(),
        };
        let sizes = bindings.map(|(_, ty, count)| (ty, count));
        if let Err(error) = textures.allocate(raw, &sizes) {
            // SAFETY: nobody has anything of it yet.
            unsafe { textures.destroy(raw) };
            return Err(error);
        }
        Ok(textures)
    }

    /// Memory types that images of linear tiling take. Only an image tells: the first memory for texels has one made, and
    /// a program without images needs none.
    ///
    /// # Errors
    /// The driver makes no image.
    pub(super) fn memory_type_bits(&self, raw: &ash::Device) -> Result<u32, Error> {
        if let Some(bits) = self.memory_type_bits.get() {
            return Ok(*bits);
        }
        let bits = linear_memory_types(raw)?;
        Ok(*self.memory_type_bits.get_or_init(|| bits))
    }

    fn allocate(
        &mut self,
        raw: &ash::Device,
        sizes: &[(vk::DescriptorType, u32)],
    ) -> Result<(), Error> {
        let sizes: SmallVec<[vk::DescriptorPoolSize; 2]> = sizes
            .iter()
            .map(|&(ty, descriptor_count)| vk::DescriptorPoolSize {
                ty,
                descriptor_count,
            })
            .collect();
        let flags = vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND;
        (self.pool, self.set) = descriptor_set::allocate(raw, self.layout, &sizes, flags)?;
        Ok(())
    }

    /// # Safety
    /// Nothing made of it is in use.
    pub(super) unsafe fn destroy(&mut self, raw: &ash::Device) {
        let samplers = self.samplers.get_mut();
        let samplers = samplers.unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the caller's promise; null handles are ignored.
        unsafe {
            for sampler in samplers.drain(..) {
                raw.destroy_sampler(sampler, None);
            }
            raw.destroy_descriptor_pool(self.pool, None);
            raw.destroy_descriptor_set_layout(self.layout, None);
        }
    }
}

/// An image of linear tiling that is sampled.
pub(super) fn create_info(
    format: vk::Format,
    width: u32,
    height: u32,
) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D {
            width,
            height,
            depth: 1,
        })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::LINEAR)
        .usage(vk::ImageUsageFlags::SAMPLED)
        .initial_layout(vk::ImageLayout::PREINITIALIZED)
}

/// "The memoryTypeBits member is identical for all VkImage objects created with the same … tiling … and
/// usage" and colour format.
fn linear_memory_types(raw: &ash::Device) -> Result<u32, Error> {
    let create = create_info(vk::Format::R8G8B8A8_UNORM, 64, 64);
    // SAFETY: a live device; every one samples such images.
    let image = unsafe { raw.create_image(&create, None) }.map_err(Error::of("vkCreateImage"))?;
    // SAFETY: made above, used by nobody.
    let requirements = unsafe {
        let requirements = raw.get_image_memory_requirements(image);
        raw.destroy_image(image, None);
        requirements
    };
    Ok(requirements.memory_type_bits)
}
