//! Makes the place of an integer's highest bit 31 where that bit is set, for a driver that takes the integer for a negative
//! one.
//!
//! **Why.** NVIDIA's driver (seen in 580.159.04) computes `FindUMsb` as `FindSMsb`, which looks for the highest bit that
//! differs from the sign, where the number is an argument that is also a factor of a 64-bit product, and that is compared:
//! `clz(0x98765432)` was 1.
//!
//! **How.** The place is replaced with 31 where the number, as a signed one, is negative; by its bits, for which NVIDIA's GPUs
//! have one instruction.
//!
//! **Needs** nothing. Does nothing unless the device asks for it ([`crate::compiler::Defects::MISTAKES_LEADING_BITS`]).

use crate::compiler::ir::{
    Binary, Function, Inst, InstFlags, Module, Op, Rewrite, Type, Unary, Value,
    rewrite_instructions,
};
use crate::compiler::{CompileError, Context, Defects};
use smallvec::smallvec;

/// `FindUMsb` of `GLSL.std.450`.
const FIND_U_MSB: u32 = 75;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::MISTAKES_LEADING_BITS) {
        complete(module)?;
    }
    Ok(())
}

fn complete(module: &mut Module) -> Result<(), CompileError> {
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            let Some(x) = searched(b.function, inst) else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            b.flags = InstFlags::default();
            let place = b.op1(Op::Glsl(FIND_U_MSB, smallvec![x]), Type::I32);
            let signs = b.binary_const(Binary::AShr, x, 31);
            let last = b.binary_const(Binary::And, signs, 31);
            let not_negative = b.unary(Unary::Not, signs);
            let place = b.binary(Binary::And, place, not_negative);
            let result = b.binary(Binary::Or, place, last);
            Ok(Rewrite::Replace(smallvec![result]))
        })?;
    }
    Ok(())
}

/// The integer whose highest bit an instruction looks for.
fn searched(function: &Function, inst: Inst) -> Option<Value> {
    match &function.inst(inst).op {
        Op::Glsl(FIND_U_MSB, operands) => operands.first().copied(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::passes::helpers::testing;

    #[test]
    fn the_place_is_right_whatever_sign_the_driver_sees() {
        let mut module = testing::module_with(&[Type::I32], |b, p| {
            smallvec![b.op1(Op::Glsl(FIND_U_MSB, smallvec![p[0]]), Type::I32)]
        });
        complete(&mut module).unwrap();
        let mut mistaken = module.clone();
        let function = &mut mistaken.functions[0];
        let search = function.block(function.entry()).insts[0];
        let number = searched(function, search).unwrap();
        // What differs from the sign, as `FindSMsb` has it.
        rewrite_instructions(function, |b, inst| {
            if inst != search {
                return Ok::<_, CompileError>(Rewrite::Keep);
            }
            let signs = b.binary_const(Binary::AShr, number, 31);
            let different = b.binary(Binary::Xor, number, signs);
            let place = b.op1(Op::Glsl(FIND_U_MSB, smallvec![different]), Type::I32);
            Ok(Rewrite::Replace(smallvec![place]))
        })
        .unwrap();
        for number in [0, 1, 2, 3, 0x7fff_ffff, 0x8000_0000, 0x9876_5432, u32::MAX] {
            let expected = number.checked_ilog2().unwrap_or(u32::MAX);
            for module in [&module, &mistaken] {
                let found = testing::results(module, &[number.into()]);
                assert_eq!(found, [expected.into()], "{number:#x}");
            }
        }
    }
}
