//! Any bytes at any alignment, through aligned 32-bit words.
//!
//! **Loads.** The words that hold the bytes are loaded. At an alignment below four the distance of the first
//! byte from its word is only known when the kernel runs: neighbouring words are shifted together. The
//! last word is found from the last byte's address, so that none beyond it is read.
//!
//! **Stores.** Words that are covered whole are stored. Of the others only some bytes may change, and
//! another work-item may be storing to the rest of the same word at the same time: they are written by
//! two atomics, an `Or` that sets bits and an `And` that clears the others. Two are not one, but each
//! touches only the bits of the bytes that are stored, so no neighbour's store is ever lost; only who
//! reads these very bytes during the store, which is a data race in OpenCL C too, may see bits of both.

use super::Memory;
use super::groups::{alignment_at, groups};
use crate::compiler::ir::{
    Access, AtomicOp, Binary, Builder, Convert, Op, Place, Scope, Semantics, Type, Unary, Value,
    Values,
};
use crate::compiler::passes::helpers::folding::{binary, binary_const};
use smallvec::smallvec;

/// `count` elements of an integer or float type.
pub fn load(
    memory: &Memory<'_>,
    b: &mut Builder<'_>,
    address: Value,
    ty: Type,
    count: usize,
    access: Access,
) -> Values {
    let size_bytes = count as u32 * ty.size_bytes();
    let words = if access.align_bytes >= 4 {
        aligned_words(memory, b, address, size_bytes, access)
    } else {
        shifted_words(memory, b, address, size_bytes, access)
    };
    (0..count as u32)
        .map(|index| element(b, &words, index * ty.size_bytes(), ty))
        .collect()
}

fn aligned_words(
    memory: &Memory<'_>,
    b: &mut Builder<'_>,
    address: Value,
    size_bytes: u32,
    access: Access,
) -> Values {
    let count = size_bytes.div_ceil(4) as usize;
    let mut words = Values::new();
    for group in groups(count, 4, access.align_bytes) {
        let place = memory.at(b, address, access.align_bytes, group.offset_bytes);
        let access = Access {
            align_bytes: group.align_bytes,
            ..access
        };
        words.extend(b.load(place, Type::I32, group.count, access));
    }
    words
}

/// The words from the first byte on, from an address that is in the middle of one.
fn shifted_words(
    memory: &Memory<'_>,
    b: &mut Builder<'_>,
    address: Value,
    size_bytes: u32,
    access: Access,
) -> Values {
    let span = Span::new(memory, b, address, size_bytes, access.align_bytes);
    let access = Access {
        align_bytes: 4,
        ..access
    };
    let loaded: Values = span
        .places
        .iter()
        .map(|&place| b.load1(place, Type::I32, access))
        .collect();
    (0..size_bytes.div_ceil(4) as usize)
        .map(|index| {
            let low = b.binary(Binary::LShr, loaded[index], span.shift);
            match loaded.get(index + 1) {
                None => low,
                Some(&next) => {
                    // By 32 - shift in two steps, since the shift may be 0.
                    let half = binary_const(b, Binary::Shl, next, 1);
                    let high = b.binary(Binary::Shl, half, span.rest);
                    b.binary(Binary::Or, low, high)
                }
            }
        })
        .collect()
}

/// The words that bytes at an address of an alignment below four may lie in.
struct Span {
    places: Vec<Place>,
    /// Bits before the first byte in the first word: 0, 8, 16 or 24, as I32.
    shift: Value,
    /// 31 less the shift.
    rest: Value,
}

impl Span {
    fn new(
        memory: &Memory<'_>,
        b: &mut Builder<'_>,
        address: Value,
        size_bytes: u32,
        align_bytes: u32,
    ) -> Self {
        let count = (size_bytes + 4 - align_bytes).div_ceil(4).max(1);
        let first = b.binary_const(Binary::And, address, !3);
        let mut places: Vec<Place> = (0..count)
            .map(|index| memory.at(b, first, 4, 4 * index))
            .collect();
        if count > 1 {
            // Where the bytes end in an earlier word, that one stands twice.
            let last = b.binary_const(Binary::Add, address, u64::from(size_bytes) - 1);
            let last = b.binary_const(Binary::And, last, !3);
            places[count as usize - 1] = Place::Address(last);
        }
        let low = b.convert(Convert::Truncate, address, Type::I32);
        let byte = b.binary_const(Binary::And, low, 3);
        let three = b.i32(3);
        let shift = b.binary(Binary::Shl, byte, three);
        let rest = b.binary_const(Binary::Xor, shift, 31);
        Self {
            places,
            shift,
            rest,
        }
    }
}

/// The element at a byte offset from the start of the words; it is aligned to its size there.
fn element(b: &mut Builder<'_>, words: &[Value], offset_bytes: u32, ty: Type) -> Value {
    let word = words[offset_bytes as usize / 4];
    match ty.size_bytes() {
        4 => b.bitcast(word, ty),
        8 => {
            let high = words[offset_bytes as usize / 4 + 1];
            let low = b.convert(Convert::ZeroExtend, word, Type::I64);
            let high = b.convert(Convert::ZeroExtend, high, Type::I64);
            let high = b.binary_const(Binary::Shl, high, 32);
            let whole = b.binary(Binary::Or, low, high);
            b.bitcast(whole, ty)
        }
        _ => {
            let bit = u64::from(offset_bytes % 4) * 8;
            let shifted = binary_const(b, Binary::LShr, word, bit);
            let narrow = ty.as_int().unwrap_or(ty);
            let value = b.convert(Convert::Truncate, shifted, narrow);
            b.bitcast(value, ty)
        }
    }
}

/// Values of one integer or float type, at an alignment that the device can't store them at.
pub fn store(
    memory: &Memory<'_>,
    b: &mut Builder<'_>,
    address: Value,
    values: &[Value],
    access: Access,
) {
    let Some(&first) = values.first() else { return };
    let size_bytes = values.len() as u32 * b.ty(first).size_bytes();
    let words = pack(b, values);
    if access.align_bytes >= 4 {
        store_aligned(memory, b, address, &words, size_bytes, access);
    } else {
        store_shifted(memory, b, address, &words, size_bytes, access);
    }
}

fn store_aligned(
    memory: &Memory<'_>,
    b: &mut Builder<'_>,
    address: Value,
    words: &[Value],
    size_bytes: u32,
    access: Access,
) {
    let whole = size_bytes as usize / 4;
    for group in groups(whole, 4, access.align_bytes) {
        let place = memory.at(b, address, access.align_bytes, group.offset_bytes);
        let access = Access {
            align_bytes: group.align_bytes,
            ..access
        };
        let words = &words[group.first..group.first + group.count];
        b.store(place, words.into(), access);
    }
    if let Some(&last) = words.get(whole) {
        let mask = b.i32((1 << (8 * (size_bytes % 4))) - 1);
        let place = memory.at(b, address, access.align_bytes, 4 * whole as u32);
        store_masked(b, place, last, mask);
    }
}

fn store_shifted(
    memory: &Memory<'_>,
    b: &mut Builder<'_>,
    address: Value,
    words: &[Value],
    size_bytes: u32,
    access: Access,
) {
    let span = Span::new(memory, b, address, size_bytes, access.align_bytes);
    let masks: Values = (0..words.len() as u32)
        .map(|index| match size_bytes - 4 * index {
            left @ 1..4 => b.i32((1 << (8 * left)) - 1),
            _ => b.i32(u32::MAX),
        })
        .collect();
    for (index, &place) in span.places.iter().enumerate() {
        let value = moved_up(b, words, index, &span);
        // Whatever the shift, the bytes reach from before this word to its end.
        if index > 0 && (index as u32 + 1) * 4 <= size_bytes {
            let access = Access {
                align_bytes: alignment_at(4, 0),
                ..access
            };
            b.store1(place, value, access);
        } else {
            let mask = moved_up(b, &masks, index, &span);
            store_masked(b, place, value, mask);
        }
    }
}

/// Word `index` of the words shifted up by the span's shift.
fn moved_up(b: &mut Builder<'_>, words: &[Value], index: usize, span: &Span) -> Value {
    let low = words
        .get(index)
        .map(|&word| b.binary(Binary::Shl, word, span.shift));
    let carried = index.checked_sub(1).and_then(|below| words.get(below));
    let carried = carried.map(|&word| {
        let half = binary_const(b, Binary::LShr, word, 1);
        b.binary(Binary::LShr, half, span.rest)
    });
    match (low, carried) {
        (Some(low), Some(carried)) => b.binary(Binary::Or, low, carried),
        (Some(word), None) | (None, Some(word)) => word,
        (None, None) => b.i32(0),
    }
}

/// Changes the bits of `mask` in a word that others may be changing too; `value` has no others.
fn store_masked(b: &mut Builder<'_>, place: Place, value: Value, mask: Value) {
    let kept = match b.function.constant(mask) {
        Some(mask) => b.constant(Type::I32, !mask),
        None => b.unary(Unary::Not, mask),
    };
    // In this order nothing changes, not even for a moment, where the value is there already: work-items that
    // store the same do not disturb one another.
    let kept = b.binary(Binary::Or, kept, value);
    for (op, operand) in [(AtomicOp::Or, value), (AtomicOp::And, kept)] {
        let atomic = Op::Atomic {
            op,
            place,
            values: smallvec![operand],
            scope: Scope::Device,
            semantics: Semantics(0),
        };
        b.op1(atomic, Type::I32);
    }
}

/// The bytes of the values as words, the unused bytes of the last one zero.
fn pack(b: &mut Builder<'_>, values: &[Value]) -> Values {
    let mut words = Values::new();
    let mut offset_bytes = 0;
    for &value in values {
        let ty = b.ty(value);
        let bits = b.bitcast(value, ty.as_int().unwrap_or(ty));
        match ty.size_bytes() {
            4 => words.push(bits),
            8 => {
                words.push(b.convert(Convert::Truncate, bits, Type::I32));
                let high = b.binary_const(Binary::LShr, bits, 32);
                words.push(b.convert(Convert::Truncate, high, Type::I32));
            }
            size => {
                let extended = b.convert(Convert::ZeroExtend, bits, Type::I32);
                let bit = u64::from(offset_bytes % 4) * 8;
                let placed = binary_const(b, Binary::Shl, extended, bit);
                match words.last_mut() {
                    Some(last) if bit != 0 => *last = binary(b, Binary::Or, *last, placed),
                    _ => words.push(placed),
                }
                offset_bytes += size;
            }
        }
    }
    words
}
