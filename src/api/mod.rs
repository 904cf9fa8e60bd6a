//! The entry points, one file per OpenCL object: arguments are checked here, in the order of the
//! specification, and the runtime does the rest. See `icd/table.rs` for the C signatures.

// The specification decides how many arguments a function has.
#![allow(clippy::too_many_arguments)]

pub mod buffer;
pub mod command_buffer;
pub mod context;
pub mod device;
pub mod device_address;
pub mod device_info;
pub mod enqueue;
pub mod enqueue_buffer;
pub mod enqueue_image;
pub mod enqueue_kernel;
pub mod enqueue_map;
pub mod enqueue_rect;
pub mod enqueue_sync;
pub mod entry;
pub mod error;
pub mod event;
pub mod external_handles;
pub mod external_memory;
pub mod handle;
pub mod image;
mod image_description;
mod image_region;
mod image_transfer;
pub mod kernel;
mod kernel_argument;
pub mod kernel_info;
pub mod kernel_sub_groups;
pub mod memory;
pub mod out;
pub mod pipe;
pub mod platform;
pub mod program;
pub mod program_build;
pub mod queue;
pub mod sampler;
pub mod semaphore;
mod shared_region;
pub mod sharing;
pub mod svm;
mod transfer;
pub mod usm;
mod vendors;
