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
//! always holds, which no optimizer knows. Which values leave loops, [`LoopResults`] says. Phis stay where they are, and
//! [`crate::compiler::passes::workarounds::keep_selections`] keeps the driver from making anything else of them.

use crate::compiler::analysis::LoopResults;
use crate::compiler::ir::{
    Builder, Edge, Function, Inst, InstFlags, Module, Terminator, Type, Value, Values,
};
use crate::compiler::passes::helpers::hidden_zero::holds_always;
use crate::compiler::{CompileError, Context, Defects};
use std::collections::{HashMap, HashSet};

/// Instructions under one condition, at most: their results are all alive behind it.
const TOGETHER: usize = 16;

/// Keeps the results of loops, if the device loses them.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::LOSES_LOOP_RESULTS) {
        for function in &mut module.functions {
            keep_results(function);
        }
    }
    Ok(())
}

fn keep_results(function: &mut Function) {
    let lost = LoopResults::of(function).read;
    let mut replacements = HashMap::new();
    for block in function.layout().to_vec() {
        let data = function.block_mut(block);
        if !data.insts.iter().any(|inst| lost.contains(inst)) {
            continue;
        }
        let insts = std::mem::take(&mut data.insts);
        let terminator = std::mem::replace(&mut data.terminator, Terminator::Unreachable);
        let mut keeper = Keeper {
            b: Builder::new(function, block),
            lost: &lost,
            together: Vec::new(),
            behind: Vec::new(),
            results: HashSet::new(),
            replacements: &mut replacements,
        };
        for inst in insts {
            keeper.add(inst);
        }
        keeper.flush();
        keeper.b.terminate(terminator);
    }
    function.replace_values(&replacements);
}

/// A block that is built anew.
struct Keeper<'a> {
    b: Builder<'a>,
    lost: &'a HashSet<Inst>,
    /// What is to stand under the next condition, in the order of the block. None needs another one's result.
    together: Vec<Inst>,
    /// Pure instructions that come behind it, as they need results of it or of each other.
    behind: Vec<Inst>,
    /// The results of both.
    results: HashSet<Value>,
    replacements: &'a mut HashMap<Value, Value>,
}

impl Keeper<'_> {
    fn add(&mut self, inst: Inst) {
        let data = self.b.function.inst(inst);
        let waits = data
            .op
            .operands()
            .iter()
            .any(|it| self.results.contains(it));
        let (is_pure, results) = (data.op.is_pure(), data.results.clone());
        if self.lost.contains(&inst) && !self.b.function.is_too_large() {
            if waits || self.together.len() >= TOGETHER {
                self.flush();
            }
            self.together.push(inst);
            self.results.extend(results);
        } else if !is_pure {
            self.flush();
            self.b.push(inst);
        } else if waits {
            self.behind.push(inst);
            self.results.extend(results);
        } else {
            self.b.push(inst);
        }
    }

    /// Ends the instructions that stand together.
    fn flush(&mut self) {
        let together = std::mem::take(&mut self.together);
        if !together.is_empty() {
            self.put_under_condition(&together);
        }
        for inst in self.behind.drain(..) {
            self.b.push(inst);
        }
        self.results.clear();
    }

    /// Gives instructions an arm of their own, and their results phis.
    fn put_under_condition(&mut self, insts: &[Inst]) {
        let b = &mut self.b;
        b.flags = InstFlags::default();
        let holds = holds_always(b);
        let (arm, next) = (b.function.add_block(), b.function.add_block());
        let mut nothing = Values::new();
        for &inst in insts {
            for old in b.function.inst(inst).results.clone() {
                let ty = b.ty(old);
                nothing.push(b.constant(ty, 0));
                let phi = b.function.add_param(next, ty);
                self.replacements.insert(old, phi);
            }
        }
        b.branch(holds, arm, Edge::new(next, nothing));
        b.switch_to(arm);
        let mut results = Values::new();
        for &inst in insts {
            let data = b.function.inst(inst).clone();
            let types: Vec<Type> = data.results.iter().map(|&it| b.ty(it)).collect();
            b.flags = data.flags;
            results.extend(b.op(data.op, types));
        }
        b.jump(Edge::new(next, results));
        b.switch_to(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{Access, Binary, Compare, FuncId, Group, GroupOp, Op, Place, Scope};
    use crate::compiler::passes::helpers::testing;
    use smallvec::smallvec;

    /// `do { sum = sum * 3 + a[i]; } while (++i != n)`, and the number of loads under a condition.
    fn sum(escapes: bool) -> (Module, usize) {
        let mut module = testing::module_with(&[Type::I64, Type::I32], |b, p| {
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
        keep_results(&mut module.functions[0]);
        let function = &module.functions[0];
        let branches = function.layout().iter().filter(|&&block| {
            matches!(function.block(block).terminator, Terminator::Branch { .. })
        });
        let count = branches.count() - 1;
        (module, count)
    }

    #[test]
    fn a_load_that_leaves_a_loop_gets_a_phi() {
        let (module, conditions) = sum(true);
        assert_eq!(conditions, 1);
        let mut run = Interpreter::new(&module);
        let at = run.allocate(&[1u32, 2, 3, 4].map(u32::to_le_bytes).concat());
        let found = run.run(FuncId(0), &[at, 4]);
        assert_eq!(found, Ok(vec![27 + 2 * 9 + 3 * 3 + 4]));
    }

    /// `do { sum = a[i] + b[i] + b[b[i]]; } while (++i != n)`
    #[test]
    fn loads_side_by_side_share_a_condition() {
        let mut module = testing::module_with(&[Type::I64, Type::I32], |b, p| {
            let (body, done) = (b.function.add_block(), b.function.add_block());
            let index = b.function.add_param(body, Type::I32);
            let zero = b.i32(0);
            b.jump(Edge::new(body, [zero]));
            b.switch_to(body);
            let mut load = |index, from| {
                let wide = b.resize_int(index, Type::I64, false);
                let offset = b.binary_const(Binary::Mul, wide, 4);
                let address = b.binary(Binary::Add, p[0], offset);
                let address = b.binary_const(Binary::Add, address, from);
                b.load1(Place::Address(address), Type::I32, Access::aligned(4))
            };
            let (one, other) = (load(index, 0), load(index, 8));
            let third = load(other, 8);
            let sum = b.binary(Binary::Add, one, other);
            let sum = b.binary(Binary::Add, sum, third);
            let next = b.binary_const(Binary::Add, index, 1);
            let goes_on = b.compare(Compare::NotEqual, next, p[1]);
            b.branch(goes_on, Edge::new(body, [next]), done);
            b.switch_to(done);
            smallvec![sum]
        });
        keep_results(&mut module.functions[0]);
        let text = module.functions[0].to_string();
        assert_eq!(text.matches("branch").count(), 3, "{text}");
        let mut run = Interpreter::new(&module);
        let at = run.allocate(&[5u32, 6, 1, 0].map(u32::to_le_bytes).concat());
        assert_eq!(run.run(FuncId(0), &[at, 2]), Ok(vec![6 + 1]));
    }

    /// A loop whose result is loaded on one way through an iteration, and loaded or constant on the other. The loads under a
    /// condition.
    fn joined(is_loaded_twice: bool) -> usize {
        let mut module = testing::module_with(&[Type::I64, Type::I32], |b, p| {
            let [body, arm, join, done] = [(); 4].map(|()| b.function.add_block());
            let index = b.function.add_param(body, Type::I32);
            let item = b.function.add_param(join, Type::I32);
            let zero = b.i32(0);
            b.jump(Edge::new(body, [zero]));
            b.switch_to(body);
            let load =
                |b: &mut Builder<'_>| b.load1(Place::Address(p[0]), Type::I32, Access::aligned(4));
            let first = if is_loaded_twice { load(b) } else { zero };
            let is_first = b.compare(Compare::Equal, index, zero);
            b.branch(is_first, arm, Edge::new(join, [first]));
            b.switch_to(arm);
            let second = load(b);
            b.jump(Edge::new(join, [second]));
            b.switch_to(join);
            let next = b.binary_const(Binary::Add, index, 1);
            let goes_on = b.compare(Compare::NotEqual, next, p[1]);
            b.branch(goes_on, Edge::new(body, [next]), done);
            b.switch_to(done);
            smallvec![item]
        });
        let branches = |module: &Module| module.functions[0].to_string().matches("branch").count();
        let before = branches(&module);
        keep_results(&mut module.functions[0]);
        branches(&module) - before
    }

    #[test]
    fn loads_that_may_give_the_same_on_all_ways_get_phis_of_their_own() {
        assert_eq!(joined(true), 2);
        // Nothing makes one of a load and a constant.
        assert_eq!(joined(false), 0);
    }

    #[test]
    fn a_collective_that_leaves_a_loop_gets_a_phi() {
        let group = Group {
            op: GroupOp::Reduce(Binary::Add),
            scope: Scope::Subgroup,
        };
        let mut module = testing::module_with(&[Type::I32], |b, p| {
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
        keep_results(&mut module.functions[0]);
        let text = module.functions[0].to_string();
        assert_eq!(text.matches("branch").count(), 2, "{text}");
    }

    /// `if (start) goto b; a: …; b: item = a[i]; if (--i) goto a;`, and then the item.
    #[test]
    fn a_load_that_leaves_a_cycle_of_two_ways_in_gets_a_phi() {
        let mut module = testing::module_with(&[Type::I64, Type::I32], |b, p| {
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
        keep_results(&mut module.functions[0]);
        let text = module.functions[0].to_string();
        assert_eq!(text.matches("branch").count(), 3, "{text}");
        let mut run = Interpreter::new(&module);
        let at = run.allocate(&[7; 16]);
        assert_eq!(run.run(FuncId(0), &[at, 3]), Ok(vec![0x0707_0707]));
    }

    #[test]
    fn what_is_computed_from_phis_alone_stays() {
        assert_eq!(sum(false).1, 0);
    }
}
