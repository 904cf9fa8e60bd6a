//! Dispatch blocks: several ways into one block, and from there to several targets.
//!
//! For targets t0, t1, … tn there are blocks d0 … d(n-1). Block di takes a selector and the parameters of
//! the targets from ti on; it goes to ti when the selector says so, else to d(i+1), the last one to tn. The
//! merge block of di is d(i+1), so what ti leads to further on is led there, with a selector of its own.

use super::graph::Region;
use super::{Shaper, Task};
use crate::compiler::CompileError;
use crate::compiler::ir::{Block, Compare, Edge, Merge, Op, Terminator, Type, Value, Values};
use std::rc::Rc;

/// A chain of dispatch blocks.
pub struct Dispatch {
    blocks: Vec<Block>,
    targets: Vec<Block>,
    /// Types of the parameters of each target.
    types: Vec<Vec<Type>>,
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
        for (index, types) in self.types.iter().enumerate().skip(first) {
            if index == chosen {
                args.extend(edge.args.iter().copied());
            } else {
                args.extend(types.iter().map(|&ty| shaper.undefined(ty)));
            }
        }
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
        let leading = match exits.is_empty() {
            true => &nodes[..nodes.len().saturating_sub(1)],
            false => nodes,
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
            return Err(CompileError::new(
                "control flow could not be structured: a dispatch without choice",
            ));
        }

        let types: Vec<Vec<Type>> = targets
            .iter()
            .map(|&target| {
                let params = self.function.block(target).params.iter();
                params.map(|&param| self.function.ty(param)).collect()
            })
            .collect();
        let blocks: Vec<Block> = (1..targets.len())
            .map(|_| self.function.add_block())
            .collect();
        let dispatch = Dispatch {
            types,
            blocks,
            targets,
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
        let mut params: Vec<Value> = Vec::new();
        for types in &dispatch.types[index..] {
            for &ty in types {
                params.push(self.function.add_param(block, ty));
            }
        }
        let own = dispatch.types[index].len();
        let then = Edge::new(dispatch.targets[index], params[..own].iter().copied());
        let rest = params[own..].iter().copied();
        let otherwise = match dispatch.blocks.get(index + 1) {
            Some(&next) => Edge::new(next, [selector].into_iter().chain(rest)),
            None => Edge::new(dispatch.targets[index + 1], rest),
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
