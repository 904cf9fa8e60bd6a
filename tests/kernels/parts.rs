//! Variables that are written in parts, and structures of three, five, six and seven bytes: LLVM makes integers of 24, 40,
//! 48 and 56 bits of what is left of them.

use super::harness::{Launch, assert_equal};

const ITEMS: usize = 32;

fn inputs() -> Vec<u32> {
    (0..ITEMS as u32 + 16)
        .map(|i| i.wrapping_mul(0x9e37_79b9) ^ 0x8543_21ab)
        .collect()
}

/// What each work-item of `body` stores in `result` is what `expected` makes of the inputs from its own on.
fn check(body: &str, expected: impl Fn(&[u32]) -> u64) {
    let source = format!(
        "kernel void test(global ulong *out, global const uint *all) {{
            const uint i = (uint)get_global_id(0);
            global const uint *in = all + i;
            ulong result;
            {body}
            out[i] = result;
        }}"
    );
    let inputs = inputs();
    let found = Launch::new(source)
        .output::<u64>(ITEMS)
        .buffer(&inputs)
        .run(&[ITEMS], &[8]);
    let expected: Vec<u64> = (0..ITEMS).map(|i| expected(&inputs[i..])).collect();
    assert_equal(&found.get(0), &expected, |i| format!("work-item {i}"));
}

#[test]
fn a_word_without_its_highest_byte() {
    let body = "
        uint word = 1;
        for (uint k = 0; k < 4; ++k) {
            ((uchar *)&word)[3] = in[k];
            if (k != 1) word = 1u << (in[k] & 31);
            result = 5 - word;
            result = result * 3 + (in[4] - word);
        }";
    check(body, |input| {
        let (mut word, mut result) = (1u32, 0);
        for k in 0..4 {
            word = word & 0xff_ffff | input[k] << 24;
            if k != 1 {
                word = 1 << (input[k] & 31);
            }
            result = u64::from(5u32.wrapping_sub(word));
            result = result * 3 + u64::from(input[4].wrapping_sub(word));
        }
        result
    });
}

#[test]
fn a_word_without_its_lowest_byte() {
    let body = "
        int word = in[0];
        result = 0;
        for (uint k = 0; k < 9; ++k) {
            ((char *)&word)[0] = in[k];
            if (in[k + 1] & 1) word = (int)in[k + 2] >> 9;
            result = result * 7 + (ulong)(long)(word >> 8) * 3 + (ulong)(long)((word >> 8) / 3);
            if ((word >> 8) < -70) result ^= 77;
        }";
    check(body, |input| {
        let (mut word, mut result) = (input[0] as i32, 0u64);
        for k in 0..9 {
            word = word & !0xff | (input[k] & 0xff) as i32;
            if input[k + 1] & 1 != 0 {
                word = input[k + 2] as i32 >> 9;
            }
            let high = i64::from(word >> 8);
            result = result
                .wrapping_mul(7)
                .wrapping_add((high as u64).wrapping_mul(3))
                .wrapping_add((high / 3) as u64);
            if high < -70 {
                result ^= 77;
            }
        }
        result
    });
}

#[test]
fn a_long_without_its_highest_byte() {
    let body = "
        ulong word = (ulong)in[0] << 32 | in[1];
        for (uint k = 0; k < 8; ++k) {
            ((uchar *)&word)[7] += (uchar)3;
            word ^= (ulong)in[k] << k * 4;
        }
        struct seven { uchar bytes[7]; } *part = (struct seven *)&word, copy = *part;
        result = 0;
        for (uint k = 0; k < 7; ++k) result = result << 8 | copy.bytes[k];";
    check(body, |input| {
        let mut word = u64::from(input[0]) << 32 | u64::from(input[1]);
        for (k, &value) in input[..8].iter().enumerate() {
            let high = (word >> 56) as u8;
            word = word & !(0xff << 56) | u64::from(high.wrapping_add(3)) << 56;
            word ^= u64::from(value) << (k * 4);
        }
        word.to_le_bytes()[..7]
            .iter()
            .fold(0, |all, &byte| all << 8 | u64::from(byte))
    });
}

/// Copies of structures, chosen in a loop, leave what lies beside them as it is.
#[test]
fn structures_of_odd_sizes() {
    for size in [3usize, 5, 6, 7] {
        let source = format!(
            "typedef struct {{ uchar bytes[{size}]; }} part;
            typedef struct {{ part first; uchar beside; part second; uchar end; }} whole;
            kernel void test(global whole *out, global const uint *all) {{
                const uint i = (uint)get_global_id(0);
                global const uint *in = all + i;
                global const part *parts = (global const part *)in;
                part one = parts[0];
                out[i].beside = (uchar)(i + 1);
                out[i].end = (uchar)(i + 101);
                for (uint k = 0; k < 4; ++k)
                    if (in[k] & 2) one = parts[k];
                out[i].first = one;
                out[i].second = one;
            }}"
        );
        let inputs = inputs();
        let found = Launch::new(source)
            .output::<u8>(ITEMS * 2 * (size + 1))
            .buffer(&inputs)
            .run(&[ITEMS], &[8]);
        let bytes: Vec<u8> = inputs.iter().flat_map(|word| word.to_le_bytes()).collect();
        let expected: Vec<u8> = (0..ITEMS)
            .flat_map(|i| {
                let chosen = (0..4).rev().find(|&k| inputs[i + k] & 2 != 0).unwrap_or(0);
                let at = 4 * i + size * chosen;
                let part = &bytes[at..at + size];
                [part, &[i as u8 + 1], part, &[i as u8 + 101]].concat()
            })
            .collect();
        assert_equal(&found.get(0), &expected, |at| {
            format!("structures of {size} bytes, byte {at}")
        });
    }
}
