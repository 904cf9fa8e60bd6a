//! Better code of the same meaning.

pub mod align_copies;
pub mod align_elements;
pub mod distribute;
pub mod end_rows;
pub mod index_addresses;
pub mod join_argument_words;
pub mod promote;
pub mod promote_elements;
pub mod read_uniforms;
pub mod reduce_strength;
pub mod share_uniform_loads;
pub mod shorten_addresses;
pub mod simplify;
pub mod unroll;
