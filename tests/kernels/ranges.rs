//! Numbers of which more is known than their type says: sizes, bytes, signs, one of two places. Each kernel came out
//! wrong on a driver that concluded too much from that (NVIDIA's, 580.159.04); they are what was left of random ones.

use super::harness::{Launch, assert_equal};

const ITEMS: usize = 64;

/// The `number` of every kernel.
const NUMBER: u32 = 0x9876_5432;

/// Whether what each work-item of `body` stores in `out[i]` is what is expected. It has 16 words of `mine`, 16 `shorts` in
/// local memory, and a `number` and a `vector` from the host; before it stands `outside`.
fn check(outside: &str, group: usize, body: &str, expected: impl Fn(u64) -> u64) {
    check_with("", outside, group, body, expected);
}

/// [`check`] of a program that is built with options.
fn check_with(
    options: &'static str,
    outside: &str,
    group: usize,
    body: &str,
    expected: impl Fn(u64) -> u64,
) {
    let source = format!(
        "{outside}
        kernel __attribute__((reqd_work_group_size({group}, 1, 1)))
        void test(global ulong *out, global uint *scratch, local short *items, uint number, short4 vector) {{
            const uint i = (uint)get_global_id(0), id = (uint)get_local_id(0);
            global uint *mine = scratch + i * 16;
            local short *shorts = items + id * 16;
            for (uint j = 0; j < 16; ++j) shorts[j] = (short)(j * 259u + i);
            local uint slots[8];
            {body}
        }}"
    );
    let found = Launch::new(source)
        .option(options)
        .output::<u64>(ITEMS)
        .buffer(&vec![0x0007_0007u32; ITEMS * 16])
        .local(group * 32)
        .value(NUMBER)
        .value([-3i16, 77, 32000, -32768])
        .run(&[ITEMS], &[group]);
    let expected: Vec<u64> = (0..ITEMS as u64).map(expected).collect();
    assert_equal(&found.get(0), &expected, |i| format!("work-item {i}"));
}

#[test]
fn saturated_differences_of_sizes() {
    let body = "
        uint both = 1 && convert_int4(vector).s3;
        ulong size = get_global_size(0);
        out[i] = sub_sat(size / (size | 1), (ulong)((uchar)1 > (uchar)both));";
    check("", 8, body, |_| 0);
}

#[test]
fn saturated_sums_of_ids() {
    let body = "
        ulong2 sum = add_sat(convert_ulong2_rtp((int2)(int)(uint)get_group_id(0)), convert_ulong2(vload2(1, shorts)));
        switch (convert_ulong_sat_rtz(5258.75f) & 15) {
            case 2: mine[1] <<= convert_uint_sat_rtz(convert_float(convert_uchar_sat(convert_float((char)sum.s0))));
        }
        if (!((int)vector.s3 & 1)) atomic_sub(&mine[2], 1u);
        out[i] = sum.s0 * 3 + sum.s1 * 5;";
    check("", 1, body, |i| {
        (2 * 259 + 2 * i) * 3 + (3 * 259 + 2 * i) * 5
    });
}

#[test]
fn saturated_bytes() {
    let body = "
        uchar2 sum = add_sat((uchar2)(9, 0xfb), (uchar2)((uchar)(ulong)get_global_size(0)));
        out[i] = (ulong)sum.s0 * 3 + (ulong)sum.s1 * 5;";
    check("", 2, body, |_| (9 + ITEMS as u64) * 3 + 255 * 5);
}

#[test]
fn one_of_two_elements() {
    let body = "
        long16 ones = convert_long16_sat_rtz((float16)1);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < 1) for (uint j = 0; j < 8; ++j) slots[j] = j * 77u;
        barrier(CLK_LOCAL_MEM_FENCE);
        atomic_or(&slots[1], 1u);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint odd = slots[1];
        short a[8] = { 1, 1, 1, (short)ones.s9, 1 };
        vstore3((short3)(short)odd, (uchar)odd & 1u, a);
        out[i] = (ulong)a[4];";
    check("", 32, body, |_| 77);
}

#[test]
fn one_of_two_variables() {
    let body = "
        local float8 shared[16];
        barrier(CLK_LOCAL_MEM_FENCE); shared[id] = (float8)1; barrier(CLK_LOCAL_MEM_FENCE);
        float8 v = shared[1];
        shorts[1] = isless(1.0f, 1.0f) || (int)(convert_ulong_sat_rte(5375.5f) & 255u);
        barrier(CLK_LOCAL_MEM_FENCE); shared[id] = (float8)1; barrier(CLK_LOCAL_MEM_FENCE);
        float8 w = shared[1];
        float8 *p = 1u == as_uint((char4)(char)id) ? &v : &w;
        p->lo = convert_float4(vector);
        out[i] = as_uint(v.s0) + as_uint(v.s1) * 5ul + as_uint(v.s2) * 7ul + as_uint(v.s6) * 9ul;";
    check("", 16, body, |_| u64::from(1f32.to_bits()) * 22);
}

#[test]
fn exchanged_bytes() {
    let body = "
        global ushort *words = (global ushort *)(out + i);
        words[0] = (ushort)(i * 0x0605u);
        words[1] = (ushort)(i * 0x0403u + 9);
        words[2] = rotate(words[1], (ushort)8);
        words[3] = (ushort)(words[0] << 8 | words[0] >> 8);";
    check("", 4, body, |i| {
        let first = (i as u16).wrapping_mul(0x0605);
        let second = (i as u16).wrapping_mul(0x0403).wrapping_add(9);
        let words = [first, second, second.swap_bytes(), first.swap_bytes()];
        words
            .iter()
            .rev()
            .fold(0, |all, &word| all << 16 | u64::from(word))
    });
}

#[test]
fn bits_of_a_byte() {
    let body = "
        local uchar bytes[32];
        long v = 1;
        uint rounds = 2;
        do {
            uint more = 4;
        top:
            v = as_long(convert_short4(vload4(1, mine)));
            if (more-- != 0 && 1l > convert_long_sat_rte(1.0f)) goto top;
        } while (--rounds != 0);
        barrier(CLK_LOCAL_MEM_FENCE);
        bytes[id] = as_uchar2((uchar2)1 >= (uchar2)1).s0;
        barrier(CLK_LOCAL_MEM_FENCE);
        uchar byte = bytes[1];
        shorts[popcount(byte) & 15u] = (short)((ushort)v < (ushort)1);
        out[i] = (ulong)shorts[8];";
    check("", 32, body, |_| 0);
}

#[test]
fn a_sign_in_an_unsigned_quotient() {
    let outside = "
        short16 narrowed(long2 x) { return (short16)((short)x.s1); }
        constant char3 bytes[2] = { (char3)(0xff, 0xff, 0), (char3)(0xff, 0x4b, 0) };";
    let body = "
        uint dividend = (uint)bytes[upsample(number, i) & 1u].s0;
        long2 divisor = ((long2)(long)(uint)get_group_id(0) & (long2)0x7fffffffffffffff) | (long2)1;
        short16 rest = narrowed((long2)(long)dividend % divisor);
        out[i] = (ulong)rest.s0 * 3ul + (ulong)rest.s1 * 5ul + (ulong)rest.se * 31ul;";
    check(outside, 8, body, |i| {
        u64::from(u32::MAX) % ((i / 8) | 1) * 39
    });
}

#[test]
fn numbers_shifted_by_31_bits() {
    let body = "
        ulong a = vector.s1, group = get_group_id(0);
        ulong b = a << 31, c = a << 2;
        out[i] = (b & group) + ((b ^ group) >> 1) + 7 * ((c & group) + ((c ^ group) >> 1));";
    check("", 4, body, |i| {
        let group = i / 4;
        let half = |x: u64| (x & group) + ((x ^ group) >> 1);
        half(77 << 31) + 7 * half(77 << 2)
    });
}

#[test]
fn products_of_bytes() {
    let body = "
        uchar byte = 1;
        byte |= convert_uchar_sat_rtn((char)((uint)(char)get_global_size(0) * (uint)(char)-(uint)(char)id));
        ((global uchar *)mine)[1] = byte;
        out[i] = ((global uchar *)mine)[1];";
    check("", 32, body, |i| {
        let product = (ITEMS as i8).wrapping_mul(-(i as i8 % 32));
        product.max(0) as u64 | 1
    });
}

#[test]
fn saturated_sums_with_a_sign() {
    let body = "
        short3 flags = as_short3(convert_ushort3_sat(convert_float3((char3)(char)number)) == (ushort3)(ushort)vector.s3);
        ulong sign = ((ulong16)(ulong)flags.s1).sb;
        ulong sum = mad_sat((ulong)get_global_size(0), (ulong)get_global_size(0), sign);
        out[i] = vload8(sum & 1u, shorts).s5;";
    check("", 1, body, |i| 5 * 259 + i);
}

#[test]
fn exchanged_bytes_compared() {
    let outside = "
        ulong f(uint x) {
            uint by = clamp(as_uint((ushort2)(ushort)0x2ca), 4u, 40u);
            if (rotate((ushort)x, (ushort)by) >= ((ushort4)(ushort)by).s2) return 1;
            return convert_ulong_sat_rtp(-3695.0f);
        }";
    check(outside, 32, "out[i] = (long)f(mine[1u]);", |_| 1);
}

#[test]
fn quotients_by_odd_numbers() {
    let outside = "
        constant int4 numbers[2] = { (int4)(0x20000, 0x467b176d, 0x4b580b77, 0), (int4)(0x10af8aa, -7, 0x4dd80b24, -1) };";
    let body = "
        local long4 ones[2];
        barrier(CLK_LOCAL_MEM_FENCE); ones[id] = (long4)1; barrier(CLK_LOCAL_MEM_FENCE);
        long4 one = ones[1];
        long4 rest = one % ((convert_long4(numbers[id]) & (long4)0x7fffffffffffffff) | (long4)1);
        out[i] = (ulong)rest.s0 * 3 + (ulong)rest.s1 * 5 + (ulong)rest.s2 * 7 + (ulong)rest.s3 * 9;";
    // All of them are larger than one but the last of the first.
    check(outside, 2, body, |i| {
        3 + 5 + 7 + if i % 2 == 0 { 0 } else { 9 }
    });
}

#[test]
fn remainders_of_shifted_numbers() {
    let body = "
        local long4 ones[1];
        barrier(CLK_LOCAL_MEM_FENCE); ones[id] = (long4)1; barrier(CLK_LOCAL_MEM_FENCE);
        long size = (long)(ulong)get_global_size(0);
        long4 by = (long4)(size, size, convert_long_rtz((char)0xff), 0x343fd6bde9b0afa8);
        long4 rest = ((long4)(-158, 227156620, 0x1ffffff, -1) << as_ulong4(ones[0]))
            % ((by & (long4)0x7fffffffffffffff) | (long4)1);
        barrier(CLK_LOCAL_MEM_FENCE); ones[id] = (long4)1; barrier(CLK_LOCAL_MEM_FENCE);
        long4 one = ones[0];
        long4 chosen = select(convert_long4_rtz((int4)(int)0xf647d673u), one, as_long4(-as_ulong4(rest)));
        out[i] = (ulong)chosen.s0 * 3 + (ulong)chosen.s1 * 5 + (ulong)chosen.s2 * 7 + (ulong)chosen.s3 * 9;";
    let size = ITEMS as i64;
    let chosen = [
        (-158, size, 3),
        (227_156_620, size, 5),
        (0x01ff_ffff, i64::MAX, 7),
        (-1, 0x343f_d6bd_e9b0_afa8, 9),
    ]
    .map(|(number, by, weight): (i64, i64, i64)| {
        let rest = (number << 1) % (by | 1);
        weight
            * if -rest < 0 {
                1
            } else {
                i64::from(0xf647_d673_u32 as i32)
            }
    });
    check("", 1, body, |_| chosen.iter().sum::<i64>() as u64);
}

#[test]
fn bytes_of_a_loop_entered_in_its_middle() {
    let outside = "struct s { short4 four; char two[2]; } __attribute__((packed));";
    let body = "
        int skipped = (short)1 == (short)(ulong)get_global_size(0);
        uchar8 bytes = as_uchar8(convert_ushort4_rtp((uint4)number));
        char c = 1;
        uint n = 2;
        if (skipped) goto middle;
        top:
        c >>= (char)(c & convert_char_sat((char)0xffu));
        middle:
        bytes -= (uchar8)1;
        if (n-- != 0 && any(convert_char4_sat_rtn((float4)6048.5f))) goto top;
        struct s all = { vector, { c, c } };
        for (uint j = (uint)((ushort)1 && (ushort)all.two[0]) & 3u; j != ~0u; --j)
            ((global uchar *)mine)[1] = (uchar)(uint)get_group_id(0);
        out[i] = (ulong)bytes.s0 * 3 + (ulong)bytes.s1 * 5 + (ulong)bytes.s2 * 7 + (ulong)bytes.s3 * 9
            + (ulong)bytes.s4 * 11 + (ulong)bytes.s5 * 13 + (ulong)bytes.s6 * 15 + (ulong)bytes.s7 * 17;";
    // The bytes of 0x5432, one less each, by turns.
    check(outside, 16, body, |_| {
        0x31 * (3 + 7 + 11 + 15) + 0x53 * (5 + 9 + 13 + 17)
    });
}

#[test]
fn quotients_by_upsampled_numbers() {
    let body = "
        long2 v = upsample((int2)(int)(ulong)get_global_size(0), (uint2)1);
        long8 quotients[1] = { (long8)((long)0x11d8e62d2eff6bul, (long)0x0ul, (long)0x1850dul, (long)0xfffffffffffff93eul,
                                       (long)0xfff71b85cbafc885ul, (long)0x400ul, (long)0x2868c49e3a4ul, (long)0x200ul)
                               / (((long8)v.s0 & (long8)0x7fffffffffffffff) | (long8)1) };
        mine[1] += (uint)shorts[9];
        out[i] = (ulong)quotients[0].s0 * 3ul + (ulong)quotients[0].s1 * 5ul + (ulong)quotients[0].s2 * 7ul
            + (ulong)quotients[0].s3 * 9ul + (ulong)quotients[0].s4 * 11ul + (ulong)quotients[0].s5 * 13ul
            + (ulong)quotients[0].s6 * 15ul + (ulong)quotients[0].s7 * 17ul;";
    let divisor = (ITEMS as i64) << 32 | 1;
    let dividends = [
        0x0011_d8e6_2d2e_ff6b,
        0,
        0x1850d,
        -0x6c2,
        -0x8_e47a_3450_377b,
        0x400,
        0x286_8c49_e3a4,
        0x200,
    ];
    let sum: i64 = dividends
        .iter()
        .zip([3, 5, 7, 9, 11, 13, 15, 17])
        .map(|(dividend, factor)| dividend / divisor * factor)
        .sum();
    check("", 16, body, |_| sum as u64);
}

#[test]
fn remainders_by_odd_shorts() {
    let outside = "ulong second(short2 x, ushort2 y) { return (ulong)y.s1; }";
    let body = "
        short number_of_group = upsample((char)1, ((uchar8)(uchar)(uint)get_group_id(0)).s0);
        ulong4 v = convert_ulong4(vector);
        ulong4 *p = (int)1 ? (ulong4 *)&v : (ulong4 *)&v;
        switch (second((short2)1, (ushort2)(ushort)number_of_group) & 15) {
        case 0:
            *p &= convert_ulong4_sat_rtn(convert_uchar4(*p)) % (*p | (ulong4)1)
                + (ulong4)(0xa66ul, 0xffffff8257283f00ul, 0x200000000000ul, 0xfffffffffffffffcul);
        }
        out[i] = v.s0 * 3ul + v.s1 * 5ul + v.s2 * 7ul + v.s3 * 9ul;";
    check(outside, 4, body, |i| {
        let mut v = [-3i64, 77, 32000, -32768].map(|x| x as u64);
        if (i / 4) % 16 == 0 {
            let more = [0xa66, 0xffff_ff82_5728_3f00, 0x2000_0000_0000, u64::MAX - 3];
            for (x, more) in v.iter_mut().zip(more) {
                *x &= ((*x & 0xff) % (*x | 1)).wrapping_add(more);
            }
        }
        let factors = [3u64, 5, 7, 9];
        v.iter().zip(factors).fold(0, |sum: u64, (x, factor)| {
            sum.wrapping_add(x.wrapping_mul(factor))
        })
    });
}

#[test]
fn the_least_short_negated() {
    let body = "
        vstore4(as_short4(-as_ushort4(vector)), convert_ulong_sat_rtz((char)0xb4u) & 3u, shorts);
        out[i] = (ulong)shorts[3] * 3 + (ulong)shorts[0];";
    check("", 16, body, |_| (-32768i64 * 3 + 3) as u64);
}

#[test]
fn digits_of_longs_in_bytes() {
    let body = "
        global uchar *bytes = (global uchar *)mine;
        ulong x = (ulong)number * 1000003u + i;
        for (uint j = 0; j < 16; ++j) {
            bytes[j] = (uchar)(x % 10);
            x = x / 10 + (j == 8 ? i : 0);
        }
        ulong all = 0;
        for (uint j = 0; j < 16; ++j) all = all * 10 + bytes[j];
        out[i] = all;";
    check("", 8, body, |i| {
        let mut x = 0x9876_5432 * 1_000_003 + i;
        (0..16).fold(0, |all, j| {
            let digit = x % 10;
            x = x / 10 + if j == 8 { i } else { 0 };
            all * 10 + digit
        })
    });
}

#[test]
fn digits_of_signed_longs_in_bytes() {
    let body = "
        global char *bytes = (global char *)mine;
        long x = (long)number * -1000003l - i;
        for (uint j = 0; j < 16; ++j) {
            bytes[j] = (char)(x % 10);
            x /= 10;
        }
        long all = 0;
        for (uint j = 0; j < 16; ++j) all = all * 10 + bytes[j];
        out[i] = (ulong)all;";
    check("", 8, body, |i| {
        let mut x = -0x9876_5432i64 * 1_000_003 - i as i64;
        let all = (0..16).fold(0, |all, _| {
            let digit = x % 10;
            x /= 10;
            all * 10 + digit
        });
        all as u64
    });
}

#[test]
fn negative_indices() {
    let body = "
        mine[2] = i + 3;
        mine[3] = i + 5;
        mine[4] = i + 9;
        global uint *behind = mine + id + 5;
        int place = (int)get_local_id(0);
        int chosen = number > 7 ? -1 - place : -2 - place;
        int loaded = vector.s0;
        out[i] = (ulong)behind[chosen] * 1000000 + behind[-2 - place] * 1000 + behind[loaded - place];";
    check("", 8, body, |i| {
        (i + 9) * 1_000_000 + (i + 5) * 1000 + i + 3
    });
}

/// Bits that a condition gives, compared, and the condition again.
#[test]
fn conditions_in_bits() {
    let body = "
        uchar low = (uchar)number; short c = (short)((short)1 && (short)i);
        c ^= (short)!upsample((char)c, (uchar)((uchar)0xfe && low));
        local short *chosen = (uchar)1 != convert_uchar_sat((ulong)c) ? shorts + (i & 8) : shorts;
        out[i] = (ulong)(c * 100 + (int)(chosen - shorts));";
    for options in ["", "-cl-opt-disable"] {
        check_with(options, "", 8, body, |i| if i == 0 { 0 } else { 100 });
    }
}

#[test]
fn conditions_in_upsampled_bits() {
    let outside = "
        uint joined(ulong *x) {
            int c = (int)(1u < (uint)*x);
            long one = (long)((ushort)1 != clz((ushort)1)) ^ select(1l, (long)!(long)c, 1l);
            c ^= (int)!upsample((short)one, (ushort)c) | (1 / ((mad_sat(c, c, c) & 0x7fffffff) | 1));
            return upsample((ushort)c, (ushort)1);
        }";
    let body = "ulong x = (ulong)shorts[1]; out[i] = 0; out[i] += (ulong)joined(&x);";
    for options in ["", "-cl-opt-disable"] {
        check_with(options, outside, 8, body, |_| 0x1_0001);
    }
}

/// The bits of one condition, chosen by those of its opposite.
#[test]
fn conditions_in_masks() {
    let body = "
        ulong wide = i; ushort low = as_ushort((short)i);
        out[i] = bitselect((ulong)!wide, (ulong)((wide << 1) / (convert_ulong_rtp((ushort)0xffff) | 1)), ~(ulong)(low && low));";
    check("", 8, body, |_| 0);
}

/// The larger one of 1 and of the last magnitude, in a loop over states.
#[test]
fn magnitudes_in_a_loop() {
    let body = "
        int one = (int)(number >> 1);
        { uint state = 1u % 7u; for (uint k = 0; k < 7u; ++k) { switch (state) {
            case 1: { } state = 1u % 8u;
            case 2: { one = max(1, as_int(abs(one))); } state = 1u % 8u; continue;
        } } }
        out[i] = (ulong)one;";
    check_with("-cl-opt-disable", "", 8, body, |_| 0x9876_5432 >> 1);
}

/// Numbers of conditions that are used behind an insertion sort, where conditions of it and carries have their predicates.
#[test]
fn conditions_over_a_sort() {
    let body = "
        uint v1 = number ? number & 255u : 1u;
        for (uint k = 0; k < 16; ++k) mine[k] = (k * 7u + (uint)i) & 15u;
        uint other = mine[(i + 1) & 15];
        int same = other == v1; int any = (other || v1);
        uint chosen = other > 7u ? number : 5u;
        int flags[4] = { other == v1, other > v1, same, any };
        for (int k = 1; k < 16; ++k) {
            uint one = mine[k]; int j = k;
            while (j > 0 && mine[j - 1] > one) { mine[j] = mine[j - 1]; --j; }
            mine[j] = one;
        }
        ulong sum = 0;
        for (int k = 0; k < 16; ++k) sum = sum * 3 + mine[k] + (ulong)shorts[k];
        mine[0] = (uint)sum;
        out[i] = (ulong)same + 2 * (ulong)any + 4 * (ulong)flags[number & 1] + 8 * (ulong)flags[2 + (number & 1)]
            + 16 * (ulong)chosen;";
    for options in ["", "-cl-opt-disable"] {
        check_with(options, "", 16, body, |i| {
            let number = u64::from(NUMBER);
            let of = |k: u64| (k * 7 + i) & 15;
            let (other, v1) = (of((i + 1) & 15), number & 255);
            let flags = [other == v1, other > v1, other == v1, true].map(u64::from);
            let chosen = if other > 7 { number } else { 5 };
            let odd = (number & 1) as usize;
            flags[2] + 2 + 4 * flags[odd] + 8 * flags[2 + odd] + 16 * chosen
        });
    }
}

/// An element that is chosen by the last bit of a quotient that a loop carries.
#[test]
fn quotients_of_a_loop_that_choose() {
    let body = "
        ulong v = (ulong)number << 33 | 5;
        for (uint k = 0; k < (number & 3u) + 2u; ++k) v = (v | get_global_size(0)) / ((ulong)(i & 7) | 1);
        ulong two[2] = { i + 3, i * 5 };
        out[i] = two[(uint)v & 1u];";
    check_with("", "", 4, body, |i| {
        let number = u64::from(NUMBER);
        let mut v = (number << 33) | 5;
        for _ in 0..(number & 3) + 2 {
            v = (v | ITEMS as u64) / ((i & 7) | 1);
        }
        [i + 3, i * 5][(v & 1) as usize]
    });
}

/// Upper words of products with something added, in a loop that may be unrolled.
#[test]
fn upper_words_of_products_in_a_loop() {
    let body = "
        ulong sum = 0;
        for (uint k = 0; k < 24u; ++k) sum = sum * 3 + mad_hi(0xf00001ffu, (uint)i * 77u, (uint)i + k);
        for (int k = 0; k < 24; ++k) sum = sum * 5 + (ulong)(uint)(mul_hi(-(int)number, (int)i) + k);
        out[i] = sum;";
    check_with("", "", 4, body, |i| {
        let mut sum = 0_u64;
        for k in 0..24 {
            sum = sum
                .wrapping_mul(3)
                .wrapping_add(((0xf000_01ff * (i * 77)) >> 32) + i + k);
        }
        let factor = i64::from((NUMBER as i32).wrapping_neg());
        for k in 0..24 {
            let high = ((factor * i as i64) >> 32) as i32;
            sum = sum
                .wrapping_mul(5)
                .wrapping_add(u64::from((high + k) as u32));
        }
        sum
    });
}

/// A quotient of which a remainder is taken, both of numbers that are no larger than one.
#[test]
fn remainders_of_quotients() {
    let outside = "
        ulong f(char x, long y) {
            y ^= y / ((y & 0x7fffffffffffffff) | 1);
            return bitselect((ulong)y, (ulong)!(ulong)y, (ulong)!(ulong)x) >> ((ulong)x % ((ulong)y | 1ul));
        }";
    let body = "
        long n = (long)number;
        out[i] = f((char)((long)((ulong)get_global_size(0) & 15u) < (long)!n), mul_hi(1l, 1l));";
    for options in ["", "-cl-opt-disable"] {
        check_with(options, outside, 16, body, |_| 1);
    }
}

/// Words that are extended and compared with numbers that are constants once the loop is unrolled.
#[test]
fn signs_of_words_in_loops() {
    let body = "
        int x = (int)i - 9; uint low = shorts[0] & 255u; uint w = 1;
        for (uint j = 0; j < 12u; ++j) {
            if ((long)x > (long)(w != 0)) continue;
            w = upsample((ushort)1, (ushort)low);
        }
        ulong found = w - low;
        for (uint j = 0; j < 12u; ++j) {
            long bit = (long)((j & 5) != 0);
            if ((long)x > bit) mine[0] += 1 << j;
            if ((long)x < bit) mine[1] += 1 << j;
            if ((long)x >= bit) mine[2] += 1 << j;
            if (bit >= (long)x) mine[3] += 1 << j;
        }
        for (uint j = 0; j < 4; ++j) found = found * 31 + mine[j];
        out[i] = found;";
    check("", 8, body, |i| {
        let x = i as i64 - 9;
        // The low byte of the first short is that of i.
        let low = i & 255;
        let mut found = if x > 1 {
            1u64.wrapping_sub(low) & 0xffff_ffff
        } else {
            0x1_0000
        };
        let bits = |holds: &dyn Fn(i64) -> bool| -> u64 {
            let held = (0..12).filter(|j| holds(i64::from(j & 5 != 0)));
            held.map(|j: u32| 1u64 << j).sum()
        };
        for sum in [
            bits(&|bit| x > bit),
            bits(&|bit| x < bit),
            bits(&|bit| x >= bit),
            bits(&|bit| bit >= x),
        ] {
            found = found.wrapping_mul(31).wrapping_add(0x0007_0007 + sum);
        }
        found
    });
}

#[test]
fn a_variable_or_memory() {
    let body = "
        long bytes = as_long((char8)(char)(ulong)get_global_size(0));
        uint v = number;
        uint *p = bytes > 1 ? (uint *)&v : (uint *)&mine[15];
        out[i] = (ulong)v * 3 + (ulong)*p;";
    check("", 4, body, |_| 0x9876_5432 * 4);
}

#[test]
fn bits_of_one_of_two_shorts() {
    let body = "
        local short shared[4];
        const uint lid = (uint)get_local_id(0);
        shared[lid] = convert_short_sat_rtz(convert_float((short)0xd063u));
        barrier(CLK_LOCAL_MEM_FENCE);
        short v = shared[1];
        barrier(CLK_LOCAL_MEM_FENCE);
        shared[lid] = popcount(select((short)0xec3fu, v, v));
        barrier(CLK_LOCAL_MEM_FENCE);
        out[i] = (ulong)shared[number & 3];";
    check("", 4, body, |_| 0xd063_u64.count_ones().into());
}

/// The number becomes a short, a float and a `ulong`, which is zero, again and again.
#[test]
fn longs_of_floats_in_a_loop() {
    let body = "
        ulong v = (ulong)number << (number & 63);
        v |= v - max(v, 1ul);
        for (uint round = 0; round < 4; ++round) v ^= convert_ulong_sat(convert_float(convert_short(v)));
        out[i] = v;";
    check("", 32, body, |_| 0x9876_5432_u64 << 50);
}

/// Whatever the number of rounds, it is the same, and nothing else happens in them.
#[test]
fn a_flag_that_a_loop_sets() {
    for rounds in ["2", "200", "5000", "number & 15"] {
        let body = format!(
            "
        uchar flag = mine[0] > 5;
        uint rounds = {rounds};
        while (rounds-- != 0) flag = vector.s3 != 1;
        out[i] = flag;"
        );
        check("", 2, &body, |_| 1);
    }
    let body = "
        uchar flag = mine[0] > 5;
        uint rounds = 2;
        while (rounds-- != 0 && vector.s0 < number) flag = vector.s3 != 1;
        out[i] = flag;";
    check("", 2, body, |_| 1);
}

/// The number of a condition that is stored in local memory at the same place again and again, and read far behind, among
/// many other numbers.
#[test]
fn conditions_stored_over_and_over() {
    const WORDS: usize = 24;
    let of_scratch: String = (0..16)
        .filter(|k| *k != 8)
        .map(|k| format!("out[i * 24 + {}] += (ulong)mine[{k}];\n", (11 + k) % WORDS))
        .collect();
    let of_shorts: String = (0..16)
        .map(|k| format!("out[i * 24 + {}] += (ulong)shorts[{k}];\n", 3 + k))
        .collect();
    let source = format!(
        "__attribute__((noinline)) char first(char *at, uchar other) {{
            char read = *at;
            return read;
        }}
        __attribute__((reqd_work_group_size(2, 1, 1)))
        kernel void test(global ulong *out, global const uint *in, global uint *scratch, global uint *counters,
                         local short *items, uint number, short4 vector) {{
            const uint i = (uint)get_global_id(0), id = (uint)get_local_id(0);
            global uint *mine = scratch + i * 16;
            local short *shorts = items + id * 16;
            for (uint j = 0; j < 16; ++j) shorts[j] = (short)(j * 259u + i);
            ulong size = (ulong)get_global_size(0);
            int one = 1;
            uchar small = 1;
            short found = 1;
            local const short *at = shorts;
            while (at < shorts + 16 && *at++ != found) found = (short)((uint)found + 1u);
            found = (short)((uint)found ^ (uint)(at - shorts));
            struct {{ uint tag; ulong *to[2]; }} sizes = {{ 1, {{ &size, &size }} }};
            int *to = &one, *other = &one;
            int **last = 1 ? &to : &other;
            char own = 1;
            char flag = first(&own, 1);
            short kept = found;
            for (uint k = 0; k < 4u; ++k) {{
                shorts[*sizes.to[1] & 15u] = (short)((short)((short)(i > k) | (short)mine[small & 15u]) | kept);
                for (uint n = 2; n != ~0u; --n) {{
                    if (1l == (long)0x35607c3b3d96ul) goto done;
                    flag ^= (char)((long)(ulong)get_global_size(0) == 1l);
                }}
                done: ;
            }}
            out[i * 24 + 0] += (ulong)size;
            out[i * 24 + 1] += (ulong)one;
            out[i * 24 + 2] += (ulong)small;
            out[i * 24 + 3] += (ulong)found;
            out[i * 24 + 4] += (ulong)*sizes.to[1];
            out[i * 24 + 5] += (ulong)*sizes.to[sizes.tag & 1u];
            out[i * 24 + 6] += (ulong)*to;
            out[i * 24 + 7] += (ulong)**last;
            out[i * 24 + 8] += (ulong)own;
            out[i * 24 + 9] += (ulong)flag;
            out[i * 24 + 10] += (ulong)kept;
            {of_scratch}
            {of_shorts}
        }}"
    );
    let found = Launch::new(source)
        .buffer(&vec![0_u64; ITEMS * WORDS])
        .buffer(&[0_u32; 256])
        .buffer(&vec![0_u32; ITEMS * 16])
        .buffer(&[0_u32; 256])
        .local(64)
        .value(NUMBER)
        .value([1_i16, 2, 3, 4])
        .run(&[ITEMS], &[2]);
    let mut expected = Vec::new();
    for i in 0..ITEMS as i16 {
        let mut shorts: Vec<i16> = (0..16).map(|j| j * 259 + i).collect();
        let (mut at, mut searched) = (0, 1);
        while at < 16 {
            at += 1;
            if shorts[at - 1] == searched {
                break;
            }
            searched += 1;
        }
        searched ^= at as i16;
        shorts[ITEMS & 15] = i16::from(i > 3) | searched;
        let (size, searched) = (ITEMS as u64, searched as u64);
        let mut words = vec![size, 1, 1, searched, size, size, 1, 1, 1, 1, searched];
        words.resize(WORDS, 0);
        for (word, short) in words[3..].iter_mut().zip(shorts) {
            *word = word.wrapping_add(short as u64);
        }
        expected.extend(words);
    }
    assert_equal(&found.get(0), &expected, |at| format!("word {at}"));
}
