//! A region without its cycles: loops as single nodes, and the dominator tree.

use super::Exits;
use crate::compiler::analysis::immediate_dominators;
use crate::compiler::ir::{Block, Function};
use std::collections::HashMap;

/// One block, or a loop.
#[derive(Debug)]
pub struct Node {
    /// The block; of a loop the header.
    pub head: Block,
    /// All blocks, the continue target included.
    pub blocks: Vec<Block>,
    /// The continue target of a loop.
    pub continues: Option<Block>,
}

/// The nodes of a region in reverse postorder, and what dominates what.
#[derive(Debug)]
pub struct Region {
    pub exits: Exits,
    pub nodes: Vec<Node>,
    node_of: HashMap<Block, usize>,
    parent: Vec<usize>,
    /// Children in reverse postorder.
    pub children: Vec<Vec<usize>>,
    /// Whether several nodes go to it.
    pub is_meeting: Vec<bool>,
    /// Nodes in preorder of the tree, and each node's range there.
    preorder: Vec<usize>,
    range: Vec<(usize, usize)>,
}

impl Region {
    /// `loops` are disjoint sets of members whose heads come first; edges to their heads from within are
    /// gone but for those of the continue targets.
    pub fn new(
        function: &Function,
        entry: Block,
        members: Vec<Block>,
        loops: Vec<Node>,
        exits: Exits,
    ) -> Self {
        // Nodes in any order first.
        let mut found: Vec<Option<Node>> = Vec::new();
        let mut index_of: HashMap<Block, usize> = HashMap::new();
        for node in loops {
            for &block in &node.blocks {
                index_of.insert(block, found.len());
            }
            found.push(Some(node));
        }
        for block in members {
            index_of.entry(block).or_insert_with(|| {
                found.push(Some(Node {
                    head: block,
                    blocks: vec![block],
                    continues: None,
                }));
                found.len() - 1
            });
        }
        let mut successors: Vec<Vec<usize>> = Vec::new();
        for (index, node) in found.iter().enumerate() {
            let mut out = Vec::new();
            for &block in node.iter().flat_map(|node| &node.blocks) {
                for target in function.successors(block) {
                    if let Some(&target) = index_of.get(&target)
                        && target != index
                        && !out.contains(&target)
                    {
                        out.push(target);
                    }
                }
            }
            successors.push(out);
        }

        let order = reverse_postorder(index_of[&entry], &successors);
        let mut position = vec![usize::MAX; found.len()];
        let mut nodes = Vec::with_capacity(order.len());
        for (new, &old) in order.iter().enumerate() {
            position[old] = new;
            nodes.extend(found[old].take());
        }
        index_of.retain(|_, index| {
            *index = position[*index];
            *index != usize::MAX
        });

        let mut predecessors = vec![Vec::new(); nodes.len()];
        for &old in &order {
            for &target in &successors[old] {
                predecessors[position[target]].push(position[old] as u32);
            }
        }
        let parent = immediate_dominators(&predecessors);
        let parent: Vec<usize> = parent.into_iter().map(|node| node as usize).collect();
        let mut children = vec![Vec::new(); nodes.len()];
        for node in 1..nodes.len() {
            children[parent[node]].push(node);
        }
        let is_meeting = predecessors.iter().map(|all| all.len() > 1).collect();

        let mut region = Self {
            exits,
            node_of: index_of,
            parent,
            children,
            is_meeting,
            preorder: Vec::with_capacity(nodes.len()),
            range: vec![(0, 0); nodes.len()],
            nodes,
        };
        region.number();
        region
    }

    fn number(&mut self) {
        let mut stack = vec![(0, 0)];
        self.preorder.push(0);
        while let Some((node, next)) = stack.last_mut() {
            if let Some(&child) = self.children[*node].get(*next) {
                *next += 1;
                self.range[child].0 = self.preorder.len();
                self.preorder.push(child);
                stack.push((child, 0));
            } else {
                self.range[*node].1 = self.preorder.len();
                stack.pop();
            }
        }
    }

    /// The child of `node` whose head is `block`.
    pub fn child_with(&self, node: usize, block: Block) -> Option<usize> {
        let child = *self.node_of.get(&block)?;
        (child != node && self.parent[child] == node).then_some(child)
    }

    /// The node that immediately dominates another.
    pub fn parent(&self, node: usize) -> usize {
        self.parent[node]
    }

    /// The node of a block.
    pub fn node_with(&self, block: Block) -> Option<usize> {
        self.node_of.get(&block).copied()
    }

    /// The loops, for another graph of the same region.
    pub fn into_loops(self) -> Vec<Node> {
        let nodes = self.nodes.into_iter();
        nodes.filter(|node| node.continues.is_some()).collect()
    }

    /// The nodes that `node` dominates, itself first.
    pub fn dominated(&self, node: usize) -> &[usize] {
        let (start, end) = self.range[node];
        &self.preorder[start..end]
    }

    /// Whether a block belongs to a node that `node` dominates.
    pub fn dominates(&self, node: usize, block: Block) -> bool {
        let (start, end) = self.range[node];
        self.node_of
            .get(&block)
            .is_some_and(|&other| (start..end).contains(&self.range[other].0))
    }

    /// All blocks that `node` dominates.
    pub fn blocks_under(&self, node: usize) -> impl Iterator<Item = Block> + '_ {
        let nodes = self.dominated(node).iter();
        nodes.flat_map(|&node| self.nodes[node].blocks.iter().copied())
    }
}

fn reverse_postorder(entry: usize, successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut postorder = Vec::with_capacity(successors.len());
    let mut stack = vec![(entry, 0)];
    seen[entry] = true;
    while let Some((node, next)) = stack.last_mut() {
        if let Some(&successor) = successors[*node].get(*next) {
            *next += 1;
            if !std::mem::replace(&mut seen[successor], true) {
                stack.push((successor, 0));
            }
        } else {
            postorder.push(*node);
            stack.pop();
        }
    }
    postorder.reverse();
    postorder
}
