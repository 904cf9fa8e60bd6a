//! The dominator tree of the reachable blocks.
//!
//! Queries compare the intervals of a depth-first numbering.

use super::immediate_dominators::{immediate_dominators, intersect};
use crate::compiler::ir::{Analysis, Block, Function};
use smallvec::SmallVec;
use std::collections::HashSet;

/// Which blocks every path from the entry passes through.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// Reachable blocks in reverse postorder.
    order: Vec<Block>,
    /// By block: position in `order`, `NONE` for unreachable blocks.
    position: Vec<u32>,
    /// By position: the immediate dominator's position; the entry's is its own.
    idom: Vec<u32>,
    /// By position: the interval of the depth-first walk of the tree.
    enter: Vec<u32>,
    leave: Vec<u32>,
    /// By position: the blocks it immediately dominates, in reverse postorder.
    children: Vec<Vec<Block>>,
    /// By position: where the block goes.
    successors: Vec<SmallVec<[Block; 2]>>,
}

const NONE: u32 = u32::MAX;

impl Analysis for Dominators {
    const OUTLASTS_EDITS: bool = true;

    fn of(function: &Function) -> Self {
        Self::among(function, function.reverse_postorder())
    }

    fn holds(&self, function: &Function) -> bool {
        let mut blocks = self.order.iter().zip(&self.successors);
        self.order.first() == Some(&function.entry())
            && blocks.all(|(&block, known)| function.successors(block) == *known)
    }
}

impl Dominators {
    /// The dominators in a part of a function that is entered at `entry` alone: all other blocks count as unreachable.
    pub fn within(function: &Function, entry: Block, inside: &HashSet<Block>) -> Self {
        let mut order = Vec::with_capacity(inside.len());
        let mut seen = HashSet::from([entry]);
        let mut stack = vec![(entry, function.successors(entry), 0)];
        while let Some((block, successors, next)) = stack.last_mut() {
            match successors.get(*next).copied() {
                Some(successor) => {
                    *next += 1;
                    if inside.contains(&successor) && seen.insert(successor) {
                        stack.push((successor, function.successors(successor), 0));
                    }
                }
                None => {
                    order.push(*block);
                    stack.pop();
                }
            }
        }
        order.reverse();
        Self::among(function, order)
    }

    /// The dominators among the blocks of `order`, which are in reverse postorder.
    fn among(function: &Function, order: Vec<Block>) -> Self {
        let mut position = vec![NONE; function.block_count()];
        for (index, block) in order.iter().enumerate() {
            position[block.index()] = index as u32;
        }
        let mut predecessors = vec![Vec::new(); order.len()];
        let successors = order.iter().map(|&block| function.successors(block));
        let successors: Vec<_> = successors.collect();
        for (index, successors) in successors.iter().enumerate() {
            for successor in successors {
                if let Some(edges) = predecessors.get_mut(position[successor.index()] as usize) {
                    edges.push(index as u32);
                }
            }
        }

        let idom = immediate_dominators(&predecessors);
        let mut children = vec![Vec::new(); order.len()];
        for index in 1..order.len() {
            children[idom[index] as usize].push(order[index]);
        }
        let mut tree = Self {
            enter: vec![0; order.len()],
            leave: vec![0; order.len()],
            order,
            position,
            idom,
            children,
            successors,
        };
        tree.number();
        tree
    }

    fn number(&mut self) {
        let mut clock = 0;
        let mut stack = vec![(0, 0)];
        while let Some((index, next)) = stack.last_mut() {
            if *next == 0 {
                self.enter[*index] = clock;
                clock += 1;
            }
            match self.children[*index].get(*next) {
                Some(child) => {
                    *next += 1;
                    stack.push((self.position[child.index()] as usize, 0));
                }
                None => {
                    self.leave[*index] = clock;
                    stack.pop();
                }
            }
        }
    }

    fn at(&self, block: Block) -> Option<usize> {
        match self.position.get(block.index()) {
            None | Some(&NONE) => None,
            Some(&position) => Some(position as usize),
        }
    }

    /// Reachable blocks in reverse postorder.
    pub fn reverse_postorder(&self) -> &[Block] {
        &self.order
    }

    /// Position of a block in [`Self::reverse_postorder`].
    pub fn position(&self, block: Block) -> Option<usize> {
        self.at(block)
    }

    pub fn is_reachable(&self, block: Block) -> bool {
        self.at(block).is_some()
    }

    /// The closest strict dominator; none for the entry and unreachable blocks.
    pub fn immediate_dominator(&self, block: Block) -> Option<Block> {
        match self.at(block)? {
            0 => None,
            index => Some(self.order[self.idom[index] as usize]),
        }
    }

    /// The blocks that `block` immediately dominates, in reverse postorder.
    pub fn children(&self, block: Block) -> &[Block] {
        self.at(block).map_or(&[], |index| &self.children[index])
    }

    /// Whether every path to `b` passes through `a` (a block dominates itself). False when either is
    /// unreachable.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let (Some(a), Some(b)) = (self.at(a), self.at(b)) else {
            return false;
        };
        self.enter[a] <= self.enter[b] && self.leave[b] <= self.leave[a]
    }

    /// The closest block that dominates both, if both are reachable.
    pub fn common_dominator(&self, a: Block, b: Block) -> Option<Block> {
        let common = intersect(&self.idom, self.at(a)? as u32, self.at(b)? as u32);
        Some(self.order[common as usize])
    }

    /// The dominance frontier of every block, by block index: where its dominance ends. `None` where they hold more than
    /// `most` blocks together: ways out of every condition on a long way make them as many as its square.
    pub fn frontiers(&self, function: &Function, most: usize) -> Option<Vec<Vec<Block>>> {
        let mut left = most;
        let mut frontiers: Vec<Vec<Block>> = vec![Vec::new(); function.block_count()];
        let predecessors = function.predecessors();
        for &block in &self.order {
            let stop = self.immediate_dominator(block);
            for &predecessor in &predecessors[block.index()] {
                let mut runner = self.is_reachable(predecessor).then_some(predecessor);
                while let Some(at) = runner.filter(|&at| Some(at) != stop) {
                    let frontier = &mut frontiers[at.index()];
                    if frontier.last() != Some(&block) {
                        left = left.checked_sub(1)?;
                        frontier.push(block);
                    }
                    runner = self.immediate_dominator(at);
                }
            }
        }
        Some(frontiers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::Builder;

    #[test]
    fn a_part_has_the_dominance_of_the_whole() {
        let mut function = Function::new("f");
        let entry = function.entry();
        let [head, left, right, join, exit] = std::array::from_fn(|_| function.add_block());
        let mut b = Builder::new(&mut function, entry);
        let condition = b.bool(true);
        b.branch(condition, head, exit);
        b.switch_to(head);
        b.branch(condition, left, right);
        b.switch_to(left);
        b.branch(condition, join, exit);
        b.switch_to(right);
        b.jump(join);
        b.switch_to(join);
        b.branch(condition, head, exit);
        b.switch_to(exit);
        b.jump(exit);

        let inside = HashSet::from([head, left, right, join]);
        let (whole, part) = (
            Dominators::of(&function),
            Dominators::within(&function, head, &inside),
        );
        for &a in &inside {
            for &b in &inside {
                assert_eq!(whole.dominates(a, b), part.dominates(a, b), "{a} {b}");
            }
        }
        assert!(!part.is_reachable(entry) && !part.is_reachable(exit));
    }

    /// entry → (left | right) → join → (entry's loop: head = join) … and one unreachable block.
    #[test]
    fn a_diamond_in_a_loop() {
        let mut function = Function::new("f");
        let entry = function.entry();
        let [head, left, right, join, exit, dead] = std::array::from_fn(|_| function.add_block());
        let mut b = Builder::new(&mut function, entry);
        let condition = b.bool(true);
        b.jump(head);
        b.switch_to(head);
        b.branch(condition, left, right);
        b.switch_to(left);
        b.jump(join);
        b.switch_to(right);
        b.jump(join);
        b.switch_to(join);
        b.branch(condition, head, exit);
        b.switch_to(dead);
        b.jump(exit);

        let tree = Dominators::of(&function);
        assert_eq!(tree.immediate_dominator(entry), None);
        assert_eq!(tree.immediate_dominator(join), Some(head));
        assert_eq!(tree.immediate_dominator(exit), Some(join));
        assert!(tree.dominates(head, exit) && !tree.dominates(left, join));
        assert!(tree.dominates(left, left));
        assert_eq!(tree.common_dominator(left, right), Some(head));
        assert!(!tree.is_reachable(dead) && !tree.dominates(entry, dead));
        let frontiers = tree.frontiers(&function, 100).expect("few");
        assert_eq!(tree.frontiers(&function, 1), None);
        assert_eq!(frontiers[left.index()], [join]);
        assert_eq!(frontiers[join.index()], [head]);
        assert_eq!(frontiers[head.index()], [head]);
        assert!(frontiers[entry.index()].is_empty());
    }
}
