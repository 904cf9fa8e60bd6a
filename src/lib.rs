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
//! | room | may import | what it is |
//! |---|---|---|
//! | `icd` | `api`, `runtime` | the dispatch table and the exported symbols; C names live only here |
//! | `api` | `compiler`, `runtime`, `toolchain`, `vulkan` | one file per OpenCL object; argument checks in the specification's order |
//! | `runtime` | `compiler`, `config`, `drivers`, `toolchain`, `vulkan` | the objects behind the handles: queues, events, memory, programs |
//! | `vulkan` | `drivers` | everything that calls `ash` |
//! | `toolchain` | `compiler` | finds and runs `clang`; the disk cache |
//! | `compiler` | `drivers` | a pure function from OpenCL SPIR-V to Vulkan SPIR-V and reflection |
//! | `drivers` | | what is known of Vulkan drivers by their version, as plain data |
//! | `config` | | every environment variable, read once |
//!
//! `tests/architecture` reads this table.
#![deny(unsafe_op_in_unsafe_fn)]

pub mod api;
pub mod compiler;
pub mod config;
pub mod drivers;
pub mod icd;
pub mod runtime;
pub mod toolchain;
pub mod vulkan;
