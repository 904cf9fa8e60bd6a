//! The rules of structured control flow (SPIR-V section 2.11), checked on the IR.

use super::nesting::with_structural_edges;
use crate::compiler::analysis::Dominators;
use crate::compiler::ir::{Block, Function, Merge, Terminator};

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
    let mut wrong = Vec::new();
    let dominators = Dominators::new(&with_structural_edges(function));
    let mut constructs = Vec::new();
    let mut merges: Vec<Block> = Vec::new();
    for &header in &function.layout {
        let (merge, continues) = match function.block(header).merge {
            None => continue,
            Some(Merge::Selection { merge }) => (merge, None),
            Some(Merge::Loop { merge, continues }) => (merge, Some(continues)),
        };
        for block in [merge].into_iter().chain(continues) {
            if merges.contains(&block) {
                wrong.push(format!("{block} is merge or continue of two headers"));
            }
            merges.push(block);
            if !dominators.dominates(header, block) || header == block {
                wrong.push(format!("{header} does not dominate {block}"));
            }
        }
        let mut inside = vec![false; function.block_count()];
        for &block in &function.layout {
            inside[block.index()] =
                dominators.dominates(header, block) && !dominators.dominates(merge, block);
        }
        constructs.push(Construct {
            header,
            merge,
            continues,
            size: inside.iter().filter(|inside| **inside).count(),
            inside,
        });
    }

    for &block in &function.layout {
        let innermost = constructs
            .iter()
            .filter(|c| c.continues.is_some() && c.inside[block.index()])
            .min_by_key(|c| c.size);
        let data = function.block(block);
        if !matches!(data.terminator, Terminator::Jump(_)) && data.merge.is_none() {
            let targets = function.successors(block);
            let closes_loop = innermost.is_some_and(|c| {
                c.continues
                    .is_some_and(|target| dominators.dominates(target, block))
                    && targets.contains(&c.header)
                    && targets.iter().all(|t| *t == c.header || *t == c.merge)
            });
            if !targets.is_empty() && !closes_loop {
                wrong.push(format!("{block} branches without a merge block"));
            }
        }
        if matches!(data.terminator, Terminator::Jump(_))
            && matches!(data.merge, Some(Merge::Selection { .. }))
        {
            wrong.push(format!("{block} has a merge block and no choice"));
        }
        for target in function.successors(block) {
            for c in &constructs {
                let (from, to) = (c.inside[block.index()], c.inside[target.index()]);
                if !from && to && target != c.header {
                    wrong.push(format!(
                        "{block} enters {}'s construct at {target}",
                        c.header
                    ));
                }
                let exit = innermost.is_some_and(|inner| {
                    target == inner.merge
                        || Some(target) == inner.continues
                        || target == inner.header
                });
                let allowed = target == c.merge || (c.continues.is_none() && exit);
                if from && !to && !allowed {
                    wrong.push(format!(
                        "{block} leaves {}'s construct to {target}",
                        c.header
                    ));
                }
                if let Some(continues) = c.continues
                    && from
                    && target == c.header
                    && !dominators.dominates(continues, block)
                {
                    wrong.push(format!("{block} goes back to {target} on its own"));
                }
            }
            if dominators.dominates(target, block)
                && !matches!(function.block(target).merge, Some(Merge::Loop { .. }))
            {
                wrong.push(format!(
                    "{block} goes back to {target}, which heads no loop"
                ));
            }
        }
    }
    for c in &constructs {
        let back = function.layout.iter().filter(|&&block| {
            c.inside[block.index()] && function.successors(block).contains(&c.header)
        });
        if c.continues.is_some() && back.count() > 1 {
            wrong.push(format!("{} has several back edges", c.header));
        }
    }
    wrong
}
