//! SPIR-V modules as words, whether they come in or go out: read and kept, checked for their shape, and specialized.

pub mod packed;
pub mod shape;
pub mod specialize;
pub mod words;

pub use packed::PackedModule;
