//! Keeps the phis of selections in loops, for a driver that loses values otherwise.
//!
//! **Why.** A phi keeps what it held for the work-items that have left a loop: its ways write it for those that take them
//! alone. SPIRV-Tools, which SwiftShader runs before anything else, and Mesa make `OpSelect` of a phi behind a selection where both
//! values are known before (`x = a[i]; if (x < 0) { b[i] = x; x = 1; }`). That is computed anew in every further
//! iteration, of a condition and of values that are not what they were: what was loaded is zero for those that have left.
//!
//! **How.** Where a phi that is used behind a loop joins the ways of selections, these are marked `DontFlatten`, which both
//! optimizers heed. What they depend on is made something that no optimizer knows: it would drop a way that is never taken, and
//! the phi with it. [`crate::compiler::passes::workarounds::keep_loop_results`] says which loops do harm, and does the same for what is no phi.
//!
//! Mesa makes a branch of each case of a switch, and marks none of them. Where a switch is marked, the ways to its merge block lead
//! through a selection each, which is marked, too, and by a condition that always holds: no way of a selection that is flattened
//! has branches of its own.
//!
//! **Needs** structured control flow, and keeps it. Does nothing unless the device asks for it
//! ([`Defects::LOSES_LOOP_RESULTS`]; switches need [`Defects::FLATTENS_SWITCHES`], too).

use crate::compiler::analysis::{Dominators, LoopResults};
use crate::compiler::ir::{
    Binary, Block, Builder, Compare, Edge, Function, Merge, Module, Terminator, Type, Values,
};
use crate::compiler::passes::helpers::hidden_zero::{
    Always, holds_always_in, is_always, no_group_count_bit,
};
use crate::compiler::{CompileError, Context, Defects};
use std::collections::{BTreeSet, HashSet};

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::LOSES_LOOP_RESULTS) {
        let flattens_switches = cx.capabilities.has(Defects::FLATTENS_SWITCHES);
        for function in &mut module.functions {
            let joining = LoopResults::of(function).joining;
            if joining.is_empty() {
                continue;
            }
            let marked = mark(function, &joining);
            hide_conditions(function, &marked);
            if flattens_switches {
                branch_behind_switches(function, &joining);
            }
        }
    }
    Ok(())
}

/// Marks the selections whose ways meet in these blocks, and returns their headers.
fn mark(function: &mut Function, joining: &HashSet<Block>) -> BTreeSet<Block> {
    let mut marked = BTreeSet::new();
    let dominators = function.analysis::<Dominators>();
    let predecessors = function.predecessors();
    for &join in joining {
        let first = dominators.immediate_dominator(join);
        for &from in &predecessors[join.index()] {
            for block in up_to(&dominators, from, first) {
                let data = function.block_mut(block);
                data.keeps_selection = matches!(data.merge, Some(Merge::Selection { .. }));
                if data.keeps_selection {
                    marked.insert(block);
                }
            }
        }
    }
    marked
}

/// Has the way that marked selections take depend on the number of groups, too, which is never zero.
fn hide_conditions(function: &mut Function, marked: &BTreeSet<Block>) {
    for &block in marked {
        let mut terminator = function.block(block).terminator.clone();
        match &mut terminator {
            Terminator::Branch { condition, .. } if !is_always(function, *condition) => {
                let mut b = Builder::new(function, block);
                // What it is compared with may be made of another dimension's groups, but not of itself: a driver knows
                // that a number equals itself.
                let holds = holds_always_in(&mut b, 1);
                *condition = b.compare(Compare::Equal, *condition, holds);
            }
            Terminator::Switch { value, .. } => {
                let mut b = Builder::new(function, block);
                let ty = b.ty(*value);
                let zero = no_group_count_bit(&mut b);
                let zero = b.resize_int(zero, ty, false);
                *value = b.binary(Binary::Xor, *value, zero);
            }
            _ => continue,
        }
        function.block_mut(block).terminator = terminator;
    }
}

/// The block, and those that dominate it, up to and with one of them.
fn up_to(
    dominators: &Dominators,
    from: Block,
    first: Option<Block>,
) -> impl Iterator<Item = Block> + '_ {
    let mut next = Some(from);
    std::iter::from_fn(move || {
        let block = next?;
        next = if next == first {
            None
        } else {
            dominators.immediate_dominator(block)
        };
        Some(block)
    })
}

/// Has a selection of its own on each way to those of the blocks that are merge blocks of marked switches.
fn branch_behind_switches(function: &mut Function, joining: &HashSet<Block>) {
    let is_behind_switch = |block: &Block| {
        let data = function.block(*block);
        let Some(Merge::Selection { merge }) = data.merge else {
            return None;
        };
        let is_switch = matches!(data.terminator, Terminator::Switch { .. });
        (is_switch && data.keeps_selection && joining.contains(&merge)).then_some(merge)
    };
    let merges: HashSet<Block> = function
        .layout()
        .iter()
        .filter_map(is_behind_switch)
        .collect();
    let mut always = Always::default();
    for from in function.layout().to_vec() {
        let mut terminator = function.block(from).terminator.clone();
        let mut ways: Vec<(Edge, Block)> = Vec::new();
        for edge in terminator.edges_mut() {
            if !merges.contains(&edge.block) || edge.args.is_empty() {
                continue;
            }
            let known = ways.iter().find(|(it, _)| it == edge);
            let first = known.map(|&(_, first)| first).unwrap_or_else(|| {
                let first = add_selection(function, edge, &mut always);
                ways.push((edge.clone(), first));
                first
            });
            *edge = first.into();
        }
        function.block_mut(from).terminator = terminator;
    }
}

/// Adds blocks that take an edge by a selection, and returns the first of them.
fn add_selection(function: &mut Function, edge: &Edge, always: &mut Always) -> Block {
    let condition = always.of(function);
    let types: Vec<Type> = edge.args.iter().map(|&it| function.value(it).ty).collect();
    let [first, arm, merge] = [(); 3].map(|()| function.add_block());
    let kept: Values = types
        .iter()
        .map(|&it| function.add_param(merge, it))
        .collect();
    let mut b = Builder::new(function, first);
    let nothing: Values = types.iter().map(|&it| b.constant(it, 0)).collect();
    b.branch(condition, arm, Edge::new(merge, nothing));
    b.switch_to(arm);
    b.jump(Edge::new(merge, edge.args.clone()));
    b.switch_to(merge);
    b.jump(Edge::new(edge.block, kept));
    let data = function.block_mut(first);
    data.merge = Some(Merge::Selection { merge });
    data.keeps_selection = true;
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{Access, FuncId, Op, Place};

    use crate::compiler::passes::helpers::testing;
    use crate::compiler::{Capabilities, Stage, verify};
    use smallvec::smallvec;

    /// `do { switch (a[i]) { case 0: case 2: break; case 5: x = 3; break; default: x = 1; } } while (++i != n)`, and then `x`.
    fn last_of_switches(capabilities: &Capabilities) -> Module {
        let mut module = testing::module_with(&[Type::I64, Type::I32], |b, p| {
            let [head, arm, merge, back, done] = [(); 5].map(|()| b.function.add_block());
            let index = b.function.add_param(head, Type::I32);
            let before = b.function.add_param(head, Type::I32);
            let x = b.function.add_param(merge, Type::I32);
            let [zero, one, two, three] = [0, 1, 2, 3].map(|it| b.i32(it));
            b.jump(Edge::new(head, [zero, two]));
            b.switch_to(head);
            let wide = b.resize_int(index, Type::I64, false);
            let offset = b.binary_const(Binary::Mul, wide, 4);
            let address = b.binary(Binary::Add, p[0], offset);
            let item = b.load1(Place::Address(address), Type::I32, Access::aligned(4));
            let next = b.binary_const(Binary::Add, index, 1);
            let body = b.function.add_block();
            b.jump(body);
            b.function.block_mut(head).merge = Some(Merge::Loop {
                merge: done,
                continues: back,
            });
            b.switch_to(body);
            b.terminate(Terminator::Switch {
                value: item,
                cases: vec![
                    (0, Edge::new(merge, [before])),
                    (2, Edge::new(merge, [before])),
                    (5, arm.into()),
                ],
                default: Edge::new(merge, [one]),
            });
            b.function.block_mut(body).merge = Some(Merge::Selection { merge });
            b.switch_to(arm);
            b.jump(Edge::new(merge, [three]));
            b.switch_to(merge);
            let goes_on = b.compare(Compare::NotEqual, next, p[1]);
            b.branch(goes_on, back, done);
            b.switch_to(back);
            b.jump(Edge::new(head, [next, x]));
            b.switch_to(done);
            smallvec![x]
        });
        testing::run_on(&mut module, capabilities, run).expect("it runs");
        verify::module(&module, Stage::Emit).expect("the module is valid");
        module
    }

    fn device(defects: Defects) -> Capabilities {
        Capabilities {
            defects,
            ..Capabilities::full()
        }
    }

    fn marked(module: &Module) -> usize {
        let function = &module.functions[0];
        let blocks = function.layout().iter();
        blocks
            .filter(|&&it| function.block(it).keeps_selection)
            .count()
    }

    #[test]
    fn each_way_through_a_switch_gets_a_selection() {
        let both = Defects::LOSES_LOOP_RESULTS | Defects::FLATTENS_SWITCHES;
        let module = last_of_switches(&device(both));
        // The switch, the two cases that stay, the arm, and the default.
        assert_eq!(marked(&module), 4);
        for (items, expected) in [
            ([1, 0, 2], 1),
            ([1, 5, 0], 3),
            ([2, 0, 7], 1),
            ([0, 2, 0], 2),
        ] {
            let mut run = Interpreter::new(&module);
            let at = run.allocate(&items.map(u32::to_le_bytes).concat());
            assert_eq!(run.run(FuncId(0), &[at, 3]), Ok(vec![expected]));
        }
    }

    #[test]
    fn what_a_marked_selection_depends_on_is_hidden() {
        let module = last_of_switches(&device(Defects::LOSES_LOOP_RESULTS));
        let function = &module.functions[0];
        let marked = function
            .layout()
            .iter()
            .map(|&it| function.block(it))
            .filter(|block| block.keeps_selection);
        for block in marked {
            let Terminator::Switch { value, .. } = block.terminator else {
                panic!("{module}");
            };
            let Some(&Op::Binary(Binary::Xor, _, hidden)) = function.op_of(value) else {
                panic!("{module}");
            };
            let Some(&Op::Binary(Binary::LShr, groups, _)) = function.op_of(hidden) else {
                panic!("{module}");
            };
            let groups = function.op_of(groups);
            assert!(matches!(groups, Some(Op::BuiltIn(_))), "{module}");
        }
    }

    #[test]
    fn a_switch_is_marked_alone_where_the_mark_is_heeded() {
        assert_eq!(
            marked(&last_of_switches(&device(Defects::LOSES_LOOP_RESULTS))),
            1
        );
        assert_eq!(marked(&last_of_switches(&Capabilities::full())), 0);
    }
}
