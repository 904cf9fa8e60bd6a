//! Replaces accesses to slots by the values that the slots have.

use super::slot_values::SlotValues;
use super::slots::{Plan, Slot, Spot};
use crate::compiler::ir::{
    Access, Block, Builder, Function, Inst, InstFlags, Op, Place, Type, Value, Values,
};
use crate::compiler::passes::helpers::scalar_bits;

/// Carries the plan out. The function's layout is in reverse postorder and has no unreachable block.
pub fn rewrite(function: &mut Function, plan: &Plan) {
    let mut ssa = Ssa {
        plan,
        values: SlotValues::new(function),
    };
    for block in function.layout().to_vec() {
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        let mut b = Builder::new(function, block);
        for inst in insts {
            b.flags = InstFlags::default();
            if !ssa.inst(&mut b, inst) {
                b.push(inst);
            }
        }
    }
    ssa.values.connect(function);
}

struct Ssa<'a> {
    plan: &'a Plan,
    values: SlotValues,
}

impl Ssa<'_> {
    /// Whether the instruction is replaced.
    fn inst(&mut self, b: &mut Builder<'_>, inst: Inst) -> bool {
        let data = b.function.inst(inst).clone();
        let spot = |pointer: Value| self.plan.pointers.get(&pointer).copied();
        match data.op {
            Op::VariableAddress(_) | Op::PtrAdd(..) => spot(data.results[0]).is_some(),
            Op::Load(Place::Pointer(pointer), _) => {
                let Some(spot) = spot(pointer) else {
                    return false;
                };
                let types: Vec<Type> = data.results.iter().map(|&v| b.ty(v)).collect();
                let (offsets, _) = scalar_bits::offsets_of(types.iter().copied());
                for ((&result, ty), within) in data.results.iter().zip(types).zip(offsets) {
                    let offset = spot.offset + within;
                    let value = self.read(b, Spot { offset, ..spot }, ty);
                    self.values.replace(result, value);
                }
                true
            }
            Op::Store(Place::Pointer(pointer), values, _) => {
                let Some(spot) = spot(pointer) else {
                    return false;
                };
                let (offsets, _) = scalar_bits::offsets_of(values.iter().map(|&v| b.ty(v)));
                for (&value, within) in values.iter().zip(offsets) {
                    let offset = spot.offset + within;
                    self.write(b, Spot { offset, ..spot }, value);
                }
                true
            }
            Op::Copy {
                to,
                from,
                size_bytes,
                to_access,
                from_access,
            } => {
                let size = b.function.constant(size_bytes).unwrap_or(0) as u32;
                match (spot(to), spot(from)) {
                    (None, None) => return false,
                    (Some(to), Some(from)) => self.transfer(b, to, from, size),
                    (Some(to), None) => self.copy_in(b, to, from, from_access, size),
                    (None, Some(from)) => self.copy_out(b, to, from, to_access, size),
                }
                true
            }
            _ => false,
        }
    }

    /// A scalar put together from the slots that it covers.
    fn read(&mut self, b: &mut Builder<'_>, spot: Spot, ty: Type) -> Value {
        let size = ty.size_bytes();
        let slots: Vec<Slot> = self.plan.overlapping(spot, size).collect();
        if let [slot] = slots.as_slice()
            && slot.start == spot.offset
            && slot.ty.size_bytes() == size
        {
            let value = self.current(b, *slot);
            return scalar_bits::reinterpret(b, value, ty);
        }
        let mut parts = Vec::new();
        for slot in slots {
            let value = self.current(b, slot);
            let int = scalar_bits::to_int(b, value);
            let (start, end) = (
                slot.start.max(spot.offset),
                slot.end().min(spot.offset + size),
            );
            // Slots are cut where scalars are, so that a part is a whole slot; after a copy from another
            // variable it may be less.
            let mut at = start;
            while at < end {
                let part = part_type(at - slot.start, end - at);
                let value = scalar_bits::extract(b, int, at - slot.start, part);
                parts.push((at - spot.offset, value));
                at += part.size_bytes();
            }
        }
        let int = scalar_bits::join(b, &parts, scalar_bits::memory_int(ty));
        scalar_bits::from_int(b, int, ty)
    }

    fn write(&mut self, b: &mut Builder<'_>, spot: Spot, value: Value) {
        let size = b.ty(value).size_bytes();
        let slots: Vec<Slot> = self.plan.overlapping(spot, size).collect();
        if let [slot] = slots.as_slice()
            && slot.start == spot.offset
            && slot.ty.size_bytes() == size
        {
            let value = scalar_bits::reinterpret(b, value, slot.ty);
            self.set(b.block(), *slot, value);
            return;
        }
        let int = scalar_bits::to_int(b, value);
        for slot in slots {
            let offset = slot.start - spot.offset;
            let part = scalar_bits::extract(b, int, offset, scalar_bits::memory_int(slot.ty));
            let part = scalar_bits::from_int(b, part, slot.ty);
            self.set(b.block(), slot, part);
        }
    }

    fn transfer(&mut self, b: &mut Builder<'_>, to: Spot, from: Spot, size: u32) {
        let slots: Vec<Slot> = self.plan.overlapping(to, size).collect();
        let values: Vec<Value> = slots
            .iter()
            .map(|slot| {
                let offset = slot.start - to.offset + from.offset;
                self.read(b, Spot { offset, ..from }, slot.ty)
            })
            .collect();
        for (slot, value) in slots.into_iter().zip(values) {
            self.set(b.block(), slot, value);
        }
    }

    /// Copies memory to slots.
    fn copy_in(&mut self, b: &mut Builder<'_>, to: Spot, from: Value, access: Access, size: u32) {
        for run in runs(self.plan.overlapping(to, size)) {
            let (place, access) = beside(b, from, access, run[0].start - to.offset);
            let values = b.load(place, run[0].ty, run.len(), access);
            for (slot, value) in run.into_iter().zip(values) {
                self.set(b.block(), slot, value);
            }
        }
    }

    /// Copies slots to memory.
    fn copy_out(&mut self, b: &mut Builder<'_>, to: Value, from: Spot, access: Access, size: u32) {
        for run in runs(self.plan.overlapping(from, size)) {
            let (place, access) = beside(b, to, access, run[0].start - from.offset);
            let values: Values = run.iter().map(|&slot| self.current(b, slot)).collect();
            b.store(place, values, access);
        }
    }

    fn set(&mut self, block: Block, slot: Slot, value: Value) {
        self.values.set(block, slot.id, value);
    }

    fn current(&mut self, b: &mut Builder<'_>, slot: Slot) -> Value {
        let block = b.block();
        self.values.at_end(b.function, block, slot.id, slot.ty)
    }
}

/// Neighbouring slots of one type, 16 bytes at most.
fn runs(slots: impl Iterator<Item = Slot>) -> Vec<Vec<Slot>> {
    let mut runs: Vec<Vec<Slot>> = Vec::new();
    for slot in slots {
        let run = runs.last_mut().filter(|run| {
            let (first, last) = (run[0], run[run.len() - 1]);
            last.ty == slot.ty && last.end() == slot.start && slot.end() - first.start <= 16
        });
        match run {
            Some(run) => run.push(slot),
            None => runs.push(vec![slot]),
        }
    }
    runs
}

/// The place some bytes behind a pointer.
fn beside(b: &mut Builder<'_>, pointer: Value, access: Access, offset: u32) -> (Place, Access) {
    let align_bytes = match offset {
        0 => access.align_bytes,
        _ => access.align_bytes.min(1 << offset.trailing_zeros()),
    };
    let place = Place::Pointer(b.ptr_add_const(pointer, i64::from(offset)));
    (
        place,
        Access {
            align_bytes,
            ..access
        },
    )
}

/// The largest integer type of at most `left` bytes that stands at a multiple of its size.
fn part_type(offset: u32, left: u32) -> Type {
    match left {
        8.. if offset.is_multiple_of(8) => Type::I64,
        4.. if offset.is_multiple_of(4) => Type::I32,
        2.. if offset.is_multiple_of(2) => Type::I16,
        _ => Type::I8,
    }
}
