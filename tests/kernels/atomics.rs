//! Atomics on global and local memory, of OpenCL 1.x and of C11.

use super::harness::{Launch, assert_equal, session};

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

#[test]
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

#[test]
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

#[test]
fn results_are_unique() {
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

#[test]
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

/// Integer operations on what was computed as a float.
#[test]
fn bits_of_floats() {
    let source = "
        #define ALL(t) \
            atomic_add(t, bits);     atomic_sub(t + 1, bits);  atomic_and(t + 2, bits);  atomic_or(t + 3, bits); \
            atomic_xor(t + 4, bits); atomic_min(t + 5, bits);  atomic_max(t + 6, bits); \
            atomic_cmpxchg(t + 7, as_uint(x * 0.0f), bits);
        kernel void test(global uint *t, global uint *u) {
            local uint l[8];
            uint i = get_local_id(0);
            if (i < 8) l[i] = u[i];
            barrier(CLK_LOCAL_MEM_FENCE);
            float x = (float)i * 3.0f + 0.5f;
            uint bits = as_uint(x);
            ALL(t) ALL(l)
            barrier(CLK_LOCAL_MEM_FENCE);
            if (i < 8) u[i] = l[i];
        }";
    let start = [1u32, 1, !0, 0, 0, !0, 0, 7];
    let all = (0..64).map(|i| (i as f32 * 3.0 + 0.5).to_bits());
    let mut expected = start;
    for bits in all {
        expected[0] = expected[0].wrapping_add(bits);
        expected[1] = expected[1].wrapping_sub(bits);
        expected[2] &= bits;
        expected[3] |= bits;
        expected[4] ^= bits;
        expected[5] = expected[5].min(bits);
        expected[6] = expected[6].max(bits);
    }
    let found = Launch::new(source)
        .buffer(&start)
        .buffer(&start)
        .run(&[64], &[64]);
    for space in 0..2 {
        let what = |at| format!("operation {at} in space {space}");
        assert_equal(&found.get::<u32>(space), &expected, what);
    }
}

#[test]
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

#[test]
fn c11() {
    if !session().has_generic_pointers() {
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

fn has_sequential_consistency() -> bool {
    session().has_feature("__opencl_c_atomic_order_seq_cst")
}

#[test]
fn default_order_and_scope() {
    if !has_sequential_consistency() {
        return super::harness::skip("the device has no sequentially consistent atomics");
    }
    let source = "
    kernel void test(global atomic_int *t, global int *out) {
        atomic_init(t + 4, 4);
        int expected = 9;
        out[0] = atomic_fetch_add(t, 5);
        out[1] = atomic_fetch_sub(t, 1);
        out[2] = atomic_exchange(t, 9);
        out[3] = atomic_compare_exchange_strong(t, &expected, 10);
        out[4] = atomic_compare_exchange_weak(t, &expected, 11);
        out[5] = expected;
        atomic_store(t + 1, atomic_load(t) + 1);
        out[6] = atomic_fetch_or(t + 1, 16);
        out[7] = atomic_fetch_and(t + 1, 24);
        out[8] = atomic_fetch_xor(t + 1, 3);
        out[9] = atomic_fetch_min(t + 2, -3);
        out[10] = atomic_fetch_max((global atomic_uint *)t + 3, 7u);
        atomic_store_explicit(t + 5, 6, memory_order_release);
        out[11] = atomic_load_explicit(t + 5, memory_order_acquire);
        out[12] = atomic_fetch_add_explicit(t + 5, 1, memory_order_acq_rel);
    }";
    let found = Launch::new(source)
        .buffer(&[1i32, 0, -1, -1, 0, 0])
        .output::<i32>(13)
        .run(&[1], &[]);
    assert_equal(
        &found.get(1),
        &[1, 6, 5, 1, 0, 10, 11, 27, 24, -1, -1, 6, 6],
        |i| format!("operation {i}"),
    );
    assert_equal(&found.get(0), &[10, 27, -3, -1, 4, 7], |i| {
        format!("object {i}")
    });
}

/// llvmpipe waits for the whole work-group at every memory barrier.
#[test]
fn ordered_in_divergent_code() {
    let source = "
    kernel void test(global const int *in, global int *out, volatile local atomic_int *d, uint n) {
        uint k = get_local_id(0);
        if (k == 0)
            for (uint i = 0; i < n; i++)
                atomic_exchange_explicit(d + i, in[i], memory_order_release, memory_scope_work_group);
        barrier(CLK_LOCAL_MEM_FENCE);
        int own = atomic_load_explicit(d + k, memory_order_acquire, memory_scope_work_group);
        if (k % 3 == 1)
            atomic_store_explicit(d + k, own * 2, memory_order_release, memory_scope_work_group);
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(0)] = atomic_load_explicit(d + k, memory_order_relaxed, memory_scope_work_group);
    }";
    let given: Vec<i32> = (0..64).map(|i| i * 7 - 30).collect();
    let expected: Vec<i32> = (0..128)
        .map(|i| given[i % 64] * if i % 64 % 3 == 1 { 2 } else { 1 })
        .collect();
    let found = Launch::new(source)
        .buffer(&given)
        .output::<i32>(128)
        .local(256)
        .value(64u32)
        .run(&[128], &[64]);
    assert_equal(&found.get(1), &expected, |i| format!("work-item {i}"));
}

#[test]
fn fences_in_divergent_code() {
    let source = "
    kernel void test(global uint *out) {
        local uint d[64];
        uint k = get_local_id(0);
        d[k] = k;
        for (uint i = 0; i < k % 5; i++) {
            d[k] += i;
            mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        }
        if (k & 1)
            atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(0)] = d[k ^ 33];
    }";
    let value = |k: u32| k + (0..k % 5).sum::<u32>();
    let expected: Vec<u32> = (0..128).map(|i| value((i % 64) ^ 33)).collect();
    let found = Launch::new(source).output::<u32>(128).run(&[128], &[64]);
    assert_equal(&found.get(0), &expected, |i| format!("work-item {i}"));
}

/// A group that finds the flag of the one before it set also finds its data.
#[test]
fn messages_between_groups() {
    let source = "
    kernel void test(global uint *data, global atomic_uint *flag, global uint *out) {
        uint g = get_group_id(0), k = get_local_id(0), n = get_local_size(0);
        data[g * n + k] = g * 1000 + k + 1;
        work_group_barrier(CLK_GLOBAL_MEM_FENCE);
        if (k == 0)
            atomic_store_explicit(flag + g, 1, memory_order_release, memory_scope_device);
        uint other = (g + get_num_groups(0) - 1) % get_num_groups(0);
        uint bad = 0;
        for (uint i = 0; i < 100; i++)
            if (atomic_load_explicit(flag + other, memory_order_acquire, memory_scope_device) == 1) {
                bad = data[other * n + k] != other * 1000 + k + 1;
                break;
            }
        out[g * n + k] = bad;
    }";
    let found = Launch::new(source)
        .buffer(&[0u32; 1024])
        .buffer(&[0u32; 64])
        .output::<u32>(1024)
        .run(&[1024], &[16]);
    assert_equal(&found.get(2), &[0u32; 1024], |i| format!("work-item {i}"));
}

/// Sequential consistency: of two work-items that each store and then look at the other's place, one sees
/// the other's store.
#[test]
fn stores_are_seen_by_one_of_two() {
    if !has_sequential_consistency() {
        return super::harness::skip("the device has no sequentially consistent atomics");
    }
    for (fence, order) in [("", "seq_cst"), ("FENCE", "relaxed")] {
        let source = "
        kernel void test(global atomic_int *x, global atomic_int *y, global int *a, global int *b) {
            uint half_size = get_global_size(0) / 2;
            for (uint i = 0; i < 512; i++) {
                if (get_global_id(0) < half_size) {
                    uint k = get_global_id(0) * 512 + i;
                    atomic_store_explicit(x + k, 1, memory_order_ORDER, memory_scope_device);
                    FENCE
                    a[k] = atomic_load_explicit(y + k, memory_order_ORDER, memory_scope_device);
                } else {
                    uint k = (get_global_id(0) - half_size) * 512 + i;
                    atomic_store_explicit(y + k, 1, memory_order_ORDER, memory_scope_device);
                    FENCE
                    b[k] = atomic_load_explicit(x + k, memory_order_ORDER, memory_scope_device);
                }
            }
        }"
        .replace("ORDER", order)
        .replace(
            "FENCE",
            match fence {
                "" => "",
                _ => {
                    "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);"
                }
            },
        );
        // On two work-groups.
        const PAIRS: usize = 64;
        let zeros = vec![0i32; PAIRS * 512];
        let found = Launch::new(source)
            .buffer(&zeros)
            .buffer(&zeros)
            .buffer(&zeros)
            .buffer(&zeros)
            .run(&[PAIRS * 2], &[PAIRS]);
        let (a, b) = (found.get::<i32>(2), found.get::<i32>(3));
        for (k, (a, b)) in a.iter().zip(&b).enumerate() {
            assert!(
                a + b > 0,
                "neither saw the other's store, {fence} {order} {k}"
            );
        }
    }
}

/// Two work-items store to different places, two others load both in different orders: these must not
/// disagree about which store came first.
#[test]
fn stores_come_in_one_order() {
    if !has_sequential_consistency() {
        return super::harness::skip("the device has no sequentially consistent atomics");
    }
    const ROUNDS: usize = 256;
    // As many work-items in each of the four groups; those at the same place meet.
    const ITEMS: usize = 32;
    for order in ["seq_cst", "relaxed"] {
        let fence = match order {
            "relaxed" => {
                "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);"
            }
            _ => "",
        };
        let source = "
        kernel void test(global atomic_int *x, global atomic_int *y, global int2 *c, global int2 *d) {
            for (uint i = 0; i < ROUNDS; i++) {
                uint k = get_local_id(0) * ROUNDS + i;
                switch (get_group_id(0)) {
                case 0:
                    atomic_store_explicit(x + k, 1, memory_order_ORDER, memory_scope_device);
                    break;
                case 1:
                    atomic_store_explicit(y + k, 1, memory_order_ORDER, memory_scope_device);
                    break;
                case 2:
                    c[k].x = atomic_load_explicit(x + k, memory_order_ORDER, memory_scope_device);
                    FENCE
                    c[k].y = atomic_load_explicit(y + k, memory_order_ORDER, memory_scope_device);
                    break;
                case 3:
                    d[k].x = atomic_load_explicit(y + k, memory_order_ORDER, memory_scope_device);
                    FENCE
                    d[k].y = atomic_load_explicit(x + k, memory_order_ORDER, memory_scope_device);
                    break;
                }
            }
        }"
        .replace("ORDER", order)
        .replace("ROUNDS", &ROUNDS.to_string())
        .replace("FENCE", fence);
        let found = Launch::new(source)
            .buffer(&vec![0i32; ITEMS * ROUNDS])
            .buffer(&vec![0i32; ITEMS * ROUNDS])
            .buffer(&vec![[0i32; 2]; ITEMS * ROUNDS])
            .buffer(&vec![[0i32; 2]; ITEMS * ROUNDS])
            .run(&[4 * ITEMS], &[ITEMS]);
        let (c, d) = (found.get::<[i32; 2]>(2), found.get::<[i32; 2]>(3));
        for (k, both) in c.iter().zip(&d).enumerate() {
            assert_ne!(
                both,
                (&[1, 0], &[1, 0]),
                "{order}: the readers disagree at {k}"
            );
        }
    }
}

/// The same of two stores to local memory, which needs an order in the work-group only.
#[test]
fn local_stores_are_seen_by_one_of_two() {
    if !has_sequential_consistency() {
        return super::harness::skip("the device has no sequentially consistent atomics");
    }
    const ITEMS: usize = 64;
    let source = "
    // Not components of one vector: clang stores it whole.
    kernel void test(global int *a, global int *b) {
        local atomic_int x[32], y[32];
        uint i = get_local_id(0), k = i % 32;
        for (uint round = 0; round < 64; round++) {
            if (i < 32) {
                atomic_init(x + k, 0);
                atomic_init(y + k, 0);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (i < 32) {
                atomic_store(x + k, 1);
                a[round * 32 + k] = atomic_load(y + k);
            } else {
                atomic_store(y + k, 1);
                b[round * 32 + k] = atomic_load(x + k);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }";
    let found = Launch::new(source)
        .output::<i32>(32 * 64)
        .output::<i32>(32 * 64)
        .run(&[ITEMS], &[ITEMS]);
    let pairs = found.get::<i32>(0).into_iter().zip(found.get::<i32>(1));
    for (k, (a, b)) in pairs.enumerate() {
        assert!(
            a + b > 0 && a + b <= 2,
            "neither saw the other's store, {k}"
        );
    }
}

#[test]
fn flags() {
    let source = "
    kernel void test(global atomic_flag *f, global uint *out, global uint *count) {
        uint i = get_global_id(0);
        out[i] = atomic_flag_test_and_set_explicit(f, memory_order_acquire, memory_scope_device);
        if (i == 0) {
            atomic_flag_clear_explicit(f + 1, memory_order_release, memory_scope_device);
            count[0] = atomic_flag_test_and_set_explicit(f + 1, memory_order_relaxed, memory_scope_device);
            count[1] = atomic_flag_test_and_set_explicit(f + 1, memory_order_relaxed, memory_scope_device);
        }
    }";
    let found = Launch::new(source)
        .buffer(&[0u32, 1])
        .output::<u32>(64)
        .output::<u32>(2)
        .run(&[64], &[]);
    assert_eq!(
        found.get::<u32>(1).iter().filter(|&&set| set == 0).count(),
        1
    );
    assert_equal(&found.get(2), &[0u32, 1], |_| "cleared, then set".into());
}

#[test]
fn generic() {
    let source = "
    int work(atomic_int *p, int x) {
        int expected = 1;
        while (!atomic_compare_exchange_strong_explicit(p, &expected, expected + x, memory_order_relaxed,
                                                        memory_order_relaxed, memory_scope_work_group))
            ;
        return atomic_fetch_max_explicit(p, 100, memory_order_relaxed, memory_scope_work_group);
    }
    kernel void test(global atomic_int *g, global int *out) {
        local atomic_int l;
        uint k = get_local_id(0);
        if (k == 0) atomic_store_explicit(&l, 50, memory_order_relaxed, memory_scope_work_group);
        barrier(CLK_LOCAL_MEM_FENCE);
        work(k % 2 ? (atomic_int *)&l : (atomic_int *)(g + get_group_id(0)), 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (k == 0) out[get_group_id(0)] = atomic_load_explicit(&l, memory_order_relaxed, memory_scope_work_group);
    }";
    let found = Launch::new(source)
        .buffer(&[200i32, -20, 0, 1])
        .output::<i32>(4)
        .run(&[64], &[16]);
    // The first maximum lifts to 100 whatever is below; what is added later counts from there.
    let (globals, locals) = (found.get::<i32>(0), found.get::<i32>(1));
    assert_eq!(globals[0], 208);
    for value in globals[1..].iter().chain(&locals) {
        assert!((100..=108).contains(value), "{globals:?} {locals:?}");
    }
}

fn has_wide() -> bool {
    session().has("cl_khr_int64_extended_atomics")
}

#[test]
fn wide() {
    if !has_wide() {
        return super::harness::skip("the device has no 64-bit atomics");
    }
    let source = "
    #pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
    #pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
    #define ALL(p, SPACE) \
        atom_add(p, i << 30); atom_sub(p + 1, i << 30); atom_inc(p + 2); atom_dec(p + 3); \
        atom_min((volatile SPACE long *)p + 4, -(long)(i << 33)); atom_max(p + 5, i << 33); \
        atom_and(p + 6, ~(1ul << (i % 60))); atom_or(p + 7, 1ul << (i % 60)); atom_xor(p + 8, i * 0x100000001ul); \
        atom_xchg(p + 9, 0x123456789ul); atom_cmpxchg(p + 10, 3ul, 0xabcdef012ul);
    kernel void test(volatile global ulong *g, global ulong *out) {
        local ulong memory[11];
        volatile local ulong *l = memory;
        ulong i = get_local_id(0);
        if (i < 11) memory[i] = i == 10 ? 3 : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        ALL(g, global)
        ALL(l, local)
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < 11) out[i] = memory[i];
    }";
    let ids = || 0..64u64;
    let sum: u64 = ids().map(|i| i << 30).sum();
    let expected = [
        sum,
        sum.wrapping_neg(),
        64,
        64u64.wrapping_neg(),
        (63u64 << 33).wrapping_neg(),
        63 << 33,
        0,
        (1 << 60) - 1,
        ids().fold(0, |all, i| all ^ i.wrapping_mul(0x1_0000_0001)),
        0x1_2345_6789,
        0xa_bcde_f012,
    ];
    let mut start = [0u64; 11];
    start[10] = 3;
    let found = Launch::new(source)
        .buffer(&start)
        .output::<u64>(11)
        .run(&[64], &[64]);
    assert_equal(&found.get(0), &expected, |i| {
        format!("global operation {i}")
    });
    assert_equal(&found.get(1), &expected, |i| format!("local operation {i}"));
}

#[test]
fn wide_beside_narrow() {
    if !has_wide() {
        return super::harness::skip("the device has no 64-bit atomics");
    }
    let source = "
    kernel void test(global ulong *out, global uint *bytes) {
        local union { ulong wide; uint narrow[2]; } both;
        local uint more[4];
        uint k = get_local_id(0);
        if (k == 0) both.wide = 0;
        if (k < 4) more[k] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        volatile local atomic_uint *u = (volatile local atomic_uint *)both.narrow;
        volatile local atomic_ulong *w = (volatile local atomic_ulong *)&both.wide;
        atomic_fetch_add_explicit(u + k % 2, k, memory_order_relaxed, memory_scope_work_group);
        atomic_fetch_add_explicit(w, 0x100000000ul, memory_order_relaxed, memory_scope_work_group);
        atomic_uint *chosen = k & 1 ? (atomic_uint *)u : (atomic_uint *)more;
        atomic_fetch_xor_explicit(chosen + 1, k << 20, memory_order_relaxed, memory_scope_work_group);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (k == 0) { out[0] = both.wide; bytes[0] = more[1]; }
    }";
    let even: u64 = (0..64).filter(|k| k % 2 == 0).sum();
    let found = Launch::new(source)
        .output::<u64>(1)
        .output::<u32>(1)
        .run(&[64], &[64]);
    let whole = found.get::<u64>(0)[0];
    assert_eq!(whole & 0xffff_ffff, even, "{whole:x}");
    let xor = (0..64u32)
        .filter(|k| k % 2 == 0)
        .fold(0, |x, k| x ^ k << 20);
    assert_equal(&found.get(1), &[xor], |_| "the other variable".into());
    // Sums and exclusive ors of the high half come in any order, but leave these bits alone.
    let odd: u64 = (0..64).filter(|k| k % 2 == 1).sum::<u64>() + 64;
    assert_eq!(whole >> 32 & 0xfff, odd & 0xfff, "{whole:x}");
}

const FLOATS: &str = "
    kernel void test(global ATOMIC *g, global REAL *out) {
        local ATOMIC l[3];
        uint i = get_global_id(0), k = get_local_id(0);
        if (k < 3) atomic_store_explicit(l + k, (REAL)0, memory_order_relaxed, memory_scope_work_group);
        barrier(CLK_LOCAL_MEM_FENCE);
        REAL x = (REAL)i + (REAL)0.5f;
        atomic_fetch_add_explicit(g, x, memory_order_relaxed, memory_scope_device);
        atomic_fetch_min_explicit(g + 1, -x, memory_order_acq_rel, memory_scope_device);
        atomic_fetch_max_explicit(g + 2, x, memory_order_relaxed, memory_scope_device);
        atomic_fetch_sub_explicit(l, x, memory_order_relaxed, memory_scope_work_group);
        atomic_fetch_min_explicit(l + 1, -x, memory_order_relaxed, memory_scope_work_group);
        atomic_fetch_max_explicit(l + 2, x, memory_order_relaxed, memory_scope_work_group);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (k < 3)
            out[get_group_id(0) * 3 + k] = atomic_load_explicit(l + k, memory_order_relaxed, memory_scope_work_group);
    }";

#[test]
fn float_arithmetic() {
    if !session().has("cl_ext_float_atomics") {
        return super::harness::skip("the device has no float atomics");
    }
    let source = FLOATS
        .replace("ATOMIC", "atomic_float")
        .replace("REAL", "float");
    let found = Launch::new(source)
        .buffer(&[1.5f32, 0.0, 0.0])
        .output::<f32>(6)
        .run(&[64], &[32]);
    assert_equal(&found.get(0), &[1.5f32 + 2048.0, -63.5, 63.5], |i| {
        format!("global {i}")
    });
    let expected = [-512.0f32, -31.5, 31.5, -1536.0, -63.5, 63.5];
    assert_equal(&found.get(1), &expected, |i| format!("local {i}"));
}

#[test]
fn double_arithmetic() {
    let has = session().has_feature("__opencl_c_ext_fp64_global_atomic_add")
        && session().has_feature("__opencl_c_ext_fp64_local_atomic_min_max");
    if !has {
        return super::harness::skip("the device has no atomics on doubles");
    }
    let source = FLOATS
        .replace("ATOMIC", "atomic_double")
        .replace("REAL", "double");
    let found = Launch::new(source)
        .buffer(&[1.5f64, 0.0, 0.0])
        .output::<f64>(6)
        .run(&[64], &[32]);
    assert_equal(&found.get(0), &[1.5f64 + 2048.0, -63.5, 63.5], |i| {
        format!("global {i}")
    });
    let expected = [-512.0f64, -31.5, 31.5, -1536.0, -63.5, 63.5];
    assert_equal(&found.get(1), &expected, |i| format!("local {i}"));
}
