//! Branches, loops, switches and gotos, divergent between work-items.

use super::Test;
use super::harness::{Launch, assert_equal, session, skip};
use super::random::Random;

pub const TESTS: &[Test] = &[
    ("branches", branches),
    ("nested_loops", nested_loops),
    ("breaks_and_continues", breaks),
    ("switches", switches),
    ("switch_on_long", switch_on_long),
    ("switch_in_loop", switch_in_loop),
    ("early_returns", early_returns),
    ("gotos", gotos),
    ("irreducible", irreducible),
    ("results_of_irreducible_loops", results_of_irreducible_loops),
    ("short_circuit", short_circuit),
    ("collatz", collatz),
    ("state_machine", state_machine),
    ("many_rounds", many_rounds),
    ("many_rounds_in_steps", many_rounds_in_steps),
    ("many_rounds_without_count", many_rounds_without_count),
    ("masked_counters", masked_counters),
    ("masked_counters_widened", masked_counters_widened),
    ("signs_of_constants_in_a_loop", signs_of_constants),
    ("formulas_of_arguments", formulas_of_arguments),
    (
        "results_of_loops_in_groups_of_one",
        results_in_groups_of_one,
    ),
    ("results_of_loops_ended_by_constants", results_by_constants),
    (
        "results_of_loops_left_together",
        results_of_loops_left_together,
    ),
];

fn words() -> Vec<u32> {
    let mut random = Random::new(90);
    (0..256).map(|_| random.number() as u32).collect()
}

/// Runs `kernel test(global const uint *a, global uint *out)` whose body computes `r` from `x`.
fn check(body: &str, expected: impl Fn(u32) -> u32) {
    check_at("", body, |a, i| expected(a[i]));
}

/// The same with a build option, for a body that looks at all of `a` and where in it `x` is, `i`.
fn check_at(option: &str, body: &str, expected: impl Fn(&[u32], usize) -> u32) {
    let source = format!(
        "
    kernel void test(global const uint *a, global uint *out) {{
        size_t i = get_global_id(0);
        uint x = a[i], r = 0;
        {body}
        out[i] = r;
    }}"
    );
    let a = words();
    let expected: Vec<u32> = (0..a.len()).map(|i| expected(&a, i)).collect();
    let found = Launch::new(source)
        .option(option)
        .buffer(&a)
        .output::<u32>(a.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(1), &expected, |i| {
        format!("{:#x} {option}", a[i])
    });
}

fn branches() {
    check(
        "if (x & 1) { r = x * 3; if (x & 2) r += 5; else if (x & 4) r -= 9; }
         else if (x % 3 == 0) r = x / 3;
         else { r = 7; if (x > 1000) { r ^= x; if (x > 100000) r <<= 3; } }
         r += x & 8 ? x & 16 ? 1 : 2 : 3;",
        |x| {
            let mut r;
            if x & 1 != 0 {
                r = x.wrapping_mul(3);
                if x & 2 != 0 {
                    r = r.wrapping_add(5);
                } else if x & 4 != 0 {
                    r = r.wrapping_sub(9);
                }
            } else if x % 3 == 0 {
                r = x / 3;
            } else {
                r = 7;
                if x > 1000 {
                    r ^= x;
                    if x > 100_000 {
                        r <<= 3;
                    }
                }
            }
            r.wrapping_add(if x & 8 != 0 {
                if x & 16 != 0 { 1 } else { 2 }
            } else {
                3
            })
        },
    );
}

fn nested_loops() {
    check(
        "for (uint a = 0; a < x % 7; a++)
             for (uint b = a; b < 9; b += 1 + (x & 1)) {
                 uint c = b;
                 while (c * c > a) { r = r * 5 + c; c--; }
                 do { r ^= c << a; c += 3; } while (c < 6);
             }",
        |x| {
            let mut r = 0u32;
            for a in 0..x % 7 {
                let mut b = a;
                while b < 9 {
                    let mut c = b;
                    while c * c > a {
                        r = r.wrapping_mul(5).wrapping_add(c);
                        c -= 1;
                    }
                    loop {
                        r ^= c << a;
                        c += 3;
                        if c >= 6 {
                            break;
                        }
                    }
                    b += 1 + (x & 1);
                }
            }
            r
        },
    );
}

fn breaks() {
    check(
        "for (uint a = 0;; a++) {
             if (a > 20) break;
             if ((x >> a) & 1) continue;
             for (uint b = 0; b < 10; b++) {
                 if (b == a) break;
                 if ((x + b) % 3 == 0) continue;
                 r += a * 10 + b;
                 if (r > 500) goto done;
             }
             r++;
         }
         done:
         r += 3;",
        |x| {
            let mut r = 0;
            'done: for a in 0..=20 {
                if x >> a & 1 != 0 {
                    continue;
                }
                for b in 0..10 {
                    if b == a {
                        break;
                    }
                    if x.wrapping_add(b) % 3 == 0 {
                        continue;
                    }
                    r += a * 10 + b;
                    if r > 500 {
                        break 'done;
                    }
                }
                r += 1;
            }
            r + 3
        },
    );
}

fn switches() {
    check(
        "switch (x % 11) {
             case 0: r = 5; break;
             case 1: r = 6;
             case 2: r += 7; if (x & 64) break;
             case 3: r += 8; break;
             case 7: case 8: r = x; break;
             case 9: for (uint k = 0; k < 5; k++) { if (k == 3) break; r += k; } break;
             default: r = 100;
         }
         switch ((char)x) { case -1: r++; break; case -128: r += 2; break; case 100: r += 3; }",
        |x| {
            let two = |r: u32| r + 7 + if x & 64 != 0 { 0 } else { 8 };
            let r: u32 = match x % 11 {
                0 => 5,
                1 => two(6),
                2 => two(0),
                3 => 8,
                7 | 8 => x,
                9 => 3,
                _ => 100,
            };
            r.wrapping_add(match x as i8 {
                -1 => 1,
                -128 => 2,
                100 => 3,
                _ => 0,
            })
        },
    );
}

fn switch_on_long() {
    check(
        "switch (((ulong)x << 32 | x) % 0x100000007UL % 6 + (x & 1 ? 0x100000000UL : 0)) {
             case 0: r = 10; break;
             case 1: r = 11; break;
             case 0x100000000UL: r = 20; break;
             case 0x100000001UL: r = 21; break;
             case 0x100000004UL: r = 24; break;
             default: r = 99;
         }",
        |x| {
            let wide = u64::from(x) << 32 | u64::from(x);
            let key = wide % 0x1_0000_0007 % 6 + if x & 1 == 1 { 0x1_0000_0000 } else { 0 };
            match key {
                0 => 10,
                1 => 11,
                0x1_0000_0000 => 20,
                0x1_0000_0001 => 21,
                0x1_0000_0004 => 24,
                _ => 99,
            }
        },
    );
}

fn switch_in_loop() {
    check(
        "for (uint k = 0; k < 16; k++) {
             switch ((x >> k) & 3) {
                 case 0: continue;
                 case 1: r += k; break;
                 case 2: r = r * 3 + 1; if (r > 1000) goto out; break;
                 case 3: if (k > 12) goto out; r ^= 5;
             }
             r++;
         }
         out:;",
        |x| {
            let mut r = 0u32;
            for k in 0..16 {
                match x >> k & 3 {
                    0 => continue,
                    1 => r += k,
                    2 => {
                        r = r * 3 + 1;
                        if r > 1000 {
                            break;
                        }
                    }
                    _ => {
                        if k > 12 {
                            break;
                        }
                        r ^= 5;
                    }
                }
                r += 1;
            }
            r
        },
    );
}

fn early_returns() {
    let source = "
    uint find(uint x, uint y) {
        for (uint k = 0; k < 32; k++) {
            if (((x >> k) & 7) == y) return k;
            if (k == 20 && y == 5) return 77;
        }
        return 99;
    }
    kernel void test(global const uint *a, global uint *out) {
        size_t i = get_global_id(0);
        if (i % 5 == 4) return;
        uint r = find(a[i], 6);
        if (r == 99) { out[i] = find(a[i], 5) + 1000; return; }
        out[i] = r;
    }";
    let a = words();
    let find = |x: u32, y: u32| {
        for k in 0..32 {
            if x >> k & 7 == y {
                return k;
            }
            if k == 20 && y == 5 {
                return 77;
            }
        }
        99
    };
    let expected: Vec<u32> = a
        .iter()
        .enumerate()
        .map(|(i, &x)| match (i % 5, find(x, 6)) {
            (4, _) => 0xcccc_cccc,
            (_, 99) => find(x, 5) + 1000,
            (_, k) => k,
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(a.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(1), &expected, |i| format!("{:#x}", a[i]));
}

fn gotos() {
    check(
        "uint n = 0;
         again:
         r += x & 15;
         if (r & 1) goto odd;
         r /= 2;
         goto next;
         odd:
         r = r * 3 + 1;
         next:
         if (++n < 10 + (x & 3)) goto again;",
        |x| {
            let mut r = 0u32;
            for _ in 0..10 + (x & 3) {
                r = r.wrapping_add(x & 15);
                r = if r & 1 == 1 {
                    r.wrapping_mul(3).wrapping_add(1)
                } else {
                    r / 2
                };
            }
            r
        },
    );
}

/// What was loaded in the last round of a loop with two ways in, which is another one for every work-item.
fn results_of_irreducible_loops() {
    let body = "uint n = x & 7, sum = 0;
         if (x & 8) goto middle;
         top: sum += 7;
         middle: r = a[(i + n) & 255];
         sum ^= r;
         if (n-- != 0) goto top;
         r = r * 3 + sum;";
    let result = |a: &[u32], i: usize| {
        let (mut n, mut sum) = (a[i] & 7, if a[i] & 8 == 0 { 7_u32 } else { 0 });
        loop {
            let r = a[(i + n as usize) & 255];
            sum ^= r;
            if n == 0 {
                return r.wrapping_mul(3).wrapping_add(sum);
            }
            n -= 1;
            sum = sum.wrapping_add(7);
        }
    };
    for option in ["", "-cl-opt-disable"] {
        check_at(option, body, result);
    }
}

fn irreducible() {
    // A loop entered in the middle.
    check(
        "uint n = x % 9;
         if (x & 1) goto middle;
         top:
         r = r * 7 + n;
         middle:
         r += 3;
         if (r % 5 == 0) r ^= x;
         if (n-- > 0) goto top;",
        |x| {
            let (mut r, mut n) = (0u32, x % 9);
            let mut enters_in_the_middle = x & 1 == 1;
            loop {
                if !std::mem::take(&mut enters_in_the_middle) {
                    r = r.wrapping_mul(7).wrapping_add(n);
                }
                r = r.wrapping_add(3);
                if r % 5 == 0 {
                    r ^= x;
                }
                if n == 0 {
                    return r;
                }
                n -= 1;
            }
        },
    );
}

fn short_circuit() {
    let source = "
    kernel void test(global const uint *a, global uint *out, global uint *trace) {
        size_t i = get_global_id(0);
        uint x = a[i];
        #define P(k, c) (trace[i] += 1u << (2 * (k)), (c))
        bool r = (P(0, x & 1) && P(1, x & 2)) || (P(2, x & 4) && !(P(3, x & 8) || P(4, x & 16)));
        out[i] = r ? x : ~x;
    }";
    let a: Vec<u32> = (0..32).collect();
    let (mut out, mut trace) = (Vec::new(), Vec::new());
    for &x in &a {
        let seen = std::cell::Cell::new(0u32);
        let p = |k: u32, c: u32| {
            seen.set(seen.get() + (1 << (2 * k)));
            c != 0
        };
        let r = (p(0, x & 1) && p(1, x & 2)) || (p(2, x & 4) && !(p(3, x & 8) || p(4, x & 16)));
        out.push(if r { x } else { !x });
        trace.push(seen.get());
    }
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(a.len())
        .buffer(&[0u32; 32])
        .run(&[a.len()], &[]);
    assert_equal(&found.get(1), &out, |i| format!("{}", a[i]));
    assert_equal(&found.get(2), &trace, |i| format!("{}", a[i]));
}

fn collatz() {
    check(
        "ulong n = x % 100000 + 1;
         while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; r++; }",
        |x| {
            let (mut n, mut r) = (u64::from(x % 100_000 + 1), 0);
            while n != 1 {
                n = if n & 1 == 1 { 3 * n + 1 } else { n / 2 };
                r += 1;
            }
            r
        },
    );
}

fn state_machine() {
    check(
        "uint state = 0, bits = x;
         for (int k = 0; k < 32; k++, bits >>= 1) {
             uint b = bits & 1;
             switch (state) {
                 case 0: state = b ? 1 : 0; break;
                 case 1: if (b) { state = 2; } else { state = 0; r += 1; } break;
                 case 2: if (!b) { state = 3; break; } r += 16;
                 case 4: state = 0; r += 256; break;
                 default: if (b && k > 10) { k += 2; state = 4; } else state = 1;
             }
         }
         r += state << 24;",
        |x| {
            let (mut r, mut state, mut bits, mut k) = (0u32, 0u32, x, 0);
            while k < 32 {
                let b = bits & 1 == 1;
                state = match state {
                    0 => u32::from(b),
                    1 if b => 2,
                    1 => {
                        r += 1;
                        0
                    }
                    2 if !b => 3,
                    2 | 4 => {
                        r += if state == 2 { 16 + 256 } else { 256 };
                        0
                    }
                    _ if b && k > 10 => {
                        k += 2;
                        4
                    }
                    _ => 1,
                };
                k += 1;
                bits >>= 1;
            }
            r.wrapping_add(state << 24)
        },
    );
}

/// More than the 65,535 rounds that llvmpipe makes: of loops of a known number of rounds, of one that is known as the
/// loop begins, and of one with another way out.
fn many_rounds() {
    const ROUNDS: u32 = 300;
    const LAST: u32 = 200_000;
    let source = "
    kernel void test(uint rounds, uint last, uint bound, global uint *words, global uint *out) {
        for (uint round = 0; round < rounds; round++) {
            for (uint k = 0; k < 256; k++) words[k] = words[k] * 5 + round;
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
    for round in 0..ROUNDS {
        for word in &mut words {
            *word = word.wrapping_mul(5).wrapping_add(round);
        }
    }
    let sum = (0..LAST).fold(0u32, |sum, k| {
        sum.wrapping_mul(3).wrapping_add(words[k as usize & 255])
    });
    let next = |sum: u32| sum.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    // The way out is taken in the round before the last.
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
        .value(ROUNDS)
        .value(LAST)
        .value(bound)
        .buffer(&start)
        .output::<u32>(3)
        .run(&[1], &[]);
    assert_equal(&found.get::<u32>(1), &expected, |i| format!("word {i}"));
}

/// The same of a loop that ends by what it has loaded: no counter tells how many rounds it makes.
fn many_rounds_without_count() {
    const ROUNDS: u32 = 200_000;
    let source = "
    kernel void test(uint start, uint end, global const uint *words, global uint *out) {
        uint rounds = 0, state = start;
        do {
            state = (state ^ words[state & 255]) * 1664525 + 1013904223;
            rounds++;
        } while (state != end);
        out[0] = rounds;
        out[1] = state;
    }";
    let words: Vec<u32> = words();
    let next = |state: u32| {
        (state ^ words[state as usize & 255])
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223)
    };
    // From wherever the states do not return to themselves too early.
    let (start, rounds, end) = (1..100)
        .find_map(|start| {
            let end = (0..ROUNDS).fold(start, |state, _| next(state));
            let mut state = start;
            let rounds = (1..=ROUNDS).find(|_| {
                state = next(state);
                state == end
            })?;
            (rounds > 70_000).then_some((start, rounds, end))
        })
        .expect("states that do not return too early");
    let found = Launch::new(source.to_owned())
        .value(start)
        .value(end)
        .buffer(&words)
        .output::<u32>(2)
        .run(&[1], &[]);
    assert_equal(&found.get::<u32>(1), &[rounds, end], |i| {
        format!("word {i}")
    });
}

/// The same of loops that go on in steps: of a known width or of all work-items, up and down.
fn many_rounds_in_steps() {
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

/// The same where the counter is used as 64 bits.
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
            let rounds: i64 = (0..=2u32)
                .map(|j| i64::from(j.wrapping_sub(*n) & 3) + 1)
                .sum();
            (1 + (1 - rounds) * 8) as u64
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u64>(a.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(1), &expected, |i| format!("{:#x}", a[i]));
}

/// What is loaded in a loop and used behind it, where the driver has a vector of work-items and the group has one: the
/// others may make more rounds.
fn results_in_groups_of_one() {
    let source = "
    kernel __attribute__((reqd_work_group_size(1, 1, 1)))
    void test(global const uint *a, global uint *counts, global uint *out, local int *numbers) {
        uint gid = get_global_id(0);
        for (uint i = 0; i < 16; ++i) numbers[i] = i * 259u + gid;
        short more = 1 - a[gid];
        int sum = 1;
        uint n = 3;
        do {
            counts[gid] += 1;
            sum = sum * 3 ^ numbers[1];
        } while (n-- != 0 && more >= (short)1);
        out[gid] = sum;
    }";
    let a = words();
    let rounds = |x: u32| {
        if 1_i16.wrapping_sub(x as i16) >= 1 {
            4
        } else {
            1
        }
    };
    let counts: Vec<u32> = a.iter().map(|&x| rounds(x)).collect();
    let sums: Vec<u32> = counts
        .iter()
        .zip(0..)
        .map(|(&rounds, gid)| (0..rounds).fold(1_u32, |sum, _| sum.wrapping_mul(3) ^ (259 + gid)))
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&vec![0_u32; a.len()])
        .output::<u32>(a.len())
        .local(64)
        .run(&[a.len()], &[1]);
    assert_equal(&found.get(1), &counts, |i| format!("rounds of {:#x}", a[i]));
    assert_equal(&found.get(2), &sums, |i| format!("sum of {:#x}", a[i]));
}

/// The same where constant memory, which nothing is read from for the others, says whether there are more.
fn results_by_constants() {
    const LAST: u32 = 9;
    let source = "
    kernel __attribute__((reqd_work_group_size(1, 1, 1)))
    void test(constant uint *a, global const uint *b, global uint *out, uint last) {
        uint gid = get_global_id(0), n = last, r, sum = 1;
        do {
            r = b[(gid + n) & 255];
            sum = sum * 3 ^ r;
        } while (n-- != 0 && (a[gid] & 1) == 0);
        out[gid] = sum ^ r * 5;
    }";
    let a = words();
    let b: Vec<u32> = a.iter().rev().copied().collect();
    let expected: Vec<u32> = (0..a.len())
        .map(|i| {
            let last_round = if a[i] & 1 == 0 { 0 } else { LAST };
            let read = (last_round..=LAST).rev().map(|n| b[(i + n as usize) & 255]);
            let sum = read.fold(1_u32, |sum, r| sum.wrapping_mul(3) ^ r);
            sum ^ b[(i + last_round as usize) & 255].wrapping_mul(5)
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&b)
        .output::<u32>(a.len())
        .value(LAST)
        .run(&[a.len()], &[1]);
    assert_equal(&found.get(2), &expected, |i| format!("{:#x}", a[i]));
}

/// Loops that all work-items leave in the same round, and others, within each other and behind branches, and what was
/// loaded in the last round.
fn results_of_loops_left_together() {
    let source = "
    kernel void test(global const uint *a, global uint *out, uint last) {
        uint i = get_global_id(0), x = a[i], r = 0, s = 0, k;
        if (x % 5 == 0) {
            k = 0;
            do { s = a[(i + k * 7) & 255]; } while (++k < last);
            r = s * 3;
        }
        uint n = x & 15;
        do {
            k = 0;
            do { s = a[(i + k + n) & 255]; } while (++k < last);
            r += s >> 3;
        } while (n-- > 0);
        r ^= s;
        k = 0;
        do {
            uint m = x & 7;
            do { s = a[(i + m * k) & 255]; } while (m-- > 1);
            r = r * 5 + s;
        } while (++k < last);
        r ^= s * 9;
        k = 0;
        do {
            s = a[(i * 3 + k) & 255];
            if (x >> (k & 31) & 1) { if (last == 6) break; }
        } while (++k < last);
        out[i] = r * 7 ^ s ^ k;
    }";
    let a = words();
    let at = |index: u32| a[index as usize & 255];
    for last in [1_u32, 2, 6, 40] {
        let result = |i: u32| {
            let x = at(i);
            let (mut r, mut s) = (0_u32, 0);
            if x % 5 == 0 {
                s = at(i + (last - 1) * 7);
                r = s.wrapping_mul(3);
            }
            for n in (0..=x & 15).rev() {
                s = at(i + last - 1 + n);
                r = r.wrapping_add(s >> 3);
            }
            r ^= s;
            for k in 0..last {
                // The last round is that of 1, or of 0 where there is but one.
                s = at(i + (x & 7).min(1) * k);
                r = r.wrapping_mul(5).wrapping_add(s);
            }
            r ^= s.wrapping_mul(9);
            let mut k = 0;
            loop {
                s = at(i * 3 + k);
                if x >> (k & 31) & 1 != 0 && last == 6 {
                    break;
                }
                k += 1;
                if k >= last {
                    break;
                }
            }
            r.wrapping_mul(7) ^ s ^ k
        };
        let expected: Vec<u32> = (0..a.len() as u32).map(result).collect();
        let found = Launch::new(source)
            .buffer(&a)
            .output::<u32>(a.len())
            .value(last)
            .run(&[a.len()], &[]);
        assert_equal(&found.get(1), &expected, |i| format!("{:#x}, {last}", a[i]));
    }
}

/// Of a loop that begins with a constant an optimizer may follow the numbers: those with a sign are less than others.
fn signs_of_constants() {
    let body = "
        int v = 1;
        for (uint j = 0; j < 2; ++j) v ^= (v * 3 & 1) + (int)abs(v);
        r = v + x;";
    check(body, |x| 7u32.wrapping_add(x));
    let body = "
        int v = 1;
        for (uint j = 0; j < 2; ++j) v ^= (v * 3 & 1) + min(v, -v);
        r = v + x;";
    // 1 becomes 1 ^ (1 - 1), and stays.
    check(body, |x| 1u32.wrapping_add(x));
    let body = "
        uint v = 1;
        for (uint j = 0; j < 2; ++j) v ^= max(v, 9u);
        r = v + ((float)x > 1e9f);";
    // 1 becomes 8, and that 1.
    check(body, |x| 1 + u32::from(x > 1_000_000_000));
}

/// Of a long formula of arguments alone drivers may look for what is the same for all work-items, and must find an end.
fn formulas_of_arguments() {
    if !session().is_some_and(|session| session.has("cl_khr_fp64")) {
        return skip("no cl_khr_fp64");
    }
    let source = "kernel void test(global double *out, double x, double y) {
        double r = exp(y * log(hypot(x, y)));
        out[get_global_id(0)] = r > 2.0 ? sin(log(r)) : exp(log(r));
    }";
    for (x, y) in [(1.5f64, 0.7f64), (3.0, 4.0)] {
        let found = Launch::new(source)
            .output::<f64>(16)
            .value(x)
            .value(y)
            .run(&[16], &[]);
        let r = x.hypot(y).powf(y);
        let expected = if r > 2.0 { r.ln().sin() } else { r };
        for value in found.get::<f64>(0) {
            assert!((value - expected).abs() < 1e-12, "{value}, not {expected}");
        }
    }
}
