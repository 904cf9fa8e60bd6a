//! What a driver keeps of the pipelines that it made, as bytes that outlive the process.

use std::sync::Arc;

use ash::vk;

use super::device::Device;
use super::error::Error;
use super::info::PhysicalDeviceInfo;

/// Size of `VkPipelineCacheHeaderVersionOne`, with which the bytes of every driver begin.
const HEADER_BYTES: usize = 32;
/// `VK_PIPELINE_CACHE_HEADER_VERSION_ONE`
const HEADER_VERSION: u32 = 1;

/// A `VkPipelineCache`, to be used by one thread at a time.
pub struct PipelineCache {
    pub(super) handle: vk::PipelineCache,
    device: Arc<Device>,
}

impl PipelineCache {
    /// A cache that begins with `kept`, which [`Self::contents`] gave, maybe in another process. What isn't of
    /// this device and driver is left out: not every driver looks at the header before it trusts the rest.
    ///
    /// # Errors
    /// The driver has no memory for it.
    pub fn new(device: &Arc<Device>, kept: &[u8]) -> Result<Self, Error> {
        let kept = if Self::fits(device.info(), kept) {
            kept
        } else {
            &[]
        };
        let create = vk::PipelineCacheCreateInfo::default().initial_data(kept);
        // SAFETY: a live device; the bytes are none, or such as the same driver gave for the same device.
        let handle = unsafe { device.raw.create_pipeline_cache(&create, None) }
            .map_err(Error::of("vkCreatePipelineCache"))?;
        Ok(Self {
            handle,
            device: Arc::clone(device),
        })
    }

    /// Everything in the cache, for [`Self::new`]; `None` where the driver keeps nothing.
    ///
    /// # Errors
    /// The driver has no memory for it.
    pub fn contents(&self) -> Result<Option<Vec<u8>>, Error> {
        // SAFETY: a live cache of the device, which no other thread uses.
        let bytes = unsafe { self.device.raw.get_pipeline_cache_data(self.handle) }
            .map_err(Error::of("vkGetPipelineCacheData"))?;
        Ok((bytes.len() > HEADER_BYTES).then_some(bytes))
    }

    /// Whether bytes are from a pipeline cache of this device and driver, going by their header.
    pub fn fits(info: &PhysicalDeviceInfo, bytes: &[u8]) -> bool {
        let word = |index: usize| {
            let bytes = bytes.get(index * 4..index * 4 + 4)?;
            Some(u32::from_le_bytes(bytes.try_into().ok()?))
        };
        word(0) == Some(HEADER_BYTES as u32)
            && word(1) == Some(HEADER_VERSION)
            && word(2) == Some(info.vendor_id)
            && word(3) == Some(info.device_id)
            && bytes.get(16..HEADER_BYTES) == Some(&info.pipeline_cache_uuid[..])
    }
}

impl Drop for PipelineCache {
    fn drop(&mut self) {
        // SAFETY: pipelines don't need the cache once they exist.
        unsafe { self.device.raw.destroy_pipeline_cache(self.handle, None) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vulkan::test_device;

    fn header(info: &PhysicalDeviceInfo) -> Vec<u8> {
        let words = [
            HEADER_BYTES as u32,
            HEADER_VERSION,
            info.vendor_id,
            info.device_id,
        ];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend_from_slice(&info.pipeline_cache_uuid);
        bytes
    }

    #[test]
    fn what_the_driver_gives_fits() {
        let Some(device) = test_device::get() else {
            return;
        };
        let cache = PipelineCache::new(&device, &[]).unwrap();
        // SAFETY: a live cache, used by this thread alone.
        let bytes = unsafe { device.raw.get_pipeline_cache_data(cache.handle) }.unwrap();
        if bytes.len() < HEADER_BYTES {
            // Some drivers give less than a whole header: nothing is kept there.
            assert!(!PipelineCache::fits(device.info(), &bytes), "{bytes:?}");
            return;
        }
        assert!(PipelineCache::fits(device.info(), &bytes), "{bytes:?}");
        assert_eq!(bytes[..HEADER_BYTES], header(device.info()));
        PipelineCache::new(&device, &bytes).unwrap();
    }

    #[test]
    fn bytes_of_others_do_not_fit() {
        let Some(device) = test_device::get() else {
            return;
        };
        let good = header(device.info());
        assert!(PipelineCache::fits(device.info(), &good));
        for length in 0..good.len() {
            assert!(
                !PipelineCache::fits(device.info(), &good[..length]),
                "cut to {length}"
            );
        }
        for place in 0..good.len() {
            let mut changed = good.clone();
            changed[place] ^= 1;
            assert!(
                !PipelineCache::fits(device.info(), &changed),
                "changed at {place}"
            );
            // They are left out, not handed to the driver.
            PipelineCache::new(&device, &changed).unwrap();
        }
    }
}
