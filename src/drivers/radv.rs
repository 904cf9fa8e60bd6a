//! Mesa's driver for AMD's GPUs.

use super::{Defects, Driver};

/// `VK_DRIVER_ID_MESA_RADV`
pub(super) const ID: u32 = 3;

/// Defects on GPUs of GFX6 and GFX7, seen in 22.3: they have no 16-bit arithmetic, and the driver ends the process
/// where it has an 8- or 16-bit subtraction to make, for which it takes `v_subrev_u16`.
const DEFECTS_BEFORE_GFX8: Defects = Defects::UNKNOWN.union(Defects::MISCOMPUTES_NARROW_INTEGERS);

/// Its defects in version 22.3.6 on a GPU that keeps denormal doubles.
pub const DEFECTS_IN_DEBIAN_12: Defects = Defects::UNKNOWN
    .union(Defects::MISTAKES_SIGNS)
    .union(Defects::MISCOUNTS_ITERATIONS)
    .union(Defects::JOINS_CONVERSIONS);

/// The driver on a GPU that keeps denormal doubles, or not: there is no query for its generation, and those before GFX8 keep
/// none.
pub(super) fn driver(preserves_denormals64: bool) -> Driver {
    if preserves_denormals64 {
        return Driver::UNKNOWN;
    }
    Driver {
        defects: DEFECTS_BEFORE_GFX8,
        ..Driver::UNKNOWN
    }
}
