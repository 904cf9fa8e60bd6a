//! Branches, loops, switches and gotos, divergent between work-items. What loops leave behind, and how many rounds they
//! make, is in [`super::loops`].

use super::harness::{Launch, assert_equal, session, skip};
use super::random::Random;

pub(super) fn words() -> Vec<u32> {
    let mut random = Random::new(90);
    (0..256).map(|_| random.number() as u32).collect()
}

/// Runs `kernel test(global const uint *a, global uint *out)` whose body computes `r` from `x`.
pub(super) fn check(body: &str, expected: impl Fn(u32) -> u32) {
    check_at("", body, |a, i| expected(a[i]));
}

/// The same with a build option, for a body that looks at all of `a` and where in it `x` is, `i`.
pub(super) fn check_at(option: &str, body: &str, expected: impl Fn(&[u32], usize) -> u32) {
    let source = format!(
        "
    kernel void test(global const uint *a, global uint *out) {{
        size_t i = get_global_id(0);
        uint x = a[i], r = 0;
        {body}
        out[i] = r;
    }}"
    );
    let a = words();
    let expected: Vec<u32> = (0..a.len()).map(|i| expected(&a, i)).collect();
    let found = Launch::new(source)
        .option(option)
        .buffer(&a)
        .output::<u32>(a.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(1), &expected, |i| {
        format!("{:#x} {option}", a[i])
    });
}

#[test]
fn branches() {
    check(
        "if (x & 1) { r = x * 3; if (x & 2) r += 5; else if (x & 4) r -= 9; }
         else if (x % 3 == 0) r = x / 3;
         else { r = 7; if (x > 1000) { r ^= x; if (x > 100000) r <<= 3; } }
         r += x & 8 ? x & 16 ? 1 : 2 : 3;",
        |x| {
            let mut r;
            if x & 1 != 0 {
                r = x.wrapping_mul(3);
                if x & 2 != 0 {
                    r = r.wrapping_add(5);
                } else if x & 4 != 0 {
                    r = r.wrapping_sub(9);
                }
            } else if x % 3 == 0 {
                r = x / 3;
            } else {
                r = 7;
                if x > 1000 {
                    r ^= x;
                    if x > 100_000 {
                        r <<= 3;
                    }
                }
            }
            r.wrapping_add(if x & 8 != 0 {
                if x & 16 != 0 { 1 } else { 2 }
            } else {
                3
            })
        },
    );
}

#[test]
fn nested_loops() {
    check(
        "for (uint a = 0; a < x % 7; a++)
             for (uint b = a; b < 9; b += 1 + (x & 1)) {
                 uint c = b;
                 while (c * c > a) { r = r * 5 + c; c--; }
                 do { r ^= c << a; c += 3; } while (c < 6);
             }",
        |x| {
            let mut r = 0u32;
            for a in 0..x % 7 {
                let mut b = a;
                while b < 9 {
                    let mut c = b;
                    while c * c > a {
                        r = r.wrapping_mul(5).wrapping_add(c);
                        c -= 1;
                    }
                    loop {
                        r ^= c << a;
                        c += 3;
                        if c >= 6 {
                            break;
                        }
                    }
                    b += 1 + (x & 1);
                }
            }
            r
        },
    );
}

#[test]
fn breaks_and_continues() {
    check(
        "for (uint a = 0;; a++) {
             if (a > 20) break;
             if ((x >> a) & 1) continue;
             for (uint b = 0; b < 10; b++) {
                 if (b == a) break;
                 if ((x + b) % 3 == 0) continue;
                 r += a * 10 + b;
                 if (r > 500) goto done;
             }
             r++;
         }
         done:
         r += 3;",
        |x| {
            let mut r = 0;
            'done: for a in 0..=20 {
                if x >> a & 1 != 0 {
                    continue;
                }
                for b in 0..10 {
                    if b == a {
                        break;
                    }
                    if x.wrapping_add(b) % 3 == 0 {
                        continue;
                    }
                    r += a * 10 + b;
                    if r > 500 {
                        break 'done;
                    }
                }
                r += 1;
            }
            r + 3
        },
    );
}

#[test]
fn switches() {
    check(
        "switch (x % 11) {
             case 0: r = 5; break;
             case 1: r = 6;
             case 2: r += 7; if (x & 64) break;
             case 3: r += 8; break;
             case 7: case 8: r = x; break;
             case 9: for (uint k = 0; k < 5; k++) { if (k == 3) break; r += k; } break;
             default: r = 100;
         }
         switch ((char)x) { case -1: r++; break; case -128: r += 2; break; case 100: r += 3; }",
        |x| {
            let two = |r: u32| r + 7 + if x & 64 != 0 { 0 } else { 8 };
            let r: u32 = match x % 11 {
                0 => 5,
                1 => two(6),
                2 => two(0),
                3 => 8,
                7 | 8 => x,
                9 => 3,
                _ => 100,
            };
            r.wrapping_add(match x as i8 {
                -1 => 1,
                -128 => 2,
                100 => 3,
                _ => 0,
            })
        },
    );
}

#[test]
fn switch_on_long() {
    check(
        "switch (((ulong)x << 32 | x) % 0x100000007UL % 6 + (x & 1 ? 0x100000000UL : 0)) {
             case 0: r = 10; break;
             case 1: r = 11; break;
             case 0x100000000UL: r = 20; break;
             case 0x100000001UL: r = 21; break;
             case 0x100000004UL: r = 24; break;
             default: r = 99;
         }",
        |x| {
            let wide = u64::from(x) << 32 | u64::from(x);
            let key = wide % 0x1_0000_0007 % 6 + if x & 1 == 1 { 0x1_0000_0000 } else { 0 };
            match key {
                0 => 10,
                1 => 11,
                0x1_0000_0000 => 20,
                0x1_0000_0001 => 21,
                0x1_0000_0004 => 24,
                _ => 99,
            }
        },
    );
}

#[test]
fn switch_in_loop() {
    check(
        "for (uint k = 0; k < 16; k++) {
             switch ((x >> k) & 3) {
                 case 0: continue;
                 case 1: r += k; break;
                 case 2: r = r * 3 + 1; if (r > 1000) goto out; break;
                 case 3: if (k > 12) goto out; r ^= 5;
             }
             r++;
         }
         out:;",
        |x| {
            let mut r = 0u32;
            for k in 0..16 {
                match x >> k & 3 {
                    0 => continue,
                    1 => r += k,
                    2 => {
                        r = r * 3 + 1;
                        if r > 1000 {
                            break;
                        }
                    }
                    _ => {
                        if k > 12 {
                            break;
                        }
                        r ^= 5;
                    }
                }
                r += 1;
            }
            r
        },
    );
}

#[test]
fn early_returns() {
    let source = "
    uint find(uint x, uint y) {
        for (uint k = 0; k < 32; k++) {
            if (((x >> k) & 7) == y) return k;
            if (k == 20 && y == 5) return 77;
        }
        return 99;
    }
    kernel void test(global const uint *a, global uint *out) {
        size_t i = get_global_id(0);
        if (i % 5 == 4) return;
        uint r = find(a[i], 6);
        if (r == 99) { out[i] = find(a[i], 5) + 1000; return; }
        out[i] = r;
    }";
    let a = words();
    let find = |x: u32, y: u32| {
        for k in 0..32 {
            if x >> k & 7 == y {
                return k;
            }
            if k == 20 && y == 5 {
                return 77;
            }
        }
        99
    };
    let expected: Vec<u32> = a
        .iter()
        .enumerate()
        .map(|(i, &x)| match (i % 5, find(x, 6)) {
            (4, _) => 0xcccc_cccc,
            (_, 99) => find(x, 5) + 1000,
            (_, k) => k,
        })
        .collect();
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(a.len())
        .run(&[a.len()], &[]);
    assert_equal(&found.get(1), &expected, |i| format!("{:#x}", a[i]));
}

#[test]
fn gotos() {
    check(
        "uint n = 0;
         again:
         r += x & 15;
         if (r & 1) goto odd;
         r /= 2;
         goto next;
         odd:
         r = r * 3 + 1;
         next:
         if (++n < 10 + (x & 3)) goto again;",
        |x| {
            let mut r = 0u32;
            for _ in 0..10 + (x & 3) {
                r = r.wrapping_add(x & 15);
                r = if r & 1 == 1 {
                    r.wrapping_mul(3).wrapping_add(1)
                } else {
                    r / 2
                };
            }
            r
        },
    );
}

#[test]
fn irreducible() {
    // A loop entered in the middle.
    check(
        "uint n = x % 9;
         if (x & 1) goto middle;
         top:
         r = r * 7 + n;
         middle:
         r += 3;
         if (r % 5 == 0) r ^= x;
         if (n-- > 0) goto top;",
        |x| {
            let (mut r, mut n) = (0u32, x % 9);
            let mut enters_in_the_middle = x & 1 == 1;
            loop {
                if !std::mem::take(&mut enters_in_the_middle) {
                    r = r.wrapping_mul(7).wrapping_add(n);
                }
                r = r.wrapping_add(3);
                if r % 5 == 0 {
                    r ^= x;
                }
                if n == 0 {
                    return r;
                }
                n -= 1;
            }
        },
    );
}

#[test]
fn short_circuit() {
    let source = "
    kernel void test(global const uint *a, global uint *out, global uint *trace) {
        size_t i = get_global_id(0);
        uint x = a[i];
        #define P(k, c) (trace[i] += 1u << (2 * (k)), (c))
        bool r = (P(0, x & 1) && P(1, x & 2)) || (P(2, x & 4) && !(P(3, x & 8) || P(4, x & 16)));
        out[i] = r ? x : ~x;
    }";
    let a: Vec<u32> = (0..32).collect();
    let (mut out, mut trace) = (Vec::new(), Vec::new());
    for &x in &a {
        let seen = std::cell::Cell::new(0u32);
        let p = |k: u32, c: u32| {
            seen.set(seen.get() + (1 << (2 * k)));
            c != 0
        };
        let r = (p(0, x & 1) && p(1, x & 2)) || (p(2, x & 4) && !(p(3, x & 8) || p(4, x & 16)));
        out.push(if r { x } else { !x });
        trace.push(seen.get());
    }
    let found = Launch::new(source)
        .buffer(&a)
        .output::<u32>(a.len())
        .buffer(&[0u32; 32])
        .run(&[a.len()], &[]);
    assert_equal(&found.get(1), &out, |i| format!("{}", a[i]));
    assert_equal(&found.get(2), &trace, |i| format!("{}", a[i]));
}

#[test]
fn collatz() {
    check(
        "ulong n = x % 100000 + 1;
         while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; r++; }",
        |x| {
            let (mut n, mut r) = (u64::from(x % 100_000 + 1), 0);
            while n != 1 {
                n = if n & 1 == 1 { 3 * n + 1 } else { n / 2 };
                r += 1;
            }
            r
        },
    );
}

#[test]
fn state_machine() {
    check(
        "uint state = 0, bits = x;
         for (int k = 0; k < 32; k++, bits >>= 1) {
             uint b = bits & 1;
             switch (state) {
                 case 0: state = b ? 1 : 0; break;
                 case 1: if (b) { state = 2; } else { state = 0; r += 1; } break;
                 case 2: if (!b) { state = 3; break; } r += 16;
                 case 4: state = 0; r += 256; break;
                 default: if (b && k > 10) { k += 2; state = 4; } else state = 1;
             }
         }
         r += state << 24;",
        |x| {
            let (mut r, mut state, mut bits, mut k) = (0u32, 0u32, x, 0);
            while k < 32 {
                let b = bits & 1 == 1;
                state = match state {
                    0 => u32::from(b),
                    1 if b => 2,
                    1 => {
                        r += 1;
                        0
                    }
                    2 if !b => 3,
                    2 | 4 => {
                        r += if state == 2 { 16 + 256 } else { 256 };
                        0
                    }
                    _ if b && k > 10 => {
                        k += 2;
                        4
                    }
                    _ => 1,
                };
                k += 1;
                bits >>= 1;
            }
            r.wrapping_add(state << 24)
        },
    );
}

/// Of a long formula of arguments alone drivers may look for what is the same for all work-items, and must find an end.
#[test]
fn formulas_of_arguments() {
    if !session().has("cl_khr_fp64") {
        return skip("no cl_khr_fp64");
    }
    let source = "kernel void test(global double *out, double x, double y) {
        double r = exp(y * log(hypot(x, y)));
        out[get_global_id(0)] = r > 2.0 ? sin(log(r)) : exp(log(r));
    }";
    for (x, y) in [(1.5f64, 0.7f64), (3.0, 4.0)] {
        let found = Launch::new(source)
            .output::<f64>(16)
            .value(x)
            .value(y)
            .run(&[16], &[]);
        let r = x.hypot(y).powf(y);
        let expected = if r > 2.0 { r.ln().sin() } else { r };
        for value in found.get::<f64>(0) {
            assert!((value - expected).abs() < 1e-12, "{value}, not {expected}");
        }
    }
}

/// Thousands of operations between two accesses to memory, in cases of a switch in a loop that work-items leave at different
/// times.
#[test]
fn long_code() {
    const STEPS: u32 = 1200;
    const CASES: u32 = 4;
    let step = |case: u32, step: u32| [step % 8, (step * 3 + case) % 8, step * 7 + case];
    let mut body = String::from("uint u[8] = {x, 1, 2, 3, 4, 5, 6, 7};\n");
    body += "for (uint k = 0; k <= x % 5; k++) { switch ((x >> k) & 3) {\n";
    for case in 0..CASES {
        body += &format!("case {case}:\n");
        for at in 0..STEPS {
            let [to, from, add] = step(case, at);
            body += &format!("u[{to}] = (u[{to}] ^ u[{from}]) * 5 + {add};\n");
        }
        body += if case == 2 {
            "if (u[1] & 1) break;\n"
        } else {
            "break;\n"
        };
    }
    body += "} }\nr = u[0] ^ u[1] ^ u[2] ^ u[3] ^ u[4] ^ u[5] ^ u[6] ^ u[7];";
    check(&body, |x| {
        let mut u = [x, 1, 2, 3, 4, 5, 6, 7];
        for k in 0..=x % 5 {
            let mut case = x >> k & 3;
            loop {
                for at in 0..STEPS {
                    let [to, from, add] = step(case, at);
                    let mixed = u[to as usize] ^ u[from as usize];
                    u[to as usize] = mixed.wrapping_mul(5).wrapping_add(add);
                }
                if case != 2 || u[1] & 1 != 0 {
                    break;
                }
                case = 3;
            }
        }
        u.iter().fold(0, |all, word| all ^ word)
    });
}
