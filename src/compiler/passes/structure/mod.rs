//! Control flow as Vulkan wants it, whatever the driver.

pub mod define_arguments;
pub mod drop_parameters;
pub mod structurize;
