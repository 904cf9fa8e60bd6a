//! Pipes as loads, stores and atomics: see [`crate::compiler::pipe`] for what they are in memory.
//!
//! Needs: one kernel per module, pointers. Runs before `lower::groups`, since it makes collectives. After it no
//! `Op::Pipe` is left.
//!
//! - A reservation is a loop of compare-exchanges on the side's *reserved*, as long as the other side's
//!   *visible* leaves room. A failed exchange means that somebody else's succeeded.
//! - A commit adds to *committed*, and raises *visible* if nothing is left uncommitted before it.
//! - `read_pipe` and `write_pipe` without a reservation are one, a transfer and a commit. The work-items of a
//!   sub-group that come together reserve together: else each would repeat the exchange until all before it
//!   had theirs. That needs one and the same pipe for all of them, which is certain of a kernel's argument.
//! - A group's reservation is made by one work-item for all. Barriers order the others' transfers after the
//!   reservation and before the commit.
//!
//! A kernel whose packets have another size than the pipe's finds it empty and full.

#[cfg(test)]
mod tests;

use crate::compiler::ir::{
    Access, AtomicOp, Binary, Builder, Compare, Convert, Edge, Group, GroupOp, Module, Op, Pipe,
    PipeOp, Place, Rewrite, Scope, Semantics, Type, Value, Values, WorkItem, rewrite_instructions,
};
use crate::compiler::pipe::{Counter, HEADER_BYTES, MAX_PACKETS, PACKET_BYTES, SLOT_MASK};
use crate::compiler::{CompileError, Context};
use smallvec::smallvec;

/// Runs the pass on every function.
pub fn run(module: &mut Module, _cx: &Context<'_>) -> Result<(), CompileError> {
    let kernels: Vec<_> = module.kernels.iter().map(|k| k.function).collect();
    for id in module.function_ids() {
        let is_kernel = kernels.contains(&id);
        let function = module.function_mut(id);
        let params: Values = if is_kernel {
            function.params().iter().copied().collect()
        } else {
            Values::new()
        };
        rewrite_instructions(function, |b, inst| {
            let Op::Pipe(pipe, values) = &b.function.inst(inst).op else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            let (pipe, values) = (*pipe, values.clone());
            let Some((&base, operands)) = values.split_first() else {
                return Err(CompileError::internal("a pipe instruction without a pipe"));
            };
            let end = End {
                base,
                pipe,
                is_argument: params.contains(&base),
            };
            end.lower(b, operands).map(Rewrite::Replace)
        })?;
    }
    Ok(())
}

const RELAXED: Semantics = Semantics(0);
const ACQUIRE: Semantics = Semantics(Semantics::ACQUIRE | Semantics::CROSS_WORKGROUP_MEMORY);
const RELEASE: Semantics = Semantics(Semantics::RELEASE | Semantics::CROSS_WORKGROUP_MEMORY);
const ACQUIRE_RELEASE: Semantics =
    Semantics(Semantics::ACQUIRE_RELEASE | Semantics::CROSS_WORKGROUP_MEMORY);

/// Packets of a pipe: the first one's number, and how many, both I32.
#[derive(Clone, Copy)]
struct Packets {
    first: Value,
    count: Value,
}

/// One side of a pipe, as one instruction uses it.
struct End {
    base: Value,
    pipe: Pipe,
    /// Whether it is the same pipe for every work-item for certain.
    is_argument: bool,
}

impl End {
    fn lower(&self, b: &mut Builder<'_>, operands: &[Value]) -> Result<Values, CompileError> {
        let result = match (self.pipe.op, operands) {
            (PipeOp::Transfer, &[pointer]) => self.transfer_one(b, pointer),
            (PipeOp::TransferReserved, &[id, index, pointer]) => {
                let packets = unpack(b, id);
                let is_in = b.compare(Compare::ULess, index, packets.count);
                let packet = b.binary(Binary::Add, packets.first, index);
                b.only(is_in, |b| self.copy(b, packet, pointer));
                status(b, is_in)
            }
            (PipeOp::Reserve, &[count]) => {
                let packets = match self.pipe.scope {
                    Scope::Workgroup | Scope::Subgroup => self.reserve_for_group(b, count),
                    _ => self.reserve(b, count, false),
                };
                pack(b, packets)
            }
            (PipeOp::Commit, &[id]) => {
                let packets = unpack(b, id);
                match self.pipe.scope {
                    Scope::Workgroup | Scope::Subgroup => {
                        self.barrier(b);
                        let leads = self.leads(b);
                        b.only(leads, |b| self.commit(b, packets.count));
                    }
                    _ => self.commit(b, packets.count),
                }
                return Ok(Values::new());
            }
            (PipeOp::NumPackets, []) => {
                let taken = self.counter(b, Counter::Reserved, false);
                let taken = atomic(b, AtomicOp::Load, taken, smallvec![], RELAXED);
                let there = self.counter(b, Counter::Visible, true);
                let there = atomic(b, AtomicOp::Load, there, smallvec![], RELAXED);
                let count = b.binary(Binary::Sub, there, taken);
                let most = self.field(b, MAX_PACKETS);
                b.binary(Binary::UMin, count, most)
            }
            (PipeOp::MaxPackets, []) => self.field(b, MAX_PACKETS),
            _ => {
                return Err(CompileError::invalid(
                    "wrong operands of a pipe instruction",
                ));
            }
        };
        Ok(smallvec![result])
    }

    /// `read_pipe` and `write_pipe` of one packet.
    fn transfer_one(&self, b: &mut Builder<'_>, pointer: Value) -> Value {
        let one = b.i32(1);
        let (packet, got) = if self.is_argument {
            self.reserve_together(b)
        } else {
            let packets = self.reserve(b, one, false);
            let none = b.i32(0);
            let got = b.compare(Compare::NotEqual, packets.count, none);
            (packets.first, got)
        };
        b.only(got, |b| {
            self.copy(b, packet, pointer);
            self.commit(b, one);
        });
        status(b, got)
    }

    /// A packet for each work-item of the sub-group that comes here, as far as there are any: its number, and
    /// whether this one got one.
    fn reserve_together(&self, b: &mut Builder<'_>) -> (Value, Value) {
        let one = b.i32(1);
        let wanted = sub_group(b, GroupOp::Reduce(Binary::Add), smallvec![one], Type::I32);
        let up_to = sub_group(
            b,
            GroupOp::InclusiveScan(Binary::Add),
            smallvec![one],
            Type::I32,
        );
        let rank = b.binary(Binary::Sub, up_to, one);
        let leads = sub_group(b, GroupOp::Elect, smallvec![], Type::Bool);
        let packets = self.reserved_by(b, leads, |b| self.reserve(b, wanted, true));
        let [first, count] = [packets.first, packets.count]
            .map(|word| sub_group(b, GroupOp::BroadcastFirst, smallvec![word], Type::I32));
        // Not the leader alone has to see what the other side did with the slots.
        let limit = self.counter(b, Counter::Visible, !self.pipe.writes);
        atomic(b, AtomicOp::Load, limit, smallvec![], ACQUIRE);
        let got = b.compare(Compare::ULess, rank, count);
        (b.binary(Binary::Add, first, rank), got)
    }

    /// A reservation by one work-item of the group, known to all.
    fn reserve_for_group(&self, b: &mut Builder<'_>, count: Value) -> Packets {
        let leads = self.leads(b);
        let packets = self.reserved_by(b, leads, |b| self.reserve(b, count, false));
        let words = [packets.first, packets.count];
        let scope = self.pipe.scope;
        let known = match scope {
            Scope::Workgroup => {
                let group = Group {
                    op: GroupOp::Broadcast,
                    scope,
                };
                let zero = b.i32(0);
                let values = smallvec![words[0], words[1], zero, zero, zero];
                b.op(Op::Group(group, values), [Type::I32; 2])
            }
            _ => words
                .map(|word| sub_group(b, GroupOp::BroadcastFirst, smallvec![word], Type::I32))
                .into_iter()
                .collect(),
        };
        self.barrier(b);
        Packets {
            first: known[0],
            count: known[1],
        }
    }

    /// What `reserve` gives to a work-item with the condition; nothing for the others.
    fn reserved_by(
        &self,
        b: &mut Builder<'_>,
        condition: Value,
        reserve: impl FnOnce(&mut Builder<'_>) -> Packets,
    ) -> Packets {
        let none = b.i32(0);
        let [then, after] = [(); 2].map(|()| b.function.add_block());
        let first = b.function.add_param(after, Type::I32);
        let count = b.function.add_param(after, Type::I32);
        b.branch(condition, then, Edge::new(after, [none, none]));
        b.switch_to(then);
        let packets = reserve(b);
        b.jump(Edge::new(after, [packets.first, packets.count]));
        b.switch_to(after);
        Packets { first, count }
    }

    /// Whether this work-item acts for its group.
    fn leads(&self, b: &mut Builder<'_>) -> Value {
        match self.pipe.scope {
            Scope::Workgroup => {
                let place = b.op1(Op::WorkItem(WorkItem::LocalLinearId), Type::I64);
                let zero = b.i64(0);
                b.compare(Compare::Equal, place, zero)
            }
            _ => sub_group(b, GroupOp::Elect, smallvec![], Type::Bool),
        }
    }

    fn barrier(&self, b: &mut Builder<'_>) {
        b.op0(Op::ControlBarrier {
            execution: self.pipe.scope,
            memory: self.pipe.scope,
            semantics: ACQUIRE_RELEASE,
        });
    }

    /// Reserves `wanted` packets: none if there are fewer, or with `partly` as many as there are.
    ///
    /// ```text
    /// reserved = load
    /// loop
    ///     room = writer: max packets - (reserved - readers' visible); reader: writers' visible - reserved
    ///     if none: (reserved, 0)
    ///     compare-exchange reserved by reserved + count; if done: (reserved, count)
    /// ```
    ///
    /// A stale *reserved* may give a wrong `room`, but too much only, and the exchange fails then.
    fn reserve(&self, b: &mut Builder<'_>, wanted: Value, partly: bool) -> Packets {
        let none = b.i32(0);
        let size = self.field(b, PACKET_BYTES);
        let expected = b.i32(self.pipe.packet_bytes);
        let fits = b.compare(Compare::Equal, size, expected);
        let wanted = b.select(fits, wanted, none);
        let most = self.field(b, MAX_PACKETS);
        let own = self.counter(b, Counter::Reserved, self.pipe.writes);
        let other = self.counter(b, Counter::Visible, !self.pipe.writes);
        let start = atomic(b, AtomicOp::Load, own, smallvec![], RELAXED);

        let [header, attempt, done] = [(); 3].map(|()| b.function.add_block());
        let reserved = b.function.add_param(header, Type::I32);
        let first = b.function.add_param(done, Type::I32);
        let count = b.function.add_param(done, Type::I32);
        b.jump(Edge::new(header, [start]));

        b.switch_to(header);
        let limit = atomic(b, AtomicOp::Load, other, smallvec![], ACQUIRE);
        let room = if self.pipe.writes {
            let used = b.binary(Binary::Sub, reserved, limit);
            b.binary(Binary::Sub, most, used)
        } else {
            b.binary(Binary::Sub, limit, reserved)
        };
        let (take, enough) = if partly {
            let take = b.binary(Binary::UMin, wanted, room);
            (take, take)
        } else {
            let enough = b.compare(Compare::ULessEqual, wanted, room);
            (wanted, b.select(enough, wanted, none))
        };
        let some = b.compare(Compare::NotEqual, enough, none);
        b.branch(some, attempt, Edge::new(done, [reserved, none]));

        b.switch_to(attempt);
        let next = b.binary(Binary::Add, reserved, take);
        let values = smallvec![next, reserved];
        let seen = atomic(b, AtomicOp::CompareExchange, own, values, RELAXED);
        let exchanged = b.compare(Compare::Equal, seen, reserved);
        b.branch(
            exchanged,
            Edge::new(done, [reserved, take]),
            Edge::new(header, [seen]),
        );
        b.switch_to(done);
        Packets { first, count }
    }

    /// Commits `count` packets.
    ///
    /// ```text
    /// committed = add count to committed, + count
    /// if committed == reserved:            (nothing before it is open)
    ///     raise visible to committed
    /// ```
    ///
    /// The addition acquires what earlier commits released, so *reserved* is read at least as far as the end
    /// of what was committed; if the two are equal then all packets up to there are committed.
    fn commit(&self, b: &mut Builder<'_>, count: Value) {
        let writes = self.pipe.writes;
        let committed = self.counter(b, Counter::Committed, writes);
        let before = atomic(
            b,
            AtomicOp::Add,
            committed,
            smallvec![count],
            ACQUIRE_RELEASE,
        );
        let now = b.binary(Binary::Add, before, count);
        let reserved = self.counter(b, Counter::Reserved, writes);
        let reserved = atomic(b, AtomicOp::Load, reserved, smallvec![], RELAXED);
        let complete = b.compare(Compare::Equal, now, reserved);
        b.only(complete, |b| {
            let visible = self.counter(b, Counter::Visible, writes);
            let start = atomic(b, AtomicOp::Load, visible, smallvec![], RELAXED);
            let [header, raise, done] = [(); 3].map(|()| b.function.add_block());
            let seen = b.function.add_param(header, Type::I32);
            b.jump(Edge::new(header, [start]));
            b.switch_to(header);
            // The counters wrap: it is their difference that has a sign.
            let ahead = b.binary(Binary::Sub, now, seen);
            let zero = b.i32(0);
            let is_ahead = b.compare(Compare::SLess, zero, ahead);
            b.branch(is_ahead, raise, done);
            b.switch_to(raise);
            let values = smallvec![now, seen];
            let found = atomic(b, AtomicOp::CompareExchange, visible, values, RELEASE);
            let exchanged = b.compare(Compare::Equal, found, seen);
            b.branch(exchanged, done, Edge::new(header, [found]));
            b.switch_to(done);
        });
    }

    /// Copies a packet between its slot and `pointer`.
    fn copy(&self, b: &mut Builder<'_>, packet: Value, pointer: Value) {
        let mask = self.field(b, SLOT_MASK);
        let slot = b.binary(Binary::And, packet, mask);
        let slot = b.convert(Convert::ZeroExtend, slot, Type::I64);
        let offset = b.binary_const(Binary::Mul, slot, self.pipe.packet_bytes.into());
        let offset = b.binary_const(Binary::Add, offset, HEADER_BYTES.into());
        let slot = b.ptr_add(self.base, offset);
        let size_bytes = b.i64(self.pipe.packet_bytes.into());
        let access = Access::aligned(self.pipe.align_bytes);
        let (to, from) = if self.pipe.writes {
            (slot, pointer)
        } else {
            (pointer, slot)
        };
        b.op0(Op::Copy {
            to,
            from,
            size_bytes,
            to_access: access,
            from_access: access,
        });
    }

    /// A word of the header that never changes.
    fn field(&self, b: &mut Builder<'_>, offset_bytes: u32) -> Value {
        let pointer = b.ptr_add_const(self.base, offset_bytes.into());
        b.load1(Place::Pointer(pointer), Type::I32, Access::aligned(4))
    }

    fn counter(&self, b: &mut Builder<'_>, counter: Counter, of_writers: bool) -> Place {
        let offset = counter.offset_bytes(of_writers);
        Place::Pointer(b.ptr_add_const(self.base, offset.into()))
    }
}

fn atomic(
    b: &mut Builder<'_>,
    op: AtomicOp,
    place: Place,
    values: Values,
    semantics: Semantics,
) -> Value {
    let atomic = Op::Atomic {
        op,
        place,
        values,
        scope: Scope::Device,
        semantics,
    };
    b.op1(atomic, Type::I32)
}

fn sub_group(b: &mut Builder<'_>, op: GroupOp, values: Values, ty: Type) -> Value {
    let group = Group {
        op,
        scope: Scope::Subgroup,
    };
    b.op1(Op::Group(group, values), ty)
}

/// "0 if … successful and a negative value" else.
fn status(b: &mut Builder<'_>, success: Value) -> Value {
    let [zero, failed] = [b.i32(0), b.i32(u32::MAX)];
    b.select(success, zero, failed)
}

/// The reservation of the packets; one of none is 0.
fn pack(b: &mut Builder<'_>, packets: Packets) -> Value {
    let [first, count] =
        [packets.first, packets.count].map(|word| b.convert(Convert::ZeroExtend, word, Type::I64));
    let high = b.binary_const(Binary::Shl, count, 32);
    let both = b.binary(Binary::Or, high, first);
    let none = b.i64(0);
    let is_none = b.compare(Compare::Equal, count, none);
    b.select(is_none, none, both)
}

fn unpack(b: &mut Builder<'_>, reservation: Value) -> Packets {
    let first = b.convert(Convert::Truncate, reservation, Type::I32);
    let high = b.binary_const(Binary::LShr, reservation, 32);
    let count = b.convert(Convert::Truncate, high, Type::I32);
    Packets { first, count }
}
