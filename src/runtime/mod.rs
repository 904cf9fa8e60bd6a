//! The objects behind the handles.

pub mod allocation;
mod batch;
pub mod callback;
pub mod command;
pub mod context;
pub mod device;
pub mod error;
pub mod extensions;
pub mod limits;
pub mod object;
pub mod platform;
pub mod target;
pub mod event;
mod hazard;
pub mod layout;
mod notifier;
pub mod object;
pub mod platform;
pub mod queue;
mod retire;
mod staging;

pub use error::{Error, Result};
