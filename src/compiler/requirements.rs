//! What a kernel asks of the device that nothing can stand in for: said before the passes, in the
//! programmer's words.

use super::ir::{Module, Type};
use super::{Capabilities, CompileError};

/// Refuses sub-group sizes that the device can't form, and doubles on a device without them; integers of every
/// width are emulated.
pub fn check(module: &Module, capabilities: &Capabilities) -> Result<(), CompileError> {
    for kernel in &module.kernels {
        if let Some(size) = kernel.attributes.required_sub_group_size
            && !capabilities.subgroup_sizes().any(|has| has == size)
        {
            let sizes: Vec<String> = capabilities
                .subgroup_sizes()
                .map(|size| size.to_string())
                .collect();
            return Err(CompileError::new(format!(
                "the kernel requires sub-groups of {size} work-items, the device's have {}",
                sizes.join(", ")
            )));
        }
    }
    if capabilities.float64 {
        return Ok(());
    }
    // The library's functions are written for devices of all sorts.
    for function in module.functions.iter().filter(|f| !f.control.library) {
        for &inst in function
            .layout
            .iter()
            .flat_map(|&block| &function.block(block).insts)
        {
            let data = function.inst(inst);
            if data
                .results
                .iter()
                .any(|&value| function.ty(value) == Type::F64)
            {
                return Err(CompileError::new(format!(
                    "'{}' is on doubles, which the device does not have",
                    data.op
                ))
                .in_function(function.name.as_str()));
            }
        }
    }
    Ok(())
}
