//! Generic pointers: 64 bits, of which the highest three say where they point.
//!
//! A device address has none of them set: GPUs and the software drivers use 57 bits at most. An offset into
//! local or private memory carries its tag. Null is 0, also when it was a null pointer to either.

use super::{Atomic, Class, Form, Lowering, lowered_type};
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Access, AddressSpace, Binary, Builder, Compare, Convert, Edge, Type, Value, Values,
};

/// Position of the tag.
const TAG_BIT: u32 = 61;
const PRIVATE_TAG: u32 = 1;
const LOCAL_TAG: u32 = 2;

impl Lowering<'_> {
    /// A conversion between address spaces.
    pub(super) fn cast(
        &mut self,
        b: &mut Builder<'_>,
        convert: Convert,
        pointer: Value,
        result: Value,
    ) -> Result<Value, CompileError> {
        let from = self.old_type(b, pointer);
        let to = self.old_type(b, result);
        let (Type::Ptr(from), Type::Ptr(to)) = (from, to) else {
            return Err(CompileError::internal(
                "an address space cast of no pointer",
            ));
        };
        let is_explicit = convert == Convert::AddressSpaceCastExplicit;
        match (tag_of(from), tag_of(to)) {
            _ if from == to => Ok(pointer),
            (Some(0), Some(0)) => Ok(pointer),
            (Some(0), None) => Ok(pointer),
            (Some(tag), None) => Ok(tagged(b, pointer, tag)),
            (None, Some(0)) if !is_explicit => Ok(pointer),
            (None, Some(tag)) => {
                let there = match tag {
                    0 => pointer,
                    _ => b.convert(Convert::Truncate, pointer, Type::I32),
                };
                let is_there = has_tag(b, pointer, tag);
                let elsewhere = if is_explicit {
                    b.constant(lowered_type(Type::Ptr(to)), 0)
                } else {
                    nowhere(b, pointer)
                };
                Ok(b.select(is_there, there, elsewhere))
            }
            (Some(_), Some(_)) if is_explicit => Ok(b.constant(lowered_type(Type::Ptr(to)), 0)),
            (Some(tag), Some(0)) => Ok(tagged(b, pointer, tag)),
            (Some(_), Some(_)) => Ok(nowhere(b, pointer)),
            (None, None) => Ok(pointer),
        }
    }

    /// A pointer as an integer of 64 bits.
    pub(super) fn number(&self, b: &mut Builder<'_>, pointer: Value) -> Value {
        match self.old_type(b, pointer) {
            Type::Ptr(space @ (AddressSpace::Private | AddressSpace::Local)) => {
                tagged(b, pointer, tag_of(space).unwrap_or_default())
            }
            _ => pointer,
        }
    }

    pub(super) fn load_generic(
        &mut self,
        b: &mut Builder<'_>,
        pointer: Value,
        access: Access,
        types: &[Type],
    ) -> Result<Values, CompileError> {
        self.by_space(b, pointer, types, |lowering, b, form, pointer| {
            lowering.load_memory(b, Some(form), pointer, access, types)
        })
    }

    pub(super) fn store_generic(
        &mut self,
        b: &mut Builder<'_>,
        pointer: Value,
        access: Access,
        values: Values,
    ) -> Result<(), CompileError> {
        self.by_space(b, pointer, &[], |lowering, b, form, pointer| {
            lowering.store_memory(b, Some(form), pointer, access, values.clone())?;
            Ok(Values::new())
        })?;
        Ok(())
    }

    pub(super) fn atomic_generic(
        &mut self,
        b: &mut Builder<'_>,
        pointer: Value,
        atomic: Atomic,
        results: &[Type],
    ) -> Result<Option<Value>, CompileError> {
        let values = self.by_space(b, pointer, results, |lowering, b, form, pointer| {
            let atomic = atomic.clone();
            let value = lowering.atomic_memory(b, Some(form), pointer, atomic, results)?;
            Ok(value.into_iter().collect())
        })?;
        Ok(values.first().copied())
    }

    /// Branches on where a generic pointer points, and builds the access for each.
    fn by_space(
        &mut self,
        b: &mut Builder<'_>,
        pointer: Value,
        results: &[Type],
        mut access: impl FnMut(&mut Self, &mut Builder<'_>, Form, Value) -> Result<Values, CompileError>,
    ) -> Result<Values, CompileError> {
        let [private, local] = self.escaped;
        let spaces: Vec<(u32, Class)> = [(PRIVATE_TAG, private), (LOCAL_TAG, local)]
            .into_iter()
            .filter(|(_, class)| {
                let layout = self.layouts.by_class.get(class);
                layout.is_some_and(|layout| !layout.is_empty())
            })
            .collect();
        if spaces.is_empty() {
            return access(self, b, Form::Address, pointer);
        }
        let done = b.function.add_block();
        let params = results
            .iter()
            .map(|&ty| b.function.add_param(done, ty))
            .collect();
        for (tag, class) in spaces {
            let is_there = has_tag(b, pointer, tag);
            let (here, elsewhere) = (b.function.add_block(), b.function.add_block());
            b.branch(is_there, here, elsewhere);
            b.switch_to(here);
            let offset = b.convert(Convert::Truncate, pointer, Type::I32);
            let values = access(self, b, Form::Offset(class), offset)?;
            b.jump(Edge::new(done, values));
            b.switch_to(elsewhere);
        }
        let values = access(self, b, Form::Address, pointer)?;
        b.jump(Edge::new(done, values));
        b.switch_to(done);
        Ok(params)
    }
}

/// The tag of pointers to an address space; none for generic ones, which carry any.
fn tag_of(space: AddressSpace) -> Option<u32> {
    match space {
        AddressSpace::Private => Some(PRIVATE_TAG),
        AddressSpace::Local => Some(LOCAL_TAG),
        AddressSpace::Global | AddressSpace::Constant => Some(0),
        AddressSpace::Generic => None,
    }
}

/// An offset that no pointer is equal to, or null for null: clang compares pointers of two address spaces in one of them.
fn nowhere(b: &mut Builder<'_>, pointer: Value) -> Value {
    let null = b.constant(b.ty(pointer), 0);
    let is_null = b.compare(Compare::Equal, pointer, null);
    let [null, none] = [0, u32::MAX].map(|offset| b.i32(offset));
    b.select(is_null, null, none)
}

/// A generic pointer from an offset.
fn tagged(b: &mut Builder<'_>, offset: Value, tag: u32) -> Value {
    let wide = b.convert(Convert::ZeroExtend, offset, Type::I64);
    let with_tag = b.binary_const(Binary::Or, wide, u64::from(tag) << TAG_BIT);
    let null = b.i64(0);
    let is_null = b.compare(Compare::Equal, wide, null);
    b.select(is_null, null, with_tag)
}

fn has_tag(b: &mut Builder<'_>, pointer: Value, tag: u32) -> Value {
    let amount = b.i32(TAG_BIT);
    let found = b.op1(
        crate::compiler::ir::Op::Binary(Binary::LShr, pointer, amount),
        Type::I64,
    );
    let tag = b.i64(tag.into());
    b.compare(Compare::Equal, found, tag)
}
