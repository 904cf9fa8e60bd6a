//! A device's limits in OpenCL's terms, worked out from Vulkan's once.

use super::target::min_subgroup_size;
use crate::compiler::{Defects, MAX_WORK_GROUP_SIZE};

use crate::vulkan::PhysicalDeviceInfo;
use crate::vulkan::info::DeviceType;

/// Limits behind `clGetDeviceInfo` and the argument checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    pub compute_units: u32,
    pub max_work_group_size: usize,
    pub max_work_item_sizes: [usize; 3],
    pub global_memory_bytes: u64,
    pub max_allocation_bytes: u64,
    pub local_memory_bytes: u64,
    /// `CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE`
    pub max_constant_buffer_bytes: u64,
    pub max_constant_arguments: u32,
    /// `CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE`
    pub max_global_variable_bytes: usize,
    pub max_parameter_bytes: usize,
    /// `CL_DEVICE_MEM_BASE_ADDR_ALIGN`, in bits.
    pub base_address_alignment_bits: u32,
    pub printf_buffer_bytes: usize,
    /// Work-items that run in step: the preferred multiple of a work-group's size.
    pub subgroup_size: u32,
    /// `CL_DEVICE_MAX_NUM_SUB_GROUPS`
    pub max_sub_groups: u32,
    pub timer_resolution_ns: usize,
}

/// `CL_DEVICE_MAX_PIPE_ARGS`: a pipe is an address, and so many fit any kernel.
pub const MAX_PIPE_ARGUMENTS: u32 = 64;

/// `CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS`: a reservation takes room in its pipe only, so that there is no
/// bound but that.
pub const MAX_PIPE_RESERVATIONS: u32 = 1 << 12;

/// `CL_DEVICE_PIPE_MAX_PACKET_SIZE`, bytes: more than any type that a kernel would copy as a whole.
pub const MAX_PIPE_PACKET_BYTES: u32 = 1 << 14;

const MIB: u64 = 1 << 20;

/// Bytes of a kernel's arguments. `CL_DEVICE_MAX_PARAMETER_SIZE` is at least 1024.
const MAX_PARAMETER_BYTES: usize = 4096;
/// What a pointer takes of them.
const ADDRESS_BYTES: usize = 8;

/// The most that is said of a buffer of constant memory, though it is memory like any other: a whole number of words that 32 bits
/// can count. Programs take the size for a small one; the conformance tests (`api min_max_constant_args`, in 2026) have an `int`
/// for half of it, and make no buffer of what is left behind 32 bits.
const MOST_CONSTANT_BYTES: u64 = u32::MAX as u64 - 3;

impl Limits {
    pub fn of(info: &PhysicalDeviceInfo) -> Self {
        let vulkan = &info.limits;
        let global_memory_bytes = info.device_memory_bytes();
        let largest_heap_bytes = info
            .memory_heaps
            .iter()
            .map(|heap| heap.size_bytes)
            .max()
            .unwrap_or(0);
        let max_allocation_bytes =
            max_allocation_bytes(info, global_memory_bytes, largest_heap_bytes);
        // Kernels that use sub-groups run as one row of work-items. No known device allows less in a row
        // than in a work-group.
        let max_work_group_size = vulkan
            .max_compute_work_group_invocations
            .min(vulkan.max_compute_work_group_size[0])
            .min(MAX_WORK_GROUP_SIZE.into()) as usize;
        Self {
            compute_units: compute_units(info),
            max_work_group_size,
            max_work_item_sizes: vulkan
                .max_compute_work_group_size
                .map(|size| (size as usize).min(max_work_group_size)),
            global_memory_bytes,
            max_allocation_bytes,
            local_memory_bytes: u64::from(vulkan.max_compute_shared_memory_bytes),
            max_constant_buffer_bytes: max_allocation_bytes.min(MOST_CONSTANT_BYTES),
            max_constant_arguments: (MAX_PARAMETER_BYTES / ADDRESS_BYTES) as u32,
            // They lie in device memory; what a program holds of them is also in its binary.
            max_global_variable_bytes: MIB as usize,
            // An argument block that does not fit the push constants goes to memory.
            max_parameter_bytes: MAX_PARAMETER_BYTES,
            // "The minimum value is the size (in bits) of the largest OpenCL built-in data type
            // supported by the device (long16 in FULL profile)."
            base_address_alignment_bits: 128 * 8,
            printf_buffer_bytes: MIB as usize,
            subgroup_size: info.subgroup.size.max(1),
            max_sub_groups: max_sub_groups(info, max_work_group_size as u32),
            timer_resolution_ns: (vulkan.timestamp_period_ns.ceil() as usize).max(1),
        }
    }
}

/// Local memory of a device with OpenCL's full profile, bytes, at least.
const FULL_PROFILE_LOCAL_BYTES: u64 = 32 << 10;

impl Limits {
    /// Whether `CL_DEVICE_PROFILE` is `EMBEDDED_PROFILE`: the device is too small for the full one.
    pub fn has_embedded_profile(&self) -> bool {
        self.local_memory_bytes < FULL_PROFILE_LOCAL_BYTES
    }
}

/// Bytes of an image: generated code counts bytes within one in 32 bits.
pub const MAX_IMAGE_BYTES: u64 = u32::MAX as u64;
/// Texels of an image that is made of a buffer.
const MAX_IMAGE_BUFFER_TEXELS: usize = 1 << 27;

impl Limits {
    /// `CL_DEVICE_IMAGE_MAX_BUFFER_SIZE`, in texels.
    pub fn max_image_buffer_texels(&self) -> usize {
        const LARGEST_TEXEL_BYTES: u64 = 16;
        let bytes = self.max_allocation_bytes.min(MAX_IMAGE_BYTES);
        ((bytes / LARGEST_TEXEL_BYTES) as usize).min(MAX_IMAGE_BUFFER_TEXELS)
    }
}

/// The most sub-groups in a work-group of any kernel: one that asks for the smallest.
fn max_sub_groups(info: &PhysicalDeviceInfo, max_work_group_size: u32) -> u32 {
    let count = max_work_group_size.div_ceil(min_subgroup_size(&info.subgroup));
    match info.limits.max_compute_workgroup_subgroups {
        // Vulkan's limit holds for sizes that are asked for.
        most if most > 0 && info.subgroup.min_size != info.subgroup.max_size => count.min(most),
        _ => count,
    }
}

/// The compute units of a device that does not make all iterations of long loops: programs that divide their work by
/// the units have shorter loops so. Each unit is a lane of a vector then, or less.
const UNITS_FOR_SHORT_LOOPS: u32 = 64;

/// What an extension tells, or the processors of a software device; else the least that is true.
fn compute_units(info: &PhysicalDeviceInfo) -> u32 {
    let least = if info.driver.defects.contains(Defects::LIMITS_ITERATIONS) {
        UNITS_FOR_SHORT_LOOPS
    } else {
        1
    };
    known_compute_units(info).max(least)
}

fn known_compute_units(info: &PhysicalDeviceInfo) -> u32 {
    match (info.compute_units, info.device_type) {
        (Some(count), _) => count,
        (None, DeviceType::Cpu) => {
            std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
        }
        (None, _) => 1,
    }
}

fn max_allocation_bytes(info: &PhysicalDeviceInfo, global_bytes: u64, heap_bytes: u64) -> u64 {
    // The driver takes some of a heap, and whoever else uses the device.
    let largest_bytes = info.largest_buffer_bytes();
    let possible = if largest_bytes > info.largest_allocation_bytes() {
        largest_bytes.min(heap_bytes - heap_bytes / 8)
    } else {
        largest_bytes.min(heap_bytes)
    };
    // "The minimum value is max(min(1024 × 1024 × 1024, 1/4th of CL_DEVICE_GLOBAL_MEM_SIZE),
    // 32 × 1024 × 1024) for devices that are not of type CL_DEVICE_TYPE_CUSTOM." The heap of a software
    // device is all of the machine's memory, which is not there to be taken as one piece.
    if info.device_type == DeviceType::Cpu {
        return possible.min((global_bytes / 4).max(1024 * MIB));
    }
    possible
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::drivers::{Driver, HostBehaviour, swiftshader};
    use crate::vulkan::info::{self, Features, MemoryHeap, SubgroupInfo};

    /// A software device as SwiftShader is one.
    pub(crate) fn software_device() -> PhysicalDeviceInfo {
        PhysicalDeviceInfo {
            name: "Software".to_owned(),
            vendor_id: 0x1AE0,
            device_id: 0xC0DE,
            device_type: DeviceType::Cpu,
            driver: Driver {
                host: HostBehaviour {
                    allocation_shortfall_bytes: 0,
                    ..swiftshader::DRIVER.host
                },
                ..swiftshader::DRIVER
            },
            driver_name: "driver".to_owned(),
            driver_info: String::new(),
            driver_version: 1,
            api_version: (1, 3, 0),
            device_uuid: [1; 16],
            driver_uuid: [2; 16],
            pipeline_cache_uuid: [3; 16],
            device_luid: None,
            device_node_mask: 0,
            pci: None,
            drm: None,
            compute_units: Some(6),
            limits: info::Limits {
                max_compute_work_group_count: [65535; 3],
                max_compute_work_group_size: [256, 512, 64],
                max_compute_work_group_invocations: 256,
                max_compute_shared_memory_bytes: 32 << 10,
                max_push_constant_bytes: 128,
                max_memory_allocation_bytes: 2 << 30,
                max_buffer_bytes: 4 << 30,
                timestamp_period_ns: 1.5,
                ..info::Limits::default()
            },
            features: Features::default(),
            subgroup: SubgroupInfo {
                size: 4,
                min_size: 4,
                max_size: 4,
                basic: true,
                ..SubgroupInfo::default()
            },
            float16_controls: info::FloatControls::default(),
            float32_controls: info::FloatControls::default(),
            float64_controls: info::FloatControls::default(),
            dot_product: info::DotProductAcceleration::default(),
            memory_heaps: vec![MemoryHeap {
                size_bytes: 16 << 30,
                device_local: true,
            }],
            memory_types: Vec::new(),
            timestamp_valid_bits: 64,
            has_sparse_buffers: false,
            compute_queues: 1,
            calibrated_timestamps: false,
            import_host_pointer_alignment_bytes: None,
            semaphore_fds: Default::default(),
            memory_fds: Default::default(),
            min_placed_map_alignment_bytes: None,
            extensions: Vec::new(),
        }
    }

    #[test]
    fn limits_are_those_that_vulkan_gives_together() {
        let limits = Limits::of(&software_device());
        assert_eq!(limits.max_work_group_size, 256);
        assert_eq!(limits.max_work_item_sizes, [256, 256, 64]);
        assert_eq!(limits.timer_resolution_ns, 2);
        assert_eq!(limits.subgroup_size, 4);
        assert_eq!(limits.compute_units, 6);
    }

    #[test]
    fn constant_memory_is_memory() {
        let mut info = software_device();
        let limits = Limits::of(&info);
        assert_eq!(limits.max_constant_buffer_bytes, 2 << 30);
        assert_eq!(
            limits.max_constant_buffer_bytes,
            limits.max_allocation_bytes
        );
        assert_eq!(limits.max_constant_arguments, 512);
        (info.device_type, info.limits.max_memory_allocation_bytes) =
            (DeviceType::DiscreteGpu, 8 << 30);
        info.limits.max_buffer_bytes = 8 << 30;
        assert_eq!(Limits::of(&info).max_constant_buffer_bytes, (4 << 30) - 4);
    }

    #[test]
    fn a_device_of_few_iterations_has_many_units() {
        let mut info = software_device();
        assert_eq!(Limits::of(&info).compute_units, 6);
        info.driver.defects |= Defects::LIMITS_ITERATIONS;
        assert_eq!(Limits::of(&info).compute_units, UNITS_FOR_SHORT_LOOPS);
    }

    #[test]
    fn the_smallest_sub_groups_are_the_most() {
        let mut info = software_device();
        info.subgroup.in_compute = true;
        info.subgroup.ballot = true;
        info.subgroup.shuffle = true;
        assert_eq!(Limits::of(&info).max_sub_groups, 64);
        info.subgroup.max_size = 16;
        assert_eq!(Limits::of(&info).max_sub_groups, 16, "none of 4 can be had");
        info.subgroup.size_control = true;
        assert_eq!(Limits::of(&info).max_sub_groups, 64);
        info.limits.max_compute_workgroup_subgroups = 40;
        assert_eq!(Limits::of(&info).max_sub_groups, 40);
    }

    #[test]
    fn an_allocation_fits_the_heap_the_buffer_and_the_full_profile() {
        let mut info = software_device();
        assert_eq!(
            Limits::of(&info).max_allocation_bytes,
            2 << 30,
            "Vulkan's limit"
        );
        info.driver.host.allocation_shortfall_bytes = 16;
        assert_eq!(Limits::of(&info).max_allocation_bytes, (2 << 30) - 16);
        info.driver.host.allocation_shortfall_bytes = 0;
        info.limits.max_memory_allocation_bytes = 64 << 30;
        info.limits.max_buffer_bytes = 64 << 30;
        assert_eq!(
            Limits::of(&info).max_allocation_bytes,
            4 << 30,
            "a quarter of the memory"
        );
        info.device_type = DeviceType::DiscreteGpu;
        assert_eq!(Limits::of(&info).max_allocation_bytes, 16 << 30, "the heap");
        info.limits.max_memory_allocation_bytes = 1 << 30;
        assert_eq!(Limits::of(&info).max_allocation_bytes, 1 << 30);
        info.has_sparse_buffers = true;
        info.limits.max_sparse_bytes = 8 << 30;
        assert_eq!(Limits::of(&info).max_allocation_bytes, 8 << 30, "several");
        info.limits.max_sparse_bytes = 1 << 40;
        assert_eq!(
            Limits::of(&info).max_allocation_bytes,
            14 << 30,
            "seven eighths of the heap"
        );
        info.limits.max_memory_allocation_bytes = 64 << 30;
        info.memory_heaps[0].size_bytes = 2 << 30;
        info.device_type = DeviceType::Cpu;
        assert_eq!(
            Limits::of(&info).max_allocation_bytes,
            1 << 30,
            "the least allowed"
        );
    }
}
