//! Kernels, and what becomes of a launch before it is enqueued.

pub mod argument;
pub mod argument_block;
pub mod indirect;
pub mod kernel;
pub mod nd_range;
pub mod plan;
pub mod prepare;
pub mod short_ranges;
pub mod work_size;
