//! Arithmetic, comparisons, logic: one operation a component.

use super::decode::Instruction;
use super::function_parser::FunctionParser;
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Binary, Builder, Compare, Op as IrOp, Type, Unary, Value, ValueDef, Values,
};
use crate::compiler::operations::{binary_of, comparison_of};
use rspirv::spirv::Op;
use std::rc::Rc;

/// What the operands of an instruction must be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Int,
    Float,
    Bool,
}

impl Class {
    fn holds(self, ty: Type) -> bool {
        match self {
            Self::Int => ty.is_int(),
            Self::Float => ty.is_float(),
            Self::Bool => ty == Type::Bool,
        }
    }
}

impl<'a> FunctionParser<'_, 'a> {
    /// Translates arithmetic, comparisons and logic; false if the instruction is neither.
    pub(super) fn arithmetic(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        use Class::{Bool, Float, Int};
        let of_booleans = matches!(
            inst.op,
            Op::LogicalAnd | Op::LogicalOr | Op::LogicalEqual | Op::LogicalNotEqual
        );
        let class = |is_float| match (of_booleans, is_float) {
            (true, _) => Bool,
            (false, true) => Float,
            (false, false) => Int,
        };
        // The amounts of shifts may have another width: they are parsed with the other operations on bits.
        if let Some(op) = binary_of(inst.op).filter(|op| !op.is_shift()) {
            self.binary(inst, class(op.is_float()), op)?;
            return Ok(true);
        }
        if let Some((op, swapped)) = comparison_of(inst.op) {
            self.compare(inst, class(op.is_float()), op, swapped)?;
            return Ok(true);
        }
        match inst.op {
            Op::SNegate => self.unary(inst, Int, Unary::Negate)?,
            Op::FNegate => self.unary(inst, Float, Unary::FNegate)?,
            Op::Not => self.unary(inst, Int, Unary::Not)?,
            Op::LogicalNot => self.unary(inst, Bool, Unary::Not)?,
            Op::IsNan => self.unary(inst, Float, Unary::IsNan)?,
            Op::IsInf => self.unary(inst, Float, Unary::IsInf)?,
            Op::IsFinite => self.unary(inst, Float, Unary::IsFinite)?,
            Op::IsNormal => self.unary(inst, Float, Unary::IsNormal)?,
            Op::SignBitSet => self.unary(inst, Float, Unary::SignBitSet)?,

            Op::Any => self.reduce_bool(inst, Binary::Or)?,
            Op::All => self.reduce_bool(inst, Binary::And)?,
            Op::Select => self.select(inst)?,
            Op::VectorTimesScalar => {
                let factor = self.scalar(inst, 1)?;
                let vector = self.operand(inst, 0)?;
                self.check_same(inst, Float, &vector, &vec![factor; vector.len()])?;
                self.each(inst, vector.len(), |b, lane| {
                    b.binary(Binary::FMul, vector[lane], factor)
                })?;
            }
            Op::Dot => self.dot(inst)?,
            Op::IAddCarry => self.add_carry(inst)?,
            Op::ISubBorrow => self.sub_borrow(inst)?,
            Op::UMulExtended => self.mul_extended(inst, false)?,
            Op::SMulExtended => self.mul_extended(inst, true)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Defines the result from one value for each of `count` components.
    pub(super) fn each(
        &mut self,
        inst: &Instruction<'a>,
        count: usize,
        mut build: impl FnMut(&mut Builder<'_>, usize) -> Value,
    ) -> Result<(), CompileError> {
        let mut b = self.build();
        let values: Values = (0..count).map(|lane| build(&mut b, lane)).collect();
        self.define(inst, &values)
    }

    /// An operand whose components are all of a class.
    pub(super) fn class_operand(
        &mut self,
        inst: &Instruction<'a>,
        index: usize,
        class: Class,
    ) -> Result<Rc<[Value]>, CompileError> {
        let values = self.operand(inst, index)?;
        if values.iter().all(|&value| class.holds(self.ty(value))) {
            Ok(values)
        } else {
            Err(inst.invalid(format!("operand {} is of the wrong type", index + 1)))
        }
    }

    fn check_same(
        &self,
        inst: &Instruction<'a>,
        class: Class,
        a: &[Value],
        b: &[Value],
    ) -> Result<(), CompileError> {
        let same = a.len() == b.len()
            && a.iter()
                .zip(b)
                .all(|(&a, &b)| class.holds(self.ty(a)) && self.ty(a) == self.ty(b));
        if same {
            Ok(())
        } else {
            Err(inst.invalid("the operands' types do not match"))
        }
    }

    fn unary(
        &mut self,
        inst: &Instruction<'a>,
        class: Class,
        op: Unary,
    ) -> Result<(), CompileError> {
        let a = self.class_operand(inst, 0, class)?;
        self.each(inst, a.len(), |b, lane| b.unary(op, a[lane]))
    }

    fn binary(
        &mut self,
        inst: &Instruction<'a>,
        class: Class,
        op: Binary,
    ) -> Result<(), CompileError> {
        let result = self.result_slots(inst)?.first().copied();
        let (x, y) = match result {
            // clang-22 forgets to narrow an operand where it knows that the high bits do not matter: it writes
            // `OpBitwiseAnd %uchar %a %uchar_3` of a `uint`, `OpSDiv %uint %a %uint_1` of a `ulong` that was a `ushort`.
            Some(slot) if class == Class::Int && slot.ty.is_int() => (
                self.low_bits_of(inst, 0, slot.bits)?,
                self.low_bits_of(inst, 1, slot.bits)?,
            ),
            _ => (self.operand(inst, 0)?, self.operand(inst, 1)?),
        };
        self.check_same(inst, class, &x, &y)?;
        self.each(inst, x.len(), |b, lane| b.binary(op, x[lane], y[lane]))
    }

    /// The low bits of an operand that is wider than the result, of whose type it should be, as far as containers are
    /// concerned; anything else as it is.
    pub(super) fn low_bits(
        &mut self,
        inst: &Instruction<'a>,
        operand: Rc<[Value]>,
    ) -> Result<Rc<[Value]>, CompileError> {
        let to = self.source.types.scalar(inst.result_type()?)?;
        Ok(self.narrowed(to, operand))
    }

    /// The low bits of integers that are wider than `to`; anything else as it is.
    pub(super) fn narrowed(&mut self, to: Type, values: Rc<[Value]>) -> Rc<[Value]> {
        let wider = |&value: &Value| {
            let ty = self.ty(value);
            ty.is_int() && to.is_int() && ty.bits() > to.bits()
        };
        if !values.iter().all(wider) {
            return values;
        }
        let mut b = self.build();
        let narrowed = values.iter().map(|&value| b.resize_int(value, to, false));
        narrowed.collect()
    }

    fn compare(
        &mut self,
        inst: &Instruction<'a>,
        class: Class,
        op: Compare,
        swap: bool,
    ) -> Result<(), CompileError> {
        let x = self.operand(inst, 0)?;
        let y = self.operand(inst, 1)?;
        // clang-22 compares the results of a compare-exchange of floats as integers: their bits are meant.
        let on_floats = |values: &[Value]| values.iter().all(|&value| self.ty(value).is_float());
        if class == Class::Int && on_floats(&x) && matches!(op, Compare::Equal | Compare::NotEqual)
        {
            self.check_same(inst, Class::Float, &x, &y)?;
            return self.each(inst, x.len(), |b, lane| {
                let ty = b.ty(x[lane]).as_int().unwrap_or(Type::I32);
                let (x, y) = (b.bitcast(x[lane], ty), b.bitcast(y[lane], ty));
                b.compare(op, x, y)
            });
        }
        let (x, y) = match (self.width(inst, 0)?, self.width(inst, 1)?) {
            // Here, too, clang-22 forgets to narrow: `OpSLessThan` of a `uint` and a `ulong`.
            (Some(one), Some(other)) if one != other => {
                let bits = one.min(other);
                (
                    self.low_bits_of(inst, 0, bits)?,
                    self.low_bits_of(inst, 1, bits)?,
                )
            }
            _ => (x, y),
        };
        self.check_same(inst, class, &x, &y)?;
        let y = if op == Compare::NotEqual && self.source.is_by_llvm {
            self.sign_of_product(&x, y)
        } else {
            y
        };
        let (x, y) = if swap { (y, x) } else { (x, y) };
        self.each(inst, x.len(), |b, lane| b.compare(op, x[lane], y[lane]))
    }

    /// The lower half of the signed product that a value is the upper half of.
    fn lower_half(&self, upper: Value) -> Option<Value> {
        let ValueDef::Result { inst, index: 1 } = self.function.value(upper).def else {
            return None;
        };
        let data = self.function.inst(inst);
        match data.op {
            IrOp::MulExtended { signed: true, .. } => data.results.first().copied(),
            _ => None,
        }
    }

    /// LLVM's back end says that a signed product does not fit (`llvm.smul.with.overflow`) where its upper half is not
    /// zero, which is so of an unsigned one. It fits where the upper half repeats the sign of the lower: that is what
    /// stands here for zero.
    fn sign_of_product(&mut self, upper: &[Value], zero: Rc<[Value]>) -> Rc<[Value]> {
        let lower: Option<Vec<Value>> = upper.iter().map(|&value| self.lower_half(value)).collect();
        let is_zero = |value: &Value| self.function.constant(*value) == Some(0);
        match lower.filter(|_| zero.iter().all(is_zero)) {
            Some(lower) => {
                let mut b = self.build();
                let sign = |value: Value| {
                    let bits = u64::from(b.ty(value).bits());
                    b.binary_const(Binary::AShr, value, bits - 1)
                };
                lower.into_iter().map(sign).collect()
            }
            None => zero,
        }
    }

    fn reduce_bool(&mut self, inst: &Instruction<'a>, op: Binary) -> Result<(), CompileError> {
        let all = self.operand(inst, 0)?;
        let class = all.iter().all(|&value| {
            let ty = self.ty(value);
            ty == Type::Bool || ty.is_int()
        });
        if !class {
            return Err(inst.invalid("the operand is not of booleans"));
        }
        let mut b = self.build();
        // clang-22 hands on the integers of OpenCL C's `any` and `all`, whose highest bit counts.
        let all: Values = all
            .iter()
            .map(|&value| match b.ty(value) {
                Type::Bool => value,
                ty => {
                    let zero = b.constant(ty, 0);
                    b.compare(Compare::SLess, value, zero)
                }
            })
            .collect();
        let Some((&first, rest)) = all.split_first() else {
            return Err(inst.invalid("the operand is empty"));
        };
        let result = rest.iter().fold(first, |a, &value| b.binary(op, a, value));
        self.define(inst, &[result])
    }

    fn select(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let condition = self.class_operand(inst, 0, Class::Bool)?;
        let (x_type, x) = self.values(inst.id(1)?)?;
        let (y_type, y) = self.values(inst.id(2)?)?;
        if x_type != y_type || (condition.len() != 1 && condition.len() != x.len()) {
            return Err(inst.invalid("the operands' types do not match"));
        }
        self.each(inst, x.len(), |b, lane| {
            let condition = condition[if condition.len() == 1 { 0 } else { lane }];
            b.select(condition, x[lane], y[lane])
        })
    }

    fn dot(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let x = self.operand(inst, 0)?;
        let y = self.operand(inst, 1)?;
        self.check_same(inst, Class::Float, &x, &y)?;
        let mut b = self.build();
        let sum = x.iter().zip(y.iter()).fold(None, |sum, (&x, &y)| {
            let product = b.binary(Binary::FMul, x, y);
            Some(match sum {
                Some(sum) => b.binary(Binary::FAdd, sum, product),
                None => product,
            })
        });
        let sum = sum.ok_or_else(|| inst.invalid("the vectors are empty"))?;
        self.define(inst, &[sum])
    }

    /// Two lists of components, the low ones of all lanes first: a structure of two vectors.
    fn pairs(
        &mut self,
        inst: &Instruction<'a>,
        mut build: impl FnMut(&mut Builder<'_>, Value, Value) -> (Value, Value),
    ) -> Result<(), CompileError> {
        let x = self.operand(inst, 0)?;
        let y = self.operand(inst, 1)?;
        self.check_same(inst, Class::Int, &x, &y)?;
        let mut b = self.build();
        let (mut first, second): (Values, Values) = x
            .iter()
            .zip(y.iter())
            .map(|(&x, &y)| build(&mut b, x, y))
            .unzip();
        first.extend(second);
        self.define(inst, &first)
    }

    fn add_carry(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        self.pairs(inst, |b, x, y| {
            let sum = b.binary(Binary::Add, x, y);
            let carry = b.compare(Compare::ULess, sum, x);
            (sum, one_if(b, carry, x))
        })
    }

    fn sub_borrow(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        self.pairs(inst, |b, x, y| {
            let difference = b.binary(Binary::Sub, x, y);
            let borrow = b.compare(Compare::ULess, x, y);
            (difference, one_if(b, borrow, x))
        })
    }

    fn mul_extended(&mut self, inst: &Instruction<'a>, signed: bool) -> Result<(), CompileError> {
        self.pairs(inst, |b, x, y| {
            let ty = b.ty(x);
            let results = b.op(IrOp::MulExtended { signed, a: x, b: y }, [ty, ty]);
            (results[0], results[1])
        })
    }
}

/// 1 of the type of `like` where `condition` holds, else 0.
fn one_if(b: &mut Builder<'_>, condition: Value, like: Value) -> Value {
    let ty = b.ty(like);
    let one = b.constant(ty, 1);
    let zero = b.constant(ty, 0);
    b.select(condition, one, zero)
}
