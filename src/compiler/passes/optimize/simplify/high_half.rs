//! 64-bit values that are a 32-bit number moved to the upper half.
//!
//! clang truncates and extends with shifts: `(int)i` of a 64-bit `i` is `i << 32 >> 32`, and arithmetic between
//! the two shifts happens in the upper half. That is 32-bit arithmetic.

use super::Sweep;
use crate::compiler::ir::{Binary, Convert, InstFlags, Op, Type, Value};

/// How many operations deep a number is looked for.
const DEPTH: u32 = 6;

/// The number whose upper half, with zeros below, is the 64-bit `value`: as 32 bits.
pub fn number(sweep: &mut Sweep<'_>, value: Value) -> Option<Value> {
    (sweep.ty(value) == Type::I64 && is_number(sweep, value, DEPTH)).then(|| build(sweep, value))?
}

fn is_number(sweep: &Sweep<'_>, value: Value, depth: u32) -> bool {
    let Some(op) = sweep.function.op_of(value) else {
        return false;
    };
    if depth == 0 {
        return false;
    }
    match *op {
        Op::Const(bits) => bits as u32 == 0,
        Op::Binary(Binary::Shl, _, by) => sweep
            .function
            .constant(by)
            .is_some_and(|by| (32..64).contains(&by)),
        Op::Binary(Binary::Add | Binary::Sub | Binary::And | Binary::Or | Binary::Xor, a, b) => {
            is_number(sweep, a, depth - 1) && is_number(sweep, b, depth - 1)
        }
        _ => false,
    }
}

/// For what [`is_number`] holds for.
fn build(sweep: &mut Sweep<'_>, value: Value) -> Option<Value> {
    let flags = InstFlags::default();
    let number = match *sweep.function.op_of(value)? {
        Op::Const(bits) => sweep.constant(Type::I32, bits >> 32),
        Op::Binary(Binary::Shl, x, by) => {
            let low = sweep.make(Op::Convert(Convert::Truncate, x), Type::I32, flags);
            let by = sweep.function.constant(by)?.checked_sub(32)?;
            let by = sweep.constant(Type::I32, by);
            sweep.make(Op::Binary(Binary::Shl, low, by), Type::I32, flags)
        }
        Op::Binary(op, a, b) => {
            let (a, b) = (build(sweep, a)?, build(sweep, b)?);
            sweep.make(Op::Binary(op, a, b), Type::I32, flags)
        }
        _ => return None,
    };
    Some(number)
}

/// `value >> amount`, with the sign of the number, in terms of its 32 bits.
pub fn shifted_right(
    sweep: &mut Sweep<'_>,
    op: Binary,
    value: Value,
    amount: u64,
) -> Option<Value> {
    let flags = InstFlags::default();
    let extend = match op {
        Binary::AShr => Convert::SignExtend,
        Binary::LShr => Convert::ZeroExtend,
        _ => return None,
    };
    let number = number(sweep, value)?;
    let (inside, outside) = (amount.saturating_sub(32), 32u64.saturating_sub(amount));
    let inside = sweep.constant(Type::I32, inside);
    let number = sweep.make(Op::Binary(op, number, inside), Type::I32, flags);
    let wide = sweep.make(Op::Convert(extend, number), Type::I64, flags);
    let outside = sweep.constant(Type::I32, outside);
    Some(sweep.make(Op::Binary(Binary::Shl, wide, outside), Type::I64, flags))
}
