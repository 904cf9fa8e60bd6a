//! Kernels of every kind, run through the system's OpenCL ICD loader and compared with the host.
//!
//! ```text
//! VK_DRIVER_FILES=… cargo test --test kernels [-- FILTER…]
//! ```
//!
//! The first device of the first platform that the loader finds is tested. The loader is told to find only
//! the `libpumice.so` that cargo built; `PUMICE_TEST_ICD` names another driver's library instead, which
//! shows what an established OpenCL makes of the same tests. Where there is no device, they fail.

mod atomics;
mod call_trees;
mod checked;
mod control_flow;
mod conversions;
mod denormals;
mod documents;
mod doubles;
mod finished_work;
mod floats;
mod functions;
#[macro_use]
mod group_model;
#[path = "../common/cache.rs"]
mod cache;
mod group_exchanges;
mod group_flow;
mod group_instructions;
mod groups;
mod groups_intel;
mod halves;
mod harness;
mod integer_extensions;
mod integers;
mod iterations;
#[path = "../common/library.rs"]
mod library;
mod local_memory;
mod loops;
mod maths;
mod memory;
mod moves;
mod nesting;
mod non_uniform_groups;
mod options;
mod overloads;
mod parts;
mod pipes;
mod pointers;
mod printf;
mod private_arrays;
#[path = "../common/programs.rs"]
mod programs;
mod random;
mod ranges;
#[path = "../common/skipped.rs"]
mod skipped;
mod small_ranges;
mod sub_group_info;
mod sub_group_memory;
mod sub_groups;
mod sycl_groups;
mod tables;
mod threads;
mod tiles;
mod vectors;
mod work_items;
