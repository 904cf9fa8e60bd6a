//! NVIDIA's own driver.
//!
//! Tried in 580.159.04.

use super::Defects;

/// `VK_DRIVER_ID_NVIDIA_PROPRIETARY`
pub const ID: u32 = 4;

/// What the driver gets wrong. It loses where narrow integers end: of `t = OpUConvert %uchar %ulong`,
/// `s = OpIAdd %uchar %t %uchar_9`, `OpULessThan %s %uchar_9` it compares the sum of 32 bits.
pub const DEFECTS: Defects = Defects::MISCOMPUTES_NARROW_INTEGERS
    .union(Defects::MISREADS_RANGES)
    .union(Defects::LOSES_SATURATED_HALVES)
    .union(Defects::MISDIVIDES_LONGS)
    .union(Defects::MISPLACES_LONG_CONVERSIONS)
    .union(Defects::BREAKS_ON_LOOP_FLAGS)
    .union(Defects::INVERTS_SELECTED_INDICES)
    .union(Defects::LOSES_CONDITIONS)
    .union(Defects::MISTAKES_LEADING_BITS);
