//! Simplifies control flow: decided branches, empty blocks, chains of blocks, parameters with one value.

use crate::compiler::analysis::Dominators;
use crate::compiler::ir::{Block, Builder, Edge, Function, Op, Terminator, Unary, Value, ValueDef};
use crate::compiler::passes::structure::drop_parameters::drop_parameters;
use std::collections::{HashMap, HashSet};

/// Runs each kind of change once. The layout holds reachable blocks only.
pub fn run(function: &mut Function) {
    decide_branches(function);
    skip_empty_blocks(function);
    function.sort_layout();
    drop_parameters(function);
    join_chains(function);
    function.sort_layout();
}

/// Branches whose way is known, or the same both ways.
fn decide_branches(function: &mut Function) {
    for block in function.layout().to_vec() {
        let decided = match &function.block(block).terminator {
            Terminator::Branch {
                condition,
                then,
                otherwise,
            } => match (function.constant(*condition), function.op_of(*condition)) {
                (Some(0), _) => Some(Terminator::Jump(otherwise.clone())),
                (Some(_), _) => Some(Terminator::Jump(then.clone())),
                (None, Some(&Op::Unary(Unary::Not, inner))) => Some(Terminator::Branch {
                    condition: inner,
                    then: otherwise.clone(),
                    otherwise: then.clone(),
                }),
                _ if then == otherwise => Some(Terminator::Jump(then.clone())),
                _ if then.block == otherwise.block => {
                    let (condition, then, otherwise) =
                        (*condition, then.clone(), otherwise.clone());
                    Some(select_arguments(
                        function, block, condition, &then, &otherwise,
                    ))
                }
                _ => None,
            },
            Terminator::Switch {
                value,
                cases,
                default,
            } => match function.constant(*value) {
                Some(bits) => {
                    let case = cases.iter().find(|(case, _)| *case == bits);
                    Some(Terminator::Jump(
                        case.map_or(default, |(_, edge)| edge).clone(),
                    ))
                }
                None if cases.iter().all(|(_, edge)| edge == default) => {
                    Some(Terminator::Jump(default.clone()))
                }
                None => None,
            },
            _ => None,
        };
        if let Some(terminator) = decided {
            function.set_terminator(block, terminator);
        }
    }
    function.sort_layout();
}

/// A jump with selected arguments in place of a branch to the same block.
fn select_arguments(
    function: &mut Function,
    block: Block,
    condition: Value,
    then: &Edge,
    otherwise: &Edge,
) -> Terminator {
    let mut b = Builder::new(function, block);
    let args: Vec<Value> = then
        .args
        .iter()
        .zip(&otherwise.args)
        .map(|(&x, &y)| if x == y { x } else { b.select(condition, x, y) })
        .collect();
    Terminator::Jump(Edge::new(then.block, args))
}

/// A branch of which a side, or both, only jumps to where the other goes goes there itself, and is then a
/// selection. Other empty blocks stay: they are where the ways of an inner `if` or the iterations of a loop
/// meet, and structured control flow needs such places.
fn skip_empty_blocks(function: &mut Function) {
    let dominators = function.analysis::<Dominators>();
    let uses = uses_outside_own_terminator(function);
    let skipped = |function: &Function, edge: &Edge| -> Edge {
        let data = function.block(edge.block);
        let Terminator::Jump(next) = &data.terminator else {
            return edge.clone();
        };
        let is_skippable = data.insts.is_empty()
            && !dominators.dominates(next.block, edge.block)
            && !data.params.iter().any(|param| uses.contains(param));
        if !is_skippable {
            return edge.clone();
        }
        let args = next.args.iter().map(|arg| {
            let position = data.params.iter().position(|param| param == arg);
            position
                .and_then(|at| edge.args.get(at))
                .copied()
                .unwrap_or(*arg)
        });
        Edge::new(next.block, args.collect::<Vec<_>>())
    };
    for block in function.layout().to_vec() {
        let Terminator::Branch {
            condition,
            then,
            otherwise,
        } = &function.block(block).terminator
        else {
            continue;
        };
        let (far_then, far_otherwise) = (skipped(function, then), skipped(function, otherwise));
        let ways = [
            (then, &far_otherwise),
            (&far_then, otherwise),
            (&far_then, &far_otherwise),
        ];
        let same = ways.into_iter().find(|(a, b)| a.block == b.block);
        if let Some((then, otherwise)) = same {
            let branch = Terminator::Branch {
                condition: *condition,
                then: then.clone(),
                otherwise: otherwise.clone(),
            };
            function.set_terminator(block, branch);
        }
    }
}

/// Block parameters that are used by anything but the terminator of their own block.
fn uses_outside_own_terminator(function: &Function) -> HashSet<Value> {
    let mut used = HashSet::new();
    let mut add = |block: Option<Block>, value: Value| {
        if let ValueDef::Parameter(owner) = function.value(value).def
            && Some(owner) != block
        {
            used.insert(value);
        }
    };
    for &block in function.layout() {
        let data = function.block(block);
        for &inst in &data.insts {
            for value in function.inst(inst).op.operands() {
                add(None, value);
            }
        }
        for value in data.terminator.operands() {
            add(Some(block), value);
        }
    }
    used
}

/// A block whose only way out is the only way into the next takes that in.
fn join_chains(function: &mut Function) {
    let predecessors = function.predecessors();
    let mut replacements: HashMap<Value, Value> = HashMap::new();
    let mut gone: HashSet<Block> = HashSet::new();
    for block in function.layout().to_vec() {
        if gone.contains(&block) {
            continue;
        }
        while let Terminator::Jump(edge) = &function.block(block).terminator {
            let next = edge.block;
            if predecessors[next.index()].len() != 1 || next == block || next == function.entry() {
                break;
            }
            let args = edge.args.clone();
            let data = function.block_mut(next);
            let params = std::mem::take(&mut data.params);
            let insts = std::mem::take(&mut data.insts);
            let terminator = std::mem::replace(&mut data.terminator, Terminator::Unreachable);
            replacements.extend(params.into_iter().zip(args));
            let data = function.block_mut(block);
            data.insts.extend(insts);
            data.terminator = terminator;
            gone.insert(next);
        }
    }
    function.retain_blocks(|block| !gone.contains(&block));
    function.replace_values(&replacements);
}
