//! Makes the values that slots of memory have of what is written to them.
//!
//! Block parameters are made on demand, walking up from reads, so that only live slots get them. Slots that nothing was
//! written to read as `Undef`.

use crate::compiler::ir::{Block, Function, Inst, InstFlags, Op, Type, Value, Values};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

/// Values of slots that are noted at blocks, and handed from block to block, for one function at most. They take some 25 bytes
/// each, and grow with the slots times the blocks: a function with more is given up.
const MOST_NOTED: usize = 1 << 23;

/// A block parameter whose arguments are not known yet.
struct Pending {
    block: Block,
    slot: u32,
    ty: Type,
    param: Value,
}

/// What slots hold, by their numbers, as a function's blocks are visited in reverse postorder.
pub struct SlotValues {
    predecessors: Vec<SmallVec<[Block; 4]>>,
    /// Values of slots where a block starts, as far as asked for, and where it ends, if it changes them.
    starts: Vec<HashMap<u32, Value>>,
    ends: Vec<HashMap<u32, Value>>,
    pending: Vec<Pending>,
    undefined: HashMap<Type, (Inst, Value)>,
    replacements: HashMap<Value, Value>,
    /// Values noted so far, [`MOST_NOTED`] at most.
    noted: usize,
}

impl SlotValues {
    /// Begins with a function without unreachable blocks.
    pub fn new(function: &Function) -> Self {
        Self {
            predecessors: function.predecessors(),
            starts: vec![HashMap::new(); function.block_count()],
            ends: vec![HashMap::new(); function.block_count()],
            pending: Vec::new(),
            undefined: HashMap::new(),
            replacements: HashMap::new(),
            noted: 0,
        }
    }

    /// A slot gets a value in the block that is being visited.
    pub fn set(&mut self, block: Block, slot: u32, value: Value) {
        self.ends[block.index()].insert(slot, value);
    }

    /// What a removed instruction gave is `value` wherever it is used.
    pub fn replace(&mut self, result: Value, value: Value) {
        self.replacements.insert(result, value);
    }

    /// The value where a block ends, or where it is being read now.
    pub fn at_end(&mut self, function: &mut Function, block: Block, slot: u32, ty: Type) -> Value {
        match self.ends[block.index()].get(&slot) {
            Some(&value) => value,
            None => self.at_start(function, block, slot, ty),
        }
    }

    fn at_start(&mut self, function: &mut Function, block: Block, slot: u32, ty: Type) -> Value {
        if function.is_too_large() {
            return self.undefined(function, ty);
        }
        let mut passed: SmallVec<[Block; 8]> = SmallVec::new();
        let mut at = block;
        let value = loop {
            if let Some(&value) = self.starts[at.index()].get(&slot) {
                break value;
            }
            passed.push(at);
            match self.predecessors[at.index()].as_slice() {
                [] => break self.undefined(function, ty),
                &[only] => match self.ends[only.index()].get(&slot) {
                    Some(&value) => break value,
                    None => at = only,
                },
                _ => {
                    let param = function.add_param(at, ty);
                    self.pending.push(Pending {
                        block: at,
                        slot,
                        ty,
                        param,
                    });
                    break param;
                }
            }
        };
        self.note(function, passed.len());
        for block in passed {
            self.starts[block.index()].insert(slot, value);
        }
        value
    }

    fn note(&mut self, function: &mut Function, more: usize) {
        self.noted += more;
        if self.noted > MOST_NOTED {
            function.give_up();
        }
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

    /// Gives the parameters their arguments, drops those that always have one value, and replaces what was read.
    pub fn connect(mut self, function: &mut Function) {
        self.give_arguments(function);
        let entry = function.entry();
        let mut insts: Vec<Inst> = self.undefined.values().map(|&(inst, _)| inst).collect();
        insts.sort();
        insts.append(&mut function.block_mut(entry).insts);
        function.block_mut(entry).insts = insts;
        function.replace_values(&self.replacements);
    }

    fn give_arguments(&mut self, function: &mut Function) {
        let mut arguments: Vec<Vec<Value>> = Vec::new();
        let mut next = 0;
        while next < self.pending.len() && !function.is_too_large() {
            let Pending {
                block, slot, ty, ..
            } = self.pending[next];
            next += 1;
            let predecessors = self.distinct_predecessors(block);
            self.note(function, predecessors.len());
            let mut all = Vec::new();
            for predecessor in predecessors {
                let value = self.at_end(function, predecessor, slot, ty);
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
        if function.is_too_large() {
            return;
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
