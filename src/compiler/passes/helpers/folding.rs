//! Integer building that folds what is plainly constant.
//!
//! The legalizing passes take operations apart into many small ones of which, in the common cases (an
//! address plus a zero-extended index), most have a constant operand. Folding them here keeps the code that
//! `simplify` has to look at small; nothing depends on it. All values are integers of at most 32 bits.

use crate::compiler::evaluate;
use crate::compiler::ir::{Binary, Builder, Compare, Type, Value};

/// `a op b` for integers; both have the same type, apart from the amount of a shift, which is I32.
pub fn binary(b: &mut Builder<'_>, op: Binary, x: Value, y: Value) -> Value {
    use Binary::*;
    let ty = b.ty(x);
    let (cx, cy) = (b.function.constant(x), b.function.constant(y));
    if let (Some(cx), Some(cy)) = (cx, cy)
        && let Some(bits) = evaluated(op, cx, cy, ty)
    {
        return b.constant(ty, bits);
    }
    match (op, cx, cy) {
        (Add | Or | Xor, Some(0), _) => return y,
        (Add | Sub | Or | Xor | Shl | LShr | AShr, _, Some(0)) => return x,
        (And | Mul, Some(0), _) | (Shl | LShr | AShr, Some(0), _) => return x,
        (And | Mul, _, Some(0)) => return y,
        (And, Some(m), _) if m == ty.mask() => return y,
        (And, _, Some(m)) if m == ty.mask() => return x,
        (Or, Some(m), _) if m == ty.mask() => return x,
        (Or, _, Some(m)) if m == ty.mask() => return y,
        (Mul, Some(1), _) => return y,
        (Mul, _, Some(1)) => return x,
        (And | Or, ..) if x == y => return x,
        (Sub | Xor, ..) if x == y => return b.constant(ty, 0),
        _ => {}
    }
    b.binary(op, x, y)
}

/// `a op constant`
pub fn binary_const(b: &mut Builder<'_>, op: Binary, x: Value, bits: u64) -> Value {
    let ty = if op.is_shift() { Type::I32 } else { b.ty(x) };
    let y = b.constant(ty, bits);
    binary(b, op, x, y)
}

/// Integer comparison.
pub fn compare(b: &mut Builder<'_>, op: Compare, x: Value, y: Value) -> Value {
    use Compare::*;
    let ty = b.ty(x);
    let (cx, cy) = (b.function.constant(x), b.function.constant(y));
    let known = match (op, cx, cy) {
        (_, Some(x), Some(y)) => Some(evaluate::compare(op, ty, x, y)),
        (ULess, _, Some(0)) => Some(false),
        (ULessEqual, Some(0), _) => Some(true),
        (Equal | ULessEqual | SLessEqual, ..) if x == y => Some(true),
        (NotEqual | ULess | SLess, ..) if x == y => Some(false),
        _ => None,
    };
    match known {
        Some(known) => b.bool(known),
        None => b.compare(op, x, y),
    }
}

/// `if condition { x } else { y }`
pub fn select(b: &mut Builder<'_>, condition: Value, x: Value, y: Value) -> Value {
    let (cx, cy) = (b.function.constant(x), b.function.constant(y));
    match b.function.constant(condition) {
        Some(0) => y,
        Some(_) => x,
        None if x == y || (cx.is_some() && cx == cy) => x,
        None => b.select(condition, x, y),
    }
}

/// 1 where `condition` holds, else 0, as I32.
pub fn bool_to_int(b: &mut Builder<'_>, condition: Value) -> Value {
    let (one, zero) = (b.i32(1), b.i32(0));
    select(b, condition, one, zero)
}

/// `None` where the operation is not one of those that fold, or has no defined result.
fn evaluated(op: Binary, x: u64, y: u64, ty: Type) -> Option<u64> {
    use Binary::*;
    let folds = matches!(
        op,
        Add | Sub | Mul | And | Or | Xor | Shl | LShr | AShr | UDiv | URem | UMin | UMax
    );
    folds.then(|| evaluate::binary(op, ty, x, y))?
}
