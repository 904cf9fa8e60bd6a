//! Pumice: an OpenCL driver (ICD) that runs on any Vulkan device.
//!
//! The way a program takes, and which room may use which (an arrow the other way is a defect):
//!
//! ```text
//! application ── ICD loader ── icd/api ── runtime ── vulkan ── Vulkan driver
//!                                           │
//!         OpenCL C ── toolchain (clang) ── OpenCL SPIR-V ── compiler ── Vulkan SPIR-V
//! ```
//!
//! - [`icd`]: the dispatch table and the exported symbols. C names live only here.
//! - [`api`]: one file per OpenCL object; argument checks in the specification's order.
//! - [`runtime`]: the objects behind the handles, queues, events, memory, programs.
//! - [`vulkan`]: everything that calls `ash`.
//! - [`compiler`]: a pure function from OpenCL SPIR-V to Vulkan SPIR-V and reflection.
//! - [`drivers`]: what is known of Vulkan drivers by their version, as plain data; any room may ask, it asks none.
//! - [`toolchain`]: finds and runs `clang`; the disk cache.
//! - [`config`]: every environment variable, read once.
#![deny(unsafe_op_in_unsafe_fn)]

pub mod api;
pub mod compiler;
pub mod config;
pub mod drivers;
pub mod icd;
pub mod runtime;
pub mod toolchain;
pub mod vulkan;
