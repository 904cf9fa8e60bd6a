//! What is put in order before the structure is looked for.

use super::Shaper;
use crate::compiler::ir::{Block, Builder, Compare, Edge, Function, Terminator};

/// Takes unreachable blocks out of the layout, unless a header needs them.
pub fn remove_unreachable(function: &mut Function) {
    use crate::compiler::ir::Merge;
    let mut keep = vec![false; function.block_count()];
    for block in function.reverse_postorder() {
        keep[block.index()] = true;
        match function.block(block).merge {
            Some(Merge::Selection { merge }) => keep[merge.index()] = true,
            Some(Merge::Loop { merge, continues }) => {
                keep[merge.index()] = true;
                keep[continues.index()] = true;
            }
            None => {}
        }
    }
    function.retain_blocks(|block| keep[block.index()]);
}

/// Has a function return in one place, where all its ways meet then.
pub fn return_once(function: &mut Function) {
    let returns =
        |block: &Block| matches!(function.block(*block).terminator, Terminator::Return(_));
    let returning: Vec<Block> = function.layout().iter().copied().filter(returns).collect();
    if returning.len() < 2 {
        return;
    }
    let last = function.add_block();
    let types = function.return_types.clone();
    let results = types.into_iter().map(|ty| function.add_param(last, ty));
    let results = results.collect();
    for block in returning {
        let terminator = &mut function.block_mut(block).terminator;
        if let Terminator::Return(values) = terminator {
            *terminator = Terminator::Jump(Edge::new(last, values.drain(..)));
        }
    }
    function.block_mut(last).terminator = Terminator::Return(results);
}

impl Shaper<'_> {
    /// Afterwards no block goes to another one along two edges with different arguments, a branch has two
    /// targets, and a switch goes only to blocks that no other block goes to.
    pub fn separate_edges(&mut self) {
        let layout = self.function.layout().to_vec();
        if layout.iter().any(|&block| self.is_convergent(block)) {
            for block in layout {
                join_cases(self.function, block);
            }
        }
        let predecessors = self.function.predecessors();
        for block in self.function.layout().to_vec() {
            self.join_branch(block);
            if !matches!(
                self.function.block(block).terminator,
                Terminator::Switch { .. }
            ) {
                continue;
            }
            let mut terminator = self.function.block(block).terminator.clone();
            let mut groups: Vec<(Edge, Block)> = Vec::new();
            let mut edges: Vec<Edge> = terminator.edges().into_iter().cloned().collect();
            edges.dedup();
            if edges.len() == 1 {
                let edge = edges.remove(0);
                self.function.block_mut(block).terminator = Terminator::Jump(edge);
                continue;
            }
            for edge in terminator.edges_mut() {
                let alone = predecessors[edge.block.index()]
                    .iter()
                    .filter(|&&other| other == block)
                    .count()
                    == 1
                    && predecessors[edge.block.index()].len() == 1;
                if alone {
                    continue;
                }
                let known = groups.iter().find(|(other, _)| other == edge);
                let between = match known {
                    Some((_, between)) => *between,
                    None => {
                        let between = self.function.add_block();
                        self.function.block_mut(between).terminator =
                            Terminator::Jump(edge.clone());
                        groups.push((edge.clone(), between));
                        between
                    }
                };
                *edge = between.into();
            }
            self.function.block_mut(block).terminator = terminator;
        }
    }
}

/// Gives a switch one case for each target: the other cases' values become that one's, or the default's.
///
/// Work-items of cases that share a label are together in it. NVIDIA's driver (580.159) has them pass it one
/// case after the other, maximal reconvergence or not.
fn join_cases(function: &mut Function, block: Block) {
    let Terminator::Switch {
        value,
        cases,
        default,
    } = function.block(block).terminator.clone()
    else {
        return;
    };
    let mut kept: Vec<(u64, Edge)> = Vec::new();
    let mut b = Builder::new(function, block);
    let ty = b.ty(value);
    let mut joined = value;
    for (case, edge) in cases {
        if edge == default {
            continue;
        }
        match kept.iter().find(|(_, other)| *other == edge) {
            Some(&(same, _)) => {
                let (case, same) = (b.constant(ty, case), b.constant(ty, same));
                let is_case = b.compare(Compare::Equal, value, case);
                joined = b.select(is_case, same, joined);
            }
            None => kept.push((case, edge)),
        }
    }
    b.terminate(Terminator::Switch {
        value: joined,
        cases: kept,
        default,
    });
}
