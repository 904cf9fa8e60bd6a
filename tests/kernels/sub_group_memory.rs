//! What the work-items of a sub-group see of each other's memory: barriers and atomic operations of their scope.

use super::group_model::{PLACE, places, together};
use super::harness::{Launch, assert_equal};

const COUNT: usize = 128;
const LOCAL: usize = 64;

/// Each sub-group comes to a barrier as often as its number says; others don't wait for it.
#[test]
fn barriers_of_some_sub_groups() {
    let source = format!(
        "kernel void test(global uint4 *place, global uint *out, local uint *scratch) {{ {PLACE}
             uint lane = get_sub_group_local_id(), size = get_sub_group_size();
             local uint *mine = scratch + get_sub_group_id() * get_max_sub_group_size();
             uint x = i;
             for (uint round = 0; round < get_sub_group_id(); round++) {{
                 mine[lane] = x;
                 sub_group_barrier(CLK_LOCAL_MEM_FENCE);
                 x = mine[(lane + 1) % size];
                 sub_group_barrier(CLK_LOCAL_MEM_FENCE);
             }}
             out[i] = x; }}"
    );
    let found = Launch::new(source)
        .output::<[u32; 4]>(COUNT)
        .output::<u32>(COUNT)
        .local(LOCAL * 4)
        .run(&[COUNT], &[LOCAL]);
    let places = places(&found.get(0));
    let expected: Vec<u32> = (0..COUNT)
        .map(|i| {
            let members = together(&places, i, |_| true);
            let at = places[i].lane + places[i].sub_group;
            members[at as usize % members.len()] as u32
        })
        .collect();
    assert_equal(&found.get(1), &expected, |i| format!("work-item {i}"));
}

#[test]
fn atomics_on_global_memory() {
    atomics("global", "");
}

#[test]
fn atomics_on_local_memory() {
    let start = "
        if (get_local_id(0) == 0) for (uint k = 0; k < 64; k++) { counters[k] = 0; data[k] = 0; }
        barrier(CLK_LOCAL_MEM_FENCE);";
    atomics("local", start);
}

/// Everyone leaves a number and takes a ticket; who has the last one sees all numbers.
fn atomics(space: &str, start: &str) {
    // A place in the counters and in the numbers for each sub-group and each work-item.
    let group = match space {
        "global" => "get_group_id(0) * get_local_size(0)",
        _ => "0",
    };
    let source = format!(
        "kernel void test(global uint4 *place, global uint2 *out, {space} uint *counters, {space} uint *data) {{
             {PLACE} {start}
             uint first = {group} + get_sub_group_id() * get_max_sub_group_size();
             volatile {space} atomic_uint *counter = (volatile {space} atomic_uint *)counters + first;
             data[first + get_sub_group_local_id()] = i * 3 + 1;
             uint ticket = atomic_fetch_add_explicit(counter, 1u, memory_order_acq_rel, memory_scope_sub_group);
             uint sum = 0;
             if (ticket == get_sub_group_size() - 1)
                 for (uint k = 0; k < get_sub_group_size(); k++) sum += data[first + k];
             out[i] = (uint2)(ticket, sum); }}"
    );
    let launch = Launch::new(source)
        .output::<[u32; 4]>(COUNT)
        .output::<[u32; 2]>(COUNT);
    let launch = match space {
        "global" => launch.buffer(&[0u32; COUNT]).buffer(&[0u32; COUNT]),
        _ => launch.local(LOCAL * 4).local(LOCAL * 4),
    };
    let found = launch.run(&[COUNT], &[LOCAL]);
    let places = places(&found.get(0));
    let results: Vec<[u32; 2]> = found.get(1);
    for i in 0..COUNT {
        let members = together(&places, i, |_| true);
        let mut tickets: Vec<u32> = members.iter().map(|&j| results[j][0]).collect();
        tickets.sort_unstable();
        let all: Vec<u32> = (0..members.len() as u32).collect();
        assert_equal(&tickets, &all, |at| {
            format!("ticket {at} of {i}'s sub-group")
        });
        let sum: u32 = members.iter().map(|&j| j as u32 * 3 + 1).sum();
        let expected = if results[i][0] + 1 == members.len() as u32 {
            sum
        } else {
            0
        };
        assert_eq!(results[i][1], expected, "work-item {i}");
    }
}
