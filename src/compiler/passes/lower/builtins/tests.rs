//! Every function that is spelled out, against Rust's own arithmetic.

use super::lower::Std;
use crate::compiler::Capabilities;
use crate::compiler::evaluate::float::{Parts, decode, encode};
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    AddressSpace, Builder, FuncId, Function, Module, Op, OpenClStd, Rounding, Terminator, Type,
    Value,
};
use crate::compiler::passes::helpers::testing::run_on;

/// A module whose function 0 is one instruction of `OpenCL.std`, lowered.
pub(super) struct Lowered(Module);

impl Lowered {
    pub(super) fn new(caps: &Capabilities, op: Std, args: &[Type], results: &[Type]) -> Self {
        let mut function = Function::new("f");
        function.return_types = results.to_vec();
        let entry = function.entry();
        let args = args.iter().map(|ty| function.add_param(entry, *ty));
        let args: Vec<Value> = args.collect();
        let mut b = Builder::new(&mut function, entry);
        let op = Op::OpenClStd(OpenClStd(op as u32), args.into_iter().collect());
        let values = b.op(op, results.iter().copied());
        b.terminate(Terminator::Return(values));
        let mut module = Module::default();
        module.add_function(function);
        run_on(&mut module, caps, super::run).unwrap();
        Self(module)
    }

    pub(super) fn into_module(self) -> Module {
        self.0
    }

    pub(super) fn run(&self, args: &[u64]) -> Vec<u64> {
        Interpreter::new(&self.0).run(FuncId(0), args).unwrap()
    }

    /// The result, and the bytes behind a pointer that is given as the last argument.
    pub(super) fn run_with_pointer(&self, args: &[u64]) -> (u64, u64) {
        let mut interpreter = Interpreter::new(&self.0);
        let pointer = interpreter.allocate(&[0xEE; 8]);
        let args = [args, &[pointer]].concat();
        let value = interpreter.run(FuncId(0), &args).unwrap()[0];
        let bytes = interpreter.bytes(pointer, 8);
        (value, u64::from_le_bytes(bytes.try_into().unwrap()))
    }
}

/// A device that has none of the optional operations, though all types.
pub(super) fn plain() -> Capabilities {
    Capabilities {
        fused_fma32: false,
        fused_fma64: false,
        ..Capabilities::full()
    }
}

/// Pseudo-random bits (xorshift).
pub(super) struct Bits(pub u64);

impl Bits {
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn floats() -> Vec<f32> {
    let mut all = vec![
        0.0,
        0.5,
        0.499_999_97,
        1.0,
        1.5,
        2.5,
        3.7,
        8_388_607.5,
        8_388_608.0,
        16_777_217.0,
        1e-45,
        1.1e-38,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
        123.456,
        1e20,
        1e-20,
    ];
    all.extend(all.clone().iter().map(|x| -x));
    let mut bits = Bits(7);
    all.extend((0..40).map(|_| f32::from_bits(bits.next() as u32)));
    all
}

/// Equal bits, or both NaN.
fn same(ty: Type, a: u64, b: u64) -> bool {
    a == b || (decode(ty, a) == Parts::Nan && decode(ty, b) == Parts::Nan)
}

#[track_caller]
fn check(op: Std, args: &[f32], actual: u64, expected: f32) {
    let expected = u64::from(expected.to_bits());
    let actual_float = f32::from_bits(actual as u32);
    assert!(
        same(Type::F32, actual, expected),
        "{op:?}{args:?} = {actual_float:?} ({actual:#x}), not {expected:#x}"
    );
}

#[test]
fn floats_of_one_operand() {
    type Oracle = fn(f32) -> f32;
    let cases: [(Std, Oracle); 9] = [
        (Std::fabs, f32::abs),
        (Std::floor, f32::floor),
        (Std::ceil, f32::ceil),
        (Std::trunc, f32::trunc),
        (Std::rint, f32::round_ties_even),
        (Std::round, f32::round),
        (Std::sqrt, f32::sqrt),
        (Std::sign, |x| {
            if x.is_nan() {
                0.0
            } else if x == 0.0 {
                x
            } else {
                x.signum()
            }
        }),
        (Std::logb, |x| {
            if x == 0.0 {
                f32::NEG_INFINITY
            } else if !x.is_finite() {
                x * x
            } else {
                f64::from(x.abs()).log2().floor() as f32
            }
        }),
    ];
    for (op, oracle) in cases {
        let lowered = Lowered::new(&plain(), op, &[Type::F32], &[Type::F32]);
        for x in floats() {
            // Just below a power of two the oracle's logarithm rounds up to it.
            if op == Std::logb && x.to_bits() & 0x7f_ffff == 0x7f_ffff {
                continue;
            }
            let actual = lowered.run(&[x.to_bits().into()])[0];
            check(op, &[x], actual, oracle(x));
        }
    }
}

#[test]
fn floats_of_two_operands() {
    type Oracle = fn(f32, f32) -> f32;
    fn magnitude(x: f32, y: f32, first: bool, second: bool, other: f32) -> f32 {
        match (first, second) {
            (true, _) => x,
            (_, true) => y,
            _ => other,
        }
    }
    let cases: [(Std, Oracle); 6] = [
        (Std::copysign, f32::copysign),
        (Std::fdim, |x, y| if x <= y { 0.0 } else { x - y }),
        (Std::maxmag, |x, y| {
            magnitude(x, y, x.abs() > y.abs(), y.abs() > x.abs(), x.max(y))
        }),
        (Std::minmag, |x, y| {
            magnitude(x, y, x.abs() < y.abs(), y.abs() < x.abs(), x.min(y))
        }),
        (Std::step, |edge, x| if x < edge { 0.0 } else { 1.0 }),
        (Std::nextafter, |x, y| {
            if x.is_nan() || y.is_nan() {
                f32::NAN
            } else if x == y {
                y
            } else if x < y {
                x.next_up()
            } else {
                x.next_down()
            }
        }),
    ];
    for (op, oracle) in cases {
        let lowered = Lowered::new(&plain(), op, &[Type::F32; 2], &[Type::F32]);
        for x in floats() {
            for y in floats() {
                let mut actual = lowered.run(&[x.to_bits().into(), y.to_bits().into()])[0];
                let mut expected = oracle(x, y);
                if !matches!(op, Std::copysign | Std::nextafter) && expected == 0.0 {
                    (actual, expected) = (actual & 0x7fff_ffff, 0.0);
                }
                check(op, &[x, y], actual, expected);
            }
        }
    }
}

/// A device that flushes denormals compares them as equal.
#[test]
fn the_greater_magnitude_is_found_without_a_comparison_of_floats() {
    for op in [Std::maxmag, Std::minmag] {
        let Lowered(module) = Lowered::new(&plain(), op, &[Type::F32; 2], &[Type::F32]);
        let text = module.to_string();
        assert!(text.contains("u_less"), "{text}");
        assert!(!text.contains("f_ord"), "{text}");
    }
}

#[test]
fn ldexp_rounds_once() {
    let single = Lowered::new(&plain(), Std::ldexp, &[Type::F32, Type::I32], &[Type::F32]);
    let double = Lowered::new(&plain(), Std::ldexp, &[Type::F64, Type::I32], &[Type::F64]);
    let exact = |ty: Type, bits: u64, power: i32| match decode(ty, bits) {
        Parts::Finite {
            negative,
            mantissa,
            exponent,
        } => encode(
            ty,
            Parts::Finite {
                negative,
                mantissa,
                exponent: exponent + power,
            },
            Rounding::Rte,
        ),
        other => encode(ty, other, Rounding::Rte),
    };
    let mut bits = Bits(3);
    for power in (-400..400).step_by(3).chain([i32::MIN, i32::MAX]) {
        for x in floats() {
            let x = u64::from(x.to_bits());
            let actual = single.run(&[x, power as u32 as u64])[0];
            let expected = exact(Type::F32, x, power.clamp(-2000, 2000));
            assert!(same(Type::F32, actual, expected), "{x:#x} {power}");
        }
        let (x, power) = (bits.next(), power.clamp(-400, 400) * 6);
        let actual = double.run(&[x, power as u32 as u64])[0];
        assert!(
            same(Type::F64, actual, exact(Type::F64, x, power)),
            "{x:#x} {power}"
        );
    }
}

#[test]
fn exponents() {
    let ilogb = Lowered::new(&plain(), Std::ilogb, &[Type::F32], &[Type::I32]);
    let double = Lowered::new(&plain(), Std::ilogb, &[Type::F64], &[Type::I32]);
    let of = |x: f32| ilogb.run(&[x.to_bits().into()])[0] as i32;
    assert_eq!(of(0.0), i32::MIN);
    assert_eq!(of(f32::NAN), i32::MAX);
    assert_eq!(of(f32::NEG_INFINITY), i32::MAX);
    assert_eq!(
        (of(1e-45), of(1.0), of(-7.9), of(f32::MAX)),
        (-149, 0, 2, 127)
    );
    let of = |x: f64| double.run(&[x.to_bits()])[0] as i32;
    assert_eq!((of(5e-324), of(1.0), of(f64::MAX)), (-1074, 0, 1023));
}

#[test]
fn two_results() {
    let pointer = Type::Ptr(AddressSpace::Private);
    let fract = Lowered::new(&plain(), Std::fract, &[Type::F32, pointer], &[Type::F32]);
    let modf = Lowered::new(&plain(), Std::modf, &[Type::F32, pointer], &[Type::F32]);
    let frexp = Lowered::new(&plain(), Std::frexp, &[Type::F32, pointer], &[Type::F32]);
    for x in floats() {
        let args = [u64::from(x.to_bits())];
        let (rest, floor) = fract.run_with_pointer(&args);
        let below_one = f32::from_bits(0x3f7f_ffff);
        let expected = match x {
            x if x.is_nan() || x == 0.0 => x,
            x if x.is_infinite() => 0.0_f32.copysign(x),
            x => (x - x.floor()).min(below_one),
        };
        check(Std::fract, &[x], rest, expected);
        check(Std::floor, &[x], floor & 0xffff_ffff, x.floor());

        let (rest, whole) = modf.run_with_pointer(&args);
        let expected = if x.is_infinite() { 0.0 } else { x - x.trunc() };
        check(Std::modf, &[x], rest, expected.copysign(x));
        check(Std::trunc, &[x], whole & 0xffff_ffff, x.trunc());

        let (significand, exponent) = frexp.run_with_pointer(&args);
        let significand = f32::from_bits(significand as u32);
        if x == 0.0 || !x.is_finite() {
            check(Std::frexp, &[x], significand.to_bits().into(), x);
            continue;
        }
        assert!((0.5..1.0).contains(&significand.abs()), "{x} {significand}");
        let back = f64::from(significand) * f64::from(exponent as i32).exp2();
        assert_eq!(back, f64::from(x));
    }
}

/// Operands of `fma` whose product and sum are hard to round.
fn triples(bits: &mut Bits) -> Vec<[f64; 3]> {
    let mut doubles: Vec<f64> = floats().into_iter().map(f64::from).collect();
    doubles.extend([5e-324, -5e-324, 2.2e-308, f64::MAX, 1.0 + f64::EPSILON]);
    let mut triples = Vec::new();
    for _ in 0..600 {
        let mut pick = || doubles[bits.next() as usize % doubles.len()];
        triples.push([pick(), pick(), pick()]);
        let [x, y, z] = [(); 3].map(|()| f64::from_bits(bits.next()));
        triples.push([x, y, z]);
        // Near cancellation, and near each limit.
        triples.push([x, y, -(x * y)]);
        let near = f64::from_bits((x * y).to_bits().wrapping_add(bits.next() % 5));
        triples.push([x, y, -near]);
        let tiny = f64::from_bits(bits.next() & 0x800f_ffff_ffff_ffff);
        triples.push([
            1e-160 * (1.0 + x.sin()),
            1e-160 * 1.234_567_890_123_456_7,
            tiny,
        ]);
        let third = f64::from_bits(bits.next() & 0x03ff_ffff_ffff_ffff | 0x3c00 << 48);
        triples.push([1.0 + third, 1.0 - third, third]);
        // Of few bits and of many, products and addends of every distance, about the least and the greatest numbers.
        let mut number = |exponent: u64, range: u64| {
            let fraction = bits.next() & ((1 << 52) - 1) & (u64::MAX << (bits.next() % 53));
            let exponent = exponent + bits.next() % range;
            f64::from_bits(bits.next() & 1 << 63 | exponent << 52 | fraction)
        };
        triples.push([number(1023, 1), number(1023, 1), number(1023 - 115, 230)]);
        triples.push([number(483, 60), number(483, 60), number(0, 80)]);
        triples.push([number(0, 1), number(1018, 60), number(0, 8)]);
        triples.push([number(0, 1), number(969, 56), number(0, 1)]);
        triples.push([number(1523, 20), number(1523, 30), number(2039, 8)]);
    }
    triples
}

#[test]
fn fma_rounds_once() {
    let double = Lowered::new(&plain(), Std::fma, &[Type::F64; 3], &[Type::F64]);
    let single = Lowered::new(&plain(), Std::fma, &[Type::F32; 3], &[Type::F32]);
    let half = Lowered::new(&plain(), Std::fma, &[Type::F16; 3], &[Type::F16]);
    let no_doubles = Capabilities {
        float64: false,
        ..plain()
    };
    let alone = Lowered::new(&no_doubles, Std::fma, &[Type::F32; 3], &[Type::F32]);
    let mut bits = Bits(11);
    for [x, y, z] in triples(&mut bits) {
        let actual = double.run(&[x, y, z].map(f64::to_bits))[0];
        let expected = x.mul_add(y, z);
        assert!(
            same(Type::F64, actual, expected.to_bits()),
            "{x:e} {y:e} {z:e}: {:e}, not {expected:e}",
            f64::from_bits(actual)
        );
        let [x, y, z] = [x, y, z].map(|v| v as f32);
        let actual = single.run(&[x, y, z].map(|v| v.to_bits().into()))[0];
        check(Std::fma, &[x, y, z], actual, x.mul_add(y, z));
    }
    let mut number = |exponent: u32, range: u32| {
        let [sign_and_fraction, few, power] = [(); 3].map(|()| bits.next() as u32);
        let fraction = sign_and_fraction & 0x807f_ffff & (u32::MAX << (few % 24));
        f32::from_bits(fraction | (exponent + power % range) << 23)
    };
    for round in 0..1500 {
        let [x, y, z] = match round % 6 {
            0 => [number(0, 256), number(0, 256), number(0, 256)],
            1 => [number(127, 1), number(127, 1), number(127 - 58, 116)],
            2 => [number(47, 20), number(47, 20), number(0, 40)],
            3 => [number(0, 1), number(100, 60), number(0, 8)],
            4 => [number(187, 10), number(182, 15), number(247, 8)],
            _ => {
                let (x, y) = (number(0, 255), number(0, 255));
                [x, y, -(x * y)]
            }
        };
        for lowered in [&single, &alone] {
            let actual = lowered.run(&[x, y, z].map(|v| v.to_bits().into()))[0];
            check(Std::fma, &[x, y, z], actual, x.mul_add(y, z));
        }
    }
    // Halves: exactly, in units of 2^-48.
    for _ in 0..2000 {
        let args = [(); 3].map(|()| bits.next() & 0xffff);
        let fixed = |bits: u64, unit: i32| match decode(Type::F16, bits) {
            Parts::Finite {
                negative,
                mantissa,
                exponent,
            } => {
                let value = (mantissa << (exponent + unit)) as i128;
                Some(if negative { -value } else { value })
            }
            _ => None,
        };
        let [x, y] = [args[0], args[1]].map(|v| fixed(v, 24));
        let (Some(x), Some(y), Some(z)) = (x, y, fixed(args[2], 48)) else {
            continue;
        };
        let sum = x * y + z;
        if sum == 0 {
            continue;
        }
        let parts = Parts::Finite {
            negative: sum < 0,
            mantissa: sum.unsigned_abs(),
            exponent: -48,
        };
        let expected = encode(Type::F16, parts, Rounding::Rte);
        assert_eq!(half.run(&args)[0], expected, "{args:x?}");
    }
}

/// An integer function of any number of operands, on mathematical integers.
type IntOracle = fn(&[i128], u32) -> i128;

#[test]
fn integers() {
    fn low(bits: u32) -> (i128, i128) {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    }
    fn unsigned(x: i128, bits: u32) -> i128 {
        x & ((1 << bits) - 1)
    }
    /// Operands are read as signed where the name starts with `s_`, else as unsigned.
    const CASES: [(Std, usize, IntOracle); 30] = [
        (Std::s_abs, 1, |a, _| a[0].abs()),
        (Std::u_abs, 1, |a, _| a[0]),
        (Std::s_abs_diff, 2, |a, _| (a[0] - a[1]).abs()),
        (Std::u_abs_diff, 2, |a, _| (a[0] - a[1]).abs()),
        (Std::s_add_sat, 2, |a, n| {
            (a[0] + a[1]).clamp(low(n).0, low(n).1)
        }),
        (Std::u_add_sat, 2, |a, n| (a[0] + a[1]).min((1 << n) - 1)),
        (Std::s_sub_sat, 2, |a, n| {
            (a[0] - a[1]).clamp(low(n).0, low(n).1)
        }),
        (Std::u_sub_sat, 2, |a, _| (a[0] - a[1]).max(0)),
        (Std::s_hadd, 2, |a, _| (a[0] + a[1]) >> 1),
        (Std::u_hadd, 2, |a, _| (a[0] + a[1]) >> 1),
        (Std::s_rhadd, 2, |a, _| (a[0] + a[1] + 1) >> 1),
        (Std::u_rhadd, 2, |a, _| (a[0] + a[1] + 1) >> 1),
        (Std::s_max, 2, |a, _| a[0].max(a[1])),
        (Std::u_max, 2, |a, _| a[0].max(a[1])),
        (Std::s_min, 2, |a, _| a[0].min(a[1])),
        (Std::u_min, 2, |a, _| a[0].min(a[1])),
        (Std::s_clamp, 3, |a, _| a[0].max(a[1]).min(a[2])),
        (Std::u_clamp, 3, |a, _| a[0].max(a[1]).min(a[2])),
        (Std::popcount, 1, |a, _| a[0].count_ones().into()),
        (Std::clz, 1, |a, n| (a[0].leading_zeros() + n - 128).into()),
        (Std::ctz, 1, |a, n| a[0].trailing_zeros().min(n).into()),
        (Std::rotate, 2, |a, n| {
            let by = a[1] % i128::from(n);
            a[0] << by | a[0] >> (i128::from(n) - by)
        }),
        (Std::s_mul_hi, 2, |a, n| (a[0] * a[1]) >> n),
        (Std::u_mul_hi, 2, |a, n| {
            ((a[0] as u128 * a[1] as u128) >> n) as i128
        }),
        (Std::u_mad_hi, 3, |a, n| {
            ((a[0] as u128 * a[1] as u128) >> n) as i128 + a[2]
        }),
        (Std::s_mad_hi, 3, |a, n| ((a[0] * a[1]) >> n) + a[2]),
        (Std::s_mad_sat, 3, |a, n| {
            (a[0] * a[1] + a[2]).clamp(low(n).0, low(n).1)
        }),
        (Std::u_mad_sat, 3, |a, n| {
            let sum = a[0] as u128 * a[1] as u128 + a[2] as u128;
            sum.min((1 << n) - 1) as i128
        }),
        (Std::bitselect, 3, |a, _| (a[0] & !a[2]) | (a[1] & a[2])),
        (Std::select, 3, |a, _| if a[2] != 0 { a[1] } else { a[0] }),
    ];
    let mut bits = Bits(5);
    for (op, count, oracle) in CASES {
        for ty in [Type::I8, Type::I16, Type::I32, Type::I64] {
            let lowered = Lowered::new(&plain(), op, &vec![ty; count], &[ty]);
            let width = ty.bits();
            for round in 0..120 {
                let args: Vec<u64> = (0..count)
                    .map(|_| match bits.next() % 6 {
                        0 => 0,
                        1 => ty.mask(),
                        2 => ty.mask() >> 1,
                        3 => (ty.mask() >> 1) + 1,
                        4 => bits.next() % 9,
                        _ => bits.next() & ty.mask(),
                    })
                    .collect();
                let signed = format!("{op:?}").starts_with("s_");
                let numbers: Vec<i128> = args
                    .iter()
                    .map(|&bits| {
                        if signed {
                            crate::compiler::evaluate::signed(ty, bits).into()
                        } else {
                            bits.into()
                        }
                    })
                    .collect();
                let expected = unsigned(oracle(&numbers, width), width) as u64;
                let actual = lowered.run(&args)[0];
                assert_eq!(actual, expected, "{op:?} {ty} {numbers:?} round {round}");
            }
        }
    }
    for (low, wide) in [(Type::I8, Type::I16), (Type::I32, Type::I64)] {
        let lowered = Lowered::new(&plain(), Std::s_upsample, &[low, low], &[wide]);
        let high = low.mask() - 1;
        assert_eq!(lowered.run(&[high, 0x85])[0], high << low.bits() | 0x85);
    }
}

#[test]
fn geometry_does_not_overflow() {
    let lanes = [Type::F32; 3];
    let length = Lowered::new(&plain(), Std::length, &lanes, &[Type::F32]);
    let normalize = Lowered::new(&plain(), Std::normalize, &lanes, &lanes);
    let distance = Lowered::new(&plain(), Std::distance, &[Type::F32; 6], &[Type::F32]);
    let cross = Lowered::new(&plain(), Std::cross, &[Type::F32; 6], &lanes);
    let bits = |v: &[f32]| v.iter().map(|x| x.to_bits().into()).collect::<Vec<u64>>();
    let close = |actual: u64, expected: f64| {
        let actual = f64::from(f32::from_bits(actual as u32));
        assert!(
            (actual - expected).abs() <= expected.abs() * 4e-7,
            "{actual:e} {expected:e}"
        );
    };
    for scale in [1.0, 1e30, 1e-30, 3e37, 1e-38] {
        let v = [2.0 * scale, -3.0 * scale, 6.0 * scale];
        let exact: f64 = v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        close(length.run(&bits(&v))[0], exact);
        for (unit, x) in normalize.run(&bits(&v)).into_iter().zip(v) {
            close(unit, f64::from(x) / exact);
        }
    }
    let infinite = bits(&[1.0, f32::NEG_INFINITY, 2.0]);
    assert_eq!(length.run(&infinite)[0], f32::INFINITY.to_bits().into());
    assert_eq!(normalize.run(&infinite), bits(&[0.0, -1.0, 0.0]));
    assert_eq!(normalize.run(&bits(&[0.0; 3])), bits(&[0.0; 3]));
    close(distance.run(&bits(&[1.0, 2.0, 3.0, 3.0, 5.0, 9.0]))[0], 7.0);
    let v = cross.run(&bits(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    assert_eq!(v, bits(&[-3.0, 6.0, -3.0]));
}

#[test]
fn what_is_not_supported_is_named() {
    let mut function = Function::new("f");
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    let x = b.i32(1);
    b.op(
        Op::OpenClStd(OpenClStd(Std::sin as u32), [x].into_iter().collect()),
        [Type::I32],
    );
    b.terminate(Terminator::Return(Default::default()));
    let mut module = Module::default();
    module.add_function(function);
    let error = run_on(&mut module, &plain(), super::run).unwrap_err();
    assert!(error.reason.contains("'sin'"), "{error}");
    assert_eq!(error.function.as_deref(), Some("f"));
}
