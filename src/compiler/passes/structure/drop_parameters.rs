//! Block parameters that only ever have one value become that value.
//!
//! **Why.** `structurize` leads many edges through one dispatch block, and what any of its targets takes goes along. Most of
//! that goes through arm after arm of a large kernel unchanged, or is undefined on the way, and each such parameter costs a
//! driver: llvmpipe makes a register in memory of it, which is written under a mask on each edge.
//!
//! **How.** An optimistic data-flow analysis: no parameter has a value until an edge passes it one. Undefined arguments count for
//! nothing, as they may be anything. A parameter that has but one value in the end is dropped where the value dominates it, so
//! that parameters which loops pass around among themselves go, too.
//!
//! **Needs** nothing; keeps the control flow, and what stages promise of it.

use crate::compiler::analysis::Dominators;
use crate::compiler::ir::{Block, Function, InstFlags, Module, Op, Type, Value};
use crate::compiler::{CompileError, Context};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Runs the pass on every function.
pub fn run(module: &mut Module, _cx: &Context<'_>) -> Result<(), CompileError> {
    for function in &mut module.functions {
        drop_parameters(function);
    }
    Ok(())
}

/// Drops the parameters of one value of a function, whose layout holds reachable blocks only.
pub(in crate::compiler) fn drop_parameters(function: &mut Function) {
    let mut known = Known::new(function);
    if known.params.is_empty() {
        return;
    }
    known.settle();
    let places = Places::new(function);
    while known.keep_undominated(&places) {
        known.settle();
    }
    let mut undefined: HashMap<Type, Value> = HashMap::new();
    let mut replacements: HashMap<Value, Value> = HashMap::new();
    for param in known.params.iter().map(|param| param.value) {
        match known.values[param.index()] {
            Some(value) if value == param => {}
            Some(value) => {
                replacements.insert(param, value);
            }
            None => {
                let ty = function.ty(param);
                let undefined = undefined
                    .entry(ty)
                    .or_insert_with(|| undefined_at_entry(function, ty));
                replacements.insert(param, *undefined);
            }
        }
    }
    if replacements.is_empty() {
        return;
    }
    function.remove_params(|param| replacements.contains_key(&param));
    function.replace_values(&replacements);
}

/// An undefined value that dominates everything.
fn undefined_at_entry(function: &mut Function, ty: Type) -> Value {
    let inst = function.make_inst(Op::Undef, [ty], InstFlags::default());
    let entry = function.entry();
    function.block_mut(entry).insts.insert(0, inst);
    function.inst(inst).results[0]
}

/// A parameter of a block other than the entry.
struct Param {
    value: Value,
    block: Block,
    /// What the edges pass it.
    args: Vec<Value>,
    /// Parameters that get it as an argument: positions among all.
    dependents: Vec<usize>,
}

/// What is known of the values of parameters.
struct Known {
    /// In the order of the layout.
    params: Vec<Param>,
    /// By value: the only value that it ever has, itself where there are several; `None` while all are undefined.
    values: Vec<Option<Value>>,
    /// Parameters to look at again.
    pending: BTreeSet<usize>,
}

impl Known {
    fn new(function: &Function) -> Self {
        let mut params: Vec<Param> = Vec::new();
        let mut position: HashMap<Value, usize> = HashMap::new();
        for &block in function.layout().iter().skip(1) {
            for &value in &function.block(block).params {
                position.insert(value, params.len());
                params.push(Param {
                    value,
                    block,
                    args: Vec::new(),
                    dependents: Vec::new(),
                });
            }
        }
        for &block in function.layout() {
            for edge in function.block(block).terminator.edges() {
                let taken = &function.block(edge.block).params;
                for (param, &arg) in taken.iter().zip(&edge.args) {
                    let Some(&to) = position.get(param) else {
                        continue;
                    };
                    params[to].args.push(arg);
                    if let Some(&from) = position.get(&arg) {
                        params[from].dependents.push(to);
                    }
                }
            }
        }
        let mut values: Vec<Option<Value>> = vec![None; function.value_count()];
        let is_undefined = |value| matches!(function.op_of(value), Some(Op::Undef));
        for arg in params.iter().flat_map(|param| &param.args) {
            if !position.contains_key(arg) && !is_undefined(*arg) {
                values[arg.index()] = Some(*arg);
            }
        }
        let pending = (0..params.len()).collect();
        Self {
            params,
            values,
            pending,
        }
    }

    /// Evaluates pending parameters until none is left. There is an end: a parameter of several values stays one, and the value of
    /// any other changes only where an argument has become such a parameter.
    fn settle(&mut self) {
        while let Some(at) = self.pending.pop_first() {
            let param = &self.params[at];
            let before = self.values[param.value.index()];
            if before == Some(param.value) {
                continue;
            }
            let others = param.args.iter().filter(|&&arg| arg != param.value);
            let mut values = others.filter_map(|arg| self.values[arg.index()]);
            let first = values.next();
            let after = match first {
                Some(first) if values.any(|other| other != first) => Some(param.value),
                _ => first,
            };
            if after != before {
                self.values[param.value.index()] = after;
                self.pending.extend(&param.dependents);
            }
        }
    }

    /// Keeps parameters whose value does not dominate them, but for those that only get it from another such parameter. Returns
    /// whether there were any.
    fn keep_undominated(&mut self, places: &Places) -> bool {
        let is_undominated = |param: &Param| {
            let value = self.values[param.value.index()];
            value.is_some_and(|value| value != param.value && !places.dominates(value, param.block))
        };
        let undominated: Vec<bool> = self.params.iter().map(is_undominated).collect();
        let mut passed_on = vec![false; self.values.len()];
        for (param, _) in self.params.iter().zip(&undominated).filter(|(_, it)| **it) {
            passed_on[param.value.index()] = true;
        }
        let mut kept = false;
        for at in (0..self.params.len()).filter(|&at| undominated[at]) {
            let param = &self.params[at];
            let mut args = param.args.iter();
            if args.any(|arg| self.values[arg.index()].is_some() && !passed_on[arg.index()]) {
                self.values[param.value.index()] = Some(param.value);
                self.pending.extend(&param.dependents);
                kept = true;
            }
        }
        kept
    }
}

/// Where values are defined.
struct Places {
    dominators: Arc<Dominators>,
    /// By value: the block.
    homes: Vec<Option<Block>>,
}

impl Places {
    fn new(function: &Function) -> Self {
        let mut homes = vec![None; function.value_count()];
        for &block in function.layout() {
            let data = function.block(block);
            let results = data.insts.iter().map(|&inst| &function.inst(inst).results);
            for value in data.params.iter().chain(results.flatten()) {
                homes[value.index()] = Some(block);
            }
        }
        Self {
            dominators: function.analysis::<Dominators>(),
            homes,
        }
    }

    /// Whether a value is there before a block starts, and the same when the block's parameters get theirs. What the block itself
    /// defines comes around a loop: it is that of the iteration before.
    fn dominates(&self, value: Value, block: Block) -> bool {
        self.homes[value.index()]
            .is_some_and(|home| home != block && self.dominators.dominates(home, block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Binary, Builder, Edge, Terminator, ValueDef, Values};

    /// How many parameters the blocks behind the entry have.
    fn count(function: &Function) -> usize {
        let behind = function.layout().iter().skip(1);
        behind
            .map(|&block| function.block(block).params.len())
            .sum()
    }

    /// A function whose two arms pass a value each to where they meet: those that `args` chooses of the function's `x` and `y`, and
    /// an undefined value.
    fn diamond(args: impl Fn([Value; 3]) -> [Value; 2]) -> Function {
        let mut f = Function::new("f");
        f.return_types = vec![Type::I32];
        let entry = f.entry();
        let condition = f.add_param(entry, Type::Bool);
        let [x, y] = [(); 2].map(|()| f.add_param(entry, Type::I32));
        let [then, otherwise, merge] = [(); 3].map(|()| f.add_block());
        let param = f.add_param(merge, Type::I32);
        let mut b = Builder::new(&mut f, entry);
        let undefined = b.undef(Type::I32);
        let args = args([x, y, undefined]);
        b.branch(condition, then, otherwise);
        for (block, arg) in [then, otherwise].into_iter().zip(args) {
            b.switch_to(block);
            b.jump(Edge::new(merge, [arg]));
        }
        b.switch_to(merge);
        b.terminate(Terminator::Return(Values::from_slice(&[param])));
        f
    }

    /// Whether the pass edits a function.
    fn drops(f: &mut Function) -> bool {
        let before = f.edits();
        drop_parameters(f);
        f.edits() != before
    }

    #[test]
    fn what_is_one_value_or_undefined_is_that_value() {
        for args in [
            |[x, _, _]: [Value; 3]| [x, x],
            |[x, _, undefined]: [Value; 3]| [x, undefined],
            |[_, _, undefined]: [Value; 3]| [undefined, undefined],
        ] {
            let mut f = diamond(args);
            assert!(drops(&mut f));
            assert_eq!(count(&f), 0, "{f}");
        }
        let mut f = diamond(|[x, y, _]| [x, y]);
        assert!(!drops(&mut f));
        assert_eq!(count(&f), 1);
    }

    #[test]
    fn what_one_arm_computes_stays_a_parameter() {
        let mut f = diamond(|[x, _, undefined]| [x, undefined]);
        let [then, merge] = [1, 3].map(|at| f.layout()[at]);
        let x = f.params()[1];
        let mut b = Builder::new(&mut f, then);
        let sum = b.binary_const(Binary::Add, x, 1);
        b.jump(Edge::new(merge, [sum]));
        assert!(!drops(&mut f));
        assert_eq!(count(&f), 1);
    }

    #[test]
    fn the_value_of_the_iteration_before_stays_a_parameter() {
        let mut f = Function::new("f");
        f.return_types = vec![Type::I32];
        let entry = f.entry();
        let condition = f.add_param(entry, Type::Bool);
        let [header, end] = [(); 2].map(|()| f.add_block());
        let [counter, before] = [(); 2].map(|()| f.add_param(header, Type::I32));
        let mut b = Builder::new(&mut f, entry);
        let (zero, undefined) = (b.i32(0), b.undef(Type::I32));
        b.jump(Edge::new(header, [zero, undefined]));
        b.switch_to(header);
        let next = b.binary_const(Binary::Add, counter, 1);
        b.branch(condition, Edge::new(header, [next, counter]), end);
        b.switch_to(end);
        b.terminate(Terminator::Return(Values::from_slice(&[before])));
        assert!(!drops(&mut f));
        assert_eq!(count(&f), 2);
    }

    /// Two loops, one in the other, that pass two values around: one is always the function's own, under the name of a parameter of
    /// each block; the other is counted.
    fn nested_loops() -> Function {
        let mut f = Function::new("f");
        f.return_types = vec![Type::I32; 2];
        let entry = f.entry();
        let x = f.add_param(entry, Type::I32);
        let condition = f.add_param(entry, Type::Bool);
        let [outer, inner, next, end] = [(); 4].map(|()| f.add_block());
        let [outer_params, inner_params, next_params] =
            [outer, inner, next].map(|block| [(); 2].map(|()| f.add_param(block, Type::I32)));
        let mut b = Builder::new(&mut f, entry);
        let zero = b.i32(0);
        b.jump(Edge::new(outer, [x, zero]));
        b.switch_to(outer);
        b.jump(Edge::new(inner, outer_params));
        b.switch_to(inner);
        let counted = b.binary_const(Binary::Add, inner_params[1], 1);
        let args = [inner_params[0], counted];
        b.branch(condition, Edge::new(inner, args), Edge::new(next, args));
        b.switch_to(next);
        b.branch(condition, Edge::new(outer, next_params), end);
        b.switch_to(end);
        b.terminate(Terminator::Return(Values::from_slice(&next_params)));
        f
    }

    #[test]
    fn what_nested_loops_pass_around_unchanged_goes() {
        let mut f = nested_loops();
        assert!(drops(&mut f));
        // The counter of each loop: behind them it is the sum that the inner one makes.
        assert_eq!(count(&f), 2, "{f}");
        let Terminator::Return(values) = &f.block(f.layout()[4]).terminator else {
            panic!("{f}");
        };
        assert_eq!(values[0], f.params()[0]);
        let ValueDef::Result { .. } = f.value(values[1]).def else {
            panic!("{f}");
        };
    }
}
