//! Atomics on what the device has them for: 32-bit integers, and 64-bit ones where it says so.

use super::Memory;
use crate::compiler::CompileError;
use crate::compiler::ir::{
    AtomicOp, Binary, Builder, Compare, Edge, InstData, Op, Place, Rewrite, Scope, Semantics, Type,
    Value, Values,
};
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
    let atomic = Atomic {
        op: *op,
        place: *place,
        scope: *scope,
        semantics: *semantics,
    };
    let ty = match op {
        AtomicOp::FlagTestAndSet | AtomicOp::FlagClear => Type::I32,
        _ => match data.results.first().or(values.first()) {
            Some(&value) => b.ty(value),
            None => return Err(CompileError::new("an atomic without operands")),
        },
    };
    match ty {
        Type::I32 => {}
        Type::I64 => memory.check_atomics64(*op, *place)?,
        Type::F32 => {}
        other => {
            return Err(CompileError::new(format!(
                "atomic {op:?} on {other} is not supported"
            )));
        }
    }
    if let Place::Element { array, .. } = *place {
        let element = memory.arrays.get(array.index()).map(|array| array.element);
        if element != ty.as_int() {
            return Err(CompileError::new(format!(
                "atomic {op:?} on {ty} in an array whose elements are not integers of that width"
            )));
        }
    }
    let result = match (op, ty) {
        (AtomicOp::FlagTestAndSet, _) => {
            let one = b.i32(1);
            let old = atomic.emit(b, AtomicOp::Exchange, smallvec![one], Some(Type::I32));
            let zero = b.i32(0);
            old.map(|old| b.compare(Compare::NotEqual, old, zero))
        }
        (AtomicOp::FlagClear, _) => {
            let zero = b.i32(0);
            atomic.emit(b, AtomicOp::Store, smallvec![zero], None)
        }
        (AtomicOp::FAdd, Type::F32) => atomic.float_loop(b, Binary::FAdd, values[0]),
        (AtomicOp::FMin, Type::F32) => atomic.float_loop(b, Binary::FMin, values[0]),
        (AtomicOp::FMax, Type::F32) => atomic.float_loop(b, Binary::FMax, values[0]),
        (_, Type::F32) => {
            let words = values.iter().map(|&v| b.bitcast(v, Type::I32)).collect();
            let word = (!data.results.is_empty()).then_some(Type::I32);
            let old = atomic.emit(b, *op, words, word);
            old.map(|old| b.bitcast(old, Type::F32))
        }
        _ => return Ok(Rewrite::Keep),
    };
    Ok(Rewrite::Replace(result.into_iter().collect()))
}

/// What every atomic made of one has in common.
#[derive(Clone, Copy)]
struct Atomic {
    op: AtomicOp,
    place: Place,
    scope: Scope,
    semantics: Semantics,
}

impl Atomic {
    fn emit(
        self,
        b: &mut Builder<'_>,
        op: AtomicOp,
        values: Values,
        result: Option<Type>,
    ) -> Option<Value> {
        let atomic = Op::Atomic {
            op,
            place: self.place,
            values,
            scope: self.scope,
            semantics: self.semantics,
        };
        b.op(atomic, result).first().copied()
    }

    /// Computes on what was there and exchanges if it still is, until it was.
    fn float_loop(self, b: &mut Builder<'_>, op: Binary, operand: Value) -> Option<Value> {
        debug_assert!(self.op == AtomicOp::FAdd || op != Binary::FAdd);
        let first = Self {
            semantics: Semantics(0),
            ..self
        }
        .emit(b, AtomicOp::Load, Values::new(), Some(Type::I32))?;
        let head = b.function.add_block();
        let done = b.function.add_block();
        let expected = b.function.add_param(head, Type::I32);
        b.jump(Edge::new(head, [first]));
        b.switch_to(head);
        let before = b.bitcast(expected, Type::F32);
        let after = b.binary(op, before, operand);
        let after = b.bitcast(after, Type::I32);
        let values = smallvec![after, expected];
        let found = self.emit(b, AtomicOp::CompareExchange, values, Some(Type::I32))?;
        let was_there = b.compare(Compare::Equal, found, expected);
        b.branch(was_there, done, Edge::new(head, [found]));
        b.switch_to(done);
        Some(before)
    }
}

impl Memory<'_> {
    fn check_atomics64(&self, op: AtomicOp, place: Place) -> Result<(), CompileError> {
        let device = self.capabilities;
        let (has, feature) = match place {
            Place::Element { .. } => (device.shared_int64_atomics, "shaderSharedInt64Atomics"),
            _ => (device.buffer_int64_atomics, "shaderBufferInt64Atomics"),
        };
        if has && device.int64 {
            return Ok(());
        }
        Err(CompileError::new(format!(
            "atomic {op:?} on 64-bit integers needs {feature}, which the device lacks"
        )))
    }
}
