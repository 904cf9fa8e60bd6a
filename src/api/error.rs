//! What an entry point returns on failure: code and reason. Lives in the runtime, which fails too.

pub use crate::runtime::object::error::{CodeName, Error, Result};
