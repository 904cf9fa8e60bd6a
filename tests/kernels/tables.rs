//! Constant tables of more numbers than an instruction of SPIR-V has room for.

use crate::harness::{Launch, session};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::types::CL_BLOCKING;

/// What `expression` is of each of these indices `i`.
fn at(declarations: &str, expression: &str, indices: &[i32]) -> Vec<i32> {
    let source = format!(
        "{declarations}
        kernel void test(global const int *in, global int *out) {{
            int i = in[get_global_id(0)];
            out[get_global_id(0)] = {expression};
        }}"
    );
    Launch::new(source)
        .buffer(indices)
        .output::<i32>(indices.len())
        .run(&[indices.len()], &[])
        .get(1)
}

#[test]
fn large_tables() {
    let ends = [0, 1, 65_531, 65_532, 65_535];
    let found = at(
        "constant uchar t[65536] = {1, 2, [65531] = 3, 4, [65535] = 5};",
        "t[i]",
        &ends,
    );
    assert_eq!(found, [1, 2, 3, 4, 5]);
    let ends = [0, 65_532, 69_998, 69_999];
    for ty in ["char", "short", "uint", "long", "float"] {
        let table = format!("constant {ty} t[70000] = {{[0 ... 69998] = 7, [69999] = 9}};");
        assert_eq!(at(&table, "(int)t[i]", &ends), [7, 7, 7, 9], "{ty}");
        let table =
            format!("constant {ty} t[3][70000] = {{[1] = {{[0 ... 69998] = 7, [69999] = 9}}}};");
        let found = at(&table, "(int)(t[0][i] * 1000 + t[1][i] + t[2][i])", &ends);
        assert_eq!(found, [7, 7, 7, 9], "{ty}");
    }
    // Nothing but zeros.
    assert_eq!(at("constant int t[70000] = {0};", "t[i]", &ends), [0; 4]);
    let table = "constant float4 t[70000] = {[0 ... 69999] = (float4)(1, 2, 3, 4)};";
    assert_eq!(at(table, "(int)t[i].z", &ends), [3; 4]);
    let table = "constant uchar t[70000] = \"a\\\\b\";";
    assert_eq!(at(table, "t[i]", &[0, 1, 2, 3, 69_999]), [97, 92, 98, 0, 0]);
}

#[test]
fn large_tables_of_structures() {
    let ends = [0, 65_532, 69_998, 69_999];
    for members in [
        "int a; uchar b;",
        "uchar b; long a;",
        "short b; struct { float c[3]; int a; };",
    ] {
        let table = format!(
            "typedef struct {{ {members} }} S;
            constant S t[70000] = {{[0 ... 69998] = {{.a = 7, .b = 5}}, [69999] = {{.a = 9, .b = 8}}}};"
        );
        let found = at(&table, "(int)t[i].a * 10 + t[i].b", &ends);
        assert_eq!(found, [75, 75, 75, 98], "{members}");
    }
}

/// The numbers of a generator, as text and as they are.
#[test]
fn large_tables_of_many_numbers() {
    let numbers: Vec<u32> = (0..100_000_u32)
        .map(|i| i.wrapping_mul(0x9e37_79b9) ^ i >> 7)
        .collect();
    let text: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let table = format!("constant uint t[100000] = {{{}}};", text.join(","));
    let indices: Vec<i32> = (0..100_000).step_by(997).chain([99_999]).collect();
    let expected: Vec<i32> = indices
        .iter()
        .map(|&index| numbers[index as usize] as i32)
        .collect();
    assert_eq!(at(&table, "(int)t[i]", &indices), expected);
    // Two tables in a program, one of them a function's.
    let text: Vec<String> = numbers
        .iter()
        .map(|number| format!("{}.5f", number >> 12))
        .collect();
    let both = format!(
        "{table}
        float f(int i) {{ constant static float t[100000] = {{{}}}; return t[i]; }}",
        text.join(",")
    );
    let expected: Vec<i32> = indices
        .iter()
        .map(|&index| numbers[index as usize] ^ (2 * (numbers[index as usize] >> 12) + 1))
        .map(|value| value as i32)
        .collect();
    assert_eq!(
        at(&both, "(int)(t[i] ^ (uint)(f(i) * 2))", &indices),
        expected
    );
}

#[test]
fn large_variables_with_contents() {
    let session = session();
    if !session.has_program_scope_variables() {
        return;
    }
    let table = "global int t[70000] = {[0 ... 69998] = 7, [69999] = 9};";
    assert_eq!(at(table, "t[i]++", &[0, 65_533, 69_999]), [7, 7, 9]);
}

/// Numbers, each of 37 told from the others.
fn number(index: i32) -> i32 {
    index * 3 + 1
}

#[test]
fn tables_of_every_type() {
    let session = session();
    let indices: Vec<i32> = (0..37).rev().collect();
    let mut types = vec![
        "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float",
    ];
    if session.has("cl_khr_fp64") {
        types.push("double");
    }
    for ty in types {
        let all: Vec<String> = (0..37).map(|it| number(it).to_string()).collect();
        let table = format!("constant {ty} t[37] = {{{}}};", all.join(","));
        let expected: Vec<i32> = indices.iter().map(|&it| number(it)).collect();
        assert_eq!(at(&table, "(int)t[i]", &indices), expected, "{ty}");
        // One place for all work-items.
        assert_eq!(at(&table, "i + (int)t[36]", &[0, 1]), [109, 110], "{ty}");
        for lanes in [2, 3, 4, 8, 16] {
            let all: Vec<String> = (0..37)
                .map(|it| {
                    let each = (0..lanes).map(|lane| (number(it) ^ lane).to_string());
                    let each: Vec<String> = each.collect();
                    format!("({ty}{lanes})({})", each.join(","))
                })
                .collect();
            let table = format!("constant {ty}{lanes} t[37] = {{{}}};", all.join(","));
            let last = format!("{:x}", lanes - 1);
            let sum = format!("(int)t[i].s0 * 1000 + (int)t[i].s{last}");
            let of = |it| number(it) * 1000 + (number(it) ^ (lanes - 1));
            let expected: Vec<i32> = indices.iter().map(|&it| of(it)).collect();
            assert_eq!(at(&table, &sum, &indices), expected, "{ty}{lanes}");
        }
    }
}

#[test]
fn tables_within_tables() {
    let table = "constant short t[2][3][5] = {{{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}}, {{0}, {0}, {11, 12, 13, 14, 15}}};";
    let found = at(table, "t[i >> 4][i >> 2 & 3][i & 3]", &[0, 3, 4, 7, 24, 27]);
    assert_eq!(found, [1, 4, 6, 9, 11, 14]);
    for attribute in ["", "__attribute__((packed))"] {
        let table = format!(
            "typedef struct {attribute} {{ uchar a; short b[3]; struct {attribute} {{ float c; ulong d; uchar3 e; }} f[2]; }} S;
            constant S t[3] = {{
                {{1, {{2, 3, 4}}, {{{{5, 6, (uchar3)(7, 8, 9)}}, {{10, 11, (uchar3)(12, 13, 14)}}}}}},
                {{21, {{22, 23, 24}}, {{{{25, 26, (uchar3)(27, 28, 29)}}, {{30, 31, (uchar3)(32, 33, 34)}}}}}},
                {{41, {{42, 43, 44}}, {{{{45, 46, (uchar3)(47, 48, 49)}}, {{50, 51, (uchar3)(52, 53, 54)}}}}}}}};"
        );
        let sum = "t[i].a + 100 * t[i].b[i] + 10000 * ((int)t[i].f[i & 1].c + (int)t[i].f[1].d + t[i].f[i & 1].e.z)";
        let expected = [
            1 + 200 + 10_000 * (5 + 11 + 9),
            21 + 2300 + 10_000 * (30 + 31 + 34),
            41 + 4400 + 10_000 * (45 + 51 + 49),
        ];
        assert_eq!(at(&table, sum, &[0, 1, 2]), expected, "{attribute}");
    }
}

#[test]
fn tables_by_other_pointers() {
    let table =
        "constant int t[8] = {1, 2, 3, 4, 5, 6, 7, 8}, u[8] = {11, 12, 13, 14, 15, 16, 17, 18};";
    let indices = [5, 6, 7];
    assert_eq!(at(table, "t[i - 5] + u[7 - i]", &indices), [14, 14, 14]);
    assert_eq!(at(table, "*(&t[7] - i)", &indices), [3, 2, 1]);
    assert_eq!(at(table, "(i & 1 ? t : u)[i]", &indices), [6, 17, 8]);
    assert_eq!(at(table, "&t[i] == &t[6]", &indices), [0, 1, 0]);
    let found = at(table, "((constant uchar *)t)[4 * i + (i & 3)]", &[0, 4, 5]);
    assert_eq!(found, [1, 5, 0]);
    let pointers = format!("{table} constant int *constant p[2] = {{t, u + 1}};");
    assert_eq!(at(&pointers, "p[i & 1][i - 1]", &indices), [16, 6, 18]);
    let bytes = "constant uchar t[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9};";
    let found = at(
        bytes,
        "vload4(0, t + i).w * 10 + vload3(i, t).x",
        &[0, 1, 2],
    );
    assert_eq!(found, [41, 54, 67]);
    // Neither is in the other's way.
    let both = "constant uchar t[3] = {1, 2, 3}; constant ulong u[3] = {4, 5, 6}; constant uchar v[5] = {7, 8, 9, 10, 11};";
    let found = at(both, "t[i] + 10 * (int)u[i] + 100 * v[i + 2]", &[0, 1, 2]);
    assert_eq!(found, [941, 1052, 1163]);
}

#[test]
fn tables_beside_what_is_written() {
    let session = session();
    if !session.has_program_scope_variables() {
        return;
    }
    let table = "constant int t[4] = {1, 2, 3, 4}; global int g[4] = {10, 20, 30, 40}; constant int u[4] = {5, 6, 7, 8};";
    let found = at(
        table,
        "g[i & 3] += t[i & 3] * u[3 - (i & 3)]",
        &[0, 1, 2, 3],
    );
    assert_eq!(found, [18, 34, 48, 60]);
}

/// Launches of two programs, one after the other, without waiting.
#[test]
fn tables_of_programs_in_turns() {
    let session = session();
    let programs = [3, 5].map(|factor| {
        let all: Vec<String> = (0..256).map(|it| (it * factor).to_string()).collect();
        let source = format!(
            "constant uint t[256] = {{{}}};
            kernel void test(global uint *d) {{ d[get_global_id(0)] = t[d[get_global_id(0)] & 255]; }}
            kernel void other(global uint *d) {{ d[get_global_id(0)] += t[255 - get_global_id(0)]; }}",
            all.join(",")
        );
        session.build_source(&source, "")
    });
    let mut buffer = session.buffer(4 * 16);
    let mut expected: Vec<u32> = (0..16).collect();
    let bytes: Vec<u8> = expected.iter().flat_map(|it| it.to_ne_bytes()).collect();
    let queue = session.queue();
    // SAFETY: blocking, and as long as the buffer.
    unsafe { queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, &bytes, &[]) }.unwrap();
    for round in 0..20 {
        for (program, factor) in programs.iter().zip([3, 5]) {
            let name = if round % 3 == 2 { "other" } else { "test" };
            let kernel = Kernel::create(program, name).unwrap();
            // SAFETY: the kernels take a buffer, which outlives the blocking read.
            unsafe {
                ExecuteKernel::new(&kernel)
                    .set_arg(&buffer)
                    .set_global_work_size(16)
                    .enqueue_nd_range(queue)
            }
            .unwrap();
            for (id, number) in (0..).zip(&mut expected) {
                *number = match name {
                    "test" => (*number & 255) * factor,
                    _ => *number + (255 - id) * factor,
                };
            }
        }
    }
    let mut found = vec![0; bytes.len()];
    // SAFETY: blocking, and as long as the buffer.
    unsafe { queue.enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut found, &[]) }.unwrap();
    let found: Vec<u32> = found
        .chunks_exact(4)
        .map(|it| u32::from_ne_bytes([it[0], it[1], it[2], it[3]]))
        .collect();
    assert_eq!(found, expected);
}

/// What is in a place of a table.
type Element = fn(i32) -> i32;

/// Tables that each work-group copies, some with changes.
#[test]
fn copies_of_tables_in_local_memory() {
    let all: Vec<String> = (0..256).map(|it| (it * 7 + 1).to_string()).collect();
    let each = "for (uint i = id; i < 256; i += get_local_size(0))";
    let wide = "ulong n = get_local_size(0); for (uint i = get_local_id(0); i < 256; i += n)";
    let cases: [(String, Element); 7] = [
        (format!("{each} t[i] = c[i];"), |it| it * 7 + 1),
        (format!("{wide} t[i] = c[i];"), |it| it * 7 + 1),
        (format!("{wide} t[i & 255] = c[i & 127];"), |it| {
            (it & 127) * 7 + 1
        }),
        (format!("{each} t[i] = c[255 - i];"), |it| {
            (255 - it) * 7 + 1
        }),
        (format!("{each} t[i] = c[i] + 1;"), |it| it * 7 + 2),
        (
            format!("{each} t[i] = c[i]; barrier(CLK_LOCAL_MEM_FENCE); if (id == 0) t[5] = 9;"),
            |it| if it == 5 { 9 } else { it * 7 + 1 },
        ),
        (
            format!(
                "{each} {{ t[i] = c[i]; ((local uchar *)b)[i] = ((constant uchar *)d)[i + 2]; }}"
            ),
            |it| it * 7 + 1,
        ),
    ];
    for (fill, of) in cases {
        for ty in ["uint", "ushort", "ulong"] {
            let source = format!(
                "constant {ty} c[256] = {{{all}}};
                constant uchar d[258] = {{{bytes}}};
                kernel void test(global const int *in, global int *out) {{
                    local {ty} t[256];
                    local uchar b[256];
                    uint id = get_local_id(0);
                    b[id] = id;
                    {fill}
                    barrier(CLK_LOCAL_MEM_FENCE);
                    int i = in[get_global_id(0)];
                    out[get_global_id(0)] = t[i];
                }}",
                all = all.join(","),
                bytes = all[..30].join(","),
            );
            let indices: Vec<i32> = (0..64).map(|it| (it * 37) & 255).chain([5; 64]).collect();
            let found = Launch::new(source)
                .buffer(&indices)
                .output::<i32>(indices.len())
                .run(&[indices.len()], &[32])
                .get::<i32>(1);
            let expected: Vec<i32> = indices.iter().map(|&it| of(it)).collect();
            assert_eq!(found, expected, "{ty}: {fill}");
        }
    }
}

/// Iterations that look up seven hundred times, of loops that end at their beginning, at their end and in between.
#[test]
fn tables_in_long_iterations() {
    let table: Vec<i32> = (0..256).map(|it| (it * 167 + 13) & 255).collect();
    let all: Vec<String> = table.iter().map(i32::to_string).collect();
    let steps: String = (0..700)
        .map(|at| format!("x = c[(x ^ {at}) & 255];\n"))
        .collect();
    let indices: Vec<i32> = (0..64).map(|it| (it * 37) & 255).collect();
    let stepped = |x: i32| (0..700).fold(x, |x, at| table[((x ^ at) & 255) as usize]);
    for (shape, iterations) in [
        (format!("for (int j = 0; j < n; ++j) {{ {steps} }}"), 3),
        (format!("int j = 0; do {{ {steps} }} while (++j < n);"), 3),
        (
            format!("for (int j = 0;; ++j) {{ {steps} if (j == n) break; c2[j & 7] += x; }}"),
            4,
        ),
    ] {
        let source = format!(
            "constant int c[256] = {{{all}}};
            kernel void test(global const int *in, global int *out, local int *c2, int n) {{
                int x = in[get_global_id(0)];
                {shape}
                out[get_global_id(0)] = x;
            }}",
            all = all.join(","),
        );
        let found = Launch::new(source)
            .buffer(&indices)
            .output::<i32>(indices.len())
            .local(64)
            .value(3_i32)
            .run(&[indices.len()], &[1])
            .get::<i32>(1);
        let expected = indices
            .iter()
            .map(|&x| (0..iterations).fold(x, |x, _| stepped(x)));
        assert_eq!(found, expected.collect::<Vec<i32>>(), "{shape}");
    }
}
