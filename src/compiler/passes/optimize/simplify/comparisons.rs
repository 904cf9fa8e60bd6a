//! Comparisons by simpler ones.

use super::Sweep;
use super::fold;
use super::identities::{constant, make, op_of, selected, zero_extended};
use crate::compiler::evaluate;
use crate::compiler::ir::{Binary, Compare, Convert, Op, Type, Unary, Value};

/// A simpler value equal to the comparison's, if one is known. Comparisons of constants alone were folded before.
pub fn simplify(sweep: &mut Sweep<'_>, op: Compare, a: Value, b: Value) -> Option<Value> {
    let ty = sweep.ty(a);
    let is_equality = matches!(op, Compare::Equal | Compare::NotEqual);
    if a == b && !ty.is_float() {
        let holds = matches!(
            op,
            Compare::Equal | Compare::ULessEqual | Compare::SLessEqual
        );
        return Some(truth(sweep, holds));
    }
    if constant(sweep, a).is_some() && is_equality {
        return Some(make(sweep, Op::Compare(op, b, a), Type::Bool));
    }
    if let Type::Ptr(_) = ty {
        let is_null_check = is_equality && constant(sweep, b) == Some(0);
        return (is_null_check && is_address(sweep, a))
            .then(|| truth(sweep, op == Compare::NotEqual));
    }
    if !ty.is_float()
        && ty != Type::Bool
        && let Some(result) = of_integers(sweep, op, a, b)
    {
        return Some(result);
    }
    if let Some(result) = with_least(sweep, op, a, b) {
        return Some(result);
    }
    let bits = constant(sweep, b).filter(|_| is_equality)?;
    equality_with_constant(sweep, op, a, bits)
}

fn truth(sweep: &mut Sweep<'_>, holds: bool) -> Value {
    sweep.constant(Type::Bool, holds.into())
}

/// A comparison of integers without their extensions, or decided by what is known of them.
fn of_integers(sweep: &mut Sweep<'_>, op: Compare, a: Value, b: Value) -> Option<Value> {
    // Zero-extended: compare what was extended, unsigned.
    let unsigned = match op {
        Compare::SLess => Compare::ULess,
        Compare::SLessEqual => Compare::ULessEqual,
        other => other,
    };
    if let Some((x, y)) = zero_extended(sweep, a, b) {
        return Some(make(sweep, Op::Compare(unsigned, x, y), Type::Bool));
    }
    if let (Some(&Op::Convert(Convert::SignExtend, x)), Some(&Op::Convert(Convert::SignExtend, y))) =
        (sweep.function.op_of(a), sweep.function.op_of(b))
        && sweep.ty(x) == sweep.ty(y)
    {
        return Some(make(sweep, Op::Compare(op, x, y), Type::Bool));
    }
    if let Some(result) = sign_extended_and_constant(sweep, op, a, b)
        .or_else(|| extended_differently(sweep, op, a, b))
        .or_else(|| comparison_of_selection(sweep, op, a, b))
        .or_else(|| carry_of_constant(sweep, op, a, b))
    {
        return Some(result);
    }
    let holds = decided_by_bounds(sweep, op, a, b)?;
    Some(truth(sweep, holds))
}

/// An unsigned comparison with zero, the least number, or with one above it.
fn with_least(sweep: &mut Sweep<'_>, op: Compare, a: Value, b: Value) -> Option<Value> {
    match (op, constant(sweep, b)) {
        (Compare::ULess, Some(0)) => Some(truth(sweep, false)),
        (Compare::ULess, Some(1)) => {
            let zero = sweep.constant(sweep.ty(a), 0);
            Some(make(
                sweep,
                Op::Compare(Compare::Equal, a, zero),
                Type::Bool,
            ))
        }
        (Compare::ULessEqual, _) if constant(sweep, a) == Some(0) => Some(truth(sweep, true)),
        _ => None,
    }
}

/// Whether a value is, or is not, a constant: asked of what the value is made from.
fn equality_with_constant(
    sweep: &mut Sweep<'_>,
    op: Compare,
    a: Value,
    bits: u64,
) -> Option<Value> {
    let ty = sweep.ty(a);
    let wants_equal = op == Compare::Equal;
    if ty == Type::Bool {
        // Compared with a constant: itself or its negation.
        return if (bits == 1) == wants_equal {
            Some(a)
        } else {
            Some(make(sweep, Op::Unary(Unary::Not, a), Type::Bool))
        };
    }
    match op_of(sweep, a)? {
        Op::Convert(Convert::ZeroExtend, x) if bits > sweep.ty(x).mask() => {
            Some(truth(sweep, !wants_equal))
        }
        Op::Convert(Convert::SignExtend, x) => {
            let narrow = sweep.ty(x);
            if evaluate::signed(narrow, bits) != evaluate::signed(ty, bits) {
                return Some(truth(sweep, !wants_equal));
            }
            let bits = sweep.constant(narrow, bits);
            Some(make(sweep, Op::Compare(op, x, bits), Type::Bool))
        }
        // The sign bit. (llvmpipe of Mesa 22.3 needs it where the number was sign-extended: it takes all for positive.)
        Op::Binary(Binary::LShr, x, by)
            if constant(sweep, by) == Some(u64::from(ty.bits()) - 1) =>
        {
            if bits > 1 {
                return Some(truth(sweep, !wants_equal));
            }
            let (low, high) = if (bits == 1) == wants_equal {
                (x, sweep.constant(ty, 0))
            } else {
                (sweep.constant(ty, ty.mask()), x)
            };
            Some(make(
                sweep,
                Op::Compare(Compare::SLess, low, high),
                Type::Bool,
            ))
        }
        // x + c == d
        Op::Binary(Binary::Add, x, y) => {
            let other = constant(sweep, y)?;
            let rest = sweep.constant(ty, bits.wrapping_sub(other));
            Some(make(sweep, Op::Compare(op, x, rest), Type::Bool))
        }
        _ => None,
    }
}

/// Whether a sum with a constant carries, which is asked by comparing it with the other summand: that is at least minus the
/// constant then.
fn carry_of_constant(sweep: &mut Sweep<'_>, op: Compare, a: Value, b: Value) -> Option<Value> {
    if !matches!(op, Compare::ULess | Compare::ULessEqual) {
        return None;
    }
    let added_to = |sum: Value, summand: Value| match *sweep.function.op_of(sum)? {
        Op::Binary(Binary::Add, x, y) if x == summand => {
            constant(sweep, y).filter(|&added| added != 0)
        }
        _ => None,
    };
    let (added, x, carries) = match (added_to(a, b), added_to(b, a)) {
        (Some(added), _) => (added, b, true),
        (_, Some(added)) => (added, a, false),
        _ => return None,
    };
    let ty = sweep.ty(x);
    let least = sweep.constant(ty, added.wrapping_neg() & ty.mask());
    let op = if carries {
        Op::Compare(Compare::ULessEqual, least, x)
    } else {
        Op::Compare(Compare::ULess, x, least)
    };
    Some(make(sweep, op, Type::Bool))
}

/// What a comparison comes to where the numbers' bounds decide it: a local id below a required size, for one.
fn decided_by_bounds(sweep: &Sweep<'_>, op: Compare, a: Value, b: Value) -> Option<bool> {
    let (x, y) = (sweep.known(a), sweep.known(b));
    let sign = sweep.ty(a).mask() / 2 + 1;
    let is_signed = matches!(op, Compare::SLess | Compare::SLessEqual);
    if is_signed && (x.most >= sign || y.most >= sign) {
        return None;
    }
    match op {
        Compare::ULess | Compare::SLess if x.most < y.least => Some(true),
        Compare::ULess | Compare::SLess if x.least >= y.most => Some(false),
        Compare::ULessEqual | Compare::SLessEqual if x.most <= y.least => Some(true),
        Compare::ULessEqual | Compare::SLessEqual if x.least > y.most => Some(false),
        Compare::Equal | Compare::NotEqual if x.most < y.least || y.most < x.least => {
            Some(op == Compare::NotEqual)
        }
        _ => None,
    }
}

/// A boolean as a number, and back: one of two constants compared with another, in either order.
fn comparison_of_selection(
    sweep: &mut Sweep<'_>,
    op: Compare,
    a: Value,
    b: Value,
) -> Option<Value> {
    let ty = sweep.ty(a);
    let (condition, holds) = match (selected(sweep, a), selected(sweep, b)) {
        (Some((condition, x, y)), None) => {
            let bits = constant(sweep, b)?;
            (condition, [x, y].map(|it| fold::compare(op, ty, it, bits)))
        }
        (None, Some((condition, x, y))) => {
            let bits = constant(sweep, a)?;
            (condition, [x, y].map(|it| fold::compare(op, ty, bits, it)))
        }
        _ => return None,
    };
    match holds {
        [Some(true), Some(false)] => Some(condition),
        [Some(false), Some(true)] => {
            Some(make(sweep, Op::Unary(Unary::Not, condition), Type::Bool))
        }
        [holds, _] => Some(sweep.constant(Type::Bool, holds?.into())),
    }
}

/// Compares a number that was sign-extended and a constant, in either order, before the extension.
///
/// It is cheaper, and llvmpipe (seen in Mesa 22.3) needs it: of `min((long)x, 32767)` it makes the maximum.
fn sign_extended_and_constant(
    sweep: &mut Sweep<'_>,
    op: Compare,
    a: Value,
    b: Value,
) -> Option<Value> {
    if !matches!(op, Compare::SLess | Compare::SLessEqual) {
        return None;
    }
    let constant_first = constant(sweep, a).is_some();
    let (wide, other) = if constant_first { (b, a) } else { (a, b) };
    let Some(&Op::Convert(Convert::SignExtend, x)) = sweep.function.op_of(wide) else {
        return None;
    };
    let bits = constant(sweep, other)?;
    let (from, to) = (sweep.ty(x), sweep.ty(wide));
    if evaluate::signed(from, bits) != evaluate::signed(to, bits) {
        // Beyond all numbers of the narrow type: above them, or below.
        let above = evaluate::signed(to, bits) > 0;
        return Some(sweep.constant(Type::Bool, (above != constant_first).into()));
    }
    let y = sweep.constant(from, bits);
    let (x, y) = if constant_first { (y, x) } else { (x, y) };
    Some(make(sweep, Op::Compare(op, x, y), Type::Bool))
}

/// A comparison of a zero-extended number with a sign-extended one, both of one type: in that type, where the sign
/// is asked for first unless the other has none. (llvmpipe of Mesa 22.3 takes the sign-extended one for positive.)
fn extended_differently(sweep: &mut Sweep<'_>, op: Compare, a: Value, b: Value) -> Option<Value> {
    let (&Op::Convert(first, x), &Op::Convert(second, y)) =
        (sweep.function.op_of(a)?, sweep.function.op_of(b)?)
    else {
        return None;
    };
    // Both may be the same number: which one is signed is a matter of its place.
    let signed_first = match (first, second) {
        (Convert::SignExtend, Convert::ZeroExtend) => true,
        (Convert::ZeroExtend, Convert::SignExtend) => false,
        _ => return None,
    };
    let (signed, unsigned) = if signed_first { (x, y) } else { (y, x) };
    let narrow = sweep.ty(x);
    if sweep.ty(y) != narrow {
        return None;
    }
    if sweep.known(unsigned).most <= narrow.mask() >> 1 {
        return Some(make(sweep, Op::Compare(op, x, y), Type::Bool));
    }
    // A negative number is below all zero-extended ones, and read as unsigned above them.
    let (narrow_op, holds_if_negative) = match op {
        Compare::Equal | Compare::NotEqual => (op, op == Compare::NotEqual),
        Compare::SLess => (Compare::ULess, signed_first),
        Compare::SLessEqual => (Compare::ULessEqual, signed_first),
        Compare::ULess | Compare::ULessEqual => (op, !signed_first),
        _ => return None,
    };
    let zero = sweep.constant(narrow, 0);
    let is_negative = make(sweep, Op::Compare(Compare::SLess, signed, zero), Type::Bool);
    let otherwise = make(sweep, Op::Compare(narrow_op, x, y), Type::Bool);
    let holds = sweep.constant(Type::Bool, holds_if_negative.into());
    let choice = Op::Select(is_negative, holds, otherwise);
    Some(make(sweep, choice, Type::Bool))
}

/// Whether a pointer is the address of something.
fn is_address(sweep: &Sweep<'_>, mut pointer: Value) -> bool {
    loop {
        match sweep.function.op_of(pointer) {
            Some(Op::VariableAddress(_) | Op::GlobalAddress(_)) => return true,
            Some(&Op::PtrAdd(base, _)) => pointer = base,
            Some(&Op::Convert(Convert::AddressSpaceCast, from)) => pointer = from,
            _ => return false,
        }
    }
}
