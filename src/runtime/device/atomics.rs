//! What atomic operations a device has, in OpenCL's terms.

use crate::vulkan::PhysicalDeviceInfo;

/// Whether atomics work on 64 bits in global and local memory alike, as the extensions ask.
pub fn has_int64(info: &PhysicalDeviceInfo) -> bool {
    let features = &info.features;
    features.shader_int64 && features.buffer_int64_atomics && features.shared_int64_atomics
}

/// The widths in bits of floats that can be loaded, stored, added to, and compared atomically: all that is
/// needed is a compare-exchange on as many bits.
pub fn float_bits(info: &PhysicalDeviceInfo) -> impl Iterator<Item = u32> {
    widths(has_double(info))
}

/// Whether doubles are among them.
pub fn has_double(info: &PhysicalDeviceInfo) -> bool {
    info.features.shader_float64 && has_int64(info)
}

fn widths(has_double: bool) -> impl Iterator<Item = u32> {
    [32].into_iter().chain(has_double.then_some(64))
}

/// The features of OpenCL C that cl_ext_float_atomics defines.
pub fn float_features(has_double: bool) -> Vec<&'static str> {
    widths(has_double)
        .flat_map(|bits| match bits {
            32 => &SINGLE[..],
            _ => &DOUBLE[..],
        })
        .copied()
        .collect()
}

const SINGLE: [&str; 4] = [
    "__opencl_c_ext_fp32_global_atomic_add",
    "__opencl_c_ext_fp32_global_atomic_min_max",
    "__opencl_c_ext_fp32_local_atomic_add",
    "__opencl_c_ext_fp32_local_atomic_min_max",
];
const DOUBLE: [&str; 4] = [
    "__opencl_c_ext_fp64_global_atomic_add",
    "__opencl_c_ext_fp64_global_atomic_min_max",
    "__opencl_c_ext_fp64_local_atomic_add",
    "__opencl_c_ext_fp64_local_atomic_min_max",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::device::limits::tests::software_device;

    #[test]
    fn wide_atomics_need_both_memories() {
        let mut info = software_device();
        assert_eq!(float_bits(&info).collect::<Vec<_>>(), [32]);
        info.features.shader_int64 = true;
        info.features.shader_float64 = true;
        info.features.buffer_int64_atomics = true;
        assert!(!has_int64(&info));
        info.features.shared_int64_atomics = true;
        assert!(has_int64(&info));
        assert_eq!(float_bits(&info).collect::<Vec<_>>(), [32, 64]);
        assert_eq!(float_features(has_double(&info)).len(), 8);
    }
}
