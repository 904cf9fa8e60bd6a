//! Call trees in which each function calls the next several times, with pointers into every address space.
//!
//! Inlined whole they grow threefold with each level; none may take long to build or launch.

use super::harness::{Launch, assert_equal, session, skip};
use super::random::Random;
use std::fmt::Write;

const ITEMS: usize = 16;
const GROUP: usize = 8;
/// Words of a row of memory that belongs to one work-item.
const ROW: usize = 8;
const WORDS: usize = 5;
/// States that a work-item has room for in global memory.
const FAR: usize = 1024;

/// States that a work-item has room for in local memory, for trees of so many levels.
fn near() -> (usize, usize) {
    const BYTES: usize = GROUP * WORDS * 4;
    let fits = |(_, states): &(usize, usize)| states * BYTES <= session().local_bytes();
    [(6, 128), (5, 64)]
        .into_iter()
        .find(fits)
        .unwrap_or((3, 16))
}

type State = [u32; WORDS];

fn leaf(s: &mut State, row: &mut [u32]) {
    s[(s[4] & 3) as usize] = s[(s[4] & 3) as usize].wrapping_add(row[(s[4] & 7) as usize]);
    s[4] = s[4].wrapping_mul(5).wrapping_add(1);
    let at = (s[4] & 7) as usize;
    row[at] = row[at].wrapping_add(s[0]);
}

/// A function that calls those `steps` levels below it.
fn node(level: usize, steps: [usize; 3], s: &mut State, row: &mut [u32]) {
    let call = |step: usize, s: &mut State, row: &mut [u32]| match level.saturating_sub(step) {
        0 => leaf(s, row),
        next => node(next, steps, s, row),
    };
    let mut t = *s;
    call(steps[0], &mut t, row);
    if t[4] & level as u32 != 0 {
        call(steps[1], s, row);
    } else {
        call(steps[1], &mut t, row);
    }
    s[1] = s[1].wrapping_add(t[level & 3]);
    s[4] ^= t[4];
    call(steps[2], s, row);
}

/// The functions `f_0` to `f_depth`. `own` declares `t`, a pointer to a copy of what `s` points to; `LEVEL` in it is the
/// function's.
fn functions(depth: usize, steps: [usize; 3], space: &str, own: &str) -> String {
    let mut source = format!(
        "typedef struct {{ uint a[4]; uint n; }} S;
        void f_0({space} S *s, global uint *p) {{
            s->a[s->n & 3] += p[s->n & 7]; s->n = s->n * 5 + 1; p[s->n & 7] += s->a[0]; }}\n"
    );
    for level in 1..=depth {
        let [x, y, z] = steps.map(|step| level.saturating_sub(step));
        let own = own.replace("LEVEL", &level.to_string());
        writeln!(
            source,
            "void f_{level}({space} S *s, global uint *p) {{
                {own}
                f_{x}(t, p);
                if (t->n & {level}) f_{y}(s, p); else f_{y}(t, p);
                s->a[1] += t->a[{level} & 3]; s->n ^= t->n;
                f_{z}(s, p); }}"
        )
        .expect("a string takes everything");
    }
    source
}

const PRIVATE: &str = "S copy = *s; S *t = &copy;";

fn start(i: usize) -> State {
    std::array::from_fn(|word| (i * 7 + word * 3) as u32)
}

fn rows() -> Vec<u32> {
    let mut random = Random::new(33);
    (0..ITEMS * ROW).map(|_| random.next() as u32).collect()
}

/// What a kernel does first: `s` is the state that [`start`] makes.
const START: &str = "
    uint i = get_global_id(0); S first; S *s = &first;
    for (uint w = 0; w < 4; w++) first.a[w] = i * 7 + w * 3;
    first.n = i * 7 + 12; p += i * 8;";

const END: &str = "
    for (uint w = 0; w < 4; w++) out[i * 5 + w] = s->a[w];
    out[i * 5 + 4] = s->n;";

/// Runs a kernel of which `body` stands between [`START`] and [`END`].
fn check(functions: &str, body: &str, item: impl Fn(usize, &mut State, &mut [u32])) {
    let source = format!(
        "{functions} kernel void test(global uint *p, global uint *out, global S *spare, local S *shared) {{
            {START} {body} {END} }}"
    );
    let mut rows = rows();
    let found = Launch::new(&source)
        .buffer(&rows)
        .output::<u32>(ITEMS * WORDS)
        .output::<u32>(ITEMS * WORDS * FAR)
        .local(GROUP * WORDS * 4 * near().1)
        .run(&[ITEMS], &[GROUP]);
    let mut states = Vec::new();
    for (i, row) in rows.chunks_mut(ROW).enumerate() {
        let mut state = start(i);
        item(i, &mut state, row);
        states.extend(state);
    }
    assert_equal(&found.get(1), &states, |at| format!("word {at}"));
    assert_equal(&found.get(0), &rows, |at| format!("row word {at}"));
}

fn check_chain(depth: usize, space: &str, own: &str, body: &str) {
    let functions = functions(depth, [1; 3], space, own);
    check(&functions, body, |_, s, row| node(depth, [1; 3], s, row));
}

#[test]
fn private() {
    for depth in [3, 5, 10] {
        check_chain(depth, "", PRIVATE, &format!("f_{depth}(s, p);"));
    }
}

/// What a level calls lies between its state and its copy.
const NEXT: &str = "S *t = s + (1 << LEVEL); *t = *s;";

#[test]
fn local() {
    let (most, states) = near();
    for depth in [3, most] {
        let body = format!(
            "local S *mine = shared + get_local_id(0) * {states}; *mine = first; f_{depth}(mine, p); first = *mine;"
        );
        check_chain(depth, "local", &format!("local {NEXT}"), &body);
    }
}

#[test]
fn global() {
    for depth in [3, 9] {
        let body = format!(
            "global S *mine = spare + i * {FAR}; *mine = first; f_{depth}(mine, p); first = *mine;"
        );
        check_chain(depth, "global", &format!("global {NEXT}"), &body);
    }
}

#[test]
fn generic() {
    if !session().has_generic_pointers() {
        return;
    }
    // Each access looks which memory is meant: deeper trees take a minute to compile on some drivers.
    let depth = 2;
    let states = near().1;
    let body = format!(
        "global S *far = spare + i * {FAR}; local S *near = shared + get_local_id(0) * {states}; *far = *near = first;
         S *any = i % 3 == 0 ? s : i % 3 == 1 ? (S *)far : (S *)near;
         f_{depth}(any, p); first = *any;"
    );
    check_chain(depth, "", PRIVATE, &body);
}

#[test]
fn several_levels() {
    for steps in [[1, 2, 1], [2, 1, 3]] {
        let functions = functions(10, steps, "", PRIVATE);
        check(&functions, "f_10(s, p);", |_, s, row| {
            node(10, steps, s, row)
        });
    }
}

/// Work-items of one sub-group call from different places, some not at all, and in loops.
#[test]
fn divergent() {
    let functions = functions(6, [1; 3], "", PRIVATE);
    let body = "
        switch (i % 4) {
            case 0: f_6(s, p); break;
            case 1: for (uint k = 0; k < i % 5; k++) f_5(s, p); break;
            case 2: f_4(s, p); if (s->n & 1) break;
            default: s->n++; }
        if (s->n & 2) f_6(s, p);";
    check(&functions, body, |i, s, row| {
        let mut call = |level: usize, s: &mut State| node(level, [1; 3], s, row);
        match i % 4 {
            0 => call(6, s),
            1 => (0..i % 5).for_each(|_| call(5, s)),
            2 => {
                call(4, s);
                if s[4] & 1 == 0 {
                    s[4] = s[4].wrapping_add(1);
                }
            }
            _ => s[4] = s[4].wrapping_add(1),
        }
        if s[4] & 2 != 0 {
            call(6, s);
        }
    });
}

/// Whether the driver's LLVM is one that may end the process over masks in AVX-512's registers, on this processor.
fn coalesces_masks(device: &str) -> bool {
    let llvm = device.split("llvmpipe (LLVM ").nth(1);
    let major = llvm.and_then(|it| it.split('.').next()?.parse::<u32>().ok());
    #[cfg(target_arch = "x86_64")]
    let has_masks = is_x86_feature_detected!("avx512bw");
    #[cfg(not(target_arch = "x86_64"))]
    let has_masks = false;
    has_masks && major == Some(19)
}

/// Every work-item of a group meets every barrier, whether it has called before or not.
#[test]
fn around_barriers() {
    if coalesces_masks(&session().name()) {
        return skip("LLVM ends the process: see docs/guarantees.md, Private arrays on lavapipe");
    }
    let functions = functions(6, [1; 3], "", PRIVATE);
    let body = "
        uint l = get_local_id(0); local uint *words = (local uint *)shared;
        if (i % 3) f_6(s, p);
        words[l] = l * 3;
        barrier(CLK_LOCAL_MEM_FENCE);
        s->n += words[(l + 1) % 8];
        barrier(CLK_LOCAL_MEM_FENCE);
        words[l] = l * 5;
        f_6(s, p);
        barrier(CLK_LOCAL_MEM_FENCE);
        s->n += words[(l + 3) % 8];";
    check(&functions, body, |i, s, row| {
        let l = i % GROUP;
        if i % 3 != 0 {
            node(6, [1; 3], s, row);
        }
        s[4] = s[4].wrapping_add(((l + 1) % 8 * 3) as u32);
        node(6, [1; 3], s, row);
        s[4] = s[4].wrapping_add(((l + 3) % 8 * 5) as u32);
    });
}

/// Lines of the function that [`behind_barriers`] calls, and its calls: with a copy for each it takes a minute to compile.
const LINES: u32 = 400;
const CALLS: u32 = 120;

/// Work-items fill a table, meet, and only then call, some of them, what is large.
#[test]
fn behind_barriers() {
    let mut functions = String::from(
        "typedef struct { uint a[4]; uint n; } S;
        void large(S *s, global uint *p) {\n",
    );
    let mut calls = String::new();
    for line in 0..LINES {
        let (at, factor, from) = (line % 4, line * 2 + 3, line / 16 % 8);
        let other = if line % 16 == 0 {
            format!("p[{from}]")
        } else {
            format!("s->a[{from} & 3]")
        };
        writeln!(
            functions,
            "s->a[{at}] = s->a[{at}] * {factor} + (s->n ^ {other}); s->n += s->a[{at}] >> 7;"
        )
        .expect("a string takes everything");
    }
    functions.push('}');
    for call in 0..CALLS {
        write!(calls, "large(s, p); if (s->n & 1) s->n += {call}; ")
            .expect("a string takes everything");
    }
    let body = format!(
        "uint l = get_local_id(0); local uint *words = (local uint *)shared;
        for (uint k = 0; k < 3; k++) {{ words[l] = l * 3 + k; barrier(CLK_LOCAL_MEM_FENCE); }}
        s->n += words[(l + 1) % 8];
        if (i % 5 != 2) {{ {calls} }}"
    );
    check(&functions, &body, |i, s, row| {
        s[4] = s[4].wrapping_add(((i % GROUP + 1) % 8 * 3 + 2) as u32);
        for call in (0..CALLS).filter(|_| i % 5 != 2) {
            for line in 0..LINES {
                let (at, from) = ((line % 4) as usize, (line / 16 % 8) as usize);
                let other = if line % 16 == 0 {
                    row[from]
                } else {
                    s[from & 3]
                };
                let product = s[at].wrapping_mul(line * 2 + 3);
                s[at] = product.wrapping_add(s[4] ^ other);
                s[4] = s[4].wrapping_add(s[at] >> 7);
            }
            if s[4] & 1 != 0 {
                s[4] = s[4].wrapping_add(call);
            }
        }
    });
}

/// Functions that take and return numbers alone: drivers would inline what stays a function.
#[test]
fn scalars() {
    let mut source = String::from(
        "uint g_0(uint x, global uint *p) { p[x & 7] ^= x; return x * 5 + p[x >> 29] + 1; }\n",
    );
    for level in 1..=9 {
        let lower = level - 1;
        writeln!(
            source,
            "uint g_{level}(uint x, global uint *p) {{
                uint a = g_{lower}(x + {level}, p), b = a & 1 ? g_{lower}(a ^ x, p) : g_{lower}(a + 3, p);
                return a * 3 + b * 7 + x + g_{lower}(a ^ b, p); }}"
        )
        .expect("a string takes everything");
    }
    fn number(level: u32, x: u32, row: &mut [u32]) -> u32 {
        if level == 0 {
            row[(x & 7) as usize] ^= x;
            let there = row[(x >> 29) as usize];
            return x.wrapping_mul(5).wrapping_add(there).wrapping_add(1);
        }
        let a = number(level - 1, x.wrapping_add(level), row);
        let b = match a & 1 {
            1 => number(level - 1, a ^ x, row),
            _ => number(level - 1, a.wrapping_add(3), row),
        };
        let last = number(level - 1, a ^ b, row);
        let sum = a.wrapping_mul(3).wrapping_add(b.wrapping_mul(7));
        sum.wrapping_add(x).wrapping_add(last)
    }
    let source = format!("typedef struct {{ uint a[4]; uint n; }} S;\n{source}");
    check(&source, "s->n = g_9(s->n, p);", |_, s, row| {
        s[4] = number(9, s[4], row)
    });
}

/// Steps of a function that is large enough to be there once.
const MIXES: usize = 64;

/// Changes what three pointers point to, each at offsets that are known.
fn mixing() -> String {
    let mut source = String::from(
        "typedef struct { uint a[4]; uint n; } S;
        void mix(uint *h, uint *a, uint *b, uint x) {
            uint *one = x & 1 ? a + 1 : a + 2; *one ^= x;
            if (x & 2) one = b; else if (x & 4) { one = b + 3; a[0] += 9; } else one = b + 1;
            *one += 5;\n",
    );
    for k in 0..MIXES {
        let [i, j, l] = [k % 4, (k + 1) % 4, (k + 2) % 4];
        writeln!(
            source,
            "h[{i}] = (h[{i}] ^ a[{i}]) * 5 + b[{j}] + {k}; a[{j}] += h[{l}] >> 3; b[{l}] ^= h[{i}] + x;"
        )
        .expect("a string takes everything");
    }
    source + "}\n"
}

/// What the kernels' `mix` does, in words of one memory.
fn mix(m: &mut [u32], [h, a, b]: [usize; 3], x: u32) {
    m[a + if x & 1 != 0 { 1 } else { 2 }] ^= x;
    let one = match x & 6 {
        2 | 6 => 0,
        4 => 3,
        _ => 1,
    };
    if one == 3 {
        m[a] = m[a].wrapping_add(9);
    }
    m[b + one] = m[b + one].wrapping_add(5);
    for k in 0..MIXES {
        let [i, j, l] = [k % 4, (k + 1) % 4, (k + 2) % 4];
        let product = (m[h + i] ^ m[a + i]).wrapping_mul(5);
        m[h + i] = product.wrapping_add(m[b + j]).wrapping_add(k as u32);
        m[a + j] = m[a + j].wrapping_add(m[h + l] >> 3);
        m[b + l] ^= m[h + i].wrapping_add(x);
    }
}

/// Calls [`mix`] for words at these places: of the state at first, of `u` from 4 on, of `v` from 8 on. Every second call is
/// made by some work-items alone.
fn check_mixing(calls: &[[usize; 3]]) {
    let name = |place: usize| match place {
        0..4 => format!("s->a + {place}"),
        4..8 => format!("u + {}", place - 4),
        _ => format!("v + {}", place - 8),
    };
    let mut body = String::from(
        "uint u[4], v[8]; for (uint k = 0; k < 8; k++) { u[k / 2] = k; v[k] = i + k; }\n",
    );
    for (number, call) in calls.iter().enumerate() {
        let condition = if number % 2 == 1 {
            "if (s->n & 1) "
        } else {
            ""
        };
        let [h, a, b] = call.map(name);
        writeln!(body, "{condition} mix({h}, {a}, {b}, s->n++);")
            .expect("a string takes everything");
    }
    body.push_str("for (uint k = 0; k < 8; k++) p[k] ^= u[k / 2] * 3 + v[k];");
    check(&mixing(), &body, |i, s, row| {
        let mut words = [0; 16];
        words[..4].copy_from_slice(&s[..4]);
        for k in 0..8 {
            words[4 + k / 2] = k as u32;
            words[8 + k] = (i + k) as u32;
        }
        for (number, &call) in calls.iter().enumerate() {
            if number % 2 == 0 || s[4] & 1 != 0 {
                mix(&mut words, call, s[4]);
                s[4] = s[4].wrapping_add(1);
            }
        }
        s[..4].copy_from_slice(&words[..4]);
        for (k, word) in row.iter_mut().enumerate() {
            *word ^= words[4 + k / 2].wrapping_mul(3).wrapping_add(words[8 + k]);
        }
    });
}

/// What the function gets a pointer to is another variable at each call, or another part of one.
#[test]
fn several_variables() {
    check_mixing(&[
        [0, 4, 8],
        [8, 0, 4],
        [4, 12, 8],
        [12, 8, 0],
        [0, 8, 12],
        [4, 0, 12],
    ]);
}

/// Two pointers lead to the same words, or to some of them.
#[test]
fn overlapping_arguments() {
    check_mixing(&[
        [0, 4, 8],
        [8, 0, 4],
        [4, 12, 12],
        [8, 10, 0],
        [4, 9, 11],
        [12, 8, 8],
    ]);
}

/// A loop with forty divisions of 64 bits in a row, each a call of a function that returns early: with each the ways through an
/// iteration double.
#[test]
fn early_returns_in_a_row() {
    let steps: String = (0..40)
        .map(|step| format!("x = f(x, by + {step});\n"))
        .collect();
    let source = format!(
        "__attribute__((noinline)) ulong f(ulong x, ulong by) {{
            int low = x * 5;
            return (x >> 32) + (ulong)low % ((uint)by | 1ul);
        }}
        kernel void test(global ulong *out, ulong by, uint count) {{
            ulong x = get_global_id(0) + by;
            for (uint i = 0; i < count; ++i) {{ {steps} }}
            out[get_global_id(0)] = x;
        }}"
    );
    let by = 0x1234_5678_9abc_u64;
    let found = Launch::new(source)
        .output::<u64>(16)
        .value(by)
        .value(3_u32)
        .run(&[16], &[8])
        .get::<u64>(0);
    let f = |x: u64, by: u64| {
        let low = x.wrapping_mul(5) as i32;
        (x >> 32).wrapping_add(low as u64 % (u64::from(by as u32) | 1))
    };
    let divisors = (0..3).flat_map(|_| (0..40).map(|step| by + step));
    let all = |x: u64| divisors.clone().fold(x + by, f);
    let expected: Vec<u64> = (0..16).map(all).collect();
    assert_equal(&found, &expected, |i| format!("work-item {i}"));
}
