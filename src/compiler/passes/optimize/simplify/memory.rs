//! Loads from constant variables whose contents the module gives.

use super::Sweep;
use crate::compiler::evaluate;
use crate::compiler::ir::{AddressSpace, Convert, Op, Place, Type, Value, Values};
use crate::compiler::passes::helpers::scalar_bits;

/// The values of a load at a constant offset of an initialized constant variable.
pub fn constant_load(sweep: &mut Sweep<'_>, op: &Op, types: &[Type]) -> Option<Values> {
    let Op::Load(Place::Pointer(pointer), access) = op else {
        return None;
    };
    if access.volatile || types.iter().any(|ty| ty.is_pointer() || *ty == Type::Bool) {
        return None;
    }
    let (global, start) = constant_place(sweep, *pointer)?;
    let global = sweep.globals.get(global)?;
    if global.space != AddressSpace::Constant || global.import.is_some() {
        return None;
    }
    let (offsets, size) = scalar_bits::offsets_of(types.iter().copied());
    let start = u64::try_from(start).ok()?;
    let end = start + u64::from(size);
    let has_pointer = global
        .relocations
        .iter()
        .any(|relocation| relocation.offset_bytes < end && start < relocation.offset_bytes + 8);
    if end > global.size_bytes || has_pointer {
        return None;
    }
    let mut bits = Vec::with_capacity(types.len());
    for (offset, ty) in offsets.into_iter().zip(types) {
        let mut bytes = [0u8; 8];
        if let Some(initial) = &global.initializer {
            let from = usize::try_from(start).ok()? + offset as usize;
            let size = ty.size_bytes() as usize;
            bytes[..size].copy_from_slice(initial.get(from..from + size)?);
        }
        bits.push((*ty, u64::from_le_bytes(bytes)));
    }
    Some(
        bits.into_iter()
            .map(|(ty, bits)| sweep.constant(ty, bits))
            .collect(),
    )
}

/// The variable and byte offset that a pointer is made of, if it is constant.
fn constant_place(sweep: &Sweep<'_>, mut pointer: Value) -> Option<(usize, i64)> {
    let mut offset = 0i64;
    loop {
        match *sweep.function.op_of(pointer)? {
            Op::GlobalAddress(global) => return Some((global.index(), offset)),
            Op::Convert(Convert::AddressSpaceCast, from) => pointer = from,
            Op::PtrAdd(base, by) => {
                let bits = sweep.function.constant(by)?;
                offset = offset.checked_add(evaluate::signed(sweep.ty(by), bits))?;
                pointer = base;
            }
            _ => return None,
        }
    }
}
