//! 32-bit atomics on global and local memory.

use super::Test;
use super::harness::{Launch, assert_equal, session};

pub const TESTS: &[Test] = &[
    ("global", global),
    ("local", local),
    ("results_are_unique", unique),
    ("compare_exchange", compare_exchange),
    ("float_exchange", float_exchange),
    ("c11", c11),
];

const N: u32 = 1024;

/// After all work-items have done each operation with their id.
fn totals() -> [u32; 12] {
    let ids = || 0..N;
    let or = ids().fold(0, |all, i| all | 1 << (i % 31));
    [
        ids().sum(),
        0u32.wrapping_sub(ids().sum()),
        N,
        0u32.wrapping_sub(N),
        5,
        N - 1 + 7,
        (-500i32) as u32,
        (N as i32 - 501) as u32,
        !or,
        or,
        ids().fold(0, |all, i| all ^ i.wrapping_mul(77)),
        N,
    ]
}

const OPERATIONS: &str = "
    atomic_add(t, i);              atomic_sub(t + 1, i);
    atomic_inc(t + 2);             atomic_dec(t + 3);
    atomic_min(t + 4, i + 5);      atomic_max(t + 5, i + 7);
    atomic_min((volatile SPACE int *)t + 6, (int)i - 500);
    atomic_max((volatile SPACE int *)t + 7, (int)i - 500);
    atomic_and(t + 8, ~(1u << (i % 31)));
    atomic_or(t + 9, 1u << (i % 31));
    atomic_xor(t + 10, i * 77);
    atomic_add(t + 11, 1);
";

const START: [u32; 12] = [0, 0, 0, 0, u32::MAX, 0, 100, 0, u32::MAX, 0, 0, 0];

fn global() {
    let operations = OPERATIONS.replace("SPACE", "global");
    let source = format!(
        "kernel void test(volatile global uint *t) {{ uint i = get_global_id(0); {operations} }}"
    );
    let mut start = START;
    start[7] = (-1000i32) as u32;
    let found = Launch::new(source).buffer(&start).run(&[N as usize], &[]);
    assert_equal(&found.get(0), &totals(), |i| format!("operation {i}"));
}

fn local() {
    let operations = OPERATIONS.replace("SPACE", "local");
    let source = format!(
        "
    kernel void test(global const uint *start, global uint *out, uint n) {{
        local uint counters[12];
        volatile local uint *t = counters;
        uint k = get_local_id(0);
        if (k < 12) counters[k] = start[k];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = k; i < n; i += get_local_size(0)) {{ {operations} }}
        barrier(CLK_LOCAL_MEM_FENCE);
        if (k < 12) out[k] = counters[k];
    }}"
    );
    let mut start = START;
    start[7] = (-1000i32) as u32;
    let found = Launch::new(source)
        .buffer(&start)
        .output::<u32>(12)
        .value(N)
        .run(&[64], &[64]);
    assert_equal(&found.get(1), &totals(), |i| format!("operation {i}"));
}

fn unique() {
    let source = "
    kernel void test(volatile global uint *next, global uint *out) {
        out[atomic_inc(next)] = get_global_id(0);
    }";
    let found = Launch::new(source)
        .buffer(&[0u32])
        .output::<u32>(N as usize)
        .run(&[N as usize], &[]);
    let mut ids = found.get::<u32>(1);
    ids.sort_unstable();
    assert_equal(&ids, &(0..N).collect::<Vec<_>>(), |_| {
        "every work-item has its own place".into()
    });
}

fn compare_exchange() {
    let source = "
    kernel void test(volatile global uint *value, volatile global int *old) {
        uint seen = *value, want;
        do { want = seen; seen = atomic_cmpxchg(value, want, want * 1 + 3); } while (seen != want);
        atomic_cmpxchg(old, -1, (int)get_global_id(0));
        atomic_cmpxchg(old + 1, 5, 6);
        atomic_xchg(old + 2, 9);
    }";
    let found = Launch::new(source)
        .buffer(&[1u32])
        .buffer(&[-1i32, 4, 0])
        .run(&[256], &[]);
    assert_equal(&found.get(0), &[1u32 + 3 * 256], |_| "loop".into());
    let old = found.get::<i32>(1);
    assert!((0..256).contains(&old[0]) && old[1..] == [4, 9], "{old:?}");
}

fn float_exchange() {
    let source = "
    void add(volatile global float *at, float x) {
        volatile global uint *bits = (volatile global uint *)at;
        uint seen = *bits, want;
        do { want = seen; seen = atomic_cmpxchg(bits, want, as_uint(as_float(want) + x)); } while (seen != want);
    }
    kernel void test(volatile global float *t, global float *out) {
        add(t, (float)get_global_id(0));
        out[get_global_id(0)] = atomic_xchg(t + 1, 2.5f);
    }";
    let found = Launch::new(source)
        .buffer(&[0.5f32, 1.5])
        .output::<f32>(128)
        .run(&[128], &[]);
    assert_equal(&found.get(0), &[8128.5f32, 2.5], |_| {
        "sum and exchange".into()
    });
    let out = found.get::<f32>(1);
    assert_eq!(out.iter().filter(|&&x| x == 1.5).count(), 1);
    assert_eq!(out.iter().filter(|&&x| x == 2.5).count(), 127);
}

fn c11() {
    if !session().is_some_and(|session| session.has_generic_pointers()) {
        return super::harness::skip("the device has no generic address space");
    }
    let source = "
    kernel void test(global atomic_uint *t, global uint *out) {
        uint i = get_global_id(0);
        atomic_fetch_add_explicit(t, i, memory_order_relaxed, memory_scope_device);
        atomic_fetch_max_explicit(t + 1, i * 3, memory_order_relaxed, memory_scope_device);
        uint expected = 7;
        if (atomic_compare_exchange_strong_explicit(t + 2, &expected, i + 100, memory_order_relaxed,
                                                    memory_order_relaxed, memory_scope_device))
            out[0] = i + 100;
        atomic_store_explicit(t + 3, 5, memory_order_relaxed, memory_scope_device);
    }";
    let found = Launch::new(source)
        .buffer(&[0u32, 0, 7, 0])
        .output::<u32>(1)
        .run(&[256], &[]);
    let winner = found.get::<u32>(1)[0];
    assert!((100..356).contains(&winner));
    assert_equal(&found.get(0), &[255 * 128, 765, winner, 5], |i| {
        format!("operation {i}")
    });
}
