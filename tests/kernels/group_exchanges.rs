//! Collectives that hand values from one work-item to another, against a model on the host.

use super::documents;
use super::group_model::{BRANCHED, HALVES, PLACE, Place, Scalar, branches, has, places, together};
use super::harness::{Launch, assert_equal, rounds, skip};
use super::random::Random;
use std::fmt::Write;

#[test]
fn shuffles() {
    let _documented = documents::this_test();
    if !has("cl_khr_subgroup_shuffle") || !has("cl_khr_subgroup_shuffle_relative") {
        return skip("no cl_khr_subgroup_shuffle or no cl_khr_subgroup_shuffle_relative");
    }
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        let rotates = has("cl_khr_subgroup_rotate");
        let more = if rotates {
            "o[5] = sub_group_rotate(x, 3); o[6] = sub_group_clustered_rotate(x, 1, 4);
             o[7] = sub_group_rotate(x, -1);"
        } else {
            ""
        };
        // Whole sub-groups only: what an absent work-item holds is not defined.
        let (global, local) = (&[128usize], &[64usize]);
        let count = global[0];
        let mut random = Random::new(9);
        let values: Vec<T> = (0..count).map(|_| T::small(&mut random)).collect();
        let lanes: Vec<u32> = (0..count).map(|_| random.next() as u32 % 4).collect();
        let source = format!(
            "{HALVES}kernel void test(global uint4 *place, global const {exchanged} *in, global const uint *lanes,
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

/// `nth(mask, n)` is the place of bit number `n` of those that are set.
const NTH: &str = "
uint nth(uint4 mask, uint n) {
    uint place = 0;
    for (uint lane = 0; lane < 128; lane++)
        if (sub_group_ballot_bit_extract(mask, lane) && n-- == 0) place = lane;
    return place;
}
";

/// Only those in the same branch take part, whoever they are.
#[test]
fn exchanges_in_branches() {
    let _documented = documents::this_test();
    for extension in [
        "cl_khr_subgroup_ballot",
        "cl_khr_subgroup_shuffle",
        "cl_khr_subgroup_shuffle_relative",
        "cl_khr_subgroup_non_uniform_vote",
    ] {
        if !has(extension) {
            return skip(&format!("no {extension}"));
        }
    }
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        let body = "
            uint4 here = sub_group_ballot(1);
            uint n = sub_group_ballot_bit_count(here), rank = sub_group_ballot_exclusive_scan(here);
            o[0] = sub_group_broadcast_first(x);
            o[1] = sub_group_non_uniform_broadcast(x, sub_group_ballot_find_msb(here));
            o[2] = sub_group_shuffle(x, nth(here, (rank * 3 + 1) % n));
            o[3] = sub_group_shuffle_xor(x, 1);
            o[4] = sub_group_shuffle_up(x, 1);
            o[5] = sub_group_shuffle_down(x, 2);
            equal[i] = sub_group_non_uniform_all_equal(x) != 0;";
        let source = format!(
            "{HALVES}{NTH}kernel void test(global uint4 *place, global const {exchanged} *in,
                 global const uint *branch, global {exchanged} *out, global int *equal) {{
                 {PLACE} {ty} x = ({ty})in[i]; global {exchanged} *o = out + i * 6;
                 if (branch[i] == 0) {{ {body} }} else if (branch[i] == 1) {{ {body} }} }}"
        );
        for round in rounds() {
            let (global, local) = BRANCHED;
            let count = global[0];
            let mut random = Random::new(17 + (round << 32));
            // In every other work-group all hold the same but one or two.
            let values: Vec<T> = (0..count)
                .map(|i| {
                    let one = T::small(&mut random);
                    if i / local[0] % 2 == 0 && i % 50 != 0 {
                        T::identity("mul")
                    } else {
                        one
                    }
                })
                .collect();
            let branch = branches(&mut random, count, local[0]);
            let found = Launch::new(source.as_str())
                .output::<[u32; 4]>(count)
                .buffer(&values)
                .buffer(&branch)
                .output::<T>(count * 6)
                .output::<i32>(count)
                .run(global, local);
            let places = places(&found.get(0));
            let (results, equal) = (found.get::<T>(3), found.get::<i32>(4));
            for i in (0..count).filter(|&i| branch[i] < 2) {
                let members = together(&places, i, |j| branch[j] == branch[i]);
                let n = members.len();
                let rank = members.iter().position(|&j| j == i).expect("itself");
                // The value of the member at a place, if there is one.
                let at = |lane: Option<u32>| {
                    let member = members.iter().find(|&&j| Some(places[j].lane) == lane);
                    member.map(|&j| values[j])
                };
                let lane = places[i].lane;
                let expected = [
                    Some(values[members[0]]),
                    Some(values[members[n - 1]]),
                    Some(values[members[(rank * 3 + 1) % n]]),
                    at(Some(lane ^ 1)),
                    at(lane.checked_sub(1)),
                    at(Some(lane + 2)),
                ];
                for (operation, (expected, found)) in
                    expected.iter().zip(&results[i * 6..]).enumerate()
                {
                    // What somebody holds who does not take part is not defined.
                    if let Some(expected) = expected {
                        assert_eq!(
                            found, expected,
                            "operation {operation} on {ty}, {rank} of {n} in work-item {i}"
                        );
                    }
                }
                let same = members.iter().all(|&j| values[j] == values[i]);
                assert_eq!(equal[i], i32::from(same), "{ty}, work-item {i}");
            }
        }
    }
    for_each_type!(check, small: true);
}

/// Broadcasts, the only ones that take vectors, of every type and width.
#[test]
fn vectors_move_whole() {
    let _documented = documents::this_test();
    if !has("cl_khr_subgroup_extended_types") {
        return skip("no cl_khr_subgroup_extended_types");
    }
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        let call = "sub_group_broadcast(x, get_sub_group_size() / 2)";
        broadcast_vectors::<T>(ty, exchanged, call, |places, i, _| {
            let all = together(places, i, |_| true);
            Some(all[all.len() / 2])
        });
    }
    for_each_type!(check, small: true);
}

/// The same from one of those in a branch to the others in it.
#[test]
fn vectors_in_a_branch() {
    let _documented = documents::this_test();
    if !has("cl_khr_subgroup_ballot") {
        return skip("no cl_khr_subgroup_ballot");
    }
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        let call = "sub_group_non_uniform_broadcast(x, last)";
        broadcast_vectors::<T>(ty, exchanged, call, |places, i, branch| {
            let last = together(places, i, |j| branch[j] < 2).pop();
            last.filter(|_| branch[i] < 2)
        });
    }
    for_each_type!(check, small: true);
}

/// Checks `call`, which hands on vectors `x`, against the work-item that `source(places, i, branch)` says `i` has
/// its value from; it is in a branch where that is `None` for some.
fn broadcast_vectors<T: Scalar>(
    ty: &str,
    exchanged: &str,
    call: &str,
    source_of: impl Fn(&[Place], usize, &[u32]) -> Option<usize>,
) {
    const WIDTHS: [usize; 5] = [2, 3, 4, 8, 16];
    /// Elements of one of each.
    const ALL: usize = 33;
    let mut body = String::new();
    let mut at = 0;
    for width in WIDTHS {
        let _ = writeln!(
            body,
            "{{ {ty}{width} x = convert_{ty}{width}(vload{width}(0, in + i * 16));
                vstore{width}(convert_{exchanged}{width}({call}), 0, out + i * {ALL} + {at}); }}"
        );
        at += width;
    }
    let body = if call.contains("non_uniform") {
        format!(
            "if (branch[i] < 2) {{ uint last = sub_group_ballot_find_msb(sub_group_ballot(1)); {body} }}"
        )
    } else {
        body
    };
    let source = format!(
        "{HALVES}kernel void test(global uint4 *place, global const {exchanged} *in, global const uint *branch,
             global {exchanged} *out) {{ {PLACE} {body} }}"
    );
    let (count, local) = (154, 77);
    let mut random = Random::new(13);
    let values: Vec<T> = (0..count * 16).map(|_| T::small(&mut random)).collect();
    let branch: Vec<u32> = (0..count).map(|_| random.next() as u32 % 3).collect();
    let found = Launch::new(source)
        .output::<[u32; 4]>(count)
        .buffer(&values)
        .buffer(&branch)
        .output::<T>(count * ALL)
        .run(&[count], &[local]);
    let places = places(&found.get(0));
    let results: Vec<T> = found.get(3);
    for i in 0..count {
        let Some(source) = source_of(&places, i, &branch) else {
            continue;
        };
        let vectors = WIDTHS.iter().map(|&width| &values[source * 16..][..width]);
        let expected: Vec<T> = vectors.flatten().copied().collect();
        assert_equal(&results[i * ALL..][..ALL], &expected, |k| {
            format!("element {k} of vectors of {ty}, work-item {i}")
        });
    }
}
