//! cl_khr_integer_dot_product and cl_khr_extended_bit_ops.

use crate::harness::{Launch, assert_equal, session, skip};

fn lacks(extension: &str) -> bool {
    let lacks = !session().has(extension);
    if lacks {
        skip("the device does not report the extension");
    }
    lacks
}

/// Words of which every byte takes part in some corner.
fn words() -> Vec<u32> {
    let corners = [0, 1, 0x7f, 0x80, 0xff, 0xfe];
    let mut words = Vec::new();
    let mut state = 12345u32;
    for high in corners {
        for low in corners {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            words.push(high << 24 | low << 16 | (state >> 16));
        }
    }
    words.extend([0x80808080, 0x7f7f7f7f, 0xffffffff]);
    words
}

fn dot(x: u32, y: u32, signed: [bool; 2]) -> i32 {
    let value = |signed: bool, byte: u8| {
        if signed {
            i32::from(byte as i8)
        } else {
            i32::from(byte)
        }
    };
    let pairs = x.to_le_bytes().into_iter().zip(y.to_le_bytes());
    pairs
        .map(|(x, y)| value(signed[0], x) * value(signed[1], y))
        .sum()
}

const SIGNS: [[bool; 2]; 4] = [[true, true], [false, false], [true, false], [false, true]];

/// Every word with every other.
fn pairs() -> (Vec<u32>, Vec<u32>) {
    let words = words();
    words
        .iter()
        .flat_map(|&x| words.iter().map(move |&y| (x, y)))
        .unzip()
}

fn check_dots(source: &str) {
    let (x, y) = pairs();
    let buffers = Launch::new(source)
        .buffer(&x)
        .buffer(&y)
        .output::<i32>(4 * x.len())
        .run(&[x.len()], &[]);
    let expected: Vec<i32> = x
        .iter()
        .zip(&y)
        .flat_map(|(&x, &y)| SIGNS.map(|signed| dot(x, y, signed)))
        .collect();
    assert_equal(&buffers.get(2), &expected, |at| {
        format!(
            "{:x} · {:x}, signs {:?}",
            x[at / 4],
            y[at / 4],
            SIGNS[at % 4]
        )
    });
}

#[test]
fn dot_products_of_bytes() {
    if lacks("cl_khr_integer_dot_product") {
        return;
    }
    check_dots(
        "kernel void test(global uint *x, global uint *y, global int4 *out) {
            size_t i = get_global_id(0);
            out[i].x = dot(as_char4(x[i]), as_char4(y[i]));
            out[i].y = dot(as_uchar4(x[i]), as_uchar4(y[i]));
            out[i].z = dot(as_char4(x[i]), as_uchar4(y[i]));
            out[i].w = dot(as_uchar4(x[i]), as_char4(y[i]));
        }",
    );
}

#[test]
fn dot_products_of_packed_bytes() {
    if lacks("cl_khr_integer_dot_product") {
        return;
    }
    check_dots(
        "kernel void test(global uint *x, global uint *y, global int4 *out) {
            size_t i = get_global_id(0);
            out[i].x = dot_4x8packed_ss_int(x[i], y[i]);
            out[i].y = dot_4x8packed_uu_uint(x[i], y[i]);
            out[i].z = dot_4x8packed_su_int(x[i], y[i]);
            out[i].w = dot_4x8packed_us_int(x[i], y[i]);
        }",
    );
}

#[test]
fn dot_products_saturate() {
    if lacks("cl_khr_integer_dot_product") {
        return;
    }
    let source =
        "kernel void test(global uint *x, global uint *y, global int *a, global int *out) {
        size_t i = get_global_id(0);
        global int *o = out + i * 8;
        o[0] = dot_acc_sat(as_char4(x[i]), as_char4(y[i]), a[i]);
        o[1] = dot_acc_sat(as_uchar4(x[i]), as_uchar4(y[i]), as_uint(a[i]));
        o[2] = dot_acc_sat(as_char4(x[i]), as_uchar4(y[i]), a[i]);
        o[3] = dot_acc_sat(as_uchar4(x[i]), as_char4(y[i]), a[i]);
        o[4] = dot_acc_sat_4x8packed_ss_int(x[i], y[i], a[i]);
        o[5] = dot_acc_sat_4x8packed_uu_uint(x[i], y[i], as_uint(a[i]));
        o[6] = dot_acc_sat_4x8packed_su_int(x[i], y[i], a[i]);
        o[7] = dot_acc_sat_4x8packed_us_int(x[i], y[i], a[i]);
    }";
    let (x, y) = pairs();
    let near = [
        i32::MAX,
        i32::MIN,
        0,
        i32::MAX - 100_000,
        i32::MIN + 30_000,
        -1,
        -50_000,
    ];
    let accumulators: Vec<i32> = (0..x.len()).map(|i| near[i % near.len()]).collect();
    let buffers = Launch::new(source)
        .buffer(&x)
        .buffer(&y)
        .buffer(&accumulators)
        .output::<i32>(8 * x.len())
        .run(&[x.len()], &[]);
    let mut expected = Vec::new();
    for ((&x, &y), &a) in x.iter().zip(&y).zip(&accumulators) {
        let sums = SIGNS.map(|signed| {
            let product = dot(x, y, signed);
            match signed {
                [false, false] => (a as u32).saturating_add(product as u32) as i32,
                _ => a.saturating_add(product),
            }
        });
        expected.extend([sums, sums].concat());
    }
    assert_equal(&buffers.get(3), &expected, |at| {
        format!(
            "form {}: {:x} · {:x} + {}",
            at % 8,
            x[at / 8],
            y[at / 8],
            accumulators[at / 8]
        )
    });
}

#[test]
fn bits_are_reversed() {
    if lacks("cl_khr_extended_bit_ops") {
        return;
    }
    let source = "kernel void test(global ulong *in, global uchar *a, global ushort2 *b, global uint4 *c, global ulong *d) {
        size_t i = get_global_id(0);
        a[i] = bit_reverse((uchar)in[i]);
        b[i] = bit_reverse((ushort2)((ushort)in[i], (ushort)(in[i] >> 16)));
        c[i] = as_uint4(bit_reverse((int4)((int)in[i], (int)(in[i] >> 32), 1, -2)));
        d[i] = bit_reverse(in[i]);
    }";
    let input: Vec<u64> = (0..64)
        .map(|i| 0x0123_4567_89ab_cdefu64.rotate_left(i) ^ u64::from(i) << 33)
        .collect();
    let buffers = Launch::new(source)
        .buffer(&input)
        .output::<u8>(64)
        .output::<[u16; 2]>(64)
        .output::<[u32; 4]>(64)
        .output::<u64>(64)
        .run(&[64], &[]);
    let of = |at: usize| format!("{:x}", input[at]);
    let bytes: Vec<u8> = input.iter().map(|&x| (x as u8).reverse_bits()).collect();
    assert_equal(&buffers.get(1), &bytes, of);
    let shorts: Vec<[u16; 2]> = input
        .iter()
        .map(|&x| [x as u16, (x >> 16) as u16].map(u16::reverse_bits))
        .collect();
    assert_equal(&buffers.get(2), &shorts, of);
    let ints: Vec<[u32; 4]> = input
        .iter()
        .map(|&x| [x as u32, (x >> 32) as u32, 1, u32::MAX - 1].map(u32::reverse_bits))
        .collect();
    assert_equal(&buffers.get(3), &ints, of);
    let longs: Vec<u64> = input.iter().map(|x| x.reverse_bits()).collect();
    assert_equal(&buffers.get(4), &longs, of);
}

/// Fields of every place and length, the empty and the whole one among them, in 8, 16, 32 and 64 bits.
#[test]
fn bit_fields() {
    if lacks("cl_khr_extended_bit_ops") {
        return;
    }
    for (name, bits) in [("char", 8u32), ("short", 16), ("int", 32), ("long", 64)] {
        let source = format!(
            "kernel void test(global long *base, global long *insert, global uint2 *field, global ulong *out) {{
                size_t i = get_global_id(0);
                {name} x = base[i];
                u{name} u = base[i];
                out[3 * i] = (u{name})bitfield_insert(x, ({name})insert[i], field[i].x, field[i].y);
                out[3 * i + 1] = (u{name})bitfield_extract_signed(u, field[i].x, field[i].y);
                out[3 * i + 2] = (u{name})bitfield_extract_unsigned(x, field[i].x, field[i].y);
            }}"
        );
        let mut fields = Vec::new();
        for offset in (0..bits).chain([bits]) {
            for count in [0, 1, 2, bits / 2, bits - 1, bits] {
                if offset + count <= bits {
                    fields.push([offset, count]);
                }
            }
        }
        let base: Vec<u64> = (0..fields.len() as u32)
            .map(|i| 0x9e37_79b9_7f4a_7c15u64.rotate_left(i))
            .collect();
        let insert: Vec<u64> = base.iter().map(|x| !x.rotate_left(7)).collect();
        let buffers = Launch::new(source)
            .buffer(&base)
            .buffer(&insert)
            .buffer(&fields)
            .output::<u64>(3 * fields.len())
            .run(&[fields.len()], &[]);
        let ones = |count: u32| match count {
            64 => u64::MAX,
            _ => (1u64 << count) - 1,
        };
        let mut expected = Vec::new();
        for ((&[offset, count], &x), &y) in fields.iter().zip(&base).zip(&insert) {
            let mask = ones(count).checked_shl(offset).unwrap_or(0);
            let inserted = x & !mask | y.checked_shl(offset).unwrap_or(0) & mask;
            let value = (x & ones(bits)).checked_shr(offset).unwrap_or(0) & ones(count);
            let signed = match count {
                0 => 0,
                _ => ((value << (64 - count)) as i64 >> (64 - count)) as u64,
            };
            expected.extend([inserted, signed, value].map(|result| result & ones(bits)));
        }
        assert_equal(&buffers.get(3), &expected, |at| {
            format!("{name}, field {:?}, operation {}", fields[at / 3], at % 3)
        });
    }
}

#[test]
fn expectations_and_assumptions() {
    let source = "kernel void test(global int *p) {
        size_t i = get_global_id(0);
        int x = p[i];
        __builtin_assume(x >= 0);
        if (__builtin_expect(x == 3, 0)) p[i] = x * 10;
        else p[i] = x + (__builtin_expect(x, 5) > 4 ? 100 : 200);
    }";
    let input: Vec<i32> = (0..32).collect();
    let buffers = Launch::new(source).buffer(&input).run(&[32], &[]);
    let expected: Vec<i32> = input
        .iter()
        .map(|&x| match x {
            3 => 30,
            5.. => x + 100,
            _ => x + 200,
        })
        .collect();
    assert_equal(&buffers.get(0), &expected, |at| format!("item {at}"));
}
