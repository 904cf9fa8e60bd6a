//! Mistakes of Vulkan drivers that generated code keeps clear of.
//!
//! Each was found by a kernel that came out wrong on one driver alone, and each has a pass, or a part of one, that spares
//! the driver what it gets wrong. Which versions of which driver have which is said in the file of that driver.

use bitflags::bitflags;
use serde::{Deserialize, Serialize};

bitflags! {
    /// Which of them a driver makes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub struct Defects: u32 {
        /// 8- and 16-bit integers are computed wrongly. They are only loaded and stored then: see
        /// [`crate::compiler::passes::legalize::small_ints`].
        const MISCOMPUTES_NARROW_INTEGERS = 1 << 0;
        /// What a loop has loaded is lost where its work-items left the loop at different times: see
        /// [`crate::compiler::passes::workarounds::keep_loop_results`].
        const LOSES_LOOP_RESULTS = 1 << 1;
        /// A loop's variables change for work-items that are leaving it: see
        /// [`crate::compiler::passes::workarounds::hold_loop_state`].
        const OVERWRITES_LOOP_STATE = 1 << 2;
        /// Loops end after 65,535 iterations of all loops of a kernel together: see [`crate::compiler::passes::optimize::unroll`], and
        /// [`crate::compiler::passes::workarounds::report_lost_iterations`].
        const LIMITS_ITERATIONS = 1 << 3;
        /// A number that was extended with its sign to 64 bits is compared as if it were positive.
        /// [`crate::compiler::passes::optimize::simplify`] compares it before the extension, where it sees that; see
        /// [`crate::compiler::passes::workarounds::bias_comparisons`] for the others.
        const MISTAKES_SIGNS = 1 << 4;
        /// The bits of a float are taken for the float where an atomic reads them: see
        /// [`crate::compiler::passes::workarounds::hide_float_bits`].
        const FORGETS_CASTS_OF_ATOMICS = 1 << 5;
        /// What is known of a number's range is used wrongly: see [`crate::compiler::passes::workarounds::hide_ranges`].
        const MISREADS_RANGES = 1 << 6;
        /// The upper half of a saturated 64-bit sum is wrong: see [`crate::compiler::passes::workarounds::split_saturated_sums`].
        const LOSES_SATURATED_HALVES = 1 << 7;
        /// 64-bit quotients are wrong: see [`crate::compiler::passes::workarounds::divide_longs`].
        const MISDIVIDES_LONGS = 1 << 8;
        /// The results of conversions to 64-bit integers get the registers of other numbers: see
        /// [`crate::compiler::passes::workarounds::convert_longs`].
        const MISPLACES_LONG_CONVERSIONS = 1 << 9;
        /// The compiler ends the process over a loop that sets a boolean: see
        /// [`crate::compiler::passes::workarounds::widen_loop_flags`].
        const BREAKS_ON_LOOP_FLAGS = 1 << 10;
        /// The wrong one of two elements of a private array is accessed: see
        /// [`crate::compiler::passes::workarounds::split_selected_elements`].
        const INVERTS_SELECTED_INDICES = 1 << 11;
        /// Constants of a loop are followed through minima and maxima of integers, and not rightly: they are comparisons and
        /// selections then. SwiftShader takes `UMax` of 1 and 9 in the first iteration for that of the second, too. It runs
        /// SPIRV-Tools (whose folding compares constants of `SMax` as their type says, seen in 2023.1), as others may.
        const MISFOLDS_EXTREMA = 1 << 12;
        /// What a value is computed from is gone through along all paths to arguments, however many: see
        /// [`crate::compiler::passes::workarounds::shorten_searches`].
        const SEARCHES_ALL_PATHS = 1 << 13;
        /// `Trunc` and `RoundEven` of doubles are those of singles: see [`crate::compiler::passes::workarounds::iteration_doubles`].
        const MISROUNDS_DOUBLES = 1 << 14;
        /// Work-items that wait for their sub-group are suspended until all of the work-group wait, and those that are still
        /// suspended when the first sub-group has ended are dropped. `lower_groups` makes fences of such barriers: what
        /// makes the mistake runs sub-groups in step.
        const SUSPENDS_SUB_GROUPS = 1 << 15;
        /// Loads from an address that is the same for a sub-group are made where none of its work-items comes to: see
        /// [`crate::compiler::passes::workarounds::hide_uniform_addresses`].
        const LOADS_FOR_NOBODY = 1 << 16;
        /// Two conversions of numbers, one or both to or from floats, become one, without the rounding of the first:
        /// `(double)(float)x` is `x`, and so is `(uint)(float)x`. All are emitted with `NoContraction`.
        const JOINS_CONVERSIONS = 1 << 17;
        /// A branch that holds nothing but broadcasts is flattened, and the id that its work-items agree on is then taken from
        /// one that went the other way. Broadcasts from ids that are not constant are shuffles then.
        const FLATTENS_BROADCASTS = 1 << 18;
        /// An element of a private array is looked for with what its index becomes next: see
        /// [`crate::compiler::passes::workarounds::separate_indices`].
        const READS_INDICES_LATE = 1 << 19;
        /// Lanes that no work-item has go through loops, too, and keep them from ending: see
        /// [`crate::compiler::passes::workarounds::mask_idle_lanes`].
        const RUNS_IDLE_LANES = 1 << 20;
        /// To make a pipeline, all ways through a loop are followed, however many: see
        /// [`crate::compiler::passes::workarounds::bypass_selections`].
        const FOLLOWS_ALL_WAYS = 1 << 21;
        /// A kernel with many loops, or accesses to private arrays, takes long to compile where no barrier is behind them:
        /// see [`crate::compiler::passes::workarounds::wait_behind`].
        const SLOW_WITHOUT_BARRIERS = 1 << 22;
        /// What is the same in every iteration of a loop, computed in an arm and used behind the loop, may not have been
        /// computed there; the compiler may end the process over it: see [`crate::compiler::passes::workarounds::leave_loops_at_header`].
        const LOSES_LOOP_INVARIANTS = 1 << 23;
        /// Long code without loops and accesses to memory takes long to compile: see
        /// [`crate::compiler::passes::workarounds::break_long_blocks`].
        const SLOW_IN_LONG_BLOCKS = 1 << 24;
        /// Iterations of a loop whose counter wraps around, or is a float, are counted wrongly, and the loop is unrolled as
        /// often: see [`crate::compiler::passes::workarounds::keep_miscounted_loops`].
        const MISCOUNTS_ITERATIONS = 1 << 25;
        /// A selection is computed again where its condition is no longer known: see
        /// [`crate::compiler::passes::workarounds::hide_arms`].
        const LOSES_CONDITIONS = 1 << 26;
        /// The cases of a switch become branches that may be flattened, even if it is marked `DontFlatten`: see
        /// [`crate::compiler::passes::workarounds::keep_selections`].
        const FLATTENS_SWITCHES = 1 << 27;
        /// The highest bit of an unsigned number is looked for as if it were signed: see
        /// [`crate::compiler::passes::workarounds::complete_leading_bits`].
        const MISTAKES_LEADING_BITS = 1 << 28;
        /// Products with a number that is 0 or 1 are wrong: see [`crate::compiler::passes::workarounds::choose_products`].
        const MISMULTIPLIES_BITS = 1 << 29;
        /// The compiler may end the process over broadcasts from ids that are not constant: they are shuffles then.
        const BREAKS_ON_BROADCASTS = 1 << 30;
    }
}

impl Defects {
    /// The defects that any driver of which nothing is known may have.
    pub const UNKNOWN: Self = Self::MISFOLDS_EXTREMA.union(Self::JOINS_CONVERSIONS);
}
