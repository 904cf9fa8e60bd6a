//! Build options (section 5.8.6): what each does to the program that runs.

use crate::harness::{Launch, assert_equal, session, skip};

/// What a kernel that stores `expression` in an `int` stores, built with `option` alone.
fn value(option: &str, expression: &str) -> i32 {
    let source = format!("kernel void test(global int *p) {{ p[0] = {expression}; }}");
    let buffers = Launch::new(source)
        .only_options(option)
        .buffer(&[0])
        .run(&[1], &[1]);
    buffers.get::<i32>(0)[0]
}

#[test]
fn language_versions() {
    for (option, version) in [
        ("-cl-std=CL1.0", 100),
        ("-cl-std=CL1.1", 110),
        ("-cl-std=CL1.2", 120),
        ("-cl-std=CL3.0", 300),
        // "If the -cl-std build option is not specified, the highest OpenCL C 1.x language version
        // supported by each device is used".
        ("", 120),
    ] {
        // Defined from 1.2 on.
        let macros = match version {
            120.. => "__OPENCL_C_VERSION__",
            _ => "CL_VERSION_1_0",
        };
        let expected = match version {
            120.. => version,
            _ => 100,
        };
        assert_eq!(value(option, macros), expected, "{option}");
    }
}

/// OpenCL C before 1.2 has no `static`, which what Pumice adds to programs must do without.
#[test]
fn old_versions_convert() {
    for option in [
        "-cl-std=CL1.0",
        "-cl-std=CL1.1",
        "-cl-std=CL1.2",
        "-cl-std=CL3.0",
    ] {
        assert_eq!(
            value(option, "convert_char_sat(p[0] + 1000)"),
            127,
            "{option}"
        );
        assert_eq!(value(option, "convert_int_rte(p[0] + 2.5f)"), 2, "{option}");
        let sum = "__builtin_add_overflow(p[0] + 0x7fffffff, 1, (global int *)p)";
        assert_eq!(value(option, sum), 1, "{option}");
    }
}

#[test]
fn cpp_for_opencl() {
    if !session().has_generic_pointers() {
        skip("the device has no generic address space");
        return;
    }
    let source = "
        namespace n {
        template <typename T> T square(T x) { return x * x; }
        struct A { int v; A(int x) : v(x) {} int get() const { return v + 1; } };
        struct B : A { int w; B(int x) : A(x), w(2 * x) {} ~B() {} int sum() const { return get() + w; } };
        }
        kernel void test(global int *p) {
            int i = get_global_id(0);
            n::B b(p[i]);
            auto f = [=](int y) { return y + b.sum(); };
            const int &r = b.w;
            p[i] = f(n::square(r)) + VERSION;
        }";
    let input: Vec<i32> = (0..64).collect();
    for (name, version) in [("CLC++", 100), ("CLC++1.0", 100), ("CLC++2021", 202100)] {
        let buffers = Launch::new(source)
            .only_options(&format!("-cl-std={name} -DVERSION=__OPENCL_CPP_VERSION__"))
            .buffer(&input)
            .run(&[64], &[]);
        let expected: Vec<i32> = input
            .iter()
            .map(|&x| (2 * x) * (2 * x) + x + 1 + 2 * x + version)
            .collect();
        assert_equal(&buffers.get(0), &expected, |at| format!("{name}, {at}"));
    }
}

#[test]
fn constructors_run_before_kernels() {
    if !session().has_program_scope_variables() {
        skip("programs can't have global variables");
        return;
    }
    let source = "
        struct Counter { int start; int step; Counter(int a, int b) : start(a), step(b) {} };
        int size() { return get_global_size(0) + get_num_groups(0); }
        global Counter counter(40, size());
        global int plain = 7;
        kernel void test(global int *p) {
            int i = get_global_id(0);
            p[i] = counter.start + counter.step * i + plain;
        }";
    let buffers = Launch::new(source)
        .only_options("-cl-std=CLC++2021")
        .output::<i32>(4)
        .run(&[4], &[4]);
    assert_eq!(buffers.get::<i32>(0), [47, 49, 51, 53]);
}

#[test]
fn macros_of_options() {
    assert_eq!(value("-DA=4 -D B=5 -DC", "A * 10 + B + C"), 46);
    let relaxed = "\n#ifdef __FAST_RELAXED_MATH__\n 1\n#else\n 0\n#endif\n";
    assert_eq!(value("", relaxed), 0);
    assert_eq!(value("-cl-fast-relaxed-math", relaxed), 1);
    let flags = "-cl-strict-aliasing -cl-no-subgroup-ifp -cl-uniform-work-group-size -cl-kernel-arg-info \
                 -cl-finite-math-only -cl-no-signed-zeros -cl-mad-enable -cl-unsafe-math-optimizations -w -Werror -g";
    assert_eq!(value(flags, "7"), 7);
}

/// A function of the language by a name that only the options give it.
#[test]
fn functions_named_by_options() {
    // An unsigned integer stays one.
    let expression = "CONVERT(0xfffffff0u + (uint)p[0]) >> 32 == 0";
    for std in ["-cl-std=CL1.2", "-cl-std=CL3.0"] {
        let option = format!("{std} -DCONVERT=convert_ulong");
        assert_eq!(value(&option, expression), 1, "{option}");
    }
}

#[test]
fn single_precision_constants() {
    if !session().has("cl_khr_fp64") {
        // Then literals are single precision anyway.
        assert_eq!(value("", "sizeof(1.0)"), 4);
        return;
    }
    assert_eq!(value("", "sizeof(1.0)"), 8);
    assert_eq!(value("-cl-single-precision-constant", "sizeof(1.0)"), 4);
}

#[test]
fn optimizations_off() {
    let source = "
        int fibonacci(int n) { int a = 0, b = 1; for (int i = 0; i < n; i++) { int c = a + b; a = b; b = c; } return a; }
        kernel void test(global int *p) {
            int t[8];
            for (int i = 0; i < 8; i++) t[i] = fibonacci(i + p[i]);
            for (int i = 0; i < 8; i++) p[i] = t[7 - i];
        }";
    let buffers = Launch::new(source)
        .option("-cl-opt-disable")
        .buffer(&[1, 2, 3, 4, 5, 6, 7, 8])
        .run(&[1], &[1]);
    assert_eq!(buffers.get::<i32>(0), [610, 233, 89, 34, 13, 5, 2, 1]);
}

#[test]
fn relaxed_math_stays_within_reason() {
    let input: Vec<f32> = (1..200).map(|i| i as f32 * 0.37).collect();
    let source = "kernel void test(global float *x, global float4 *out) {
        size_t i = get_global_id(0);
        out[i] = (float4)(sqrt(x[i]), x[i] / 3.7f, exp(x[i] * 0.1f), sin(x[i] * 0.04f));
    }";
    for option in ["-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations"] {
        let buffers = Launch::new(source)
            .option(option)
            .buffer(&input)
            .output::<[f32; 4]>(input.len())
            .run(&[input.len()], &[]);
        for (x, found) in input.iter().zip(buffers.get::<[f32; 4]>(1)) {
            let expected = [x.sqrt(), x / 3.7, (x * 0.1).exp(), (x * 0.04).sin()];
            for (found, expected) in found.iter().zip(expected) {
                let error = (found - expected).abs();
                // "exp: <= 3 + floor(fabs(2 * x)) ulp", sin 2^-11 absolute.
                assert!(
                    error <= 2e-6 * expected.abs() + 5e-4,
                    "{option} {x}: {found}, not {expected}"
                );
            }
        }
    }
}

#[test]
fn denormals_flush_or_stay() {
    let source = "kernel void test(global float *x) { x[0] = x[0] * 0.5f; x[1] = x[1] * 0.5f; }";
    let tiny = f32::from_bits(8);
    let buffers = Launch::new(source)
        .option("-cl-denorms-are-zero")
        .buffer(&[tiny, 3.0])
        .run(&[1], &[1]);
    let found = buffers.get::<f32>(0);
    assert!(
        found[0] == 0.0 || found[0] == f32::from_bits(4),
        "{found:?}"
    );
    assert_eq!(found[1], 1.5);
}

/// Fused or not, but nothing else; and `fma` is fused in any case.
#[test]
fn contraction_is_harmless() {
    let source = "kernel void test(global float *p, global float *q) {
        q[0] = p[0] * p[1] + p[2];
        q[1] = fma(p[0], p[1], p[2]);
        {
            #pragma OPENCL FP_CONTRACT OFF
            float product = p[0] * p[1];
            q[2] = product + p[2];
        }
    }";
    let (a, b) = (1.0f32 + f32::EPSILON, 1.0f32 - f32::EPSILON);
    for option in ["", "-cl-mad-enable", "-cl-fast-relaxed-math"] {
        let buffers = Launch::new(source)
            .option(option)
            .buffer(&[a, b, -1.0])
            .output::<f32>(3)
            .run(&[1], &[1]);
        let found = buffers.get::<f32>(1);
        let fused = a.mul_add(b, -1.0);
        assert!(found[0] == 0.0 || found[0] == fused, "{option}: {found:?}");
        assert_eq!(found[1], fused, "{option}");
        if option.is_empty() {
            assert_eq!(found[2], 0.0);
        }
    }
}

/// "__EMBEDDED_PROFILE__ … is the integer constant 1 if the OpenCL device is an embedded profile device and is undefined otherwise";
/// 64-bit integers are an extension of that profile alone.
#[test]
fn the_profile_of_the_device() {
    let source = "kernel void test(global uint *out) {
        #ifdef __EMBEDDED_PROFILE__
        out[0] = __EMBEDDED_PROFILE__ == 1 ? 1 : 2;
        #else
        out[0] = 0;
        #endif
        #ifdef cles_khr_int64
        out[1] = 1;
        #else
        out[1] = 0;
        #endif
    }";
    let profile = session().device().profile().expect("a profile");
    let is_embedded = match profile.as_str() {
        "FULL_PROFILE" => false,
        "EMBEDDED_PROFILE" => true,
        other => panic!("{other}"),
    };
    assert_eq!(session().has("cles_khr_int64"), is_embedded);
    for options in ["", "-cl-std=CL3.0"] {
        let found = Launch::new(source).only_options(options).output::<u32>(2);
        let found = found.run(&[1], &[1]).get::<u32>(0);
        assert_eq!(found, [u32::from(is_embedded); 2], "{options}");
    }
}
