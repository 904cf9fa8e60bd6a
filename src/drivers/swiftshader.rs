//! SwiftShader, Google's software driver. It has no version to tell by: `driverVersion` is 5 of all.

use super::Defects;

/// `VK_DRIVER_ID_GOOGLE_SWIFTSHADER`
pub const ID: u32 = 10;

pub const DEFECTS: Defects = Defects::LOSES_LOOP_RESULTS
    .union(Defects::MISFOLDS_EXTREMA)
    .union(Defects::FOLLOWS_ALL_WAYS);
