//! Conditions nested deeper than some drivers take: chains, nests, and what goes on or returns from many places.

use super::harness::Launch;
use super::random::Random;

/// Work-items of a launch.
const ITEMS: usize = 200;

/// Numbers below `bound`.
fn numbers(seed: u64, bound: u32) -> Vec<u32> {
    let mut random = Random::new(seed);
    (0..256).map(|_| random.next() as u32 % bound).collect()
}

/// What the kernel's `body`, which computes `r` from `in`, `g` and the numbers, leaves for each work-item.
fn run(body: &str, input: &[u32]) -> Vec<u32> {
    let source = format!(
        "kernel void test(global const uint *in, global uint *out) {{
            uint g = (uint)get_global_id(0), r = 3;
            {body}
            out[g] = r;
        }}"
    );
    Launch::new(source)
        .buffer(input)
        .output::<u32>(ITEMS)
        .run(&[ITEMS], &[])
        .get::<u32>(1)
}

/// One behind the other, with two arms and with several: of ways through the loop there are more than can be counted.
#[test]
fn many_selections_in_a_loop() {
    const SELECTIONS: u32 = 36;
    let input = numbers(94, 1 << 30);
    let mut body = String::from("uint x = in[g];\n for (uint n = 0; n < 3; ++n) {");
    for at in 0..SELECTIONS {
        body += &match at % 6 {
            5 => format!(
                "switch (x >> {} & 3) {{
                    case 0: r = r / (x | 1) + {at}; break;
                    case 1: r ^= in[r & 255]; break;
                    case 2: r += in[(x + {at}) & 255] % 7; break;
                    default: r = r * 5 % 1000;
                }}\n",
                at % 29
            ),
            _ => format!(
                "if (x >> {} & 1) r = r / (x | 1) + {at}; else r ^= in[(r + {at}) & 255];\n",
                at % 29
            ),
        };
    }
    body += "x = x * 5 + 1; }";
    let result = |g: usize| {
        let (mut x, mut r) = (input[g], 3u32);
        for at in (0..3).flat_map(|_| 0..SELECTIONS) {
            let bits = x >> (at % 29);
            r = match (at % 6 == 5, bits & 3) {
                (true, 0) | (false, 1 | 3) => r / (x | 1) + at,
                (true, 1) => r ^ input[r as usize & 255],
                (true, 2) => r.wrapping_add(input[x.wrapping_add(at) as usize & 255] % 7),
                (true, _) => r.wrapping_mul(5) % 1000,
                (false, _) => r ^ input[r.wrapping_add(at) as usize & 255],
            };
            if at == SELECTIONS - 1 {
                x = x.wrapping_mul(5).wrapping_add(1);
            }
        }
        r
    };
    let expected: Vec<u32> = (0..ITEMS).map(result).collect();
    assert_eq!(run(&body, &input), expected);
}

/// The conditions compare sums, so that no compiler makes a table of them.
#[test]
fn long_else_if_chains() {
    for arms in [82, 200] {
        let input = numbers(90, 400);
        let mut body = String::from("uint x = in[g];\n if (in[255] == x + 5000) r = 7;\n");
        for arm in 0..arms {
            body += &format!(
                "else if (x + in[{arm}] < {}) r = x * {arm} + 1;\n",
                190 + arm % 7
            );
        }
        body += "else r = 9;";
        let expected: Vec<u32> = (0..ITEMS)
            .map(|g| {
                let x = input[g];
                let arm = (0..arms).find(|&arm| x + input[arm as usize] < 190 + arm % 7);
                arm.map_or(9, |arm| x * arm + 1)
            })
            .collect();
        assert_eq!(run(&body, &input), expected, "{arms} arms");
    }
}

#[test]
fn deep_nests() {
    const DEPTH: usize = 100;
    let input = numbers(91, 1000);
    let mut body = String::from("uint x = in[g];\n");
    for level in 0..DEPTH {
        body += &format!(
            "if (x * 7 + in[{level}] > {}) {{ r += in[{level}] ^ x;\n",
            level * 10
        );
    }
    body += "r += 1000;\n";
    for level in (0..DEPTH).rev() {
        body += &format!("}}\n r = r * 3 + in[{}];\n", level + 1);
    }
    let expected: Vec<u32> = (0..ITEMS)
        .map(|g| {
            let (x, mut r) = (input[g], 3u32);
            let passes = |&level: &usize| (x * 7 + input[level]) as usize > level * 10;
            let depth = (0..DEPTH).take_while(passes).count();
            for &number in &input[..depth] {
                r = r.wrapping_add(number ^ x);
            }
            if depth == DEPTH {
                r = r.wrapping_add(1000);
            }
            let entered = (depth + 1).min(DEPTH);
            for level in (0..entered).rev() {
                r = r.wrapping_mul(3).wrapping_add(input[level + 1]);
            }
            r
        })
        .collect();
    assert_eq!(run(&body, &input), expected);
}

#[test]
fn many_returns() {
    const COUNT: usize = 100;
    let input = numbers(92, 250);
    let mut body = String::new();
    for k in 0..COUNT {
        body += &format!(
            "if (in[(g + {k}) & 255] == {k}) {{ out[g] = r * 5; return; }}\n r += in[{k}];\n"
        );
    }
    let expected: Vec<u32> = (0..ITEMS)
        .map(|g| {
            let mut r = 3;
            for k in 0..COUNT {
                if input[(g + k) & 255] == k as u32 {
                    return r * 5;
                }
                r += input[k];
            }
            r
        })
        .collect();
    assert_eq!(run(&body, &input), expected);
}

#[test]
fn many_continues() {
    const COUNT: usize = 100;
    let input = numbers(93, 250);
    let mut body = String::from("for (uint q = 0; q < 6; q++) {\n");
    for k in 0..COUNT {
        body += &format!(
            "if (in[(g * q + {k}) & 255] == {k}) {{ r = r * 3 + {k}; continue; }}\n r ^= in[{k}];\n"
        );
    }
    body += "r += 7; }";
    let expected: Vec<u32> = (0..ITEMS)
        .map(|g| {
            let mut r = 3u32;
            'next: for q in 0..6 {
                for k in 0..COUNT {
                    if input[(g * q + k) & 255] == k as u32 {
                        r = r.wrapping_mul(3).wrapping_add(k as u32);
                        continue 'next;
                    }
                    r ^= input[k];
                }
                r = r.wrapping_add(7);
            }
            r
        })
        .collect();
    assert_eq!(run(&body, &input), expected);
}

/// An interpreter, each of whose cases goes on to the next iteration.
#[test]
fn many_opcodes() {
    for opcodes in [60, 100, 250] {
        let end = 255;
        let mut input = numbers(95, opcodes);
        (input[50], input[51]) = (end, end);
        let mut body = String::from("for (uint at = g;;) { switch (in[at++ & 255]) {\n");
        for code in 0..opcodes {
            body += &format!(
                "case {code}: r = r * {} + {code}; continue;\n",
                2 * code + 3
            );
        }
        body += "default: out[g] = r; return; } }";
        let expected: Vec<u32> = (0..ITEMS)
            .map(|g| {
                let codes = (g..).map(|at| input[at & 255]);
                codes.take_while(|&code| code != end).fold(3u32, |r, code| {
                    r.wrapping_mul(2 * code + 3).wrapping_add(code)
                })
            })
            .collect();
        assert_eq!(run(&body, &input), expected, "{opcodes} opcodes");
    }
}
