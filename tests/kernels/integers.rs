//! Integer arithmetic of every width, and the integer functions.

use super::harness::{Launch, assert_equal, check_each};
use super::random::Random;

const OPERATORS: &str = "
kernel void test(global const T *a, global const T *b, global T *out, global int *truth) {
    size_t i = get_global_id(0);
    T x = a[i], y = b[i];
    global T *o = out + i * 14;
    uint s = (uint)(y & (T)(sizeof(T) * 8 - 1));
    o[0] = x + y;   o[1] = x - y;  o[2] = x * y;
    o[3] = x / (y ? y : (T)1);     o[4] = x % (y ? y : (T)1);
    o[5] = x & y;   o[6] = x | y;  o[7] = x ^ y;
    o[8] = ~x;      o[9] = -x;
    o[10] = x << s; o[11] = x >> s;
    o[12] = x > y ? x : y;
    o[13] = x++ + --y;
    x = a[i], y = b[i];
    truth[i] = (x == y) | (x != y) << 1 | (x < y) << 2 | (x <= y) << 3 | (x > y) << 4 | (x >= y) << 5
        | !x << 6 | (x && y) << 7 | (x || y) << 8;
}";

const FUNCTIONS: &str = "
kernel void test(global const T *a, global const T *b, global T *out) {
    size_t i = get_global_id(0);
    T x = a[i], y = b[i];
    global T *o = out + i * 14;
    o[0] = min(x, y);       o[1] = max(x, y);
    o[2] = (T)abs(x);       o[3] = (T)abs_diff(x, y);
    o[4] = add_sat(x, y);   o[5] = sub_sat(x, y);
    o[6] = hadd(x, y);      o[7] = rhadd(x, y);
    o[8] = mul_hi(x, y);    o[9] = mad_hi(x, y, (T)3);
    o[10] = clz(x);         o[11] = popcount(x);
    o[12] = rotate(x, y);   o[13] = clamp(x, (T)5, (T)100);
}";

macro_rules! integer_tests {
    ($($ty:ident, $unsigned:ident, $wide:ident, $name:literal, $operators:ident, $functions:ident;)*) => {$(
        #[test]
        fn $operators() {
            let (a, b) = operands!($ty);
            let mut expected = Vec::new();
            let mut truth = Vec::new();
            for (&x, &y) in a.iter().zip(&b) {
                let d = if y == 0 { 1 } else { y };
                let s = (y & ($ty::BITS as $ty - 1)) as u32;
                expected.extend([
                    x.wrapping_add(y), x.wrapping_sub(y), x.wrapping_mul(y),
                    x.wrapping_div(d), x.wrapping_rem(d),
                    x & y, x | y, x ^ y, !x, (0 as $ty).wrapping_sub(x),
                    x << s, x >> s, x.max(y),
                    x.wrapping_add(y.wrapping_sub(1)),
                ]);
                let bits = [x == y, x != y, x < y, x <= y, x > y, x >= y, x == 0,
                    x != 0 && y != 0, x != 0 || y != 0];
                truth.push(bits.iter().rev().fold(0i32, |all, &bit| all << 1 | i32::from(bit)));
            }
            let found = Launch::new(OPERATORS)
                .option(concat!("-DT=", $name))
                .buffer(&a)
                .buffer(&b)
                .output::<$ty>(expected.len())
                .output::<i32>(truth.len())
                .run(&[a.len()], &[]);
            let what = |i: usize| format!("operation {} of {} and {}", i % 14, a[i / 14], b[i / 14]);
            assert_equal(&found.get::<$ty>(2), &expected, what);
            assert_equal(&found.get(3), &truth, |i| format!("comparisons of {} and {}", a[i], b[i]));
        }

        #[test]
        fn $functions() {
            let (a, b) = operands!($ty);
            let mut expected = Vec::new();
            for (&x, &y) in a.iter().zip(&b) {
                let (wide_x, wide_y) = ($wide::from(x), $wide::from(y));
                let high = (wide_x.wrapping_mul(wide_y) >> $ty::BITS) as $ty;
                expected.extend([
                    x.min(y), x.max(y),
                    if i128::from(x).is_negative() { (0 as $ty).wrapping_sub(x) } else { x },
                    x.abs_diff(y) as $ty,
                    x.saturating_add(y), x.saturating_sub(y),
                    ((wide_x + wide_y) >> 1) as $ty, ((wide_x + wide_y + 1) >> 1) as $ty,
                    high, high.wrapping_add(3),
                    x.leading_zeros() as $ty, x.count_ones() as $ty,
                    x.rotate_left((y as $unsigned % $ty::BITS as $unsigned) as u32),
                    x.clamp(5, 100),
                ]);
            }
            let found = Launch::new(FUNCTIONS)
                .option(concat!("-DT=", $name))
                .buffer(&a)
                .buffer(&b)
                .output::<$ty>(expected.len())
                .run(&[a.len()], &[]);
            let what = |i: usize| format!("function {} of {} and {}", i % 14, a[i / 14], b[i / 14]);
            assert_equal(&found.get::<$ty>(2), &expected, what);
        }
    )*};
}

/// Edges against edges, then random numbers; the one overflowing quotient is left out.
macro_rules! operands {
    ($ty:ident) => {{
        let mut random = Random::new(1);
        let edges: [$ty; 8] = [0, 1, 2, 3, 100, $ty::MAX, $ty::MAX - 1, $ty::MIN];
        let edges = edges.iter().flat_map(|&x| edges.map(|y| (x, y)));
        let pairs: Vec<($ty, $ty)> = edges
            .chain((0..960).map(|_| (random.number() as $ty, random.number() as $ty)))
            .map(|(x, y)| {
                if x == $ty::MIN && y == (0 as $ty).wrapping_sub(1) {
                    (x, 1)
                } else {
                    (x, y)
                }
            })
            .collect();
        pairs.into_iter().unzip::<$ty, $ty, Vec<$ty>, Vec<$ty>>()
    }};
}

integer_tests! {
    i8, u8, i16, "char", char, functions_char;
    u8, u8, u16, "uchar", uchar, functions_uchar;
    i16, u16, i32, "short", short, functions_short;
    u16, u16, u32, "ushort", ushort, functions_ushort;
    i32, u32, i64, "int", int, functions_int;
    u32, u32, u64, "uint", uint, functions_uint;
    i64, u64, i128, "long", long, functions_long;
    u64, u64, u128, "ulong", ulong, functions_ulong;
}

#[test]
fn long_with_constants() {
    let source = "
    kernel void test(global const long *a, global long *out) {
        size_t i = get_global_id(0);
        long x = a[i]; ulong u = (ulong)x;
        global long *o = out + i * 10;
        o[0] = x / 10;            o[1] = x % 10;
        o[2] = u / 1000000007UL;  o[3] = u % 1000000007UL;
        o[4] = x / 4096;          o[5] = x % 4096;
        o[6] = x * 0x100000001L;  o[7] = x >> 33;
        o[8] = (x << 40) | (u >> 24);
        o[9] = x / -7 + u / 0x123456789abUL;
    }";
    let mut random = Random::new(2);
    let a: Vec<i64> = (0..512).map(|_| random.number() as i64).collect();
    let expected: Vec<i64> = a
        .iter()
        .flat_map(|&x| {
            let u = x as u64;
            [
                x / 10,
                x % 10,
                (u / 1_000_000_007) as i64,
                (u % 1_000_000_007) as i64,
                x / 4096,
                x % 4096,
                x.wrapping_mul(0x1_0000_0001),
                x >> 33,
                x << 40 | (u >> 24) as i64,
                (x / -7).wrapping_add((u / 0x123_4567_89ab) as i64),
            ]
        })
        .collect();
    check_each(source, &a, &expected, |i, x| {
        format!("operation {i} of {x}")
    });
}

#[test]
fn promotion() {
    let source = "
    kernel void test(global const uint *in, global int *out) {
        size_t i = get_global_id(0);
        uint v = in[i];
        uint fa = v & 7, fb = ((v >> 3 & 127) + 5) & 127, fd = v >> 15;
        int fc = (int)(v << 17) >> 27;
        uchar c = (uchar)in[i];
        char s = (char)c;
        ushort h = (ushort)(in[i] >> 8);
        out[4 * i] = (int)fa + (int)fb * 3 + fc + (int)fd;
        out[4 * i + 1] = c * h - s;
        out[4 * i + 2] = (c << 4) + (s >> 2) + (uchar)(c + 200);
        out[4 * i + 3] = (short)(h + 30000) / 3;
    }";
    let mut random = Random::new(3);
    let a: Vec<u32> = (0..256).map(|_| random.next() as u32).collect();
    let expected: Vec<i32> = a
        .iter()
        .flat_map(|&x| {
            let (fa, fb) = ((x & 7) as i32, ((((x >> 3) & 127) + 5) & 127) as i32);
            let fc = ((x >> 10 & 31) << 27) as i32 >> 27;
            let fd = (x >> 15) as i32;
            let (c, s, h) = (x as u8, x as i8, (x >> 8) as u16);
            [
                fa + fb * 3 + fc + fd,
                i32::from(c) * i32::from(h) - i32::from(s),
                (i32::from(c) << 4) + i32::from(s >> 2) + i32::from(c.wrapping_add(200)),
                i32::from((i32::from(h) + 30000) as i16) / 3,
            ]
        })
        .collect();
    check_each(source, &a, &expected, |i, x| {
        format!("expression {i} of {x:#x}")
    });
}

/// A narrow number made wide and held within constant bounds.
/// The bits of two numbers side by side, shifted by any number of them, none included. LLVM makes such shifts from
/// conditions.
#[test]
fn double_shifts() {
    let source = "
    kernel void test(global const uint *in, global uint *out) {
        size_t i = get_global_id(0);
        uint x = in[2 * i], y = in[2 * i + 1], s = i & 31, t = i & 15;
        uint left = x, right = y;
        if (s != 0) {
            left = x << s | y >> (32 - s);
            right = y >> s | x << (32 - s);
        }
        ushort a = x, b = y, narrow = a;
        if (t != 0)
            narrow = (ushort)(a << t) | b >> (16 - t);
        out[3 * i] = left;
        out[3 * i + 1] = right;
        out[3 * i + 2] = narrow;
    }";
    let mut random = Random::new(8);
    let numbers: Vec<u32> = (0..128).map(|_| random.next() as u32).collect();
    let expected: Vec<u32> = numbers
        .as_chunks::<2>()
        .0
        .iter()
        .enumerate()
        .flat_map(|(i, &[x, y])| {
            let both = u64::from(x) << 32 | u64::from(y);
            let halves = x << 16 | y & 0xffff;
            [
                (both << (i % 32) >> 32) as u32,
                (both >> (i % 32)) as u32,
                halves << (i % 16) >> 16,
            ]
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&numbers)
        .output::<u32>(expected.len())
        .run(&[numbers.len() / 2], &[]);
    assert_equal(&found.get(1), &expected, |i| {
        format!("operation {} by {}", i % 3, i / 3 % 32)
    });
}

/// `select` takes an element by the sign bit of its mask.
#[test]
fn signs_of_extended_numbers() {
    let source = "
        kernel void test(global const int2 *in, global long *out) {
            size_t i = get_global_id(0);
            long2 chosen = select((long2)(1, 3), (long2)(2, 4), convert_long2(in[i]));
            out[i * 2] = chosen.x;
            out[i * 2 + 1] = chosen.y;
        }";
    let mut random = Random::new(6);
    let numbers: Vec<i32> = (0..64).map(|_| random.number() as i32).collect();
    let expected: Vec<i64> = numbers
        .iter()
        .zip([1, 3].into_iter().cycle())
        .map(|(&x, first)| first + i64::from(x < 0))
        .collect();
    let found = Launch::new(source)
        .buffer(&numbers)
        .output::<i64>(64)
        .run(&[32], &[]);
    assert_equal(&found.get(1), &expected, |i| {
        format!("the sign of {}", numbers[i])
    });
}

#[test]
fn numbers_extended_differently() {
    let source = "
        kernel __attribute__((reqd_work_group_size(1, 1, 1)))
        void test(global const int *in, global const uint *others, global int *out) {
            size_t i = get_global_id(0);
            int x = in[i];
            uint y = others[i];
            out[i] = ((ulong)y >= (ulong)(int)y) + 2 * ((long)y <= (long)x) + 4 * ((long)y < (long)x)
                + 8 * ((long)x < (long)y) + 16 * ((long)x == (long)y)
                + 32 * ((long)get_local_id(0) <= (long)x) + 64 * ((ulong)y > (ulong)(int)y) + 128 * ((long)y > (long)(int)y);
        }";
    let mut random = Random::new(8);
    let numbers: Vec<i32> = (0..64)
        .map(|_| random.number() as i32 >> (random.number() % 32))
        .collect();
    let others: Vec<u32> = numbers
        .iter()
        .map(|&x| match random.number() % 3 {
            0 => x as u32,
            1 => (x as u32).wrapping_add(1),
            _ => random.number() as u32,
        })
        .collect();
    let expected: Vec<i32> = numbers
        .iter()
        .zip(&others)
        .map(|(&x, &y)| {
            let (x, y, same) = (i64::from(x), i64::from(y), i64::from(y as i32));
            let (wide, extended) = (y as u64, same as u64);
            let above = [wide >= extended, wide > extended, y > same];
            [
                above[0],
                y <= x,
                y < x,
                x < y,
                x == y,
                0 <= x,
                above[1],
                above[2],
            ]
            .iter()
            .zip(0..)
            .map(|(&holds, bit)| i32::from(holds) << bit)
            .sum()
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&numbers)
        .buffer(&others)
        .output::<i32>(64)
        .run(&[64], &[1]);
    assert_equal(&found.get(2), &expected, |i| {
        format!("{} and {}", numbers[i], others[i])
    });
}

#[test]
fn bounds_of_extended_numbers() {
    let source = "
        kernel void test(global const int *in, global long *out) {
            size_t i = get_global_id(0);
            long x = in[i];
            out[i * 6] = min(x, 32767l);
            out[i * 6 + 1] = max(x, 32767l);
            out[i * 6 + 2] = max(x, -5l);
            out[i * 6 + 3] = min(x, -32768l);
            out[i * 6 + 4] = convert_short_sat(x);
            out[i * 6 + 5] = min(x, 0x80000000l);
        }";
    let mut random = Random::new(5);
    let mut numbers: Vec<i32> = (0..62).map(|_| random.number() as i32).collect();
    numbers.extend([i32::MIN, i32::MAX]);
    let bounds = |&x: &i32| {
        let x = i64::from(x);
        let saturated = x.clamp(-32768, 32767);
        [
            x.min(32767),
            x.max(32767),
            x.max(-5),
            x.min(-32768),
            saturated,
            x,
        ]
    };
    let expected: Vec<i64> = numbers.iter().flat_map(bounds).collect();
    let launch = Launch::new(source)
        .buffer(&numbers)
        .output::<i64>(expected.len());
    let found = launch.run(&[numbers.len()], &[]);
    let what = |at: usize| format!("bound {} of {}", at % 6, numbers[at / 6]);
    assert_equal(&found.get::<i64>(1), &expected, what);
}

/// What is computed of an argument whose highest bit is set, and that is a factor of a 64-bit product, too.
#[test]
fn factors_of_long_products() {
    const ITEMS: usize = 64;
    const NUMBER: u32 = 0x9876_5432;
    type Expected = fn(u32, u32) -> u32;
    let uses: [(&str, Expected); 16] = [
        ("clz(n)", |n, _| n.leading_zeros()),
        ("n / 3u", |n, _| n / 3),
        ("n % 7u", |n, _| n % 7),
        ("n >> 3", |n, _| n >> 3),
        ("n / (i | 1u)", |n, i| n / (i | 1)),
        ("(uint)(n < i)", |n, i| u32::from(n < i)),
        ("max(n, i)", |n, i| n.max(i)),
        ("mul_hi(n, 5u)", |n, _| ((u64::from(n) * 5) >> 32) as u32),
        ("hadd(n, 3u)", |n, _| ((u64::from(n) + 3) >> 1) as u32),
        ("add_sat(n, n)", |n, _| n.saturating_add(n)),
        ("sub_sat(n, i)", |n, i| n.saturating_sub(i)),
        ("abs_diff(n, i)", |n, i| n.abs_diff(i)),
        ("(uint)((ulong)n >> 31)", |n, _| n >> 31),
        ("(uint)((ulong)n / 5)", |n, _| n / 5),
        ("(uint)((long)n >> 5)", |n, _| n >> 5),
        ("(uint)((float)n * 0x1p-10f)", |n, _| n >> 10),
    ];
    let products: [(&str, u64); 2] = [
        (
            "-((ulong)n + (ulong)n)",
            (u64::from(NUMBER) * 2).wrapping_neg(),
        ),
        ("(ulong)n * 3", u64::from(NUMBER) * 3),
    ];
    for (name, product) in products {
        for (text, expected) in uses {
            let source = format!(
                "kernel __attribute__((reqd_work_group_size(8, 1, 1)))
                void test(global uint *all, local short *items, uint n) {{
                    const uint i = (uint)get_global_id(0);
                    local short *shorts = items + get_local_id(0) * 16;
                    for (uint j = 0; j < 16; ++j) shorts[j] = (short)(j * 259u + i);
                    ulong product = {name};
                    uint factor = product > 0x100000000000000ul ? 1u : i;
                    all[i * 16 + (product & 15)] &= factor * ({text});
                }}"
            );
            let found = Launch::new(source)
                .buffer(&vec![u32::MAX; ITEMS * 16])
                .local(8 * 32)
                .value(NUMBER)
                .run(&[ITEMS], &[8])
                .get::<u32>(0);
            let place = (product & 15) as usize;
            let found: Vec<u32> = (0..ITEMS).map(|i| found[i * 16 + place]).collect();
            let expected: Vec<u32> = (0..ITEMS as u32)
                .map(|i| {
                    let factor = if product > 1 << 56 { 1 } else { i };
                    factor.wrapping_mul(expected(NUMBER, i))
                })
                .collect();
            assert_equal(&found, &expected, |i| {
                format!("{text} beside {name}, work-item {i}")
            });
        }
    }
}

/// The smallest and the largest of three numbers, of which some are negated, in numbers that no negation overflows.
#[test]
fn bounds_of_negated_numbers() {
    const ITEMS: usize = 64;
    type Term = (&'static str, fn(i32, i32) -> i32);
    let terms: [Term; 8] = [
        ("X", |x, _| x),
        ("-X", |x, _| -x),
        ("(X - Y)", |x, y| x - y),
        ("(int)((uint)X * (uint)Y)", |x, y| x.wrapping_mul(y)),
        ("(int)-((uint)X * (uint)Y)", |x, y| {
            x.wrapping_mul(y).wrapping_neg()
        }),
        ("-(int)((uint)X / 257)", |x, _| -((x as u32 / 257) as i32)),
        ("(X & 1 ? -X : Y)", |x, y| if x & 1 != 0 { -x } else { y }),
        ("-(int)abs(X)", |x, _| -x.abs()),
    ];
    type Bound = fn(i32, i32) -> i32;
    type Expected = Box<dyn Fn(&[i32]) -> i32>;
    let bounds: [(&str, &str, Bound, Bound); 2] = [
        ("max", "min", i32::max, i32::min),
        ("min", "max", i32::min, i32::max),
    ];
    let mut random = Random::new(36);
    let numbers: Vec<i32> = (0..ITEMS * 5).map(|_| random.next() as i32).collect();
    // A kernel for each form: the driver takes three numbers at once where the bound of two is used once.
    let forms = [
        "A(A(X, Y), b)",
        "A(b, A(X, Y))",
        "A(A(X, b), Y)",
        "B(A(X, Y), b)",
    ];
    for (form, (one, of_one)) in forms.iter().flat_map(|&form| terms.map(|it| (form, it))) {
        let mut statements = String::new();
        let mut expected: Vec<Expected> = Vec::new();
        for (bound, other, of_bound, of_other) in bounds {
            for (two, of_two) in terms {
                let terms = form
                    .replace('X', &one.replace('X', "p").replace('Y', "q"))
                    .replace('Y', &two.replace('X', "r").replace('Y', "s"));
                statements += &format!(
                    "out[j++] = {};\n",
                    terms.replace('A', bound).replace('B', other)
                );
                expected.push(Box::new(move |n| {
                    let of_two = of_bound(of_one(n[0], n[1]), of_two(n[2], n[3]));
                    let of_last = if form.starts_with('B') {
                        of_other
                    } else {
                        of_bound
                    };
                    of_last(of_two, n[4])
                }));
            }
        }
        let count = expected.len();
        let source = format!(
            "kernel void test(global const int *in, global int *out) {{
                size_t i = get_global_id(0), j = i * {count};
                in += i * 5;
                int p = in[0] >> 4, q = in[1] >> 4, r = in[2] >> 4, s = in[3] >> 4, b = in[4] >> 4;
                {statements}
            }}"
        );
        let launch = Launch::new(source).buffer(&numbers);
        let found = launch.output::<i32>(ITEMS * count).run(&[ITEMS], &[]);
        let small: Vec<i32> = numbers.iter().map(|n| n >> 4).collect();
        let of_item = |n: &[i32]| expected.iter().map(|of| of(n)).collect::<Vec<_>>();
        let wanted: Vec<i32> = small.chunks(5).flat_map(of_item).collect();
        let what = |at: usize| {
            let statement = statements.lines().nth(at % count).unwrap_or_default();
            format!("{statement} of work-item {}", at / count)
        };
        assert_equal(&found.get::<i32>(1), &wanted, what);
    }
}
