//! Drivers of hardware of which no more is known than that.

use super::Driver;
use super::driver::{Arithmetic, Execution};

/// `VK_DRIVER_ID_AMD_PROPRIETARY`, `VK_DRIVER_ID_AMD_OPEN_SOURCE`, `VK_DRIVER_ID_INTEL_PROPRIETARY_WINDOWS`,
/// `VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA`, `VK_DRIVER_ID_MESA_NVK`
pub(super) const IDS: [u32; 5] = [1, 2, 5, 6, 24];

/// GPUs have a fused multiply-add, and schedule sub-groups one beside the other.
pub(super) const DRIVER: Driver = Driver {
    arithmetic: Arithmetic {
        fuses: true,
        ..Driver::UNKNOWN.arithmetic
    },
    execution: Execution {
        sub_groups_progress: true,
        ..Driver::UNKNOWN.execution
    },
    ..Driver::UNKNOWN
};
