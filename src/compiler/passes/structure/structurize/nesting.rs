//! How deep structured control flow is nested, as drivers count that have a limit.

use crate::compiler::analysis::Dominators;
use crate::compiler::ir::{Block, Function, Merge, Terminator};
use std::collections::{HashMap, HashSet};

/// The greatest number of selections, or of loops, that a block lies in.
///
/// What comes behind a selection that may go on to the next iteration counts as inside of it: Mesa's `nir_opt_if` (seen in
/// 22.3) moves it into the other arm. A switch counts twice, as a loop may be made of it, and once more for each block in it
/// that goes on to the next iteration: it becomes a sequence of selections, one for each case.
pub fn depth(function: &Function) -> u32 {
    let structural = with_structural_edges(function);
    let dominators = structural.analysis::<Dominators>();
    let order = structural.reverse_postorder();
    let mut heads: HashMap<Block, Block> = HashMap::new();
    for &block in &order {
        if let Some(Merge::Selection { merge } | Merge::Loop { merge, .. }) =
            function.block(block).merge
        {
            heads.insert(merge, block);
        }
    }
    let enclosing = enclosing_headers(function, &dominators, &order, &heads);
    let continuing = continuing_headers(function, &order, &enclosing);
    let mut deepest = 0;
    let mut depths: HashMap<Block, (u32, u32)> = HashMap::new();
    for &block in &order {
        let header = enclosing.get(&block).copied().flatten();
        let (mut selections, mut loops) = match header {
            None => (0, 0),
            Some(header) => {
                let (selections, loops) = depths.get(&header).copied().unwrap_or_default();
                match (
                    function.block(header).merge,
                    &function.block(header).terminator,
                ) {
                    (Some(Merge::Loop { .. }), _) => (selections, loops + 1),
                    (_, Terminator::Switch { .. }) => {
                        let cases = continuing.get(&header).copied().unwrap_or_default();
                        (selections + 2 + cases, loops + 1)
                    }
                    _ => (selections + 1, loops),
                }
            }
        };
        if let Some(head) = heads.get(&block)
            && let Some(&ways) = continuing.get(head)
        {
            let (before, _) = depths.get(head).copied().unwrap_or_default();
            let is_switch = matches!(function.block(*head).terminator, Terminator::Switch { .. });
            selections = selections.max(before + if is_switch { ways } else { 1 });
        }
        // Dominated by a block that lies deeper only because of what went on to the next iteration.
        if let Some(dominator) = dominators.immediate_dominator(block)
            && enclosing.get(&dominator).copied().flatten() == header
        {
            let (before, in_loops) = depths.get(&dominator).copied().unwrap_or_default();
            (selections, loops) = (selections.max(before), loops.max(in_loops));
        }
        depths.insert(block, (selections, loops));
        deepest = deepest.max(selections).max(loops);
    }
    deepest
}

/// The header of the innermost construct that each block lies in; a header lies outside of its own.
fn enclosing_headers(
    function: &Function,
    dominators: &Dominators,
    order: &[Block],
    heads: &HashMap<Block, Block>,
) -> HashMap<Block, Option<Block>> {
    let mut enclosing: HashMap<Block, Option<Block>> = HashMap::new();
    for &block in order {
        let around = match (heads.get(&block), dominators.immediate_dominator(block)) {
            (Some(head), _) => enclosing.get(head).copied().flatten(),
            (None, None) => None,
            (None, Some(dominator)) => match function.block(dominator).merge {
                Some(_) => Some(dominator),
                None => enclosing.get(&dominator).copied().flatten(),
            },
        };
        enclosing.insert(block, around);
    }
    enclosing
}

/// Headers of selections from within which control may go on to the next iteration of the loop around, and from how many
/// blocks.
fn continuing_headers(
    function: &Function,
    order: &[Block],
    enclosing: &HashMap<Block, Option<Block>>,
) -> HashMap<Block, u32> {
    let targets: HashSet<Block> = order
        .iter()
        .filter_map(|&block| match function.block(block).merge {
            Some(Merge::Loop { continues, .. }) => Some(continues),
            _ => None,
        })
        .collect();
    let mut continuing = HashMap::new();
    for &block in order {
        let mut successors = function.successors(block).into_iter();
        if !successors.any(|target| targets.contains(&target)) {
            continue;
        }
        let mut passed = Vec::new();
        let mut at = match function.block(block).merge {
            Some(Merge::Selection { .. }) => Some(block),
            _ => enclosing.get(&block).copied().flatten(),
        };
        while let Some(header) = at {
            if let Some(Merge::Loop { continues, .. }) = function.block(header).merge {
                if function.successors(block).contains(&continues) {
                    for header in passed {
                        *continuing.entry(header).or_default() += 1;
                    }
                }
                break;
            }
            passed.push(header);
            at = enclosing.get(&header).copied().flatten();
        }
    }
    continuing
}

/// A copy in which headers also go to their merge block and continue target.
pub fn with_structural_edges(function: &Function) -> Function {
    let mut copy = function.clone();
    for &block in function.layout() {
        let mut targets = function.successors(block).to_vec();
        match function.block(block).merge {
            None => continue,
            Some(Merge::Selection { merge }) => targets.push(merge),
            Some(Merge::Loop { merge, continues }) => targets.extend([merge, continues]),
        }
        let default = targets.pop().unwrap_or(block).into();
        // Only where the edges go matters.
        copy.block_mut(block).terminator = Terminator::Switch {
            value: crate::compiler::ir::Value(0),
            cases: targets.into_iter().map(|t| (0, t.into())).collect(),
            default,
        };
    }
    copy
}
