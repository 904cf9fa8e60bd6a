//! What is known of Vulkan drivers and can't be asked of Vulkan: a file a driver, plain data by version.
//!
//! Evidence decides: a defect is a driver's from the first version that may have it (the one after the last that was seen
//! without) to the first that is known to be without, by a test there or by the driver's source. Versions newer than all
//! that were tried have what the newest tried one has; a version that can't be read has what any version has.

mod anv;
mod defects;
mod driver;
mod frame;
pub mod llvmpipe;
mod mesa;
pub mod nvidia;
mod panvk;
pub mod radv;
pub mod swiftshader;
mod v3dv;
mod version;

pub use defects::Defects;
pub use driver::{ClockSource, Driver, HostBehaviour, Report};
pub use frame::FrameLimit;
pub use version::Version;

use version::Range;

/// The driver of a device that reports so of it. Nothing else tells drivers apart.
pub fn of(report: &Report<'_>) -> Driver {
    let driver = match report.id {
        anv::ID => anv::DRIVER,
        llvmpipe::ID => llvmpipe::driver(Version::of_mesa(report.info)),
        nvidia::ID => nvidia::DRIVER,
        panvk::ID => panvk::DRIVER,
        radv::ID => radv::driver(report.preserves_denormals64),
        swiftshader::ID => swiftshader::DRIVER,
        v3dv::ID => v3dv::DRIVER,
        _ => Driver::UNKNOWN,
    };
    Driver {
        defects: driver.defects.union(mesa::defects(report.info)),
        ..driver
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver(id: u32, info: &str) -> Driver {
        let (info, preserves_denormals64) = (info, true);
        of(&Report {
            id,
            info,
            preserves_denormals64,
        })
    }

    #[test]
    fn what_software_does_is_known_and_hardware_is_tried_out() {
        let known = |id| {
            let driver = driver(id, "");
            (
                driver.arithmetic.fuses,
                driver.execution.sub_groups_progress,
            )
        };
        for id in [nvidia::ID, radv::ID, 0, 99] {
            assert_eq!(known(id), (None, None));
        }
        for id in [llvmpipe::ID, swiftshader::ID] {
            assert_eq!(known(id), (Some(false), Some(false)));
        }
    }

    #[test]
    fn what_was_seen_without_the_hardware_is_known_of_its_drivers() {
        // `VkDriverId` of ANV, V3DV and PanVK, and of Turnip and NVK.
        let shares = |id| driver(id, "Mesa 25.0.7").preferences.shares_bodies;
        assert_eq!([6, 19, 20].map(shares), [true; 3]);
        assert_eq!([18, 24].map(shares), [false; 2]);
        let breaks = |id| {
            let defects = driver(id, "Mesa 25.0.7").defects;
            defects.contains(Defects::BREAKS_ON_BROADCASTS)
        };
        assert_eq!(
            [6, 18, 19, 20, 24].map(breaks),
            [true, false, false, false, false]
        );
    }

    #[test]
    fn what_is_said_of_radv_is_what_it_reports() {
        assert_eq!(
            driver(radv::ID, "Mesa 22.3.6").defects,
            radv::DEFECTS_IN_DEBIAN_12
        );
    }

    #[test]
    fn what_is_mesas_is_every_driver_of_mesas() {
        let old = "Mesa 22.3.6";
        for id in [radv::ID, llvmpipe::ID, 99] {
            assert!(driver(id, old).defects.contains(Defects::MISTAKES_SIGNS));
        }
        let new = "Mesa 25.0.7";
        assert!(
            !driver(radv::ID, new)
                .defects
                .contains(Defects::MISTAKES_SIGNS)
        );
    }

    #[test]
    fn gpus_of_amd_are_told_by_their_doubles() {
        let defects = |preserves_denormals64| {
            let (id, info) = (radv::ID, "");
            of(&Report {
                id,
                info,
                preserves_denormals64,
            })
            .defects
        };
        let narrow = Defects::MISCOMPUTES_NARROW_INTEGERS;
        assert!(defects(false).contains(narrow));
        assert!(!defects(true).contains(narrow));
    }

    #[test]
    fn only_llvmpipe_has_its_defects() {
        let its = Defects::OVERWRITES_LOOP_STATE
            | Defects::LIMITS_ITERATIONS
            | Defects::FORGETS_CASTS_OF_ATOMICS;
        assert!(driver(llvmpipe::ID, "").defects.contains(its));
        for id in [nvidia::ID, radv::ID, swiftshader::ID, 99] {
            assert!(!driver(id, "").defects.intersects(its));
        }
    }
}
