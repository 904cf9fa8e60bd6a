//! Control flow as Vulkan wants it.

pub mod drop_parameters;
pub mod structurize;
