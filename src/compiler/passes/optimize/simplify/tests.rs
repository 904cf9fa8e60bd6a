use super::run;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    Binary, Builder, Compare, FuncId, Function, Module, Terminator, Type, Unary, Value,
};
use crate::compiler::passes::helpers::testing;
use smallvec::smallvec;

/// A function of two 32-bit and one 64-bit number.
fn function(return_types: &[Type], build: impl FnOnce(&mut Builder<'_>, [Value; 3])) -> Module {
    let mut function = Function::new("f");
    function.return_types = return_types.to_vec();
    let entry = function.entry();
    let params = [Type::I32, Type::I32, Type::I64].map(|ty| function.add_param(entry, ty));
    let mut b = Builder::new(&mut function, entry);
    build(&mut b, params);
    testing::module_of(function)
}

const INPUTS: [[u64; 3]; 6] = [
    [0, 0, 0],
    [1, 2, 3],
    [7, 0xffff_ffff, 0x1_0000_0005],
    [0x8000_0000, 31, u64::MAX],
    [0x1234_5678, 0x9abc_def0, 0x0fed_cba9_8765_4321],
    [0xffff_ffff, 0xffff_ffff, 0x8000_0000_0000_0000],
];

/// Simplifies; the results must stay the same.
fn check(mut module: Module) -> String {
    let results = |module: &Module| -> Vec<_> {
        INPUTS
            .iter()
            .map(|input| Interpreter::new(module).run(FuncId(0), input))
            .collect()
    };
    let before = results(&module);
    let old = module.to_string();
    testing::run(&mut module, run).unwrap();
    let text = module.functions[0].to_string();
    assert_eq!(before, results(&module), "{old}\n{text}");
    text
}

#[test]
fn choices_of_constants_compared_with_constants_are_their_conditions() {
    for (op, constant) in [
        (Compare::ULess, 175),
        (Compare::SLess, 3),
        (Compare::ULessEqual, 255),
        (Compare::Equal, 5),
        (Compare::NotEqual, 7),
    ] {
        for choice_first in [true, false] {
            let text = check(function(&[Type::Bool], |b, [x, y, _]| {
                let condition = b.compare(Compare::SLess, x, y);
                let (yes, no, constant) = (b.i32(255), b.i32(5), b.i32(constant));
                let choice = b.select(condition, yes, no);
                let holds = if choice_first {
                    b.compare(op, choice, constant)
                } else {
                    b.compare(op, constant, choice)
                };
                b.terminate(Terminator::Return(smallvec![holds]));
            }));
            assert!(!text.contains("select"), "{op:?} {constant}: {text}");
        }
    }
}

#[test]
fn comparisons_that_bounds_decide_are_constants() {
    for (op, constant, holds) in [
        (Compare::ULess, 16, Some(true)),
        (Compare::ULess, 15, None),
        (Compare::ULess, 4, Some(false)),
        (Compare::ULessEqual, 15, Some(true)),
        (Compare::ULessEqual, 3, Some(false)),
        (Compare::SLess, 16, Some(true)),
        (Compare::SLess, 0xffff_ffff, None),
        (Compare::SLessEqual, 14, None),
        (Compare::Equal, 16, Some(false)),
        (Compare::NotEqual, 3, Some(true)),
        (Compare::Equal, 7, None),
    ] {
        let text = check(function(&[Type::Bool], |b, [x, ..]| {
            // 4 to 15
            let low = b.binary_const(Binary::And, x, 11);
            let number = b.binary_const(Binary::Or, low, 4);
            let constant = b.i32(constant);
            let compared = b.compare(op, number, constant);
            b.terminate(Terminator::Return(smallvec![compared]));
        }));
        let is_decided = !text.contains("less") && !text.contains("equal");
        let expected = format!("const {:#x}", u8::from(holds == Some(true)));
        assert_eq!(is_decided, holds.is_some(), "{op:?} {constant}: {text}");
        assert!(
            holds.is_none() || text.contains(&expected),
            "{op:?} {constant}: {text}"
        );
    }
}

/// Expressions made at random mean the same afterwards.
#[test]
fn random_expressions_keep_their_values() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % limit
    };
    for _ in 0..300 {
        check(function(&[Type::I64; 4], |b, params| {
            let mut values: Vec<Value> = params.to_vec();
            for _ in 0..40 {
                let value = random_value(b, &values, &mut random);
                values.push(value);
            }
            let last: Vec<Value> = values[values.len() - 4..]
                .iter()
                .map(|&value| match b.ty(value) {
                    Type::Bool => {
                        let (one, zero) = (b.i64(1), b.i64(0));
                        b.select(value, one, zero)
                    }
                    _ => b.resize_int(value, Type::I64, true),
                })
                .collect();
            b.terminate(Terminator::Return(last.into_iter().collect()));
        }));
    }
}

fn random_value(
    b: &mut Builder<'_>,
    values: &[Value],
    random: &mut impl FnMut(usize) -> usize,
) -> Value {
    use Binary::*;
    let types = [Type::I8, Type::I16, Type::I32, Type::I64];
    let pick = |random: &mut dyn FnMut(usize) -> usize, ty: Option<Type>, b: &Builder<'_>| {
        let fitting: Vec<Value> = values
            .iter()
            .copied()
            .filter(|&v| match ty {
                Some(ty) => b.ty(v) == ty,
                None => b.ty(v).is_int(),
            })
            .collect();
        (!fitting.is_empty()).then(|| fitting[random(fitting.len())])
    };
    let Some(x) = pick(random, None, b) else {
        return b.i32(1);
    };
    let ty = b.ty(x);
    let constants = [0, 1, 2, 3, 8, 0xff, 0xffff, 0xffff_ffff, u64::MAX, 1 << 31];
    let y = match random(2) {
        0 => pick(random, Some(ty), b).unwrap_or(x),
        _ => b.constant(ty, constants[random(constants.len())]),
    };
    match random(9) {
        0..=2 => {
            let operations = [Add, Sub, Mul, And, Or, Xor, UMin, UMax, SMin, SMax];
            b.binary(operations[random(operations.len())], x, y)
        }
        3 => {
            let amount = b.constant(Type::I32, random(ty.bits() as usize) as u64);
            b.binary([Shl, LShr, AShr][random(3)], x, amount)
        }
        4 => {
            // Never zero.
            let odd = b.constant(ty, 2 * random(60) as u64 + 1);
            let power = b.constant(ty, 1 << random(6));
            let divisor = if random(2) == 0 { odd } else { power };
            b.binary([UDiv, URem][random(2)], x, divisor)
        }
        5 | 6 => b.resize_int(x, types[random(4)], random(2) == 0),
        7 => {
            let operations = [
                Compare::Equal,
                Compare::NotEqual,
                Compare::ULess,
                Compare::ULessEqual,
                Compare::SLess,
                Compare::SLessEqual,
            ];
            let (x, y) = match random(2) {
                // Both may be one number, extended in two ways.
                0 => (x, y),
                _ => (
                    b.resize_int(x, Type::I64, random(2) == 0),
                    b.resize_int(
                        if random(2) == 0 { x } else { y },
                        Type::I64,
                        random(2) == 0,
                    ),
                ),
            };
            let condition = b.compare(operations[random(operations.len())], x, y);
            let condition = match random(2) {
                0 => b.unary(Unary::Not, condition),
                _ => condition,
            };
            b.select(condition, x, y)
        }
        _ => b.unary([Unary::Not, Unary::Negate][random(2)], x),
    }
}
