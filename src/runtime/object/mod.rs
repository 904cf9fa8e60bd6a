//! What every object has, and what calls answer with: handles, errors, the application's callbacks.

pub mod callback;
pub mod error;
pub mod registry;
