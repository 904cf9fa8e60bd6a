//! Collectives of work-groups and sub-groups, against a model on the host.
//!
//! How the device forms sub-groups is its own affair: kernels tell, and the model follows.

use super::Test;
use super::harness::{Launch, Plain, assert_equal, session, skip};
use super::random::Random;

pub const TESTS: &[Test] = &[
    ("work_group_arithmetic", work_group_arithmetic),
    ("work_group_votes", work_group_votes),
    ("work_group_broadcasts", work_group_broadcasts),
    ("work_group_functions_in_loops", in_loops),
    ("uniform_arithmetic", uniform_arithmetic),
    ("sub_group_queries", sub_group_queries),
    ("ranges_that_groups_do_not_divide", remainders),
    ("sub_group_arithmetic", sub_group_arithmetic),
    ("sub_group_votes", sub_group_votes),
    ("sub_group_barriers", sub_group_barriers),
    ("non_uniform_arithmetic", non_uniform_arithmetic),
    ("clustered_reductions", clustered_reductions),
    ("ballots", ballots),
    ("shuffles", shuffles),
    ("vectors_move_whole", vectors_move_whole),
    ("loops_that_diverge", divergent_loops),
    ("branches_that_diverge", divergent_branches),
];

/// A work-item's group (work-group, and sub-group in it), its place in that, and the sub-group's size.
#[derive(Clone, Copy, Debug)]
struct Place {
    work_group: u32,
    sub_group: u32,
    lane: u32,
    size: u32,
}

/// Puts `place[i]` first: work-items of any dimensions by their linear global id.
const PLACE: &str = "
    size_t i = get_global_linear_id();
    size_t group = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0)
        + get_group_id(0);
    place[i] = (uint4)(group, get_sub_group_id(), get_sub_group_local_id(), get_sub_group_size());
";

fn places(raw: &[[u32; 4]]) -> Vec<Place> {
    raw.iter()
        .map(|&[work_group, sub_group, lane, size]| Place {
            work_group,
            sub_group,
            lane,
            size,
        })
        .collect()
}

/// The work-items that act together with `i`, in order of their places.
fn together(places: &[Place], i: usize, also: impl Fn(usize) -> bool) -> Vec<usize> {
    let same = |a: &Place, b: &Place| (a.work_group, a.sub_group) == (b.work_group, b.sub_group);
    let mut all: Vec<usize> = (0..places.len())
        .filter(|&j| same(&places[i], &places[j]) && also(j))
        .collect();
    all.sort_by_key(|&j| places[j].lane);
    all
}

/// What the model needs of a type.
trait Scalar: Plain {
    fn small(random: &mut Random) -> Self;
    fn apply(op: &str, a: Self, b: Self) -> Self;
    fn identity(op: &str) -> Self;
}

macro_rules! integer {
    ($($ty:ty)*) => {$(
        impl Scalar for $ty {
            fn small(random: &mut Random) -> Self {
                random.next() as $ty
            }
            fn apply(op: &str, a: Self, b: Self) -> Self {
                match op {
                    "add" => a.wrapping_add(b),
                    "mul" => a.wrapping_mul(b),
                    "min" => a.min(b),
                    "max" => a.max(b),
                    "and" => a & b,
                    "or" => a | b,
                    _ => a ^ b,
                }
            }
            fn identity(op: &str) -> Self {
                match op {
                    "mul" => 1,
                    "min" => <$ty>::MAX,
                    "max" => <$ty>::MIN,
                    "and" => !0,
                    _ => 0,
                }
            }
        }
    )*};
}
integer!(i8 u8 i16 u16 i32 u32 i64 u64);

macro_rules! float {
    ($($ty:ty)*) => {$(
        impl Scalar for $ty {
            // Sums and products of few of these are exact, in half too.
            fn small(random: &mut Random) -> Self {
                [-2.0, -1.0, 0.5, 1.0, 2.0][random.next() as usize % 5]
            }
            fn apply(op: &str, a: Self, b: Self) -> Self {
                match op {
                    "add" => a + b,
                    "mul" => a * b,
                    "min" => a.min(b),
                    _ => a.max(b),
                }
            }
            fn identity(op: &str) -> Self {
                match op {
                    "add" => 0.0,
                    "mul" => 1.0,
                    "min" => <$ty>::INFINITY,
                    _ => <$ty>::NEG_INFINITY,
                }
            }
        }
    )*};
}
float!(f32 f64);

const KINDS: [&str; 3] = ["reduce", "scan_inclusive", "scan_exclusive"];

/// The result for the member at `at` of those that act together.
fn model<T: Scalar>(kind: &str, op: &str, values: &[T], at: usize) -> T {
    let end = match kind {
        "scan_inclusive" => at + 1,
        "scan_exclusive" => at,
        _ => values.len(),
    };
    values[..end]
        .iter()
        .fold(T::identity(op), |sum, &value| T::apply(op, sum, value))
}

/// Local sizes and global ones: odd, larger than any sub-group, of several dimensions.
const SIZES: [(&[usize], &[usize]); 6] = [
    (&[64], &[32]),
    (&[21], &[7]),
    (&[3], &[1]),
    (&[154], &[77]),
    (&[6, 10, 4], &[3, 5, 2]),
    (&[32, 8], &[16, 4]),
];

/// Arithmetic collectives named `prefix` + kind + op on values of `ty`, which host and device exchange as `T`;
/// `members(places, branch, i)` are those that act together with `i`.
fn arithmetic<T: Scalar>(
    ty: &str,
    exchanged: &str,
    prefix: &str,
    ops: &[&str],
    (global, local): (&[usize], &[usize]),
    members: impl Fn(&[Place], &[u32], usize) -> Vec<usize>,
) {
    let calls: Vec<(&str, &str)> = KINDS
        .iter()
        .flat_map(|kind| ops.iter().map(move |op| (*kind, *op)))
        .collect();
    let count: usize = global.iter().product();
    let mut random = Random::new(count as u64);
    let values: Vec<T> = (0..count).map(|_| T::small(&mut random)).collect();
    let branch: Vec<u32> = (0..count).map(|_| random.next() as u32 % 3).collect();
    let body: String = calls
        .iter()
        .enumerate()
        .map(|(at, (kind, op))| {
            format!(
                "out[i * {} + {at}] = {prefix}{kind}_{op}(x);\n",
                calls.len()
            )
        })
        .collect();
    // The same code in branches that must not become one.
    let body = match prefix.contains("non_uniform") {
        true => format!("if (branch[i] == 0) {{ {body} }} else if (branch[i] == 1) {{ {body} }}"),
        false => body,
    };
    let source = format!(
        "kernel void test(global uint4 *place, global const {exchanged} *in, global const uint *branch,
             global {exchanged} *out) {{ {PLACE} {ty} x = ({ty})in[i]; {body} }}"
    );
    let found = Launch::new(source)
        .output::<[u32; 4]>(count)
        .buffer(&values)
        .buffer(&branch)
        .output::<T>(count * calls.len())
        .run(global, local);
    let places = places(&found.get(0));
    let results: Vec<T> = found.get(3);
    for i in 0..count {
        if prefix.contains("non_uniform") && branch[i] == 2 {
            continue;
        }
        let members = members(&places, &branch, i);
        let at = members.iter().position(|&j| j == i).expect("itself");
        let all: Vec<T> = members.iter().map(|&j| values[j]).collect();
        for ((kind, op), found) in calls.iter().zip(&results[i * calls.len()..]) {
            let expected = model(kind, op, &all, at);
            assert_eq!(
                *found, expected,
                "{prefix}{kind}_{op} of {ty}, work-item {i} of {global:?} by {local:?}, {at} of {all:?}"
            );
        }
    }
}

/// Calls `$check` with each type that the device has of those the specification lists.
macro_rules! for_each_type {
    ($check:ident, small: $small:expr) => {{
        let has = |extension| session().is_some_and(|session| session.has(extension));
        $check::<i32>("int", "int");
        $check::<u32>("uint", "uint");
        $check::<i64>("long", "long");
        $check::<u64>("ulong", "ulong");
        $check::<f32>("float", "float");
        if has("cl_khr_fp64") {
            $check::<f64>("double", "double");
        }
        if has("cl_khr_fp16") {
            $check::<f32>("half", "float");
        }
        if $small {
            $check::<i8>("char", "char");
            $check::<u8>("uchar", "uchar");
            $check::<i16>("short", "short");
            $check::<u16>("ushort", "ushort");
        }
    }};
}

const BASIC: [&str; 3] = ["add", "min", "max"];

fn has(extension: &str) -> bool {
    session().is_some_and(|session| session.has(extension))
}

fn is_float(ty: &str) -> bool {
    matches!(ty, "half" | "float" | "double")
}

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

fn uniform_arithmetic() {
    if !has("cl_khr_work_group_uniform_arithmetic") {
        return skip("no cl_khr_work_group_uniform_arithmetic");
    }
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        let ops: &[&str] = match is_float(ty) {
            true => &["mul"],
            false => &["mul", "and", "or", "xor"],
        };
        // Products of few of the numbers are exact.
        let sizes: (&[usize], &[usize]) = match is_float(ty) {
            true => (&[45], &[9]),
            false => (&[154], &[77]),
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

fn sub_group_arithmetic() {
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

fn non_uniform_arithmetic() {
    if !has("cl_khr_subgroup_non_uniform_arithmetic") {
        return skip("no cl_khr_subgroup_non_uniform_arithmetic");
    }
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        let ops: &[&str] = match is_float(ty) {
            true => &["add", "mul", "min", "max"],
            false => &["add", "mul", "min", "max", "and", "or", "xor"],
        };
        for sizes in [SIZES[0], SIZES[4]] {
            let members = |places: &[Place], branch: &[u32], i: usize| {
                together(places, i, |j| branch[j] == branch[i])
            };
            arithmetic::<T>(ty, exchanged, "sub_group_non_uniform_", ops, sizes, members);
        }
    }
    for_each_type!(check, small: true);
}

fn clustered_reductions() {
    if !has("cl_khr_subgroup_clustered_reduce") {
        return skip("no cl_khr_subgroup_clustered_reduce");
    }
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        let ops: &[&str] = match is_float(ty) {
            true => &["add", "mul", "min", "max"],
            false => &["add", "mul", "min", "max", "and", "or", "xor"],
        };
        let (global, local) = (&[140usize], &[70usize]);
        let count = global[0];
        let mut random = Random::new(7);
        let values: Vec<T> = (0..count).map(|_| T::small(&mut random)).collect();
        let branch: Vec<u32> = (0..count).map(|_| random.next() as u32 % 2).collect();
        let calls: Vec<(&str, u32)> = ops
            .iter()
            .flat_map(|op| [1, 2, 4].map(|cluster| (*op, cluster)))
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
            "kernel void test(global uint4 *place, global const {exchanged} *in,
                 global const uint *branch, global {exchanged} *out) {{
                 {PLACE} {ty} x = ({ty})in[i]; if (branch[i]) {{ {body} }} else {{ {body} }} }}"
        );
        let found = Launch::new(source)
            .output::<[u32; 4]>(count)
            .buffer(&values)
            .buffer(&branch)
            .output::<T>(count * calls.len())
            .run(global, local);
        let places = places(&found.get(0));
        let results: Vec<T> = found.get(3);
        for i in 0..count {
            for ((op, cluster), found) in calls.iter().zip(&results[i * calls.len()..]) {
                let members = together(&places, i, |j| {
                    branch[j] == branch[i] && places[j].lane / cluster == places[i].lane / cluster
                });
                let all: Vec<T> = members.iter().map(|&j| values[j]).collect();
                let expected = model("reduce", op, &all, 0);
                assert_eq!(
                    *found, expected,
                    "{op} of {ty} in clusters of {cluster}: {all:?}"
                );
            }
        }
    }
    for_each_type!(check, small: true);
}

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

fn in_loops() {
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

fn sub_group_queries() {
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

/// Work-groups at the end of a range are smaller, and so are their sub-groups.
fn remainders() {
    if !session().is_some_and(|session| session.has_non_uniform_groups()) {
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

/// Work-items leave loops at different times; those that stay act together, and after it all do again.
fn divergent_loops() {
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
fn divergent_branches() {
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

fn sub_group_votes() {
    let extended = has("cl_khr_subgroup_non_uniform_vote");
    let more = match extended {
        true => {
            "if (in[i] % 2) out[i].hi = (int4)(sub_group_elect() != 0, sub_group_non_uniform_all(in[i] > 1) != 0,
                sub_group_non_uniform_any(in[i] == 5) != 0, sub_group_non_uniform_all_equal(in[i]) != 0);
             else out[i].hi = (int4)(sub_group_elect() != 0, sub_group_non_uniform_all(in[i] > 1) != 0,
                sub_group_non_uniform_any(in[i] == 6) != 0, sub_group_non_uniform_all_equal(in[i] * 0.5f) != 0);"
        }
        false => "",
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

fn sub_group_barriers() {
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

fn ballots() {
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

fn shuffles() {
    if !has("cl_khr_subgroup_shuffle") || !has("cl_khr_subgroup_shuffle_relative") {
        return skip("no cl_khr_subgroup_shuffle or no cl_khr_subgroup_shuffle_relative");
    }
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        let rotates = has("cl_khr_subgroup_rotate");
        let more = match rotates {
            true => {
                "o[5] = sub_group_rotate(x, 3); o[6] = sub_group_clustered_rotate(x, 1, 4);
                 o[7] = sub_group_rotate(x, -1);"
            }
            false => "",
        };
        // Whole sub-groups only: what an absent work-item holds is not defined.
        let (global, local) = (&[128usize], &[64usize]);
        let count = global[0];
        let mut random = Random::new(9);
        let values: Vec<T> = (0..count).map(|_| T::small(&mut random)).collect();
        let lanes: Vec<u32> = (0..count).map(|_| random.next() as u32 % 4).collect();
        let source = format!(
            "kernel void test(global uint4 *place, global const {exchanged} *in, global const uint *lanes,
                 global {exchanged} *out) {{
                 {PLACE} {ty} x = ({ty})in[i]; global {exchanged} *o = out + i * 8;
                 uint size = get_sub_group_size(), lane = get_sub_group_local_id();
                 o[0] = sub_group_shuffle(x, lanes[i]); o[1] = sub_group_shuffle_xor(x, size > 2 ? 3 : 0);
                 o[2] = sub_group_shuffle_up(x, lane ? 1 : 0);
                 o[3] = sub_group_shuffle_down(x, lane + 2 < size ? 2 : 0);
                 o[4] = sub_group_broadcast(x, 2 % size); {more} }}"
        );
        let found = Launch::new(source)
            .output::<[u32; 4]>(count)
            .buffer(&values)
            .buffer(&lanes)
            .buffer(&vec![values[0]; count * 8])
            .run(global, local);
        let places = places(&found.get(0));
        let results: Vec<T> = found.get(3);
        for i in 0..count {
            let all = together(&places, i, |_| true);
            let Place { lane, size, .. } = places[i];
            if size < 4 {
                continue;
            }
            let at = |lane: u32| values[all[lane as usize]];
            let mut expected = vec![
                at(lanes[i]),
                at(lane ^ 3),
                at(lane.saturating_sub(1)),
                at(if lane + 2 < size { lane + 2 } else { lane }),
                at(2),
            ];
            if rotates {
                expected.push(at((lane + 3) % size));
                expected.push(at(lane / 4 * 4 + (lane + 1) % 4));
                expected.push(at((lane + size - 1) % size));
            }
            let found = &results[i * 8..][..expected.len()];
            assert_equal(found, &expected, |n| {
                format!("operation {n} on {ty}, work-item {i}")
            });
        }
    }
    for_each_type!(check, small: true);
}

fn vectors_move_whole() {
    if !has("cl_khr_subgroup_extended_types") {
        return skip("no cl_khr_subgroup_extended_types");
    }
    let source = format!(
        "kernel void test(global uint4 *place, global short8 *a, global long3 *b, global uchar16 *c) {{ {PLACE}
             a[i] = sub_group_broadcast(a[i], 0); b[i] = sub_group_broadcast(b[i], 1);
             c[i] = sub_group_broadcast(c[i], 2); }}"
    );
    let count = 64;
    let a: Vec<[i16; 8]> = (0..count)
        .map(|i| std::array::from_fn(|k| i * 8 + k as i16))
        .collect();
    let b: Vec<[i64; 4]> = (0..count.into())
        .map(|i: i64| [i << 40, -i, i * 3, 0])
        .collect();
    let c: Vec<[u8; 16]> = (0..count)
        .map(|i| std::array::from_fn(|k| (i * 5) as u8 ^ k as u8))
        .collect();
    let found = Launch::new(source)
        .output::<[u32; 4]>(a.len())
        .buffer(&a)
        .buffer(&b)
        .buffer(&c)
        .run(&[a.len()], &[32]);
    let places = places(&found.get(0));
    let found = (
        found.get::<[i16; 8]>(1),
        found.get::<[i64; 4]>(2),
        found.get::<[u8; 16]>(3),
    );
    for i in 0..a.len() {
        let all = together(&places, i, |_| true);
        if all.len() > 2 {
            assert_eq!(found.0[i], a[all[0]]);
            assert_eq!(found.1[i][..3], b[all[1]][..3]);
            assert_eq!(found.2[i], c[all[2]]);
        }
    }
}
