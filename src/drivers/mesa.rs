//! What Mesa's drivers have in common: its compiler's middle (NIR).

use super::{Defects, Range, Version};

const RANGES: &[Range] = &[
    // nir_algebraic.py writes -2^31 without its sign in 22.3's source, and not in 25.0's; seen on llvmpipe.
    Range::before(Version(25, 0, 0), Defects::MISTAKES_SIGNS),
    // nir_loop_analyze in 22.3's source; seen on llvmpipe of 22.3.6, 25.0.7 and 26.2.6.
    Range::always(Defects::MISCOUNTS_ITERATIONS),
    // nir_opt_algebraic, where a module has no SignedZeroInfNanPreserve for what is between; seen on llvmpipe of 22.3.6, shown
    // without that float control, and of 26.2.6 whatever a module says.
    Range::always(Defects::JOINS_CONVERSIONS),
];

/// The defects of any of its drivers, by `driverInfo`; none where that is no driver of Mesa's.
pub fn defects(driver_info: &str) -> Defects {
    match Version::of_mesa(driver_info) {
        None => Defects::empty(),
        version => Range::all_of(RANGES, version),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_of_all_drivers_mistake_signs() {
        let mistakes = |info| defects(info).contains(Defects::MISTAKES_SIGNS);
        assert!(mistakes("Mesa 22.3.6"));
        assert!(mistakes("Mesa 24.3.4-1"));
        assert!(!mistakes("Mesa 25.0.7-2+deb13u1 (LLVM 19.1.7)"));
        assert!(!mistakes("580.159.04"));
    }
}
