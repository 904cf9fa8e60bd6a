//! `OpenCL.std` functions of floats, within the errors that the specification allows.

use super::harness::{Launch, assert_equal};
use super::random::Random;

/// Distance in units in the last place of the nearest float to the exact result.
fn ulps(found: f32, exact: f64) -> f64 {
    let near = exact as f32;
    if found == near || found.is_nan() && exact.is_nan() {
        return 0.0;
    }
    if !found.is_finite() || !near.is_finite() {
        return f64::INFINITY;
    }
    let size = near.abs().max(f32::MIN_POSITIVE);
    let unit = f64::from(size.next_up()) - f64::from(size);
    (f64::from(found) - exact).abs() / unit
}

/// A function's name, its bound in ulps, and its value in double precision.
type One = (&'static str, f64, fn(f64) -> f64);

fn check_one(functions: &[One], arguments: &[f32]) {
    let mut body = String::new();
    for (at, (name, ..)) in functions.iter().enumerate() {
        body += &format!("o[{at}] = {name}(x);\n");
    }
    let count = functions.len();
    let source = format!(
        "
    kernel void test(global const float *a, global float *out) {{
        size_t i = get_global_id(0);
        float x = a[i];
        global float *o = out + i * {count};
        {body}
    }}"
    );
    let found = Launch::new(source)
        .buffer(arguments)
        .output::<f32>(arguments.len() * count)
        .run(&[arguments.len()], &[])
        .get::<f32>(1);
    let mut worst = vec![(0.0, 0.0, 0.0); count];
    for (at, &found) in found.iter().enumerate() {
        let (x, (_, _, function)) = (arguments[at / count], functions[at % count]);
        let error = ulps(found, function(x.into()));
        if error > worst[at % count].0 {
            worst[at % count] = (error, x, found);
        }
    }
    for ((name, bound, function), (error, x, found)) in functions.iter().zip(worst) {
        assert!(
            error <= *bound,
            "{name}({x:e}) is {found:e}, expected {:e}: {error} ulp",
            function(x.into())
        );
    }
}

fn arguments(bound: f32) -> Vec<f32> {
    let mut random = Random::new(100);
    (0..2000)
        .map(|i| random.float(bound) / (1u64 << (i % 24)) as f32)
        .collect()
}

#[test]
fn exactly_rounded() {
    check_one(
        &[
            ("floor", 0.0, f64::floor),
            ("ceil", 0.0, f64::ceil),
            ("trunc", 0.0, f64::trunc),
            ("rint", 0.0, f64::round_ties_even),
            ("round", 0.0, f64::round),
            ("fabs", 0.0, f64::abs),
        ],
        &arguments(1e7),
    );
    let source = "
    kernel void test(global const float *a, global const float *b, global float *out) {
        size_t i = get_global_id(0);
        out[2 * i] = fma(a[i], b[i], a[i + 1]);
        out[2 * i + 1] = fmod(a[i], b[i]);
    }";
    let (a, b) = (arguments(1e6), arguments(77.0));
    let n = a.len() - 1;
    let expected: Vec<f32> = (0..n)
        .flat_map(|i| [a[i].mul_add(b[i], a[i + 1]), a[i] % b[i]])
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&b)
        .output::<f32>(2 * n)
        .run(&[n], &[]);
    assert_equal(&found.get(2), &expected, |i| {
        format!("{:e} and {:e}", a[i / 2], b[i / 2])
    });
}

#[test]
fn elementary() {
    // Bounds of OpenCL C 3.0, table "ULP values for single-precision built-in math functions".
    check_one(
        &[
            ("sin", 4.0, f64::sin),
            ("cos", 4.0, f64::cos),
            ("tan", 5.0, f64::tan),
            ("atan", 5.0, f64::atan),
            ("exp", 3.0, f64::exp),
            ("exp2", 3.0, f64::exp2),
            ("expm1", 3.0, f64::exp_m1),
            ("sinh", 4.0, f64::sinh),
            ("cosh", 4.0, f64::cosh),
            ("tanh", 5.0, f64::tanh),
            ("cbrt", 2.0, f64::cbrt),
            ("asinh", 4.0, f64::asinh),
        ],
        &arguments(40.0),
    );
    let positive: Vec<f32> = arguments(1e6).iter().map(|x| x.abs() + 1e-6).collect();
    check_one(
        &[
            ("log", 3.0, f64::ln),
            ("log2", 3.0, f64::log2),
            ("log10", 3.0, f64::log10),
            ("log1p", 2.0, f64::ln_1p),
        ],
        &positive,
    );
    check_one(
        &[
            ("asin", 4.0, f64::asin),
            ("acos", 4.0, f64::acos),
            ("atanh", 5.0, f64::atanh),
        ],
        &arguments(0.999),
    );
    check_one(
        &[("sin", 4.0, f64::sin), ("cos", 4.0, f64::cos)],
        &arguments(1e8),
    );
}

/// Of two arguments: name, bound, value.
type Two = (&'static str, f64, fn(f64, f64) -> f64);

fn check_two(functions: &[Two], a: &[f32], b: &[f32]) {
    for (name, bound, function) in functions {
        let expression = match *name {
            "/" => "a[i] / b[i]".to_string(),
            name => format!("{name}(a[i], b[i])"),
        };
        let source = format!(
            "
        kernel void test(global const float *a, global const float *b, global float *out) {{
            size_t i = get_global_id(0);
            out[i] = {expression};
        }}"
        );
        let found = Launch::new(source)
            .buffer(a)
            .buffer(b)
            .output::<f32>(a.len())
            .run(&[a.len()], &[])
            .get::<f32>(2);
        for ((&x, &y), found) in a.iter().zip(b).zip(found) {
            let expected = function(x.into(), y.into());
            let error = ulps(found, expected);
            assert!(
                error <= *bound,
                "{name}({x:e}, {y:e}) is {found:e}, expected {expected:e}: {error} ulp"
            );
        }
    }
}

#[test]
fn two_arguments() {
    let (a, b) = (
        arguments(20.0),
        arguments(9.0).into_iter().rev().collect::<Vec<_>>(),
    );
    let positive: Vec<f32> = a.iter().map(|x| x.abs() + 0.01).collect();
    check_two(
        &[("pow", 16.0, f64::powf), ("powr", 16.0, f64::powf)],
        &positive,
        &b,
    );
    check_two(
        &[
            ("atan2", 6.0, f64::atan2),
            ("hypot", 4.0, f64::hypot),
            ("fdim", 0.0, |x, y| if x > y { x - y } else { 0.0 }),
            ("copysign", 0.0, f64::copysign),
            ("maxmag", 0.0, |x, y| if x.abs() > y.abs() { x } else { y }),
        ],
        &a,
        &b,
    );
}

#[test]
fn division_and_roots() {
    let (a, b) = (
        arguments(1e5),
        arguments(1e3).into_iter().rev().collect::<Vec<_>>(),
    );
    check_two(&[("/", 2.5, |x, y| x / y)], &a, &b);
    let positive: Vec<f32> = a.iter().map(|x| x.abs()).collect();
    check_one(
        &[("sqrt", 3.0, f64::sqrt), ("rsqrt", 2.0, |x| 1.0 / x.sqrt())],
        &positive,
    );
}

#[test]
fn native_and_half() {
    let source = "
    kernel void test(global const float *a, global float *out) {
        size_t i = get_global_id(0);
        float x = a[i];
        global float *o = out + i * 6;
        o[0] = native_sin(x); o[1] = native_exp(x); o[2] = native_sqrt(x);
        o[3] = native_recip(x); o[4] = half_log2(x); o[5] = half_divide(1.0f, x);
    }";
    let a: Vec<f32> = (1..400).map(|i| i as f32 / 100.0).collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<f32>(6 * a.len())
        .run(&[a.len()], &[])
        .get::<f32>(1);
    for (at, found) in found.into_iter().enumerate() {
        let x = a[at / 6];
        let expected = [x.sin(), x.exp(), x.sqrt(), x.recip(), x.log2(), x.recip()][at % 6];
        let error = (found - expected).abs();
        assert!(
            error <= 0.005 * expected.abs().max(1.0),
            "function {} of {x}: {found}",
            at % 6
        );
    }
}

#[test]
fn integers_of_floats() {
    let source = "
    kernel void test(global const float *a, global int *out, global float *scaled) {
        size_t i = get_global_id(0);
        out[2 * i] = ilogb(a[i]);
        out[2 * i + 1] = signbit(a[i]) != 0;
        scaled[2 * i] = ldexp(a[i], (int)i % 40 - 20);
        scaled[2 * i + 1] = nextafter(a[i], 1e30f);
    }";
    let a = arguments(1e4);
    let exponent = |x: f32| ((x.to_bits() >> 23 & 255) as i32) - 127;
    let ints: Vec<i32> = a
        .iter()
        .flat_map(|&x| [exponent(x), i32::from(x < 0.0)])
        .collect();
    let scaled: Vec<f32> = a
        .iter()
        .enumerate()
        .flat_map(|(i, &x)| [x * 2f32.powi(i as i32 % 40 - 20), x.next_up()])
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<i32>(2 * a.len())
        .output::<f32>(2 * a.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(1), &ints, |i| format!("{:e}", a[i / 2]));
    assert_equal(&found.get(2), &scaled, |i| format!("{:e}", a[i / 2]));
}

#[test]
fn pointer_results() {
    let source = "
    kernel void test(global const float *a, global float *out, global int *ints, local float *l) {
        size_t i = get_global_id(0), k = get_local_id(0);
        float whole, cosine; int exponent, quotient;
        global float *o = out + i * 8;
        o[0] = modf(a[i], &whole); o[1] = whole;
        o[2] = fract(a[i], l + k); o[3] = l[k];
        o[4] = frexp(a[i], &exponent); ints[2 * i] = exponent;
        o[5] = sincos(a[i], &cosine); o[6] = cosine;
        o[7] = remquo(a[i], 7.0f, &quotient); ints[2 * i + 1] = quotient & 7;
    }";
    let a: Vec<f32> = arguments(1e3).into_iter().take(256).collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<f32>(8 * a.len())
        .output::<i32>(2 * a.len())
        .local(4 * 16)
        .run(&[a.len()], &[16]);
    let (floats, ints) = (found.get::<f32>(1), found.get::<i32>(2));
    for (i, &x) in a.iter().enumerate() {
        let o = &floats[8 * i..8 * i + 8];
        assert_eq!(o[0], x.fract(), "modf of {x:e}");
        assert_eq!(o[1], x.trunc(), "modf of {x:e}");
        let fract = (x - x.floor()).min(1f32.next_down());
        assert_eq!((o[2], o[3]), (fract, x.floor()), "fract of {x:e}");
        assert!(
            (0.5..1.0).contains(&o[4].abs()) && o[4] * 2f32.powi(ints[2 * i]) == x,
            "frexp of {x:e}"
        );
        assert!(
            ulps(o[5], f64::from(x).sin()) <= 4.0 && ulps(o[6], f64::from(x).cos()) <= 4.0,
            "sincos of {x:e}"
        );
        let quotient = (f64::from(x) / 7.0).round_ties_even();
        assert_eq!(
            o[7],
            (f64::from(x) - quotient * 7.0) as f32,
            "remquo of {x:e}"
        );
        let low = (quotient.abs() as i32 & 7) * if quotient < 0.0 { -1 } else { 1 };
        assert_eq!(ints[2 * i + 1], low & 7, "remquo of {x:e}");
    }
}

#[test]
fn special_values() {
    let source = "
    kernel void test(global const float *a, global int *out, float zero) {
        size_t i = get_global_id(0);
        float x = a[i];
        int r = 0;
        r |= (isnan(sqrt(-fabs(x) - 1.0f)) != 0);
        r |= (isnan(log(-fabs(x) - 1.0f)) != 0) << 1;
        r |= (exp(x * INFINITY) == (x > 0 ? INFINITY : 0.0f)) << 2;
        r |= (log(x * zero) == -INFINITY) << 3;
        r |= (isnan(x * INFINITY - x * INFINITY) != 0) << 4;
        r |= (fmax(x, NAN) == x) << 5;
        r |= (pow(x, 0.0f) == 1.0f) << 6;
        r |= (fmin(NAN, x) == x) << 7;
        r |= (atan2(copysign(0.0f, x), -1.0f) == copysign(M_PI_F, x)) << 8;
        r |= (1.0f / (x * zero) == copysign(INFINITY, x)) << 9;
        out[i] = r;
    }";
    let a = [1.0f32, -2.0, 3.5, -0.25, 1e10];
    let found = Launch::new(source)
        .buffer(&a)
        .output::<i32>(a.len())
        .value(0.0f32)
        .run(&[a.len()], &[]);
    assert_equal(&found.get(1), &[0x3ff; 5], |i| format!("{}", a[i]));
}

#[test]
fn common_functions() {
    let source = "
    kernel void test(global const float4 *a, global float4 *out) {
        size_t i = get_global_id(0);
        float4 v = a[i];
        out[2 * i] = (float4)(mix(v.x, v.y, 0.25f), smoothstep(0.0f, 100.0f, v.z), degrees(v.w), radians(v.w));
        out[2 * i + 1] = (float4)(length(v.xy), distance(v.xy, v.zw), dot(normalize(v.xyz), v.xyz), sign(v.w));
    }";
    let mut random = Random::new(101);
    let a: Vec<[f32; 4]> = (0..128)
        .map(|_| std::array::from_fn(|_| random.float(150.0)))
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<[f32; 4]>(2 * a.len())
        .run(&[a.len()], &[])
        .get::<[f32; 4]>(1);
    for (i, v) in a.iter().enumerate() {
        let w = v.map(f64::from);
        let t = (w[2] / 100.0).clamp(0.0, 1.0);
        let length3 = (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]).sqrt();
        let expected = [
            w[0] + (w[1] - w[0]) * 0.25,
            t * t * (3.0 - 2.0 * t),
            w[3].to_degrees(),
            w[3].to_radians(),
            w[0].hypot(w[1]),
            (w[0] - w[2]).hypot(w[1] - w[3]),
            length3,
            w[3].signum(),
        ];
        let found = [found[2 * i], found[2 * i + 1]].concat();
        for (lane, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            let error = (f64::from(found) - expected).abs();
            assert!(
                error <= 1e-5 * expected.abs().max(10.0),
                "value {lane} of {v:?}: {found}, not {expected}"
            );
        }
    }
}

/// A denormal argument counts as it is, or as zero throughout.
#[test]
fn denormal_arguments() {
    let source = "
    kernel void test(global const float *a, global const float *b, global float *out) {
        size_t i = get_global_id(0);
        float x = a[i], tiny = b[i], whole;
        global float *o = out + i * 6;
        o[0] = atan2(x, tiny);
        o[1] = atan2pi(x, tiny);
        o[2] = erf(tiny);
        o[3] = fract(tiny, &whole);
        o[4] = whole;
        o[5] = acospi(tiny);
    }";
    let mut random = Random::new(107);
    let count = 400;
    let tiny: Vec<f32> = (0..count)
        .map(|_| f32::from_bits(random.next() as u32 & 0x807f_ffff))
        .collect();
    // From the least normal number on up: 2^-126 to 2^-95.
    let a: Vec<f32> = (0..count)
        .map(|_| f32::from_bits(random.next() as u32 & 0x8fff_ffff | 0x0080_0000))
        .collect();
    let found: Vec<f32> = Launch::new(source)
        .buffer(&a)
        .buffer(&tiny)
        .output::<f32>(count * 6)
        .run(&[count], &[])
        .get(2);
    for (at, found) in found.chunks(6).enumerate() {
        let (x, tiny) = (f64::from(a[at]), f64::from(tiny[at]));
        let allowed = |counted: f64| {
            let pi = std::f64::consts::PI;
            let floor = counted.floor();
            let rest = ((counted - floor) as f32).min(1.0f32.next_down());
            let error = [
                ulps(found[0], x.atan2(counted)) / 6.0,
                ulps(found[1], x.atan2(counted) / pi) / 6.0,
                // A denormal result may become zero too.
                ulps(found[2], counted * 2.0 / pi.sqrt()).min(ulps(found[2], 0.0)) / 16.0,
                ulps(found[3], rest.into()),
                ulps(found[4], floor),
                ulps(found[5], 0.5 - counted / pi) / 5.0,
            ];
            error.into_iter().all(|error| error <= 1.0)
        };
        assert!(
            allowed(tiny) || allowed(0f64.copysign(tiny)),
            "{x:e} and {tiny:e}: {found:?}"
        );
    }
}
