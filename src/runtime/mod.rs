//! The objects behind the handles.

pub mod allocation;
mod batch;
pub mod callback;
pub mod command;
pub mod command_buffer;
pub mod context;
pub mod device;
pub mod dispatch;
pub mod error;
pub mod event;
pub mod extensions;
pub mod front_end;
mod hazard;
mod host_copy;
mod host_job;
pub mod kernel;
pub mod launch_plan;
pub mod layout;
pub mod limits;
pub mod memory;
mod notifier;
pub mod object;
pub mod platform;
pub mod printf;
pub mod program;
pub mod queue;
mod retire;
pub mod shared;
pub mod shared_commands;
pub mod spirv;
mod staging;
pub mod target;
pub mod transfer;
pub mod upload;
pub mod work_size;

pub use error::{Error, Result};
