//! Functions of the built-in library, against Rust's in double precision: within the limits of error of
//! OpenCL C section 7.4 (full profile).

use super::lower::Std;
use super::tests::{Bits, Lowered, plain};
use crate::compiler::Capabilities;
use crate::compiler::ir::{AddressSpace, Type};

/// A function of one or two numbers, its limit of error in ulp, and where it is tried.
struct Case {
    op: Std,
    oracle: fn(f64, f64) -> f64,
    operands: usize,
    limit_ulp: f64,
    range: (f64, f64),
}

const fn one(op: Std, oracle: fn(f64, f64) -> f64, limit_ulp: f64, range: (f64, f64)) -> Case {
    Case {
        op,
        oracle,
        operands: 1,
        limit_ulp,
        range,
    }
}

const fn two(op: Std, oracle: fn(f64, f64) -> f64, limit_ulp: f64, range: (f64, f64)) -> Case {
    Case {
        op,
        oracle,
        operands: 2,
        limit_ulp,
        range,
    }
}

const PI: f64 = std::f64::consts::PI;

const CASES: &[Case] = &[
    one(Std::sin, |x, _| x.sin(), 4.0, (-100.0, 100.0)),
    one(Std::cos, |x, _| x.cos(), 4.0, (-100.0, 100.0)),
    one(Std::tan, |x, _| x.tan(), 5.0, (-100.0, 100.0)),
    one(Std::sin, |x, _| x.sin(), 4.0, (1e5, 3e5)),
    one(Std::sin, |x, _| x.sin(), 4.0, (-3e38, 3e38)),
    one(Std::cos, |x, _| x.cos(), 4.0, (1e7, 1e12)),
    one(Std::tan, |x, _| x.tan(), 5.0, (1e9, 1e20)),
    one(Std::sinpi, |x, _| (x % 2.0 * PI).sin(), 4.0, (-0.49, 0.49)),
    one(Std::cospi, |x, _| (x % 2.0 * PI).cos(), 4.0, (-0.4, 0.4)),
    one(Std::tanpi, |x, _| (x % 1.0 * PI).tan(), 6.0, (-0.4, 0.4)),
    one(Std::asin, |x, _| x.asin(), 4.0, (-1.0, 1.0)),
    one(Std::acos, |x, _| x.acos(), 4.0, (-1.0, 1.0)),
    one(Std::atan, |x, _| x.atan(), 5.0, (-50.0, 50.0)),
    one(Std::asinpi, |x, _| x.asin() / PI, 5.0, (-1.0, 1.0)),
    one(Std::acospi, |x, _| x.acos() / PI, 5.0, (-1.0, 1.0)),
    one(Std::atanpi, |x, _| x.atan() / PI, 5.0, (-50.0, 50.0)),
    one(Std::sinh, |x, _| x.sinh(), 4.0, (-80.0, 80.0)),
    one(Std::cosh, |x, _| x.cosh(), 4.0, (-80.0, 80.0)),
    one(Std::tanh, |x, _| x.tanh(), 5.0, (-10.0, 10.0)),
    one(
        Std::asinh,
        |x, _| x.abs().asinh().copysign(x),
        4.0,
        (0.5, 1e4),
    ),
    one(Std::acosh, |x, _| x.acosh(), 4.0, (1.1, 1e4)),
    one(Std::atanh, |x, _| x.atanh(), 5.0, (-0.99, 0.99)),
    one(Std::exp, |x, _| x.exp(), 3.0, (-80.0, 80.0)),
    one(Std::exp2, |x, _| x.exp2(), 3.0, (-120.0, 120.0)),
    one(Std::exp10, |x, _| 10_f64.powf(x), 3.0, (-36.0, 36.0)),
    one(Std::expm1, |x, _| x.exp_m1(), 3.0, (-10.0, 80.0)),
    one(Std::log, |x, _| x.ln(), 3.0, (1e-30, 100.0)),
    one(Std::log2, |x, _| x.log2(), 3.0, (1e-30, 100.0)),
    one(Std::log10, |x, _| x.log10(), 3.0, (1e-30, 100.0)),
    one(Std::log1p, |x, _| x.ln_1p(), 2.0, (-0.9, 100.0)),
    one(Std::log1p, |x, _| x.ln_1p(), 2.0, (-1e-3, 1e-3)),
    one(
        Std::asinh,
        |x, _| x.abs().asinh().copysign(x),
        4.0,
        (1e9, 1e38),
    ),
    one(Std::cosh, |x, _| x.cosh(), 4.0, (88.0, 89.4)),
    one(Std::sinh, |x, _| x.sinh(), 4.0, (-1.5, 1.5)),
    one(Std::tanh, |x, _| x.tanh(), 5.0, (-1.0, 1.0)),
    one(Std::exp, |x, _| x.exp(), 3.0, (87.0, 88.72)),
    one(Std::cbrt, |x, _| x.cbrt(), 2.0, (-1e6, 1e6)),
    one(Std::rsqrt, |x, _| 1.0 / x.sqrt(), 2.0, (1e-20, 1e6)),
    two(Std::pow, f64::powf, 16.0, (0.01, 20.0)),
    two(Std::powr, f64::powf, 16.0, (0.01, 20.0)),
    two(Std::pow, f64::powf, 16.0, (0.99, 26.0)),
    two(Std::hypot, f64::hypot, 4.0, (-1e6, 1e6)),
    two(Std::atan2, f64::atan2, 6.0, (-1e3, 1e3)),
    two(Std::atan2pi, |y, x| y.atan2(x) / PI, 6.0, (-1e3, 1e3)),
    two(Std::fmod, |x, y| x % y, 0.0, (-1e3, 1e3)),
    two(
        Std::remainder,
        |x, y| x - y * (x / y).round_ties_even(),
        0.0,
        (-1e3, 1e3),
    ),
];

/// The distance of a single from the exact result, in units of the last place of the latter.
fn error_ulp(actual: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    let magnitude = rounded.abs().max(f32::MIN_POSITIVE);
    let ulp = f64::from(magnitude.next_up()) - f64::from(magnitude);
    ((f64::from(actual) - exact) / ulp).abs()
}

fn worst(case: &Case, caps: &Capabilities) -> (f64, String) {
    let lowered = Lowered::new(caps, case.op, &vec![Type::F32; case.operands], &[Type::F32]);
    let mut bits = Bits(17);
    let (low, high) = case.range;
    let mut worst = (0.0, String::new());
    for _ in 0..250 {
        let mut pick = || {
            let part = (bits.next() >> 11) as f64 / (1_u64 << 53) as f64;
            (low + part * (high - low)) as f32
        };
        let (x, y) = (pick(), pick());
        let args = [x, y].map(|v| v.to_bits().into());
        let actual = f32::from_bits(lowered.run(&args[..case.operands])[0] as u32);
        let exact = (case.oracle)(x.into(), y.into());
        let error = error_ulp(actual, exact);
        if error > worst.0 || error.is_nan() {
            let text = format!("{:?}({x:e}, {y:e}) = {actual:e}, not {exact:e}", case.op);
            worst = (error, text);
        }
    }
    worst
}

/// Devices that take different functions.
fn devices() -> [Capabilities; 4] {
    let imprecise_exp2 = Capabilities {
        precise_exp2: false,
        ..Capabilities::full()
    };
    [
        plain(),
        Capabilities::minimal(),
        Capabilities::full(),
        imprecise_exp2,
    ]
}

#[test]
fn singles_are_within_the_limits_of_error() {
    let mut failures = Vec::new();
    for case in CASES {
        for caps in devices() {
            let (error, text) = worst(case, &caps);
            if error > case.limit_ulp || error.is_nan() {
                failures.push(format!("{error:.2} ulp: {text}"));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The error function has no counterpart in Rust: a few values of another library.
#[test]
fn error_functions() {
    let known = [
        (Std::erf, 0.01, 0.011_283_415_555_849_618),
        (Std::erf, -0.5, -0.520_499_877_813_046_5),
        (Std::erf, 1.0, 0.842_700_792_949_714_9),
        (Std::erf, 2.0, 0.995_322_265_018_952_7),
        (Std::erf, 3.5, 0.999_999_256_901_627_7),
        (Std::erf, 5.0, 1.0),
        (Std::erfc, -2.0, 1.995_322_265_018_952_7),
        (Std::erfc, 0.5, 0.479_500_122_186_953_5),
        (Std::erfc, 2.0, 4.677_734_981_047_266e-3),
        (Std::erfc, 4.0, 1.541_725_790_028_002e-8),
        (Std::erfc, 8.0, 1.122_429_717_298_292_7e-29),
        (Std::erfc, 9.0, 4.137_031_746_513_811e-37),
    ];
    for caps in devices() {
        for (op, x, exact) in known {
            let lowered = Lowered::new(&caps, op, &[Type::F32], &[Type::F32]);
            let found = f32::from_bits(lowered.run(&[f32::to_bits(x).into()])[0] as u32);
            let error = error_ulp(found, exact);
            assert!(error <= 16.0, "{op:?}({x}) = {found:e}: {error} ulp");
        }
    }
}

#[test]
fn doubles_are_close_to_those_of_the_host() {
    let mut failures = Vec::new();
    let mut bits = Bits(23);
    for case in CASES {
        let lowered = Lowered::new(
            &plain(),
            case.op,
            &vec![Type::F64; case.operands],
            &[Type::F64],
        );
        let (low, high) = case.range;
        for _ in 0..40 {
            let mut pick = || {
                let part = (bits.next() >> 11) as f64 / (1_u64 << 53) as f64;
                low + part * (high - low)
            };
            let (x, y) = (pick(), pick());
            let args = [x, y].map(f64::to_bits);
            let actual = f64::from_bits(lowered.run(&args[..case.operands])[0]);
            let exact = (case.oracle)(x, y);
            // The host's functions and the formulas above have errors of their own.
            let limit = (exact.abs() * (case.limit_ulp + 8.0) * f64::EPSILON).max(1e-12);
            if (actual - exact).abs() > limit || actual.is_nan() {
                failures.push(format!(
                    "{:?}({x:e}, {y:e}) = {actual:e}, not {exact:e}",
                    case.op
                ));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn special_values() {
    let bits = |x: f32| u64::from(x.to_bits());
    let float = |bits: u64| f32::from_bits(bits as u32);
    let cases = [
        (Std::sin, vec![-0.0], -0.0),
        (Std::cos, vec![0.0], 1.0),
        (Std::exp, vec![f32::NEG_INFINITY], 0.0),
        (Std::exp, vec![1000.0], f32::INFINITY),
        (Std::log, vec![0.0], f32::NEG_INFINITY),
        (Std::pow, vec![-2.0, 3.0], -8.0),
        (Std::pow, vec![0.0, 0.0], 1.0),
        (Std::pow, vec![f32::NAN, 0.0], 1.0),
        (Std::pow, vec![2.0, f32::NEG_INFINITY], 0.0),
        (Std::hypot, vec![3e38, 0.0], 3e38),
        (Std::hypot, vec![3e-30, 4e-30], 5e-30),
        (Std::atan2, vec![0.0, -1.0], std::f32::consts::PI),
        (Std::tgamma, vec![5.0], 24.0),
        (Std::lgamma, vec![1.0], 0.0),
        (Std::erf, vec![0.0], 0.0),
        (Std::erfc, vec![0.0], 1.0),
        (Std::half_sin, vec![0.0], 0.0),
        (Std::exp2, vec![f32::INFINITY], f32::INFINITY),
        (Std::exp10, vec![f32::NEG_INFINITY], 0.0),
        (Std::exp10, vec![-60.0], 0.0),
        (Std::log2, vec![f32::INFINITY], f32::INFINITY),
        (Std::log1p, vec![-0.0], -0.0),
        (Std::log1p, vec![-1.0], f32::NEG_INFINITY),
        (Std::log1p, vec![f32::MAX], 88.722_84),
        (Std::tan, vec![-0.0], -0.0),
        (Std::tanh, vec![-0.0], -0.0),
        (Std::tanh, vec![f32::NEG_INFINITY], -1.0),
        (Std::sinh, vec![-100.0], f32::NEG_INFINITY),
        (Std::atan, vec![f32::NEG_INFINITY], -1.570_796_4),
        (Std::asin, vec![-0.0], -0.0),
        (Std::atan2, vec![-0.0, 0.0], -0.0),
        (
            Std::atan2,
            vec![f32::INFINITY; 2],
            std::f32::consts::FRAC_PI_4,
        ),
        (Std::atan2, vec![-1.0, f32::INFINITY], -0.0),
        (Std::cbrt, vec![-0.0], -0.0),
        (Std::cbrt, vec![f32::NEG_INFINITY], f32::NEG_INFINITY),
        (Std::pow, vec![-1.0, f32::INFINITY], 1.0),
        (Std::pow, vec![-0.0, -3.0], f32::NEG_INFINITY),
        (Std::pow, vec![-0.0, 3.0], -0.0),
        (Std::pow, vec![-0.0, -2.0], f32::INFINITY),
        (Std::pow, vec![f32::NEG_INFINITY, 3.0], f32::NEG_INFINITY),
        (Std::pow, vec![0.5, f32::NEG_INFINITY], f32::INFINITY),
        (Std::pow, vec![-3.0, 16_777_217.0], f32::INFINITY),
        (Std::pow, vec![1.0, f32::NAN], 1.0),
        (Std::powr, vec![0.0, -1.0], f32::INFINITY),
        (Std::powr, vec![2.0, f32::NEG_INFINITY], 0.0),
    ];
    for (caps, (op, args, expected)) in devices()
        .iter()
        .flat_map(|it| cases.iter().map(move |case| (it, case)))
    {
        let lowered = Lowered::new(caps, *op, &vec![Type::F32; args.len()], &[Type::F32]);
        let args: Vec<u64> = args.iter().copied().map(bits).collect();
        let actual = float(lowered.run(&args)[0]);
        let close = (actual - expected).abs() <= expected.abs() * 1e-6;
        let same_zero = actual != 0.0 || actual.is_sign_negative() == expected.is_sign_negative();
        assert!(
            (actual == *expected && same_zero) || close && *expected != 0.0,
            "{op:?}{args:x?} = {actual:e}, not {expected:e}"
        );
    }
}

#[test]
fn invalid_operands_give_nan() {
    let bits = |x: f32| u64::from(x.to_bits());
    let float = |bits: u64| f32::from_bits(bits as u32);
    let invalid = [
        (Std::pow, vec![-2.0, 0.5]),
        (Std::powr, vec![-1.0, 1.0]),
        (Std::powr, vec![0.0, 0.0]),
        (Std::powr, vec![1.0, f32::INFINITY]),
        (Std::log2, vec![-1.0]),
        (Std::log1p, vec![-1.5]),
        (Std::asin, vec![1.5]),
        (Std::acos, vec![-1.5]),
        (Std::acosh, vec![-3.0]),
        (Std::atanh, vec![2.0]),
        (Std::cos, vec![f32::INFINITY]),
        (Std::atan2, vec![f32::NAN, 1.0]),
    ];
    let one_operand = [
        Std::sin,
        Std::log,
        Std::sqrt,
        Std::exp,
        Std::exp2,
        Std::exp10,
        Std::atan,
        Std::tanh,
        Std::sinh,
        Std::cosh,
        Std::log1p,
        Std::cbrt,
        Std::asin,
        Std::acos,
        Std::tan,
    ];
    let of_nan = one_operand.map(|op| (op, vec![f32::NAN]));
    for caps in devices() {
        for (op, args) in invalid.iter().chain(&of_nan) {
            let lowered = Lowered::new(&caps, *op, &vec![Type::F32; args.len()], &[Type::F32]);
            let args: Vec<u64> = args.iter().copied().map(bits).collect();
            assert!(float(lowered.run(&args)[0]).is_nan(), "{op:?}{args:x?}");
        }
    }
}

#[test]
fn powers_and_roots_of_integers() {
    let bits = |x: f32| u64::from(x.to_bits());
    let float = |bits: u64| f32::from_bits(bits as u32);
    for (op, power, expected) in [(Std::pown, -2, 0.25), (Std::rootn, 3, 1.259_921)] {
        let lowered = Lowered::new(&plain(), op, &[Type::F32, Type::I32], &[Type::F32]);
        let actual = float(lowered.run(&[bits(2.0), power as u32 as u64])[0]);
        assert!((actual - expected).abs() < 1e-6);
    }
}

#[test]
fn results_behind_pointers() {
    let pointer = Type::Ptr(AddressSpace::Global);
    let bits = |x: f32| u64::from(x.to_bits());
    let float = |bits: u64| f32::from_bits(bits as u32);
    let types = [Type::F32, pointer];
    let (sin, cos) =
        Lowered::new(&plain(), Std::sincos, &types, &[Type::F32]).run_with_pointer(&[bits(1.0)]);
    assert!((float(sin) - 0.841_470_96).abs() < 1e-6 && (float(cos) - 0.540_302_3).abs() < 1e-6);
    let (log, sign) =
        Lowered::new(&plain(), Std::lgamma_r, &types, &[Type::F32]).run_with_pointer(&[bits(-0.5)]);
    assert!((float(log) - 1.265_512_1).abs() < 1e-5 && sign as i32 == -1);
    let types = [Type::F32, Type::F32, pointer];
    let (rest, quotient) = Lowered::new(&plain(), Std::remquo, &types, &[Type::F32])
        .run_with_pointer(&[bits(7.5), bits(2.0)]);
    assert_eq!((float(rest), quotient as i32), (-0.5, 4));
}

#[test]
fn halves_behind_pointers_are_halves() {
    let types = [Type::F16, Type::Ptr(AddressSpace::Global)];
    // Of -2.5: the fraction above the floor, -3; the fraction after the whole part, -2.
    for (op, value, second) in [(Std::fract, 0x3800, 0xc200), (Std::modf, 0xb800, 0xc000)] {
        let lowered = Lowered::new(&plain(), op, &types, &[Type::F16]);
        let (found, behind) = lowered.run_with_pointer(&[0xc100]);
        assert_eq!(
            (found, behind),
            (value, 0xEEEE_EEEE_EEEE_0000 | second),
            "{op:?}"
        );
    }
}

#[test]
fn doubles_and_halves_too() {
    let double = Lowered::new(&plain(), Std::remainder, &[Type::F64; 2], &[Type::F64]);
    assert_eq!(
        double.run(&[7.5, 2.0].map(f64::to_bits)),
        [(-0.5_f64).to_bits()]
    );
    let half = Lowered::new(&plain(), Std::sin, &[Type::F16], &[Type::F16]);
    // sin(1) = 0.8415
    assert_eq!(half.run(&[0x3c00]), [0x3abb]);
}

#[test]
fn half_precision_exponentials_do_not_ask_the_device_about_nan() {
    use crate::compiler::ir::{
        Builder, FuncId, Function, Module, Op, OpenClStd, Terminator, Unary,
    };
    for (op, asks) in [(Std::half_exp2, true), (Std::native_exp2, false)] {
        let mut function = Function::new("f");
        let entry = function.entry();
        let x = function.add_param(entry, Type::F32);
        let mut b = Builder::new(&mut function, entry);
        let op = OpenClStd(op as u32);
        b.op1(Op::OpenClStd(op, [x].into_iter().collect()), Type::F32);
        b.terminate(Terminator::Return(Default::default()));
        let mut module = Module::default();
        module.add_function(function);
        crate::compiler::passes::helpers::testing::run(&mut module, super::run).unwrap();
        let function = module.function(FuncId(0));
        let mut insts = function.block(entry).insts.iter();
        let found = insts.any(|i| matches!(function.inst(*i).op, Op::Unary(Unary::IsNan, _)));
        assert_eq!(found, asks);
    }
}

#[test]
fn relaxed_and_native_functions_call_nothing() {
    use crate::compiler::ir::{Builder, FuncId, Function, Module, Op, OpenClStd, Terminator};
    let mut function = Function::new("f");
    let entry = function.entry();
    let x = function.add_param(entry, Type::F32);
    let mut b = Builder::new(&mut function, entry);
    b.flags.fast_math = true;
    for op in [Std::sin, Std::exp10, Std::log10] {
        let op = OpenClStd(op as u32);
        b.op1(Op::OpenClStd(op, [x].into_iter().collect()), Type::F32);
    }
    b.flags.fast_math = false;
    let op = OpenClStd(Std::native_cos as u32);
    b.op1(Op::OpenClStd(op, [x].into_iter().collect()), Type::F32);
    b.terminate(Terminator::Return(Default::default()));
    let mut module = Module::default();
    module.add_function(function);
    crate::compiler::passes::helpers::testing::run(&mut module, super::run).unwrap();
    assert_eq!(module.functions.len(), 1);
    let function = module.function(FuncId(0));
    let insts = &function.block(entry).insts;
    assert!(
        insts
            .iter()
            .all(|i| !matches!(function.inst(*i).op, Op::Call(..)))
    );
}

/// Both modules of the library at once, each with functions that call others.
#[test]
fn own_functions_and_those_of_libclc_meet() {
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{Builder, FuncId, Function, Module, Op, OpenClStd, Terminator};
    let mut function = Function::new("f");
    let ops = [
        Std::sin,
        Std::expm1,
        Std::pow,
        Std::lgamma,
        Std::exp,
        Std::rootn,
    ];
    function.return_types = vec![Type::F32; ops.len()];
    let entry = function.entry();
    let x = function.add_param(entry, Type::F32);
    let mut b = Builder::new(&mut function, entry);
    let two = b.i32(2);
    let results = ops.map(|op| {
        let args = match op {
            Std::pow => vec![x, x],
            Std::rootn => vec![x, two],
            _ => vec![x],
        };
        let op = OpenClStd(op as u32);
        b.op1(Op::OpenClStd(op, args.into_iter().collect()), Type::F32)
    });
    b.terminate(Terminator::Return(results.into_iter().collect()));
    let mut module = Module::default();
    module.add_function(function);
    let caps = Capabilities::full();
    crate::compiler::passes::helpers::testing::run_on(&mut module, &caps, super::run).unwrap();
    let x = 2.5_f32;
    let found = Interpreter::new(&module)
        .run(FuncId(0), &[x.to_bits().into()])
        .unwrap();
    // The logarithm of gamma(2.5) is by another library.
    let exact = [
        x.sin(),
        x.exp_m1(),
        x.powf(x),
        0.284_682_87,
        x.exp(),
        x.sqrt(),
    ];
    for ((op, found), exact) in ops.iter().zip(found).zip(exact) {
        let found = f32::from_bits(found as u32);
        assert!(
            (found - exact).abs() < exact.abs() * 1e-6,
            "{op:?} = {found}, not {exact}"
        );
    }
}
