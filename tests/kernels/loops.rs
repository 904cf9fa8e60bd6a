//! What loops leave behind, of what was loaded in their last rounds above all, and how many rounds they make.

use super::control_flow::{check, check_at, words};
use super::harness::{Launch, assert_equal};

/// What another work-item stores between two barriers, behind a loop that each leaves in an iteration of its own, and that a
/// switch begins in the middle of.
#[test]
fn barriers_behind_loops_left_apart() {
    let source = "
    struct numbers { uchar a; ulong b, c; };
    __attribute__((reqd_work_group_size(8, 1, 1)))
    kernel void test(global ulong *out, global const uint *in, global uint *scratch, global uint *counters,
                     local short *items, uint number, short4 vector) {
        const uint i = (uint)get_global_id(0), id = (uint)get_local_id(0);
        global uint *mine = scratch + i * 16;
        local short *shorts = items + id * 16;
        for (uint j = 0; j < 16; ++j) shorts[j] = (short)(j * 259u + i);
        local uchar bytes[8];
        uint number_of = 1;
        char least = min((char)number, (char)1);
        uint left = (id & 7u) + 1u;
        switch (number & 3u) {
        case 0: do {
        case 3:
        case 1:
            for (uint j = 0; j < 4u; ++j) {
                number_of ^= 1u;
                for (uint k = 2; k != ~0u; --k)
                    if ((short)mine[1] > (short)(least > (char)0xffu)) goto done;
            }
            done: ;
        case 2: ;
        } while (--left > 0); }
        struct numbers all = { 1, upsample(number_of, 1u) << (ulong)((ulong)get_global_size(0) || (ulong)get_global_size(0)), 1 };
        barrier(CLK_LOCAL_MEM_FENCE);
        bytes[id] = 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        uchar byte = bytes[1u % 8u];
        out[i * 24 + 5] += all.b;
        out[i * 24 + 7] += byte;
    }";
    let found = Launch::new(source)
        .buffer(&[0_u64; 64 * 24])
        .buffer(&[0_u32; 256])
        .buffer(&[7_u32; 64 * 16])
        .buffer(&[0_u32; 256])
        .local(8 * 32)
        .value(0x9876_5432_u32)
        .value([-3_i16, 77, 32000, -32768])
        .run(&[64], &[8]);
    let expected: Vec<u64> = (0..64)
        .flat_map(|i| {
            let mut words = [0; 24];
            // All iterations but the first, which begins at `case 2`.
            let number = 1 ^ (i & 1);
            words[5] = (number << 32 | 1) << 1;
            words[7] = 1;
            words
        })
        .collect();
    assert_equal(&found.get(0), &expected, |at| format!("word {at}"));
}

/// What was read of a variable before it was set, in loops that work-items leave in several ways and iterations.
#[test]
fn values_of_several_ways_out() {
    let source = "
    kernel void test(global uint *out, global const uchar *steps) {
        uint i = get_global_id(0);
        ushort one = 0, other = 1;
        short read = 1;
        ushort *to[2] = { &one, &other };
        uint tag = 1 >= (int)i;
        for (uint k = i & 3; k != ~0u; --k) {
            read = convert_short_sat_rte(*to[tag & 1]);
            if (read > 1) break;
            *to[tag & 1] = 1;
        }
        out[i * 2] = read * 16 + (ushort)(one - *to[1]);
        uchar x = 1, last = 1;
        uint made = 1;
        for (uint again = 0; again < 4; ++again) {
            for (uint k = 0; k < 4; ++k) {
                last ^= 1;
                made = 256 + rotate((uint)last, (uint)last) * 3;
                for (uint j = 0; j < 3; ++j) {
                    x += steps[i];
                    if ((x & 0xf0) == 0x70) goto out;
                }
                last = x;
            }
            out: ;
            if ((char)x <= 1) break;
        }
        out[i * 2 + 1] = made + x;
    }";
    let steps: Vec<u8> = (0..52).map(|i| i * 5).collect();
    let expected = |i: u8| {
        let read = u32::from(i < 2 || i & 3 != 0);
        let (one, other) = if i < 2 { (0, 1) } else { (1, 1) };
        let (mut x, mut last, mut made) = (1_u8, 1_u8, 1);
        'all: for _ in 0..4 {
            'out: for _ in 0..4 {
                last ^= 1;
                made = 256 + u32::from(last).rotate_left(last.into()).wrapping_mul(3);
                for _ in 0..3 {
                    x = x.wrapping_add(i * 5);
                    if x & 0xf0 == 0x70 {
                        break 'out;
                    }
                }
                last = x;
            }
            if x as i8 <= 1 {
                break 'all;
            }
        }
        let difference = u32::from(u16::wrapping_sub(one, other));
        [read * 16 + difference, made.wrapping_add(x.into())]
    };
    // A step of no more than a byte has.
    let items = 52;
    let expected: Vec<u32> = (0..items).flat_map(expected).collect();
    for options in ["", "-cl-opt-disable"] {
        let found = Launch::new(source)
            .option(options)
            .output::<u32>(expected.len())
            .buffer(&steps)
            .run(&[items.into()], &[4]);
        assert_equal(&found.get(0), &expected, |at| {
            format!("{options}: word {at}")
        });
    }
}

/// What was loaded in the last round of a loop with two ways in, which is another one for every work-item.
#[test]
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

/// A loop that is left from an arm alone, where addresses are computed that are used behind it, too.
#[test]
fn invariants_of_arms_in_loops() {
    invariants(
        "uint n = 0;
         for (;;) {
             if (n & 2) {
                 for (uint i = 0; i < 8; ++i) mine[i] += 3;
                 if (n > 9) break;
             }
             ++n;
             shorts[1] = n;
         }",
        // At 2, 3, 6, 7 and 10.
        5,
        10,
    );
}

/// A loop with two ways in, where addresses are computed that are used behind it, too.
#[test]
fn invariants_of_irreducible_loops() {
    invariants(
        "uint n = 1;
         if (number) goto middle;
         top: shorts[1] = 1;
         middle: for (uint i = 0; i < 8; ++i) mine[i] += 3;
         if (n-- != 0) goto top;",
        2,
        1,
    );
}

/// `body` adds three to the first eight words of each work-item's own, `times`, and sets its second short.
fn invariants(body: &str, times: u32, second: i16) {
    const GROUP: usize = 8;
    let source = format!(
        "
    kernel void test(global uint *words, global uint *out, uint number, local short *items) {{
        const uint i = get_global_id(0);
        global uint *mine = words + i * 16;
        local short *shorts = items + get_local_id(0) * 16;
        for (uint k = 0; k < 16; ++k) shorts[k] = (short)(k * 259u + i);
        {body}
        short v = 1;
        for (uint k = 0; k < 16; ++k) {{ v += shorts[((uint)v + k) & 15]; shorts[k] = v; }}
        out[i] = mine[6] + (uint)v;
    }}"
    );
    let words: Vec<u32> = (0..32 * 16_u32).map(|it| it.wrapping_mul(77)).collect();
    let expected: Vec<u32> = (0..words.len() / 16)
        .map(|i| {
            let mut shorts: Vec<i16> = (0..16).map(|k: u32| (k * 259 + i as u32) as i16).collect();
            shorts[1] = second;
            let mut v = 1_i16;
            for k in 0..16_u32 {
                v = v.wrapping_add(shorts[(v as u32).wrapping_add(k) as usize & 15]);
                shorts[k as usize] = v;
            }
            (words[i * 16 + 6] + 3 * times).wrapping_add(v as u32)
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&words)
        .output::<u32>(expected.len())
        .value(1_u32)
        .local(GROUP * 16 * size_of::<i16>())
        .run(&[expected.len()], &[GROUP]);
    assert_equal(&found.get(1), &expected, |i| format!("{i}"));
}

/// What was loaded in a loop that is left at different times, or what a branch has set in its place.
#[test]
fn results_of_selections_in_loops() {
    let body = "
        for (uint n = 0; n < 4; ++n) {
            r = a[(i + n) & 255];
            if (r % 3 == 1) { out[i] = r; r = 1; }
            for (uint k = 0; k < 3; ++k) if (a[(i + k + n) & 255] % 5 == 1) goto end;
        }
        end: r += 100;";
    let result = |a: &[u32], i: usize| {
        let is_last = |n: usize| (0..3).any(|k| a[(i + k + n) & 255] % 5 == 1);
        let last = (0..4).find(|&n| is_last(n)).unwrap_or(3);
        let loaded = a[(i + last) & 255];
        let r = if loaded % 3 == 1 { 1 } else { loaded };
        r.wrapping_add(100)
    };
    for option in ["", "-cl-opt-disable"] {
        check_at(option, body, result);
    }
}

/// What the cases of a switch make of a value, in a loop in a loop: with a case that stays, one that goes on to the next, and
/// several of one arm.
#[test]
fn results_of_switches_in_loops() {
    let body = "uint n = 0, m, v = 2, w = 5;
        do {
            m = 0;
            do {
                switch (a[(i * 5 + n * 7 + m) & 255] & 15) { case 0: case 2: break; default: v = 1; }
                switch (a[(i * 3 + n + m) & 255] & 7) {
                    case 0: case 3: w = v; break;
                    case 1: w = 7;
                    case 6: w = w * 2 + 1; break;
                    case 4: w = 9;
                }
                m++;
                if (m > (i & 3)) break;
            } while (a[(i + m) & 255] & 3);
            n++;
        } while (n < (a[i] & 7));
        r = v * 100 + w;";
    let result = |a: &[u32], i: usize| {
        let (mut n, mut v, mut w) = (0, 2_u32, 5_u32);
        loop {
            let mut m = 0;
            loop {
                if !matches!(a[(i * 5 + n * 7 + m) & 255] & 15, 0 | 2) {
                    v = 1;
                }
                match a[(i * 3 + n + m) & 255] & 7 {
                    0 | 3 => w = v,
                    1 => w = 15,
                    6 => w = w.wrapping_mul(2).wrapping_add(1),
                    4 => w = 9,
                    _ => {}
                }
                m += 1;
                if m > i & 3 || a[(i + m) & 255] & 3 == 0 {
                    break;
                }
            }
            n += 1;
            if n >= (a[i] & 7) as usize {
                break (v * 100).wrapping_add(w);
            }
        }
    };
    for option in ["", "-cl-opt-disable"] {
        check_at(option, body, result);
    }
}

/// A variable of which each iteration changes a byte, at a place that is not known before.
#[test]
fn results_in_bytes_of_variables() {
    let body = "uint v = x, n = x & 7;
        do {
            ((uchar *)&v)[(i ^ n) & 3] = (uchar)a[(i * 5 + n) & 255];
        } while (n-- != 0);
        r = v;";
    let result = |a: &[u32], i: usize| {
        let mut bytes = a[i].to_le_bytes();
        for n in (0..=a[i] as usize & 7).rev() {
            bytes[(i ^ n) & 3] = a[(i * 5 + n) & 255] as u8;
        }
        u32::from_le_bytes(bytes)
    };
    for option in ["", "-cl-opt-disable"] {
        check_at(option, body, result);
    }
}

/// What is loaded in a loop and used behind it, where the driver has a vector of work-items and the group has one: the
/// others may make more rounds.
#[test]
fn results_of_loops_in_groups_of_one() {
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
#[test]
fn results_of_loops_ended_by_constants() {
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
#[test]
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
#[test]
fn signs_of_constants_in_a_loop() {
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

/// What a work-item loads stays when it leaves a loop before others, also where the way that it took is the only one
/// (`0 / x` decides it, which an optimizer of the driver may know).
#[test]
fn results_of_decided_selections_in_loops() {
    const ITEMS: usize = 64;
    let source = "kernel void test(global uint *out, local short *all, global const uint *zeros) {
        uint gid = get_global_id(0);
        local short *mine = all + get_local_id(0) * 16;
        for (uint i = 0; i < 16; i++) mine[i] = i * 259 + gid;
        short value = 1;
        uint times = zeros[gid];
        for (uint i = 0; i < 2; ++i) {
            uint left = 2;
            do {
                switch ((char)((char)(i != 0) / ((convert_char_sat(value) & 0x7f) | 1)) & 15) {
                    case 0: value = mine[times & 15]; break;
                    case 1: times++; break;
                }
            } while (left-- != 0 && value <= 1);
        }
        out[gid] = times; }";
    let found = Launch::new(source)
        .output::<u32>(ITEMS)
        .local(ITEMS / 4 * 16 * 2)
        .buffer(&[0u32; ITEMS])
        .run(&[ITEMS], &[ITEMS / 4]);
    let expected: Vec<u32> = (0..ITEMS as u32)
        .map(|gid| if gid <= 1 { 3 } else { 0 })
        .collect();
    assert_equal(&found.get(0), &expected, |at| format!("work-item {at}"));
}

/// What is loaded on two ways from one place, and joined with what was loaded there before, stays when work-items leave the loop
/// before others: a driver loads it once and finds that both ways give the same.
#[test]
fn results_of_ways_that_give_the_same() {
    const ITEMS: usize = 64;
    const GROUP: usize = 16;
    for (space, memory) in [
        ("local", "all + get_local_id(0) * 16"),
        ("global", "buffer + gid * 16"),
    ] {
        for join in ["value |= LOADED", "value = max(value, (short)LOADED)"] {
            // The call keeps clang from loading before the loop.
            let source = format!(
                "#define LOADED (abs_diff((char)1, (char)1) > 1 ? (short)1 : mine[0])
                kernel void test(global uint *out, local short *all, global short *buffer) {{
                    uint gid = get_global_id(0);
                    {space} short *mine = {memory};
                    for (uint i = 0; i < 16; i++) mine[i] = i * 259 + gid;
                    short value = 1;
                    int is_left = gid & 1;
                    for (uint i = 0; i < 4; ++i) {{
                        uint left = 2;
                        switch (i & 3) {{
                            case 0: do {{ {join};
                            case 3:
                            case 1:
                            case 2: ; }} while (--left > 0);
                        }}
                        for (uint j = 2; j != ~0u; --j)
                            if (is_left) goto done;
                    }}
                    done:
                    out[gid] = value; }}"
            );
            let found = Launch::new(source)
                .output::<u32>(ITEMS)
                .local(GROUP * 16 * 2)
                .buffer(&[0_u16; ITEMS * 16])
                .run(&[ITEMS], &[GROUP]);
            let joined = |gid: u32| {
                if join.contains('|') {
                    gid | 1
                } else {
                    gid.max(1)
                }
            };
            let expected: Vec<u32> = (0..ITEMS as u32).map(joined).collect();
            assert_equal(&found.get(0), &expected, |at| {
                format!("{join} in {space} memory, work-item {at}")
            });
        }
    }
}

/// What work-items store by way of a pointer to a pointer stays when they leave the loop before others. Which one it is comes of
/// 64-bit numbers, and so is known late.
#[test]
fn stores_by_way_of_known_pointers() {
    const ITEMS: usize = 64;
    let source = "kernel void test(global uint *out, local short *all) {
        uint gid = get_global_id(0);
        local short *mine = all + get_local_id(0) * 16;
        for (uint i = 0; i < 16; i++) mine[i] = i * 259 + gid;
        long x = 0x1e0b70237c3dcb80;
        short value = 1; short *one = &value, *other = &value;
        short **pointer = mad_sat(x, 0x400000000000l, x) > 1 ? &one : &other;
        for (uint i = 1; i < 16; i += ((uint)mine[1] & 3) + 1) {
            *one = mine[i];
            **pointer >>= 3;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        out[gid] = **pointer; }";
    let found = Launch::new(source)
        .output::<u32>(ITEMS)
        .local(ITEMS / 4 * 16 * 2)
        .run(&[ITEMS], &[ITEMS / 4]);
    let expected: Vec<u32> = (0..ITEMS as u32)
        .map(|gid| {
            let step = ((259 + gid) & 3) + 1;
            let last = 1 + 14 / step * step;
            (last * 259 + gid) >> 3
        })
        .collect();
    assert_equal(&found.get(0), &expected, |at| format!("work-item {at}"));
}

/// What is computed of a variable before an inner loop changes it, and used behind the outer loop, which work-items leave one after
/// the other.
#[test]
fn values_handed_on_within_an_iteration() {
    let source = "
    kernel void test(global uint *out) {
        uint i = get_global_id(0), count = i, number = 1, left = (i & 7u) + 1u;
        do {
            number |= (uint)mad_sat(1l, 1l, 1l);
            count += number != 0;
            uint inner = 2;
            switch (left & 3u) {
            case 0: do {
                number ^= (uint)convert_uchar_rte(select(1, 1, 0x20u)) * number;
            case 3: ;
                uint steps = 3;
                do number ^= 1; while (steps-- != 0);
            case 1:
            case 2: ;
            } while (--inner > 0); }
        } while (--left > 0);
        out[i] = count;
    }";
    let found = Launch::new(source)
        .output::<u32>(64)
        .run(&[64], &[32])
        .get::<u32>(0);
    // The number is not 0 where it is counted.
    let expected: Vec<u32> = (0..64).map(|i| i + (i & 7) + 1).collect();
    assert_equal(&found, &expected, |i| format!("count {i}"));
}
