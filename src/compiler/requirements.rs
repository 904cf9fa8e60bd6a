//! What a kernel asks of the device that nothing can stand in for: said before the passes, in the
//! programmer's words.

use super::ir::{Module, Type};
use super::program::KernelAttributes;
use super::{Capabilities, CompileError};

/// Refuses a sub-group size that the device can't form. cl_intel_required_subgroup_size has it that "some kernels may
/// fail compilation with one required subgroup size": the kernel alone, not the program around it.
pub fn check_sub_groups(
    attributes: &KernelAttributes,
    capabilities: &Capabilities,
) -> Result<(), CompileError> {
    let Some(size) = attributes.required_sub_group_size else {
        return Ok(());
    };
    if capabilities.subgroup_sizes().any(|has| has == size) {
        return Ok(());
    }
    let sizes = capabilities.subgroup_sizes().map(|size| size.to_string());
    let sizes: Vec<String> = sizes.collect();
    Err(CompileError::unsupported(format!(
        "the kernel requires sub-groups of {size} work-items, the device's have {}",
        sizes.join(", ")
    )))
}

/// Refuses doubles on a device without them; integers of every width are emulated.
pub fn check(module: &Module, capabilities: &Capabilities) -> Result<(), CompileError> {
    if capabilities.float64 {
        return Ok(());
    }
    // The library's functions are written for devices of all sorts.
    for function in module.functions.iter().filter(|f| !f.control.library) {
        for &inst in function
            .layout()
            .iter()
            .flat_map(|&block| &function.block(block).insts)
        {
            let data = function.inst(inst);
            if data
                .results
                .iter()
                .any(|&value| function.ty(value) == Type::F64)
            {
                return Err(CompileError::unsupported(format!(
                    "'{}' is on doubles, which the device does not have",
                    data.op
                ))
                .in_function(function.name.as_str()));
            }
        }
    }
    Ok(())
}
