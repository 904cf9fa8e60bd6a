//! Sub-groups and their collectives, against a model on the host.

use super::documents;
use super::group_model::{
    BASIC, BRANCHED, HALVES, KINDS, PLACE, Place, SIZES, Scalar, arithmetic, branches, has, model,
    operations, places, sub_group_size, together,
};
use super::harness::{Launch, assert_equal, record, rounds, session, skip};
use super::random::Random;
use opencl3::device::CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES;
use opencl3::program::Program;

#[test]
fn sub_group_arithmetic() {
    let _documented = documents::this_test();
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        for sizes in [SIZES[0], SIZES[3], SIZES[4]] {
            arithmetic::<T>(
                ty,
                exchanged,
                "sub_group_",
                &BASIC,
                sizes,
                |places, _, i| together(places, i, |_| true),
            );
        }
    }
    for_each_type!(check, small: has("cl_khr_subgroup_extended_types"));
}

#[test]
fn non_uniform_arithmetic() {
    let _documented = documents::this_test();
    if !has("cl_khr_subgroup_non_uniform_arithmetic") {
        return skip("no cl_khr_subgroup_non_uniform_arithmetic");
    }
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        for sizes in [BRANCHED, SIZES[4]] {
            let members = |places: &[Place], branch: &[u32], i: usize| {
                together(places, i, |j| branch[j] == branch[i])
            };
            let prefix = "sub_group_non_uniform_";
            arithmetic::<T>(ty, exchanged, prefix, operations(ty), sizes, members);
        }
    }
    for_each_type!(check, small: true);
}

#[test]
fn clustered_reductions() {
    let _documented = documents::this_test();
    if !has("cl_khr_subgroup_clustered_reduce") {
        return skip("no cl_khr_subgroup_clustered_reduce");
    }
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        for round in rounds() {
            let (global, local) = BRANCHED;
            let count = global[0];
            let mut random = Random::new(7 + (round << 32));
            let values: Vec<T> = (0..count).map(|_| T::small(&mut random)).collect();
            let branch = branches(&mut random, count, local[0]);
            let size = sub_group_size() as u32;
            let clusters = (0..).map(|bit| 1 << bit).take_while(|&c| c <= size);
            let calls: Vec<(&str, u32)> = clusters
                .flat_map(|cluster| operations(ty).iter().map(move |op| (*op, cluster)))
                .collect();
            let body: String = calls
                .iter()
                .enumerate()
                .map(|(at, (op, cluster))| {
                    let call = format!("sub_group_clustered_reduce_{op}(x, {cluster})");
                    format!("out[i * {} + {at}] = {call};\n", calls.len())
                })
                .collect();
            let source = format!(
                "{HALVES}kernel void test(global uint4 *place, global const {exchanged} *in,
                 global const uint *branch, global {exchanged} *out) {{
                 {PLACE} {ty} x = ({ty})in[i];
                 if (branch[i] == 0) {{ {body} }} else if (branch[i] == 1) {{ {body} }} }}"
            );
            let found = Launch::new(source.as_str())
                .output::<[u32; 4]>(count)
                .buffer(&values)
                .buffer(&branch)
                .output::<T>(count * calls.len())
                .run(global, local);
            let places = places(&found.get(0));
            let results: Vec<T> = found.get(3);
            for i in (0..count).filter(|&i| branch[i] < 2) {
                let here = together(&places, i, |j| branch[j] == branch[i]);
                for ((op, cluster), found) in calls.iter().zip(&results[i * calls.len()..]) {
                    let same = |j: usize| places[j].lane / cluster == places[i].lane / cluster;
                    let members = here.iter().copied().filter(|&j| same(j));
                    let all: Vec<T> = members.map(|j| values[j]).collect();
                    let expected = model("reduce", op, &all, 0);
                    assert_eq!(
                        *found, expected,
                        "{op} of {ty} in clusters of {cluster}: {all:?}"
                    );
                }
            }
        }
    }
    for_each_type!(check, small: true);
}

/// `_logical_and`, `_or` and `_xor`: scans, reductions, and reductions in clusters, in branches that differ.
#[test]
fn logical_arithmetic() {
    let _documented = documents::this_test();
    if !has("cl_khr_subgroup_non_uniform_arithmetic") || !has("cl_khr_subgroup_clustered_reduce") {
        return skip("no non-uniform arithmetic or no clustered reductions");
    }
    const OPS: [&str; 3] = ["and", "or", "xor"];
    const CLUSTERS: [u32; 3] = [1, 2, 4];
    let mut calls = Vec::new();
    for op in OPS {
        for kind in KINDS {
            calls.push(format!("sub_group_non_uniform_{kind}_logical_{op}(x)"));
        }
        for cluster in CLUSTERS {
            calls.push(format!(
                "sub_group_clustered_reduce_logical_{op}(x, {cluster})"
            ));
        }
    }
    let all: String = calls
        .iter()
        .enumerate()
        .map(|(at, call)| format!("bits |= ({call} != 0) << {at};\n"))
        .collect();
    let source = format!(
        "kernel void test(global uint4 *place, global const int *in, global const uint *branch, global uint *out) {{
             {PLACE} int x = in[i]; uint bits = 0;
             if (branch[i]) {{ {all} }} else {{ {all} }}
             out[i] = bits; }}"
    );
    let count = 154;
    let mut random = Random::new(12);
    // Any number but 0 is true.
    let values: Vec<i32> = (0..count).map(|_| (random.next() % 4) as i32).collect();
    let branch: Vec<u32> = (0..count).map(|_| random.next() as u32 % 2).collect();
    let found = Launch::new(source)
        .output::<[u32; 4]>(count)
        .buffer(&values)
        .buffer(&branch)
        .output::<u32>(count)
        .run(&[count], &[77]);
    let places = places(&found.get(0));
    let fold = |op: &str, members: &[usize]| {
        let mut bools = members.iter().map(|&j| values[j] != 0);
        match op {
            "and" => bools.all(|set| set),
            "or" => bools.any(|set| set),
            _ => bools.fold(false, |a, b| a != b),
        }
    };
    let expected: Vec<u32> = (0..count)
        .map(|i| {
            let here = together(&places, i, |j| branch[j] == branch[i]);
            let at = here.iter().position(|&j| j == i).expect("itself");
            let mut results = Vec::new();
            for op in OPS {
                results.push(fold(op, &here));
                results.push(fold(op, &here[..=at]));
                results.push(fold(op, &here[..at]));
                for cluster in CLUSTERS {
                    let of = |j: usize| places[j].lane / cluster;
                    let members: Vec<usize> =
                        here.iter().copied().filter(|&j| of(j) == of(i)).collect();
                    results.push(fold(op, &members));
                }
            }
            results
                .iter()
                .enumerate()
                .fold(0, |bits, (at, &set)| bits | u32::from(set) << at)
        })
        .collect();
    assert_equal(&found.get(3), &expected, |i| {
        format!("work-item {i}, one bit for each of {calls:?}")
    });
}

/// Without enqueueing on the device there are no queries of the kernels that would be enqueued.
#[test]
fn kernels_enqueue_none() {
    let _documented = documents::this_test();
    let session = session();
    if session.has_feature("__opencl_c_device_enqueue") {
        return skip("kernels can enqueue others");
    }
    let capabilities = session
        .device()
        .get_data(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES);
    assert_eq!(capabilities.expect("a device says what it can"), [0; 8]);
    for query in [
        "get_kernel_sub_group_count_for_ndrange",
        "get_kernel_max_sub_group_size_for_ndrange",
    ] {
        record(query);
        let source = format!(
            "kernel void test(global uint *out) {{ *out = {query}(ndrange_1D(1), ^{{}}); }}"
        );
        let program =
            Program::create_and_build_from_source(session.context(), &source, "-cl-std=CL3.0");
        let log = program.err().unwrap_or_else(|| panic!("{query} builds"));
        assert!(
            log.contains("CL_BUILD_PROGRAM_FAILURE") && log.contains("error:"),
            "{log}"
        );
    }
}

#[test]
fn sub_group_queries() {
    let _documented = documents::this_test();
    for (global, local) in SIZES {
        let count: usize = global.iter().product();
        let source = format!(
            "kernel void test(global uint4 *place, global uint4 *out) {{ {PLACE}
                 out[i] = (uint4)(get_num_sub_groups(), get_max_sub_group_size(),
                     get_enqueued_num_sub_groups(), get_local_linear_id()); }}"
        );
        let found = Launch::new(source)
            .output::<[u32; 4]>(count)
            .output::<[u32; 4]>(count)
            .run(global, local);
        let places = places(&found.get(0));
        let others: Vec<[u32; 4]> = found.get(1);
        let group_size = local.iter().product::<usize>() as u32;
        for i in 0..count {
            let Place {
                sub_group,
                lane,
                size,
                ..
            } = places[i];
            let [groups, most, enqueued, linear] = others[i];
            assert!(linear < group_size);
            assert_eq!(groups, group_size.div_ceil(most), "{global:?} by {local:?}");
            assert_eq!(groups, enqueued);
            assert!(sub_group < groups && lane < size);
            // "All sub-groups within a work-group will be the same size, apart from the sub-group with the
            // maximum index".
            let left = group_size - sub_group * most;
            assert_eq!(
                size,
                most.min(left),
                "sub-group {sub_group} of {global:?} by {local:?}"
            );
            let members = together(&places, i, |_| true);
            let lanes: Vec<u32> = members.iter().map(|&j| places[j].lane).collect();
            assert_eq!(
                lanes,
                (0..size).collect::<Vec<_>>(),
                "each place is taken once"
            );
        }
    }
}

/// Work-items leave loops at different times; those that stay act together, and after it all do again.
#[test]
fn loops_that_diverge() {
    if !has("cl_khr_subgroup_ballot") || !has("cl_khr_subgroup_non_uniform_arithmetic") {
        return skip("no cl_khr_subgroup_ballot or no cl_khr_subgroup_non_uniform_arithmetic");
    }
    let (global, local) = SIZES[3];
    let count = global[0];
    let source = format!(
        "kernel void test(global uint4 *place, global const uint *in, global uint4 *out) {{ {PLACE}
             uint sum = 0, rounds = 0;
             for (uint n = 0; n < in[i]; n++) {{
                 sum += sub_group_non_uniform_reduce_add(n + i % 3);
                 rounds++;
             }}
             uint after = sub_group_ballot_bit_count(sub_group_ballot(1));
             out[i] = (uint4)(sum, rounds, after, 0); }}"
    );
    let mut random = Random::new(11);
    let values: Vec<u32> = (0..count).map(|_| random.next() as u32 % 9).collect();
    let found = Launch::new(source)
        .output::<[u32; 4]>(count)
        .buffer(&values)
        .output::<[u32; 4]>(count)
        .run(global, local);
    let places = places(&found.get(0));
    let results: Vec<[u32; 4]> = found.get(2);
    for i in 0..count {
        let all = together(&places, i, |_| true);
        let sum: u32 = (0..values[i])
            .map(|n| {
                let staying = all.iter().filter(|&&j| values[j] > n);
                staying.map(|&j| n + j as u32 % 3).sum::<u32>()
            })
            .sum();
        assert_eq!(results[i][..2], [sum, values[i]], "work-item {i}");
        assert_eq!(results[i][2], places[i].size, "all are together again");
    }
}

/// A switch, and branches within branches.
#[test]
fn branches_that_diverge() {
    if !has("cl_khr_subgroup_ballot") {
        return skip("no cl_khr_subgroup_ballot");
    }
    let (global, local) = SIZES[3];
    let count = global[0];
    let source = format!(
        "kernel void test(global uint4 *place, global const uint *in, global uint4 *out) {{ {PLACE}
             uint x = in[i], inner = 0, outer = 0, first = 0;
             switch (x % 5) {{
             case 0: outer = sub_group_ballot(1).x; break;
             case 1: outer = sub_group_ballot(1).x; first = sub_group_broadcast_first(x); break;
             case 2: case 3:
                 if (x & 8) inner = sub_group_ballot(1).x; else inner = sub_group_ballot(1).x;
                 outer = sub_group_ballot(1).x; break;
             default: first = sub_group_broadcast_first(x);
             }}
             out[i] = (uint4)(outer, inner, first, sub_group_ballot(1).x); }}"
    );
    let mut random = Random::new(12);
    let values: Vec<u32> = (0..count).map(|_| random.next() as u32 % 64).collect();
    let found = Launch::new(source)
        .output::<[u32; 4]>(count)
        .buffer(&values)
        .output::<[u32; 4]>(count)
        .run(global, local);
    let places = places(&found.get(0));
    // Cases 2 and 3 are one.
    let case = |j: usize| match values[j] % 5 {
        3 => 2,
        other => other,
    };
    let expected: Vec<[u32; 4]> = (0..count)
        .map(|i| {
            let mask = |of: &dyn Fn(usize) -> bool| -> u32 {
                let members = together(&places, i, of);
                let low = members.iter().filter(|&&j| places[j].lane < 32);
                low.map(|&j| 1u32 << places[j].lane).sum()
            };
            let here = |j: usize| case(j) == case(i);
            let first = values[together(&places, i, here)[0]];
            let mut row = [0; 4];
            if case(i) != 4 {
                row[0] = mask(&here);
            }
            if case(i) == 2 {
                row[1] = mask(&|j| here(j) && values[j] & 8 == values[i] & 8);
            }
            if matches!(case(i), 1 | 4) {
                row[2] = first;
            }
            row[3] = mask(&|_| true);
            row
        })
        .collect();
    assert_equal(&found.get(2), &expected, |i| {
        format!("work-item {i}: {}", values[i])
    });
}

#[test]
fn sub_group_votes() {
    let _documented = documents::this_test();
    let extended = has("cl_khr_subgroup_non_uniform_vote");
    let more = if extended {
        "if (in[i] % 2) out[i].hi = (int4)(sub_group_elect() != 0, sub_group_non_uniform_all(in[i] > 1) != 0,
            sub_group_non_uniform_any(in[i] == 5) != 0, sub_group_non_uniform_all_equal(in[i]) != 0);
         else out[i].hi = (int4)(sub_group_elect() != 0, sub_group_non_uniform_all(in[i] > 1) != 0,
            sub_group_non_uniform_any(in[i] == 6) != 0, sub_group_non_uniform_all_equal(in[i] * 0.5f) != 0);"
    } else {
        ""
    };
    let (global, local) = SIZES[3];
    let count = global[0];
    let source = format!(
        "kernel void test(global uint4 *place, global const int *in, global int8 *out) {{ {PLACE}
             out[i] = (int8)(sub_group_all(in[i]) != 0, sub_group_any(in[i] == 3) != 0,
                 sub_group_broadcast(in[i], get_sub_group_size() - 1), 0, 0, 0, 0, 0); {more} }}"
    );
    let mut random = Random::new(3);
    // Some runs of equal numbers, so that every answer occurs.
    let values: Vec<i32> = (0..count)
        .map(|i| {
            if i / 16 % 2 == 0 {
                7
            } else {
                (random.next() % 9) as i32
            }
        })
        .collect();
    let found = Launch::new(source)
        .output::<[u32; 4]>(count)
        .buffer(&values)
        .output::<[i32; 8]>(count)
        .run(global, local);
    let places = places(&found.get(0));
    let expected: Vec<[i32; 8]> = (0..count)
        .map(|i| {
            let all = together(&places, i, |_| true);
            let mut row = [0; 8];
            row[0] = all.iter().all(|&j| values[j] != 0).into();
            row[1] = all.iter().any(|&j| values[j] == 3).into();
            row[2] = values[*all.last().expect("itself")];
            if extended {
                let here = together(&places, i, |j| values[j] % 2 == values[i] % 2);
                let wanted = if values[i] % 2 == 1 { 5 } else { 6 };
                row[4] = (here[0] == i).into();
                row[5] = here.iter().all(|&j| values[j] > 1).into();
                row[6] = here.iter().any(|&j| values[j] == wanted).into();
                row[7] = here.iter().all(|&j| values[j] == values[i]).into();
            }
            row
        })
        .collect();
    assert_equal(&found.get(2), &expected, |i| {
        format!("work-item {i}: {}", values[i])
    });
}

#[test]
fn sub_group_barriers() {
    let _documented = documents::this_test();
    // Neighbours in a sub-group exchange through local memory.
    let source = "kernel void test(global uint *out, local uint *scratch) {
        size_t l = get_local_id(0);
        uint lane = get_sub_group_local_id(), size = get_sub_group_size();
        local uint *mine = scratch + get_sub_group_id() * get_max_sub_group_size();
        uint x = get_global_id(0);
        for (uint round = 0; round < 5; round++) {
            mine[lane] = x;
            sub_group_barrier(CLK_LOCAL_MEM_FENCE);
            uint next = mine[(lane + 1) % size];
            sub_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_sub_group);
            x = next;
        }
        out[2 * get_global_id(0)] = x;
        mine[lane] = get_global_id(0);
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        out[2 * get_global_id(0) + 1] = mine[(lane + 5) % size]; }";
    let found = Launch::new(source)
        .output::<u32>(2 * 128)
        .local(64 * 4)
        .run(&[128], &[64]);
    for (i, pair) in found.get::<u32>(0).chunks(2).enumerate() {
        assert_eq!(pair[0], pair[1], "work-item {i}");
    }
}

#[test]
fn ballots() {
    let _documented = documents::this_test();
    if !has("cl_khr_subgroup_ballot") {
        return skip("no cl_khr_subgroup_ballot");
    }
    let (global, local) = SIZES[3];
    let count = global[0];
    let source = format!(
        "kernel void test(global uint4 *place, global const uint *in, global uint4 *out) {{ {PLACE}
             global uint4 *o = out + i * 10;
             uint4 odd = sub_group_ballot(in[i] % 2);
             o[0] = odd;
             o[1] = (uint4)(sub_group_inverse_ballot(odd) != 0, sub_group_ballot_bit_extract(odd, in[i] % 3) != 0,
                 sub_group_ballot_bit_count(odd), sub_group_ballot_inclusive_scan(odd));
             o[2] = (uint4)(sub_group_ballot_exclusive_scan(odd), sub_group_ballot_find_lsb(odd),
                 sub_group_ballot_find_msb(odd), sub_group_ballot_bit_count((uint4)(~0u)));
             o[3] = get_sub_group_eq_mask(); o[4] = get_sub_group_ge_mask(); o[5] = get_sub_group_gt_mask();
             o[6] = get_sub_group_le_mask(); o[7] = get_sub_group_lt_mask();
             uint seen = 0;
             if (in[i] % 4 == 1) {{ o[8] = sub_group_ballot(1); seen = sub_group_broadcast_first(in[i]); }}
             else {{ o[8] = sub_group_ballot(in[i] % 8 == 2); seen = sub_group_broadcast_first(in[i]) + 1; }}
             o[9] = (uint4)(seen, sub_group_non_uniform_broadcast(in[i], 1), get_max_sub_group_size(), 0);
         }}"
    );
    let mut random = Random::new(5);
    let values: Vec<u32> = (0..count).map(|_| random.next() as u32 % 64).collect();
    let found = Launch::new(source)
        .output::<[u32; 4]>(count)
        .buffer(&values)
        .output::<[u32; 4]>(count * 10)
        .run(global, local);
    let places = places(&found.get(0));
    let results: Vec<[u32; 4]> = found.get(2);
    let words =
        |bits: u128| -> [u32; 4] { std::array::from_fn(|word| (bits >> (32 * word)) as u32) };
    for i in 0..count {
        let o = &results[i * 10..][..10];
        let Place { lane, .. } = places[i];
        let most = o[9][2];
        let all = together(&places, i, |_| true);
        let mask = |of: &dyn Fn(usize) -> bool| -> u128 {
            let set = all.iter().filter(|&&j| of(j));
            set.map(|&j| 1u128 << places[j].lane).sum()
        };
        let odd = mask(&|j| values[j] % 2 == 1);
        let below = (1u128 << lane) - 1;
        let up_to = (below << 1) | 1;
        let valid = if most == 128 { !0 } else { (1u128 << most) - 1 };
        assert_eq!(o[0], words(odd));
        let bit = (odd >> (values[i] % 3)) as u32 & 1;
        let mine = (odd >> lane) as u32 & 1;
        assert_eq!(
            o[1],
            [mine, bit, odd.count_ones(), (odd & up_to).count_ones()]
        );
        assert_eq!(o[2][0], (odd & below).count_ones());
        if odd != 0 {
            assert_eq!(
                o[2][1..3],
                [odd.trailing_zeros(), 127 - odd.leading_zeros()]
            );
        }
        assert_eq!(
            o[2][3], most,
            "bits beyond the largest sub-group don't count"
        );
        assert_eq!(o[3], words(1 << lane));
        assert_eq!(o[4], words(!below & valid));
        assert_eq!(o[5], words(!up_to & valid));
        assert_eq!(o[6], words(up_to));
        assert_eq!(o[7], words(below));
        let branch = |j: usize| values[j] % 4 == 1;
        let first = all
            .iter()
            .find(|&&j| branch(j) == branch(i))
            .expect("itself");
        if branch(i) {
            assert_eq!(o[8], words(mask(&branch)));
            assert_eq!(o[9][0], values[*first]);
        } else {
            assert_eq!(o[8], words(mask(&|j| values[j] % 8 == 2)));
            assert_eq!(o[9][0], values[*first] + 1);
        }
        if all.len() > 1 {
            assert_eq!(o[9][1], values[all[1]]);
        }
    }
}
