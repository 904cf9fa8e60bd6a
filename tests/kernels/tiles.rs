//! Loops over tiles in local memory, where all work-items of a sub-group load the same, and vectors of local memory at
//! alignments that the source does not state.

use super::harness::{Launch, assert_equal, session, skip};
use super::random::Random;

fn words(seed: u64, count: usize) -> Vec<u32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.next() as u32).collect()
}

/// Sums of products over all of a tile, for each work-item of groups of 64; 64, 12 and 7 rounds.
#[test]
fn rounds_over_a_tile() {
    for count in [64usize, 12, 7] {
        let source = format!(
            "
    kernel __attribute__((reqd_work_group_size(64, 1, 1)))
    void test(global const uint4 *a, global uint4 *out) {{
        local uint4 tile[64];
        tile[get_local_id(0)] = a[get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        uint4 sum = 0;
        for (uint j = 0; j < {count}; j++)
            sum = (sum ^ tile[j]) * (2 * (uint)get_local_id(0) + 3) + tile[j].w;
        out[get_global_id(0)] = sum;
    }}"
        );
        let a = words(75, 128 * 4);
        let expected: Vec<u32> = (0..128)
            .flat_map(|item| {
                let (group, local) = (item / 64, (item % 64) as u32);
                let mut sum = [0u32; 4];
                for j in 0..count {
                    let at = (group * 64 + j) * 4;
                    for (part, &word) in sum.iter_mut().zip(&a[at..at + 4]) {
                        *part = (*part ^ word)
                            .wrapping_mul(2 * local + 3)
                            .wrapping_add(a[at + 3]);
                    }
                }
                sum
            })
            .collect();
        let found = Launch::new(&source)
            .buffer(&a)
            .output::<u32>(a.len())
            .run(&[128], &[64]);
        assert_equal(&found.get(1), &expected, |_| format!("{count} rounds"));
    }
}

/// The rows and columns of a square of 16 x 16, read upwards and downwards.
#[test]
fn rounds_downwards_and_by_columns() {
    if session().max_group() < 256 {
        return skip("work-groups of 256 work-items are too large for the device");
    }
    let source = "
    kernel __attribute__((reqd_work_group_size(16, 16, 1)))
    void test(global const uint *a, global uint *out) {
        local uint tile[16][17];
        uint x = get_local_id(0), y = get_local_id(1);
        tile[y][x] = a[y * 16 + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        uint sum = 0;
        for (uint j = 0; j < 16; j++) sum = sum * 3 + tile[j][y];
        for (int j = 15; j >= 0; j--) sum = sum * 5 + tile[y][j];
        for (int j = 15; j >= 0; j--) sum = sum * 7 + tile[j][x];
        out[y * 16 + x] = sum;
    }";
    let a = words(76, 256);
    let expected: Vec<u32> = (0..256)
        .map(|item| {
            let (x, y) = (item % 16, item / 16);
            let mut sum = 0u32;
            let mut add = |by: u32, word: u32| sum = sum.wrapping_mul(by).wrapping_add(word);
            (0..16).for_each(|j| add(3, a[j * 16 + y]));
            (0..16).rev().for_each(|j| add(5, a[y * 16 + j]));
            (0..16).rev().for_each(|j| add(7, a[j * 16 + x]));
            sum
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(256)
        .run(&[16, 16], &[16, 16]);
    assert_equal(&found.get(1), &expected, |_| String::new());
}

/// One work-item stores into the tile between the rounds' loads: no load may be made before it.
#[test]
fn a_tile_that_changes_within_rounds() {
    let source = "
    kernel __attribute__((reqd_work_group_size(8, 1, 1)))
    void test(global const uint *a, global uint *out) {
        local uint tile[32];
        uint k = get_local_id(0);
        for (uint i = k; i < 32; i += 8) tile[i] = a[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        uint sum = 0;
        for (uint j = 0; j < 16; j++) {
            sum = sum * 3 + tile[j];
            barrier(CLK_LOCAL_MEM_FENCE);
            if (k == j % 8) tile[j + 1] += sum;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        out[k] = sum + tile[k];
    }";
    let mut tile = words(77, 32);
    let a = tile.clone();
    let mut sum = 0u32;
    for j in 0..16 {
        sum = sum.wrapping_mul(3).wrapping_add(tile[j]);
        tile[j + 1] = tile[j + 1].wrapping_add(sum);
    }
    let expected: Vec<u32> = (0..8).map(|k| sum.wrapping_add(tile[k])).collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(8)
        .run(&[8], &[8]);
    assert_equal(&found.get(1), &expected, |_| String::new());
}

/// Every third work-item returns early, and of the others each makes its own number of rounds.
#[test]
fn rounds_that_some_do_not_make() {
    let source = "
    kernel __attribute__((reqd_work_group_size(32, 1, 1)))
    void test(global const uint *a, global uint *out) {
        local uint tile[32];
        uint k = get_local_id(0);
        tile[k] = a[k];
        out[k] = 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (k % 3 == 0) return;
        uint sum = 0;
        for (uint j = 0; j < 16; j++) sum = sum * 3 + tile[j];
        for (uint j = 0; j < k; j++) sum = sum * 5 + tile[j];
        out[k] = sum;
    }";
    let a = words(78, 32);
    let expected: Vec<u32> = (0..32)
        .map(|k| {
            let sum = |sum: u32, by: u32, to: usize| {
                a[..to]
                    .iter()
                    .fold(sum, |sum, word| sum.wrapping_mul(by).wrapping_add(*word))
            };
            match k % 3 {
                0 => 1,
                _ => sum(sum(0, 3, 16), 5, k),
            }
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(32)
        .run(&[32], &[32]);
    assert_equal(&found.get(1), &expected, |_| String::new());
}

/// Whole vectors, vectors across vectors, and scalars of the same array.
#[test]
fn vectors_of_scalar_arrays() {
    let source = "
    kernel void test(global const uint *a, global uint4 *out) {
        local uint tile[128];
        uint k = get_local_id(0);
        tile[k] = a[k];
        *(local uint4 *)&tile[32 + 4 * (k % 8)] = vload4(k % 8, a + 32);
        vstore2(vload2(k, a + 64), k, tile + 64);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint4 whole = *(local uint4 *)&tile[4 * k];
        uint4 across = vload4(0, tile + 3 * k);
        uint2 pair = *(local uint2 *)&tile[2 * k];
        out[k] = whole * 3 + across * 5 + (uint4)(pair, pair) * 7 + tile[127 - k];
    }";
    let a = words(79, 128);
    let expected: Vec<u32> = (0..32usize)
        .flat_map(|k| {
            let a = &a;
            (0..4).map(move |part| {
                a[4 * k + part]
                    .wrapping_mul(3)
                    .wrapping_add(a[3 * k + part].wrapping_mul(5))
                    .wrapping_add(a[2 * k + part % 2].wrapping_mul(7))
                    .wrapping_add(a[127 - k])
            })
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(128)
        .run(&[32], &[32]);
    assert_equal(&found.get(1), &expected, |_| String::new());
}

/// A pointer that may be to either of two arrays, the first of an odd length, and to vectors in them.
#[test]
fn arrays_of_one_class() {
    let source = "
    kernel void test(global const uint *a, global uint4 *out, local uint4 *third) {
        local uint first[5];
        local uint4 second[16];
        uint k = get_local_id(0);
        if (k < 5) first[k] = a[k];
        second[k] = vload4(k, a);
        third[k] = second[k].wzyx;
        barrier(CLK_LOCAL_MEM_FENCE);
        local uint *either = k % 2 ? first : (local uint *)second;
        local uint4 *vector = k % 3 ? second : third;
        out[k] = vector[15 - k] + either[k % 5];
    }";
    let a = words(80, 64);
    let expected: Vec<u32> = (0..16usize)
        .flat_map(|k| {
            let a = &a;
            (0..4).map(move |part| {
                let part = if k % 3 == 0 { 3 - part } else { part };
                a[4 * (15 - k) + part].wrapping_add(a[k % 5])
            })
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(64)
        .local(16 * 16)
        .run(&[16], &[16]);
    assert_equal(&found.get(1), &expected, |_| String::new());
}
