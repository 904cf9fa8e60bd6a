//! Makes a function of what a kernel does after its last barrier.
//!
//! **Why.** Bodies that several calls share stand in a loop, and a barrier must not get into one ([`super::budget`]): a kernel
//! with a barrier gets copies. Most that have one fill tables in local memory, meet at it, and only then begin with what is
//! large.
//!
//! **How.** The blocks that no barrier is reachable from, and that one of them dominates, become a function, which the kernel
//! calls and returns. It is put back in the place of the call, with shared bodies.
//!
//! Private variables that the kernel uses in those blocks alone go with them, so that they are known there.

use crate::compiler::analysis::Dominators;
use crate::compiler::ir::{
    AddressSpace, Block, Builder, Edge, FuncId, Function, Inst, Module, Op, Terminator, Type,
    Value, ValueDef, Values, VariableId,
};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Outlines what each kernel does after its last convergent operation, if it calls functions there. `is_convergent` says which
/// operations depend on the work-items that execute them together, calls of functions that have some included.
pub fn run(module: &mut Module, is_convergent: &dyn Fn(&Op) -> bool) {
    let mut kernels: Vec<FuncId> = module.kernels.iter().map(|it| it.function).collect();
    kernels.sort();
    kernels.dedup();
    for id in kernels {
        let next = FuncId(module.functions.len() as u32);
        let kernel = &mut module.functions[id.index()];
        if let Some(first) = first_of_tail(kernel, is_convergent) {
            let tail = outline(kernel, first, next);
            module.functions.push(tail);
        }
    }
}

/// The block that dominates all blocks reachable from it, none of which has a convergent operation, where they have the most
/// calls. None without calls, or without convergent operations before them. A block whose last convergent operation others
/// follow is split there.
fn first_of_tail(function: &mut Function, is_convergent: &dyn Fn(&Op) -> bool) -> Option<Block> {
    let convergent = |function: &Function, block: Block| {
        let insts = &function.block(block).insts;
        insts
            .iter()
            .rposition(|&inst| is_convergent(&function.inst(inst).op))
    };
    for block in function.reverse_postorder() {
        if let Some(last) = convergent(function, block) {
            split(function, block, last + 1);
        }
    }
    let dominators = function.analysis::<Dominators>();
    let order = dominators.reverse_postorder();
    let mut best: Option<(usize, Block)> = None;
    let mut covered: HashSet<Block> = HashSet::new();
    for &first in order {
        if covered.contains(&first) {
            continue;
        }
        let tail = reachable(function, first);
        let is_tail = tail.iter().all(|&block| {
            dominators.dominates(first, block) && convergent(function, block).is_none()
        });
        if !is_tail {
            continue;
        }
        let calls = tail.iter().map(|&block| calls(function, block)).sum();
        if calls > best.map_or(0, |(calls, _)| calls) {
            best = Some((calls, first));
        }
        covered.extend(tail);
    }
    best.map(|(_, first)| first)
        .filter(|&first| first != function.entry())
}

/// Moves the instructions of a block from a position on, and how it ends, to a block behind it.
fn split(function: &mut Function, block: Block, position: usize) {
    let rest = function.add_block();
    let data = function.block_mut(block);
    let insts = data.insts.split_off(position);
    let terminator = std::mem::replace(&mut data.terminator, Terminator::Jump(rest.into()));
    let after = function.block_mut(rest);
    (after.insts, after.terminator) = (insts, terminator);
}

/// The blocks that can be reached from a block, itself included.
fn reachable(function: &Function, first: Block) -> BTreeSet<Block> {
    let mut seen = BTreeSet::from([first]);
    let mut pending = vec![first];
    while let Some(block) = pending.pop() {
        for next in function.successors(block) {
            if seen.insert(next) {
                pending.push(next);
            }
        }
    }
    seen
}

/// How many calls a block has.
fn calls(function: &Function, block: Block) -> usize {
    let insts = function.block(block).insts.iter();
    let is_call = |inst: &&Inst| matches!(function.inst(**inst).op, Op::Call(..));
    insts.filter(is_call).count()
}

/// Takes the blocks reachable from `first` out of a kernel, which calls `id` in their place; the function that they become.
fn outline(kernel: &mut Function, first: Block, id: FuncId) -> Function {
    let blocks = reachable(kernel, first);
    let mut tail = kernel.clone();
    tail.name = format!("{} after its barriers", kernel.name);
    let moved = variables_of(kernel, &blocks);
    // What the blocks use of what is before them.
    let mut passed = Values::new();
    let mut replaced: HashMap<Value, Value> = HashMap::new();
    let entry = tail.add_detached_block();
    let mut begin: Vec<Inst> = Vec::new();
    for value in live_in(kernel, &blocks) {
        match copy_of(kernel, value, &moved) {
            Some(insts) => begin.extend(copy(&mut tail, &insts, &mut replaced)),
            None => {
                passed.push(value);
                let param = tail.add_param(entry, kernel.ty(value));
                replaced.insert(value, param);
            }
        }
    }
    // The address of a variable that is used before, too.
    let mut addresses: Vec<VariableId> = Vec::new();
    for &block in &blocks {
        let mut kept = Vec::new();
        for inst in tail.block(block).insts.clone() {
            let data = tail.inst(inst);
            match data.op {
                Op::VariableAddress(variable) if !moved.contains(&variable) => {
                    let result = data.results[0];
                    let param = tail.add_param(entry, tail.ty(result));
                    replaced.insert(result, param);
                    addresses.push(variable);
                }
                _ => kept.push(inst),
            }
        }
        tail.block_mut(block).insts = kept;
    }
    let params = kernel.block(first).params.clone();
    let args: Values = params
        .iter()
        .map(|&param| tail.add_param(entry, kernel.ty(param)))
        .collect();
    tail.set_layout(blocks.iter().copied().collect());
    tail.replace_values(&replaced);
    let data = tail.block_mut(entry);
    data.insts = begin;
    data.terminator = Terminator::Jump(Edge::new(first, args));
    tail.set_layout(vec![entry]);
    tail.sort_layout();
    keep_variables(&mut tail, |variable| moved.contains(&variable));

    let data = kernel.block_mut(first);
    data.insts.clear();
    data.terminator = Terminator::Unreachable;
    let return_types = kernel.return_types.clone();
    let mut b = Builder::new(kernel, first);
    for variable in addresses {
        let ty = Type::Ptr(AddressSpace::Private);
        passed.push(b.op1(Op::VariableAddress(variable), ty));
    }
    passed.extend(params);
    let results = b.op(Op::Call(id, passed), return_types);
    b.terminate(Terminator::Return(results));
    kernel.sort_layout();
    keep_variables(kernel, |variable| !moved.contains(&variable));
    tail
}

/// The variables that nothing outside of the blocks uses but to compute addresses at constant offsets in them.
fn variables_of(function: &Function, blocks: &BTreeSet<Block>) -> HashSet<VariableId> {
    let mut moved: HashSet<VariableId> = (0..function.variables.len() as u32)
        .map(VariableId)
        .collect();
    let outside = function.layout().iter().filter(|it| !blocks.contains(it));
    for &block in outside {
        let data = function.block(block);
        let ops = data.insts.iter().map(|&inst| &function.inst(inst).op);
        let of_insts = ops.flat_map(|op| match op {
            Op::PtrAdd(_, offset) if function.constant(*offset).is_some() => Values::new(),
            op => op.operands(),
        });
        for value in of_insts.chain(data.terminator.operands()) {
            if let Some(variable) = variable_behind(function, value) {
                moved.remove(&variable);
            }
        }
    }
    moved
}

/// The variable that a pointer points into, as far as additions to its address say.
fn variable_behind(function: &Function, mut value: Value) -> Option<VariableId> {
    loop {
        match function.op_of(value)? {
            Op::PtrAdd(pointer, _) => value = *pointer,
            Op::VariableAddress(variable) => return Some(*variable),
            _ => return None,
        }
    }
}

/// The values that blocks use and that others define, in the order in which the function has them.
fn live_in(function: &Function, blocks: &BTreeSet<Block>) -> Vec<Value> {
    let mut inside: HashSet<Value> = HashSet::new();
    let mut used: BTreeSet<Value> = BTreeSet::new();
    for &block in blocks {
        let data = function.block(block);
        inside.extend(&data.params);
        for &inst in &data.insts {
            inside.extend(&function.inst(inst).results);
            used.extend(function.inst(inst).op.operands());
        }
        used.extend(data.terminator.operands());
    }
    used.retain(|value| !inside.contains(value));
    used.into_iter().collect()
}

/// The instructions that compute a value anew, in order: a constant, or an address in a variable that moves.
fn copy_of(function: &Function, value: Value, moved: &HashSet<VariableId>) -> Option<Vec<Inst>> {
    let ValueDef::Result { inst, .. } = function.value(value).def else {
        return None;
    };
    match &function.inst(inst).op {
        Op::Const(_) | Op::Undef | Op::GlobalAddress(_) => Some(vec![inst]),
        Op::VariableAddress(variable) => moved.contains(variable).then(|| vec![inst]),
        Op::PtrAdd(pointer, offset) => {
            let variable = variable_behind(function, *pointer)?;
            if !moved.contains(&variable) {
                return None;
            }
            let mut insts = copy_of(function, *pointer, moved)?;
            insts.extend(copy_of(function, *offset, moved)?);
            insts.push(inst);
            Some(insts)
        }
        _ => None,
    }
}

/// Copies instructions whose results nothing has replaced yet.
fn copy(
    function: &mut Function,
    insts: &[Inst],
    replaced: &mut HashMap<Value, Value>,
) -> Vec<Inst> {
    let mut copies = Vec::new();
    for &inst in insts {
        let data = function.inst(inst).clone();
        if data
            .results
            .iter()
            .any(|result| replaced.contains_key(result))
        {
            continue;
        }
        let mut op = data.op;
        op.for_each_operand_mut(|value| *value = replaced.get(value).copied().unwrap_or(*value));
        let types: Vec<_> = data.results.iter().map(|&it| function.ty(it)).collect();
        let copy = function.make_inst(op, types, data.flags);
        let results = function.inst(copy).results.clone();
        replaced.extend(data.results.iter().copied().zip(results));
        copies.push(copy);
    }
    copies
}

/// Keeps some of a function's variables, and drops the addresses in others, which nothing uses any more.
fn keep_variables(function: &mut Function, is_kept: impl Fn(VariableId) -> bool) {
    let mut new_ids: Vec<Option<VariableId>> = Vec::new();
    let mut kept = Vec::new();
    for (index, variable) in function.variables.iter().enumerate() {
        if is_kept(VariableId(index as u32)) {
            new_ids.push(Some(VariableId(kept.len() as u32)));
            kept.push(variable.clone());
        } else {
            new_ids.push(None);
        }
    }
    function.variables = kept;
    let mut dropped: HashSet<Value> = HashSet::new();
    for block in function.layout().to_vec() {
        let mut insts = function.block(block).insts.clone();
        insts.retain(|&inst| {
            let data = function.inst_mut(inst);
            let keeps = match &mut data.op {
                Op::VariableAddress(variable) => {
                    let new_id = new_ids[variable.index()];
                    *variable = new_id.unwrap_or(*variable);
                    new_id.is_some()
                }
                Op::PtrAdd(pointer, _) => !dropped.contains(pointer),
                _ => true,
            };
            if !keeps {
                dropped.extend(&data.results);
            }
            keeps
        });
        function.block_mut(block).insts = insts;
    }
}
