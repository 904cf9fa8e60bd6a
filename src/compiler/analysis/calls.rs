//! Which functions call which.

use crate::compiler::CompileError;
use crate::compiler::ir::{FuncId, Function, Module, Op};

/// The functions called by a function, one entry for each call.
pub fn callees(function: &Function) -> impl Iterator<Item = FuncId> + '_ {
    let insts = function
        .layout()
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
                        return Err(
                            CompileError::invalid("recursion is not allowed in OpenCL C")
                                .in_function(&module.function(id).name),
                        );
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
                        return Err(CompileError::invalid(
                            "a call of a function that is not there",
                        ));
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

/// The most copies of a function that are counted: no driver comes to an end with as many.
const MANY: u64 = 1 << 20;

/// By function: how many copies of it a driver makes that inlines all calls, up to [`MANY`]. Of a kernel there is one.
///
/// # Errors
/// Those of [`callees_first`].
pub fn copies_by_function(module: &Module) -> Result<Vec<u64>, CompileError> {
    let mut copies = vec![0u64; module.functions.len()];
    for kernel in &module.kernels {
        copies[kernel.function.index()] = 1;
    }
    for id in callees_first(module)?.into_iter().rev() {
        for callee in callees(module.function(id)) {
            copies[callee.index()] = MANY.min(copies[callee.index()] + copies[id.index()]);
        }
    }
    Ok(copies)
}
