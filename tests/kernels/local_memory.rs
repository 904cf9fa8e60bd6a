//! Local variables, local arguments and work-group barriers.

use super::harness::{Launch, assert_equal, session};
use super::random::Random;

/// A structure that the optimizer of the front end makes variables of, which are made generic.
#[test]
fn structures_of_pointers() {
    if !session().has_generic_pointers() {
        return super::harness::skip("the device has no generic address space");
    }
    let source = "
    typedef struct { global uint *g; local uint *l; private uint *p; } Pointers;
    kernel void test(global uint *a, global uint *out) {
        local uint l;
        uint p = a[1];
        local Pointers all;
        all.g = a; all.l = &l; all.p = &p;
        l = a[get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        uint *g = all.g, *k = all.l, *q = all.p;
        out[get_global_id(0)] = (to_global(all.g) != 0) + (to_local(all.l) != 0) * 2 + (to_private(all.p) != 0) * 4
            + *g * 8 + *k * 64 + *q * 512;
    }";
    let a = [3_u32, 5, 7];
    let found = Launch::new(source)
        .option("-cl-std=CL3.0")
        .buffer(&a)
        .output::<u32>(a.len())
        .run(&[a.len()], &[1]);
    let expected = a.map(|l| 7 + 3 * 8 + l * 64 + 5 * 512);
    assert_equal(&found.get(1), &expected, |i| format!("{i}"));
}

fn words(seed: u64, count: usize) -> Vec<u32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.next() as u32).collect()
}

#[test]
fn reduction() {
    let source = "
    kernel void test(global const uint *a, global uint *out) {
        local uint part[64];
        uint k = get_local_id(0), n = get_local_size(0);
        part[k] = a[get_global_id(0)];
        for (uint step = n / 2; step > 0; step /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (k < step) part[k] += part[k + step];
        }
        if (k == 0) out[get_group_id(0)] = part[0];
    }";
    let a = words(70, 64 * 8);
    for size in [64usize, 32, 8, 2, 1] {
        let expected: Vec<u32> = a
            .chunks(size)
            .map(|c| c.iter().fold(0, |s: u32, &x| s.wrapping_add(x)))
            .collect();
        let found = Launch::new(source)
            .buffer(&a)
            .output::<u32>(a.len() / size)
            .run(&[a.len()], &[size]);
        assert_equal(&found.get(1), &expected, |_| {
            format!("work-groups of {size}")
        });
    }
}

#[test]
fn local_arguments() {
    // Three of different element types and sizes, beside a variable.
    let source = "
    kernel void test(local uint *a, global uint *out, local uchar *b, local float4 *c, uint n) {
        local ushort d[16];
        uint k = get_local_id(0);
        a[k] = k * 5; b[k] = (uchar)(k * 7); c[k] = (float4)(k); d[k] = (ushort)(k * 11);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint o = (k + 3) % n;
        out[get_global_id(0)] = a[o] + b[o] * 256 + (uint)c[o].w * 65536 + d[o];
    }";
    for size in [16usize, 4] {
        let found = Launch::new(source)
            .local(4 * size)
            .output::<u32>(32)
            .local(size)
            .local(16 * size)
            .value(size as u32)
            .run(&[32], &[size]);
        let expected: Vec<u32> = (0..32u32)
            .map(|i| {
                let o = (i % size as u32 + 3) % size as u32;
                o * 5 + ((o * 7) & 0xff) * 256 + o * 65536 + o * 11
            })
            .collect();
        assert_equal(&found.get(0), &expected, |_| {
            format!("work-groups of {size}")
        });
    }
}

#[test]
fn local_structures_and_bytes() {
    let source = "
    struct item { char c; long wide; short s[3]; };
    kernel void test(global const uint *a, global ulong *out) {
        local struct item items[8];
        local uchar bytes[64];
        uint k = get_local_id(0);
        uint x = a[get_global_id(0)];
        items[k].c = (char)x; items[k].wide = (long)x << 20; items[k].s[k % 3] = (short)(x >> 8);
        for (uint r = 0; r < 8; r++) bytes[r * 8 + k] = (uchar)(x >> r);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint o = 7 - k;
        ulong sum = (ulong)(items[o].c + items[o].wide + items[o].s[o % 3]);
        for (uint r = 0; r < 8; r++) sum = sum * 3 + bytes[k * 8 + r];
        out[get_global_id(0)] = sum;
    }";
    let a = words(71, 32);
    let expected: Vec<u64> = (0..32)
        .map(|i| {
            let group = &a[i / 8 * 8..][..8];
            let (k, x) = (i % 8, group[7 - i % 8]);
            let first = i64::from(x as i8) + (i64::from(x) << 20) + i64::from((x >> 8) as i16);
            (0..8).fold(first as u64, |sum, r| {
                sum.wrapping_mul(3)
                    .wrapping_add(u64::from((group[r] >> k) as u8))
            })
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u64>(32)
        .run(&[32], &[8]);
    assert_equal(&found.get(1), &expected, |_| "structures and bytes".into());
}

#[test]
fn transpose() {
    let source = "
    kernel void test(global const float *a, global float *out, uint w, uint h) {
        local float tile[8][9];
        size_t x = get_global_id(0), y = get_global_id(1);
        tile[get_local_id(1)][get_local_id(0)] = a[y * w + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        size_t tx = get_group_id(1) * 8 + get_local_id(0), ty = get_group_id(0) * 8 + get_local_id(1);
        out[ty * h + tx] = tile[get_local_id(0)][get_local_id(1)];
    }";
    let (w, h) = (32, 16);
    let a: Vec<f32> = (0..w * h).map(|i| i as f32).collect();
    let expected: Vec<f32> = (0..w * h).map(|i| a[i % h * w + i / h]).collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<f32>(w * h)
        .value(w as u32)
        .value(h as u32)
        .run(&[w, h], &[8, 8]);
    assert_equal(&found.get(1), &expected, |_| "transposed".into());
}

#[test]
fn scan_in_a_loop() {
    let source = "
    kernel void test(global const uint *a, global uint *out) {
        local uint buffers[2][32];
        uint k = get_local_id(0), from = 0;
        buffers[0][k] = a[get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint step = 1; step < get_local_size(0); step *= 2) {
            uint x = buffers[from][k];
            if (k >= step) x += buffers[from][k - step];
            buffers[1 - from][k] = x;
            from = 1 - from;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        out[get_global_id(0)] = buffers[from][k];
    }";
    let a = words(72, 128);
    let mut expected = Vec::new();
    for group in a.chunks(32) {
        let mut sum = 0u32;
        expected.extend(group.iter().map(|&x| {
            sum = sum.wrapping_add(x);
            sum
        }));
    }
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(128)
        .run(&[128], &[32]);
    assert_equal(&found.get(1), &expected, |_| "prefix sums".into());
}

#[test]
fn barrier_in_uniform_flow() {
    // Barriers under conditions that are the same for the whole group, in a callee and in a loop with break.
    let source = "
    void exchange(local uint *l, uint k) {
        uint x = l[(k + 1) % get_local_size(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        l[k] = x + k;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    kernel void test(global uint *out, local uint *l, uint rounds) {
        uint k = get_local_id(0);
        l[k] = k * k;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint r = 0;; r++) {
            if (r == rounds) break;
            if (r & 1) exchange(l, k);
            else if (get_group_id(0) != 0) { exchange(l, k); exchange(l, k); }
        }
        out[get_global_id(0)] = l[k];
    }";
    let (n, rounds) = (16u32, 5);
    let mut expected = Vec::new();
    for group in 0..3 {
        let mut l: Vec<u32> = (0..n).map(|k| k * k).collect();
        for round in 0..rounds {
            let times = if round & 1 == 1 {
                1
            } else if group != 0 {
                2
            } else {
                0
            };
            for _ in 0..times {
                l.rotate_left(1);
                l.iter_mut().zip(0..).for_each(|(x, k)| *x += k);
            }
        }
        expected.extend(l);
    }
    let found = Launch::new(source)
        .output::<u32>(48)
        .local(64)
        .value(rounds)
        .run(&[48], &[16]);
    assert_equal(&found.get(0), &expected, |_| "exchanges".into());
}

#[test]
fn global_fence() {
    let source = "
    kernel void test(global uint *scratch, global uint *out) {
        size_t i = get_global_id(0), k = get_local_id(0), n = get_local_size(0);
        scratch[i] = i * 3;
        barrier(CLK_GLOBAL_MEM_FENCE);
        uint x = scratch[i - k + (k + 1) % n];
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
        scratch[i] = x + 1;
        work_group_barrier(CLK_GLOBAL_MEM_FENCE);
        out[i] = scratch[i - k + (k + n - 1) % n];
    }";
    let found = Launch::new(source)
        .output::<u32>(64)
        .output::<u32>(64)
        .run(&[64], &[16]);
    let expected: Vec<u32> = (0..64u32).map(|i| i * 3 + 1).collect();
    assert_equal(&found.get(1), &expected, |_| "through global memory".into());
}

#[test]
fn casts() {
    let source = "
    kernel void test(global uint *out, local uint *l) {
        local ulong words[8];
        uint k = get_local_id(0);
        words[k] = 0x0123456789abcdefUL + k;
        local uchar *bytes = (local uchar *)words;
        local ushort *halves = (local ushort *)l;
        barrier(CLK_LOCAL_MEM_FENCE);
        halves[2 * k] = bytes[8 * k + 1];
        halves[2 * k + 1] = bytes[8 * ((k + 1) % 8) + 7];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(0)] = l[7 - k] + (l == (local uint *)words) + (uint)((local uchar *)(words + 1) - bytes);
    }";
    let found = Launch::new(source)
        .output::<u32>(8)
        .local(32)
        .run(&[8], &[8]);
    assert_equal(&found.get(0), &[0x0001_00cd + 8u32; 8], |_| {
        "casts of local pointers".into()
    });
}

/// Addresses of local arguments that share an array, since they all become integers.
#[test]
fn argument_alignment() {
    let source = "
    kernel void test(global uint *out, local uchar *a, local long *b, local int16 *c, local short2 *d) {
        out[0] = (uint)(size_t)a % 1; out[1] = (uint)(size_t)b % 8;
        out[2] = (uint)(size_t)c % 64; out[3] = (uint)(size_t)d % 4;
        out[4] = (size_t)a != (size_t)b && (size_t)b != (size_t)c && (size_t)c != (size_t)d;
    }";
    let found = Launch::new(source)
        .output::<u32>(5)
        .local(3)
        .local(40)
        .local(192)
        .local(12)
        .run(&[1], &[1]);
    assert_equal(&found.get(0), &[0u32, 0, 0, 0, 1], |_| "alignments".into());
}

/// Arrays that only functions use, which take pointers to elements: each has its size all the same.
#[test]
fn arrays_used_whole() {
    let source = "
    kernel void test(global uint *out, global const uint *in, global ushort *narrow, uint n) {
        local uint first[64];
        local struct { uint sum; uint more[15]; } second;
        local uint third[64];
        local ushort fourth[64];
        local uint fifth[64];
        event_t e = async_work_group_copy(first, in, 64, 0);
        e = async_work_group_copy(third, in + 64, 64, e);
        wait_group_events(1, &e);
        uint k = get_local_id(0);
        if (k == 0) atomic_xchg(&second.sum, 0);
        barrier(CLK_LOCAL_MEM_FENCE);
        atomic_add(&second.sum, k);
        vstore_half((float)k, k, (local half *)fourth);
        barrier(CLK_LOCAL_MEM_FENCE);
        e = async_work_group_copy(out, first, 64, 0);
        e = async_work_group_copy(out + 64, third, 64, e);
        e = async_work_group_copy(narrow, fourth, 64, e);
        wait_group_events(1, &e);
        if (k == 0) {
            out[128] = atomic_or(&second.sum, 0);
            for (volatile local uint *p = fifth; p < fifth + n; p += 3) atomic_xchg(p, 0);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (volatile local uint *p = fifth; p < fifth + n; p += 3) atomic_add(p, k);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (k == 0) out[129] = atomic_or(fifth + 63, 0);
        e = async_work_group_copy(out + 130, third, 64, 0);
        wait_group_events(1, &e);
    }";
    let a = words(76, 128);
    let found = Launch::new(source)
        .output::<u32>(194)
        .buffer(&a)
        .output::<u16>(64)
        .value(64u32)
        .run(&[64], &[64]);
    let mut expected = a;
    expected.extend([63 * 32; 2]);
    expected.extend_from_within(64..128);
    assert_equal(&found.get(0), &expected, |i| format!("word {i}"));
    // Whole numbers as halves: eleven digits from the highest one on.
    let halves: Vec<u16> = (0..64u32)
        .map(|n| match n.checked_ilog2() {
            Some(log) => ((15 + log) << 10 | ((n << (10 - log)) & 0x3ff)) as u16,
            None => 0,
        })
        .collect();
    assert_equal(&found.get(2), &halves, |i| format!("half {i}"));
}
