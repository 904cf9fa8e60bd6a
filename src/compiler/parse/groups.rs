//! Collectives of work-groups and sub-groups.

use super::arithmetic::Class;
use super::decode::Instruction;
use super::function_parser::FunctionParser;
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Binary, Compare, Group, GroupOp, Op as IrOp, Scope, Type, Value, Values,
};
use rspirv::spirv::{GroupOperation, Op};
use smallvec::smallvec;

/// How a collective arithmetic operation is spelt, and what it does to two values.
fn map_arithmetic(op: Op) -> Option<(Class, Binary)> {
    Some(match op {
        Op::GroupIAdd | Op::GroupNonUniformIAdd => (Class::Int, Binary::Add),
        Op::GroupFAdd | Op::GroupNonUniformFAdd => (Class::Float, Binary::FAdd),
        Op::GroupFMin | Op::GroupNonUniformFMin => (Class::Float, Binary::FMin),
        Op::GroupUMin | Op::GroupNonUniformUMin => (Class::Int, Binary::UMin),
        Op::GroupSMin | Op::GroupNonUniformSMin => (Class::Int, Binary::SMin),
        Op::GroupFMax | Op::GroupNonUniformFMax => (Class::Float, Binary::FMax),
        Op::GroupUMax | Op::GroupNonUniformUMax => (Class::Int, Binary::UMax),
        Op::GroupSMax | Op::GroupNonUniformSMax => (Class::Int, Binary::SMax),
        Op::GroupIMulKHR | Op::GroupNonUniformIMul => (Class::Int, Binary::Mul),
        Op::GroupFMulKHR | Op::GroupNonUniformFMul => (Class::Float, Binary::FMul),
        Op::GroupBitwiseAndKHR | Op::GroupNonUniformBitwiseAnd => (Class::Int, Binary::And),
        Op::GroupBitwiseOrKHR | Op::GroupNonUniformBitwiseOr => (Class::Int, Binary::Or),
        Op::GroupBitwiseXorKHR | Op::GroupNonUniformBitwiseXor => (Class::Int, Binary::Xor),
        Op::GroupLogicalAndKHR | Op::GroupNonUniformLogicalAnd => (Class::Bool, Binary::And),
        Op::GroupLogicalOrKHR | Op::GroupNonUniformLogicalOr => (Class::Bool, Binary::Or),
        Op::GroupLogicalXorKHR | Op::GroupNonUniformLogicalXor => (Class::Bool, Binary::Xor),
        _ => return None,
    })
}

impl<'a> FunctionParser<'_, 'a> {
    /// Translates collectives; false if the instruction is another.
    pub(super) fn group(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        match inst.op {
            Op::GroupAsyncCopy => self.async_copy(inst)?,
            Op::GroupWaitEvents => self.wait_events(inst)?,
            Op::GroupAll | Op::GroupNonUniformAll => self.vote(inst, GroupOp::All)?,
            Op::GroupAny | Op::GroupNonUniformAny => self.vote(inst, GroupOp::Any)?,
            Op::GroupBroadcast | Op::GroupNonUniformBroadcast => self.broadcast(inst)?,
            Op::GroupNonUniformElect => {
                let group = self.group_of(inst, GroupOp::Elect)?;
                let op = IrOp::Group(group, Values::new());
                let result = self.build().op1(op, Type::Bool);
                self.define(inst, &[result])?;
            }
            Op::GroupNonUniformAllEqual => self.all_equal(inst)?,
            Op::GroupNonUniformBroadcastFirst => {
                self.each_component(inst, GroupOp::BroadcastFirst, None)?;
            }
            Op::GroupNonUniformShuffle => self.exchange(inst, GroupOp::Shuffle)?,
            Op::GroupNonUniformShuffleXor => self.exchange(inst, GroupOp::ShuffleXor)?,
            Op::GroupNonUniformShuffleUp => self.exchange(inst, GroupOp::ShuffleUp)?,
            Op::GroupNonUniformShuffleDown => self.exchange(inst, GroupOp::ShuffleDown)?,
            Op::GroupNonUniformRotateKHR => {
                let cluster = match inst.operands.len() {
                    0..=3 => 0,
                    _ => self.cluster_size(inst, 3)?,
                };
                self.exchange(inst, GroupOp::Rotate(cluster))?;
            }
            _ => match map_arithmetic(inst.op) {
                Some((class, binary)) => self.arithmetic_group(inst, class, binary)?,
                None => return self.ballot(inst),
            },
        }
        Ok(true)
    }

    /// The operation over the scope in operand 0.
    fn group_of(&self, inst: &Instruction<'a>, op: GroupOp) -> Result<Group, CompileError> {
        let scope = self.scope(inst, 0)?;
        let fits = match op {
            GroupOp::All
            | GroupOp::Any
            | GroupOp::Broadcast
            | GroupOp::Reduce(_)
            | GroupOp::InclusiveScan(_)
            | GroupOp::ExclusiveScan(_) => matches!(scope, Scope::Workgroup | Scope::Subgroup),
            _ => scope == Scope::Subgroup,
        };
        if fits {
            Ok(Group { op, scope })
        } else {
            Err(inst.invalid(format!("the scope {scope:?} is not one of this operation")))
        }
    }

    fn vote(&mut self, inst: &Instruction<'a>, op: GroupOp) -> Result<(), CompileError> {
        let group = self.group_of(inst, op)?;
        let predicate = self.class_operand(inst, 1, Class::Bool)?;
        let values = predicate.iter().copied().collect();
        let result = self.build().op1(IrOp::Group(group, values), Type::Bool);
        self.define(inst, &[result])
    }

    fn broadcast(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let group = self.group_of(inst, GroupOp::Broadcast)?;
        let value = self.operand(inst, 1)?;
        let local_id = self.class_operand(inst, 2, Class::Int)?;
        // "LocalId must be an integer datatype. It can be a scalar, a vector with 2 components, or a vector with 3
        // components": a place in a work-group. A sub-group has but one dimension.
        let most = match group.scope {
            Scope::Subgroup => 1,
            _ => 3,
        };
        if local_id.len() > most {
            return Err(inst.invalid(format!(
                "the place in the group has {} components, not up to {most}",
                local_id.len()
            )));
        }
        let types: Vec<Type> = value.iter().map(|&value| self.ty(value)).collect();
        let values = value.iter().chain(&*local_id).copied().collect();
        let results = self.build().op(IrOp::Group(group, values), types);
        self.define(inst, &results)
    }

    /// A vector is the same everywhere if each of its components is.
    fn all_equal(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let group = self.group_of(inst, GroupOp::AllEqual)?;
        let values = self.operand(inst, 1)?;
        let mut all: Option<Value> = None;
        for &value in values.iter() {
            let mut b = self.build();
            let same = b.op1(IrOp::Group(group, smallvec![value]), Type::Bool);
            all = Some(match all {
                None => same,
                Some(all) => b.binary(Binary::And, all, same),
            });
        }
        let all = all.ok_or_else(|| inst.invalid("there is no value"))?;
        self.define(inst, &[all])
    }

    fn exchange(&mut self, inst: &Instruction<'a>, op: GroupOp) -> Result<(), CompileError> {
        let index = self.integer(inst, 2)?;
        let index = self.build().resize_int(index, Type::I32, false);
        self.each_component(inst, op, Some(index))
    }

    /// Applies a group operation to each component of operand 1.
    fn each_component(
        &mut self,
        inst: &Instruction<'a>,
        op: GroupOp,
        with: Option<Value>,
    ) -> Result<(), CompileError> {
        let group = self.group_of(inst, op)?;
        let values = self.operand(inst, 1)?;
        let mut results = Values::new();
        for &value in values.iter() {
            let ty = self.ty(value);
            let operands = [Some(value), with].into_iter().flatten().collect();
            results.push(self.build().op1(IrOp::Group(group, operands), ty));
        }
        self.define(inst, &results)
    }

    fn arithmetic_group(
        &mut self,
        inst: &Instruction<'a>,
        class: Class,
        binary: Binary,
    ) -> Result<(), CompileError> {
        let op = match GroupOperation::from_u32(inst.word(1)?) {
            Some(GroupOperation::Reduce) => GroupOp::Reduce(binary),
            Some(GroupOperation::InclusiveScan) => GroupOp::InclusiveScan(binary),
            Some(GroupOperation::ExclusiveScan) => GroupOp::ExclusiveScan(binary),
            Some(GroupOperation::ClusteredReduce) => {
                GroupOp::ClusteredReduce(binary, self.cluster_size(inst, 3)?)
            }
            _ => return Err(inst.unsupported("the group operation is not supported")),
        };
        let group = self.group_of(inst, op)?;
        let values = self.class_operand(inst, 2, class)?;
        let mut results = Values::new();
        for &value in values.iter() {
            let ty = self.ty(value);
            results.push(self.build().op1(IrOp::Group(group, smallvec![value]), ty));
        }
        self.define(inst, &results)
    }

    /// "ClusterSize … must be at least 1, and must be a power of 2."
    fn cluster_size(&self, inst: &Instruction<'a>, index: usize) -> Result<u32, CompileError> {
        let size = self.constant_integer(inst, index)?;
        match u32::try_from(size) {
            Ok(size) if size.is_power_of_two() => Ok(size),
            _ => Err(inst.invalid(format!("the cluster size {size} is not a power of 2"))),
        }
    }

    /// `OpGroupNonUniformBallot` and the functions on its result; false if the instruction is another.
    fn ballot(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        use super::group_masks as masks;
        if inst.op == Op::GroupNonUniformBallot {
            let group = self.group_of(inst, GroupOp::Ballot)?;
            let predicate = self.class_operand(inst, 1, Class::Bool)?;
            let values = predicate.iter().copied().collect();
            let words = self.build().op(IrOp::Group(group, values), [Type::I32; 4]);
            self.define(inst, &words)?;
            return Ok(true);
        }
        let operand = match inst.op {
            Op::GroupNonUniformInverseBallot
            | Op::GroupNonUniformBallotBitExtract
            | Op::GroupNonUniformBallotFindLSB
            | Op::GroupNonUniformBallotFindMSB => 1,
            Op::GroupNonUniformBallotBitCount => 2,
            _ => return Ok(false),
        };
        if self.scope(inst, 0)? != Scope::Subgroup {
            return Err(inst.invalid("the scope is not the sub-group"));
        }
        let value = self.class_operand(inst, operand, Class::Int)?;
        let words: masks::Mask = match *value {
            [x, y, z, w] if self.ty(x) == Type::I32 => [x, y, z, w],
            _ => return Err(inst.invalid("the ballot is not four 32-bit integers")),
        };
        let index = match inst.op {
            Op::GroupNonUniformBallotBitExtract => Some(self.integer(inst, 2)?),
            _ => None,
        };
        let b = &mut self.build();
        let result = match inst.op {
            Op::GroupNonUniformInverseBallot => {
                let lane = masks::lane(b);
                masks::bit(b, words, lane)
            }
            Op::GroupNonUniformBallotBitExtract => match index {
                Some(index) => {
                    let index = b.resize_int(index, Type::I32, false);
                    masks::bit(b, words, index)
                }
                None => return Ok(false),
            },
            Op::GroupNonUniformBallotFindLSB => masks::find_lsb(b, words),
            Op::GroupNonUniformBallotFindMSB => masks::find_msb(b, words),
            _ => match GroupOperation::from_u32(inst.word(1)?) {
                Some(GroupOperation::Reduce) => masks::count(b, words),
                Some(GroupOperation::InclusiveScan) => {
                    let up_to = masks::relative(b, Compare::ULessEqual);
                    let below = masks::and(b, words, up_to);
                    masks::count(b, below)
                }
                Some(GroupOperation::ExclusiveScan) => {
                    let before = masks::relative(b, Compare::ULess);
                    let below = masks::and(b, words, before);
                    masks::count(b, below)
                }
                _ => return Err(inst.unsupported("the group operation is not supported")),
            },
        };
        self.define(inst, &[result])?;
        Ok(true)
    }
}
