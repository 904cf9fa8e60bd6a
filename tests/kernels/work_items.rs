//! Work-item functions in one to three dimensions, offsets, remainders and fixed sizes.

use super::harness::{Launch, assert_equal, session};

const SOURCE: &str = "
kernel void test(global uint *out) {
    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1),
           z = get_global_id(2) - get_global_offset(2);
    size_t at = (z * get_global_size(1) + y) * get_global_size(0) + x;
    global uint *o = out + at * 22;
    for (uint d = 0; d < 3; d++) {
        o[7 * d] = get_global_id(d);     o[7 * d + 1] = get_local_id(d);
        o[7 * d + 2] = get_group_id(d);  o[7 * d + 3] = get_global_size(d);
        o[7 * d + 4] = get_local_size(d); o[7 * d + 5] = get_num_groups(d);
        o[7 * d + 6] = get_global_offset(d);
    }
    o[21] = get_work_dim();
}";

fn check(global: &[usize], local: &[usize], offset: &[usize]) {
    let full = |sizes: &[usize], fill: usize| -> [usize; 3] {
        std::array::from_fn(|d| sizes.get(d).copied().unwrap_or(fill))
    };
    let (g, l, o) = (full(global, 1), full(local, 1), full(offset, 0));
    let mut expected = Vec::new();
    for at in 0..g.iter().product::<usize>() {
        let id = [at % g[0], at / g[0] % g[1], at / g[0] / g[1]];
        for d in 0..3 {
            let group = id[d] / l[d];
            // The last group of a range that does not divide is smaller.
            let size = l[d].min(g[d] - group * l[d]);
            let all = [
                id[d] + o[d],
                id[d] % l[d],
                group,
                g[d],
                size,
                g[d].div_ceil(l[d]),
                o[d],
            ];
            expected.extend(all.map(|x| x as u32));
        }
        expected.push(global.len() as u32);
    }
    let mut launch = Launch::new(SOURCE).output::<u32>(expected.len());
    if !offset.is_empty() {
        launch = launch.offset(offset);
    }
    let found = launch.run(global, local);
    let name = |i: usize| {
        format!(
            "value {} of work-item {} of {global:?} by {local:?}",
            i % 22,
            i / 22
        )
    };
    assert_equal(&found.get(0), &expected, name);
}

#[test]
fn three_dimensions() {
    check(&[64], &[16], &[]);
    check(&[8, 6], &[4, 2], &[]);
    check(&[4, 6, 8], &[2, 3, 4], &[]);
    check(&[5, 1, 7], &[5, 1, 1], &[]);
}

#[test]
fn offsets() {
    check(&[32], &[8], &[1000]);
    check(&[6, 4, 2], &[3, 2, 1], &[7, 0, 100_000]);
}

#[test]
fn sizes_left_to_the_driver() {
    let source = "
    kernel void test(global uint *out) {
        size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);
        bool holds = get_group_id(0) * get_enqueued_local_size(0) + get_local_id(0) == get_global_id(0)
            && get_local_id(0) < get_local_size(0) && get_num_groups(1) >= 1;
        out[at] = holds ? at : 0xdead;
    }";
    for global in [[1usize, 1], [97, 3], [256, 2], [1000, 1], [12, 11]] {
        let count = global[0] * global[1];
        let found = Launch::new(source).output::<u32>(count).run(&global, &[]);
        let expected: Vec<u32> = (0..count as u32).collect();
        assert_equal(&found.get(0), &expected, |_| format!("{global:?}"));
    }
}

#[test]
fn non_uniform_groups() {
    if !session().has_non_uniform_groups() {
        return super::harness::skip("the device has no non-uniform work-groups");
    }
    check(&[70], &[16], &[]);
    check(&[10, 7], &[4, 3], &[]);
    check(&[9, 5, 3], &[4, 4, 2], &[5, 6, 7]);
}

/// A required size holds for all work-groups but those at the end.
#[test]
fn non_uniform_required_size() {
    if !session().has_non_uniform_groups() {
        return super::harness::skip("the device has no non-uniform work-groups");
    }
    let source = "
    kernel __attribute__((reqd_work_group_size(8, 4, 1))) void test(global uint *out) {
        local uint count;
        if (get_local_id(0) == 0 && get_local_id(1) == 0) count = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        atomic_inc(&count);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint at = get_global_id(1) * get_global_size(0) + get_global_id(0);
        out[at] = count + 100 * get_local_size(0) + 10000 * get_local_size(1)
            + 1000000 * get_enqueued_local_size(0);
    }";
    let found = Launch::new(source)
        .output::<u32>(19 * 6)
        .run(&[19, 6], &[8, 4]);
    let expected: Vec<u32> = (0..19 * 6)
        .map(|at| {
            let width = if at % 19 < 16 { 8 } else { 3 };
            let height = if at / 19 < 4 { 4 } else { 2 };
            width * height + 100 * width + 10000 * height + 8_000_000
        })
        .collect();
    assert_equal(&found.get(0), &expected, |at| format!("item {at}"));
}

/// Where a kernel cannot tell, an odd range need not run in work-groups of one.
#[test]
fn odd_ranges() {
    let source = "
    kernel void test(global uint *out) {
        size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
        out[(z * get_global_size(1) + y) * get_global_size(0) + x] += 1 + x + 1000 * y + 1000000 * z;
    }";
    for global in [[1021, 1, 1], [263, 7, 1], [5, 67, 11], [17, 1009, 1]] {
        let count: usize = global.iter().product();
        let found = Launch::new(source)
            .buffer(&vec![0u32; count])
            .run(&global, &[]);
        let expected: Vec<u32> = (0..count)
            .map(|at| {
                let (x, y) = (at % global[0], at / global[0] % global[1]);
                let z = at / global[0] / global[1];
                (1 + x + 1000 * y + 1_000_000 * z) as u32
            })
            .collect();
        assert_equal(&found.get(0), &expected, |at| format!("{global:?} {at}"));
    }
}

/// A large kernel may have one pipeline for many ranges, which has more work-items than they do; its arguments lie in memory
/// where they are many.
#[test]
fn odd_ranges_of_a_large_kernel() {
    const STEPS: usize = 500;
    let step = "x = x * 0x9e3779b1u + rotate(x, 7u) ^ (x >> 3); x ^= x >> 15; ";
    let steps = step.repeat(STEPS);
    for more in ["", "ulong8 a, ulong8 b, ulong8 c, ulong d"] {
        let (comma, sum) = match more {
            "" => ("", ""),
            _ => (", ", " + (uint)(a.s1 + b.s2 + c.s3 + d)"),
        };
        let source = format!(
            "kernel void test(global uint *out{comma}{more}) {{
                size_t at = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0)
                    + get_global_id(0);
                uint x = at{sum};
                {steps}
                out[at] += x;
            }}"
        );
        for global in [[1, 1, 1], [9, 1, 1], [5, 3, 2], [263, 7, 1], [16_421, 1, 1]] {
            let count: usize = global.iter().product();
            let mut launch = Launch::new(&source).buffer(&vec![5u32; count + 64]);
            if !more.is_empty() {
                let eight = |at: usize| std::array::from_fn::<u64, 8, _>(|it| (it == at).into());
                launch = launch
                    .value(eight(1))
                    .value(eight(2))
                    .value(eight(3))
                    .value(4u64);
            }
            let found = launch.run(&global, &[]);
            let of = |at: usize| {
                let start = at as u32 + if more.is_empty() { 0 } else { 7 };
                let x = (0..STEPS).fold(start, |x, _| {
                    let x = x.wrapping_mul(0x9e37_79b1).wrapping_add(x.rotate_left(7)) ^ (x >> 3);
                    x ^ (x >> 15)
                });
                if at < count { x.wrapping_add(5) } else { 5 }
            };
            let expected: Vec<u32> = (0..count + 64).map(of).collect();
            assert_equal(&found.get(0), &expected, |at| format!("{global:?} {at}"));
        }
    }
}

#[test]
fn required_size() {
    let source = "
    kernel __attribute__((reqd_work_group_size(8, 4, 1))) void test(global uint *out) {
        local uint sum[8 * 4];
        uint k = get_local_id(1) * 8 + get_local_id(0);
        sum[k] = k;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint at = get_global_id(1) * get_global_size(0) + get_global_id(0);
        out[at] = sum[31 - k] * 100 + get_local_size(0) + get_local_size(1);
    }";
    let found = Launch::new(source)
        .output::<u32>(16 * 8)
        .run(&[16, 8], &[8, 4]);
    let expected: Vec<u32> = (0..128)
        .map(|at| {
            let k = at / 16 % 4 * 8 + at % 8;
            (31 - k) * 100 + 12
        })
        .collect();
    assert_equal(&found.get(0), &expected, |_| "required size".into());
}

/// Work-groups smaller than a sub-group, in a kernel that cannot tell.
#[test]
fn small_required_sizes() {
    for standard in ["-cl-std=CL1.2", "-cl-std=CL3.0"] {
        for size in [1, 2] {
            let source = format!(
                "kernel __attribute__((reqd_work_group_size({size}, 1, 1))) void test(global uint *out) {{
                    out[get_global_id(0)] = get_global_id(0);
                }}"
            );
            let expected: Vec<u32> = (0..100).collect();
            for local in [&[size][..], &[]] {
                let found = Launch::new(&source)
                    .only_options(standard)
                    .output::<u32>(100)
                    .run(&[100], local);
                assert_equal(&found.get(0), &expected, |at| {
                    format!("{standard}, {size}, item {at}")
                });
            }
        }
    }
}

#[test]
fn linear_ids() {
    let source = "
    kernel void test(global uint2 *out) {
        out[get_global_linear_id()] = (uint2)(get_local_linear_id(), get_global_id(0) + 10 * get_global_id(1));
    }";
    let found = Launch::new(source)
        .output::<[u32; 2]>(32)
        .offset(&[2, 1])
        .run(&[8, 4], &[4, 2]);
    let expected: Vec<[u32; 2]> = (0..32)
        .map(|at| {
            let (x, y) = (at % 8, at / 8);
            [y % 2 * 4 + x % 4, x + 2 + 10 * (y + 1)]
        })
        .collect();
    assert_equal(&found.get(0), &expected, |_| "linear ids".into());
}

#[test]
fn out_of_range_dimensions() {
    let source = "
    kernel void test(global uint *out, uint d) {
        uint at = get_global_id(0) * 6;
        out[at] = get_global_id(d); out[at + 1] = get_local_id(d); out[at + 2] = get_group_id(d);
        out[at + 3] = get_global_size(d); out[at + 4] = get_local_size(d); out[at + 5] = get_num_groups(d);
    }";
    for dimension in [1u32, 3, 77] {
        let found = Launch::new(source)
            .output::<u32>(12)
            .value(dimension)
            .run(&[2], &[2]);
        assert_equal(&found.get(0), &[0u32, 0, 0, 1, 1, 1].repeat(2), |_| {
            format!("dimension {dimension}")
        });
    }
}

#[test]
fn large_range() {
    let source = "
    kernel void test(volatile global uint *count, global uint *last) {
        size_t i = get_global_id(0);
        if (i % 4096 == 0) atomic_inc(count);
        if (i == get_global_size(0) - 1) *last = (uint)i;
    }";
    let global = 5_000_000usize;
    let found = Launch::new(source)
        .buffer(&[0u32])
        .output::<u32>(1)
        .run(&[global], &[]);
    assert_equal(&found.get(0), &[global.div_ceil(4096) as u32], |_| {
        "count".into()
    });
    assert_equal(&found.get(1), &[global as u32 - 1], |_| "last".into());
}
