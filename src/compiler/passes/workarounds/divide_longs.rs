//! Divides 64-bit integers by our own function, for a driver that gets some of their quotients wrong.
//!
//! **Why.** NVIDIA's driver (seen in 580.159.04) gives a wrong quotient of `1 / (y & 0x7fffffffffffffff | 1)`, of a shifted
//! constant by an odd number or by 0x7fffffffffffffff, and of others of which it knows some bits; where a kernel divides
//! several times, it loses some of the results, or takes one for all. It also takes as long for numbers that fit words as
//! for others.
//!
//! **How.** A call of the function that divides on devices without 64-bit integers ([`Helpers::call_divide`]); of signed
//! numbers with their magnitudes, the result negated where the signs differ.
//!
//! **Needs** 64-bit integers. Leaves unsigned quotients by a constant alone, signed ones by a constant of 32 bits, and
//! those of signed numbers that are 32-bit ones in truth, which the driver divides as such. Does nothing unless the
//! device asks for it ([`crate::compiler::Defects::MISDIVIDES_LONGS`]).

use crate::compiler::ir::{
    Binary, Builder, Convert, Function, Inst, InstFlags, Module, Op, Rewrite, Type, Value,
    rewrite_instructions,
};
use crate::compiler::passes::helpers::hidden_zero::HiddenZero;
use crate::compiler::passes::legalize::int64::{Helpers, Pair};
use crate::compiler::{CompileError, Context, Defects};
use smallvec::smallvec;

/// How far an operand is followed to what it was before.
const DEPTH: u32 = 4;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::MISDIVIDES_LONGS) {
        divide(module)?;
    }
    Ok(())
}

fn divide(module: &mut Module) -> Result<(), CompileError> {
    let mut pass = Pass {
        zero: HiddenZero::of(module),
        helpers: Helpers::new(module),
    };
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            let Some((op, x, y)) = division(b.function, inst) else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            let by_driver = b.function.constant(y).is_some();
            let is_exempt = match op {
                Binary::SDiv | Binary::SRem => {
                    is_word(b.function, y, DEPTH)
                        && (b.function.constant(y).is_some() || is_word(b.function, x, DEPTH))
                }
                _ => by_driver,
            };
            if is_exempt {
                return Ok(Rewrite::Keep);
            }
            b.flags = InstFlags::default();
            let result = match op {
                Binary::SDiv | Binary::SRem => pass.signed(b, op, x, y, by_driver),
                _ => pass.unsigned(b, op, x, y),
            };
            Ok(Rewrite::Replace(smallvec![result]))
        })?;
    }
    pass.helpers.add_to(module);
    Ok(())
}

struct Pass {
    zero: Option<HiddenZero>,
    helpers: Helpers,
}

impl Pass {
    /// The unsigned quotient or remainder of the magnitudes, negated where its sign is to be.
    fn signed(
        &mut self,
        b: &mut Builder<'_>,
        op: Binary,
        x: Value,
        y: Value,
        by_driver: bool,
    ) -> Value {
        let [(x, x_sign), (y, y_sign)] = [x, y].map(|value| magnitude(b, value));
        // A remainder has the sign of what is divided.
        let (op, sign) = match op {
            Binary::SDiv => (Binary::UDiv, b.binary(Binary::Xor, x_sign, y_sign)),
            _ => (Binary::URem, x_sign),
        };
        let result = if by_driver {
            b.binary(op, x, y)
        } else {
            self.unsigned(b, op, x, y)
        };
        negated_if(b, result, sign)
    }

    fn unsigned(&mut self, b: &mut Builder<'_>, op: Binary, x: Value, y: Value) -> Value {
        let [x, y] = [x, y].map(|value| {
            let upper = b.binary_const(Binary::LShr, value, 32);
            let hi = b.resize_int(upper, Type::I32, false);
            let lo = b.resize_int(value, Type::I32, false);
            // The driver may know of what it was extended, and get that quotient wrong: see `hide_ranges`.
            let lo = self.zero.map_or(lo, |zero| zero.added_to(b, lo));
            Pair { lo, hi }
        });
        let (quotient, remainder) = self.helpers.call_divide(b, x, y);
        let result = match op {
            Binary::UDiv => quotient,
            _ => remainder,
        };
        let [low, high] = [result.lo, result.hi].map(|word| b.resize_int(word, Type::I64, false));
        let high = b.binary_const(Binary::Shl, high, 32);
        b.binary(Binary::Or, low, high)
    }
}

/// A 64-bit quotient or remainder, and what of.
fn division(function: &Function, inst: Inst) -> Option<(Binary, Value, Value)> {
    match function.inst(inst).op {
        Op::Binary(op @ (Binary::UDiv | Binary::URem | Binary::SDiv | Binary::SRem), x, y)
            if function.ty(x) == Type::I64 =>
        {
            Some((op, x, y))
        }
        _ => None,
    }
}

/// Whether a number of 64 bits is one of 32 in truth.
fn is_word(function: &Function, value: Value, depth: u32) -> bool {
    match function.op_of(value) {
        Some(&Op::Const(bits)) => i32::try_from(bits as i64).is_ok(),
        Some(Op::Convert(Convert::SignExtend | Convert::ZeroExtend, _)) => true,
        Some(&Op::Select(_, a, b)) if depth > 0 => {
            is_word(function, a, depth - 1) && is_word(function, b, depth - 1)
        }
        _ => false,
    }
}

/// The magnitude of a number, and all ones if it is negative, else zero.
fn magnitude(b: &mut Builder<'_>, value: Value) -> (Value, Value) {
    let sign = b.binary_const(Binary::AShr, value, 63);
    (negated_if(b, value, sign), sign)
}

/// The number with its sign changed where `sign` is all ones.
fn negated_if(b: &mut Builder<'_>, value: Value, sign: Value) -> Value {
    let turned = b.binary(Binary::Xor, value, sign);
    b.binary(Binary::Sub, turned, sign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::passes::helpers::testing;
    use crate::compiler::testing::Random;

    /// `x / y` and `x % y`.
    fn quotients() -> Module {
        testing::module_with(&[Type::I64; 2], |b, p| {
            let quotient = b.binary(Binary::SDiv, p[0], p[1]);
            smallvec![quotient, b.binary(Binary::SRem, p[0], p[1])]
        })
    }

    fn is_left(module: &Module) -> bool {
        let function = &module.functions[0];
        let insts = &function.block(function.entry()).insts;
        insts.iter().any(|&inst| {
            let op = &function.inst(inst).op;
            matches!(op, Op::Binary(Binary::SDiv | Binary::SRem, ..))
        })
    }

    #[test]
    fn quotients_of_magnitudes_are_the_same() {
        let mut module = quotients();
        divide(&mut module).unwrap();
        assert!(!is_left(&module));
        let mut random = Random(7);
        let edges = [1, -1, 7, -7, i64::MAX, i64::MIN + 1, i64::MIN];
        let edges = edges.iter().flat_map(|&x| edges.map(|y| (x, y)));
        let numbers: Vec<_> = (0..2000)
            .map(|_| (random.number() as i64, (random.number() >> 20) as i64 | 1))
            .collect();
        for (x, y) in edges.chain(numbers) {
            let found = testing::results(&module, &[x as u64, y as u64]);
            let expected = [x.wrapping_div(y), x.wrapping_rem(y)].map(|it| it as u64);
            assert_eq!(found, expected, "{x} {y}");
        }
    }

    #[test]
    fn divisions_of_quotients_do_not_stay() {
        let mut module = testing::module_with(&[Type::I64; 3], |b, p| {
            let first = b.binary(Binary::UDiv, p[0], p[1]);
            let second = b.binary(Binary::UDiv, first, p[2]);
            smallvec![first, second]
        });
        divide(&mut module).unwrap();
        let function = &module.functions[0];
        let insts = &function.block(function.entry()).insts;
        assert!(insts.iter().all(|&inst| division(function, inst).is_none()));
        let found = testing::results(&module, &[u64::MAX, 1 << 33, 7]);
        assert_eq!(found, [(1 << 31) - 1, ((1 << 31) - 1) / 7]);
    }

    #[test]
    fn large_constants_do_not_stay() {
        let mut module = testing::module_with(&[Type::I64], |b, p| {
            let divisor = b.i64(i64::MAX as u64);
            smallvec![b.binary(Binary::SDiv, p[0], divisor)]
        });
        divide(&mut module).unwrap();
        assert!(!is_left(&module));
    }

    #[test]
    fn constants_and_words_stay() {
        for divisor in [Some(1000), None] {
            let mut module = testing::module_with(&[Type::I64; 2], |b, p| {
                let [x, y] = [p[0], p[1]].map(|value| {
                    let word = b.resize_int(value, Type::I32, true);
                    b.resize_int(word, Type::I64, true)
                });
                let (x, y) = match divisor {
                    Some(divisor) => (p[0], b.i64(divisor)),
                    None => (x, y),
                };
                smallvec![b.binary(Binary::SDiv, x, y)]
            });
            divide(&mut module).unwrap();
            assert!(is_left(&module));
        }
    }
}
