//! Pointers of every address space: what they point to, where they are kept, what they compare to.

use super::harness::{Launch, assert_equal, session, skip};

fn has_variables() -> bool {
    session().has_program_scope_variables()
}

fn has_generic() -> bool {
    session().has_generic_pointers()
}

/// SPIR-V has no initializers that go round in circles.
#[test]
fn initialized_with_each_other() {
    if !has_variables() {
        return skip("the device has no program scope variables");
    }
    let source = "
    typedef struct node { int value; global struct node *next; global int *number; } node;
    global int numbers[4] = {10, 20, 30, 40};
    global node c = {3, 0, 0};
    global node b = {2, &c, &numbers[1]};
    global node a = {1, &b, numbers + 2};
    global node *global list[3] = {&c, &b, &a};
    global int *global *global chain = &a.number;
    constant int fixed[2] = {7, 8};
    constant int *constant pointer = fixed + 1;
    kernel void test(global int *out) {
        c.next = &a;
        c.number = b.number;
        global node *n = list[2];
        for (int i = 0; i < 5; i++, n = n->next) out[i] = n->value * 100 + *n->number;
        out[5] = list[1]->next == list[0] && list[0]->next->next->next == &c;
        out[6] = **chain;
        a.number++;
        out[7] = **chain;
        b.next = &b;
        out[8] = a.next->next->value;
        out[9] = *pointer - pointer[-1];
        out[10] = (int)(list[2]->number - b.number);
    }";
    let found = Launch::new(source).output::<i32>(11).run(&[1], &[]);
    let expected = [130, 220, 320, 130, 220, 1, 30, 40, 2, 1, 2];
    assert_equal(&found.get(0), &expected, |i| format!("result {i}"));
}

/// Where generic pointers to parts of arrays, structures, vectors and scalars begin.
#[test]
fn initialized_into_the_middle() {
    if !has_variables() || !has_generic() {
        return skip("the device has no program scope variables, or no generic pointers");
    }
    let source = "
    struct inner { char tag; long counts[3]; };
    struct outer { int first; struct inner parts[2]; };
    int flat[6] = {1, 2, 3, 4, 5, 6};
    short table[2][3] = {{10, 11, 12}, {20, 21, 22}};
    int single[1][4] = {{51, 52, 53, 54}};
    struct outer whole = {5, {{1, {30, 31, 32}}, {2, {40, 41, 42}}}};
    float4 vectors[2] = {(float4)(1, 2, 3, 4), (float4)(5, 6, 7, 8)};
    uint scalar = 0x01020304;
    char text[] = \"abcdef\";
    int *volatile of_array = &flat[2];
    int *volatile end = flat + 6;
    short *volatile of_row = &table[1][2];
    short (*volatile row)[3] = &table[1];
    int *volatile of_single = &single[0][2];
    long *volatile of_structure = &whole.parts[1].counts[2];
    struct inner *volatile part = &whole.parts[1];
    float4 *volatile vector = &vectors[1];
    float *volatile component = (float *)vectors + 6;
    uchar *volatile byte = (uchar *)&scalar + 2;
    char *volatile character = text + 3;
    struct { int count; short *rows[2]; int *flat; } volatile mixed = {2, {&table[0][1], table[1]}, &flat[5]};
    kernel void test(global long *out) {
        out[0] = *of_array;
        out[1] = end - of_array;
        out[2] = *of_row;
        out[3] = (*row)[1];
        out[4] = *of_structure;
        out[5] = part->counts[1] * 10 + part->tag;
        out[6] = vector->z;
        out[7] = *component;
        out[8] = *byte;
        out[9] = *character;
        out[10] = *mixed.rows[0];
        out[11] = *mixed.rows[1];
        out[12] = *mixed.flat;
        out[13] = *of_single;
    }";
    let found = Launch::new(source).output::<i64>(14).run(&[1], &[]);
    let expected = [3i64, 4, 22, 21, 42, 412, 7, 7, 2, 100, 11, 20, 6, 53];
    assert_equal(&found.get(0), &expected, |i| format!("result {i}"));
}

/// Pointers at program scope keep all of their bytes, whether they begin as null or not, and whatever their own addresses
/// are compared with.
#[test]
fn pointers_of_which_addresses_are_compared() {
    if !has_variables() || !has_generic() {
        return skip("the device has no program scope variables, or no generic pointers");
    }
    let source = "
    static char before = 1;
    static long numbers[3] = {10, 20, 30};
    static long *volatile full = &numbers[1];
    static char between = 2;
    static int forty = 40;
    static int *volatile empty;
    static char after = 3;
    static int *volatile *volatile second = 0;
    static char last = 4;
    kernel void test(global long *out, global char *bytes, global int *words) {
        out[0] = ((void *)&full != (void *)bytes) + 10 * ((void *)&empty != (void *)bytes)
            + 100 * ((void *)&second != (void *)words);
        before += 10, between += 10, after += 10, last += 10;
        out[1] = *full;
        empty = &forty;
        second = &empty;
        *empty += 1;
        out[2] = *empty;
        out[3] = **second;
        before += 10, between += 10, after += 10, last += 10;
        out[4] = before + 100 * between + 10000 * after + 1000000 * last;
        out[5] = *full + *empty + **second;
    }";
    let found = Launch::new(source)
        .output::<i64>(6)
        .output::<i8>(1)
        .output::<i32>(1)
        .run(&[1], &[]);
    let expected = [111i64, 20, 41, 41, 24_232_221, 102];
    assert_equal(&found.get(0), &expected, |i| format!("result {i}"));
}

#[test]
fn constants_point_to_constants() {
    let source = "
    constant char hello[] = \"hello\";
    constant char world[] = \"world!\";
    constant char *constant words[3] = {hello, world, hello + 2};
    typedef struct { uchar kind; constant char *text; short length; } entry;
    constant entry entries[2] = {{1, world + 1, 5}, {2, hello, 4}};
    kernel void test(global int *out) {
        uint i = get_global_id(0);
        int sum = 0;
        for (constant char *p = words[i % 3]; *p; p++) sum = sum * 31 + *p;
        constant entry *e = entries + i % 2;
        for (int k = 0; k < e->length; k++) sum += e->text[k] * e->kind;
        out[i] = sum;
    }";
    let words = ["hello", "world!", "llo"];
    let expected: Vec<i32> = (0..12)
        .map(|i| {
            let hash = words[i % 3].bytes().fold(0i32, |sum, c| {
                sum.wrapping_mul(31).wrapping_add(i32::from(c))
            });
            let (text, kind) = [("orld!", 1), ("hell", 2)][i % 2];
            hash + text.bytes().map(|c| i32::from(c) * kind).sum::<i32>()
        })
        .collect();
    let found = Launch::new(source).output::<i32>(12).run(&[12], &[]);
    assert_equal(&found.get(0), &expected, |i| format!("work-item {i}"));
}

#[test]
fn static_variables() {
    if !has_variables() {
        return skip("the device has no program scope variables");
    }
    let source = "
    uint next(void) {
        static global atomic_uint counter = 100;
        return atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed, memory_scope_device);
    }
    kernel void test(global uint *seen) {
        static global uint flags[64];
        flags[get_global_id(0)] = get_global_id(0) + 1;
        seen[next() - 100] = flags[get_global_id(0)];
    }";
    let found = Launch::new(source).output::<u32>(64).run(&[64], &[]);
    let mut seen = found.get::<u32>(0);
    seen.sort_unstable();
    assert_equal(&seen, &(1..=64).collect::<Vec<u32>>(), |i| format!("{i}"));
}

#[test]
fn spaces_are_told_apart() {
    if !has_generic() {
        return skip("the device has no generic address space");
    }
    let source = "
    uint what(void *p) {
        uint found = 0;
        if (to_global(p)) found |= 1;
        if (to_local(p)) found |= 2;
        if (to_private(p)) found |= 4;
        uint fence = get_fence(p);
        return found | fence << 4;
    }
    kernel void test(global int *g, global uint *out, local int *l) {
        int mine = 3;
        local int own;
        size_t i = get_global_id(0);
        void *p = i % 4 == 0 ? (void *)g : i % 4 == 1 ? (void *)l : i % 4 == 2 ? (void *)&own : (void *)&mine;
        out[i] = what(p);
        if (i % 4 == 3) *(int *)p = 9;
        out[i] += mine << 8;
        out[16 + i] = what(g) | what(l) << 8 | what(&mine) << 16;
        out[32 + i] = what(0);
    }";
    let found = Launch::new(source)
        .output::<i32>(4)
        .output::<u32>(48)
        .local(64)
        .run(&[16], &[8]);
    let out = found.get::<u32>(1);
    // CLK_LOCAL_MEM_FENCE is 1, CLK_GLOBAL_MEM_FENCE 2; private memory has the one or the other.
    for (i, value) in out[..16].iter().enumerate() {
        let mine = if i % 4 == 3 { 9 } else { 3 };
        let space = [1, 2, 2, 4][i % 4];
        assert_eq!((value & 15, value >> 8), (space, mine), "work-item {i}");
        let fence = value >> 4 & 15;
        match space {
            1 => assert_eq!(fence, 2, "work-item {i}"),
            2 => assert_eq!(fence, 1, "work-item {i}"),
            _ => {}
        }
    }
    for value in &out[16..32] {
        assert_eq!(value & 0x0f_ffff, 0x21 | 0x12 << 8 | 0x4 << 16);
    }
    for value in &out[32..] {
        assert_eq!(value & 15, 0);
    }
}

#[test]
fn generic_null() {
    if !has_generic() {
        return skip("the device has no generic address space");
    }
    let source = "
    int is_null(int *p) { return p == 0; }
    kernel void test(global int *g, global int *none, local int *l, global int *out) {
        size_t i = get_global_id(0);
        int mine[2] = {1, 2};
        local int own[3];
        int *p[6] = {g, none, l, 0, mine, own};
        out[i] = is_null(p[i % 6]);
        int *q = p[(i + 2) % 6];
        out[6 + i] = (q == p[i]) | (q == mine) << 1 | (q == own) << 2 | (mine == p[4]) << 3 | (q != 0) << 4;
    }";
    let found = Launch::new(source)
        .output::<i32>(4)
        .null()
        .local(16)
        .output::<i32>(12)
        .run(&[6], &[6]);
    // p[1] is q of 5, p[3] is q of 1: both null, and equal to one another.
    let expected = [
        0, 1, 0, 1, 0, 0, 0b11000, 0b01001, 0b11010, 0b11100, 0b11000, 0b01000,
    ];
    assert_equal(&found.get(1), &expected, |i| format!("result {i}"));
}

/// Pointers that lie in one address space compared with those of another: clang compares them in the space of the first.
#[test]
fn generic_beside_others() {
    if !has_variables() || !has_generic() {
        return skip("the device has no program scope variables, or no generic pointers");
    }
    let source = "
    static int shared;
    kernel void test(global int *out, int one) {
        local int group[4];
        int own[4] = {one, 2, 3, 4};
        int *owned[3], *grouped[3], *any[4] = {&own[one], &group[one], &shared, 0};
        // clang must not follow the pointers.
        __attribute__((opencl_unroll_hint(1)))
        for (int i = 0; i < 3; i++) owned[i] = &own[1], grouped[i] = &group[1];
        out[0] = (&shared == owned[1]) + 2 * (owned[1] == &shared);
        out[1] = (&own[1] == owned[1]) + 2 * (owned[1] == &own[1]);
        out[2] = (&shared == grouped[1]) + 2 * (grouped[1] == &shared);
        out[3] = (&group[1] == grouped[1]) + 2 * (grouped[1] == &group[1]);
        out[4] = (&group[1] == owned[1]) + 2 * (&own[1] == grouped[1]);
        out[5] = 0;
        for (int i = 0; i < 4; i++) {
            out[5] = out[5] * 8 + (&shared == any[i]) + 2 * (&group[1] == any[i]) + 4 * (&own[1] == any[i]);
        }
        out[6] = ((global int *)0 == any[one + 2]) + 2 * ((local int *)0 == any[one + 2])
            + 4 * ((private int *)0 == any[one + 2]) + 8 * ((private int *)0 == any[one]);
        if (&shared != owned[1]) *owned[1] += 5;
        out[7] = own[1];
    }";
    let found = Launch::new(source)
        .output::<i32>(8)
        .value(1i32)
        .run(&[1], &[]);
    let expected = [0, 3, 0, 3, 0, 0o4210, 7, 7];
    assert_equal(&found.get(0), &expected, |i| format!("result {i}"));
}

#[test]
fn generic_in_memory() {
    if !has_generic() {
        return skip("the device has no generic address space");
    }
    let source = "
    typedef struct { int *p; int step; } walk;
    int sum(walk *w, int n) { int s = 0; for (int k = 0; k < n; k++, w->p += w->step) s = s * 3 + *w->p; return s; }
    kernel void test(global int *g, global walk *kept, global int *out, local int *l) {
        size_t i = get_global_id(0), k = get_local_id(0);
        int mine[8];
        for (int j = 0; j < 8; j++) mine[j] = g[j] ^ (int)i;
        l[k] = g[k] + 5;
        barrier(CLK_LOCAL_MEM_FENCE);
        walk walks[3];
        walks[0].p = g; walks[0].step = 2;
        walks[1].p = l + 7; walks[1].step = -1;
        walks[2].p = mine + 1; walks[2].step = 1;
        kept[i] = walks[i % 3];
        out[i] = sum(&walks[i % 3], 4) * 10 + (walks[i % 3].p == kept[i].p + 4 * kept[i].step);
    }";
    let g: Vec<i32> = (0..8).map(|i| i * i + 1).collect();
    let mix = |v: [i32; 4]| {
        v.iter()
            .fold(0i32, |s, x| s.wrapping_mul(3).wrapping_add(*x))
    };
    let expected: Vec<i32> = (0..24)
        .map(|i| {
            let sum = match i % 3 {
                0 => mix([g[0], g[2], g[4], g[6]]),
                1 => mix([g[7] + 5, g[6] + 5, g[5] + 5, g[4] + 5]),
                _ => mix(std::array::from_fn(|k| g[k + 1] ^ i)),
            };
            sum.wrapping_mul(10).wrapping_add(1)
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&g)
        .output::<[u64; 2]>(24)
        .output::<i32>(24)
        .local(32)
        .run(&[24], &[8]);
    assert_equal(&found.get(2), &expected, |i| format!("work-item {i}"));
}

#[test]
fn generic_chosen_at_random() {
    if !has_generic() {
        return skip("the device has no generic address space");
    }
    let source = "
    void bump(char *bytes, short *halves, long *wide, float4 *vector) {
        *bytes += 3; *halves -= 7; *wide *= 5; *vector = vector->wzyx + 1.0f;
    }
    kernel void test(global char *gb, global short *gh, global long *gw, global float4 *gv) {
        size_t i = get_global_id(0), k = get_local_id(0);
        local char lb[8]; local short lh[8]; local long lw[8]; local float4 lv[8];
        char b = gb[i]; short h = gh[i]; long w = gw[i]; float4 v = gv[i];
        lb[k] = b; lh[k] = h; lw[k] = w; lv[k] = v;
        bump(i & 1 ? (char *)&b : (char *)(lb + k), i & 2 ? (short *)(lh + k) : (short *)(gh + i),
             i & 4 ? (long *)(gw + i) : (long *)&w, i & 8 ? (float4 *)&v : (float4 *)(lv + k));
        gb[i] = i & 1 ? b : lb[k];
        if (i & 2) gh[i] = lh[k];
        if (!(i & 4)) gw[i] = w;
        gv[i] = i & 8 ? v : lv[k];
    }";
    let bytes: Vec<i8> = (0..16).map(|i| i * 8 - 60).collect();
    let halves: Vec<i16> = (0..16).map(|i| i * 1000 - 7000).collect();
    let wide: Vec<i64> = (0..16).map(|i| (i << 40) - i).collect();
    let vectors: Vec<[f32; 4]> = (0..16)
        .map(|i| std::array::from_fn(|k| (i * 4 + k) as f32))
        .collect();
    let found = Launch::new(source)
        .buffer(&bytes)
        .buffer(&halves)
        .buffer(&wide)
        .buffer(&vectors)
        .run(&[16], &[8]);
    let expected: Vec<i8> = bytes.iter().map(|b| b.wrapping_add(3)).collect();
    assert_equal(&found.get(0), &expected, |i| format!("byte {i}"));
    let expected: Vec<i16> = halves.iter().map(|h| h - 7).collect();
    assert_equal(&found.get(1), &expected, |i| format!("short {i}"));
    let expected: Vec<i64> = wide.iter().map(|w| w.wrapping_mul(5)).collect();
    assert_equal(&found.get(2), &expected, |i| format!("long {i}"));
    let expected: Vec<[f32; 4]> = vectors
        .iter()
        .map(|v| [v[3] + 1.0, v[2] + 1.0, v[1] + 1.0, v[0] + 1.0])
        .collect();
    assert_equal(&found.get(3), &expected, |i| format!("vector {i}"));
}

#[test]
fn local_pointers_in_memory() {
    let source = "
    kernel void test(global const uint *in, global uint *out, local uint *l, local ushort *m) {
        uint k = get_local_id(0), n = get_local_size(0);
        local uint *local table[16];
        local ushort *mine[4];
        l[k] = in[k]; m[k] = in[k] >> 3;
        table[k] = l + (k * 5 + 3) % n;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < 4; j++) mine[j] = m + (k + j) % n;
        uint s = 0;
        for (uint j = 0; j < n; j++) s = s * 7 + *table[(j + k) % n] + *mine[j % 4];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (k & 1) *table[k] += 1;
        out[k] = s + (table[k] == l + 3) + (uint)(table[k] - l) * 1000;
    }";
    let given: Vec<u32> = (0..16).map(|i| i * 77 + 1).collect();
    let expected: Vec<u32> = (0..16usize)
        .map(|k| {
            let at = |k: usize| (k * 5 + 3) % 16;
            let s = (0..16).fold(0u32, |s, j| {
                s.wrapping_mul(7)
                    .wrapping_add(given[at((j + k) % 16)])
                    .wrapping_add(given[(k + j % 4) % 16] >> 3)
            });
            s.wrapping_add(u32::from(at(k) == 3) + at(k) as u32 * 1000)
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&given)
        .output::<u32>(16)
        .local(64)
        .local(32)
        .run(&[16], &[16]);
    assert_equal(&found.get(1), &expected, |i| format!("work-item {i}"));
}

#[test]
fn differences() {
    let source = "
    typedef struct { uchar bytes[12]; } twelve;
    kernel void test(global twelve *g, global long *out, local ushort *l, uint a, uint b) {
        float mine[32];
        mine[a] = 1; mine[b] = 2;
        twelve t[9];
        t[a % 9].bytes[b % 12] = 4;
        global twelve *p = g + a, *q = g + b;
        local ushort *r = l + a, *s = l + b;
        float *u = mine + a, *v = mine + b;
        out[0] = p - q; out[1] = r - s; out[2] = u - v;
        out[3] = (p < q) | (p <= q) << 1 | (p > q) << 2 | (p == q) << 3 | (p != g) << 4;
        out[4] = (r < s) | (r <= s) << 1 | (r > s) << 2 | (r == s) << 3 | (r != l) << 4;
        out[5] = (u < v) | (u <= v) << 1 | (u > v) << 2 | (u == v) << 3 | (u != mine) << 4;
        out[6] = &t[a % 9].bytes[5] - (uchar *)t;
        out[7] = (long)(mine[a] + mine[b]) + t[a % 9].bytes[b % 12];
    }";
    for (a, b) in [(3u32, 17u32), (17, 3), (0, 0), (31, 30)] {
        let difference = i64::from(a) - i64::from(b);
        let order = i64::from(a < b)
            | i64::from(a <= b) << 1
            | i64::from(a > b) << 2
            | i64::from(a == b) << 3
            | i64::from(a != 0) << 4;
        let values = if a == b { 4 } else { 3 };
        let expected = [
            difference,
            difference,
            difference,
            order,
            order,
            order,
            i64::from(a % 9) * 12 + 5,
            values + 4,
        ];
        let found = Launch::new(source)
            .output::<u8>(12 * 32)
            .output::<i64>(8)
            .local(64)
            .value(a)
            .value(b)
            .run(&[1], &[]);
        assert_equal(&found.get(1), &expected, |i| format!("{a} {b}: result {i}"));
    }
}

#[test]
fn unions() {
    let source = "
    typedef union {
        uchar bytes[16]; ushort halves[8]; uint words[4]; ulong wide[2]; float reals[4]; uchar3 three; int4 vector;
        struct { char c; short s; int i; long l; } fields;
    } any;
    uint digest(const any *u) { uint s = 0; for (int i = 0; i < 16; i++) s = s * 31 + u->bytes[i]; return s; }
    kernel void test(global any *g, global uint *out) {
        size_t i = get_global_id(0), k = get_local_id(0);
        local any l[4];
        any p = g[i];
        p.halves[i % 8] ^= 0x1234;
        p.reals[3] = 1.5f;
        p.bytes[(i * 7) % 12] += 1;
        l[k] = p;
        l[k].wide[0] += 0x100000000ul;
        l[k].vector.y -= 3;
        l[k].fields.c = 77;
        g[i].words[2] = l[k].words[0];
        g[i].fields.s = -2;
        g[i].three = p.three + (uchar3)(1, 2, 3);
        out[i * 3] = digest(&p);
        any copy = l[k];
        out[i * 3 + 1] = digest(&copy);
        copy = g[i];
        out[i * 3 + 2] = digest(&copy);
    }"
    .replace("const any *u", if has_generic() { "const any *u" } else { "private const any *u" });
    let given: Vec<[u8; 16]> = (0..8u32)
        .map(|i| std::array::from_fn(|k| (i * 37 + k as u32 * 11) as u8))
        .collect();
    let digest = |bytes: &[u8; 16]| {
        bytes
            .iter()
            .fold(0u32, |s, b| s.wrapping_mul(31).wrapping_add(u32::from(*b)))
    };
    let mut expected = Vec::new();
    for (i, start) in given.iter().enumerate() {
        let mut g = *start;
        let mut p = g;
        let h = 2 * (i % 8);
        let half = u16::from_le_bytes([p[h], p[h + 1]]) ^ 0x1234;
        p[h..h + 2].copy_from_slice(&half.to_le_bytes());
        p[12..].copy_from_slice(&1.5f32.to_le_bytes());
        p[i * 7 % 12] = p[i * 7 % 12].wrapping_add(1);
        let mut l = p;
        let y = u32::from_le_bytes(l[4..8].try_into().unwrap());
        l[4..8].copy_from_slice(&y.wrapping_add(1).wrapping_sub(3).to_le_bytes());
        l[0] = 77;
        g[8..12].copy_from_slice(&l[..4]);
        g[2..4].copy_from_slice(&(-2i16).to_le_bytes());
        for (k, add) in [1u8, 2, 3].into_iter().enumerate() {
            g[k] = p[k].wrapping_add(add);
        }
        // The fourth byte of a vector of three may change or not: take what the device made of it.
        expected.push((digest(&p), digest(&l), g));
    }
    let found = Launch::new(source)
        .buffer(&given)
        .output::<u32>(24)
        .run(&[8], &[4]);
    let (after, out) = (found.get::<[u8; 16]>(0), found.get::<u32>(1));
    for (i, (p, l, mut g)) in expected.into_iter().enumerate() {
        g[3] = after[i][3];
        assert_eq!((out[i * 3], out[i * 3 + 1]), (p, l), "work-item {i}");
        assert_eq!(after[i], g, "work-item {i}");
        assert_eq!(out[i * 3 + 2], digest(&g), "work-item {i}");
    }
}

#[test]
fn copies_of_any_alignment() {
    if !has_generic() {
        return skip("the device has no generic address space");
    }
    let source = "
    typedef struct __attribute__((packed)) { uchar tag; uint number; ulong wide; uchar rest[6]; } odd;
    kernel void test(global const uchar *in, global uchar *out, uint at, uint to) {
        local uchar l[64];
        uchar p[64];
        __builtin_memcpy(p + to, in + at, 19);
        for (int i = 0; i < 64; i++) l[i] = 0;
        global const odd *o = (global const odd *)(in + at);
        odd mine = *o;
        local odd *lo = (local odd *)(l + to);
        *lo = mine;
        lo->number += mine.tag;
        ((odd *)(p + to))->wide ^= mine.wide << 1;
        __builtin_memcpy(out, p + to, 19);
        __builtin_memcpy(out + 19, l + to, 19);
        for (int i = 0; i < 3; i++) vstore4(vload4(i, in + at), i, out + 38);
        *(global ushort2 *)(out + 52) = *(global const ushort2 *)(in + (at & ~3u));
        __builtin_memmove(out + 56, in + at + 1, 5);
        __builtin_memset(out + 61, 0x5a, 3);
    }";
    let given: Vec<u8> = (0..64u32).map(|i| (i * 29 + 7) as u8).collect();
    for (at, to) in [(0u32, 0u32), (1, 2), (3, 1), (6, 7), (5, 4)] {
        let start = at as usize;
        let odd = &given[start..start + 19];
        let mut expected = odd.to_vec();
        let wide = u64::from_le_bytes(odd[5..13].try_into().unwrap());
        expected[5..13].copy_from_slice(&(wide ^ wide << 1).to_le_bytes());
        let mut local = odd.to_vec();
        let number = u32::from_le_bytes(odd[1..5].try_into().unwrap());
        local[1..5].copy_from_slice(&number.wrapping_add(odd[0].into()).to_le_bytes());
        expected.extend(local);
        expected.extend(&given[start..start + 12]);
        expected.extend([0xcc; 2]);
        expected.extend(&given[start & !3..(start & !3) + 4]);
        expected.extend(&given[start + 1..start + 6]);
        expected.extend([0x5a; 3]);
        let found = Launch::new(source)
            .buffer(&given)
            .output::<u8>(64)
            .value(at)
            .value(to)
            .run(&[1], &[]);
        assert_equal(&found.get(1), &expected, |i| {
            format!("from {at} to {to}: byte {i}")
        });
    }
}

#[test]
fn large_private_arrays() {
    let source = "
    kernel void test(global const uint *in, global uint *out, uint n) {
        uint big[512];
        uchar bytes[700];
        size_t i = get_global_id(0);
        for (uint k = 0; k < n; k++) { big[k] = in[(k + i) % 64] * k; bytes[k] = big[k] >> 3; }
        uint s = 0, at = i;
        for (uint k = 0; k < n; k++) { at = (big[at] + bytes[n - 1 - at] + k) % n; s = s * 5 + at; bytes[at]++; }
        out[i] = s;
    }";
    let given: Vec<u32> = (0..64).map(|i| i * 7919 + 13).collect();
    let n = 400usize;
    let expected: Vec<u32> = (0..16usize)
        .map(|i| {
            let big: Vec<u32> = (0..n)
                .map(|k| given[(k + i) % 64].wrapping_mul(k as u32))
                .collect();
            let mut bytes: Vec<u8> = big.iter().map(|b| (b >> 3) as u8).collect();
            let (mut s, mut at) = (0u32, i);
            for k in 0..n {
                let sum = big[at]
                    .wrapping_add(u32::from(bytes[n - 1 - at]))
                    .wrapping_add(k as u32);
                at = sum as usize % n;
                s = s.wrapping_mul(5).wrapping_add(at as u32);
                bytes[at] = bytes[at].wrapping_add(1);
            }
            s
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&given)
        .output::<u32>(16)
        .value(n as u32)
        .run(&[16], &[]);
    assert_equal(&found.get(1), &expected, |i| format!("work-item {i}"));
}

#[test]
fn several_local_arguments() {
    let source = "
    kernel void test(local uchar *a, global ulong *out, local ulong *b, local float4 *c, local short *d, uint swap) {
        uint k = get_local_id(0), n = get_local_size(0);
        local uint fixed[8];
        a[k] = k * 3; b[k] = (ulong)k << 33; c[k] = (float4)(k, k + 1, k + 2, k + 3); d[k] = -(short)k;
        fixed[k] = k ^ 5;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint j = n - 1 - k;
        local uchar *x = swap ? (local uchar *)d : a;
        ulong s = a[j] + b[j] + (ulong)(c[j].x + c[j].w) + (ulong)(uint)-d[j] + fixed[j];
        out[k] = s + x[2 * k] * 0x100000ul;
    }";
    for swap in [0u32, 1] {
        let expected: Vec<u64> = (0..8u64)
            .map(|k| {
                let j = 7 - k;
                let sum = j * 3 + (j << 33) + (2 * j + 3) + j + (j ^ 5);
                let byte = match swap {
                    // Beyond the first four there is whatever the array was made with.
                    0 => 2 * k * 3,
                    _ => u64::from((-(k as i16)).to_le_bytes()[0]),
                };
                sum + byte * 0x10_0000
            })
            .collect();
        let found = Launch::new(source)
            .local(16)
            .output::<u64>(8)
            .local(64)
            .local(128)
            .local(16)
            .value(swap)
            .run(&[8], &[8]);
        let out = found.get::<u64>(0);
        for (k, (found, expected)) in out.iter().zip(&expected).enumerate() {
            let mask = if swap == 0 && k >= 4 {
                0xffff_fff0_000f_ffff
            } else {
                u64::MAX
            };
            assert_eq!(found & mask, expected & mask, "swap {swap}, work-item {k}");
        }
    }
}

#[test]
fn volatile_accesses() {
    let source = "
    kernel void test(volatile global uint *g, global uint *out, volatile local uint *l) {
        size_t i = get_global_id(0);
        volatile uint mine = i;
        uint first = g[i];
        g[i] = first + 1;
        uint second = g[i];
        l[get_local_id(0)] = second;
        mine += l[get_local_id(0)];
        mine = mine * 2;
        out[i] = first + second + mine;
    }";
    let given: Vec<u32> = (0..32).map(|i| i * 11).collect();
    let expected: Vec<u32> = (0..32)
        .map(|i| i * 11 + (i * 11 + 1) + (i + i * 11 + 1) * 2)
        .collect();
    let found = Launch::new(source)
        .buffer(&given)
        .output::<u32>(32)
        .local(64)
        .run(&[32], &[16]);
    assert_equal(&found.get(1), &expected, |i| format!("work-item {i}"));
}

#[test]
fn integers() {
    let source = "
    kernel void test(global uint *g, global uint *out, local uint *l) {
        uint mine[4] = {4, 3, 2, 1};
        size_t i = get_global_id(0);
        l[0] = 50; l[1] = 60;
        uintptr_t a = (uintptr_t)g + i * sizeof(uint);
        uintptr_t b = (uintptr_t)(l + 1), c = (uintptr_t)mine;
        out[i] = *(global uint *)a + *(local uint *)(b - 4) + *(private uint *)(c + 4 * (i % 4));
        a ^= 0x5555; a ^= 0x5555;
        *(global uint *)a = (uint)((global uchar *)a - (global uchar *)g) + ((local uint *)b == l + 1);
    }";
    let given: Vec<u32> = (0..8).map(|i| i * 100).collect();
    let found = Launch::new(source)
        .buffer(&given)
        .output::<u32>(8)
        .local(8)
        .run(&[8], &[1]);
    let expected: Vec<u32> = (0..8).map(|i| i * 100 + 50 + (4 - i % 4)).collect();
    assert_equal(&found.get(1), &expected, |i| format!("work-item {i}"));
    let expected: Vec<u32> = (0..8).map(|i| i * 4 + 1).collect();
    assert_equal(&found.get(0), &expected, |i| format!("work-item {i}"));
}

/// An integer that is too narrow for an address has its low bits, also where the compiler knows the address.
#[test]
fn narrow_integers() {
    let source = "
    typedef struct { char first; uint4 vector; short last; } item;
    kernel void test(global uint *out) {
        local item at, other;
        uint i = get_global_id(0);
        local void *p = i & 1 ? (local void *)&other.vector : (local void *)&at.vector;
        if (i == 1000) at.first = other.first = 0;
        out[4 * i] = (uint)&at.vector % 16;
        out[4 * i + 1] = (uint)&at.last - (uint)&at.first;
        out[4 * i + 2] = (uint)p == (i & 1 ? (uint)&other.vector : (uint)&at.vector);
        out[4 * i + 3] = (ushort)&at.last == (ushort)((uint)&at + 32);
    }";
    let found = Launch::new(source).output::<u32>(4 * 8).run(&[8], &[4]);
    let expected = [0u32, 32, 1, 1].repeat(8);
    assert_equal(&found.get(0), &expected, |at| format!("value {}", at % 4));
}
