//! Which private variable a pointer is of.

use crate::compiler::ir::{Function, Op, Value, VariableId};

/// The private variable that a pointer points into, where that is known.
pub fn variable_of(function: &Function, mut pointer: Value) -> Option<VariableId> {
    loop {
        match *function.op_of(pointer)? {
            Op::PtrAdd(base, _) => pointer = base,
            Op::VariableAddress(variable) => return Some(variable),
            _ => return None,
        }
    }
}
