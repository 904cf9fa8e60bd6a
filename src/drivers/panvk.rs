//! Mesa's driver for Arm's GPUs.
//!
//! Tried without the hardware in 25.0.7.

use super::Driver;
use super::driver::Preferences;

/// `VK_DRIVER_ID_MESA_PANVK`
pub(super) const ID: u32 = 20;

/// The driver.
pub(super) const DRIVER: Driver = Driver {
    // `bi_allocate_registers` takes 72 s for 26,000 instructions (`call_trees::private`, Mali-G610).
    preferences: Preferences {
        shares_bodies: true,
        ..Driver::UNKNOWN.preferences
    },
    ..Driver::UNKNOWN
};
