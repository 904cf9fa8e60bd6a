//! Atomic operations at whatever a pointer became.
//!
//! Vulkan has no atomic flags, and moves floats only as integers. Private memory is no one else's: there an
//! atomic operation is a load, the operation, and a store. Local memory that has atomics of several sizes is
//! an array of the widest; narrower ones, and arithmetic on floats, are loops of compare-exchanges there.

use super::classes::Class;
use super::{Form, Lowering};
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Access, ArrayStorage, AtomicOp, Builder, Compare, Place, Rewrite, Type, Value,
};
use crate::compiler::passes::helpers::atomic::Atomic;
use crate::compiler::passes::helpers::scalar_bits;
use smallvec::smallvec;

impl Lowering<'_> {
    pub(super) fn atomic(
        &mut self,
        b: &mut Builder<'_>,
        pointer: Value,
        atomic: Atomic,
        results: &[Value],
    ) -> Result<Rewrite, CompileError> {
        let results: Vec<Type> = results.iter().map(|&v| b.ty(v)).collect();
        let value = self.atomic_memory(b, self.form(pointer), pointer, atomic, &results)?;
        Ok(Rewrite::Replace(value.into_iter().collect()))
    }

    pub(super) fn atomic_memory(
        &mut self,
        b: &mut Builder<'_>,
        form: Option<Form>,
        pointer: Value,
        atomic: Atomic,
        results: &[Type],
    ) -> Result<Option<Value>, CompileError> {
        let result = results.first().copied();
        match form {
            Some(Form::Generic) => self.atomic_generic(b, pointer, atomic, results),
            Some(Form::Address) | None => {
                Ok(build(&atomic, b, Place::Address(pointer), result, None))
            }
            Some(Form::Offset(class)) => {
                let layout = self.layout(class)?.clone();
                if layout.is_empty() {
                    return Ok(result.map(|ty| b.undef(ty)));
                }
                if layout.storage == ArrayStorage::Private {
                    return self.private_atomic(b, class, pointer, &atomic, result);
                }
                let size_bytes = atomic.ty(b, result).size_bytes();
                let access = Access::aligned(size_bytes.min(layout.stride_bytes));
                if size_bytes < layout.stride_bytes {
                    let (place, bit) = self.elements(&layout, pointer, access).part(b);
                    return Ok(atomic.within(b, place, layout.element, Some(bit), result));
                }
                let place = self.elements(&layout, pointer, access).place(b);
                if matches!(atomic.op, AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax) {
                    return Ok(atomic.within(b, place, layout.element, None, result));
                }
                Ok(build(&atomic, b, place, result, Some(layout.element)))
            }
        }
    }

    /// An atomic operation on memory that no one else sees.
    fn private_atomic(
        &mut self,
        b: &mut Builder<'_>,
        class: Class,
        pointer: Value,
        atomic: &Atomic,
        result: Option<Type>,
    ) -> Result<Option<Value>, CompileError> {
        let ty = atomic.ty(b, result);
        let access = Access::aligned(ty.size_bytes());
        let form = Some(Form::Offset(class));
        let old = match atomic.op {
            AtomicOp::Store | AtomicOp::FlagClear => None,
            _ => Some(self.load_memory(b, form, pointer, access, &[ty])?[0]),
        };
        let new = atomic.applied(b, old, ty);
        if let Some(new) = new {
            self.store_memory(b, form, pointer, access, smallvec![new])?;
        }
        Ok(match (atomic.op, old) {
            (AtomicOp::FlagTestAndSet, Some(old)) => {
                let zero = b.i32(0);
                Some(b.compare(Compare::NotEqual, old, zero))
            }
            _ => old,
        })
    }
}

/// Builds an operation at a place that holds `element`s, if that is not the type of its operands.
fn build(
    atomic: &Atomic,
    b: &mut Builder<'_>,
    place: Place,
    result: Option<Type>,
    element: Option<Type>,
) -> Option<Value> {
    match atomic.op {
        AtomicOp::FlagTestAndSet => {
            // OpenCL's flags are 32-bit integers; Vulkan has none.
            let one = b.i32(1);
            let values = smallvec![one];
            let old = atomic.emit(b, AtomicOp::Exchange, place, values, Some(Type::I32))?;
            let zero = b.i32(0);
            Some(b.compare(Compare::NotEqual, old, zero))
        }
        AtomicOp::FlagClear => {
            let zero = b.i32(0);
            atomic.emit(b, AtomicOp::Store, place, smallvec![zero], None)
        }
        AtomicOp::Load | AtomicOp::Store | AtomicOp::Exchange | AtomicOp::CompareExchange => {
            // These move bits: a float goes as an integer.
            let value_type = atomic.values.first().map(|&v| b.ty(v)).or(result)?;
            let element = element.unwrap_or_else(|| scalar_bits::memory_int(value_type));
            let values = atomic
                .values
                .iter()
                .map(|&v| scalar_bits::reinterpret(b, v, element))
                .collect();
            let old = atomic.emit(b, atomic.op, place, values, result.map(|_| element))?;
            Some(scalar_bits::reinterpret(b, old, result?))
        }
        op => atomic.emit(b, op, place, atomic.values.clone(), result),
    }
}
