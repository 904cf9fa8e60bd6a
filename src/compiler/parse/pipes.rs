//! Pipes: see [`crate::compiler::pipe`] for what they are in memory.

use super::decode::Instruction;
use super::function_parser::FunctionParser;
use super::types::Kind;
use crate::compiler::CompileError;
use crate::compiler::ir::{Compare, Op as IrOp, Pipe, PipeOp, Scope, Type, Value, Values};
use crate::compiler::pipe::HEADER_BYTES;
use rspirv::spirv::Op;

/// What an instruction does with which side of a pipe.
struct Form {
    op: PipeOp,
    writes: bool,
    /// Whether the first operand is the execution scope.
    of_group: bool,
}

fn map_form(op: Op) -> Option<Form> {
    let (op, writes, of_group) = match op {
        Op::ReadPipe => (PipeOp::Transfer, false, false),
        Op::WritePipe => (PipeOp::Transfer, true, false),
        Op::ReservedReadPipe => (PipeOp::TransferReserved, false, false),
        Op::ReservedWritePipe => (PipeOp::TransferReserved, true, false),
        Op::ReserveReadPipePackets => (PipeOp::Reserve, false, false),
        Op::ReserveWritePipePackets => (PipeOp::Reserve, true, false),
        Op::GroupReserveReadPipePackets => (PipeOp::Reserve, false, true),
        Op::GroupReserveWritePipePackets => (PipeOp::Reserve, true, true),
        Op::CommitReadPipe => (PipeOp::Commit, false, false),
        Op::CommitWritePipe => (PipeOp::Commit, true, false),
        Op::GroupCommitReadPipe => (PipeOp::Commit, false, true),
        Op::GroupCommitWritePipe => (PipeOp::Commit, true, true),
        Op::GetNumPipePackets => (PipeOp::NumPackets, false, false),
        Op::GetMaxPipePackets => (PipeOp::MaxPackets, false, false),
        _ => return None,
    };
    Some(Form {
        op,
        writes,
        of_group,
    })
}

impl<'a> FunctionParser<'_, 'a> {
    /// Translates instructions on pipes; false if the instruction is another.
    pub(super) fn pipe(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        if inst.op == Op::IsValidReserveId {
            let id = self.reservation(inst, 0)?;
            let mut b = self.build();
            let none = b.i64(0);
            let valid = b.compare(Compare::NotEqual, id, none);
            self.define(inst, &[valid])?;
            return Ok(true);
        }
        let Some(form) = map_form(inst.op) else {
            return Ok(false);
        };
        let (scope, first) = if form.of_group {
            (self.scope(inst, 0)?, 1)
        } else {
            (Scope::Invocation, 0)
        };
        if form.of_group && !matches!(scope, Scope::Workgroup | Scope::Subgroup) {
            return Err(inst.invalid("the scope is neither the work-group nor the sub-group"));
        }
        let mut values = Values::new();
        values.push(self.pipe_operand(inst, first)?);
        match form.op {
            PipeOp::Transfer => values.push(self.pointer(inst, first + 1)?.0),
            PipeOp::TransferReserved => {
                values.push(self.reservation(inst, first + 1)?);
                values.push(self.integer32(inst, first + 2)?);
                values.push(self.pointer(inst, first + 3)?.0);
            }
            PipeOp::Reserve => values.push(self.integer32(inst, first + 1)?),
            PipeOp::Commit => values.push(self.reservation(inst, first + 1)?),
            PipeOp::NumPackets | PipeOp::MaxPackets => {}
        }
        let after = first + values.len();
        let (packet_bytes, align_bytes) = self.packet(inst, after)?;
        let result = match form.op {
            PipeOp::Commit => None,
            PipeOp::Reserve => Some(Type::I64),
            _ => Some(Type::I32),
        };
        let pipe = Pipe {
            op: form.op,
            writes: form.writes,
            scope,
            packet_bytes,
            align_bytes,
        };
        let results = self.build().op(IrOp::Pipe(pipe, values), result);
        if result.is_some() {
            self.define(inst, &results)?;
        }
        Ok(true)
    }

    /// "Packet Size … Packet Alignment": the size is a multiple of the alignment.
    fn packet(&self, inst: &Instruction<'a>, index: usize) -> Result<(u32, u32), CompileError> {
        let size = self.constant_integer(inst, index)?;
        let align = self.constant_integer(inst, index + 1)?;
        match (u32::try_from(size), u32::try_from(align)) {
            (Ok(size @ 1..), Ok(align)) if align.is_power_of_two() && size % align == 0 => {
                Ok((size, align.min(HEADER_BYTES)))
            }
            _ => Err(inst.invalid(format!(
                "a packet of {size} bytes with an alignment of {align}"
            ))),
        }
    }

    fn pipe_operand(
        &mut self,
        inst: &Instruction<'a>,
        index: usize,
    ) -> Result<Value, CompileError> {
        let (ty, values) = self.values(inst.id(index)?)?;
        match (&self.source.types.get(ty)?.kind, &*values) {
            (Kind::Pipe(_), &[value]) => Ok(value),
            _ => Err(inst.invalid(format!("operand {} is not a pipe", index + 1))),
        }
    }

    fn reservation(&mut self, inst: &Instruction<'a>, index: usize) -> Result<Value, CompileError> {
        let (ty, values) = self.values(inst.id(index)?)?;
        match (&self.source.types.get(ty)?.kind, &*values) {
            (Kind::ReserveId, &[value]) => Ok(value),
            _ => Err(inst.invalid(format!("operand {} is not a reservation", index + 1))),
        }
    }

    fn integer32(&mut self, inst: &Instruction<'a>, index: usize) -> Result<Value, CompileError> {
        let value = self.integer(inst, index)?;
        Ok(self.build().resize_int(value, Type::I32, false))
    }
}
