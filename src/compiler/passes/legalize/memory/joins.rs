//! Loads of neighbouring narrow elements as one load.
//!
//! **Why.** An element narrower than a word, at an alignment below a word's, takes a word and a shift by what is only known when the
//! kernel runs. Of neighbours (`x[0] + x[1] + x[2]`, or `(half4)(x[0], x[1], x[2], x[3])`) each would take a word of its own, and
//! neighbouring shifts have nothing in common that an optimizer would find.
//!
//! **How.** Loads in one block, of elements that follow each other in memory, are one load where the first of them stands, if nothing
//! between them may write. That touches no word that none of them touches.

use super::Memory;
use crate::compiler::ir::{Access, Binary, Block, Function, Inst, Op, Place, Type, Value};
use std::collections::HashMap;

/// Elements that one load has at most: sixteen of a vector, and as many before and behind.
const MOST_ELEMENTS: usize = 48;

/// The loads of a function that are made together with others.
#[derive(Debug, Default)]
pub struct Joins {
    /// By the first load: how many elements it loads for all of them.
    counts: HashMap<Inst, usize>,
    /// By each other load: the first one, and which of its elements this one's first is.
    others: HashMap<Inst, (Inst, usize)>,
}

/// Loads that follow each other.
struct Run {
    first: Inst,
    base: Value,
    /// Behind the last element.
    end_bytes: u64,
    ty: Type,
    access: Access,
    elements: usize,
    others: Vec<(Inst, usize)>,
}

impl Joins {
    /// Finds them.
    pub fn of(memory: &Memory<'_>, function: &Function) -> Self {
        let mut joins = Self::default();
        for &block in function.layout() {
            joins.add_block(memory, function, block);
        }
        joins
    }

    fn add_block(&mut self, memory: &Memory<'_>, function: &Function, block: Block) {
        let mut open: Vec<Run> = Vec::new();
        for &inst in &function.block(block).insts {
            let op = &function.inst(inst).op;
            if !op.is_removable() {
                open.drain(..).for_each(|run| self.close(run));
                continue;
            }
            let Some(run) = run_of(memory, function, inst) else {
                continue;
            };
            let follows = |it: &Run| {
                let is_same = (it.base, it.ty, it.access.read_only)
                    == (run.base, run.ty, run.access.read_only);
                let start_bytes = run.end_bytes - run.size_bytes();
                is_same
                    && it.end_bytes == start_bytes
                    && it.elements + run.elements <= MOST_ELEMENTS
            };
            match open.iter_mut().find(|it| follows(it)) {
                Some(before) => {
                    before.others.push((inst, before.elements));
                    before.elements += run.elements;
                    before.end_bytes = run.end_bytes;
                }
                None => open.push(run),
            }
        }
        open.drain(..).for_each(|run| self.close(run));
    }

    fn close(&mut self, run: Run) {
        if run.others.is_empty() {
            return;
        }
        self.counts.insert(run.first, run.elements);
        let others = run.others.into_iter();
        self.others
            .extend(others.map(|(inst, at)| (inst, (run.first, at))));
    }

    /// How many elements a load loads for others, too.
    pub fn count_of(&self, first: Inst) -> Option<usize> {
        self.counts.get(&first).copied()
    }

    /// The load that a load is made with, and which of that one's elements its first is.
    pub fn first_of(&self, inst: Inst) -> Option<(Inst, usize)> {
        self.others.get(&inst).copied()
    }
}

impl Run {
    fn size_bytes(&self) -> u64 {
        self.elements as u64 * u64::from(self.ty.size_bytes())
    }
}

/// A load alone, if it is one of narrow elements that may begin anywhere in a word.
fn run_of(memory: &Memory<'_>, function: &Function, inst: Inst) -> Option<Run> {
    let data = function.inst(inst);
    let Op::Load(Place::Address(address), access) = data.op else {
        return None;
    };
    let ty = function.ty(*data.results.first()?);
    let stored = memory.memory_type(ty);
    let is_narrow = stored.size_bytes() < 4 && access.align_bytes < 4;
    let is_streamed = !memory.accesses(stored) || access.align_bytes < stored.size_bytes();
    if !is_narrow || !is_streamed {
        return None;
    }
    let (base, start_bytes) = base_of(function, address);
    let mut run = Run {
        first: inst,
        base,
        end_bytes: start_bytes,
        ty,
        access,
        elements: data.results.len(),
        others: Vec::new(),
    };
    run.end_bytes = start_bytes.wrapping_add(run.size_bytes());
    (run.end_bytes > start_bytes).then_some(run)
}

/// What constants were added to for an address, and their sum.
fn base_of(function: &Function, address: Value) -> (Value, u64) {
    let (mut base, mut sum) = (address, 0_u64);
    while let Some(&Op::Binary(Binary::Add, one, other)) = function.op_of(base) {
        let (next, constant) = match (function.constant(one), function.constant(other)) {
            (_, Some(constant)) => (one, constant),
            (Some(constant), None) => (other, constant),
            (None, None) => break,
        };
        (base, sum) = (next, sum.wrapping_add(constant));
    }
    (base, sum)
}
