//! What is put in order before the structure is looked for.

use super::Shaper;
use crate::compiler::ir::{Block, Edge, Function, Terminator};

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
    function.layout.retain(|block| keep[block.index()]);
}

impl Shaper<'_> {
    /// Afterwards no block goes to another one along two edges with different arguments, a branch has two
    /// targets, and a switch goes only to blocks that no other block goes to.
    pub fn separate_edges(&mut self) {
        let predecessors = self.function.predecessors();
        for block in self.function.layout.clone() {
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
