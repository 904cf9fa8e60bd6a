//! Sub-group collectives. Those of the work-group were lowered to them before.

use super::function::FunctionEmitter;
use crate::compiler::CompileError;
use crate::compiler::ir::{Binary, Group, GroupOp, Inst, Scope, Type, Value};
use rspirv::spirv::{self, Capability, GroupOperation};

impl FunctionEmitter<'_, '_> {
    pub fn group(
        &mut self,
        inst: Inst,
        group: Group,
        args: &[Value],
        results: &[Value],
    ) -> Result<(), CompileError> {
        if group.scope != Scope::Subgroup {
            return Err(self.unexpected(inst));
        }
        self.emitter.uses_collectives = true;
        let scope = self.emitter.const_u32(spirv::Scope::Subgroup as u32);
        let ids = self.values(args)?;
        let caps = self.emitter.capabilities.subgroup;
        self.emitter.asm.capability(Capability::GroupNonUniform);
        match (group.op, results) {
            (GroupOp::All | GroupOp::Any, &[result]) if caps.vote => {
                self.emitter.asm.capability(Capability::GroupNonUniformVote);
                let op = match group.op {
                    GroupOp::All => spirv::Op::GroupNonUniformAll,
                    _ => spirv::Op::GroupNonUniformAny,
                };
                self.define(
                    result,
                    op,
                    &[scope, *ids.first().ok_or(self.unexpected(inst))?],
                )
            }
            (GroupOp::Broadcast, results)
                if caps.ballot && ids.len() == results.len() + 1 && !results.is_empty() =>
            {
                let asm = &mut self.emitter.asm;
                asm.capability(Capability::GroupNonUniformBallot);
                let from = ids[results.len()];
                for (&result, &id) in results.iter().zip(&ids) {
                    // The id is dynamically uniform, which version 1.5 accepts.
                    let op = spirv::Op::GroupNonUniformBroadcast;
                    self.define(result, op, &[scope, id, from])?;
                }
                Ok(())
            }
            (
                GroupOp::Reduce(op) | GroupOp::InclusiveScan(op) | GroupOp::ExclusiveScan(op),
                results,
            ) if caps.arithmetic && ids.len() == results.len() => {
                let asm = &mut self.emitter.asm;
                asm.capability(Capability::GroupNonUniformArithmetic);
                let kind = match group.op {
                    GroupOp::InclusiveScan(_) => GroupOperation::InclusiveScan,
                    GroupOp::ExclusiveScan(_) => GroupOperation::ExclusiveScan,
                    _ => GroupOperation::Reduce,
                };
                for (&result, &id) in results.iter().zip(&ids) {
                    let ty = self.function.ty(result);
                    let op = map_arithmetic(op, ty).ok_or(self.unexpected(inst))?;
                    self.define(result, op, &[scope, kind as u32, id])?;
                }
                Ok(())
            }
            _ => Err(self.unexpected(inst)),
        }
    }
}

fn map_arithmetic(op: Binary, ty: Type) -> Option<spirv::Op> {
    let logical = ty == Type::Bool;
    Some(match op {
        Binary::Add => spirv::Op::GroupNonUniformIAdd,
        Binary::Mul => spirv::Op::GroupNonUniformIMul,
        Binary::UMin => spirv::Op::GroupNonUniformUMin,
        Binary::UMax => spirv::Op::GroupNonUniformUMax,
        Binary::SMin => spirv::Op::GroupNonUniformSMin,
        Binary::SMax => spirv::Op::GroupNonUniformSMax,
        Binary::FAdd => spirv::Op::GroupNonUniformFAdd,
        Binary::FMul => spirv::Op::GroupNonUniformFMul,
        Binary::FMin => spirv::Op::GroupNonUniformFMin,
        Binary::FMax => spirv::Op::GroupNonUniformFMax,
        Binary::And if logical => spirv::Op::GroupNonUniformLogicalAnd,
        Binary::Or if logical => spirv::Op::GroupNonUniformLogicalOr,
        Binary::Xor if logical => spirv::Op::GroupNonUniformLogicalXor,
        Binary::And => spirv::Op::GroupNonUniformBitwiseAnd,
        Binary::Or => spirv::Op::GroupNonUniformBitwiseOr,
        Binary::Xor => spirv::Op::GroupNonUniformBitwiseXor,
        _ => return None,
    })
}
