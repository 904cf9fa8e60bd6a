//! How a kernel's sub-groups are formed on a device: what its pipelines ask for, and what that allows of
//! work-groups.

use crate::compiler::{Capabilities, CompiledKernel};
use crate::vulkan::PhysicalDeviceInfo;

/// The sub-groups of one kernel on one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubGroupSizes {
    /// Work-items in a full one, as the kernel was compiled: `get_max_sub_group_size`.
    pub size: u32,
    /// Whether pipelines must ask for that size: it matters, and the device has others too.
    pub is_required: bool,
    /// The most work-items in a work-group with that size; `None` where Vulkan sets no limit of its own.
    pub max_group_size: Option<u32>,
    /// Whether Vulkan is to be told where all are full.
    tells_full: bool,
    /// Whether a work-group is one row of work-items to Vulkan.
    in_a_row: bool,
}

impl SubGroupSizes {
    /// Where sub-groups matter they must have the size that the kernel was compiled for. A size that the kernel
    /// asks for is had even if nothing depends on it.
    pub fn of(
        kernel: &CompiledKernel,
        capabilities: &Capabilities,
        info: &PhysicalDeviceInfo,
    ) -> Self {
        let device = &info.subgroup;
        let size = capabilities.subgroup_size_of(&kernel.attributes);
        let asked = kernel.attributes.required_sub_group_size.is_some();
        let matters = (kernel.uses_subgroups || asked) && size > 1;
        let is_required = matters && device.min_size != device.max_size && device.size_control;
        // "If a VkPipelineShaderStageRequiredSubgroupSizeCreateInfo structure is included in the pNext chain … the total
        // number of invocations in a workgroup must be less than or equal to the product of requiredSubgroupSize and
        // maxComputeWorkgroupSubgroups." Zero is what a device that was not asked says.
        let most = info.limits.max_compute_workgroup_subgroups;
        Self {
            size,
            is_required,
            max_group_size: (is_required && most > 0).then(|| most.saturating_mul(size)),
            tells_full: matters && device.full_subgroups,
            in_a_row: kernel.uses_subgroups,
        }
    }

    /// Whether Vulkan can be told that all sub-groups are full: "the local workgroup size in the X dimension … must be
    /// a multiple of" their size.
    pub fn are_full(&self, local_size: [u32; 3]) -> bool {
        let [x, y, z] = local_size.map(u64::from);
        let row = if self.in_a_row {
            x.saturating_mul(y).saturating_mul(z)
        } else {
            x
        };
        self.tells_full && row.is_multiple_of(self.size.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::device::limits::tests::software_device;
    use crate::runtime::launch::plan::tests::kernel;

    /// The sizes on a device with sub-groups of 8, 16 and 32 work-items, 16 of them in a work-group.
    fn sizes(asked: Option<u32>, uses_subgroups: bool) -> SubGroupSizes {
        let mut kernel = kernel(None);
        kernel.attributes.required_sub_group_size = asked;
        kernel.uses_subgroups = uses_subgroups;
        let mut info = software_device();
        info.subgroup.min_size = 8;
        info.subgroup.max_size = 32;
        info.subgroup.size_control = true;
        info.subgroup.full_subgroups = true;
        info.limits.max_compute_workgroup_subgroups = 16;
        SubGroupSizes::of(&kernel, &Capabilities::full(), &info)
    }

    #[test]
    fn full_sub_groups_are_those_of_vulkans_rows() {
        let asked = sizes(Some(32), false);
        assert!(asked.are_full([32, 2, 1]));
        assert!(
            !asked.are_full([8, 4, 1]),
            "its first row is not a multiple"
        );
        let uses = sizes(Some(32), true);
        assert!(uses.are_full([8, 4, 1]), "it runs as one row of 32");
        assert!(!uses.are_full([8, 5, 1]));
        assert!(!sizes(None, false).are_full([32, 1, 1]), "nobody asks");
    }

    #[test]
    fn a_required_size_bounds_the_work_group() {
        assert_eq!(sizes(Some(8), false).max_group_size, Some(128));
        assert_eq!(sizes(None, true).max_group_size, Some(512));
        assert_eq!(sizes(None, false).max_group_size, None);
        assert!(sizes(Some(8), false).is_required);
    }
}
