//! Pointers into built-in input variables.

use super::decode::Id;
use super::globals::Variable;
use crate::compiler::ir::Value;
use rspirv::spirv::BuiltIn;

/// A pointer into a built-in input.
#[derive(Clone, Copy)]
pub(super) struct InputPointer {
    pub built_in: BuiltIn,
    /// The variable's type.
    pub whole: Id,
    /// Bytes from its start: a constant, and an I64 value where it is not constant.
    pub offset_bytes: u64,
    pub dynamic: Option<Value>,
}

impl InputPointer {
    /// A pointer to the whole of a variable.
    pub fn new(variable: &Variable) -> Self {
        Self {
            built_in: variable.built_in,
            whole: variable.pointee,
            offset_bytes: 0,
            dynamic: None,
        }
    }
}
