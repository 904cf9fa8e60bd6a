//! A way out of a loop's header that is never taken, for a driver that would otherwise lose what the loop computes.
//!
//! **Why.** llvmpipe (seen in Mesa 25.0) jumps over an arm of a condition that no work-item takes, and keeps what leaves a
//! loop in a register, but for what is the same in every iteration (`nir_convert_to_lcssa`). Such a value, computed in an arm
//! through which all ways out of the loop lead, is used behind the loop where it may not have been computed: its code is not
//! valid, and LLVM 19 ends the process over it.
//!
//! **How.** Where all ways out of a loop lead through a block that an iteration may avoid, the header gets a way out under a
//! condition that never holds. The block then dominates nothing behind the loop, and all that is used there comes
//! by parameters. To compute the value before the loop is not enough: the driver puts what is computed in the block in the
//! place of what is equal behind the loop.
//!
//! **Needs** structured control flow, and keeps it. Does nothing unless the device asks for it
//! ([`crate::compiler::Defects::LOSES_LOOP_INVARIANTS`]).

use crate::compiler::analysis::{Dominators, Uses};
use crate::compiler::ir::{Block, Builder, Edge, Function, Merge, Module, Terminator, Values};
use crate::compiler::passes::helpers::hidden_zero::holds_always;
use crate::compiler::{CompileError, Context, Defects};
use std::collections::HashSet;

pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::LOSES_LOOP_INVARIANTS) {
        for function in &mut module.functions {
            add_exits(function);
        }
    }
    Ok(())
}

/// Does it to one function, whatever the device. Returns how many loops got another way out.
pub(in crate::compiler) fn add_exits(function: &mut Function) -> usize {
    let mut uses = None;
    let mut added = 0;
    for header in function.layout().to_vec() {
        let Some(Merge::Loop { merge, continues }) = function.block(header).merge else {
            continue;
        };
        // A header that decides anything is left from there already.
        let Terminator::Jump(first) = &function.block(header).terminator else {
            continue;
        };
        let first = first.clone();
        let body = reachable(function, header, merge);
        if !leaves_from_an_arm(function, header, merge, continues, &body) {
            continue;
        }
        let uses = uses.get_or_insert_with(|| Uses::new(function));
        pass_results(function, uses, merge, &body);
        let params = function.block(merge).params.clone();
        let mut b = Builder::new(function, header);
        let nothing: Values = params
            .iter()
            .map(|&param| {
                let ty = b.ty(param);
                b.constant(ty, 0)
            })
            .collect();
        let always = holds_always(&mut b);
        b.branch(always, first, Edge::new(merge, nothing));
        added += 1;
    }
    added
}

/// Gives what a loop computes and others use to its merge block as parameters.
fn pass_results(function: &mut Function, uses: &mut Uses, merge: Block, body: &[Block]) {
    let inside: HashSet<Block> = body.iter().copied().collect();
    for value in uses.left_behind(function, body, &inside) {
        let ty = function.ty(value);
        let param = function.add_param(merge, ty);
        for &block in body {
            for edge in function.block_mut(block).terminator.edges_mut() {
                if edge.block == merge {
                    edge.args.push(value);
                }
            }
        }
        uses.replace_outside(function, value, param, &inside);
    }
    for &block in body {
        uses.add_end(function, block);
    }
}

/// The blocks that a header leads to before the loop's merge block, the header first.
fn reachable(function: &Function, header: Block, merge: Block) -> Vec<Block> {
    let mut found = vec![header];
    let mut seen = HashSet::from([header, merge]);
    let mut next = 0;
    while let Some(&block) = found.get(next) {
        next += 1;
        let targets = function.successors(block).into_iter();
        found.extend(targets.filter(|&target| seen.insert(target)));
    }
    found
}

/// Whether all ways out of a loop lead through a block that an iteration may avoid.
fn leaves_from_an_arm(
    function: &Function,
    header: Block,
    merge: Block,
    continues: Block,
    body: &[Block],
) -> bool {
    let inside: HashSet<Block> = body.iter().copied().collect();
    let mut leaving = body
        .iter()
        .copied()
        .filter(|&block| function.successors(block).contains(&merge));
    let Some(first) = leaving.next() else {
        return false;
    };
    let dominators = Dominators::within(function, header, &inside);
    let common = leaving.try_fold(first, |common, block| {
        dominators.common_dominator(common, block)
    });
    // What dominates the way back is in every iteration.
    common.is_some_and(|common| !dominators.dominates(common, continues))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Binary, Compare, Type};
    use smallvec::smallvec;

    /// `for (n = start;; ++n) if (n & 2) { v = start * 5; if (n > 9) break; } return v;`, or without the outer condition.
    fn loop_left_from(arm: bool) -> Function {
        let mut f = Function::new("f");
        f.return_types = vec![Type::I32];
        let entry = f.entry();
        let start = f.add_param(entry, Type::I32);
        let [header, first, inner, next, merge] = [0; 5].map(|_| f.add_block());
        let n = f.add_param(header, Type::I32);
        let mut b = Builder::new(&mut f, entry);
        b.jump(Edge::new(header, [start]));
        b.switch_to(header);
        b.jump(first);
        b.switch_to(first);
        let zero = b.i32(0);
        let bit = b.binary_const(Binary::And, n, 2);
        let taken = b.compare(Compare::NotEqual, bit, zero);
        if arm {
            b.branch(taken, inner, next);
        } else {
            b.jump(inner);
        }
        b.switch_to(inner);
        let v = b.binary_const(Binary::Mul, start, 5);
        let most = b.i32(9);
        let ends = b.compare(Compare::SLess, most, n);
        b.branch(ends, merge, next);
        b.switch_to(next);
        let following = b.binary_const(Binary::Add, n, 1);
        b.jump(Edge::new(header, [following]));
        b.switch_to(merge);
        b.terminate(Terminator::Return(smallvec![v]));
        f.block_mut(header).merge = Some(Merge::Loop {
            merge,
            continues: next,
        });
        f
    }

    #[test]
    fn a_loop_left_from_an_arm_is_left_at_its_header() {
        let mut function = loop_left_from(true);
        assert_eq!(add_exits(&mut function), 1);
        let text = function.to_string();
        assert_eq!(add_exits(&mut function), 0, "{text}");
    }

    #[test]
    fn a_loop_left_in_every_iteration_stays_as_it_is() {
        assert_eq!(add_exits(&mut loop_left_from(false)), 0);
    }
}
