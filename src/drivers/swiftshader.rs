//! SwiftShader, Google's software driver. It has no version to tell by: `driverVersion` is 5 of all.

use super::driver::{Arithmetic, Execution, HostBehaviour, Preferences};
use super::{Defects, Driver, FrameLimit};

/// `VK_DRIVER_ID_GOOGLE_SWIFTSHADER`
pub(super) const ID: u32 = 10;

/// What the driver gets wrong.
pub const DEFECTS: Defects = Defects::LOSES_LOOP_RESULTS
    .union(Defects::MISFOLDS_EXTREMA)
    .union(Defects::FOLLOWS_ALL_WAYS);

/// The driver's back end has 1 MiB for what a kernel keeps in memory, and ends the process over more ("Local variable exceeds
/// stack size limit"). There was room for 32,000 words of private arrays, for 4,060 loads, for 1,300 loads of four words; and
/// none for 32,768, 4,100 and 1,500. What does not fit into registers is kept there, too: there was no room for 3,560 loads
/// among which much else lived, so loads count a sixth more than they take. Stores take as much as loads, but less to an address
/// that is the same for all work-items: there was room for 6,000, and for 1,500 of four words, and none for 3,000 of these.
/// They are counted as such: one that stores to some 4,000 places still ends the process. What variables become where ways
/// meet is kept there as well: there was room for 7,393 of two ways each, for 4,033 of four and for 362 of 47, and none for
/// 8,033, 4,833 and 560. (Less, where much is computed between: one of 4,225 with six operations on each ends the process.)
pub const FRAME: FrameLimit = FrameLimit {
    bytes: (1 << 20) - (8 << 10),
    array_word_bytes: 32,
    load_bytes: 150,
    loaded_component_bytes: 150,
    store_bytes: 70,
    stored_component_bytes: 50,
    parameter_bytes: 32,
    argument_bytes: 54,
};

/// The driver.
pub const DRIVER: Driver = Driver {
    defects: DEFECTS,
    arithmetic: Arithmetic {
        // A product and a sum, but where its optimizer folds constants.
        fuses: Some(false),
        has_precise_exp2: Some(false),
        ..Driver::UNKNOWN.arithmetic
    },
    preferences: Preferences {
        compiles_slowly: true,
        // It has the capability, and warns of its name on standard error.
        names_dynamic_indexing: false,
        ..Driver::UNKNOWN.preferences
    },
    execution: Execution {
        frame: Some(FRAME),
        // One sub-group of a work-group after the other.
        sub_groups_progress: Some(false),
        ..Driver::UNKNOWN.execution
    },
    host: HostBehaviour {
        folds_specialization: false,
        // It has VK_EXT_external_memory_host, and knows of descriptors alone where it is asked what can be imported.
        imports_host_memory_unreported: true,
        // Its limit is 1 GiB: 16 bytes less can be had, and 1 less can't.
        allocation_shortfall_bytes: 16,
        ..Driver::UNKNOWN.host
    },
    ..Driver::UNKNOWN
};
