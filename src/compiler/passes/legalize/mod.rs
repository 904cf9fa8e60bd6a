//! What this device lacks is made of what it has, or refused: needed for correct code.

pub mod float16;
pub mod int64;
pub mod limit_nesting;
pub mod measure_frame;
pub mod memory;
pub mod small_ints;
