//! Casts and `convert_` functions between all types.

use super::harness::{Launch, Plain, assert_equal, check_each, session};
use super::random::Random;

fn numbers() -> Vec<u64> {
    let mut random = Random::new(10);
    let edges = [
        0,
        1,
        127,
        128,
        255,
        256,
        0x7fff,
        0x8000,
        0xffff,
        0x1_0000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x1_0000_0000,
        0x7fff_ffff_ffff_ffff,
        0x8000_0000_0000_0000,
        u64::MAX,
        0xffff_ffff_8000_0000,
        0x0100_0001,
        0x7fff_ffbf_ffff_ffff,
        0xff_ffff_8000_0000,
    ];
    edges
        .into_iter()
        .chain((0..500).map(|_| random.number()))
        .collect()
}

#[test]
fn integer_casts() {
    let source = "
    kernel void test(global const ulong *in, global ulong *out) {
        size_t i = get_global_id(0);
        ulong u = in[i];
        global ulong *o = out + i * 10;
        o[0] = (ulong)(long)(char)u;   o[1] = (uchar)u;
        o[2] = (ulong)(long)(short)u;  o[3] = (ushort)u;
        o[4] = (ulong)(long)(int)u;    o[5] = (uint)u;
        o[6] = (ulong)(int)(char)(short)u;
        o[7] = (ushort)(short)(char)u;
        o[8] = (uint)(int)(short)u;
        o[9] = (bool)u;
    }";
    let a = numbers();
    let expected: Vec<u64> = a
        .iter()
        .flat_map(|&u| {
            [
                u as i8 as u64,
                u as u8 as u64,
                u as i16 as u64,
                u as u16 as u64,
                u as i32 as u64,
                u as u32 as u64,
                u as i8 as u64,
                u as i8 as u16 as u64,
                u as i16 as u32 as u64,
                u64::from(u != 0),
            ]
        })
        .collect();
    check_each(source, &a, &expected, |i, x| format!("cast {i} of {x:#x}"));
}

#[test]
fn integers_to_float() {
    let source = "
    kernel void test(global const ulong *in, global float *out) {
        size_t i = get_global_id(0);
        ulong u = in[i];
        global float *o = out + i * 8;
        o[0] = (char)u;  o[1] = (uchar)u; o[2] = (short)u; o[3] = (ushort)u;
        o[4] = (int)u;   o[5] = (uint)u;  o[6] = (long)u;  o[7] = u;
    }";
    let a = numbers();
    let expected: Vec<f32> = a
        .iter()
        .flat_map(|&u| {
            [
                u as i8 as f32,
                u as u8 as f32,
                u as i16 as f32,
                u as u16 as f32,
                u as i32 as f32,
                u as u32 as f32,
                u as i64 as f32,
                u as f32,
            ]
        })
        .collect();
    check_each(source, &a, &expected, |i, x| format!("type {i} of {x:#x}"));
}

#[test]
fn float_to_integers() {
    let source = "
    kernel void test(global const float *in, global long *out) {
        size_t i = get_global_id(0);
        float x = in[i];
        float small = fmod(x, 100.0f);
        global long *o = out + i * 8;
        o[0] = (char)small; o[1] = (uchar)fabs(small); o[2] = (short)small; o[3] = (ushort)fabs(small);
        o[4] = (int)x;      o[5] = (uint)fabs(x);
        o[6] = (long)(x * 1048576.0f); o[7] = (long)(ulong)fabs(x * 1073741824.0f);
    }";
    let mut random = Random::new(11);
    let a: Vec<f32> = (0..500)
        .map(|i| random.float(2e9) / (1 << (i % 31)) as f32)
        .collect();
    let expected: Vec<i64> = a
        .iter()
        .flat_map(|&x| {
            let small = x % 100.0;
            [
                small as i8 as i64,
                small.abs() as u8 as i64,
                small as i16 as i64,
                small.abs() as u16 as i64,
                x as i32 as i64,
                x.abs() as u32 as i64,
                (x * 1_048_576.0) as i64,
                (x * 1_073_741_824.0).abs() as u64 as i64,
            ]
        })
        .collect();
    check_each(source, &a, &expected, |i, x| format!("type {i} of {x:e}"));
}

#[test]
fn saturating() {
    let source = "
    kernel void test(global const float *in, global const long *ints, global long *out) {
        size_t i = get_global_id(0);
        float x = in[i]; long l = ints[i];
        global long *o = out + i * 13;
        o[0] = convert_char_sat(x);  o[1] = convert_uchar_sat(x);
        o[2] = convert_short_sat(x); o[3] = convert_ushort_sat(x);
        o[4] = convert_int_sat(x);   o[5] = convert_uint_sat(x);
        o[6] = convert_long_sat(x);  o[7] = (long)convert_ulong_sat(x);
        o[8] = convert_char_sat(l);  o[9] = convert_ushort_sat(l);
        o[10] = convert_int_sat(l);  o[11] = convert_uint_sat((ulong)l);
        o[12] = convert_uchar_sat((int)l);
    }";
    let mut random = Random::new(12);
    let special = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        127.5,
        128.0,
        -129.0,
        255.9,
        65535.5,
        2147483648.0,
        -2147483904.0,
        4294967296.0,
        9.3e18,
        -9.3e18,
        1.9e19,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        1e38,
    ];
    let a: Vec<f32> = special
        .into_iter()
        .chain((0..493).map(|i| random.float(2e10) / (1u64 << (i % 36)) as f32))
        .collect();
    let ints: Vec<i64> = a.iter().map(|_| random.number() as i64).collect();
    let expected: Vec<i64> = a
        .iter()
        .zip(&ints)
        .flat_map(|(&x, &l)| {
            [
                x as i8 as i64,
                x as u8 as i64,
                x as i16 as i64,
                x as u16 as i64,
                x as i32 as i64,
                x as u32 as i64,
                x as i64,
                x as u64 as i64,
                l.clamp(-128, 127),
                l.clamp(0, 65535),
                l.clamp(i32::MIN.into(), i32::MAX.into()),
                (l as u64).min(u32::MAX.into()) as i64,
                i64::from(l as i32).clamp(0, 255),
            ]
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&ints)
        .output::<i64>(expected.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(2), &expected, |i| {
        format!("type {} of {:e} or {}", i % 13, a[i / 13], ints[i / 13])
    });
}

#[test]
fn rounding() {
    let source = "
    kernel void test(global const float *in, global const int *ints, global int *out, global float *floats) {
        size_t i = get_global_id(0);
        float x = in[i];
        global int *o = out + i * 6;
        o[0] = convert_int_rte(x); o[1] = convert_int_rtz(x);
        o[2] = convert_int_rtp(x); o[3] = convert_int_rtn(x);
        o[4] = convert_char_sat_rte(x); o[5] = convert_ushort_sat_rtp(x);
        global float *f = floats + i * 4;
        f[0] = convert_float_rte(ints[i]); f[1] = convert_float_rtz(ints[i]);
        f[2] = convert_float_rtp(ints[i]); f[3] = convert_float_rtn(ints[i]);
    }";
    let mut random = Random::new(13);
    let special = [
        0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 126.5, 127.5, -128.5, 8388609.0, 1e-30, -1e-30,
    ];
    let a: Vec<f32> = special
        .into_iter()
        .chain((0..499).map(|i| random.float(1e9) / (1u64 << (i % 31)) as f32))
        .collect();
    let ints: Vec<i32> = a.iter().map(|_| random.number() as i32).collect();
    let mut expected = Vec::new();
    let mut floats = Vec::new();
    for (&x, &n) in a.iter().zip(&ints) {
        expected.extend([
            x.round_ties_even() as i32,
            x as i32,
            x.ceil() as i32,
            x.floor() as i32,
            x.round_ties_even() as i8 as i32,
            x.ceil() as u16 as i32,
        ]);
        let near = n as f32;
        let (mut low, mut high) = (near, near);
        if f64::from(near) > f64::from(n) {
            low = near.next_down();
        } else if f64::from(near) < f64::from(n) {
            high = near.next_up();
        }
        floats.extend([near, if n < 0 { high } else { low }, high, low]);
    }
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&ints)
        .output::<i32>(expected.len())
        .output::<f32>(floats.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(2), &expected, |i| {
        format!("rounding {} of {:e}", i % 6, a[i / 6])
    });
    assert_equal(&found.get(3), &floats, |i| {
        format!("rounding {} of {}", i % 4, ints[i / 4])
    });
}

/// The value of a half by its definition.
fn half_value(half: u16) -> f32 {
    let sign = if half & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(half >> 10 & 31), f32::from(half & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    }
}

#[test]
fn half() {
    let source = "
    kernel void test(global const half *in, global float *out, global half *back, global ushort *vectors) {
        size_t i = get_global_id(0);
        float x = vload_half(i, in);
        out[i] = x;
        vstore_half(x, i, back);
        if (i % 4 == 0)
            vstore_half4_rtz(vload_half4(i / 4, in) * 1.0001f, i / 4, (global half *)vectors);
    }";
    let bits: Vec<u16> = (0..0x7c00u16)
        .step_by(5)
        .flat_map(|half| [half, half | 0x8000])
        .chain([0x7c00, 0xfc00])
        .collect();
    let bits: Vec<u16> = bits.iter().copied().take(bits.len() / 4 * 4).collect();
    let found = Launch::new(source)
        .buffer(&bits)
        .output::<f32>(bits.len())
        .output::<u16>(bits.len())
        .output::<u16>(bits.len())
        .run(&[bits.len()], &[]);
    let expected: Vec<f32> = bits.iter().map(|&half| half_value(half)).collect();
    assert_equal(&found.get(1), &expected, |i| format!("half {:#x}", bits[i]));
    assert_equal(&found.get(2), &bits, |i| format!("half {:#x}", bits[i]));
    // Toward zero, a little more of a normal number is the number itself.
    for (at, &half) in found.get::<u16>(3).iter().enumerate() {
        let normal = bits[at] & 0x7c00 != 0;
        assert!(
            !normal || half == bits[at],
            "{:#x} became {half:#x}",
            bits[at]
        );
    }
}

#[test]
fn as_type() {
    let source = "
    kernel void test(global const uint4 *in, global float4 *floats, global ushort8 *shorts, global long2 *longs) {
        size_t i = get_global_id(0);
        floats[i] = as_float4(in[i]);
        shorts[i] = as_ushort8(in[i]);
        longs[i] = as_long2(as_uchar16(in[i]));
    }";
    let mut random = Random::new(14);
    // Bits of normal floats, which pass through unchanged.
    let a: Vec<u32> = (0..1024)
        .map(|_| random.next() as u32 & 0xbfff_ffff | 0x1000_0000)
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<f32>(a.len())
        .output::<u16>(2 * a.len())
        .output::<i64>(a.len() / 2)
        .run(&[a.len() / 4], &[]);
    let mut bytes = Vec::new();
    a.iter().for_each(|&word| word.put(&mut bytes));
    let floats: Vec<f32> = a.iter().map(|&word| f32::from_bits(word)).collect();
    assert_equal(&found.get(1), &floats, |_| "as_float4".into());
    let shorts: Vec<u16> = bytes.chunks(2).map(u16::get).collect();
    assert_equal(&found.get(2), &shorts, |_| "as_ushort8".into());
    let longs: Vec<i64> = bytes.chunks(8).map(i64::get).collect();
    assert_equal(&found.get(3), &longs, |_| "as_long2".into());
}

/// "For n = 3, vloada_half3 reads a half3 from address (p + (offset * 4))", and so does its counterpart.
#[test]
fn padded_half_vectors() {
    let source = "
    kernel void test(global const half *in, global half *out, global float *packed) {
        size_t i = get_global_id(0);
        vstorea_half3(vloada_half3(i, in), i, out);
        vstore3(vload_half3(i, in), i, packed);
        vstorea_half4(vloada_half4(i + 5, in), i + 5, out);
    }";
    let bits: Vec<u16> = (0..40).map(|i| 0x3c00 + i * 33).collect();
    let found = Launch::new(source)
        .buffer(&bits)
        .output::<u16>(40)
        .output::<f32>(15)
        .run(&[5], &[]);
    let padded = found.get::<u16>(1);
    for (at, &half) in padded.iter().enumerate() {
        if at >= 20 || at % 4 < 3 {
            assert_eq!(half, bits[at], "at {at}");
        }
    }
    let packed: Vec<f32> = bits[..15].iter().map(|&half| half_value(half)).collect();
    assert_equal(&found.get(2), &packed, |i| format!("at {i}"));
}

/// A rounding mode does nothing to integers; neither may it lose their sign.
#[test]
fn rounded_integers() {
    let source = "
    kernel void test(global const int *in, global long *longs, global uchar4 *bytes, global short2 *shorts) {
        size_t i = get_global_id(0);
        int x = in[i];
        longs[3 * i] = convert_long_rte(x);
        longs[3 * i + 1] = convert_long_rtp(as_uint(x));
        longs[3 * i + 2] = (long)convert_ulong_sat_rtn(x);
        bytes[i] = convert_uchar4_sat_rtz((int4)(x, x + 1, x / 2, -x));
        shorts[i] = convert_short2_sat_rte((uint2)(as_uint(x), 7));
    }";
    let numbers = [0, 1, -1, 200, -200, 255, 256, 40_000, i32::MAX, i32::MIN];
    let count = numbers.len();
    let found = Launch::new(source)
        .buffer(&numbers)
        .output::<i64>(3 * count)
        .output::<u8>(4 * count)
        .output::<i16>(2 * count)
        .run(&[count], &[]);
    let (mut longs, mut bytes, mut shorts) = (Vec::new(), Vec::new(), Vec::new());
    for x in numbers {
        longs.extend([i64::from(x), i64::from(x as u32), i64::from(x.max(0))]);
        let quarter = [x, x.wrapping_add(1), x / 2, x.wrapping_neg()];
        bytes.extend(quarter.map(|v| v.clamp(0, 255) as u8));
        shorts.extend([(x as u32).min(32_767) as i16, 7]);
    }
    assert_equal(&found.get(1), &longs, |i| format!("long {i}"));
    assert_equal(&found.get(2), &bytes, |i| format!("uchar {i}"));
    assert_equal(&found.get(3), &shorts, |i| format!("short {i}"));
}

/// What a comparison of vectors gives, taken for unsigned numbers and made wider.
#[test]
fn extended_comparisons() {
    let mut random = Random::new(12);
    for lanes in [2, 4, 8, 16] {
        let [a, b]: [Vec<u8>; 2] =
            [(); 2].map(|()| (0..64 * lanes).map(|_| random.number() as u8).collect());
        let source = format!(
            "
        kernel void test(global const uchar{lanes} *a, global const uchar{lanes} *b,
                         global ulong{lanes} *longs, global ushort{lanes} *shorts) {{
            size_t i = get_global_id(0);
            longs[i] = convert_ulong{lanes}(as_uchar{lanes}(a[i] > b[i])) + 1;
            shorts[i] = convert_ushort{lanes}_sat(as_uchar{lanes}(a[i] <= b[i])) >> (ushort)3;
        }}"
        );
        let greater = || a.iter().zip(&b).map(|(a, b)| a > b);
        let longs: Vec<u64> = greater().map(|is| if is { 256 } else { 1 }).collect();
        let shorts: Vec<u16> = greater().map(|is| if is { 0 } else { 255 >> 3 }).collect();
        let found = Launch::new(source)
            .buffer(&a)
            .buffer(&b)
            .output::<u64>(a.len())
            .output::<u16>(a.len())
            .run(&[64], &[]);
        let lane = |i: usize| format!("{lanes} lanes: {} > {}", a[i], b[i]);
        assert_equal(&found.get(2), &longs, lane);
        assert_equal(&found.get(3), &shorts, lane);
    }
}

/// What a conversion rounds stays rounded in the next one.
#[test]
fn there_and_back() {
    let source = "
    kernel void test(global const uint *a, global uint *out) {
        size_t i = get_global_id(0);
        uint u = a[i];
        int s = (int)(u << 1) / 2;
        global uint *o = out + i * 6;
        o[0] = (uint)(float)u;
        o[1] = (int)(float)s;
        o[2] = (ulong)(float)u >> 4;
        o[3] = (float)u == (float)(uint)(float)u;
    #ifdef cl_khr_fp64
        o[4] = (uint)(double)(float)u;
        o[5] = (int)(double)(float)((double)s * 1.25) / 5;
    #endif
    }";
    let doubles = session().has("cl_khr_fp64");
    let mut random = Random::new(25);
    // The largest that are not rounded up to 2 to the 31 or 32.
    let a: Vec<u32> = (0..256)
        .map(|_| random.next() as u32 % 0x4fff_ff00)
        .collect();
    let expected: Vec<u32> = a
        .iter()
        .flat_map(|&u| {
            let s = (u << 1).cast_signed() / 2;
            let single = u as f32;
            let narrowed = (f64::from(s) * 1.25) as f32;
            let of_doubles = [single as u32, (narrowed as i32 / 5).cast_unsigned()];
            let [e, f] = if doubles { of_doubles } else { [0; 2] };
            let signed = (s as f32 as i32).cast_unsigned();
            [single as u32, signed, (single as u64 >> 4) as u32, 1, e, f]
        })
        .collect();
    let mut found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(expected.len())
        .run(&[a.len()], &[])
        .get::<u32>(1);
    if !doubles {
        for at in found.chunks_mut(6) {
            at[4..].fill(0);
        }
    }
    assert_equal(&found, &expected, |i| {
        format!("conversion {} of {}", i % 6, a[i / 6])
    });
}
