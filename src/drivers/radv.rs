//! Mesa's driver for AMD's GPUs.

use super::Defects;

/// `VK_DRIVER_ID_MESA_RADV`
pub const ID: u32 = 3;

/// Defects on GPUs of GFX6 and GFX7, seen in 22.3: they have no 16-bit arithmetic, and the driver ends the process
/// where it has an 8- or 16-bit subtraction to make, for which it takes `v_subrev_u16`.
pub const DEFECTS_BEFORE_GFX8: Defects =
    Defects::UNKNOWN.union(Defects::MISCOMPUTES_NARROW_INTEGERS);
