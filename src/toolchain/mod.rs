//! OpenCL C to OpenCL SPIR-V through `clang`, and the disk cache.
//!
//! Nothing of LLVM is linked into the driver: `clang` runs as a subprocess, so a crash of it, or its absence,
//! is a line in the build log. The parts:
//!
//! - [`options`]: the strings of `clBuildProgram`, `clCompileProgram` and `clLinkProgram`, parsed.
//! - [`clang`]: which `clang` to use.
//! - [`text`]: sources in whatever encoding.
//! - [`request`]: what is asked of clang, and what comes of it.
//! - [`source`]: one source to one SPIR-V module and a log.
//! - `job`, `arguments`, `input`: what clang is called for and with, and the text that it is given.
//! - `overloads`, `built_ins`: functions that a program declares under the names of built-in ones.
//! - `internalize`, [`rest`]: what no kernel reaches, left out of long programs, and had later where others may call it.
//! - [`conversions`]: integer conversions that its back end gets wrong.
//! - [`argument_info`]: what `-cl-kernel-arg-info` promises, which clang's SPIR-V back end drops.
//! - [`local_sizes`]: sizes of local variables, which it drops too.
//! - `zero_extensions`, `intrinsics`, `overflows`: operations that it breaks down on, or gets wrong.
//! - `tables`: constants of many numbers, which it takes long for.
//! - [`cache`]: compiled things kept between processes.
//! - [`validate`]: generated code checked in the field.

pub mod argument_info;
mod arguments;
pub mod atomics;
mod built_ins;
pub mod cache;
pub mod clang;
pub mod conversions;
pub mod diagnostics;
mod group_functions;
pub mod half_vectors;
pub mod headers;
mod input;
mod instructions;
mod internalize;
mod intrinsics;
mod job;
pub mod local_sizes;
mod mipmaps;
pub mod options;
mod overflows;
mod overloads;
pub mod process;
pub mod request;
pub mod rest;
pub mod source;
mod table_values;
mod tables;
pub mod target;
pub mod text;
mod tokens;
pub mod validate;
mod zero_extensions;

pub use cache::DiskCache;
pub use clang::Clang;
pub use options::{BuildOptions, LinkOptions};
pub use request::{CompileRequest, SourceOutcome};
pub use source::compile_source;
pub use target::LanguageTarget;
