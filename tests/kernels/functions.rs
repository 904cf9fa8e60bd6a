//! Calls: many results and parameters, several callers, pointers to every address space.

use super::harness::{Launch, assert_equal};
use super::random::Random;

fn words(count: usize) -> Vec<u32> {
    let mut random = Random::new(80);
    (0..count).map(|_| random.next() as u32).collect()
}

#[test]
fn calls() {
    let source = "
    uint gcd(uint a, uint b) { while (b) { uint t = a % b; a = b; b = t; } return a; }
    bool is_prime(uint n) { if (n < 2) return false; for (uint d = 2; d * d <= n; d++) if (n % d == 0) return false; return true; }
    uint power(uint base, uint e) { return e == 0 ? 1 : e & 1 ? base * power2(base * base, e / 2) : power2(base * base, e / 2); }
    kernel void test(global const uint *a, global uint *out) {
        size_t i = get_global_id(0);
        uint x = a[i] % 5000, y = a[i] >> 20;
        out[i] = gcd(x, y) + gcd(y, 360) * 2 + is_prime(x) * 100000 + power(y, x % 16);
    }";
    let source = source.replace(
        "    uint power(",
        "    uint power2(uint b, uint e) { uint r = 1; while (e) { if (e & 1) r *= b; b *= b; e >>= 1; } return r; }\n    uint power(",
    );
    fn gcd(a: u32, b: u32) -> u32 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    let is_prime = |n: u32| {
        n >= 2
            && (2..)
                .take_while(|d| d * d <= n)
                .all(|d| !n.is_multiple_of(d))
    };
    let a = words(256);
    let expected: Vec<u32> = a
        .iter()
        .map(|&a| {
            let (x, y) = (a % 5000, a >> 20);
            gcd(x, y)
                .wrapping_add(gcd(y, 360) * 2)
                .wrapping_add(u32::from(is_prime(x)) * 100_000)
                .wrapping_add(y.wrapping_pow(x % 16))
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(a.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(1), &expected, |i| format!("{:#x}", a[i]));
}

#[test]
fn structures_and_vectors() {
    let source = "
    struct quad { uint q[4]; ulong wide; char tag; };
    struct quad make(uint x, char tag) { struct quad r = {{x, x + 1, x * 2, x ^ 5}, (ulong)x << 33, tag}; return r; }
    uint8 spread(uint2 v, struct quad q) { return (uint8)(v, q.q[0], q.q[1], q.q[2], q.q[3], (uint)(q.wide >> 32), (uint)q.tag); }
    kernel void test(global const uint2 *a, global uint8 *out) {
        size_t i = get_global_id(0);
        out[i] = spread(a[i].yx, make(a[i].x, (char)i)) + spread(a[i], make(a[i].y, 1));
    }";
    let a = words(64);
    let expected: Vec<u32> = a
        .chunks(2)
        .enumerate()
        .flat_map(|(i, v)| {
            let spread = |first: u32, second: u32, x: u32, tag: u32| {
                let wide = ((u64::from(x) << 33) >> 32) as u32;
                [
                    first,
                    second,
                    x,
                    x.wrapping_add(1),
                    x.wrapping_mul(2),
                    x ^ 5,
                    wide,
                    tag,
                ]
            };
            let (one, two) = (
                spread(v[1], v[0], v[0], i as u32),
                spread(v[0], v[1], v[1], 1),
            );
            std::array::from_fn::<u32, 8, _>(|k| one[k].wrapping_add(two[k]))
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(expected.len())
        .run(&[a.len() / 2], &[]);
    assert_equal(&found.get(1), &expected, |_| "structures".into());
}

#[test]
fn pointers() {
    let source = "
    void swap_words(uint *a, uint *b) { uint t = *a; *a = *b; *b = t; }
    void fill(local uint *l, uint n, uint x) { for (uint i = 0; i < n; i++) l[i] = x + i; }
    constant uint *row(constant uint *t, uint r) { return t + r * 3; }
    constant uint table[6] = {1, 20, 300, 4000, 50000, 600000};
    global uint *pick(global uint *a, global uint *b, bool first) { return first ? a : b; }
    kernel void test(global uint *a, global uint *b, global uint *out, local uint *l) {
        size_t i = get_global_id(0), k = get_local_id(0);
        uint x = a[i], y = b[i];
        if (x > y) swap_words(&x, &y);
        uint pair[2] = {x, y};
        swap_words(pair, pair + 1);
        fill(l + k * 2, 2, (uint)k);
        barrier(CLK_LOCAL_MEM_FENCE);
        out[i] = pair[0] - pair[1] + row(table, i % 2)[i % 3] + *pick(a + i, b + i, i & 1) + l[(k * 2 + 2) % 16];
    }";
    let (a, b) = (words(64), words(128)[64..].to_vec());
    let table = [1u32, 20, 300, 4000, 50_000, 600_000];
    let expected: Vec<u32> = (0..64usize)
        .map(|i| {
            let next = (i % 8 * 2 + 2) % 16;
            let l = (next / 2 + next % 2) as u32;
            a[i].abs_diff(b[i])
                .wrapping_add(table[i % 2 * 3 + i % 3])
                .wrapping_add(if i & 1 == 1 { a[i] } else { b[i] })
                .wrapping_add(l)
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&b)
        .output::<u32>(64)
        .local(64)
        .run(&[64], &[8]);
    assert_equal(&found.get(2), &expected, |i| format!("work-item {i}"));
}

#[test]
fn kernel_called_by_kernel() {
    let source = "
    kernel void inner(global uint *out, uint x) { out[get_global_id(0)] = x + get_global_id(0); }
    kernel void test(global uint *out, uint x) { inner(out, x * 2); if (get_global_id(0) == 1) inner(out, 100); }";
    let found = Launch::new(source)
        .output::<u32>(4)
        .value(7u32)
        .run(&[4], &[]);
    assert_equal(&found.get(0), &[14u32, 101, 16, 17], |_| {
        "a kernel called".into()
    });
}

#[test]
fn not_inlined() {
    let source = "
    __attribute__((noinline)) ulong mix(ulong a, ulong b, uint rounds) {
        for (uint r = 0; r < rounds; r++) { a = a * 6364136223846793005UL + b; b ^= a >> 29; if (a & 1) b += r; }
        return a ^ b;
    }
    __attribute__((noinline)) short narrow(short a, uchar b) { return (short)(a * b) >> 2; }
    kernel void test(global const ulong *a, global ulong *out) {
        size_t i = get_global_id(0);
        ulong x = mix(a[i], i, 5), y = mix(i, a[i], (uint)(a[i] % 7));
        out[i] = x + y * 3 + (ulong)(long)narrow((short)x, (uchar)y) + (ulong)(long)narrow((short)(x >> 16), 3);
    }";
    let mix = |mut a: u64, mut b: u64, rounds: u64| {
        for r in 0..rounds {
            a = a.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(b);
            b ^= a >> 29;
            if a & 1 == 1 {
                b = b.wrapping_add(r);
            }
        }
        a ^ b
    };
    let narrow = |a: i16, b: u8| i64::from((i32::from(a) * i32::from(b)) as i16 >> 2) as u64;
    let mut random = Random::new(81);
    let a: Vec<u64> = (0..128).map(|_| random.next()).collect();
    let expected: Vec<u64> = a
        .iter()
        .zip(0..)
        .map(|(&a, i)| {
            let (x, y) = (mix(a, i, 5), mix(i, a, a % 7));
            x.wrapping_add(y.wrapping_mul(3))
                .wrapping_add(narrow(x as i16, y as u8))
                .wrapping_add(narrow((x >> 16) as i16, 3))
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u64>(a.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(1), &expected, |_| "real calls".into());
}

/// llvmpipe (Mesa 22.3) takes a number that was extended with its sign for positive, also where it inlines the call.
#[test]
fn extended_arguments() {
    let source = "
    __attribute__((noinline)) int below(long x, uint y) { return x < 20711 ? y + 2 : y; }
    kernel void test(global const int *in, global int *out) {
        size_t i = get_global_id(0);
        out[i * 2] = below(in[i], 5);
        out[i * 2 + 1] = below((ulong)below(1, in[i]), 7);
    }";
    let numbers = [3, -3, 20710, 20711, i32::MIN, i32::MAX, 20708, 0];
    let below = |x: i32, y: i32| if x < 20711 { y.wrapping_add(2) } else { y };
    let expected: Vec<i32> = numbers
        .iter()
        .flat_map(|&x| [below(x, 5), below(below(1, x), 7)])
        .collect();
    let found = Launch::new(source)
        .buffer(&numbers)
        .output::<i32>(expected.len())
        .run(&[numbers.len()], &[]);
    assert_equal(&found.get(1), &expected, |at| {
        format!("call {} with {}", at % 2, numbers[at / 2])
    });
}
