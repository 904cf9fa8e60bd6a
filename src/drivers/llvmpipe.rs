//! Mesa's software driver: lavapipe, which is llvmpipe for Vulkan.
//!
//! Tried in 22.3.6, 25.0.7 and 26.2.6.

use super::{Defects, Range, Version};

/// `VK_DRIVER_ID_MESA_LLVMPIPE`
pub const ID: u32 = 13;

/// The version in Debian 12, the oldest that was tried.
pub const DEBIAN_12: Version = Version(22, 3, 6);

const RANGES: &[Range] = &[
    Range::always(Defects::LOSES_LOOP_RESULTS),
    Range::always(Defects::OVERWRITES_LOOP_STATE),
    // LP_MAX_TGSI_LOOP_ITERATIONS of gallivm is not in 25.0's source.
    Range::before(Version(25, 0, 0), Defects::LIMITS_LOOP_ROUNDS),
    Range::always(Defects::MISTAKES_SIGNS),
    Range::always(Defects::FORGETS_CASTS_OF_ATOMICS),
    Range::always(Defects::SEARCHES_ALL_PATHS),
    Range::always(Defects::MISROUNDS_DOUBLES),
];

/// The defects of a version, which [`Version::of_mesa`] tells from `driverInfo`.
pub fn defects(version: Option<Version>) -> Defects {
    Range::all_of(RANGES, version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_limited_in_old_versions_only() {
        let limits = |version| defects(version).contains(Defects::LIMITS_LOOP_ROUNDS);
        assert!(limits(Some(DEBIAN_12)));
        assert!(!limits(Some(Version(25, 0, 7))));
        assert!(!limits(Some(Version(99, 0, 0))));
        assert!(limits(None));
    }
}
