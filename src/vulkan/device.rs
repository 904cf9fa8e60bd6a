//! One `VkDevice`: every feature that exists turned on, its queues, its allocator.

use std::any::Any;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak,
};

use ash::{ext, khr, vk};
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationSizes, AllocatorDebugSettings};

use super::buffer_descriptors::{BufferDescriptors, descriptor_count};
use super::create_device::create_raw;
use super::error::Error;
use super::info::{DeviceType, PhysicalDeviceInfo};
use super::instance::Instance;
use super::physical_device::PhysicalDevice;
use super::pipeline_layouts::PipelineLayouts;
use super::queue_clients::{MAX_QUEUES, Priority, QueueClients};
use super::texture_descriptors::TextureDescriptors;
use super::unification::Found;
use super::used_timeline::UsedTimeline;

const MIB: u64 = 1 << 20;

/// Objects that others hold.
pub(super) type WeakList = Mutex<Vec<Weak<dyn Any + Send + Sync>>>;

/// A logical device. Everything made from it holds an `Arc` of it.
pub struct Device {
    pub(super) raw: ash::Device,
    pub(super) import: Option<ext::external_memory_host::Device>,
    /// VK_EXT_map_memory_placed: its functions are those of VK_KHR_map_memory2.
    pub(super) placed_mapping: Option<khr::map_memory2::Device>,
    pub(super) memory_fd: Option<khr::external_memory_fd::Device>,
    pub(super) semaphore_fd: Option<khr::external_semaphore_fd::Device>,
    pub(super) unification: OnceLock<Found>,
    pub(super) addresses_are_pointers: OnceLock<bool>,
    /// Whether memory has had addresses that no process has.
    pub(super) has_addresses_beyond: AtomicBool,
    /// The chunks that small unified buffers are parts of, for each way in which the host sees them: of no type that is
    /// known here, since they hold the device ([`super::unified_pool`]).
    pub(super) unified: [WeakList; 3],
    pub(super) calibrated: Option<Calibrated>,
    pub(super) pipeline_layouts: PipelineLayouts,
    pub(super) textures: Option<TextureDescriptors>,
    /// What stands in for addresses, on a device without them.
    pub(super) buffer_descriptors: Option<BufferDescriptors>,
    pub(super) physical: vk::PhysicalDevice,
    pub(super) pipeline_cache: vk::PipelineCache,
    pub(super) queue_family: u32,
    info: PhysicalDeviceInfo,
    /// `ManuallyDrop`: must go before the device does.
    allocator: Mutex<ManuallyDrop<Allocator>>,
    /// Each `VkQueue` is externally synchronized.
    queues: Vec<Mutex<vk::Queue>>,
    queue_clients: QueueClients,
    /// Where the memory of sparse buffers is bound, on a device that has them.
    pub(super) binding_queue: Option<BindingQueue>,
    used_timelines: Mutex<Vec<UsedTimeline>>,
    /// See [`Device::change_code`].
    code: RwLock<()>,
    lost: AtomicBool,
    pub(super) instance: Arc<Instance>,
}

/// Where the memory of sparse buffers is bound.
pub(super) enum BindingQueue {
    /// Each of the device's queues takes them.
    Any,
    /// A queue of a family that does nothing else here, externally synchronized.
    Own(Mutex<vk::Queue>),
}

/// VK_EXT_calibrated_timestamps, where CLOCK_MONOTONIC is among its time domains.
pub(super) struct Calibrated {
    pub(super) functions: ext::calibrated_timestamps::Device,
}

impl Device {
    /// Creates the device at `index` of [`Instance::physical_devices`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a device with an `unusable_reason` or a wrong index.
    pub fn new(instance: &Arc<Instance>, index: usize) -> Result<Arc<Self>, Error> {
        let Some(physical) = instance.physical_devices().get(index) else {
            return Err(Error::Unsupported(format!("a device number {index}")));
        };
        if let Some(reason) = &physical.unusable_reason {
            return Err(Error::Unsupported(reason.clone()));
        }
        let Some(queue_family) = physical.queue_family else {
            return Err(Error::Unsupported("a compute queue".to_owned()));
        };
        let info = physical.info.clone();
        let raw = create_raw(instance, physical, queue_family)?;
        // From here on a failure must destroy `raw`: the owner does it.
        let owned = OwnedDevice(Some(raw));
        let raw = owned.raw();

        let import = info
            .import_host_pointer_alignment_bytes
            .map(|_| ext::external_memory_host::Device::new(&instance.raw, raw));
        let placed_mapping = info
            .places_mappings()
            .then(|| khr::map_memory2::Device::new(&instance.raw, raw));
        let memory_fd = info
            .has_extension(&khr::external_memory_fd::NAME.to_string_lossy())
            .then(|| khr::external_memory_fd::Device::new(&instance.raw, raw));
        let semaphore_fd = info
            .semaphore_fds
            .any()
            .then(|| khr::external_semaphore_fd::Device::new(&instance.raw, raw));
        let calibrated = calibrated(instance, physical, raw);
        let mut debug_settings = AllocatorDebugSettings::default();
        debug_settings.log_leaks_on_shutdown = false;
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.raw.clone(),
            device: raw.clone(),
            physical_device: physical.handle,
            debug_settings,
            buffer_device_address: info.features.buffer_device_address,
            allocation_sizes: AllocationSizes::new(16 * MIB, 4 * MIB)
                .with_max_device_memblock_size(256 * MIB)
                .with_max_host_memblock_size(64 * MIB),
        })?;
        let queues = (0..info.compute_queues.min(MAX_QUEUES))
            // SAFETY: the device was created with that many queues of this family.
            .map(|queue| Mutex::new(unsafe { raw.get_device_queue(queue_family, queue) }))
            .collect::<Vec<_>>();
        let queue_clients = QueueClients::new(queues.len());
        let binding_queue = physical.sparse_family.map(|family| {
            if family == queue_family {
                return BindingQueue::Any;
            }
            // SAFETY: the device was created with one queue of this family.
            BindingQueue::Own(Mutex::new(unsafe { raw.get_device_queue(family, 0) }))
        });

        let (textures, buffer_descriptors, pipeline_cache) = descriptors_and_cache(raw, &info)?;
        let pipeline_layouts = PipelineLayouts::new(
            info.limits.max_push_constant_bytes,
            textures.as_ref().map(|textures| textures.layout),
            buffer_descriptors.as_ref().map(|buffers| buffers.layout),
        );

        Ok(Arc::new(Self {
            raw: owned.release(),
            import,
            placed_mapping,
            memory_fd,
            semaphore_fd,
            unification: OnceLock::new(),
            addresses_are_pointers: OnceLock::new(),
            has_addresses_beyond: AtomicBool::new(false),
            unified: Default::default(),
            calibrated,
            pipeline_layouts,
            textures,
            buffer_descriptors,
            physical: physical.handle,
            pipeline_cache,
            queue_family,
            info,
            allocator: Mutex::new(ManuallyDrop::new(allocator)),
            queues,
            queue_clients,
            binding_queue,
            used_timelines: Mutex::default(),
            code: RwLock::default(),
            lost: AtomicBool::new(false),
            instance: Arc::clone(instance),
        }))
    }

    /// What the physical device is and can do.
    pub fn info(&self) -> &PhysicalDeviceInfo {
        &self.info
    }

    /// Whether its memory is kept from the host, as if it were a discrete GPU's.
    pub fn hides_memory(&self) -> bool {
        self.instance.options.discrete
    }

    /// The number of a `VkQueue` for something short.
    pub fn spare_queue(&self) -> usize {
        self.queue_clients.spare()
    }

    /// The number of a `VkQueue` for a new client of that priority, which [lets go](Self::release_queue) of it in the end.
    /// It is the client's own as long as there are any.
    pub fn assign_queue(&self, priority: Priority) -> usize {
        self.queue_clients.join(priority)
    }

    /// A client that `queue` was assigned to has gone.
    pub fn release_queue(&self, queue: usize) {
        self.queue_clients.leave(queue);
    }

    /// Whether the device was lost: then nothing submitted completes, and waits return at once.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Remembers a loss of the device, and hands the error through.
    pub(super) fn note(&self, error: Error) -> Error {
        if error == Error::DeviceLost && !self.lost.swap(true, Ordering::AcqRel) {
            log::error!("{}: the Vulkan device was lost", self.info.name);
        }
        error
    }

    pub(super) fn queue(&self, index: usize) -> MutexGuard<'_, vk::Queue> {
        let queue = &self.queues[index % self.queues.len()];
        queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn used_timelines(&self) -> MutexGuard<'_, Vec<UsedTimeline>> {
        self.used_timelines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a submission sees all that is in memory when it is made: also what earlier ones wrote that the host has
    /// seen the end of, without a barrier at its beginning.
    ///
    /// Vulkan promises as much of the host's writes only ("Host Write Ordering Guarantees"); a semaphore's signal makes
    /// what the device wrote available, and nothing makes it visible. To a processor the memory is its own, and what a thread has
    /// waited for is seen by all that it tells. Where drivers may differ, the barrier stays.
    pub fn shows_finished_work(&self) -> bool {
        self.info.driver.host.shows_finished_work || self.info.device_type == DeviceType::Cpu
    }

    /// Hold it while a pipeline is made or destroyed, where a submission meanwhile may run other code
    /// ([`crate::drivers::Driver`]).
    pub(super) fn change_code(&self) -> Option<RwLockWriteGuard<'_, ()>> {
        (self.info.driver.host.confuses_code)
            .then(|| self.code.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Hold it while work is submitted.
    pub(super) fn run_code(&self) -> Option<RwLockReadGuard<'_, ()>> {
        (self.info.driver.host.confuses_code)
            .then(|| self.code.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn allocator(&self) -> MutexGuard<'_, ManuallyDrop<Allocator>> {
        self.allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let allocator = self
            .allocator
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        // SAFETY: dropped here only, before the device that it allocates from.
        unsafe { ManuallyDrop::drop(allocator) };
        // SAFETY: whatever was made from the device held an `Arc` of it, so nothing is left in use;
        // queues were drained by their owners before they let go.
        unsafe {
            for used in self.used_timelines().drain(..) {
                self.raw.destroy_semaphore(used.handle, None);
            }
            self.raw.destroy_pipeline_cache(self.pipeline_cache, None);
            self.pipeline_layouts.destroy(&self.raw);
            if let Some(textures) = &mut self.textures {
                textures.destroy(&self.raw);
            }
            if let Some(descriptors) = &mut self.buffer_descriptors {
                descriptors.destroy(&self.raw);
            }
            self.raw.destroy_device(None);
        }
    }
}

/// The descriptors of textures, and those of buffers that stand in for addresses, where the device has the ones or needs the
/// others; and its pipeline cache.
fn descriptors_and_cache(
    raw: &ash::Device,
    info: &PhysicalDeviceInfo,
) -> Result<
    (
        Option<TextureDescriptors>,
        Option<BufferDescriptors>,
        vk::PipelineCache,
    ),
    Error,
> {
    let mut textures = if info.features.has_sampled_image_arrays() {
        Some(TextureDescriptors::new(raw)?)
    } else {
        None
    };
    let mut buffers = None;
    let described = if info.features.buffer_device_address {
        Ok(())
    } else {
        let count = descriptor_count(info.limits.max_storage_buffer_descriptors);
        BufferDescriptors::new(raw, count).map(|made| buffers = Some(made))
    };
    let cache = described.and_then(|()| {
        let create = vk::PipelineCacheCreateInfo::default();
        // SAFETY: a live device, no initial data.
        unsafe { raw.create_pipeline_cache(&create, None) }
            .map_err(Error::of("vkCreatePipelineCache"))
    });
    match cache {
        Ok(cache) => Ok((textures, buffers, cache)),
        Err(error) => {
            // SAFETY: made above, used by nobody.
            unsafe {
                if let Some(textures) = &mut textures {
                    textures.destroy(raw);
                }
                if let Some(buffers) = &mut buffers {
                    buffers.destroy(raw);
                }
            }
            Err(error)
        }
    }
}

/// Destroys the device unless [`OwnedDevice::release`] takes it out.
struct OwnedDevice(Option<ash::Device>);

impl OwnedDevice {
    fn raw(&self) -> &ash::Device {
        self.0.as_ref().expect("only `release` takes it, by value")
    }

    fn release(mut self) -> ash::Device {
        self.0.take().expect("only `release` takes it, by value")
    }
}

impl Drop for OwnedDevice {
    fn drop(&mut self) {
        if let Some(raw) = self.0.take() {
            // SAFETY: creation failed half-way; nothing made from the device is left.
            unsafe { raw.destroy_device(None) };
        }
    }
}

fn calibrated(
    instance: &Instance,
    physical: &PhysicalDevice,
    raw: &ash::Device,
) -> Option<Calibrated> {
    if !physical.info.calibrated_timestamps {
        return None;
    }
    let query = ext::calibrated_timestamps::Instance::new(&instance.entry, &instance.raw);
    // SAFETY: the physical device has the extension.
    let domains =
        unsafe { query.get_physical_device_calibrateable_time_domains(physical.handle) }.ok()?;
    let both = domains.contains(&vk::TimeDomainEXT::DEVICE)
        && domains.contains(&vk::TimeDomainEXT::CLOCK_MONOTONIC);
    both.then(|| Calibrated {
        functions: ext::calibrated_timestamps::Device::new(&instance.raw, raw),
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_device;

    #[test]
    fn a_device_is_created_with_what_it_reports() {
        let Some(device) = test_device::get() else {
            return;
        };
        assert!(device.info().compute_queues >= 1);
        assert!(device.info().limits.max_push_constant_bytes >= 128);
        assert!(!device.is_lost());
    }
}
