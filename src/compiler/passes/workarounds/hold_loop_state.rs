//! Keeps a loop's variables unchanged until its way back, for a driver that loses values otherwise.
//!
//! **Why.** llvmpipe (seen in Mesa 22.3) computes a loop's values for all work-items of a vector until the last one leaves. For
//! those that left before only the registers stay as they were, which the variables of loops become; all else is computed again
//! from them. That gives the same again, unless the new value of a variable was put into its register before the work-item
//! left: a value computed from the old one and used behind the loop is then wrong. So it is where a loop is left in several
//! ways with a value of each: what is behind has one register, in which each of the values is computed where nothing reads it
//! later, and of which others are computed again. And so it is where blocks within a loop meet, or another loop begins: what is
//! handed on to them may be computed in the register that it has there, and be overwritten later in the same iteration.
//!
//! **How.** Only the continue target gives variables their new values: `select(always, new, old)` needs the old value up to
//! there, so that both can't share a register before. On the ways out what others are computed of is handed on as
//! `select(always, value, 0)`, which may have the register of what is behind; so is what is handed on within the loop, where
//! something behind it is computed of that. That the condition always holds only the launch can tell: no dispatch has zero
//! work-groups. Loops that all work-items leave in the same iteration, and the loops around them likewise, stay as they are:
//! nothing is computed for any that has left then.
//!
//! **Needs** structured control flow whose continue targets do not leave the loop, and keeps it. Does
//! nothing unless the device asks for it ([`crate::compiler::Defects::OVERWRITES_LOOP_STATE`]).

use crate::compiler::analysis::{Dominators, Loop, Loops, defined_values, loops_left_together};
use crate::compiler::ir::{Block, Builder, Function, Merge, Module, Terminator, Value};
use crate::compiler::passes::helpers::hidden_zero::Always;
use crate::compiler::{CompileError, Context, Defects};
use std::collections::{HashMap, HashSet};

pub fn run(module: &mut Module, cx: &Context) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::OVERWRITES_LOOP_STATE) {
        for function in &mut module.functions {
            hold(function);
        }
    }
    Ok(())
}

/// Does it to one function, whatever the device.
pub(in crate::compiler) fn hold(function: &mut Function) {
    let dominators = function.analysis::<Dominators>();
    let used_again = used_again(function);
    // Copies are made where what they are copies of was used, so that this stays true.
    let uses = uses(function);
    let mut always = Always::default();
    for held in loops_left_apart(function) {
        let Some(Merge::Loop { merge, continues }) = function.block(held.header).merge else {
            continue;
        };
        hold_until_back(function, &held, continues, &mut always);
        let mut own = defined_values(function, &held.blocks);
        let inside: HashSet<Block> = held.blocks.iter().copied().collect();
        let mut behind = made_for_behind(function, &uses, &inside, &own);
        behind.retain(|it| used_again.contains(it));
        let goes_on = |to: Block| to != held.header && inside.contains(&to);
        for &block in &held.blocks {
            copy_on_ways(function, block, &goes_on, &behind, &mut always);
        }
        own.retain(|it| used_again.contains(it));
        let leaves = |to: Block| !inside.contains(&to);
        for block in between(&dominators, held.header, merge) {
            copy_on_ways(function, block, &leaves, &own, &mut always);
        }
    }
}

/// Has the variables of a loop keep their old values up to its continue target.
fn hold_until_back(function: &mut Function, held: &Loop, continues: Block, always: &mut Always) {
    let Terminator::Jump(edge) = &function.block(continues).terminator else {
        return;
    };
    let mut edge = edge.clone();
    let old = function.block(held.header).params.clone();
    for (new, &old) in edge.args.iter_mut().zip(&old) {
        if *new != old {
            let condition = always.of(function);
            *new = Builder::new(function, continues).select(condition, *new, old);
        }
    }
    function.block_mut(continues).terminator = Terminator::Jump(edge);
}

/// The values of a loop, whose blocks are `inside` and values `own`, that are used behind it, and what of them these are computed of.
fn made_for_behind(
    function: &Function,
    uses: &[Vec<Block>],
    inside: &HashSet<Block>,
    own: &HashSet<Value>,
) -> HashSet<Value> {
    let is_used_behind = |value: &Value| {
        let mut blocks = uses.get(value.index()).into_iter().flatten();
        blocks.any(|block| !inside.contains(block))
    };
    let mut pending: Vec<Value> = own.iter().copied().filter(is_used_behind).collect();
    let mut found = HashSet::new();
    while let Some(value) = pending.pop() {
        if own.contains(&value)
            && found.insert(value)
            && let Some(op) = function.op_of(value)
        {
            pending.extend(op.operands());
        }
    }
    found
}

/// Has a block hand on copies of these values on the ways that are `meant`, by where they lead.
fn copy_on_ways(
    function: &mut Function,
    block: Block,
    meant: &impl Fn(Block) -> bool,
    values: &HashSet<Value>,
    always: &mut Always,
) {
    let mut terminator = function.block(block).terminator.clone();
    let mut copies: HashMap<Value, Value> = HashMap::new();
    for edge in terminator.edges_mut() {
        if !meant(edge.block) {
            continue;
        }
        for arg in edge.args.iter_mut().filter(|it| values.contains(it)) {
            *arg = match copies.get(arg) {
                Some(&copy) => copy,
                None => {
                    let condition = always.of(function);
                    let b = &mut Builder::new(function, block);
                    let nothing = b.constant(b.ty(*arg), 0);
                    let copy = b.select(condition, *arg, nothing);
                    copies.insert(*arg, copy);
                    copy
                }
            };
        }
    }
    function.block_mut(block).terminator = terminator;
}

/// The blocks that use each value of a function, and those that an edge hands it to.
fn uses(function: &Function) -> Vec<Vec<Block>> {
    let mut uses: Vec<Vec<Block>> = vec![Vec::new(); function.value_count()];
    let mut note = |value: Value, block: Block| {
        if let Some(blocks) = uses.get_mut(value.index())
            && blocks.last() != Some(&block)
        {
            blocks.push(block);
        }
    };
    for &block in function.layout() {
        let data = function.block(block);
        let of_instructions = data.insts.iter().map(|&it| function.inst(it).op.operands());
        let operands = of_instructions.chain([data.terminator.operands()]);
        operands.flatten().for_each(|value| note(value, block));
        for edge in data.terminator.edges() {
            edge.args.iter().for_each(|&value| note(value, edge.block));
        }
    }
    uses
}

/// The values of a function, but for constants, that are used more than once.
fn used_again(function: &Function) -> HashSet<Value> {
    let mut used = HashSet::new();
    let mut again = HashSet::new();
    for &block in function.layout() {
        let data = function.block(block);
        let of_instructions = data.insts.iter().map(|&it| function.inst(it).op.operands());
        for value in of_instructions
            .chain([data.terminator.operands()])
            .flatten()
        {
            if !used.insert(value) && function.constant(value).is_none() {
                again.insert(value);
            }
        }
    }
    again
}

/// The blocks that a loop's header dominates, up to its merge block and without it.
fn between(dominators: &Dominators, header: Block, merge: Block) -> Vec<Block> {
    let mut found = vec![header];
    let mut next = 0;
    while let Some(&block) = found.get(next) {
        let children = dominators.children(block).iter().copied();
        found.extend(children.filter(|&it| it != merge));
        next += 1;
    }
    found
}

/// The loops that work-items may leave, or loops around them, in different iterations.
fn loops_left_apart(function: &Function) -> Vec<Loop> {
    let loops = function.analysis::<Loops>();
    let is_left_together = loops_left_together(function);
    let is_left_apart = |it: &&Loop| loops.around(it.header).any(|it| !is_left_together[it]);
    loops.all().iter().filter(is_left_apart).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Binary, BuiltIn, Compare, Edge, Op, Type};
    use smallvec::smallvec;

    /// A loop that work-items leave in different iterations. Its header hands a sum on to a block within and computes its square,
    /// which may be used behind the loop. The header, and the sum.
    fn handed_on(is_used_behind: bool) -> (Function, Block, Value) {
        let mut function = Function::new("k");
        function.return_types = vec![Type::I32];
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let [header, within, continues, merge] = [(); 4].map(|()| b.function.add_block());
        let (zero, one) = (b.i32(0), b.i32(1));
        let id = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(0)), Type::I32);
        b.terminate(Terminator::Jump(Edge::new(header, [zero])));
        let count = b.function.add_param(header, Type::I32);
        let param = b.function.add_param(within, Type::I32);
        b.switch_to(header);
        let sum = b.binary(Binary::Add, count, one);
        let square = b.binary(Binary::Mul, sum, sum);
        b.terminate(Terminator::Jump(Edge::new(within, [sum])));
        b.switch_to(within);
        let next = b.binary(Binary::Add, param, one);
        let condition = b.compare(Compare::ULess, next, id);
        b.branch(condition, continues, merge);
        b.switch_to(continues);
        b.terminate(Terminator::Jump(Edge::new(header, [next])));
        b.switch_to(merge);
        let result = if is_used_behind { square } else { zero };
        b.terminate(Terminator::Return(smallvec![result]));
        function.block_mut(header).merge = Some(Merge::Loop { merge, continues });
        (function, header, sum)
    }

    #[test]
    fn what_values_behind_are_computed_of_is_handed_on_as_copies() {
        for is_used_behind in [true, false] {
            let (mut function, header, sum) = handed_on(is_used_behind);
            hold(&mut function);
            let edges = function.block(header).terminator.edges();
            let is_copy = edges[0].args[0] != sum;
            assert_eq!(is_copy, is_used_behind, "{function}");
        }
    }
}
