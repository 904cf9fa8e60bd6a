//! The objects behind the handles.

pub mod allocation;
mod batch;
pub mod callback;
pub mod command;
pub mod context;
pub mod device;
pub mod error;
pub mod event;
pub mod extensions;
mod hazard;
pub mod layout;
pub mod limits;
pub mod memory;
mod notifier;
pub mod object;
pub mod platform;
pub mod queue;
mod retire;
mod staging;
pub mod target;
pub mod transfer;
pub mod upload;

pub use error::{Error, Result};
