//! Every operation on 64-bit integers against Rust's `u64` and `i64`.

use crate::compiler::Capabilities;
use crate::compiler::evaluate;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    Access, Binary, Compare, Convert, Edge, FuncId, Module, Op, Place, Rounding, Terminator, Type,
    Unary,
};
use crate::compiler::passes::helpers::testing;
use crate::compiler::testing::Random;
use smallvec::smallvec;

/// Numbers around which carries, signs and halves change.
const EDGES: [u64; 30] = [
    0,
    1,
    2,
    3,
    7,
    10,
    0x7fff,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    0x1_0000_0001,
    0x1_ffff_ffff,
    0x2_0000_0000,
    0xffff_0000_0000,
    0x7fff_ffff_0000_0000,
    0x7fff_ffff_ffff_fffe,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    0x8000_0000_ffff_ffff,
    0xffff_ffff_0000_0000,
    0xffff_ffff_0000_0001,
    0xffff_ffff_7fff_ffff,
    0xffff_ffff_ffff_fff6,
    0xffff_ffff_ffff_ffff,
];

fn legalize(module: &mut Module) {
    super::legalize(module, &Capabilities::minimal()).unwrap();
    for function in &module.functions {
        for &block in function.layout() {
            let data = function.block(block);
            let results = data.insts.iter().flat_map(|&i| &function.inst(i).results);
            for &value in results.chain(&data.params) {
                assert_ne!(function.ty(value), Type::I64, "{function}");
            }
        }
    }
}

/// Calls the legalized function with 64-bit arguments and results given as halves.
fn call(module: &Module, args: &[u64]) -> Vec<u64> {
    let halves: Vec<u64> = args
        .iter()
        .flat_map(|&a| [a & 0xffff_ffff, a >> 32])
        .collect();
    let mut run = Interpreter::new(module);
    run.is_lenient = true;
    let results = run.run(FuncId(0), &halves).expect("it ends");
    results
        .chunks(2)
        .map(|pair| pair[0] | pair[1..].iter().fold(0, |_, &hi| hi << 32))
        .collect()
}

const ARITHMETIC: [Binary; 15] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::UDiv,
    Binary::SDiv,
    Binary::URem,
    Binary::SRem,
    Binary::SMod,
    Binary::And,
    Binary::Or,
    Binary::Xor,
    Binary::UMin,
    Binary::UMax,
    Binary::SMin,
    Binary::SMax,
];

const SHIFTS: [Binary; 3] = [Binary::Shl, Binary::LShr, Binary::AShr];

const COMPARISONS: [Compare; 6] = [
    Compare::Equal,
    Compare::NotEqual,
    Compare::ULess,
    Compare::ULessEqual,
    Compare::SLess,
    Compare::SLessEqual,
];

fn pairs(random_count: usize) -> impl Iterator<Item = (u64, u64)> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let edges = EDGES
        .iter()
        .flat_map(|&a| EDGES.iter().map(move |&b| (a, b)));
    edges.chain(
        std::iter::repeat_with(move || (random.number(), random.number())).take(random_count),
    )
}

fn divides(op: Binary) -> bool {
    matches!(
        op,
        Binary::UDiv | Binary::SDiv | Binary::URem | Binary::SRem | Binary::SMod
    )
}

#[test]
fn arithmetic_on_edges_and_random_numbers() {
    for op in ARITHMETIC {
        let mut module =
            testing::module_with(&[Type::I64; 2], |b, p| smallvec![b.binary(op, p[0], p[1])]);
        legalize(&mut module);
        for (x, y) in pairs(1000) {
            // No value is asked of a division by zero, only that it ends.
            let found = call(&module, &[x, y]);
            if let Some(expected) = evaluate::binary(op, Type::I64, x, y) {
                assert_eq!(found, [expected], "{op:?} {x:#x} {y:#x}");
            }
        }
    }
}

#[test]
fn division_near_whole_quotients() {
    // Just reached or just missed: an estimate that is too large shows.
    let mut module = testing::module_with(&[Type::I64; 2], |b, p| {
        let quotient = b.binary(Binary::UDiv, p[0], p[1]);
        smallvec![quotient, b.binary(Binary::URem, p[0], p[1])]
    });
    legalize(&mut module);
    let mut random = Random(77);
    for _ in 0..5_000 {
        let divisor = random.number().max(1);
        let quotient = random.number() % (u64::MAX / divisor).max(1);
        let base = divisor * quotient;
        for dividend in [base, base.wrapping_sub(1), base.wrapping_add(divisor - 1)] {
            let expected = [dividend / divisor, dividend % divisor];
            assert_eq!(
                call(&module, &[dividend, divisor]),
                expected,
                "{dividend:#x} {divisor:#x}"
            );
        }
    }
}

#[test]
fn arithmetic_with_a_constant() {
    let mut random = Random(3);
    for op in ARITHMETIC {
        for &constant in &EDGES {
            if divides(op) && constant == 0 {
                continue;
            }
            for first in [false, true] {
                if divides(op) && first {
                    continue;
                }
                let mut module = testing::module_with(&[Type::I64], |b, p| {
                    let c = b.i64(constant);
                    let (x, y) = if first { (c, p[0]) } else { (p[0], c) };
                    smallvec![b.binary(op, x, y)]
                });
                legalize(&mut module);
                let more: Vec<u64> = (0..40).map(|_| random.number()).collect();
                for &x in EDGES.iter().chain(&more) {
                    let (l, r) = if first { (constant, x) } else { (x, constant) };
                    let found = call(&module, &[x]);
                    if let Some(expected) = evaluate::binary(op, Type::I64, l, r) {
                        assert_eq!(found, [expected], "{op:?} {l:#x} {r:#x}");
                    }
                }
            }
        }
    }
}

#[test]
fn shifts_by_variable_and_constant_amounts() {
    let mut random = Random(5);
    let numbers: Vec<u64> = EDGES
        .into_iter()
        .chain((0..50).map(|_| random.bits()))
        .collect();
    for op in SHIFTS {
        let mut variable =
            testing::module_with(&[Type::I64; 2], |b, p| smallvec![b.binary(op, p[0], p[1])]);
        legalize(&mut variable);
        for amount in 0..64 {
            let mut constant = testing::module_with(&[Type::I64], |b, p| {
                let amount = b.i32(amount);
                smallvec![b.binary(op, p[0], amount)]
            });
            legalize(&mut constant);
            for &x in &numbers {
                let expected = evaluate::binary(op, Type::I64, x, amount.into()).unwrap();
                assert_eq!(call(&variable, &[x, amount.into()]), [expected]);
                assert_eq!(call(&constant, &[x]), [expected]);
            }
        }
    }
}

#[test]
fn comparisons() {
    for op in COMPARISONS {
        let mut module =
            testing::module_with(&[Type::I64; 2], |b, p| smallvec![b.compare(op, p[0], p[1])]);
        legalize(&mut module);
        for (x, y) in pairs(2000) {
            let expected = evaluate::compare(op, Type::I64, x, y);
            assert_eq!(
                call(&module, &[x, y]),
                [u64::from(expected)],
                "{op:?} {x:#x} {y:#x}"
            );
        }
    }
}

#[test]
fn unary_operations() {
    for op in [
        Unary::Negate,
        Unary::Not,
        Unary::BitCount,
        Unary::BitReverse,
    ] {
        let mut module = testing::module_with(&[Type::I64], |b, p| smallvec![b.unary(op, p[0])]);
        legalize(&mut module);
        for (x, _) in pairs(100) {
            let expected = match op {
                Unary::Negate => x.wrapping_neg(),
                Unary::Not => !x,
                Unary::BitCount => x.count_ones().into(),
                _ => x.reverse_bits(),
            };
            assert_eq!(call(&module, &[x]), [expected], "{op:?} {x:#x}");
        }
    }
}

#[test]
fn extended_multiplication() {
    for signed in [false, true] {
        let mut module = testing::module_with(&[Type::I64; 2], |b, p| {
            let op = Op::MulExtended {
                signed,
                a: p[0],
                b: p[1],
            };
            b.op(op, [Type::I64; 2])
        });
        legalize(&mut module);
        for (x, y) in pairs(1000) {
            let product = if signed {
                (i128::from(x as i64) * i128::from(y as i64)) as u128
            } else {
                u128::from(x) * u128::from(y)
            };
            let expected = [product as u64, (product >> 64) as u64];
            assert_eq!(call(&module, &[x, y]), expected, "{signed} {x:#x} {y:#x}");
        }
    }
}

#[test]
fn integer_conversions() {
    for op in [Convert::ZeroExtend, Convert::SignExtend] {
        for ty in [Type::I8, Type::I16, Type::I32] {
            let mut module = testing::module_with(&[Type::I64], |b, p| {
                let narrow = b.convert(Convert::Truncate, p[0], ty);
                smallvec![b.convert(op, narrow, Type::I64)]
            });
            legalize(&mut module);
            for (x, _) in pairs(100) {
                let expected = evaluate::convert(op, ty, Type::I64, x & ty.mask()).unwrap();
                assert_eq!(call(&module, &[x]), [expected]);
            }
        }
    }
}

#[test]
fn to_float_to_nearest_even() {
    for op in [Convert::UnsignedToFloat(None), Convert::SignedToFloat(None)] {
        let mut module = testing::module_with(&[Type::I64], |b, p| {
            smallvec![b.convert(op, p[0], Type::F32)]
        });
        legalize(&mut module);
        let mut random = Random(11);
        let ties = (0..64).flat_map(|bit| {
            let top = 1u64 << bit;
            [
                top,
                top | top >> 24,
                top | top >> 23 | top >> 24,
                (top | top >> 24) + 1,
                top - 1,
            ]
        });
        let numbers = ties.chain(EDGES).chain((0..1000).map(|_| random.number()));
        for x in numbers.flat_map(|x| [x, x.wrapping_neg()]) {
            let expected = match op {
                Convert::SignedToFloat(_) => x as i64 as f32,
                _ => x as f32,
            };
            assert_eq!(
                call(&module, &[x]),
                [u64::from(expected.to_bits())],
                "{op:?} {x:#x}"
            );
        }
    }
}

#[test]
fn to_float_in_a_direction() {
    // An F64 holds these exactly or lies on the right side; the nearest F32 is then moved if need be.
    let directed = |x: i128, rounding: Rounding| {
        let near = x as f32;
        let exact = |f: f32| f as i128;
        let (mut low, mut high) = (near, near);
        if exact(near) > x {
            low = near.next_down();
        } else if exact(near) < x {
            high = near.next_up();
        }
        match rounding {
            Rounding::Rtn => low,
            Rounding::Rtp => high,
            Rounding::Rtz if x < 0 => high,
            Rounding::Rtz => low,
            Rounding::Rte => near,
        }
    };
    for rounding in [Rounding::Rtz, Rounding::Rtp, Rounding::Rtn] {
        for signed in [false, true] {
            let op = if signed {
                Convert::SignedToFloat(Some(rounding))
            } else {
                Convert::UnsignedToFloat(Some(rounding))
            };
            let mut module = testing::module_with(&[Type::I64], |b, p| {
                smallvec![b.convert(op, p[0], Type::F32)]
            });
            legalize(&mut module);
            let mut random = Random(13);
            for x in EDGES.into_iter().chain((0..2000).map(|_| random.number())) {
                let number = if signed {
                    i128::from(x as i64)
                } else {
                    i128::from(x)
                };
                let expected = u64::from(directed(number, rounding).to_bits());
                assert_eq!(call(&module, &[x]), [expected], "{op:?} {x:#x}");
            }
        }
    }
}

#[test]
fn from_float_toward_zero() {
    for signed in [false, true] {
        let op = if signed {
            Convert::FloatToSigned {
                rounding: None,
                saturate: false,
            }
        } else {
            Convert::FloatToUnsigned {
                rounding: None,
                saturate: false,
            }
        };
        let mut module = testing::module_with(&[Type::F32], |b, p| {
            smallvec![b.convert(op, p[0], Type::I64)]
        });
        legalize(&mut module);
        let mut random = Random(17);
        for _ in 0..5_000 {
            let x = f32::from_bits(random.bits() as u32);
            let fits = if signed {
                x.abs() < 9.223_372e18
            } else {
                (0.0..1.844_674_4e19).contains(&x)
            };
            if !fits {
                continue;
            }
            let expected = if signed { x as i64 as u64 } else { x as u64 };
            let found = testing::results(&module, &[x.to_bits().into()]);
            assert_eq!(found[0] | found[1] << 32, expected, "{op:?} {x:e}");
        }
    }
}

#[test]
fn values_pass_through_blocks_selects_and_calls() {
    // sum = 0; for (i = 0; i != n; i++) sum = i & 1 ? sum + square(i) : sum - i;
    let mut module = testing::module_with(&[Type::I64], |b, p| {
        let (head, body, done) = (
            b.function.add_block(),
            b.function.add_block(),
            b.function.add_block(),
        );
        let index = b.function.add_param(head, Type::I64);
        let sum = b.function.add_param(head, Type::I64);
        let zero = b.i64(0);
        b.jump(Edge::new(head, [zero, zero]));
        b.switch_to(head);
        let ends = b.compare(Compare::Equal, index, p[0]);
        b.branch(ends, done, body);
        b.switch_to(body);
        let square = b.op1(Op::Call(FuncId(1), smallvec![index]), Type::I64);
        let (more, less) = (
            b.binary(Binary::Add, sum, square),
            b.binary(Binary::Sub, sum, index),
        );
        let bit = b.binary_const(Binary::And, index, 1);
        let is_odd = b.compare(Compare::NotEqual, bit, zero);
        let next_sum = b.select(is_odd, more, less);
        let next = b.binary_const(Binary::Add, index, 1);
        b.jump(Edge::new(head, [next, next_sum]));
        b.switch_to(done);
        smallvec![sum]
    });
    let square = testing::module_with(&[Type::I64], |b, p| {
        smallvec![b.binary(Binary::Mul, p[0], p[0])]
    });
    module.functions.extend(square.functions);
    legalize(&mut module);
    let expected = (0..100u64).fold(0u64, |sum, i| match i & 1 {
        1 => sum.wrapping_add(i * i),
        _ => sum.wrapping_sub(i),
    });
    assert_eq!(call(&module, &[100]), [expected]);
}

#[test]
fn switch_tells_high_words_apart() {
    let cases = [3, 5, 0x1_0000_0003, u64::MAX];
    let mut module = testing::module_with(&[Type::I64], |b, p| {
        let done = b.function.add_block();
        let result = b.function.add_param(done, Type::I64);
        let edges = (0..cases.len() as u64).map(|index| {
            let value = b.i64(index);
            (cases[index as usize], Edge::new(done, [value]))
        });
        let edges = edges.collect();
        let none = b.i64(99);
        b.terminate(Terminator::Switch {
            value: p[0],
            cases: edges,
            default: Edge::new(done, [none]),
        });
        b.switch_to(done);
        smallvec![result]
    });
    legalize(&mut module);
    for (x, expected) in [
        (3, 0),
        (5, 1),
        (0x1_0000_0003, 2),
        (u64::MAX, 3),
        (0x1_0000_0005, 99),
        (0xffff_ffff, 99),
        (0, 99),
    ] {
        assert_eq!(call(&module, &[x]), [expected], "{x:#x}");
    }
}

#[test]
fn addresses_become_pairs() {
    let mut module = testing::module_with(&[Type::I64, Type::I32], |b, p| {
        let index = b.convert(Convert::ZeroExtend, p[1], Type::I64);
        let scaled = b.binary_const(Binary::Mul, index, 4);
        let address = b.binary(Binary::Add, p[0], scaled);
        smallvec![b.load1(Place::Address(address), Type::I32, Access::aligned(4))]
    });
    legalize(&mut module);
    let mut run = Interpreter::new(&module);
    let at = run.allocate(&(0..64).collect::<Vec<u8>>());
    let found = run.run(FuncId(0), &[at + 8, 0, 5]);
    assert_eq!(found, Ok(vec![0x1f1e_1d1c]));
    let count = module.functions[0]
        .block(module.functions[0].entry())
        .insts
        .len();
    assert!(count <= 20, "an index costs few instructions:\n{module}");
}
