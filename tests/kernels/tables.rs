//! Constant tables of more numbers than an instruction of SPIR-V has room for.

use crate::Test;
use crate::harness::{Launch, session};

pub const TESTS: &[Test] = &[
    ("large_tables", large_tables),
    ("large_tables_of_structures", of_structures),
    ("large_tables_of_many_numbers", of_many_numbers),
    ("large_variables_with_contents", variables),
];

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

fn of_structures() {
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
fn of_many_numbers() {
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

fn variables() {
    let Some(session) = session() else { return };
    if !session.has_program_scope_variables() {
        return;
    }
    let table = "global int t[70000] = {[0 ... 69998] = 7, [69999] = 9};";
    assert_eq!(at(table, "t[i]++", &[0, 65_533, 69_999]), [7, 7, 9]);
}
