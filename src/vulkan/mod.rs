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
//! - [`submit`]: timeline semaphores and submission.
//! - [`textures`]: buffers' memory as images that texture units read.
//! - [`timestamps`]: device timestamps on the host's clock.
//! - [`unified`]: buffers whose addresses are the same on host and device; small ones are parts of large ones.
//! - [`conv`]: pure conversions.
//! - [`external`]: memory that others allocated.
//! - [`error`]: what `VkResult` becomes.

pub mod buffer;
pub mod conv;
mod create_device;
pub mod device;
pub mod error;
pub mod external;
mod host_range;
pub mod info;
pub mod instance;
mod messenger;
pub mod pipeline;
pub mod pipeline_cache;
mod pipeline_layouts;
mod query_info;
mod queue_clients;
pub mod recorder;
pub mod semaphore;
pub mod submit;
pub mod textures;
pub mod timestamps;
pub mod unified;
mod unified_pool;
pub mod uniform_buffer;

#[cfg(test)]
pub(crate) mod test_device;

pub use buffer::{Buffer, MemoryKind};
pub use device::{Device, Priority};
pub use error::Error;
pub use external::MemoryFd;
pub use host_range::{HostRange, HostUse};
pub use info::PhysicalDeviceInfo;
pub use instance::{Instance, InstanceOptions, PhysicalDevice};
pub use pipeline::{Pipeline, PipelineOptions, ShaderModule};
pub use pipeline_cache::PipelineCache;
pub use recorder::{CopyRegion, Recorder};
pub use semaphore::{BinarySemaphore, SemaphoreFd};
pub use submit::{SemaphoreWait, Timeline};
pub use textures::{TEXTURES, Texture, TextureDescription};
pub use timestamps::{Clock, TimestampPool};
pub use unified::{HostView, Unification};
pub use uniform_buffer::UniformBuffer;
