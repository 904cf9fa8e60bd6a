//! What a loop does in an iteration.

use super::candidate::Candidate;
use super::variable::variable_of;
use crate::compiler::analysis::{Loop, Uniformity};
use crate::compiler::ir::{AddressSpace, Block, Function, Op, Place, Type, Value, VariableId};
use std::collections::HashSet;

/// What a loop does in an iteration.
pub struct Body {
    /// Instructions other than constants; accesses by the vectors of four that they make.
    pub size: usize,
    pub loads: bool,
    /// Whether it has barriers, and no loop within.
    pub exchanges: bool,
    /// The bytes of device memory that an iteration loads.
    pub device_bytes: usize,
    /// Whether it indexes private memory by its counters, and that becomes registers.
    pub indexes_private: bool,
    /// Whether it is one block that only computes.
    pub computes: bool,
}

impl Body {
    /// The body of a candidate. `registers` are the variables that do not stay in memory.
    pub fn new(
        function: &Function,
        candidate: &Candidate<'_>,
        is_innermost: bool,
        registers: &HashSet<VariableId>,
    ) -> Self {
        let insts = candidate
            .blocks
            .iter()
            .flat_map(|&block| &function.block(block).insts);
        let mut body = Self {
            size: size(function, candidate.blocks),
            loads: false,
            exchanges: false,
            device_bytes: 0,
            indexes_private: false,
            computes: candidate.blocks.len() == 1,
        };
        let counters = &function.block(candidate.header).params;
        for &inst in insts {
            let data = function.inst(inst);
            body.computes &= data.op.is_pure();
            match &data.op {
                Op::Const(_) => continue,
                Op::ControlBarrier { .. } => body.exchanges = is_innermost,
                Op::Load(place, _) => {
                    body.loads = true;
                    if is_in_device_memory(function, place) {
                        let bytes = |&value: &Value| function.ty(value).size_bytes() as usize;
                        body.device_bytes += data.results.iter().map(bytes).sum::<usize>();
                    }
                }
                Op::PtrAdd(_, offset) => {
                    let variable = data
                        .results
                        .first()
                        .and_then(|&it| variable_of(function, it));
                    body.indexes_private |= variable.is_some_and(|it| registers.contains(&it))
                        && depends_on_counters(function, *offset, counters, 6);
                }
                _ => {}
            }
        }
        body
    }
}

/// Instructions of some blocks as [`Body::size`] counts them.
pub fn size(function: &Function, blocks: &[Block]) -> usize {
    let blocks = blocks.iter().map(|&block| function.block(block));
    let insts = blocks.flat_map(|data| &data.insts);
    let insts = insts.map(|&inst| function.inst(inst));
    let sizes = insts.map(|data| match data.op {
        Op::Const(_) => 0,
        ref op => vectors(op, &data.results),
    });
    sizes.sum()
}

/// How many vectors of four an instruction loads or stores; one for all others.
fn vectors(op: &Op, results: &[Value]) -> usize {
    match op {
        Op::Load(..) => results.len().div_ceil(4),
        Op::Store(_, values, _) => values.len().div_ceil(4),
        _ => 1,
    }
}

/// Whether a loop loads from device memory.
pub fn loads(function: &Function, found: &Loop) -> bool {
    let blocks = found.blocks.iter();
    let mut insts = blocks.flat_map(|&block| &function.block(block).insts);
    insts.any(|&inst| match &function.inst(inst).op {
        Op::Load(place, _) => is_in_device_memory(function, place),
        _ => false,
    })
}

/// Whether a place is neither private nor local memory.
pub fn is_in_device_memory(function: &Function, place: &Place) -> bool {
    let &Place::Pointer(pointer) = place else {
        return false;
    };
    !matches!(
        function.ty(pointer),
        Type::Ptr(AddressSpace::Private | AddressSpace::Local)
    )
}

/// Whether a value is computed from counters and constants alone.
fn depends_on_counters(function: &Function, value: Value, counters: &[Value], depth: u32) -> bool {
    if counters.contains(&value) {
        return true;
    }
    let Some(op) = function.op_of(value).filter(|_| depth > 0) else {
        return false;
    };
    match *op {
        Op::Binary(_, a, b) => {
            let from = |value| depends_on_counters(function, value, counters, depth - 1);
            let known = |value| function.constant(value).is_some() || from(value);
            known(a) && known(b) && (from(a) || from(b))
        }
        Op::Convert(_, from) => depends_on_counters(function, from, counters, depth - 1),
        _ => false,
    }
}

/// Instructions of an iteration, if the loop is one of one block that computes and loads, some of it from where all work-items of
/// a sub-group do.
pub fn shared_loads(
    function: &Function,
    candidate: &Candidate<'_>,
    uniformity: &Uniformity,
) -> Option<usize> {
    let &[block] = candidate.blocks else {
        return None;
    };
    let (mut size, mut shares) = (0, false);
    for &inst in &function.block(block).insts {
        match function.inst(inst).op {
            Op::Const(_) => continue,
            Op::Load(Place::Pointer(pointer), access) if !access.volatile => {
                let is_private = function.ty(pointer) == Type::Ptr(AddressSpace::Private);
                shares |= uniformity.is_uniform(pointer) && !is_private;
            }
            ref op if op.is_pure() => {}
            _ => return None,
        }
        size += 1;
    }
    let shares = shares && uniformity.is_converged(block);
    shares.then_some(size)
}
