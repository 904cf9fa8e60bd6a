//! What is built within 2 GiB of memory, or refused with a reason: a failed allocation would end the application.

use std::fmt::Write;
use std::os::unix::process::CommandExt;
use std::process::Command;

const LIMIT_BYTES: libc::rlim_t = 2 << 30;

/// Builds a program as the driver does; `reason` is what a refusal says, if there is one.
#[track_caller]
fn check(name: &str, device: &str, source: &str, reason: Option<&str>) {
    let path = std::env::temp_dir().join(format!("pumice-{name}-{}.cl", std::process::id()));
    std::fs::write(&path, source).expect("a temporary file");
    // An optimized one takes a fraction of the time, and as much memory.
    let optimized = std::env::var_os("PUMICE_TEST_COMPILER");
    let mut command = Command::new(optimized.unwrap_or(env!("CARGO_BIN_EXE_pumice").into()));
    command
        .arg("compile")
        .arg(&path)
        .args(["--options", "-cl-std=CL3.0", "--device-like", device])
        .env("PUMICE_CACHE_DIR", "");
    let limit = libc::rlimit {
        rlim_cur: LIMIT_BYTES,
        rlim_max: LIMIT_BYTES,
    };
    let limited = move || {
        // SAFETY: it reads the structure, and is allowed between fork and exec.
        match unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: it calls nothing but setrlimit.
    unsafe { command.pre_exec(limited) };
    let output = command.output().expect("pumice starts");
    std::fs::remove_file(&path).expect("the temporary file");
    let log = String::from_utf8_lossy(&output.stderr);
    let log = log.get(log.len().saturating_sub(1000)..).unwrap_or(&log);
    assert!(output.status.code().is_some(), "{name} {device}: {log}");
    match reason {
        Some(reason) => assert!(log.contains(reason), "{name} {device}: {log}"),
        None => assert!(output.status.success(), "{name} {device}: {log}"),
    }
}

/// Functions that each call the next one four times, with a structure and its copy.
#[test]
fn call_trees() {
    let mut source = "typedef struct { int v[16]; } S;
        void f_0(S *s, global float *p) { p[s->v[0] & 7] += s->v[15]; s->v[1] += p[s->v[2] & 7]; }\n"
        .to_string();
    for depth in 1..=10 {
        let called = depth - 1;
        writeln!(
            source,
            "void f_{depth}(S *s, global float *p) {{
                S t = *s;
                f_{called}(&t, p);
                if (t.v[1] & {depth}) f_{called}(s, p); else f_{called}(&t, p);
                s->v[3] ^= t.v[{depth}];
                f_{called}(s, p);
            }}"
        )
        .expect("a string grows");
    }
    source += "kernel void k(global float *p) {
        S s;
        for (int i = 0; i < 16; i++) s.v[i] = p[i];
        f_10(&s, p);
        p[1] = s.v[0];
    }";
    for device in ["lavapipe", "nvidia", "swiftshader"] {
        check("call_trees", device, &source, None);
    }
}

/// Steps of a cipher between two barriers: each call has its own copy of them.
#[track_caller]
fn check_steps(name: &str, calls: usize, step: impl Fn(usize) -> String) {
    let mut source =
        "typedef struct { ulong v[64]; } S;\nvoid step(S *s, ulong key) {\n".to_string();
    source.extend((0..100).map(step));
    source += "}
        kernel void k(global ulong *p, local ulong *l) {
            l[get_local_id(0)] = p[get_global_id(0)];
            barrier(CLK_LOCAL_MEM_FENCE);
            S s;
            for (int i = 0; i < 64; i++) s.v[i] = p[i];\n";
    for call in 0..calls {
        writeln!(source, "step(&s, l[{}]);", call % 64).expect("a string grows");
    }
    source += "barrier(CLK_LOCAL_MEM_FENCE); for (int i = 0; i < 64; i++) p[i] = s.v[i]; }";
    for device in ["lavapipe", "nvidia"] {
        check(name, device, &source, None);
    }
}

/// Three kernels of hashcat have 312,000 instructions, these 328,000.
#[test]
fn many_steps() {
    check_steps("many_steps", 300, |at| {
        let [to, left, right] = [at % 64, (at * 7 + 3) % 64, (at * 5 + 1) % 64];
        let bit = at % 64;
        format!(
            "if (key >> {bit} & 1) s->v[{to}] ^= s->v[{left}] + key; else s->v[{to}] *= s->v[{right}] - key;\n"
        )
    });
}

/// A kernel of hashcat has 5.6 million values of private variables at the starts of blocks; these have between four and eight.
#[test]
fn steps_of_many_values() {
    check_steps("steps_of_many_values", 200, |at| {
        let [bit, odd, even] = [at % 64, at * 7 % 64, at * 5 % 64];
        format!("if (key >> {bit} & 1) s->v[{odd}] ^= key; else s->v[{even}] *= key;\n")
    });
}

/// Hundreds of vectors of doubles that live long, and as many calls of functions with a shared body.
#[test]
fn values_over_shared_bodies() {
    let mut source =
        "kernel void k(global double16 *p) { double16 a = p[0], b = p[1], c = p[2];\n".to_string();
    for line in 0..500 {
        let number = line + 2;
        writeln!(
            source,
            "a = a * b + c; b = b - a / {number}.0; c += fma(a, b, c);"
        )
        .expect("a string grows");
        if line % 8 == 0 {
            writeln!(source, "p[{line}] = c;").expect("a string grows");
        }
    }
    source += "p[1] = a + b + c; }";
    check(
        "values",
        "lavapipe",
        &source,
        Some("the kernel is too large"),
    );
}

/// Zeros take nothing of the host.
#[test]
fn variables_of_zeros() {
    let source = "global int zeros[(1 << 28) - 64];
        kernel void k(global int *p) { zeros[p[0]] += p[1]; p[2] = zeros[p[3]]; }";
    check("zeros", "lavapipe", source, None);
}

/// Large structures by value.
#[test]
fn copies_of_arrays() {
    let mut source = "typedef struct { int v[16384]; } S;
        kernel void k(global S *p, global int *n) {\n"
        .to_string();
    for copy in 0..60 {
        writeln!(
            source,
            "{{ S s = p[{copy}]; s.v[n[{copy}]] = 1; p[{copy} + n[0]] = s; }}"
        )
        .expect("a string grows");
    }
    source += "}";
    check("copies", "lavapipe", &source, None);
}
