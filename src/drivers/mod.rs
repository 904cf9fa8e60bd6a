//! What is known of Vulkan drivers and can't be asked of Vulkan: a file a driver, plain data by version.
//!
//! Evidence decides: a defect is a driver's from the first version that may have it (the one after the last that was seen
//! without) to the first that is known to be without, by a test there or by the driver's source. Versions newer than all
//! that were tried have what the newest tried one has; a version that can't be read has what any version has.

mod defects;
mod frame;
pub mod llvmpipe;
pub mod mesa;
pub mod nvidia;
pub mod radv;
pub mod swiftshader;
mod version;

pub use defects::Defects;
pub use frame::FrameLimit;
pub use version::Version;

use version::Range;
