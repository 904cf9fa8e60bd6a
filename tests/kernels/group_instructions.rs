//! SPIR-V's group instructions on vectors, which OpenCL C has no functions for, against a model on the host.
//!
//! clang makes an instruction of a function that is named like it with `__spirv_` before.

use super::group_model::{BASIC, HALVES, PLACE, Scalar, has, model, operations, places, together};
use super::harness::{Launch, rounds, skip};
use super::random::Random;
use std::fmt::Write;

const WIDTHS: [usize; 5] = [2, 3, 4, 8, 16];

/// `GroupOperation`: its number is its place.
const KINDS: [&str; 4] = ["reduce", "scan_inclusive", "scan_exclusive", "clustered"];

const CLUSTER: u32 = 4;

/// Scopes of SPIR-V.
const WORK_GROUP: u32 = 2;
const SUB_GROUP: u32 = 3;

/// An instruction on a vector, and where its result goes.
struct Call {
    op: &'static str,
    kind: usize,
    scope: u32,
    width: usize,
    at: usize,
}

/// One instruction for each width; which, goes round with `turn`. And the number of elements of all results.
fn calls(
    ops: &[&'static str],
    kinds: usize,
    scope: u32,
    widths: &[usize],
    turn: usize,
) -> (Vec<Call>, usize) {
    let mut total = 0;
    let calls = widths.iter().enumerate().map(|(number, &width)| {
        total += width;
        Call {
            op: ops[(number + turn) % ops.len()],
            kind: (number + turn + turn / kinds) % kinds,
            scope,
            width,
            at: total - width,
        }
    });
    (calls.collect(), total)
}

/// The end of an instruction's name.
fn instruction(op: &str, ty: &str) -> String {
    let sort = match ty {
        "half" | "float" | "double" => 'F',
        _ if matches!(op, "add" | "mul") => 'I',
        _ if ty.starts_with('u') => 'U',
        _ => 'S',
    };
    match op {
        "add" => format!("{sort}Add"),
        "mul" => format!("{sort}Mul"),
        "min" => format!("{sort}Min"),
        "max" => format!("{sort}Max"),
        "and" => "BitwiseAnd".into(),
        "or" => "BitwiseOr".into(),
        _ => "BitwiseXor".into(),
    }
}

/// Declarations of the instructions, and the code that stores what they give.
fn code(prefix: &str, ty: &str, exchanged: &str, calls: &[Call], total: usize) -> [String; 2] {
    let (mut declarations, mut body) = (String::new(), String::new());
    for call in calls {
        let Call {
            kind,
            scope,
            width,
            at,
            ..
        } = call;
        let name = format!("__spirv_{prefix}{}", instruction(call.op, ty));
        let clustered = KINDS[*kind] == "clustered";
        let (parameter, cluster) = if clustered {
            (", uint", format!(", {CLUSTER}u"))
        } else {
            ("", String::new())
        };
        let _ = writeln!(
            declarations,
            "{ty}{width} __attribute__((overloadable, convergent)) {name}(int, int, {ty}{width}{parameter});"
        );
        let _ = writeln!(
            body,
            "vstore{width}(convert_{exchanged}{width}({name}({scope}, {kind},
                 convert_{ty}{width}(vload{width}(0, in + i * 16)){cluster})), 0, out + i * {total} + {at});"
        );
    }
    [declarations, body]
}

const COUNT: usize = 154;
const LOCAL: usize = 77;

struct Given<T> {
    values: Vec<T>,
    branch: Vec<u32>,
}

impl<T: Scalar> Given<T> {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        Self {
            values: (0..COUNT * 16).map(|_| T::small(&mut random)).collect(),
            branch: (0..COUNT).map(|_| random.next() as u32 % 3).collect(),
        }
    }

    /// One element of each member's vector.
    fn elements(&self, members: &[usize], element: usize) -> Vec<T> {
        members
            .iter()
            .map(|&j| self.values[j * 16 + element])
            .collect()
    }
}

/// `OpGroup*` of a sub-group.
#[test]
fn of_vectors_by_a_sub_group() {
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        for round in rounds() {
            vectors_by_all::<T>(ty, exchanged, SUB_GROUP, &WIDTHS, round);
        }
    }
    for_each_type!(check, small: has("cl_khr_subgroup_extended_types"));
}

/// `OpGroup*` of a work-group.
#[test]
fn of_vectors_by_a_work_group() {
    for round in rounds() {
        vectors_by_all::<i32>("int", "int", WORK_GROUP, &[2], round);
        vectors_by_all::<u64>("ulong", "ulong", WORK_GROUP, &[3], round);
        vectors_by_all::<f32>("float", "float", WORK_GROUP, &[4], round);
    }
}

fn vectors_by_all<T: Scalar>(ty: &str, exchanged: &str, scope: u32, widths: &[usize], round: u64) {
    let turn = round as usize + ty.len();
    let (calls, total) = calls(&BASIC, 3, scope, widths, turn);
    let [declarations, body] = code("Group", ty, exchanged, &calls, total);
    let source = format!(
        "{HALVES}{declarations}kernel void test(global uint4 *place, global const {exchanged} *in,
                 global {exchanged} *out) {{ {PLACE} {body} }}"
    );
    let given = Given::<T>::new(41 + round);
    let found = Launch::new(source)
        .output::<[u32; 4]>(COUNT)
        .buffer(&given.values)
        .output::<T>(COUNT * total)
        .run(&[COUNT], &[LOCAL]);
    let places = places(&found.get(0));
    let results: Vec<T> = found.get(2);
    for i in 0..COUNT {
        let members = match scope {
            WORK_GROUP => (0..COUNT).filter(|j| j / LOCAL == i / LOCAL).collect(),
            _ => together(&places, i, |_| true),
        };
        for call in &calls {
            let at = members.iter().position(|&j| j == i).expect("itself");
            for element in 0..call.width {
                let all = given.elements(&members, element);
                assert_eq!(
                    results[i * total + call.at + element],
                    model(KINDS[call.kind], call.op, &all, at),
                    "{} {} of {ty}{}, element {element}, {at} of {all:?}",
                    KINDS[call.kind],
                    call.op,
                    call.width
                );
            }
        }
    }
}

/// `OpGroupNonUniform*`, by some of the work-items.
#[test]
fn of_vectors_by_some() {
    if !has("cl_khr_subgroup_non_uniform_arithmetic") || !has("cl_khr_subgroup_clustered_reduce") {
        return skip("no non-uniform arithmetic or no clustered reductions");
    }
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        for round in rounds() {
            by_some::<T>(ty, exchanged, round);
        }
    }
    fn by_some<T: Scalar>(ty: &str, exchanged: &str, round: u64) {
        let turn = round as usize + ty.len();
        let (calls, total) = calls(operations(ty), KINDS.len(), SUB_GROUP, &WIDTHS, turn);
        let [declarations, body] = code("GroupNonUniform", ty, exchanged, &calls, total);
        let source = format!(
            "{HALVES}{declarations}kernel void test(global uint4 *place, global const {exchanged} *in,
                 global const uint *branch, global {exchanged} *out) {{ {PLACE}
                 if (branch[i] < 2) {{ {body} }} }}"
        );
        let given = Given::<T>::new(43 + round);
        let found = Launch::new(source)
            .output::<[u32; 4]>(COUNT)
            .buffer(&given.values)
            .buffer(&given.branch)
            .output::<T>(COUNT * total)
            .run(&[COUNT], &[LOCAL]);
        let places = places(&found.get(0));
        let results: Vec<T> = found.get(3);
        for i in (0..COUNT).filter(|&i| given.branch[i] < 2) {
            let here = together(&places, i, |j| given.branch[j] < 2);
            let cluster = |j: usize| places[j].lane / CLUSTER;
            for call in &calls {
                let kind = KINDS[call.kind];
                let (members, kind): (Vec<usize>, _) = match kind {
                    "clustered" => {
                        let same = here.iter().filter(|&&j| cluster(j) == cluster(i));
                        (same.copied().collect(), "reduce")
                    }
                    _ => (here.clone(), kind),
                };
                let at = members.iter().position(|&j| j == i).expect("itself");
                for element in 0..call.width {
                    let all = given.elements(&members, element);
                    assert_eq!(
                        results[i * total + call.at + element],
                        model(kind, call.op, &all, at),
                        "{kind} {} of {ty}{}, element {element}, {at} of {all:?}",
                        call.op,
                        call.width
                    );
                }
            }
        }
    }
    for_each_type!(check, small: true);
}
