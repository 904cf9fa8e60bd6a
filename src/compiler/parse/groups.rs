//! Collectives of work-groups and sub-groups.

use super::arithmetic::Class;
use super::decode::Instruction;
use super::function::FunctionParser;
use crate::compiler::CompileError;
use crate::compiler::ir::{Binary, Group, GroupOp, Op as IrOp, Type, Values};
use rspirv::spirv::{GroupOperation, Op};
use smallvec::smallvec;

impl<'a> FunctionParser<'_, 'a> {
    /// Translates collectives; false if the instruction is another.
    pub(super) fn group(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        let (class, binary) = match inst.op {
            Op::GroupAsyncCopy => {
                self.async_copy(inst)?;
                return Ok(true);
            }
            Op::GroupWaitEvents => {
                self.wait_events(inst)?;
                return Ok(true);
            }
            Op::GroupAll | Op::GroupAny => {
                let op = match inst.op {
                    Op::GroupAll => GroupOp::All,
                    _ => GroupOp::Any,
                };
                let scope = self.scope(inst, 0)?;
                let predicate = self.class_operand(inst, 1, Class::Bool)?;
                let values = predicate.iter().copied().collect();
                let group = Group { op, scope };
                let result = self.build().op1(IrOp::Group(group, values), Type::Bool);
                self.define(inst, &[result])?;
                return Ok(true);
            }
            Op::GroupBroadcast => {
                let scope = self.scope(inst, 0)?;
                let value = self.operand(inst, 1)?;
                let local_id = self.class_operand(inst, 2, Class::Int)?;
                let types: Vec<Type> = value.iter().map(|&value| self.ty(value)).collect();
                let values = value.iter().chain(&*local_id).copied().collect();
                let group = Group {
                    op: GroupOp::Broadcast,
                    scope,
                };
                let results = self.build().op(IrOp::Group(group, values), types);
                self.define(inst, &results)?;
                return Ok(true);
            }
            Op::GroupIAdd => (Class::Int, Binary::Add),
            Op::GroupFAdd => (Class::Float, Binary::FAdd),
            Op::GroupFMin => (Class::Float, Binary::FMin),
            Op::GroupUMin => (Class::Int, Binary::UMin),
            Op::GroupSMin => (Class::Int, Binary::SMin),
            Op::GroupFMax => (Class::Float, Binary::FMax),
            Op::GroupUMax => (Class::Int, Binary::UMax),
            Op::GroupSMax => (Class::Int, Binary::SMax),
            Op::GroupIMulKHR => (Class::Int, Binary::Mul),
            Op::GroupFMulKHR => (Class::Float, Binary::FMul),
            Op::GroupBitwiseAndKHR => (Class::Int, Binary::And),
            Op::GroupBitwiseOrKHR => (Class::Int, Binary::Or),
            Op::GroupBitwiseXorKHR => (Class::Int, Binary::Xor),
            Op::GroupLogicalAndKHR => (Class::Bool, Binary::And),
            Op::GroupLogicalOrKHR => (Class::Bool, Binary::Or),
            Op::GroupLogicalXorKHR => (Class::Bool, Binary::Xor),
            _ => return Ok(false),
        };
        let scope = self.scope(inst, 0)?;
        let op = match GroupOperation::from_u32(inst.word(1)?) {
            Some(GroupOperation::Reduce) => GroupOp::Reduce(binary),
            Some(GroupOperation::InclusiveScan) => GroupOp::InclusiveScan(binary),
            Some(GroupOperation::ExclusiveScan) => GroupOp::ExclusiveScan(binary),
            _ => return Err(inst.error("the group operation is not supported")),
        };
        let values = self.class_operand(inst, 2, class)?;
        let mut results = Values::new();
        for &value in values.iter() {
            let ty = self.ty(value);
            let group = IrOp::Group(Group { op, scope }, smallvec![value]);
            results.push(self.build().op1(group, ty));
        }
        self.define(inst, &results)?;
        Ok(true)
    }
}
