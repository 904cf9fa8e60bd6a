//! Loads for all work-items of a sub-group what all of them need, each work-item a part of it.
//!
//! **Why.** A work-item that runs over a tile in local memory loads what its neighbours load, at the same time. Hardware
//! does that in one access. A driver that makes every access once for each work-item
//! ([`crate::compiler::Capabilities::serial_memory`]) does it eight times for the same value.
//!
//! **How.** Loads of a block whose addresses are the same for all work-items of the sub-group, and a constant distance
//! apart from one to the next, become one load: work-item `n` loads what was the `n`-th. Shuffles with a constant index
//! then give all of them what each has loaded. `unroll` brings the iterations of a loop into one block for this.
//!
//! **Needs** pointers lowered, and sub-groups that are full ([`Uniformity::of_kernel`]). Loads move up to the first of
//! them, past nothing that may write what they read.

use crate::compiler::analysis::{Affine, Terms, Uniformity};
use crate::compiler::ir::{
    Access, ArrayId, Binary, Block, Builder, BuiltIn, Function, Group, GroupOp, Inst, Module, Op,
    Place, Scope, Type, Value, Values,
};
use crate::compiler::{CompileError, Context};
use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;

/// How deep an address is followed to what it is a constant distance from.
const DEPTH: u32 = 8;

/// Sets of loads that are looked at together in a block at most.
const MOST_OPEN: usize = 64;

pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let (Some(uniformity), [kernel]) =
        (Uniformity::of_kernel(module, cx), module.kernels.as_slice())
    else {
        return Ok(());
    };
    let function = module.function_mut(kernel.function);
    share(function, &uniformity);
    Ok(())
}

/// Does it to the function of a kernel.
fn share(function: &mut Function, uniformity: &Uniformity) {
    let mut replacements = HashMap::new();
    for block in function.layout().to_vec() {
        if !uniformity.is_converged(block) {
            continue;
        }
        let rows: Vec<Row> = similar_loads(function, uniformity, block)
            .into_iter()
            .flat_map(|loads| rows(loads, uniformity.sub_group_size() as usize))
            .collect();
        if !rows.is_empty() {
            replacements.extend(rewrite(function, block, &rows));
        }
    }
    function.replace_values(&replacements);
}

/// What loads have in common that differ by a constant distance alone.
#[derive(Clone, PartialEq)]
struct Key {
    /// None for device memory.
    array: Option<ArrayId>,
    /// What the distance is from, sorted.
    terms: Terms,
    types: SmallVec<[Type; 4]>,
    access: Access,
}

/// A load, at `distance` elements or bytes from what its key says.
#[derive(Clone, Copy)]
struct Member {
    inst: Inst,
    distance: i64,
}

struct Loads {
    key: Key,
    members: Vec<Member>,
}

/// Loads with equal distances between them, in the order of their addresses.
struct Row {
    members: Vec<Member>,
    stride: i64,
    /// The first in program order.
    first: Member,
}

/// The loads of a block that nothing stands between which may write what they read.
fn similar_loads(function: &Function, uniformity: &Uniformity, block: Block) -> Vec<Loads> {
    let (mut open, mut done): (Vec<Loads>, Vec<Loads>) = (Vec::new(), Vec::new());
    for &inst in &function.block(block).insts {
        let data = function.inst(inst);
        let writes: Option<Option<ArrayId>> = match &data.op {
            Op::Load(place, access) => {
                if let Some((key, distance)) = key_of(function, place, *access, &data.results)
                    && address_of(place).is_some_and(|value| uniformity.is_uniform(value))
                {
                    let member = Member { inst, distance };
                    match open.iter().position(|loads| loads.key == key) {
                        Some(at) => open[at].members.push(member),
                        None if open.len() < MOST_OPEN => open.push(Loads {
                            key,
                            members: vec![member],
                        }),
                        None => {}
                    }
                }
                continue;
            }
            Op::Store(Place::Element { array, .. }, ..)
            | Op::Atomic {
                place: Place::Element { array, .. },
                ..
            } => Some(Some(*array)),
            Op::Store(Place::Address(_), ..)
            | Op::Atomic {
                place: Place::Address(_),
                ..
            } => Some(None),
            op if op.is_pure() => continue,
            _ => None,
        };
        let (ended, left) = open
            .into_iter()
            .partition(|loads| writes.is_none_or(|array| loads.key.array == array));
        open = left;
        done.extend::<Vec<_>>(ended);
    }
    done.extend(open);
    done
}

fn address_of(place: &Place) -> Option<Value> {
    match *place {
        Place::Element { index, .. } => Some(index),
        Place::Address(address) => Some(address),
        _ => None,
    }
}

/// The key of a load, and its distance; none for loads that must stay as they are.
fn key_of(
    function: &Function,
    place: &Place,
    access: Access,
    results: &[Value],
) -> Option<(Key, i64)> {
    let types: SmallVec<[Type; 4]> = results.iter().map(|&it| function.ty(it)).collect();
    // Shuffles take these everywhere.
    if access.volatile || types.iter().any(|ty| !matches!(ty.bits(), 32 | 64)) {
        return None;
    }
    let array = match *place {
        Place::Element { array, .. } => Some(array),
        _ => None,
    };
    let mut sum = Affine::of(function, address_of(place)?, DEPTH);
    sum.terms.sort_unstable();
    let key = Key {
        array,
        terms: sum.terms,
        types,
        access,
    };
    Some((key, sum.constant as i64))
}

/// Rows of at most `longest` among the loads.
fn rows(mut loads: Loads, longest: usize) -> Vec<Row> {
    let order: Vec<Inst> = loads.members.iter().map(|member| member.inst).collect();
    loads.members.sort_by_key(|member| member.distance);
    loads.members.dedup_by_key(|member| member.distance);
    let mut rest = loads.members.as_slice();
    let mut rows = Vec::new();
    while let [first, second, ..] = rest {
        // Modulo 2⁶⁴, as all of an address.
        let between = |a: &Member, b: &Member| b.distance.wrapping_sub(a.distance);
        let stride = between(first, second);
        let follows = |pair: &&[Member]| between(&pair[0], &pair[1]) == stride;
        let length = 1 + rest.windows(2).take_while(follows).count();
        let (members, others) = rest.split_at(length.min(longest));
        rest = others;
        let earliest = members
            .iter()
            .min_by_key(|member| order.iter().position(|&inst| inst == member.inst));
        if let Some(&first) = earliest {
            rows.push(Row {
                members: members.to_vec(),
                stride,
                first,
            });
        }
    }
    rows
}

/// Puts the shared loads into a block; what stands for the results of the old ones.
fn rewrite(function: &mut Function, block: Block, rows: &[Row]) -> HashMap<Value, Value> {
    let mut replacements = HashMap::new();
    let by_first: HashMap<Inst, &Row> = rows.iter().map(|row| (row.first.inst, row)).collect();
    let replaced: Vec<Inst> = rows
        .iter()
        .flat_map(|row| row.members.iter().map(|member| member.inst))
        .collect();
    let old = std::mem::take(&mut function.block_mut(block).insts);
    let mut b = Builder::new(function, block);
    for inst in old {
        if let Some(row) = by_first.get(&inst) {
            replacements.extend(load_row(&mut b, row));
        }
        if !replaced.contains(&inst) {
            b.push(inst);
        }
    }
    replacements
}

/// Each work-item loads one member of the row; the last one those that are beyond its end.
fn load_row(b: &mut Builder<'_>, row: &Row) -> Vec<(Value, Value)> {
    let data = b.function.inst(row.first.inst).clone();
    let Op::Load(place, access) = data.op else {
        return Vec::new();
    };
    let Some(address) = address_of(&place) else {
        return Vec::new();
    };
    let ty = b.ty(address);
    let lane = BuiltIn::SubgroupLocalInvocationId;
    let mut lane = b.op1(Op::BuiltIn(lane), Type::I32);
    let last = b.i32(row.members.len() as u32 - 1);
    lane = b.binary(Binary::UMin, lane, last);
    let lane = b.resize_int(lane, ty, false);
    let moved = b.binary_const(Binary::Mul, lane, row.stride as u64);
    let back = row.members[0].distance.wrapping_sub(row.first.distance);
    let start = b.binary_const(Binary::Add, address, back as u64);
    let address = b.binary(Binary::Add, start, moved);
    let place = match place {
        Place::Element { array, .. } => Place::Element {
            array,
            index: address,
        },
        _ => Place::Address(address),
    };
    let types: Vec<Type> = data.results.iter().map(|&it| b.ty(it)).collect();
    let loaded = b.op(Op::Load(place, access), types);
    let mut replacements = Vec::new();
    for (index, member) in row.members.iter().enumerate() {
        let index = b.i32(index as u32);
        let old: Values = b.function.inst(member.inst).results.clone();
        for (&value, &old) in loaded.iter().zip(&old) {
            let shuffle = Group {
                op: GroupOp::Shuffle,
                scope: Scope::Subgroup,
            };
            let ty = b.ty(value);
            let new = b.op1(Op::Group(shuffle, smallvec![value, index]), ty);
            replacements.push((old, new));
        }
    }
    replacements
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::Terminator;

    /// A block that loads from `places` of an array, and between two of them does `between`; how many loads and shuffles
    /// are left.
    fn left(places: &[i64], dimension: u8, between: impl Fn(&mut Builder<'_>)) -> [usize; 2] {
        let place = |b: &mut Builder<'_>, id, place| b.binary_const(Binary::Add, id, place as u64);
        left_of(places, dimension, place, between)
    }

    /// How many loads and shuffles are left of a block that loads at what `index` makes of the id and each of `places`.
    fn left_of(
        places: &[i64],
        dimension: u8,
        index: impl Fn(&mut Builder<'_>, Value, i64) -> Value,
        between: impl Fn(&mut Builder<'_>),
    ) -> [usize; 2] {
        let mut function = Function::new("k");
        function.return_types = vec![Type::F32; places.len()];
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let id = b.op1(
            Op::BuiltIn(BuiltIn::LocalInvocationId(dimension)),
            Type::I32,
        );
        let mut loaded = Values::new();
        for &place in places {
            let index = index(&mut b, id, place);
            let array = ArrayId(0);
            let place = Place::Element { array, index };
            loaded.push(b.load1(place, Type::F32, Access::aligned(4)));
            between(&mut b);
        }
        b.terminate(Terminator::Return(loaded));
        let uniformity = Uniformity::new(&function, 8).unwrap();
        share(&mut function, &uniformity);
        let insts = function.block(entry).insts.iter();
        let ops: Vec<&Op> = insts.map(|&inst| &function.inst(inst).op).collect();
        let is_load = |op: &&&Op| matches!(op, Op::Load(..));
        let is_shuffle = |op: &&&Op| matches!(op, Op::Group(..));
        [
            ops.iter().filter(is_load).count(),
            ops.iter().filter(is_shuffle).count(),
        ]
    }

    fn nothing(_: &mut Builder<'_>) {}

    #[test]
    fn equal_distances_become_one_load() {
        assert_eq!(left(&[0, 4, 8, 12], 1, nothing), [1, 4]);
        assert_eq!(left(&[12, 0, 8, 4], 1, nothing), [1, 4]);
        // No more than the sub-group has work-items.
        let twelve: Vec<i64> = (0..12).collect();
        assert_eq!(left(&twelve, 1, nothing), [2, 12]);
        assert_eq!(left(&[0, 4, 9], 1, nothing), [2, 2]);
    }

    /// `tile[id + place][id]`: the constant is within a product of a sum.
    #[test]
    fn distances_are_found_within_sums_and_products() {
        let index = |b: &mut Builder<'_>, id, place: i64| {
            let row = b.binary_const(Binary::Add, id, place as u64);
            let row = b.binary_const(Binary::Mul, row, 68);
            let column = b.binary_const(Binary::Shl, id, 2);
            b.binary(Binary::Add, column, row)
        };
        assert_eq!(left_of(&[0, 1, 2, 3], 1, index, nothing), [1, 4]);
        assert_eq!(left_of(&[0, 1, 2, 3], 0, index, nothing), [4, 0]);
    }

    /// `tile[(id + place) * factor * factor]`, which is `tile[id + place]` in 32 bits.
    #[test]
    fn distances_may_be_more_than_half_of_all_numbers() {
        let index = |b: &mut Builder<'_>, id, place: i64| {
            let moved = b.binary_const(Binary::Add, id, place as u64);
            let scaled = b.binary_const(Binary::Mul, moved, 0x7fff_ffff);
            b.binary_const(Binary::Mul, scaled, 0x7fff_ffff)
        };
        assert_eq!(left_of(&[-2, 1], 1, index, nothing), [1, 2]);
    }

    #[test]
    fn different_addresses_are_left_alone() {
        assert_eq!(left(&[0, 4, 8, 12], 0, nothing), [4, 0]);
    }

    #[test]
    fn no_load_moves_past_a_write_or_a_barrier() {
        let store = |b: &mut Builder<'_>| {
            let index = b.i32(0);
            let value = b.f32(1.0);
            let array = ArrayId(0);
            b.store1(Place::Element { array, index }, value, Access::aligned(4));
        };
        assert_eq!(left(&[0, 4], 1, store), [2, 0]);
        let barrier = |b: &mut Builder<'_>| {
            b.op0(Op::ControlBarrier {
                execution: Scope::Workgroup,
                memory: Scope::Workgroup,
                semantics: Default::default(),
            });
        };
        assert_eq!(left(&[0, 4], 1, barrier), [2, 0]);
        let elsewhere = |b: &mut Builder<'_>| {
            let index = b.i32(0);
            let value = b.f32(1.0);
            let array = ArrayId(1);
            b.store1(Place::Element { array, index }, value, Access::aligned(4));
        };
        assert_eq!(left(&[0, 4], 1, elsewhere), [1, 2]);
    }
}
