//! `printf` (OpenCL C section 6.15.14): what reaches standard output.

use crate::harness::{Launch, session, skip};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::process::Command;

/// Set in a process that runs a single test.
const ALONE: &str = "PUMICE_TEST_ALONE";

/// Whether the running test has standard output for itself. Elsewhere it is run in a process of its own, and has passed there.
///
/// # Panics
/// It failed there.
fn is_alone() -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let thread = std::thread::current();
    let test = thread.name().expect("a test's thread has its name");
    let this = std::env::current_exe().expect("a running test has a path");
    let output = Command::new(this)
        .args([test, "--exact", "--nocapture"])
        .env(ALONE, "1")
        .output()
        .expect("it can be started");
    // Past what catches the output of tests: a validation layer may have said something, or the test that it is skipped.
    let mut all = std::io::stderr();
    let said = all
        .write_all(&output.stdout)
        .and_then(|()| all.write_all(&output.stderr));
    said.expect("standard error works");
    let has_passed = String::from_utf8_lossy(&output.stdout).contains("1 passed");
    assert!(
        output.status.success() && has_passed,
        "{test}: {}",
        output.status
    );
    false
}

/// What `run` prints.
fn capture<T>(run: impl FnOnce() -> T) -> (T, Vec<u8>) {
    let path = std::env::temp_dir().join(format!("pumice-printf-{}", std::process::id()));
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .expect("a temporary file");
    let _ = std::fs::remove_file(&path);
    std::io::stdout().flush().expect("standard output works");
    // SAFETY: plain file descriptors; standard output is put back below, and nobody else writes to it.
    let saved = unsafe { libc::dup(1) };
    assert!(saved >= 0);
    // SAFETY: as above.
    assert!(unsafe { libc::dup2(file.as_raw_fd(), 1) } >= 0);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    // SAFETY: as above.
    unsafe {
        libc::dup2(saved, 1);
        libc::close(saved);
    }
    let mut printed = Vec::new();
    file.rewind().expect("a file");
    file.read_to_end(&mut printed).expect("a file");
    match result {
        Ok(result) => (result, printed),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// What one work-item with this body prints.
fn printed(body: &str) -> String {
    let source = format!("kernel void test(global int *out) {{ {body} }}");
    let (_, printed) = capture(|| Launch::new(source).output::<i32>(4).run(&[1], &[1]));
    String::from_utf8(printed).expect("text")
}

#[test]
fn numbers_strings_and_vectors() {
    if !is_alone() {
        return;
    }
    let text = printed(
        r#"
        printf("hello, world\n");
        printf("%d|%5d|%-5d|%05d|%+d|%x|%#o|%u\n", -1, 2, 3, 4, 5, 0xabc, 8, ~0u);
        printf("%c%c %s and %s%%\n", 'o', 'k', "one string", "another");
        printf("%ld %lx %hhd %hd\n", LONG_MIN, 0x123456789abcdefL, (char)-3, (short)-4);
        printf("%v4d %#v2hhx %v3hd %v2ld %v16hhu\n", (int4)(1, -2, 3, -4), (uchar2)(0xfa, 0xb),
            (short3)(-1, 2, -3), (long2)(1L << 40, -1), (uchar16)(255));
        printf("%f %.3e %g %a\n", 1.5f, 12345.678f, 0.1f, 1.0f);
        printf("%v4hlf %5.1v2hlg\n", (float4)(1, 2.5f, -3, 0), (float2)(0.5f, 100));
        printf("%p %f %F\n", (global void *)0, INFINITY, -INFINITY);
        "#,
    );
    let expected = "hello, world\n\
        -1|    2|3    |00004|+5|abc|010|4294967295\n\
        ok one string and another%\n\
        -9223372036854775808 123456789abcdef -3 -4\n\
        1,-2,3,-4 0xfa,0xb -1,2,-3 1099511627776,-1 \
        255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,255\n\
        1.500000 1.235e+04 0.1 0x1p+0\n\
        1.000000,2.500000,-3.000000,0.000000   0.5,1e+02\n\
        0x0 inf -INF\n";
    assert_eq!(text, expected);
}

#[test]
fn doubles() {
    if !is_alone() {
        return;
    }
    if !session().has("cl_khr_fp64") {
        return skip("the device has no doubles");
    }
    let text = printed(
        r#"
        double x = 1.0 / 3;
        printf("%.17f %v2lf %.12e\n", x, (double2)(x, -2), x * 1e300);
        "#,
    );
    assert_eq!(
        text,
        "0.33333333333333331 0.333333,-2.000000 3.333333333333e+299\n"
    );
}

#[test]
fn strings_chosen_at_run_time() {
    if !is_alone() {
        return;
    }
    let source = r#"
        constant char *constant names[] = {"zero", "one", "two"};
        kernel void test(global int *which) {
            for (int i = 0; i < 3; i++) {
                printf("%s %s;", names[which[i]], which[i] & 1 ? "odd" : "even");
            }
            printf(which[0] == 2 ? "two first %d\n" : "not two %d\n", which[1]);
        }"#;
    let (_, text) = capture(|| Launch::new(source).buffer(&[2, 0, 1]).run(&[1], &[1]));
    assert_eq!(
        String::from_utf8_lossy(&text),
        "two even;zero even;one odd;two first 0\n"
    );
}

#[test]
fn functions_that_print() {
    if !is_alone() {
        return;
    }
    let source = r#"
        __attribute__((noinline)) int say(constant char *what, int n) { return printf("%s %d\n", what, n); }
        kernel void test(global int *out) {
            out[0] = say("a", out[1]);
            out[1] = say("b", out[0]);
        }"#;
    let (buffers, text) = capture(|| Launch::new(source).buffer(&[7, 8]).run(&[1], &[1]));
    assert_eq!(text, b"a 8\nb 0\n");
    assert_eq!(buffers.get::<i32>(0), [0, 0]);
}

#[test]
fn every_work_item_prints() {
    if !is_alone() {
        return;
    }
    let source = r#"
        kernel void test(global int *in) {
            int i = get_global_id(0);
            printf("%d:%d\n", i, in[i]);
        }"#;
    const ITEMS: usize = 1000;
    let input: Vec<i32> = (0..ITEMS as i32).map(|i| i * 7 - 100).collect();
    let (_, text) = capture(|| Launch::new(source).buffer(&input).run(&[ITEMS], &[]));
    let text = String::from_utf8(text).expect("text");
    let mut lines: Vec<&str> = text.lines().collect();
    let mut expected: Vec<String> = (0..ITEMS).map(|i| format!("{i}:{}", input[i])).collect();
    lines.sort_unstable();
    expected.sort_unstable();
    assert_eq!(lines, expected);
}

#[test]
fn a_work_item_prints_in_order() {
    if !is_alone() {
        return;
    }
    let source = r#"
        kernel void test() {
            int i = get_global_id(0);
            for (int n = 0; n < 20; n++) printf("%d %d\n", i, n);
        }"#;
    let (_, text) = capture(|| Launch::new(source).run(&[16], &[8]));
    let text = String::from_utf8(text).expect("text");
    for item in 0..16 {
        let of_item = text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .filter(|(id, _)| *id == item.to_string());
        let numbers: Vec<usize> = of_item.map(|(_, n)| n.parse().expect("a number")).collect();
        assert_eq!(numbers, (0..20).collect::<Vec<_>>(), "work-item {item}");
    }
}

/// More than the buffer holds: what returned 0 is printed, whole, and nothing else.
#[test]
fn a_full_buffer_says_so() {
    if !is_alone() {
        return;
    }
    let source = r#"
        kernel void test(global int *results) {
            int i = get_global_id(0);
            for (int n = 0; n < 64; n++)
                results[i * 64 + n] = printf("%d %d %d %d %d %d\n", i * 64 + n, n, n, n, n, n);
        }"#;
    const CALLS: usize = 64 * 1024;
    let launch = || {
        Launch::new(source)
            .output::<i32>(CALLS)
            .run(&[CALLS / 64], &[])
    };
    let (buffers, text) = capture(launch);
    let results = buffers.get::<i32>(0);
    assert!(results.iter().all(|&result| result == 0 || result == -1));
    let mut expected: Vec<String> = (0..CALLS)
        .filter(|&call| results[call] == 0)
        .map(|call| {
            let n = (call % 64).to_string();
            [&call.to_string(), &n, &n, &n, &n, &n]
                .map(String::as_str)
                .join(" ")
        })
        .collect();
    assert!(expected.len() < CALLS, "the test should fill the buffer");
    assert!(
        expected.len() * 8 * 4 > 1_000_000,
        "a buffer has 1 MiB at least"
    );
    expected.sort_unstable();
    let text = String::from_utf8(text).expect("text");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert!(
        lines == expected,
        "{} lines, {} expected",
        lines.len(),
        expected.len()
    );
}

#[test]
fn nothing_is_left_for_the_next_launch() {
    if !is_alone() {
        return;
    }
    let source = r#"
        kernel void test(int n) { for (int i = 0; i < n; i++) printf("%d,", i); }"#;
    for (n, expected) in [(5, "0,1,2,3,4,"), (2, "0,1,"), (0, ""), (3, "0,1,2,")] {
        let (_, text) = capture(|| {
            Launch::new(source).value(n).run(&[1], &[1]);
        });
        assert_eq!(String::from_utf8_lossy(&text), expected, "{n}");
    }
}

#[test]
fn divergent_work_items_print() {
    if !is_alone() {
        return;
    }
    let source = r#"
        kernel void test(global int *in) {
            int i = get_global_id(0);
            switch (in[i] & 3) {
                case 0: printf("zero %d\n", i); break;
                case 1: printf("one %d %f\n", i, 0.5f); // falls through
                case 2: printf("two %s %d\n", "x", i);
            }
        }"#;
    let input: Vec<i32> = (0..64).map(|i| i * 5 + i / 7).collect();
    let (_, text) = capture(|| Launch::new(source).buffer(&input).run(&[64], &[16]));
    let text = String::from_utf8(text).expect("text");
    let mut lines: Vec<&str> = text.lines().collect();
    let mut expected = Vec::new();
    for (i, value) in input.iter().enumerate() {
        match value & 3 {
            0 => expected.push(format!("zero {i}")),
            1 => {
                expected.push(format!("one {i} 0.500000"));
                expected.push(format!("two x {i}"));
            }
            2 => expected.push(format!("two x {i}")),
            _ => {}
        }
    }
    lines.sort_unstable();
    expected.sort_unstable();
    assert_eq!(lines, expected);
}
