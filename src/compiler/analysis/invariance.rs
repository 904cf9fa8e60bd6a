//! Loop invariance: what is the same in all iterations of a loop.

use super::defined_values;
use crate::compiler::ir::{Block, Builder, Function, Value, ValueDef};
use std::collections::HashSet;

/// The values that a loop does not define, and those that it computes from them alone.
#[derive(Debug)]
pub struct Invariance {
    defined: HashSet<Value>,
}

impl Invariance {
    /// The invariance in the loop of some blocks.
    pub fn of(function: &Function, blocks: &[Block]) -> Self {
        Self {
            defined: defined_values(function, blocks),
        }
    }

    /// Whether the loop defines the value.
    pub fn is_defined_inside(&self, value: Value) -> bool {
        self.defined.contains(&value)
    }

    /// Whether the value comes from before the loop or is a constant, wherever that is made.
    pub fn is_given(&self, function: &Function, value: Value) -> bool {
        !self.is_defined_inside(value) || function.constant(value).is_some()
    }

    /// Whether the value is the same in all iterations: the loop computes it, if at all, from what comes before it alone, in
    /// chains of so many operations at most.
    pub fn is_invariant(&self, function: &Function, value: Value, operations: u32) -> bool {
        if !self.is_defined_inside(value) {
            return true;
        }
        let ValueDef::Result { inst, .. } = function.value(value).def else {
            return false;
        };
        let inst = function.inst(inst);
        let mut operands = inst.op.operands().into_iter();
        operations > 0
            && inst.op.is_pure()
            && inst.results.len() == 1
            && operands.all(|operand| self.is_invariant(function, operand, operations - 1))
    }

    /// The value of an [invariant](Self::is_invariant) one where the builder is, before the loop.
    pub fn hoisted(&self, b: &mut Builder<'_>, value: Value) -> Value {
        if !self.is_defined_inside(value) {
            return value;
        }
        let Some(mut op) = b.function.op_of(value).cloned() else {
            return value;
        };
        op.for_each_operand_mut(|operand| *operand = self.hoisted(b, *operand));
        let ty = b.ty(value);
        b.op1(op, ty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Access, Binary, Edge, Op, Place, Type};

    #[test]
    fn what_is_computed_from_what_comes_before_is_invariant() {
        let mut function = Function::new("f");
        let entry = function.entry();
        let [pointer, outside] = [Type::I64, Type::I32].map(|ty| function.add_param(entry, ty));
        let header = function.add_block();
        let counter = function.add_param(header, Type::I32);
        let mut b = Builder::new(&mut function, entry);
        b.jump(Edge::new(header, [outside]));
        b.switch_to(header);
        let seven = b.i32(7);
        let product = b.binary(Binary::Mul, outside, seven);
        let sum = b.binary(Binary::Add, product, outside);
        let moved = b.binary(Binary::Add, counter, seven);
        let loaded = b.load1(Place::Address(pointer), Type::I32, Access::aligned(4));
        b.jump(Edge::new(header, [moved]));

        let invariance = Invariance::of(&function, &[header]);
        for (value, is_given, is_invariant) in [
            (outside, true, true),
            (seven, true, true),
            (sum, false, true),
            (counter, false, false),
            (moved, false, false),
            (loaded, false, false),
        ] {
            assert_eq!(invariance.is_given(&function, value), is_given, "{value}");
            assert_eq!(
                invariance.is_invariant(&function, value, 3),
                is_invariant,
                "{value}"
            );
        }
        // The sum, the product, and the constant: three operations.
        assert!(!invariance.is_invariant(&function, sum, 2));

        let mut b = Builder::new(&mut function, entry);
        let hoisted = invariance.hoisted(&mut b, sum);
        let Some(&Op::Binary(Binary::Add, product, same)) = function.op_of(hoisted) else {
            panic!("{function}");
        };
        assert_eq!(same, outside);
        assert!(!invariance.is_defined_inside(product));
    }
}
