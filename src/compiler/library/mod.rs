//! The OpenCL built-in library (libclc, as SPIR-V), of which a compilation takes what it needs.
//!
//! The module holds some 2,000 functions in 2.5 MB. [`Library::embedded`] walks it once and notes where each
//! function and declaration stands; [`Library::module_with`] then puts together a small valid module of
//! a few functions and everything they reach, for the parser to read like any other module.

mod assemble;
mod index;

pub use index::Library;
