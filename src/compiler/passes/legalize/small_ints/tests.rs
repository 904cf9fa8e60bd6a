//! Every operation on narrow integers against the same one at its width: every 8-bit number with those near
//! a limit, edges and random numbers for 16 bits. The upper bits of what comes in are garbage on purpose.

use crate::compiler::evaluate;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    Access, Binary, Builder, Compare, Convert, Edge, FuncId, Module, Op, Place, Terminator, Type,
    Unary, Value, Values,
};
use crate::compiler::passes::helpers::testing;
use crate::compiler::testing::Random;
use crate::compiler::{Capabilities, Defects};
use smallvec::smallvec;

fn legalize(module: &mut Module, device: &Capabilities) {
    super::legalize(module, device).unwrap();
    for function in &module.functions {
        for &block in function.layout() {
            let data = function.block(block);
            let results = data.insts.iter().flat_map(|&i| &function.inst(i).results);
            for &value in results.chain(&data.params) {
                let ty = function.ty(value);
                assert!(ty != Type::I8 || device.int8, "{function}");
                assert!(ty != Type::I16 || device.int16, "{function}");
            }
        }
    }
}

fn legalized(params: &[Type], build: impl FnOnce(&mut Builder<'_>, &[Value]) -> Values) -> Module {
    let mut module = testing::module_with(params, build);
    legalize(&mut module, &Capabilities::minimal());
    module
}

/// Operands of a type: pairs with garbage above their width, and the pair itself.
fn operands(ty: Type) -> Vec<([u64; 2], u64, u64)> {
    let mut random = Random(0xabcdef);
    let pairs: Vec<(u64, u64)> = match ty {
        Type::I8 => {
            let edges = [
                0, 1, 2, 3, 5, 7, 8, 10, 63, 64, 100, 126, 127, 128, 129, 200, 254, 255,
            ];
            (0..256).flat_map(|a| edges.map(|b| (a, b))).collect()
        }
        _ => {
            let edges = [
                0u64, 1, 2, 127, 128, 255, 256, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff,
            ];
            let edges = edges.iter().flat_map(|&a| edges.map(|b| (a, b)));
            let random_pairs =
                (0..2000).map(|_| (random.bits() & 0xffff, random.number() & 0xffff));
            edges.chain(random_pairs.collect::<Vec<_>>()).collect()
        }
    };
    pairs
        .into_iter()
        .map(|(a, b)| {
            let garbage = random.bits() & !ty.mask() & 0xffff_ffff;
            (
                [a | garbage, b | (garbage.reverse_bits() >> 32 & !ty.mask())],
                a,
                b,
            )
        })
        .collect()
}

fn run(module: &Module, args: &[u64]) -> u64 {
    testing::results(module, args)[0]
}

const NARROW: [Type; 2] = [Type::I8, Type::I16];

#[test]
fn binary_operations() {
    use Binary::*;
    let operations = [
        Add, Sub, Mul, UDiv, SDiv, URem, SRem, SMod, And, Or, Xor, UMin, UMax, SMin, SMax, Shl,
        LShr, AShr,
    ];
    for ty in NARROW {
        let operands = operands(ty);
        for op in operations {
            let module = legalized(&[ty; 2], |b, p| smallvec![b.binary(op, p[0], p[1])]);
            for &(args, x, y) in &operands {
                let Some(expected) = evaluate::binary(op, ty, x, y) else {
                    continue;
                };
                let found = run(&module, &args) & ty.mask();
                assert_eq!(found, expected, "{op:?} {ty} {x:#x} {y:#x}");
            }
        }
    }
}

#[test]
fn comparisons() {
    use Compare::*;
    for ty in NARROW {
        let operands = operands(ty);
        for op in [Equal, NotEqual, ULess, ULessEqual, SLess, SLessEqual] {
            let module = legalized(&[ty; 2], |b, p| smallvec![b.compare(op, p[0], p[1])]);
            for &(args, x, y) in &operands {
                let expected = evaluate::compare(op, ty, x, y);
                assert_eq!(
                    run(&module, &args),
                    u64::from(expected),
                    "{op:?} {ty} {x:#x} {y:#x}"
                );
            }
        }
    }
}

#[test]
fn unary_operations_and_extended_products() {
    for ty in NARROW {
        let operands = operands(ty);
        for op in [
            Unary::Negate,
            Unary::Not,
            Unary::BitCount,
            Unary::BitReverse,
        ] {
            let module = legalized(&[ty], |b, p| smallvec![b.unary(op, p[0])]);
            for &([arg, _], x, _) in &operands {
                let expected = match op {
                    Unary::Negate => x.wrapping_neg(),
                    Unary::Not => !x,
                    Unary::BitCount => x.count_ones().into(),
                    _ => x.reverse_bits() >> (64 - ty.bits()),
                };
                assert_eq!(
                    run(&module, &[arg]) & ty.mask(),
                    expected & ty.mask(),
                    "{op:?}"
                );
            }
        }
        for signed in [false, true] {
            let module = legalized(&[ty; 2], |b, p| {
                let op = Op::MulExtended {
                    signed,
                    a: p[0],
                    b: p[1],
                };
                b.op(op, [ty; 2])
            });
            for &(args, x, y) in &operands {
                let (x, y) = if signed {
                    (evaluate::signed(ty, x), evaluate::signed(ty, y))
                } else {
                    (x as i64, y as i64)
                };
                let found = testing::results(&module, &args);
                let product = (x * y) as u64;
                assert_eq!(found[0] & ty.mask(), product & ty.mask());
                assert_eq!(found[1] & ty.mask(), product >> ty.bits() & ty.mask());
            }
        }
    }
}

#[test]
fn conversions() {
    for ty in NARROW {
        let operands = operands(ty);
        for op in [Convert::ZeroExtend, Convert::SignExtend] {
            for to in [Type::I16, Type::I32, Type::I64] {
                if to.bits() <= ty.bits() {
                    continue;
                }
                let module = legalized(&[ty], |b, p| smallvec![b.convert(op, p[0], to)]);
                for &([arg, _], x, _) in &operands {
                    let expected = evaluate::convert(op, ty, to, x).unwrap();
                    assert_eq!(run(&module, &[arg]) & to.mask(), expected, "{op:?} {x:#x}");
                }
            }
        }
        for op in [Convert::UnsignedToFloat(None), Convert::SignedToFloat(None)] {
            let module = legalized(&[ty], |b, p| smallvec![b.convert(op, p[0], Type::F32)]);
            for &([arg, _], x, _) in &operands {
                let expected = evaluate::convert(op, ty, Type::F32, x).unwrap();
                assert_eq!(run(&module, &[arg]), expected);
            }
        }
        for from in [Type::I16, Type::I32, Type::I64] {
            if from.bits() <= ty.bits() {
                continue;
            }
            let module = legalized(&[from], |b, p| {
                smallvec![b.convert(Convert::Truncate, p[0], ty)]
            });
            for arg in [0, 0x1234_5678_9abc_def0, u64::MAX] {
                assert_eq!(run(&module, &[arg]) & ty.mask(), arg & ty.mask());
            }
        }
    }
}

#[test]
fn a_device_may_have_one_of_the_widths() {
    for (int8, int16) in [(true, false), (false, true)] {
        let device = Capabilities {
            int8,
            int16,
            ..Capabilities::minimal()
        };
        // (short)(char)x + (uchar)x, as int
        let mut module = testing::module_with(&[Type::I32], |b, p| {
            let byte = b.convert(Convert::Truncate, p[0], Type::I8);
            let signed = b.convert(Convert::SignExtend, byte, Type::I16);
            let unsigned = b.convert(Convert::ZeroExtend, byte, Type::I16);
            let sum = b.binary(Binary::Add, signed, unsigned);
            smallvec![b.convert(Convert::SignExtend, sum, Type::I32)]
        });
        legalize(&mut module, &device);
        for x in 0..256u64 {
            let expected = i32::from(x as u8 as i8) + i32::from(x as u8);
            assert_eq!(run(&module, &[x | 0x5500]) as u32 as i32, expected);
        }
    }
}

/// `buffer[0] = (uchar)(buffer[0] + buffer[1]) < buffer[1]`, the sum also as a half.
#[test]
fn where_arithmetic_is_wrong_only_memory_has_narrow_integers() {
    let device = Capabilities {
        defects: Defects::MISCOMPUTES_NARROW_INTEGERS,
        ..Capabilities::full()
    };
    for ty in NARROW {
        let mut module = testing::module_with(&[Type::I64], |b, p| {
            let access = Access::aligned(ty.size_bytes());
            let read = b.load(Place::Address(p[0]), ty, 2, access);
            let sum = b.binary(Binary::Add, read[0], read[1]);
            let carry = b.compare(Compare::ULess, sum, read[1]);
            let (one, none) = (b.constant(ty, 1), b.constant(ty, 0));
            let carry = b.select(carry, one, none);
            b.store(Place::Address(p[0]), smallvec![carry, sum], access);
            if ty == Type::I16 {
                let half = b.convert(Convert::Bitcast, sum, Type::F16);
                let bits = b.convert(Convert::Bitcast, half, Type::I16);
                return smallvec![b.convert(Convert::ZeroExtend, bits, Type::I32)];
            }
            smallvec![b.convert(Convert::ZeroExtend, sum, Type::I32)]
        });
        legalize(&mut module, &device);
        let function = &module.functions[0];
        let mut narrow = Vec::new();
        for &inst in &function.block(function.entry()).insts {
            let data = function.inst(inst);
            let values = data.results.iter().copied().chain(data.op.operands());
            if values.into_iter().any(|value| function.ty(value) == ty) {
                narrow.push(data.op.clone());
            }
        }
        assert!(!narrow.is_empty());
        for op in narrow {
            assert!(
                matches!(op, Op::Load(..) | Op::Store(..) | Op::Convert(..)),
                "{op} in {function}"
            );
        }
        let bytes = ty.size_bytes() as usize;
        for (_, x, y) in operands(ty) {
            let mut host = Interpreter::new(&module);
            let word = |value: u64| value.to_le_bytes()[..bytes].to_vec();
            let at = host.allocate(&[word(x), word(y)].concat());
            let sum = (x + y) & ty.mask();
            assert_eq!(host.run(FuncId(0), &[at]), Ok(vec![sum]), "{x:#x} + {y:#x}");
            let carry = u64::from(x + y > ty.mask());
            assert_eq!(host.bytes(at, 2 * bytes), [word(carry), word(sum)].concat());
        }
    }
}

#[test]
fn switches_look_at_their_width_only() {
    let module = legalized(&[Type::I8], |b, p| {
        let done = b.function.add_block();
        let result = b.function.add_param(done, Type::I8);
        let (seven, none) = (b.constant(Type::I8, 7), b.constant(Type::I8, 9));
        b.terminate(Terminator::Switch {
            value: p[0],
            cases: vec![(0xff, Edge::new(done, [seven]))],
            default: Edge::new(done, [none]),
        });
        b.switch_to(done);
        smallvec![result]
    });
    assert_eq!(run(&module, &[0xffff_ffff]) & 0xff, 7);
    assert_eq!(run(&module, &[0x0000_00ff]) & 0xff, 7);
    assert_eq!(run(&module, &[0xffff_fffe]) & 0xff, 9);
}

#[test]
fn what_is_not_known_is_an_error_that_names_it() {
    let mut module = testing::module_with(&[Type::I8], |b, p| {
        smallvec![b.op1(Op::Glsl(1, smallvec![p[0]]), Type::I8)]
    });
    let error = super::legalize(&mut module, &Capabilities::minimal()).unwrap_err();
    assert!(error.reason.contains("GLSL.std.450 function 1"), "{error}");
    assert_eq!(error.function.as_deref(), Some("test"));
}
