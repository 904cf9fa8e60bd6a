//! Built-in functions of OpenCL C that a front end left as calls of undefined functions.
//!
//! clang-22 turns most built-ins into instructions, but not these: conversions to half and double,
//! OpenCL 1.x's increments, exchanges, minimum and maximum, C11's `atomic_fetch_min` and `_max`, fences,
//! `to_global` and its like. They are told by their Itanium-mangled names, and only if no module defines
//! them by a body of its own in this module.

use super::conversions;
use super::decode::Instruction;
use super::function_parser::FunctionParser;
use crate::compiler::CompileError;
use crate::compiler::ir::{
    AddressSpace, AtomicOp, Compare, Convert, Op as IrOp, Place, Rounding, Scope, Semantics, Type,
    Unary, Value, Values,
};
use smallvec::smallvec;
use std::rc::Rc;

/// `CLK_LOCAL_MEM_FENCE`, `CLK_GLOBAL_MEM_FENCE`, `CLK_IMAGE_MEM_FENCE`
const LOCAL_FENCE: u64 = 1;
const GLOBAL_FENCE: u64 = 2;
const IMAGE_FENCE: u64 = 4;

const ALL_MEMORY: u32 = Semantics::WORKGROUP_MEMORY | Semantics::CROSS_WORKGROUP_MEMORY;

/// A mangled name taken apart: the function's own name, and the letters of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mangled<'n> {
    pub name: &'n str,
    parameters: &'n str,
}

pub(super) fn demangle(name: &str) -> Option<Mangled<'_>> {
    let Some(rest) = name.strip_prefix("_Z") else {
        // `to_global` and the others are compiler built-ins under a plain name.
        return name.starts_with("__to_").then_some(Mangled {
            name,
            parameters: "",
        });
    };
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let length: usize = rest.get(..digits)?.parse().ok()?;
    let rest = rest.get(digits..)?;
    Some(Mangled {
        name: rest.get(..length)?,
        parameters: rest.get(length..)?,
    })
}

impl<'n> Mangled<'n> {
    /// The letter of the first parameter's type: of the component, or of what it points to.
    fn element(self) -> &'n str {
        let mut rest = self.parameters;
        if let Some(pointer) = rest.strip_prefix("PU3AS") {
            rest = pointer.trim_start_matches(|c: char| c.is_ascii_digit());
            rest = rest.strip_prefix('V').unwrap_or(rest);
            rest = rest.strip_prefix("U7_Atomic").unwrap_or(rest);
        } else if let Some(vector) = rest.strip_prefix("Dv") {
            rest = vector.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
        }
        let length = if rest.starts_with("Dh") { 2 } else { 1 };
        rest.get(..length).unwrap_or("")
    }

    fn is_signed(self) -> bool {
        matches!(self.element(), "c" | "a" | "s" | "i" | "l")
    }
}

/// An atomic built-in function, by what its name says.
#[derive(Clone, Copy)]
struct AtomicBuiltin<'n> {
    op: AtomicOp,
    /// Without prefixes and suffixes: `add` of `atomic_fetch_add_explicit`.
    name: &'n str,
    is_float: bool,
    /// C11's are sequentially consistent without an argument for that, OpenCL 1.x's (section 6.12.11) are relaxed.
    is_c11: bool,
    /// Whether order and scope are arguments.
    is_explicit: bool,
}

impl<'n> AtomicBuiltin<'n> {
    /// The function of a name; `None` if there is no such atomic function.
    fn named(mangled: Mangled<'n>) -> Option<Self> {
        // The tool chain's own, which always say order and scope.
        let own = mangled.name.strip_prefix("__pumice_");
        let name = own.unwrap_or(mangled.name);
        let name = name
            .strip_prefix("atomic_")
            .or(name.strip_prefix("atom_"))?;
        let (name, is_fetch) = match name.strip_prefix("fetch_") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let (name, is_explicit) = match name.strip_suffix("_explicit") {
            Some(name) => (name, true),
            None => (name, own.is_some()),
        };
        let is_float = matches!(mangled.element(), "f" | "d" | "Dh");
        let op = match (name, is_float, mangled.is_signed()) {
            ("inc" | "add", false, _) => AtomicOp::Add,
            ("dec" | "sub", false, _) => AtomicOp::Sub,
            ("xchg" | "exchange", ..) => AtomicOp::Exchange,
            ("load", ..) => AtomicOp::Load,
            ("store", ..) => AtomicOp::Store,
            ("cmpxchg", false, _) => AtomicOp::CompareExchange,
            ("and", false, _) => AtomicOp::And,
            ("or", false, _) => AtomicOp::Or,
            ("xor", false, _) => AtomicOp::Xor,
            ("min", false, true) => AtomicOp::SMin,
            ("min", false, false) => AtomicOp::UMin,
            ("max", false, true) => AtomicOp::SMax,
            ("max", false, false) => AtomicOp::UMax,
            ("add" | "sub", true, _) => AtomicOp::FAdd,
            ("min", true, _) => AtomicOp::FMin,
            ("max", true, _) => AtomicOp::FMax,
            _ => return None,
        };
        Some(Self {
            op,
            name,
            is_float,
            is_c11: is_fetch || matches!(name, "load" | "store" | "exchange"),
            is_explicit,
        })
    }
}

impl<'a> FunctionParser<'_, 'a> {
    /// Expands the call of a built-in function by name; false if the name is no such function's.
    pub(super) fn named_builtin(
        &mut self,
        inst: &Instruction<'a>,
        name: &str,
        arguments: &[Rc<[Value]>],
    ) -> Result<bool, CompileError> {
        let Some(mangled) = demangle(name) else {
            return Ok(false);
        };
        let first = arguments.first().cloned().unwrap_or_default();
        match mangled.name {
            "mem_fence" | "read_mem_fence" | "write_mem_fence" => {
                let order = match mangled.name {
                    "read_mem_fence" => Semantics::ACQUIRE,
                    "write_mem_fence" => Semantics::RELEASE,
                    _ => Semantics::ACQUIRE_RELEASE,
                };
                let semantics = self.fence_semantics(order, &first);
                self.build().op0(IrOp::MemoryBarrier {
                    memory: Scope::Workgroup,
                    semantics,
                });
            }
            "sub_group_barrier" => {
                let semantics = self.fence_semantics(Semantics::ACQUIRE_RELEASE, &first);
                let memory = match arguments.get(1).and_then(|scope| scope.first()) {
                    Some(&scope) => self.memory_scope(inst, scope)?,
                    None => Scope::Subgroup,
                };
                self.build().op0(IrOp::ControlBarrier {
                    execution: Scope::Subgroup,
                    memory,
                    semantics,
                });
            }
            "__to_global" | "__to_local" | "__to_private" => self.cast_by_name(inst, &first)?,
            "get_fence" => self.get_fence(inst, &first)?,
            conversion if conversion.starts_with("convert_") => {
                let mode = conversion.rsplit_once('_').map_or("", |(_, mode)| mode);
                let rounding = match mode {
                    "rte" => Some(Rounding::Rte),
                    "rtz" => Some(Rounding::Rtz),
                    "rtp" => Some(Rounding::Rtp),
                    "rtn" => Some(Rounding::Rtn),
                    _ => None,
                };
                return self.convert_by_name(inst, rounding, mangled.is_signed(), &first);
            }
            _ => return self.atomic_by_name(inst, mangled, arguments),
        }
        Ok(true)
    }

    fn fence_semantics(&self, order: u32, flags: &[Value]) -> Semantics {
        let flags = flags
            .first()
            .and_then(|&flags| self.function.constant(flags))
            .unwrap_or(LOCAL_FENCE | GLOBAL_FENCE);
        let mut bits = order;
        if flags & LOCAL_FENCE != 0 {
            bits |= Semantics::WORKGROUP_MEMORY;
        }
        if flags & GLOBAL_FENCE != 0 {
            bits |= Semantics::CROSS_WORKGROUP_MEMORY;
        }
        if flags & IMAGE_FENCE != 0 {
            bits |= Semantics::IMAGE_MEMORY;
        }
        Semantics(bits)
    }

    /// The scope behind a `memory_scope` value.
    fn memory_scope(&self, inst: &Instruction<'a>, scope: Value) -> Result<Scope, CompileError> {
        Ok(match self.function.constant(scope) {
            Some(0) => Scope::Invocation,
            Some(1) => Scope::Workgroup,
            Some(2) => Scope::Device,
            Some(3) => Scope::CrossDevice,
            Some(4) => Scope::Subgroup,
            _ => return Err(inst.invalid("the memory scope is not a known constant")),
        })
    }

    /// The semantics behind a `memory_order` value.
    fn memory_order(&self, inst: &Instruction<'a>, order: Value) -> Result<u32, CompileError> {
        Ok(match self.function.constant(order) {
            Some(0) => 0,
            Some(2) => Semantics::ACQUIRE,
            Some(3) => Semantics::RELEASE,
            Some(4) => Semantics::ACQUIRE_RELEASE,
            Some(5) => Semantics::SEQUENTIALLY_CONSISTENT,
            _ => return Err(inst.invalid("the memory order is not a known constant")),
        })
    }

    fn cast_by_name(
        &mut self,
        inst: &Instruction<'a>,
        pointer: &[Value],
    ) -> Result<(), CompileError> {
        let to = self.source.types.scalar(inst.result_type()?)?;
        let (&[pointer], Type::Ptr(_)) = (pointer, to) else {
            return Err(inst.invalid("the operand or the result is not a pointer"));
        };
        match self.ty(pointer) {
            from if from == to => self.define(inst, &[pointer]),
            Type::Ptr(AddressSpace::Generic) => {
                self.convert1(inst, Convert::AddressSpaceCastExplicit, pointer, to)
            }
            // A pointer to another space is never one to this.
            _ => {
                let null = self.build().constant(to, 0);
                self.define(inst, &[null])
            }
        }
    }

    fn get_fence(&mut self, inst: &Instruction<'a>, pointer: &[Value]) -> Result<(), CompileError> {
        let &[pointer] = pointer else {
            return Err(inst.invalid("the operand is not a pointer"));
        };
        let space = self.function.space(pointer);
        let mut b = self.build();
        let global = b.i32(GLOBAL_FENCE as u32);
        let local = b.i32(LOCAL_FENCE as u32);
        let flags = match space {
            Some(AddressSpace::Generic) => {
                let ty = Type::Ptr(AddressSpace::Local);
                let cast = b.convert(Convert::AddressSpaceCastExplicit, pointer, ty);
                let null = b.constant(ty, 0);
                let is_local = b.compare(Compare::NotEqual, cast, null);
                b.select(is_local, local, global)
            }
            Some(AddressSpace::Local) => local,
            _ => global,
        };
        self.define(inst, &[flags])
    }

    fn convert_by_name(
        &mut self,
        inst: &Instruction<'a>,
        rounding: Option<Rounding>,
        signed: bool,
        from: &[Value],
    ) -> Result<bool, CompileError> {
        let to = self.source.types.scalar(inst.result_type()?)?;
        let number = |ty: Type| ty.is_int() || ty.is_float();
        if !to.is_float() || !from.iter().all(|&value| number(self.ty(value))) {
            return Ok(false);
        }
        self.each(inst, from.len(), |b, lane| {
            conversions::to_float(b, from[lane], to, signed, rounding)
        })?;
        Ok(true)
    }

    fn atomic_by_name(
        &mut self,
        inst: &Instruction<'a>,
        mangled: Mangled<'_>,
        arguments: &[Rc<[Value]>],
    ) -> Result<bool, CompileError> {
        let Some(called) = AtomicBuiltin::named(mangled) else {
            return Ok(false);
        };
        let op = called.op;
        let mut scalars = Values::new();
        for argument in arguments {
            match **argument {
                [value] => scalars.push(value),
                _ => return Err(inst.invalid("an operand is not a scalar")),
            }
        }
        let Some((&pointer, rest)) = scalars.split_first() else {
            return Err(inst.invalid("there is no pointer"));
        };
        if !self.ty(pointer).is_pointer() {
            return Err(inst.invalid("the first operand is not a pointer"));
        }
        let ty = match (op, rest) {
            (AtomicOp::Store, [value, ..]) => self.ty(*value),
            _ => self.source.types.scalar(inst.result_type()?)?,
        };
        let values = self.values_by_name(inst, called, rest, ty)?;
        let (scope, semantics) = self.order_by_name(inst, called, rest)?;
        let results = self.build().op(
            IrOp::Atomic {
                op,
                place: Place::Pointer(pointer),
                values,
                scope,
                semantics,
            },
            (op != AtomicOp::Store).then_some(ty),
        );
        if op != AtomicOp::Store {
            self.define(inst, &results)?;
        }
        Ok(true)
    }

    /// Values of an atomic built-in function, given or implied, from the arguments behind the pointer.
    fn values_by_name(
        &mut self,
        inst: &Instruction<'a>,
        called: AtomicBuiltin<'_>,
        arguments: &[Value],
        ty: Type,
    ) -> Result<Values, CompileError> {
        let values: Values = match (called.name, arguments) {
            ("load", _) => Values::new(),
            ("sub", &[value, ..]) if called.is_float => {
                smallvec![self.build().unary(Unary::FNegate, value)]
            }
            ("inc" | "dec", []) => smallvec![self.build().constant(ty, 1)],
            // In OpenCL C the comparator comes first.
            ("cmpxchg", &[comparator, value]) => smallvec![value, comparator],
            (_, &[value, ..]) => smallvec![value],
            _ => return Err(inst.invalid("operands are missing")),
        };
        if values.iter().any(|&value| self.ty(value) != ty) {
            return Err(inst.invalid("the operands' types do not match"));
        }
        Ok(values)
    }

    /// Scope and semantics of an atomic built-in function, from the arguments behind the pointer.
    fn order_by_name(
        &self,
        inst: &Instruction<'a>,
        called: AtomicBuiltin<'_>,
        arguments: &[Value],
    ) -> Result<(Scope, Semantics), CompileError> {
        let rest = match called.op {
            AtomicOp::Load => arguments,
            _ => arguments.get(1..).unwrap_or_default(),
        };
        let order = match rest {
            [order, ..] if called.is_explicit => self.memory_order(inst, *order)?,
            _ if called.is_c11 => Semantics::SEQUENTIALLY_CONSISTENT,
            _ => 0,
        };
        let scope = match rest {
            [_, scope, ..] if called.is_explicit => self.memory_scope(inst, *scope)?,
            _ => Scope::Device,
        };
        let memory = if order == 0 { 0 } else { ALL_MEMORY };
        Ok((scope, Semantics(order | memory)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let parts = |name| demangle(name).map(|m| (m.name, m.element(), m.is_signed()));
        assert_eq!(
            parts("_Z10atomic_incPU3AS1Vi"),
            Some(("atomic_inc", "i", true))
        );
        assert_eq!(
            parts("_Z16atomic_fetch_maxPU3AS4VU7_Atomicmm"),
            Some(("atomic_fetch_max", "m", false))
        );
        assert_eq!(
            parts("_Z15convert_double2Dv2_l"),
            Some(("convert_double2", "l", true))
        );
        assert_eq!(
            parts("_Z12convert_halfDh"),
            Some(("convert_half", "Dh", false))
        );
        assert_eq!(parts("__to_local"), Some(("__to_local", "", false)));
        for name in [
            "foo",
            "_Z",
            "_Z99foo",
            "_Z999999999999999999999foo",
            "_Z3fo",
        ] {
            assert_eq!(demangle(name), None);
        }
    }
}
