//! Intel's sub-group extensions.

use super::Test;
use super::group_model::{BASIC, PLACE, SIZES, Scalar, arithmetic, places, together};
use super::harness::{Launch, Plain, assert_equal, session, skip};
use super::random::Random;
use std::fmt::Write;

pub const TESTS: &[Test] = &[
    ("shuffles", shuffles),
    ("vector_shuffles", vector_shuffles),
    ("block_reads_and_writes", blocks),
    ("local_blocks", local_blocks),
    ("image_block_reads", image_block_reads),
    ("image_block_writes", image_block_writes),
    ("small_integers", small_integers),
    ("every_small_integer", every_small_integer),
    ("required_size", required_size),
];

fn lacks(extension: &str) -> bool {
    let lacks = !session().is_some_and(|session| session.has(extension));
    if lacks {
        skip(&format!("no {extension}"));
    }
    lacks
}

/// `max_sub_group_size` of a kernel.
fn sub_group_size() -> usize {
    let source = "kernel void test(global uint *out) { *out = get_max_sub_group_size(); }";
    let found = Launch::new(source).output::<u32>(1).run(&[1], &[1]);
    found.get::<u32>(0)[0] as usize
}

/// A number of a type from a small one.
trait FromSmall: Plain {
    fn from_small(number: usize) -> Self;
}

macro_rules! from_small {
    ($($ty:ty)*) => {$(
        impl FromSmall for $ty {
            fn from_small(number: usize) -> Self {
                number as u8 as $ty
            }
        }
    )*};
}
from_small!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64);

fn shuffles() {
    if lacks("cl_intel_subgroups") {
        return;
    }
    // Work-groups of whole sub-groups, so that all of both rows is there.
    fn check<T: FromSmall>(ty: &str) {
        let size = sub_group_size();
        let count = 4 * size;
        let source = format!(
            "kernel void test(global const {ty} *a, global const {ty} *b, global {ty} *out) {{
                 size_t i = get_global_id(0); uint lane = get_sub_group_local_id();
                 uint size = get_max_sub_group_size(); global {ty} *o = out + i * 8;
                 o[0] = intel_sub_group_shuffle(a[i], (lane * 3 + 1) % size);
                 o[1] = intel_sub_group_shuffle_xor(a[i], size / 2);
                 o[2] = intel_sub_group_shuffle_down(a[i], b[i], 1);
                 o[3] = intel_sub_group_shuffle_down(a[i], b[i], size - 1);
                 o[4] = intel_sub_group_shuffle_up(a[i], b[i], 1);
                 o[5] = intel_sub_group_shuffle_up(a[i], b[i], lane % size);
                 o[6] = intel_sub_group_shuffle_down(a[i], b[i], 0);
                 o[7] = intel_sub_group_shuffle_up(a[i], b[i], 0); }}"
        );
        let a: Vec<T> = (0..count).map(|i| T::from_small(i * 7 + 1)).collect();
        let b: Vec<T> = (0..count).map(|i| T::from_small(i * 5 + 2)).collect();
        let found = Launch::new(source)
            .buffer(&a)
            .buffer(&b)
            .output::<T>(count * 8)
            .run(&[count], &[2 * size]);
        let mut expected = Vec::new();
        for i in 0..count {
            let (first, lane) = (i / size * size, i % size);
            // The two values side by side.
            let row: Vec<T> = [&a[first..first + size], &b[first..first + size]].concat();
            expected.extend([
                row[(lane * 3 + 1) % size],
                row[lane ^ (size / 2)],
                row[lane + 1],
                row[lane + size - 1],
                row[lane + size - 1],
                row[size],
                row[lane],
                row[lane + size],
            ]);
        }
        // In `up` the first operand is the row before.
        assert_equal(&found.get(2), &expected, |i| {
            format!("operation {} on {ty}", i % 8)
        });
    }
    check::<i32>("int");
    check::<u32>("uint");
    check::<f32>("float");
    check::<i8>("char");
    check::<u8>("uchar");
    check::<i16>("short");
    check::<u16>("ushort");
    check::<i64>("long");
    check::<u64>("ulong");
    if session().is_some_and(|session| session.has("cl_khr_fp64")) {
        check::<f64>("double");
    }
}

fn vector_shuffles() {
    if lacks("cl_intel_subgroups") {
        return;
    }
    let size = sub_group_size();
    let mut body = String::new();
    let types = ["char", "ushort", "int", "float", "long"];
    for (at, ty) in types.iter().enumerate() {
        for (width_at, width) in [2, 3, 4, 8, 16].iter().enumerate() {
            let _ = writeln!(
                body,
                "{{ {ty}{width} x; for (int k = 0; k < {width}; k++) (({ty} *)&x)[k] = i + k;
                   x = intel_sub_group_shuffle_xor(x, 1);
                   x = intel_sub_group_shuffle_down(x, x, 1);
                   int bad = 0;
                   for (int k = 0; k < {width}; k++) bad |= (({ty} *)&x)[k] != ({ty})(wanted + k);
                   out[i * 25 + {}] = bad; }}",
                at * 5 + width_at
            );
        }
    }
    let source = format!(
        "kernel void test(global int *out) {{
             size_t i = get_global_id(0); uint lane = get_sub_group_local_id(), size = get_max_sub_group_size();
             size_t wanted = (i - lane) + (((lane + 1) % size) ^ 1); {body} }}"
    );
    let count = 2 * size;
    let found = Launch::new(source)
        .output::<i32>(count * 25)
        .run(&[count], &[size]);
    assert_equal(&found.get(0), &vec![0; count * 25], |i| {
        format!("{} of width number {}", types[i % 25 / 5], i % 5)
    });
}

fn blocks() {
    if lacks("cl_intel_subgroups") {
        return;
    }
    fn check<T: FromSmall>(ty: &str, suffixes: &[&str], widths: &[usize]) {
        let size = sub_group_size();
        for suffix in suffixes {
            for &width in widths {
                let number = if width == 1 {
                    String::new()
                } else {
                    width.to_string()
                };
                let vector = format!("{ty}{number}");
                let count = 2 * size * width;
                let source = format!(
                    "kernel void test(global const {ty} *in, global {ty} *out, global {ty} *mine) {{
                         size_t first = (get_group_id(0) * get_num_sub_groups() + get_sub_group_id())
                             * get_max_sub_group_size() * {width};
                         {vector} x = intel_sub_group_block_read{suffix}{number}(in + first);
                         for (int k = 0; k < {width}; k++)
                             mine[get_global_id(0) * {width} + k] = (({ty} *)&x)[k];
                         intel_sub_group_block_write{suffix}{number}(out + first, x); }}"
                );
                let values: Vec<T> = (0..count).map(|i| T::from_small(i * 3 + 1)).collect();
                let found = Launch::new(source)
                    .buffer(&values)
                    .output::<T>(count)
                    .output::<T>(count)
                    .run(&[2 * size], &[size]);
                let name = |i: usize| format!("element {i} of {vector}{suffix}");
                assert_equal(&found.get(1), &values, name);
                let expected: Vec<T> = (0..count)
                    .map(|at| {
                        let (item, k) = (at / width, at % width);
                        let (group, lane) = (item / size, item % size);
                        values[group * size * width + k * size + lane]
                    })
                    .collect();
                assert_equal(&found.get(2), &expected, name);
            }
        }
    }
    check::<u32>("uint", &["", "_ui"], &[1, 2, 4, 8]);
    check::<u16>("ushort", &["_us"], &[1, 2, 4, 8, 16]);
    check::<u8>("uchar", &["_uc"], &[1, 2, 4, 8, 16]);
    check::<u64>("ulong", &["_ul"], &[1, 2, 4, 8]);
}

fn local_blocks() {
    if lacks("cl_intel_subgroup_local_block_io") {
        return;
    }
    let size = sub_group_size();
    let source = "kernel void test(global const ushort *in, global ushort *out, local ushort *scratch) {
        size_t i = get_global_id(0); uint lane = get_sub_group_local_id(), size = get_max_sub_group_size();
        intel_sub_group_block_write_us2(scratch, (ushort2)(in[i], in[i] + 1000));
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        out[4 * i] = scratch[(lane + 1) % size]; out[4 * i + 1] = scratch[size + (lane + 1) % size];
        ushort2 back = intel_sub_group_block_read_us2(scratch);
        out[4 * i + 2] = back.x; out[4 * i + 3] = back.y; }";
    let values: Vec<u16> = (0..2 * size as u16).map(|i| i * 7).collect();
    let found = Launch::new(source)
        .buffer(&values)
        .output::<u16>(8 * size)
        .local(4 * size)
        .run(&[2 * size], &[size]);
    let expected: Vec<u16> = (0..2 * size)
        .flat_map(|i| {
            let next = values[i / size * size + (i + 1) % size];
            [next, next + 1000, values[i], values[i] + 1000]
        })
        .collect();
    assert_equal(&found.get(1), &expected, |i| {
        format!("value {} of work-item {}", i % 4, i / 4)
    });
}

/// Byte `x` of row `y` of an image with these bytes in a row, outside the nearest texel's.
fn edge_byte(bytes: &[u8], row_bytes: usize, texel_bytes: usize, x: isize, y: isize) -> u8 {
    let height = bytes.len() / row_bytes;
    let y = y.clamp(0, height as isize - 1) as usize;
    let within = x.rem_euclid(texel_bytes as isize) as usize;
    let x = match x {
        ..0 => within,
        x if x as usize >= row_bytes => row_bytes - texel_bytes + within,
        x => x as usize,
    };
    bytes[y * row_bytes + x]
}

/// Corners of blocks, in bytes: inside, unaligned, and across every edge.
const CORNERS: [(isize, isize); 6] = [(4, 1), (0, 0), (3, 2), (-6, -2), (20, 6), (300, -9)];

fn image_block_reads() {
    if lacks("cl_intel_subgroups") {
        return;
    }
    fn check<T: FromSmall, X: Plain>(
        ty: &str,
        suffix: &str,
        width: usize,
        texels: &[X],
        row: usize,
    ) {
        let size = sub_group_size();
        let number = if width == 1 {
            String::new()
        } else {
            width.to_string()
        };
        let corners: String = CORNERS.map(|(x, y)| format!("(int2)({x}, {y}),")).concat();
        let source = format!(
            "constant int2 corners[] = {{ {corners} }};
             kernel void test(read_only image2d_t image, global {ty} *out) {{
                 for (int c = 0; c < {}; c++) {{
                     {ty}{number} x = intel_sub_group_block_read{suffix}{number}(image, corners[c]);
                     for (int k = 0; k < {width}; k++)
                         out[(c * get_global_size(0) + get_global_id(0)) * {width} + k] = (({ty} *)&x)[k];
                 }} }}",
            CORNERS.len()
        );
        let mut bytes = Vec::new();
        texels.iter().for_each(|&texel| texel.put(&mut bytes));
        let found = Launch::new(source)
            .image(row, texels)
            .output::<T>(CORNERS.len() * size * width)
            .run(&[size], &[size]);
        let mut expected = Vec::new();
        for (x, y) in CORNERS {
            for lane in 0..size {
                for k in 0..width {
                    let element: Vec<u8> = (0..T::SIZE)
                        .map(|byte| {
                            let x = x + (lane * T::SIZE + byte) as isize;
                            edge_byte(&bytes, row * X::SIZE, X::SIZE, x, y + k as isize)
                        })
                        .collect();
                    expected.push(T::get(&element));
                }
            }
        }
        assert_equal(&found.get(1), &expected, |i| {
            format!(
                "{ty}{number}, element {i}, corner {:?}",
                CORNERS[i / (size * width)]
            )
        });
    }
    let bytes: Vec<u8> = (0..37 * 9).map(|i| (i * 11 + i / 37) as u8).collect();
    let colours: Vec<[u8; 4]> = (0..13 * 9)
        .map(|i| [0, 1, 2, 3].map(|k| (i * 5 + k) as u8))
        .collect();
    check::<u32, _>("uint", "", 1, &colours, 13);
    check::<u32, _>("uint", "_ui", 4, &colours, 13);
    check::<u16, _>("ushort", "_us", 2, &bytes, 37);
    check::<u8, _>("uchar", "_uc", 16, &bytes, 37);
    check::<u64, _>("ulong", "_ul", 2, &colours, 13);
}

fn image_block_writes() {
    if lacks("cl_intel_subgroups") {
        return;
    }
    fn check<T: FromSmall, X: Plain>(
        ty: &str,
        suffix: &str,
        width: usize,
        texels: &[X],
        row: usize,
    ) {
        let size = sub_group_size();
        let number = if width == 1 {
            String::new()
        } else {
            width.to_string()
        };
        let mut image = Vec::new();
        texels.iter().for_each(|&texel| texel.put(&mut image));
        let (row_bytes, height) = (row * X::SIZE, texels.len() / row);
        for (x, y) in [(4, 1), (-8, -1), (28, 7)] {
            let source = format!(
                "kernel void test(write_only image2d_t image, global const {ty} *in) {{
                     {ty}{number} x;
                     for (int k = 0; k < {width}; k++) (({ty} *)&x)[k] = in[get_global_id(0) * {width} + k];
                     intel_sub_group_block_write{suffix}{number}(image, (int2)({x}, {y}), x); }}"
            );
            let values: Vec<T> = (0..size * width)
                .map(|i| T::from_small(i * 3 + 100))
                .collect();
            let found = Launch::new(source)
                .image(row, texels)
                .buffer(&values)
                .run(&[size], &[size]);
            let mut expected = image.clone();
            for (at, value) in values.iter().enumerate() {
                let (lane, k) = (at / width, at % width);
                let mut element = Vec::new();
                value.put(&mut element);
                for (byte, bits) in element.iter().enumerate() {
                    let x = x + (lane * T::SIZE + byte) as isize;
                    let y = y + k as isize;
                    if (0..row_bytes as isize).contains(&x) && (0..height as isize).contains(&y) {
                        expected[y as usize * row_bytes + x as usize] = *bits;
                    }
                }
            }
            assert_equal(&found.get(0), &expected, |i| {
                format!("byte {i} of {ty}{number} at {x}, {y}")
            });
        }
    }
    let bytes: Vec<u8> = (0..38 * 9).map(|i| (i * 11) as u8).collect();
    let colours: Vec<[u8; 4]> = (0..13 * 9)
        .map(|i| [0, 1, 2, 3].map(|k| (i * 5 + k) as u8))
        .collect();
    check::<u32, _>("uint", "", 2, &colours, 13);
    check::<u8, _>("uchar", "_uc", 8, &bytes, 38);
    check::<u16, _>("ushort", "_us", 4, &bytes, 38);
    check::<u64, _>("ulong", "_ul", 1, &bytes, 38);
}

/// Reductions, scans and broadcasts of `char` to `ushort` under Intel's names, in sub-groups that are whole and
/// that are not.
fn every_small_integer() {
    if lacks("cl_intel_subgroups_char") || lacks("cl_intel_subgroups_short") {
        return;
    }
    fn check<T: Scalar>(ty: &str) {
        for sizes in [SIZES[0], SIZES[3]] {
            arithmetic::<T>(ty, ty, "intel_sub_group_", &BASIC, sizes, |places, _, i| {
                together(places, i, |_| true)
            });
        }
        let source = format!(
            "kernel void test(global uint4 *place, global const {ty} *in, global {ty} *out) {{ {PLACE}
                 out[i] = intel_sub_group_broadcast(in[i], get_sub_group_size() / 2); }}"
        );
        let mut random = Random::new(31);
        let values: Vec<T> = (0..77).map(|_| T::small(&mut random)).collect();
        let found = Launch::new(source)
            .output::<[u32; 4]>(77)
            .buffer(&values)
            .output::<T>(77)
            .run(&[77], &[77]);
        let places = places(&found.get(0));
        let expected: Vec<T> = (0..77)
            .map(|i| {
                let members = together(&places, i, |_| true);
                values[members[members.len() / 2]]
            })
            .collect();
        assert_equal(&found.get(2), &expected, |_| format!("a broadcast of {ty}"));
    }
    check::<i8>("char");
    check::<u8>("uchar");
    check::<i16>("short");
    check::<u16>("ushort");
}

fn small_integers() {
    if lacks("cl_intel_subgroups_char") || lacks("cl_intel_subgroups_short") {
        return;
    }
    let size = sub_group_size();
    let source = "
        #if !defined(cl_intel_subgroups) || !defined(cl_intel_subgroups_char) || !defined(cl_intel_subgroups_short)
        #error the extensions have their macros
        #endif
        kernel void test(global const char *in, global short4 *out) {
            size_t i = get_global_id(0); char c = in[i]; ushort s = (uchar)c * 256;
            out[2 * i] = (short4)(intel_sub_group_reduce_add(c), intel_sub_group_reduce_max((uchar)c),
                intel_sub_group_scan_exclusive_min(c), intel_sub_group_broadcast(c, 1));
            out[2 * i + 1] = (short4)((short)intel_sub_group_reduce_add(s), (short)intel_sub_group_reduce_min(s),
                intel_sub_group_scan_inclusive_max((short)s), (short)intel_sub_group_broadcast(s, 1)); }";
    let values: Vec<i8> = (0..2 * size).map(|i| (i * 53 + 200) as i8).collect();
    let found = Launch::new(source)
        .buffer(&values)
        .output::<[i16; 4]>(4 * size)
        .run(&[2 * size], &[size]);
    let mut expected = Vec::new();
    for i in 0..2 * size {
        let row = &values[i / size * size..][..size];
        let at = i % size;
        let one = row[1 % size];
        let wide: Vec<u16> = row.iter().map(|&c| u16::from(c as u8) * 256).collect();
        let sum = row.iter().fold(0i8, |a, b| a.wrapping_add(*b));
        let most = row.iter().map(|&c| c as u8).max().unwrap_or(0);
        let least = row[..at].iter().copied().min().unwrap_or(i8::MAX);
        expected.push([sum.into(), most.into(), least.into(), one.into()]);
        let sum = wide.iter().fold(0u16, |a, b| a.wrapping_add(*b));
        let least = wide.iter().copied().min().unwrap_or(0);
        let most = wide[..=at].iter().map(|&s| s as i16).max().unwrap_or(0);
        expected.push([sum as i16, least as i16, most, wide[1 % size] as i16]);
    }
    assert_equal(&found.get(1), &expected, |i| {
        format!("row {} of work-item {}", i % 2, i / 2)
    });
}

fn required_size() {
    if lacks("cl_intel_required_subgroup_size") {
        return;
    }
    let size = sub_group_size();
    let source = format!(
        "__attribute__((intel_reqd_sub_group_size({size}))) kernel void test(global uint2 *out) {{
             out[get_global_id(0)] = (uint2)(get_max_sub_group_size(), sub_group_reduce_add(1)); }}"
    );
    let found = Launch::new(source)
        .output::<[u32; 2]>(2 * size)
        .run(&[2 * size], &[2 * size]);
    let size = size as u32;
    assert_equal(&found.get(0), &vec![[size, size]; 2 * size as usize], |i| {
        format!("work-item {i}")
    });
}
