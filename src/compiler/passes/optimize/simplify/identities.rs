//! Algebra: the value of an operation by simpler ones. That of a comparison is in `comparisons.rs`.

use super::Sweep;
use super::bits;
use super::fold;
use super::high_half;
use crate::compiler::evaluate;
use crate::compiler::ir::{Binary, Compare, Convert, InstFlags, Op, Type, Unary, Value};

/// A simpler value equal to the operation's, if one is known. Constant operands of commutative operations
/// stand second; operations on constants alone were folded before.
pub fn simplify(sweep: &mut Sweep<'_>, op: &Op, ty: Type) -> Option<Value> {
    match *op {
        Op::Unary(op, a) => unary(sweep, op, a, ty),
        Op::Binary(op, a, b) if op.is_float() => float_binary(sweep, op, a, b),
        Op::Binary(op, a, b) if op.is_shift() => shift(sweep, op, a, b, ty),
        Op::Binary(op, a, b) => binary(sweep, op, a, b, ty),
        Op::Select(condition, a, b) => select(sweep, condition, a, b, ty),
        Op::Convert(op, a) => convert(sweep, op, a, ty),
        Op::PtrAdd(base, offset) => ptr_add(sweep, base, offset, ty),
        _ => None,
    }
}

/// Builds without flags: what is derived promises nothing.
pub(super) fn make(sweep: &mut Sweep<'_>, op: Op, ty: Type) -> Value {
    sweep.make(op, ty, InstFlags::default())
}

pub(super) fn op_of(sweep: &Sweep<'_>, value: Value) -> Option<Op> {
    sweep.function.op_of(value).cloned()
}

pub(super) fn constant(sweep: &Sweep<'_>, value: Value) -> Option<u64> {
    sweep.function.constant(value)
}

fn unary(sweep: &mut Sweep<'_>, op: Unary, a: Value, ty: Type) -> Option<Value> {
    let inner = op_of(sweep, a)?;
    match (op, inner) {
        (Unary::Not, Op::Unary(Unary::Not, x))
        | (Unary::Negate, Op::Unary(Unary::Negate, x))
        | (Unary::FNegate, Op::Unary(Unary::FNegate, x)) => Some(x),
        (Unary::Not, Op::Compare(op, x, y)) if ty == Type::Bool => {
            let (op, swap) = inverse(op);
            let (x, y) = if swap { (y, x) } else { (x, y) };
            Some(make(sweep, Op::Compare(op, x, y), Type::Bool))
        }
        _ => None,
    }
}

/// The comparison that holds when this one does not, and whether its operands are swapped.
fn inverse(op: Compare) -> (Compare, bool) {
    match op {
        Compare::Equal => (Compare::NotEqual, false),
        Compare::NotEqual => (Compare::Equal, false),
        Compare::ULess => (Compare::ULessEqual, true),
        Compare::ULessEqual => (Compare::ULess, true),
        Compare::SLess => (Compare::SLessEqual, true),
        Compare::SLessEqual => (Compare::SLess, true),
        Compare::FOrdEqual => (Compare::FUnordNotEqual, false),
        Compare::FUnordEqual => (Compare::FOrdNotEqual, false),
        Compare::FOrdNotEqual => (Compare::FUnordEqual, false),
        Compare::FUnordNotEqual => (Compare::FOrdEqual, false),
        Compare::FOrdLess => (Compare::FUnordLessEqual, true),
        Compare::FUnordLess => (Compare::FOrdLessEqual, true),
        Compare::FOrdLessEqual => (Compare::FUnordLess, true),
        Compare::FUnordLessEqual => (Compare::FOrdLess, true),
        Compare::FOrdered => (Compare::FUnordered, false),
        Compare::FUnordered => (Compare::FOrdered, false),
    }
}

fn float_binary(sweep: &mut Sweep<'_>, op: Binary, a: Value, b: Value) -> Option<Value> {
    let ty = sweep.ty(a);
    let bits = constant(sweep, b)?;
    let one = match ty {
        Type::F32 => u64::from(1f32.to_bits()),
        Type::F64 => 1f64.to_bits(),
        _ => 0x3c00,
    };
    let negative_zero = 1 << (ty.bits() - 1);
    let is_same = match op {
        Binary::FMul | Binary::FDiv => bits == one,
        // Adding +0 would turn -0 into +0.
        Binary::FAdd => bits == negative_zero,
        Binary::FSub => bits == 0,
        _ => false,
    };
    is_same.then_some(a)
}

fn shift(sweep: &mut Sweep<'_>, op: Binary, a: Value, b: Value, ty: Type) -> Option<Value> {
    if constant(sweep, a) == Some(0) {
        return Some(a);
    }
    let amount = constant(sweep, b)?;
    if amount == 0 {
        return Some(a);
    }
    if let Some(value) = of_selections(sweep, op, a, b, ty) {
        return Some(value);
    }
    let width = u64::from(ty.bits());
    if amount >= width {
        return None;
    }
    let zero = sweep.known(a).zeros;
    match op {
        Binary::LShr if zero == ty.mask() & !((1 << amount) - 1) => {
            return Some(sweep.constant(ty, 0));
        }
        // A sign that is known.
        Binary::AShr if zero >> (width - 1) & 1 == 1 => {
            return Some(make(sweep, Op::Binary(Binary::LShr, a, b), ty));
        }
        _ => {}
    }
    if let Some(value) = high_half::shifted_right(sweep, op, a, amount) {
        return Some(value);
    }
    match (op, op_of(sweep, a)?) {
        (Binary::Shl | Binary::LShr, Op::Binary(inner, x, by)) if inner == op => {
            let total = amount + constant(sweep, by)?;
            if total >= width {
                return Some(sweep.constant(ty, 0));
            }
            let total = sweep.constant(sweep.ty(b), total);
            Some(make(sweep, Op::Binary(op, x, total), ty))
        }
        // There and back: a mask.
        (Binary::LShr, Op::Binary(Binary::Shl, x, by)) if constant(sweep, by) == Some(amount) => {
            let mask = sweep.constant(ty, ty.mask() >> amount);
            Some(make(sweep, Op::Binary(Binary::And, x, mask), ty))
        }
        (Binary::Shl, Op::Binary(Binary::LShr, x, by)) if constant(sweep, by) == Some(amount) => {
            let mask = sweep.constant(ty, ty.mask() << amount);
            Some(make(sweep, Op::Binary(Binary::And, x, mask), ty))
        }
        (Binary::LShr, Op::Convert(Convert::ZeroExtend, x)) => {
            let narrow = sweep.ty(x);
            if amount >= u64::from(narrow.bits()) {
                return Some(sweep.constant(ty, 0));
            }
            let shifted = make(sweep, Op::Binary(Binary::LShr, x, b), narrow);
            Some(make(sweep, Op::Convert(Convert::ZeroExtend, shifted), ty))
        }
        // Constants to the outside: what is left is often there already.
        (Binary::Shl, Op::Binary(Binary::Add, x, y)) => {
            let moved = fold::binary(op, ty, constant(sweep, y)?, amount)?;
            let shifted = make(sweep, Op::Binary(op, x, b), ty);
            let moved = sweep.constant(ty, moved);
            Some(make(sweep, Op::Binary(Binary::Add, shifted, moved), ty))
        }
        // The high half of a pair.
        (Binary::LShr, Op::Binary(Binary::Or, ..)) if (amount, width) == (32, 64) => {
            let half = bits::extract(sweep, a, 32, 32)?;
            Some(make(sweep, Op::Convert(Convert::ZeroExtend, half), ty))
        }
        _ => None,
    }
}

fn binary(sweep: &mut Sweep<'_>, op: Binary, a: Value, b: Value, ty: Type) -> Option<Value> {
    use Binary::*;
    if a == b {
        match op {
            Sub | Xor => return Some(sweep.constant(ty, 0)),
            And | Or | UMin | UMax | SMin | SMax => return Some(a),
            _ => {}
        }
    }
    if let Some(bits) = constant(sweep, b)
        && let Some(value) = with_constant(sweep, op, a, b, bits, ty)
    {
        return Some(value);
    }
    if let Some(value) = of_selections(sweep, op, a, b, ty) {
        return Some(value);
    }
    match op {
        UDiv | SDiv | URem | SRem | SMod if constant(sweep, a) == Some(0) => Some(a),
        Sub if constant(sweep, a) == Some(0) => Some(make(sweep, Op::Unary(Unary::Negate, b), ty)),
        Add => match (op_of(sweep, a), op_of(sweep, b)) {
            // (x - y) + y
            (Some(Op::Binary(Sub, x, y)), _) if y == b => Some(x),
            (_, Some(Op::Binary(Sub, x, y))) if y == a => Some(x),
            _ => None,
        },
        Or => bits::rejoined(sweep, a, b, ty),
        Mul if ty == Type::I64 => {
            product_with_bit(sweep, a, b).or_else(|| product_with_bit(sweep, b, a))
        }
        Sub => match (op_of(sweep, a), op_of(sweep, b)) {
            // (x + y) - x
            (Some(Op::Binary(Add, x, y)), _) if x == b => Some(y),
            (Some(Op::Binary(Add, x, y)), _) if y == b => Some(x),
            _ => None,
        },
        UDiv | URem => {
            // A 64-bit division of 32-bit numbers.
            let narrow = zero_extended(sweep, a, b)?;
            let (x, y) = (narrow.0, narrow.1);
            let result = make(sweep, Op::Binary(op, x, y), sweep.ty(x));
            Some(make(sweep, Op::Convert(Convert::ZeroExtend, result), ty))
        }
        _ => None,
    }
}

/// The product of a long and of one that is no larger than 1: a choice is cheaper, as few devices multiply longs in one
/// operation.
fn product_with_bit(sweep: &mut Sweep<'_>, a: Value, bit: Value) -> Option<Value> {
    if sweep.known(bit).most > 1 {
        return None;
    }
    let zero = sweep.constant(Type::I64, 0);
    let is_one = make(sweep, Op::Compare(Compare::NotEqual, bit, zero), Type::Bool);
    Some(make(sweep, Op::Select(is_one, a, zero), Type::I64))
}

/// Constants selected by a condition, and what both then become.
pub(super) fn selected(sweep: &Sweep<'_>, value: Value) -> Option<(Value, u64, u64)> {
    match *sweep.function.op_of(value)? {
        Op::Select(condition, x, y) => Some((condition, constant(sweep, x)?, constant(sweep, y)?)),
        _ => None,
    }
}

/// An operation on constants that conditions select: comparisons as numbers, in C.
fn of_selections(sweep: &mut Sweep<'_>, op: Binary, a: Value, b: Value, ty: Type) -> Option<Value> {
    let (condition, x, y) = selected(sweep, a)?;
    if let Some(bits) = constant(sweep, b) {
        let (x, y) = (
            fold::binary(op, ty, x, bits)?,
            fold::binary(op, ty, y, bits)?,
        );
        let (x, y) = (sweep.constant(ty, x), sweep.constant(ty, y));
        return Some(make(sweep, Op::Select(condition, x, y), ty));
    }
    let (other, z, w) = selected(sweep, b)?;
    if (y, w) != (0, 0) || x != z || !matches!(op, Binary::And | Binary::Or) {
        return None;
    }
    let both = make(sweep, Op::Binary(op, condition, other), Type::Bool);
    let (x, y) = (sweep.constant(ty, x), sweep.constant(ty, 0));
    Some(make(sweep, Op::Select(both, x, y), ty))
}

/// The operands without their zero extension, if both have one from the same type or are constants of it.
pub(super) fn zero_extended(sweep: &mut Sweep<'_>, a: Value, b: Value) -> Option<(Value, Value)> {
    let source = |sweep: &Sweep<'_>, value| match sweep.function.op_of(value) {
        Some(&Op::Convert(Convert::ZeroExtend, from)) => Some(from),
        _ => None,
    };
    match (source(sweep, a), source(sweep, b)) {
        (Some(x), Some(y)) if sweep.ty(x) == sweep.ty(y) => Some((x, y)),
        (Some(x), None) => {
            let bits = constant(sweep, b)?;
            let ty = sweep.ty(x);
            (bits <= ty.mask()).then(|| (x, sweep.constant(ty, bits)))
        }
        (None, Some(y)) => {
            let bits = constant(sweep, a)?;
            let ty = sweep.ty(y);
            (bits <= ty.mask()).then(|| (sweep.constant(ty, bits), y))
        }
        _ => None,
    }
}

fn with_constant(
    sweep: &mut Sweep<'_>,
    op: Binary,
    a: Value,
    b: Value,
    bits: u64,
    ty: Type,
) -> Option<Value> {
    use Binary::*;
    let all = ty.mask();
    match (op, bits) {
        (Add | Sub | Or | Xor | UMax, 0) => return Some(a),
        (Mul | And | UMin, 0) => return Some(b),
        (Mul | UDiv | SDiv, 1) => return Some(a),
        (URem | SRem, 1) => return Some(sweep.constant(ty, 0)),
        (And | UMin, bits) if bits == all => return Some(a),
        (Or | UMax, bits) if bits == all => return Some(b),
        (Xor, bits) if bits == all => return Some(make(sweep, Op::Unary(Unary::Not, a), ty)),
        _ => {}
    }
    let is_power = bits.is_power_of_two();
    match op {
        Sub => {
            let negated = sweep.constant(ty, bits.wrapping_neg());
            return Some(make(sweep, Op::Binary(Add, a, negated), ty));
        }
        Mul | UDiv if is_power => {
            let amount = sweep.constant(Type::I32, bits.trailing_zeros().into());
            let op = if op == Mul { Shl } else { LShr };
            return Some(make(sweep, Op::Binary(op, a, amount), ty));
        }
        // A choice is cheaper than a product.
        Mul if (sweep.known(a).zeros | 1) & all == all => {
            let zero = sweep.constant(ty, 0);
            let is_one = make(sweep, Op::Compare(Compare::NotEqual, a, zero), Type::Bool);
            return Some(make(sweep, Op::Select(is_one, b, zero), ty));
        }
        URem if is_power => {
            let mask = sweep.constant(ty, bits - 1);
            return Some(make(sweep, Op::Binary(And, a, mask), ty));
        }
        And => {
            let zero = sweep.known(a).zeros;
            if (zero | bits) & all == all {
                return Some(a);
            }
            if zero & bits == bits {
                return Some(sweep.constant(ty, 0));
            }
        }
        // `(c ? 1 : 0) | 1`
        Or if (!sweep.known(a).zeros & !bits) & all == 0 => return Some(b),
        _ => {}
    }
    match (op, op_of(sweep, a)?) {
        (Add | Mul | And | Or | Xor, Op::Binary(inner, x, y)) if inner == op => {
            let other = constant(sweep, y)?;
            let both = fold::binary(op, ty, other, bits)?;
            let both = sweep.constant(ty, both);
            Some(make(sweep, Op::Binary(op, x, both), ty))
        }
        (Mul, Op::Binary(Add, x, y)) => {
            let moved = fold::binary(op, ty, constant(sweep, y)?, bits)?;
            let product = make(sweep, Op::Binary(op, x, b), ty);
            let moved = sweep.constant(ty, moved);
            Some(make(sweep, Op::Binary(Add, product, moved), ty))
        }
        (And, Op::Convert(Convert::ZeroExtend, x)) => {
            let narrow = sweep.ty(x);
            let mask = sweep.constant(narrow, bits);
            let masked = make(sweep, Op::Binary(And, x, mask), narrow);
            Some(make(sweep, Op::Convert(Convert::ZeroExtend, masked), ty))
        }
        (UDiv | URem, Op::Convert(Convert::ZeroExtend, _)) => {
            let (x, y) = zero_extended(sweep, a, b)?;
            let result = make(sweep, Op::Binary(op, x, y), sweep.ty(x));
            Some(make(sweep, Op::Convert(Convert::ZeroExtend, result), ty))
        }
        _ => None,
    }
}

fn select(sweep: &mut Sweep<'_>, condition: Value, a: Value, b: Value, ty: Type) -> Option<Value> {
    if a == b {
        return Some(a);
    }
    match constant(sweep, condition) {
        Some(0) => return Some(b),
        Some(_) => return Some(a),
        None => {}
    }
    if let Some(Op::Unary(Unary::Not, inner)) = op_of(sweep, condition) {
        return Some(make(sweep, Op::Select(inner, b, a), ty));
    }
    if ty == Type::Bool {
        let pair = (constant(sweep, a), constant(sweep, b));
        return match pair {
            (Some(1), Some(0)) => Some(condition),
            (Some(0), Some(1)) => Some(make(sweep, Op::Unary(Unary::Not, condition), ty)),
            _ => None,
        };
    }
    // The same condition again.
    match (op_of(sweep, a), op_of(sweep, b)) {
        (Some(Op::Select(inner, x, _)), _) if inner == condition => {
            Some(make(sweep, Op::Select(condition, x, b), ty))
        }
        (_, Some(Op::Select(inner, _, y))) if inner == condition => {
            Some(make(sweep, Op::Select(condition, a, y), ty))
        }
        _ => None,
    }
}

fn convert(sweep: &mut Sweep<'_>, op: Convert, a: Value, ty: Type) -> Option<Value> {
    let from = sweep.ty(a);
    let inner = op_of(sweep, a)?;
    if let Some((condition, x, y)) = selected(sweep, a)
        && let Some(x) = fold::convert(op, from, ty, x)
        && let Some(y) = fold::convert(op, from, ty, y)
    {
        let (x, y) = (sweep.constant(ty, x), sweep.constant(ty, y));
        return Some(make(sweep, Op::Select(condition, x, y), ty));
    }
    match (op, inner) {
        (Convert::Bitcast, _) if from == ty => Some(a),
        (Convert::Bitcast, Op::Convert(Convert::Bitcast, x)) => {
            if sweep.ty(x) == ty {
                Some(x)
            } else {
                Some(make(sweep, Op::Convert(Convert::Bitcast, x), ty))
            }
        }
        (Convert::ZeroExtend, Op::Convert(Convert::ZeroExtend, x))
        | (Convert::SignExtend, Op::Convert(Convert::SignExtend, x)) => {
            Some(make(sweep, Op::Convert(op, x), ty))
        }
        (Convert::SignExtend, Op::Convert(Convert::ZeroExtend, x)) => {
            Some(make(sweep, Op::Convert(Convert::ZeroExtend, x), ty))
        }
        // The bits cut off were zero anyway.
        (Convert::ZeroExtend, Op::Convert(Convert::Truncate, x)) if sweep.ty(x) == ty => {
            let cut = ty.mask() & !from.mask();
            let zero = sweep.known(x).zeros;
            if zero & cut == cut {
                return Some(x);
            }
            let mask = sweep.constant(ty, from.mask());
            Some(make(sweep, Op::Binary(Binary::And, x, mask), ty))
        }
        (Convert::SignExtend, _) if sweep.known(a).zeros >> (from.bits() - 1) & 1 == 1 => {
            Some(make(sweep, Op::Convert(Convert::ZeroExtend, a), ty))
        }
        (Convert::Truncate, inner) => truncate(sweep, a, inner, ty),
        (Convert::IntToPtr, Op::Convert(Convert::PtrToInt, x)) if sweep.ty(x) == ty => Some(x),
        (Convert::PtrToInt, Op::Convert(Convert::IntToPtr, x)) if sweep.ty(x) == ty => Some(x),
        (Convert::AddressSpaceCast, _) if from == ty => Some(a),
        (Convert::AddressSpaceCast, Op::Convert(Convert::AddressSpaceCast, x))
            if sweep.ty(x) == ty =>
        {
            Some(x)
        }
        _ => None,
    }
}

fn truncate(sweep: &mut Sweep<'_>, a: Value, inner: Op, ty: Type) -> Option<Value> {
    if let Some(value) = bits::extract(sweep, a, 0, ty.bits()) {
        return Some(value);
    }
    match inner {
        Op::Convert(Convert::Truncate, x) => {
            Some(make(sweep, Op::Convert(Convert::Truncate, x), ty))
        }
        Op::Convert(op @ (Convert::ZeroExtend | Convert::SignExtend), x)
            if sweep.ty(x).bits() < ty.bits() =>
        {
            Some(make(sweep, Op::Convert(op, x), ty))
        }
        // Low bits depend on low bits only: compute in the narrow type if that costs no conversion.
        Op::Binary(
            op @ (Binary::Add | Binary::Sub | Binary::Mul | Binary::And | Binary::Or | Binary::Xor),
            x,
            y,
        ) => {
            let (x, y) = match (narrowed(sweep, x, ty), narrowed(sweep, y, ty)) {
                (Some(x), Some(y)) => (x, y),
                // One truncation for another, and the operation is narrow.
                (Some(x), None) => (x, make(sweep, Op::Convert(Convert::Truncate, y), ty)),
                (None, Some(y)) => (make(sweep, Op::Convert(Convert::Truncate, x), ty), y),
                (None, None) => return None,
            };
            Some(make(sweep, Op::Binary(op, x, y), ty))
        }
        Op::Binary(Binary::Shl, x, by) => {
            let amount = constant(sweep, by)?;
            if amount >= u64::from(ty.bits()) {
                return Some(sweep.constant(ty, 0));
            }
            let x = narrowed(sweep, x, ty)?;
            Some(make(sweep, Op::Binary(Binary::Shl, x, by), ty))
        }
        Op::Select(condition, x, y) => {
            let (x, y) = (narrowed(sweep, x, ty)?, narrowed(sweep, y, ty)?);
            Some(make(sweep, Op::Select(condition, x, y), ty))
        }
        _ => None,
    }
}

/// The low bits of a value that are at hand without a truncation.
fn narrowed(sweep: &mut Sweep<'_>, value: Value, ty: Type) -> Option<Value> {
    if let Some(value) = bits::extract(sweep, value, 0, ty.bits()) {
        return Some(value);
    }
    match op_of(sweep, value)? {
        Op::Const(bits) => Some(sweep.constant(ty, bits)),
        Op::Convert(op @ (Convert::ZeroExtend | Convert::SignExtend), x)
            if sweep.ty(x).bits() < ty.bits() =>
        {
            Some(make(sweep, Op::Convert(op, x), ty))
        }
        _ => None,
    }
}

fn ptr_add(sweep: &mut Sweep<'_>, base: Value, offset: Value, ty: Type) -> Option<Value> {
    let bits = constant(sweep, offset)?;
    if bits == 0 {
        return Some(base);
    }
    let Op::PtrAdd(inner, by) = op_of(sweep, base)? else {
        return None;
    };
    let other = evaluate::signed(sweep.ty(by), constant(sweep, by)?);
    let sum = other.checked_add(evaluate::signed(sweep.ty(offset), bits))?;
    let sum = sweep.constant(Type::I64, sum as u64);
    Some(make(sweep, Op::PtrAdd(inner, sum), ty))
}
