//! What a driver gets wrong, or is slow at, is put in another way: each for a device that has the defect it names, and for no
//! other.

pub mod bias_comparisons;
pub mod break_long_blocks;
pub mod bypass_selections;
pub mod choose_products;
pub mod complete_leading_bits;
pub mod convert_longs;
pub mod divide_longs;
pub mod hide_arms;
pub mod hide_float_bits;
pub mod hide_ranges;
pub mod hide_uniform_addresses;
pub mod hold_loop_state;
pub mod keep_loop_results;
pub mod keep_miscounted_loops;
pub mod keep_selections;
pub mod leave_loops_at_header;
pub mod mask_idle_lanes;
pub mod report_lost_iterations;
pub mod round_doubles;
pub mod separate_indices;
pub mod shorten_searches;
pub mod split_saturated_sums;
pub mod split_selected_elements;
pub mod wait_behind;
pub mod widen_loop_flags;
