//! Regions cut into parts do what they did before, and are nested as little as asked for.

use super::sequence::Carried;
use super::tests::{assert_same_with, assert_structured};
use super::{limited, nesting, random, structurize, structurize_in_parts};
use crate::compiler::ir::{
    Access, ArrayId, Binary, Builder, Compare, Edge, Function, Op, Place, Terminator, Type, Value,
};
use smallvec::smallvec;
use std::collections::HashSet;

#[test]
fn random_graphs_in_parts_keep_their_meaning() {
    for seed in 10_000..10_600 {
        let original = random::function(seed, 4 + seed as usize % 37);
        let mut function = original.clone();
        let mut carried = Carried::behind(1);
        let most = Some(1 + seed as usize % 3);
        let leave_at_end = seed % 2 == 0;
        structurize_in_parts(
            &mut function,
            &HashSet::new(),
            leave_at_end,
            most,
            &mut carried,
        )
        .unwrap_or_else(|error| panic!("{error}\n{original}\n\n{function}"));
        assert_structured(&original, &function);
        assert_same_with(&original, &function, &carried.arrays);
    }
}

/// Stores a number to the array that leaves a trace.
fn trace(b: &mut Builder<'_>, value: Value) {
    let index = b.i32(0);
    let place = Place::Element {
        array: ArrayId(0),
        index,
    };
    b.store1(place, value, Access::aligned(4));
}

/// `if (x == 0) … else if (x == 1) … else …`, with values of each comparison used in the arms behind.
fn else_if_chain(arms: u32) -> Function {
    let mut function = Function::new("chain");
    function.return_types = vec![Type::I32];
    let entry = function.entry();
    let x = function.add_param(entry, Type::I32);
    function.add_param(entry, Type::I32);
    let join = function.add_block();
    let joined = function.add_param(join, Type::I32);
    let mut b = Builder::new(&mut function, entry);
    let mut sum = x;
    for arm in 0..arms {
        sum = b.binary_const(Binary::Add, sum, 3);
        let number = b.i32(arm);
        let condition = b.compare(Compare::Equal, x, number);
        let (then, next) = (b.function.add_block(), b.function.add_block());
        b.branch(condition, then, next);
        b.switch_to(then);
        trace(&mut b, sum);
        b.jump(Edge::new(join, [sum]));
        b.switch_to(next);
    }
    b.jump(Edge::new(join, [x]));
    b.switch_to(join);
    b.terminate(Terminator::Return(smallvec![joined]));
    function
}

/// Conditions in conditions, with something behind each.
fn nest(depth: u32) -> Function {
    let mut function = Function::new("nest");
    function.return_types = vec![Type::I32];
    let entry = function.entry();
    let x = function.add_param(entry, Type::I32);
    function.add_param(entry, Type::I32);
    let mut b = Builder::new(&mut function, entry);
    let mut merges = Vec::new();
    let mut sum = x;
    for level in 0..depth {
        sum = b.binary_const(Binary::Mul, sum, 5);
        let number = b.i32(level);
        let condition = b.compare(Compare::ULess, number, x);
        let (inner, merge) = (b.function.add_block(), b.function.add_block());
        let merged = b.function.add_param(merge, Type::I32);
        b.branch(condition, inner, Edge::new(merge, [x]));
        b.switch_to(inner);
        merges.push((merge, merged, sum));
    }
    let mut result = sum;
    for (merge, merged, sum) in merges.into_iter().rev() {
        b.jump(Edge::new(merge, [result]));
        b.switch_to(merge);
        trace(&mut b, merged);
        // Of the level around, if there is one: computed before the condition.
        result = b.binary(Binary::Add, merged, sum);
    }
    b.terminate(Terminator::Return(smallvec![result]));
    function
}

fn check_limit(original: &Function, most: u32) {
    let mut plain = original.clone();
    structurize(&mut plain, &HashSet::new(), true).unwrap();
    assert!(nesting::depth(&plain) > most);
    let mut function = original.clone();
    let mut arrays = vec![crate::compiler::ir::Array {
        name: "state".into(),
        storage: crate::compiler::ir::ArrayStorage::Private,
        element: Type::I32,
        length: crate::compiler::ir::ArrayLength {
            elements: 1,
            spec_ids: Vec::new(),
        },
    }];
    limited(&mut function, &HashSet::new(), true, most, &mut arrays).unwrap();
    assert!(nesting::depth(&function) <= most);
    assert_structured(original, &function);
    assert_same_with(original, &function, &arrays[1..]);
}

#[test]
fn deep_chains_and_nests_become_shallow() {
    for most in [8, 72] {
        check_limit(&else_if_chain(200), most);
        check_limit(&nest(120), most);
    }
}

#[test]
fn thousands_of_levels_overflow_no_stack() {
    let mut function = else_if_chain(2_000);
    limited(&mut function, &HashSet::new(), true, 72, &mut Vec::new()).unwrap();
    assert!(nesting::depth(&function) <= 72);
}

/// A loop around a switch, each case of which goes on to the next iteration.
fn interpreter(cases: u32) -> Function {
    let mut function = Function::new("interpreter");
    function.return_types = vec![Type::I32];
    let entry = function.entry();
    let x = function.add_param(entry, Type::I32);
    function.add_param(entry, Type::I32);
    let [head, done] = [(); 2].map(|()| function.add_block());
    let state = function.add_param(head, Type::I32);
    let mut b = Builder::new(&mut function, entry);
    b.jump(Edge::new(head, [x]));
    b.switch_to(head);
    trace(&mut b, state);
    let mut arms = Vec::new();
    for number in 0..cases {
        let arm = b.function.add_block();
        arms.push((u64::from(number), Edge::from(arm)));
        b.switch_to(arm);
        // Above all cases in the end.
        let next = b.binary_const(Binary::Add, state, 7);
        b.jump(Edge::new(head, [next]));
    }
    b.switch_to(head);
    b.terminate(Terminator::Switch {
        value: state,
        cases: arms,
        default: done.into(),
    });
    b.switch_to(done);
    b.terminate(Terminator::Return(smallvec![state]));
    function
}

#[test]
fn cases_that_go_on_to_the_next_iteration_nest() {
    for most in [30, 72] {
        check_limit(&interpreter(100), most);
        check_limit(&interpreter(1000), most);
    }
}

#[test]
fn loops_nested_too_deep_are_refused_with_a_reason() {
    let mut function = Function::new("loops");
    let entry = function.entry();
    let x = function.add_param(entry, Type::I32);
    let mut b = Builder::new(&mut function, entry);
    let mut exits = Vec::new();
    for _ in 0..20 {
        let (head, body, exit) = (
            b.function.add_block(),
            b.function.add_block(),
            b.function.add_block(),
        );
        b.jump(head);
        b.switch_to(head);
        let value = b.op1(Op::Undef, Type::I32);
        let condition = b.compare(Compare::ULess, value, x);
        b.branch(condition, body, exit);
        b.switch_to(body);
        exits.push((head, exit));
    }
    for (head, exit) in exits.into_iter().rev() {
        b.jump(head);
        b.switch_to(exit);
    }
    b.terminate(Terminator::Return(smallvec![]));
    let error = limited(&mut function, &HashSet::new(), true, 10, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("nested"), "{error}");
}
