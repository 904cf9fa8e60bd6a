//! Atomic operations made of others: a loop that computes on what was there and exchanges if it still is.
//!
//! Shared by `lower::pointers` (operations on part of an element of local memory) and `legalize::memory`
//! (arithmetic on floats, operations on 8 and 16 bits).

use crate::compiler::ir::{
    AtomicOp, Binary, Builder, Compare, Edge, Op, Place, Scope, Semantics, Type, Unary, Value,
    Values,
};
use crate::compiler::passes::helpers::scalar_bits;
use smallvec::smallvec;

/// An atomic operation without its place.
#[derive(Clone)]
pub struct Atomic {
    pub op: AtomicOp,
    pub values: Values,
    pub scope: Scope,
    pub semantics: Semantics,
}

impl Atomic {
    /// Another operation with the same scope and semantics.
    pub fn emit(
        &self,
        b: &mut Builder<'_>,
        op: AtomicOp,
        place: Place,
        values: Values,
        result: Option<Type>,
    ) -> Option<Value> {
        let atomic = Op::Atomic {
            op,
            place,
            values,
            scope: self.scope,
            semantics: self.semantics,
        };
        b.op(atomic, result).first().copied()
    }

    /// The type of what it works on.
    pub fn ty(&self, b: &Builder<'_>, result: Option<Type>) -> Type {
        match (self.values.first(), result) {
            (Some(&value), _) => b.ty(value),
            (None, Some(ty)) if ty != Type::Bool => ty,
            // A flag.
            _ => Type::I32,
        }
    }

    /// Works on the bits from `bit` (all, if none is given) of the integer of type `element` at `place`.
    pub fn within(
        &self,
        b: &mut Builder<'_>,
        place: Place,
        element: Type,
        bit: Option<Value>,
        result: Option<Type>,
    ) -> Option<Value> {
        let ty = self.ty(b, result);
        let int = scalar_bits::memory_int(ty);
        let part = |b: &mut Builder<'_>, whole: Value| {
            let shifted = match bit {
                Some(bit) => b.binary(Binary::LShr, whole, bit),
                None => whole,
            };
            let part = b.resize_int(shifted, int, false);
            scalar_bits::reinterpret(b, part, ty)
        };
        if self.op == AtomicOp::Load {
            let whole = self.emit(b, AtomicOp::Load, place, Values::new(), Some(element))?;
            return Some(part(b, whole));
        }
        let relaxed = Self {
            semantics: Semantics(0),
            ..self.clone()
        };
        let first = relaxed.emit(b, AtomicOp::Load, place, Values::new(), Some(element))?;
        let head = b.function.add_block();
        let done = b.function.add_block();
        let expected = b.function.add_param(head, element);
        b.jump(Edge::new(head, [first]));
        b.switch_to(head);
        let before = part(b, expected);
        let after = self.applied(b, Some(before), ty)?;
        let after = scalar_bits::reinterpret(b, after, int);
        let mut wanted = b.resize_int(after, element, false);
        if let Some(bit) = bit {
            let mask = b.constant(element, int.mask());
            let mask = b.binary(Binary::Shl, mask, bit);
            let keep = b.unary(Unary::Not, mask);
            let kept = b.binary(Binary::And, expected, keep);
            let moved = b.binary(Binary::Shl, wanted, bit);
            wanted = b.binary(Binary::Or, kept, moved);
        }
        let values = smallvec![wanted, expected];
        let found = self.emit(b, AtomicOp::CompareExchange, place, values, Some(element))?;
        let was_there = b.compare(Compare::Equal, found, expected);
        b.branch(was_there, done, Edge::new(head, [found]));
        b.switch_to(done);
        match self.op {
            AtomicOp::FlagTestAndSet => {
                let zero = b.constant(ty, 0);
                Some(b.compare(Compare::NotEqual, before, zero))
            }
            _ => result.map(|_| before),
        }
    }

    /// What the operation stores, given what was there.
    pub fn applied(&self, b: &mut Builder<'_>, old: Option<Value>, ty: Type) -> Option<Value> {
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
