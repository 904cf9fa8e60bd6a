//! The edges that the specification lists, as kernels of `tests/reports` ask for them, on devices that such a kernel does
//! not reach: with fused multiply-adds, and so with our own functions.

use super::lower::Std;
use super::tests::{Lowered, plain};
use crate::compiler::Capabilities;
use crate::compiler::ir::Type;

const SINGLES: &str = include_str!("../../../../../tests/reports/cts/2641.cl");
const DOUBLES: &str = include_str!("../../../../../tests/reports/cts/2665.cl");

/// The kernel's macros, and how many of its arguments' lists belong to each: operands, then the result.
const MACROS: [(&str, usize); 3] = [("ONE(", 2), ("TWO(", 3), ("WITH_INT(", 3)];

fn bits(ty: Type, text: &str) -> u64 {
    match ty {
        Type::F32 => text.parse::<f32>().unwrap().to_bits().into(),
        Type::F64 => text.parse::<f64>().unwrap().to_bits(),
        _ => u64::from(text.parse::<i32>().unwrap() as u32),
    }
}

fn is_nan(ty: Type, bits: u64) -> bool {
    match ty {
        Type::F32 => f32::from_bits(bits as u32).is_nan(),
        _ => f64::from_bits(bits).is_nan(),
    }
}

fn function(name: &str) -> Std {
    let mut all = (0..300).filter_map(Std::from_u32);
    all.find(|op| format!("{op:?}") == name).unwrap()
}

/// The elements of a list in the kernel's head.
fn list(line: &str, ty: Type) -> Option<Vec<u64>> {
    let (kind, elements) = line.strip_prefix("// ")?.split_once(": ")?;
    let mut words = elements.split(' ');
    let ty = match (kind, words.next()?) {
        ("in" | "out", "int") => Type::I32,
        ("in" | "out", _) => ty,
        _ => return None,
    };
    Some(words.map(|word| bits(ty, word)).collect())
}

fn failures(text: &str, ty: Type, caps: &Capabilities) -> Vec<String> {
    let lists: Vec<Vec<u64>> = text.lines().filter_map(|line| list(line, ty)).collect();
    let mut lists = lists.as_slice();
    let mut failures = Vec::new();
    for (name, count) in MACROS {
        let (mine, rest) = lists.split_at(count);
        lists = rest;
        let (results, operands) = mine.split_last().unwrap();
        let mut types = vec![ty; operands.len()];
        if name == "WITH_INT(" {
            types[1] = Type::I32;
        }
        let mut index = 0;
        let uses = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix(name));
        for (function_name, times) in uses.filter_map(|rest| rest.split_once(", ")) {
            let lowered = Lowered::new(caps, function(function_name), &types, &[ty]);
            for _ in 0..times.trim_end_matches(')').parse().unwrap() {
                let args: Vec<u64> = operands.iter().map(|list| list[index]).collect();
                let (found, expected) = (lowered.run(&args)[0], results[index]);
                if found != expected && !(is_nan(ty, found) && is_nan(ty, expected)) {
                    failures.push(format!(
                        "{function_name}{args:x?} = {found:#x}, not {expected:#x}"
                    ));
                }
                index += 1;
            }
        }
        assert_eq!(index, results.len(), "{name}");
    }
    assert!(lists.is_empty());
    failures
}

#[test]
fn edges_are_as_the_specification_lists_them() {
    for caps in [plain(), Capabilities::full()] {
        for (text, ty) in [(SINGLES, Type::F32), (DOUBLES, Type::F64)] {
            let failures = failures(text, ty, &caps);
            let fused = caps.fused_fma32;
            assert!(failures.is_empty(), "{ty:?}, fused: {fused}: {failures:#?}");
        }
    }
}
