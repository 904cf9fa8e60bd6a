//! Global, constant and private memory: pointers, structures, tables, narrow and unaligned access.

use super::harness::{Launch, assert_equal, session};
use super::random::Random;

fn words(seed: u64, count: usize) -> Vec<u32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.next() as u32).collect()
}

#[test]
fn pointer_arithmetic() {
    let source = "
    kernel void test(global const uint *a, global uint *out, uint n) {
        size_t i = get_global_id(0);
        global const uint *p = a + i, *end = a + n;
        uint sum = 0;
        for (; p < end; p += 7)
            sum = sum * 31 + *p;
        p = end - 1 - i;
        out[i] = sum + p[0] + p[-(long)(i % 2)] + (uint)(end - p) + (uint)((char *)end - (char *)p);
    }"
    .replace("(char *)", "(global const char *)");
    let a = words(40, 300);
    let expected: Vec<u32> = (0..150usize)
        .map(|i| {
            let sum = (i..300)
                .step_by(7)
                .fold(0u32, |sum, at| sum.wrapping_mul(31).wrapping_add(a[at]));
            let p = 299 - i;
            sum.wrapping_add(a[p])
                .wrapping_add(a[p - i % 2])
                .wrapping_add(5 * (300 - p) as u32)
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(150)
        .value(300u32)
        .run(&[150], &[]);
    assert_equal(&found.get(1), &expected, |_| "pointers".into());
}

#[test]
fn pointer_casts() {
    let source = "
    kernel void test(global const uint *a, global uint *out) {
        size_t i = get_global_id(0);
        global const uchar *bytes = (global const uchar *)a;
        global const ushort *shorts = (global const ushort *)(bytes + 2);
        ulong address = (ulong)(a + i);
        global const float *floats = (global const float *)(address & ~3UL);
        ulong wide = ((global const ulong *)a)[i / 2];
        out[i] = bytes[4 * i + 3] + shorts[i] * 3 + as_uint(*floats) + (uint)(wide >> 32) + (uint)(address - (ulong)a);
    }";
    // Bits of normal floats, which pass through unchanged.
    let a: Vec<u32> = words(41, 256)
        .iter()
        .map(|w| w & 0xbfff_ffff | 0x1000_0000)
        .collect();
    let bytes: Vec<u8> = a.iter().flat_map(|w| w.to_le_bytes()).collect();
    let expected: Vec<u32> = (0..200)
        .map(|i| {
            let short = u16::from_le_bytes([bytes[2 + 2 * i], bytes[3 + 2 * i]]);
            u32::from(bytes[4 * i + 3])
                .wrapping_add(u32::from(short) * 3)
                .wrapping_add(a[i])
                .wrapping_add(a[i / 2 * 2 + 1])
                .wrapping_add(4 * i as u32)
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(200)
        .run(&[200], &[]);
    assert_equal(&found.get(1), &expected, |_| "casts".into());
}

#[test]
fn pointers_in_memory() {
    // A linked list built and followed within one launch, of one work-item.
    let source = "
    struct node { global struct node *next; uint value; };
    kernel void test(global const uint *a, global struct node *nodes, global uint *out, uint n) {
        for (uint i = 0; i < n; i++) {
            nodes[i].value = a[i];
            nodes[i].next = i + 1 < n ? nodes + (i * 7 + 7) % n : 0;
        }
        global struct node *at = nodes;
        uint sum = 0, count = 0;
        while (at && count < 1000) {
            sum = sum * 3 + at->value;
            at = at->next;
            count++;
        }
        out[0] = sum;
        out[1] = count;
    }";
    let n = 101usize;
    let a = words(42, n);
    let (mut at, mut sum, mut count) = (Some(0usize), 0u32, 0);
    while let Some(node) = at.filter(|_| count < 1000) {
        sum = sum.wrapping_mul(3).wrapping_add(a[node]);
        at = (node + 1 < n).then_some((node * 7 + 7) % n);
        count += 1;
    }
    let found = Launch::new(source)
        .buffer(&a)
        .output::<[u64; 2]>(n)
        .output::<u32>(2)
        .value(n as u32)
        .run(&[1], &[]);
    assert_equal(&found.get(2), &[sum, count], |_| "list".into());
}

#[test]
fn null_arguments() {
    let source = "
    kernel void test(global uint *out, global uint *maybe, constant uint *table) {
        out[get_global_id(0)] = (maybe == 0) + 2 * (table == 0) + 4 * (out == 0) + 8 * (maybe != out);
    }";
    let found = Launch::new(source)
        .output::<u32>(3)
        .null()
        .null()
        .run(&[3], &[]);
    assert_equal(&found.get(0), &[11u32; 3], |_| "null".into());
}

#[test]
fn loads_that_nobody_makes() {
    // From addresses that are the same for all work-items and no valid ones, in a loop that work-items leave one by one.
    let source = "
    kernel void test(global const uint *a, global uint *out, global const uint *maybe, uint index, uint n,
                     local uint *scratch) {
        uint x = 0, i = get_global_id(0);
        for (uint k = 0; k < n; k++) {
            if (a[k + i] & 1) break;
            if (maybe) x += maybe[k]; else x++;
            if (index < n) x += scratch[index + k];
            if (k & 4) out[i]++;
        }
        out[i] += x;
    }";
    let (count, n) = (64usize, 12usize);
    let a = words(44, count + n);
    let expected: Vec<u32> = (0..count)
        .map(|i| {
            let rounds = (0..n).take_while(|k| a[k + i] & 1 == 0);
            rounds.map(|k| 1 + u32::from(k & 4 != 0)).sum()
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&vec![0u32; count])
        .null()
        .value(0x1fff_ffffu32)
        .value(12u32)
        .local(64)
        .run(&[count], &[16]);
    assert_equal(&found.get(1), &expected, |i| format!("work-item {i}"));
}

#[test]
fn structures() {
    let source = "
    struct inner { short s; char c[3]; };
    struct item { char tag; double_or_long wide; struct inner in[2]; float f; };
    kernel void test(global const struct item *a, global struct item *out, global uint *sizes) {
        size_t i = get_global_id(0);
        struct item it = a[i];
        it.tag += 1;
        it.wide = -it.wide;
        struct inner t = it.in[0];
        it.in[0] = it.in[1];
        it.in[1] = t;
        it.in[i % 2].c[i % 3] ^= 0x7f;
        it.f *= 2;
        out[i] = it;
        sizes[i] = sizeof(struct item) + (uint)((char *)&it.f - (char *)&it) * 100;
    }"
    .replace("double_or_long", "long")
    .replace("(char *)", "(private char *)");
    // tag at 0, wide at 8, in at 16 (6 bytes each), f at 28: 32 bytes.
    let mut random = Random::new(43);
    let items: Vec<[u8; 32]> = (0..64)
        .map(|_| {
            let mut bytes: [u8; 32] = std::array::from_fn(|_| random.next() as u8);
            bytes[28..].copy_from_slice(&random.float(1e5).to_le_bytes());
            bytes
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&items)
        .output::<[u8; 32]>(items.len())
        .output::<u32>(items.len())
        .run(&[items.len()], &[]);
    let fields = |bytes: &[u8; 32]| {
        let wide = i64::from_le_bytes(bytes[8..16].try_into().expect("eight bytes"));
        let f = f32::from_le_bytes(bytes[28..].try_into().expect("four bytes"));
        // Each of the two: its short and three chars, without the padding.
        let inner = [&bytes[16..21], &bytes[22..27]].map(<[u8]>::to_vec);
        (bytes[0], wide, inner, f)
    };
    for (i, (item, found)) in items.iter().zip(found.get::<[u8; 32]>(1)).enumerate() {
        let (tag, wide, mut inner, f) = fields(item);
        inner.swap(0, 1);
        inner[i % 2][2 + i % 3] ^= 0x7f;
        assert_eq!(
            fields(&found),
            (tag.wrapping_add(1), wide.wrapping_neg(), inner, f * 2.0),
            "item {i}"
        );
    }
    assert_equal(&found.get(2), &vec![32u32 + 2800; items.len()], |_| {
        "layout".into()
    });
}

#[test]
fn packed_structures() {
    let source = "
    struct __attribute__((packed)) item { uchar tag; uint word; ushort half_; ulong wide; };
    kernel void test(global const struct item *a, global struct item *out) {
        size_t i = get_global_id(0);
        out[i].tag = a[i].tag + 1;
        out[i].word = a[i].word * 3;
        out[i].half_ = a[i].half_ + 5;
        out[i].wide = a[i].wide - 7;
    }";
    let mut random = Random::new(44);
    let items: Vec<[u8; 15]> = (0..64)
        .map(|_| std::array::from_fn(|_| random.next() as u8))
        .collect();
    let expected: Vec<[u8; 15]> = items
        .iter()
        .map(|item| {
            let word = u32::from_le_bytes(item[1..5].try_into().expect("4")).wrapping_mul(3);
            let half = u16::from_le_bytes(item[5..7].try_into().expect("2")).wrapping_add(5);
            let wide = u64::from_le_bytes(item[7..15].try_into().expect("8")).wrapping_sub(7);
            let mut bytes = vec![item[0].wrapping_add(1)];
            bytes.extend(word.to_le_bytes());
            bytes.extend(half.to_le_bytes());
            bytes.extend(wide.to_le_bytes());
            bytes.try_into().expect("fifteen bytes")
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&items)
        .output::<[u8; 15]>(items.len())
        .run(&[items.len()], &[]);
    assert_equal(&found.get(1), &expected, |_| "packed".into());
}

#[test]
fn structure_by_value() {
    let source = "
    struct options { uint factor; float4 shift; uchar flags[5]; long wide; };
    kernel void test(struct options o, global float4 *out, global long *ints, uchar c, short3 v) {
        size_t i = get_global_id(0);
        out[i] = o.shift * (float)o.factor;
        ints[i] = o.flags[i % 5] + o.wide + c + v.z;
    }";
    // factor at 0, shift at 16, flags at 32, wide at 40: 48 bytes.
    let mut bytes = [0u8; 48];
    bytes[..4].copy_from_slice(&3u32.to_le_bytes());
    for (lane, value) in [1.5f32, -2.0, 0.25, 100.0].into_iter().enumerate() {
        bytes[16 + 4 * lane..20 + 4 * lane].copy_from_slice(&value.to_le_bytes());
    }
    bytes[32..37].copy_from_slice(&[1, 2, 4, 8, 255]);
    bytes[40..].copy_from_slice(&(-123_456_789_012i64).to_le_bytes());
    let found = Launch::new(source)
        .value(bytes)
        .output::<[f32; 4]>(10)
        .output::<i64>(10)
        .value(200u8)
        .value([1i16, 2, -30_000, 0])
        .run(&[10], &[]);
    assert_equal(&found.get(0), &[[4.5f32, -6.0, 0.75, 300.0]; 10], |_| {
        "vector field".into()
    });
    let expected: Vec<i64> = (0..10)
        .map(|i| [1, 2, 4, 8, 255][i % 5] - 123_456_789_012 + 200 - 30_000)
        .collect();
    assert_equal(&found.get(1), &expected, |_| "fields".into());
}

#[test]
fn constant_tables() {
    let source = "
    constant uint primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
    constant uchar bytes[5] = {9, 8, 7, 6, 5};
    constant float2 pairs[3] = {(float2)(1.0f, 2.0f), (float2)(3.0f, 4.0f), (float2)(5.0f, 6.0f)};
    struct entry { char name[4]; ulong value; };
    constant struct entry entries[2] = {{\"abc\", 0x123456789abcdefUL}, {\"xyz\", 42}};
    constant uint *constant lists[2] = {primes, primes + 4};
    kernel void test(global ulong *out, constant uint *given) {
        size_t i = get_global_id(0);
        ulong text = 0;
        for (constant char *c = entries[i % 2].name; *c; c++)
            text = text * 256 + *c;
        out[i] = primes[i % 8] + bytes[i % 5] * 100 + (ulong)(pairs[i % 3].y * 10000.0f)
            + entries[i % 2].value + text + given[i % 4] + LISTS;
    }";
    // OpenCL C 1.2 and later allow pointers to other constants in an initializer.
    let source = source.replace("LISTS", "lists[i % 2][i % 4]");
    let given = [7u32, 70, 700, 7000];
    let primes = [2u64, 3, 5, 7, 11, 13, 17, 19];
    let expected: Vec<u64> = (0..24usize)
        .map(|i| {
            let text = if i % 2 == 0 { b"abc" } else { b"xyz" };
            let text = text.iter().fold(0u64, |all, &c| all * 256 + u64::from(c));
            primes[i % 8]
                + (9 - i as u64 % 5) * 100
                + [20_000, 40_000, 60_000][i % 3]
                + [0x123_4567_89ab_cdef, 42][i % 2]
                + text
                + u64::from(given[i % 4])
                + primes[i % 2 * 4 + i % 4]
        })
        .collect();
    let found = Launch::new(source)
        .output::<u64>(24)
        .buffer(&given)
        .run(&[24], &[]);
    assert_equal(&found.get(0), &expected, |_| "tables".into());
}

#[test]
fn program_scope_variables() {
    if !session().has_program_scope_variables() {
        return super::harness::skip("the device has no program scope variables");
    }
    let source = "
    global uint counter = 5;
    global uint scratch[16];
    kernel void test(global uint *out) {
        scratch[3] = counter + 1;
        counter += scratch[3] * 2;
        out[0] = counter;
        out[1] = scratch[3] + scratch[4];
    }";
    let found = Launch::new(source).output::<u32>(2).run(&[1], &[]);
    assert_equal(&found.get(0), &[17u32, 6], |_| "program scope".into());
}

#[test]
fn narrow_neighbours() {
    // Neighbouring work-items store to the bytes of one word at the same time: none may be lost.
    let source = "
    kernel void test(global uchar *bytes, global ushort *shorts, global uchar *sparse, global char3 *threes) {
        size_t i = get_global_id(0);
        for (uint round = 0; round < 8; round++) {
            bytes[i] = (uchar)(i * 3 + round);
            shorts[i] = (ushort)(i * 7 + round);
        }
        sparse[3 * i + 1] = (uchar)i;
        vstore3((char3)(i, i + 1, i + 2), i, (global char *)threes);
    }";
    let n = 4096;
    let found = Launch::new(source)
        .output::<u8>(n)
        .output::<u16>(n)
        .output::<u8>(3 * n)
        .output::<u8>(3 * n)
        .run(&[n], &[]);
    let bytes: Vec<u8> = (0..n).map(|i| (i * 3 + 7) as u8).collect();
    assert_equal(&found.get(0), &bytes, |_| "bytes".into());
    let shorts: Vec<u16> = (0..n).map(|i| (i * 7 + 7) as u16).collect();
    assert_equal(&found.get(1), &shorts, |_| "shorts".into());
    let sparse: Vec<u8> = (0..3 * n)
        .map(|at| if at % 3 == 1 { (at / 3) as u8 } else { 0xcc })
        .collect();
    assert_equal(&found.get(2), &sparse, |_| "every third byte".into());
    let threes: Vec<u8> = (0..3 * n).map(|at| (at / 3 + at % 3) as u8).collect();
    assert_equal(&found.get(3), &threes, |_| "three bytes".into());
}

#[test]
fn booleans() {
    let source = "
    struct flags { bool a, b; uchar c; };
    kernel void test(global const int *in, global struct flags *out, global int *sums) {
        size_t i = get_global_id(0);
        out[i].a = in[i] > 10;
        out[i].b = !out[i].a;
        out[i].c = out[i].a ? 7 : 9;
        bool many[4] = {in[i] & 1, in[i] & 2, in[i] & 4, false};
        many[i % 4] = !many[i % 4];
        sums[i] = many[0] + 2 * many[1] + 4 * many[2] + 8 * many[3];
    }";
    let a: Vec<i32> = (0..40).collect();
    let flags: Vec<[u8; 3]> = a
        .iter()
        .map(|&x| if x > 10 { [1, 0, 7] } else { [0, 1, 9] })
        .collect();
    let sums: Vec<i32> = a.iter().map(|&x| x & 7 ^ 1 << (x % 4)).collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<[u8; 3]>(a.len())
        .output::<i32>(a.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(1), &flags, |_| "flags".into());
    assert_equal(&found.get(2), &sums, |_| "array of bool".into());
}

#[test]
fn private_arrays() {
    let source = "
    kernel void test(global const uint *a, global ulong *out) {
        size_t i = get_global_id(0);
        uint sorted[17]; uchar seen[32]; ulong wide[4] = {1, 2, 3, 4}; short pairs[3][5];
        for (int k = 0; k < 32; k++) seen[k] = 0;
        for (int k = 0; k < 17; k++) {
            uint x = a[(i + k) % 64];
            seen[x % 32]++;
            wide[x % 4] += x;
            pairs[k % 3][k % 5] = (short)x;
            int at = k;
            while (at > 0 && sorted[at - 1] > x) { sorted[at] = sorted[at - 1]; at--; }
            sorted[at] = x;
        }
        ulong sum = 0;
        for (int k = 0; k < 17; k++) sum = sum * 5 + sorted[k];
        for (int k = 0; k < 32; k++) sum += seen[k] * (k + 1);
        for (int k = 0; k < 4; k++) sum ^= wide[k] << k;
        for (int k = 0; k < 15; k++) sum += pairs[k % 3][k % 5] * k;
        out[i] = sum;
    }";
    let a = words(45, 64);
    let expected: Vec<u64> = (0..64)
        .map(|i| {
            let mut sorted: Vec<u32> = (0..17).map(|k| a[(i + k) % 64]).collect();
            let (mut seen, mut wide, mut pairs) = ([0u64; 32], [1u64, 2, 3, 4], [[0i16; 5]; 3]);
            for (k, &x) in sorted.iter().enumerate() {
                seen[x as usize % 32] += 1;
                wide[x as usize % 4] += u64::from(x);
                pairs[k % 3][k % 5] = x as i16;
            }
            sorted.sort_unstable();
            let mut sum = sorted
                .iter()
                .fold(0u64, |sum, &x| sum.wrapping_mul(5).wrapping_add(x.into()));
            (0..32).for_each(|k| sum = sum.wrapping_add(seen[k] * (k as u64 + 1)));
            (0..4).for_each(|k| sum ^= wide[k] << k);
            for k in 0..15 {
                let term = i64::from(pairs[k % 3][k % 5]) * k as i64;
                sum = sum.wrapping_add(term as u64);
            }
            sum
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u64>(64)
        .run(&[64], &[]);
    assert_equal(&found.get(1), &expected, |_| "private arrays".into());
}

/// `i * 37 % 100` comes as `i * 37 - 100 * (i * 37 / 100)`, times the size of an element.
#[test]
fn indices_by_remainder() {
    let source = "
    kernel void test(global const uint *in, global uint *out) {
        uint own[100];
        local uint shared[100];
        for (int i = 0; i < 100; ++i) {
            own[i] = in[i] + (uint)get_global_id(0);
            shared[i] = 0;
        }
        for (int i = 0; i < 100; ++i) own[(i * 37) % 100] += own[i] >> 3;
        for (int i = 0; i < 100; ++i) shared[(i * 37) % 100] += i;
        uint sum = 0;
        for (int i = 0; i < 100; ++i) sum = sum * 31 + own[i] + shared[i];
        out[get_global_id(0)] = sum;
    }";
    let input = words(47, 100);
    let expected: Vec<u32> = (0..16u32)
        .map(|id| {
            let mut own: Vec<u32> = input.iter().map(|word| word.wrapping_add(id)).collect();
            let mut shared = [0u32; 100];
            for i in 0..100 {
                own[i * 37 % 100] = own[i * 37 % 100].wrapping_add(own[i] >> 3);
            }
            for i in 0..100 {
                shared[i * 37 % 100] += i as u32;
            }
            own.iter().zip(shared).fold(0u32, |sum, (own, shared)| {
                sum.wrapping_mul(31).wrapping_add(*own).wrapping_add(shared)
            })
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&input)
        .output::<u32>(16)
        .run(&[16], &[1]);
    assert_equal(&found.get(1), &expected, |i| format!("work-item {i}"));
}

/// A variable seen through pointers to other types than its own.
#[test]
fn punned_variables() {
    let source = "
    kernel void test(global const uint *in, global uint *out) {
        size_t i = get_global_id(0);
        ulong wide = in[i];
        uint *halves[2] = { (uint *)&wide, (uint *)&wide + 1 };
        *halves[i & 1] = 17;
        float number = 1.5f;
        *(uint *)&number += in[i] & 0xff;
        short *shorts = (short *)&number;
        shorts[0] ^= 0x55;
        out[i] = (uint)wide + (uint)(wide >> 32) * 3 + as_uint(number);
    }";
    let input = words(48, 64);
    let expected: Vec<u32> = (0u32..)
        .zip(&input)
        .map(|(i, &word)| {
            let (low, high) = if i & 1 == 0 { (17, 0) } else { (word, 17) };
            let number = (1.5f32.to_bits() + (word & 0xff)) ^ 0x55;
            low.wrapping_add(high * 3).wrapping_add(number)
        })
        .collect();
    // Long programs take another way through clang.
    for length in [0, 50_000] {
        let found = Launch::new(format!("/*{:length$}*/{source}", ""))
            .buffer(&input)
            .output::<u32>(64)
            .run(&[64], &[]);
        assert_equal(&found.get(1), &expected, |i| format!("work-item {i}"));
    }
}

#[test]
fn private_structures() {
    let source = "
    struct point { float x, y; uchar tag; };
    struct path { struct point points[4]; uint used; };
    static void add(struct path *path, float x, float y) {
        struct point *at = &path->points[path->used++ % 4];
        at->x = x; at->y = y; at->tag = (uchar)path->used;
    }
    kernel void test(global float *out, uint n) {
        size_t i = get_global_id(0);
        struct path path = {.used = 0};
        for (uint k = 0; k < n + i; k++) add(&path, k, k * 2);
        struct path copy = path;
        copy.points[1].x = -1;
        float sum = 0;
        for (int k = 0; k < 4; k++) sum += path.points[k].x + copy.points[k].y * 10 + copy.points[k].tag * 1000;
        out[i] = sum + copy.points[1].x;
    }";
    let expected: Vec<f32> = (0..16u32)
        .map(|i| {
            let count = 5 + i;
            (count - 4..count)
                .map(|k| (k + 20 * k + 1000 * (k + 1)) as f32)
                .sum::<f32>()
                - 1.0
        })
        .collect();
    let found = Launch::new(source)
        .output::<f32>(16)
        .value(5u32)
        .run(&[16], &[]);
    assert_equal(&found.get(0), &expected, |_| "private structures".into());
}

#[test]
fn memory_copies() {
    let source = "
    typedef struct { uint words[20]; uchar tail[3]; } big;
    kernel void test(global const big *a, global big *out, constant big *c, local big *l) {
        size_t i = get_global_id(0);
        big x = a[i], y = c[0];
        l[get_local_id(0)] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        big z = l[get_local_size(0) - 1 - get_local_id(0)];
        for (int k = 0; k < 20; k++) z.words[k] += y.words[19 - k];
        z.tail[i % 3] = x.tail[2];
        out[i] = z;
    }";
    let item = |seed: u64| -> Vec<u8> {
        let mut bytes: Vec<u8> = words(seed, 21)
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect();
        // The padding byte may or may not be copied.
        bytes[83] = 0xcc;
        bytes
    };
    let a: Vec<u8> = (0..8).flat_map(|i| item(50 + i)).collect();
    let c = item(49);
    let word =
        |bytes: &[u8], k: usize| u32::from_le_bytes(bytes[4 * k..4 * k + 4].try_into().expect("4"));
    let mut expected = Vec::new();
    for i in 0..8 {
        let mut z = a[(i / 4 * 4 + 3 - i % 4) * 84..][..84].to_vec();
        for k in 0..20 {
            let sum = word(&z, k).wrapping_add(word(&c, 19 - k));
            z[4 * k..4 * k + 4].copy_from_slice(&sum.to_le_bytes());
        }
        z[80 + i % 3] = a[i * 84 + 82];
        expected.extend(z);
    }
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u8>(a.len())
        .buffer(&c)
        .local(4 * 84)
        .run(&[8], &[4]);
    assert_equal(&found.get(1), &expected, |at| {
        format!("byte {} of item {}", at % 84, at / 84)
    });
}

#[test]
fn many_arguments() {
    let buffers = 20;
    let mut parameters = String::new();
    let mut sum = String::from("v");
    for index in 0..buffers {
        parameters += &format!("global const uint *b{index}, ");
        sum += &format!(" + b{index}[i] * {}", index + 1);
    }
    let source = format!(
        "kernel void test({parameters} ulong16 w, uint v, global ulong *out) {{
            size_t i = get_global_id(0);
            out[i] = {sum} + w.sf * (i + 1) + w.s3;
        }}"
    );
    let mut launch = Launch::new(source);
    for index in 0..buffers {
        launch = launch.buffer(&[index as u32, 100 + index as u32]);
    }
    let wide: [u64; 16] = std::array::from_fn(|i| i as u64 * 1_000_000_007);
    let found = launch
        .value(wide)
        .value(77u32)
        .output::<u64>(2)
        .run(&[2], &[]);
    let expected: Vec<u64> = (0..2u64)
        .map(|i| {
            let plain: u64 = (0..buffers as u64).map(|k| (k + 100 * i) * (k + 1)).sum();
            77 + plain + wide[15] * (i + 1) + wide[3]
        })
        .collect();
    assert_equal(&found.get(buffers), &expected, |_| "many arguments".into());
}

#[test]
fn generic_pointers() {
    if !session().has_generic_pointers() {
        return super::harness::skip("the device has no generic address space");
    }
    let source = "
    uint sum(uint *p, uint n) { uint s = 0; for (uint i = 0; i < n; i++) s = s * 3 + p[i]; return s; }
    kernel void test(global uint *a, global uint *out, local uint *l) {
        size_t i = get_global_id(0), k = get_local_id(0);
        uint mine[4] = {1, 2, 3, (uint)i};
        l[k] = a[i] + 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint *p = i % 3 == 0 ? a : i % 3 == 1 ? (uint *)l : mine;
        out[i] = sum(p, 4);
    }";
    let a = words(60, 16);
    let mix = |v: [u32; 4]| {
        v.iter()
            .fold(0u32, |s, &x| s.wrapping_mul(3).wrapping_add(x))
    };
    let expected: Vec<u32> = (0..16usize)
        .map(|i| match i % 3 {
            0 => mix([a[0], a[1], a[2], a[3]]),
            1 => mix(std::array::from_fn(|k| a[i / 4 * 4 + k].wrapping_add(1))),
            _ => mix([1, 2, 3, i as u32]),
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(16)
        .local(16)
        .run(&[16], &[4]);
    assert_equal(&found.get(1), &expected, |i| format!("work-item {i}"));
}
