//! The objects behind the handles.

pub mod callback;
pub mod context;
pub mod device;
pub mod error;
pub mod object;
pub mod platform;

pub use error::{Error, Result};
