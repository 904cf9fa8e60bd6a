//! Mesa's driver for Intel's GPUs.
//!
//! Tried without the hardware in 25.0.7.

use super::driver::Preferences;
use super::{Defects, Driver};

/// `VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA`
pub(super) const ID: u32 = 6;

/// The driver.
pub(super) const DRIVER: Driver = Driver {
    // `brw_schedule_instructions_post_ra` of 25.0.7 reads what is not its own over `group_exchanges::vectors_move_whole` of 64-bit
    // integers, for sub-groups of 32 on Tiger Lake (and over one like it on DG2): an instruction there names a register beyond all
    // that there are. With shuffles it does not.
    defects: Defects::UNKNOWN.union(Defects::BREAKS_ON_BROADCASTS),
    // `brw_opt_register_coalesce` takes 81 s for 26,000 instructions (`call_trees::private`, Tiger Lake).
    preferences: Preferences {
        shares_bodies: true,
        ..Driver::UNKNOWN.preferences
    },
    ..Driver::UNKNOWN
};
