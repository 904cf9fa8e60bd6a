//! Induction variables: parameters of a loop's header to which each iteration adds.

use crate::compiler::evaluate;
use crate::compiler::ir::{Binary, Function, InstFlags, Op, Value, ValueDef};

/// A parameter of a loop's header, the next value of which is it and something added or subtracted. It is an induction variable
/// where that is [invariant](super::Invariance).
#[derive(Clone, Copy, Debug)]
pub struct Induction {
    /// What each iteration adds, or subtracts.
    pub by: Value,
    /// `Add` or `Sub`, or `FAdd` or `FSub` of floats.
    pub op: Binary,
    /// What the addition promises.
    pub flags: InstFlags,
}

/// What an integer changes by in an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub goes_up: bool,
    pub by: Amount,
}

/// The size of a step.
#[derive(Clone, Copy, Debug)]
pub enum Amount {
    /// At most half of what the type holds.
    Constant(u64),
    Variable(Value),
}

impl Induction {
    /// The induction of a parameter, which has a value in the next iteration.
    pub fn of(function: &Function, param: Value, next: Value) -> Option<Self> {
        let ValueDef::Result { inst, .. } = function.value(next).def else {
            return None;
        };
        let inst = function.inst(inst);
        let (op, by) = match inst.op {
            Op::Binary(
                op @ (Binary::Add | Binary::Sub | Binary::FAdd | Binary::FSub),
                left,
                by,
            ) if left == param => (op, by),
            Op::Binary(op @ (Binary::Add | Binary::FAdd), by, right) if right == param => (op, by),
            _ => return None,
        };
        Some(Self {
            by,
            op,
            flags: inst.flags,
        })
    }

    /// The step of an integer.
    pub fn step(&self, function: &Function) -> Option<Step> {
        let goes_up = match self.op {
            Binary::Add => true,
            Binary::Sub => false,
            _ => return None,
        };
        let mask = function.ty(self.by).mask();
        Some(match function.constant(self.by) {
            // A sum with a negative number goes down.
            Some(bits) if bits > mask >> 1 => Step {
                goes_up: !goes_up,
                by: Amount::Constant(bits.wrapping_neg() & mask),
            },
            Some(bits) => Step {
                goes_up,
                by: Amount::Constant(bits),
            },
            None => Step {
                goes_up,
                by: Amount::Variable(self.by),
            },
        })
    }

    /// The step of an integer, where it is a constant, as a signed number.
    pub fn signed_step(&self, function: &Function) -> Option<i64> {
        let by = evaluate::signed(function.ty(self.by), function.constant(self.by)?);
        match self.op {
            Binary::Add => Some(by),
            Binary::Sub => Some(by.wrapping_neg()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Builder, Edge, Type};

    /// The induction of a header's only parameter, of which `next` makes the next value.
    fn induction(
        ty: Type,
        next: impl FnOnce(&mut Builder<'_>, Value) -> Value,
    ) -> (Function, Option<Induction>) {
        let mut function = Function::new("f");
        let entry = function.entry();
        let header = function.add_block();
        let param = function.add_param(header, ty);
        let mut b = Builder::new(&mut function, entry);
        let first = b.constant(ty, 0);
        b.jump(Edge::new(header, [first]));
        b.switch_to(header);
        let next = next(&mut b, param);
        b.jump(Edge::new(header, [next]));
        let induction = Induction::of(&function, param, next);
        (function, induction)
    }

    #[test]
    fn a_constant_step_goes_up_or_down() {
        let four_less = u64::from(4_u32.wrapping_neg());
        for (op, bits, signed) in [
            (Binary::Add, 4, 4),
            (Binary::Add, four_less, -4),
            (Binary::Sub, 4, -4),
            (Binary::Sub, four_less, 4),
        ] {
            let (function, found) =
                induction(Type::I32, |b, param| b.binary_const(op, param, bits));
            let found = found.unwrap();
            let step = found.step(&function).unwrap();
            assert_eq!(step.goes_up, signed > 0);
            assert!(matches!(step.by, Amount::Constant(4)), "{step:?}");
            assert_eq!(found.signed_step(&function), Some(signed));
        }
    }

    #[test]
    fn the_sides_of_a_sum_may_change_places_and_those_of_a_difference_may_not() {
        let swapped = |op| {
            let (_, found) = induction(Type::I32, |b, param| {
                let four = b.i32(4);
                b.binary(op, four, param)
            });
            found.is_some()
        };
        assert!(swapped(Binary::Add) && !swapped(Binary::Sub) && !swapped(Binary::Mul));
    }

    #[test]
    fn a_float_has_no_step() {
        let (function, found) = induction(Type::F32, |b, param| {
            let tenth = b.constant(Type::F32, u64::from(0.1_f32.to_bits()));
            b.binary(Binary::FAdd, param, tenth)
        });
        let found = found.unwrap();
        assert!(found.step(&function).is_none() && found.signed_step(&function).is_none());
    }
}
