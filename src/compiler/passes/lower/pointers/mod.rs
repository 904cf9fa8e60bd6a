//! Gives pointers their representation: no value of a pointer type is left.
//!
//! Needs: calls that pass local, private or generic pointers inlined, copies and arguments lowered.
//!
//! - Pointers to global and constant memory become 64-bit device addresses ([`Place::Address`]).
//! - Pointers to local and private memory become 32-bit byte offsets into arrays ([`Place::Element`]).
//!   Pointers that may meet (by arithmetic, selection, comparison, block parameters) are one class
//!   (`classes.rs`), a class is one array (`layout.rs`), whose element is as wide as its accesses agree on
//!   (`elements.rs`). Null is offset 0; an array whose pointers may be null keeps its first bytes free.
//!   In memory such a pointer is its offset, zero-extended, and as an integer what the generic pointer to
//!   the same is: clang subtracts the one from the other. All that get there are one class.
//! - Generic pointers that `infer_address_spaces` could not resolve are 64-bit with the address space in the
//!   high bits; accesses through them branch on it (`generic.rs`).

mod atomics;
mod classes;
mod elements;
mod generic;
mod layout;
mod offsets;

use crate::compiler::ir::{
    Access, AddressSpace, Binary, Builder, Convert, FuncId, Function, Inst, Module, Op, Place,
    Rewrite, Type, Value, Values, rewrite_instructions,
};
use crate::compiler::passes::helpers::atomic::Atomic;
use crate::compiler::passes::helpers::scalar_bits;
use crate::compiler::program::{ArgumentKind, LARGEST_TYPE_BYTES};
use crate::compiler::{CompileError, Context};
use classes::{Class, Classes, Member};
use elements::Elements;
use layout::{Layout, Layouts};
use offsets::Offsets;
use smallvec::smallvec;
use std::collections::HashMap;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let mut classes = Classes::of(module)?;
    let layouts = Layouts::new(module, &classes, cx.capabilities)?;
    complete_local_arguments(module, &layouts);
    for id in module.function_ids() {
        let mut function = std::mem::replace(module.function_mut(id), Function::new(""));
        let result = lower_function(&mut function, id, &mut classes, &layouts);
        // They lie in arrays now.
        function.variables.clear();
        let name = function.name.clone();
        *module.function_mut(id) = function;
        result.map_err(|error| error.in_function(name))?;
    }
    Ok(())
}

/// Tells the runtime the element sizes of `local` arguments.
fn complete_local_arguments(module: &mut Module, layouts: &Layouts) {
    let mut sizes: HashMap<u32, (u32, u32)> = HashMap::new();
    for layout in layouts
        .by_class
        .values()
        .filter(|layout| !layout.is_empty())
    {
        let spec_ids = &module.array(layout.array).length.spec_ids;
        // Types of pointees are not known here: the next argument may hold any.
        let granule_bytes = match spec_ids.len() {
            0 | 1 => layout.stride_bytes,
            _ => LARGEST_TYPE_BYTES,
        };
        for &spec_id in spec_ids {
            sizes.insert(spec_id, (layout.stride_bytes, granule_bytes));
        }
    }
    for argument in module
        .kernels
        .iter_mut()
        .flat_map(|kernel| &mut kernel.arguments)
    {
        if let ArgumentKind::Local {
            spec_id,
            element_bytes,
            granule_bytes,
        } = &mut argument.kind
            && let Some(&sizes) = sizes.get(spec_id)
        {
            (*element_bytes, *granule_bytes) = sizes;
        }
    }
}

/// How a pointer is represented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// I64: a device address.
    Address,
    /// I32: a byte offset into the class's array.
    Offset(Class),
    /// I64: an address or a tagged offset.
    Generic,
}

struct Lowering<'a> {
    layouts: &'a Layouts,
    id: FuncId,
    /// By value: what it is if it was a pointer.
    forms: Vec<Option<Form>>,
    /// The types of all values as they were.
    types: Vec<Type>,
    offsets: Offsets,
    /// The classes of all private and all local pointers that meet generic ones.
    escaped: [Class; 2],
}

fn lower_function(
    function: &mut Function,
    id: FuncId,
    classes: &mut Classes,
    layouts: &Layouts,
) -> Result<(), CompileError> {
    let values: Vec<Value> = (0..function.value_count() as u32).map(Value).collect();
    let types: Vec<Type> = values.iter().map(|&v| function.ty(v)).collect();
    let mut forms = Vec::with_capacity(values.len());
    for (&value, ty) in values.iter().zip(&types) {
        let Type::Ptr(space) = *ty else {
            forms.push(None);
            continue;
        };
        let (form, ty) = match space {
            AddressSpace::Global | AddressSpace::Constant => (Form::Address, Type::I64),
            AddressSpace::Generic => (Form::Generic, Type::I64),
            AddressSpace::Private | AddressSpace::Local => {
                (Form::Offset(classes.class(id, value)), Type::I32)
            }
        };
        forms.push(Some(form));
        function.set_type(value, ty);
    }
    for ty in &mut function.return_types {
        *ty = lowered_type(*ty);
    }
    if forms.iter().all(Option::is_none) && !types.contains(&Type::Bool) {
        return Ok(());
    }
    let mut lowering = Lowering {
        layouts,
        id,
        forms,
        types,
        offsets: Offsets::default(),
        escaped: classes.escaped_classes(),
    };
    rewrite_instructions(function, |b, inst| lowering.visit(b, inst))?;
    Ok(())
}

/// The type of a value once pointers are numbers.
fn lowered_type(ty: Type) -> Type {
    match ty {
        Type::Ptr(AddressSpace::Private | AddressSpace::Local) => Type::I32,
        Type::Ptr(_) => Type::I64,
        other => other,
    }
}

/// The type that memory holds for a value: 8 bytes for every pointer, one for a boolean.
fn memory_type(ty: Type) -> Type {
    match ty {
        Type::Ptr(_) => Type::I64,
        Type::Bool => Type::I8,
        other => other,
    }
}

impl Lowering<'_> {
    fn form(&self, value: Value) -> Option<Form> {
        self.forms.get(value.index()).copied().flatten()
    }

    /// The type that a value of before had.
    fn old_type(&self, b: &Builder<'_>, value: Value) -> Type {
        let old = self.types.get(value.index()).copied();
        old.unwrap_or_else(|| b.ty(value))
    }

    fn visit(&mut self, b: &mut Builder<'_>, inst: Inst) -> Result<Rewrite, CompileError> {
        let data = b.function.inst(inst).clone();
        let result = data.results.first().copied();
        let replacement = match data.op {
            Op::PtrAdd(base, offset) => self.add(b, base, offset),
            Op::VariableAddress(variable) => self.start(b, Member::Private(self.id, variable)),
            Op::GlobalAddress(global) => self.start(b, Member::Local(global)),
            Op::Convert(Convert::PtrToInt, pointer) => {
                let ty = b.ty(data.results[0]);
                let number = self.number(b, pointer);
                self.resize(b, number, ty)
            }
            Op::Convert(Convert::IntToPtr, int) => {
                let ty = b.ty(data.results[0]);
                self.resize(b, int, ty)
            }
            Op::Convert(convert, pointer) if classes::is_address_space_cast(convert) => {
                self.cast(b, convert, pointer, data.results[0])?
            }
            Op::Load(Place::Pointer(pointer), access) => {
                return self.load(b, pointer, access, &data.results);
            }
            Op::Store(Place::Pointer(pointer), values, access) => {
                let values: Values = values.iter().map(|&v| self.to_memory(b, v)).collect();
                self.store(b, pointer, access, values)?;
                return Ok(Rewrite::Replace(Values::new()));
            }
            Op::Atomic {
                op,
                place: Place::Pointer(pointer),
                values,
                scope,
                semantics,
            } => {
                let atomic = Atomic {
                    op,
                    values,
                    scope,
                    semantics,
                };
                return self.atomic(b, pointer, atomic, &data.results);
            }
            _ => return Ok(Rewrite::Keep),
        };
        if let Some(result) = result {
            self.offsets.set(result, replacement);
        }
        Ok(Rewrite::Replace(smallvec![replacement]))
    }

    fn add(&mut self, b: &mut Builder<'_>, base: Value, offset: Value) -> Value {
        if let Some(Form::Offset(_)) = self.form(base) {
            let offset = self.offsets.narrow(b, offset);
            return self.offsets.add(b, base, offset);
        }
        if b.function.constant(offset) == Some(0) {
            return base;
        }
        let offset = b.resize_int(offset, Type::I64, true);
        b.op1(Op::Binary(Binary::Add, base, offset), Type::I64)
    }

    /// The offset of a variable in its array.
    fn start(&mut self, b: &mut Builder<'_>, member: Member) -> Value {
        let Some(start) = self.layouts.starts.get(&member) else {
            return b.i32(0);
        };
        let mut offset = b.i32(start.offset_bytes);
        for &id in &start.after {
            let elements = b.op1(Op::SpecConst { id, default: 1 }, Type::I32);
            let bytes = self.offsets.scale(b, elements, start.stride_bytes);
            offset = self.offsets.add(b, offset, bytes);
        }
        offset
    }

    /// An integer of another width; not a value of before, whose type may be about to change.
    fn resize(&self, b: &mut Builder<'_>, value: Value, ty: Type) -> Value {
        b.resize_int(value, ty, false)
    }

    /// A value as memory holds it.
    fn to_memory(&self, b: &mut Builder<'_>, value: Value) -> Value {
        match self.form(value) {
            Some(Form::Offset(_)) => b.convert(Convert::ZeroExtend, value, Type::I64),
            Some(_) => value,
            None if b.ty(value) == Type::Bool => scalar_bits::to_int(b, value),
            None => value,
        }
    }

    /// A value of old type `ty` from what memory held for it.
    fn value_of(&self, b: &mut Builder<'_>, value: Value, ty: Type) -> Value {
        match ty {
            Type::Bool => scalar_bits::from_int(b, value, Type::Bool),
            Type::Ptr(AddressSpace::Private | AddressSpace::Local) => {
                b.convert(Convert::Truncate, value, Type::I32)
            }
            _ => value,
        }
    }

    fn layout(&self, class: Class) -> Result<&Layout, CompileError> {
        self.layouts
            .by_class
            .get(&class)
            .ok_or_else(|| CompileError::internal("an access to memory that has no variable"))
    }

    fn load(
        &mut self,
        b: &mut Builder<'_>,
        pointer: Value,
        access: Access,
        results: &[Value],
    ) -> Result<Rewrite, CompileError> {
        let old: Vec<Type> = results.iter().map(|&v| self.old_type(b, v)).collect();
        let types: Vec<Type> = old.iter().map(|&ty| memory_type(ty)).collect();
        let loaded = self.load_memory(b, self.form(pointer), pointer, access, &types)?;
        let values = loaded
            .into_iter()
            .zip(old)
            .map(|(value, ty)| self.value_of(b, value, ty))
            .collect();
        Ok(Rewrite::Replace(values))
    }

    fn load_memory(
        &mut self,
        b: &mut Builder<'_>,
        form: Option<Form>,
        pointer: Value,
        access: Access,
        types: &[Type],
    ) -> Result<Values, CompileError> {
        match form {
            Some(Form::Offset(class)) => {
                let layout = self.layout(class)?.clone();
                Ok(self.elements(&layout, pointer, access).load(b, types))
            }
            Some(Form::Generic) => self.load_generic(b, pointer, access, types),
            Some(Form::Address) | None => Ok(b.op(
                Op::Load(Place::Address(pointer), access),
                types.iter().copied(),
            )),
        }
    }

    fn store(
        &mut self,
        b: &mut Builder<'_>,
        pointer: Value,
        access: Access,
        values: Values,
    ) -> Result<(), CompileError> {
        self.store_memory(b, self.form(pointer), pointer, access, values)
    }

    fn store_memory(
        &mut self,
        b: &mut Builder<'_>,
        form: Option<Form>,
        pointer: Value,
        access: Access,
        values: Values,
    ) -> Result<(), CompileError> {
        match form {
            Some(Form::Offset(class)) => {
                let layout = self.layout(class)?.clone();
                self.elements(&layout, pointer, access).store(b, &values);
            }
            Some(Form::Generic) => self.store_generic(b, pointer, access, values)?,
            Some(Form::Address) | None => b.store(Place::Address(pointer), values, access),
        }
        Ok(())
    }

    fn elements<'b>(
        &'b mut self,
        layout: &'b Layout,
        pointer: Value,
        access: Access,
    ) -> Elements<'b> {
        Elements {
            layout,
            offsets: &mut self.offsets,
            pointer,
            access,
        }
    }
}

#[cfg(test)]
mod tests;
