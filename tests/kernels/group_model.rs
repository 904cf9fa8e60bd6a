//! What tests of collectives share: a model on the host of which work-items act together.
//!
//! How the device forms sub-groups is its own affair: kernels tell, and the model follows.

use super::harness::{Launch, Plain, rounds, session};
use super::random::Random;

/// A work-item's group (work-group, and sub-group in it), its place in that, and the sub-group's size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub work_group: u32,
    pub sub_group: u32,
    pub lane: u32,
    pub size: u32,
}

/// Puts `place[i]` first: work-items of any dimensions by their linear global id.
pub(super) const PLACE: &str = "
    size_t i = get_global_linear_id();
    uint work_group = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0)
        + get_group_id(0);
    place[i] = (uint4)(work_group, get_sub_group_id(), get_sub_group_local_id(), get_sub_group_size());
";

pub(super) fn places(raw: &[[u32; 4]]) -> Vec<Place> {
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
pub(super) fn together(places: &[Place], i: usize, also: impl Fn(usize) -> bool) -> Vec<usize> {
    let same = |a: &Place, b: &Place| (a.work_group, a.sub_group) == (b.work_group, b.sub_group);
    let mut all: Vec<usize> = (0..places.len())
        .filter(|&j| same(&places[i], &places[j]) && also(j))
        .collect();
    all.sort_by_key(|&j| places[j].lane);
    all
}

/// `max_sub_group_size` of a kernel that asks for no size.
pub(super) fn sub_group_size() -> usize {
    let source = "kernel void test(global uint *out) { *out = get_max_sub_group_size(); }";
    let found = Launch::new(source).output::<u32>(1).run(&[1], &[1]);
    found.get::<u32>(0)[0] as usize
}

/// For each work-item the number of the branch that it takes, of 0 and 1, or 2 for none of them.
///
/// Each work-group of `local` work-items mixes them in its own way: evenly, nearly all in the first or in none,
/// and all in the second.
pub(super) fn branches(random: &mut Random, count: usize, local: usize) -> Vec<u32> {
    (0..count)
        .map(|i| {
            let (any, rarely) = (random.next() as u32 % 3, random.next().is_multiple_of(8));
            match i / local % 4 {
                1 if !rarely => 0,
                2 if !rarely => 2,
                3 => 1,
                _ => any,
            }
        })
        .collect()
}

/// Global and local size of what runs in [`branches`]: many sub-groups, some of them not whole.
pub(super) const BRANCHED: (&[usize], &[usize]) = (&[770], &[77]);

/// What the model needs of a type.
pub(super) trait Scalar: Plain {
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

pub(super) const KINDS: [&str; 3] = ["reduce", "scan_inclusive", "scan_exclusive"];

/// The result for the member at `at` of those that act together.
pub(super) fn model<T: Scalar>(kind: &str, op: &str, values: &[T], at: usize) -> T {
    let end = match kind {
        "scan_inclusive" => at + 1,
        "scan_exclusive" => at,
        _ => values.len(),
    };
    values[..end]
        .iter()
        .fold(T::identity(op), |sum, &value| T::apply(op, sum, value))
}

/// Global sizes and local ones: odd, larger than any sub-group, of several dimensions.
pub(super) const SIZES: [(&[usize], &[usize]); 6] = [
    (&[64], &[32]),
    (&[21], &[7]),
    (&[3], &[1]),
    (&[154], &[77]),
    (&[6, 10, 4], &[3, 5, 2]),
    (&[32, 8], &[16, 4]),
];

/// Arithmetic collectives named `prefix` + kind + op on values of `ty`, which host and device exchange as `T`;
/// `members(places, branch, i)` are those that act together with `i`.
pub(super) fn arithmetic<T: Scalar>(
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
    let body = if prefix.contains("non_uniform") {
        format!("if (branch[i] == 0) {{ {body} }} else if (branch[i] == 1) {{ {body} }}")
    } else {
        body
    };
    let source = format!(
        "{HALVES}kernel void test(global uint4 *place, global const {exchanged} *in, global const uint *branch,
             global {exchanged} *out) {{ {PLACE} {ty} x = ({ty})in[i]; {body} }}"
    );
    for round in rounds() {
        let mut random = Random::new(count as u64 + (round << 32));
        let values: Vec<T> = (0..count).map(|_| T::small(&mut random)).collect();
        let branch = branches(&mut random, count, local.iter().product());
        let found = Launch::new(source.as_str())
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
}

/// Calls `$check` with each type that the device has of those the specification lists.
macro_rules! for_each_type {
    ($check:ident, small: $small:expr) => {{
        let has = |extension| crate::harness::session().has(extension);
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

/// What a program needs that uses `half`; those without may say it too.
pub(super) const HALVES: &str = "\
#ifdef cl_khr_fp16\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#endif\n";

pub(super) const BASIC: [&str; 3] = ["add", "min", "max"];

/// The operations of cl_khr_subgroup_non_uniform_arithmetic on a type.
pub(super) fn operations(ty: &str) -> &'static [&'static str] {
    if is_float(ty) {
        &["add", "mul", "min", "max"]
    } else {
        &["add", "mul", "min", "max", "and", "or", "xor"]
    }
}

pub(super) fn has(extension: &str) -> bool {
    session().has(extension)
}

pub(super) fn is_float(ty: &str) -> bool {
    matches!(ty, "half" | "float" | "double")
}
