//! Values that leave a loop, for a driver that loses them.
//!
//! Needs: the control flow not structured yet. Leaves: the same meaning, with more branches.
//!
//! SwiftShader runs several work-items in the lanes of one register. A loop goes on until the last of them
//! leaves it, and meanwhile computes in the lanes of those that have left as well, from what their phis
//! hold, which stays: so it computes the same again. Not so what loads: a load gives nothing in a lane
//! that has left, and a collective gives the result of those that have not. The phi behind the loop that should
//! have kept the value has one source, and so SPIRV-Tools, which SwiftShader runs before anything else, has
//! removed it. llvmpipe (seen in Mesa 22.3) is the same: what it loads in such a lane is zero.
//!
//! What is loaded, or returned by a call, an atomic or a collective, in a loop, and used behind the loop by way
//! of operations that are no phis, therefore gets a phi in the loop: the load stands under a condition that
//! always holds, which no optimizer knows. Not so where all work-items leave the loop in the same round: nothing is
//! computed for any that has left then.
//!
//! A cycle with several ways in has no loops inside that are known here: there, whatever is used in another block of
//! the cycle counts as leaving one.

use super::hidden_zero::holds_always;
use crate::compiler::analysis::{Dominators, Loops, cycles, loops_left_together};
use crate::compiler::ir::{
    Block, Builder, Edge, Function, Inst, Module, Op, Place, Rewrite, Type, Value, ValueDef,
    Values, rewrite_instructions,
};
use crate::compiler::{CompileError, Context, Defects};
use std::collections::HashSet;

/// Keeps the results of loops, if the device loses them.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::LOSES_LOOP_RESULTS) {
        for function in &mut module.functions {
            keep_results(function)?;
        }
    }
    Ok(())
}

fn keep_results(function: &mut Function) -> Result<(), CompileError> {
    let lost = Lost::find(function);
    if lost.is_empty() {
        return Ok(());
    }
    rewrite_instructions(function, |b, inst| {
        if !lost.contains(&inst) {
            return Ok(Rewrite::Keep);
        }
        Ok(Rewrite::Replace(under_condition(b, inst)))
    })
    .map(drop)
}

/// The instruction in an arm of its own, and phis for its results.
fn under_condition(b: &mut Builder<'_>, inst: Inst) -> Values {
    let data = b.function.inst(inst).clone();
    let types: Vec<Type> = data.results.iter().map(|&v| b.ty(v)).collect();
    let holds = holds_always(b);
    let nothing: Values = types.iter().map(|&ty| b.constant(ty, 0)).collect();
    let (arm, next) = (b.function.add_block(), b.function.add_block());
    let phis = types
        .iter()
        .map(|&ty| b.function.add_param(next, ty))
        .collect();
    b.branch(holds, arm, Edge::new(next, nothing));
    b.switch_to(arm);
    b.flags = data.flags;
    let results = b.op(data.op, types);
    b.jump(Edge::new(next, results));
    b.switch_to(next);
    phis
}

/// Finds the instructions whose results are lost.
struct Lost<'a> {
    function: &'a Function,
    /// By value: the block that defines it.
    home: Vec<Option<Block>>,
    /// By loop: whether work-items leave it together.
    is_left_together: Vec<bool>,
    /// By block: whether it is in a cycle, if some cycle has several ways in.
    is_in_cycle: Vec<bool>,
    /// By block: for one way in, its edge's arguments.
    only_edge: Vec<Option<Values>>,
    seen: HashSet<Value>,
    lost: HashSet<Inst>,
}

impl<'a> Lost<'a> {
    fn find(function: &'a Function) -> HashSet<Inst> {
        let dominators = Dominators::new(function);
        let loops = Loops::new(function, &dominators);
        if loops.all().is_empty() && !loops.is_irreducible() {
            return HashSet::new();
        }
        let mut is_in_cycle = vec![false; function.block_count()];
        if loops.is_irreducible() {
            for block in cycles(function, &function.layout).into_iter().flatten() {
                is_in_cycle[block.index()] = true;
            }
        }
        let mut search = Self {
            function,
            home: homes(function),
            is_left_together: loops_left_together(function, &dominators, &loops),
            is_in_cycle,
            only_edge: only_edges(function),
            seen: HashSet::new(),
            lost: HashSet::new(),
        };
        for &block in &function.layout {
            let data = function.block(block);
            for &inst in &data.insts {
                for value in function.inst(inst).op.operands() {
                    search.used(&loops, value, block);
                }
            }
            for value in data.terminator.operands() {
                search.used(&loops, value, block);
            }
            for edge in data.terminator.edges() {
                for &value in &edge.args {
                    search.used(&loops, value, edge.block);
                }
            }
        }
        search.lost
    }

    /// A use in a block: does the value leave a loop on the way there, where others stay?
    fn used(&mut self, loops: &Loops, value: Value, block: Block) {
        let Some(home) = self.home[value.index()] else {
            return;
        };
        let leaves = loops.left(home, block).any(|it| !self.is_left_together[it]);
        if leaves || self.is_in_cycle[home.index()] && block != home {
            self.trace(value);
        }
    }

    /// Collects what the value is computed from without a phi between.
    fn trace(&mut self, value: Value) {
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            if !self.seen.insert(value) {
                continue;
            }
            match self.function.value(value).def {
                ValueDef::Parameter(block) => {
                    let params = &self.function.block(block).params;
                    let position = params.iter().position(|&param| param == value);
                    if let (Some(position), Some(args)) = (position, &self.only_edge[block.index()])
                    {
                        pending.extend(args.get(position));
                    }
                }
                ValueDef::Result { inst, .. } => {
                    let op = &self.function.inst(inst).op;
                    match op {
                        Op::Load(Place::Argument { .. }, _) => {}
                        Op::Load(..) | Op::Atomic { .. } | Op::Call(..) | Op::Group(..) => {
                            self.lost.insert(inst);
                        }
                        _ => pending.extend(op.operands()),
                    }
                }
            }
        }
    }
}

fn homes(function: &Function) -> Vec<Option<Block>> {
    let mut homes = vec![None; function.value_count()];
    for &block in &function.layout {
        let data = function.block(block);
        let results = data.insts.iter().flat_map(|&i| &function.inst(i).results);
        for &value in results.chain(&data.params) {
            homes[value.index()] = Some(block);
        }
    }
    homes
}

fn only_edges(function: &Function) -> Vec<Option<Values>> {
    let mut edges: Vec<(usize, Option<Values>)> = vec![(0, None); function.block_count()];
    for &block in &function.layout {
        for edge in function.block(block).terminator.edges() {
            let (count, args) = &mut edges[edge.block.index()];
            *count += 1;
            *args = Some(edge.args.clone());
        }
    }
    edges
        .into_iter()
        .map(|(count, args)| args.filter(|_| count == 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Access, Binary, Compare, FuncId, Group, GroupOp, Scope, Terminator};
    use crate::compiler::passes::legal_evaluator::{Evaluator, module_of};
    use smallvec::smallvec;

    /// `do { sum = sum * 3 + a[i]; } while (++i != n)`, and the number of loads under a condition.
    fn sum(escapes: bool) -> (Module, usize) {
        let mut module = module_of(&[Type::I64, Type::I32], |b, p| {
            let (body, done) = (b.function.add_block(), b.function.add_block());
            let index = b.function.add_param(body, Type::I32);
            let sum = b.function.add_param(body, Type::I32);
            let zero = b.i32(0);
            b.jump(Edge::new(body, [zero, zero]));
            b.switch_to(body);
            let wide = b.resize_int(index, Type::I64, false);
            let offset = b.binary_const(Binary::Mul, wide, 4);
            let address = b.binary(Binary::Add, p[0], offset);
            let item = b.load1(Place::Address(address), Type::I32, Access::aligned(4));
            let scaled = b.binary_const(Binary::Mul, sum, 3);
            let next_sum = b.binary(Binary::Add, scaled, item);
            let next = b.binary_const(Binary::Add, index, 1);
            let goes_on = b.compare(Compare::NotEqual, next, p[1]);
            b.branch(goes_on, Edge::new(body, [next, next_sum]), done);
            b.switch_to(done);
            smallvec![if escapes { next_sum } else { next }]
        });
        keep_results(&mut module.functions[0]).unwrap();
        let function = &module.functions[0];
        let branches = function.layout.iter().filter(|&&block| {
            matches!(function.block(block).terminator, Terminator::Branch { .. })
        });
        let count = branches.count() - 1;
        (module, count)
    }

    #[test]
    fn a_load_that_leaves_a_loop_gets_a_phi() {
        let (module, conditions) = sum(true);
        assert_eq!(conditions, 1);
        let mut run = Evaluator::new(&module);
        run.memory = [1u32, 2, 3, 4]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        assert_eq!(run.call(FuncId(0), &[0, 4]), [27 + 2 * 9 + 3 * 3 + 4]);
    }

    #[test]
    fn a_collective_that_leaves_a_loop_gets_a_phi() {
        let group = Group {
            op: GroupOp::Reduce(Binary::Add),
            scope: Scope::Subgroup,
        };
        let mut module = module_of(&[Type::I32], |b, p| {
            let (body, done) = (b.function.add_block(), b.function.add_block());
            let index = b.function.add_param(body, Type::I32);
            let zero = b.i32(0);
            b.jump(Edge::new(body, [zero]));
            b.switch_to(body);
            let sum = b.op1(Op::Group(group, smallvec![index]), Type::I32);
            let next = b.binary_const(Binary::Add, index, 1);
            let goes_on = b.compare(Compare::NotEqual, next, p[0]);
            b.branch(goes_on, Edge::new(body, [next]), done);
            b.switch_to(done);
            smallvec![sum]
        });
        keep_results(&mut module.functions[0]).unwrap();
        let text = module.functions[0].to_string();
        assert_eq!(text.matches("branch").count(), 2, "{text}");
    }

    /// `if (start) goto b; a: …; b: item = a[i]; if (--i) goto a;`, and then the item.
    #[test]
    fn a_load_that_leaves_a_cycle_of_two_ways_in_gets_a_phi() {
        let mut module = module_of(&[Type::I64, Type::I32], |b, p| {
            let [first, second, done] = [0; 3].map(|_| b.function.add_block());
            let in_first = b.function.add_param(first, Type::I32);
            let index = b.function.add_param(second, Type::I32);
            let zero = b.i32(0);
            let start = b.compare(Compare::Equal, p[1], zero);
            b.branch(start, Edge::new(second, [p[1]]), Edge::new(first, [p[1]]));
            b.switch_to(first);
            let next = b.binary_const(Binary::Sub, in_first, 1);
            b.jump(Edge::new(second, [next]));
            b.switch_to(second);
            let wide = b.resize_int(index, Type::I64, false);
            let offset = b.binary_const(Binary::Mul, wide, 4);
            let address = b.binary(Binary::Add, p[0], offset);
            let item = b.load1(Place::Address(address), Type::I32, Access::aligned(4));
            let goes_on = b.compare(Compare::NotEqual, index, zero);
            b.branch(goes_on, Edge::new(first, [index]), done);
            b.switch_to(done);
            smallvec![item]
        });
        keep_results(&mut module.functions[0]).unwrap();
        let text = module.functions[0].to_string();
        assert_eq!(text.matches("branch").count(), 3, "{text}");
        let mut run = Evaluator::new(&module);
        run.memory = vec![7; 16];
        assert_eq!(run.call(FuncId(0), &[0, 3]), [0x0707_0707]);
    }

    #[test]
    fn what_is_computed_from_phis_alone_stays() {
        assert_eq!(sum(false).1, 0);
    }
}
