//! Natural loops: a back edge goes to a block that dominates its source.
//!
//! Cycles without such a header (irreducible ones) are reported by [`Loops::is_irreducible`], not as loops.

use super::Dominators;
use crate::compiler::ir::{Analysis, Block, Edge, Function, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// A natural loop. Loops with one header are one loop.
#[derive(Clone, Debug)]
pub struct Loop {
    pub header: Block,
    /// Blocks that lead to the header from outside.
    pub entries: Vec<Block>,
    /// Sources of the back edges.
    pub latches: Vec<Block>,
    /// Every block of the loop, in reverse postorder; the header is first.
    pub blocks: Vec<Block>,
    /// The innermost loop around it: a position in [`Loops::all`].
    pub parent: Option<usize>,
}

impl Loop {
    /// The edge in and the edge back, with the blocks that they leave, where there is but one of each.
    pub fn entry_and_back<'a>(&self, function: &'a Function) -> Option<[(Block, &'a Edge); 2]> {
        let entry = self.only(function, &self.entries)?;
        Some([entry, self.back(function)?])
    }

    /// The edge back, with the block that it leaves, where there is but one.
    pub fn back<'a>(&self, function: &'a Function) -> Option<(Block, &'a Edge)> {
        self.only(function, &self.latches)
    }

    /// The edge to the header from the only one of some blocks.
    fn only<'a>(&self, function: &'a Function, blocks: &[Block]) -> Option<(Block, &'a Edge)> {
        let &[block] = blocks else {
            return None;
        };
        let edges = function.block(block).terminator.edges().into_iter();
        let mut edges = edges.filter(|edge| edge.block == self.header);
        match (edges.next(), edges.next()) {
            (Some(edge), None) => Some((block, edge)),
            _ => None,
        }
    }
}

/// Parameters and results of blocks: what a loop defines, of its blocks.
pub fn defined_values(function: &Function, blocks: &[Block]) -> HashSet<Value> {
    let blocks = blocks.iter().map(|&block| function.block(block));
    blocks
        .flat_map(|data| {
            let results = data.insts.iter().map(|&inst| &function.inst(inst).results);
            let results = results.flatten().copied();
            data.params.iter().copied().chain(results)
        })
        .collect()
}

/// Blocks of all loops together, each counted for every loop around it: at most so many for each block of the function, and
/// so many more for small functions.
const MOST_AROUND: usize = 16;
const MOST_ANYWAY: usize = 1 << 20;

/// Whether loops are nested so deeply that [`Loops`], and much else that goes over the blocks of each loop, would take memory
/// and time as the square of a function's size. Needs little itself.
pub fn are_too_deep(function: &Function) -> bool {
    let dominators = function.analysis::<Dominators>();
    let predecessors = function.predecessors();
    let mut left = MOST_AROUND * function.layout().len() + MOST_ANYWAY;
    let mut seen = vec![None; function.block_count()];
    for &header in dominators.reverse_postorder() {
        let from = predecessors[header.index()].iter().copied();
        let mut work: Vec<Block> = from
            .filter(|&from| dominators.is_reachable(from) && dominators.dominates(header, from))
            .collect();
        seen[header.index()] = Some(header);
        while let Some(block) = work.pop() {
            let is_new = seen[block.index()].replace(header) != Some(header);
            if !is_new || !dominators.is_reachable(block) {
                continue;
            }
            let Some(less) = left.checked_sub(1) else {
                return true;
            };
            left = less;
            work.extend_from_slice(&predecessors[block.index()]);
        }
    }
    false
}

/// The loops of a function; inner loops come before the loops around them.
#[derive(Clone, Debug)]
pub struct Loops {
    /// What they were found by.
    dominators: Arc<Dominators>,
    all: Vec<Loop>,
    /// By block: the innermost loop it is in.
    innermost: Vec<Option<usize>>,
    irreducible: bool,
}

impl Analysis for Loops {
    const OUTLASTS_EDITS: bool = true;

    fn of(function: &Function) -> Self {
        let dominators = function.analysis::<Dominators>();
        let predecessors = function.predecessors();
        let mut innermost: Vec<Option<usize>> = vec![None; function.block_count()];
        let mut all: Vec<Loop> = Vec::new();
        let mut irreducible = false;
        let mut seen = vec![usize::MAX; function.block_count()];
        let order = dominators.reverse_postorder();

        // Postorder of headers: inner loops first.
        for &header in order.iter().rev() {
            let (mut entries, mut latches) = (Vec::new(), Vec::new());
            for &predecessor in &predecessors[header.index()] {
                if !dominators.is_reachable(predecessor) {
                    continue;
                }
                let sources = if dominators.dominates(header, predecessor) {
                    &mut latches
                } else {
                    &mut entries
                };
                if !sources.contains(&predecessor) {
                    sources.push(predecessor);
                }
            }
            let position = |block: &Block| dominators.position(*block);
            irreducible |= entries.iter().any(|it| position(it) >= position(&header));
            if latches.is_empty() {
                continue;
            }
            // Everything that reaches a latch without passing the header.
            let this = all.len();
            seen[header.index()] = this;
            let mut blocks = vec![header];
            let mut work = latches.clone();
            while let Some(block) = work.pop() {
                if !dominators.is_reachable(block) || seen[block.index()] == this {
                    continue;
                }
                seen[block.index()] = this;
                blocks.push(block);
                work.extend_from_slice(&predecessors[block.index()]);
            }
            blocks.sort_by_key(|&block| dominators.position(block));
            for block in &blocks {
                match innermost[block.index()] {
                    None => innermost[block.index()] = Some(this),
                    Some(inner) if all[inner].header == *block => {
                        all[inner].parent.get_or_insert(this);
                    }
                    Some(_) => {}
                }
            }
            all.push(Loop {
                header,
                entries,
                latches,
                blocks,
                parent: None,
            });
        }
        Self {
            dominators,
            all,
            innermost,
            irreducible,
        }
    }

    fn holds(&self, function: &Function) -> bool {
        Arc::ptr_eq(&self.dominators, &function.analysis())
    }
}

impl Loops {
    /// Every loop, inner ones before those around them.
    pub fn all(&self) -> &[Loop] {
        &self.all
    }

    /// For each of [`Self::all`] whether another loop is within it.
    pub fn have_inner(&self) -> Vec<bool> {
        let mut have_inner = vec![false; self.all.len()];
        for parent in self.all.iter().filter_map(|it| it.parent) {
            have_inner[parent] = true;
        }
        have_inner
    }

    /// The innermost loop around a block.
    pub fn innermost(&self, block: Block) -> Option<&Loop> {
        let index = (*self.innermost.get(block.index())?)?;
        self.all.get(index)
    }

    /// The loops around a block, the innermost first: positions in [`Loops::all`].
    pub fn around(&self, block: Block) -> impl Iterator<Item = usize> {
        let innermost = self.innermost.get(block.index()).copied().flatten();
        std::iter::successors(innermost, |&it| self.all[it].parent)
    }

    /// Those of them that are not around `other`.
    pub fn left(&self, block: Block, other: Block) -> impl Iterator<Item = usize> {
        let is_left = move |&it: &usize| {
            // Inner loops come first.
            let mut others = self.around(other).skip_while(|&other| other < it);
            others.next() != Some(it)
        };
        self.around(block).take_while(is_left)
    }

    /// Whether some cycle has no block that dominates the others.
    pub fn is_irreducible(&self) -> bool {
        self.irreducible
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::Builder;

    #[test]
    fn nested_loops_and_an_irreducible_cycle() {
        let mut function = Function::new("f");
        let entry = function.entry();
        let [outer, inner, latch, exit] = std::array::from_fn(|_| function.add_block());
        let mut b = Builder::new(&mut function, entry);
        let condition = b.bool(true);
        b.jump(outer);
        b.switch_to(outer);
        b.jump(inner);
        b.switch_to(inner);
        b.branch(condition, inner, latch);
        b.switch_to(latch);
        b.branch(condition, outer, exit);

        let loops = function.analysis::<Loops>();
        let [first, second] = loops.all() else {
            panic!("two loops");
        };
        assert_eq!((first.header, first.parent), (inner, Some(1)));
        assert_eq!(second.blocks, [outer, inner, latch]);
        assert_eq!(second.latches, [latch]);
        assert_eq!(
            (&first.entries[..], &second.entries[..]),
            (&[outer][..], &[entry][..])
        );
        let around = |block| loops.around(block).collect::<Vec<_>>();
        assert_eq!(around(inner), [0, 1]);
        assert_eq!(around(latch), [1]);
        let left = |block, other| loops.left(block, other).collect::<Vec<_>>();
        assert!(left(latch, inner).is_empty() && left(entry, latch).is_empty());
        assert_eq!(left(inner, latch), [0]);
        assert_eq!(left(inner, exit), [0, 1]);
        assert_eq!(left(latch, exit), [1]);
        assert_eq!(loops.innermost(latch).map(|l| l.header), Some(outer));
        assert!(loops.innermost(exit).is_none() && !loops.is_irreducible());

        let mut b = Builder::new(&mut function, entry);
        b.branch(condition, outer, latch);
        let loops = function.analysis::<Loops>();
        assert!(loops.is_irreducible());
        assert_eq!(loops.all().len(), 1, "only the inner one has a header");
    }
}
