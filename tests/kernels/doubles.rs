//! Functions of doubles, against correctly rounded results of another library.

use super::harness::{Launch, session, skip};
use opencl3::device::CL_FP_DENORM;

/// A line for each result: name, limit of error in ulp, bits of one or two operands and of the result.
const TABLE: &str = include_str!("../data/doubles.txt");

/// One result of `function`, by number.
struct Row {
    text: &'static str,
    function: u32,
    operands: [u64; 2],
    limit_ulp: u64,
    expected: f64,
}

impl Row {
    fn has_denormals(&self) -> bool {
        let [x, y] = self.operands.map(f64::from_bits);
        let takes_integer = self.text.starts_with("pown ") || self.text.starts_with("rootn ");
        x.is_subnormal() || y.is_subnormal() && !takes_integer || self.expected.is_subnormal()
    }
}

fn keeps_denormals() -> bool {
    let config = session().device().double_fp_config();
    config.is_ok_and(|config| config & CL_FP_DENORM != 0)
}

/// All rows, and how each function is called.
fn table() -> (Vec<Row>, Vec<(&'static str, String)>) {
    let mut functions: Vec<(&str, String)> = Vec::new();
    let mut rows = Vec::new();
    for text in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = text.split(' ').collect();
        let [name, limit, operands @ .., expected] = fields.as_slice() else {
            panic!("{text}");
        };
        let bits = |field: &str| u64::from_str_radix(field, 16).expect("a number in hexadecimal");
        if functions.last().is_none_or(|(last, _)| last != name) {
            let call = match (operands.len(), *name) {
                (1, _) => "(as_double(x))",
                (_, "pown" | "rootn") => "(as_double(x), (int)y)",
                _ => "(as_double(x), as_double(y))",
            };
            functions.push((name, format!("{name}{call}")));
        }
        rows.push(Row {
            text,
            function: functions.len() as u32 - 1,
            operands: [bits(operands[0]), operands.get(1).map_or(0, |y| bits(y))],
            limit_ulp: limit.parse().expect("a number"),
            expected: f64::from_bits(bits(expected)),
        });
    }
    (rows, functions)
}

/// Whether a result keeps the limit of error.
fn is_within(found: f64, row: &Row) -> bool {
    let expected = row.expected;
    let same_sign = found.is_sign_negative() == expected.is_sign_negative();
    let apart = found.to_bits().abs_diff(expected.to_bits());
    found == expected
        || found.is_nan() && expected.is_nan()
        || !found.is_nan() && !expected.is_nan() && same_sign && apart <= row.limit_ulp
}

#[test]
fn functions_of_doubles() {
    if !session().has("cl_khr_fp64") {
        return skip("the device has no doubles");
    }
    let (mut rows, functions) = table();
    if !keeps_denormals() {
        rows.retain(|row| !row.has_denormals());
    }
    let cases: String = functions
        .iter()
        .enumerate()
        .map(|(number, (_, call))| format!("case {number}: r = {call}; break;\n"))
        .collect();
    let source = format!(
        "kernel void test(global const uint *which, global const ulong2 *operands, global double *out) {{
            size_t i = get_global_id(0);
            ulong x = operands[i].x, y = operands[i].y;
            double r = 0;
            switch (which[i]) {{ {cases} }}
            out[i] = r;
        }}"
    );
    let which: Vec<u32> = rows.iter().map(|row| row.function).collect();
    let operands: Vec<u64> = rows.iter().flat_map(|row| row.operands).collect();
    let found = Launch::new(source)
        .buffer(&which)
        .buffer(&operands)
        .output::<f64>(rows.len())
        .run(&[rows.len()], &[])
        .get::<f64>(2);
    let wrong: Vec<String> = rows
        .iter()
        .zip(&found)
        .filter(|(row, found)| !is_within(**found, row))
        .map(|(row, found)| format!("{}: {:016x}", row.text, found.to_bits()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A kernel calls a function so often that its copies are one.
#[test]
fn many_calls_of_one_function() {
    const CALLS: usize = 100;
    if !session().has("cl_khr_fp64") {
        return skip("the device has no doubles");
    }
    let argument = |call: usize, x: f64| call as f64 * 0.5 - x;
    let calls: String = (0..CALLS)
        .map(|call| format!("out[{call} * n + i] = exp({call} * 0.5 - x);\n"))
        .collect();
    let source = format!(
        "kernel void test(global const double *in, global double *out) {{
            size_t i = get_global_id(0), n = get_global_size(0);
            double x = in[i];
            {calls}
        }}"
    );
    let input: Vec<f64> = (0..64).map(|i| f64::from(i) * 0.37).collect();
    let found = Launch::new(source)
        .buffer(&input)
        .output::<f64>(CALLS * input.len())
        .run(&[input.len()], &[])
        .get::<f64>(1);
    for (call, results) in found.chunks(input.len()).enumerate() {
        for (&x, &result) in input.iter().zip(results) {
            let expected = argument(call, x).exp();
            // Three units in the last place, and half a unit of the host's.
            let error = (result - expected).abs() / expected;
            assert!(
                error < 3.5 * f64::EPSILON,
                "exp {call} {x}: {result} {expected}"
            );
        }
    }
}
