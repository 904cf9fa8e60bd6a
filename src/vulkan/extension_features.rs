//! The features of extensions, as a device is asked for them and created with them.

use std::ffi::CStr;

use ash::{ext, khr, vk};

/// Structures of features, one for each extension that has some of use.
#[derive(Default)]
pub(super) struct ExtensionFeatures {
    pub explicit_layout: vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR<'static>,
    pub reconvergence: vk::PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR<'static>,
    pub rotate: vk::PhysicalDeviceShaderSubgroupRotateFeaturesKHR<'static>,
    pub clock: vk::PhysicalDeviceShaderClockFeaturesKHR<'static>,
    pub expect: vk::PhysicalDeviceShaderExpectAssumeFeaturesKHR<'static>,
    pub placed: vk::PhysicalDeviceMapMemoryPlacedFeaturesEXT<'static>,
    pub atomic_float: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'static>,
}

impl ExtensionFeatures {
    /// Chains the structures of those extensions that are there.
    pub fn push<'a>(
        &'a mut self,
        mut all: vk::PhysicalDeviceFeatures2<'a>,
        is_there: impl Fn(&CStr) -> bool,
    ) -> vk::PhysicalDeviceFeatures2<'a> {
        if is_there(khr::workgroup_memory_explicit_layout::NAME) {
            all = all.push_next(&mut self.explicit_layout);
        }
        if is_there(khr::shader_maximal_reconvergence::NAME) {
            all = all.push_next(&mut self.reconvergence);
        }
        if is_there(khr::shader_subgroup_rotate::NAME) {
            all = all.push_next(&mut self.rotate);
        }
        if is_there(khr::shader_clock::NAME) {
            all = all.push_next(&mut self.clock);
        }
        if is_there(khr::shader_expect_assume::NAME) {
            all = all.push_next(&mut self.expect);
        }
        if is_there(ext::map_memory_placed::NAME) {
            all = all.push_next(&mut self.placed);
        }
        if is_there(ext::shader_atomic_float::NAME) {
            all = all.push_next(&mut self.atomic_float);
        }
        all
    }
}
