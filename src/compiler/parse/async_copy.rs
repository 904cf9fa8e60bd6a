//! `async_work_group_copy`: the work-items of the group share the copying; waiting is a barrier.

use super::decode::Instruction;
use super::function_parser::FunctionParser;
use super::slot::align_at;
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Access, AddressSpace, Binary, Compare, Edge, Op as IrOp, Scope, Semantics, Type, WorkItem,
};

impl<'a> FunctionParser<'_, 'a> {
    /// `OpGroupAsyncCopy`: scope, destination, source, number of elements, stride, event.
    ///
    /// ```text
    /// for (i = linear local id; i < number; i += local size)
    ///     destination[i] = source[i * stride]      (the stride is that of the global side)
    /// ```
    pub(super) fn async_copy(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        if self.scope(inst, 0)? != Scope::Workgroup {
            return Err(inst.invalid("the scope is not the work-group"));
        }
        let (to, pointee) = self.pointer(inst, 1)?;
        let (from, from_pointee) = self.pointer(inst, 2)?;
        // "Destination must be a pointer to a scalar or vector": clang 22 leaves arrays of those where the
        // address of a local array was cast to a generic one elsewhere.
        let pointee = self.source.types.innermost(pointee)?;
        if pointee != self.source.types.innermost(from_pointee)? {
            return Err(inst.invalid("the pointers are to different types"));
        }
        let count = self.integer(inst, 3)?;
        let stride = self.integer(inst, 4)?;
        let layout = self.source.types.layout(pointee)?;
        let slots = self.slots(pointee)?;
        let to_local = self.ty(to) == Type::Ptr(AddressSpace::Local);
        let access = Access {
            align_bytes: align_at(layout.align_bytes, layout.size_bytes),
            volatile: false,
            read_only: false,
        };

        let header = self.new_block();
        let body = self.new_block();
        let exit = self.new_block();
        let index = self.function.add_param(header, Type::I64);

        let mut b = self.build();
        let count = b.resize_int(count, Type::I64, false);
        let stride = b.resize_int(stride, Type::I64, false);
        let first = b.op1(IrOp::WorkItem(WorkItem::LocalLinearId), Type::I64);
        let mut group_size = b.op1(IrOp::WorkItem(WorkItem::LocalSize(0)), Type::I64);
        for dimension in 1..3 {
            let size = b.op1(IrOp::WorkItem(WorkItem::LocalSize(dimension)), Type::I64);
            group_size = b.binary(Binary::Mul, group_size, size);
        }
        b.jump(Edge::new(header, [first]));
        b.switch_to(header);
        let more = b.compare(Compare::ULess, index, count);
        b.branch(more, body, exit);

        b.switch_to(body);
        let packed = b.binary_const(Binary::Mul, index, layout.size_bytes);
        let strided = b.binary(Binary::Mul, packed, stride);
        let (to_offset, from_offset) = if to_local {
            (packed, strided)
        } else {
            (strided, packed)
        };
        let to = b.ptr_add(to, to_offset);
        let from = b.ptr_add(from, from_offset);
        self.block = body;
        let values = self.load_slots(from, &slots, access)?;
        self.store_slots(to, &slots, &values, access)?;
        let mut b = self.build();
        let next = b.binary(Binary::Add, index, group_size);
        b.jump(Edge::new(header, [next]));

        self.block = exit;
        let event = self.build().i64(0);
        self.define(inst, &[event])
    }

    /// `OpGroupWaitEvents`: scope, number of events, their list. Whatever was copied is there after a
    /// barrier of the group.
    pub(super) fn wait_events(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let scope = self.scope(inst, 0)?;
        let semantics = Semantics::ACQUIRE_RELEASE
            | Semantics::WORKGROUP_MEMORY
            | Semantics::CROSS_WORKGROUP_MEMORY;
        self.build().op0(IrOp::ControlBarrier {
            execution: scope,
            memory: scope,
            semantics: Semantics(semantics),
        });
        Ok(())
    }
}
