//! Arithmetic of denormal numbers where the device says that it keeps them (`CL_FP_DENORM`).

use super::harness::{Launch, Session, assert_equal, session, skip};
use super::random::Random;
use opencl3::device::CL_FP_DENORM;

/// A type of floats.
struct Float {
    name: &'static str,
    /// The integers of its size.
    integer: &'static str,
    /// Bits of the fraction.
    fraction: u32,
    extension: Option<&'static str>,
}

#[test]
fn halves() {
    check(
        &Float {
            name: "half",
            integer: "ushort",
            fraction: 10,
            extension: Some("cl_khr_fp16"),
        },
        |session| session.device().half_fp_config(),
    );
}

#[test]
fn singles() {
    check(
        &Float {
            name: "float",
            integer: "uint",
            fraction: 23,
            extension: None,
        },
        |session| session.device().single_fp_config(),
    );
}

#[test]
fn doubles() {
    check(
        &Float {
            name: "double",
            integer: "ulong",
            fraction: 52,
            extension: Some("cl_khr_fp64"),
        },
        |session| session.device().double_fp_config(),
    );
}

/// Denormal numbers are multiples of the smallest one by their bits, and so are the normal ones next to them: sums and
/// differences are those of the bits.
fn check(float: &Float, config: impl Fn(&Session) -> opencl3::Result<u64>) {
    let keeps = float.extension.is_none_or(|name| session().has(name))
        && config(session()).is_ok_and(|config| config & CL_FP_DENORM != 0);
    if !keeps {
        return skip("the device does not say that it keeps denormals");
    }
    let Float { name, integer, .. } = float;
    let source = format!(
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable
        kernel void test(global const ulong *a, global const ulong *b, global ulong *out) {{
            size_t i = get_global_id(0);
            {name} x = as_{name}(({integer})a[i]), y = as_{name}(({integer})b[i]);
            global ulong *o = out + i * 6;
            o[0] = as_{integer}(x + y); o[1] = as_{integer}(x - y); o[2] = as_{integer}(x * ({name})2);
            o[3] = x > 0; o[4] = x == y; o[5] = x != 0;
        }}"
    );
    let mut random = Random::new(22);
    let mut below = |limit: u64| random.next() % limit;
    let (a, b): (Vec<u64>, Vec<u64>) = (0..256)
        .map(|_| {
            let a = below((1 << float.fraction) - 1) + 1;
            (a, below(a))
        })
        .unzip();
    let expected: Vec<u64> = a
        .iter()
        .zip(&b)
        .flat_map(|(&a, &b)| [a + b, a - b, a * 2, 1, 0, 1])
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&b)
        .output::<u64>(expected.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(2), &expected, |i| {
        format!("operation {} of {:x} and {:x}", i % 6, a[i / 6], b[i / 6])
    });
}
