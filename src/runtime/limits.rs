//! A device's limits in OpenCL's terms, worked out from Vulkan's once.

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
    pub max_parameter_bytes: usize,
    /// `CL_DEVICE_MEM_BASE_ADDR_ALIGN`, in bits.
    pub base_address_alignment_bits: u32,
    pub printf_buffer_bytes: usize,
    /// Work-items that run in step: the preferred multiple of a work-group's size.
    pub subgroup_size: u32,
    pub timer_resolution_ns: usize,
}

const MIB: u64 = 1 << 20;

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
        let max_work_group_size = vulkan.max_compute_work_group_invocations as usize;
        Self {
            compute_units: compute_units(info.device_type),
            max_work_group_size,
            max_work_item_sizes: vulkan
                .max_compute_work_group_size
                .map(|size| (size as usize).min(max_work_group_size)),
            global_memory_bytes,
            max_allocation_bytes: max_allocation_bytes(
                info,
                global_memory_bytes,
                largest_heap_bytes,
            ),
            local_memory_bytes: u64::from(vulkan.max_compute_shared_memory_bytes),
            // Constant memory is memory like any other here; this is the full profile's minimum.
            max_constant_buffer_bytes: 64 << 10,
            max_constant_arguments: 64,
            // An argument block that does not fit the push constants goes to memory.
            max_parameter_bytes: 4096,
            // "The minimum value is the size (in bits) of the largest OpenCL built-in data type
            // supported by the device (long16 in FULL profile)."
            base_address_alignment_bits: 128 * 8,
            printf_buffer_bytes: MIB as usize,
            subgroup_size: info.subgroup.size.max(1),
            timer_resolution_ns: (vulkan.timestamp_period_ns.ceil() as usize).max(1),
        }
    }
}

/// Vulkan has no query for this: the processors of a software device, else the least that is true.
fn compute_units(kind: DeviceType) -> u32 {
    match kind {
        DeviceType::Cpu => {
            std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
        }
        _ => 1,
    }
}

fn max_allocation_bytes(info: &PhysicalDeviceInfo, global_bytes: u64, heap_bytes: u64) -> u64 {
    let limits = &info.limits;
    let possible = limits
        .max_memory_allocation_bytes
        .min(limits.max_buffer_bytes)
        .min(heap_bytes);
    // "The minimum value is max(min(1024 × 1024 × 1024, 1/4th of CL_DEVICE_GLOBAL_MEM_SIZE),
    // 32 × 1024 × 1024) for devices that are not of type CL_DEVICE_TYPE_CUSTOM." The heap of a software
    // device is all of the machine's memory, which is not there to be taken as one piece.
    if info.device_type == DeviceType::Cpu {
        return possible.min((global_bytes / 4).max(1024 * MIB));
    }
    possible
}
