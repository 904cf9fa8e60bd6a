//! Raises the alignment of copies to what the origin of their pointers shows.
//!
//! Needs: calls inlined. A function that copies a structure from where its parameter points is parsed without knowing
//! how that is aligned (see [`crate::compiler::parse`] on copies), and a copy byte by byte would make an array of bytes of
//! the variable that it reads. Once the function is inlined the variable is seen.
//!
//! An optimistic data-flow analysis: the pointers that a block parameter may be are taken for aligned until one is not.

use crate::compiler::analysis::KnownBits;
use crate::compiler::ir::{Convert, Function, Module, Op, Type, Value};
use crate::compiler::{CompileError, Context};
use std::collections::HashMap;

/// No copy is done better for being aligned to more bytes.
const MOST: u32 = 16;

/// Runs the pass on every function.
pub fn run(module: &mut Module, _cx: &Context<'_>) -> Result<(), CompileError> {
    let local_sizes = module.most_local_sizes();
    let globals: Vec<u32> = module.globals.iter().map(|it| it.align_bytes).collect();
    for function in &mut module.functions {
        let copies: Vec<_> = function
            .layout()
            .iter()
            .flat_map(|&block| function.block(block).insts.iter().copied())
            .filter(|&inst| matches!(function.inst(inst).op, Op::Copy { .. }))
            .collect();
        if copies.is_empty() {
            continue;
        }
        let alignments = alignments(function, &globals, local_sizes);
        for inst in copies {
            if let Op::Copy {
                to,
                from,
                to_access,
                from_access,
                ..
            } = &mut function.inst_mut(inst).op
            {
                for (pointer, access) in [(to, to_access), (from, from_access)] {
                    let shown = alignments.get(pointer).copied().unwrap_or(1);
                    access.align_bytes = access.align_bytes.max(shown);
                }
            }
        }
    }
    Ok(())
}

/// The alignment of each pointer in bytes.
fn alignments(function: &Function, globals: &[u32], local_sizes: [u32; 3]) -> HashMap<Value, u32> {
    // What each pointer's alignment is the least of: a number, and those of other pointers.
    let mut alignments: HashMap<Value, u32> = HashMap::new();
    let mut flows: HashMap<Value, Vec<Value>> = HashMap::new();
    let is_pointer = |value: Value| matches!(function.ty(value), Type::Ptr(_));
    for &param in function.params().iter().filter(|&&param| is_pointer(param)) {
        alignments.insert(param, 1);
    }
    for &block in function.layout() {
        let data = function.block(block);
        for &inst in &data.insts {
            let data = function.inst(inst);
            for &result in data.results.iter().filter(|&&result| is_pointer(result)) {
                let (most, from): (u32, &[Value]) = match &data.op {
                    Op::Undef | Op::Const(0) => (MOST, &[]),
                    Op::VariableAddress(id) => (function.variables[id.index()].align_bytes, &[]),
                    Op::GlobalAddress(id) => (globals[id.index()], &[]),
                    Op::Convert(Convert::AddressSpaceCast, from) => (MOST, &[*from]),
                    Op::Select(_, a, b) => (MOST, &[*a, *b]),
                    Op::PtrAdd(base, offset) => (factor(function, local_sizes, *offset), &[*base]),
                    _ => (1, &[]),
                };
                alignments.insert(result, most.clamp(1, MOST));
                for &from in from {
                    flows.entry(from).or_default().push(result);
                }
            }
        }
        for edge in data.terminator.edges() {
            let params = &function.block(edge.block).params;
            for (&arg, &param) in edge.args.iter().zip(params) {
                if is_pointer(param) {
                    alignments.entry(param).or_insert(MOST);
                    flows.entry(arg).or_default().push(param);
                }
            }
        }
    }
    let mut changed: Vec<Value> = alignments.keys().copied().collect();
    while let Some(from) = changed.pop() {
        let most = alignments[&from];
        for &to in flows.get(&from).into_iter().flatten() {
            if let Some(alignment) = alignments.get_mut(&to)
                && *alignment > most
            {
                *alignment = most;
                changed.push(to);
            }
        }
    }
    alignments
}

/// The largest power of two that a number is known to be a multiple of, up to [`MOST`].
fn factor(function: &Function, local_sizes: [u32; 3], number: Value) -> u32 {
    let zeros = KnownBits::of(function, local_sizes, number).zeros;
    1 << zeros.trailing_ones().min(MOST.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Access, AddressSpace, Builder, Edge, PrivateVariable, Terminator};
    use crate::compiler::passes::helpers::testing;
    use smallvec::smallvec;

    const PRIVATE: Type = Type::Ptr(AddressSpace::Private);

    /// What a copy's source is aligned to that was not known to be, from `offsets` of variables where paths meet.
    fn alignment_of(offsets: [i64; 2]) -> u32 {
        let mut function = Function::new("k");
        let [from, to] = ["from", "to"].map(|name| {
            function.add_variable(PrivateVariable {
                name: name.into(),
                size_bytes: 64,
                align_bytes: 8,
            })
        });
        let entry = function.entry();
        let condition = function.add_param(entry, Type::Bool);
        let meet = function.add_block();
        let pointer = function.add_param(meet, PRIVATE);
        let mut b = Builder::new(&mut function, entry);
        let start = b.op1(Op::VariableAddress(from), PRIVATE);
        let [one, other] = offsets.map(|offset| b.ptr_add_const(start, offset));
        b.branch(condition, Edge::new(meet, [one]), Edge::new(meet, [other]));
        b.switch_to(meet);
        let to = b.op1(Op::VariableAddress(to), PRIVATE);
        let size_bytes = b.i64(20);
        b.op0(Op::Copy {
            to,
            from: pointer,
            size_bytes,
            to_access: Access::aligned(4),
            from_access: Access::aligned(1),
        });
        b.terminate(Terminator::Return(smallvec![]));
        let mut module = testing::module_of(function);
        testing::run(&mut module, run).unwrap();
        let function = &module.functions[0];
        let copies = function.block(meet).insts.iter();
        let mut found = copies.filter_map(|&inst| match function.inst(inst).op {
            Op::Copy { from_access, .. } => Some(from_access.align_bytes),
            _ => None,
        });
        found.next_back().unwrap()
    }

    #[test]
    fn a_copy_is_as_aligned_as_the_least_aligned_of_its_origins() {
        assert_eq!(alignment_of([0, 16]), 8);
        assert_eq!(alignment_of([8, 4]), 4);
        assert_eq!(alignment_of([3, 8]), 1);
    }
}
