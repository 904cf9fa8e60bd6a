//! What a device allows of one dispatch of a kernel.

use super::Device;
use super::sub_group_sizes::SubGroupSizes;
use crate::compiler::CompiledKernel;

/// What a device allows of one dispatch of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkLimits {
    /// `CL_DEVICE_MAX_WORK_GROUP_SIZE`
    pub max_group_size: u32,
    /// `CL_DEVICE_MAX_WORK_ITEM_SIZES`
    pub max_item_sizes: [u32; 3],
    /// `maxComputeWorkGroupCount`
    pub max_group_counts: [u32; 3],
    /// Work-items that run together; a work-group smaller than this wastes the rest.
    pub subgroup_size: u32,
    /// `get_max_sub_group_size` of the kernel.
    pub kernel_subgroup_size: u32,
}

impl WorkLimits {
    /// The limits of a kernel on a device.
    pub fn of(device: &Device, kernel: &CompiledKernel) -> Self {
        let limits = device.limits();
        let sub_groups = SubGroupSizes::of(kernel, device.capabilities(), device.info());
        let most = limits.max_work_group_size as u32;
        Self {
            max_group_size: sub_groups.max_group_size.unwrap_or(most).min(most),
            max_item_sizes: limits.max_work_item_sizes.map(|size| size as u32),
            max_group_counts: device.info().limits.max_compute_work_group_count,
            subgroup_size: limits.subgroup_size,
            kernel_subgroup_size: sub_groups.size,
        }
    }
}
