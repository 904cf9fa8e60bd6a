//! What a physical device is and can do, as plain data without Vulkan types.

use crate::drivers::Driver;

/// `VkPhysicalDeviceType`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceType {
    DiscreteGpu,
    IntegratedGpu,
    VirtualGpu,
    Cpu,
    Other,
}

/// A `VkDeviceSize` heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryHeap {
    pub size_bytes: u64,
    pub device_local: bool,
}

/// A memory type, with the properties that decide who may touch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryType {
    pub heap: u32,
    pub device_local: bool,
    pub host_visible: bool,
    pub host_coherent: bool,
    pub host_cached: bool,
}

/// Where the device sits on its bus (VK_EXT_pci_bus_info).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PciBusInfo {
    pub domain: u32,
    pub bus: u32,
    pub device: u32,
    pub function: u32,
}

/// The node by which Linux' kernel has the device (VK_EXT_physical_device_drm): the primary one where there is one, else that for
/// rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrmNode {
    pub major: i64,
    pub minor: i64,
}

/// Float behaviour that can be asked for, for one width (VkPhysicalDeviceFloatControlsProperties).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatControls {
    pub denorm_preserve: bool,
    pub denorm_flush_to_zero: bool,
    pub rounding_rte: bool,
    pub rounding_rtz: bool,
    pub signed_zero_inf_nan_preserve: bool,
}

/// Sub-group sizes and operations (VkPhysicalDeviceSubgroupProperties and its extensions).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubgroupInfo {
    pub size: u32,
    /// `minSubgroupSize`, `maxSubgroupSize`; both equal `size` without subgroup size control.
    pub min_size: u32,
    pub max_size: u32,
    /// `subgroupSizeControl` feature, with compute among `requiredSubgroupSizeStages`.
    pub size_control: bool,
    /// `computeFullSubgroups`
    pub full_subgroups: bool,
    /// Whether compute shaders may use any of the operations below.
    pub in_compute: bool,
    pub basic: bool,
    pub vote: bool,
    pub arithmetic: bool,
    pub ballot: bool,
    pub shuffle: bool,
    pub shuffle_relative: bool,
    pub clustered: bool,
    pub quad: bool,
    /// VK_KHR_shader_subgroup_rotate
    pub rotate: bool,
    pub rotate_clustered: bool,
    /// `shaderSubgroupExtendedTypes`
    pub extended_types: bool,
    /// `subgroupBroadcastDynamicId`
    pub broadcast_dynamic_id: bool,
}

/// `VkPhysicalDeviceLimits`, as far as compute needs it, and limits of later versions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    pub max_compute_work_group_count: [u32; 3],
    pub max_compute_work_group_size: [u32; 3],
    pub max_compute_work_group_invocations: u32,
    pub max_compute_shared_memory_bytes: u32,
    pub max_push_constant_bytes: u32,
    pub max_storage_buffer_range_bytes: u32,
    pub max_uniform_buffer_range_bytes: u32,
    /// `maxMemoryAllocationSize`
    pub max_memory_allocation_bytes: u64,
    /// `maxBufferSize` (1.3), else `max_memory_allocation_bytes`.
    pub max_buffer_bytes: u64,
    /// `sparseAddressSpaceSize`: all sparse buffers together.
    pub max_sparse_bytes: u64,
    pub max_memory_allocation_count: u32,
    /// Storage buffers in a set that is updated after it was bound, and in a stage: `VkPhysicalDeviceDescriptorIndexingProperties`.
    pub max_storage_buffer_descriptors: u32,
    pub max_image_dimension_1d: u32,
    pub max_image_dimension_2d: u32,
    pub max_image_dimension_3d: u32,
    pub max_image_array_layers: u32,
    pub max_texel_buffer_elements: u32,
    pub max_per_stage_storage_images: u32,
    pub max_per_stage_sampled_images: u32,
    pub max_per_stage_samplers: u32,
    pub max_sampler_anisotropy: f32,
    pub non_coherent_atom_bytes: u64,
    pub min_memory_map_alignment_bytes: u64,
    pub buffer_image_granularity_bytes: u64,
    /// Nanoseconds per timestamp tick.
    pub timestamp_period_ns: f32,
    pub max_compute_workgroup_subgroups: u32,
}

/// Features that exist; every one of them is enabled by [`super::Device::new`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    pub shader_int8: bool,
    pub shader_int16: bool,
    pub shader_int64: bool,
    pub shader_float16: bool,
    pub shader_float64: bool,
    pub storage_buffer_8bit: bool,
    pub storage_buffer_16bit: bool,
    pub push_constant_8bit: bool,
    pub push_constant_16bit: bool,
    pub buffer_int64_atomics: bool,
    pub shared_int64_atomics: bool,
    /// VK_EXT_shader_atomic_float: add and exchange/load/store on buffer and shared memory.
    pub buffer_float32_atomics: bool,
    pub buffer_float32_atomic_add: bool,
    pub buffer_float64_atomic_add: bool,
    pub shared_float32_atomic_add: bool,
    pub shared_float64_atomic_add: bool,
    pub buffer_device_address: bool,
    /// `bufferDeviceAddressCaptureReplay`
    pub address_capture_replay: bool,
    pub timeline_semaphore: bool,
    pub host_query_reset: bool,
    pub sampled_image_dynamic_indexing: bool,
    pub partially_bound: bool,
    pub sampled_image_update_after_bind: bool,
    pub update_unused_while_pending: bool,
    pub storage_buffer_array_non_uniform_indexing: bool,
    pub storage_buffer_update_after_bind: bool,
    pub vulkan_memory_model: bool,
    pub vulkan_memory_model_device_scope: bool,
    pub scalar_block_layout: bool,
    pub subgroup_extended_types: bool,
    pub subgroup_broadcast_dynamic_id: bool,
    pub variable_pointers: bool,
    pub variable_pointers_storage_buffer: bool,
    pub subgroup_size_control: bool,
    pub compute_full_subgroups: bool,
    pub workgroup_explicit_layout: bool,
    pub workgroup_explicit_layout_8bit: bool,
    pub workgroup_explicit_layout_16bit: bool,
    pub zero_initialize_workgroup_memory: bool,
    pub integer_dot_product: bool,
    pub maintenance4: bool,
    pub maximal_reconvergence: bool,
    pub subgroup_rotate: bool,
    pub subgroup_rotate_clustered: bool,
    pub shader_subgroup_clock: bool,
    pub shader_device_clock: bool,
    pub expect_assume: bool,
    pub map_memory_placed: bool,
    pub storage_image_read_without_format: bool,
    pub storage_image_write_without_format: bool,
    pub storage_image_extended_formats: bool,
    pub sampler_anisotropy: bool,
    pub sparse_binding: bool,
}

impl Features {
    /// Whether there are arrays of sampled images, indexed by what is the same for all, with descriptors that change while
    /// others are in use.
    pub fn has_sampled_image_arrays(&self) -> bool {
        self.sampled_image_dynamic_indexing
            && self.partially_bound
            && self.sampled_image_update_after_bind
            && self.update_unused_while_pending
    }

    /// Whether there are arrays of storage buffers, indexed by anything, with descriptors that change while others are in use.
    pub fn has_storage_buffer_arrays(&self) -> bool {
        self.storage_buffer_array_non_uniform_indexing
            && self.partially_bound
            && self.storage_buffer_update_after_bind
            && self.update_unused_while_pending
    }
}

/// Which integer dot products the device runs faster than their parts
/// (VkPhysicalDeviceShaderIntegerDotProductProperties, 8-bit forms).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DotProductAcceleration {
    pub signed_8bit: bool,
    pub unsigned_8bit: bool,
    pub mixed_8bit: bool,
    pub signed_4x8bit_packed: bool,
    pub unsigned_4x8bit_packed: bool,
    pub mixed_4x8bit_packed: bool,
    pub saturating_signed_8bit: bool,
    pub saturating_unsigned_8bit: bool,
    pub saturating_mixed_8bit: bool,
    pub saturating_signed_4x8bit_packed: bool,
    pub saturating_unsigned_4x8bit_packed: bool,
    pub saturating_mixed_4x8bit_packed: bool,
}

/// What can be done with one kind of file descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FdSupport {
    pub import: bool,
    pub export: bool,
}

/// Semaphores as file descriptors (VK_KHR_external_semaphore_fd), binary ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SemaphoreFds {
    pub opaque: FdSupport,
    pub sync: FdSupport,
}

/// Memory for buffers as file descriptors (VK_KHR_external_memory_fd, VK_EXT_external_memory_dma_buf).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryFds {
    pub opaque: FdSupport,
    pub dma_buf: FdSupport,
    /// Imported memory must be dedicated to its buffer.
    pub needs_dedicated: bool,
}

impl FdSupport {
    /// Whether there is anything.
    pub fn any(&self) -> bool {
        self.import || self.export
    }
}

impl SemaphoreFds {
    /// Whether there is anything.
    pub fn any(&self) -> bool {
        self.opaque.any() || self.sync.any()
    }
}

/// Everything that is asked of a physical device, collected once.
#[derive(Clone, Debug, PartialEq)]
pub struct PhysicalDeviceInfo {
    pub name: String,
    pub vendor_id: u32,
    pub device_id: u32,
    pub device_type: DeviceType,
    /// What is known of its driver beside what Vulkan says.
    pub driver: Driver,
    pub driver_name: String,
    pub driver_info: String,
    /// `driverVersion`, packed as the driver does.
    pub driver_version: u32,
    /// `(major, minor, patch)` of the Vulkan version that the device implements.
    pub api_version: (u32, u32, u32),
    pub device_uuid: [u8; 16],
    pub driver_uuid: [u8; 16],
    /// Changes when the driver can't use the pipelines that it kept.
    pub pipeline_cache_uuid: [u8; 16],
    pub device_luid: Option<[u8; 8]>,
    pub device_node_mask: u32,
    pub pci: Option<PciBusInfo>,
    pub drm: Option<DrmNode>,
    /// Streaming multiprocessors, compute units or shader cores, where an extension of the vendor tells.
    pub compute_units: Option<u32>,
    pub limits: Limits,
    pub features: Features,
    pub subgroup: SubgroupInfo,
    pub float16_controls: FloatControls,
    pub float32_controls: FloatControls,
    pub float64_controls: FloatControls,
    pub dot_product: DotProductAcceleration,
    pub memory_heaps: Vec<MemoryHeap>,
    pub memory_types: Vec<MemoryType>,
    /// Bits of a timestamp that mean something; 0 where the compute queue has none.
    pub timestamp_valid_bits: u32,
    /// Queues in the family that compute work goes to.
    pub compute_queues: u32,
    /// Whether a buffer can have several allocations: the feature `sparseBinding`, and queues that bind.
    pub has_sparse_buffers: bool,
    /// Device and CLOCK_MONOTONIC time can be read together (VK_KHR/EXT_calibrated_timestamps).
    pub calibrated_timestamps: bool,
    /// `minImportedHostPointerAlignment`, where memory of the host can be that of a buffer (VK_EXT_external_memory_host).
    pub import_host_pointer_alignment_bytes: Option<u64>,
    pub semaphore_fds: SemaphoreFds,
    pub memory_fds: MemoryFds,
    /// `minPlacedMemoryMapAlignment`, where VK_EXT_map_memory_placed exists.
    pub min_placed_map_alignment_bytes: Option<u64>,
    /// Names of all device extensions, sorted.
    pub extensions: Vec<String>,
}

impl PhysicalDeviceInfo {
    /// Whether the device has the extension `name`.
    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions
            .binary_search_by(|have| have.as_str().cmp(name))
            .is_ok()
    }

    /// Bytes of all device-local heaps; of all heaps where none is device-local.
    pub fn device_memory_bytes(&self) -> u64 {
        let local: u64 = self
            .memory_heaps
            .iter()
            .filter(|heap| heap.device_local)
            .map(|heap| heap.size_bytes)
            .sum();
        if local > 0 {
            return local;
        }
        self.memory_heaps.iter().map(|heap| heap.size_bytes).sum()
    }

    /// Bytes of the largest buffer, over several allocations where the device has sparse buffers.
    pub fn largest_buffer_bytes(&self) -> u64 {
        let in_one = self.largest_allocation_bytes();
        if self.has_sparse_buffers {
            let limits = &self.limits;
            in_one.max(limits.max_sparse_bytes.min(limits.max_buffer_bytes))
        } else {
            in_one
        }
    }

    /// Bytes of the largest buffer that has one allocation.
    pub fn largest_allocation_bytes(&self) -> u64 {
        let shortfall_bytes = self.driver.host.allocation_shortfall_bytes;
        (self.limits.max_memory_allocation_bytes)
            .saturating_sub(shortfall_bytes)
            .min(self.limits.max_buffer_bytes)
    }

    /// Whether device-local memory is host memory too: mapped, cached, coherent.
    pub fn has_unified_memory(&self) -> bool {
        self.memory_types.iter().any(|kind| {
            kind.device_local && kind.host_visible && kind.host_coherent && kind.host_cached
        })
    }

    /// Whether memory can be mapped at an address of the caller's choice.
    pub fn places_mappings(&self) -> bool {
        self.features.map_memory_placed
            && self.min_placed_map_alignment_bytes.is_some()
            && self.has_extension("VK_KHR_map_memory2")
    }

    /// Why this device can't run Pumice, `None` when it can. One sentence for `pumice info`.
    pub fn unusable_reason(&self) -> Option<String> {
        let (major, minor, _) = self.api_version;
        if (major, minor) < (1, 1) {
            return Some(format!(
                "it implements Vulkan {major}.{minor}; 1.1 is needed"
            ));
        }
        let needed = [
            (self.compute_queues > 0, "a queue family with compute"),
            (
                self.features.buffer_device_address || self.features.has_storage_buffer_arrays(),
                "the feature bufferDeviceAddress, or descriptor indexing of storage buffers",
            ),
        ];
        let missing: Vec<&str> = needed
            .iter()
            .filter(|(present, _)| !present)
            .map(|(_, what)| *what)
            .collect();
        if missing.is_empty() {
            return None;
        }
        Some(format!("it lacks {}", missing.join(", ")))
    }
}
