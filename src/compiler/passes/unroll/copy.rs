//! Copies of a loop's body, one behind the other.

use super::Candidate;
use crate::compiler::ir::{Block, Edge, Function, Terminator, Value};
use std::collections::HashMap;

/// Puts `rounds` copies of the body in the place of the loop. The last is the body itself, so that what
/// later code reads of the loop stays where it is.
pub fn unroll(function: &mut Function, candidate: &Candidate<'_>, rounds: usize) {
    let (from, incoming) = prepend(
        function,
        candidate,
        candidate.before,
        &candidate.first,
        rounds - 1,
    );
    let header = candidate.header;
    redirect(function, from, header, Edge::new(header, incoming));
    function.block_mut(candidate.leaving).terminator = Terminator::Jump(candidate.exit.clone());
}

/// Makes one round of `factor` rounds, of a loop whose number of rounds is a multiple of it. The last is again the body
/// itself.
pub fn join_rounds(function: &mut Function, candidate: &Candidate<'_>, factor: usize) {
    let start = function.add_block();
    let params = function.block(candidate.header).params.clone();
    let params: Vec<Value> = params
        .iter()
        .map(|&param| function.add_param(start, function.ty(param)))
        .collect();
    function.block_mut(start).terminator = Terminator::Jump(Edge::new(candidate.header, []));
    let (from, incoming) = prepend(function, candidate, start, &params, factor - 1);
    let header = candidate.header;
    let first = Edge::new(start, candidate.first.iter().copied());
    redirect(function, candidate.before, header, first);
    let next = Edge::new(start, candidate.next.iter().copied());
    redirect(function, candidate.latch, header, next);
    redirect(function, from, header, Edge::new(header, incoming));
}

/// Puts copies of the body behind a block, which has an edge to the loop; `incoming` are the values of the header's
/// parameters there. Returns where the last copy ends, and the values for what comes after it.
fn prepend(
    function: &mut Function,
    candidate: &Candidate<'_>,
    mut from: Block,
    incoming: &[Value],
    copies: usize,
) -> (Block, Vec<Value>) {
    let params = function.block(candidate.header).params.clone();
    let mut incoming = incoming.to_vec();
    for _ in 0..copies {
        let mut values: HashMap<Value, Value> = params.iter().copied().zip(incoming).collect();
        let blocks = copy_blocks(function, candidate.blocks, candidate.header, &mut values);
        let resolve = |value: &Value| values.get(value).copied().unwrap_or(*value);
        incoming = candidate.next.iter().map(resolve).collect();
        let header = candidate.header;
        redirect(function, from, header, Edge::new(blocks[&header], []));
        // This round goes on where it could leave.
        let onward = &candidate.onward;
        let block = blocks.get(&onward.block).copied();
        let mut edge = Edge::new(
            block.unwrap_or(onward.block),
            onward.args.iter().map(resolve),
        );
        if onward.block == candidate.header {
            edge = Edge::new(candidate.header, []);
        }
        function.block_mut(blocks[&candidate.leaving]).terminator = Terminator::Jump(edge);
        from = blocks[&candidate.latch];
    }
    (from, incoming)
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
pub(super) fn copy_blocks(
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
