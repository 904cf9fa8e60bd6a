//! Collectives where control flow divides and meets again: in functions of their own, and on the way out of loops.

use super::group_model::{PLACE, has, places, together};
use super::harness::{Launch, assert_equal, skip};
use super::random::Random;

const COUNT: usize = 154;
const LOCAL: usize = 77;

fn lacks_extensions() -> bool {
    let lacks = !has("cl_khr_subgroup_ballot") || !has("cl_khr_subgroup_non_uniform_arithmetic");
    if lacks {
        skip("no cl_khr_subgroup_ballot or no cl_khr_subgroup_non_uniform_arithmetic");
    }
    lacks
}

/// Says whether two work-items with these values act together.
type Together<'a> = &'a dyn Fn(u32, u32) -> bool;

/// Runs `body` on random numbers below `end`; `result` says what comes out of a value, and of the sum and the number of
/// those that act together: by any one of `models`.
fn check(
    functions: &str,
    body: &str,
    end: u32,
    models: &[Together],
    result: impl Fn(u32, u32, u32) -> u32,
) {
    let source = format!(
        "{functions} kernel void test(global uint4 *place, global const uint *in, global uint *out) {{
             {PLACE} uint x = in[i], r = 0; {body} out[i] = r; }}"
    );
    for seed in [51, 52] {
        let mut random = Random::new(seed);
        let values: Vec<u32> = (0..COUNT).map(|_| random.next() as u32 % end).collect();
        let found = Launch::new(source.as_str())
            .output::<[u32; 4]>(COUNT)
            .buffer(&values)
            .output::<u32>(COUNT)
            .run(&[COUNT], &[LOCAL]);
        let places = places(&found.get(0));
        let expected = models.iter().map(|model| -> Vec<u32> {
            let of = |i: usize| {
                let group = together(&places, i, |j| model(values[i], values[j]));
                let sum = group.iter().map(|&j| j as u32).sum();
                result(values[i], sum, group.len() as u32)
            };
            (0..COUNT).map(of).collect()
        });
        let expected: Vec<Vec<u32>> = expected.collect();
        let found: Vec<u32> = found.get(2);
        if !expected.contains(&found) {
            assert_equal(&found, &expected[0], |i| {
                format!(
                    "work-item {i}, which has {}, and by no other model",
                    values[i]
                )
            });
        }
    }
}

/// A function that is not inlined by the front end, and the same call in both branches.
#[test]
fn in_a_function_of_both_branches() {
    if lacks_extensions() {
        return;
    }
    let functions = "
        __attribute__((noinline)) uint sum_of(uint x) {
            uint4 here = sub_group_ballot(1);
            return sub_group_non_uniform_reduce_add(x) * 100 + sub_group_ballot_bit_count(here); }
        __attribute__((noinline)) uint either(uint odd, uint x) {
            if (odd) return sum_of(x) + 1;
            return sum_of(x); }";
    check(
        functions,
        "if (x % 2) r = sum_of(i); else r = sum_of(i);",
        9,
        &[&|a, b| a % 2 == b % 2],
        |_, sum, count| sum * 100 + count,
    );
    check(
        functions,
        "r = either(x & 1, i);",
        9,
        &[&|a, b| a % 2 == b % 2],
        |x, sum, count| sum * 100 + count + x % 2,
    );
}

/// Those who leave a loop in the same round act together before they do. The language does not say whether those who
/// leave by the same way in another round do too: to LLVM what a loop does on its way out lies behind it.
#[test]
fn before_a_break() {
    if lacks_extensions() {
        return;
    }
    let models: [Together; 2] = [&|_, _| true, &|a, b| a == b];
    check(
        "",
        "for (uint round = 0; round < 8; round++) {
             if (round == x) {
                 r = sub_group_non_uniform_reduce_add((uint)i) * 100
                     + sub_group_ballot_bit_count(sub_group_ballot(1));
                 break;
             }
         }",
        8,
        &models,
        |_, sum, count| sum * 100 + count,
    );
    // The same, with something to do together in each round.
    check(
        "",
        "for (uint round = 0; ; round++) {
             uint staying = sub_group_ballot_bit_count(sub_group_ballot(1));
             if (round == x) {
                 r = sub_group_non_uniform_reduce_add((uint)i) * 100 + (staying > 0);
                 break;
             }
         }",
        8,
        &models,
        |_, sum, _| sum * 100 + 1,
    );
}

/// The same of those who leave a function from a loop; those who come to its end are others.
#[test]
fn before_a_return() {
    if lacks_extensions() {
        return;
    }
    let functions = "
        __attribute__((noinline)) uint leaving(uint x, uint i) {
            for (uint round = 0; round < 5; round++)
                if (round == x) return sub_group_non_uniform_reduce_add(i) * 100;
            return sub_group_non_uniform_reduce_add(i) * 100 + 1; }";
    check(
        functions,
        "r = leaving(x, i);",
        8,
        &[&|a, b| (a < 5) == (b < 5), &|a, b| a.min(5) == b.min(5)],
        |x, sum, _| sum * 100 + u32::from(x >= 5),
    );
}
