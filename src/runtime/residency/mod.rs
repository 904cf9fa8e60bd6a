//! The bytes of memory objects: where on each device of a context they lie, and where they are current.

pub mod backing;
pub mod contents;
pub mod fetch;
pub mod mapping;
pub mod shared;
pub mod storage;
