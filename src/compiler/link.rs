//! Merges modules and resolves what they import from each other: the compiler's only multi-module step.

use super::{CompileError, ir};

/// Links modules in order. Afterwards nothing is imported any more.
pub fn link(modules: Vec<ir::Module>) -> Result<ir::Module, CompileError> {
    let mut modules = modules.into_iter();
    match (modules.next(), modules.next()) {
        (Some(module), None) => Ok(module),
        _ => Err(CompileError::new(
            "linking of several modules is not written yet",
        )),
    }
}
