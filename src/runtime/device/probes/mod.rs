//! Tries a device out before it is relied on: what Vulkan leaves open, and what drivers get wrong.
//!
//! Kernels of our own (`shaders/probes.cl`) run once for a device and a version of its driver; what they found is kept in the disk
//! cache. What a device does not do right it is not told to have: the compiler then makes it of something else, or it is not
//! reported. Where a driver's file ([`crate::drivers`]) knows better than a few numbers can show, it decides.

mod cases;
mod random;
mod run;

use std::sync::Arc;

use super::findings::{Finding, Findings, Origin, Subject};
use super::target;
use crate::runtime::code::front_end::FrontEnd;
use crate::toolchain::cache::{Key, KeyBuilder};
use crate::vulkan::{self, PhysicalDeviceInfo};

/// Finds out about a device, which `open` opens where it was never tried before. `assumed` stands above what is found.
pub fn find(
    info: &PhysicalDeviceInfo,
    open: impl FnOnce() -> Result<Arc<vulkan::Device>, vulkan::Error>,
    assumed: &[(String, bool)],
) -> Findings {
    let cache = FrontEnd::instance().cache();
    let key = key(info);
    let kept = cache.get(key);
    let tried = kept.and_then(|bytes| postcard::from_bytes::<run::Tried>(&bytes).ok());
    let tried = tried.or_else(|| {
        let device = open()
            .inspect_err(|error| log::warn!("{}: can't be tried out: {error}", info.name))
            .ok()?;
        let tried = run::try_out(&device, info)?;
        if let Ok(bytes) = postcard::to_allocvec(&tried) {
            cache.put(key, &bytes);
        }
        Some(tried)
    });
    // A device that can't be tried is taken at its word.
    let tried = tried.unwrap_or_default();
    decided(info, &tried, assumed)
}

/// What follows from what was tried, what the driver's file says, and what is assumed.
fn decided(
    info: &PhysicalDeviceInfo,
    tried: &[(Subject, Option<bool>)],
    assumed: &[(String, bool)],
) -> Findings {
    for (name, _) in assumed {
        if !Subject::ALL.iter().any(|subject| subject.name() == name) {
            log::warn!("PUMICE_ASSUME: nothing is called {name}");
        }
    }
    let finding = |&subject: &Subject| {
        let assumed = assumed.iter().find(|(name, _)| name == subject.name());
        let tried = tried.iter().find(|(of, _)| *of == subject);
        let (holds, origin) = match (assumed, of_driver(info, subject), tried) {
            (Some(&(_, holds)), ..) => (holds, Origin::Assumed),
            // What the device does not claim is nobody's.
            (None, _, None) => return None,
            (None, Some(holds), _) => (holds, Origin::Driver),
            (None, None, Some(&(_, Some(holds)))) => (holds, Origin::Tried),
            (None, None, Some((_, None))) => (false, Origin::Untried),
        };
        Some(Finding {
            subject,
            holds,
            origin,
        })
    };
    Findings(Subject::ALL.iter().filter_map(finding).collect())
}

/// What a driver's file says, where a few numbers do not tell all.
fn of_driver(info: &PhysicalDeviceInfo, subject: Subject) -> Option<bool> {
    match subject {
        Subject::FusedSingles | Subject::FusedHalves | Subject::FusedDoubles => {
            info.driver.arithmetic.fuses
        }
        Subject::PreciseExp2 => info.driver.arithmetic.has_precise_exp2,
        Subject::SubGroupProgress => info.driver.execution.sub_groups_progress,
        _ => None,
    }
}

/// All that what is found follows from: the device, its driver, and the kernels as they are made for it.
fn key(info: &PhysicalDeviceInfo) -> Key {
    KeyBuilder::new("probes")
        .field(&info.device_uuid)
        .field(&info.driver_uuid)
        .field(&info.pipeline_cache_uuid)
        .field(&info.driver_version.to_le_bytes())
        .field(info.name.as_bytes())
        .field(info.driver_info.as_bytes())
        .field(run::KERNELS)
        .field(
            &postcard::to_allocvec(&target::capabilities(info, &Findings::default()))
                .unwrap_or_default(),
        )
        .finish()
}
