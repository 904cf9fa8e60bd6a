//! Everything that calls Vulkan: the only room that names `ash`. It uses no other module of ours.
//!
//! - [`instance`]: the loader, the instance, the machine's physical devices.
//! - [`info`]: what a physical device is and can do, as plain data.
//! - [`device`]: one `VkDevice` with its queues and its allocator.
//! - [`buffer`]: buffers with device addresses, in device, upload, read-back or the application's memory.
//! - [`pipeline`]: shader modules and compute pipelines.
//! - [`pipeline_cache`]: what drivers keep of pipelines between processes.
//! - [`recorder`]: command buffers and typed recording.
//! - [`semaphore`]: binary semaphores shared with others.
//! - [`submit`]: timelines and submission.
//! - [`textures`]: buffers' memory as images that texture units read.
//! - [`timestamps`]: device timestamps on the host's clock.
//! - [`unification`]: how far host and device see memory at the same addresses.
//! - [`unified`]: buffers whose addresses are the same on host and device; small ones are parts of large ones.
//! - [`conv`]: pure conversions.
//! - [`external`]: memory that others allocated.
//! - [`error`]: what `VkResult` becomes.

pub mod buffer;
pub mod buffer_descriptors;
pub mod conv;
mod copy_region;
mod create_device;
mod descriptor_set;
pub mod device;
pub mod error;
pub mod external;
mod feature_structures;
mod fence_timeline;
mod file_descriptors;
mod host_range;
pub mod info;
pub mod instance;
mod mapped_file;
mod messenger;
mod page_memory;
mod physical_device;
pub mod pipeline;
pub mod pipeline_cache;
mod pipeline_layouts;
mod query_info;
mod query_properties;
mod queue_clients;
pub mod recorder;
pub mod semaphore;
mod sparse;
pub mod submit;
mod texture_descriptors;
pub mod textures;
pub mod timestamps;
pub mod unification;
pub mod unified;
mod unified_pool;
mod unified_trial;
pub mod uniform_buffer;
mod used_timeline;

#[cfg(test)]
pub(crate) mod test_device;

pub use buffer::{Buffer, MemoryKind};
pub use copy_region::CopyRegion;
pub use device::Device;
pub use error::Error;
pub use file_descriptors::{MemoryFd, SemaphoreFd};
pub use host_range::{HostRange, HostUse};
pub use info::PhysicalDeviceInfo;
pub use instance::{Instance, InstanceOptions};
pub use physical_device::PhysicalDevice;
pub use pipeline::{Pipeline, PipelineOptions, ShaderModule};
pub use pipeline_cache::PipelineCache;
pub use queue_clients::Priority;
pub use recorder::Recorder;
pub use semaphore::BinarySemaphore;
pub use submit::{SemaphoreWait, Timeline};
pub use texture_descriptors::TEXTURES;
pub use textures::{Texture, TextureDescription};
pub use timestamps::{Clock, TimestampPool};
pub use unification::{DirectWay, HostView, Unification};
pub use uniform_buffer::UniformBuffer;
