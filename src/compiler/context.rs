//! What a compilation is told, and what every pass may read.

use super::capabilities::Capabilities;
use super::ir::Sharing;
use super::library::Library;
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
    /// `-cl-uniform-work-group-size`, or OpenCL C before 2.0: all work-groups have the local size.
    pub uniform_work_groups: bool,
    /// Arguments lie in memory, however few: what the host changes there is seen by launches recorded before.
    pub arguments_in_memory: bool,
}

/// What every pass may read.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub capabilities: &'a Capabilities,
    pub options: &'a Options,
    /// The built-in library, for `lower::builtins`.
    pub library: &'a Library,
    /// Which functions' calls may go to one body in the kernel, for `inline`.
    pub sharing: Sharing,
}
