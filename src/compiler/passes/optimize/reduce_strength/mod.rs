//! Counts addresses on from one iteration of a loop to the next, where each iteration would compute them anew.
//!
//! **Why.** For `a[row * n + k]` with a counter `k` of 32 bits each iteration adds, widens, multiplies and adds 64 bits before
//! memory is asked for anything. Counted on, the address is there when the iteration begins; in iterations that are joined it is
//! the same for all of them but for constants, which are part of the access. LLVM would do it (`-indvars-widen-indvars`,
//! LSR), but the back end of clang-22 makes wrong code of that.
//!
//! **How.** The place behind a pointer is taken apart into a sum: what is the same in all iterations, counters times what is,
//! and constants. 32-bit integers are widened summand by summand where the source rules out that they wrap around
//! (`NoSignedWrap`, `NoUnsignedWrap`: C leaves signed overflow undefined). Places that differ by a constant alone share a
//! pointer, a parameter of the loop's header. Where something else is added in each iteration, only what stays the same is
//! taken out of the loop.
//!
//! **Needs** operations as they were parsed, before `simplify`, which forgets what does not wrap around. Does nothing
//! unless the device asks for it ([`crate::compiler::Capabilities::counts_addresses`]).

mod sum;

use crate::compiler::analysis::Loops;
use crate::compiler::ir::{Binary, Builder, Function, Inst, Module, Place, Type, Value};
use crate::compiler::{CompileError, Context};
use std::collections::HashMap;
use sum::{Counted, Extended, Part, Sum, Term, Terms};

/// Pointers that a loop counts on at most: each takes two registers.
const MOST_POINTERS: usize = 8;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if !(cx.capabilities.counts_addresses && cx.capabilities.int64) {
        return Ok(());
    }
    for function in &mut module.functions {
        reduce(function);
    }
    Ok(())
}

fn reduce(function: &mut Function) {
    function.sort_layout();
    let loops = function.analysis::<Loops>();
    for (found, has_inner) in loops.all().iter().zip(loops.have_inner()) {
        if !has_inner && let Some(counted) = Counted::new(function, found) {
            let places = places(function, &counted);
            rewrite(function, &counted, &places);
        }
    }
}

/// Accesses whose places differ by constants alone.
struct Group {
    base: Value,
    terms: Terms,
    members: Vec<(Inst, u64)>,
}

/// What the loop accesses in device memory, where a pointer can be counted on or a part of it taken out.
fn places(function: &Function, counted: &Counted) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for &block in &counted.blocks {
        for &inst in &function.block(block).insts {
            let Some(Place::Pointer(pointer)) = function.inst(inst).op.place() else {
                continue;
            };
            if !matches!(function.ty(pointer), Type::Ptr(space) if space.is_physical()) {
                continue;
            }
            let Some(sum) = Sum::of(function, counted, pointer) else {
                continue;
            };
            if !is_worth_it(&sum) {
                continue;
            }
            let member = (inst, sum.constant);
            let is_its = |group: &Group| (group.base, &group.terms) == (sum.base, &sum.terms);
            match groups.iter().position(is_its) {
                Some(index) => groups[index].members.push(member),
                None if groups.len() < MOST_POINTERS => groups.push(Group {
                    base: sum.base,
                    terms: sum.terms,
                    members: vec![member],
                }),
                None => {}
            }
        }
    }
    groups
}

/// Whether an iteration has less to do afterwards: of other parts it adds one at most, which is there already, and there is
/// something to take out.
fn is_worth_it(sum: &Sum) -> bool {
    let counts = sum
        .terms
        .iter()
        .any(|term| matches!(term.part, Part::Counter(..)));
    let mut others = sum.terms.iter().filter(|term| term.is_other());
    match (others.next(), others.next()) {
        (None, _) => counts,
        (Some(other), None) => !counts && other.by.is_none() && sum.terms.iter().any(Term::is_same),
        _ => false,
    }
}

/// Gives each group its pointer.
fn rewrite(function: &mut Function, counted: &Counted, groups: &[Group]) {
    // By instruction: the pointer to be used, and what is added to it in each iteration.
    let mut places: HashMap<Inst, (Value, Option<Term>, i64)> = HashMap::new();
    for group in groups {
        let Some(least) = group.members.iter().map(|&(_, at)| at as i64).min() else {
            continue;
        };
        let pointer = pointer_of_group(function, counted, group, least);
        let other = group.terms.iter().copied().find(Term::is_other);
        for &(inst, at) in &group.members {
            let more = (at as i64).wrapping_sub(least);
            places.insert(inst, (pointer, other, more));
        }
    }
    for &block in &counted.blocks {
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        let mut b = Builder::new(function, block);
        for inst in insts {
            if let Some(&(pointer, other, more)) = places.get(&inst) {
                let pointer = match other {
                    Some(Term {
                        part: Part::Other(value),
                        factor,
                        ..
                    }) => {
                        let value = value.build(&mut b);
                        let offset = b.binary_const(Binary::Mul, value, factor);
                        b.ptr_add(pointer, offset)
                    }
                    _ => pointer,
                };
                let pointer = b.ptr_add_const(pointer, more);
                if let Some(place) = b.function.inst_mut(inst).op.place_mut() {
                    *place = Place::Pointer(pointer);
                }
            }
            b.push(inst);
        }
    }
}

/// The pointer of a group, with its constant: from before the loop, and counted on by it where the places are.
fn pointer_of_group(
    function: &mut Function,
    counted: &Counted,
    group: &Group,
    constant: i64,
) -> Value {
    let counter_of = |term: &Term| match term.part {
        Part::Counter(index, extension) => Some((&counted.counters[index], extension)),
        _ => None,
    };
    let mut b = Builder::new(function, counted.before);
    let mut pointer = group.base;
    for term in &group.terms {
        let first = match (term.part, counter_of(term)) {
            (_, Some((counter, extension))) => Extended {
                value: counter.first,
                extension,
            },
            (Part::Same(value), _) => value,
            _ => continue,
        };
        let offset = product(&mut b, first, term);
        pointer = b.ptr_add(pointer, offset);
    }
    pointer = b.ptr_add_const(pointer, constant);
    let steps: Vec<Value> = group
        .terms
        .iter()
        .filter_map(|term| {
            let (counter, extension) = counter_of(term)?;
            let value = counter.step;
            Some(product(&mut b, Extended { value, extension }, term))
        })
        .collect();
    let step = steps
        .into_iter()
        .reduce(|sum, step| b.binary(Binary::Add, sum, step));
    let Some(step) = step else {
        return pointer;
    };
    let ty = b.ty(pointer);
    let param = function.add_param(counted.header, ty);
    let next = Builder::new(function, counted.latch).ptr_add(param, step);
    for (block, value) in [(counted.before, pointer), (counted.latch, next)] {
        for edge in function.block_mut(block).terminator.edges_mut() {
            if edge.block == counted.header {
                edge.args.push(value);
            }
        }
    }
    param
}

/// A number times what its term is multiplied by, where the loop has not begun.
fn product(b: &mut Builder<'_>, value: Extended, term: &Term) -> Value {
    let value = build_before(b, value);
    let product = match term.by {
        Some(by) => {
            let by = build_before(b, by);
            b.binary(Binary::Mul, value, by)
        }
        None => value,
    };
    b.binary_const(Binary::Mul, product, term.factor)
}

/// Builds a number that is the same in all iterations. Constants may lie in the loop.
fn build_before(b: &mut Builder<'_>, Extended { value, extension }: Extended) -> Value {
    let value = match b.function.constant(value) {
        Some(bits) => b.constant(b.ty(value), bits),
        None => value,
    };
    Extended { value, extension }.build(b)
}

#[cfg(test)]
mod tests;
