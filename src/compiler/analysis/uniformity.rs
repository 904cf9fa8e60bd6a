//! What is the same for all work-items of a sub-group, and where all of them come together.
//!
//! Holds for kernels whose sub-groups are full and lie along the first dimension, as drivers lay them that run a
//! sub-group as one vector. Where the condition of a branch is not the same for all, everything up to the block where its
//! ways meet is for some of them only, and so are the values computed there.

use super::divergence::{Divergence, Scope};
use crate::compiler::Context;
use crate::compiler::ir::{Block, Function, Module, Value};

/// Facts about the function of a kernel.
#[derive(Clone, Debug)]
pub struct Uniformity {
    /// By value and by block: known to differ.
    differs: Vec<bool>,
    apart: Vec<bool>,
    sub_group_size: u32,
}

impl Uniformity {
    /// The facts about the only kernel of a module; none where its sub-groups may not be full, or the driver may lay them
    /// in another way.
    pub fn of_kernel(module: &Module, cx: &Context<'_>) -> Option<Self> {
        let caps = cx.capabilities;
        let [kernel] = module.kernels.as_slice() else {
            return None;
        };
        let sub_group_size = caps.subgroup_size_of(&kernel.attributes);
        let [row, ..] = kernel.attributes.required_work_group_size?;
        let rows_are_known = caps.serial_memory && caps.subgroup.shuffle;
        let is_full = cx.options.uniform_work_groups && row.is_multiple_of(sub_group_size);
        (rows_are_known && is_full && sub_group_size.is_power_of_two())
            .then(|| Self::new(module.function(kernel.function), sub_group_size))
            .flatten()
    }

    /// The facts about a function that all work-items enter together, with the same parameters; none where it has cycles that are
    /// no loops, or too many ways to follow.
    pub fn new(function: &Function, sub_group_size: u32) -> Option<Self> {
        let size = sub_group_size;
        let divergence = Divergence::new(function, Scope::SubGroup { size })?;
        let (differs, apart) = divergence.into_facts();
        Some(Self {
            differs,
            apart,
            sub_group_size,
        })
    }

    /// Work-items in a sub-group.
    pub fn sub_group_size(&self) -> u32 {
        self.sub_group_size
    }

    /// Whether the value is the same for all work-items of a sub-group. Not known of values that are newer.
    pub fn is_uniform(&self, value: Value) -> bool {
        self.differs.get(value.index()) == Some(&false)
    }

    /// Whether a block is executed by all work-items of a sub-group together, or by none. Not known of newer blocks.
    pub fn is_converged(&self, block: Block) -> bool {
        self.apart.get(block.index()) == Some(&false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Binary, Builder, BuiltIn, Compare, Edge, Op, Terminator, Type};

    fn built_in(b: &mut Builder<'_>, built_in: BuiltIn) -> Value {
        b.op1(Op::BuiltIn(built_in), Type::I32)
    }

    #[test]
    fn rows_of_work_items_share_all_but_their_place_in_the_row() {
        let mut function = Function::new("k");
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let x = built_in(&mut b, BuiltIn::LocalInvocationId(0));
        let y = built_in(&mut b, BuiltIn::LocalInvocationId(1));
        let group = built_in(&mut b, BuiltIn::WorkgroupId(0));
        let same = b.binary(Binary::Add, y, group);
        let differs = b.binary(Binary::Add, x, group);
        let row = b.binary_const(Binary::LShr, x, 3);
        let half_row = b.binary_const(Binary::LShr, x, 2);
        b.terminate(Terminator::Return(Default::default()));
        let facts = Uniformity::new(&function, 8).unwrap();
        for value in [y, group, same, row] {
            assert!(facts.is_uniform(value));
        }
        for value in [x, differs, half_row] {
            assert!(!facts.is_uniform(value));
        }
        assert!(facts.is_converged(entry));
    }

    /// A loop that ends for all at once, after a branch on `x` or on `y`.
    #[test]
    fn behind_a_branch_that_parts_them_they_meet_again() {
        for (dimension, together) in [(0, false), (1, true)] {
            let mut function = Function::new("k");
            let entry = function.entry();
            let [some, meet] = [0; 2].map(|_| function.add_block());
            let merged = function.add_param(meet, Type::I32);
            let mut b = Builder::new(&mut function, entry);
            let id = built_in(&mut b, BuiltIn::LocalInvocationId(dimension));
            let five = b.i32(5);
            let less = b.compare(Compare::ULess, id, five);
            b.branch(less, some, Edge::new(meet, [five]));
            b.switch_to(some);
            let six = b.i32(6);
            b.jump(Edge::new(meet, [six]));
            b.switch_to(meet);
            b.terminate(Terminator::Return(Default::default()));
            let facts = Uniformity::new(&function, 8).unwrap();
            assert_eq!(facts.is_converged(some), together);
            assert_eq!(facts.is_uniform(six), together);
            assert_eq!(facts.is_uniform(merged), together);
            assert!(facts.is_converged(meet));
        }
    }

    #[test]
    fn a_loop_that_some_leave_before_others_is_not_for_all() {
        for (dimension, together) in [(0, false), (1, true)] {
            let mut function = Function::new("k");
            let entry = function.entry();
            let [iteration, done] = [0; 2].map(|_| function.add_block());
            let counter = function.add_param(iteration, Type::I32);
            let mut b = Builder::new(&mut function, entry);
            let zero = b.i32(0);
            b.jump(Edge::new(iteration, [zero]));
            b.switch_to(iteration);
            let next = b.binary_const(Binary::Add, counter, 1);
            let id = built_in(&mut b, BuiltIn::LocalInvocationId(dimension));
            let more = b.compare(Compare::ULess, next, id);
            b.branch(more, Edge::new(iteration, [next]), done);
            b.switch_to(done);
            b.terminate(Terminator::Return(Default::default()));
            let facts = Uniformity::new(&function, 8).unwrap();
            assert_eq!(facts.is_converged(iteration), together);
            assert_eq!(facts.is_uniform(counter), together);
            assert_eq!(facts.is_uniform(next), together);
            assert!(facts.is_converged(done));
        }
    }
}
