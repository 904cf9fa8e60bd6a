//! Loads and stores of every type, count, alignment and address, on devices with and without the features.

use crate::compiler::Capabilities;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    Access, AtomicOp, Binary, Convert, FuncId, Module, Op, Place, Scope, Semantics, Type, Value,
    Values,
};
use crate::compiler::passes::helpers::testing;
use smallvec::smallvec;
use std::ops::Range;

const TYPES: [Type; 8] = [
    Type::Bool,
    Type::I8,
    Type::I16,
    Type::I32,
    Type::I64,
    Type::F16,
    Type::F32,
    Type::F64,
];

/// Start of the data in the test's memory; what lies around it is guarded.
const BASE: u64 = 64;

fn devices() -> [Capabilities; 4] {
    [
        Capabilities::full(),
        Capabilities {
            int64: true,
            ..Capabilities::minimal()
        },
        Capabilities {
            storage8: false,
            storage16: false,
            ..Capabilities::full()
        },
        Capabilities {
            int8: false,
            storage8: false,
            ..Capabilities::full()
        },
    ]
}

/// Accesses are of few elements that the device has, at their alignment.
fn check(module: &Module, device: &Capabilities) {
    let memory = super::Memory {
        capabilities: device,
        arrays: &[],
    };
    let function = &module.functions[0];
    for &block in function.layout() {
        for &inst in &function.block(block).insts {
            let inst = function.inst(inst);
            let (values, access) = match &inst.op {
                Op::Load(_, access) => (&inst.results, access),
                Op::Store(_, values, access) => (values, access),
                _ => continue,
            };
            let ty = function.ty(values[0]);
            assert!(memory.accesses(ty), "{function}");
            assert!(
                values.len() <= 4 && access.align_bytes >= ty.size_bytes(),
                "{function}"
            );
        }
    }
}

fn supported(ty: Type, device: &Capabilities) -> bool {
    ty != Type::F64 || device.float64
}

/// Alignments, and addresses that have them.
fn placements() -> impl Iterator<Item = (u32, u64)> {
    [1u32, 2, 4, 8, 16]
        .into_iter()
        .flat_map(|align| (0..4).map(move |step| (align, BASE + u64::from(align) * step)))
}

fn is_within(part: &Range<u64>, whole: &Range<u64>) -> bool {
    whole.start <= part.start && part.end <= whole.end
}

fn words_of(at: u64, size: u64) -> Range<u64> {
    at & !3..(at + size).next_multiple_of(4)
}

/// The bits of values, each in an I64 or less: what a test compares.
fn bits_of(b: &mut crate::compiler::ir::Builder<'_>, values: &[Value]) -> Values {
    values
        .iter()
        .map(|&value| match b.ty(value) {
            Type::Bool => value,
            ty => b.bitcast(value, ty.as_int().unwrap_or(ty)),
        })
        .collect()
}

#[test]
fn loads() {
    for device in devices() {
        for ty in TYPES.into_iter().filter(|&ty| supported(ty, &device)) {
            for count in [1, 2, 3, 4, 5, 8, 16, 17] {
                for (align_bytes, at) in placements() {
                    let mut module = testing::module_with(&[Type::I64], |b, p| {
                        let access = Access::aligned(align_bytes);
                        let values = b.load(Place::Address(p[0]), ty, count, access);
                        bits_of(b, &values)
                    });
                    super::legalize(&mut module, &device).unwrap();
                    check(&module, &device);
                    let mut run = Interpreter::new(&module);
                    run.memory = (0..400u32).map(|i| (i * 37 % 251) as u8).collect();
                    let size = u64::from(ty.size_bytes());
                    let expected: Vec<u64> = (0..count as u64)
                        .map(|index| {
                            let from = (at + index * size) as usize;
                            let mut bytes = [0; 8];
                            bytes[..size as usize]
                                .copy_from_slice(&run.memory[from..from + size as usize]);
                            let bits = u64::from_le_bytes(bytes);
                            if ty == Type::Bool {
                                u64::from(bits != 0)
                            } else {
                                bits
                            }
                        })
                        .collect();
                    assert_eq!(
                        run.run(FuncId(0), &[at]),
                        Ok(expected),
                        "{ty} x {count} at {at}\n{module}"
                    );
                    let allowed = words_of(at, size * count as u64);
                    assert!(run.touched.iter().all(|it| is_within(it, &allowed)));
                }
            }
        }
    }
}

/// The words that a function loads.
fn words_loaded(module: &Module) -> usize {
    let function = &module.functions[0];
    let blocks = function.layout().iter();
    let insts = blocks.flat_map(|&block| &function.block(block).insts);
    insts
        .map(|&inst| function.inst(inst))
        .filter(|inst| matches!(inst.op, Op::Load(Place::Address(_), _)))
        .map(|inst| inst.results.len())
        .sum()
}

/// A word that lies apart.
const ELSEWHERE: Range<u64> = 128..132;

#[test]
fn neighbours_are_loaded_together() {
    let device = Capabilities::minimal();
    // Elements of each load, where they begin, whether something is stored before, and the words for all of them.
    let one_each = [1; 6];
    for (ty, counts, between, words) in [
        (Type::I16, &one_each[..], false, 4),
        (Type::I16, &[2, 1, 3], false, 4),
        (Type::I8, &one_each, false, 3),
        (Type::I8, &one_each, true, 2 * 2),
    ] {
        for at in (BASE..BASE + 4).step_by(ty.size_bytes() as usize) {
            let size = u64::from(ty.size_bytes());
            let mut module = testing::module_with(&[Type::I64], |b, p| {
                let mut values = Values::new();
                for (index, &count) in counts.iter().enumerate() {
                    let address = match values.len() as u64 * size {
                        0 => p[0],
                        offset => b.binary_const(Binary::Add, p[0], offset),
                    };
                    if between && index == 3 {
                        let word = b.i32(7);
                        let elsewhere = b.constant(Type::I64, ELSEWHERE.start);
                        b.store(
                            Place::Address(elsewhere),
                            smallvec![word],
                            Access::aligned(4),
                        );
                    }
                    let access = Access::aligned(ty.size_bytes());
                    values.extend(b.load(Place::Address(address), ty, count, access));
                }
                values
            });
            super::legalize(&mut module, &device).unwrap();
            check(&module, &device);
            assert_eq!(words_loaded(&module), words, "{module}");
            let mut run = Interpreter::new(&module);
            run.memory = (0..200u32).map(|i| (i * 37 % 251) as u8).collect();
            let bytes = &run.memory[at as usize..(at + 6 * size) as usize];
            let elements = bytes.chunks(size as usize);
            let expected: Vec<u64> = elements
                .map(|it| {
                    it.iter()
                        .rev()
                        .fold(0, |all, &byte| all << 8 | u64::from(byte))
                })
                .collect();
            assert_eq!(
                run.run(FuncId(0), &[at]),
                Ok(expected),
                "{ty} at {at}\n{module}"
            );
            let allowed = words_of(at, 6 * size);
            assert!(
                run.touched
                    .iter()
                    .all(|it| is_within(it, &allowed) || *it == ELSEWHERE)
            );
        }
    }
}

#[test]
fn small_elements_move_as_words() {
    let count = |align_bytes, ty, elements| {
        let mut module = testing::module_with(&[Type::I64], |b, p| {
            let access = Access::aligned(align_bytes);
            let values = b.load(Place::Address(p[0]), ty, elements, access);
            b.store(Place::Address(p[0]), values, access);
            Values::new()
        });
        super::legalize(&mut module, &Capabilities::full()).unwrap();
        let function = &module.functions[0];
        let insts = function
            .layout()
            .iter()
            .flat_map(|&b| &function.block(b).insts);
        insts
            .map(|&inst| match &function.inst(inst).op {
                Op::Load(..) => function.inst(inst).results.len(),
                Op::Store(_, values, _) => values.len(),
                _ => 0,
            })
            .sum::<usize>()
    };
    assert_eq!(count(16, Type::I8, 16), 2 * 4);
    assert_eq!(count(4, Type::I16, 2), 2);
    // Not whole words, or not known to be.
    assert_eq!(count(4, Type::I8, 3), 2 * 3);
    assert_eq!(count(2, Type::I16, 4), 2 * 4);
}

#[test]
fn stores() {
    for device in devices() {
        for ty in TYPES.into_iter().filter(|&ty| supported(ty, &device)) {
            for count in [1, 2, 3, 4, 5, 8, 16, 17] {
                for (align_bytes, at) in placements() {
                    let int = ty.as_int().unwrap_or(ty);
                    let mut params = vec![int; count];
                    params.push(Type::I64);
                    let mut module = testing::module_with(&params, |b, p| {
                        let values = p[..count].iter();
                        let values = values
                            .map(|&v| {
                                if int == ty {
                                    v
                                } else {
                                    b.convert(Convert::Bitcast, v, ty)
                                }
                            })
                            .collect();
                        b.store(
                            Place::Address(p[count]),
                            values,
                            Access::aligned(align_bytes),
                        );
                        smallvec![]
                    });
                    super::legalize(&mut module, &device).unwrap();
                    check(&module, &device);
                    let size = u64::from(ty.size_bytes());
                    let mut args: Vec<u64> = (0..count as u64)
                        .map(|index| {
                            (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 3 & ty.mask()
                        })
                        .collect();
                    let mut expected = vec![0xa5u8; 400];
                    for (index, bits) in args.iter().enumerate() {
                        let from = at as usize + index * size as usize;
                        expected[from..from + size as usize]
                            .copy_from_slice(&bits.to_le_bytes()[..size as usize]);
                    }
                    args.push(at);
                    let mut run = Interpreter::new(&module);
                    run.memory = vec![0xa5; 400];
                    assert_eq!(run.run(FuncId(0), &args), Ok(Vec::new()));
                    assert_eq!(
                        run.memory, expected,
                        "{ty} x {count} at {at} align {align_bytes}\n{module}"
                    );
                    let bytes = size * count as u64;
                    let allowed = words_of(at, bytes);
                    assert!(run.touched.iter().all(|it| is_within(it, &allowed)));
                    // What is not the store's own is written by atomics only.
                    let own = at..at + bytes;
                    assert!(run.stored.iter().all(|it| is_within(it, &own)));
                }
            }
        }
    }
}

#[test]
fn whole_words_need_no_atomics() {
    let mut module = testing::module_with(&[Type::I64, Type::I8], |b, p| {
        b.store(Place::Address(p[0]), smallvec![p[1]; 4], Access::aligned(4));
        smallvec![]
    });
    super::legalize(&mut module, &Capabilities::minimal()).unwrap();
    assert!(!module.to_string().contains("atomic"), "{module}");
}

fn atomic(op: AtomicOp, ty: Type, operands: usize) -> Module {
    let params: Vec<Type> = [Type::I64].into_iter().chain(vec![ty; operands]).collect();
    testing::module_with(&params, |b, p| {
        let op = Op::Atomic {
            op,
            place: Place::Address(p[0]),
            values: p[1..].into(),
            scope: Scope::Device,
            semantics: Semantics(0),
        };
        b.op(op, [ty])
    })
}

#[test]
fn float_atomics_are_integer_ones() {
    let run = |op, before: f32, operand: f32| {
        let mut module = atomic(op, Type::F32, 1);
        super::legalize(&mut module, &Capabilities::minimal()).unwrap();
        let mut run = Interpreter::new(&module);
        let at = run.allocate(&before.to_le_bytes());
        let old = run.run(FuncId(0), &[at, operand.to_bits().into()]);
        assert_eq!(old, Ok(vec![before.to_bits().into()]));
        f32::from_le_bytes(run.bytes(at, 4).try_into().unwrap())
    };
    assert_eq!(run(AtomicOp::FAdd, 1.5, 2.25), 3.75);
    assert_eq!(run(AtomicOp::FMin, 1.5, -2.0), -2.0);
    assert_eq!(run(AtomicOp::FMax, 1.5, -2.0), 1.5);
    assert_eq!(run(AtomicOp::Exchange, 1.5, 8.0), 8.0);
}

#[test]
fn narrow_atomics_keep_their_neighbours() {
    for (ty, at) in [(Type::I16, 2), (Type::I8, 3), (Type::I16, 0)] {
        for device in &devices() {
            let mut module = atomic(AtomicOp::Xor, ty, 1);
            super::legalize(&mut module, device).unwrap();
            let mut run = Interpreter::new(&module);
            let mut expected: Vec<u8> = (0x11..0x19).collect();
            let start = run.allocate(&expected);
            let old = run.run(FuncId(0), &[start + at, 0x5aa5]).unwrap()[0];
            let mut before = 0;
            for byte in 0..u64::from(ty.size_bytes()) {
                let place = &mut expected[(at + byte) as usize];
                before |= u64::from(*place) << (8 * byte);
                *place ^= (0x5aa5u64 >> (8 * byte)) as u8;
            }
            assert_eq!(
                (old & ty.mask(), run.bytes(start, 8)),
                (before, &*expected),
                "{ty} at {at}"
            );
        }
    }
}

#[test]
fn floats_are_added_natively_where_that_is_possible() {
    let mut module = atomic(AtomicOp::FAdd, Type::F32, 1);
    super::legalize(&mut module, &Capabilities::full()).unwrap();
    assert!(module.to_string().contains("atomic_f_add"), "{module}");
}

#[test]
fn atomics_that_the_device_lacks_are_named() {
    let error = |ty, device: &Capabilities| {
        super::legalize(&mut atomic(AtomicOp::Add, ty, 1), device)
            .unwrap_err()
            .to_string()
    };
    let minimal = Capabilities::minimal();
    assert!(
        error(Type::I64, &minimal)
            .contains("atomic Add on 64-bit integers needs shaderBufferInt64Atomics")
    );
    assert!(
        super::legalize(
            &mut atomic(AtomicOp::Add, Type::I64, 1),
            &Capabilities::full()
        )
        .is_ok()
    );
}
