//! The block that all ways from a block to the end pass first.
//!
//! As [`super::Dominators`], on the edges the other way round, from one end that all returns lead to.

use crate::compiler::ir::{Block, Function};

/// Where ways that part meet again.
#[derive(Clone, Debug)]
pub struct PostDominators {
    /// By block: its immediate post-dominator; none where that is the end, or the end is out of reach.
    immediate: Vec<Option<Block>>,
}

const NONE: usize = usize::MAX;

impl PostDominators {
    pub fn new(function: &Function) -> Self {
        let predecessors = function.predecessors();
        let (order, position) = order_from_the_end(function, &predecessors);
        let end = order.len();
        // By position; the end's own is itself.
        let mut immediate = vec![NONE; end + 1];
        immediate[end] = end;
        let mut changed = true;
        while changed {
            changed = false;
            for (at, &block) in order.iter().enumerate().rev() {
                let successors = function.successors(block);
                let mut new = match successors.is_empty() {
                    true => end,
                    false => NONE,
                };
                for successor in successors {
                    let other = position[successor.index()];
                    if other == NONE || immediate[other] == NONE {
                        continue;
                    }
                    new = match new {
                        NONE => other,
                        new => meet(&immediate, new, other),
                    };
                }
                changed |= immediate[at] != new;
                immediate[at] = new;
            }
        }
        let mut by_block = vec![None; function.block_count()];
        for (at, &block) in order.iter().enumerate() {
            by_block[block.index()] = order.get(immediate[at]).copied();
        }
        Self {
            immediate: by_block,
        }
    }

    /// The closest block that all ways from `block` to the end pass; none if there is no such block.
    pub fn immediate(&self, block: Block) -> Option<Block> {
        self.immediate.get(block.index()).copied().flatten()
    }
}

/// Blocks from which the end can be reached, so that the end is found from the last of them backwards, and the
/// position of each.
fn order_from_the_end(
    function: &Function,
    predecessors: &[impl std::ops::Deref<Target = [Block]>],
) -> (Vec<Block>, Vec<usize>) {
    let mut seen = vec![false; function.block_count()];
    let mut postorder = Vec::new();
    for &last in &function.layout {
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
                    postorder.push(*block);
                    stack.pop();
                }
            }
        }
    }
    let mut position = vec![NONE; function.block_count()];
    for (at, &block) in postorder.iter().enumerate() {
        position[block.index()] = at;
    }
    (postorder, position)
}

/// Where the chains of two positions meet: the closer to the end the greater the position.
fn meet(immediate: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        match a < b {
            true => a = immediate[a],
            false => b = immediate[b],
        }
    }
    a
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
        let post = PostDominators::new(&function);
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
        let post = PostDominators::new(&function);
        assert_eq!(post.immediate(endless), None);
        assert_eq!(post.immediate(early), Some(late));
        assert_eq!(post.immediate(late), None);
    }
}
