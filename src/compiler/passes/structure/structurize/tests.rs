//! Structured functions do what they did before, obey the rules, and look like what a person would write.

use super::{check, random, structurize};
use crate::compiler::emit::emit;
use crate::compiler::emit::validate::assert_valid;
use crate::compiler::interp::{Event, Interpreter, Location, Trap};
use crate::compiler::ir::{
    Array, ArrayLength, ArrayStorage, Binary, Block, Builder, BuiltIn, Compare, Edge, FuncId,
    Function, Kernel, Module, Op, Scope, Semantics, Terminator, Type, Value,
};
use crate::compiler::passes::structure::define_arguments;
use crate::compiler::passes::workarounds::hold_loop_state;
use crate::compiler::passes::workarounds::leave_loops_at_header;
use crate::compiler::{Capabilities, Context, Library, Options, Sharing};
use smallvec::smallvec;
use std::collections::HashSet;

fn module_of(functions: Vec<Function>) -> Module {
    let mut module = Module::default();
    for function in functions {
        module.add_function(function);
    }
    module.add_array(Array {
        name: "state".into(),
        storage: ArrayStorage::Private,
        element: Type::I32,
        length: ArrayLength {
            elements: 1,
            spec_ids: Vec::new(),
        },
    });
    module
}

/// Panics unless the structured function does what the original does, for some arguments.
fn assert_same(original: &Function, structured: &Function) {
    assert_same_with(original, structured, &[]);
}

/// Panics unless the structured function, with `arrays` of its own, does what the original does, for some arguments.
pub fn assert_same_with(original: &Function, structured: &Function, arrays: &[Array]) {
    let before = module_of(vec![original.clone()]);
    let mut after = module_of(vec![structured.clone()]);
    after.arrays.extend_from_slice(arrays);
    for seed in 0..3u64 {
        let args = [(seed * 0x1234_5677) & 0xFFFF_FFFF, seed + 7];
        let mut first = Interpreter::new(&before);
        first.steps = 1_000;
        let expected = first.run(FuncId(0), &args);
        let mut second = Interpreter::new(&after);
        // What lies in arrays in between takes steps of its own.
        second.steps = if arrays.is_empty() { 7_000 } else { 70_000 };
        // What is undefined must not matter.
        second.undefined = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        second.inputs.insert(BuiltIn::NumWorkgroups(0), 1);
        second.arrays = first
            .arrays
            .keys()
            .map(|&id| (id, vec![0xABAB_ABAB]))
            .collect();
        let got = second.run(FuncId(0), &args);
        let is_own = |event: &Event| matches!(event, Event::Write(Location::Element(array, _), _) if array.0 > 0);
        second.events.retain(|event| !is_own(event));
        let shown = || format!("{original}\n\n{structured}");
        if expected == Err(Trap::Steps) {
            let length = first.events.len().min(second.events.len());
            assert!(
                got == expected || length == first.events.len(),
                "{}",
                shown()
            );
            assert_eq!(
                first.events[..length],
                second.events[..length],
                "{}",
                shown()
            );
        } else {
            assert_eq!(expected, got, "{}", shown());
            assert_eq!(first.events, second.events, "{}", shown());
        }
    }
}

fn structured(original: &Function) -> Function {
    structured_with(original, true)
}

fn structured_with(original: &Function, leave_at_end: bool) -> Function {
    let mut function = original.clone();
    structurize(&mut function, &HashSet::new(), leave_at_end).unwrap_or_else(|error| {
        panic!("{error}\n{original}\n\n{function}");
    });
    assert_structured(original, &function);
    function
}

/// Panics unless the function obeys the rules of structured control flow.
pub fn assert_structured(original: &Function, function: &Function) {
    let wrong = check::violations(function);
    assert!(wrong.is_empty(), "{wrong:#?}\n{original}\n\n{function}");
}

/// Arms that lead to the next two of as many targets, each of which takes four values.
fn arms_to_targets(count: u32) -> Function {
    let mut function = Function::new("f");
    function.return_types = vec![Type::I32];
    let entry = function.entry();
    let params = [0; 2].map(|_| function.add_param(entry, Type::I32));
    let arms: Vec<Block> = (0..count).map(|_| function.add_block()).collect();
    let targets: Vec<Block> = (0..count).map(|_| function.add_block()).collect();
    for (number, &target) in (0..).zip(&targets) {
        let taken = [0; 4].map(|_| function.add_param(target, Type::I32));
        let mut b = Builder::new(&mut function, target);
        let start = b.i32(number);
        let sum = taken.into_iter().fold(start, |sum, it| {
            let scaled = b.binary_const(Binary::Mul, sum, 7);
            b.binary(Binary::Add, scaled, it)
        });
        b.terminate(Terminator::Return(smallvec![sum]));
    }
    for (number, &arm) in arms.iter().enumerate() {
        let mut b = Builder::new(&mut function, arm);
        let args = [1, 2, 3, 4].map(|it| b.binary_const(Binary::Add, params[1], it));
        let three = b.i32(3);
        let condition = b.compare(Compare::ULess, params[1], three);
        let to = |place: usize| Edge::new(targets[place % targets.len()], args);
        b.branch(condition, to(number), to(number + 1));
    }
    let mut b = Builder::new(&mut function, entry);
    let low = b.binary_const(Binary::And, params[0], 15);
    b.terminate(Terminator::Switch {
        value: low,
        cases: (0..).zip(arms.iter().map(|&arm| arm.into())).collect(),
        default: arms[0].into(),
    });
    function
}

#[test]
fn parameters_grow_with_the_targets_of_a_dispatch() {
    let original = arms_to_targets(16);
    let function = structured(&original);
    assert_same(&original, &function);
    let blocks = function.layout().iter();
    let params: usize = blocks.map(|&it| function.block(it).params.len()).sum();
    // A selector and four values for each of the targets, and what these had.
    assert!(params <= 16 * 10, "{params}\n{function}");
}

/// Emits all functions in one module, called by a kernel, and has it validated.
fn assert_emits(functions: Vec<Function>) {
    let returns: Vec<Vec<Type>> = functions.iter().map(|f| f.return_types.clone()).collect();
    let mut module = module_of(functions);
    let mut kernel = Function::new("kernel");
    let entry = kernel.entry();
    let mut b = Builder::new(&mut kernel, entry);
    let argument = b.i32(3);
    for (index, types) in returns.into_iter().enumerate() {
        b.op(
            Op::Call(FuncId(index as u32), smallvec![argument; 2]),
            types,
        );
    }
    b.terminate(Terminator::Return(smallvec![]));
    let function = module.add_function(kernel);
    module.kernels.push(Kernel::new("kernel", function));
    let (capabilities, options) = (Capabilities::full(), Options::default());
    let library = Library::empty();
    let cx = Context {
        capabilities: &capabilities,
        options: &options,
        library: &library,
        sharing: Sharing::All,
    };
    assert_valid(&emit(&module, &cx).unwrap().spirv.words().unwrap());
}

#[test]
fn random_graphs_keep_their_meaning_and_are_structured() {
    for seed in 0..2_500 {
        let original = random::function(seed, 4 + seed as usize % 37);
        assert_same(&original, &structured(&original));
    }
}

#[test]
fn random_graphs_keep_their_meaning_when_loop_state_is_held() {
    let mut all = Vec::new();
    for seed in 5_000..5_600 {
        let original = random::function(seed, 4 + seed as usize % 37);
        let mut function = structured_with(&original, false);
        hold_loop_state::hold(&mut function);
        assert_structured(&original, &function);
        assert_same(&original, &function);
        if seed < 5_100 {
            all.push(function);
        }
    }
    assert_emits(all);
}

#[test]
fn random_graphs_keep_their_meaning_when_loops_are_left_at_their_header() {
    let (mut all, mut changed) = (Vec::new(), 0);
    for seed in 7_000..7_600 {
        let original = random::function(seed, 4 + seed as usize % 37);
        let mut function = structured_with(&original, false);
        changed += leave_loops_at_header::add_exits(&mut function);
        assert_structured(&original, &function);
        assert_same(&original, &function);
        if seed < 7_100 {
            all.push(function);
        }
    }
    assert_emits(all);
    assert!(changed > 100, "{changed}");
}

#[test]
fn random_graphs_keep_their_meaning_when_all_arguments_are_defined() {
    let mut all = Vec::new();
    for seed in 6_000..7_000 {
        let original = random::function(seed, 4 + seed as usize % 37);
        let mut function = structured(&original);
        define_arguments::define(&mut function);
        assert_structured(&original, &function);
        assert_same(&original, &function);
        if seed < 6_100 {
            all.push(function);
        }
    }
    assert_emits(all);
}

#[test]
fn random_graphs_are_valid_spirv() {
    for first in (0..300).step_by(50) {
        let functions = (first..first + 50)
            .map(|seed| structured(&random::function(seed, 4 + seed as usize % 37)))
            .collect();
        assert_emits(functions);
    }
}

#[test]
fn a_large_graph_takes_no_stack() {
    // Ten thousand nested ifs, each with an else that leaves all of them.
    let mut f = Function::new("deep");
    let entry = f.entry();
    let x = f.add_param(entry, Type::I32);
    f.add_param(entry, Type::I32);
    let end = f.add_block();
    f.block_mut(end).terminator = Terminator::Return(smallvec![]);
    let mut block = entry;
    for depth in 0..2_000 {
        let next = f.add_block();
        let mut b = Builder::new(&mut f, block);
        let bit = b.i32(depth);
        let c = b.compare(Compare::ULess, x, bit);
        b.branch(c, next, end);
        block = next;
    }
    f.block_mut(block).terminator = Terminator::Jump(end.into());
    structurize(&mut f, &HashSet::new(), true).unwrap();
}

/// `for (…) { a = …; if (…) goto one; b = …; if (…) goto two; } one: use(a); two: use(b);`, again and again; all values
/// are used at the very end too.
fn loops_with_two_exits(count: usize) -> Function {
    let mut f = shaped(5 * count + 1, |b, blocks, x| {
        let (groups, end) = (blocks.chunks_exact(5), blocks[5 * count]);
        let mut left = Vec::new();
        for (index, group) in groups.enumerate() {
            let &[head, body, one, two, after] = group else {
                return;
            };
            b.jump(head);
            let c = step(b, head, x);
            let first = b.binary_const(Binary::Add, x, index as u64);
            b.branch(c, one, body);
            let c = step(b, body, x);
            let second = b.binary_const(Binary::Xor, first, 3);
            b.branch(c, two, head);
            for (exit, value) in [(one, first), (two, second)] {
                step(b, exit, value);
                b.op0(Op::ControlBarrier {
                    execution: Scope::Workgroup,
                    memory: Scope::Workgroup,
                    semantics: Semantics(0),
                });
                b.jump(after);
            }
            step(b, after, first);
            left.push(first);
        }
        b.jump(end);
        b.switch_to(end);
        let sum = left
            .into_iter()
            .reduce(|sum, value| b.binary(Binary::Add, sum, value));
        b.terminate(Terminator::Return(sum.into_iter().collect()));
    });
    f.return_types = vec![Type::I32];
    f
}

#[test]
fn loops_with_several_exits_cost_no_more_each_where_there_are_many() {
    let original = loops_with_two_exits(3);
    assert_same(&original, &structured(&original));
    let looked_at = |count| {
        let mut function = loops_with_two_exits(count);
        structurize(&mut function, &HashSet::new(), true).unwrap()
    };
    let (few, many) = (looked_at(50), looked_at(400));
    assert!(
        few > 50 && many < 9 * few,
        "{few} uses, {many} of 8 times the loops"
    );
}

/// A function made of `count` blocks beside the entry, by a builder that is given them.
fn shaped(count: usize, build: impl FnOnce(&mut Builder, &[Block], Value)) -> Function {
    let mut f = Function::new("shape");
    let entry = f.entry();
    let x = f.add_param(entry, Type::I32);
    f.add_param(entry, Type::I32);
    let blocks: Vec<Block> = (0..count).map(|_| f.add_block()).collect();
    let mut b = Builder::new(&mut f, entry);
    build(&mut b, &blocks, x);
    f
}

/// The block's trace and a condition on its number.
fn step(b: &mut Builder, block: Block, x: Value) -> Value {
    b.switch_to(block);
    let index = b.i32(0);
    let place = crate::compiler::ir::Place::Element {
        array: crate::compiler::ir::ArrayId(0),
        index,
    };
    let access = crate::compiler::ir::Access::aligned(4);
    let old = b.load1(place, Type::I32, access);
    let number = b.i32(block.0 + 1);
    let mixed = b.binary(Binary::Add, old, number);
    let mixed = b.binary_const(Binary::Mul, mixed, 0x9E37_79B1);
    b.store1(place, mixed, access);
    let limit = b.binary(Binary::LShr, mixed, number);
    b.compare(Compare::ULess, limit, x)
}

/// Structures a shape that needs no selector, and checks that it got none.
fn assert_plain(original: &Function) -> Function {
    let function = structured(original);
    assert_same(original, &function);
    let compares = |f: &Function| {
        let insts = f.layout().iter().flat_map(|&block| &f.block(block).insts);
        insts
            .filter(|&&inst| matches!(f.inst(inst).op, Op::Compare(..) | Op::Select(..)))
            .count()
    };
    assert_eq!(
        compares(original),
        compares(&function),
        "{original}\n\n{function}"
    );
    assert_emits(vec![function.clone()]);
    function
}

fn ret() -> Terminator {
    Terminator::Return(smallvec![])
}

#[test]
fn if_without_else_has_no_new_blocks() {
    let f = shaped(2, |b, blocks, x| {
        let entry = b.block();
        let c = step(b, entry, x);
        b.branch(c, blocks[0], blocks[1]);
        step(b, blocks[0], x);
        b.jump(blocks[1]);
        step(b, blocks[1], x);
        b.terminate(ret());
    });
    assert_eq!(assert_plain(&f).layout().len(), 3);
}

#[test]
fn if_with_else_has_no_new_blocks() {
    let f = shaped(3, |b, blocks, x| {
        let entry = b.block();
        let c = step(b, entry, x);
        b.branch(c, blocks[0], blocks[1]);
        for block in &blocks[..2] {
            step(b, *block, x);
            b.jump(blocks[2]);
        }
        step(b, blocks[2], x);
        b.terminate(ret());
    });
    assert_eq!(assert_plain(&f).layout().len(), 4);
}

/// `do { if (a) continue; if (b) { …; break; } … } while (c);` with the condition in the latch.
#[test]
fn a_loop_with_break_and_continue_is_plain() {
    let f = shaped(7, |b, blocks, x| {
        let &[head, rest, found, tail, latch, exit, end] = blocks else {
            return;
        };
        b.jump(head);
        let c = step(b, head, x);
        b.branch(c, latch, rest);
        let c = step(b, rest, x);
        b.branch(c, found, tail);
        step(b, found, x);
        b.jump(end);
        step(b, tail, x);
        b.jump(latch);
        let c = step(b, latch, x);
        b.branch(c, head, exit);
        step(b, exit, x);
        b.jump(end);
        step(b, end, x);
        b.terminate(ret());
    });
    assert_plain(&f);
}

/// `for (…) { for (…) { if (a) return; } }`
#[test]
fn nested_loops_with_a_return_are_plain() {
    let f = shaped(6, |b, blocks, x| {
        let &[outer, inner, body, inner_latch, outer_latch, end] = blocks else {
            return;
        };
        b.jump(outer);
        let c = step(b, outer, x);
        b.branch(c, inner, end);
        let c = step(b, inner, x);
        b.branch(c, body, outer_latch);
        let c = step(b, body, x);
        b.branch(c, end, inner_latch);
        step(b, inner_latch, x);
        b.jump(inner);
        step(b, outer_latch, x);
        b.jump(outer);
        b.switch_to(end);
        b.terminate(ret());
    });
    assert_plain(&f);
}

/// `switch (x & 3) { case 0: …; break; case 1: case 2: …; break; default: ; }`
#[test]
fn a_switch_without_fallthrough_is_plain() {
    let f = shaped(3, |b, blocks, x| {
        let &[zero, one, end] = blocks else { return };
        let entry = b.block();
        step(b, entry, x);
        let value = b.binary_const(Binary::And, x, 3);
        b.terminate(Terminator::Switch {
            value,
            cases: vec![(0, zero.into()), (1, one.into()), (2, one.into())],
            default: end.into(),
        });
        step(b, zero, x);
        b.jump(end);
        step(b, one, x);
        b.jump(end);
        step(b, end, x);
        b.terminate(ret());
    });
    assert_plain(&f);
}

/// `for (i = 0; i < n; i++) sum += i;` as clang rotates it, with values that live on behind the loop.
#[test]
fn a_counted_loop_keeps_its_shape() {
    let f = shaped(2, |b, blocks, x| {
        let &[body, exit] = blocks else { return };
        let [i, sum] = [0; 2].map(|_| b.function.add_param(body, Type::I32));
        let zero = b.i32(0);
        b.jump(Edge::new(body, [zero, zero]));
        b.switch_to(body);
        let total = b.binary(Binary::Add, sum, i);
        let next = b.binary_const(Binary::Add, i, 1);
        let limit = b.binary_const(Binary::And, x, 31);
        let more = b.compare(Compare::ULess, next, limit);
        b.branch(more, Edge::new(body, [next, total]), exit);
        b.switch_to(exit);
        b.terminate(Terminator::Return(smallvec![total]));
        b.function.return_types = vec![Type::I32];
    });
    // Entry, loop, the condition as continue target, exit.
    assert_eq!(assert_plain(&f).layout().len(), 4);
}

/// Work-items of all cases of a label meet in it: it has one case.
#[test]
fn cases_that_share_a_label_are_one_where_that_is_seen() {
    for convergent in [false, true] {
        let f = shaped(3, |b, blocks, x| {
            let &[zero, one, end] = blocks else { return };
            let entry = b.block();
            step(b, entry, x);
            let value = b.binary_const(Binary::And, x, 7);
            b.terminate(Terminator::Switch {
                value,
                cases: vec![
                    (0, zero.into()),
                    (1, one.into()),
                    (2, one.into()),
                    (3, end.into()),
                    (5, one.into()),
                ],
                default: end.into(),
            });
            step(b, zero, x);
            b.jump(end);
            step(b, one, x);
            b.jump(end);
            step(b, end, x);
            if convergent {
                b.op0(Op::ControlBarrier {
                    execution: Scope::Workgroup,
                    memory: Scope::Workgroup,
                    semantics: Semantics(0),
                });
            }
            b.terminate(ret());
        });
        let structured = structured(&f);
        assert_same(&f, &structured);
        let cases = structured.layout().iter().find_map(|&block| {
            match &structured.block(block).terminator {
                Terminator::Switch { cases, .. } => Some(cases.iter().map(|case| case.0).collect()),
                _ => None,
            }
        });
        let expected: Vec<u64> = if convergent {
            vec![0, 1]
        } else {
            vec![0, 1, 2, 3, 5]
        };
        assert_eq!(cases, Some(expected));
    }
}
