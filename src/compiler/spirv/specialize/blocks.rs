//! Branches on constants, and the blocks that nothing leads to any more.

use super::{Inst, Module};
use rspirv::spirv::Op;
use std::collections::{HashMap, HashSet};

struct Block {
    label: u32,
    insts: Vec<Inst>,
}

/// The function without the branches that are never taken; as it was where that would not stay structured.
pub(super) fn prune(module: &mut Module, function: Vec<Inst>) -> Vec<Inst> {
    let decided = function.iter().any(|inst| taken(module, inst).is_some());
    if !decided {
        return function;
    }
    try_prune(module, &function).unwrap_or(function)
}

/// Where a conditional branch always goes.
fn taken(module: &Module, inst: &Inst) -> Option<u32> {
    let selector = module.value(*inst.words.first()?)?;
    match inst.op {
        Op::BranchConditional => inst.words.get(if selector == 0 { 2 } else { 1 }).copied(),
        Op::Switch => {
            let cases = inst.words.get(2..)?.chunks_exact(2);
            let mut case = cases.filter(|case| case[0] == selector).map(|case| case[1]);
            case.next().or_else(|| inst.words.get(1).copied())
        }
        _ => None,
    }
}

fn try_prune(module: &mut Module, function: &[Inst]) -> Option<Vec<Inst>> {
    let first = function.iter().position(|inst| inst.op == Op::Label)?;
    let (head, rest) = function.split_at(first);
    let (end, rest) = rest.split_last()?;
    let mut blocks: Vec<Block> = Vec::new();
    for inst in rest {
        if inst.op == Op::Label {
            blocks.push(Block {
                label: *inst.words.first()?,
                insts: Vec::new(),
            });
        } else {
            blocks.last_mut()?.insts.push(inst.clone());
        }
    }
    let mut lost_merges: HashSet<u32> = HashSet::new();
    for block in &mut blocks {
        let Some(target) = block.insts.last().and_then(|inst| taken(module, inst)) else {
            continue;
        };
        block.insts.pop();
        if block
            .insts
            .last()
            .is_some_and(|inst| inst.op == Op::SelectionMerge)
        {
            let merge = block.insts.pop()?;
            lost_merges.insert(*merge.words.first()?);
        }
        block.insts.push(Inst {
            op: Op::Branch,
            words: vec![target],
        });
    }
    let reached = reached(&blocks);
    blocks.retain(|block| reached.contains(&block.label));
    check(&blocks, &reached, &lost_merges)?;
    add_merges(&mut blocks, &reached);
    let edges: HashSet<(u32, u32)> = blocks
        .iter()
        .flat_map(|block| targets(block).into_iter().map(|to| (block.label, to)))
        .collect();
    for block in &mut blocks {
        fix_phis(module, block, &edges);
    }
    let mut pruned = head.to_vec();
    for block in blocks {
        pruned.push(Inst {
            op: Op::Label,
            words: vec![block.label],
        });
        pruned.extend(block.insts);
    }
    pruned.push(end.clone());
    Some(pruned)
}

/// Labels that a block's last instruction names.
fn targets(block: &Block) -> Vec<u32> {
    let Some(last) = block.insts.last() else {
        return Vec::new();
    };
    match last.op {
        Op::Branch => last.words.first().copied().into_iter().collect(),
        Op::BranchConditional => last.words.iter().skip(1).take(2).copied().collect(),
        // With the literals among them, which are one word or two: as labels those lead nowhere.
        Op::Switch => last.words.iter().skip(1).copied().collect(),
        _ => Vec::new(),
    }
}

fn merge(block: &Block) -> Option<&Inst> {
    let before_last = block.insts.len().checked_sub(2)?;
    let inst = block.insts.get(before_last)?;
    matches!(inst.op, Op::SelectionMerge | Op::LoopMerge).then_some(inst)
}

fn reached(blocks: &[Block]) -> HashSet<u32> {
    let by_label: HashMap<u32, &Block> = blocks.iter().map(|block| (block.label, block)).collect();
    let mut reached: HashSet<u32> = HashSet::new();
    let mut work: Vec<u32> = blocks
        .first()
        .map(|block| block.label)
        .into_iter()
        .collect();
    while let Some(label) = work.pop() {
        if reached.insert(label)
            && let Some(block) = by_label.get(&label)
        {
            work.extend(targets(block));
        }
    }
    reached
}

/// `None` where the blocks left are not structured: a loop that no longer comes around, or a branch out of a
/// selection that is gone.
fn check(blocks: &[Block], reached: &HashSet<u32>, lost_merges: &HashSet<u32>) -> Option<()> {
    for block in blocks {
        let merge = merge(block);
        if let Some(merge) = merge.filter(|inst| inst.op == Op::LoopMerge)
            && !reached.contains(merge.words.get(1)?)
        {
            return None;
        }
        let targets = targets(block);
        let leaves = targets.iter().any(|target| lost_merges.contains(target));
        if targets.len() > 1 && merge.is_none() && leaves {
            return None;
        }
    }
    Some(())
}

/// Merge blocks must be there even if nothing leads to them.
fn add_merges(blocks: &mut Vec<Block>, reached: &HashSet<u32>) {
    let missing: Vec<u32> = blocks
        .iter()
        .filter_map(|block| merge(block)?.words.first().copied())
        .filter(|label| !reached.contains(label))
        .collect();
    for label in missing {
        blocks.push(Block {
            label,
            insts: vec![Inst {
                op: Op::Unreachable,
                words: Vec::new(),
            }],
        });
    }
}

/// Drops what phis would take over edges that are gone; a phi of one edge stands for what it takes.
fn fix_phis(module: &mut Module, block: &mut Block, edges: &HashSet<(u32, u32)>) {
    let label = block.label;
    for inst in block.insts.iter_mut().filter(|inst| inst.op == Op::Phi) {
        let mut kept = inst.words.get(..2).unwrap_or_default().to_vec();
        for pair in inst.words.get(2..).unwrap_or_default().chunks_exact(2) {
            if edges.contains(&(pair[1], label)) {
                kept.extend_from_slice(pair);
            }
        }
        if let &[_, id, value, _] = kept.as_slice() {
            let value = module.resolve(value);
            if value != id {
                module.aliases.insert(id, value);
            }
        }
        inst.words = kept;
    }
}
