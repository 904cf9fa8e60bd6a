//! Which functions call which.

use crate::compiler::CompileError;
use crate::compiler::ir::{FuncId, Function, Module, Op};

/// The functions called by a function, one entry for each call.
pub fn callees(function: &Function) -> impl Iterator<Item = FuncId> + '_ {
    let insts = function
        .layout
        .iter()
        .flat_map(|&block| &function.block(block).insts);
    insts.filter_map(|&inst| match function.inst(inst).op {
        Op::Call(callee, _) => Some(callee),
        _ => None,
    })
}

/// The functions that kernels reach, each after those it calls.
pub fn callees_first(module: &Module) -> Result<Vec<FuncId>, CompileError> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; module.functions.len()];
    let mut order = Vec::new();
    for kernel in &module.kernels {
        let mut stack = vec![(kernel.function, Vec::new(), false)];
        while let Some((id, pending, entered)) = stack.last_mut() {
            let id = *id;
            if !*entered {
                *entered = true;
                match states[id.index()] {
                    State::Done => {
                        stack.pop();
                        continue;
                    }
                    State::Open => {
                        return Err(CompileError::new("recursion is not allowed in OpenCL C")
                            .in_function(&module.function(id).name));
                    }
                    State::New => {
                        states[id.index()] = State::Open;
                        *pending = callees(module.function(id)).collect();
                    }
                }
            }
            let next = loop {
                match pending.pop() {
                    Some(callee) if callee.index() >= states.len() => {
                        return Err(CompileError::new("a call of a function that is not there"));
                    }
                    Some(callee) if states[callee.index()] == State::Done => {}
                    other => break other,
                }
            };
            match next {
                Some(callee) => stack.push((callee, Vec::new(), false)),
                None => {
                    states[id.index()] = State::Done;
                    order.push(id);
                    stack.pop();
                }
            }
        }
    }
    Ok(order)
}

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
        for block in function.layout.clone() {
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
