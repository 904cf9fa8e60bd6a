use super::{MOST_POINTERS, run};
use crate::compiler::Capabilities;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    Access, AddressSpace, Binary, Builder, Compare, Convert, Edge, FuncId, Function, InstFlags,
    Module, Op, Place, Terminator, Type, Value,
};
use crate::compiler::passes::helpers::testing;
use crate::compiler::passes::optimize::simplify;
use crate::compiler::testing::Random;

const WRAPS: InstFlags = InstFlags {
    no_contraction: false,
    fast_math: false,
    no_signed_wrap: false,
    no_unsigned_wrap: false,
};
const SIGNED: InstFlags = InstFlags {
    no_signed_wrap: true,
    ..WRAPS
};
const UNSIGNED: InstFlags = InstFlags {
    no_unsigned_wrap: true,
    ..WRAPS
};

/// What an iteration has: the pointer, two numbers from before the loop, and the counter.
#[derive(Clone, Copy)]
struct Iteration {
    pointer: Value,
    numbers: [Value; 2],
    counter: Value,
}

/// A function of a pointer to `count` and more words, two numbers and a count of iterations, which adds up what `load` loads
/// in each.
fn summing(
    ty: Type,
    (step, flags): (u64, InstFlags),
    load: impl FnOnce(&mut Builder<'_>, Iteration) -> Value,
) -> Function {
    let mut function = Function::new("k");
    function.return_types = vec![Type::I32];
    let entry = function.entry();
    let pointer = function.add_param(entry, Type::Ptr(AddressSpace::Global));
    let numbers = [0; 2].map(|_| function.add_param(entry, ty));
    let end = function.add_param(entry, ty);
    let [iteration, done] = [0; 2].map(|_| function.add_block());
    let counter = function.add_param(iteration, ty);
    let total = function.add_param(iteration, Type::I32);
    let mut b = Builder::new(&mut function, entry);
    let (first, zero) = (b.constant(ty, 0), b.i32(0));
    b.jump(Edge::new(iteration, [first, zero]));
    b.switch_to(iteration);
    let loaded = load(
        &mut b,
        Iteration {
            pointer,
            numbers,
            counter,
        },
    );
    let sum = b.binary(Binary::Add, total, loaded);
    b.flags = flags;
    let next = b.binary_const(Binary::Add, counter, step);
    b.flags = WRAPS;
    let again = b.compare(Compare::SLess, next, end);
    b.branch(again, Edge::new(iteration, [next, sum]), done);
    b.switch_to(done);
    b.terminate(Terminator::Return([sum].into_iter().collect()));
    function
}

/// A word `index` words behind the pointer.
fn word(b: &mut Builder<'_>, pointer: Value, index: Value, extend: Convert) -> Value {
    let index = match b.ty(index) {
        Type::I64 => index,
        _ => b.convert(extend, index, Type::I64),
    };
    let offset = b.binary_const(Binary::Mul, index, 4);
    let place = b.ptr_add(pointer, offset);
    b.load1(Place::Pointer(place), Type::I32, Access::aligned(4))
}

/// The sum for some numbers and counts of iterations. Before and behind the word that the pointer is to are 4096 more.
fn results(module: &Module, most: u64) -> Vec<Vec<u64>> {
    let words: Vec<u8> = (0..8192_u32)
        .flat_map(|at| at.wrapping_mul(0x9e37_79b9).to_le_bytes())
        .collect();
    let mask = module.function(FuncId(0)).params()[1..]
        .iter()
        .map(|&it| module.function(FuncId(0)).ty(it).mask())
        .min()
        .unwrap();
    let mut results = Vec::new();
    for (x, y) in [(0, 0), (3, 5), (-2, 4), (most as i64, 1)] {
        for end in [0, 1, 7] {
            let mut interpreter = Interpreter::new(module);
            let address = interpreter.allocate(&words) + 4 * 4096;
            let numbers = [x as u64 & mask, y as u64 & mask, end];
            let arguments = [address, numbers[0], numbers[1], numbers[2]];
            results.push(interpreter.run(FuncId(0), &arguments).unwrap());
        }
    }
    results
}

/// Runs the pass; that the sums stay the same is seen. How many parameters the loop has more, and what its iterations do.
fn reduced(function: Function, most: u64) -> (usize, Vec<Op>) {
    let params = |module: &Module| {
        let function = module.function(FuncId(0));
        function.block(function.layout()[1]).params.len()
    };
    let mut module = testing::module_of(function);
    let (before, params_before) = (results(&module, most), params(&module));
    let capabilities = Capabilities {
        counts_addresses: true,
        ..Capabilities::full()
    };
    testing::run_on(&mut module, &capabilities, run).unwrap();
    testing::run(&mut module, simplify::run).unwrap();
    assert_eq!(before, results(&module, most), "{module}");
    let function = module.function(FuncId(0));
    let insts = &function.block(function.layout()[1]).insts;
    let ops = insts.iter().map(|&inst| function.inst(inst).op.clone());
    let ops = ops.filter(|op| !matches!(op, Op::Const(_))).collect();
    (params(&module) - params_before, ops)
}

fn count(ops: &[Op], is_one: impl Fn(&Op) -> bool) -> usize {
    ops.iter().filter(|op| is_one(op)).count()
}

fn converts(op: &Op) -> bool {
    matches!(op, Op::Convert(..))
}

fn multiplies(op: &Op) -> bool {
    matches!(op, Op::Binary(Binary::Mul | Binary::Shl, ..))
}

/// `a[x * y + k]`, and `a[k * y + x]`.
#[test]
fn places_in_rows_and_columns_are_counted_on() {
    for (ty, flags, extend) in [
        (Type::I32, SIGNED, Convert::SignExtend),
        (Type::I32, UNSIGNED, Convert::ZeroExtend),
        (Type::I64, WRAPS, Convert::SignExtend),
    ] {
        // A negative number is a large one without a sign.
        let is_whole = extend == Convert::SignExtend;
        for by_column in [false, true] {
            let function = summing(ty, (1, flags), |b, iteration| {
                let ([x, y], k) = (iteration.numbers, iteration.counter);
                let x = if is_whole { x } else { b.i32(11) };
                b.flags = flags;
                let (a, c) = if by_column { (k, x) } else { (x, k) };
                let start = b.binary(Binary::Mul, a, y);
                let index = b.binary(Binary::Add, start, c);
                b.flags = WRAPS;
                word(b, iteration.pointer, index, extend)
            });
            let (more, ops) = reduced(function, 9);
            assert_eq!(more, 1);
            assert_eq!(count(&ops, |op| converts(op) || multiplies(op)), 0);
        }
    }
}

#[test]
fn what_may_wrap_around_stays() {
    for (of_sum, of_counter, extend) in [
        (WRAPS, SIGNED, Convert::SignExtend),
        (SIGNED, WRAPS, Convert::SignExtend),
        (SIGNED, SIGNED, Convert::ZeroExtend),
        (UNSIGNED, UNSIGNED, Convert::SignExtend),
    ] {
        let function = summing(Type::I32, (1, of_counter), |b, iteration| {
            b.flags = of_sum;
            let index = b.binary(Binary::Add, iteration.counter, iteration.numbers[1]);
            b.flags = WRAPS;
            word(b, iteration.pointer, index, extend)
        });
        let (more, ops) = reduced(function, 9);
        assert_eq!((more, count(&ops, converts)), (0, 1));
    }
}

#[test]
fn places_a_constant_apart_share_a_pointer() {
    let function = summing(Type::I32, (4, SIGNED), |b, iteration| {
        let mut sum = b.i32(0);
        for more in [3, 0, -2] {
            b.flags = SIGNED;
            let place = b.binary_const(Binary::Add, iteration.counter, more as u64);
            let place = b.binary(Binary::Sub, place, iteration.numbers[0]);
            b.flags = WRAPS;
            let loaded = word(b, iteration.pointer, place, Convert::SignExtend);
            sum = b.binary(Binary::Add, sum, loaded);
        }
        sum
    });
    let (more, ops) = reduced(function, 9);
    assert_eq!((more, count(&ops, converts)), (1, 0));
    // The first is the pointer itself; the fourth counts it on.
    assert_eq!(count(&ops, |op| matches!(op, Op::PtrAdd(..))), 3);
}

/// `a[x * y + (k & 3)]`
#[test]
fn of_what_each_iteration_adds_the_rest_is_taken_out() {
    let function = summing(Type::I32, (1, SIGNED), |b, iteration| {
        b.flags = SIGNED;
        let start = b.binary(Binary::Mul, iteration.numbers[0], iteration.numbers[1]);
        b.flags = WRAPS;
        let turn = b.binary_const(Binary::And, iteration.counter, 3);
        b.flags = SIGNED;
        let index = b.binary(Binary::Add, start, turn);
        b.flags = WRAPS;
        word(b, iteration.pointer, index, Convert::SignExtend)
    });
    let (more, ops) = reduced(function, 9);
    assert_eq!(more, 0);
    // The total and the counter.
    assert_eq!(
        count(&ops, |op| matches!(op, Op::Binary(Binary::Add, ..))),
        2
    );
}

#[test]
fn other_memory_and_more_pointers_than_there_may_be_are_left() {
    let pointers = MOST_POINTERS as u64 + 3;
    let function = summing(Type::I32, (1, SIGNED), |b, iteration| {
        let mut sum = b.i32(0);
        for factor in 1..=pointers {
            b.flags = SIGNED;
            let index = b.binary_const(Binary::Mul, iteration.counter, factor);
            b.flags = WRAPS;
            let loaded = word(b, iteration.pointer, index, Convert::SignExtend);
            sum = b.binary(Binary::Add, sum, loaded);
        }
        sum
    });
    assert_eq!(reduced(function, 9).0, MOST_POINTERS);
    let mut function = summing(Type::I64, (1, WRAPS), |b, iteration| {
        word(b, iteration.pointer, iteration.counter, Convert::SignExtend)
    });
    let values = (0..function.value_count() as u32).map(Value);
    for value in values.collect::<Vec<_>>() {
        if function.ty(value) == Type::Ptr(AddressSpace::Global) {
            function.set_type(value, Type::Ptr(AddressSpace::Local));
        }
    }
    assert_eq!(reduced(function, 9).0, 0);
}

fn one_of<T: Copy>(random: &mut Random, all: &[T]) -> T {
    all[(random.bits() >> 32) as usize % all.len()]
}

/// Sums of products of small numbers, none of which wraps around.
#[test]
fn places_stay_what_they_are() {
    let mut random = Random(5);
    let mut counted = 0;
    for _ in 0..400 {
        let step = one_of(&mut random, &[1_u64, 2, 3]);
        let function = summing(Type::I32, (step, SIGNED), |b, iteration| {
            let small: Vec<u64> = vec![0, 1, 2, 5, -1i64 as u64, -3i64 as u64];
            let mut sum = b.i32(0);
            for _ in 0..2 {
                let [x, y] = iteration.numbers;
                let mut known = vec![x, y, iteration.counter];
                b.flags = SIGNED;
                for _ in 0..4 {
                    let a = one_of(&mut random, &known);
                    let new = match (random.bits() >> 32) % 6 {
                        0 => b.binary_const(Binary::Shl, a, 1),
                        1 => b.binary_const(Binary::Mul, a, one_of(&mut random, &small)),
                        2 => b.binary_const(Binary::Add, a, one_of(&mut random, &small)),
                        // Of the numbers and the counter alone, lest products grow.
                        3 => {
                            let c = one_of(&mut random, &[x, y, iteration.counter]);
                            b.binary(Binary::Mul, y, c)
                        }
                        4 => b.binary(Binary::Sub, a, one_of(&mut random, &known)),
                        _ => b.binary(Binary::Add, a, one_of(&mut random, &known)),
                    };
                    known.push(new);
                }
                let last = known[known.len() - 1];
                b.flags = WRAPS;
                let loaded = word(b, iteration.pointer, last, Convert::SignExtend);
                sum = b.binary(Binary::Add, sum, loaded);
            }
            sum
        });
        counted += reduced(function, 9).0;
    }
    assert!(counted > 200, "{counted}");
}
