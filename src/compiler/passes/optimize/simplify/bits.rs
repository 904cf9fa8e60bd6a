//! Parts of integers, taken out and put together.

use super::Sweep;
use crate::compiler::ir::{Binary, Convert, InstFlags, Op, Type, Value};

const DEPTH: u32 = 6;

/// `width` bits of an integer from bit `low` on, as a value of that width, where one is at hand.
pub fn extract(sweep: &mut Sweep<'_>, value: Value, low: u32, width: u32) -> Option<Value> {
    extract_within(sweep, value, low, width, DEPTH)
}

fn extract_within(
    sweep: &mut Sweep<'_>,
    value: Value,
    low: u32,
    width: u32,
    depth: u32,
) -> Option<Value> {
    let ty = sweep.ty(value);
    let wanted = Type::int(width)?;
    if low == 0 && ty == wanted {
        return Some(value);
    }
    let range = (wanted.mask()).checked_shl(low)?;
    if low + width <= ty.bits() && sweep.known(value).zeros & range == range {
        return Some(sweep.constant(wanted, 0));
    }
    let op = sweep.function.op_of(value)?.clone();
    if depth == 0 {
        return None;
    }
    match op {
        Op::Const(bits) => Some(sweep.constant(wanted, bits >> low)),
        Op::Binary(Binary::Or, a, b) => {
            for (one, other) in [(a, b), (b, a)] {
                if sweep.known(other).zeros & range == range {
                    return extract_within(sweep, one, low, width, depth - 1);
                }
            }
            None
        }
        Op::Binary(Binary::And, a, mask) if sweep.function.constant(mask)? & range == range => {
            extract_within(sweep, a, low, width, depth - 1)
        }
        Op::Binary(Binary::Shl, a, b) => {
            let amount = sweep.function.constant(b)? as u32;
            let low = low.checked_sub(amount)?;
            extract_within(sweep, a, low, width, depth - 1)
        }
        Op::Binary(Binary::LShr, a, b) => {
            let amount = sweep.function.constant(b)? as u32;
            (low + amount + width <= ty.bits())
                .then(|| extract_within(sweep, a, low + amount, width, depth - 1))?
        }
        Op::Convert(Convert::ZeroExtend | Convert::SignExtend, from) => {
            let from_bits = sweep.ty(from).bits();
            if low + width <= from_bits {
                return extract_within(sweep, from, low, width, depth - 1);
            }
            None
        }
        Op::Convert(Convert::Truncate, from) => extract_within(sweep, from, low, width, depth - 1),
        _ => None,
    }
}

/// Bits `low..low + width` of `source`, standing at bit `at`, zeros around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    source: Value,
    low: u32,
    width: u32,
    at: u32,
}

/// If an `Or` puts together again what was taken apart, the whole.
pub fn rejoined(sweep: &mut Sweep<'_>, a: Value, b: Value, ty: Type) -> Option<Value> {
    let joined = joined(piece(sweep, a, 8)?, piece(sweep, b, 8)?)?;
    if joined.low != joined.at || joined.low != 0 {
        return None;
    }
    // Only types that are there already: later stages have no others.
    let flags = InstFlags::default();
    let source = joined.source;
    let bits = sweep.ty(source).bits();
    let sized = match bits.cmp(&ty.bits()) {
        std::cmp::Ordering::Equal => source,
        std::cmp::Ordering::Less => sweep.make(Op::Convert(Convert::ZeroExtend, source), ty, flags),
        std::cmp::Ordering::Greater => {
            sweep.make(Op::Convert(Convert::Truncate, source), ty, flags)
        }
    };
    if joined.width == bits.min(ty.bits()) {
        return Some(sized);
    }
    let mask = sweep.constant(ty, (1 << joined.width) - 1);
    Some(sweep.make(Op::Binary(Binary::And, sized, mask), ty, flags))
}

fn joined(a: Piece, b: Piece) -> Option<Piece> {
    let (low, high) = if a.low <= b.low { (a, b) } else { (b, a) };
    let adjacent = low.source == high.source
        && low.low + low.width == high.low
        && low.at + low.width == high.at;
    adjacent.then_some(Piece {
        width: low.width + high.width,
        ..low
    })
}

fn piece(sweep: &Sweep<'_>, value: Value, depth: u32) -> Option<Piece> {
    let width = sweep.ty(value).bits();
    let whole = Piece {
        source: value,
        low: 0,
        width,
        at: 0,
    };
    let Some(op) = sweep.function.op_of(value) else {
        return Some(whole);
    };
    if depth == 0 {
        return Some(whole);
    }
    let amount = |value: Value| sweep.function.constant(value).map(|n| n as u32);
    match *op {
        Op::Convert(Convert::ZeroExtend, from) => piece(sweep, from, depth - 1),
        Op::Convert(Convert::Truncate, from) => Some(
            piece(sweep, from, depth - 1)?
                .within(0, width)
                .unwrap_or(whole),
        ),
        Op::Binary(Binary::And, from, mask) => {
            let Some(mask) = sweep.function.constant(mask) else {
                return Some(whole);
            };
            let (start, ones) = (mask.trailing_zeros(), mask.count_ones());
            let is_run = mask != 0 && mask >> start == u64::MAX >> (64 - ones);
            let part = if is_run {
                piece(sweep, from, depth - 1)?.within(start, start + ones)
            } else {
                None
            };
            Some(part.unwrap_or(whole))
        }
        Op::Binary(Binary::Shl, from, by) => {
            let (mut inner, by) = (piece(sweep, from, depth - 1)?, amount(by)?);
            inner.at += by;
            Some(inner.within(0, width).unwrap_or(whole))
        }
        Op::Binary(Binary::LShr, from, by) => {
            let by = amount(by)?;
            let inner = piece(sweep, from, depth - 1)?.within(by, width);
            Some(inner.map_or(whole, |inner| Piece {
                at: inner.at - by,
                ..inner
            }))
        }
        Op::Binary(Binary::Or, a, b) => {
            let (a, b) = (piece(sweep, a, depth - 1)?, piece(sweep, b, depth - 1)?);
            Some(joined(a, b).unwrap_or(whole))
        }
        _ => Some(whole),
    }
}

impl Piece {
    /// What of it stands in bits `start..end`.
    fn within(self, start: u32, end: u32) -> Option<Self> {
        let (from, to) = (self.at.max(start), (self.at + self.width).min(end));
        (from < to).then(|| Self {
            low: self.low + from - self.at,
            width: to - from,
            at: from,
            ..self
        })
    }
}
