//! Passes over the IR, one file each with one public function `run`.
//!
//! Names say what must happen: `lower_*` and `legalize_*` are needed for correct code, the others only
//! improve it. [`crate::compiler::compile`] lists them in order.

pub mod align_copies;
pub mod align_elements;
mod atomic;
pub mod bias_comparisons;
pub mod break_long_blocks;
pub mod bypass_selections;
pub mod complete_leading_bits;
pub mod convert_longs;
pub mod data_segment;
pub mod define_arguments;
pub mod distribute;
pub mod divide_longs;
pub mod drop_parameters;
pub mod end_rows;
mod expand_values;
pub mod float_format;
mod folding;
mod hidden_zero;
pub mod hide_arms;
pub mod hide_float_bits;
pub mod hide_ranges;
pub mod hide_uniform_addresses;
pub mod hold_loop_state;
pub mod index_addresses;
pub mod infer_address_spaces;
pub mod inline;
pub mod join_argument_words;
pub mod keep_miscounted_loops;
pub mod keep_selections;
pub mod leave_loops_at_header;
#[cfg(test)]
mod legal_evaluator;
pub mod legalize_float16;
pub mod legalize_int64;
pub mod legalize_loop_results;
pub mod legalize_memory;
pub mod legalize_small_ints;
pub mod limit_nesting;
pub mod lower_arguments;
pub mod lower_builtins;
pub mod lower_conversions;
pub mod lower_copies;
pub mod lower_dot_products;
pub mod lower_groups;
pub mod lower_images;
pub mod lower_pipes;
pub mod lower_pointers;
pub mod lower_printf;
pub mod lower_work_items;
pub mod mask_idle_lanes;
pub mod measure_frame;
pub mod order_memory;
pub mod promote;
pub mod promote_elements;
pub mod read_uniforms;
pub mod reduce_strength;
pub mod report_lost_iterations;
pub mod round_doubles;
mod scalar_bits;
pub mod separate_indices;
pub mod sequence_memory;
pub mod share_uniform_loads;
pub mod shorten_addresses;
pub mod shorten_searches;
pub mod simplify;
pub mod split_saturated_sums;
pub mod split_selected_elements;
pub mod structurize;
#[cfg(test)]
pub(super) mod testing;
pub mod unroll;
pub mod wait_behind;
pub mod widen_loop_flags;
