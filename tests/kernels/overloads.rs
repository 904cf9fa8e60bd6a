//! Functions of a program under the names of built-in ones: each call is of the one whose parameters it fits.

use crate::harness::{Launch, session, skip};

const STRUCTURE: &str = "typedef struct { int x, y; } S;\n";

/// What `kernel` makes of `p`, 1 to 8 before.
fn result(source: &str, kernel: &str, option: &str) -> Vec<i32> {
    let source = format!("{STRUCTURE}{source}\nkernel void test(global int *p) {{ {kernel} }}");
    Launch::new(source)
        .only_options(option)
        .buffer(&[1, 2, 3, 4, 5, 6, 7, 8])
        .run(&[1], &[1])
        .get(0)
}

#[track_caller]
fn check(source: &str, kernel: &str, option: &str, expected: &[i32]) {
    let found = result(source, kernel, option);
    assert_eq!(
        found[..expected.len()],
        *expected,
        "{option} {source}\n{kernel}"
    );
}

#[test]
fn overloads_stand_beside_built_ins() {
    let overloadable = "__attribute__((overloadable))";
    for (source, kernel, expected) in [
        (
            "OVL ulong atom_add(volatile global ulong *p, ulong v) { ulong o = *p; *p = o + v; return o; }",
            "p[1] = atom_add(p, 5); atom_add((global ulong *)(p + 2), 1ul); p[4] = atom_add(p, 1);",
            &[7, 1, 4, 4, 6][..],
        ),
        (
            "OVL S max(S a, S b) { S m = {max(a.x, b.x), max(a.y, b.y)}; return m; }",
            "S a = {p[0], p[3]}, b = {p[2], p[1]}; S m = max(a, b); p[0] = m.x; p[1] = m.y; \
             p[2] = max(p[2], -9); p[3] = (int)(max(0.75f, 0.5f) * 4);",
            &[3, 4, 3, 3],
        ),
        (
            "OVL int length(S s) { return s.x + s.y; }",
            "S a = {p[0], p[1]}; p[0] = length(a); p[1] = (int)length((float2)(3, 4));",
            &[3, 5],
        ),
        (
            "OVL S abs_diff(S a, S b) { S d = {abs_diff(a.x, b.x), abs_diff(a.y, b.y)}; return d; }",
            "S a = {p[0], p[5]}, b = {p[3], p[1]}; S d = abs_diff(a, b); p[0] = d.x; p[1] = d.y; \
             p[2] = abs_diff(p[2], 9); p[3] = abs_diff((uchar)200, (uchar)1);",
            &[3, 4, 6, 199],
        ),
        (
            "OVL float atomic_add(volatile global float *p, float v) { float o = *p; *p = o + v; return o; }",
            "((global float *)p)[1] = 2.5f; atomic_add((global float *)(p + 1), 1.5f); \
             p[1] = (int)((global float *)p)[1]; p[2] = atomic_add(p, 10);",
            &[11, 4, 1],
        ),
        (
            "OVL double4 min(double a, double4 b) { return a < b.x ? a : b; }",
            "p[0] = min(p[0], p[1]); p[1] = (int)min(1.5f, 7.0f); p[2] = min((uint)p[2], 1u);",
            &[1, 1, 1],
        ),
        (
            "OVL S convert_int(S s, int by) { S t = {s.x * by, s.y * by}; return t; }
            OVL S convert_char_sat(S s) { S t = {convert_char_sat(s.x), convert_char_sat(s.y)}; return t; }",
            "S s = {convert_int(2.9f), convert_int((uchar)200)}; s = convert_char_sat(convert_int(s, 10)); \
             p[0] = s.x; p[1] = s.y; p[2] = convert_int2((uint2)(p[2], 9)).y; p[3] = convert_int(p[3] > 3);",
            &[20, 127, 9, 1],
        ),
    ] {
        if source.contains("double") && !session().has("cl_khr_fp64") {
            continue;
        }
        // Of a name, C has it that one function may go without the attribute.
        for (attribute, storage) in [(overloadable, ""), (overloadable, "static "), ("", "")] {
            // With the parameters of a built-in function it must be what that is.
            let is_same = attribute == overloadable && storage.is_empty();
            if source.contains("atom_add") && !is_same {
                continue;
            }
            let source = source.replace("OVL ", &format!("{storage}{attribute} "));
            for option in ["", "-cl-std=CL3.0"] {
                check(&source, kernel, option, expected);
            }
        }
    }
}

#[test]
fn overloads_by_macros_and_options() {
    let attribute = "-DOVL=__attribute__((overloadable))";
    for (source, kernel, option, expected) in [
        (
            "#define OP(n) atom_##n\nOVL ulong OP(add)(volatile global ulong *p, ulong v) { return 9; }",
            "p[1] = atom_add(p, 5);",
            attribute.to_owned(),
            [6, 1],
        ),
        (
            "OVL int NAME(S a, S b) { return 9; }",
            "S s = {1, 2}; p[0] = NAME(s, s); p[1] = max(p[1], p[2]);",
            format!("{attribute} -DNAME=max"),
            [9, 3],
        ),
        // The parameters of clang's declarations have such names.
        (
            "OVL int max(S a, S b) { return n + z; }",
            "S s = {1, 2}; p[0] = max(s, s); p[1] = max(p[1], p[2]);",
            format!("{attribute} -Dn=4 -Dz=3 -D q(a)=a -Dp0"),
            [7, 3],
        ),
        (
            "#define DEFINE(T) OVL int max(T a, T b) { return 9; }\nDEFINE(S)",
            "S s = {1, 2}; p[0] = max(s, s); p[1] = max(p[1], p[2]);",
            attribute.to_owned(),
            [9, 3],
        ),
    ] {
        check(source, kernel, &option, &expected);
    }
}

#[test]
fn overloads_of_c11_atomics() {
    let session = session();
    let features = [
        "__opencl_c_atomic_scope_device",
        "__opencl_c_atomic_order_seq_cst",
    ];
    if !session.has_generic_pointers() || !features.iter().all(|it| session.has_feature(it)) {
        skip("the functions need generic pointers, the scope of the device and the order seq_cst");
        return;
    }
    let source =
        "float __attribute__((overloadable)) atomic_fetch_add(volatile global float *p, float v) {
            float o = *p; *p = o + v; return o; }";
    let kernel = "global float *f = (global float *)(p + 1); *f = 2.5f; atomic_fetch_add(f, 1.5f); \
        p[1] = (int)*f; p[2] = atomic_fetch_add((global atomic_int *)p, 10); \
        p[3] = atomic_fetch_add_explicit((global atomic_int *)p, 1, memory_order_relaxed); \
        p[4] = atomic_load_explicit((global atomic_int *)p, memory_order_acquire, memory_scope_device);";
    check(source, kernel, "-cl-std=CL3.0", &[12, 4, 1, 11, 12]);
}

#[test]
fn overloads_in_cpp() {
    let session = session();
    if !session.has_generic_pointers() {
        skip("C++ for OpenCL needs generic pointers");
        return;
    }
    for source in [
        "S max(S a, S b) { return S{max(a.x, b.x), max(a.y, b.y)}; }",
        "template <typename T> T max(T a, T b, T c) { return a; }\n\
         S max(S a, S b) { return S{max(a.x, b.x), max(a.y, b.y)}; }",
        "namespace own { S max(S a, S b) { return S{::max(a.x, b.x), ::max(a.y, b.y)}; } }\n\
         using namespace own;",
    ] {
        let kernel = "S m = max(S{p[0], p[3]}, S{p[2], p[1]}); p[0] = m.x; p[1] = m.y; p[2] = max(p[2], -9);";
        check(source, kernel, "-cl-std=CLC++2021", &[3, 4, 3]);
    }
}

/// A program's own function with the very parameters of a built-in one is the program's, as before.
#[test]
fn functions_in_place_of_built_ins() {
    for source in [
        "static float fract(float x) { return 5; }",
        "inline float fract(float x) { return 5; }",
        "static float mix(float a, float b, float c) { return 5; } float fract(float x) { return mix(x, x, x); }",
    ] {
        check(source, "p[0] = (int)fract(1.5f);", "", &[5]);
    }
}

/// Where a program's function stands for all of a name, a pointer to another type is an error and no conversion.
#[test]
fn wrong_pointers_to_own_functions() {
    let session = session();
    let source = "static int atomic_add(volatile global int *p, int v) { return 0; }
        kernel void test(global float *p) { atomic_add(p, 1); }";
    let built =
        opencl3::program::Program::create_and_build_from_source(session.context(), source, "");
    let log = built.expect_err("refused");
    assert!(log.contains("incompatible pointer"), "{log}");
}
