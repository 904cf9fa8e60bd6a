//! Keeps the lanes beyond a work-group's end out of a kernel, for a driver that runs them through its loops.
//!
//! **Why.** llvmpipe (seen in Mesa 22.3) runs a work-group's rows in vectors of as many lanes as a sub-group has. The lanes
//! beyond the end of a row load and store nothing, but the test for another iteration of a loop (`lp_exec_endloop`) does
//! not leave them out. Where such a lane never meets a loop's exit condition, which may hang on what it would have loaded,
//! the loop goes on until the driver's limit of iterations is reached ([`Defects::LIMITS_ITERATIONS`]), and with it
//! all other loops of the kernel end too early.
//!
//! **How.** The kernel becomes the inside of a selection that those lanes don't enter: their place in the row is not below
//! its length. In a row of one, every lane is told that its place is 0; there the place in the sub-group tells. Rows that fill
//! their vectors have no such lanes: that makes the condition hold whatever a lane's place is. The driver knows it, as it knows
//! the length, and makes no selection: within one, plain loops of loads took it three to four times as long.
//!
//! **Needs** structured control flow, and keeps it. Comes last: no analysis is to take the condition for one that
//! work-items differ in. Does nothing unless the device asks for it ([`Defects::RUNS_IDLE_LANES`]), or where a kernel has no
//! loop.

use crate::compiler::ir::{
    Binary, Builder, BuiltIn, Compare, Function, Kernel, Merge, Module, Op, Terminator, Type, Value,
};
use crate::compiler::{CompileError, Context, Defects};
use smallvec::smallvec;

/// Runs the pass on the kernel of the module.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let has_loops = |function: &Function| {
        let mut blocks = function.layout().iter();
        blocks.any(|&block| matches!(function.block(block).merge, Some(Merge::Loop { .. })))
    };
    if !cx.capabilities.has(Defects::RUNS_IDLE_LANES) || !module.functions.iter().any(has_loops) {
        return Ok(());
    }
    for kernel in &module.kernels {
        let row = Row::of(kernel, cx);
        let function = &mut module.functions[kernel.function.index()];
        enclose(function, |b| row.holds_lane(b));
    }
    Ok(())
}

/// Makes the inside of a selection of a function without parameters and results.
pub(in crate::compiler) fn enclose(
    function: &mut Function,
    condition: impl FnOnce(&mut Builder<'_>) -> Value,
) {
    let inside = function.entry();
    let [guard, end] = [0; 2].map(|_| function.add_detached_block());
    let blocks = function.layout().iter().copied();
    function.set_layout([guard].into_iter().chain(blocks).chain([end]).collect());
    let mut b = Builder::new(function, guard);
    let condition = condition(&mut b);
    b.branch(condition, inside, end);
    b.switch_to(end);
    b.terminate(Terminator::Return(smallvec![]));
    function.block_mut(guard).merge = Some(Merge::Selection { merge: end });
}

/// The work-items of a work-group that differ in `LocalInvocationId(0)` alone.
struct Row {
    /// The size that the kernel requires.
    required: Option<[u32; 3]>,
    /// Whether all work-groups have that size.
    uniform: bool,
    /// `Kernel::linear_groups`
    linear: bool,
    /// How many lanes a vector has.
    lanes: u32,
}

impl Row {
    fn of(kernel: &Kernel, cx: &Context<'_>) -> Self {
        Self {
            required: kernel.attributes.required_work_group_size,
            uniform: cx.options.uniform_work_groups,
            linear: kernel.linear_groups,
            lanes: cx.capabilities.lanes,
        }
    }

    /// Whether the lane is a work-item's.
    fn holds_lane(&self, b: &mut Builder<'_>) -> Value {
        let mut length = self.size(b, 0);
        if self.linear {
            for dimension in 1..3 {
                let size = self.size(b, dimension);
                length = b.binary(Binary::Mul, length, size);
            }
        }
        let in_row = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(0)), Type::I32);
        let in_sub_group = b.op1(Op::BuiltIn(BuiltIn::SubgroupLocalInvocationId), Type::I32);
        let one = b.i32(1);
        let is_single = b.compare(Compare::Equal, length, one);
        let place = b.select(is_single, in_sub_group, in_row);
        let is_in_row = b.compare(Compare::ULess, place, length);
        if !self.lanes.is_power_of_two() {
            return is_in_row;
        }
        let beyond = b.binary_const(Binary::And, length, u64::from(self.lanes - 1));
        let none = b.i32(0);
        let is_filled = b.compare(Compare::Equal, beyond, none);
        b.binary(Binary::Or, is_in_row, is_filled)
    }

    /// The work-group's size in a dimension: a constant, or what the launch says.
    fn size(&self, b: &mut Builder<'_>, dimension: u8) -> Value {
        let required = self.required.map(|sizes| sizes[usize::from(dimension)]);
        match required {
            Some(size) if self.uniform => b.i32(size),
            _ => {
                let (id, default) = (u32::from(dimension), required.unwrap_or(1));
                b.op1(Op::SpecConst { id, default }, Type::I32)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Capabilities;
    use crate::compiler::ir::Block;
    use crate::compiler::passes::helpers::testing;
    use crate::compiler::passes::optimize::simplify;
    use crate::compiler::passes::structure::structurize;
    use crate::compiler::verify::{self, Stage};

    /// A kernel that loops until an argument is zero, or that ends at once.
    fn module(with_loop: bool) -> Module {
        let mut function = Function::new("k");
        let entry = function.entry();
        let [head, done] = [0; 2].map(|_| function.add_block());
        let mut b = Builder::new(&mut function, entry);
        b.jump(if with_loop { head } else { done });
        b.switch_to(head);
        let groups = b.op1(Op::BuiltIn(BuiltIn::NumWorkgroups(0)), Type::I32);
        let nine = b.i32(9);
        let again = b.compare(Compare::Equal, groups, nine);
        b.branch(again, head, done);
        b.switch_to(done);
        b.terminate(Terminator::Return(smallvec![]));
        let mut module = testing::module_of(function);
        testing::run(&mut module, structurize::run).expect("it has structure");
        module
    }

    fn device(defects: Defects) -> Capabilities {
        Capabilities {
            defects,
            ..Capabilities::full()
        }
    }

    /// The entry's selection: what is entered where the condition holds, and where it ends.
    fn selection(module: &Module) -> Option<(Block, Block)> {
        let function = &module.functions[0];
        let entry = function.block(function.entry());
        match (&entry.terminator, entry.merge) {
            (Terminator::Branch { then, .. }, Some(Merge::Selection { merge })) => {
                Some((then.block, merge))
            }
            _ => None,
        }
    }

    #[test]
    fn idle_lanes_do_not_enter_a_kernel_with_loops() {
        let mut module = module(true);
        let inside = module.functions[0].entry();
        testing::run_on(&mut module, &device(Defects::RUNS_IDLE_LANES), run).expect("it runs");
        let (entered, end) = selection(&module).expect("the kernel is in a selection");
        assert_eq!(entered, inside);
        assert_eq!(module.functions[0].layout().last(), Some(&end));
        verify::module(&module, Stage::Emit).expect("the module is valid");
    }

    #[test]
    fn rows_that_fill_their_vectors_need_no_selection() {
        for (size, holds) in [(16, Some(1)), (12, None), (1, None)] {
            let mut function = Function::new("k");
            function.return_types = vec![Type::Bool];
            let entry = function.entry();
            let row = Row {
                required: Some([size, 3, 1]),
                uniform: true,
                linear: false,
                lanes: 8,
            };
            let mut b = Builder::new(&mut function, entry);
            let condition = row.holds_lane(&mut b);
            b.terminate(Terminator::Return(smallvec![condition]));
            let mut module = testing::module_of(function);
            testing::run(&mut module, simplify::run).expect("it runs");
            let function = &module.functions[0];
            let Terminator::Return(values) = &function.block(function.entry()).terminator else {
                panic!("{function}");
            };
            assert_eq!(function.constant(values[0]), holds, "{function}");
        }
    }

    #[test]
    fn kernels_without_loops_and_other_devices_need_nothing() {
        for (with_loop, defects) in [(false, Defects::RUNS_IDLE_LANES), (true, Defects::empty())] {
            let mut module = module(with_loop);
            let blocks = module.functions[0].layout().to_vec();
            testing::run_on(&mut module, &device(defects), run).expect("it runs");
            assert_eq!(module.functions[0].layout(), blocks);
        }
    }
}
