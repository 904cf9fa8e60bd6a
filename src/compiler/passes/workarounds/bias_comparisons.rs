//! Compares 64-bit integers without their signs, for drivers that forget the sign of a word that was extended.
//!
//! **Why.** Mesa compares `(long)x` of an `int` with a constant as `x` with the constant's lower word, once it has seen that
//! the constant is one of 32 bits; the least of these it takes for 2^31 in place of -2^31 (`-0x80000000` in C, in what
//! `nir_opt_algebraic` makes; seen in 22.3.6, and not in 25.0's `nir_algebraic.py`), so all numbers come out as less, or none.
//! [`crate::compiler::passes::optimize::simplify`] compares the `int` where it sees the constant. But Mesa sees more of them: in the iterations of a loop
//! that it unrolls, and in functions that it inlines.
//!
//! **How.** The highest bit of both numbers is inverted, and they are compared as unsigned ones.
//!
//! **Needs** 64-bit integers. Does nothing unless the device asks for it
//! ([`crate::compiler::Defects::MISTAKES_SIGNS`]).

use crate::compiler::ir::{
    Binary, Builder, Compare, InstFlags, Module, Op, Rewrite, Type, Value, rewrite_instructions,
};
use crate::compiler::{CompileError, Context, Defects};
use smallvec::smallvec;

/// The bit that says whether a number is negative.
const SIGN: u64 = 1 << 63;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::MISTAKES_SIGNS) && cx.capabilities.int64 {
        bias(module)?;
    }
    Ok(())
}

fn bias(module: &mut Module) -> Result<(), CompileError> {
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            let (unsigned, x, y) = match b.function.inst(inst).op {
                Op::Compare(Compare::SLess, x, y) => (Compare::ULess, x, y),
                Op::Compare(Compare::SLessEqual, x, y) => (Compare::ULessEqual, x, y),
                _ => return Ok::<_, CompileError>(Rewrite::Keep),
            };
            if b.ty(x) != Type::I64 {
                return Ok(Rewrite::Keep);
            }
            b.flags = InstFlags::default();
            let [x, y] = [x, y].map(|value| biased(b, value));
            Ok(Rewrite::Replace(smallvec![b.compare(unsigned, x, y)]))
        })?;
    }
    Ok(())
}

/// The number plus 2^63.
fn biased(b: &mut Builder<'_>, value: Value) -> Value {
    match b.function.constant(value) {
        Some(bits) => b.i64(bits ^ SIGN),
        None => b.binary_const(Binary::Xor, value, SIGN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::passes::helpers::testing;

    const EDGES: [i64; 9] = [
        i64::MIN,
        i32::MIN as i64 - 1,
        i32::MIN as i64,
        -1,
        0,
        1,
        i32::MAX as i64,
        1 << 31,
        i64::MAX,
    ];

    /// `x < y` and `x <= y`, `y` an argument or a constant.
    fn comparisons(constant: Option<i64>) -> Module {
        testing::module_with(&[Type::I64; 2], |b, p| {
            let y = match constant {
                Some(y) => b.i64(y as u64),
                None => p[1],
            };
            let less = b.compare(Compare::SLess, p[0], y);
            smallvec![less, b.compare(Compare::SLessEqual, p[0], y)]
        })
    }

    #[test]
    fn numbers_are_compared_with_their_signs() {
        for y in EDGES {
            for constant in [None, Some(y)] {
                let mut module = comparisons(constant);
                bias(&mut module).unwrap();
                assert!(!module.functions[0].to_string().contains("SLess"));
                for x in EDGES {
                    let found = testing::results(&module, &[x as u64, y as u64]);
                    let expected = [x < y, x <= y].map(u64::from);
                    assert_eq!(found, expected, "{x} {y} {constant:?}");
                }
            }
        }
    }

    #[test]
    fn words_are_compared_as_they_are() {
        let module = || {
            testing::module_with(&[Type::I32; 2], |b, p| {
                smallvec![b.compare(Compare::SLess, p[0], p[1])]
            })
        };
        let mut biased = module();
        bias(&mut biased).unwrap();
        assert_eq!(
            biased.functions[0].to_string(),
            module().functions[0].to_string()
        );
    }
}
