//! Branches and switches.

use super::graph::{Node, Region};
use super::{Shaper, Task};
use crate::compiler::CompileError;
use crate::compiler::ir::{Block, Merge};
use std::collections::HashSet;
use std::rc::Rc;

impl Shaper<'_> {
    /// Gives a block that branches its merge block.
    pub fn selection(
        &mut self,
        region: &Rc<Region>,
        node: usize,
        follow: Option<Block>,
    ) -> Result<(), CompileError> {
        let head = region.nodes[node].head;
        let (mut arms, mut meetings) = children(region, node);
        let mut direct = self.leaving_block(region, node, head, &arms);
        // What leaves the node goes to `follow`: parents have seen to that.
        let most = meetings.len() + usize::from(follow.is_some());
        let mut ways = self.ways(region, &arms, most);
        if distinct([&direct].into_iter().chain(&ways)).len() > 1
            && self.copy_returns(region, node, &mut arms, &mut meetings)
        {
            // What went to a return alone doesn't leave any more.
            direct = self.leaving_block(region, node, head, &arms);
            ways = self.ways(region, &arms, most);
        }
        let targets = distinct([&direct].into_iter().chain(&ways));
        for &target in &targets {
            let met = meetings
                .iter()
                .any(|&node| region.nodes[node].head == target);
            if !met && follow != Some(target) {
                return Err(unexpected(target));
            }
        }
        let visit = |shaper: &mut Self, nodes: &[usize], follow: Option<Block>| {
            for &node in nodes {
                shaper.tasks.push(Task::Node {
                    region: region.clone(),
                    node,
                    follow,
                });
            }
        };

        let merge = match targets.as_slice() {
            [] => {
                visit(self, &arms, follow);
                match largest(region, &arms) {
                    Some(arm) => region.nodes[arm].head,
                    None => self.unreachable(),
                }
            }
            &[target] => {
                let met = meetings
                    .iter()
                    .copied()
                    .find(|&node| region.nodes[node].head == target);
                let mut ending = arms.iter().zip(&ways).filter(|(_, way)| !way.is_empty());
                match (met, direct.is_empty(), ending.next(), ending.next()) {
                    (Some(meeting), ..) => {
                        visit(self, &arms, Some(target));
                        visit(self, &[meeting], follow);
                        target
                    }
                    // All other arms end: this one is what comes after.
                    (None, true, Some((&arm, _)), None) => {
                        visit(self, &arms, follow);
                        region.nodes[arm].head
                    }
                    _ => {
                        let merge = self.block_before(target);
                        let mut blocks = vec![head];
                        for &arm in &arms {
                            blocks.extend(region.blocks_under(arm));
                        }
                        self.lead(&blocks, target, merge);
                        visit(self, &arms, Some(merge));
                        merge
                    }
                }
            }
            _ => {
                let mut blocks = vec![head];
                for &arm in &arms {
                    blocks.extend(region.blocks_under(arm));
                }
                let to_follow = follow.filter(|follow| targets.contains(follow));
                let dispatch = self.dispatch(region, &meetings, &[], follow, to_follow)?;
                for block in blocks {
                    self.map_edges(block, |shaper, edge| dispatch.enter(shaper, 0, edge));
                }
                visit(self, &arms, Some(dispatch.head()));
                dispatch.head()
            }
        };
        // A branch whose ways all lead to the dispatch block has become a jump.
        if self.function.successors(head).len() > 1 {
            self.function.block_mut(head).merge = Some(Merge::Selection { merge });
        }
        Ok(())
    }

    /// Where the edges of one block go beyond the arms and the exits.
    fn leaving_block(
        &self,
        region: &Region,
        node: usize,
        block: Block,
        arms: &[usize],
    ) -> Vec<Block> {
        let mut targets = Vec::new();
        for target in self.function.successors(block) {
            let to_arm = region
                .child_with(node, target)
                .is_some_and(|child| arms.contains(&child));
            if !to_arm && !region.exits.contains(target) && !self.terminals.contains(&target) {
                targets.push(target);
            }
        }
        targets
    }

    /// Where control goes from each arm, exits apart: to no more than `most` places, so that the search ends when it knows
    /// them all. In a chain of checks that all go to one place each would else look at all that come after it.
    fn ways(&self, region: &Region, arms: &[usize], most: usize) -> Vec<Vec<Block>> {
        let way = |&arm| {
            let mut targets = Vec::new();
            for block in region.blocks_under(arm) {
                for target in self.function.successors(block) {
                    if self.leaves(region, arm, target) && !targets.contains(&target) {
                        targets.push(target);
                    }
                }
                if targets.len() >= most {
                    break;
                }
            }
            targets
        };
        arms.iter().map(way).collect()
    }

    /// Whether anything that `node` dominates goes to `target`, which is outside.
    pub fn leads_to(&self, region: &Region, node: usize, target: Block) -> bool {
        self.leaves(region, node, target) && self.is_reached(region, node, target)
    }

    /// Whether a block is none that `node` dominates, nor an exit.
    fn leaves(&self, region: &Region, node: usize, block: Block) -> bool {
        !region.dominates(node, block)
            && !region.exits.contains(block)
            && !self.terminals.contains(&block)
    }

    /// Leads the edges of `blocks` to `from` to the block `to`, which takes the same arguments.
    pub fn lead(&mut self, blocks: &[Block], from: Block, to: Block) {
        for &block in blocks {
            if self.function.successors(block).contains(&from) {
                self.map_edges(block, |_, edge| {
                    (edge.block == from).then(|| {
                        let mut edge = edge.clone();
                        edge.block = to;
                        edge
                    })
                });
            }
        }
    }

    /// Gives every edge to a block that only returns a copy of its own: from everywhere under `node` where
    /// the return is a child of it, else from what `node` and its arms are. Afterwards `arms` and `meetings` hold the children that are still reached.
    /// Returns whether there was any.
    pub fn copy_returns(
        &mut self,
        region: &Region,
        node: usize,
        arms: &mut Vec<usize>,
        meetings: &mut Vec<usize>,
    ) -> bool {
        let is_loop = region.nodes[node].continues.is_some();
        let mut returns: Vec<Block> = Vec::new();
        for &child in meetings.iter().chain(arms.iter().filter(|_| is_loop)) {
            let head = region.nodes[child].head;
            if self.is_return(head) {
                returns.push(head);
            }
        }
        let mut inner: HashSet<Block> = region.nodes[node].blocks.iter().copied().collect();
        for &arm in arms.iter() {
            inner.extend(region.blocks_under(arm));
        }
        let mut any = false;
        // Only where a return is a child may others than what is inside lead to it.
        let all = if returns.is_empty() {
            let arms = arms.iter().flat_map(|&arm| region.dominated(arm));
            [node].iter().chain(arms).copied().collect()
        } else {
            region.dominated(node).to_vec()
        };
        for from in all {
            let Node {
                head,
                blocks,
                continues,
            } = &region.nodes[from];
            for &block in blocks {
                let is_inner = inner.contains(&block);
                let is_copied = |shaper: &Self, target: Block| {
                    let leaves = is_inner
                        && !region.dominates(node, target)
                        && (is_loop || !region.exits.contains(target))
                        && !shaper.terminals.contains(&target);
                    returns.contains(&target) || (leaves && shaper.is_return(target))
                };
                let mut targets = self.function.successors(block).into_iter();
                if !targets.any(|target| is_copied(self, target)) {
                    continue;
                }
                any = true;
                // The way back of a loop must not return.
                if *continues == Some(block) {
                    self.replace_continue(*head, block);
                }
                self.map_edges(block, |shaper, edge| {
                    is_copied(shaper, edge.block).then(|| shaper.copy_return(edge))
                });
            }
        }
        for children in [arms, meetings] {
            children.retain(|&child| {
                let head = region.nodes[child].head;
                !returns.contains(&head) || self.is_reached(region, node, head)
            });
        }
        any
    }

    /// Whether any block that `node` dominates goes to `target`.
    fn is_reached(&self, region: &Region, node: usize, target: Block) -> bool {
        let mut blocks = region.blocks_under(node);
        blocks.any(|block| self.function.successors(block).contains(&target))
    }
}

/// The children of a node: arms, which only it goes to, and where several ways meet.
pub fn children(region: &Region, node: usize) -> (Vec<usize>, Vec<usize>) {
    region.children[node]
        .iter()
        .partition(|&&child| !region.is_meeting[child])
}

/// Each block once, in the order of the first mention.
pub fn distinct<'a>(lists: impl IntoIterator<Item = &'a Vec<Block>>) -> Vec<Block> {
    let mut all = Vec::new();
    for &block in lists.into_iter().flatten() {
        if !all.contains(&block) {
            all.push(block);
        }
    }
    all
}

/// The node that dominates most others.
pub fn largest(region: &Region, nodes: &[usize]) -> Option<usize> {
    let all = nodes.iter().copied();
    all.max_by_key(|&node| region.dominated(node).len())
}

/// Control goes where the plan does not let it: our own mistake, reported instead of wrong code.
pub fn unexpected(target: Block) -> CompileError {
    CompileError::internal(format!(
        "control flow could not be structured: unexpected way to {target}"
    ))
}
