//! The functions `spirv.llvm_fshl_*` and `spirv.llvm_fshr_*`, by which LLVM's SPIR-V back end and translator say
//! that two numbers side by side are shifted (`llvm.fshl`, `llvm.fshr`).
//!
//! `fshl(a, b, n)` is there `a << n | b >> (32 - n)`: of no shift at all it shifts `b` by 32, which SPIR-V leaves
//! undefined and devices do differently. By one bit, and then by what is left to 31, it is what LLVM means.

use crate::compiler::ir::{
    Binary, Builder, Function, Module, Op, Rewrite, Value, rewrite_instructions,
};
use smallvec::smallvec;
use std::convert::Infallible;

const PREFIX: &str = "spirv.llvm_fsh";

/// Corrects the functions of a module.
pub fn correct(module: &mut Module) {
    let functions = module.functions.iter_mut();
    for function in functions.filter(|function| function.name.starts_with(PREFIX)) {
        correct_function(function);
    }
}

fn correct_function(function: &mut Function) {
    let Ok(_) = rewrite_instructions::<Infallible>(function, |b, inst| {
        let op = b.function.inst(inst).op.clone();
        Ok(corrected(b, op).map_or(Rewrite::Keep, |value| Rewrite::Replace(smallvec![value])))
    });
}

/// A shift by the width less a number, so that it is right where the number is zero.
fn corrected(b: &mut Builder<'_>, op: Op) -> Option<Value> {
    let Op::Binary(op @ (Binary::Shl | Binary::LShr), value, amount) = op else {
        return None;
    };
    let &Op::Binary(Binary::Sub, width, number) = b.function.op_of(amount)? else {
        return None;
    };
    let bits = u64::from(b.ty(value).bits());
    if b.function.constant(width)? != bits {
        return None;
    }
    let by_one = b.binary_const(op, value, 1);
    let ty = b.ty(number);
    let rest = b.constant(ty, bits - 1);
    let rest = b.binary(Binary::Sub, rest, number);
    Some(b.binary(op, by_one, rest))
}
