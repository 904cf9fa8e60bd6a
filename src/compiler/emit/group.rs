//! Sub-group collectives that the device has. Those of the work-group, and those that it lacks, were lowered
//! to them before.

use super::function::FunctionEmitter;
use crate::compiler::capabilities::SubgroupOperations;
use crate::compiler::ir::{Binary, Group, GroupOp, Inst, Scope, Type, Value};
use crate::compiler::{CompileError, Defects};
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
        let ty = self.function.ty(result);
        let group_op = self.spelled(group.op, args);
        let (capability, op) = map_op(group_op, ty).ok_or_else(|| self.unexpected(inst))?;
        if !has(self.emitter.capabilities.subgroup, capability) {
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

    /// The operation by which one is made: a shuffle does what a broadcast does, and takes an id of each work-item.
    fn spelled(&self, op: GroupOp, args: &[Value]) -> GroupOp {
        let capabilities = self.emitter.capabilities;
        match (op, args) {
            (GroupOp::Broadcast, &[_, id])
                if (capabilities.has(Defects::FLATTENS_BROADCASTS)
                    || capabilities.has(Defects::BREAKS_ON_BROADCASTS))
                    && capabilities.subgroup.shuffle
                    && self.function.constant(id).is_none() =>
            {
                GroupOp::Shuffle
            }
            _ => op,
        }
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

/// The instruction of an operation on a type, and the capability that it needs; `None` for what was to be lowered.
fn map_op(op: GroupOp, ty: Type) -> Option<(Capability, spirv::Op)> {
    use Capability::*;
    use spirv::Op;
    Some(match op {
        GroupOp::Elect => (GroupNonUniform, Op::GroupNonUniformElect),
        GroupOp::All => (GroupNonUniformVote, Op::GroupNonUniformAll),
        GroupOp::Any => (GroupNonUniformVote, Op::GroupNonUniformAny),
        // The id is dynamically uniform, which version 1.5 accepts.
        GroupOp::Broadcast => (GroupNonUniformBallot, Op::GroupNonUniformBroadcast),
        GroupOp::BroadcastFirst => (GroupNonUniformBallot, Op::GroupNonUniformBroadcastFirst),
        GroupOp::Shuffle => (GroupNonUniformShuffle, Op::GroupNonUniformShuffle),
        GroupOp::ShuffleXor => (GroupNonUniformShuffle, Op::GroupNonUniformShuffleXor),
        GroupOp::ShuffleUp => (GroupNonUniformShuffleRelative, Op::GroupNonUniformShuffleUp),
        GroupOp::ShuffleDown => (
            GroupNonUniformShuffleRelative,
            Op::GroupNonUniformShuffleDown,
        ),
        GroupOp::Rotate(_) => (GroupNonUniformRotateKHR, Op::GroupNonUniformRotateKHR),
        GroupOp::ClusteredReduce(op, _) => (GroupNonUniformClustered, map_arithmetic(op, ty)?),
        GroupOp::Reduce(op) | GroupOp::InclusiveScan(op) | GroupOp::ExclusiveScan(op) => {
            (GroupNonUniformArithmetic, map_arithmetic(op, ty)?)
        }
        GroupOp::AllEqual | GroupOp::Ballot => return None,
    })
}

/// Whether the device has what a capability names.
fn has(device: SubgroupOperations, capability: Capability) -> bool {
    use Capability::*;
    match capability {
        GroupNonUniform => true,
        GroupNonUniformVote => device.vote,
        GroupNonUniformBallot => device.ballot,
        GroupNonUniformShuffle => device.shuffle,
        GroupNonUniformShuffleRelative => device.shuffle_relative,
        GroupNonUniformRotateKHR => device.rotate,
        GroupNonUniformArithmetic => device.arithmetic,
        GroupNonUniformClustered => device.clustered,
        _ => false,
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
    use spirv::Op;
    Some(match op {
        Binary::Add => Op::GroupNonUniformIAdd,
        Binary::Mul => Op::GroupNonUniformIMul,
        Binary::UMin => Op::GroupNonUniformUMin,
        Binary::UMax => Op::GroupNonUniformUMax,
        Binary::SMin => Op::GroupNonUniformSMin,
        Binary::SMax => Op::GroupNonUniformSMax,
        Binary::FAdd => Op::GroupNonUniformFAdd,
        Binary::FMul => Op::GroupNonUniformFMul,
        Binary::FMin => Op::GroupNonUniformFMin,
        Binary::FMax => Op::GroupNonUniformFMax,
        Binary::And if logical => Op::GroupNonUniformLogicalAnd,
        Binary::Or if logical => Op::GroupNonUniformLogicalOr,
        Binary::Xor if logical => Op::GroupNonUniformLogicalXor,
        Binary::And => Op::GroupNonUniformBitwiseAnd,
        Binary::Or => Op::GroupNonUniformBitwiseOr,
        Binary::Xor => Op::GroupNonUniformBitwiseXor,
        _ => return None,
    })
}
