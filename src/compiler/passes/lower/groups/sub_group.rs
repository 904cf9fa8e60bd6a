//! Sub-group operations that the device lacks, or lacks on a type.
//!
//! Reductions and scans over the active work-items take log₂(size) steps. Each work-item starts with its own
//! value and the place of the active one before it. In a step it takes in what that one holds, and goes on
//! from where that one had got to; so the distance covered doubles, over any gaps:
//!
//! ```text
//! active = ballot(true), within the cluster
//! from = highest place in active below mine, or none
//! repeat log2(size):  if from: value = shuffle(value, from) op value;  from = shuffle(from, from)
//! inclusive scan: value      exclusive: that of `from`'s first value       reduction: the last one's value
//! ```

use super::Device;
use super::scalars::{from_words, identity, identity_value, to_words, word_count};
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Binary, Builder, Compare, Convert, Group, GroupOp, Op, Scope, Type, Unary, Value, Values,
    WorkItem,
};
use smallvec::smallvec;

/// `GLSL.std.450 FindUMsb`
const FIND_U_MSB: u32 = 75;

/// Builds an operation; returns its results, of the given types.
pub fn lower(
    b: &mut Builder<'_>,
    device: &Device<'_>,
    op: GroupOp,
    values: &[Value],
    types: &[Type],
) -> Result<Values, CompileError> {
    if !device.has_sub_groups() {
        return alone(b, op, values, types);
    }
    if op == GroupOp::Ballot {
        return Ok(native(b, op, values, &[Type::I32; 4]));
    }
    if let (GroupOp::Broadcast, [rest @ .., index]) = (op, values) {
        let fixed = b.function.constant(*index).is_some();
        let index = match b.function.constant(*index) {
            Some(place) => b.i32(place as u32),
            None => b.resize_int(*index, Type::I32, false),
        };
        let op = if fixed || device.caps.subgroup.broadcast_dynamic_id {
            GroupOp::Broadcast
        } else {
            GroupOp::Shuffle
        };
        return rest
            .iter()
            .map(|&value| moved(b, device, op, value, Some(index)))
            .collect();
    }
    let result = match (op, values) {
        (GroupOp::Elect, _) => native(b, op, values, types)[0],
        (GroupOp::All | GroupOp::Any, &[predicate]) => vote(b, device, op, predicate),
        (GroupOp::AllEqual, &[value]) => {
            let first = moved(b, device, GroupOp::BroadcastFirst, value, None)?;
            let equal = if b.ty(value).is_float() {
                Compare::FOrdEqual
            } else {
                Compare::Equal
            };
            let same = b.compare(equal, value, first);
            vote(b, device, GroupOp::All, same)
        }
        (GroupOp::BroadcastFirst, &[value]) => moved(b, device, op, value, None)?,
        (GroupOp::Shuffle | GroupOp::ShuffleXor, &[value, index]) => {
            moved(b, device, op, value, Some(index))?
        }
        (GroupOp::ShuffleUp | GroupOp::ShuffleDown, &[value, distance]) => {
            if device.caps.subgroup.shuffle_relative {
                moved(b, device, op, value, Some(distance))?
            } else {
                let direction = match op {
                    GroupOp::ShuffleUp => Binary::Sub,
                    _ => Binary::Add,
                };
                let lane = lane(b);
                let from = b.binary(direction, lane, distance);
                let from = b.binary_const(Binary::And, from, (device.size - 1).into());
                moved(b, device, GroupOp::Shuffle, value, Some(from))?
            }
        }
        (GroupOp::Rotate(cluster), &[value, distance]) => {
            rotate(b, device, cluster, value, distance)?
        }
        (
            GroupOp::Reduce(_)
            | GroupOp::InclusiveScan(_)
            | GroupOp::ExclusiveScan(_)
            | GroupOp::ClusteredReduce(..),
            &[value],
        ) => arithmetic(b, device, op, value)?,
        _ => {
            return Err(CompileError::internal(format!(
                "operands of {op:?} are missing"
            )));
        }
    };
    Ok(smallvec![result])
}

/// The operations of a sub-group of one.
fn alone(
    b: &mut Builder<'_>,
    op: GroupOp,
    values: &[Value],
    types: &[Type],
) -> Result<Values, CompileError> {
    Ok(match (op, values) {
        (GroupOp::Elect | GroupOp::AllEqual, _) => smallvec![b.bool(true)],
        (GroupOp::Ballot, &[predicate]) => {
            let (one, zero) = (b.i32(1), b.i32(0));
            let word = b.select(predicate, one, zero);
            smallvec![word, zero, zero, zero]
        }
        (GroupOp::ExclusiveScan(op), &[_]) => {
            let ty = types.first().copied().unwrap_or(Type::I32);
            smallvec![identity_value(b, op, ty)?]
        }
        _ => values.iter().take(types.len()).copied().collect(),
    })
}

/// An operation of the device.
fn native(b: &mut Builder<'_>, op: GroupOp, values: &[Value], types: &[Type]) -> Values {
    let group = Group {
        op,
        scope: Scope::Subgroup,
    };
    let values = values.iter().copied().collect();
    b.op(Op::Group(group, values), types.iter().copied())
}

/// This work-item's place in its sub-group.
fn lane(b: &mut Builder<'_>) -> Value {
    b.op1(Op::WorkItem(WorkItem::SubgroupLocalId), Type::I32)
}

fn vote(b: &mut Builder<'_>, device: &Device<'_>, op: GroupOp, predicate: Value) -> Value {
    if device.caps.subgroup.vote {
        return native(b, op, &[predicate], &[Type::Bool])[0];
    }
    let counted = match op {
        GroupOp::All => b.unary(Unary::Not, predicate),
        _ => predicate,
    };
    let words = native(b, GroupOp::Ballot, &[counted], &[Type::I32; 4]);
    let any = words
        .iter()
        .skip(1)
        .fold(words[0], |all, &word| b.binary(Binary::Or, all, word));
    let zero = b.i32(0);
    let compare = match op {
        GroupOp::All => Compare::Equal,
        _ => Compare::NotEqual,
    };
    b.compare(compare, any, zero)
}

/// An operation that hands a value on as it is.
fn moved(
    b: &mut Builder<'_>,
    device: &Device<'_>,
    op: GroupOp,
    value: Value,
    with: Option<Value>,
) -> Result<Value, CompileError> {
    let ty = b.ty(value);
    let step = |b: &mut Builder<'_>, value: Value| {
        let operands: Values = [Some(value), with].into_iter().flatten().collect();
        let ty = b.ty(value);
        native(b, op, &operands, &[ty])[0]
    };
    if device.takes(ty) {
        return Ok(step(b, value));
    }
    let words = to_words(b, value);
    let words: Values = words.iter().map(|&word| step(b, word)).collect();
    from_words(b, &words, ty)
}

/// "ID = (LocalId + Delta) & (ClusterSize - 1) + (LocalId & ~(ClusterSize - 1))"
fn rotate(
    b: &mut Builder<'_>,
    device: &Device<'_>,
    cluster: u32,
    value: Value,
    distance: Value,
) -> Result<Value, CompileError> {
    if device.caps.subgroup.rotate && cluster == 0 {
        return moved(b, device, GroupOp::Rotate(0), value, Some(distance));
    }
    let cluster = match cluster {
        0 => device.size,
        size => size.min(device.size),
    };
    let lane = lane(b);
    let sum = b.binary(Binary::Add, lane, distance);
    let within = b.binary_const(Binary::And, sum, (cluster - 1).into());
    let start = b.binary_const(Binary::And, lane, (!(cluster - 1)).into());
    let from = b.binary(Binary::Add, within, start);
    moved(b, device, GroupOp::Shuffle, value, Some(from))
}

/// Reductions and scans.
fn arithmetic(
    b: &mut Builder<'_>,
    device: &Device<'_>,
    op: GroupOp,
    value: Value,
) -> Result<Value, CompileError> {
    let ty = b.ty(value);
    let (binary, cluster) = match op {
        // Everything is in the only cluster; a cluster of one is its work-item.
        GroupOp::ClusteredReduce(_, 1) => return Ok(value),
        GroupOp::ClusteredReduce(binary, cluster) if cluster >= device.size => {
            return arithmetic(b, device, GroupOp::Reduce(binary), value);
        }
        GroupOp::ClusteredReduce(binary, cluster) => (binary, cluster),
        GroupOp::Reduce(binary)
        | GroupOp::InclusiveScan(binary)
        | GroupOp::ExclusiveScan(binary) => (binary, device.size),
        _ => return Err(CompileError::internal(format!("{op:?} is no arithmetic"))),
    };
    let ops = device.caps.subgroup;
    let has = match op {
        GroupOp::ClusteredReduce(..) => ops.clustered,
        _ => ops.arithmetic,
    };
    if has && device.takes(ty) {
        return Ok(native(b, op, &[value], &[ty])[0]);
    }
    match ty {
        Type::Bool => {
            let words = to_words(b, value);
            let word = arithmetic(b, device, op, words[0])?;
            // The identity of `and` has every bit set.
            from_words(b, &[word], ty)
        }
        Type::I8 | Type::I16 => {
            let signed = matches!(binary, Binary::SMin | Binary::SMax);
            let wide = b.resize_int(value, Type::I32, signed);
            let mut wide = arithmetic(b, device, op, wide)?;
            if let (GroupOp::ExclusiveScan(_), Binary::SMin | Binary::SMax | Binary::UMin) =
                (op, binary)
            {
                // The first work-item's is the wide type's identity.
                let bound = identity(binary, ty)?;
                let bound = if signed {
                    crate::compiler::evaluate::signed(ty, bound) as u64
                } else {
                    bound
                };
                wide = b.binary_const(binary, wide, bound & Type::I32.mask());
            }
            Ok(b.convert(Convert::Truncate, wide, ty))
        }
        Type::F16 => {
            let wide = b.convert(Convert::FloatToFloat(None), value, Type::F32);
            let wide = arithmetic(b, device, op, wide)?;
            Ok(b.convert(Convert::FloatToFloat(None), wide, ty))
        }
        Type::I64 if matches!(binary, Binary::And | Binary::Or | Binary::Xor) => {
            let words = to_words(b, value);
            let words: Values = words
                .iter()
                .map(|&word| arithmetic(b, device, op, word))
                .collect::<Result<_, _>>()?;
            from_words(b, &words, ty)
        }
        _ => by_steps(b, device, op, binary, cluster, value),
    }
}

/// The active work-items of this one's cluster.
struct Active {
    /// A word for each 32 places; as many as the sub-group's size takes.
    words: Values,
    lane: Value,
}

impl Active {
    fn new(b: &mut Builder<'_>, device: &Device<'_>, cluster: u32) -> Self {
        let here = b.bool(true);
        let ballot = native(b, GroupOp::Ballot, &[here], &[Type::I32; 4]);
        let lane = lane(b);
        let count = device.size.div_ceil(32).clamp(1, 4) as usize;
        let mut words: Values = ballot.iter().take(count).copied().collect();
        if cluster < 32 {
            // Of a single word; the others' clusters are not this one's.
            let start = b.binary_const(Binary::And, lane, (31 & !(cluster - 1)).into());
            let ones = b.i32((1 << cluster) - 1);
            let ones = b.binary(Binary::Shl, ones, start);
            for word in &mut words {
                *word = b.binary(Binary::And, *word, ones);
            }
        }
        if cluster < device.size && count > 1 {
            // Only the words that the cluster reaches into.
            let first = b.binary_const(Binary::And, lane, (!(cluster - 1)).into());
            let first = b.binary_const(Binary::LShr, first, 5);
            let reach = cluster.div_ceil(32);
            let zero = b.i32(0);
            for (number, word) in (0u32..).zip(&mut words) {
                let number = b.i32(number);
                let distance = b.binary(Binary::Sub, number, first);
                let reach = b.i32(reach);
                let inside = b.compare(Compare::ULess, distance, reach);
                *word = b.select(inside, *word, zero);
            }
        }
        Self { words, lane }
    }

    /// The last one's place.
    fn last(&self, b: &mut Builder<'_>) -> Value {
        highest(b, &self.words)
    }

    /// The place of the one before this; -1 for none.
    fn before(&self, b: &mut Builder<'_>) -> Value {
        let words: Values = (0u32..)
            .zip(&self.words)
            .map(|(number, &word)| {
                let start = b.i32(number * 32);
                let beyond = b.binary(Binary::UMax, self.lane, start);
                let within = b.binary(Binary::Sub, beyond, start);
                // All of the words below the lane's, none of those above.
                let limit = b.i32(32);
                let is_below = b.compare(Compare::ULessEqual, limit, within);
                let one = b.i32(1);
                let amount = b.binary_const(Binary::And, within, 31);
                let bit = b.binary(Binary::Shl, one, amount);
                let below = b.binary_const(Binary::Sub, bit, 1);
                let ones = b.i32(u32::MAX);
                let mask = b.select(is_below, ones, below);
                b.binary(Binary::And, word, mask)
            })
            .collect();
        highest(b, &words)
    }
}

/// The highest place in a mask; -1 for none.
fn highest(b: &mut Builder<'_>, words: &[Value]) -> Value {
    let mut found = b.i32(u32::MAX);
    let zero = b.i32(0);
    for (number, &word) in (0u64..).zip(words) {
        let place = b.op1(Op::Glsl(FIND_U_MSB, smallvec![word]), Type::I32);
        let place = b.binary_const(Binary::Add, place, number * 32);
        let any = b.compare(Compare::NotEqual, word, zero);
        found = b.select(any, place, found);
    }
    found
}

/// What the module's documentation describes.
fn by_steps(
    b: &mut Builder<'_>,
    device: &Device<'_>,
    op: GroupOp,
    binary: Binary,
    cluster: u32,
    value: Value,
) -> Result<Value, CompileError> {
    let ty = b.ty(value);
    debug_assert!(word_count(ty) <= 2);
    let active = Active::new(b, device, cluster);
    let zero = b.i32(0);
    let start = active.before(b);
    let mut from = start;
    let mut sum = value;
    for _ in 0..cluster.ilog2() {
        let none = b.compare(Compare::SLess, from, zero);
        let source = b.select(none, active.lane, from);
        let theirs = moved(b, device, GroupOp::Shuffle, sum, Some(source))?;
        let further = moved(b, device, GroupOp::Shuffle, from, Some(source))?;
        let both = b.binary(binary, theirs, sum);
        sum = b.select(none, sum, both);
        from = b.select(none, from, further);
    }
    match op {
        GroupOp::InclusiveScan(_) => Ok(sum),
        GroupOp::ExclusiveScan(_) => {
            let none = b.compare(Compare::SLess, start, zero);
            let source = b.select(none, active.lane, start);
            let theirs = moved(b, device, GroupOp::Shuffle, sum, Some(source))?;
            let identity = identity_value(b, binary, ty)?;
            Ok(b.select(none, identity, theirs))
        }
        _ => {
            let last = active.last(b);
            moved(b, device, GroupOp::Shuffle, sum, Some(last))
        }
    }
}
