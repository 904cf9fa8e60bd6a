//! Makes words of booleans that a loop sets to the same in every iteration.
//!
//! **Why.** NVIDIA's compiler (seen in 580.159.04) ends the process over a loop of few iterations that does nothing else than
//! such an assignment: `uint i = 2; while (i-- != 0) flag = n > 1;`. The same with a number is compiled.
//!
//! **How.** The loop's variable is a word, compared with zero where it is read. The first value is combined with a zero that
//! the driver does not know to be one, or it would make a boolean of it again.
//!
//! **Needs** loops before they are structured, and a buffer among the kernel's arguments. Does nothing unless the device asks
//! for it ([`crate::compiler::Defects::BREAKS_ON_LOOP_FLAGS`]).

use crate::compiler::analysis::{Invariance, Loop, Loops};
use crate::compiler::ir::{Block, Builder, Compare, Function, Module, Type, Value};
use crate::compiler::passes::helpers::hidden_zero::HiddenZero;
use crate::compiler::{CompileError, Context, Defects};
use std::collections::HashMap;

/// How far what a flag is set to is followed.
const DEPTH: u32 = 6;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::BREAKS_ON_LOOP_FLAGS)
        && let Some(zero) = HiddenZero::of(module)
    {
        for function in &mut module.functions {
            widen(function, zero);
        }
    }
    Ok(())
}

fn widen(function: &mut Function, zero: HiddenZero) {
    function.sort_layout();
    let loops = function.analysis::<Loops>();
    let mut all = Vec::new();
    for found in loops.all() {
        let flags = flags(function, found);
        all.extend(flags.into_iter().map(|flag| (found, flag)));
    }
    for &(found, (at, _)) in &all {
        for &block in &found.entries {
            give_word(function, block, found.header, at, Some(zero));
        }
        for &block in &found.latches {
            give_word(function, block, found.header, at, None);
        }
    }
    // What reads a flag from now on, and the comparison that makes it; the loop's variable keeps its place.
    let mut read = HashMap::new();
    let mut comparisons = Vec::new();
    for (found, (_, flag)) in all {
        function.set_type(flag, Type::I32);
        let own = function.block(found.header).insts.len();
        let mut b = Builder::new(function, found.header);
        let none = b.i32(0);
        let boolean = b.compare(Compare::NotEqual, flag, none);
        let insts = &mut function.block_mut(found.header).insts;
        let built = insts.len() - own;
        insts.rotate_right(built);
        read.insert(flag, boolean);
        comparisons.push((insts[built - 1], flag));
    }
    function.replace_values(&read);
    for (comparison, flag) in comparisons {
        function
            .inst_mut(comparison)
            .op
            .for_each_operand_mut(|operand| {
                if read.get(&flag) == Some(operand) {
                    *operand = flag;
                }
            });
    }
}

/// The loop's boolean variables that every way back sets to something that is the same in all iterations, with their places among
/// the header's parameters.
fn flags(function: &Function, found: &Loop) -> Vec<(usize, Value)> {
    let invariance = Invariance::of(function, &found.blocks);
    let params = &function.block(found.header).params;
    let is_flag = |at: usize| {
        found.latches.iter().all(|&latch| {
            let edges = function.block(latch).terminator.edges().into_iter();
            let mut back = edges.filter(|edge| edge.block == found.header);
            back.all(|edge| {
                let next = edge.args.get(at);
                next.is_some_and(|&next| invariance.is_invariant(function, next, DEPTH))
            })
        })
    };
    let params = params.iter().copied().enumerate();
    params
        .filter(|&(at, param)| function.ty(param) == Type::Bool && is_flag(at))
        .collect()
}

/// Has a block's edges to the header give it a word in place of a boolean; one that enters the loop adds a zero.
fn give_word(
    function: &mut Function,
    block: Block,
    header: Block,
    at: usize,
    zero: Option<HiddenZero>,
) {
    let edges = function.block(block).terminator.edges();
    let booleans: Vec<Value> = edges
        .into_iter()
        .filter(|edge| edge.block == header)
        .filter_map(|edge| edge.args.get(at).copied())
        .collect();
    let mut words = Vec::new();
    for boolean in booleans {
        let mut b = Builder::new(function, block);
        let (one, none) = (b.i32(1), b.i32(0));
        let word = b.select(boolean, one, none);
        words.push(zero.map_or(word, |zero| zero.added_to(&mut b, word)));
    }
    let mut words = words.into_iter();
    for edge in function.block_mut(block).terminator.edges_mut() {
        if edge.block == header
            && let Some(argument) = edge.args.get_mut(at)
            && let Some(word) = words.next()
        {
            *argument = word;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Binary, Edge, Op, Terminator};
    use smallvec::smallvec;

    /// A loop that goes on while its counter is not zero and sets a flag to `next` each time; the header, and the flag.
    fn setting(
        next: impl FnOnce(&mut Builder<'_>, Value, Value) -> Value,
    ) -> (Function, Block, Value) {
        let mut function = Function::new("k");
        function.return_types = vec![Type::Bool];
        let entry = function.entry();
        let param = function.add_param(entry, Type::I32);
        let [iteration, body, done] = [0; 3].map(|_| function.add_block());
        let counter = function.add_param(iteration, Type::I32);
        let flag = function.add_param(iteration, Type::Bool);
        let mut b = Builder::new(&mut function, entry);
        let five = b.i32(5);
        let first = b.compare(Compare::ULess, param, five);
        b.jump(Edge::new(iteration, [param, first]));
        b.switch_to(iteration);
        let zero = b.i32(0);
        let goes_on = b.compare(Compare::NotEqual, counter, zero);
        b.branch(goes_on, body, done);
        b.switch_to(body);
        let next = next(&mut b, param, counter);
        let fewer = b.binary_const(Binary::Sub, counter, 1);
        b.jump(Edge::new(iteration, [fewer, next]));
        b.switch_to(done);
        b.terminate(Terminator::Return(smallvec![flag]));
        function.sort_layout();
        (function, iteration, flag)
    }

    fn is_seven(b: &mut Builder<'_>, number: Value) -> Value {
        let seven = b.i32(7);
        b.compare(Compare::Equal, number, seven)
    }

    #[test]
    fn a_flag_that_is_set_becomes_a_word() {
        let (mut function, header, flag) = setting(|b, param, _| is_seven(b, param));
        widen(&mut function, HiddenZero::at(4));
        assert_eq!(function.ty(flag), Type::I32);
        let edges: Vec<_> = function
            .layout()
            .iter()
            .flat_map(|&block| function.block(block).terminator.edges())
            .filter(|edge| edge.block == header)
            .collect();
        assert_eq!(edges.len(), 2);
        assert!(
            edges
                .iter()
                .all(|edge| function.ty(edge.args[1]) == Type::I32)
        );
        // What is returned is a boolean again.
        let terminators = function.layout().iter();
        let returned = terminators
            .filter_map(|&block| match &function.block(block).terminator {
                Terminator::Return(values) => values.first(),
                _ => None,
            })
            .next();
        let comparison = function.op_of(*returned.unwrap());
        assert!(
            matches!(comparison, Some(&Op::Compare(Compare::NotEqual, word, _)) if word == flag),
            "{function}"
        );
    }

    #[test]
    fn a_flag_that_is_computed_stays() {
        let (mut function, _, flag) = setting(|b, _, counter| is_seven(b, counter));
        let before = function.to_string();
        widen(&mut function, HiddenZero::at(4));
        assert_eq!(function.ty(flag), Type::Bool);
        assert_eq!(function.to_string(), before);
    }
}
