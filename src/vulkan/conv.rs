//! Pure conversions between Vulkan's types and ours.

use std::ffi::{CStr, c_char};

use ash::vk;

use super::copy_region::CopyRegion;
use super::info::{DeviceType, FloatControls, MemoryHeap, MemoryType};

/// What every buffer is used for, on a device with buffer device addresses or without.
pub(super) fn buffer_usage(has_addresses: bool) -> vk::BufferUsageFlags {
    let mut usage = vk::BufferUsageFlags::STORAGE_BUFFER
        | vk::BufferUsageFlags::TRANSFER_SRC
        | vk::BufferUsageFlags::TRANSFER_DST
        | vk::BufferUsageFlags::INDIRECT_BUFFER
        | vk::BufferUsageFlags::UNIFORM_BUFFER;
    if has_addresses {
        usage |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    }
    usage
}

/// `VkPhysicalDeviceType`
pub(super) fn map_device_type(kind: vk::PhysicalDeviceType) -> DeviceType {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => DeviceType::DiscreteGpu,
        vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceType::IntegratedGpu,
        vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceType::VirtualGpu,
        vk::PhysicalDeviceType::CPU => DeviceType::Cpu,
        _ => DeviceType::Other,
    }
}

/// A packed Vulkan version as `(major, minor, patch)`.
pub(super) fn map_version(packed: u32) -> (u32, u32, u32) {
    (
        vk::api_version_major(packed),
        vk::api_version_minor(packed),
        vk::api_version_patch(packed),
    )
}

/// A fixed array that Vulkan filled with a C string. Without a terminator all of it is the string.
pub(super) fn map_string(chars: &[c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().map(|c| c.to_ne_bytes()[0]).collect();
    match CStr::from_bytes_until_nul(&bytes) {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

pub(super) fn map_memory_heap(heap: &vk::MemoryHeap) -> MemoryHeap {
    MemoryHeap {
        size_bytes: heap.size,
        device_local: heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL),
    }
}

pub(super) fn map_memory_type(kind: &vk::MemoryType) -> MemoryType {
    let has = |flag| kind.property_flags.contains(flag);
    MemoryType {
        heap: kind.heap_index,
        device_local: has(vk::MemoryPropertyFlags::DEVICE_LOCAL),
        host_visible: has(vk::MemoryPropertyFlags::HOST_VISIBLE),
        host_coherent: has(vk::MemoryPropertyFlags::HOST_COHERENT),
        host_cached: has(vk::MemoryPropertyFlags::HOST_CACHED),
    }
}

/// The float controls of the three widths: 16, 32, 64 bits.
pub(super) fn map_float_controls(
    controls: &vk::PhysicalDeviceFloatControlsProperties<'_>,
) -> [FloatControls; 3] {
    let is = |flag: vk::Bool32| flag == vk::TRUE;
    [
        FloatControls {
            denorm_preserve: is(controls.shader_denorm_preserve_float16),
            denorm_flush_to_zero: is(controls.shader_denorm_flush_to_zero_float16),
            rounding_rte: is(controls.shader_rounding_mode_rte_float16),
            rounding_rtz: is(controls.shader_rounding_mode_rtz_float16),
            signed_zero_inf_nan_preserve: is(controls.shader_signed_zero_inf_nan_preserve_float16),
        },
        FloatControls {
            denorm_preserve: is(controls.shader_denorm_preserve_float32),
            denorm_flush_to_zero: is(controls.shader_denorm_flush_to_zero_float32),
            rounding_rte: is(controls.shader_rounding_mode_rte_float32),
            rounding_rtz: is(controls.shader_rounding_mode_rtz_float32),
            signed_zero_inf_nan_preserve: is(controls.shader_signed_zero_inf_nan_preserve_float32),
        },
        FloatControls {
            denorm_preserve: is(controls.shader_denorm_preserve_float64),
            denorm_flush_to_zero: is(controls.shader_denorm_flush_to_zero_float64),
            rounding_rte: is(controls.shader_rounding_mode_rte_float64),
            rounding_rtz: is(controls.shader_rounding_mode_rtz_float64),
            signed_zero_inf_nan_preserve: is(controls.shader_signed_zero_inf_nan_preserve_float64),
        },
    ]
}

pub(super) fn map_copy_region(region: &CopyRegion) -> vk::BufferCopy {
    vk::BufferCopy {
        src_offset: region.source_offset_bytes,
        dst_offset: region.target_offset_bytes,
        size: region.size_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_the_terminator_or_the_array() {
        let named = [b'a', b'b', 0, b'c'].map(|byte| byte as c_char);
        assert_eq!(map_string(&named), "ab");
        let full = [b'a', b'b'].map(|byte| byte as c_char);
        assert_eq!(map_string(&full), "ab");
    }

    #[test]
    fn versions_unpack() {
        assert_eq!(map_version(vk::make_api_version(0, 1, 3, 275)), (1, 3, 275));
    }
}
