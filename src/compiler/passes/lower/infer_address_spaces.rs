//! Finds where generic pointers point.
//!
//! Needs: calls that pass generic pointers inlined. After it a generic pointer is left only where pointers to
//! different address spaces meet, or where it was loaded from memory or made from an integer;
//! `lower::pointers` gives those a tag.
//!
//! An optimistic data-flow analysis: a generic pointer has no address space until a named one flows into it
//! (from a cast, through `PtrAdd`, `Select` and block parameters); a second, different one makes it generic
//! for good. Those with one address space then get it as their type, and casts between equal types go. Where
//! something still wants a generic pointer a cast is put.

use crate::compiler::ir::{
    AddressSpace, Builder, Convert, Function, Inst, Module, Op, Place, Rewrite, Type, Value,
    rewrite_instructions,
};
use crate::compiler::{CompileError, Context};
use smallvec::smallvec;
use std::collections::HashMap;

/// Runs the pass on every function.
pub fn run(module: &mut Module, _cx: &Context<'_>) -> Result<(), CompileError> {
    for function in &mut module.functions {
        infer(function);
    }
    Ok(())
}

const GENERIC: Type = Type::Ptr(AddressSpace::Generic);

/// What is known of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Unknown,
    One(AddressSpace),
    Any,
}

impl Space {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, other) => other,
            (one, Self::Unknown) => one,
            (a, b) if a == b => a,
            _ => Self::Any,
        }
    }
}

fn infer(function: &mut Function) {
    let spaces = analyze(function);
    if spaces.is_empty() {
        return;
    }
    let mut retyped: HashMap<Value, AddressSpace> = HashMap::new();
    for (&value, &space) in &spaces {
        if let Space::One(space) = space {
            function.set_type(value, Type::Ptr(space));
            retyped.insert(value, space);
        }
    }
    let Ok(_) = rewrite_instructions(function, |b, inst| {
        Ok::<_, std::convert::Infallible>(fix(b, inst, &retyped))
    });
    fix_edges(function);
}

/// The address spaces of the function's generic pointers.
fn analyze(function: &Function) -> HashMap<Value, Space> {
    let mut spaces: HashMap<Value, Space> = HashMap::new();
    let mut flows: HashMap<Value, Vec<Value>> = HashMap::new();
    let mut work: Vec<Value> = Vec::new();
    let is_generic = |value: Value| function.ty(value) == GENERIC;
    for &param in function.params() {
        if is_generic(param) {
            spaces.insert(param, Space::Any);
        }
    }
    for &block in function.layout() {
        let data = function.block(block);
        for &inst in &data.insts {
            let data = function.inst(inst);
            for &result in data.results.iter().filter(|&&v| is_generic(v)) {
                let sources: Vec<Value> = match data.op {
                    Op::Const(0) | Op::Undef => Vec::new(),
                    Op::PtrAdd(base, _) => vec![base],
                    Op::Select(_, a, b) => vec![a, b],
                    Op::Convert(Convert::AddressSpaceCast, from) => vec![from],
                    _ => {
                        spaces.insert(result, Space::Any);
                        continue;
                    }
                };
                spaces.entry(result).or_insert(Space::Unknown);
                for source in sources {
                    flows.entry(source).or_default().push(result);
                }
            }
        }
        for edge in data.terminator.edges() {
            let params = &function.block(edge.block).params;
            for (&arg, &param) in edge.args.iter().zip(params) {
                if is_generic(param) {
                    spaces.entry(param).or_insert(Space::Unknown);
                    flows.entry(arg).or_default().push(param);
                }
            }
        }
    }
    for &source in flows.keys() {
        match function.space(source) {
            Some(AddressSpace::Generic) => {}
            // A constant pointer in a generic one is an address like a global one.
            Some(space) => {
                spaces.insert(source, Space::One(space));
            }
            None => {
                spaces.insert(source, Space::Any);
            }
        }
        work.push(source);
    }
    while let Some(source) = work.pop() {
        let space = spaces.get(&source).copied().unwrap_or(Space::Any);
        for &target in flows.get(&source).into_iter().flatten() {
            let old = spaces.get(&target).copied().unwrap_or(Space::Unknown);
            let new = old.join(space);
            if new != old {
                spaces.insert(target, new);
                work.push(target);
            }
        }
    }
    spaces.retain(|&value, _| is_generic(value));
    spaces
}

/// Adapts an instruction to the new types of its operands and result.
fn fix(b: &mut Builder<'_>, inst: Inst, retyped: &HashMap<Value, AddressSpace>) -> Rewrite {
    let data = b.function.inst(inst);
    let result = data.results.first().copied();
    match data.op.clone() {
        Op::Convert(
            convert @ (Convert::AddressSpaceCast | Convert::AddressSpaceCastExplicit),
            from,
        ) => {
            let (Some(result), Some(from_space)) = (result, b.function.space(from)) else {
                return Rewrite::Keep;
            };
            let ty = b.ty(result);
            if ty == b.ty(from) {
                return Rewrite::Replace(smallvec![from]);
            }
            let is_known = from_space != AddressSpace::Generic && ty != GENERIC;
            if is_known && convert == Convert::AddressSpaceCastExplicit {
                // Asked for another space than it points to.
                return Rewrite::Replace(smallvec![b.constant(ty, 0)]);
            }
            Rewrite::Keep
        }
        Op::PtrAdd(..) => Rewrite::Keep,
        Op::Select(condition, x, y) => {
            let ty = result.map(|v| b.ty(v));
            let Some(ty @ Type::Ptr(_)) = ty else {
                return Rewrite::Keep;
            };
            let (x, y) = (cast(b, x, ty), cast(b, y, ty));
            b.function.inst_mut(inst).op = Op::Select(condition, x, y);
            Rewrite::Keep
        }
        Op::Compare(op, x, y) => {
            let (x_type, y_type) = (b.ty(x), b.ty(y));
            if x_type != y_type && x_type.is_pointer() && y_type.is_pointer() {
                let (x, y) = (cast(b, x, GENERIC), cast(b, y, GENERIC));
                b.function.inst_mut(inst).op = Op::Compare(op, x, y);
            }
            Rewrite::Keep
        }
        mut op => {
            // A retyped pointer that is no longer just followed: stored, passed, converted.
            let place = match &op {
                Op::Load(Place::Pointer(p), _)
                | Op::Store(Place::Pointer(p), ..)
                | Op::Atomic {
                    place: Place::Pointer(p),
                    ..
                } => Some(*p),
                Op::Copy { .. } => return Rewrite::Keep,
                _ => None,
            };
            let is_access = place.is_some();
            let mut position = 0;
            let mut changed = false;
            op.for_each_operand_mut(|value| {
                let is_place = is_access && position == 0;
                position += 1;
                let needs_cast = retyped
                    .get(value)
                    .is_some_and(|space| !space.is_physical() || !is_number(b, inst));
                if !is_place && needs_cast {
                    *value = cast(b, *value, GENERIC);
                    changed = true;
                }
            });
            if changed {
                b.function.inst_mut(inst).op = op;
            }
            Rewrite::Keep
        }
    }
}

/// Whether the instruction turns a pointer into a number: a device address is the same in either type.
fn is_number(b: &Builder<'_>, inst: Inst) -> bool {
    matches!(
        b.function.inst(inst).op,
        Op::Convert(Convert::PtrToInt, _) | Op::Printf { .. }
    )
}

fn cast(b: &mut Builder<'_>, pointer: Value, ty: Type) -> Value {
    if b.ty(pointer) == ty {
        return pointer;
    }
    if let Some(bits @ 0) = b.function.constant(pointer) {
        return b.constant(ty, bits);
    }
    if matches!(b.function.op_of(pointer), Some(Op::Undef)) {
        return b.undef(ty);
    }
    b.convert(Convert::AddressSpaceCast, pointer, ty)
}

/// Casts arguments of edges and returned values whose type differs from what is expected.
fn fix_edges(function: &mut Function) {
    for block in function.layout().to_vec() {
        let mut terminator = std::mem::replace(
            &mut function.block_mut(block).terminator,
            crate::compiler::ir::Terminator::Unreachable,
        );
        let returned: Vec<Type> = function.return_types.clone();
        let targets: Vec<Vec<Type>> = terminator
            .edges()
            .iter()
            .map(|edge| {
                let params = &function.block(edge.block).params;
                params.iter().map(|&param| function.ty(param)).collect()
            })
            .collect();
        let mut b = Builder::new(function, block);
        for (edge, types) in terminator.edges_mut().into_iter().zip(targets) {
            for (arg, ty) in edge.args.iter_mut().zip(types) {
                if ty.is_pointer() {
                    *arg = cast(&mut b, *arg, ty);
                }
            }
        }
        if let crate::compiler::ir::Terminator::Return(values) = &mut terminator {
            for (value, ty) in values.iter_mut().zip(returned) {
                if ty.is_pointer() {
                    *value = cast(&mut b, *value, ty);
                }
            }
        }
        b.terminate(terminator);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Access, Edge, Terminator};

    fn pointers(function: &mut Function) -> [Value; 3] {
        let entry = function.entry();
        [
            function.add_param(entry, Type::Ptr(AddressSpace::Private)),
            function.add_param(entry, Type::Ptr(AddressSpace::Global)),
            function.add_param(entry, Type::Bool),
        ]
    }

    #[test]
    fn a_cast_pointer_keeps_its_space_through_arithmetic_and_loops() {
        let mut function = Function::new("f");
        let [private, _, condition] = pointers(&mut function);
        let entry = function.entry();
        let (head, exit) = (function.add_block(), function.add_block());
        let moving = function.add_param(head, GENERIC);
        let mut b = Builder::new(&mut function, entry);
        let generic = b.convert(Convert::AddressSpaceCast, private, GENERIC);
        b.jump(Edge::new(head, [generic]));
        b.switch_to(head);
        let value = b.load1(Place::Pointer(moving), Type::I32, Access::aligned(4));
        b.store1(Place::Pointer(moving), value, Access::aligned(4));
        let next = b.ptr_add_const(moving, 4);
        b.branch(condition, Edge::new(head, [next]), exit);
        b.switch_to(exit);
        b.terminate(Terminator::Return(smallvec![]));
        infer(&mut function);
        let text = function.to_string();
        assert!(!text.contains("generic"), "{text}");
        assert!(!text.contains("address_space_cast"), "{text}");
    }

    #[test]
    fn pointers_that_meet_stay_generic() {
        let mut function = Function::new("f");
        let [private, global, condition] = pointers(&mut function);
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let a = b.convert(Convert::AddressSpaceCast, private, GENERIC);
        let a = b.ptr_add_const(a, 8);
        let c = b.convert(Convert::AddressSpaceCast, global, GENERIC);
        let chosen = b.select(condition, a, c);
        b.load1(Place::Pointer(chosen), Type::I32, Access::aligned(4));
        b.terminate(Terminator::Return(smallvec![]));
        infer(&mut function);
        assert_eq!(function.ty(chosen), GENERIC);
        let Some(&Op::Select(_, x, y)) = function.op_of(chosen) else {
            panic!("the selection stays");
        };
        assert_eq!((function.ty(x), function.ty(y)), (GENERIC, GENERIC));
        assert_eq!(function.ty(a), Type::Ptr(AddressSpace::Private));
    }

    #[test]
    fn an_explicit_cast_to_another_space_is_null() {
        let mut function = Function::new("f");
        let [private, global, _] = pointers(&mut function);
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let generic = b.convert(Convert::AddressSpaceCast, private, GENERIC);
        let ty = Type::Ptr(AddressSpace::Global);
        let asked = b.convert(Convert::AddressSpaceCastExplicit, generic, ty);
        let same = b.compare(crate::compiler::ir::Compare::Equal, asked, global);
        b.terminate(Terminator::Return(smallvec![same]));
        infer(&mut function);
        let text = function.to_string();
        assert!(text.contains("ptr.global = const 0x0"), "{text}");
    }
}
