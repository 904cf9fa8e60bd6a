//! Descriptor sets that are alone in their pool.

use ash::vk;

use super::error::Error;

/// Allocates a set of the layout, with so many descriptors of each type: its pool, which the set goes with, and the set.
///
/// # Errors
/// [`Error::OutOfDeviceMemory`], [`Error::OutOfHostMemory`].
pub(super) fn allocate(
    raw: &ash::Device,
    layout: vk::DescriptorSetLayout,
    sizes: &[vk::DescriptorPoolSize],
    flags: vk::DescriptorPoolCreateFlags,
) -> Result<(vk::DescriptorPool, vk::DescriptorSet), Error> {
    let create = vk::DescriptorPoolCreateInfo::default()
        .flags(flags)
        .max_sets(1)
        .pool_sizes(sizes);
    // SAFETY: a live device.
    let pool = unsafe { raw.create_descriptor_pool(&create, None) }
        .map_err(Error::of("vkCreateDescriptorPool"))?;
    let layouts = [layout];
    let allocate = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&layouts);
    // SAFETY: the pool is made for exactly this set.
    match unsafe { raw.allocate_descriptor_sets(&allocate) } {
        Ok(sets) => Ok((pool, sets.first().copied().unwrap_or_default())),
        Err(result) => {
            // SAFETY: nothing was made of it.
            unsafe { raw.destroy_descriptor_pool(pool, None) };
            Err(Error::from_vk("vkAllocateDescriptorSets", result))
        }
    }
}
