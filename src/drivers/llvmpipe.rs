//! Mesa's software driver: lavapipe, which is llvmpipe for Vulkan.
//!
//! Tried in 22.3.6, 25.0.7 and 26.2.6.

use super::driver::{Arithmetic, Execution, HostBehaviour, Preferences};
use super::{Defects, Driver, Range, Version};

/// `VK_DRIVER_ID_MESA_LLVMPIPE`
pub(super) const ID: u32 = 13;

/// The version in Debian 12, the oldest that was tried.
pub const DEBIAN_12: Version = Version(22, 3, 6);

/// How deep conditions may be nested, and loops: from the 81st level on the condition is ignored, and on the 80th the `else`
/// already (`LP_MAX_TGSI_NESTING` in the sources of 22.3 and 25.0, seen in 26.2, too; it may end the process from 25.0 on).
/// Some levels are left to what Mesa makes itself.
pub const MAX_NESTING: u32 = 72;

/// The first version that may flush denormals to zero in compute shaders, singles and doubles alike: 26.2 turns the
/// processor's flushing on for all but OpenCL's own kernels (`lp_cs_tpool_worker`), whatever a shader asks for; 25.0 leaves
/// it off.
const FLUSHES_DENORMALS: Version = Version(25, 1, 0);

/// What is always there was found on 22.3.6. `MISROUNDS_DOUBLES` shows on 25.0.7 and 26.2.6, too: in `sin`, `fmod` and
/// `remainder` of doubles. Of the three others some 200 tests of `tests/kernels` (loops, control flow, integers, sub-groups)
/// show nothing on 25.0.7 and 26.2.6 without what spares them, but most of these tests show nothing on 22.3.6 either: that is
/// no proof of their absence.
const RANGES: &[Range] = &[
    // 25.0 makes a phi of all that is used behind the loop it is computed in (nir_convert_to_lcssa), which becomes a register
    // that work-items keep when they have left. Without what spares it the defect shows in results_of_irreducible_loops on
    // 22.3.6, and in no test of loops on 25.0.7 and 26.2.6.
    Range::before(Version(25, 0, 0), Defects::LOSES_LOOP_RESULTS),
    // Seen in what 22.3.6 makes of results_of_switches_in_loops. It does no harm where loops keep what selections made.
    Range::before(Version(25, 0, 0), Defects::FLATTENS_SWITCHES),
    Range::always(Defects::OVERWRITES_LOOP_STATE),
    // LP_MAX_TGSI_LOOP_ITERATIONS of gallivm is not in 25.0's source.
    Range::before(Version(25, 0, 0), Defects::LIMITS_ITERATIONS),
    // 25.0 casts what an atomic takes in emit_atomic_global, and runs what ends the process on 22.3.
    Range::before(Version(25, 0, 0), Defects::FORGETS_CASTS_OF_ATOMICS),
    // What makes the mistake was seen in 22.3's source (nir_algebraic.py writes -2^31 without its sign), and is not in 25.0's;
    // what spares them the mistake does them no harm.
    Range::always(Defects::MISTAKES_SIGNS),
    Range::always(Defects::SEARCHES_ALL_PATHS),
    // See `mesa`: what is Mesa's is said here, too, for those who know no more of the device than this file.
    Range::always(Defects::MISCOUNTS_ITERATIONS),
    Range::always(Defects::MISROUNDS_DOUBLES),
    // 22.3 takes no barrier of a sub-group for one; 25.0 does.
    Range::since(Version(22, 4, 0), Defects::SUSPENDS_SUB_GROUPS),
    // 25.0 jumps over arms (lp_build_skip_branch), and 22.3 does not. What 26.2 makes of the same kernels is valid; with what spares
    // them the defect its LLVM 22 ends the process over call_trees::around_barriers, where the processor has AVX-512.
    Range::between(
        Version(22, 4, 0),
        Version(26, 2, 0),
        Defects::LOSES_LOOP_INVARIANTS,
    ),
    // nir_opt_peephole_select moves read_invocation in 25.0, and does not in 22.3; nothing is known to show it in 26.2.
    Range::since(Version(22, 4, 0), Defects::FLATTENS_BROADCASTS),
    // Values that are the same for a sub-group are scalars in 26.2, and vectors in 25.0.
    Range::since(Version(25, 1, 0), Defects::LOADS_FOR_NOBODY),
    // SignedZeroInfNanPreserve keeps 22.3 and 25.0 from it, but not 26.2.
    Range::always(Defects::JOINS_CONVERSIONS),
    // In 25.0's source registers are read where a value is used, by instructions of their own.
    Range::before(Version(25, 0, 0), Defects::READS_INDICES_LATE),
    // 25.0 counts no iterations, and its LLVM is newer.
    Range::before(Version(25, 0, 0), Defects::SLOW_WITHOUT_BARRIERS),
    Range::before(Version(25, 0, 0), Defects::SLOW_IN_LONG_BLOCKS),
    // lp_exec_endloop of gallivm takes the mask of work-items in 25.0's source.
    Range::before(Version(25, 0, 0), Defects::RUNS_IDLE_LANES),
];

/// The defects of a version, which [`Version::of_mesa`] tells from `driverInfo`.
pub fn defects(version: Option<Version>) -> Defects {
    Range::all_of(RANGES, version)
}

/// Whether arithmetic of singles and doubles keeps denormals; no version says so. That of halves always does.
fn keeps_denormals(version: Option<Version>) -> bool {
    version.is_some_and(|version| version < FLUSHES_DENORMALS)
}

/// Whether a load from a uniform buffer is less code than one from device memory. Of a thousand lookups in tables of words the
/// compiler took 1.2 s rather than 3.6 in 22.3.6, and 2.7 rather than 0.3 in 25.0.7, 2.2 rather than 0.2 in 26.2.6, which
/// load from device memory by one instruction for a vector of work-items.
fn reads_uniforms_better(version: Option<Version>) -> bool {
    version.is_some_and(|version| version < Version(25, 0, 0))
}

/// Whether a child made by `fork` waits at its end for threads that it does not have: 26.2 does, 25.0 does not.
fn breaks_in_children(version: Option<Version>) -> bool {
    version.is_none_or(|version| version >= Version(25, 1, 0))
}

/// The driver of a version.
pub(super) fn driver(version: Option<Version>) -> Driver {
    let keeps_denormals = keeps_denormals(version);
    Driver {
        defects: defects(version),
        // It has no float control for denormals, but compiles to the processor's own arithmetic.
        arithmetic: Arithmetic {
            // Halves are normal singles there, or never flushed.
            keeps_denormals16: true,
            keeps_denormals32: keeps_denormals,
            keeps_denormals64: keeps_denormals,
            widens_denormals: keeps_denormals,
            // LLVM's `fmuladd`, which may be one or two operations, as the code around it has it.
            fuses: Some(false),
            has_precise_exp2: Some(false),
            ..Driver::UNKNOWN.arithmetic
        },
        // Counted addresses it takes worse: a convolution took 3 times as long with them.
        preferences: Preferences {
            compiles_slowly: true,
            has_serial_memory: true,
            reads_uniforms: reads_uniforms_better(version),
            ..Driver::UNKNOWN.preferences
        },
        execution: Execution {
            max_nesting: Some(MAX_NESTING),
            is_ordered_by_locked_operations_only: true,
            // One sub-group of a work-group after the other.
            sub_groups_progress: Some(false),
            ..Driver::UNKNOWN.execution
        },
        host: HostBehaviour {
            breaks_in_children: breaks_in_children(version),
            ..Driver::UNKNOWN.host
        },
        ..Driver::UNKNOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniforms_are_read_better_in_old_versions_only() {
        assert!(reads_uniforms_better(Some(DEBIAN_12)));
        assert!(!reads_uniforms_better(Some(Version(25, 0, 7))));
        assert!(!reads_uniforms_better(Some(Version(26, 2, 6))));
        assert!(!reads_uniforms_better(None));
    }

    #[test]
    fn loops_are_limited_in_old_versions_only() {
        let limits = |version| defects(version).contains(Defects::LIMITS_ITERATIONS);
        assert!(limits(Some(DEBIAN_12)));
        assert!(!limits(Some(Version(25, 0, 7))));
        assert!(!limits(Some(Version(99, 0, 0))));
        assert!(limits(None));
    }

    #[test]
    fn loop_invariants_are_lost_in_versions_between() {
        let loses = |version| defects(version).contains(Defects::LOSES_LOOP_INVARIANTS);
        let versions = [DEBIAN_12, Version(25, 0, 7), Version(26, 2, 6)];
        assert_eq!(versions.map(|it| loses(Some(it))), [false, true, false]);
    }

    #[test]
    fn children_do_not_end_in_new_versions() {
        assert!(!breaks_in_children(Some(DEBIAN_12)));
        assert!(!breaks_in_children(Some(Version(25, 0, 7))));
        assert!(breaks_in_children(Some(Version(26, 2, 6))));
        assert!(breaks_in_children(None));
    }

    #[test]
    fn denormals_are_kept_in_old_versions_only() {
        assert!(keeps_denormals(Some(DEBIAN_12)));
        assert!(keeps_denormals(Some(Version(25, 0, 7))));
        assert!(!keeps_denormals(Some(Version(26, 2, 6))));
        assert!(!keeps_denormals(None));
    }
}
