//! The block that all ways from a block to the end pass first.
//!
//! Post-dominators are dominators ([`super::Dominators`]) on the reversed edges, from one end that all returns lead to.

use super::Dominators;
use super::immediate_dominators::immediate_dominators;
use crate::compiler::ir::{Analysis, Block, Function};
use std::sync::Arc;

/// Where ways that part meet again.
#[derive(Clone, Debug)]
pub struct PostDominators {
    /// The dominators of the same graph. Blocks out of reach don't change what others have.
    dominators: Arc<Dominators>,
    /// By block: its immediate post-dominator; none where that is the end, or the end is out of reach.
    immediate: Vec<Option<Block>>,
}

/// The node that all returns lead to; block `order[n]` is node `n + 1`.
const END: u32 = 0;

impl Analysis for PostDominators {
    const OUTLASTS_EDITS: bool = true;

    fn of(function: &Function) -> Self {
        let order = order_from_the_end(function);
        let mut nodes = vec![None; function.block_count()];
        for (node, block) in (END + 1..).zip(&order) {
            nodes[block.index()] = Some(node);
        }
        let mut following = vec![Vec::new()];
        following.extend(order.iter().map(|&block| {
            let successors = function.successors(block);
            if successors.is_empty() {
                vec![END]
            } else {
                let node = |successor: &Block| nodes[successor.index()];
                successors.iter().filter_map(node).collect()
            }
        }));
        let idom = immediate_dominators(&following);
        let mut immediate = vec![None; function.block_count()];
        for (block, &node) in order.iter().zip(&idom[1..]) {
            immediate[block.index()] = match node {
                END => None,
                node => order.get(node as usize - 1).copied(),
            };
        }
        Self {
            dominators: function.analysis(),
            immediate,
        }
    }

    fn holds(&self, function: &Function) -> bool {
        Arc::ptr_eq(&self.dominators, &function.analysis())
    }
}

impl PostDominators {
    /// The closest block that all ways from `block` to the end pass; none if there is no such block.
    pub fn immediate(&self, block: Block) -> Option<Block> {
        self.immediate.get(block.index()).copied().flatten()
    }
}

/// Blocks from which the end can be reached, in reverse postorder from there.
fn order_from_the_end(function: &Function) -> Vec<Block> {
    let predecessors = function.predecessors();
    let mut seen = vec![false; function.block_count()];
    let mut order = Vec::new();
    for &last in function.layout() {
        if !function.successors(last).is_empty() || seen[last.index()] {
            continue;
        }
        seen[last.index()] = true;
        let mut stack = vec![(last, 0)];
        while let Some((block, next)) = stack.last_mut() {
            match predecessors[block.index()].get(*next) {
                Some(&predecessor) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[predecessor.index()], true) {
                        stack.push((predecessor, 0));
                    }
                }
                None => {
                    order.push(*block);
                    stack.pop();
                }
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Builder, Terminator, Type};

    /// `entry` goes to a loop of `head` and `body`, which either goes back or on to `last`; `entry` may skip it.
    #[test]
    fn ways_meet_where_all_of_them_pass() {
        let mut function = Function::new("f");
        let entry = function.entry();
        let condition = function.add_param(entry, Type::Bool);
        let [head, left, right, join, last] = [0; 5].map(|_| function.add_block());
        let mut b = Builder::new(&mut function, entry);
        b.branch(condition, head, last);
        b.switch_to(head);
        b.branch(condition, left, right);
        b.switch_to(left);
        b.jump(join);
        b.switch_to(right);
        b.jump(join);
        b.switch_to(join);
        b.branch(condition, head, last);
        b.switch_to(last);
        b.terminate(Terminator::Return(Default::default()));
        let post = PostDominators::of(&function);
        assert_eq!(post.immediate(head), Some(join));
        assert_eq!(post.immediate(left), Some(join));
        assert_eq!(post.immediate(join), Some(last));
        assert_eq!(post.immediate(entry), Some(last));
        assert_eq!(post.immediate(last), None);
    }

    #[test]
    fn an_endless_loop_meets_nothing() {
        let mut function = Function::new("f");
        let entry = function.entry();
        let condition = function.add_param(entry, Type::Bool);
        let [early, endless, late] = [0; 3].map(|_| function.add_block());
        let mut b = Builder::new(&mut function, entry);
        b.branch(condition, early, endless);
        b.switch_to(early);
        b.branch(condition, late, early);
        b.switch_to(endless);
        b.jump(endless);
        b.switch_to(late);
        b.terminate(Terminator::Return(Default::default()));
        let post = PostDominators::of(&function);
        assert_eq!(post.immediate(endless), None);
        assert_eq!(post.immediate(early), Some(late));
        assert_eq!(post.immediate(late), None);
    }
}
