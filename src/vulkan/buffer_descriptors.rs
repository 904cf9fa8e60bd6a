//! The descriptors of the buffers of a device without buffer device addresses. What kernels take for an address is made of
//! a descriptor's number and an offset ([`DESCRIPTOR_BYTES`]): kernels reach any buffer, also by pointers in memory.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use ash::vk;

use super::descriptor_set;
use super::error::Error;

/// Bytes that one descriptor covers, a power of two: the least of `maxStorageBufferRange` that Vulkan allows. A larger
/// buffer has several, one after the other.
pub const DESCRIPTOR_BYTES: u64 = 1 << 27;

/// Most descriptors: buffers, each with as many as it needs, that are there at a time.
const MOST_DESCRIPTORS: u32 = 1 << 16;

/// The descriptors of a device, in a set of one binding.
pub(super) struct BufferDescriptors {
    pub(super) layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
    pub(super) set: vk::DescriptorSet,
    /// Numbers that are free, in order, apart from each other; writing a descriptor takes this lock.
    free: Mutex<Vec<Range<u32>>>,
}

/// The descriptors that a device with such a limit has: a power of two, so that a mask keeps any number among them.
pub fn descriptor_count(limit: u32) -> u32 {
    1 << limit.clamp(1, MOST_DESCRIPTORS).ilog2()
}

impl BufferDescriptors {
    /// Makes `count` descriptors.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`], [`Error::OutOfHostMemory`].
    pub fn new(raw: &ash::Device, count: u32) -> Result<Self, Error> {
        let binding = [vk::DescriptorSetLayoutBinding::default()
            .binding(0)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(count)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let flags = [vk::DescriptorBindingFlags::UPDATE_AFTER_BIND
            | vk::DescriptorBindingFlags::UPDATE_UNUSED_WHILE_PENDING
            | vk::DescriptorBindingFlags::PARTIALLY_BOUND];
        let mut flags =
            vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
        let create = vk::DescriptorSetLayoutCreateInfo::default()
            .flags(vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL)
            .bindings(&binding)
            .push_next(&mut flags);
        // SAFETY: a live device with these features; the count is within its limits.
        let layout = unsafe { raw.create_descriptor_set_layout(&create, None) }
            .map_err(Error::of("vkCreateDescriptorSetLayout"))?;
        let sizes = [vk::DescriptorPoolSize {
            ty: vk::DescriptorType::STORAGE_BUFFER,
            descriptor_count: count,
        }];
        let flags = vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND;
        match descriptor_set::allocate(raw, layout, &sizes, flags) {
            Ok((pool, set)) => Ok(Self {
                layout,
                pool,
                set,
                // No address is null.
                free: Mutex::new(Vec::from_iter(std::iter::once(1..count.max(1)))),
            }),
            Err(error) => {
                // SAFETY: nobody has anything of it.
                unsafe { raw.destroy_descriptor_set_layout(layout, None) };
                Err(error)
            }
        }
    }

    /// Gives a buffer of `size_bytes` (not 0) its descriptors, one after the other.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`] where too few are left.
    pub fn describe(
        &self,
        raw: &ash::Device,
        buffer: vk::Buffer,
        size_bytes: u64,
    ) -> Result<Range<u32>, Error> {
        let count = u32::try_from(size_bytes.div_ceil(DESCRIPTOR_BYTES))
            .map_err(|_| Error::OutOfDeviceMemory)?;
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers = take(&mut free, count).ok_or(Error::OutOfDeviceMemory)?;
        let infos: Vec<vk::DescriptorBufferInfo> = (0..u64::from(count))
            .map(|part| vk::DescriptorBufferInfo {
                buffer,
                offset: part * DESCRIPTOR_BYTES,
                range: DESCRIPTOR_BYTES.min(size_bytes - part * DESCRIPTOR_BYTES),
            })
            .collect();
        let write = vk::WriteDescriptorSet::default()
            .dst_set(self.set)
            .dst_binding(0)
            .dst_array_element(numbers.start)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(&infos);
        // SAFETY: the lock is held; the descriptors are used by no work, as no buffer has them.
        unsafe { raw.update_descriptor_sets(&[write], &[]) };
        Ok(numbers)
    }

    /// Takes back the descriptors of a buffer that no work uses any more.
    pub fn release(&self, numbers: Range<u32>) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        give(&mut free, numbers);
    }

    /// # Safety
    /// Nothing made of it is in use.
    pub unsafe fn destroy(&mut self, raw: &ash::Device) {
        // SAFETY: the caller's promise; null handles are ignored.
        unsafe {
            raw.destroy_descriptor_pool(self.pool, None);
            raw.destroy_descriptor_set_layout(self.layout, None);
        }
    }
}

/// The address of the first byte that a descriptor covers.
pub(super) fn address_of(number: u32) -> u64 {
    u64::from(number) * DESCRIPTOR_BYTES
}

/// Takes `count` numbers in a row from the first range that has them.
fn take(free: &mut Vec<Range<u32>>, count: u32) -> Option<Range<u32>> {
    let place = free
        .iter()
        .position(|range| range.end - range.start >= count)?;
    let range = &mut free[place];
    let taken = range.start..range.start + count;
    range.start = taken.end;
    if range.start == range.end {
        free.remove(place);
    }
    Some(taken)
}

/// Puts numbers back, and joins them with those beside them.
fn give(free: &mut Vec<Range<u32>>, numbers: Range<u32>) {
    let place = free.partition_point(|range| range.start < numbers.start);
    free.insert(place, numbers);
    for place in [place + 1, place] {
        if place > 0 && place < free.len() && free[place - 1].end == free[place].start {
            free[place - 1].end = free[place].end;
            free.remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_whole_ranges() {
        let mut free = Vec::from_iter(std::iter::once(1..10));
        let [a, b, c] = [2, 3, 1].map(|count| take(&mut free, count).unwrap());
        assert_eq!([&a, &b, &c], [&(1..3), &(3..6), &(6..7)]);
        assert_eq!(take(&mut free, 4), None);
        give(&mut free, a);
        assert_eq!(free, [1..3, 7..10]);
        assert_eq!(take(&mut free, 3), Some(7..10));
        give(&mut free, c);
        give(&mut free, b);
        assert_eq!(free.as_slice(), std::slice::from_ref(&(1..7)));
        give(&mut free, 7..10);
        assert_eq!(free.as_slice(), std::slice::from_ref(&(1..10)));
    }
}
