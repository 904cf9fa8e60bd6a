//! Atomic operations at whatever a pointer became.
//!
//! Vulkan has no atomic flags, and moves floats only as integers. Private memory is no one else's: there an
//! atomic operation is a load, the operation, and a store.

use super::classes::Class;
use super::{Form, Lowering};
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Access, ArrayStorage, AtomicOp, Binary, Builder, Compare, Op, Place, Rewrite, Scope, Semantics,
    Type, Value, Values,
};
use crate::compiler::passes::scalar_bits;
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
                Ok(atomic.build(b, Place::Address(pointer), result, None))
            }
            Some(Form::Offset(class)) => {
                let layout = self.layout(class)?.clone();
                if layout.is_empty() {
                    return Ok(result.map(|ty| b.undef(ty)));
                }
                if layout.storage == ArrayStorage::Private {
                    return self.private_atomic(b, class, pointer, &atomic, result);
                }
                let access = Access::aligned(layout.stride_bytes);
                let place = self.elements(&layout, pointer, access).place(b);
                Ok(atomic.build(b, place, result, Some(layout.element)))
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
        let ty = match (atomic.values.first(), result) {
            (Some(&value), _) => b.ty(value),
            (None, Some(ty)) if ty != Type::Bool => ty,
            _ => Type::I32,
        };
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

/// An atomic operation without its place.
#[derive(Clone)]
pub struct Atomic {
    pub op: AtomicOp,
    pub values: Values,
    pub scope: Scope,
    pub semantics: Semantics,
}

impl Atomic {
    /// Builds it at a place that holds `element`s, if that is not the type of its operands.
    fn build(
        &self,
        b: &mut Builder<'_>,
        place: Place,
        result: Option<Type>,
        element: Option<Type>,
    ) -> Option<Value> {
        let mut atomic = |op, values, ty: Option<Type>| {
            let op = Op::Atomic {
                op,
                place,
                values,
                scope: self.scope,
                semantics: self.semantics,
            };
            b.op(op, ty).first().copied()
        };
        match self.op {
            AtomicOp::FlagTestAndSet => {
                // OpenCL's flags are 32-bit integers; Vulkan has none.
                let op = AtomicOp::Exchange;
                let one = b.i32(1);
                let old = Op::Atomic {
                    op,
                    place,
                    values: smallvec![one],
                    scope: self.scope,
                    semantics: self.semantics,
                };
                let old = b.op1(old, Type::I32);
                let zero = b.i32(0);
                Some(b.compare(Compare::NotEqual, old, zero))
            }
            AtomicOp::FlagClear => {
                let zero = b.i32(0);
                let store = Op::Atomic {
                    op: AtomicOp::Store,
                    place,
                    values: smallvec![zero],
                    scope: self.scope,
                    semantics: self.semantics,
                };
                b.op0(store);
                None
            }
            AtomicOp::Load | AtomicOp::Store | AtomicOp::Exchange | AtomicOp::CompareExchange => {
                // These move bits: a float goes as an integer.
                let value_type = self.values.first().map(|&v| b.ty(v)).or(result)?;
                let element = element.unwrap_or_else(|| scalar_bits::memory_int(value_type));
                let values = self
                    .values
                    .iter()
                    .map(|&v| scalar_bits::reinterpret(b, v, element))
                    .collect();
                let op = Op::Atomic {
                    op: self.op,
                    place,
                    values,
                    scope: self.scope,
                    semantics: self.semantics,
                };
                let old = b.op(op, result.map(|_| element)).first().copied()?;
                Some(scalar_bits::reinterpret(b, old, result?))
            }
            op => atomic(op, self.values.clone(), result),
        }
    }

    /// What the operation stores, given what was there.
    fn applied(&self, b: &mut Builder<'_>, old: Option<Value>, ty: Type) -> Option<Value> {
        let value = self.values.first().copied();
        let binary = match self.op {
            AtomicOp::Load => return None,
            AtomicOp::Store | AtomicOp::Exchange => return value,
            AtomicOp::FlagTestAndSet => return Some(b.constant(ty, 1)),
            AtomicOp::FlagClear => return Some(b.constant(ty, 0)),
            AtomicOp::CompareExchange => {
                let (new, comparator) = (value?, *self.values.get(1)?);
                let is_equal = b.compare(Compare::Equal, old?, comparator);
                return Some(b.select(is_equal, new, old?));
            }
            AtomicOp::Add => Binary::Add,
            AtomicOp::Sub => Binary::Sub,
            AtomicOp::UMin => Binary::UMin,
            AtomicOp::UMax => Binary::UMax,
            AtomicOp::SMin => Binary::SMin,
            AtomicOp::SMax => Binary::SMax,
            AtomicOp::And => Binary::And,
            AtomicOp::Or => Binary::Or,
            AtomicOp::Xor => Binary::Xor,
            AtomicOp::FAdd => Binary::FAdd,
            AtomicOp::FMin => Binary::FMin,
            AtomicOp::FMax => Binary::FMax,
        };
        Some(b.binary(binary, old?, value?))
    }
}
