//! Collectives of work-groups, against a model on the host.

use super::group_model::{BASIC, PLACE, SIZES, Scalar, arithmetic, is_float, places, together};
use super::harness::{Launch, assert_equal, session, skip};
use super::random::Random;

#[test]
fn work_group_arithmetic() {
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        for sizes in SIZES {
            arithmetic::<T>(
                ty,
                exchanged,
                "work_group_",
                &BASIC,
                sizes,
                |places, _, i| {
                    // Linear local ids rise with linear global ids within a work-group.
                    (0..places.len())
                        .filter(|&j| places[j].work_group == places[i].work_group)
                        .collect()
                },
            );
        }
    }
    for_each_type!(check, small: false);
}

#[test]
fn uniform_arithmetic() {
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        let ops: &[&str] = if is_float(ty) {
            &["mul"]
        } else {
            &["mul", "and", "or", "xor"]
        };
        // Products of few of the numbers are exact.
        let sizes: (&[usize], &[usize]) = if is_float(ty) {
            (&[45], &[9])
        } else {
            (&[154], &[77])
        };
        arithmetic::<T>(ty, exchanged, "work_group_", ops, sizes, |places, _, i| {
            (0..places.len())
                .filter(|&j| places[j].work_group == places[i].work_group)
                .collect()
        });
    }
    for_each_type!(check, small: false);
    let source = "
        #ifndef cl_khr_work_group_uniform_arithmetic
        #error the extension has its macro
        #endif
        kernel void test(global const int *in, global int4 *out) {
            size_t i = get_global_id(0);
            out[i] = (int4)(work_group_reduce_logical_and(in[i]) != 0, work_group_reduce_logical_xor(in[i]) != 0,
                work_group_scan_exclusive_logical_or(in[i] == 4) != 0,
                work_group_scan_inclusive_logical_and(in[i] < 6) != 0); }";
    let values: Vec<i32> = (0..50).map(|i| i % 10 - i / 40).collect();
    let found = Launch::new(source)
        .buffer(&values)
        .output::<[i32; 4]>(50)
        .run(&[50], &[10]);
    let expected: Vec<[i32; 4]> = (0..50)
        .map(|i| {
            let group = &values[i / 10 * 10..][..10];
            let at = i % 10;
            [
                group.iter().all(|&x| x != 0).into(),
                group.iter().fold(false, |all, &x| all ^ (x != 0)).into(),
                group[..at].contains(&4).into(),
                group[..=at].iter().all(|&x| x < 6).into(),
            ]
        })
        .collect();
    assert_equal(&found.get(1), &expected, |i| format!("work-item {i}"));
}

#[test]
fn work_group_votes() {
    for (global, local) in SIZES {
        let count: usize = global.iter().product();
        let source = format!(
            "kernel void test(global uint4 *place, global const int *in, global int2 *out) {{ {PLACE}
                 out[i] = (int2)(work_group_all(in[i]) != 0, work_group_any(in[i] == 3) != 0); }}"
        );
        let mut random = Random::new(count as u64);
        let values: Vec<i32> = (0..count).map(|_| (random.next() % 40) as i32).collect();
        let found = Launch::new(source)
            .output::<[u32; 4]>(count)
            .buffer(&values)
            .output::<[i32; 2]>(count)
            .run(global, local);
        let places = places(&found.get(0));
        let expected: Vec<[i32; 2]> = (0..count)
            .map(|i| {
                let mut all = (0..count)
                    .filter(|&j| places[j].work_group == places[i].work_group)
                    .map(|j| values[j]);
                let any = all.clone().any(|value| value == 3);
                [all.all(|value| value != 0).into(), any.into()]
            })
            .collect();
        assert_equal(&found.get(2), &expected, |i| {
            format!("work-item {i} of {global:?}")
        });
    }
}

#[test]
fn work_group_broadcasts() {
    // One to three dimensions, scalars of every size and a vector, which clang passes by parts.
    let source = "kernel void test(global long *a, global float *b, global short *c) {
        size_t i = get_global_linear_id();
        size_t x = get_local_size(0) - 1, y = get_local_size(1) / 2, z = get_local_size(2) - 1;
        a[i] = work_group_broadcast(a[i], x, y, z);
        b[i] = work_group_broadcast(b[i], x, y) + work_group_broadcast(b[i], x);
        c[i] = work_group_broadcast((int)c[i], x, y, z); }";
    let (global, local) = ([6usize, 8, 4], [3usize, 4, 2]);
    let count: usize = global.iter().product();
    let a: Vec<i64> = (0..count as i64).map(|i| i * 0x1_2345_6789).collect();
    let b: Vec<f32> = (0..count).map(|i| i as f32 / 2.0).collect();
    let c: Vec<i16> = (0..count as i16).collect();
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&b)
        .buffer(&c)
        .run(&global, &local);
    let at = |i: usize, place: [usize; 3]| {
        let id = [i % 6, i / 6 % 8, i / 48];
        let from: [usize; 3] = std::array::from_fn(|d| id[d] / local[d] * local[d] + place[d]);
        (from[2] * 8 + from[1]) * 6 + from[0]
    };
    let three: Vec<usize> = (0..count).map(|i| at(i, [2, 2, 1])).collect();
    let expected: Vec<i64> = three.iter().map(|&i| a[i]).collect();
    assert_equal(&found.get(0), &expected, |i| format!("long at {i}"));
    let expected: Vec<f32> = (0..count)
        .map(|i| b[at(i, [2, 2, 0])] + b[at(i, [2, 0, 0])])
        .collect();
    assert_equal(&found.get(1), &expected, |i| format!("float at {i}"));
    let expected: Vec<i16> = three.iter().map(|&i| c[i]).collect();
    assert_equal(&found.get(2), &expected, |i| format!("short at {i}"));
}

#[test]
fn work_group_functions_in_loops() {
    // One collective after another, in a loop and a branch that all work-items of a group take alike.
    let source = "kernel void test(global uint *data, local uint *scratch) {
        size_t i = get_global_id(0), l = get_local_id(0);
        uint x = data[i];
        for (uint round = 0; round < 3 + get_group_id(0); round++) {
            scratch[l] = x;
            uint before = work_group_scan_exclusive_add(x);
            uint all = work_group_reduce_add(x);
            if (all % 2) x += work_group_reduce_max(before);
            else x = work_group_scan_inclusive_add(before) ^ work_group_broadcast(x, round % get_local_size(0));
            x += work_group_any(scratch[l] == 5) ? 1 : 2;
        }
        data[i] = x; }";
    let (groups, size) = (4, 45);
    let data: Vec<u32> = (0..groups * size).map(|i| i as u32 * 7 % 11).collect();
    let mut expected = data.clone();
    for (group, x) in expected.chunks_mut(size).enumerate() {
        for round in 0..3 + group {
            let scratch = x.to_vec();
            let sum = |end: usize| x[..end].iter().fold(0u32, |a, b| a.wrapping_add(*b));
            let before: Vec<u32> = (0..size).map(sum).collect();
            let next: Vec<u32> = match sum(size) % 2 {
                1 => {
                    let most = before.iter().max().copied().unwrap_or(0);
                    x.iter().map(|x| x.wrapping_add(most)).collect()
                }
                _ => (0..size)
                    .map(|l| {
                        let sum = before[..=l].iter().fold(0u32, |a, b| a.wrapping_add(*b));
                        sum ^ x[round % size]
                    })
                    .collect(),
            };
            let bump = if scratch.contains(&5) { 1 } else { 2 };
            for (x, next) in x.iter_mut().zip(next) {
                *x = next.wrapping_add(bump);
            }
        }
    }
    let found = Launch::new(source)
        .buffer(&data)
        .local(size * 4)
        .run(&[groups * size], &[size]);
    assert_equal(&found.get(0), &expected, |i| format!("work-item {i}"));
}

/// Work-groups at the end of a range are smaller, and so are their sub-groups.
#[test]
fn ranges_that_groups_do_not_divide() {
    if !session().has_non_uniform_groups() {
        return skip("work-groups are uniform");
    }
    for (global, local) in [
        (&[100usize][..], &[32usize][..]),
        (&[13, 7], &[8, 4]),
        (&[9, 5, 3], &[4, 2, 2]),
    ] {
        let count: usize = global.iter().product();
        let source = format!(
            "kernel void test(global uint4 *place, global uint8 *out) {{ {PLACE}
                 uint x = i % 7;
                 out[i] = (uint8)(work_group_reduce_add(x), work_group_scan_exclusive_add(x),
                     sub_group_reduce_add(x), get_num_sub_groups(), get_enqueued_num_sub_groups(),
                     get_local_size(0) * get_local_size(1) * get_local_size(2), get_local_linear_id(),
                     get_max_sub_group_size()); }}"
        );
        let found = Launch::new(source)
            .output::<[u32; 4]>(count)
            .output::<[u32; 8]>(count)
            .run(global, local);
        let places = places(&found.get(0));
        let results: Vec<[u32; 8]> = found.get(1);
        for i in 0..count {
            let [
                sum,
                before,
                in_sub_group,
                groups,
                enqueued,
                size,
                linear,
                most,
            ] = results[i];
            let mut group: Vec<usize> = (0..count)
                .filter(|&j| places[j].work_group == places[i].work_group)
                .collect();
            group.sort_by_key(|&j| results[j][6]);
            let value = |j: usize| j as u32 % 7;
            assert_eq!(group.len(), size as usize, "{global:?} by {local:?}");
            assert_eq!(group[linear as usize], i);
            assert_eq!(sum, group.iter().map(|&j| value(j)).sum::<u32>());
            let earlier = &group[..linear as usize];
            assert_eq!(before, earlier.iter().map(|&j| value(j)).sum::<u32>());
            let members = together(&places, i, |_| true);
            assert_eq!(in_sub_group, members.iter().map(|&j| value(j)).sum::<u32>());
            assert_eq!(members.len(), places[i].size as usize);
            assert_eq!(groups, size.div_ceil(most));
            let full = local.iter().product::<usize>() as u32;
            assert_eq!(enqueued, full.div_ceil(most));
        }
    }
}
