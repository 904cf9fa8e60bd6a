//! Drops functions that nothing calls.

use crate::compiler::CompileError;
use crate::compiler::analysis::callees_first;
use crate::compiler::ir::{FuncId, Module, Op};

/// Drops the functions that no kernel reaches any more.
pub fn keep_reachable(module: &mut Module) -> Result<(), CompileError> {
    let order = callees_first(module)?;
    let mut ids: Vec<Option<FuncId>> = vec![None; module.functions.len()];
    let mut sorted = order;
    sorted.sort();
    for (new, old) in sorted.iter().enumerate() {
        ids[old.index()] = Some(FuncId(new as u32));
    }
    let functions = std::mem::take(&mut module.functions);
    module.functions = functions
        .into_iter()
        .zip(&ids)
        .filter_map(|(function, id)| id.map(|_| function))
        .collect();
    for function in &mut module.functions {
        for block in function.layout().to_vec() {
            for inst in function.block(block).insts.clone() {
                if let Op::Call(callee, _) = &mut function.inst_mut(inst).op
                    && let Some(new) = ids[callee.index()]
                {
                    *callee = new;
                }
            }
        }
    }
    for kernel in &mut module.kernels {
        if let Some(new) = ids[kernel.function.index()] {
            kernel.function = new;
        }
    }
    for names in [&mut module.exports, &mut module.imports] {
        names.retain_mut(|(_, id)| match ids.get(id.index()).copied().flatten() {
            Some(new) => {
                *id = new;
                true
            }
            None => false,
        });
    }
    Ok(())
}
