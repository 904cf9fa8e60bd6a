//! Finds how well accesses to arrays in local memory are aligned, beyond what the program says.
//!
//! **Why.** clang gives an access through a cast pointer the alignment of the variable behind it: four bytes for four
//! floats of an array of floats. The array lies as `lower::pointers` has placed it, and where the index is a multiple of
//! four, the access is to a whole vector ([`crate::compiler::Capabilities::serial_memory`] says where that matters).
//!
//! **How.** Zero bits at the low end of values are followed through arithmetic and around loops, from the assumption that
//! all bits are zero down to what holds everywhere.
//!
//! **Needs** pointers lowered. Changes nothing but the alignment of accesses.

use crate::compiler::ir::{
    ArrayId, ArrayStorage, Binary, Convert, Function, Module, Op, Place, Value,
};
use crate::compiler::{CompileError, Context};
use std::collections::HashSet;

/// More zero bits are of no use.
const MOST: u32 = 16;

pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if !cx.capabilities.serial_memory {
        return Ok(());
    }
    let local: HashSet<ArrayId> = (0..)
        .map(ArrayId)
        .zip(&module.arrays)
        .filter(|(_, array)| array.storage == ArrayStorage::Workgroup)
        .map(|(id, _)| id)
        .collect();
    let sizes: Vec<u32> = module
        .arrays
        .iter()
        .map(|array| array.element.size_bytes())
        .collect();
    for function in &mut module.functions {
        align(function, &local, &sizes);
    }
    Ok(())
}

fn align(function: &mut Function, local: &HashSet<ArrayId>, sizes: &[u32]) {
    let mut wide = Vec::new();
    for &block in function.layout() {
        for &inst in &function.block(block).insts {
            let data = function.inst(inst);
            let (place, count) = match &data.op {
                Op::Load(place, _) => (place, data.results.len()),
                Op::Store(place, values, _) => (place, values.len()),
                _ => continue,
            };
            if let Place::Element { array, index } = *place
                && count > 1
                && local.contains(&array)
            {
                wide.push((inst, array, index, count as u32));
            }
        }
    }
    if wide.is_empty() {
        return;
    }
    let zeros = zero_bits(function);
    for (inst, array, index, count) in wide {
        // No more than the access has: similar ones stay similar.
        let size = sizes[array.index()];
        let bytes = (size << zeros[index.index()]).min(size * count.next_power_of_two());
        if let Op::Load(_, access) | Op::Store(.., access) = &mut function.inst_mut(inst).op {
            access.align_bytes = access.align_bytes.max(bytes);
        }
    }
}

/// By value: how many of its lowest bits are zero, at least.
fn zero_bits(function: &Function) -> Vec<u32> {
    let mut zeros = vec![MOST; function.value_count()];
    for &param in function.params() {
        zeros[param.index()] = 0;
    }
    let order = function.reverse_postorder();
    let mut changed = true;
    while changed {
        changed = false;
        let mut lower = |zeros: &mut Vec<u32>, value: Value, to: u32| {
            let old = zeros[value.index()];
            zeros[value.index()] = old.min(to);
            changed |= to < old;
        };
        for &block in &order {
            let data = function.block(block);
            for &inst in &data.insts {
                let inst = function.inst(inst);
                let known = match *inst.results {
                    [_] => of_operation(function, &zeros, &inst.op),
                    _ => 0,
                };
                for &result in &inst.results {
                    lower(&mut zeros, result, known);
                }
            }
            for edge in data.terminator.edges() {
                for (&param, &arg) in function.block(edge.block).params.iter().zip(&edge.args) {
                    let known = zeros[arg.index()];
                    lower(&mut zeros, param, known);
                }
            }
        }
    }
    zeros
}

fn of_operation(function: &Function, zeros: &[u32], op: &Op) -> u32 {
    let of = |value: Value| zeros[value.index()];
    let amount = |value: Value| function.constant(value).map(|bits| bits.min(64) as u32);
    let known = match *op {
        Op::Const(0) => MOST,
        Op::Const(bits) => bits.trailing_zeros(),
        Op::Binary(Binary::Add | Binary::Sub | Binary::Or | Binary::Xor, a, b)
        | Op::Select(_, a, b) => of(a).min(of(b)),
        Op::Binary(Binary::And, a, b) => of(a).max(of(b)),
        Op::Binary(Binary::Mul, a, b) => of(a) + of(b),
        Op::Binary(Binary::Shl, a, by) => of(a) + amount(by).unwrap_or(0),
        Op::Binary(Binary::LShr | Binary::AShr, a, by) => {
            amount(by).map_or(0, |by| of(a).saturating_sub(by))
        }
        Op::Convert(Convert::Truncate | Convert::ZeroExtend | Convert::SignExtend, a) => of(a),
        _ => 0,
    };
    known.min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Builder, Compare, Edge, Terminator, Type};

    #[test]
    fn zero_bits_go_through_arithmetic() {
        let mut function = Function::new("f");
        let entry = function.entry();
        let x = function.add_param(entry, Type::I32);
        let mut b = Builder::new(&mut function, entry);
        let four = b.binary_const(Binary::Shl, x, 2);
        let twelve = b.binary_const(Binary::Mul, x, 12);
        let sum = b.binary(Binary::Add, four, twelve);
        let odd = b.binary_const(Binary::Add, sum, 6);
        let half = b.binary_const(Binary::LShr, four, 1);
        let masked = b.binary_const(Binary::And, x, 0xf8);
        b.terminate(Terminator::Return(Default::default()));
        let zeros = zero_bits(&function);
        let of = |value: Value| zeros[value.index()];
        assert_eq!([x, four, twelve, sum, odd].map(of), [0, 2, 2, 2, 1]);
        assert_eq!([half, masked].map(of), [1, 3]);
    }

    #[test]
    fn a_counter_is_as_even_as_its_start_and_its_step() {
        for (start, step, known) in [(0, 16, 4), (8, 16, 3), (0, 6, 1), (1, 16, 0)] {
            let mut function = Function::new("f");
            let entry = function.entry();
            let [iteration, done] = [0; 2].map(|_| function.add_block());
            let counter = function.add_param(iteration, Type::I32);
            let mut b = Builder::new(&mut function, entry);
            let start = b.i32(start);
            b.jump(Edge::new(iteration, [start]));
            b.switch_to(iteration);
            let next = b.binary_const(Binary::Add, counter, step);
            let limit = b.i32(4096);
            let more = b.compare(Compare::ULess, next, limit);
            b.branch(more, Edge::new(iteration, [next]), done);
            b.switch_to(done);
            b.terminate(Terminator::Return(Default::default()));
            assert_eq!(zero_bits(&function)[counter.index()], known);
        }
    }
}
