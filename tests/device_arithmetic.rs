//! What the compiler takes a Vulkan device's arithmetic to be, measured on the device: single operations,
//! lowered for it, against Rust's.

#[path = "common/skip.rs"]
mod skip;

use pumice::compiler::ir::{
    Access, Binary, Builder, BuiltIn, Compare, Convert, Function, Kernel, Module, Op, Place,
    Rounding, Terminator, Type, Unary, Value,
};
use pumice::compiler::{Capabilities, Context, Library, Options, Sharing, emit, passes};
use pumice::runtime::device::{findings, target};
use pumice::vulkan::{
    Device, Instance, InstanceOptions, MemoryKind, Pipeline, PipelineOptions, Recorder,
    ShaderModule, Timeline,
};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Work-items per group; a batch is padded to a multiple.
const GROUP: usize = 64;

struct Machine {
    device: Arc<Device>,
    capabilities: Capabilities,
    library: Library,
}

/// The first usable device; `None` (said on standard error) where this machine has none.
fn machine() -> Option<&'static Machine> {
    static MACHINE: OnceLock<Option<Machine>> = OnceLock::new();
    let machine = MACHINE.get_or_init(|| {
        let options = InstanceOptions {
            validate: true,
            ..InstanceOptions::default()
        };
        let instance = Instance::new(options).ok()?;
        let devices = instance.physical_devices();
        let index = devices.iter().position(|d| d.unusable_reason.is_none())?;
        let device = Device::new(&instance, index).expect("a usable device can be created");
        Some(Machine {
            capabilities: target::capabilities(device.info(), &findings::Findings::default()),
            library: Library::embedded().expect("the library is embedded"),
            device,
        })
    });
    if machine.is_none() {
        skip::no_device();
    }
    machine.as_ref()
}

impl Machine {
    fn has(&self, ty: Type) -> bool {
        match ty {
            Type::F64 => self.capabilities.float64,
            Type::F16 => self.capabilities.float16,
            _ => true,
        }
    }

    /// The results of an operation for each list of operands; operands and results in 64-bit slots.
    fn run(
        &self,
        args: &[Type],
        result: Type,
        build: &dyn Fn(&mut Builder, &[Value]) -> Value,
        inputs: &[Vec<u64>],
    ) -> Vec<u64> {
        let words = self.compile(args, result, build);
        let groups = inputs.len().div_ceil(GROUP);
        let slots = groups * GROUP;
        let device = &self.device;
        let source = device
            .create_buffer((slots * args.len() * 8) as u64, MemoryKind::Upload)
            .unwrap();
        let target = device
            .create_buffer((slots * 8) as u64, MemoryKind::Readback)
            .unwrap();
        let flat: Vec<u64> = inputs.iter().flatten().copied().collect();
        let from = source.mapped().unwrap().as_ptr().cast::<u64>();
        // SAFETY: mapped memory of at least that many aligned words, which nobody else uses.
        unsafe { from.copy_from_nonoverlapping(flat.as_ptr(), flat.len()) };

        let module = ShaderModule::new(device, &words).unwrap();
        let sizes = [(0, GROUP as u32), (1, 1), (2, 1)];
        let pipeline =
            Pipeline::new(device, &module, &sizes, PipelineOptions::default(), None).unwrap();
        let timeline = Timeline::new(device).unwrap();
        let mut recorder = Recorder::new(device).unwrap();
        let addresses = [source.device_address(), target.device_address()];
        let block: Vec<u8> = addresses.iter().flat_map(|a| a.to_le_bytes()).collect();
        recorder.begin().unwrap();
        recorder.full_barrier();
        recorder.dispatch(&pipeline, &block, [groups as u32, 1, 1]);
        recorder.full_barrier();
        recorder.end().unwrap();
        device
            .submit(device.spare_queue(), &[&recorder], &timeline, 1)
            .unwrap();
        assert!(timeline.wait(1, Duration::from_secs(30)).unwrap());
        let to = target.mapped().unwrap().as_ptr().cast::<u64>();
        (0..inputs.len())
            // SAFETY: mapped memory of at least that many aligned words; the device is done.
            .map(|index| unsafe { to.add(index).read() } & result.mask())
            .collect()
    }

    fn compile(
        &self,
        args: &[Type],
        result: Type,
        build: &dyn Fn(&mut Builder, &[Value]) -> Value,
    ) -> Vec<u32> {
        let mut function = Function::new("k");
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let [from, to] = [0, 8].map(|offset| address(&mut b, offset));
        let group = b.op1(Op::BuiltIn(BuiltIn::WorkgroupId(0)), Type::I32);
        let local = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(0)), Type::I32);
        let first = b.binary_const(Binary::Mul, group, GROUP as u64);
        let item = b.binary(Binary::Add, first, local);
        let item = b.convert(Convert::ZeroExtend, item, Type::I64);
        let offset = b.binary_const(Binary::Mul, item, 8 * args.len() as u64);
        let from = b.binary(Binary::Add, from, offset);
        let values: Vec<Value> = args
            .iter()
            .enumerate()
            .map(|(index, ty)| {
                let at = b.binary_const(Binary::Add, from, 8 * index as u64);
                let int = ty.as_int().unwrap();
                let bits = b.load1(Place::Address(at), int, Access::aligned(8));
                b.bitcast(bits, *ty)
            })
            .collect();
        let value = build(&mut b, &values);
        let value = match result {
            Type::Bool => {
                let (one, zero) = (b.i32(1), b.i32(0));
                b.select(value, one, zero)
            }
            _ => b.bitcast(value, result.as_int().unwrap()),
        };
        let offset = b.binary_const(Binary::Mul, item, 8);
        let to = b.binary(Binary::Add, to, offset);
        b.store1(Place::Address(to), value, Access::aligned(8));
        b.terminate(Terminator::Return(Default::default()));
        let mut module = Module::default();
        let function = module.add_function(function);
        let mut kernel = Kernel::new("k", function);
        kernel.argument_block.size_bytes = 16;
        module.kernels.push(kernel);
        let cx = Context {
            capabilities: &self.capabilities,
            options: &Options::default(),
            library: &self.library,
            sharing: Sharing::All,
        };
        for pass in [
            passes::lower::conversions::run,
            passes::legalize::memory::run,
            passes::legalize::float16::run,
            passes::legalize::int64::run,
            passes::legalize::small_ints::run,
            passes::workarounds::round_doubles::run,
        ] {
            pass(&mut module, &cx).unwrap();
        }
        emit::emit(&module, &cx).unwrap().spirv.words().unwrap()
    }

    /// Runs an operation on every combination of numbers and compares. `same` gets what the device
    /// computed and what was expected.
    fn check(
        &self,
        name: &str,
        args: &[Type],
        result: Type,
        build: &dyn Fn(&mut Builder, &[Value]) -> Value,
        oracle: &dyn Fn(&[u64]) -> Option<u64>,
    ) -> Vec<String> {
        self.check_within(name, args, result, build, oracle, 0)
    }

    /// The same, where floats may be off by some ulp.
    fn check_within(
        &self,
        name: &str,
        args: &[Type],
        result: Type,
        build: &dyn Fn(&mut Builder, &[Value]) -> Value,
        oracle: &dyn Fn(&[u64]) -> Option<u64>,
        ulp: u64,
    ) -> Vec<String> {
        if !args.iter().chain([&result]).all(|ty| self.has(*ty)) {
            return Vec::new();
        }
        let mut inputs: Vec<Vec<u64>> = vec![vec![]];
        for ty in args {
            let numbers = numbers(*ty, args.len());
            inputs = inputs
                .iter()
                .flat_map(|list| numbers.iter().map(|n| [&list[..], &[*n]].concat()))
                .collect();
        }
        let actual = self.run(args, result, build, &inputs);
        let mut wrong = Vec::new();
        for (input, actual) in inputs.iter().zip(actual) {
            let Some(expected) = oracle(input) else {
                continue;
            };
            let accepted = flushed(args, input)
                .iter()
                .filter_map(|input| oracle(input))
                .any(|expected| {
                    // Neighbours of one sign are numbered in order by their bits.
                    same(result, actual, expected)
                        || (ulp > 0 && actual.abs_diff(expected) <= ulp && !is_nan(result, actual))
                });
            if !accepted {
                wrong.push(format!("{name} {input:x?} = {actual:x}, not {expected:x}"));
            }
        }
        let count = wrong.len();
        wrong.truncate(4);
        if count > wrong.len() {
            wrong.push(format!("{name}: {count} wrong of {}", inputs.len()));
        }
        wrong
    }
}

/// The 64-bit value at an offset of the push constants.
fn address(b: &mut Builder, offset_bytes: u32) -> Value {
    let access = Access::aligned(4);
    let words = b.load(Place::Argument { offset_bytes }, Type::I32, 2, access);
    let low = b.convert(Convert::ZeroExtend, words[0], Type::I64);
    let high = b.convert(Convert::ZeroExtend, words[1], Type::I64);
    let high = b.binary_const(Binary::Shl, high, 32);
    b.binary(Binary::Or, low, high)
}

fn exponent_mask(ty: Type) -> u64 {
    match ty {
        Type::F16 => 0x7c00,
        Type::F32 => 0x7f80_0000,
        _ => 0x7ff << 52,
    }
}

fn is_nan(ty: Type, bits: u64) -> bool {
    ty.is_float() && bits & (ty.mask() >> 1) > exponent_mask(ty)
}

/// Zero of the same sign for a denormal.
fn flush(ty: Type, bits: u64) -> u64 {
    if ty.is_float() && bits & exponent_mask(ty) == 0 {
        bits & !(ty.mask() >> 1)
    } else {
        bits
    }
}

/// The operands, and with any of them flushed to zero: single precision denormals are optional.
fn flushed(types: &[Type], input: &[u64]) -> Vec<Vec<u64>> {
    let mut all = vec![vec![]];
    for (ty, bits) in types.iter().zip(input) {
        let choices = [*bits, flush(*ty, *bits)];
        all = all
            .iter()
            .flat_map(|list: &Vec<u64>| choices.map(|c| [&list[..], &[c]].concat()))
            .collect();
    }
    all
}

fn same(ty: Type, actual: u64, expected: u64) -> bool {
    actual == expected & ty.mask()
        || (is_nan(ty, actual) && is_nan(ty, expected))
        || (ty.is_float() && actual == flush(ty, expected))
}

fn numbers(ty: Type, operands: usize) -> Vec<u64> {
    let mut all: Vec<u64> = Vec::new();
    if ty.is_float() {
        let floats = [
            0.0,
            0.5,
            1.0,
            1.5,
            2.5,
            0.1,
            3.0,
            1e-3,
            65504.0,
            65519.0,
            65520.0,
            1e5,
            2147483520.0,
            2147483648.0,
            4294967040.0,
            4294967296.0,
            9.2e18,
            9_223_372_036_854_775_808.0,
            1.8e19,
            1e20,
            1e30,
            2e38,
            1e-30,
            6e-8,
            5.96e-8,
            2.98e-8,
            3.0e-8,
            6.1e-5,
            1.2e-38,
            1e-40,
            8388607.5,
            16777217.0,
            16777217.5,
            2251799813685249.5,
            0.333_333_333,
            127.5,
            128.5,
            255.5,
            32767.6,
        ];
        for x in floats {
            all.push(match ty {
                Type::F32 => u64::from((x as f32).to_bits()),
                Type::F64 => f64::to_bits(x),
                _ => 0,
            });
        }
        if ty == Type::F16 {
            all = (0..0x7fff).step_by(37).collect();
        }
        let infinity = exponent_mask(ty);
        all.extend([
            infinity,
            infinity + 1,
            infinity | infinity >> 1,
            infinity - 1,
            1,
        ]);
    } else {
        all.extend([0, 1, 2, 3, 5, 7, 100]);
        for power in 2..ty.bits() {
            all.extend([1 << power, (1 << power) - 1]);
        }
        all.extend([0x1234_5678_9abc_def0, 0x8100_0001, 0x0100_0001_0000_0001]);
    }
    let sign = 1 << (ty.bits() - 1);
    all.extend(all.clone().iter().map(|x| x ^ sign));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let random = if operands == 1 { 300 } else { 40 };
    for _ in 0..random {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        all.push(state);
    }
    for x in &mut all {
        *x &= ty.mask();
    }
    all
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn bits_of(x: f32) -> u64 {
    x.to_bits().into()
}

#[test]
fn floats() {
    let Some(machine) = machine() else { return };
    type Oracle2 = fn(f64, f64) -> f64;
    type Oracle1 = fn(f64) -> f64;
    let mut wrong = Vec::new();
    let mut floats: Vec<(&str, Binary, Oracle2)> = vec![
        ("add", Binary::FAdd, |x, y| x + y),
        ("sub", Binary::FSub, |x, y| x - y),
        ("mul", Binary::FMul, |x, y| x * y),
        ("min", Binary::FMin, f64::min),
        ("max", Binary::FMax, f64::max),
    ];
    floats.push(("div", Binary::FDiv, |x, y| x / y));
    for (name, op, oracle) in floats {
        for ty in [Type::F32, Type::F64] {
            // Sums, products and quotients of singles are rounded once more without harm.
            let expected = move |v: &[u64]| {
                let bits = match ty {
                    Type::F32 => {
                        let exact = oracle(f32_of(v[0]).into(), f32_of(v[1]).into());
                        bits_of(exact as f32)
                    }
                    _ => oracle(f64::from_bits(v[0]), f64::from_bits(v[1])).to_bits(),
                };
                // Which zero is the lesser is not said; denormals may count as zero.
                let zeros = v.iter().all(|x| flush(ty, *x) & (ty.mask() >> 1) == 0);
                let zeros = zeros && matches!(op, Binary::FMin | Binary::FMax);
                // Quotients may be off by 2.5 ulp; denormal ones are here, being scaled.
                let scaled = op == Binary::FDiv && bits != 0 && flush(ty, bits) != bits;
                (!zeros && !scaled).then_some(bits)
            };
            let build = move |b: &mut Builder, v: &[Value]| b.binary(op, v[0], v[1]);
            // OpenCL C section 7.4: single precision quotients within 2.5 ulp.
            let ulp = if (op, ty) == (Binary::FDiv, Type::F32) {
                2
            } else {
                0
            };
            let types = [ty, ty];
            wrong.extend(machine.check_within(name, &types, ty, &build, &expected, ulp));
        }
    }
    let unary: [(&str, u32, Oracle1); 6] = [
        ("round_even", 2, f64::round_ties_even),
        ("trunc", 3, f64::trunc),
        ("abs", 4, f64::abs),
        ("floor", 8, f64::floor),
        ("ceil", 9, f64::ceil),
        ("sqrt", 31, f64::sqrt),
    ];
    for (name, number, oracle) in unary {
        for ty in [Type::F32, Type::F64] {
            let expected = move |v: &[u64]| {
                Some(match ty {
                    Type::F32 => bits_of(oracle(f32_of(v[0]).into()) as f32),
                    _ => oracle(f64::from_bits(v[0])).to_bits(),
                })
            };
            let build = move |b: &mut Builder, v: &[Value]| {
                let ty = b.ty(v[0]);
                b.op1(Op::Glsl(number, v.iter().copied().collect()), ty)
            };
            // OpenCL C section 7.4: single precision sqrt within 3 ulp; the others are exact.
            let ulp = if (name, ty) == ("sqrt", Type::F32) {
                3
            } else {
                0
            };
            wrong.extend(machine.check_within(name, &[ty], ty, &build, &expected, ulp));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The device rounds once where it is said to.
#[test]
fn fused_multiply_add() {
    let Some(machine) = machine() else { return };
    let caps = &machine.capabilities;
    let mut wrong = Vec::new();
    for (ty, fused) in [(Type::F32, caps.fused_fma32), (Type::F64, caps.fused_fma64)] {
        if !fused {
            continue;
        }
        let build = move |b: &mut Builder, v: &[Value]| b.op1(Op::Fma(v[0], v[1], v[2]), ty);
        let expected = move |v: &[u64]| {
            Some(match ty {
                Type::F32 => bits_of(f32_of(v[0]).mul_add(f32_of(v[1]), f32_of(v[2]))),
                _ => {
                    let [x, y, z] = [v[0], v[1], v[2]].map(f64::from_bits);
                    x.mul_add(y, z).to_bits()
                }
            })
        };
        wrong.extend(machine.check("fma", &[ty; 3], ty, &build, &expected));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn predicates() {
    let Some(machine) = machine() else { return };
    let mut wrong = Vec::new();
    type Oracle = fn(f64) -> bool;
    let predicates: [(Unary, Oracle); 4] = [
        (Unary::IsNan, f64::is_nan),
        (Unary::IsInf, f64::is_infinite),
        (Unary::IsFinite, f64::is_finite),
        (Unary::SignBitSet, f64::is_sign_negative),
    ];
    for (op, oracle) in predicates {
        for ty in [Type::F32, Type::F64] {
            let expected = move |v: &[u64]| {
                Some(u64::from(match ty {
                    Type::F32 => oracle(f32_of(v[0]).into()),
                    _ => oracle(f64::from_bits(v[0])),
                }))
            };
            let build = move |b: &mut Builder, v: &[Value]| b.unary(op, v[0]);
            wrong.extend(machine.check(&format!("{op:?}"), &[ty], Type::Bool, &build, &expected));
        }
    }
    type Oracle2 = fn(f32, f32) -> bool;
    let compares: [(Compare, Oracle2); 8] = [
        (Compare::FOrdEqual, |x, y| x == y),
        (Compare::FUnordEqual, |x, y| {
            x == y || x.is_nan() || y.is_nan()
        }),
        (Compare::FOrdNotEqual, |x, y| {
            x != y && !x.is_nan() && !y.is_nan()
        }),
        (Compare::FUnordNotEqual, |x, y| x != y),
        (Compare::FOrdLess, |x, y| x < y),
        (
            Compare::FUnordLess,
            |x, y| !matches!(x.partial_cmp(&y), Some(o) if o.is_ge()),
        ),
        (Compare::FOrdLessEqual, |x, y| x <= y),
        (Compare::FUnordered, |x, y| x.is_nan() || y.is_nan()),
    ];
    for (op, oracle) in compares {
        let expected = move |v: &[u64]| Some(oracle(f32_of(v[0]), f32_of(v[1])).into());
        let build = move |b: &mut Builder, v: &[Value]| b.compare(op, v[0], v[1]);
        let types = [Type::F32; 2];
        wrong.extend(machine.check(&format!("{op:?}"), &types, Type::Bool, &build, &expected));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn integers() {
    let Some(machine) = machine() else { return };
    let mut wrong = Vec::new();
    let sign = |ty: Type, bits: u64| {
        let unused = 64 - ty.bits();
        (bits << unused) as i64 >> unused
    };
    use Binary::*;
    for ty in [Type::I8, Type::I16, Type::I32, Type::I64] {
        for op in [Add, Mul, UDiv, URem, SDiv, SRem, SMod, UMin, SMax] {
            let expected = move |v: &[u64]| {
                let (x, y) = (sign(ty, v[0]), sign(ty, v[1]));
                Some(match op {
                    Add => v[0].wrapping_add(v[1]),
                    Mul => v[0].wrapping_mul(v[1]),
                    UDiv => v[0].checked_div(v[1])?,
                    URem => v[0].checked_rem(v[1])?,
                    UMin => v[0].min(v[1]),
                    SMax => x.max(y) as u64,
                    // The device survives it, no more.
                    _ if y == 0 => return None,
                    SDiv => x.wrapping_div(y) as u64,
                    SRem => x.wrapping_rem(y) as u64,
                    _ => {
                        let rest = x.wrapping_rem(y);
                        let other = rest != 0 && (rest < 0) != (y < 0);
                        (if other { rest.wrapping_add(y) } else { rest }) as u64
                    }
                })
            };
            let build = move |b: &mut Builder, v: &[Value]| b.binary(op, v[0], v[1]);
            wrong.extend(machine.check(&format!("{op:?} {ty}"), &[ty, ty], ty, &build, &expected));
        }
        for signed in [false, true] {
            let expected = move |v: &[u64]| {
                let number = |v| {
                    if signed {
                        i128::from(sign(ty, v)) as u128
                    } else {
                        v.into()
                    }
                };
                let product = number(v[0]).wrapping_mul(number(v[1]));
                Some((product >> ty.bits()) as u64)
            };
            let build = move |b: &mut Builder, v: &[Value]| {
                let (a, c) = (v[0], v[1]);
                let ty = b.ty(a);
                b.op(Op::MulExtended { signed, a, b: c }, [ty, ty])[1]
            };
            let name = format!("mul_hi {ty} {signed}");
            wrong.extend(machine.check(&name, &[ty, ty], ty, &build, &expected));
        }
        let counts = move |v: &[u64]| Some(v[0].count_ones().into());
        let build = |b: &mut Builder, v: &[Value]| b.unary(Unary::BitCount, v[0]);
        wrong.extend(machine.check(&format!("count {ty}"), &[ty], ty, &build, &counts));
        let reversed = move |v: &[u64]| Some(v[0].reverse_bits() >> (64 - ty.bits()));
        let build = |b: &mut Builder, v: &[Value]| b.unary(Unary::BitReverse, v[0]);
        wrong.extend(machine.check(&format!("reverse {ty}"), &[ty], ty, &build, &reversed));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn conversions() {
    let Some(machine) = machine() else { return };
    let mut wrong = Vec::new();
    let integers = [Type::I8, Type::I16, Type::I32, Type::I64];
    for from in [Type::F32, Type::F64] {
        for to in integers {
            let expected = move |v: &[u64]| {
                let x = match from {
                    Type::F32 => f64::from(f32_of(v[0])),
                    _ => f64::from_bits(v[0]),
                };
                let (low, high) = (-(1_i128 << (to.bits() - 1)), (1 << (to.bits() - 1)) - 1);
                Some((x as i128).clamp(low, high) as u64)
            };
            let (rounding, saturate) = (None, true);
            let op = Convert::FloatToSigned { rounding, saturate };
            let build = move |b: &mut Builder, v: &[Value]| b.convert(op, v[0], to);
            wrong.extend(machine.check(&format!("{from} to {to}"), &[from], to, &build, &expected));
            let expected = move |v: &[u64]| {
                let x = match from {
                    Type::F32 => f64::from(f32_of(v[0])),
                    _ => f64::from_bits(v[0]),
                };
                let rounded = x.round_ties_even() as u128;
                Some(rounded.min(to.mask().into()) as u64)
            };
            let rounding = Some(Rounding::Rte);
            let op = Convert::FloatToUnsigned { rounding, saturate };
            let build = move |b: &mut Builder, v: &[Value]| b.convert(op, v[0], to);
            wrong.extend(machine.check(
                &format!("{from} to u{to}"),
                &[from],
                to,
                &build,
                &expected,
            ));
        }
    }
    for from in integers {
        let unused = 64 - from.bits();
        let build =
            |b: &mut Builder, v: &[Value]| b.convert(Convert::SignedToFloat(None), v[0], Type::F32);
        let expected = move |v: &[u64]| Some(bits_of(((v[0] << unused) as i64 >> unused) as f32));
        let name = format!("{from} to f32");
        wrong.extend(machine.check(&name, &[from], Type::F32, &build, &expected));
        let build = |b: &mut Builder, v: &[Value]| {
            b.convert(Convert::UnsignedToFloat(None), v[0], Type::F32)
        };
        let expected = |v: &[u64]| Some(bits_of(v[0] as f32));
        let name = format!("u{from} to f32");
        wrong.extend(machine.check(&name, &[from], Type::F32, &build, &expected));
        let build = |b: &mut Builder, v: &[Value]| {
            b.convert(Convert::UnsignedToFloat(None), v[0], Type::F64)
        };
        let expected = |v: &[u64]| Some((v[0] as f64).to_bits());
        let name = format!("u{from} to f64");
        wrong.extend(machine.check(&name, &[from], Type::F64, &build, &expected));
    }
    for rounding in [Rounding::Rte, Rounding::Rtz, Rounding::Rtp, Rounding::Rtn] {
        let build = move |b: &mut Builder, v: &[Value]| {
            b.convert(Convert::FloatToFloat(Some(rounding)), v[0], Type::F32)
        };
        let expected = move |v: &[u64]| {
            let x = f64::from_bits(v[0]);
            let near = x as f32;
            let back = f64::from(near);
            Some(bits_of(match rounding {
                Rounding::Rtz if back.abs() > x.abs() && x > 0.0 => near.next_down(),
                Rounding::Rtz if back.abs() > x.abs() => near.next_up(),
                Rounding::Rtp if back < x => near.next_up(),
                Rounding::Rtn if back > x => near.next_down(),
                _ => near,
            }))
        };
        let name = format!("f64 to f32 {rounding:?}");
        wrong.extend(machine.check(&name, &[Type::F64], Type::F32, &build, &expected));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Halves, held as their bits, which every device can.
#[test]
fn halves() {
    let Some(machine) = machine() else { return };
    let mut wrong = Vec::new();
    let widen = |bits: u64| {
        let (sign, exponent, fraction) = (bits >> 15, bits >> 10 & 31, (bits & 0x3ff) as f32);
        let size = match exponent {
            0 => fraction * 2.0_f32.powi(-24),
            31 if fraction == 0.0 => f32::INFINITY,
            31 => f32::NAN,
            _ => (1.0 + fraction / 1024.0) * 2.0_f32.powi(exponent as i32 - 15),
        };
        if sign == 1 { -size } else { size }
    };
    let build = |b: &mut Builder, v: &[Value]| {
        let half = b.bitcast(v[0], Type::F16);
        b.convert(Convert::FloatToFloat(None), half, Type::F32)
    };
    let expected = move |v: &[u64]| Some(bits_of(widen(v[0])));
    let inputs: Vec<Vec<u64>> = (0..0x1_0000).map(|bits| vec![bits]).collect();
    let actual = machine.run(&[Type::I16], Type::F32, &build, &inputs);
    for (input, actual) in inputs.iter().zip(&actual) {
        let expected = expected(input).unwrap();
        if *actual != expected && !is_nan(Type::F32, *actual) {
            wrong.push(format!("{input:x?} is {actual:x}, not {expected:x}"));
        }
    }
    // Back again: nothing is lost.
    let build = |b: &mut Builder, v: &[Value]| {
        let half = b.convert(Convert::FloatToFloat(Some(Rounding::Rte)), v[0], Type::F16);
        b.bitcast(half, Type::I16)
    };
    let singles: Vec<Vec<u64>> = actual.iter().map(|bits| vec![*bits]).collect();
    let back = machine.run(&[Type::F32], Type::I16, &build, &singles);
    for (input, back) in inputs.iter().zip(back) {
        let nan = is_nan(Type::F16, input[0]) && is_nan(Type::F16, back);
        if back != input[0] && !nan {
            wrong.push(format!("{input:x?} comes back as {back:x}"));
        }
    }
    wrong.truncate(10);
    assert!(wrong.is_empty(), "{wrong:#?}");
}
