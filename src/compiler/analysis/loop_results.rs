//! What a loop's values that are used behind it come from.
//!
//! A driver that runs several work-items as one vector goes on with a loop until the last of them has left it, and computes in
//! the lanes of those that have left as well. What is computed from phis and constants comes out the same there; what is read
//! does not, nor a phi that the driver has made a selection by a condition of. Where all work-items leave a loop in the same
//! iteration, nothing is computed for any that has left.
//!
//! A phi behind a selection keeps what its ways gave it, as long as it is one: where an optimizer finds that they all give the
//! same (Mesa loads once what is loaded twice), it is that value. If any of them is computed without reading, that is no loss;
//! otherwise what they read counts, too.
//!
//! A cycle with several ways in has no loops inside that are known here: there, whatever is used in another block of
//! the cycle counts as leaving one.

use super::{Loops, cycles, loops_left_together};
use crate::compiler::ir::{Block, Function, Inst, Op, Place, Value, ValueDef, Values};
use std::collections::HashSet;

/// What values that are used behind a loop are made of by operations alone, where work-items may leave the loop in different
/// iterations.
#[derive(Debug, Default)]
pub struct LoopResults {
    /// Loads, calls, atomics and collectives.
    pub read: HashSet<Inst>,
    /// Blocks other than headers of loops whose parameters join values of several ways.
    pub joining: HashSet<Block>,
}

impl LoopResults {
    /// Finds what values that leave the loops of a function, structured or not, are made of.
    pub fn of(function: &Function) -> Self {
        let loops = function.analysis::<Loops>();
        if loops.all().is_empty() && !loops.is_irreducible() {
            return Self::default();
        }
        let mut is_in_cycle = vec![false; function.block_count()];
        if loops.is_irreducible() {
            for block in cycles(function, function.layout()).into_iter().flatten() {
                is_in_cycle[block.index()] = true;
            }
        }
        let mut search = Search {
            function,
            home: homes(function),
            is_left_together: loops_left_together(function),
            is_in_cycle,
            headers: loops.all().iter().map(|it| it.header).collect(),
            arguments: arguments(function),
            seen: HashSet::new(),
            found: Self::default(),
        };
        for &block in function.layout() {
            let data = function.block(block);
            for &inst in &data.insts {
                for value in function.inst(inst).op.operands() {
                    search.used(&loops, value, block);
                }
            }
            for value in data.terminator.operands() {
                search.used(&loops, value, block);
            }
            for edge in data.terminator.edges() {
                for &value in &edge.args {
                    search.used(&loops, value, edge.block);
                }
            }
        }
        search.found
    }
}

struct Search<'a> {
    function: &'a Function,
    /// By value: the block that defines it.
    home: Vec<Option<Block>>,
    /// By loop: whether work-items leave it together.
    is_left_together: Vec<bool>,
    /// By block: whether it is in a cycle, if some cycle has several ways in.
    is_in_cycle: Vec<bool>,
    headers: HashSet<Block>,
    /// By block: what each edge to it gives its parameters.
    arguments: Vec<Vec<Values>>,
    seen: HashSet<Value>,
    found: LoopResults,
}

impl Search<'_> {
    /// A use in a block: does the value leave a loop on the way there, where others stay?
    fn used(&mut self, loops: &Loops, value: Value, block: Block) {
        let Some(home) = self.home[value.index()] else {
            return;
        };
        let leaves = loops.left(home, block).any(|it| !self.is_left_together[it]);
        if leaves || self.is_in_cycle[home.index()] && block != home {
            self.trace(value);
        }
    }

    /// Collects what the value is computed from.
    fn trace(&mut self, value: Value) {
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            if !self.seen.insert(value) {
                continue;
            }
            match self.function.value(value).def {
                ValueDef::Parameter(block) => match self.only_argument(block, value) {
                    Some(argument) => pending.push(argument),
                    None if self.headers.contains(&block) => {}
                    None => {
                        self.found.joining.insert(block);
                        let arguments = self.arguments_of(block, value);
                        if arguments.iter().all(|&it| self.is_read(it)) {
                            pending.extend(arguments);
                        }
                    }
                },
                ValueDef::Result { inst, .. } => {
                    let op = &self.function.inst(inst).op;
                    if reads(op) {
                        self.found.read.insert(inst);
                    } else {
                        pending.extend(op.operands());
                    }
                }
            }
        }
    }

    /// The value that a parameter has whichever way its block is entered, which any optimizer puts in its place.
    fn only_argument(&self, block: Block, param: Value) -> Option<Value> {
        let arguments = self.arguments_of(block, param);
        let mut others = arguments.into_iter().filter(|&it| it != param);
        let first = others.next()?;
        others.all(|other| other == first).then_some(first)
    }

    /// What the ways to a block give one of its parameters.
    fn arguments_of(&self, block: Block, param: Value) -> Values {
        let mut params = self.function.block(block).params.iter();
        let Some(position) = params.position(|&it| it == param) else {
            return Values::new();
        };
        let edges = self.arguments[block.index()].iter();
        edges
            .filter_map(|edge| edge.get(position).copied())
            .collect()
    }

    /// Whether a value is computed of something that is read, by operations alone.
    fn is_read(&self, value: Value) -> bool {
        let mut pending = vec![value];
        let mut seen = HashSet::new();
        while let Some(value) = pending.pop() {
            let ValueDef::Result { inst, .. } = self.function.value(value).def else {
                continue;
            };
            let op = &self.function.inst(inst).op;
            if reads(op) {
                return true;
            }
            if seen.insert(value) {
                pending.extend(op.operands());
            }
        }
        false
    }
}

/// Whether the result may be another one in a lane that has left a loop.
fn reads(op: &Op) -> bool {
    match op {
        Op::Load(Place::Argument { .. }, _) => false,
        Op::Load(..) | Op::Atomic { .. } | Op::Call(..) | Op::Group(..) => true,
        _ => false,
    }
}

fn homes(function: &Function) -> Vec<Option<Block>> {
    let mut homes = vec![None; function.value_count()];
    for &block in function.layout() {
        let data = function.block(block);
        let results = data.insts.iter().flat_map(|&i| &function.inst(i).results);
        for &value in results.chain(&data.params) {
            homes[value.index()] = Some(block);
        }
    }
    homes
}

fn arguments(function: &Function) -> Vec<Vec<Values>> {
    let mut arguments = vec![Vec::new(); function.block_count()];
    for &block in function.layout() {
        for edge in function.block(block).terminator.edges() {
            arguments[edge.block.index()].push(edge.args.clone());
        }
    }
    arguments
}
