//! Work-group collectives from sub-group results and local memory.
//!
//! ```text
//! mine = sub-group operation on the value
//! barrier                                  (nobody still reads what an earlier collective left)
//! the sub-group's last work-item: scratch[sub-group] = the sub-group's total
//! barrier
//! others = totals of all sub-groups, or for a scan of those before
//! result = others op mine
//! ```
//!
//! The totals are combined as many at a time as the sub-group has work-items, which for a device with 32 of
//! them and work-groups of up to 1024 is all at once.

use super::scalars::{from_words, identity_value, to_words, word_count};
use super::{Device, sub_group};
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Access, AddressSpace, Binary, Builder, Compare, Edge, Global, GlobalId, GroupOp, Module, Op,
    Place, Scope, Semantics, Type, Value, Values, WorkItem,
};
use smallvec::smallvec;

/// Local memory that all collectives of a kernel share: 32-bit words, the first words of all sub-groups'
/// totals before the second ones.
pub struct Scratch {
    global: GlobalId,
}

impl Scratch {
    /// Adds the memory to the module, if a collective needs it.
    pub fn declare(module: &mut Module, device: &Device<'_>, words: u32) -> Option<Self> {
        if words == 0 {
            return None;
        }
        let words = words.max(2 * device.max_sub_groups);
        let global = module.add_global(Global {
            name: "collectives".into(),
            space: AddressSpace::Local,
            size_bytes: u64::from(words) * 4,
            align_bytes: 4,
            initializer: None,
            relocations: Default::default(),
            spec_id: None,
            export: None,
            import: None,
        });
        Some(Self { global })
    }

    fn place(&self, b: &mut Builder<'_>, index: Value, offset_words: u32) -> Place {
        let index = b.binary_const(Binary::Add, index, offset_words.into());
        let bytes = b.binary_const(Binary::Shl, index, 2);
        let bytes = b.resize_int(bytes, Type::I64, false);
        let ty = Type::Ptr(AddressSpace::Local);
        let base = b.op1(Op::GlobalAddress(self.global), ty);
        Place::Pointer(b.ptr_add(base, bytes))
    }

    fn store(&self, b: &mut Builder<'_>, index: Value, offset_words: u32, word: Value) {
        let place = self.place(b, index, offset_words);
        b.store1(place, word, Access::aligned(4));
    }

    fn load(&self, b: &mut Builder<'_>, index: Value, offset_words: u32) -> Value {
        let place = self.place(b, index, offset_words);
        b.load1(place, Type::I32, Access::aligned(4))
    }
}

/// Builds an operation; returns its results, of the given types.
pub fn lower(
    b: &mut Builder<'_>,
    device: &Device<'_>,
    scratch: &Scratch,
    op: GroupOp,
    values: &[Value],
    types: &[Type],
) -> Result<Values, CompileError> {
    let one = |value: Value| -> Values { smallvec![value] };
    match (op, values) {
        (GroupOp::Broadcast, _) => broadcast(b, scratch, values, types),
        (GroupOp::All | GroupOp::Any, &[predicate]) => {
            let op = match op {
                GroupOp::All => Binary::And,
                _ => Binary::Or,
            };
            combine(b, device, scratch, GroupOp::Reduce(op), op, predicate).map(one)
        }
        (
            GroupOp::Reduce(binary)
            | GroupOp::InclusiveScan(binary)
            | GroupOp::ExclusiveScan(binary),
            &[value],
        ) => combine(b, device, scratch, op, binary, value).map(one),
        _ => Err(CompileError::internal(format!(
            "{op:?} is no operation of work-groups"
        ))),
    }
}

fn barrier(b: &mut Builder<'_>) {
    b.op0(Op::ControlBarrier {
        execution: Scope::Workgroup,
        memory: Scope::Workgroup,
        semantics: Semantics(Semantics::ACQUIRE_RELEASE | Semantics::WORKGROUP_MEMORY),
    });
}

fn query(b: &mut Builder<'_>, query: WorkItem) -> Value {
    b.op1(Op::WorkItem(query), Type::I32)
}

/// The work-item with the local id leaves its value for all.
fn broadcast(
    b: &mut Builder<'_>,
    scratch: &Scratch,
    values: &[Value],
    types: &[Type],
) -> Result<Values, CompileError> {
    let (components, ids) = values.split_at(types.len().min(values.len()));
    let mut is_source = b.bool(true);
    for (dimension, &id) in (0u8..3).zip(ids) {
        let id = b.resize_int(id, Type::I32, false);
        let mine = query(b, WorkItem::LocalId(dimension));
        let same = b.compare(Compare::Equal, mine, id);
        is_source = b.binary(Binary::And, is_source, same);
    }
    // "work_group_broadcast(a, local_id)" names a place in the first dimension.
    for dimension in ids.len() as u8..3 {
        let mine = query(b, WorkItem::LocalId(dimension));
        let zero = b.i32(0);
        let same = b.compare(Compare::Equal, mine, zero);
        is_source = b.binary(Binary::And, is_source, same);
    }
    barrier(b);
    b.only(is_source, |b| {
        let mut offset = 0;
        for &component in components {
            for word in to_words(b, component) {
                let start = b.i32(0);
                scratch.store(b, start, offset, word);
                offset += 1;
            }
        }
    });
    barrier(b);
    let mut offset = 0;
    types
        .iter()
        .map(|&ty| {
            let words: Values = (0..word_count(ty))
                .map(|_| {
                    let start = b.i32(0);
                    let word = scratch.load(b, start, offset);
                    offset += 1;
                    word
                })
                .collect();
            from_words(b, &words, ty)
        })
        .collect()
}

fn combine(
    b: &mut Builder<'_>,
    device: &Device<'_>,
    scratch: &Scratch,
    op: GroupOp,
    binary: Binary,
    value: Value,
) -> Result<Value, CompileError> {
    let ty = b.ty(value);
    let within = |b: &mut Builder<'_>, op: GroupOp, value: Value| {
        let results = sub_group::lower(b, device, op, &[value], &[ty])?;
        Ok::<Value, CompileError>(results[0])
    };
    let mine = within(b, op, value)?;
    if device.max_sub_groups == 1 {
        return Ok(mine);
    }
    let total = match op {
        GroupOp::ExclusiveScan(_) => b.binary(binary, mine, value),
        _ => mine,
    };
    let id = query(b, WorkItem::SubgroupId);
    let lane = query(b, WorkItem::SubgroupLocalId);
    let size = query(b, WorkItem::SubgroupSize);
    let last = b.binary_const(Binary::Sub, size, 1);
    let is_last = b.compare(Compare::Equal, lane, last);
    let words = to_words(b, total);
    barrier(b);
    b.only(is_last, |b| {
        for (number, &word) in (0u32..).zip(&words) {
            scratch.store(b, id, number * device.max_sub_groups, word);
        }
    });
    barrier(b);
    let count = match op {
        GroupOp::Reduce(_) => query(b, WorkItem::NumSubgroups),
        _ => id,
    };

    // for (first = 0; first < count; first += size)
    //     sum = sum op sub-group reduction of totals[first + lane]
    let neutral = identity_value(b, binary, ty)?;
    let zero = b.i32(0);
    let [header, body, exit] = [(); 3].map(|()| b.function.add_block());
    let first = b.function.add_param(header, Type::I32);
    let sum = b.function.add_param(header, ty);
    b.jump(Edge::new(header, [zero, neutral]));
    b.switch_to(header);
    let more = b.compare(Compare::ULess, first, count);
    b.branch(more, body, exit);

    b.switch_to(body);
    let place = b.binary(Binary::Add, first, lane);
    let present = b.compare(Compare::ULess, place, count);
    // Beyond the last there is memory that nobody wrote, or none.
    let place = b.select(present, place, zero);
    let words: Values = (0..words.len() as u32)
        .map(|number| scratch.load(b, place, number * device.max_sub_groups))
        .collect();
    let theirs = from_words(b, &words, ty)?;
    let theirs = b.select(present, theirs, neutral);
    let theirs = within(b, GroupOp::Reduce(binary), theirs)?;
    let both = b.binary(binary, sum, theirs);
    let next = b.binary(Binary::Add, first, size);
    b.jump(Edge::new(header, [next, both]));

    b.switch_to(exit);
    Ok(match op {
        GroupOp::Reduce(_) => sum,
        _ => b.binary(binary, sum, mine),
    })
}
