//! Mesa's driver for Broadcom's GPUs, those of the Raspberry Pi.
//!
//! Tried without the hardware in 25.0.7.

use super::Driver;
use super::driver::Preferences;

/// `VK_DRIVER_ID_MESA_V3DV`
pub(super) const ID: u32 = 19;

/// The driver.
pub(super) const DRIVER: Driver = Driver {
    // Registers are allocated anew for each of up to thirteen strategies and for each value that is spilled: 26,000
    // instructions (`call_trees::private`, V3D 4.2) were not compiled after 120 s of a busy server, and are in 0.1 s with shared bodies.
    preferences: Preferences {
        shares_bodies: true,
        ..Driver::UNKNOWN.preferences
    },
    ..Driver::UNKNOWN
};
