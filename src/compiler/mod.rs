//! OpenCL SPIR-V in, Vulkan SPIR-V and reflection out.
//!
//! A pure function: no Vulkan handle, no file, no clock. See [`compile`].

pub mod analysis;
pub mod capabilities;
pub mod emit;
pub mod error;
pub mod extract_kernel;
#[cfg(test)]
pub mod interp;
pub mod ir;
pub mod library;
pub mod link;
pub mod parse;
pub mod passes;
pub mod program;
#[cfg(test)]
pub(crate) mod testing;
pub mod verify;

pub use capabilities::Capabilities;
pub use error::CompileError;
pub use library::Library;
pub use program::{CompiledKernel, CompiledProgram};

use std::collections::HashMap;

/// How an OpenCL program is compiled, beyond what the module itself says.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `clSetProgramSpecializationConstant`: values by `SpecId`, little-endian bytes.
    pub specialization: HashMap<u32, Vec<u8>>,
    /// `-cl-denorms-are-zero`
    pub denorms_are_zero: bool,
    /// `-cl-fast-relaxed-math`, `-cl-unsafe-math-optimizations`: cheap built-ins are allowed.
    pub fast_relaxed_math: bool,
    /// `-cl-opt-disable`
    pub opt_disable: bool,
}

/// What every pass may read.
pub struct Context<'a> {
    pub capabilities: &'a Capabilities,
    pub options: &'a Options,
    /// The built-in library, for `lower_builtins`.
    pub library: &'a Library,
}

/// Compiles OpenCL SPIR-V modules, linked together in order, for one device.
///
/// `modules` are SPIR-V words (1.0 to 1.6, capability `Kernel`, addressing Physical32/64). The result
/// holds one Vulkan module per kernel. `library` is indexed once and shared by all compilations. Errors name the instruction and its word offset.
pub fn compile(
    modules: &[&[u32]],
    library: &Library,
    capabilities: &Capabilities,
    options: &Options,
) -> Result<CompiledProgram, CompileError> {
    let _ = (modules, library, capabilities, options);
    Err(CompileError::new("the compiler is not written yet"))
}
