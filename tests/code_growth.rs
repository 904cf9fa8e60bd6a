//! How much longer the code of ordinary programs is for a driver that makes few iterations of loops than for one that makes
//! all, in what that driver's compiler takes long over. Sorting 64 numbers so took minutes to begin.

use std::collections::HashMap;
use std::process::Command;

/// The SPIR-V of a program's kernel for a device like `device`.
#[track_caller]
fn code(name: &str, source: &str, device: &str) -> String {
    let path = std::env::temp_dir().join(format!("pumice-{name}-{}.cl", std::process::id()));
    std::fs::write(&path, source).expect("a temporary file");
    let output = Command::new(env!("CARGO_BIN_EXE_pumice"))
        .arg("compile")
        .arg(&path)
        .args(["--device-like", device])
        .env("PUMICE_CACHE_DIR", "")
        .output()
        .expect("pumice starts");
    std::fs::remove_file(&path).expect("the temporary file");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// What a program's kernel becomes for a device like `device`: lines of SPIR-V, and loads and stores among them.
#[track_caller]
fn size(name: &str, source: &str, device: &str) -> [usize; 2] {
    let text = code(name, source, device);
    let is_access = |line: &&str| line.contains("OpStore ") || line.contains("OpLoad ");
    [text.lines().count(), text.lines().filter(is_access).count()]
}

/// Twice as long, and what joined iterations of a loop or two add, and indices of private arrays that are computed apart.
#[track_caller]
fn check(name: &str, body: &str) {
    let source =
        format!("kernel void k(global int *d, uint n) {{ size_t g = get_global_id(0); {body} }}");
    let [lines, accesses] = size(name, &source, "lavapipe");
    let [few_lines, few_accesses] = size(name, &source, "swiftshader");
    assert!(lines <= 2 * few_lines + 1200, "{lines} {few_lines}");
    assert!(
        accesses <= 2 * few_accesses + 250,
        "{accesses} {few_accesses}"
    );
}

#[test]
fn insertion_sort() {
    let body = "int a[64];
        for (int i = 0; i < 64; i++) a[i] = d[g * 64 + i];
        for (int i = 1; i < 64; i++) {
            int v = a[i], j = i - 1;
            while (j >= 0 && a[j] > v) { a[j + 1] = a[j]; j--; }
            a[j + 1] = v;
        }
        for (int i = 0; i < 64; i++) d[g * 64 + i] = a[i];";
    check("insertion_sort", body);
}

#[test]
fn heap_sort() {
    let body = "int a[64];
        for (int i = 0; i < 64; i++) a[i] = d[g * 64 + i];
        for (int s = 31, e = 63; e > 0;) {
            int r = s;
            while (2 * r + 1 <= e) {
                int c = 2 * r + 1, w = r;
                if (a[w] < a[c]) w = c;
                if (c + 1 <= e && a[w] < a[c + 1]) w = c + 1;
                if (w == r) break;
                int t = a[r]; a[r] = a[w]; a[w] = t;
                r = w;
            }
            if (s > 0) { s--; continue; }
            int t = a[e]; a[e] = a[0]; a[0] = t;
            e--;
        }
        for (int i = 0; i < 64; i++) d[g * 64 + i] = a[i];";
    check("heap_sort", body);
}

#[test]
fn a_queue() {
    let body = "int q[10], head = 0, tail = 0, count = 0, out = 0;
        uint s = d[g];
        for (int i = 0; i < 1000; i++) {
            s = s * 1664525u + 1013904223u;
            if ((s >> 16) & 1) {
                if (count < 10) { q[tail] = s >> 20; tail = (tail + 1) % 10; count++; }
            } else if (count > 0) {
                out = out * 31 + q[head]; head = (head + 1) % 10; count--;
            }
        }
        while (count > 0) { out = out * 31 + q[head]; head = (head + 1) % 10; count--; }
        d[g] = out;";
    check("a_queue", body);
}

#[test]
fn merge_sort() {
    let body = "int a[64], b[64];
        for (int i = 0; i < 64; i++) a[i] = d[g * 64 + i];
        for (int w = 1; w < 64; w *= 2) {
            for (int s = 0; s < 64; s += 2 * w) {
                int i = s, m = s + w, j = m, e = s + 2 * w;
                for (int k = s; k < e; k++) {
                    if (i < m && (j >= e || a[i] <= a[j])) b[k] = a[i++]; else b[k] = a[j++];
                }
            }
            for (int i = 0; i < 64; i++) a[i] = b[i];
        }
        for (int i = 0; i < 64; i++) d[g * 64 + i] = a[i];";
    check("merge_sort", body);
}

#[test]
fn a_transpose_of_wide_vectors() {
    let body = "global float16 *m = (global float16 *)d;
        float16 x[16];
        for (uint r = 0; r < n; r++) {
            for (int i = 0; i < 16; i++) x[i] = m[g * 256 + r * 16 + i];
            for (int i = 0; i < 16; i++) {
                float *y = (float *)x;
                for (int j = 0; j < i; j++) { float t = y[16 * i + j]; y[16 * i + j] = y[16 * j + i]; y[16 * j + i] = t; }
            }
            for (int i = 0; i < 16; i++) m[g * 256 + r * 16 + i] = x[i];
        }";
    check("a_transpose", body);
}

/// Each call passes other arrays to a function that has hundreds of accesses to them, all at known places. Hashes that take
/// their input in parts are written so.
#[test]
fn a_function_that_gets_other_arrays_at_each_call() {
    let mut source = String::from("void shift(uint *a, uint *b, uint n) { switch (n >> 3) {\n");
    for words in 0..16 {
        source += &format!("case {words}:\n");
        for word in (0..32usize).rev() {
            let place = |word: usize| match word {
                0..16 => format!("a[{word}]"),
                _ => format!("b[{}]", word - 16),
            };
            let value = match word.checked_sub(words) {
                None => "0".into(),
                Some(0) => format!("{} << n", place(0)),
                Some(from) => format!("{} << n | {} >> 1", place(from), place(from - 1)),
            };
            source += &format!("{} = {value};\n", place(word));
        }
        source += "break;\n";
    }
    source += "} }
        kernel void k(global uint *d, uint n) {
            uint p[16], q[16], r[16], s[16];
            for (int i = 0; i < 16; i++) { p[i] = d[i]; q[i] = d[i + 16]; r[i] = d[i + 32]; s[i] = d[i + 48]; }
            shift(p, q, n); shift(q, r, n + 9); shift(r, s, n + 4); shift(s, p, n + 5);
            for (int i = 0; i < 16; i++) d[i] = p[i] ^ q[i] ^ r[i] ^ s[i]; }";
    let [lines, accesses] = size("other_arrays", &source, "lavapipe");
    assert!(accesses < 300, "{accesses} accesses");
    assert!(lines < 12_000, "{lines} lines");
}

/// Each function calls the next three times, one of them from two places; few instructions, nearly all of them accesses to local
/// memory.
#[test]
fn a_call_tree_in_local_memory() {
    let mut source = String::from(
        "typedef struct { uint a[4]; uint n; } S;
        void f_0(local S *s, global uint *p) {
            s->a[s->n & 3] += p[s->n & 7]; s->n = s->n * 5 + 1; p[s->n & 7] += s->a[0]; }\n",
    );
    for level in 1..=4 {
        let next = level - 1;
        source += &format!(
            "void f_{level}(local S *s, global uint *p) {{
                local S *t = s + 1; *t = *s; f_{next}(t, p);
                if (t->n & {level}) f_{next}(s, p); else f_{next}(t, p);
                s->a[1] += t->a[{level} & 3]; s->n ^= t->n; f_{next}(s, p); }}\n"
        );
    }
    source += "kernel void k(global uint *p, local S *s) {
        s += get_local_id(0) * 8; s->n = p[0]; f_4(s, p); p[1] = s->n; }";
    let [_, accesses] = size("local_tree", &source, "lavapipe");
    assert!(accesses < 800, "{accesses} accesses");
}

/// A kernel that says what it finds wrong, at many places: of the accesses to memory, most are those of its messages.
#[test]
fn many_messages() {
    let mut body = String::from("int x = d[g];\n");
    for place in 0..40 {
        body += &format!("if (x & {place}) printf(\"%d: %d %d %d\\n\", {place}, x, n, d[x]);\n");
    }
    let source =
        format!("kernel void k(global int *d, uint n) {{ size_t g = get_global_id(0); {body} }}");
    let [_, accesses] = size("messages", &source, "lavapipe");
    assert!(accesses < 200, "{accesses} accesses");
}

/// A hash in parts with a large state, as HMAC is: what its shared bodies hand on does not add up.
#[test]
fn a_large_state_in_shared_bodies() {
    let mut source = String::from(
        "typedef struct { uint h[8], w[16]; int len; } S;
        void mix(uint *w, uint *h) {
            uint a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];\n",
    );
    for step in 0..80 {
        let at = |back: usize| format!("w[{}]", (step + 16 - back) % 16);
        if step >= 16 {
            source += &format!(
                "{} = rotate({} ^ {} ^ {} ^ {}, 1u);\n",
                at(0),
                at(3),
                at(8),
                at(14),
                at(16)
            );
        }
        source += &format!(
            "{{ uint t = rotate(a, 5u) + (d ^ b & (c ^ d)) + e + {} + {step}; e = d; d = c; c = rotate(b, 30u); b = a; a = t; }}\n",
            at(0)
        );
    }
    source += "h[0] += a; h[1] += b; h[2] += c; h[3] += d; h[4] += e; }
        void add(S *s, const uint *p, int n) {
            int at = s->len & 63;
            s->len += n;
            if (at + n < 64) {
                for (int i = 0; i < 16; i++) s->w[i] |= p[i] >> at;
            } else {
                uint c[16];
                for (int i = 0; i < 16; i++) { c[i] = p[i] << (at & 31); s->w[i] |= p[i] >> at; }
                mix(s->w, s->h);
                for (int i = 0; i < 16; i++) s->w[i] = c[i];
            }
        }
        void start(S *s) { for (int i = 0; i < 8; i++) s->h[i] = i; for (int i = 0; i < 16; i++) s->w[i] = 0; s->len = 0; }
        void end(S *s) { if (s->len >= 56) { mix(s->w, s->h); for (int i = 0; i < 16; i++) s->w[i] = 0; } s->w[15] = s->len; mix(s->w, s->h); }
        typedef struct { S i, o; } H;
        void key(H *h, const uint *k) {
            uint x[16];
            start(&h->i); for (int i = 0; i < 16; i++) x[i] = k[i] ^ 0x36363636; add(&h->i, x, 64);
            start(&h->o); for (int i = 0; i < 16; i++) x[i] = k[i] ^ 0x5c5c5c5c; add(&h->o, x, 64);
        }
        void done(H *h) {
            uint x[16] = { 0 };
            end(&h->i); for (int i = 0; i < 5; i++) x[i] = h->i.h[i]; add(&h->o, x, 20); end(&h->o);
        }
        kernel void k(global uint *d, uint n) {
            uint k[16], p[16], q[16];
            for (int i = 0; i < 16; i++) { k[i] = d[i]; p[i] = d[i + 16]; q[i] = d[i + 32]; }
            for (uint r = 0; r < n; r++) {
                H h; key(&h, k); add(&h.i, p, r & 63); add(&h.i, q, n & 63); done(&h); k[r & 15] ^= h.o.h[0];
            }
            for (int i = 0; i < 16; i++) d[i] = k[i]; }";
    let phis = code("state", &source, "lavapipe")
        .matches("= OpPhi ")
        .count();
    assert!(phis < 300, "{phis} phis");
}

/// Lines of a module with a copy of each function for each of its calls, as drivers make them.
fn lines_of_copies(text: &str) -> usize {
    let mut sizes: HashMap<&str, usize> = HashMap::new();
    let mut functions: Vec<(&str, usize, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [name, "=", "OpFunction", ..] => functions.push((name, 0, Vec::new())),
            [_, "=", "OpFunctionCall", _, callee, ..] => {
                let (_, _, calls) = functions.last_mut().expect("a call is in a function");
                calls.push(callee);
            }
            _ => {}
        }
        if let Some((_, lines, _)) = functions.last_mut() {
            *lines += 1;
        }
    }
    // Until nothing changes: callees may come first or last.
    while sizes.len() < functions.len() {
        for (name, lines, calls) in &functions {
            let of_calls: Option<usize> = calls.iter().map(|callee| sizes.get(callee)).sum();
            if let Some(of_calls) = of_calls {
                sizes.insert(name, lines + of_calls);
            }
        }
    }
    sizes.into_values().max().unwrap_or(0)
}

/// Functions of doubles that are called from several places, each with some of the library's, which are long: Bessel functions
/// are written so. To share the library's, too, takes more than it spares.
#[test]
fn functions_that_call_long_ones() {
    let mut source = String::new();
    for (name, factor) in [("first", "2.40"), ("second", "3.83")] {
        source += &format!(
            "double {name}(double x) {{
                if (x <= 4) {{ double y = x * x; return (x + {factor}) * (y - 5.5) / (y * y + {factor}); }}
                double z = x - {factor} * M_PI, y = 8 / x;
                return sqrt(2 / (x * M_PI)) * ((y + {factor}) * cos(z) - y * (y * y - {factor}) * sin(z)); }}\n"
        );
    }
    source += "double series(double n, double x) {
            double u = 1, y = 1, k = 1;
            while (fabs(u) > 1e-16 * fabs(y)) { u *= -x * x / (4 * k * (n + k)); y += u; k += 1; }
            if (n < 170) return y * pow(0.5 * x, n) / tgamma(n + 1);
            double t = n * log(0.5 * x) - lgamma(n + 1);
            return t < 700 ? y * exp(t) : log(fabs(y)) + t; }
        double expansion(double n, double x) {
            double m = 4 * n * n, z = 8 * x, p = 1, u = (m - 1) / z, q = u, k = 1;
            for (double j = 1; fabs(u) > 1e-16 * fabs(p);) {
                k += 2; j += 1; u *= (m - k * k) / (j * z); p -= u;
                k += 2; j += 1; u *= (m - k * k) / (j * z); q += u; }
            double v = x - (0.5 * n + 0.25) * M_PI;
            return sqrt(2 / (M_PI * x)) * (p * cos(v) - q * sin(v)); }
        double airy(double x) {
            double t = 2 * x * sqrt(fabs(x)) / 3, y = exp(-t) / sqrt(fabs(x));
            return x < -2 ? sin(t + 0.25 * M_PI) / y + cos(t) * log(1 - x) : x > 2 ? y * (t + 0.7) / (t * t + 3.1) : x * x / (x + 3); }
        double uniform(double n, double x) {
            double c = cbrt(n), z = (x - n) / c;
            if (fabs(z) < 0.7) return airy(-cbrt(2.0) * z) / c + airy(c * z * z);
            double t = x < n ? log(n / x) - z : z - acos(n / x), s = cbrt(t * t);
            return airy(c * c * s) / cbrt(n * n) + airy(z * cbrt(t)); }
        double function(double n, double x) {
            if (n == 0) return first(x);
            if (n > 500) return uniform(n, x);
            if (n == 1) return second(x);
            if (x < 3.6 * sqrt(n)) return series(n, x);
            if (n < 3.6 * sqrt(x)) return expansion(n, x);
            double q = 1, k = n;
            while (k > 2 && q < 1e10) { q = q * k / x - 1 / q; k -= 1; }
            if (k == 0) return first(x) / q;
            if (k == 1) return second(x) / q;
            if (n > 2 * x) return series(n + floor(x), x) * q;
            double y = x > 13 + k ? expansion(k, x) : series(k, x);
            return n > 0 ? y / q : y * q; }
        kernel void k(global double *d, long n) {
            size_t g = get_global_id(0); d[g] = function(n, d[g]); }";
    let text = code("long_ones", &source, "lavapipe");
    let lines = lines_of_copies(&text);
    let phis = text.matches("= OpPhi ").count();
    assert!(lines < 12_000, "{lines} lines");
    assert!(phis < 400, "{phis} phis");
}

/// Ways out of conditions that lead over several others, with many variables alive: what no condition on the way changes needs
/// no phi there.
#[test]
fn ways_over_several_conditions() {
    const STEPS: usize = 24;
    let mut body: String = (0..STEPS)
        .map(|at| format!("float x{at} = d[{at}];\n"))
        .collect();
    for step in 0..STEPS {
        let other = (step * 5 + 3) % STEPS;
        let (far, first, second) = (STEPS.min(step + 3), step + 24, step + 48);
        body += &format!(
            "step{step}: if (d[{first}] > x{step}) {{
                x{other} = x{other} * x{step} + 1;
                if (d[{second}] > x{other}) goto step{far};
                x{step} -= d[{far}]; }}\n"
        );
    }
    let sum: Vec<String> = (0..STEPS).map(|at| format!("x{at}")).collect();
    let source = format!(
        "kernel void k(global volatile float *d, uint n) {{\n{body} step{STEPS}: d[n] = {};\n}}",
        sum.join(" + ")
    );
    let text = code("ways_over", &source, "lavapipe");
    let phis = text.lines().filter(|line| line.contains("OpPhi ")).count();
    assert!(phis < 1200, "{phis} phis");
}
