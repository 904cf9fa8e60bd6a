use super::run;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    Access, Binary, Builder, Compare, Convert, Edge, FuncId, Function, Module, Op, Terminator,
    Type, Unary, Value,
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
fn a_split_value_put_together_is_the_value() {
    let text = check(function(&[Type::I64, Type::I32], |b, [_, _, wide]| {
        let low = b.resize_int(wide, Type::I32, false);
        let high = b.binary_const(Binary::LShr, wide, 32);
        let high = b.resize_int(high, Type::I32, false);
        let low = b.convert(Convert::ZeroExtend, low, Type::I64);
        let high = b.convert(Convert::ZeroExtend, high, Type::I64);
        let high = b.binary_const(Binary::Shl, high, 32);
        let whole = b.binary(Binary::Or, low, high);
        let top = b.binary_const(Binary::LShr, whole, 32);
        let top = b.resize_int(top, Type::I32, false);
        b.terminate(Terminator::Return(smallvec![whole, top]));
    }));
    assert!(
        !text.contains(" or ") && !text.contains("zero_extend"),
        "{text}"
    );
}

#[test]
fn four_bytes_make_the_word_they_came_from() {
    let text = check(function(&[Type::I32], |b, [word, ..]| {
        let bytes: Vec<(u32, Value)> = (0..4)
            .map(|i| {
                let byte =
                    crate::compiler::passes::helpers::scalar_bits::extract(b, word, i, Type::I8);
                (i, byte)
            })
            .collect();
        let whole = crate::compiler::passes::helpers::scalar_bits::join(b, &bytes, Type::I32);
        b.terminate(Terminator::Return(smallvec![whole]));
    }));
    assert!(text.contains("return %0"), "{text}");
}

#[test]
fn parts_of_a_word_need_no_narrower_type() {
    let text = check(function(&[Type::I32], |b, [word, ..]| {
        let low = b.binary_const(Binary::And, word, 0xff);
        let high = b.binary_const(Binary::And, word, 0xff00);
        let both = b.binary(Binary::Or, low, high);
        b.terminate(Terminator::Return(smallvec![both]));
    }));
    assert!(text.contains("const 0xffff\n"), "{text}");
    assert!(!text.contains("i16"), "{text}");
}

#[test]
fn a_pair_gives_back_its_halves() {
    let text = check(function(&[Type::I32, Type::I32], |b, [x, y, _]| {
        let pair =
            crate::compiler::passes::helpers::scalar_bits::join(b, &[(0, x), (4, y)], Type::I64);
        let low = b.resize_int(pair, Type::I32, false);
        let high = b.binary_const(Binary::LShr, pair, 32);
        let high = b.resize_int(high, Type::I32, false);
        b.terminate(Terminator::Return(smallvec![low, high]));
    }));
    assert!(text.contains("return %0, %1"), "{text}");
}

#[test]
fn sixty_four_bit_arithmetic_on_extended_numbers_is_narrowed() {
    let text = check(function(
        &[Type::I64, Type::Bool, Type::I32],
        |b, [x, y, _]| {
            let x = b.convert(Convert::ZeroExtend, x, Type::I64);
            let y = b.convert(Convert::ZeroExtend, y, Type::I64);
            let y = b.binary_const(Binary::And, y, 0xff);
            let seven = b.i64(7);
            let rest = b.binary(Binary::URem, x, seven);
            let less = b.compare(Compare::SLess, x, y);
            let sum = b.binary(Binary::Add, x, y);
            let low = b.resize_int(sum, Type::I32, false);
            b.terminate(Terminator::Return(smallvec![rest, less, low]));
        },
    ));
    assert_eq!(text.matches(": i64").count(), 2, "{text}");
}

#[test]
fn comparisons_of_sign_extended_numbers_with_constants_are_narrowed() {
    let text = check(function(&[Type::Bool; 4], |b, [x, _, _]| {
        let wide = b.convert(Convert::SignExtend, x, Type::I64);
        let (small, negative) = (b.constant(Type::I64, 32767), b.constant(Type::I64, !4));
        let large = b.constant(Type::I64, 0x8000_0000);
        let results = [
            b.compare(Compare::SLess, wide, small),
            b.compare(Compare::SLess, negative, wide),
            b.compare(Compare::SLessEqual, wide, negative),
            // No number of 32 bits.
            b.compare(Compare::SLess, large, wide),
        ];
        b.terminate(Terminator::Return(results.into_iter().collect()));
    }));
    assert_eq!(text.matches("sign_extend").count(), 0, "{text}");
    assert_eq!(text.matches("s_less").count(), 3, "{text}");
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
fn carries_of_sums_with_constants_are_comparisons() {
    for (op, sum_first, expected) in [
        (Compare::ULess, true, "u_less_equal"),
        (Compare::ULessEqual, true, "u_less_equal"),
        (Compare::ULess, false, "u_less "),
        (Compare::ULessEqual, false, "u_less "),
    ] {
        let text = check(function(&[Type::Bool], |b, [x, _, _]| {
            let sum = b.binary_const(Binary::Add, x, 7);
            let (first, second) = if sum_first { (sum, x) } else { (x, sum) };
            let carries = b.compare(op, first, second);
            b.terminate(Terminator::Return(smallvec![carries]));
        }));
        assert!(!text.contains("add"), "{op:?}: {text}");
        assert!(text.contains(expected), "{op:?}: {text}");
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

#[test]
fn a_number_without_other_bits_is_lost_in_a_constant() {
    for (mask, constant, is_known) in [(1, 1, true), (5, 7, true), (3, 1, false)] {
        let text = check(function(&[Type::I32], |b, [x, ..]| {
            let low = b.binary_const(Binary::And, x, mask);
            let number = b.binary_const(Binary::Or, low, constant);
            b.terminate(Terminator::Return(smallvec![number]));
        }));
        assert_eq!(
            !text.contains(" or "),
            is_known,
            "{mask} {constant}: {text}"
        );
    }
}

#[test]
fn comparisons_of_numbers_extended_differently_are_narrowed() {
    use Compare::{Equal, NotEqual, SLess, SLessEqual, ULess, ULessEqual};
    let operations = [Equal, NotEqual, SLess, SLessEqual, ULess, ULessEqual];
    for mask in [0xffff_ffff, 0xffff] {
        let text = check(function(&[Type::Bool; 12], |b, [x, y, _]| {
            let x = b.binary_const(Binary::And, x, mask);
            let x = b.convert(Convert::ZeroExtend, x, Type::I64);
            let y = b.convert(Convert::SignExtend, y, Type::I64);
            let results = operations
                .iter()
                .flat_map(|&op| [b.compare(op, x, y), b.compare(op, y, x)])
                .collect();
            b.terminate(Terminator::Return(results));
        }));
        assert!(!text.contains("extend"), "{text}");
        assert_eq!(text.contains("select"), mask == 0xffff_ffff, "{text}");
    }
}

#[test]
fn a_number_extended_in_two_ways_is_compared_with_itself() {
    use Compare::{Equal, NotEqual, SLess, SLessEqual, ULess, ULessEqual};
    let operations = [Equal, NotEqual, SLess, SLessEqual, ULess, ULessEqual];
    // Its results are those of before.
    check(function(&[Type::Bool; 12], |b, [x, _, _]| {
        let positive = b.convert(Convert::ZeroExtend, x, Type::I64);
        let signed = b.convert(Convert::SignExtend, x, Type::I64);
        let results = operations
            .iter()
            .flat_map(|&op| {
                [
                    b.compare(op, positive, signed),
                    b.compare(op, signed, positive),
                ]
            })
            .collect();
        b.terminate(Terminator::Return(results));
    }));
}

#[test]
fn a_sign_bit_that_is_asked_for_is_a_comparison() {
    let text = check(function(&[Type::Bool; 4], |b, [x, _, _]| {
        let wide = b.convert(Convert::SignExtend, x, Type::I64);
        let sign = b.binary_const(Binary::LShr, wide, 63);
        let [zero, one, two] = [0, 1, 2].map(|n| b.i64(n));
        let results = [
            b.compare(Compare::NotEqual, sign, zero),
            b.compare(Compare::Equal, sign, zero),
            b.compare(Compare::Equal, sign, one),
            b.compare(Compare::Equal, sign, two),
        ];
        b.terminate(Terminator::Return(results.into_iter().collect()));
    }));
    assert_eq!(text.matches("sign_extend").count(), 0, "{text}");
    assert_eq!(text.matches("shr").count(), 0, "{text}");
}

#[test]
fn a_decided_branch_and_its_dead_side_go() {
    let text = check(function(&[Type::I32], |b, [x, y, _]| {
        let (then, otherwise, join) = (
            b.function.add_block(),
            b.function.add_block(),
            b.function.add_block(),
        );
        let chosen = b.function.add_param(join, Type::I32);
        let same = b.compare(Compare::ULessEqual, x, x);
        b.branch(same, then, otherwise);
        b.switch_to(then);
        b.jump(Edge::new(join, [x]));
        b.switch_to(otherwise);
        let product = b.binary(Binary::Mul, x, y);
        b.jump(Edge::new(join, [product]));
        b.switch_to(join);
        b.terminate(Terminator::Return(smallvec![chosen]));
    }));
    assert_eq!(text.matches("b0").count(), 1, "{text}");
    assert!(
        text.contains("return %0") && !text.contains("mul"),
        "{text}"
    );
}

#[test]
fn empty_sides_of_a_branch_become_a_selection() {
    let text = check(function(&[Type::I32], |b, [x, y, _]| {
        let (then, join) = (b.function.add_block(), b.function.add_block());
        let chosen = b.function.add_param(join, Type::I32);
        let less = b.compare(Compare::SLess, x, y);
        b.branch(less, then, Edge::new(join, [x]));
        b.switch_to(then);
        b.jump(Edge::new(join, [y]));
        b.switch_to(join);
        b.terminate(Terminator::Return(smallvec![chosen]));
    }));
    assert!(
        text.contains("select") && !text.contains("branch"),
        "{text}"
    );
}

#[test]
fn a_loop_keeps_only_the_parameters_it_needs() {
    let text = check(function(&[Type::I32], |b, [x, y, _]| {
        let (head, body, exit) = (
            b.function.add_block(),
            b.function.add_block(),
            b.function.add_block(),
        );
        let [i, unused, same] = [0; 3].map(|_| b.function.add_param(head, Type::I32));
        let zero = b.i32(0);
        b.jump(Edge::new(head, [zero, zero, y]));
        b.switch_to(head);
        let five = b.i32(5);
        let more = b.compare(Compare::ULess, i, five);
        b.branch(more, body, exit);
        b.switch_to(body);
        let next = b.binary_const(Binary::Add, i, 1);
        let other = b.binary(Binary::Xor, unused, x);
        b.jump(Edge::new(head, [next, other, same]));
        b.switch_to(exit);
        let sum = b.binary(Binary::Add, i, same);
        b.terminate(Terminator::Return(smallvec![sum]));
    }));
    assert!(!text.contains("xor"), "{text}");
    assert_eq!(text.matches("b1(%").count(), 3, "{text}");
}

#[test]
fn equal_operations_are_shared_only_where_they_dominate() {
    let text = check(function(&[Type::I32], |b, [x, y, _]| {
        let (then, otherwise, join) = (
            b.function.add_block(),
            b.function.add_block(),
            b.function.add_block(),
        );
        let param = b.function.add_param(join, Type::I32);
        let less = b.compare(Compare::SLess, x, y);
        b.branch(less, then, otherwise);
        b.switch_to(then);
        let a = b.binary(Binary::Mul, x, y);
        let a2 = b.binary(Binary::Mul, y, x);
        let a = b.binary(Binary::Add, a, a2);
        b.jump(Edge::new(join, [a]));
        b.switch_to(otherwise);
        let c = b.binary(Binary::Mul, x, y);
        b.jump(Edge::new(join, [c]));
        b.switch_to(join);
        b.terminate(Terminator::Return(smallvec![param]));
    }));
    assert_eq!(text.matches("mul ").count(), 2, "{text}");
}

#[test]
fn a_constant_table_is_read_at_once() {
    use crate::compiler::ir::{AddressSpace, Global, GlobalId, Place};
    let mut module = function(&[Type::I32], |b, _| {
        let table = b.op1(
            Op::GlobalAddress(GlobalId(0)),
            Type::Ptr(AddressSpace::Constant),
        );
        let at = b.ptr_add_const(table, 4);
        let value = b.load1(Place::Pointer(at), Type::I32, Access::aligned(4));
        b.terminate(Terminator::Return(smallvec![value]));
    });
    module.add_global(Global {
        name: "table".into(),
        space: AddressSpace::Constant,
        size_bytes: 8,
        align_bytes: 4,
        initializer: Some(vec![1, 0, 0, 0, 0x44, 0x33, 0x22, 0x11].into()),
        relocations: Default::default(),
        spec_id: None,
        export: None,
        import: None,
    });
    let text = check(module);
    assert!(
        text.contains("const 0x11223344") && !text.contains("load"),
        "{text}"
    );
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

#[test]
fn a_bit_times_a_constant_is_a_choice() {
    let text = check(function(&[Type::I32, Type::I64], |b, [_, _, wide]| {
        let bit = b.binary_const(Binary::And, wide, 1);
        let bit = b.resize_int(bit, Type::I32, false);
        let product = b.binary_const(Binary::Mul, bit, 6);
        let two = b.binary_const(Binary::And, wide, 3);
        let kept = b.binary_const(Binary::Mul, two, 6);
        b.terminate(Terminator::Return(smallvec![product, kept]));
    }));
    assert!(text.contains("select"), "{text}");
    assert_eq!(text.matches("mul").count(), 1, "{text}");
}

#[test]
fn a_bit_times_a_long_is_a_choice() {
    let text = check(function(&[Type::I64; 3], |b, [_, _, wide]| {
        let bit = b.binary_const(Binary::And, wide, 1);
        let two = b.binary_const(Binary::And, wide, 3);
        let other = b.binary_const(Binary::Xor, wide, 0x1234_5678_9abc);
        let results = [
            b.binary(Binary::Mul, bit, other),
            b.binary(Binary::Mul, other, bit),
            b.binary(Binary::Mul, two, other),
        ];
        b.terminate(Terminator::Return(results.into_iter().collect()));
    }));
    assert_eq!(text.matches("mul").count(), 1, "{text}");
}

#[test]
fn no_parts_of_nothing_and_what_is_taken_and_given_back() {
    let text = check(function(&[Type::I32; 4], |b, [x, y, _]| {
        let zero = b.i32(0);
        let divisor = b.binary_const(Binary::Or, x, 1);
        let quotients =
            [Binary::UDiv, Binary::SDiv, Binary::SRem].map(|op| b.binary(op, zero, divisor));
        let difference = b.binary(Binary::Sub, x, y);
        let sum = b.binary(Binary::Add, y, difference);
        let results = quotients.into_iter().chain([sum]).collect();
        b.terminate(Terminator::Return(results));
    }));
    assert!(!text.contains("_div") && !text.contains("_rem"), "{text}");
    assert!(text.contains(", %0\n"), "{text}");
}

#[test]
fn shifts_that_extend_signs_are_narrow_arithmetic() {
    let text = check(function(
        &[Type::I64, Type::I64, Type::I64],
        |b, [x, y, wide]| {
            // (int)wide + 2, extended; the same times 4; `x - y` in the upper half, unsigned.
            let high = b.binary_const(Binary::Shl, wide, 32);
            let two = b.i64(2 << 32);
            let sum = b.binary(Binary::Add, high, two);
            let extended = b.binary_const(Binary::AShr, sum, 32);
            let scaled = b.binary_const(Binary::AShr, sum, 30);
            let x = b.convert(Convert::ZeroExtend, x, Type::I64);
            let y = b.convert(Convert::ZeroExtend, y, Type::I64);
            let x = b.binary_const(Binary::Shl, x, 32);
            let y = b.binary_const(Binary::Shl, y, 32);
            let rest = b.binary(Binary::Sub, x, y);
            let rest = b.binary_const(Binary::LShr, rest, 37);
            b.terminate(Terminator::Return(smallvec![extended, scaled, rest]));
        },
    ));
    assert!(text.contains("sign_extend"), "{text}");
    assert!(!text.contains("ashr"), "{text}");
}

#[test]
fn a_truncated_sum_is_a_sum_of_what_is_left() {
    let text = check(function(&[Type::I32], |b, [x, _, wide]| {
        let x = b.convert(Convert::ZeroExtend, x, Type::I64);
        let sum = b.binary(Binary::Add, x, wide);
        let sum = b.binary_const(Binary::Mul, sum, 5);
        let low = b.resize_int(sum, Type::I32, false);
        b.terminate(Terminator::Return(smallvec![low]));
    }));
    assert_eq!(text.matches("truncate").count(), 1, "{text}");
    assert!(!text.contains("zero_extend"), "{text}");
}

#[test]
fn signs_of_sums_and_products_may_be_known() {
    let text = check(function(&[Type::I64, Type::Bool], |b, [x, y, _]| {
        let x = b.binary_const(Binary::And, x, 0xffff);
        let y = b.binary_const(Binary::And, y, 0x3fff);
        let product = b.binary(Binary::Mul, x, y);
        let sum = b.binary(Binary::Add, product, x);
        let wide = b.convert(Convert::SignExtend, sum, Type::I64);
        let limit = b.i64(-5i64 as u64);
        let is_less = b.compare(Compare::SLess, wide, limit);
        b.terminate(Terminator::Return(smallvec![wide, is_less]));
    }));
    assert!(!text.contains("sign_extend"), "{text}");
}

#[test]
fn constants_come_out_of_products() {
    let text = check(function(&[Type::I32, Type::I32], |b, [x, y, _]| {
        let next = b.binary_const(Binary::Add, x, 5);
        let product = b.binary_const(Binary::Mul, next, 12);
        let next = b.binary_const(Binary::Add, y, 0xffff_ffff);
        let shifted = b.binary_const(Binary::Shl, next, 4);
        b.terminate(Terminator::Return(smallvec![product, shifted]));
    }));
    assert!(
        text.contains("const 0x3c") && text.contains("0xfffffff0"),
        "{text}"
    );
}
