//! The rules of structured control flow (SPIR-V section 2.11), checked on the IR.

use super::nesting::with_structural_edges;
use crate::compiler::analysis::Dominators;
use crate::compiler::ir::{Block, Function, Merge, Terminator};
use std::sync::Arc;

/// A header and the blocks of its construct (of a loop: continue construct included).
struct Construct {
    header: Block,
    merge: Block,
    continues: Option<Block>,
    /// By block.
    inside: Vec<bool>,
    size: usize,
}

/// Every violation in words.
pub fn violations(function: &Function) -> Vec<String> {
    let mut check = Check {
        function,
        dominators: with_structural_edges(function).analysis(),
        constructs: Vec::new(),
        wrong: Vec::new(),
    };
    check.headers();
    for &block in function.layout() {
        check.merge_instruction(block);
        for target in function.successors(block) {
            check.edge(block, target);
        }
    }
    check.back_edges();
    check.wrong
}

/// A function being checked, and what is found.
struct Check<'a> {
    function: &'a Function,
    dominators: Arc<Dominators>,
    constructs: Vec<Construct>,
    wrong: Vec<String>,
}

impl Check<'_> {
    /// Checks headers with their merge and continue blocks, and finds what is inside of their constructs.
    fn headers(&mut self) {
        let (function, dominators) = (self.function, &self.dominators);
        let mut merges: Vec<Block> = Vec::new();
        for &header in function.layout() {
            let (merge, continues) = match function.block(header).merge {
                None => continue,
                Some(Merge::Selection { merge }) => (merge, None),
                Some(Merge::Loop { merge, continues }) => (merge, Some(continues)),
            };
            for block in [merge].into_iter().chain(continues) {
                if merges.contains(&block) {
                    self.wrong
                        .push(format!("{block} is merge or continue of two headers"));
                }
                merges.push(block);
                if !dominators.dominates(header, block) || header == block {
                    self.wrong
                        .push(format!("{header} does not dominate {block}"));
                }
            }
            let mut inside = vec![false; function.block_count()];
            for &block in function.layout() {
                inside[block.index()] =
                    dominators.dominates(header, block) && !dominators.dominates(merge, block);
            }
            self.constructs.push(Construct {
                header,
                merge,
                continues,
                size: inside.iter().filter(|inside| **inside).count(),
                inside,
            });
        }
    }

    /// The innermost loop that a block is in.
    fn innermost_loop(&self, block: Block) -> Option<&Construct> {
        let loops = self.constructs.iter().filter(|c| c.continues.is_some());
        loops
            .filter(|c| c.inside[block.index()])
            .min_by_key(|c| c.size)
    }

    /// Checks that a block has a merge instruction if, and only if, its branch needs one.
    fn merge_instruction(&mut self, block: Block) {
        let data = self.function.block(block);
        if !matches!(data.terminator, Terminator::Jump(_)) && data.merge.is_none() {
            let targets = self.function.successors(block);
            let closes_loop = self.innermost_loop(block).is_some_and(|c| {
                c.continues
                    .is_some_and(|target| self.dominators.dominates(target, block))
                    && targets.contains(&c.header)
                    && targets.iter().all(|t| *t == c.header || *t == c.merge)
            });
            if !targets.is_empty() && !closes_loop {
                self.wrong
                    .push(format!("{block} branches without a merge block"));
            }
        }
        if matches!(data.terminator, Terminator::Jump(_))
            && matches!(data.merge, Some(Merge::Selection { .. }))
        {
            self.wrong
                .push(format!("{block} has a merge block and no choice"));
        }
    }

    /// Checks that an edge enters constructs by their headers and leaves them to where it may, and that it goes back
    /// to loops only.
    fn edge(&mut self, block: Block, target: Block) {
        let exit = self.innermost_loop(block).is_some_and(|inner| {
            target == inner.merge || Some(target) == inner.continues || target == inner.header
        });
        for c in &self.constructs {
            let (from, to) = (c.inside[block.index()], c.inside[target.index()]);
            if !from && to && target != c.header {
                self.wrong.push(format!(
                    "{block} enters {}'s construct at {target}",
                    c.header
                ));
            }
            let allowed = target == c.merge || (c.continues.is_none() && exit);
            if from && !to && !allowed {
                self.wrong.push(format!(
                    "{block} leaves {}'s construct to {target}",
                    c.header
                ));
            }
            if let Some(continues) = c.continues
                && from
                && target == c.header
                && !self.dominators.dominates(continues, block)
            {
                self.wrong
                    .push(format!("{block} goes back to {target} on its own"));
            }
        }
        if self.dominators.dominates(target, block)
            && !matches!(self.function.block(target).merge, Some(Merge::Loop { .. }))
        {
            self.wrong.push(format!(
                "{block} goes back to {target}, which heads no loop"
            ));
        }
    }

    /// Checks that loops have no more than one back edge.
    fn back_edges(&mut self) {
        let function = self.function;
        for c in &self.constructs {
            let back = function.layout().iter().filter(|&&block| {
                c.inside[block.index()] && function.successors(block).contains(&c.header)
            });
            if c.continues.is_some() && back.count() > 1 {
                self.wrong
                    .push(format!("{} has several back edges", c.header));
            }
        }
    }
}
