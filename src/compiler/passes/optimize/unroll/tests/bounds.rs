//! Loops that may end early, but make no more than so many iterations.

use super::{kernel, run};
use crate::compiler::ir::{
    Binary, Builder, BuiltIn, Compare, Edge, Function, Module, Op, Terminator, Type, Unary, Value,
};
use crate::compiler::passes::helpers::testing;
use crate::compiler::{Capabilities, Defects};
use smallvec::smallvec;

/// How many iterations there are in the text of a function, where the device makes few; each has one `xor`.
fn iterations_of(mut module: Module) -> usize {
    let capabilities = Capabilities {
        defects: Defects::LIMITS_ITERATIONS,
        ..Capabilities::full()
    };
    testing::run_on(&mut module, &capabilities, run).unwrap();
    let text = module.functions[0].to_string();
    text.matches("xor ").count()
}

/// Whether a count is below a limit, and something else that changes nothing about it.
fn conditions(b: &mut Builder<'_>, count: Value, limit: u32) -> [Value; 2] {
    let limit = b.i32(limit);
    let is_below = b.compare(Compare::ULess, count, limit);
    let id = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(1)), Type::I32);
    [is_below, b.compare(Compare::NotEqual, id, count)]
}

#[test]
fn a_bound_is_part_of_a_condition() {
    type Join = fn(&mut Builder<'_>, [Value; 2]) -> Value;
    let both: [Join; 4] = [
        |b, [one, other]| b.binary(Binary::And, one, other),
        |b, [one, other]| {
            let no = b.bool(false);
            b.select(other, one, no)
        },
        |b, [one, other]| {
            let no = b.bool(false);
            b.select(one, other, no)
        },
        |b, conditions| {
            let [one, other] = conditions.map(|it| b.op1(Op::Unary(Unary::Not, it), Type::Bool));
            let ends = b.binary(Binary::Or, one, other);
            b.op1(Op::Unary(Unary::Not, ends), Type::Bool)
        },
    ];
    let either: Join = |b, [one, other]| b.binary(Binary::Or, one, other);
    let of = |join: Join, limit| {
        iterations_of(kernel(
            Type::I32,
            |b, _| b.i32(0),
            1,
            |b, next| {
                let conditions = conditions(b, next, limit);
                join(b, conditions)
            },
            |b, _, counter| b.binary_const(Binary::Xor, counter, 0x9e37_79b9),
        ))
    };
    for join in both {
        assert_eq!(of(join, 4), 1);
        assert!(of(join, 100_000) > 4);
    }
    assert!(of(either, 4) > 4);
}

/// A kernel of two numbers, one of which counts; it has two ways out of its loop, which are compared in any order.
fn left_twice(limit: u32, is_first: bool) -> usize {
    let mut function = Function::new("k");
    function.return_types = vec![Type::I32];
    let entry = function.entry();
    let param = function.add_param(entry, Type::I32);
    let [head, body, done] = [0; 3].map(|_| function.add_block());
    let counter = function.add_param(head, Type::I32);
    let number = function.add_param(head, Type::I32);
    let result = function.add_param(done, Type::I32);
    let mut b = Builder::new(&mut function, entry);
    let zero = b.i32(0);
    b.jump(Edge::new(head, [zero, param]));
    b.switch_to(head);
    let mut conditions = conditions(&mut b, counter, limit);
    if !is_first {
        conditions.reverse();
    }
    b.branch(conditions[0], body, Edge::new(done, [number]));
    b.switch_to(body);
    let changed = b.binary_const(Binary::Xor, number, 0x9e37_79b9);
    let other = b.binary_const(Binary::Mul, changed, 5);
    let next = b.binary_const(Binary::Add, counter, 1);
    let exit = Edge::new(done, [other]);
    b.branch(conditions[1], Edge::new(head, [next, other]), exit);
    b.switch_to(done);
    b.terminate(Terminator::Return(smallvec![result]));
    iterations_of(testing::module_of(function))
}

#[test]
fn a_bound_is_one_of_several_ways_out() {
    for is_first in [false, true] {
        assert_eq!(left_twice(4, is_first), 1);
        assert!(left_twice(100_000, is_first) > 4);
    }
}
