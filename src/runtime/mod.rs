//! The objects behind the handles.

pub mod callback;
pub mod context;
pub mod device;
pub mod error;
pub mod extensions;
pub mod limits;
pub mod object;
pub mod platform;
pub mod target;

pub use error::{Error, Result};
