//! Converts floats to 64-bit integers by words, for a driver that loses registers in such conversions.
//!
//! **Why.** Of kernels with such a conversion, of a number that is the same for all work-items of a sub-group, NVIDIA's
//! compiler (seen in 580.159.04) gets another number wrong, as if the result were written when its registers hold that
//! already: `(gid & 1 | 2) * 12` was 36 for all work-items after a conversion of 1.0f to a `long`.
//!
//! **How.** The upper word is that of the number over 2^32, the lower word that of the rest, which is exact: both have no more
//! bits than the number. Signed ones by the magnitude, which is negated.
//!
//! **Needs** 64-bit integers and plain conversions (`lower::conversions`): toward zero, of what the type holds. Does nothing
//! unless the device asks for it ([`crate::compiler::Defects::MISPLACES_LONG_CONVERSIONS`]).

use crate::compiler::ir::{
    Binary, Builder, Compare, Convert, Function, Inst, InstFlags, Module, Op, Rewrite, Type, Unary,
    Value, rewrite_instructions,
};
use crate::compiler::passes::helpers::float_format::FloatFormat;
use crate::compiler::{CompileError, Context, Defects};
use smallvec::smallvec;

/// `Trunc` of `GLSL.std.450`.
const TRUNC: u32 = 3;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::MISPLACES_LONG_CONVERSIONS) {
        convert(module)?;
    }
    Ok(())
}

fn convert(module: &mut Module) -> Result<(), CompileError> {
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            let Some((x, signed)) = conversion(b.function, inst) else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            b.flags = InstFlags::default();
            let result = if signed {
                by_magnitude(b, x)
            } else {
                by_words(b, x)
            };
            Ok(Rewrite::Replace(smallvec![result]))
        })?;
    }
    Ok(())
}

/// The float that an instruction makes a 64-bit integer of, and whether that is signed.
fn conversion(function: &Function, inst: Inst) -> Option<(Value, bool)> {
    let data = function.inst(inst);
    let (x, signed) = match data.op {
        Op::Convert(Convert::FloatToSigned { .. }, x) => (x, true),
        Op::Convert(Convert::FloatToUnsigned { .. }, x) => (x, false),
        _ => return None,
    };
    let is_long = function.ty(*data.results.first()?) == Type::I64;
    let is_plain = matches!(function.ty(x), Type::F32 | Type::F64);
    (is_long && is_plain).then_some((x, signed))
}

fn by_magnitude(b: &mut Builder<'_>, x: Value) -> Value {
    let ty = b.ty(x);
    let zero = b.constant(ty, 0);
    let is_negative = b.compare(Compare::FOrdLess, x, zero);
    let turned = b.unary(Unary::FNegate, x);
    let magnitude = b.select(is_negative, turned, x);
    let number = by_words(b, magnitude);
    let negated = b.unary(Unary::Negate, number);
    b.select(is_negative, negated, number)
}

/// Converts a float from 0 to below 2^64 to an I64, word by word.
fn by_words(b: &mut Builder<'_>, x: Value) -> Value {
    let ty = b.ty(x);
    let format = FloatFormat::of(ty);
    let down = b.constant(ty, format.power_of_two(-32));
    let up = b.constant(ty, format.power_of_two(32));
    let scaled = b.binary(Binary::FMul, x, down);
    let above = b.op1(Op::Glsl(TRUNC, smallvec![scaled]), ty);
    let part = b.binary(Binary::FMul, above, up);
    let rest = b.binary(Binary::FSub, x, part);
    let to_word = Convert::FloatToUnsigned {
        rounding: None,
        saturate: false,
    };
    let [low, high] = [rest, above].map(|part| {
        let word = b.convert(to_word, part, Type::I32);
        b.resize_int(word, Type::I64, false)
    });
    let high = b.binary_const(Binary::Shl, high, 32);
    b.binary(Binary::Or, low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::passes::helpers::testing;
    use crate::compiler::testing::Random;

    fn converted(ty: Type, signed: bool) -> Module {
        let (rounding, saturate) = (None, false);
        let op = if signed {
            Convert::FloatToSigned { rounding, saturate }
        } else {
            Convert::FloatToUnsigned { rounding, saturate }
        };
        let mut module =
            testing::module_with(&[ty], |b, p| smallvec![b.convert(op, p[0], Type::I64)]);
        convert(&mut module).unwrap();
        let function = &module.functions[0];
        let insts = &function.block(function.entry()).insts;
        assert!(
            insts
                .iter()
                .all(|&inst| conversion(function, inst).is_none())
        );
        module
    }

    /// Numbers of every magnitude below 2^`bits`, and the edges.
    fn numbers(bits: i32) -> Vec<f64> {
        let mut random = Random(3);
        let mut all = vec![
            0.0,
            0.4,
            0.99,
            1.0,
            4294967295.0,
            4294967296.0,
            4294967297.5,
        ];
        all.extend((0..bits).map(|power| 2f64.powi(power)));
        all.extend((0..4000).map(|at| {
            let fraction = random.number() as f64 / 2f64.powi(64);
            fraction * 2f64.powi(at % bits + 1)
        }));
        all.retain(|&number| number < 2f64.powi(bits));
        all
    }

    #[test]
    fn words_make_the_same_number() {
        for signed in [false, true] {
            let [singles, doubles] = [Type::F32, Type::F64].map(|ty| converted(ty, signed));
            let bits = if signed { 63 } else { 64 };
            let mut all = numbers(bits);
            if signed {
                all.extend(numbers(63).into_iter().map(|number| -number));
                all.push(-(2f64.powi(63)));
            }
            for number in all {
                let expected = |number: f64| {
                    if signed {
                        number as i64 as u64
                    } else {
                        number as u64
                    }
                };
                let found = testing::results(&doubles, &[number.to_bits()]);
                assert_eq!(found, [expected(number)], "{number}");
                let single = number as f32;
                if f64::from(single).abs() < 2f64.powi(bits) {
                    let found = testing::results(&singles, &[single.to_bits().into()]);
                    assert_eq!(found, [expected(single.into())], "{single}");
                }
            }
        }
    }

    #[test]
    fn words_stay() {
        let to_word = Convert::FloatToUnsigned {
            rounding: None,
            saturate: false,
        };
        let mut module = testing::module_with(&[Type::F32], |b, p| {
            smallvec![b.convert(to_word, p[0], Type::I32)]
        });
        convert(&mut module).unwrap();
        let function = &module.functions[0];
        assert_eq!(function.block(function.entry()).insts.len(), 1);
    }
}
