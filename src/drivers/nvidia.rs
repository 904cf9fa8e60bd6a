//! NVIDIA's own driver.
//!
//! Tried in 580.159.04.

use super::driver::{Arithmetic, ClockSource, HostBehaviour, Preferences};
use super::{Defects, Driver};

/// `VK_DRIVER_ID_NVIDIA_PROPRIETARY`
pub(super) const ID: u32 = 4;

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
    .union(Defects::MISTAKES_LEADING_BITS)
    .union(Defects::MISMULTIPLIES_BITS);

/// The driver, on GPUs from Volta on.
pub const DRIVER: Driver = Driver {
    defects: DEFECTS,
    arithmetic: Arithmetic {
        // The GPUs have doubles as IEEE 754 says, and the driver no float control for them.
        keeps_denormals64: true,
        rounds_to_nearest32: true,
        // Its unit has it (PTX ISA, ex2.approx: 2^-22.5), as the conformance tests of exp, exp2 and exp10 show.
        has_precise_exp2: Some(true),
        ..Driver::UNKNOWN.arithmetic
    },
    preferences: Preferences {
        marks_loops: true,
        counts_addresses: true,
        indexes_addresses: true,
        extracts_fields: true,
        ..Driver::UNKNOWN.preferences
    },
    host: HostBehaviour {
        breaks_in_children: true,
        // It keeps no older contents from one submission to the next, and a barrier at the beginning takes its GPUs 2.8 µs (an
        // H200, where an empty kernel takes 12.4 µs from recording to its end).
        shows_finished_work: true,
        // 580.159 on an H200: a submission that another thread made meanwhile ran old code where the memory of a destroyed
        // pipeline held a new one's, about one launch in a thousand of a program that builds, runs and releases on sixteen
        // threads. Neither without destroying nor with a lock was any of 80,000 wrong.
        confuses_code: true,
        ..Driver::UNKNOWN.host
    },
    // Its module for Linux has no file with it.
    clock: ClockSource::NvidiaManagement,
    ..Driver::UNKNOWN
};
