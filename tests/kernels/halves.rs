//! cl_khr_fp16: arithmetic, conversions, memory and functions of `half`.
//!
//! What is expected comes from the definition of the format: a half is a multiple of 2^-24, and the result of
//! an operation is that of whole numbers, rounded by looking at its neighbours.

use super::harness::{Launch, assert_equal, session};
use super::random::Random;
use std::sync::OnceLock;

/// Whether the device has halves; says so if not.
fn has_halves() -> bool {
    let has = session().has("cl_khr_fp16");
    if !has {
        println!("skipped: no cl_khr_fp16");
    }
    has
}

/// A program that may use halves.
fn launch(source: &str) -> Launch {
    Launch::new(format!(
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n{source}"
    ))
}

/// The value of a half by its definition.
fn value(half: u16) -> f64 {
    let sign = if half & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// Directions of rounding, in the order of their suffixes below.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rounding {
    Nearest,
    Zero,
    Up,
    Down,
}

const ROUNDINGS: [Rounding; 4] = [
    Rounding::Nearest,
    Rounding::Zero,
    Rounding::Up,
    Rounding::Down,
];
const SUFFIXES: [&str; 4] = ["_rte", "_rtz", "_rtp", "_rtn"];

/// The values of all finite halves that are not negative, which their bits order.
fn finite() -> &'static [f64] {
    static VALUES: OnceLock<Vec<f64>> = OnceLock::new();
    VALUES.get_or_init(|| (0..0x7c00).map(value).collect())
}

/// The half that `x` rounds to, which is found by search among the positive ones.
fn round(x: f64, rounding: Rounding) -> u16 {
    if x.is_nan() {
        return 0x7e00;
    }
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let size = x.abs();
    let up = match rounding {
        Rounding::Up => sign == 0,
        Rounding::Down => sign != 0,
        _ => false,
    };
    // The largest half not above; 0x7c00 for infinity only.
    let low = if size.is_infinite() {
        0x7c00
    } else {
        finite().partition_point(|&finite| finite <= size) as u16 - 1
    };
    if low == 0x7c00 || value(low) == size {
        return sign | low;
    }
    let next = if low == 0x7bff {
        65536.0
    } else {
        value(low + 1)
    };
    let (below, above) = (size - value(low), next - size);
    let take_next = match rounding {
        Rounding::Nearest => above < below || above == below && low % 2 == 1,
        _ => up,
    };
    sign | (low + u16::from(take_next))
}

/// Halves of every kind.
fn samples(seed: u64, count: usize) -> Vec<u16> {
    let special = [
        0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x83ff, 0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x3800, 0x3e00,
        0x4100, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01,
    ];
    let mut random = Random::new(seed);
    special
        .into_iter()
        .chain((0..count).map(|_| random.next() as u16))
        .collect()
}

fn is_nan(half: u16) -> bool {
    half & 0x7fff > 0x7c00
}

/// Equal bits, or both NaN.
fn assert_halves(found: &[u16], expected: &[u16], name: impl Fn(usize) -> String) {
    assert_eq!(found.len(), expected.len());
    for (at, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            found == expected || is_nan(found) && is_nan(expected),
            "{}: {found:#06x}, not {expected:#06x}",
            name(at)
        );
    }
}

#[test]
fn arithmetic() {
    if !has_halves() {
        return;
    }
    let (a, b) = (samples(1, 3000), samples(2, 3000));
    let mut pairs: Vec<(u16, u16)> = a.iter().copied().zip(b).collect();
    for &x in &a[..20] {
        pairs.extend(a[..20].iter().map(|&y| (x, y)));
    }
    let (a, b): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let source = "
    kernel void test(global const half *a, global const half *b, global half *out) {
        size_t i = get_global_id(0);
        half x = a[i], y = b[i];
        global half *o = out + i * 8;
        o[0] = x + y; o[1] = x - y; o[2] = x * y; o[3] = x / y; o[4] = -x;
        o[5] = fma(x, y, a[i ^ 1]); o[6] = fmod(x, y); o[7] = sqrt(x);
    }";
    let n = a.len() / 2 * 2;
    let mut expected = Vec::new();
    for i in 0..n {
        let (x, y, z) = (value(a[i]), value(b[i]), value(a[i ^ 1]));
        let near = |x: f64| round(x, Rounding::Nearest);
        // Sums and products of halves are exact in double precision; quotients and roots keep more than
        // twice the digits.
        expected.extend([near(x + y), near(x - y), near(x * y), near(x / y)]);
        expected.push(a[i] ^ 0x8000);
        expected.push(fused(x, y, z));
        expected.extend([near(x % y), near(x.sqrt())]);
    }
    let found = launch(source)
        .buffer(&a)
        .buffer(&b)
        .output::<u16>(n * 8)
        .run(&[n], &[]);
    assert_halves(&found.get(2), &expected, |i| {
        let (op, i) = (i % 8, i / 8);
        format!(
            "operation {op} of {:#06x}, {:#06x}, {:#06x}",
            a[i],
            b[i],
            a[i ^ 1]
        )
    });
}

/// `x * y + z` rounded once: in units of 2^-48, where all is whole.
fn fused(x: f64, y: f64, z: f64) -> u16 {
    let unfused = x * y + z;
    if !unfused.is_finite() || x * y == 0.0 || unfused == 0.0 {
        return round(unfused, Rounding::Nearest);
    }
    let whole = |x: f64| (x * 2f64.powi(48)) as i128;
    let exact = whole(x * y) + whole(z);
    // To odd, at more digits than twice those of a half: what is lost is remembered in the last.
    let size = exact.unsigned_abs();
    let spare = (128 - size.leading_zeros()).saturating_sub(40);
    let sticky = u128::from(size & ((1 << spare) - 1) != 0);
    let kept = ((size >> spare) | sticky) as f64 * 2f64.powi(spare as i32 - 48);
    round(kept.copysign(exact as f64), Rounding::Nearest)
}

#[test]
fn comparisons() {
    if !has_halves() {
        return;
    }
    let source = "
    kernel void test(global const half *a, global const half *b, global int *out, global half *picked) {
        size_t i = get_global_id(0);
        half x = a[i], y = b[i];
        global int *o = out + i * 16;
        o[0] = x == y; o[1] = x != y; o[2] = x < y; o[3] = x <= y; o[4] = x > y; o[5] = x >= y;
        o[6] = isequal(x, y); o[7] = isunordered(x, y); o[8] = islessgreater(x, y); o[9] = isordered(x, y);
        o[10] = isnan(x); o[11] = isinf(x); o[12] = isfinite(x); o[13] = isnormal(x); o[14] = signbit(x);
        o[15] = 0; if (x) o[15] = 1;
        global half *p = picked + i * 4;
        p[0] = select(x, y, (short)(i & 1));
        p[1] = bitselect(x, y, as_half((ushort)0x5555));
        p[2] = copysign(x, y);
        short2 m = isless((half2)(x, y), (half2)(y, x));
        p[3] = as_half((ushort)(m.x & 1 | m.y & 2));
    }";
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let some = samples(3, 60);
    for &x in &some {
        for &y in &some {
            a.push(x);
            b.push(y);
        }
    }
    let (mut expected, mut picked) = (Vec::new(), Vec::new());
    for (at, (&p, &q)) in a.iter().zip(&b).enumerate() {
        let (x, y) = (value(p), value(q));
        let unordered = x.is_nan() || y.is_nan();
        let normal = x.is_finite() && p & 0x7c00 != 0;
        let all = [
            x == y,
            x != y,
            x < y,
            x <= y,
            x > y,
            x >= y,
            x == y,
            unordered,
            !unordered && x != y,
            !unordered,
            x.is_nan(),
            x.is_infinite(),
            x.is_finite(),
            normal,
            p & 0x8000 != 0,
            x != 0.0,
        ];
        expected.extend(all.map(i32::from));
        picked.extend([
            if at & 1 != 0 { q } else { p },
            p & !0x5555 | q & 0x5555,
            p & 0x7fff | q & 0x8000,
            u16::from(x < y) | u16::from(y < x) << 1,
        ]);
    }
    let found = launch(source)
        .buffer(&a)
        .buffer(&b)
        .output::<i32>(expected.len())
        .output::<u16>(picked.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(2), &expected, |i| {
        format!(
            "relation {} of {:#06x} and {:#06x}",
            i % 16,
            a[i / 16],
            b[i / 16]
        )
    });
    assert_halves(&found.get(3), &picked, |i| {
        format!(
            "choice {} of {:#06x} and {:#06x}",
            i % 4,
            a[i / 4],
            b[i / 4]
        )
    });
}

#[test]
fn to_half() {
    if !has_halves() {
        return;
    }
    // Halves, what lies between them, and integers about where they end.
    let mut random = Random::new(5);
    let mut numbers: Vec<f32> = samples(4, 300).iter().map(|&h| value(h) as f32).collect();
    numbers.extend([
        65519.9, 65520.0, 65535.9, 65536.0, 1e30, -1e30, 1e-30, -1e-30, 2049.0, -2051.0,
    ]);
    numbers.extend((0..300).map(|i| random.float(2e5) / (1u64 << (i % 42)) as f32));
    let integers: Vec<i64> = (0..numbers.len())
        .map(|i| (random.next() as i64) >> (i % 64))
        .collect();
    let doubles = session().has("cl_khr_fp64");
    let mut body = String::new();
    let sources = [
        "f",
        "l",
        "(ulong)l",
        "(int)l",
        "(uint)l",
        "(short)l",
        "(ushort)l",
        "(char)l",
        "d",
    ];
    for (at, source) in sources.iter().enumerate() {
        for (mode, suffix) in SUFFIXES.iter().enumerate() {
            let conversion = match (*source, doubles) {
                ("d", false) => "(half)f".into(),
                _ => format!("convert_half{suffix}({source})"),
            };
            body += &format!("o[{}] = {conversion};\n", at * 4 + mode);
        }
    }
    let double = if doubles {
        "double d = f * 1.0000001;"
    } else {
        ""
    };
    let source = format!(
        "kernel void test(global const float *floats, global const long *longs, global half *out) {{
            size_t i = get_global_id(0);
            float f = floats[i]; long l = longs[i];
            {double}
            global half *o = out + i * 36;
            {body}
        }}"
    );
    let mut expected = Vec::new();
    for (&f, &l) in numbers.iter().zip(&integers) {
        let wide = f64::from(f) * 1.0000001;
        // Of integers beyond 2^53 a double has lost what matters to no half: they are all infinite, or largest.
        let all = [
            f64::from(f),
            l as f64,
            l as u64 as f64,
            f64::from(l as i32),
            f64::from(l as u32),
            f64::from(l as i16),
            f64::from(l as u16),
            f64::from(l as i8),
        ];
        for x in all {
            expected.extend(ROUNDINGS.map(|mode| round(x, mode)));
        }
        expected.extend(ROUNDINGS.map(|mode| {
            if doubles {
                round(wide, mode)
            } else {
                round(f.into(), Rounding::Nearest)
            }
        }));
    }
    let found = launch(&source)
        .buffer(&numbers)
        .buffer(&integers)
        .output::<u16>(expected.len())
        .run(&[numbers.len()], &[]);
    assert_halves(&found.get(2), &expected, |i| {
        let (of, mode, at) = (sources[i % 36 / 4], SUFFIXES[i % 4], i / 36);
        format!(
            "convert_half{mode}({of}) of {:e}, {}",
            numbers[at], integers[at]
        )
    });
}

#[test]
fn from_half() {
    if !has_halves() {
        return;
    }
    let targets: [(&str, f64, f64); 8] = [
        ("char", -128.0, 127.0),
        ("uchar", 0.0, 255.0),
        ("short", -32768.0, 32767.0),
        ("ushort", 0.0, 65535.0),
        ("int", -2147483648.0, 2147483647.0),
        ("uint", 0.0, 4294967295.0),
        ("long", f64::MIN, f64::MAX),
        ("ulong", f64::MIN, f64::MAX),
    ];
    let mut body = String::new();
    for (at, (target, ..)) in targets.iter().enumerate() {
        for (mode, suffix) in SUFFIXES.iter().enumerate() {
            let place = at * 4 + mode;
            body += &format!("o[{place}] = (long)convert_{target}_sat{suffix}(x);\n");
        }
    }
    let source = format!(
        "kernel void test(global const half *in, global long *out, global float *floats) {{
            size_t i = get_global_id(0);
            half x = in[i];
            global long *o = out + i * 33;
            {body}
            o[32] = (int)x;
            floats[i] = x;
        }}"
    );
    let a: Vec<u16> = samples(6, 1500);
    let (mut expected, mut floats) = (Vec::new(), Vec::new());
    for &half in &a {
        let x = value(half);
        for (name, low, high) in targets {
            for mode in ROUNDINGS {
                let whole = match mode {
                    Rounding::Nearest => x.round_ties_even(),
                    Rounding::Zero => x.trunc(),
                    Rounding::Up => x.ceil(),
                    Rounding::Down => x.floor(),
                };
                expected.push(match name {
                    _ if x.is_nan() => 0,
                    // Rust's conversions saturate.
                    "long" => whole as i64,
                    "ulong" => whole as u64 as i64,
                    _ => whole.clamp(low, high) as i64,
                });
            }
        }
        expected.push(x as i32 as i64);
        floats.push(x as f32);
    }
    let found = launch(&source)
        .buffer(&a)
        .output::<i64>(expected.len())
        .output::<f32>(floats.len())
        .run(&[a.len()], &[]);
    let found_integers: Vec<i64> = found.get(1);
    for (at, (&found, &expected)) in found_integers.iter().zip(&expected).enumerate() {
        let (half, of) = (a[at / 33], at % 33);
        // A plain conversion of what does not fit gives anything.
        let fits = of != 32 || value(half).is_finite();
        assert!(
            !fits || found == expected,
            "conversion {of} of {half:#06x}: {found}, not {expected}"
        );
    }
    for (at, found) in found.get::<f32>(2).into_iter().enumerate() {
        let same = found.to_bits() == floats[at].to_bits() || found.is_nan() && floats[at].is_nan();
        assert!(same, "{:#06x} as float: {found:e}", a[at]);
    }
}

/// A function's name, its bound in ulp, and its value.
type One = (&'static str, f64, fn(f64) -> f64);

/// Functions of one argument, within the table "ULP values for half-precision floating-point built-in math
/// functions" of cl_khr_fp16, full profile.
const MATHS: &[One] = &[
    ("exp", 2.0, f64::exp),
    ("exp2", 2.0, f64::exp2),
    ("exp10", 2.0, |x| 10f64.powf(x)),
    ("expm1", 2.0, f64::exp_m1),
    ("log", 2.0, f64::ln),
    ("log2", 2.0, f64::log2),
    ("log10", 2.0, f64::log10),
    ("log1p", 2.0, f64::ln_1p),
    ("sin", 2.0, f64::sin),
    ("cos", 2.0, f64::cos),
    ("tan", 2.0, f64::tan),
    ("asin", 2.0, f64::asin),
    ("acos", 2.0, f64::acos),
    ("atan", 2.0, f64::atan),
    ("sinh", 2.0, f64::sinh),
    ("cosh", 2.0, f64::cosh),
    ("tanh", 2.0, f64::tanh),
    ("asinh", 2.0, |x| x.abs().asinh().copysign(x)),
    ("acosh", 2.0, f64::acosh),
    ("atanh", 2.0, f64::atanh),
    ("cbrt", 2.0, f64::cbrt),
    ("rsqrt", 1.0, |x| 1.0 / x.sqrt()),
    ("sqrt", 0.0, f64::sqrt),
    ("atanpi", 2.0, |x| x.atan() / std::f64::consts::PI),
];

/// Distance in units in the last place of a half.
fn ulps(found: u16, exact: f64) -> f64 {
    let near = round(exact, Rounding::Nearest);
    if found == near || is_nan(found) && is_nan(near) {
        return 0.0;
    }
    if is_nan(found) || is_nan(near) || exact.is_infinite() {
        return f64::INFINITY;
    }
    // Infinity stands for what would have been the next number.
    let of = |half: u16| match half & 0x7fff {
        0x7c00 => 65536f64.copysign(value(half)),
        _ => value(half),
    };
    let exponent = exact.abs().clamp(2f64.powi(-14), 65504.0).log2().floor() as i32;
    (of(found) - exact).abs() / 2f64.powi(exponent - 10)
}

#[test]
fn maths() {
    if !has_halves() {
        return;
    }
    let mut body = String::new();
    for (at, (name, ..)) in MATHS.iter().enumerate() {
        body += &format!("o[{at}] = {name}(x);\n");
    }
    let count = MATHS.len();
    let source = format!(
        "kernel void test(global const half *in, global half *out) {{
            size_t i = get_global_id(0);
            half x = in[i];
            global half *o = out + i * {count};
            {body}
        }}"
    );
    let a: Vec<u16> = (0..=u16::MAX).step_by(7).chain(samples(7, 0)).collect();
    let found: Vec<u16> = launch(&source)
        .buffer(&a)
        .output::<u16>(a.len() * count)
        .run(&[a.len()], &[])
        .get(1);
    for (at, &found) in found.iter().enumerate() {
        let (x, (name, bound, function)) = (a[at / count], MATHS[at % count]);
        let exact = function(value(x));
        let error = ulps(found, exact);
        assert!(
            error <= bound,
            "{name}({x:#06x}) is {found:#06x}, expected {exact:e}: {error} ulp"
        );
    }
}

#[test]
fn exact_functions() {
    if !has_halves() {
        return;
    }
    let source = "
    kernel void test(global const half *in, global half *out, global int *ints) {
        size_t i = get_global_id(0);
        half x = in[i];
        global half *o = out + i * 11;
        o[0] = floor(x); o[1] = ceil(x); o[2] = trunc(x); o[3] = rint(x); o[4] = round(x); o[5] = fabs(x);
        half whole; int e;
        o[6] = modf(x, &whole); o[7] = whole;
        o[8] = frexp(x, &e); ints[2 * i] = e;
        o[9] = ldexp(x, (int)(i % 40) - 20);
        o[10] = fract(x, &whole);
        ints[2 * i + 1] = whole == floor(x);
    }";
    let a: Vec<u16> = samples(8, 2000)
        .into_iter()
        .filter(|&half| half & 0x7c00 != 0x7c00)
        .collect();
    let (mut expected, mut ints) = (Vec::new(), Vec::new());
    for (at, &half) in a.iter().enumerate() {
        let x = value(half);
        let near = |x: f64| round(x, Rounding::Nearest);
        let (mut fraction, mut exponent) = (x, 0);
        while fraction != 0.0 && fraction.abs() < 0.5 {
            (fraction, exponent) = (fraction * 2.0, exponent - 1);
        }
        while fraction.abs() >= 1.0 {
            (fraction, exponent) = (fraction / 2.0, exponent + 1);
        }
        let whole = [
            x.floor(),
            x.ceil(),
            x.trunc(),
            x.round_ties_even(),
            x.round(),
            x.abs(),
        ];
        expected.extend(whole.map(near));
        let rest = near((x - x.trunc()).copysign(x));
        expected.extend([rest, near(x.trunc()), near(fraction)]);
        expected.push(near(x * 2f64.powi(at as i32 % 40 - 20)));
        // "fmin(x - floor(x), nextafter((half)1, (half)0))", with the sign of zero.
        let rest = near(x - x.floor()).min(0x3bff);
        expected.push(if x == 0.0 { half } else { rest });
        ints.extend([exponent, 1]);
    }
    let found = launch(source)
        .buffer(&a)
        .output::<u16>(expected.len())
        .output::<i32>(ints.len())
        .run(&[a.len()], &[]);
    assert_halves(&found.get(1), &expected, |i| {
        format!("function {} of {:#06x} ({i})", i % 11, a[i / 11])
    });
    assert_equal(&found.get(2), &ints, |i| {
        format!("exponent of {:#06x}", a[i / 2])
    });
}

#[test]
fn common_and_geometric() {
    if !has_halves() {
        return;
    }
    let source = "
    kernel void test(global const half4 *a, global half *out) {
        size_t i = get_global_id(0);
        half4 v = a[i], w = v.wzyx;
        global half *o = out + i * 8;
        o[0] = clamp(v, (half)-1, (half)2).x;
        o[1] = max(v, w).y;
        o[2] = min(v, (half)0.5).z;
        o[3] = step((half)0, v).w;
        o[4] = sign(v).x;
        o[5] = dot(v, w);
        o[6] = cross(v, w).x;
        o[7] = length(v);
    }";
    // Small whole numbers: nothing is rounded but the length.
    let mut random = Random::new(9);
    let numbers: Vec<[f64; 4]> = (0..500)
        .map(|_| std::array::from_fn(|_| (random.next() % 17) as f64 - 8.0))
        .collect();
    let near = |x: f64| round(x, Rounding::Nearest);
    let a: Vec<[u16; 4]> = numbers.iter().map(|v| v.map(near)).collect();
    let found: Vec<u16> = launch(source)
        .buffer(&a)
        .output::<u16>(a.len() * 8)
        .run(&[a.len()], &[])
        .get(1);
    for (v, found) in numbers.iter().zip(found.chunks(8)) {
        let [x, y, z, w] = *v;
        let sign = if x == 0.0 { 0.0 } else { x.signum() };
        let exact = [
            x.clamp(-1.0, 2.0),
            y.max(z),
            z.min(0.5),
            f64::from(w >= 0.0),
            sign,
            2.0 * (x * w + y * z),
            y * y - z * z,
        ];
        for (at, (&found, exact)) in found.iter().zip(exact).enumerate() {
            assert_eq!(value(found), exact, "function {at} of {v:?}");
        }
        let length = (x * x + y * y + z * z + w * w).sqrt();
        // cl_khr_fp16: 0.25 + 0.5 n ulp for n elements, of what is more than the rounding of a square root.
        assert!(
            ulps(found[7], length) <= 2.25,
            "length of {v:?} is {}",
            value(found[7])
        );
    }
}

#[test]
fn memory() {
    if !has_halves() {
        return;
    }
    // Program-scope and local memory, structures, private arrays that are indexed, arguments by value.
    let source = "
    constant half table[5] = { 1.0h, -2.5h, 0.000030517578125h, 65504.0h, 0.333251953125h };
    typedef struct { char c; half h; half3 v; half a[3]; } mixed;
    kernel void test(global const half *in, global half *out, half scale, half3 three, local half *scratch) {
        size_t i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
        scratch[l] = in[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        half other = scratch[n - 1 - l];
        half kept[7];
        for (int k = 0; k < 7; ++k) kept[k] = in[i] + (half)k;
        mixed m = { 1, other, three, { kept[i % 7], 2.0h, kept[(i + 3) % 7] } };
        mixed copies[2] = { m, m };
        copies[i & 1].a[1] = (half)i;
        global half *o = out + i * 8;
        o[0] = other; o[1] = table[i % 5]; o[2] = in[i] * scale; o[3] = copies[0].v.z;
        o[4] = copies[0].a[1]; o[5] = copies[1].a[2]; o[6] = copies[i & 1].h;
        o[7] = vload2(0, (const local half *)scratch + (n - 2)).y;
    }";
    let near = |x: f64| round(x, Rounding::Nearest);
    let a: Vec<u16> = (0..32).map(|i| near(f64::from(i) * 0.25 - 3.0)).collect();
    let table = [1.0, -2.5, 0.000030517578125, 65504.0, 0.333251953125];
    let mut expected = Vec::new();
    for (at, &half) in a.iter().enumerate() {
        let mirror = a[at / 8 * 8 + 7 - at % 8];
        expected.extend([
            mirror,
            near(table[at % 5]),
            near(value(half) * 1.5),
            near(7.0),
            near(if at % 2 == 0 { at as f64 } else { 2.0 }),
            near(value(half) + ((at + 3) % 7) as f64),
            mirror,
            a[at / 8 * 8 + 7],
        ]);
    }
    let found = launch(source)
        .buffer(&a)
        .output::<u16>(expected.len())
        .value(near(1.5))
        .value([near(5.0), near(6.0), near(7.0), 0])
        .local(16)
        .run(&[32], &[8]);
    assert_halves(&found.get(1), &expected, |i| {
        format!("value {} of {}", i % 8, i / 8)
    });
}

#[test]
fn vectors() {
    if !has_halves() {
        return;
    }
    for (width, stride) in [(2, 2), (3, 4), (4, 4), (8, 8), (16, 16)] {
        let source = format!(
            "kernel void test(global const half *in, global half *packed, global half{width} *whole) {{
                size_t i = get_global_id(0);
                half{width} v = vload{width}(i, in);
                vstore{width}(v + (half)1, i, packed);
                half{width} w = whole[i];
                w.s0 = v.s1;
                w.s1 = v.s0;
                whole[i] = w * (half)2;
            }}"
        );
        let near = |x: f64| round(x, Rounding::Nearest);
        let count = 10;
        let a: Vec<u16> = (0..count * width).map(|i| near(i as f64 / 4.0)).collect();
        let whole: Vec<u16> = (0..count * stride).map(|i| near(i as f64)).collect();
        let found = launch(&source)
            .buffer(&a)
            .output::<u16>(count * width)
            .buffer(&whole)
            .run(&[count], &[]);
        let packed: Vec<u16> = a.iter().map(|&h| near(value(h) + 1.0)).collect();
        assert_halves(&found.get(1), &packed, |i| format!("half{width}, at {i}"));
        let doubled: Vec<u16> = found.get(2);
        for (at, &found) in doubled.iter().enumerate() {
            let (item, element) = (at / stride, at % stride);
            let expected = match element {
                0 => value(a[item * width + 1]) * 2.0,
                1 => value(a[item * width]) * 2.0,
                _ => value(whole[at]) * 2.0,
            };
            // The fourth of three is padding.
            assert!(
                element >= width || value(found) == expected,
                "half{width}, at {at}"
            );
        }
    }
}
