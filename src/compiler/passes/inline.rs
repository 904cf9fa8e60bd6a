//! Puts the bodies of functions in the place of calls.
//!
//! Needs: every called function is defined. After it
//! - no call passes or returns a pointer to local, private or generic memory;
//! - functions marked inline, small ones and those called once are gone;
//! - the module holds only what its kernels reach (functions are renumbered), and no unreachable block.
//!
//! Functions are visited callees first, so that a body is complete when it is copied. OpenCL C has no
//! recursion: a cycle of calls is an error. Large functions that only compute (of the built-in library, for
//! the most part) and are called at several places stay functions: copying them would cost the driver's
//! compiler more than the call. So do those marked not to be inlined, but for a driver that inlines them anyway and then
//! makes mistakes that `simplify` spares it ([`crate::compiler::Defects::MISTAKES_SIGNS`]).

use crate::compiler::ir::{
    AddressSpace, Block, Builder, Edge, FuncId, Function, Module, Op, Rewrite, Terminator, Type,
    Value, Values, rewrite_instructions,
};
use crate::compiler::{CompileError, Context, Defects};
use std::collections::HashMap;

/// Functions of at most so many instructions are always inlined.
const SMALL: usize = 80;

/// Larger ones are, as long as all their copies together have at most so many instructions.
const COPIES: usize = 1500;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let order = callees_first(module)?;
    let mut calls: HashMap<FuncId, usize> = HashMap::new();
    for &id in &order {
        for callee in callees(module.function(id)) {
            *calls.entry(callee).or_default() += 1;
        }
    }
    for &id in &order {
        let mut function = std::mem::replace(module.function_mut(id), Function::new(""));
        let result = inline_calls(
            module,
            &mut function,
            &calls,
            cx.capabilities.has(Defects::MISTAKES_SIGNS),
        );
        *module.function_mut(id) = function;
        result?;
    }
    keep_reachable(module)
}

/// The functions called by a function, one entry for each call.
fn callees(function: &Function) -> impl Iterator<Item = FuncId> + '_ {
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
fn callees_first(module: &Module) -> Result<Vec<FuncId>, CompileError> {
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

fn inline_calls(
    module: &Module,
    function: &mut Function,
    calls: &HashMap<FuncId, usize>,
    even_if_asked_not_to: bool,
) -> Result<(), CompileError> {
    function.layout = function.reverse_postorder();
    let changed = rewrite_instructions(function, |b, inst| {
        let data = b.function.inst(inst);
        let Op::Call(id, args) = &data.op else {
            return Ok(Rewrite::Keep);
        };
        let (id, args) = (*id, args.clone());
        let callee = module.function(id);
        let calls = calls.get(&id).copied().unwrap_or(0);
        if !should_inline(callee, calls, even_if_asked_not_to) {
            return Ok::<_, CompileError>(Rewrite::Keep);
        }
        if callee.params().len() != args.len() || callee.return_types.len() != data.results.len() {
            return Err(CompileError::new(format!(
                "a call of '{}' does not fit its parameters",
                callee.name
            )));
        }
        Ok(Rewrite::Replace(copy_body(b, callee, &args)))
    })
    .map_err(|error| error.in_function(&function.name))?;
    if changed {
        function.layout = function.reverse_postorder();
    }
    Ok(())
}

fn should_inline(callee: &Function, calls: usize, even_if_asked_not_to: bool) -> bool {
    let is_offset = |ty: &Type| {
        matches!(
            ty,
            Type::Ptr(AddressSpace::Private | AddressSpace::Local | AddressSpace::Generic)
        )
    };
    let passes_offset = callee
        .params()
        .iter()
        .map(|&param| callee.ty(param))
        .chain(callee.return_types.iter().copied())
        .any(|ty| is_offset(&ty));
    if passes_offset || callee.control.inline || calls <= 1 {
        return true;
    }
    if callee.control.dont_inline && !even_if_asked_not_to {
        return false;
    }
    let size: usize = callee
        .layout
        .iter()
        .map(|&block| callee.block(block).insts.len())
        .sum();
    size <= SMALL || size * calls <= COPIES
}

/// Copies a function's blocks and goes on behind them; what the function returned.
fn copy_body(b: &mut Builder<'_>, callee: &Function, args: &[Value]) -> Values {
    let flags = b.flags;
    let after = b.function.add_block();
    let returned: Values = callee
        .return_types
        .iter()
        .map(|&ty| b.function.add_param(after, ty))
        .collect();

    let first_variable = b.function.variables.len() as u32;
    b.function
        .variables
        .extend(callee.variables.iter().cloned());
    let mut values: HashMap<Value, Value> = HashMap::new();
    values.extend(callee.params().iter().copied().zip(args.iter().copied()));
    let order = callee.reverse_postorder();
    let mut blocks: HashMap<Block, Block> = HashMap::new();
    for &block in &order {
        let copy = b.function.add_block();
        blocks.insert(block, copy);
        if block != callee.entry() {
            for &param in &callee.block(block).params {
                values.insert(param, b.function.add_param(copy, callee.ty(param)));
            }
        }
    }
    b.jump(blocks[&callee.entry()]);
    for &block in &order {
        b.switch_to(blocks[&block]);
        for &inst in &callee.block(block).insts {
            let data = callee.inst(inst);
            let mut op = data.op.clone();
            // Blocks come in reverse postorder: what an operand names is copied already.
            op.for_each_operand_mut(|value| *value = values.get(value).copied().unwrap_or(*value));
            if let Op::VariableAddress(variable) = &mut op {
                variable.0 += first_variable;
            }
            b.flags = data.flags;
            let types: Vec<Type> = data.results.iter().map(|&v| callee.ty(v)).collect();
            let results = b.op(op, types);
            values.extend(data.results.iter().copied().zip(results));
        }
        let mut terminator = callee.block(block).terminator.clone();
        terminator.for_each_operand_mut(|value| {
            *value = values.get(value).copied().unwrap_or(*value);
        });
        for edge in terminator.edges_mut() {
            edge.block = blocks[&edge.block];
        }
        if let Terminator::Return(results) = terminator {
            terminator = Terminator::Jump(Edge::new(after, results));
        }
        b.terminate(terminator);
    }
    b.flags = flags;
    b.switch_to(after);
    returned
}

/// Drops the functions that no kernel reaches any more.
fn keep_reachable(module: &mut Module) -> Result<(), CompileError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{Access, Binary, Compare, Place, PrivateVariable};
    use crate::compiler::passes::testing;
    use smallvec::smallvec;

    /// `private` pointer and value in, the larger of the value and what is stored there out.
    fn larger() -> Function {
        let mut function = Function::new("larger");
        function.return_types = vec![Type::I32];
        let entry = function.entry();
        let pointer = function.add_param(entry, Type::Ptr(AddressSpace::Private));
        let value = function.add_param(entry, Type::I32);
        let (yes, no) = (function.add_block(), function.add_block());
        let mut b = Builder::new(&mut function, entry);
        let old = b.load1(Place::Pointer(pointer), Type::I32, Access::aligned(4));
        let condition = b.compare(Compare::SLess, old, value);
        b.branch(condition, yes, no);
        b.switch_to(yes);
        b.terminate(Terminator::Return(smallvec![value]));
        b.switch_to(no);
        b.terminate(Terminator::Return(smallvec![old]));
        function
    }

    fn caller() -> Module {
        let mut module = Module::default();
        let mut function = Function::new("k");
        function.return_types = vec![Type::I32];
        let entry = function.entry();
        let param = function.add_param(entry, Type::I32);
        let variable = function.add_variable(PrivateVariable {
            name: "v".into(),
            size_bytes: 4,
            align_bytes: 4,
        });
        let mut b = Builder::new(&mut function, entry);
        let address = b.op1(
            Op::VariableAddress(variable),
            Type::Ptr(AddressSpace::Private),
        );
        let seven = b.i32(7);
        b.store1(Place::Pointer(address), seven, Access::aligned(4));
        let a = b.op1(Op::Call(FuncId(2), smallvec![address, param]), Type::I32);
        let c = b.op1(Op::Call(FuncId(2), smallvec![address, seven]), Type::I32);
        let sum = b.binary(Binary::Add, a, c);
        b.terminate(Terminator::Return(smallvec![sum]));
        module.add_function(Function::new("unused"));
        let id = module.add_function(function);
        module.add_function(larger());
        module.kernels.push(testing::kernel(id));
        module
    }

    #[test]
    fn calls_with_private_pointers_disappear_and_mean_the_same() {
        let mut module = caller();
        let before: Vec<_> = [3, 90]
            .map(|x| Interpreter::new(&module).run(FuncId(1), &[x]))
            .into();
        testing::run(&mut module, run).unwrap();
        assert_eq!(module.functions.len(), 1);
        assert_eq!(module.kernels[0].function, FuncId(0));
        let after: Vec<_> = [3, 90]
            .map(|x| Interpreter::new(&module).run(FuncId(0), &[x]))
            .into();
        assert_eq!(before, after);
        assert_eq!(after, [Ok(vec![14]), Ok(vec![97])]);
    }

    #[test]
    fn recursion_is_an_error() {
        let mut module = Module::default();
        let mut function = Function::new("again");
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        b.op0(Op::Call(FuncId(0), smallvec![]));
        b.terminate(Terminator::Return(smallvec![]));
        let id = module.add_function(function);
        module.kernels.push(testing::kernel(id));
        let error = testing::run(&mut module, run).unwrap_err();
        assert_eq!(error.function.as_deref(), Some("again"));
    }

    #[test]
    fn a_large_function_called_twice_stays() {
        let mut module = Module::default();
        let mut large = Function::new("large");
        large.return_types = vec![Type::I32];
        let entry = large.entry();
        let mut value = large.add_param(entry, Type::I32);
        let mut b = Builder::new(&mut large, entry);
        for _ in 0..COPIES {
            value = b.binary(Binary::Add, value, value);
        }
        b.terminate(Terminator::Return(smallvec![value]));
        let mut function = Function::new("k");
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let one = b.i32(1);
        for _ in 0..2 {
            b.op1(Op::Call(FuncId(1), smallvec![one]), Type::I32);
        }
        b.terminate(Terminator::Return(smallvec![]));
        let id = module.add_function(function);
        module.add_function(large);
        module.kernels.push(testing::kernel(id));
        testing::run(&mut module, run).unwrap();
        assert_eq!(module.functions.len(), 2);
        assert_eq!(callees(module.function(id)).count(), 2);
    }
}
