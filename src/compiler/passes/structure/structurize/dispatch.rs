//! Dispatch blocks: several ways into one block, and from there to several targets.
//!
//! For targets t0, t1, … tn there are blocks d0 … d(n-1). Block di takes a selector and what the targets from ti on
//! take; it goes to ti when the selector says so, else to d(i+1), the last one to tn. The
//! merge block of di is d(i+1), so what ti leads to further on is led there, with a selector of its own.
//!
//! Only one of the targets is meant at a time: parameters of one type share those of the dispatch blocks ([`Slots`]). With
//! parameters for each target, their number would grow with the square of that of the targets: a kernel of 472 blocks
//! with 2,500 parameters came out with 65,600.

use super::graph::Region;
use super::slots::Slots;
use super::{Shaper, Task};
use crate::compiler::CompileError;
use crate::compiler::ir::{Block, Compare, Edge, Merge, Op, Terminator, Type, Values};
use std::rc::Rc;

/// A chain of dispatch blocks.
pub struct Dispatch {
    blocks: Vec<Block>,
    targets: Vec<Block>,
    slots: Slots,
}

impl Dispatch {
    /// The first block of the chain.
    pub fn head(&self) -> Block {
        self.blocks[0]
    }

    /// The edge to take instead of `edge` to get to its target through the chain from block `first` on;
    /// `None` where the edge goes to no later target.
    pub fn enter(&self, shaper: &mut Shaper, first: usize, edge: &Edge) -> Option<Edge> {
        let chosen = self.targets.iter().position(|&t| t == edge.block)?;
        // The last target has no dispatch block before it: it is the merge block of the last one.
        if chosen < first || first >= self.blocks.len() {
            return None;
        }
        let mut args: Values = Values::new();
        args.push(shaper.number(chosen as u32));
        args.extend(self.slots.pass(shaper, first, chosen, &edge.args));
        Some(Edge::new(self.blocks[first], args))
    }
}

impl Shaper<'_> {
    /// Makes the chain for `nodes` (in reverse postorder), then the exits `exits`, then `last`, which is the
    /// follow if anything goes there. The caller leads its edges into it by [`Dispatch::enter`]; the nodes
    /// are dealt with here.
    pub fn dispatch(
        &mut self,
        region: &Rc<Region>,
        nodes: &[usize],
        exits: &[Block],
        follow: Option<Block>,
        last: Option<Block>,
    ) -> Result<Dispatch, CompileError> {
        // The follow is needed too where one of the nodes but the last leads to it.
        let mut last = last;
        let leading = if exits.is_empty() {
            &nodes[..nodes.len().saturating_sub(1)]
        } else {
            nodes
        };
        if let Some(follow) = follow
            && leading
                .iter()
                .any(|&node| self.leads_to(region, node, follow))
        {
            last = Some(follow);
        }
        let mut targets: Vec<Block> = nodes.iter().map(|&n| region.nodes[n].head).collect();
        targets.extend_from_slice(exits);
        targets.extend(last);
        if targets.len() < 2 {
            return Err(CompileError::internal(
                "control flow could not be structured: a dispatch without choice",
            ));
        }

        let slots = Slots::new(self.function, &targets);
        let blocks: Vec<Block> = (1..targets.len())
            .map(|_| self.function.add_block())
            .collect();
        let dispatch = Dispatch {
            blocks,
            targets,
            slots,
        };
        for index in 0..dispatch.blocks.len() {
            self.dispatch_block(&dispatch, index);
        }
        for index in 0..dispatch.blocks.len() {
            self.dispatch_merge(region, nodes, &dispatch, index, follow, last);
        }
        Ok(dispatch)
    }

    /// Parameters and branch of one block of the chain.
    fn dispatch_block(&mut self, dispatch: &Dispatch, index: usize) {
        let block = dispatch.blocks[index];
        let selector = self.function.add_param(block, Type::I32);
        let slots = &dispatch.slots;
        let values = slots.add_params(self.function, block, index);
        let then = Edge::new(dispatch.targets[index], slots.args(index, &values));
        let otherwise = match dispatch.blocks.get(index + 1) {
            Some(&next) => {
                let rest = slots.from(index + 1).into_iter();
                let rest = rest.map(|slot| values[&slot]);
                Edge::new(next, [selector].into_iter().chain(rest))
            }
            None => Edge::new(dispatch.targets[index + 1], slots.args(index + 1, &values)),
        };
        let number = self.number(index as u32);
        let compare = Op::Compare(Compare::Equal, selector, number);
        let condition = self.append(block, compare, Type::Bool);
        let terminator = Terminator::Branch {
            condition,
            then,
            otherwise,
        };
        self.end(block, terminator);
    }

    /// The merge block of one block of the chain, and the nodes behind it.
    fn dispatch_merge(
        &mut self,
        region: &Rc<Region>,
        nodes: &[usize],
        dispatch: &Dispatch,
        index: usize,
        follow: Option<Block>,
        last: Option<Block>,
    ) {
        let block = dispatch.blocks[index];
        let node = nodes.get(index).copied();
        let visit = |shaper: &mut Self, node: usize, follow: Option<Block>| {
            shaper.tasks.push(Task::Node {
                region: region.clone(),
                node,
                follow,
            });
        };
        let merge = if let Some(&next) = dispatch.blocks.get(index + 1) {
            if let Some(node) = node {
                for inner in region.blocks_under(node) {
                    self.map_edges(inner, |shaper, edge| {
                        match region.dominates(node, edge.block) {
                            true => None,
                            false if region.exits.contains(edge.block) => None,
                            false => dispatch.enter(shaper, index + 1, edge),
                        }
                    });
                }
                visit(self, node, Some(next));
            }
            next
        } else if let Some(&final_node) = nodes.get(index + 1) {
            let target = dispatch.targets[index + 1];
            if let Some(node) = node {
                visit(self, node, Some(target));
            }
            visit(self, final_node, follow);
            target
        } else if let Some(last) = last {
            let merge = self.block_before(last);
            let mut blocks = vec![block];
            if let Some(node) = node {
                blocks.extend(region.blocks_under(node));
                visit(self, node, Some(merge));
            }
            self.lead(&blocks, last, merge);
            merge
        } else if let Some(node) = node {
            // The other way is an exit.
            visit(self, node, follow);
            region.nodes[node].head
        } else {
            self.unreachable()
        };
        self.function.block_mut(block).merge = Some(Merge::Selection { merge });
    }
}
