//! Vectors of 2 to 16 components: access, swizzles, operators, loads and stores.

use super::harness::{Launch, Plain, assert_equal};
use super::random::Random;

/// `out = (a + b) * 3 - reversed a`, component by component, on vectors of a width.
fn one_width<T: Plain>(name: &str, width: usize, data: &[T], expected: impl Fn(T, T, T) -> T) {
    let reversed: String = (0..width).rev().map(|i| format!("{i:x}")).collect();
    let stride = if width == 3 { 4 } else { width };
    let source = format!(
        "
    kernel void test(global const {name}{width} *a, global {name}{width} *out) {{
        size_t i = get_global_id(0);
        {name}{width} x = a[2 * i], y = a[2 * i + 1];
        out[i] = (x + y) * ({name})3 - x.s{reversed};
    }}"
    );
    let items = data.len() / stride / 2;
    let found = Launch::new(source)
        .buffer(data)
        .output::<T>(items * stride)
        .run(&[items], &[])
        .get::<T>(1);
    for item in 0..items {
        for lane in 0..width {
            let x = data[2 * item * stride + lane];
            let y = data[(2 * item + 1) * stride + lane];
            let opposite = data[2 * item * stride + width - 1 - lane];
            let expected = expected(x, y, opposite);
            let found = found[item * stride + lane];
            assert_eq!(
                found, expected,
                "{name}{width}, item {item}, component {lane}"
            );
        }
    }
}

#[test]
fn every_type_and_width() {
    let mut random = Random::new(30);
    let words: Vec<u64> = (0..16 * 2 * 8).map(|_| random.next()).collect();
    macro_rules! widths {
        ($ty:ident, $name:literal) => {
            for width in [2, 3, 4, 8, 16] {
                let data: Vec<$ty> = words.iter().map(|&word| word as $ty).collect();
                one_width($name, width, &data, |x, y, z| {
                    x.wrapping_add(y).wrapping_mul(3).wrapping_sub(z)
                });
            }
        };
    }
    widths!(i8, "char");
    widths!(u16, "ushort");
    widths!(i32, "int");
    widths!(u64, "ulong");
    for width in [2, 3, 4, 8, 16] {
        // Small whole numbers: exact, contracted or not.
        let data: Vec<f32> = words.iter().map(|&word| (word % 1000) as f32).collect();
        one_width("float", width, &data, |x, y, z| (x + y) * 3.0 - z);
    }
}

#[test]
fn vload_vstore() {
    // At any multiple of the element's size: odd offsets on purpose.
    for (name, size) in [("uchar", 1), ("short", 2), ("int", 4), ("long", 8)] {
        for width in [2, 3, 4, 8, 16] {
            let source = format!(
                "
            kernel void test(global const {name} *in, global {name} *out) {{
                size_t i = get_global_id(0);
                vstore{width}(vload{width}(i, in + 1), i, out + 3);
            }}"
            );
            let items = 5;
            let bytes: Vec<u8> = (0..(items * width + 4) * size)
                .map(|i| (i * 7 + 1) as u8)
                .collect();
            let found = Launch::new(source)
                .buffer(&bytes)
                .output::<u8>(bytes.len())
                .run(&[items], &[])
                .get::<u8>(1);
            let mut expected = vec![0xcc; bytes.len()];
            let length = items * width * size;
            expected[3 * size..3 * size + length].copy_from_slice(&bytes[size..size + length]);
            assert_equal(&found, &expected, |_| format!("{name}{width}"));
        }
    }
}

#[test]
fn swizzles() {
    let source = "
    kernel void test(global const int8 *in, global int8 *out) {
        size_t i = get_global_id(0);
        int8 v = in[i];
        v.s07 = v.s70;
        v.even = v.odd + 1;
        v.hi.xy = v.lo.zw;
        int3 t = v.s135;
        t.z += t.x;
        v.s246 = t;
        out[i] = (int8)(v.lo.yxwz, v.s4567).s76543210;
    }";
    let mut random = Random::new(31);
    let a: Vec<i32> = (0..64 * 8).map(|_| random.next() as i32).collect();
    let expected: Vec<i32> = a
        .chunks(8)
        .flat_map(|chunk| {
            let mut v: [i32; 8] = chunk.try_into().expect("eight components");
            v.swap(0, 7);
            for lane in 0..4 {
                v[2 * lane] = v[2 * lane + 1].wrapping_add(1);
            }
            (v[4], v[5]) = (v[2], v[3]);
            let t = [v[1], v[3], v[5].wrapping_add(v[1])];
            (v[2], v[4], v[6]) = (t[0], t[1], t[2]);
            let mut all = [v[1], v[0], v[3], v[2], v[4], v[5], v[6], v[7]];
            all.reverse();
            all
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<i32>(a.len())
        .run(&[a.len() / 8], &[]);
    assert_equal(&found.get(1), &expected, |_| "swizzles".into());
}

#[test]
fn comparisons_and_select() {
    let source = "
    kernel void test(global const float4 *a, global const float4 *b, global int4 *truth, global float4 *out,
                     global char8 *small, global int *reduced) {
        size_t i = get_global_id(0);
        float4 x = a[i], y = b[i];
        truth[i] = (x < y) | ((x == y) & 2);
        out[i] = select(x, y, x < y);
        char8 c = convert_char8_sat((float8)(x, y));
        small[i] = c > (char8)5;
        reduced[i] = any(x < y) + 2 * all(x < y) + 4 * any(c > (char8)100);
    }";
    let mut random = Random::new(32);
    let mut number = || (random.next() % 300) as f32 - 150.0;
    let (a, b): (Vec<f32>, Vec<f32>) = (0..256).map(|_| (number(), number())).unzip();
    let pairs = || a.iter().zip(&b);
    let truth: Vec<i32> = pairs()
        .map(|(x, y)| {
            if x < y {
                -1
            } else if x == y {
                2
            } else {
                0
            }
        })
        .collect();
    let out: Vec<f32> = pairs().map(|(x, y)| x.max(*y)).collect();
    let mut small = Vec::new();
    let mut reduced = Vec::new();
    for (x, y) in a.chunks(4).zip(b.chunks(4)) {
        let c: Vec<i8> = x.iter().chain(y).map(|&x| x as i8).collect();
        small.extend(c.iter().map(|&c| if c > 5 { -1i8 } else { 0 }));
        let less = x.iter().zip(y).map(|(x, y)| x < y);
        let (any, all) = (less.clone().any(|is| is), less.clone().all(|is| is));
        reduced
            .push(i32::from(any) + 2 * i32::from(all) + 4 * i32::from(c.iter().any(|&c| c > 100)));
    }
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&b)
        .output::<i32>(a.len())
        .output::<f32>(a.len())
        .output::<i8>(2 * a.len())
        .output::<i32>(a.len() / 4)
        .run(&[a.len() / 4], &[]);
    assert_equal(&found.get(2), &truth, |i| format!("{} and {}", a[i], b[i]));
    assert_equal(&found.get(3), &out, |i| format!("{} and {}", a[i], b[i]));
    assert_equal(&found.get(4), &small, |_| "char8 comparison".into());
    assert_equal(&found.get(5), &reduced, |_| "any and all".into());
}

#[test]
fn dynamic_index() {
    let source = "
    kernel void test(global const uint4 *in, global uint *out) {
        size_t i = get_global_id(0);
        union { uint4 v; uint e[4]; uchar b[16]; } u;
        u.v = in[i];
        u.e[(i + 1) % 4] ^= 0xffffffff;
        u.b[i % 16] = 0x55;
        out[i] = u.v.x + u.v.y * 3 + u.v.z * 5 + u.v.w * 7;
    }";
    let mut random = Random::new(33);
    let a: Vec<u32> = (0..256).map(|_| random.next() as u32).collect();
    let expected: Vec<u32> = a
        .chunks(4)
        .enumerate()
        .map(|(i, chunk)| {
            let mut v: [u32; 4] = chunk.try_into().expect("four components");
            v[(i + 1) % 4] ^= u32::MAX;
            let shift = 8 * (i % 4);
            let lane = &mut v[i % 16 / 4];
            *lane = *lane & !(0xff << shift) | 0x55 << shift;
            [1, 3, 5, 7]
                .iter()
                .zip(v)
                .fold(0u32, |sum, (&k, x)| sum.wrapping_add(x.wrapping_mul(k)))
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(a.len() / 4)
        .run(&[a.len() / 4], &[]);
    assert_equal(&found.get(1), &expected, |_| "index at run time".into());
}

#[test]
fn conversions() {
    let source = "
    kernel void test(global const uchar16 *in, global float4 *floats, global ushort8 *shorts, global long3 *longs) {
        size_t i = get_global_id(0);
        uchar16 v = in[i];
        floats[i] = convert_float4(v.hi.hi) * 0.5f;
        shorts[i] = convert_ushort8(v.lo) * convert_ushort8(v.hi);
        longs[i] = convert_long3(as_char16(v).s159);
    }";
    let mut random = Random::new(34);
    let a: Vec<[u8; 16]> = (0..64)
        .map(|_| std::array::from_fn(|_| random.next() as u8))
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<[f32; 4]>(a.len())
        .output::<[u16; 8]>(a.len())
        .output::<[i64; 4]>(a.len())
        .run(&[a.len()], &[]);
    let floats: Vec<[f32; 4]> = a
        .iter()
        .map(|v| std::array::from_fn(|i| f32::from(v[12 + i]) * 0.5))
        .collect();
    assert_equal(&found.get(1), &floats, |_| "float4".into());
    let shorts: Vec<[u16; 8]> = a
        .iter()
        .map(|v| std::array::from_fn(|i| u16::from(v[i]) * u16::from(v[8 + i])))
        .collect();
    assert_equal(&found.get(2), &shorts, |_| "ushort8".into());
    for (found, v) in found.get::<[i64; 4]>(3).iter().zip(&a) {
        // The fourth component of three is padding.
        assert_eq!(found[..3], [1, 5, 9].map(|i| i64::from(v[i] as i8)));
    }
}

#[test]
fn geometric() {
    let source = "
    kernel void test(global const float4 *in, global float4 *out) {
        size_t i = get_global_id(0);
        float4 a = in[2 * i], b = in[2 * i + 1];
        out[i] = (float4)(cross(a.xyz, b.xyz), dot(a, b));
    }";
    let mut random = Random::new(35);
    let a: Vec<[f32; 4]> = (0..64)
        .map(|_| std::array::from_fn(|_| (random.next() % 100) as f32))
        .collect();
    let expected: Vec<[f32; 4]> = a
        .chunks(2)
        .map(|pair| {
            let (a, b) = (pair[0], pair[1]);
            [
                a[1] * b[2] - a[2] * b[1],
                a[2] * b[0] - a[0] * b[2],
                a[0] * b[1] - a[1] * b[0],
                (0..4).map(|i| a[i] * b[i]).sum(),
            ]
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<[f32; 4]>(expected.len())
        .run(&[expected.len()], &[]);
    assert_equal(&found.get(1), &expected, |_| {
        "cross and dot of whole numbers".into()
    });
}

#[test]
fn shuffle() {
    let source = "
    kernel void test(global const uint4 *in, global const uint8 *masks, global uint8 *out) {
        size_t i = get_global_id(0);
        out[i] = shuffle2(in[i], in[i] * 2, masks[i]) + shuffle(in[i], masks[i]);
    }";
    let mut random = Random::new(36);
    let a: Vec<[u32; 4]> = (0..64)
        .map(|_| std::array::from_fn(|_| random.next() as u32))
        .collect();
    let masks: Vec<[u32; 8]> = a
        .iter()
        .map(|_| std::array::from_fn(|_| random.next() as u32))
        .collect();
    let expected: Vec<[u32; 8]> = a
        .iter()
        .zip(&masks)
        .map(|(v, mask)| {
            mask.map(|m| {
                let (two, one) = (m as usize % 8, m as usize % 4);
                let from_two = if two < 4 {
                    v[two]
                } else {
                    v[two - 4].wrapping_mul(2)
                };
                from_two.wrapping_add(v[one])
            })
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&masks)
        .output::<[u32; 8]>(a.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(2), &expected, |_| "shuffles".into());
}
