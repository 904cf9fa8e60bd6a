//! `__builtin_add_overflow` and its brothers, and other built-ins of clang that programs use.

use crate::harness::{Launch, assert_equal, session};

/// Integer types of OpenCL C by name, bits and sign.
const TYPES: [(&str, u32, bool); 8] = [
    ("char", 8, true),
    ("uchar", 8, false),
    ("short", 16, true),
    ("ushort", 16, false),
    ("int", 32, true),
    ("uint", 32, false),
    ("long", 64, true),
    ("ulong", 64, false),
];

/// Numbers at and around the bounds of all types.
fn numbers() -> Vec<i64> {
    let mut numbers = vec![0, 1, -1, 2, -2, 3, -3, 7, -40, 1000, -1000, 46341, -46341];
    for bits in [7, 8, 15, 16, 31, 32, 63] {
        let power = 1_i64.wrapping_shl(bits);
        numbers.extend([power, power.wrapping_sub(1), power.wrapping_neg()]);
    }
    numbers
}

/// A number as one of a type.
fn wrapped(number: i128, (_, bits, signed): (&str, u32, bool)) -> i128 {
    let cut = number & ((1 << bits) - 1);
    if signed && cut >> (bits - 1) != 0 {
        cut - (1 << bits)
    } else {
        cut
    }
}

/// The name of an operation, and what it makes of two numbers; `None` where that is too large.
type Operation = (&'static str, fn(i128, i128) -> Option<i128>);

const OPERATIONS: [Operation; 3] = [
    ("add", i128::checked_add),
    ("sub", i128::checked_sub),
    ("mul", i128::checked_mul),
];

/// Whether a result of each pair of numbers overflows, and what is left of it, as the kernel and as the host find.
fn check(operation: Operation, types: [(&str, u32, bool); 3], function: &str) {
    let [x_type, y_type, to] = types;
    let (name, compute) = operation;
    let (x_name, y_name, to_name) = (x_type.0, y_type.0, to.0);
    let numbers = numbers();
    let source = format!(
        "kernel void test(global const long *in, global long *out, int n) {{
            int i = get_global_id(0);
            {x_name} x = ({x_name})in[i / n];
            {y_name} y = ({y_name})in[i % n];
            {to_name} r;
            int o = {function}(x, y, &r);
            out[2 * i] = o;
            out[2 * i + 1] = (long)r;
        }}"
    );
    let count = numbers.len() * numbers.len();
    let buffers = Launch::new(source)
        .buffer(&numbers)
        .output::<i64>(2 * count)
        .value(numbers.len() as i32)
        .run(&[count], &[]);
    let pairs = numbers
        .iter()
        .flat_map(|x| numbers.iter().map(move |y| (*x, *y)));
    let expected: Vec<i64> = pairs
        .flat_map(|(x, y)| {
            let (x, y) = (wrapped(x.into(), x_type), wrapped(y.into(), y_type));
            // Of two numbers of 64 bits none is too large for 128 but some unsigned products.
            let exact = compute(x, y);
            let left = exact.unwrap_or_else(|| x.wrapping_mul(y));
            let left = wrapped(left, to);
            [i64::from(exact != Some(left)), left as i64]
        })
        .collect();
    assert_equal(&buffers.get::<i64>(1), &expected, |index| {
        let pair = index / 2;
        let (x, y) = (numbers[pair / numbers.len()], numbers[pair % numbers.len()]);
        format!("{name} of {x_name} {x} and {y_name} {y} to {to_name}")
    });
}

#[test]
fn sums_that_overflow() {
    for ty in TYPES {
        for operation in OPERATIONS {
            check(
                operation,
                [ty; 3],
                &format!("__builtin_{}_overflow", operation.0),
            );
        }
    }
    for (letter, suffix, ty) in [
        ("s", "", TYPES[4]),
        ("u", "", TYPES[5]),
        ("s", "l", TYPES[6]),
        ("u", "l", TYPES[7]),
    ] {
        for operation in OPERATIONS {
            let function = format!("__builtin_{letter}{}{suffix}_overflow", operation.0);
            check(operation, [ty; 3], &function);
        }
    }
}

#[test]
fn overflow_of_mixed_types() {
    let [char, _, short, _, int, uint, long, ulong] = TYPES;
    for types in [
        [uint, int, int],
        [int, int, uint],
        [long, int, char],
        [long, ulong, long],
        [ulong, long, ulong],
        [ulong, ulong, int],
        [short, uint, long],
        [uint, uint, long],
    ] {
        for operation in OPERATIONS {
            check(
                operation,
                types,
                &format!("__builtin_{}_overflow", operation.0),
            );
        }
    }
}

/// There the functions are clang's own.
#[test]
fn products_that_overflow_in_cpp() {
    let session = session();
    if !session.has_generic_pointers() {
        return;
    }
    for (name, pairs) in [
        (
            "mul",
            [
                (0x7fff_ffff, 2),
                (-1, 1),
                (-5, 7),
                (65536, 32768),
                (-65536, 32768),
                (-65536, 32769),
            ],
        ),
        (
            "add",
            [
                (0x7fff_ffff, 1),
                (-1, 1),
                (i32::MIN, -1),
                (5, 6),
                (i32::MIN, i32::MAX),
                (1, i32::MAX),
            ],
        ),
        (
            "sub",
            [
                (0x7fff_ffff, -1),
                (-1, 1),
                (i32::MIN, 1),
                (5, 6),
                (i32::MIN, i32::MAX),
                (0, i32::MIN),
            ],
        ),
    ] {
        let source = format!(
            "kernel void test(global const int2 *in, global int *out) {{
                int i = get_global_id(0);
                int r;
                bool o = __builtin_{name}_overflow(in[i].x, in[i].y, &r);
                out[i] = o ? -77 : r;
            }}"
        );
        let numbers: Vec<[i32; 2]> = pairs.iter().map(|(x, y)| [*x, *y]).collect();
        let buffers = Launch::new(source)
            .only_options("-cl-std=CLC++2021")
            .buffer(&numbers)
            .output::<i32>(numbers.len())
            .run(&[numbers.len()], &[]);
        let exact = |x: i32, y: i32| match name {
            "mul" => x.checked_mul(y),
            "add" => x.checked_add(y),
            _ => x.checked_sub(y),
        };
        let expected: Vec<i32> = pairs
            .iter()
            .map(|(x, y)| exact(*x, *y).unwrap_or(-77))
            .collect();
        assert_eq!(buffers.get::<i32>(1), expected, "{name}");
    }
}

/// Results by hand, from clang's documentation.
#[test]
fn clangs_own_functions() {
    for (expression, expected) in [
        ("__builtin_popcount(p[1] + 0xff0)", 9),
        ("__builtin_popcountl((long)p[4] << 35)", 2),
        ("__builtin_clz(p[0]) * 100 + __builtin_ctz(p[3])", 3102),
        (
            "__builtin_clzl((long)p[0] << 35) * 100 + __builtin_ctzl((long)p[0] << 35)",
            2835,
        ),
        ("__builtin_ffs(p[3]) * 100 + __builtin_parity(p[6])", 301),
        ("__builtin_bswap32(p[0])", 1 << 24),
        ("__builtin_bswap16(p[0])", 256),
        ("(int)(__builtin_bswap64(p[0]) >> 32)", 1 << 24),
        ("__builtin_bitreverse32(p[1])", 1 << 30),
        (
            "__builtin_bitreverse8(p[0]) + __builtin_bitreverse16(p[0])",
            128 + 32768,
        ),
        ("__builtin_rotateleft32(p[0], 31)", i32::MIN),
        (
            "__builtin_rotateright8(p[0], 1) + __builtin_rotateleft16(p[1], 15)",
            129,
        ),
        ("(int)(__builtin_rotateleft64(p[2], 63) >> 60)", 8),
        (
            "__builtin_abs(-p[4]) + (int)__builtin_labs(-(long)p[4])",
            10,
        ),
        (
            "__builtin_isnan(f / z - f / z) + 2 * __builtin_isinf(f / z) + 4 * __builtin_isfinite(f)",
            7,
        ),
        ("__builtin_signbit(-f) != 0", 1),
        ("__builtin_fpclassify(1, 2, 3, 4, 5, z)", 5),
        (
            "(int)__builtin_lrintf(f * 2.5f) * 10 + (int)__builtin_lroundf(f * 2.5f)",
            23,
        ),
        (
            "(int)(__builtin_elementwise_canonicalize((float2)(f, 2 * f)).y)",
            2,
        ),
        (
            "(int)__builtin_elementwise_add_sat((char)(p[0] + 120), (char)(p[1] + 10))",
            127,
        ),
        (
            "(int)__builtin_elementwise_sub_sat((uint)p[0], (uint)p[1])",
            0,
        ),
        ("__builtin_reduce_add((int4)(p[0], p[1], p[2], p[3]))", 10),
        (
            "__builtin_elementwise_max((int2)(p[0], p[4]), (int2)(p[1], p[3])).y",
            5,
        ),
        ("__builtin_expect(p[0] == 1, 1) ? 3 : 4", 3),
        ("(__builtin_prefetch(p), 5)", 5),
    ] {
        let source = format!(
            "kernel void test(global int *p) {{ float f = p[0], z = f - 1; p[0] = {expression}; }}"
        );
        let found = Launch::new(source)
            .buffer(&[1, 2, 3, 4, 5, 6, 7, 8])
            .run(&[1], &[1])
            .get::<i32>(0);
        assert_eq!(found[0], expected, "{expression}");
    }
}
