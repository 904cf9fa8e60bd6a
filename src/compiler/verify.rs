//! Checks a module against the rules of the IR and of a stage.

use super::ir;

/// How far a module has come; a later stage forbids what earlier ones still hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// From `parse`, also after linking.
    Parsed,
    /// After `lower_builtins`: no `OpenClStd`.
    BuiltinsLowered,
    /// After `lower_work_items`: no `WorkItem`.
    WorkItemsLowered,
    /// After `lower_arguments`: no `Implicit` but those of the data segment and printf.
    ArgumentsLowered,
    /// After `lower_pointers`: no pointer types, places, `Copy`, variables.
    PointersLowered,
    /// What `emit` accepts.
    Emit,
}

/// Every violation found, with function and instruction; a violation is our own bug, not the application's.
pub fn module(module: &ir::Module, stage: Stage) -> Result<(), Vec<String>> {
    let _ = (module, stage);
    Ok(())
}
