//! Arithmetic on ballots: four 32-bit words with a bit for each work-item of a sub-group, the first in the
//! lowest bit of the first word.

use crate::compiler::ir::{Binary, Builder, Compare, Op, Type, Unary, Value, WorkItem};
use rspirv::spirv::{BuiltIn, GlslStd450Op as GLOp};
use smallvec::smallvec;

/// The words of a ballot, all I32.
pub(super) type Mask = [Value; 4];

/// This work-item's place in its sub-group.
pub(super) fn lane(b: &mut Builder<'_>) -> Value {
    b.op1(Op::WorkItem(WorkItem::SubgroupLocalId), Type::I32)
}

/// The lowest `count` bits of a mask, `count` being at most 128.
fn first_bits(b: &mut Builder<'_>, count: Value) -> Mask {
    [0, 32, 64, 96].map(|first| {
        // The word's share of `count`, 0 to 32.
        let start = b.i32(first);
        let beyond = b.binary(Binary::UMax, count, start);
        let within = b.binary(Binary::Sub, beyond, start);
        let all = b.i32(32);
        let within = b.binary(Binary::UMin, within, all);
        let is_all = b.compare(Compare::Equal, within, all);
        let one = b.i32(1);
        // Shift amounts stay below the width.
        let amount = b.binary_const(Binary::And, within, 31);
        let bit = b.binary(Binary::Shl, one, amount);
        let below = b.binary_const(Binary::Sub, bit, 1);
        let ones = b.i32(u32::MAX);
        b.select(is_all, ones, below)
    })
}

/// The bits that stand for work-items: those below the largest sub-group's size.
fn valid(b: &mut Builder<'_>) -> Mask {
    let size = b.op1(Op::WorkItem(WorkItem::SubgroupMaxSize), Type::I32);
    first_bits(b, size)
}

pub(super) fn and(b: &mut Builder<'_>, x: Mask, y: Mask) -> Mask {
    std::array::from_fn(|word| b.binary(Binary::And, x[word], y[word]))
}

fn not(b: &mut Builder<'_>, x: Mask) -> Mask {
    x.map(|word| b.unary(Unary::Not, word))
}

/// The bits of the places that compare so with this work-item's: `place op lane`.
pub(super) fn relative(b: &mut Builder<'_>, op: Compare) -> Mask {
    let lane = lane(b);
    match op {
        Compare::ULess => first_bits(b, lane),
        Compare::ULessEqual => {
            let next = b.binary_const(Binary::Add, lane, 1);
            first_bits(b, next)
        }
        _ => {
            let up_to = relative(b, Compare::ULessEqual);
            let below = first_bits(b, lane);
            let others = not(b, below);
            and(b, up_to, others)
        }
    }
}

/// The masks that are built-in inputs; `None` for another input.
pub(super) fn built_in(b: &mut Builder<'_>, built_in: BuiltIn) -> Option<Mask> {
    let mask = match built_in {
        BuiltIn::SubgroupEqMask => relative(b, Compare::Equal),
        BuiltIn::SubgroupLeMask => relative(b, Compare::ULessEqual),
        BuiltIn::SubgroupLtMask => relative(b, Compare::ULess),
        BuiltIn::SubgroupGeMask => {
            let below = relative(b, Compare::ULess);
            not(b, below)
        }
        BuiltIn::SubgroupGtMask => {
            let up_to = relative(b, Compare::ULessEqual);
            not(b, up_to)
        }
        _ => return None,
    };
    let valid = valid(b);
    Some(and(b, mask, valid))
}

/// Whether the bit at `index` is set; false for a place beyond the mask.
pub(super) fn bit(b: &mut Builder<'_>, mask: Mask, index: Value) -> Value {
    let number = b.binary_const(Binary::LShr, index, 5);
    let mut word = mask[0];
    for (place, &other) in (0u32..).zip(&mask).skip(1) {
        let place = b.i32(place);
        let here = b.compare(Compare::Equal, number, place);
        word = b.select(here, other, word);
    }
    let amount = b.binary_const(Binary::And, index, 31);
    let shifted = b.binary(Binary::LShr, word, amount);
    let bit = b.binary_const(Binary::And, shifted, 1);
    let limit = b.i32(128);
    let inside = b.compare(Compare::ULess, index, limit);
    let zero = b.i32(0);
    let set = b.compare(Compare::NotEqual, bit, zero);
    b.binary(Binary::And, inside, set)
}

/// The number of bits set among those that stand for work-items.
pub(super) fn count(b: &mut Builder<'_>, mask: Mask) -> Value {
    let valid = valid(b);
    let mask = and(b, mask, valid);
    let [x, y, z, w] = mask.map(|word| b.unary(Unary::BitCount, word));
    let low = b.binary(Binary::Add, x, y);
    let high = b.binary(Binary::Add, z, w);
    b.binary(Binary::Add, low, high)
}

/// The place of the lowest bit set.
pub(super) fn find_lsb(b: &mut Builder<'_>, mask: Mask) -> Value {
    find(b, mask, GLOp::FindILsb, [3, 2, 1, 0])
}

/// The place of the highest bit set.
pub(super) fn find_msb(b: &mut Builder<'_>, mask: Mask) -> Value {
    find(b, mask, GLOp::FindUMsb, [0, 1, 2, 3])
}

/// The place of the bit that `op` finds in the last word of `order` that is not zero.
fn find(b: &mut Builder<'_>, mask: Mask, op: GLOp, order: [u32; 4]) -> Value {
    let valid = valid(b);
    let mask = and(b, mask, valid);
    let zero = b.i32(0);
    let mut found = b.i32(u32::MAX);
    for number in order {
        let Some(&word) = mask.get(number as usize) else {
            continue;
        };
        let place = b.op1(Op::Glsl(op as u32, smallvec![word]), Type::I32);
        let place = b.binary_const(Binary::Add, place, u64::from(number) * 32);
        let any = b.compare(Compare::NotEqual, word, zero);
        found = b.select(any, place, found);
    }
    found
}
