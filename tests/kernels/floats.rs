//! Single-precision arithmetic and comparisons, and doubles where the device has them.

use super::harness::{Launch, assert_equal, session};
use super::random::Random;

/// Contraction is off so that host and device round alike.
const NO_CONTRACTION: &str = "#pragma OPENCL FP_CONTRACT OFF\n";

fn operands() -> (Vec<f32>, Vec<f32>) {
    let mut random = Random::new(20);
    (0..1024)
        .map(|i| {
            (
                random.float(1e6),
                random.float(1e3) / (1 << (i % 20)) as f32,
            )
        })
        .unzip()
}

#[test]
fn arithmetic() {
    let source = format!(
        "{NO_CONTRACTION}
    kernel void test(global const float *a, global const float *b, global float *out) {{
        size_t i = get_global_id(0);
        float x = a[i], y = b[i];
        global float *o = out + i * 8;
        o[0] = x + y; o[1] = x - y; o[2] = x * y; o[3] = -x;
        o[4] = x * y + 1.5f; o[5] = (x + y) * (x - y); o[6] = fabs(x); o[7] = copysign(x, y);
    }}"
    );
    let (a, b) = operands();
    let expected: Vec<f32> = a
        .iter()
        .zip(&b)
        .flat_map(|(&x, &y)| {
            [
                x + y,
                x - y,
                x * y,
                -x,
                x * y + 1.5,
                (x + y) * (x - y),
                x.abs(),
                x.copysign(y),
            ]
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&b)
        .output::<f32>(expected.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(2), &expected, |i| {
        format!("operation {} of {} and {}", i % 8, a[i / 8], b[i / 8])
    });
}

#[test]
fn comparisons() {
    let source = "
    kernel void test(global const float *a, global const float *b, global int *out) {
        size_t i = get_global_id(0);
        float x = a[i], y = b[i];
        out[i] = (x == y) | (x != y) << 1 | (x < y) << 2 | (x <= y) << 3 | (x > y) << 4 | (x >= y) << 5
            | isnan(x) << 6 | isinf(x) << 7 | isfinite(y) << 8 | (signbit(x) != 0) << 9 | isordered(x, y) << 10
            | isunordered(x, y) << 11 | islessgreater(x, y) << 12 | !(x < y) << 13 | isnormal(x) << 14;
    }";
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        1e-3,
        3.0e38,
        -7.5,
    ];
    let (a, b): (Vec<f32>, Vec<f32>) = special
        .iter()
        .flat_map(|&x| special.map(|y| (x, y)))
        .unzip();
    let expected: Vec<i32> = a
        .iter()
        .zip(&b)
        .map(|(&x, &y)| {
            let ordered = !x.is_nan() && !y.is_nan();
            let bits = [
                x == y,
                x != y,
                x < y,
                x <= y,
                x > y,
                x >= y,
                x.is_nan(),
                x.is_infinite(),
                y.is_finite(),
                x.is_sign_negative(),
                ordered,
                !ordered,
                ordered && x != y,
                !matches!(x.partial_cmp(&y), Some(std::cmp::Ordering::Less)),
                x.is_normal(),
            ];
            bits.iter()
                .rev()
                .fold(0, |all, &bit| all << 1 | i32::from(bit))
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&b)
        .output::<i32>(a.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(2), &expected, |i| {
        format!("{} and {}", a[i], b[i])
    });
}

#[test]
fn selections() {
    let source = "
    kernel void test(global const float *a, global const float *b, global float *out) {
        size_t i = get_global_id(0);
        float x = a[i], y = b[i];
        global float *o = out + i * 8;
        o[0] = fmin(x, y); o[1] = fmax(x, y); o[2] = clamp(x, -10.0f, 10.0f);
        o[3] = select(x, y, (int)(x < y)); o[4] = bitselect(x, y, as_float(0xff800000));
        o[5] = step(x, y); o[6] = sign(x); o[7] = x > y ? floor(x) : ceil(y);
    }";
    let (a, b) = operands();
    let expected: Vec<f32> = a
        .iter()
        .zip(&b)
        .flat_map(|(&x, &y)| {
            let mask = 0xff80_0000;
            let bits = x.to_bits() & !mask | y.to_bits() & mask;
            [
                x.min(y),
                x.max(y),
                x.clamp(-10.0, 10.0),
                if x < y { y } else { x },
                f32::from_bits(bits),
                if y < x { 0.0 } else { 1.0 },
                x.signum(),
                if x > y { x.floor() } else { y.ceil() },
            ]
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&b)
        .output::<f32>(expected.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(2), &expected, |i| {
        format!("function {} of {} and {}", i % 8, a[i / 8], b[i / 8])
    });
}

#[test]
fn doubles() {
    if !session().has("cl_khr_fp64") {
        return super::harness::skip("the device has no doubles");
    }
    let source = format!("{NO_CONTRACTION}
    kernel void test(global const double *a, global const double *b, global double *out, global long *ints) {{
        size_t i = get_global_id(0);
        double x = a[i], y = b[i];
        global double *o = out + i * 6;
        o[0] = x + y; o[1] = x * y; o[2] = x / y; o[3] = (float)x; o[4] = fma(x, y, 1.0); o[5] = sqrt(fabs(x));
        ints[i] = (long)(x * 1e9);
    }}");
    let mut random = Random::new(21);
    let mut number = || random.next() as i64 as f64 / 1e13;
    let (a, b): (Vec<f64>, Vec<f64>) = (0..512).map(|_| (number(), number())).unzip();
    let expected: Vec<f64> = a
        .iter()
        .zip(&b)
        .flat_map(|(&x, &y)| {
            [
                x + y,
                x * y,
                x / y,
                f64::from(x as f32),
                x.mul_add(y, 1.0),
                x.abs().sqrt(),
            ]
        })
        .collect();
    let ints: Vec<i64> = a.iter().map(|&x| (x * 1e9) as i64).collect();
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&b)
        .output::<f64>(expected.len())
        .output::<i64>(ints.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(2), &expected, |i| {
        format!("operation {} of {} and {}", i % 6, a[i / 6], b[i / 6])
    });
    assert_equal(&found.get(3), &ints, |i| format!("{}", a[i]));
}
