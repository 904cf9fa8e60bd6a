//! Whether a kernel uses addresses that it did not get as buffer arguments.
//!
//! The runtime knows which allocations the arguments name. An address read from memory, taken out of an
//! array or computed from plain integers may name any other. A value counts as derived from an argument
//! when every way it can come about is address arithmetic on one; the largest such set of values is found
//! by taking values out until nothing changes.

use super::ops_of;
use crate::compiler::ir::{
    Binary, Convert, FuncId, Function, Kernel, Module, Op, Place, Value, ValueDef,
};
use crate::compiler::program::{ArgumentKind, Implicit, Placement};

/// Whether any of the kernel's functions reads through something else than a buffer argument or the
/// data segment, or writes through something else than a buffer argument.
pub fn any(module: &Module, kernel: &Kernel, functions: &[FuncId]) -> bool {
    let block = &kernel.argument_block;
    let mut written: Vec<u32> = Vec::new();
    for argument in &kernel.arguments {
        if let ArgumentKind::Buffer { offset_bytes, .. } = argument.kind {
            written.push(offset_bytes);
        }
    }
    for &(implicit, offset_bytes) in &block.implicit {
        if implicit == Implicit::PrintfBuffer {
            written.push(offset_bytes);
        }
    }
    let mut read = written.clone();
    for &(implicit, offset_bytes) in &block.implicit {
        if implicit == Implicit::DataSegment {
            read.push(offset_bytes);
        }
    }
    let placement = block.placement;
    functions.iter().any(|&id| {
        let function = module.function(id);
        let read = derived(function, placement, &read);
        let written = derived(function, placement, &written);
        ops_of(function).any(|op| {
            let (place, known) = match op {
                Op::Load(place, access) if access.read_only => {
                    if let Place::Address(address) | Place::AddressPair { lo: address, .. } = *place
                        && block_offset(function, placement, address).is_some()
                    {
                        return false;
                    }
                    (place, &read)
                }
                Op::Load(place, _) => (place, &read),
                Op::Store(place, ..) | Op::Atomic { place, .. } => (place, &written),
                _ => return false,
            };
            match *place {
                Place::Address(address) | Place::AddressPair { lo: address, .. } => {
                    !known[address.index()]
                }
                Place::Pointer(_) => true,
                Place::Element { .. } | Place::Argument { .. } => false,
            }
        })
    })
}

/// By value: whether it is derived from a word of the argument block at one of these offsets.
fn derived(function: &Function, placement: Placement, offsets: &[u32]) -> Vec<bool> {
    let mut known = vec![true; function.value_count()];
    for &param in function.params() {
        known[param.index()] = false;
    }
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &block in &function.layout {
            let data = function.block(block);
            for &inst in &data.insts {
                for &result in &function.inst(inst).results {
                    if known[result.index()]
                        && !stays_derived(function, placement, offsets, &known, result)
                    {
                        known[result.index()] = false;
                        changed = true;
                    }
                }
            }
            for edge in data.terminator.edges() {
                let params = &function.block(edge.block).params;
                for (&param, &arg) in params.iter().zip(&edge.args) {
                    if known[param.index()] && !known[arg.index()] {
                        known[param.index()] = false;
                        changed = true;
                    }
                }
            }
        }
    }
    known
}

fn stays_derived(
    function: &Function,
    placement: Placement,
    offsets: &[u32],
    known: &[bool],
    result: Value,
) -> bool {
    let ValueDef::Result { inst, index } = function.value(result).def else {
        return false;
    };
    let known = |value: Value| known[value.index()];
    let wanted = |offset: u32| offsets.iter().any(|o| (*o..*o + 8).contains(&offset));
    match function.inst(inst).op {
        Op::Load(Place::Argument { offset_bytes }, _) => {
            placement == Placement::PushConstants && wanted(offset_bytes + 4 * index)
        }
        Op::Load(Place::Address(address) | Place::AddressPair { lo: address, .. }, access) => {
            let size_bytes = function.ty(result).size_bytes();
            let offset = block_offset(function, placement, address);
            access.read_only
                && offset.is_some_and(|offset| wanted(offset as u32 + index * size_bytes))
        }
        // One operand is the base, the other one an offset.
        Op::Binary(Binary::Add | Binary::Or, a, b) => known(a) || known(b),
        Op::Binary(Binary::Sub | Binary::Shl | Binary::And, a, _) => known(a),
        Op::Select(_, a, b) => known(a) && known(b),
        Op::Convert(Convert::ZeroExtend | Convert::Truncate | Convert::Bitcast, a) => known(a),
        _ => false,
    }
}

/// The offset in the argument block when an address is the block's own plus a constant.
fn block_offset(function: &Function, placement: Placement, address: Value) -> Option<u64> {
    if placement != Placement::DeviceAddress {
        return None;
    }
    match *function.op_of(address)? {
        Op::Load(Place::Argument { .. }, _) => Some(0),
        Op::Binary(Binary::Add, a, b) => match (function.constant(a), function.constant(b)) {
            (None, Some(offset)) => Some(offset + block_offset(function, placement, a)?),
            (Some(offset), None) => Some(offset + block_offset(function, placement, b)?),
            _ => None,
        },
        // The two halves put together.
        Op::Binary(Binary::Or, a, b) => {
            block_offset(function, placement, a)?;
            block_offset(function, placement, b)
        }
        Op::Binary(Binary::Shl, a, _) | Op::Convert(Convert::ZeroExtend, a) => {
            block_offset(function, placement, a)
        }
        _ => None,
    }
}
