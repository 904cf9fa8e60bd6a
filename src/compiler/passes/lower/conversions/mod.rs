//! Conversions with rounding and saturation, and operations that Vulkan has not for every width or operand.
//!
//! Needs: pointers lowered. How: each operation is spelled out with ones that every device has, or is
//! brought to 32 bits. Guarantees, for what comes after:
//! - float to integer truncates, is not saturating, and makes I32 or I64; integer to float starts from
//!   I32 or I64;
//! - no rounding mode is left, but toward the legalizing passes: I64 → F32 when the device has no 64-bit
//!   integers, F32 → F16 when it has no halves;
//! - no `SRem` and `SMod` (undefined in Vulkan for negative operands), no signed division that can trap;
//! - `BitCount`, `BitReverse`, minima, maxima, division only on I32 (division also on I64), `MulExtended`
//!   on I32 (on I64 when that will be legalized);
//! - of the float predicates, `IsNan` and `IsInf` only, where the device takes care of them.

mod classify;
mod float_to_float;
mod float_to_integer;
mod integer_to_float;
mod integers;
#[cfg(test)]
mod tests;

use crate::compiler::capabilities::FloatControls;
use crate::compiler::ir::{
    Binary, Builder, Compare, Convert, Module, Op, Rewrite, Type, Value, Values,
    rewrite_instructions,
};
use crate::compiler::{CompileError, Context};
use smallvec::smallvec;

/// Lowers every such operation of the module that the target has not.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            let data = b.function.inst(inst);
            let (op, results) = (data.op.clone(), data.results.clone());
            let Some(&result) = results.first() else {
                return Ok(Rewrite::Keep);
            };
            let ty = b.ty(result);
            let lowered = Lower { b, cx }.operation(&op, ty);
            Ok::<_, CompileError>(lowered.map_or(Rewrite::Keep, Rewrite::Replace))
        })
        .map_err(|error| error.in_function(&function.name))?;
    }
    Ok(())
}

/// Builds what stands for one operation.
struct Lower<'a, 'f> {
    b: &'a mut Builder<'f>,
    cx: &'a Context<'a>,
}

impl Lower<'_, '_> {
    /// What stands for `op`, whose (first) result has type `ty`; `None` if it may stay.
    fn operation(&mut self, op: &Op, ty: Type) -> Option<Values> {
        let value = match *op {
            Op::MulExtended { signed, a, b } => return self.mul_extended(signed, a, b),
            Op::Unary(unary, x) => self.unary(unary, x)?,
            Op::Binary(binary, x, y) => self.arithmetic(binary, x, y)?,
            Op::Compare(Compare::FOrdered, x, y) => {
                let unordered = self.unordered(x, y);
                self.b.unary(crate::compiler::ir::Unary::Not, unordered)
            }
            Op::Compare(Compare::FUnordered, x, y) => self.unordered(x, y),
            Op::Convert(convert, x) => self.conversion(convert, x, ty)?,
            _ => return None,
        };
        Some(smallvec![value])
    }

    fn conversion(&mut self, op: Convert, x: Value, ty: Type) -> Option<Value> {
        match op {
            Convert::FloatToFloat(rounding) => self.float_to_float(x, ty, rounding),
            Convert::FloatToUnsigned { rounding, saturate } => {
                self.float_to_integer(x, ty, false, rounding, saturate)
            }
            Convert::FloatToSigned { rounding, saturate } => {
                self.float_to_integer(x, ty, true, rounding, saturate)
            }
            Convert::UnsignedToFloat(rounding) => self.integer_to_float(x, ty, false, rounding),
            Convert::SignedToFloat(rounding) => self.integer_to_float(x, ty, true, rounding),
            _ => None,
        }
    }

    fn controls(&self, ty: Type) -> FloatControls {
        let caps = self.cx.capabilities;
        match ty {
            Type::F16 => caps.float16_controls,
            Type::F64 => caps.float64_controls,
            _ => caps.float32_controls,
        }
    }

    fn binary(&mut self, op: Binary, x: Value, y: Value) -> Value {
        self.b.binary(op, x, y)
    }

    fn binary_const(&mut self, op: Binary, x: Value, bits: u64) -> Value {
        self.b.binary_const(op, x, bits)
    }

    /// Compares with a constant of the same type.
    fn compare_const(&mut self, op: Compare, x: Value, bits: u64) -> Value {
        let ty = self.b.ty(x);
        let y = self.b.constant(ty, bits);
        self.b.compare(op, x, y)
    }

    /// A float's bits as an integer.
    fn bits(&mut self, x: Value) -> Value {
        let ty = self.b.ty(x);
        self.b.bitcast(x, ty.as_int().unwrap_or(ty))
    }
}
