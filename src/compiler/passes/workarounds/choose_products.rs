//! Makes choices of products with a number that is 0 or 1, for a driver that gets such products wrong.
//!
//! **Why.** NVIDIA's driver (seen in 580.159.04) computes `(x & 1) * 6` wrong where the remainder of the same 64-bit `x` is
//! taken, and the product of a 64-bit number with such a bit where it is made over and over in a loop.
//!
//! **How.** `bit != 0 ? factor : 0`. [`crate::compiler::passes::optimize::simplify`] does so for every device, where it finds such
//! a product; this is for those that are made later, and does not rest on that.
//!
//! **Needs** nothing. Does nothing unless the device asks for it ([`crate::compiler::Defects::MISMULTIPLIES_BITS`]).

use crate::compiler::analysis::KnownBits;
use crate::compiler::ir::{
    Binary, Compare, Function, Inst, InstFlags, Module, Op, Rewrite, Type, Value,
    rewrite_instructions,
};
use crate::compiler::{CompileError, Context, Defects};
use smallvec::smallvec;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::MISMULTIPLIES_BITS) {
        choose(module)?;
    }
    Ok(())
}

fn choose(module: &mut Module) -> Result<(), CompileError> {
    let local_sizes = module.most_local_sizes();
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            let Some((bit, factor)) = product(b.function, local_sizes, inst) else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            b.flags = InstFlags::default();
            let zero = b.constant(b.ty(bit), 0);
            let is_one = b.compare(Compare::NotEqual, bit, zero);
            Ok(Rewrite::Replace(smallvec![b.select(is_one, factor, zero)]))
        })?;
    }
    Ok(())
}

/// The number that is 0 or 1, and the other factor, of a product that the driver gets wrong.
fn product(function: &Function, local_sizes: [u32; 3], inst: Inst) -> Option<(Value, Value)> {
    let &Op::Binary(Binary::Mul, a, b) = &function.inst(inst).op else {
        return None;
    };
    let is_bit = |value| KnownBits::of(function, local_sizes, value).most <= 1;
    let is_known = |value| function.constant(value).is_some();
    [(a, b), (b, a)].into_iter().find(|&(bit, factor)| {
        (function.ty(bit) == Type::I64 || is_known(factor)) && !is_known(bit) && is_bit(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::passes::helpers::testing;

    fn products(module: &Module) -> usize {
        module.to_string().matches("mul").count()
    }

    #[test]
    fn a_bit_times_a_number_is_a_choice() {
        let mut module = testing::module_with(&[Type::I32, Type::I64], |b, p| {
            let bit = b.binary_const(Binary::And, p[0], 1);
            let wide = b.binary_const(Binary::And, p[1], 1);
            let pair = b.binary_const(Binary::And, p[0], 3);
            smallvec![
                b.binary_const(Binary::Mul, bit, 6),
                b.binary(Binary::Mul, wide, p[1]),
                b.binary(Binary::Mul, p[1], wide),
                b.binary_const(Binary::Mul, pair, 6),
                b.binary(Binary::Mul, bit, p[0]),
            ]
        });
        let before = module.clone();
        choose(&mut module).unwrap();
        assert_eq!(products(&before), 5, "{before}");
        // The products with a number up to 3, and of two that are not known, stay.
        assert_eq!(products(&module), 2, "{module}");
        for inputs in [[0, 0], [1, 1], [6, 7], [0xffff_ffff, u64::MAX]] {
            let run = |module| testing::results(module, &inputs);
            assert_eq!(run(&module), run(&before), "{inputs:?}");
        }
    }
}
