//! Iterations that are joined where their number is not known.

use super::super::run;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    Access, AddressSpace, Binary, Block, Builder, Compare, Edge, FuncId, Function, Module, Op,
    Place, PrivateVariable, Scope, Semantics, Terminator, Type,
};
use crate::compiler::passes::helpers::testing;
use crate::compiler::{Capabilities, Defects};
use smallvec::smallvec;

/// `while (iteration != limit && x * x < bound) { x = x * 3 + iteration; iteration++; }`, and what is left of both.
#[test]
fn loops_of_iterations_known_as_they_begin_make_four_at_once() {
    let mut function = Function::new("k");
    function.return_types = vec![Type::I32; 2];
    let entry = function.entry();
    let [limit, bound] = [(); 2].map(|()| function.add_param(entry, Type::I32));
    let [iteration, body, done] = [0; 3].map(|_| function.add_block());
    let [counter, x] = [(); 2].map(|()| function.add_param(iteration, Type::I32));
    let results = [(); 2].map(|()| function.add_param(done, Type::I32));
    let mut b = Builder::new(&mut function, entry);
    let (zero, one) = (b.i32(0), b.i32(1));
    b.jump(Edge::new(iteration, [zero, one]));
    b.switch_to(iteration);
    let at_end = b.compare(Compare::Equal, counter, limit);
    b.branch(at_end, Edge::new(done, [counter, x]), body);
    b.switch_to(body);
    let next_counter = b.binary_const(Binary::Add, counter, 1);
    let product = b.binary_const(Binary::Mul, x, 3);
    let next = b.binary(Binary::Add, product, counter);
    let near = b.compare(Compare::ULess, next, bound);
    b.branch(
        near,
        Edge::new(iteration, [next_counter, next]),
        Edge::new(done, [counter, next]),
    );
    b.switch_to(done);
    b.terminate(Terminator::Return(results.into_iter().collect()));
    let mut module = testing::module_of(function);

    let model = |limit: u32, bound: u32| {
        let (mut iteration, mut x) = (0u32, 1u32);
        while iteration != limit {
            let next = x.wrapping_mul(3).wrapping_add(iteration);
            x = next;
            if next >= bound {
                break;
            }
            iteration += 1;
        }
        [u64::from(iteration), u64::from(x)]
    };
    testing::run(&mut module, run).unwrap();
    let text = module.functions[0].to_string();
    assert_eq!(text.matches("mul ").count(), 5, "{text}");
    for limit in (0..14).chain([u32::MAX]) {
        for bound in [0, 2, 5, 20, 100, 1000, 100_000, 1 << 31] {
            let args = [limit, bound].map(u64::from);
            let found = Interpreter::new(&module).run(FuncId(0), &args).unwrap();
            assert_eq!(found, model(limit, bound), "{limit} {bound}\n{text}");
        }
    }
}

/// `for (counter = 0; counter != limit; counter++) v[counter & 15] += counter`, and one of its words.
fn sums_in_memory(limit: Option<u32>) -> Module {
    let mut function = Function::new("k");
    function.return_types = vec![Type::I32; 2];
    let entry = function.entry();
    let param = function.add_param(entry, Type::I32);
    let variable = function.add_variable(PrivateVariable {
        name: "v".into(),
        size_bytes: 64,
        align_bytes: 4,
    });
    let [iteration, done] = [0; 2].map(|_| function.add_block());
    let counter = function.add_param(iteration, Type::I32);
    let mut b = Builder::new(&mut function, entry);
    let address = b.op1(
        Op::VariableAddress(variable),
        Type::Ptr(AddressSpace::Private),
    );
    let zero = b.i32(0);
    for word in 0..16 {
        let at = b.ptr_add_const(address, word * 4);
        b.store1(Place::Pointer(at), zero, Access::aligned(4));
    }
    let last = match limit {
        Some(limit) => b.i32(limit),
        None => b.binary_const(Binary::Or, param, 1),
    };
    b.jump(Edge::new(iteration, [zero]));
    b.switch_to(iteration);
    let offset = b.binary_const(Binary::And, counter, 15);
    let offset = b.binary_const(Binary::Shl, offset, 2);
    let at = b.ptr_add(address, offset);
    let old = b.load1(Place::Pointer(at), Type::I32, Access::aligned(4));
    let new = b.binary(Binary::Add, old, counter);
    b.store1(Place::Pointer(at), new, Access::aligned(4));
    let next = b.binary_const(Binary::Add, counter, 1);
    let again = b.compare(Compare::NotEqual, next, last);
    b.branch(again, Edge::new(iteration, [next]), done);
    b.switch_to(done);
    let at = b.ptr_add_const(address, 8);
    let loaded = b.load1(Place::Pointer(at), Type::I32, Access::aligned(4));
    // Read behind the loop: the last iteration's.
    b.terminate(Terminator::Return(smallvec![loaded, next]));
    testing::module_of(function)
}

#[test]
fn iterations_with_effects_are_joined_where_the_device_makes_few() {
    for limit in [Some(8192), Some(8191), None] {
        let results = |module: &Module| {
            [0u64, 1, 6, 16, 33, 1000]
                .map(|param| Interpreter::new(module).run(FuncId(0), &[param]).unwrap())
        };
        let mut module = sums_in_memory(limit);
        let expected = results(&module);
        testing::run(&mut module, run).unwrap();
        let stores = |module: &Module| module.functions[0].to_string().matches("store").count();
        assert_eq!(stores(&module), 17, "{module}");
        let capabilities = Capabilities {
            defects: Defects::LIMITS_ITERATIONS,
            ..Capabilities::full()
        };
        testing::run_on(&mut module, &capabilities, run).unwrap();
        assert!(stores(&module) >= 16 + 16, "{limit:?} {module}");
        assert_eq!(results(&module), expected, "{module}");
    }
}

/// A loop whose counter goes on in steps.
#[derive(Clone, Copy, Debug)]
struct Stepped {
    compare: Compare,
    goes_up: bool,
    /// Whether it goes on if the comparison holds.
    holds: bool,
    /// Whether it compares the counter as the next iteration has it.
    next: bool,
    /// If it is known.
    step: Option<u32>,
}

impl Stepped {
    fn every() -> Vec<Self> {
        let mut all = Vec::new();
        for compare in [
            Compare::ULess,
            Compare::ULessEqual,
            Compare::SLess,
            Compare::SLessEqual,
        ] {
            for bits in 0..8 {
                all.extend([None, Some(1), Some(3)].map(|step| Self {
                    compare,
                    goes_up: bits & 1 != 0,
                    holds: bits & 2 != 0,
                    next: bits & 4 != 0,
                    step,
                }));
            }
        }
        all
    }

    /// Whether the counter gets to the limit itself, and how many iterations are left follows from both.
    fn is_exact(self) -> bool {
        let is_strict = matches!(self.compare, Compare::ULess | Compare::SLess);
        self.step == Some(1) && is_strict == self.holds
    }

    /// The operands of the comparison are the counter and the limit in this order; else the other way iteration.
    fn counter_first(self) -> bool {
        self.goes_up == self.holds
    }

    /// `do { sum = sum * 5 + counter; } while (…)`
    fn module(self) -> Module {
        let mut function = Function::new("k");
        function.return_types = vec![Type::I32; 2];
        let entry = function.entry();
        let [first, limit, step] = [(); 3].map(|()| function.add_param(entry, Type::I32));
        let [iteration, done] = [0; 2].map(|_| function.add_block());
        let [counter, sum] = [(); 2].map(|()| function.add_param(iteration, Type::I32));
        let results = [(); 2].map(|()| function.add_param(done, Type::I32));
        let mut b = Builder::new(&mut function, entry);
        let zero = b.i32(0);
        b.jump(Edge::new(iteration, [first, zero]));
        b.switch_to(iteration);
        let scaled = b.binary_const(Binary::Mul, sum, 5);
        let sum = b.binary(Binary::Add, scaled, counter);
        let next = match (self.step, self.goes_up) {
            (Some(step), true) => b.binary_const(Binary::Add, counter, step.into()),
            (Some(step), false) => b.binary_const(Binary::Add, counter, step.wrapping_neg().into()),
            (None, true) => b.binary(Binary::Add, counter, step),
            (None, false) => b.binary(Binary::Sub, counter, step),
        };
        let count = if self.next { next } else { counter };
        let condition = if self.counter_first() {
            b.compare(self.compare, count, limit)
        } else {
            b.compare(self.compare, limit, count)
        };
        let (again, end) = (
            Edge::new(iteration, [next, sum]),
            Edge::new(done, [next, sum]),
        );
        if self.holds {
            b.branch(condition, again, end)
        } else {
            b.branch(condition, end, again)
        }
        b.switch_to(done);
        b.terminate(Terminator::Return(results.into_iter().collect()));
        testing::module_of(function)
    }

    /// What it gives, unless it makes more than a thousand iterations.
    fn model(self, first: u32, limit: u32, step: u32) -> Option<Vec<u64>> {
        let step = self.step.unwrap_or(step);
        let (mut counter, mut sum) = (first, 0_u32);
        for _ in 0..1000 {
            sum = sum.wrapping_mul(5).wrapping_add(counter);
            let next = if self.goes_up {
                counter.wrapping_add(step)
            } else {
                counter.wrapping_sub(step)
            };
            let count = if self.next { next } else { counter };
            let (a, b) = if self.counter_first() {
                (count, limit)
            } else {
                (limit, count)
            };
            let holds = match self.compare {
                Compare::ULess => a < b,
                Compare::ULessEqual => a <= b,
                Compare::SLess => (a as i32) < b as i32,
                _ => a as i32 <= b as i32,
            };
            counter = next;
            if holds != self.holds {
                return Some(vec![counter.into(), sum.into()]);
            }
        }
        None
    }
}

#[test]
fn counters_in_steps_make_several_iterations_at_once_where_the_device_makes_few() {
    let capabilities = Capabilities {
        defects: Defects::LIMITS_ITERATIONS,
        ..Capabilities::full()
    };
    counters_in_steps_make_several_iterations_at_once(&capabilities, |_| 32 + 1);
}

#[test]
fn counters_in_steps_make_several_iterations_at_once_where_accesses_are_to_be() {
    let capabilities = Capabilities {
        counts_addresses: true,
        ..Capabilities::full()
    };
    // What is left of eight is made by the loop, or by copies of four iterations, two and one, and the last.
    let rest = |stepped: Stepped| if stepped.is_exact() { 4 + 2 + 1 + 1 } else { 1 };
    counters_in_steps_make_several_iterations_at_once(&capabilities, |stepped| 8 + rest(stepped));
}

fn counters_in_steps_make_several_iterations_at_once(
    capabilities: &Capabilities,
    iterations: impl Fn(Stepped) -> usize,
) {
    // At the ends of what numbers there are, and in the middle of those with and without a sign.
    let bases = [
        0,
        100,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0064,
        0xffff_ffff_u32,
    ];
    for stepped in Stepped::every() {
        let mut module = stepped.module();
        testing::run_on(&mut module, capabilities, run).unwrap();
        let text = module.functions[0].to_string();
        let products = text.matches("mul ").count();
        assert_eq!(products, iterations(stepped), "{stepped:?}\n{text}");
        let mut compared = 0;
        for first in bases {
            for distance in [0, 1, 2, 95, 96, 97, 98, 99, 200, 300] {
                for limit in [first.wrapping_add(distance), first.wrapping_sub(distance)] {
                    for step in [1, 3, 7, 0x0400_0000, 0x4000_0000, 0xffff_ffff] {
                        let Some(expected) = stepped.model(first, limit, step) else {
                            continue;
                        };
                        let args = [first, limit, step].map(u64::from);
                        let found = Interpreter::new(&module).run(FuncId(0), &args).unwrap();
                        assert_eq!(found, expected, "{stepped:?} {args:x?}\n{text}");
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 100, "{stepped:?}: {compared}");
    }
}

/// `do { sum = 3 * sum + p[k & 63]; p[64] = sum } while (++k != n)`, of the pointer, the first `k` and `n`.
fn accesses(space: AddressSpace, volatile: bool) -> Module {
    let mut function = Function::new("k");
    function.return_types = vec![Type::I32];
    let entry = function.entry();
    let pointer = function.add_param(entry, Type::Ptr(space));
    let first = function.add_param(entry, Type::I32);
    let end = function.add_param(entry, Type::I32);
    let [iteration, done] = [0; 2].map(|_| function.add_block());
    let counter = function.add_param(iteration, Type::I32);
    let total = function.add_param(iteration, Type::I32);
    let mut b = Builder::new(&mut function, entry);
    let zero = b.i32(0);
    b.jump(Edge::new(iteration, [first, zero]));
    b.switch_to(iteration);
    let index = b.binary_const(Binary::And, counter, 63);
    let offset = b.binary_const(Binary::Shl, index, 2);
    let place = Place::Pointer(b.ptr_add(pointer, offset));
    let access = Access {
        volatile,
        ..Access::aligned(4)
    };
    let loaded = b.load1(place, Type::I32, access);
    let scaled = b.binary_const(Binary::Mul, total, 3);
    let sum = b.binary(Binary::Add, scaled, loaded);
    let end_of_table = b.i32(256);
    let result = Place::Pointer(b.ptr_add(pointer, end_of_table));
    b.op0(Op::Store(result, smallvec![sum], Access::aligned(4)));
    let next = b.binary_const(Binary::Add, counter, 1);
    let ends = b.compare(Compare::Equal, next, end);
    b.branch(ends, done, Edge::new(iteration, [next, sum]));
    b.switch_to(done);
    b.terminate(Terminator::Return(smallvec![sum]));
    testing::module_of(function)
}

/// How many accesses of iterations stand together, by what memory it is and whether they are volatile.
#[test]
fn iterations_that_access_memory_are_joined_where_the_device_asks() {
    use AddressSpace::{Global, Local};
    // The last is the loop's own.
    let iterations = 8 + 4 + 2 + 1 + 1;
    for (space, volatile, asks, accesses_left) in [
        (Global, false, true, iterations),
        (Local, false, true, 1),
        (Global, true, true, 1),
        (Global, false, false, 1),
    ] {
        let mut module = accesses(space, volatile);
        let results = |module: &Module| {
            let firsts = [0, 1000, 0xffff_fffd_u32];
            let counts = (1..=34).flat_map(|count| firsts.map(|first| (first, count)));
            counts
                .map(|(first, count)| {
                    let mut interpreter = Interpreter::new(module);
                    let words: Vec<u8> = (0..=65 * 4).map(|at: u32| at as u8 ^ 0x5a).collect();
                    let address = interpreter.allocate(&words);
                    let args = [address, first.into(), first.wrapping_add(count).into()];
                    let sum = interpreter.run(FuncId(0), &args).unwrap();
                    (sum, interpreter.bytes(address, words.len()).to_vec())
                })
                .collect::<Vec<_>>()
        };
        let expected = results(&module);
        let capabilities = Capabilities {
            counts_addresses: asks,
            ..Capabilities::full()
        };
        testing::run_on(&mut module, &capabilities, run).unwrap();
        let text = module.functions[0].to_string();
        for access in ["load ", "store "] {
            assert_eq!(text.matches(access).count(), accesses_left, "{text}");
        }
        assert_eq!(results(&module), expected, "{text}");
    }
}

/// `k = 0; do { if (p[k] == wanted) return k; } while (++k != n); return n + 1`, of `p`, `wanted` and `n`. With a `barrier`
/// in it, or not.
fn search(barrier: bool) -> Module {
    let mut function = Function::new("k");
    function.return_types = vec![Type::I32];
    let entry = function.entry();
    let pointer = function.add_param(entry, Type::Ptr(AddressSpace::Global));
    let wanted = function.add_param(entry, Type::I32);
    let end = function.add_param(entry, Type::I32);
    let [iteration, goes_on, done] = [0; 3].map(|_| function.add_block());
    let counter = function.add_param(iteration, Type::I32);
    let found = function.add_param(done, Type::I32);
    let mut b = Builder::new(&mut function, entry);
    let zero = b.i32(0);
    b.jump(Edge::new(iteration, [zero]));
    b.switch_to(iteration);
    let offset = b.binary_const(Binary::Shl, counter, 2);
    let place = Place::Pointer(b.ptr_add(pointer, offset));
    let loaded = b.load1(place, Type::I32, Access::aligned(4));
    if barrier {
        b.op0(Op::ControlBarrier {
            execution: Scope::Workgroup,
            memory: Scope::Workgroup,
            semantics: Semantics(0),
        });
    }
    let is_wanted = b.compare(Compare::Equal, loaded, wanted);
    b.branch(is_wanted, Edge::new(done, [counter]), goes_on);
    b.switch_to(goes_on);
    let next = b.binary_const(Binary::Add, counter, 1);
    let ends = b.compare(Compare::Equal, next, end);
    let nowhere = b.binary_const(Binary::Add, end, 1);
    b.branch(
        ends,
        Edge::new(done, [nowhere]),
        Edge::new(iteration, [next]),
    );
    b.switch_to(done);
    b.terminate(Terminator::Return(smallvec![found]));
    testing::module_of(function)
}

/// Loops that load, and those of which no counter tells the number of iterations: a driver without branches would execute for
/// nobody what is in front of them.
#[test]
fn iterations_that_load_are_joined_with_their_ways_out_where_the_device_makes_few() {
    let capabilities = Capabilities {
        defects: Defects::LIMITS_ITERATIONS,
        ..Capabilities::full()
    };
    let words: Vec<u8> = (0..65 * 4).map(|at: u32| (at as u8) ^ 0x5a).collect();
    let word = |at: usize| u32::from_le_bytes(words[4 * at..][..4].try_into().unwrap());
    let run_both = |mut module: Module, args: &[[u64; 2]], loads: usize| {
        let results = |module: &Module| {
            let each = args.iter().map(|args| {
                let mut interpreter = Interpreter::new(module);
                let address = interpreter.allocate(&words);
                let args = [address, args[0], args[1]];
                let result = interpreter.run(FuncId(0), &args).unwrap();
                (result, interpreter.bytes(address, words.len()).to_vec())
            });
            each.collect::<Vec<_>>()
        };
        let expected = results(&module);
        testing::run_on(&mut module, &capabilities, run).unwrap();
        let text = module.functions[0].to_string();
        assert_eq!(text.matches("load ").count(), loads, "{text}");
        assert_eq!(results(&module), expected, "{text}");
    };
    let counts: Vec<[u64; 2]> = (1..=50).map(|count| [5, 5 + count]).collect();
    run_both(accesses(AddressSpace::Global, false), &counts, 17);
    let places = [0, 1, 14, 15, 16, 17, 47, 63].map(|at| [word(at).into(), 64]);
    let nowhere = [1, 15, 16, 17, 64].map(|end| [7, end]);
    run_both(search(false), &[&places[..], &nowhere].concat(), 17);
    // Work-items that meet count: 32 iterations are made where there are so many.
    run_both(search(true), &places, 32 + 1);
}

/// `do { if (p[k] == wanted) break; } while (++k != n); do { k = 3 * k + p[k & 63]; } while (k & 255);`, the second right
/// behind the ways out of the first.
#[test]
fn a_loop_right_behind_another_is_joined_wherever_it_is_come_to_from() {
    let mut module = search(false);
    let function = &mut module.functions[0];
    let done = Block(3);
    let pointer = function.params()[0];
    let end = function.add_block();
    let mut b = Builder::new(function, done);
    let start = b.function.block(done).params[0];
    let index = b.binary_const(Binary::And, start, 63);
    let offset = b.binary_const(Binary::Shl, index, 2);
    let place = Place::Pointer(b.ptr_add(pointer, offset));
    let loaded = b.load1(place, Type::I32, Access::aligned(4));
    let scaled = b.binary_const(Binary::Mul, start, 3);
    let next = b.binary(Binary::Add, scaled, loaded);
    let low = b.binary_const(Binary::And, next, 255);
    let zero = b.i32(0);
    let goes_on = b.compare(Compare::NotEqual, low, zero);
    b.branch(goes_on, Edge::new(done, [next]), end);
    b.switch_to(end);
    b.terminate(Terminator::Return(smallvec![next]));
    let capabilities = Capabilities {
        defects: Defects::LIMITS_ITERATIONS,
        ..Capabilities::full()
    };
    testing::run_on(&mut module, &capabilities, run).unwrap();
    let text = module.functions[0].to_string();
    assert_eq!(text.matches("load ").count(), 17 + 17, "{text}");
}
