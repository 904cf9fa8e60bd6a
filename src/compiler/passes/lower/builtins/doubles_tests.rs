//! Functions of doubles against correctly rounded results of another library, where the device fuses and where not.

use super::lower::Std;
use super::tests::{Lowered, plain};
use crate::compiler::Capabilities;
use crate::compiler::ir::{Module, Type};

/// A line for each result: see there.
const TABLE: &str = include_str!("../../../../../tests/data/doubles.txt");

const FUNCTIONS: [Std; 40] = [
    Std::acos,
    Std::acosh,
    Std::acospi,
    Std::asin,
    Std::asinh,
    Std::asinpi,
    Std::atan,
    Std::atanh,
    Std::atanpi,
    Std::cbrt,
    Std::cos,
    Std::cosh,
    Std::cospi,
    Std::erfc,
    Std::erf,
    Std::exp,
    Std::exp2,
    Std::exp10,
    Std::expm1,
    Std::log,
    Std::log2,
    Std::log10,
    Std::log1p,
    Std::sin,
    Std::sinh,
    Std::sinpi,
    Std::tan,
    Std::tanh,
    Std::tanpi,
    Std::tgamma,
    Std::lgamma,
    Std::atan2,
    Std::atan2pi,
    Std::fmod,
    Std::remainder,
    Std::hypot,
    Std::pow,
    Std::powr,
    Std::pown,
    Std::rootn,
];

/// One result: the bits of the operands and of the result, and by how many ulp that may be off.
struct Row {
    operands: Vec<u64>,
    limit_ulp: u64,
    expected: f64,
}

fn rows(name: &str) -> Vec<Row> {
    let bits = |field: &str| u64::from_str_radix(field, 16).unwrap();
    let fields = TABLE
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>());
    let rows = fields.filter(|fields| fields[0] == name);
    rows.map(|fields| Row {
        operands: fields[2..fields.len() - 1]
            .iter()
            .map(|f| bits(f))
            .collect(),
        limit_ulp: fields[1].parse().unwrap(),
        expected: f64::from_bits(bits(fields[fields.len() - 1])),
    })
    .collect()
}

/// How many doubles lie between two of the same sign; more than any limit where only one is no number.
fn distance(a: f64, b: f64) -> u64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0,
        (true, false) | (false, true) => u64::MAX,
        _ if a == b => 0,
        _ if a.is_sign_negative() != b.is_sign_negative() => u64::MAX,
        _ => a.to_bits().abs_diff(b.to_bits()),
    }
}

fn lowered(function: Std, caps: &Capabilities) -> Lowered {
    let operands: &[Type] = match function {
        Std::pown | Std::rootn => &[Type::F64, Type::I32],
        Std::atan2
        | Std::atan2pi
        | Std::fmod
        | Std::remainder
        | Std::hypot
        | Std::pow
        | Std::powr => &[Type::F64; 2],
        _ => &[Type::F64],
    };
    Lowered::new(caps, function, operands, &[Type::F64])
}

#[test]
fn doubles_by_another_library() {
    let mut failures = Vec::new();
    for caps in [plain(), Capabilities::full()] {
        for function in FUNCTIONS {
            let rows = rows(&format!("{function:?}"));
            assert!(rows.len() > 20, "{function:?}");
            let lowered = lowered(function, &caps);
            for row in rows {
                let found = f64::from_bits(lowered.run(&row.operands)[0]);
                if distance(found, row.expected) > row.limit_ulp {
                    let (operands, expected) = (&row.operands, row.expected);
                    failures.push(format!(
                        "{function:?}{operands:x?} = {found:e}, not {expected:e}"
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Emulated, one `fma` is more than the rest of such a function.
#[test]
fn the_library_emulates_few_fused_sums() {
    let size = |module: &Module| {
        let functions = module.functions.iter();
        functions
            .map(|function| function.inst_count())
            .sum::<usize>()
    };
    for function in FUNCTIONS {
        let module = lowered(function, &plain()).into_module();
        let emulated = module
            .functions
            .iter()
            .filter(|f| f.name == super::fused_multiply_add::FMA64);
        let exact = matches!(function, Std::fmod | Std::remainder);
        assert_eq!(emulated.count(), usize::from(exact), "{function:?}");
        let fused = size(&lowered(function, &Capabilities::full()).into_module());
        let unfused = size(&module);
        assert!(
            exact || unfused < 2 * fused,
            "{function:?}: {unfused} for {fused}"
        );
    }
}
