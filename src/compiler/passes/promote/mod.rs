//! Written next.

use crate::compiler::ir::Module;
use crate::compiler::{CompileError, Context};

/// Runs the pass on every function.
pub fn run(_module: &mut Module, _cx: &Context<'_>) -> Result<(), CompileError> {
    Ok(())
}
