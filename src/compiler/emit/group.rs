//! Sub-group collectives that the device has. Those of the work-group, and those that it lacks, were lowered
//! to them before.

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
        self.emitter.asm.capability(Capability::GroupNonUniform);
        if let (GroupOp::Ballot, &[predicate]) = (group.op, args) {
            return self.ballot(inst, scope, predicate, results);
        }
        let &[result] = results else {
            return Err(self.unexpected(inst));
        };
        let ids = self.values(args)?;
        let caps = self.emitter.capabilities.subgroup;
        use Capability::*;
        let (has, capability, op) = match group.op {
            GroupOp::Elect => (true, GroupNonUniform, spirv::Op::GroupNonUniformElect),
            GroupOp::All => (
                caps.vote,
                GroupNonUniformVote,
                spirv::Op::GroupNonUniformAll,
            ),
            GroupOp::Any => (
                caps.vote,
                GroupNonUniformVote,
                spirv::Op::GroupNonUniformAny,
            ),
            GroupOp::BroadcastFirst => (
                caps.ballot,
                GroupNonUniformBallot,
                spirv::Op::GroupNonUniformBroadcastFirst,
            ),
            // The id is dynamically uniform, which version 1.5 accepts.
            GroupOp::Broadcast => (
                caps.ballot,
                GroupNonUniformBallot,
                spirv::Op::GroupNonUniformBroadcast,
            ),
            GroupOp::Shuffle => (
                caps.shuffle,
                GroupNonUniformShuffle,
                spirv::Op::GroupNonUniformShuffle,
            ),
            GroupOp::ShuffleXor => (
                caps.shuffle,
                GroupNonUniformShuffle,
                spirv::Op::GroupNonUniformShuffleXor,
            ),
            GroupOp::ShuffleUp => (
                caps.shuffle_relative,
                GroupNonUniformShuffleRelative,
                spirv::Op::GroupNonUniformShuffleUp,
            ),
            GroupOp::ShuffleDown => (
                caps.shuffle_relative,
                GroupNonUniformShuffleRelative,
                spirv::Op::GroupNonUniformShuffleDown,
            ),
            GroupOp::Rotate(_) => (
                caps.rotate,
                GroupNonUniformRotateKHR,
                spirv::Op::GroupNonUniformRotateKHR,
            ),
            GroupOp::Reduce(op)
            | GroupOp::InclusiveScan(op)
            | GroupOp::ExclusiveScan(op)
            | GroupOp::ClusteredReduce(op, _) => {
                let ty = self.function.ty(result);
                let op = map_arithmetic(op, ty).ok_or_else(|| self.unexpected(inst))?;
                match group.op {
                    GroupOp::ClusteredReduce(..) => (caps.clustered, GroupNonUniformClustered, op),
                    _ => (caps.arithmetic, GroupNonUniformArithmetic, op),
                }
            }
            GroupOp::AllEqual | GroupOp::Ballot => return Err(self.unexpected(inst)),
        };
        if !has {
            return Err(self.unexpected(inst));
        }
        self.emitter.asm.capability(capability);
        let mut operands = vec![scope];
        operands.extend(map_operation(group.op).map(|operation| operation as u32));
        operands.extend_from_slice(&ids);
        match group.op {
            GroupOp::ClusteredReduce(_, cluster) => {
                operands.push(self.emitter.const_u32(cluster));
            }
            GroupOp::Rotate(cluster) => {
                let asm = &mut self.emitter.asm;
                asm.extension("SPV_KHR_subgroup_rotate", None);
                if cluster != 0 {
                    operands.push(self.emitter.const_u32(cluster));
                }
            }
            _ => {}
        }
        self.define(result, op, &operands)
    }

    /// The four words are the components of one vector.
    fn ballot(
        &mut self,
        inst: Inst,
        scope: u32,
        predicate: Value,
        results: &[Value],
    ) -> Result<(), CompileError> {
        if !self.emitter.capabilities.subgroup.ballot || results.len() != 4 {
            return Err(self.unexpected(inst));
        }
        let asm = &mut self.emitter.asm;
        asm.capability(Capability::GroupNonUniformBallot);
        let ids = self.values(&[predicate])?;
        let vector = self.emitter.vector_type(Type::I32, 4)?;
        let operands: Vec<u32> = [scope].into_iter().chain(ids).collect();
        let op = spirv::Op::GroupNonUniformBallot;
        let words = self.emitter.asm.result(op, vector, &operands);
        self.take_apart(results, words)
    }
}

fn map_operation(op: GroupOp) -> Option<GroupOperation> {
    Some(match op {
        GroupOp::Reduce(_) => GroupOperation::Reduce,
        GroupOp::InclusiveScan(_) => GroupOperation::InclusiveScan,
        GroupOp::ExclusiveScan(_) => GroupOperation::ExclusiveScan,
        GroupOp::ClusteredReduce(..) => GroupOperation::ClusteredReduce,
        _ => return None,
    })
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
