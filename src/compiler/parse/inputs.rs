//! Built-in input variables: loads of them are work-item queries.

use super::decode::Instruction;
use super::function_parser::{FunctionParser, Local};
use super::input_pointer::InputPointer;
use crate::compiler::CompileError;
use crate::compiler::ir::{Binary, Compare, Op as IrOp, Type, Value, Values, WorkItem};
use rspirv::spirv::BuiltIn;

impl<'a> FunctionParser<'_, 'a> {
    /// The pointer moved by a constant number of bytes and a value.
    pub(super) fn move_input(
        &mut self,
        mut pointer: InputPointer,
        bytes: i64,
        dynamic: Option<Value>,
    ) -> Local {
        pointer.offset_bytes = pointer.offset_bytes.wrapping_add(bytes as u64);
        pointer.dynamic = match (pointer.dynamic, dynamic) {
            (Some(a), Some(b)) => Some(self.build().binary(Binary::Add, a, b)),
            (a, b) => a.or(b),
        };
        Local::Input(pointer)
    }

    /// `OpLoad` of a built-in input.
    pub(super) fn load_input(
        &mut self,
        inst: &Instruction<'a>,
        pointer: InputPointer,
    ) -> Result<(), CompileError> {
        let whole = self.slots(pointer.whole)?;
        let element = match whole.first() {
            Some(slot) if matches!(slot.ty, Type::I32 | Type::I64) => slot.ty,
            _ => return Err(inst.invalid("the built-in is not of integers of 32 or 64 bits")),
        };
        let mask = super::group_masks::built_in(&mut self.build(), pointer.built_in);
        let all: Values = match mask {
            Some(mask) if element == Type::I32 && whole.len() == mask.len() => Values::from(mask),
            _ => (0..whole.len() as u8)
                .map(|component| {
                    let query = map_built_in(pointer.built_in, component).ok_or_else(|| {
                        inst.unsupported(format!(
                            "the built-in {:?} is not supported",
                            pointer.built_in
                        ))
                    })?;
                    Ok(self.build().op1(IrOp::WorkItem(query), element))
                })
                .collect::<Result<_, CompileError>>()?,
        };
        let wanted = self.result_slots(inst)?.len();
        let size = u64::from(element.size_bytes());
        let outside = || inst.invalid("the load reaches outside the built-in");
        if !pointer.offset_bytes.is_multiple_of(size) {
            return Err(outside());
        }
        let first = usize::try_from(pointer.offset_bytes / size).map_err(|_| outside())?;
        let values: Values = match pointer.dynamic {
            None => {
                let rest = all.get(first..).and_then(|rest| rest.get(..wanted));
                rest.ok_or_else(outside)?.iter().copied().collect()
            }
            Some(dynamic) if wanted == 1 => {
                let mut b = self.build();
                let mut result = *all.last().ok_or_else(outside)?;
                for (index, &value) in all.iter().enumerate().rev().skip(1) {
                    let bytes = (index as u64).wrapping_sub(first as u64).wrapping_mul(size);
                    let bytes = b.constant(Type::I64, bytes);
                    let here = b.compare(Compare::Equal, dynamic, bytes);
                    result = b.select(here, value, result);
                }
                Values::from_iter([result])
            }
            Some(_) => return Err(outside()),
        };
        self.define(inst, &values)
    }
}

/// The query behind component `component` of a built-in (OpenCL SPIR-V environment, section 2.8).
fn map_built_in(built_in: BuiltIn, component: u8) -> Option<WorkItem> {
    let scalar = |query| (component == 0).then_some(query);
    let vector = |query: fn(u8) -> WorkItem| (component < 3).then(|| query(component));
    match built_in {
        BuiltIn::GlobalInvocationId => vector(WorkItem::GlobalId),
        BuiltIn::GlobalSize => vector(WorkItem::GlobalSize),
        BuiltIn::GlobalOffset => vector(WorkItem::GlobalOffset),
        BuiltIn::LocalInvocationId => vector(WorkItem::LocalId),
        BuiltIn::WorkgroupSize => vector(WorkItem::LocalSize),
        BuiltIn::EnqueuedWorkgroupSize => vector(WorkItem::EnqueuedLocalSize),
        BuiltIn::WorkgroupId => vector(WorkItem::GroupId),
        BuiltIn::NumWorkgroups => vector(WorkItem::NumGroups),
        BuiltIn::WorkDim => scalar(WorkItem::WorkDim),
        BuiltIn::GlobalLinearId => scalar(WorkItem::GlobalLinearId),
        BuiltIn::LocalInvocationIndex => scalar(WorkItem::LocalLinearId),
        BuiltIn::SubgroupSize => scalar(WorkItem::SubgroupSize),
        BuiltIn::SubgroupMaxSize => scalar(WorkItem::SubgroupMaxSize),
        BuiltIn::NumSubgroups => scalar(WorkItem::NumSubgroups),
        BuiltIn::NumEnqueuedSubgroups => scalar(WorkItem::NumEnqueuedSubgroups),
        BuiltIn::SubgroupId => scalar(WorkItem::SubgroupId),
        BuiltIn::SubgroupLocalInvocationId => scalar(WorkItem::SubgroupLocalId),
        _ => None,
    }
}
