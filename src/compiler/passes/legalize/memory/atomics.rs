//! Atomics on what the device has them for: 32-bit integers, and 64-bit ones where it says so.

use super::Memory;
use crate::compiler::CompileError;
use crate::compiler::ir::{
    AtomicOp, Binary, Builder, Compare, InstData, Op, Place, Rewrite, Type, Value,
};
use crate::compiler::passes::helpers::atomic::Atomic;
use smallvec::smallvec;

/// Rewrites one atomic, or says why it can't be done.
pub fn legalize(
    memory: &Memory<'_>,
    b: &mut Builder<'_>,
    data: &InstData,
) -> Result<Rewrite, CompileError> {
    let Op::Atomic {
        op,
        place,
        values,
        scope,
        semantics,
    } = &data.op
    else {
        return Ok(Rewrite::Keep);
    };
    let (op, place) = (*op, *place);
    let atomic = Atomic {
        op,
        values: values.clone(),
        scope: *scope,
        semantics: *semantics,
    };
    let result = data.results.first().map(|&result| b.ty(result));
    let ty = atomic.ty(b, result);
    let int = ty.as_int().ok_or_else(|| {
        CompileError::unsupported(format!("atomic {op:?} on {ty} is not supported"))
    })?;
    if int == Type::I64 {
        memory.check_atomics64(op, place, ty)?;
    }
    if let (Type::I8 | Type::I16, Place::Address(address)) = (int, place) {
        let (place, bit) = word_around(b, address);
        let value = atomic.within(b, place, Type::I32, Some(bit), result);
        return Ok(Rewrite::Replace(value.into_iter().collect()));
    }
    if let Place::Element { array, .. } = place {
        let element = memory.arrays.get(array.index()).map(|array| array.element);
        if element != Some(int) {
            return Err(CompileError::invalid(format!(
                "atomic {op:?} on {ty} in an array whose elements are not integers of that width"
            )));
        }
    }
    let value = match op {
        AtomicOp::FlagTestAndSet => {
            let one = b.i32(1);
            let values = smallvec![one];
            let old = atomic.emit(b, AtomicOp::Exchange, place, values, Some(Type::I32));
            let zero = b.i32(0);
            old.map(|old| b.compare(Compare::NotEqual, old, zero))
        }
        AtomicOp::FlagClear => {
            let zero = b.i32(0);
            atomic.emit(b, AtomicOp::Store, place, smallvec![zero], None)
        }
        AtomicOp::FAdd if memory.adds_floats(ty, place) => return Ok(Rewrite::Keep),
        AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax => {
            atomic.within(b, place, int, None, result)
        }
        _ if ty != int => {
            let bits = values.iter().map(|&v| b.bitcast(v, int)).collect();
            let old = atomic.emit(b, op, place, bits, result.map(|_| int));
            old.map(|old| b.bitcast(old, ty))
        }
        _ => return Ok(Rewrite::Keep),
    };
    Ok(Rewrite::Replace(value.into_iter().collect()))
}

/// The aligned word around the one or two bytes at an address, and their position in it in bits.
fn word_around(b: &mut Builder<'_>, address: Value) -> (Place, Value) {
    let word = b.binary_const(Binary::And, address, !3);
    let byte = b.resize_int(address, Type::I32, false);
    let byte = b.binary_const(Binary::And, byte, 3);
    let three = b.i32(3);
    let bit = b.binary(Binary::Shl, byte, three);
    (Place::Address(word), bit)
}

impl Memory<'_> {
    /// Whether the device adds to floats of this type there.
    fn adds_floats(&self, ty: Type, place: Place) -> bool {
        let device = self.capabilities.float_atomics;
        match (ty, place) {
            // Elements of arrays with atomics are integers.
            (_, Place::Element { .. }) => false,
            (Type::F32, _) => device.buffer_add32,
            (Type::F64, _) => device.buffer_add64,
            _ => false,
        }
    }

    fn check_atomics64(&self, op: AtomicOp, place: Place, ty: Type) -> Result<(), CompileError> {
        let device = self.capabilities;
        let (has, feature) = match place {
            Place::Element { .. } => (device.shared_int64_atomics, "shaderSharedInt64Atomics"),
            _ => (device.buffer_int64_atomics, "shaderBufferInt64Atomics"),
        };
        if has && device.int64 || op == AtomicOp::FAdd && self.adds_floats(ty, place) {
            return Ok(());
        }
        Err(CompileError::unsupported(format!(
            "atomic {op:?} on 64-bit integers needs {feature}, which the device lacks"
        )))
    }
}
