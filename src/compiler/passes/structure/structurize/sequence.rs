//! Deep control flow as a sequence of shallow parts, for drivers that have a limit on nesting.
//!
//! A region without cycles is cut into *parts*: a node and what it dominates down to the next cuts. Every part has one entry,
//! and control goes from earlier parts (in reverse postorder) to later ones only. So they can be put one after the other:
//! what goes to another part, or leaves the region, writes down where it goes and ends; before each part a block looks
//! whether it is meant. An `else if` chain of any length becomes a sequence of chains as deep as the cuts allow.
//!
//! Values that one part computes and another uses lie in private arrays in between, at constant indices, which drivers make
//! values of again.

use super::Shaper;
use super::graph::Region;
use crate::compiler::ir::{
    Access, Array, ArrayId, ArrayLength, ArrayStorage, Block, Compare, Edge, Inst, InstFlags, Op,
    Place, Terminator, Type, Value, Values,
};
use smallvec::smallvec;
use std::collections::{HashMap, HashSet};

/// Private arrays for values on the way from one part to another: one for each type.
pub struct Carried {
    first: u32,
    pub arrays: Vec<Array>,
}

/// An element for one value.
#[derive(Clone, Copy)]
struct Slot {
    array: ArrayId,
    index: u32,
    ty: Type,
}

impl Carried {
    /// None yet, in a module that has so many arrays.
    pub fn behind(arrays: usize) -> Self {
        Self {
            first: arrays as u32,
            arrays: Vec::new(),
        }
    }

    fn slot(&mut self, ty: Type) -> Slot {
        let element = in_memory(ty);
        let known = self.arrays.iter().position(|a| a.element == element);
        let place = known.unwrap_or_else(|| {
            self.arrays.push(Array {
                name: "carried".into(),
                storage: ArrayStorage::Private,
                element,
                length: ArrayLength::default(),
            });
            self.arrays.len() - 1
        });
        let length = &mut self.arrays[place].length;
        length.elements += 1;
        Slot {
            array: ArrayId(self.first + place as u32),
            index: length.elements - 1,
            ty,
        }
    }
}

/// Conditions are kept as words.
fn in_memory(ty: Type) -> Type {
    match ty {
        Type::Bool => Type::I32,
        other => other,
    }
}

/// The parts of a region.
struct Parts {
    /// Nodes that parts start with, in reverse postorder; the region's entry first.
    roots: Vec<usize>,
    /// By node: the number of its part.
    of: Vec<usize>,
}

impl Parts {
    /// Parts that nest no deeper than `most`; `None` if the whole region does not.
    fn of(region: &Region, successors: &[Vec<usize>], most: usize) -> Option<Self> {
        let mut predecessors = vec![Vec::new(); region.nodes.len()];
        for (node, targets) in successors.iter().enumerate() {
            for &target in targets {
                predecessors[target].push(node);
            }
        }
        let mut parts = Self {
            roots: vec![0],
            of: vec![0; region.nodes.len()],
        };
        let mut depths = vec![0; region.nodes.len()];
        // Both parents and predecessors come first.
        for node in 1..region.nodes.len() {
            let parent = region.parent(node);
            let siblings = &region.children[parent];
            let meetings = siblings.iter().filter(|&&n| region.is_meeting[n]).count();
            let is_inside = if region.is_meeting[node] {
                meetings > 1
            } else {
                successors[parent].len() > 1 || siblings.len() > 1
            };
            depths[node] = depths[parent] + usize::from(is_inside);
            parts.of[node] = parts.of[parent];
            let mut from = predecessors[node].iter();
            if depths[node] > most || from.any(|&from| parts.of[from] != parts.of[parent]) {
                depths[node] = 0;
                parts.of[node] = parts.roots.len();
                parts.roots.push(node);
            }
        }
        (parts.roots.len() > 1).then_some(parts)
    }
}

/// A region being put into sequence.
struct Sequence<'a> {
    parts: Parts,
    /// Where control goes next: a part's number, or one of an exit.
    next: Slot,
    carried: &'a mut Carried,
    /// The part of each block; that of blocks between parts is none.
    part_of: HashMap<Block, usize>,
    /// The blocks that look whether a part is meant; the last one leaves the region.
    gates: Vec<Block>,
    /// For the parameters of a part's first block, or of an exit.
    params: HashMap<Block, Vec<Slot>>,
    new_blocks: Vec<Block>,
}

impl Shaper<'_> {
    /// Cuts a region that is nested deeper than `most`; returns its members then.
    pub fn sequence(&mut self, region: &Region, most: usize) -> Option<Vec<Block>> {
        let successors: Vec<Vec<usize>> = (0..region.nodes.len())
            .map(|node| self.node_successors(region, node))
            .collect();
        let parts = Parts::of(region, &successors, most)?;
        let mut carried = std::mem::replace(&mut self.carried, Carried::behind(0));
        let gates = parts
            .roots
            .iter()
            .map(|_| self.function.add_block())
            .collect();
        let mut part_of = HashMap::new();
        for (node, &part) in parts.of.iter().enumerate() {
            part_of.extend(region.nodes[node].blocks.iter().map(|&block| (block, part)));
        }
        let mut sequence = Sequence {
            next: carried.slot(Type::I32),
            carried: &mut carried,
            part_of,
            gates,
            params: HashMap::new(),
            new_blocks: Vec::new(),
            parts,
        };
        for node in 0..region.nodes.len() {
            sequence.lead_out(self, region, node);
        }
        sequence.make_gates(self, region);
        sequence.carry(self, region);
        let mut members: Vec<Block> = region.nodes.iter().flat_map(|n| n.blocks.clone()).collect();
        members.append(&mut sequence.new_blocks);
        members.extend(&sequence.gates);
        self.carried = carried;
        self.uses = None;
        Some(members)
    }

    fn node_successors(&self, region: &Region, node: usize) -> Vec<usize> {
        let mut found = Vec::new();
        for &block in &region.nodes[node].blocks {
            for target in self.function.successors(block) {
                if let Some(target) = region.node_with(target)
                    && target != node
                    && !found.contains(&target)
                {
                    found.push(target);
                }
            }
        }
        found
    }

    fn load_slot(&mut self, block: Block, slot: Slot) -> Value {
        let (insts, value) = self.slot_load(slot);
        self.function.block_mut(block).insts.extend(insts);
        value
    }

    /// Instructions that load a value from its slot.
    fn slot_load(&mut self, slot: Slot) -> (Vec<Inst>, Value) {
        let index = self.number(slot.index);
        let place = Place::Element {
            array: slot.array,
            index,
        };
        let element = in_memory(slot.ty);
        let access = Access::aligned(element.size_bytes());
        let flags = InstFlags::default();
        let load = self
            .function
            .make_inst(Op::Load(place, access), [element], flags);
        let loaded = self.function.inst(load).results[0];
        if element == slot.ty {
            return (vec![load], loaded);
        }
        let zero = self.number(0);
        let compare = Op::Compare(Compare::NotEqual, loaded, zero);
        let compare = self.function.make_inst(compare, [slot.ty], flags);
        (vec![load, compare], self.function.inst(compare).results[0])
    }

    /// Instructions that store a value to its slot.
    fn slot_store(&mut self, slot: Slot, value: Value) -> Vec<Inst> {
        let index = self.number(slot.index);
        let place = Place::Element {
            array: slot.array,
            index,
        };
        let element = in_memory(slot.ty);
        let access = Access::aligned(element.size_bytes());
        let flags = InstFlags::default();
        let mut insts = Vec::new();
        let mut stored = value;
        if element != slot.ty {
            let (one, zero) = (self.number(1), self.number(0));
            let select = Op::Select(value, one, zero);
            let select = self.function.make_inst(select, [element], flags);
            stored = self.function.inst(select).results[0];
            insts.push(select);
        }
        let store = Op::Store(place, smallvec![stored], access);
        insts.push(self.function.make_inst(store, [], flags));
        insts
    }
}

impl Sequence<'_> {
    /// Leads what goes from a node to another part, or out of the region, to the next gate.
    fn lead_out(&mut self, shaper: &mut Shaper<'_>, region: &Region, node: usize) {
        let part = self.parts.of[node];
        for &block in &region.nodes[node].blocks {
            let mut terminator = shaper.function.block(block).terminator.clone();
            for edge in terminator.edges_mut() {
                let root = region
                    .node_with(edge.block)
                    .filter(|&target| target != node)
                    .and_then(|target| self.parts.roots.iter().position(|&r| r == target));
                let number = match root {
                    Some(root) => root,
                    None if region.exits.contains(edge.block) => self.exit_number(region, edge),
                    None => continue,
                };
                *edge = self.landing(shaper, part, number, edge).into();
            }
            shaper.function.set_terminator(block, terminator);
        }
    }

    /// Exits have the numbers behind those of parts.
    fn exit_number(&self, region: &Region, edge: &Edge) -> usize {
        let is_merge = region.exits.merge == Some(edge.block);
        self.parts.roots.len() + usize::from(is_merge)
    }

    /// A block of a part that writes down where control goes, and with what.
    fn landing(
        &mut self,
        shaper: &mut Shaper<'_>,
        part: usize,
        number: usize,
        edge: &Edge,
    ) -> Block {
        let block = shaper.function.add_block();
        let number = shaper.number(number as u32);
        let mut insts = shaper.slot_store(self.next, number);
        let slots = self.param_slots(shaper, edge.block);
        for (slot, &arg) in slots.into_iter().zip(&edge.args) {
            insts.extend(shaper.slot_store(slot, arg));
        }
        let gate = self.gates[part];
        let data = shaper.function.block_mut(block);
        data.insts = insts;
        data.terminator = Terminator::Jump(gate.into());
        self.part_of.insert(block, part);
        self.new_blocks.push(block);
        block
    }

    fn param_slots(&mut self, shaper: &Shaper<'_>, target: Block) -> Vec<Slot> {
        if let Some(slots) = self.params.get(&target) {
            return slots.clone();
        }
        let params = shaper.function.block(target).params.iter();
        let slots: Vec<Slot> = params
            .map(|&param| self.carried.slot(shaper.function.ty(param)))
            .collect();
        self.params.insert(target, slots.clone());
        slots
    }

    /// The gate behind part `n` asks for part `n + 1`; the last one leaves the region.
    fn make_gates(&mut self, shaper: &mut Shaper<'_>, region: &Region) {
        for part in 1..self.parts.roots.len() {
            let head = region.nodes[self.parts.roots[part]].head;
            let entry = self.arrival(shaper, head);
            self.part_of.insert(entry, part);
            let (gate, after) = (self.gates[part - 1], self.gates[part]);
            self.ask(shaper, gate, part, entry, after);
        }
        let last = self.gates[self.parts.roots.len() - 1];
        let exits = [region.exits.continues, region.exits.merge];
        let taken: Vec<(usize, Block)> = exits
            .into_iter()
            .enumerate()
            .filter_map(|(index, exit)| {
                let exit = exit.filter(|exit| self.params.contains_key(exit))?;
                Some((self.parts.roots.len() + index, exit))
            })
            .collect();
        match taken.as_slice() {
            [] => shaper.function.block_mut(last).terminator = Terminator::Unreachable,
            &[(_, only)] => {
                let way = self.arrival(shaper, only);
                shaper.function.block_mut(last).terminator = Terminator::Jump(way.into());
            }
            &[(number, first), (_, second), ..] => {
                let (first, second) = (self.arrival(shaper, first), self.arrival(shaper, second));
                self.ask(shaper, last, number, first, second);
            }
        }
    }

    /// A block that goes on to `target` with what was written down for it.
    fn arrival(&mut self, shaper: &mut Shaper<'_>, target: Block) -> Block {
        let block = shaper.function.add_block();
        let mut args = Values::new();
        for slot in self.param_slots(shaper, target) {
            args.push(shaper.load_slot(block, slot));
        }
        shaper.function.block_mut(block).terminator = Terminator::Jump(Edge::new(target, args));
        self.new_blocks.push(block);
        block
    }

    /// Has a block go to `then` if `number` is written down, else to `otherwise`.
    fn ask(
        &self,
        shaper: &mut Shaper<'_>,
        block: Block,
        number: usize,
        then: Block,
        otherwise: Block,
    ) {
        let next = shaper.load_slot(block, self.next);
        let number = shaper.number(number as u32);
        let condition = shaper.append(block, Op::Compare(Compare::Equal, next, number), Type::Bool);
        shaper.function.block_mut(block).terminator = Terminator::Branch {
            condition,
            then: then.into(),
            otherwise: otherwise.into(),
        };
    }

    /// Has values that are used outside of their part lie in memory in between.
    fn carry(&mut self, shaper: &mut Shaper<'_>, region: &Region) {
        let always: HashSet<Block> = region.nodes[0].blocks.iter().copied().collect();
        let order = shaper.function.reverse_postorder();
        let mut part_of_value: HashMap<Value, usize> = HashMap::new();
        for &block in order.iter().filter(|block| !always.contains(block)) {
            let Some(&part) = self.part_of.get(&block) else {
                continue;
            };
            let data = shaper.function.block(block);
            let results = data
                .insts
                .iter()
                .flat_map(|&i| &shaper.function.inst(i).results);
            let defined = data.params.iter().chain(results);
            part_of_value.extend(defined.map(|&value| (value, part)));
        }
        let mut slots: HashMap<Value, Slot> = HashMap::new();
        for &block in &order {
            let part = self.part_of.get(&block);
            let data = shaper.function.block(block);
            let operands = data
                .insts
                .iter()
                .map(|&i| shaper.function.inst(i).op.operands());
            for value in operands.chain([data.terminator.operands()]).flatten() {
                let defined = part_of_value.get(&value);
                if defined.is_some() && defined != part && !slots.contains_key(&value) {
                    slots.insert(value, self.carried.slot(shaper.function.ty(value)));
                }
            }
        }
        for &block in &order {
            let part = self.part_of.get(&block).copied();
            rewrite_block(shaper, block, &slots, |value| {
                part_of_value.get(&value).copied() != part
            });
        }
    }
}

/// Loads what a block uses from elsewhere, and stores what it defines for elsewhere.
fn rewrite_block(
    shaper: &mut Shaper<'_>,
    block: Block,
    slots: &HashMap<Value, Slot>,
    is_from_elsewhere: impl Fn(Value) -> bool,
) {
    let mut loaded: HashMap<Value, Value> = HashMap::new();
    let mut insts = Vec::new();
    for param in shaper.function.block(block).params.clone() {
        if let Some(&slot) = slots.get(&param) {
            insts.extend(shaper.slot_store(slot, param));
        }
    }
    let mut fetch = |shaper: &mut Shaper<'_>, insts: &mut Vec<_>, operands: Values| {
        let mut copies: HashMap<Value, Value> = HashMap::new();
        for value in operands {
            let Some(&slot) = slots.get(&value).filter(|_| is_from_elsewhere(value)) else {
                continue;
            };
            let copy = *loaded.entry(value).or_insert_with(|| {
                let (load, copy) = shaper.slot_load(slot);
                insts.extend(load);
                copy
            });
            copies.insert(value, copy);
        }
        copies
    };
    for inst in std::mem::take(&mut shaper.function.block_mut(block).insts) {
        let operands = shaper.function.inst(inst).op.operands();
        let copies = fetch(shaper, &mut insts, operands);
        let op = &mut shaper.function.inst_mut(inst).op;
        op.for_each_operand_mut(|value| *value = copies.get(value).copied().unwrap_or(*value));
        insts.push(inst);
        for result in shaper.function.inst(inst).results.clone() {
            if let Some(&slot) = slots.get(&result) {
                insts.extend(shaper.slot_store(slot, result));
            }
        }
    }
    let mut terminator = shaper.function.block(block).terminator.clone();
    let copies = fetch(shaper, &mut insts, terminator.operands());
    terminator.for_each_operand_mut(|value| *value = copies.get(value).copied().unwrap_or(*value));
    // Constants may have been put at the end of the block meanwhile, if it is the entry.
    let data = shaper.function.block_mut(block);
    let constants = std::mem::take(&mut data.insts);
    data.insts = constants.into_iter().chain(insts).collect();
    data.terminator = terminator;
}
