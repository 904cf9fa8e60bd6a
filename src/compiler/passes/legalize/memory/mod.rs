//! Loads, stores and atomics through device addresses as the device has them.
//!
//! Needs: no pointers (`lower::pointers`). Runs before the integers are legalized: addresses are I64.
//!
//! - Elements that the device can access at their alignment are grouped into accesses of at most four
//!   elements and 16 bytes. A group is as wide as the alignment shows to be naturally aligned: drivers
//!   differ in what they accept beyond that.
//! - Of 8- and 16-bit elements that fill aligned words, the words are accessed: a fourth or half as many
//!   components for the drivers that go through them one by one.
//! - Everything else (8- and 16-bit elements without the storage feature, 64-bit integers without
//!   `shaderInt64`, elements of packed structures at less than their own alignment) is loaded and stored
//!   as a stream of aligned 32-bit words: see [`words`]. No word is touched that holds none of the bytes
//!   asked for, so an allocation whose size is a multiple of four is never left. Neighbours are loaded
//!   together: see [`joins`].
//! - Booleans are bytes, 0 or 1. Halves are 16-bit integers where the device lacks `shaderFloat16`.
//! - Atomics on floats that only move bits become integer ones; arithmetic on floats becomes a loop of
//!   compare-exchanges. `OpAtomicFlag…` works on a word.
//!
//! Afterwards: through [`Place::Address`], loads and stores have at most four elements of one type that the
//! device can access, at their alignment; atomics are on I32, and on I64 where the device has those.

mod atomics;
mod groups;
mod joins;
#[cfg(test)]
mod tests;
mod words;

use crate::compiler::ir::{
    Access, Array, Binary, Builder, Compare, Convert, Function, Inst, Module, Op, Place, Rewrite,
    Type, Value, Values, rewrite_instructions,
};
use crate::compiler::{Capabilities, CompileError, Context};
use groups::groups;
use joins::Joins;
use std::collections::HashMap;

/// Legalizes every memory operation.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    legalize(module, cx.capabilities)
}

fn legalize(module: &mut Module, device: &Capabilities) -> Result<(), CompileError> {
    let pass = Memory {
        capabilities: device,
        arrays: &module.arrays,
    };
    for function in &mut module.functions {
        pass.function(function)
            .map_err(|error| error.in_function(&function.name))?;
    }
    Ok(())
}

struct Memory<'a> {
    capabilities: &'a Capabilities,
    arrays: &'a [Array],
}

impl Memory<'_> {
    fn function(&self, function: &mut Function) -> Result<(), CompileError> {
        let joins = Joins::of(self, function);
        // By the first load of several that are made together: what they load.
        let mut joined = HashMap::new();
        rewrite_instructions(function, |b, inst| {
            self.instruction(b, inst, &joins, &mut joined)
        })
        .map(drop)
    }

    fn instruction(
        &self,
        b: &mut Builder<'_>,
        inst: Inst,
        joins: &Joins,
        joined: &mut HashMap<Inst, Values>,
    ) -> Result<Rewrite, CompileError> {
        let data = b.function.inst(inst).clone();
        if let Some((first, at)) = joins.first_of(inst)
            && let Some(values) = joined.get(&first)
        {
            let values = &values[at..at + data.results.len()];
            return Ok(Rewrite::Replace(values.into()));
        }
        match data.op {
            Op::Load(Place::Address(address), access) => {
                let Some(&first) = data.results.first() else {
                    return Ok(Rewrite::Replace(Values::new()));
                };
                let ty = b.ty(first);
                let count = joins.count_of(inst).unwrap_or(data.results.len());
                let mut values = self.load(b, address, ty, count, access)?;
                if count > data.results.len() {
                    joined.insert(inst, values.clone());
                    values.truncate(data.results.len());
                }
                Ok(Rewrite::Replace(values))
            }
            Op::Store(Place::Address(address), values, access) => {
                self.store(b, address, values, access)?;
                Ok(Rewrite::Replace(Values::new()))
            }
            Op::Atomic { .. } => atomics::legalize(self, b, &data),
            _ => Ok(Rewrite::Keep),
        }
    }

    /// Whether values of this type are loaded and stored as they are.
    fn accesses(&self, ty: Type) -> bool {
        let device = self.capabilities;
        match ty {
            Type::I8 => device.storage8 && device.int8,
            Type::I16 => device.storage16 && device.int16,
            Type::F16 => device.storage16 && device.float16,
            Type::I32 | Type::F32 => true,
            Type::I64 => device.int64,
            Type::F64 => device.float64,
            Type::Bool | Type::Ptr(_) => false,
        }
    }

    /// The type of the same memory that stands for a boolean, and for a half where there are none.
    fn memory_type(&self, ty: Type) -> Type {
        match ty {
            Type::Bool => Type::I8,
            Type::F16 if !self.capabilities.float16 => Type::I16,
            other => other,
        }
    }

    fn load(
        &self,
        b: &mut Builder<'_>,
        address: Value,
        ty: Type,
        count: usize,
        access: Access,
    ) -> Result<Values, CompileError> {
        let memory_type = self.memory_type(ty);
        if memory_type != ty {
            let values = self.load(b, address, memory_type, count, access)?;
            return Ok(values
                .into_iter()
                .map(|value| from_memory(b, value, ty))
                .collect());
        }
        if !self.accesses(ty) || access.align_bytes < ty.size_bytes() {
            self.check_splits(ty)?;
            return Ok(words::load(self, b, address, ty, count, access));
        }
        if fills_words(ty, count, access) {
            return Ok(words::load(self, b, address, ty, count, access));
        }
        let mut values = Values::new();
        for group in groups(count, ty.size_bytes(), access.align_bytes) {
            let place = self.at(b, address, access.align_bytes, group.offset_bytes);
            let access = Access {
                align_bytes: group.align_bytes,
                ..access
            };
            values.extend(b.load(place, ty, group.count, access));
        }
        Ok(values)
    }

    fn store(
        &self,
        b: &mut Builder<'_>,
        address: Value,
        values: Values,
        access: Access,
    ) -> Result<(), CompileError> {
        let Some(&first) = values.first() else {
            return Ok(());
        };
        let ty = b.ty(first);
        let memory_type = self.memory_type(ty);
        if memory_type != ty {
            let values = values
                .into_iter()
                .map(|value| to_memory(b, value, memory_type))
                .collect();
            return self.store(b, address, values, access);
        }
        if !self.accesses(ty) || access.align_bytes < ty.size_bytes() {
            self.check_splits(ty)?;
            if let Some(narrow) = self.narrow_unit(ty, access.align_bytes) {
                let parts = split(b, &values, narrow);
                return self.store(b, address, parts, access);
            }
            words::store(self, b, address, &values, access);
            return Ok(());
        }
        if fills_words(ty, values.len(), access) {
            words::store(self, b, address, &values, access);
            return Ok(());
        }
        for group in groups(values.len(), ty.size_bytes(), access.align_bytes) {
            let place = self.at(b, address, access.align_bytes, group.offset_bytes);
            let access = Access {
                align_bytes: group.align_bytes,
                ..access
            };
            let values = &values[group.first..group.first + group.count];
            b.store(place, values.into(), access);
        }
        Ok(())
    }

    /// The widest integer below a word, and narrower than `whole`, that the device can store at this
    /// alignment.
    fn narrow_unit(&self, whole: Type, align_bytes: u32) -> Option<Type> {
        [(2, Type::I16), (1, Type::I8)]
            .into_iter()
            .filter(|&(size, _)| {
                align_bytes >= size && align_bytes < 4 && size < whole.size_bytes()
            })
            .find(|&(_, ty)| self.accesses(ty))
            .map(|(_, ty)| ty)
    }

    /// Doubles are made of words by way of 64-bit integers.
    fn check_splits(&self, ty: Type) -> Result<(), CompileError> {
        if ty == Type::F64 && !self.capabilities.int64 {
            return Err(CompileError::unsupported(
                "a double at less than its alignment needs 64-bit integers, which the device lacks",
            ));
        }
        if ty.is_pointer() {
            return Err(CompileError::internal(
                "a pointer reached the memory legalization",
            ));
        }
        Ok(())
    }

    /// The place at an offset from an address of a known alignment.
    fn at(
        &self,
        b: &mut Builder<'_>,
        address: Value,
        align_bytes: u32,
        offset_bytes: u32,
    ) -> Place {
        if offset_bytes == 0 {
            return Place::Address(address);
        }
        // Below the alignment nothing carries; that matters where an addition takes five operations.
        let op = if offset_bytes < align_bytes && !self.capabilities.int64 {
            Binary::Or
        } else {
            Binary::Add
        };
        Place::Address(b.binary_const(op, address, offset_bytes.into()))
    }
}

/// Whether elements narrower than a word make up aligned words.
fn fills_words(ty: Type, count: usize, access: Access) -> bool {
    let size_bytes = count * ty.size_bytes() as usize;
    ty.size_bytes() < 4 && access.align_bytes >= 4 && size_bytes.is_multiple_of(4)
}

/// A value from what stands for it in memory.
fn from_memory(b: &mut Builder<'_>, value: Value, ty: Type) -> Value {
    if ty == Type::Bool {
        let zero = b.constant(Type::I8, 0);
        return b.compare(Compare::NotEqual, value, zero);
    }
    b.bitcast(value, ty)
}

/// What stands for a value in memory.
fn to_memory(b: &mut Builder<'_>, value: Value, memory_type: Type) -> Value {
    if b.ty(value) == Type::Bool {
        let (one, zero) = (b.constant(memory_type, 1), b.constant(memory_type, 0));
        return b.select(value, one, zero);
    }
    b.bitcast(value, memory_type)
}

/// Splits values into more values of a narrower type, with the same bytes.
fn split(b: &mut Builder<'_>, values: &[Value], narrow: Type) -> Values {
    let mut parts = Values::new();
    for &value in values {
        let ty = b.ty(value);
        let whole = b.bitcast(value, ty.as_int().unwrap_or(ty));
        for at in (0..ty.bits()).step_by(narrow.bits() as usize) {
            let shifted = match at {
                0 => whole,
                at => b.binary_const(Binary::LShr, whole, at.into()),
            };
            parts.push(b.convert(Convert::Truncate, shifted, narrow));
        }
    }
    parts
}
