//! Which variables can be values, and how their bytes are cut into slots.

use crate::compiler::ir::{Access, Function, Inst, Op, Place, Type, Value, VariableId};
use crate::compiler::passes::helpers::scalar_bits;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Larger copies leave a variable in memory: as values they would be thousands of instructions.
const LONGEST_COPY_BYTES: u32 = 1 << 10;

/// A place in a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub variable: VariableId,
    pub offset: u32,
}

/// Bytes of a variable that are one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Number among the slots of the function.
    pub id: u32,
    pub start: u32,
    pub ty: Type,
}

impl Slot {
    pub fn end(&self) -> u32 {
        self.start + self.ty.size_bytes()
    }
}

/// What is to be done.
pub struct Plan {
    /// Addresses of and in variables that become values.
    pub pointers: HashMap<Value, Spot>,
    /// Slots of each such variable, by offset.
    slots: HashMap<VariableId, Vec<Slot>>,
}

/// The bytes `start..end`.
type Range = (u32, u32);

#[derive(Default)]
struct Variable {
    stays: bool,
    /// Scalars accessed, with their types and how often.
    scalars: BTreeMap<Range, Vec<(Type, u32)>>,
    /// Ends of copies.
    cuts: BTreeSet<u32>,
    copied: Vec<Range>,
}

/// A copy between two variables.
struct Transfer {
    to: Spot,
    from: Spot,
    size: u32,
}

impl Plan {
    pub fn of(function: &Function) -> Self {
        let mut finder = Finder {
            function,
            pointers: HashMap::new(),
            variables: HashMap::new(),
            copies: Vec::new(),
        };
        for &block in function.layout() {
            for &inst in &function.block(block).insts {
                finder.inst(inst);
            }
            for value in function.block(block).terminator.operands() {
                finder.stay(value);
            }
        }
        finder.plan()
    }

    pub fn is_empty(&self) -> bool {
        self.pointers.is_empty()
    }

    /// The slots that overlap a range of a variable.
    pub fn overlapping(&self, spot: Spot, size: u32) -> impl Iterator<Item = Slot> + '_ {
        let slots = self
            .slots
            .get(&spot.variable)
            .map_or(&[][..], Vec::as_slice);
        let first = slots.partition_point(|slot| slot.end() <= spot.offset);
        slots[first..]
            .iter()
            .copied()
            .take_while(move |slot| slot.start < spot.offset + size)
    }
}

struct Finder<'a> {
    function: &'a Function,
    pointers: HashMap<Value, Spot>,
    variables: HashMap<VariableId, Variable>,
    copies: Vec<(Option<Spot>, Option<Spot>, u32)>,
}

impl Finder<'_> {
    fn variable(&mut self, id: VariableId) -> &mut Variable {
        self.variables.entry(id).or_default()
    }

    /// If the value is the address of a variable, the variable stays in memory.
    fn stay(&mut self, value: Value) {
        if let Some(spot) = self.pointers.get(&value) {
            let id = spot.variable;
            self.variable(id).stays = true;
        }
    }

    fn inst(&mut self, inst: Inst) {
        let function = self.function;
        let data = function.inst(inst);
        match &data.op {
            Op::VariableAddress(variable) => {
                let spot = Spot {
                    variable: *variable,
                    offset: 0,
                };
                self.variable(*variable);
                self.pointers.insert(data.results[0], spot);
            }
            Op::PtrAdd(base, by) => {
                let Some(&spot) = self.pointers.get(base) else {
                    return;
                };
                let size = function.variables[spot.variable.index()].size_bytes;
                let offset = function
                    .signed_constant(*by)
                    .and_then(|by| i64::from(spot.offset).checked_add(by))
                    .and_then(|offset| u32::try_from(offset).ok())
                    .filter(|&offset| u64::from(offset) <= size);
                match offset {
                    Some(offset) => {
                        self.pointers
                            .insert(data.results[0], Spot { offset, ..spot });
                    }
                    None => self.stay(*base),
                }
            }
            Op::Load(Place::Pointer(pointer), access) => {
                let types: Vec<Type> = data.results.iter().map(|&v| function.ty(v)).collect();
                self.access(*pointer, &types, *access);
            }
            Op::Store(Place::Pointer(pointer), values, access) => {
                let types: Vec<Type> = values.iter().map(|&v| function.ty(v)).collect();
                self.access(*pointer, &types, *access);
                for &value in values {
                    self.stay(value);
                }
            }
            Op::Copy {
                to,
                from,
                size_bytes,
                to_access,
                from_access,
            } => {
                let size = function
                    .constant(*size_bytes)
                    .and_then(|size| u32::try_from(size).ok())
                    .filter(|&size| size <= LONGEST_COPY_BYTES);
                let mut spot = |pointer: Value, access: &Access| {
                    let spot = *self.pointers.get(&pointer)?;
                    if size.is_none_or(|size| !self.fits(spot, size)) || access.volatile {
                        self.stay(pointer);
                    }
                    Some(spot)
                };
                let (to, from) = (spot(*to, to_access), spot(*from, from_access));
                if let Some(size) = size
                    && (to.is_some() || from.is_some())
                {
                    self.copies.push((to, from, size));
                }
            }
            op => {
                for value in op.operands() {
                    self.stay(value);
                }
            }
        }
    }

    fn fits(&self, spot: Spot, size: u32) -> bool {
        let variable = &self.function.variables[spot.variable.index()];
        u64::from(spot.offset) + u64::from(size) <= variable.size_bytes
    }

    fn access(&mut self, pointer: Value, types: &[Type], access: Access) {
        let Some(&spot) = self.pointers.get(&pointer) else {
            return;
        };
        let (offsets, size) = scalar_bits::offsets_of(types.iter().copied());
        if access.volatile || !self.fits(spot, size) {
            self.stay(pointer);
            return;
        }
        let variable = self.variable(spot.variable);
        for (offset, &ty) in offsets.into_iter().zip(types) {
            let start = spot.offset + offset;
            let counts = variable
                .scalars
                .entry((start, start + ty.size_bytes()))
                .or_default();
            match counts.iter_mut().find(|(other, _)| *other == ty) {
                Some((_, count)) => *count += 1,
                None => counts.push((ty, 1)),
            }
        }
    }

    fn plan(mut self) -> Plan {
        let mut transfers = Vec::new();
        for (to, from, size) in std::mem::take(&mut self.copies) {
            for spot in [to, from].into_iter().flatten() {
                let variable = self.variable(spot.variable);
                let range = (spot.offset, spot.offset + size);
                variable.cuts.extend([range.0, range.1]);
                variable.copied.push(range);
            }
            if let (Some(to), Some(from)) = (to, from) {
                transfers.push(Transfer { to, from, size });
            }
        }
        self.share_scalars(&transfers);

        let mut plan = Plan {
            pointers: HashMap::new(),
            slots: HashMap::new(),
        };
        let mut ids: Vec<VariableId> = self.variables.keys().copied().collect();
        ids.sort();
        let mut next = 0;
        for id in ids {
            let variable = &self.variables[&id];
            if !variable.stays {
                let slots = variable.slots(&mut next);
                plan.slots.insert(id, slots);
            }
        }
        self.pointers
            .retain(|_, spot| plan.slots.contains_key(&spot.variable));
        plan.pointers = self.pointers;
        plan
    }

    /// What is accessed on one side of a copy between variables is a slot on the other side too.
    fn share_scalars(&mut self, transfers: &[Transfer]) {
        // Each round carries ranges over one more copy; a chain longer than this only costs shifts.
        for _ in 0..8 {
            let mut changed = false;
            for transfer in transfers {
                for (source, target) in [(transfer.to, transfer.from), (transfer.from, transfer.to)]
                {
                    let end = source.offset + transfer.size;
                    let shared: Vec<(Range, Vec<(Type, u32)>)> = self.variables[&source.variable]
                        .scalars
                        .iter()
                        .filter(|((from, to), _)| *from >= source.offset && *to <= end)
                        .map(|((from, to), types)| {
                            let moved = |at: u32| at - source.offset + target.offset;
                            ((moved(*from), moved(*to)), types.clone())
                        })
                        .collect();
                    let variable = self.variable(target.variable);
                    for (range, types) in shared {
                        variable.scalars.entry(range).or_insert_with(|| {
                            changed = true;
                            types
                        });
                    }
                }
            }
            if !changed {
                break;
            }
        }
    }
}

impl Variable {
    fn slots(&self, next: &mut u32) -> Vec<Slot> {
        let mut slots = Vec::new();
        let mut add = |start: u32, ty: Type| {
            slots.push(Slot {
                id: *next,
                start,
                ty,
            });
            *next += 1;
        };
        // Scalars that overlap form a region; a region of one scalar is one slot.
        let mut ranges = self.scalars.keys().copied().peekable();
        let mut covered: Vec<Range> = Vec::new();
        while let Some((start, mut end)) = ranges.next() {
            let mut bounds = BTreeSet::from([start, end]);
            while let Some(&(other_start, other_end)) = ranges.peek()
                && other_start < end
            {
                bounds.extend([other_start, other_end]);
                end = end.max(other_end);
                ranges.next();
            }
            bounds.extend(self.cuts.range(start..end));
            covered.push((start, end));
            if bounds.len() == 2 {
                let types = &self.scalars[&(start, end)];
                let most = types.iter().max_by_key(|(_, count)| *count);
                if let Some(&(ty, _)) = most {
                    add(start, ty);
                }
                continue;
            }
            let bounds: Vec<u32> = bounds.into_iter().collect();
            for pair in bounds.windows(2) {
                fill(pair[0], pair[1], 8, &mut add);
            }
        }
        // What is only copied travels in words.
        let mut bounds: BTreeSet<u32> = self.cuts.clone();
        bounds.extend(covered.iter().flat_map(|(start, end)| [*start, *end]));
        let bounds: Vec<u32> = bounds.into_iter().collect();
        for pair in bounds.windows(2) {
            let within = |ranges: &[Range]| {
                ranges
                    .iter()
                    .any(|(start, end)| *start <= pair[0] && pair[1] <= *end)
            };
            if within(&self.copied) && !within(&covered) {
                fill(pair[0], pair[1], 4, &mut add);
            }
        }
        slots.sort_by_key(|slot| slot.start);
        slots
    }
}

/// Cuts a range into integers of at most `limit` bytes, each at a multiple of its size.
fn fill(start: u32, end: u32, limit: u32, add: &mut impl FnMut(u32, Type)) {
    let mut at = start;
    while at < end {
        let mut size = limit;
        while size > 1 && (!at.is_multiple_of(size) || at + size > end) {
            size /= 2;
        }
        let ty = match size {
            1 => Type::I8,
            2 => Type::I16,
            4 => Type::I32,
            _ => Type::I64,
        };
        add(at, ty);
        at += size;
    }
}
