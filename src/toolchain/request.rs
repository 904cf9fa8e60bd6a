//! What is asked of clang, and what comes of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::argument_info::Wanted;
use super::options::BuildOptions;
use super::target::LanguageTarget;
use crate::compiler::PackedModule;

/// The longest that one run of clang may take.
pub const TIME_LIMIT: Duration = Duration::from_secs(300);

/// What is to be compiled, and for what.
#[derive(Clone, Copy, Debug)]
pub struct CompileRequest<'a> {
    pub source: &'a str,
    /// `clCompileProgram`'s embedded headers: include name and text.
    pub headers: &'a [(String, String)],
    pub options: &'a BuildOptions,
    pub target: &'a LanguageTarget,
    /// Nothing is linked to it: a function that it calls and does not define is an error.
    pub is_whole: bool,
    /// Without clang's optimizations, whatever the options say.
    pub is_unoptimized: bool,
}

/// The module, if there is one, and what clang had to say either way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceOutcome {
    /// OpenCL SPIR-V; `None` when the source was not compiled.
    pub spirv: Option<PackedModule>,
    /// Where the module lacks functions that no kernel reaches: for a module that has them, too.
    pub rest: Option<Rest>,
    pub log: String,
}

impl SourceOutcome {
    pub(super) fn failed(log: String) -> Self {
        Self {
            spirv: None,
            rest: None,
            log,
        }
    }
}

/// A program that was compiled without the functions that no kernel reaches: what a module of all functions is made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    /// LLVM IR as the front end wrote it, packed: with all functions.
    pub(super) ir: Vec<u8>,
    pub(super) arguments: Vec<String>,
    pub(super) wanted: Wanted,
}

impl Rest {
    pub(super) fn new(ir: &str, arguments: Vec<String>, wanted: Wanted) -> Self {
        Self {
            ir: lz4_flex::compress_prepend_size(ir.as_bytes()),
            arguments,
            wanted,
        }
    }
}
