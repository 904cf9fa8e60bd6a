//! Every lowered operation against the interpreter's exact arithmetic, or Rust's.

use crate::compiler::Capabilities;
use crate::compiler::capabilities::FloatControls;
use crate::compiler::evaluate;
use crate::compiler::evaluate::float::{Parts, decode};
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    Binary, Builder, Compare, Convert, FuncId, Function, Module, Op, Rounding, Terminator, Type,
    Unary, Value,
};
use crate::compiler::passes::helpers::testing::run_on;

const ROUNDINGS: [Option<Rounding>; 5] = [
    None,
    Some(Rounding::Rte),
    Some(Rounding::Rtz),
    Some(Rounding::Rtp),
    Some(Rounding::Rtn),
];

/// A module whose function 0 is one operation, lowered.
struct Lowered(Module);

impl Lowered {
    fn new(
        caps: &Capabilities,
        args: &[Type],
        results: &[Type],
        op: impl FnOnce(&[Value]) -> Op,
    ) -> Self {
        let mut function = Function::new("f");
        function.return_types = results.to_vec();
        let entry = function.entry();
        let args = args.iter().map(|ty| function.add_param(entry, *ty));
        let args: Vec<Value> = args.collect();
        let mut b = Builder::new(&mut function, entry);
        let values = b.op(op(&args), results.iter().copied());
        b.terminate(Terminator::Return(values));
        let mut module = Module::default();
        module.add_function(function);
        run_on(&mut module, caps, super::run).unwrap();
        Self(module)
    }

    fn convert(caps: &Capabilities, op: Convert, from: Type, to: Type) -> Self {
        let lowered = Self::new(caps, &[from], &[to], |v| Op::Convert(op, v[0]));
        for data in lowered.operations() {
            assert!(is_plain(&lowered.0, &data), "{op:?} {from} {to}: {data}");
        }
        lowered
    }

    fn operations(&self) -> Vec<Op> {
        let function = self.0.function(FuncId(0));
        let insts = &function.block(function.entry()).insts;
        insts.iter().map(|i| function.inst(*i).op.clone()).collect()
    }

    fn run(&self, args: &[u64]) -> Vec<u64> {
        Interpreter::new(&self.0).run(FuncId(0), args).unwrap()
    }
}

/// Whether a conversion is one that the emitter has.
fn is_plain(module: &Module, op: &Op) -> bool {
    let &Op::Convert(convert, x) = op else {
        return true;
    };
    let from = module.function(FuncId(0)).ty(x);
    match convert {
        Convert::FloatToSigned { rounding, saturate }
        | Convert::FloatToUnsigned { rounding, saturate } => {
            rounding.is_none() && !saturate && from != Type::F16
        }
        Convert::SignedToFloat(rounding) | Convert::UnsignedToFloat(rounding) => {
            rounding.is_none() && from.bits() >= 32
        }
        Convert::FloatToFloat(rounding) => rounding.is_none(),
        _ => true,
    }
}

/// Halves, but conversions that can't be trusted.
fn sloppy() -> Capabilities {
    Capabilities {
        float16_controls: FloatControls::default(),
        float32_controls: FloatControls::default(),
        float64_controls: FloatControls::default(),
        widens_denormals: false,
        ..Capabilities::full()
    }
}

/// Pseudo-random bits (xorshift).
struct Bits(u64);

impl Bits {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Numbers near every power of two, near the limits, and others.
fn numbers(ty: Type) -> Vec<u64> {
    let mut bits = Bits(9);
    let mut all = vec![0, 1, ty.mask(), ty.mask() >> 1, (ty.mask() >> 1) + 1];
    if ty.is_float() {
        let oracle = |x: f64| match ty {
            Type::F64 => x.to_bits(),
            _ => {
                evaluate::convert(Convert::FloatToFloat(None), Type::F64, ty, x.to_bits()).unwrap()
            }
        };
        for power in (-30..70).chain([-1074, -149, -140, -126, 127, 1000]) {
            for offset in [-2_i64, -1, 0, 1, 2] {
                let x = oracle(f64::from(power).exp2());
                all.push(x.wrapping_add(offset as u64) & ty.mask());
            }
            let x = f64::from(power).exp2();
            all.extend([oracle(x * 1.5), oracle(x + 0.5), oracle(x - 0.5)]);
        }
        // Ties and near ties of halves and singles.
        for step in 0..200 {
            let x = f64::from(step) * (2.0_f64.powi(-11)) + 1.0;
            all.extend([
                oracle(x),
                oracle(x * 2.0_f64.powi(-20)),
                oracle(x * 40000.0),
            ]);
            let x = f64::from(step) * (2.0_f64.powi(-25)) + 1.0;
            all.extend([oracle(x), oracle(x * 2.0_f64.powi(-140)), oracle(x * 3e38)]);
        }
        for x in [
            0.5,
            1.5,
            2.5,
            65504.0,
            65519.9,
            65520.0,
            65536.0,
            f64::INFINITY,
            f64::NAN,
        ] {
            all.push(oracle(x));
        }
    } else {
        for power in 0..ty.bits() {
            for offset in [-2_i64, -1, 0, 1, 2] {
                all.push((1_u64 << power).wrapping_add(offset as u64) & ty.mask());
            }
            all.push(bits.next() & ty.mask() >> power);
            all.push((bits.next() & ty.mask() >> power) | 1 << (ty.bits() - 1));
        }
    }
    let sign = 1 << (ty.bits() - 1);
    all.extend(all.clone().iter().map(|x| x ^ sign));
    all.extend((0..300).map(|_| bits.next() & ty.mask()));
    all
}

fn same(ty: Type, a: u64, b: u64) -> bool {
    a == b || (ty.is_float() && decode(ty, a) == Parts::Nan && decode(ty, b) == Parts::Nan)
}

#[track_caller]
fn check_conversion(caps: &Capabilities, op: Convert, from: Type, to: Type, inputs: &[u64]) {
    let lowered = Lowered::convert(caps, op, from, to);
    for &x in inputs {
        let Some(expected) = evaluate::convert(op, from, to, x) else {
            continue;
        };
        let actual = lowered.run(&[x])[0];
        assert!(
            same(to, actual, expected & to.mask()),
            "{op:?} {from} {x:#x} -> {to}: {actual:#x}, not {expected:#x}"
        );
    }
}

#[test]
fn floats_to_integers() {
    for from in [Type::F16, Type::F32, Type::F64] {
        let inputs = numbers(from);
        for to in [Type::I8, Type::I16, Type::I32, Type::I64] {
            for rounding in ROUNDINGS {
                for saturate in [false, true] {
                    let signed = Convert::FloatToSigned { rounding, saturate };
                    let unsigned = Convert::FloatToUnsigned { rounding, saturate };
                    for op in [signed, unsigned] {
                        check_conversion(&Capabilities::full(), op, from, to, &inputs);
                    }
                }
            }
        }
    }
}

#[test]
fn integers_to_floats() {
    for from in [Type::I8, Type::I16, Type::I32, Type::I64] {
        let inputs = numbers(from);
        for to in [Type::F16, Type::F32, Type::F64] {
            for rounding in ROUNDINGS {
                for op in [
                    Convert::SignedToFloat(rounding),
                    Convert::UnsignedToFloat(rounding),
                ] {
                    check_conversion(&Capabilities::full(), op, from, to, &inputs);
                    check_conversion(&sloppy(), op, from, to, &inputs);
                }
            }
        }
    }
}

#[test]
fn floats_to_floats() {
    let types = [Type::F16, Type::F32, Type::F64];
    for from in types {
        let inputs = match from {
            Type::F16 => (0..=0xffff).collect(),
            _ => numbers(from),
        };
        for to in types.into_iter().filter(|to| *to != from) {
            for rounding in ROUNDINGS {
                let op = Convert::FloatToFloat(rounding);
                for caps in [sloppy(), Capabilities::full()] {
                    check_conversion(&caps, op, from, to, &inputs);
                    let lowered = Lowered::convert(&caps, op, from, to);
                    let rounded =
                        |op: &Op| matches!(op, Op::Convert(Convert::FloatToFloat(Some(_)), _));
                    assert!(!lowered.operations().iter().any(rounded), "{op:?} {from:?}");
                }
            }
        }
    }
}

#[test]
fn denormals_are_widened_by_their_bits() {
    let op = Convert::FloatToFloat(None);
    let widened = |caps: &Capabilities| {
        let lowered = Lowered::convert(caps, op, Type::F32, Type::F64);
        let by_bits = |op: &Op| matches!(op, Op::Convert(Convert::UnsignedToFloat(None), _));
        lowered.operations().iter().any(by_bits)
    };
    assert!(widened(&sloppy()));
    assert!(!widened(&Capabilities::full()));
    let flushing = Capabilities {
        keeps_denormals32: false,
        ..sloppy()
    };
    assert!(!widened(&flushing), "they are zero before");
}

#[test]
fn the_zero_that_denormals_are_flushed_to_has_no_neighbours() {
    let flushing = Capabilities {
        keeps_denormals32: false,
        ..sloppy()
    };
    for (rounding, x, neighbour) in [
        (Rounding::Rtp, 1e-46_f64, 1_u64),
        (Rounding::Rtn, -1e-46, 0x8000_0001),
    ] {
        let op = Convert::FloatToFloat(Some(rounding));
        let zero = neighbour & 0x8000_0000;
        for (caps, expected) in [(sloppy(), neighbour), (flushing.clone(), zero)] {
            let lowered = Lowered::convert(&caps, op, Type::F64, Type::F32);
            assert_eq!(lowered.run(&[x.to_bits()]), [expected], "{rounding:?}");
        }
    }
}

#[test]
fn what_legalization_does_is_left_to_it() {
    let caps = Capabilities::minimal();
    let rounding = Some(Rounding::Rtp);
    let cases = [
        (Convert::FloatToFloat(rounding), Type::F32, Type::F16),
        (Convert::SignedToFloat(rounding), Type::I64, Type::F32),
    ];
    for (op, from, to) in cases {
        let lowered = Lowered::new(&caps, &[from], &[to], |v| Op::Convert(op, v[0]));
        assert!(matches!(lowered.operations()[..], [Op::Convert(left, _)] if left == op));
    }
}

#[test]
fn float_predicates() {
    for ty in [Type::F16, Type::F32, Type::F64] {
        for op in [
            Unary::IsNan,
            Unary::IsInf,
            Unary::IsFinite,
            Unary::IsNormal,
            Unary::SignBitSet,
        ] {
            let lowered = Lowered::new(&sloppy(), &[ty], &[Type::Bool], |v| Op::Unary(op, v[0]));
            assert!(
                !lowered
                    .operations()
                    .iter()
                    .any(|op| matches!(op, Op::Unary(..)))
            );
            for x in numbers(ty) {
                assert_eq!(
                    lowered.run(&[x])[0],
                    evaluate::unary(op, ty, x),
                    "{op:?} {ty} {x:#x}"
                );
            }
        }
        for op in [Compare::FOrdered, Compare::FUnordered] {
            let lowered = Lowered::new(&sloppy(), &[ty, ty], &[Type::Bool], |v| {
                Op::Compare(op, v[0], v[1])
            });
            for x in numbers(ty).into_iter().step_by(7) {
                for y in numbers(ty).into_iter().step_by(29) {
                    let expected = evaluate::compare(op, ty, x, y);
                    assert_eq!(lowered.run(&[x, y])[0], expected.into());
                }
            }
        }
    }
}

#[test]
fn integer_operations() {
    for ty in [Type::I8, Type::I16, Type::I32, Type::I64] {
        for op in [Unary::BitCount, Unary::BitReverse] {
            let lowered = Lowered::new(&sloppy(), &[ty], &[ty], |v| Op::Unary(op, v[0]));
            for x in numbers(ty) {
                assert_eq!(
                    lowered.run(&[x])[0],
                    evaluate::unary(op, ty, x),
                    "{op:?} {ty} {x:#x}"
                );
            }
        }
        use Binary::*;
        for op in [UMin, UMax, SMin, SMax, UDiv, URem, SDiv, SRem, SMod] {
            let lowered = Lowered::new(&sloppy(), &[ty, ty], &[ty], |v| Op::Binary(op, v[0], v[1]));
            let undefined = [SRem, SMod];
            assert!(
                !lowered
                    .operations()
                    .iter()
                    .any(|op| matches!(op, Op::Binary(op, ..) if undefined.contains(op)))
            );
            for x in numbers(ty).into_iter().step_by(3) {
                for y in numbers(ty).into_iter().step_by(11) {
                    // Division by zero is undefined, but must not trap where it is signed.
                    let signed = !matches!(op, UDiv | URem);
                    if y == 0 && !signed {
                        continue;
                    }
                    let actual = lowered.run(&[x, y])[0];
                    if let Some(expected) = evaluate::binary(op, ty, x, y) {
                        assert_eq!(actual, expected & ty.mask(), "{op:?} {ty} {x:#x} {y:#x}");
                    }
                }
            }
            let least = 1 << (ty.bits() - 1);
            if op == SDiv {
                assert_eq!(lowered.run(&[least, ty.mask()])[0], least);
            }
        }
        for signed in [false, true] {
            let lowered = Lowered::new(&sloppy(), &[ty, ty], &[ty, ty], |v| Op::MulExtended {
                signed,
                a: v[0],
                b: v[1],
            });
            for x in numbers(ty).into_iter().step_by(3) {
                for y in numbers(ty).into_iter().step_by(11) {
                    let number = |v| {
                        if signed {
                            i128::from(evaluate::signed(ty, v)) as u128
                        } else {
                            v.into()
                        }
                    };
                    let product = number(x).wrapping_mul(number(y));
                    let high = (product >> ty.bits()) as u64 & ty.mask();
                    let expected = [product as u64 & ty.mask(), high];
                    assert_eq!(lowered.run(&[x, y]), expected, "{ty} {x:#x} {y:#x}");
                }
            }
        }
    }
}

#[test]
fn division_by_great_numbers_stays_within_vulkans_range() {
    let lowered = Lowered::new(&sloppy(), &[Type::F32; 2], &[Type::F32], |v| {
        Op::Binary(Binary::FDiv, v[0], v[1])
    });
    let divisions = |op: &&Op| matches!(op, Op::Binary(Binary::FMul, ..));
    assert_eq!(lowered.operations().iter().filter(divisions).count(), 2);
    for x in [1.0_f32, -3e38, 1e-30, f32::INFINITY] {
        for y in [3.0_f32, 2e38, -1e35, 1e-38, f32::INFINITY] {
            let actual = f32::from_bits(lowered.run(&[x, y].map(|v| v.to_bits().into()))[0] as u32);
            let expected = x / y;
            let close = (actual - expected).abs() <= expected.abs() * 3e-7 + 1.2e-38;
            assert!(actual == expected || close || (actual.is_nan() && expected.is_nan()));
        }
    }
    // A divisor known to be small needs nothing.
    let mut function = Function::new("f");
    let entry = function.entry();
    let x = function.add_param(entry, Type::F32);
    let mut b = Builder::new(&mut function, entry);
    let three = b.f32(3.0);
    let value = b.binary(Binary::FDiv, x, three);
    b.terminate(Terminator::Return([value].into_iter().collect()));
    let mut module = Module::default();
    module.add_function(function);
    run_on(&mut module, &sloppy(), super::run).unwrap();
    assert_eq!(Lowered(module).operations().len(), 2);
}
