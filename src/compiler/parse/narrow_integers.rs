//! Integers of other widths than those of OpenCL C, as they are held and in memory: see [`super::widths`].

use super::slot::{Slot, align_at};
use crate::compiler::ir::{Access, Binary, Builder, Place, Type, Value};

/// The integer that holds one of `bits` bits.
pub(super) fn container(bits: u32) -> Option<Type> {
    let exists = (1..=64).contains(&bits);
    exists.then(|| Type::int(bits.next_power_of_two().max(8)))?
}

/// Clears what lies above the bits of an integer of another width.
pub(super) fn cut(b: &mut Builder<'_>, slot: &Slot, value: Value) -> Value {
    if slot.is_cut() {
        b.binary_const(Binary::And, value, mask(slot.bits))
    } else {
        value
    }
}

/// The bits of an integer of `bits` bits.
pub(super) fn mask(bits: u32) -> u64 {
    u64::MAX >> 64u32.saturating_sub(bits)
}

/// The number that the low `bits` bits are in two's complement.
pub(super) fn sign_extend(value: u64, bits: u32) -> i64 {
    let unused = 64u32.saturating_sub(bits);
    ((value << unused) as i64) >> unused
}

/// The integers in memory that an integer of another width is made of, lowest first, and where they lie.
fn parts(bits: u32) -> impl Iterator<Item = (Type, u64)> {
    let bytes = u64::from(bits.div_ceil(8));
    let mut at = 0;
    std::iter::from_fn(move || {
        let size = (bytes - at).checked_ilog2().map(|log| 1 << log)?;
        let part = (Type::int(8 * size as u32)?, at);
        at += size;
        Some(part)
    })
}

/// Loads an integer of another width.
pub(super) fn load(b: &mut Builder<'_>, pointer: Value, slot: &Slot, access: Access) -> Value {
    let mut all = None;
    for (ty, at) in parts(slot.bits) {
        let (place, access) = part_at(b, pointer, at, access);
        let part = b.load1(place, ty, access);
        let part = b.resize_int(part, slot.ty, false);
        let part = b.binary_const(Binary::Shl, part, 8 * at);
        all = Some(match all {
            Some(all) => b.binary(Binary::Or, all, part),
            None => part,
        });
    }
    let whole = all.unwrap_or_else(|| b.constant(slot.ty, 0));
    cut(b, slot, whole)
}

/// Stores an integer of another width, and nothing beside it.
pub(super) fn store(
    b: &mut Builder<'_>,
    pointer: Value,
    slot: &Slot,
    value: Value,
    access: Access,
) {
    for (ty, at) in parts(slot.bits) {
        let (place, access) = part_at(b, pointer, at, access);
        let part = b.binary_const(Binary::LShr, value, 8 * at);
        let part = b.resize_int(part, ty, false);
        b.store1(place, part, access);
    }
}

fn part_at(b: &mut Builder<'_>, pointer: Value, at: u64, access: Access) -> (Place, Access) {
    let place = Place::Pointer(b.ptr_add_const(pointer, at as i64));
    let align_bytes = align_at(access.align_bytes, at);
    (
        place,
        Access {
            align_bytes,
            ..access
        },
    )
}
