//! Passes over the IR, one file each with one public function `run`.
//!
//! Names say what must happen: `lower_*` and `legalize_*` are needed for correct code, the others only
//! improve it. [`crate::compiler::compile`] lists them in order.
