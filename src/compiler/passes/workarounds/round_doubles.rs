//! Rounds doubles by other operations, for a driver that rounds them as if they were singles.
//!
//! **Why.** llvmpipe (seen in Mesa 22.3; its code is the same in 2026) has instructions of the processor for `Trunc` and
//! `RoundEven` only where those take whole vectors of its own width: for doubles on x86 with AVX-512 alone. Elsewhere it goes
//! by integers, as is right for singles that need not be exact: what is above 2^24 stays as it is (16777217.5 is its own
//! `Trunc`), halves go to the lesser number (`RoundEven` of 1.5 is 1), and a zero has no sign. `Floor` and `Ceil` are exact.
//!
//! **How.** `Trunc` is the `Floor` of the magnitude. A magnitude below 2^52 and 2^52 make a sum that has no room for a
//! fraction: it is rounded as sums are, to even. The sign comes back at the end.
//!
//! **Needs** 64-bit integers. Does nothing unless the device asks for it ([`crate::compiler::Defects::MISROUNDS_DOUBLES`]).

use crate::compiler::ir::{
    Binary, Builder, Compare, Function, Inst, InstFlags, Module, Op, Rewrite, Type, Value,
    rewrite_instructions,
};
use crate::compiler::passes::helpers::float_format::FloatFormat;
use crate::compiler::{CompileError, Context, Defects};
use smallvec::smallvec;

/// `RoundEven` of `GLSL.std.450`.
const ROUND_EVEN: u32 = 2;
/// `Trunc` of `GLSL.std.450`.
const TRUNC: u32 = 3;
/// `Floor` of `GLSL.std.450`.
const FLOOR: u32 = 8;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::MISROUNDS_DOUBLES) {
        round(module)?;
    }
    Ok(())
}

fn round(module: &mut Module) -> Result<(), CompileError> {
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            let Some((number, x)) = rounding(b.function, inst) else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            // The sum must not be taken apart again.
            b.flags = InstFlags {
                no_contraction: true,
                ..InstFlags::default()
            };
            let format = FloatFormat::of(Type::F64);
            let bits = b.bitcast(x, Type::I64);
            let magnitude = b.binary_const(Binary::And, bits, format.magnitude());
            let magnitude = b.bitcast(magnitude, Type::F64);
            let rounded = match number {
                TRUNC => b.op1(Op::Glsl(FLOOR, smallvec![magnitude]), Type::F64),
                _ => to_even(b, magnitude),
            };
            let rounded = b.bitcast(rounded, Type::I64);
            let sign = b.binary_const(Binary::And, bits, format.sign());
            let signed = b.binary(Binary::Or, rounded, sign);
            let result = b.bitcast(signed, Type::F64);
            Ok(Rewrite::Replace(smallvec![result]))
        })?;
    }
    Ok(())
}

/// Which rounding of which double an instruction is.
fn rounding(function: &Function, inst: Inst) -> Option<(u32, Value)> {
    match &function.inst(inst).op {
        Op::Glsl(number @ (ROUND_EVEN | TRUNC), operands) => {
            let &[x] = &operands[..] else { return None };
            (function.ty(x) == Type::F64).then_some((*number, x))
        }
        _ => None,
    }
}

/// Rounds a double that is not negative, or NaN, to the nearest integer, halves to the even one.
fn to_even(b: &mut Builder<'_>, x: Value) -> Value {
    let format = FloatFormat::of(Type::F64);
    let whole_from = b.constant(
        Type::F64,
        format.power_of_two(format.fraction_bits.cast_signed()),
    );
    let sum = b.binary(Binary::FAdd, x, whole_from);
    let rounded = b.binary(Binary::FSub, sum, whole_from);
    // Infinity and what is no number are themselves, too.
    let has_fraction = b.compare(Compare::FOrdLess, x, whole_from);
    b.select(has_fraction, rounded, x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::passes::helpers::testing;
    use crate::compiler::testing::Random;

    fn rounded(ty: Type, number: u32) -> Module {
        let mut module = testing::module_with(&[ty], |b, p| {
            smallvec![b.op1(Op::Glsl(number, smallvec![p[0]]), ty)]
        });
        round(&mut module).unwrap();
        module
    }

    fn has(module: &Module, number: u32) -> bool {
        let function = &module.functions[0];
        let insts = &function.block(function.entry()).insts;
        insts
            .iter()
            .any(|&inst| matches!(function.inst(inst).op, Op::Glsl(n, _) if n == number))
    }

    #[test]
    fn doubles_are_rounded_as_the_processor_does() {
        let mut all = vec![
            0.0,
            0.25,
            0.5,
            0.75,
            1.5,
            2.5,
            16777217.5,
            2f64.powi(51) + 0.5,
            2f64.powi(52) - 0.5,
            2f64.powi(52) + 1.0,
            f64::from_bits(1),
            f64::MAX,
            f64::INFINITY,
        ];
        let mut random = Random(5);
        all.extend((0..4000).map(|at| {
            let fraction = random.number() as f64 / 2f64.powi(64);
            fraction * 2f64.powi(at % 60)
        }));
        type Oracle = fn(f64) -> f64;
        let both: [(u32, Oracle); 2] = [(ROUND_EVEN, f64::round_ties_even), (TRUNC, f64::trunc)];
        for (number, oracle) in both {
            let module = rounded(Type::F64, number);
            assert!(!has(&module, number));
            for x in all.iter().flat_map(|&x| [x, -x]) {
                let found = testing::results(&module, &[x.to_bits()]);
                assert_eq!(found, [oracle(x).to_bits()], "{number} of {x}");
            }
            let found = testing::results(&module, &[f64::NAN.to_bits()]);
            assert!(f64::from_bits(found[0]).is_nan());
        }
    }

    #[test]
    fn singles_stay() {
        for number in [ROUND_EVEN, TRUNC] {
            assert!(has(&rounded(Type::F32, number), number));
        }
    }
}
