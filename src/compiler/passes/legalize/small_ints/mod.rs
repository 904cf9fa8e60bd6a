//! 8- and 16-bit integers as 32-bit ones, on devices without `shaderInt8` or `shaderInt16`, and on those that have
//! them and compute them wrongly ([`crate::compiler::Defects::MISCOMPUTES_NARROW_INTEGERS`]).
//!
//! Needs: `legalize::memory` ran, so nothing that the device has not is loaded or stored through an address.
//!
//! **Invariant.** The I32 that stands for a narrow integer holds its bits at the bottom; *the bits above are
//! unspecified*. Truncation is then free, and so are addition, subtraction, multiplication, bit
//! operations and left shifts, whose low bits depend on nothing above. What looks at the whole number
//! (comparison, division, right shift, extension, conversion to float, minimum and maximum, switch, the
//! amount of a shift) first clears the upper bits or copies the sign into them.
//!
//! Afterwards: no I8 where the device lacks 8-bit integers, no I16 where it lacks 16-bit ones. Where it only computes
//! them wrongly they are loaded, stored, widened, truncated, and taken for halves, nothing else.

#[cfg(test)]
mod tests;

use crate::compiler::ir::{
    Binary, Compare, Convert, Edge, Module, Op, Place, Terminator, Type, Unary, Value, Values,
};
use crate::compiler::passes::helpers::expand_values::{
    Expanded, Expander, Expansion, expand_function,
};
use crate::compiler::passes::helpers::folding;
use crate::compiler::{Capabilities, CompileError, Context};
use smallvec::smallvec;

/// Replaces narrow integers in every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    legalize(module, cx.capabilities)
}

fn legalize(module: &mut Module, device: &Capabilities) -> Result<(), CompileError> {
    let mut pass = SmallInts { device };
    if device.computes8() && device.computes16() {
        return Ok(());
    }
    let lacks = |ty| pass.parts(ty).is_some() && !pass.has(ty);
    if let Some(array) = module.arrays.iter().find(|a| lacks(a.element)) {
        return Err(CompileError::unsupported(format!(
            "the array '{}' has {} elements, which the device lacks",
            array.name, array.element
        )));
    }
    module
        .functions
        .iter_mut()
        .try_for_each(|function| expand_function(function, &mut pass))
}

/// `GLSL.std.450` functions of integers that need their whole operand.
mod glsl {
    pub const S_ABS: u32 = 5;
    pub const S_SIGN: u32 = 7;
    pub const U_MIN: u32 = 38;
    pub const S_MIN: u32 = 39;
    pub const U_MAX: u32 = 41;
    pub const S_MAX: u32 = 42;
    pub const U_CLAMP: u32 = 44;
    pub const S_CLAMP: u32 = 45;
    pub const FIND_I_LSB: u32 = 73;
    pub const FIND_S_MSB: u32 = 74;
    pub const FIND_U_MSB: u32 = 75;
}

struct SmallInts<'a> {
    device: &'a Capabilities,
}

impl Expander for SmallInts<'_> {
    fn parts(&self, ty: Type) -> Option<&'static [Type]> {
        let lacking = match ty {
            Type::I8 => !self.device.computes8(),
            Type::I16 => !self.device.computes16(),
            _ => false,
        };
        lacking.then_some(&[Type::I32])
    }

    fn instruction(&mut self, x: &mut Expansion<'_>, op: &Op, types: &[Type]) -> Expanded {
        let result = match op {
            Op::Const(bits) => x.b.constant(Type::I32, *bits),
            Op::Unary(op, a) => self.unary(x, *op, *a)?,
            Op::Binary(op, a, b) => self.binary(x, *op, *a, *b)?,
            Op::Compare(op, a, b) => {
                let signed = matches!(op, Compare::SLess | Compare::SLessEqual);
                let (a, b) = (self.whole(x, *a, signed), self.whole(x, *b, signed));
                folding::compare(&mut x.b, *op, a, b)
            }
            Op::Convert(op, a) => self.convert(x, *op, *a, types[0])?,
            Op::MulExtended { signed, a, b } => {
                let bits = x.ty(*a).bits();
                let (a, b) = (self.whole(x, *a, *signed), self.whole(x, *b, *signed));
                let low = folding::binary(&mut x.b, Binary::Mul, a, b);
                let shift = if *signed { Binary::AShr } else { Binary::LShr };
                let high = folding::binary_const(&mut x.b, shift, low, bits.into());
                return Ok(vec![smallvec![low], smallvec![high]]);
            }
            Op::Glsl(number, values) => self.glsl(x, *number, values)?,
            Op::Load(Place::Argument { .. }, _) => {
                return Err(lacking("a narrow word of the argument block"));
            }
            Op::Load(..) if self.has(types[0]) => {
                let load = self.of_own_width(x, op);
                let words = x.b.op(load, types.to_vec()).into_iter();
                let widen = |value| smallvec![x.b.resize_int(value, Type::I32, false)];
                return Ok(words.map(widen).collect());
            }
            Op::Store(_, values, _) if values.iter().all(|&value| self.has(x.ty(value))) => {
                let store = self.of_own_width(x, op);
                x.b.op0(store);
                return Ok(Vec::new());
            }
            Op::Load(..) | Op::Store(..) => return Err(lacking("a narrow load or store")),
            Op::Atomic { op, .. } => {
                return Err(CompileError::unsupported(format!(
                    "atomic {op:?} on 8- or 16-bit integers is not supported"
                )));
            }
            other => {
                return Err(CompileError::unsupported(format!(
                    "'{other}' on 8- or 16-bit integers is not supported on this device"
                )));
            }
        };
        Ok(vec![smallvec![result]])
    }

    fn switch(
        &mut self,
        x: &mut Expansion<'_>,
        value: Value,
        cases: Vec<(u64, Edge)>,
        default: Edge,
    ) -> Result<(), CompileError> {
        let value = self.whole(x, value, false);
        x.b.terminate(Terminator::Switch {
            value,
            cases,
            default,
        });
        Ok(())
    }
}

impl SmallInts<'_> {
    fn replacement(&self, ty: Type) -> Type {
        self.parts(ty).map_or(ty, |parts| parts[0])
    }

    /// Whether the device has a type, if only in memory.
    fn has(&self, ty: Type) -> bool {
        match ty {
            Type::I8 => self.device.int8,
            Type::I16 => self.device.int16,
            _ => true,
        }
    }

    /// An operation on values of the width that they have in the source.
    fn of_own_width(&self, x: &mut Expansion<'_>, op: &Op) -> Op {
        let mut op = op.clone();
        op.for_each_operand_mut(|value| {
            let ty = x.ty(*value);
            *value = x.one(*value);
            if self.parts(ty).is_some() {
                *value = x.b.resize_int(*value, ty, false);
            }
        });
        op
    }

    /// What stands for `value`, with the upper bits right if it is a narrow integer.
    fn whole(&self, x: &mut Expansion<'_>, value: Value, signed: bool) -> Value {
        let ty = x.ty(value);
        let word = x.one(value);
        if self.parts(ty).is_none() {
            return word;
        }
        if signed {
            let unused = u64::from(32 - ty.bits());
            let top = folding::binary_const(&mut x.b, Binary::Shl, word, unused);
            folding::binary_const(&mut x.b, Binary::AShr, top, unused)
        } else {
            folding::binary_const(&mut x.b, Binary::And, word, ty.mask())
        }
    }

    fn unary(&self, x: &mut Expansion<'_>, op: Unary, a: Value) -> Result<Value, CompileError> {
        let unused = 32 - x.ty(a).bits();
        Ok(match op {
            Unary::Negate | Unary::Not => {
                let a = x.one(a);
                x.b.unary(op, a)
            }
            Unary::BitCount => {
                let a = self.whole(x, a, false);
                x.b.unary(op, a)
            }
            Unary::BitReverse => {
                let a = x.one(a);
                let reversed = x.b.unary(op, a);
                folding::binary_const(&mut x.b, Binary::LShr, reversed, unused.into())
            }
            _ => return Err(lacking(&format!("{op:?}"))),
        })
    }

    fn binary(
        &self,
        x: &mut Expansion<'_>,
        op: Binary,
        a: Value,
        b: Value,
    ) -> Result<Value, CompileError> {
        use Binary::*;
        let (a, b) = match op {
            Add | Sub | Mul | And | Or | Xor => (x.one(a), x.one(b)),
            UDiv | URem | UMin | UMax => (self.whole(x, a, false), self.whole(x, b, false)),
            SDiv | SRem | SMod | SMin | SMax => (self.whole(x, a, true), self.whole(x, b, true)),
            Shl => (x.one(a), self.whole(x, b, false)),
            LShr => (self.whole(x, a, false), self.whole(x, b, false)),
            AShr => (self.whole(x, a, true), self.whole(x, b, false)),
            FAdd | FSub | FMul | FDiv | FRem | FMod | FMin | FMax => {
                return Err(lacking(&format!("{op:?} of integers")));
            }
        };
        if x.ty(a) != Type::I32 || x.ty(b) != Type::I32 {
            // A shift of or by an integer that the device has.
            return Ok(x.b.binary(op, a, b));
        }
        Ok(folding::binary(&mut x.b, op, a, b))
    }

    fn convert(
        &self,
        x: &mut Expansion<'_>,
        op: Convert,
        a: Value,
        to: Type,
    ) -> Result<Value, CompileError> {
        let from = x.ty(a);
        let target = self.replacement(to);
        Ok(match op {
            Convert::Truncate => {
                let a = x.one(a);
                x.b.resize_int(a, target, false)
            }
            Convert::ZeroExtend | Convert::SignExtend => {
                let signed = op == Convert::SignExtend;
                let a = self.whole(x, a, signed);
                x.b.resize_int(a, target, signed)
            }
            Convert::UnsignedToFloat(_) | Convert::SignedToFloat(_) => {
                let a = self.whole(x, a, matches!(op, Convert::SignedToFloat(_)));
                x.b.convert(op, a, target)
            }
            Convert::FloatToUnsigned { saturate: true, .. }
            | Convert::FloatToSigned { saturate: true, .. } => {
                return Err(lacking("a saturating conversion"));
            }
            Convert::FloatToUnsigned { .. } | Convert::FloatToSigned { .. } => {
                let a = x.one(a);
                x.b.convert(op, a, target)
            }
            Convert::Bitcast if from.is_int() && to.is_int() => x.one(a),
            Convert::Bitcast if self.has(from) && self.has(to) => {
                let same = self.of_own_width(x, &Op::Convert(op, a));
                let same = x.b.op1(same, to);
                if target == to {
                    same
                } else {
                    x.b.resize_int(same, target, false)
                }
            }
            _ => return Err(lacking(&format!("conversion {op:?} from {from} to {to}"))),
        })
    }

    fn glsl(
        &self,
        x: &mut Expansion<'_>,
        number: u32,
        values: &Values,
    ) -> Result<Value, CompileError> {
        use glsl::*;
        let signed = match number {
            S_ABS | S_SIGN | S_MIN | S_MAX | S_CLAMP | FIND_S_MSB => true,
            U_MIN | U_MAX | U_CLAMP | FIND_I_LSB | FIND_U_MSB => false,
            _ => return Err(lacking(&format!("GLSL.std.450 function {number}"))),
        };
        let values: Values = values.iter().map(|&v| self.whole(x, v, signed)).collect();
        Ok(x.b.op1(Op::Glsl(number, values), Type::I32))
    }
}

/// Something that an earlier pass must have taken away.
fn lacking(what: &str) -> CompileError {
    CompileError::internal(format!(
        "{what} reached a device without 8- or 16-bit integers"
    ))
}
