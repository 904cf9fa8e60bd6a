//! Asks Vulkan everything that [`PhysicalDeviceInfo`] holds.

use ash::{ext, khr, vk};

use super::conv;
use super::error::Error;
use super::feature_structures::FeatureStructures;
use super::file_descriptors;
use super::info::{FdSupport, Features, MemoryFds, PhysicalDeviceInfo, SemaphoreFds};
use super::physical_device::PhysicalDevice;
use super::query_properties;
use crate::drivers::{self, Report};

/// Queries `handle`. A device of Vulkan 1.0 is asked for no more than its name; it is unusable anyway.
pub(super) fn physical_device(
    instance: &ash::Instance,
    handle: vk::PhysicalDevice,
) -> Result<PhysicalDevice, Error> {
    // SAFETY: `handle` was enumerated from `instance`.
    let raw_extensions = unsafe { instance.enumerate_device_extension_properties(handle) }
        .map_err(Error::of("vkEnumerateDeviceExtensionProperties"))?;
    let mut extensions: Vec<String> = raw_extensions
        .iter()
        .map(|extension| conv::map_string(&extension.extension_name))
        .collect();
    extensions.sort();
    extensions.dedup();

    // SAFETY: as above.
    let basic = unsafe { instance.get_physical_device_properties(handle) };
    // SAFETY: as above.
    let families = unsafe { instance.get_physical_device_queue_family_properties(handle) };
    let queue_family = choose_queue_family(&families);
    let family = queue_family.and_then(|index| families.get(index as usize));
    // SAFETY: as above.
    let memory = unsafe { instance.get_physical_device_memory_properties(handle) };

    let query = Query {
        instance,
        handle,
        api_version: basic.api_version,
        extensions: &extensions,
    };
    let (features, properties, memory_fds, semaphore_fds) =
        if query.api_version >= vk::API_VERSION_1_1 {
            let features = query.features();
            let has = |name: &std::ffi::CStr| query.has(name);
            let properties = query_properties::properties(instance, handle, &basic, &features, has);
            (
                features,
                properties,
                query.memory_fds(),
                query.semaphore_fds(),
            )
        } else {
            Default::default()
        };
    let sparse_family = choose_sparse_family(&families).filter(|_| features.sparse_binding);
    let calibrated_timestamps = query.calibrated_with_monotonic();

    let driver = drivers::of(&Report {
        id: properties.driver_id,
        info: &properties.driver_info,
        preserves_denormals64: properties.float_controls[2].denorm_preserve,
    });

    // The query knows of such memory only where there is the extension.
    let import_host_pointer_alignment_bytes = properties
        .import_alignment_bytes
        .filter(|_| driver.host.imports_host_memory_unreported || query.reports_host_memory());

    let info = PhysicalDeviceInfo {
        name: conv::map_string(&basic.device_name),
        vendor_id: basic.vendor_id,
        device_id: basic.device_id,
        device_type: conv::map_device_type(basic.device_type),
        driver,
        driver_name: properties.driver_name,
        driver_info: properties.driver_info,
        driver_version: basic.driver_version,
        api_version: conv::map_version(basic.api_version),
        device_uuid: properties.device_uuid,
        driver_uuid: properties.driver_uuid,
        pipeline_cache_uuid: basic.pipeline_cache_uuid,
        device_luid: properties.device_luid,
        device_node_mask: properties.device_node_mask,
        pci: properties.pci,
        drm: properties.drm,
        compute_units: properties.compute_units,
        limits: properties.limits,
        features,
        subgroup: properties.subgroup,
        float16_controls: properties.float_controls[0],
        float32_controls: properties.float_controls[1],
        float64_controls: properties.float_controls[2],
        dot_product: properties.dot_product,
        memory_heaps: memory
            .memory_heaps_as_slice()
            .iter()
            .map(conv::map_memory_heap)
            .collect(),
        memory_types: memory
            .memory_types_as_slice()
            .iter()
            .map(conv::map_memory_type)
            .collect(),
        timestamp_valid_bits: family.map_or(0, |family| family.timestamp_valid_bits),
        has_sparse_buffers: sparse_family.is_some(),
        compute_queues: family.map_or(0, |family| family.queue_count),
        calibrated_timestamps,
        import_host_pointer_alignment_bytes,
        semaphore_fds,
        memory_fds,
        min_placed_map_alignment_bytes: properties.placed_map_alignment_bytes,
        extensions,
    };
    Ok(PhysicalDevice {
        unusable_reason: info.unusable_reason(),
        info,
        handle,
        queue_family,
        sparse_family,
    })
}

/// The family to run on: compute without graphics where it has at least as many queues to offer as
/// any other, since it runs beside a compositor; else the first with compute.
fn choose_queue_family(families: &[vk::QueueFamilyProperties]) -> Option<u32> {
    let with_compute = |family: &vk::QueueFamilyProperties| {
        family.queue_count > 0 && family.queue_flags.contains(vk::QueueFlags::COMPUTE)
    };
    let dedicated = families.iter().position(|family| {
        with_compute(family) && !family.queue_flags.contains(vk::QueueFlags::GRAPHICS)
    });
    let index = dedicated.or_else(|| families.iter().position(with_compute))?;
    u32::try_from(index).ok()
}

/// The family that binds the memory of sparse buffers: one that kernels don't run on, since a binding waits for what its
/// queue was given before, and a kernel may take long.
fn choose_sparse_family(families: &[vk::QueueFamilyProperties]) -> Option<u32> {
    let binds = |family: &vk::QueueFamilyProperties| {
        family.queue_count > 0 && family.queue_flags.contains(vk::QueueFlags::SPARSE_BINDING)
    };
    let idle = families
        .iter()
        .position(|family| binds(family) && !family.queue_flags.contains(vk::QueueFlags::COMPUTE));
    let index = idle.or_else(|| families.iter().position(binds))?;
    u32::try_from(index).ok()
}

struct Query<'a> {
    instance: &'a ash::Instance,
    handle: vk::PhysicalDevice,
    api_version: u32,
    extensions: &'a [String],
}

impl Query<'_> {
    fn has(&self, name: &std::ffi::CStr) -> bool {
        self.extensions
            .iter()
            .any(|have| have.as_bytes() == name.to_bytes())
    }

    fn features(&self) -> Features {
        let mut found = FeatureStructures::default();
        let mut all = found.chain(self.api_version, |name| self.has(name));
        // SAFETY: the chain holds only structures of the device's version and extensions.
        unsafe {
            self.instance
                .get_physical_device_features2(self.handle, &mut all)
        };
        let core = all.features;
        found.core = core;
        found.read()
    }

    fn semaphore_fds(&self) -> SemaphoreFds {
        if !self.has(khr::external_semaphore_fd::NAME) {
            return SemaphoreFds::default();
        }
        let support = |kind| {
            let query = vk::PhysicalDeviceExternalSemaphoreInfo::default()
                .handle_type(file_descriptors::map_semaphore_fd(kind));
            let mut found = vk::ExternalSemaphoreProperties::default();
            // SAFETY: a command of Vulkan 1.1, which the device has.
            unsafe {
                self.instance
                    .get_physical_device_external_semaphore_properties(
                        self.handle,
                        &query,
                        &mut found,
                    );
            }
            let features = found.external_semaphore_features;
            FdSupport {
                import: features.contains(vk::ExternalSemaphoreFeatureFlags::IMPORTABLE),
                export: features.contains(vk::ExternalSemaphoreFeatureFlags::EXPORTABLE),
            }
        };
        SemaphoreFds {
            opaque: support(file_descriptors::SemaphoreFd::Opaque),
            sync: support(file_descriptors::SemaphoreFd::Sync),
        }
    }

    /// What can be done with memory of one kind that comes from elsewhere, as that of a buffer of ours.
    fn external_memory_features(
        &self,
        kind: vk::ExternalMemoryHandleTypeFlags,
    ) -> vk::ExternalMemoryFeatureFlags {
        let query = vk::PhysicalDeviceExternalBufferInfo::default()
            .usage(conv::buffer_usage(self.features().buffer_device_address))
            .handle_type(kind);
        let mut found = vk::ExternalBufferProperties::default();
        // SAFETY: a command of Vulkan 1.1, which the device has.
        unsafe {
            self.instance
                .get_physical_device_external_buffer_properties(self.handle, &query, &mut found);
        }
        found.external_memory_properties.external_memory_features
    }

    /// Whether the device reports that memory of the host can be that of a buffer.
    fn reports_host_memory(&self) -> bool {
        let features =
            self.external_memory_features(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT);
        features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE)
            && !features.contains(vk::ExternalMemoryFeatureFlags::DEDICATED_ONLY)
    }

    fn memory_fds(&self) -> MemoryFds {
        if !self.has(khr::external_memory_fd::NAME) {
            return MemoryFds::default();
        }
        let mut needs_dedicated = false;
        let mut support = |kind| {
            let features = self.external_memory_features(file_descriptors::map_memory_fd(kind));
            needs_dedicated |= features.contains(vk::ExternalMemoryFeatureFlags::DEDICATED_ONLY);
            FdSupport {
                import: features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE),
                export: features.contains(vk::ExternalMemoryFeatureFlags::EXPORTABLE),
            }
        };
        let opaque = support(file_descriptors::MemoryFd::Opaque);
        let dma_buf = if self.has(ext::external_memory_dma_buf::NAME) {
            support(file_descriptors::MemoryFd::DmaBuf)
        } else {
            FdSupport::default()
        };
        MemoryFds {
            opaque,
            dma_buf,
            needs_dedicated,
        }
    }

    /// Whether the device's and CLOCK_MONOTONIC's time domains can both be calibrated.
    fn calibrated_with_monotonic(&self) -> bool {
        // Promoted unchanged: the EXT structures and functions serve both names.
        self.has(ext::calibrated_timestamps::NAME)
    }
}
