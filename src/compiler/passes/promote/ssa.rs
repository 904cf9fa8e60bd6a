//! Replaces accesses to slots by the values that the slots have.

use super::slots::{Plan, Slot, Spot};
use crate::compiler::ir::{
    Access, Block, Builder, Function, Inst, InstFlags, Op, Place, Type, Value, Values,
};
use crate::compiler::passes::scalar_bits;
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

/// Carries the plan out. The function's layout is in reverse postorder and has no unreachable block.
pub fn rewrite(function: &mut Function, plan: &Plan) {
    let mut ssa = Ssa {
        plan,
        predecessors: function.predecessors(),
        starts: vec![HashMap::new(); function.block_count()],
        ends: vec![HashMap::new(); function.block_count()],
        pending: Vec::new(),
        undefined: HashMap::new(),
        replacements: HashMap::new(),
    };
    for block in function.layout.clone() {
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        let mut b = Builder::new(function, block);
        for inst in insts {
            b.flags = InstFlags::default();
            if !ssa.inst(&mut b, inst) {
                b.push(inst);
            }
        }
    }
    ssa.connect(function);
    let entry = function.entry();
    let mut insts: Vec<Inst> = ssa.undefined.values().map(|&(inst, _)| inst).collect();
    insts.sort();
    insts.append(&mut function.block_mut(entry).insts);
    function.block_mut(entry).insts = insts;
    function.replace_values(&ssa.replacements);
}

/// A block parameter whose arguments are not known yet.
struct Pending {
    block: Block,
    slot: Slot,
    param: Value,
}

struct Ssa<'a> {
    plan: &'a Plan,
    predecessors: Vec<SmallVec<[Block; 4]>>,
    /// Values of slots where a block starts, as far as asked for, and where it ends, if it changes them.
    starts: Vec<HashMap<u32, Value>>,
    ends: Vec<HashMap<u32, Value>>,
    pending: Vec<Pending>,
    undefined: HashMap<Type, (Inst, Value)>,
    replacements: HashMap<Value, Value>,
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
                    self.replacements.insert(result, value);
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
        self.ends[block.index()].insert(slot.id, value);
    }

    fn current(&mut self, b: &mut Builder<'_>, slot: Slot) -> Value {
        let block = b.block();
        self.at_end(b.function, block, slot)
    }

    /// The value where a block ends, or where it is being read now.
    fn at_end(&mut self, function: &mut Function, block: Block, slot: Slot) -> Value {
        match self.ends[block.index()].get(&slot.id) {
            Some(&value) => value,
            None => self.at_start(function, block, slot),
        }
    }

    fn at_start(&mut self, function: &mut Function, block: Block, slot: Slot) -> Value {
        let mut passed: SmallVec<[Block; 8]> = SmallVec::new();
        let mut at = block;
        let value = loop {
            if let Some(&value) = self.starts[at.index()].get(&slot.id) {
                break value;
            }
            passed.push(at);
            match self.predecessors[at.index()].as_slice() {
                [] => break self.undefined(function, slot.ty),
                &[only] => match self.ends[only.index()].get(&slot.id) {
                    Some(&value) => break value,
                    None => at = only,
                },
                _ => {
                    let param = function.add_param(at, slot.ty);
                    self.pending.push(Pending {
                        block: at,
                        slot,
                        param,
                    });
                    break param;
                }
            }
        };
        for block in passed {
            self.starts[block.index()].insert(slot.id, value);
        }
        value
    }

    fn undefined(&mut self, function: &mut Function, ty: Type) -> Value {
        let (_, value) = *self.undefined.entry(ty).or_insert_with(|| {
            let inst = function.make_inst(Op::Undef, [ty], InstFlags::default());
            (inst, function.inst(inst).results[0])
        });
        value
    }

    /// Each block that goes to another, once.
    fn distinct_predecessors(&self, block: Block) -> SmallVec<[Block; 4]> {
        let mut predecessors = self.predecessors[block.index()].clone();
        predecessors.sort();
        predecessors.dedup();
        predecessors
    }

    /// Gives the new parameters their arguments, then drops those that always have one value.
    fn connect(&mut self, function: &mut Function) {
        let mut arguments: Vec<Vec<Value>> = Vec::new();
        let mut next = 0;
        while next < self.pending.len() && !function.is_too_large() {
            let (block, slot) = (self.pending[next].block, self.pending[next].slot);
            next += 1;
            let predecessors = self.distinct_predecessors(block);
            let mut all = Vec::new();
            for predecessor in predecessors {
                let value = self.at_end(function, predecessor, slot);
                all.push(value);
                let terminator = &mut function.block_mut(predecessor).terminator;
                for edge in terminator.edges_mut() {
                    if edge.block == block {
                        edge.args.push(value);
                    }
                }
            }
            arguments.push(all);
        }

        let mut dropped: HashSet<Value> = HashSet::new();
        loop {
            let mut changed = false;
            for (pending, arguments) in self.pending.iter().zip(&arguments) {
                if dropped.contains(&pending.param) {
                    continue;
                }
                let mut others = arguments
                    .iter()
                    .map(|&value| resolve(&self.replacements, value))
                    .filter(|&value| value != pending.param);
                let first = others.next();
                if first.is_some_and(|first| others.all(|other| other == first)) {
                    dropped.insert(pending.param);
                    self.replacements
                        .extend(first.map(|first| (pending.param, first)));
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let blocks: HashSet<Block> = self.pending.iter().map(|pending| pending.block).collect();
        for block in blocks {
            let keep: Vec<bool> = function
                .block(block)
                .params
                .iter()
                .map(|param| !dropped.contains(param))
                .collect();
            retain(&mut function.block_mut(block).params, &keep);
            for predecessor in self.distinct_predecessors(block) {
                let terminator = &mut function.block_mut(predecessor).terminator;
                for edge in terminator.edges_mut() {
                    if edge.block == block {
                        retain(&mut edge.args, &keep);
                    }
                }
            }
        }
    }
}

fn resolve(replacements: &HashMap<Value, Value>, mut value: Value) -> Value {
    while let Some(&new) = replacements.get(&value) {
        value = new;
    }
    value
}

fn retain(values: &mut Values, keep: &[bool]) {
    let mut keep = keep.iter();
    values.retain(|_| *keep.next().unwrap_or(&true));
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
