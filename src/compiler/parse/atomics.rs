//! Atomic instructions and barriers.

use super::decode::Instruction;
use super::function_parser::FunctionParser;
use crate::compiler::CompileError;
use crate::compiler::ir::{
    AddressSpace, AtomicOp, Op as IrOp, Place, Scope, Semantics, Type, Value, Values,
};
use rspirv::spirv::{self, Op};
use smallvec::smallvec;

const ORDERS: u32 = Semantics::ACQUIRE
    | Semantics::RELEASE
    | Semantics::ACQUIRE_RELEASE
    | Semantics::SEQUENTIALLY_CONSISTENT;

/// The operation of an atomic instruction; `None` if the instruction is another.
fn atomic_op(op: Op) -> Option<AtomicOp> {
    Some(match op {
        Op::AtomicLoad => AtomicOp::Load,
        Op::AtomicStore => AtomicOp::Store,
        Op::AtomicExchange => AtomicOp::Exchange,
        Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => AtomicOp::CompareExchange,
        Op::AtomicIIncrement | Op::AtomicIAdd => AtomicOp::Add,
        Op::AtomicIDecrement | Op::AtomicISub => AtomicOp::Sub,
        Op::AtomicSMin => AtomicOp::SMin,
        Op::AtomicUMin => AtomicOp::UMin,
        Op::AtomicSMax => AtomicOp::SMax,
        Op::AtomicUMax => AtomicOp::UMax,
        Op::AtomicAnd => AtomicOp::And,
        Op::AtomicOr => AtomicOp::Or,
        Op::AtomicXor => AtomicOp::Xor,
        Op::AtomicFAddEXT => AtomicOp::FAdd,
        Op::AtomicFMinEXT => AtomicOp::FMin,
        Op::AtomicFMaxEXT => AtomicOp::FMax,
        Op::AtomicFlagTestAndSet => AtomicOp::FlagTestAndSet,
        Op::AtomicFlagClear => AtomicOp::FlagClear,
        _ => return None,
    })
}

/// Whether an atomic operation is defined on a scalar type.
fn is_defined(op: AtomicOp, ty: Type) -> bool {
    let float_op = matches!(op, AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax);
    let any_op = matches!(
        op,
        AtomicOp::Load | AtomicOp::Store | AtomicOp::Exchange | AtomicOp::CompareExchange
    );
    if ty.is_float() {
        float_op || any_op
    } else {
        ty.is_int() && !float_op
    }
}

impl<'a> FunctionParser<'_, 'a> {
    /// Translates atomic instructions and barriers; false if the instruction is another.
    pub(super) fn atomic(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        let Some(op) = atomic_op(inst.op) else {
            return self.barrier(inst);
        };
        let (pointer, pointee) = self.pointer(inst, 0)?;
        let ty = self.source.types.scalar(pointee)?;
        let (scope, semantics) = self.order(inst, op, pointer)?;
        let is_scalar = self.source.types.lanes(pointee)? == 1;
        if !is_scalar || !is_defined(op, ty) {
            return Err(inst.invalid("the operation is not defined on what the pointer points to"));
        }
        let values = self.atomic_values(inst, ty)?;
        // C11's compare-exchange of floats compares their bits.
        let as_bits = (op == AtomicOp::CompareExchange)
            .then(|| ty.as_int())
            .flatten();
        let memory_type = as_bits.unwrap_or(ty);
        let mut b = self.build();
        let values = values
            .into_iter()
            .map(|value| b.bitcast(value, memory_type))
            .collect();
        let result = match op {
            AtomicOp::Store | AtomicOp::FlagClear => None,
            AtomicOp::FlagTestAndSet => Some(Type::Bool),
            _ => Some(memory_type),
        };
        let results = b.op(
            IrOp::Atomic {
                op,
                place: Place::Pointer(pointer),
                values,
                scope,
                semantics,
            },
            result,
        );
        if op == AtomicOp::CompareExchange {
            let results: Values = results.iter().map(|&old| b.bitcast(old, ty)).collect();
            return self.define(inst, &results).map(|()| true);
        }
        if result.is_some() {
            self.define(inst, &results)?;
        }
        Ok(true)
    }

    /// Translates barriers; false if the instruction is another.
    fn barrier(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        match inst.op {
            Op::ControlBarrier => {
                let execution = self.scope(inst, 0)?;
                let memory = self.scope(inst, 1)?;
                let semantics = self.semantics(inst, 2)?;
                self.build().op0(IrOp::ControlBarrier {
                    execution,
                    memory,
                    semantics,
                });
            }
            Op::MemoryBarrier => {
                let memory = self.scope(inst, 0)?;
                let semantics = self.semantics(inst, 1)?;
                self.build().op0(IrOp::MemoryBarrier { memory, semantics });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Scope and semantics of an atomic instruction.
    fn order(
        &self,
        inst: &Instruction<'a>,
        op: AtomicOp,
        pointer: Value,
    ) -> Result<(Scope, Semantics), CompileError> {
        let (scope, semantics) = match op {
            AtomicOp::Load if self.source.is_by_llvm => self.load_order(inst)?,
            _ => (self.scope(inst, 1)?, self.semantics(inst, 2)?),
        };
        let scope = match (scope, self.ty(pointer)) {
            // clang-22 gives atomics on global memory this scope where the source names none: OpenCL 1.x's,
            // which other work-groups see all the same, and C11's, which are for the device then. To widen
            // it costs a relaxed operation nothing.
            (Scope::Workgroup, Type::Ptr(AddressSpace::Global | AddressSpace::Generic))
                if self.source.is_by_llvm || semantics.0 & ORDERS == 0 =>
            {
                Scope::Device
            }
            (scope, _) => scope,
        };
        Ok((scope, semantics))
    }

    /// Values that an atomic instruction is given or implies: for compare-exchange the new one, then the comparator.
    fn atomic_values(&mut self, inst: &Instruction<'a>, ty: Type) -> Result<Values, CompileError> {
        Ok(match inst.op {
            Op::AtomicIIncrement | Op::AtomicIDecrement => {
                smallvec![self.build().constant(ty, 1)]
            }
            Op::AtomicLoad | Op::AtomicFlagTestAndSet | Op::AtomicFlagClear => Values::new(),
            Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => {
                let value = self.value_of(inst, 4, ty)?;
                smallvec![value, self.value_of(inst, 5, ty)?]
            }
            _ => smallvec![self.value_of(inst, 3, ty)?],
        })
    }

    /// Scope and semantics of an atomic load by LLVM's SPIR-V back end. Of `atomic_load_explicit` it passes
    /// on (up to version 22) order and scope as OpenCL C numbers them, or the order alone.
    fn load_order(&self, inst: &Instruction<'a>) -> Result<(Scope, Semantics), CompileError> {
        let [first, second] = [
            self.constant_integer(inst, 1)?,
            self.constant_integer(inst, 2)?,
        ];
        if second == 0 || second > 4 {
            // SPIR-V's, where the scope may be the order: then it is for the device.
            let scope = match first {
                5 => Scope::Device,
                _ => self.scope(inst, 1)?,
            };
            return Ok((scope, self.semantics(inst, 2)?));
        }
        let order = match first {
            0 => 0,
            5 => Semantics::SEQUENTIALLY_CONSISTENT,
            _ => Semantics::ACQUIRE,
        };
        let scope = match second {
            1 => Scope::Workgroup,
            2 => Scope::Device,
            3 => Scope::CrossDevice,
            _ => Scope::Subgroup,
        };
        Ok((scope, Semantics(order)))
    }

    fn value_of(
        &mut self,
        inst: &Instruction<'a>,
        index: usize,
        ty: Type,
    ) -> Result<Value, CompileError> {
        let value = self.scalar(inst, index)?;
        if self.ty(value) == ty {
            Ok(value)
        } else {
            Err(inst.invalid("the value's type is not what the pointer points to"))
        }
    }

    /// A scope operand. Front ends give constants; anything else would need code for each.
    pub(super) fn scope(
        &self,
        inst: &Instruction<'a>,
        index: usize,
    ) -> Result<Scope, CompileError> {
        let number = self.constant_integer(inst, index)?;
        let scope = u32::try_from(number).ok().and_then(spirv::Scope::from_u32);
        Ok(match scope {
            Some(spirv::Scope::CrossDevice) => Scope::CrossDevice,
            Some(spirv::Scope::Device) => Scope::Device,
            Some(spirv::Scope::Workgroup) => Scope::Workgroup,
            Some(spirv::Scope::Subgroup) => Scope::Subgroup,
            Some(spirv::Scope::Invocation) => Scope::Invocation,
            _ => return Err(inst.unsupported(format!("the scope {number} is not supported"))),
        })
    }

    fn semantics(&self, inst: &Instruction<'a>, index: usize) -> Result<Semantics, CompileError> {
        Ok(Semantics(self.constant_integer(inst, index)? as u32))
    }
}
