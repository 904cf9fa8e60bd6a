//! What several passes are made of.

pub mod atomic;
pub mod data_segment;
pub mod expand_values;
pub mod float_format;
pub mod folding;
pub mod hidden_zero;
pub mod scalar_bits;
#[cfg(test)]
pub mod testing;
