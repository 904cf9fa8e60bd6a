//! Loops of many iterations, and how their ends are found.

use super::control_flow::words;
use super::harness::{Launch, assert_equal};

/// More than the 65,535 iterations that llvmpipe makes: of loops of a known number of iterations, of one that is known as the
/// loop begins, and of one with another way out.
#[test]
fn many_iterations() {
    const ITERATIONS: u32 = 300;
    const LAST: u32 = 200_000;
    let source = "
    kernel void test(uint iterations, uint last, uint bound, global uint *words, global uint *out) {
        for (uint iteration = 0; iteration < iterations; iteration++) {
            for (uint k = 0; k < 256; k++) words[k] = words[k] * 5 + iteration;
        }
        uint sum = 0;
        for (uint k = 0; k < last; k++) sum = sum * 3 + words[k & 255];
        out[0] = sum;
        uint k = 0;
        for (; k < last; k++) {
            sum = sum * 1664525 + 1013904223;
            if ((sum ^ k) == bound) break;
        }
        out[1] = k;
        out[2] = sum;
    }";
    let mut words: Vec<u32> = words();
    let start = words.clone();
    for iteration in 0..ITERATIONS {
        for word in &mut words {
            *word = word.wrapping_mul(5).wrapping_add(iteration);
        }
    }
    let sum = (0..LAST).fold(0u32, |sum, k| {
        sum.wrapping_mul(3).wrapping_add(words[k as usize & 255])
    });
    let next = |sum: u32| sum.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    // The way out is taken in the iteration before the last.
    let mut end = sum;
    (0..LAST - 1).for_each(|_| end = next(end));
    let bound = end ^ (LAST - 2);
    let mut expected = [sum, 0, sum];
    while expected[1] < LAST {
        expected[2] = next(expected[2]);
        if expected[2] ^ expected[1] == bound {
            break;
        }
        expected[1] += 1;
    }
    let found = Launch::new(source.to_owned())
        .value(ITERATIONS)
        .value(LAST)
        .value(bound)
        .buffer(&start)
        .output::<u32>(3)
        .run(&[1], &[]);
    assert_equal(&found.get::<u32>(1), &expected, |i| format!("word {i}"));
}

/// Loops that are left, or come to what they compare with, when their counter wraps around, and loops of which the counter is a
/// float, whose sums are not products. They only store, or the compiler would unroll them.
#[test]
fn counters_that_end_early() {
    let source = "
    kernel void test(global uint *out, global volatile uint *now) {
        uint x = -3;
        for (; x > 21; x += 2) *now = x;
        out[0] = x;
        ulong y = -3L;
        for (; y > 21; y += 2) *now = y;
        out[1] = y;
        x = 0x7ffffffd;
        for (; (int)x > -0x7ffffff0; x += 2) *now = x;
        out[2] = x;
        x = -0x7ffffffd;
        for (; (int)x < 0x7ffffff0; x -= 2) *now = x;
        out[3] = x;
        x = -2;
        do { *now = x; x += 7; } while (x < 10);
        out[4] = x;
        x = 5;
        uint count = 0;
        do { *now = x; x += 1 << 30; count++; } while (x != 5);
        out[5] = count;
        float f = 0;
        for (; f < 3; f += 0.3f) *now = f;
        out[6] = as_uint(f);
    }";
    let mut sum = 0_f32;
    while sum < 3.0 {
        sum += 0.3;
    }
    let expected = [1, 1, 0x8000_0001, 0x7fff_ffff, 12, 4, sum.to_bits()];
    let found = Launch::new(source.to_owned())
        .output::<u32>(expected.len())
        .output::<u32>(1)
        .run(&[1], &[]);
    assert_equal(&found.get::<u32>(0), &expected, |i| format!("number {i}"));
}

/// A loop of many iterations that ends by what it has loaded: no counter tells how many iterations it makes.
#[test]
fn many_iterations_without_count() {
    const ITERATIONS: u32 = 200_000;
    let source = "
    kernel void test(uint start, uint end, global const uint *words, global uint *out) {
        uint iterations = 0, state = start;
        do {
            state = (state ^ words[state & 255]) * 1664525 + 1013904223;
            iterations++;
        } while (state != end);
        out[0] = iterations;
        out[1] = state;
    }";
    let words: Vec<u32> = words();
    let next = |state: u32| {
        (state ^ words[state as usize & 255])
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223)
    };
    // From wherever the states do not return to themselves too early.
    let (start, iterations, end) = (1..100)
        .find_map(|start| {
            let end = (0..ITERATIONS).fold(start, |state, _| next(state));
            let mut state = start;
            let iterations = (1..=ITERATIONS).find(|_| {
                state = next(state);
                state == end
            })?;
            (iterations > 70_000).then_some((start, iterations, end))
        })
        .expect("states that do not return too early");
    let found = Launch::new(source.to_owned())
        .value(start)
        .value(end)
        .buffer(&words)
        .output::<u32>(2)
        .run(&[1], &[]);
    assert_equal(&found.get::<u32>(1), &[iterations, end], |i| {
        format!("word {i}")
    });
}

/// Loops of many iterations that go on in steps: of a known width or of all work-items, up and down.
#[test]
fn many_iterations_in_steps() {
    const FIRST: i32 = -150_000;
    const LAST: i32 = 350_001;
    const ITEMS: usize = 4;
    let source = "
    kernel void test(int first, int last, uint step, global uint *out) {
        uint4 sums = 0;
        for (int i = first; i < last; i += 3) sums.x = sums.x * 3 + i;
        for (int i = last; i >= first; i -= 5) sums.y = sums.y * 3 + i;
        for (uint i = 0; i <= (uint)last; i += step) sums.z = sums.z * 3 + i;
        for (size_t i = get_global_id(0); i < (size_t)last; i += get_global_size(0)) sums.w = sums.w * 3 + (uint)i;
        vstore4(sums, get_global_id(0), out);
    }";
    let sum = |numbers: &mut dyn Iterator<Item = i32>| {
        numbers.fold(0_u32, |sum, i| sum.wrapping_mul(3).wrapping_add(i as u32))
    };
    let expected: Vec<u32> = (0..ITEMS as i32)
        .flat_map(|item| {
            [
                sum(&mut (FIRST..LAST).step_by(3)),
                sum(&mut (0..).map(|k| LAST - k * 5).take_while(|i| *i >= FIRST)),
                sum(&mut (0..=LAST).step_by(2)),
                sum(&mut (item..LAST).step_by(ITEMS)),
            ]
        })
        .collect();
    let found = Launch::new(source)
        .value(FIRST)
        .value(LAST)
        .value(2_u32)
        .output::<u32>(ITEMS * 4)
        .run(&[ITEMS], &[]);
    assert_equal(&found.get(0), &expected, |i| format!("sum {}", i % 4));
}

/// Loops that begin at a few bits of a number and count down.
#[test]
fn masked_counters() {
    const UNTOUCHED: u16 = 0xcccc;
    let source = "
    kernel void test(global const uint *a, global ushort *out) {
        uint n = a[get_global_id(0)];
        for (uint i = -n & 3u; i != ~0u; --i) out[get_global_id(0) * 4 + i] = (ushort)(i + 1);
    }";
    let a = words();
    let expected: Vec<u16> = (a.iter())
        .flat_map(|n| {
            (0..4).map(move |i| {
                if i <= n.wrapping_neg() & 3 {
                    i as u16 + 1
                } else {
                    UNTOUCHED
                }
            })
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u16>(a.len() * 4)
        .run(&[a.len()], &[]);
    assert_equal(&found.get(1), &expected, |i| format!("{:#x}", a[i / 4]));
}

/// Masked counters that are used as 64 bits.
#[test]
fn masked_counters_widened() {
    let source = "
    kernel void test(global const uint *a, global ulong *out) {
        uint n = a[get_global_id(0)];
        ulong16 sum = (ulong16)1;
        uint j = 2;
    again:
        for (uint i = (j - n) & 3u; i != ~0u; --i)
            sum.odd -= select((ulong8)1, (ulong8)1, (long8)(long)i);
        if (j-- != 0) goto again;
        out[get_global_id(0)] = sum.s0 + sum.s1 * 3 + sum.sf * 5;
    }";
    let a = words();
    let expected: Vec<u64> = (a.iter())
        .map(|n| {
            let iterations: i64 = (0..=2u32)
                .map(|j| i64::from(j.wrapping_sub(*n) & 3) + 1)
                .sum();
            (1 + (1 - iterations) * 8) as u64
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u64>(a.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(1), &expected, |i| format!("{:#x}", a[i]));
}

/// Loops of a few iterations whose state is made of arguments alone, and says where to load from: drivers unroll them, and
/// llvmpipe looks for what is the same for all work-items along each way through all of their iterations.
#[test]
fn states_of_arguments() {
    const SEEDS: [u32; 6] = [0, 1, 2, 3, 12_345, 0xdead_beef];
    let states = "
    uint state = seed % 4;
    for (uint i = 0; i < 30; i++) {
        switch (state) {
            case 0: state = (seed >> i) & 3; break;
            case 1: state = i % 3; break;
            case 2: state = 3; break;
            default: state = (state ^ i) & 3;
        }
    }";
    let local = format!(
        "kernel void test(global const uint *unused, global uint *out, uint seed) {{
            local uint squares[4];
            if (get_local_id(0) < 4) squares[get_local_id(0)] = get_local_id(0) * get_local_id(0);
            barrier(CLK_LOCAL_MEM_FENCE);
            {states}
            out[get_global_id(0)] = get_global_id(0) + squares[state];
        }}"
    );
    let global = format!(
        "kernel void test(global const uint *squares, global uint *out, uint seed) {{
            {states}
            out[get_global_id(0)] = get_global_id(0) + squares[state];
        }}"
    );
    let squares: Vec<u32> = (0..4).map(|i| i * i).collect();
    for source in [local, global] {
        for seed in SEEDS {
            let state = (0..30).fold(seed % 4, |state, i| match state {
                0 => seed >> i & 3,
                1 => i % 3,
                2 => 3,
                _ => (state ^ i) & 3,
            });
            let expected: Vec<u32> = (0..16).map(|gid| gid + state * state).collect();
            let found = Launch::new(source.as_str())
                .buffer(&squares)
                .output::<u32>(16)
                .value(seed)
                .run(&[16], &[8]);
            assert_equal(&found.get(1), &expected, |i| format!("{seed}: item {i}"));
        }
    }
}
