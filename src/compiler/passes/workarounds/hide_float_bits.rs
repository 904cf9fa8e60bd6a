//! Makes integers of what atomics take, for a driver that forgets that the bits of a float are one.
//!
//! **Why.** llvmpipe (seen in Mesa 22.3) drops the bit cast in `atomic_or(p, as_uint(x))` and hands the
//! float itself to LLVM's atomic operation, which LLVM gives up on: it ends the process.
//!
//! **How.** The value is rotated by half its width, twice: integer operations, which the driver does not take
//! apart, and of which LLVM leaves nothing.
//!
//! **Needs** nothing; integer operations of the value's width must be there. Does nothing unless the device
//! asks for it ([`crate::compiler::Defects::FORGETS_CASTS_OF_ATOMICS`]).

use crate::compiler::ir::{
    Binary, Builder, Convert, Module, Op, Rewrite, Value, rewrite_instructions,
};
use crate::compiler::{CompileError, Context, Defects};

pub fn run(module: &mut Module, cx: &Context) -> Result<(), CompileError> {
    if !cx.capabilities.has(Defects::FORGETS_CASTS_OF_ATOMICS) {
        return Ok(());
    }
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            let Op::Atomic { values, .. } = &b.function.inst(inst).op else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            let values = values.clone();
            let hidden = values.iter().map(|&value| hide(b, value)).collect();
            if let Op::Atomic { values, .. } = &mut b.function.inst_mut(inst).op {
                *values = hidden;
            }
            Ok(Rewrite::Keep)
        })?;
    }
    Ok(())
}

/// A value's bits, as the result of integer operations where they were those of a float.
fn hide(b: &mut Builder<'_>, value: Value) -> Value {
    match b.function.op_of(value) {
        Some(&Op::Convert(Convert::Bitcast, from)) if b.ty(from).is_float() => {
            let rotated = rotate_by_half(b, value);
            rotate_by_half(b, rotated)
        }
        _ => value,
    }
}

fn rotate_by_half(b: &mut Builder<'_>, value: Value) -> Value {
    let half = u64::from(b.ty(value).bits() / 2);
    let high = b.binary_const(Binary::Shl, value, half);
    let low = b.binary_const(Binary::LShr, value, half);
    b.binary(Binary::Or, high, low)
}

#[cfg(test)]
mod tests {
    use crate::compiler::testing::count_of;
    use crate::compiler::{Capabilities, Defects};
    use rspirv::spirv::Op;

    const SOURCE: &str = "kernel void k(global uint *p, float x) { atomic_or(p, as_uint(x * x)); }";

    #[test]
    fn only_the_bits_of_floats_are_rotated_and_only_on_request() {
        let mut capabilities = Capabilities::full();
        let before = count_of(Op::ShiftLeftLogical, SOURCE, &capabilities);
        capabilities.defects = Defects::FORGETS_CASTS_OF_ATOMICS;
        assert_eq!(
            count_of(Op::ShiftLeftLogical, SOURCE, &capabilities),
            before + 2
        );
    }
}
