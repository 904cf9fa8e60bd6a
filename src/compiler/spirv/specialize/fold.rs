//! Instructions on constants, and those that nobody reads.

use super::{Inst, Module, has_result};
use crate::compiler::evaluate;
use crate::compiler::ir::{Type, Unary};
use crate::compiler::operations::{binary_of, comparison_of};
use rspirv::spirv::{MemoryAccess, Op};
use std::collections::HashSet;

/// Puts what ids stand for in their place, and remembers the result where it is known now.
pub(super) fn fold(module: &mut Module, inst: &mut Inst) {
    let Some(first) = operands(inst) else {
        return;
    };
    for &place in &first {
        if let Some(word) = inst.words.get_mut(place) {
            *word = module.resolve(*word);
        }
    }
    let &[ty, id, ..] = inst.words.as_slice() else {
        return;
    };
    if !has_result(inst.op) || module.aliases.contains_key(&id) {
        return;
    }
    let values: Vec<Option<u32>> = first
        .iter()
        .map(|&place| module.value(*inst.words.get(place)?))
        .collect();
    let same = |place: usize| first.get(place).and_then(|&at| inst.words.get(at)).copied();
    // Of three operands, the condition first.
    if inst.op == Op::Select {
        let chosen = match values.first() {
            Some(Some(0)) => same(2),
            Some(Some(_)) => same(1),
            _ if same(1) == same(2) => same(1),
            _ => None,
        };
        if let Some(chosen) = chosen {
            module.aliases.insert(id, chosen);
        }
        return;
    }
    let is_known = module.integers.contains(&ty) || Some(ty) == module.boolean;
    if !is_known {
        return;
    }
    let alias = match (inst.op, values.as_slice()) {
        (op, &[Some(a), Some(b)]) => binary(op, a, b).map(|value| module.constant(ty, value)),
        (op, &[Some(a)]) => unary(op, a).map(|value| module.constant(ty, value)),
        (Op::LogicalAnd | Op::BitwiseAnd | Op::IMul, [Some(0), _] | [_, Some(0)]) => {
            Some(module.constant(ty, 0))
        }
        (Op::LogicalAnd, [Some(_), _])
        | (Op::LogicalOr | Op::BitwiseOr | Op::IAdd, [Some(0), _]) => same(1),
        (Op::LogicalAnd, [_, Some(_)])
        | (
            Op::LogicalOr
            | Op::BitwiseOr
            | Op::IAdd
            | Op::ISub
            | Op::ShiftLeftLogical
            | Op::ShiftRightLogical
            | Op::ShiftRightArithmetic,
            [_, Some(0)],
        ) => same(0),
        (Op::LogicalOr, [Some(_), _] | [_, Some(_)]) => Some(module.constant(ty, 1)),
        _ => None,
    };
    if let Some(alias) = alias.filter(|&alias| alias != id) {
        module.aliases.insert(id, alias);
    }
}

fn unary(op: Op, a: u32) -> Option<u32> {
    let operation = match op {
        Op::LogicalNot => return Some(u32::from(a == 0)),
        Op::Not => Unary::Not,
        Op::SNegate => Unary::Negate,
        _ => return None,
    };
    Some(evaluate::unary(operation, Type::I32, a.into()) as u32)
}

fn binary(op: Op, a: u32, b: u32) -> Option<u32> {
    let (a, b) = (u64::from(a), u64::from(b));
    if let Some(operation) = binary_of(op).filter(|it| !it.is_float()) {
        return evaluate::binary(operation, Type::I32, a, b).map(|bits| bits as u32);
    }
    let (comparison, swapped) = comparison_of(op).filter(|(it, _)| !it.is_float())?;
    let (a, b) = if swapped { (b, a) } else { (a, b) };
    Some(evaluate::compare(comparison, Type::I32, a, b).into())
}

/// Places of the ids that an instruction of a function reads, labels apart; `None` for one that is not known,
/// whose ids must all stay.
fn operands(inst: &Inst) -> Option<Vec<usize>> {
    let count = inst.words.len();
    Some(match inst.op {
        Op::Label | Op::FunctionParameter | Op::FunctionEnd | Op::Return | Op::Unreachable => {
            Vec::new()
        }
        Op::Function | Op::Variable | Op::SelectionMerge | Op::LoopMerge | Op::Branch => Vec::new(),
        Op::ReturnValue | Op::BranchConditional | Op::Switch => vec![0],
        Op::Store => vec![0, 1],
        Op::Load => vec![2],
        Op::FunctionCall => (3..count).collect(),
        // The set and the number of the function.
        Op::ExtInst => (4..count).collect(),
        Op::CompositeExtract => vec![2],
        Op::CompositeInsert | Op::VectorShuffle => vec![2, 3],
        Op::ImageSampleExplicitLod => vec![2, 3, 5],
        Op::Phi => (2..count).step_by(2).collect(),
        op if is_plain(op) => (2..count).collect(),
        _ => return None,
    })
}

/// Instructions that read ids only, and do nothing but make their result of them.
fn is_plain(op: Op) -> bool {
    let number = op as u32;
    let between = |first: Op, last: Op| (first as u32..=last as u32).contains(&number);
    between(Op::ConvertFToU, Op::Bitcast)
        || between(Op::SNegate, Op::SMulExtended)
        || between(Op::Any, Op::FUnordGreaterThanEqual)
        || between(Op::ShiftRightLogical, Op::BitCount)
        || matches!(
            op,
            Op::AccessChain | Op::CompositeConstruct | Op::CopyObject | Op::SampledImage
        )
}

/// Whether an instruction may go when its result is not read.
fn is_removable(inst: &Inst) -> bool {
    match inst.op {
        Op::ExtInst
        | Op::CompositeExtract
        | Op::CompositeInsert
        | Op::VectorShuffle
        | Op::ImageSampleExplicitLod
        | Op::Phi => true,
        Op::Load => {
            let access = inst.words.get(3).copied().unwrap_or_default();
            !MemoryAccess::from_bits_truncate(access).contains(MemoryAccess::VOLATILE)
        }
        op => is_plain(op),
    }
}

/// The function without what is not read.
pub(super) fn drop_unused(module: &Module, function: Vec<Inst>) -> Vec<Inst> {
    let mut function = function;
    loop {
        let mut used: HashSet<u32> = HashSet::new();
        for inst in &function {
            match operands(inst) {
                Some(places) => {
                    let ids = places.iter().filter_map(|&place| inst.words.get(place));
                    used.extend(ids.map(|&id| module.resolve(id)));
                }
                None => used.extend(inst.words.iter().copied()),
            }
        }
        let before = function.len();
        function.retain(|inst| {
            let result = inst.result();
            !is_removable(inst) || result.is_none_or(|id| used.contains(&id))
        });
        if function.len() == before {
            break;
        }
    }
    for inst in &mut function {
        for place in operands(inst).unwrap_or_default() {
            if let Some(word) = inst.words.get_mut(place) {
                *word = module.resolve(*word);
            }
        }
    }
    function
}
