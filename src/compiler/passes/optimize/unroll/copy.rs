//! Copies of a loop's body, one behind the other.

use super::candidate::Candidate;
use crate::compiler::ir::{Block, Edge, Function, Terminator, Value};
use std::collections::HashMap;

/// What is copied of a loop with one edge in and one back.
pub(super) struct Iteration<'a> {
    /// In reverse postorder, the header first.
    pub blocks: &'a [Block],
    pub latch: Block,
    /// The values that the header's parameters have in the next iteration.
    pub next: &'a [Value],
    /// A way out that copies don't take: the block where it is, and the edge by which they go on there.
    pub onward: Option<(Block, &'a Edge)>,
}

impl Iteration<'_> {
    /// Puts copies behind a block, which has an edge to the loop; `incoming` are the values of the header's parameters
    /// there. Returns where the last copy ends, which has an edge to the header, and the values for what comes after it.
    pub fn copy(
        &self,
        function: &mut Function,
        mut from: Block,
        mut incoming: Vec<Value>,
        copies: usize,
    ) -> (Block, Vec<Value>) {
        let header = self.blocks[0];
        let params = function.block(header).params.clone();
        for _ in 0..copies {
            let mut values: HashMap<Value, Value> = params.iter().copied().zip(incoming).collect();
            let blocks = copy_blocks(function, self.blocks, header, &mut values);
            let resolve = |value: &Value| values.get(value).copied().unwrap_or(*value);
            incoming = self.next.iter().map(resolve).collect();
            redirect(function, from, header, Edge::new(blocks[&header], []));
            if let Some((leaving, onward)) = self.onward {
                let edge = if onward.block == header {
                    Edge::new(header, [])
                } else {
                    Edge::new(
                        blocks.get(&onward.block).copied().unwrap_or(onward.block),
                        onward.args.iter().map(resolve),
                    )
                };
                function.block_mut(blocks[&leaving]).terminator = Terminator::Jump(edge);
            }
            from = blocks[&self.latch];
        }
        (from, incoming)
    }
}

impl<'a> Candidate<'a> {
    /// An iteration of it, to be copied.
    fn iteration(&'a self) -> Iteration<'a> {
        Iteration {
            blocks: self.blocks,
            latch: self.latch,
            next: &self.next,
            onward: Some((self.leaving, &self.onward)),
        }
    }
}

/// Puts `iterations` copies of the body in the place of the loop. The last is the body itself, so that what
/// later code reads of the loop stays where it is.
pub fn unroll(function: &mut Function, candidate: &Candidate<'_>, iterations: usize) {
    let first = candidate.first.clone();
    let (from, incoming) =
        candidate
            .iteration()
            .copy(function, candidate.before, first, iterations - 1);
    let header = candidate.header;
    redirect(function, from, header, Edge::new(header, incoming));
    function.block_mut(candidate.leaving).terminator = Terminator::Jump(candidate.exit.clone());
}

/// Makes one iteration of `factor` iterations, of a loop whose number of iterations is a multiple of it. The last is again the body
/// itself.
pub fn unroll_partially(function: &mut Function, candidate: &Candidate<'_>, factor: usize) {
    let header = candidate.header;
    let (start, params) = block_like(function, header);
    function.block_mut(start).terminator = Terminator::Jump(Edge::new(header, []));
    let (from, incoming) = candidate
        .iteration()
        .copy(function, start, params, factor - 1);
    let first = Edge::new(start, candidate.first.iter().copied());
    redirect(function, candidate.before, header, first);
    let next = Edge::new(start, candidate.next.iter().copied());
    redirect(function, candidate.latch, header, next);
    redirect(function, from, header, Edge::new(header, incoming));
}

/// A block with parameters as the header has.
pub(super) fn block_like(function: &mut Function, header: Block) -> (Block, Vec<Value>) {
    let block = function.add_block();
    let params = function.block(header).params.clone();
    let params = params
        .iter()
        .map(|&param| function.add_param(block, function.ty(param)))
        .collect();
    (block, params)
}

/// A block that leads to the header, to put copies behind.
pub(super) fn block_before(function: &mut Function, header: Block) -> Block {
    let block = function.add_block();
    function.block_mut(block).terminator = Terminator::Jump(Edge::new(header, []));
    block
}

/// The edge from a block to `old` becomes another.
pub(super) fn redirect(function: &mut Function, from: Block, old: Block, new: Edge) {
    for edge in function.block_mut(from).terminator.edges_mut() {
        if edge.block == old {
            *edge = new.clone();
        }
    }
}

/// Copies the body. The header's copy has no parameters: `values` says what stands for them, and after it what
/// stands for everything else in the body.
fn copy_blocks(
    function: &mut Function,
    body: &[Block],
    header: Block,
    values: &mut HashMap<Value, Value>,
) -> HashMap<Block, Block> {
    let mut blocks = HashMap::new();
    for &block in body {
        let copy = function.add_block();
        blocks.insert(block, copy);
        if block != header {
            for param in function.block(block).params.clone() {
                let ty = function.ty(param);
                values.insert(param, function.add_param(copy, ty));
            }
        }
    }
    for &block in body {
        let mut insts = Vec::new();
        for inst in function.block(block).insts.clone() {
            let data = function.inst(inst).clone();
            let mut op = data.op;
            // Blocks come in reverse postorder: what an operand names is copied already.
            op.for_each_operand_mut(|value| *value = values.get(value).copied().unwrap_or(*value));
            let types: Vec<_> = data.results.iter().map(|&it| function.ty(it)).collect();
            let copy = function.make_inst(op, types, data.flags);
            let results = function.inst(copy).results.clone();
            values.extend(data.results.iter().copied().zip(results));
            insts.push(copy);
        }
        let mut terminator = function.block(block).terminator.clone();
        terminator.for_each_operand_mut(|value| {
            *value = values.get(value).copied().unwrap_or(*value);
        });
        for edge in terminator.edges_mut() {
            // The edge back waits for the next copy.
            if edge.block != header {
                edge.block = blocks.get(&edge.block).copied().unwrap_or(edge.block);
            }
        }
        let copy = function.block_mut(blocks[&block]);
        copy.insts = insts;
        copy.terminator = terminator;
    }
    blocks
}
