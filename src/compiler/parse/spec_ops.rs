//! `OpSpecConstantOp`: instructions computed here, on constants, also those in the initializers of variables.

use super::constants::{Constant, Constants, Data, Scalar};
use super::decode::{Id, Instruction};
use super::narrow_integers::sign_extend;
use super::slot::Slot;
use super::types::{Kind, Types};
use crate::compiler::CompileError;
use crate::compiler::evaluate;
use crate::compiler::ir::{Type, Unary};
use crate::compiler::operations::{binary_of, comparison_of};
use rspirv::spirv::Op;

/// Declares the result of an `OpSpecConstantOp`.
pub(super) fn declare(
    inst: &Instruction<'_>,
    types: &Types,
    constants: &mut Constants,
) -> Result<(), CompileError> {
    let ty = inst.result_type()?;
    let scalars = evaluate(inst, ty, types, constants).map_err(|error| inst.locate(error))?;
    if scalars.len() != types.slots(ty).map_err(|error| inst.locate(error))?.len() {
        return Err(inst.invalid("the result does not match its type"));
    }
    let data = Data::Flat(scalars);
    let data = match (&types.get(ty)?.kind, data) {
        (Kind::Scalar(_) | Kind::Integer(..) | Kind::Pointer { .. }, Data::Flat(scalars)) => {
            Data::Scalar(scalars.first().copied().unwrap_or(Scalar::Undef))
        }
        (_, data) => data,
    };
    constants
        .insert(inst.result()?, Constant { ty, data })
        .map_err(|error| inst.locate(error))
}

fn evaluate(
    inst: &Instruction<'_>,
    ty: Id,
    types: &Types,
    constants: &Constants,
) -> Result<Vec<Scalar>, CompileError> {
    let op = Op::from_u32(inst.word(0)?)
        .ok_or_else(|| inst.invalid(format!("unknown instruction {}", inst.operands[0])))?;
    let operand = |index: usize| -> Result<(Id, Vec<Scalar>), CompileError> {
        let id = inst.id(index)?;
        let constant = constants
            .get(id)
            .ok_or_else(|| inst.invalid(format!("{id} is not a constant")))?;
        Ok((constant.ty, constants.flatten(id, types)?))
    };
    let (a_type, a) = operand(1)?;
    let not_supported =
        || inst.unsupported(format!("OpSpecConstantOp of Op{op:?} is not supported"));
    Ok(match op {
        Op::AccessChain | Op::InBoundsAccessChain => {
            chain(inst, ty, a_type, &a, 2, types, constants)?
        }
        Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
            let (_, pointee) = types.pointee(a_type)?;
            let stride = types.layout(pointee)?.size_bytes;
            let element = signed_index(inst, 2, types, constants)?;
            let start = offset(&a, element.wrapping_mul(stride as i64));
            chain(inst, ty, a_type, &start, 3, types, constants)?
        }
        Op::Bitcast | Op::PtrCastToGeneric | Op::GenericCastToPtr if a.len() == 1 => a,
        Op::CopyObject => a,
        Op::ConvertPtrToU | Op::ConvertUToPtr => match a.as_slice() {
            _ if types.slots(ty)?.iter().any(Slot::is_cut) => return Err(not_supported()),
            [Scalar::Bits(bits)] => vec![Scalar::Bits(bits & types.scalar(ty)?.mask())],
            // An integer narrower than the address has its low bits, of which no address is made again.
            _ if op == Op::ConvertPtrToU || types.scalar(a_type)?.bits() == 64 => a,
            _ => return Err(not_supported()),
        },
        Op::CompositeExtract => {
            let (_, range) = part(inst, a_type, 2, types)?;
            a.get(range).ok_or_else(not_supported)?.to_vec()
        }
        Op::CompositeInsert => {
            let (composite_type, mut composite) = operand(2)?;
            let (_, range) = part(inst, composite_type, 3, types)?;
            match composite.get_mut(range) {
                Some(part) if part.len() == a.len() => part.copy_from_slice(&a),
                _ => return Err(inst.invalid("the part does not match the composite")),
            }
            composite
        }
        Op::VectorShuffle => {
            let (_, b) = operand(2)?;
            let from = [a, b].concat();
            inst.operands
                .get(3..)
                .unwrap_or(&[])
                .iter()
                .map(|&index| from.get(index as usize).copied().unwrap_or(Scalar::Undef))
                .collect()
        }
        Op::Select => {
            let (_, b) = operand(2)?;
            let (_, c) = operand(3)?;
            let pick = |index: usize| -> Option<Scalar> {
                let condition = a.get(index).or(a.first().filter(|_| a.len() == 1))?;
                match condition {
                    Scalar::Bits(0) => c.get(index).copied(),
                    _ => b.get(index).copied(),
                }
            };
            (0..b.len())
                .map(pick)
                .collect::<Option<_>>()
                .ok_or_else(|| inst.invalid("the operands do not match"))?
        }
        _ => {
            let from = types.scalar(a_type)?;
            let to = types.scalar(ty)?;
            let mut slots = types.slots(a_type)?.iter().chain(types.slots(ty)?.iter());
            if slots.any(Slot::is_cut) {
                return Err(not_supported());
            }
            let b = match inst.operands.len() {
                0..3 => None,
                _ => Some(operand(2)?.1),
            };
            let mut result = Vec::with_capacity(a.len());
            for (index, a) in a.iter().enumerate() {
                let b = match &b {
                    Some(b) => Some(*b.get(index).ok_or_else(not_supported)?),
                    None => None,
                };
                result.push(lane(op, *a, b, from, to).ok_or_else(not_supported)?);
            }
            result
        }
    })
}

fn part(
    inst: &Instruction<'_>,
    composite: Id,
    first: usize,
    types: &Types,
) -> Result<(Id, std::ops::Range<usize>), CompileError> {
    let mut at = (composite, 0..types.slots(composite)?.len());
    for &index in inst.operands.get(first..).unwrap_or(&[]) {
        let (part, range) = types.part(at.0, index)?;
        let start = at.1.start;
        at = (part, start + range.start..start + range.end);
    }
    Ok(at)
}

fn signed_index(
    inst: &Instruction<'_>,
    index: usize,
    types: &Types,
    constants: &Constants,
) -> Result<i64, CompileError> {
    let id = inst.id(index)?;
    let constant = constants.get(id);
    let slot = match constant {
        Some(constant) => types.slots(constant.ty)?.first(),
        None => None,
    };
    match (constants.integer(id), slot) {
        (Some(bits), Some(slot)) => Ok(sign_extend(bits, slot.bits)),
        _ => Err(inst.invalid("an index is not a constant")),
    }
}

/// Whether an index is of 64 bits.
fn is_wide(inst: &Instruction<'_>, position: usize, types: &Types, constants: &Constants) -> bool {
    let constant = inst.id(position).ok().and_then(|id| constants.get(id));
    constant.is_some_and(|constant| types.scalar(constant.ty).is_ok_and(|ty| ty == Type::I64))
}

fn offset(pointer: &[Scalar], bytes: i64) -> Vec<Scalar> {
    pointer
        .iter()
        .map(|scalar| match *scalar {
            Scalar::Address { global, addend } => Scalar::Address {
                global,
                addend: addend.wrapping_add(bytes),
            },
            Scalar::Bits(bits) => Scalar::Bits(bits.wrapping_add(bytes as u64)),
            Scalar::Undef => Scalar::Undef,
        })
        .collect()
}

fn chain(
    inst: &Instruction<'_>,
    result_type: Id,
    pointer_type: Id,
    pointer: &[Scalar],
    first: usize,
    types: &Types,
    constants: &Constants,
) -> Result<Vec<Scalar>, CompileError> {
    let (_, mut at) = types.pointee(pointer_type)?;
    let (_, wanted) = types.pointee(result_type)?;
    let mut bytes = 0i64;
    for position in first..inst.operands.len() {
        let index = signed_index(inst, position, types, constants)?;
        let is_last = position + 1 == inst.operands.len();
        if is_last
            && !names_part(
                types,
                at,
                index,
                wanted,
                is_wide(inst, position, types, constants),
            )
        {
            bytes = bytes.wrapping_add(index);
            break;
        }
        let (part, step) = step_into(types, at, Some(index))?;
        let step = match step {
            Step::Bytes(bytes) => bytes as i64,
            Step::Stride(stride) => index.wrapping_mul(stride as i64),
        };
        bytes = bytes.wrapping_add(step);
        at = part;
    }
    Ok(offset(pointer, bytes))
}

/// Whether the last index of a chain names a part of `at`, as it should: clang 22 writes an address in the middle of a variable,
/// which LLVM counts in bytes, as a chain into the variable's type with that count. The result's type tells, which is then
/// the variable's or that of a byte; and for structures the index, to which LLVM gives 32 bits where it names a member.
fn names_part(types: &Types, at: Id, index: i64, wanted: Id, is_wide: bool) -> bool {
    let is_struct = types
        .get(at)
        .is_ok_and(|ty| matches!(ty.kind, Kind::Struct { .. }));
    if is_struct && !is_wide {
        return true;
    }
    let is_byte = types
        .layout(wanted)
        .is_ok_and(|layout| layout.size_bytes == 1);
    // An array of one element is like its element.
    if at == wanted || is_struct && is_byte {
        return false;
    }
    step_into(types, at, Some(index)).is_ok_and(|(part, _)| types.alike(part, wanted))
}

/// How far an index of an access chain moves.
pub(super) enum Step {
    /// To a member.
    Bytes(u64),
    /// By the index times this many bytes.
    Stride(u64),
}

/// The type that an index of an access chain reaches within `at`, and how far away. The index, if constant,
/// is that of a structure's member.
pub(super) fn step_into(
    types: &Types,
    at: Id,
    index: Option<i64>,
) -> Result<(Id, Step), CompileError> {
    Ok(match &types.get(at)?.kind {
        Kind::Vector { element, .. } | Kind::Array { element, .. } => {
            (*element, Step::Stride(types.layout(*element)?.size_bytes))
        }
        Kind::Struct {
            members, offsets, ..
        } => {
            let member = index
                .and_then(|index| usize::try_from(index).ok())
                .and_then(|index| Some((*members.get(index)?, *offsets.get(index)?)));
            let (member, offset) = member.ok_or_else(|| {
                CompileError::invalid("the index of a structure's member is not a valid constant")
            })?;
            (member, Step::Bytes(offset))
        }
        _ => return Err(CompileError::invalid(format!("type {at} has no parts"))),
    })
}

/// One component of an integer, boolean or conversion instruction.
fn lane(op: Op, a: Scalar, b: Option<Scalar>, from: Type, to: Type) -> Option<Scalar> {
    // Arithmetic on addresses, as front ends make of pointer constants.
    match (op, a, b) {
        (Op::IAdd, Scalar::Address { .. }, Some(Scalar::Bits(bits))) => {
            return offset(&[a], bits as i64).pop();
        }
        (Op::ISub, Scalar::Address { .. }, Some(Scalar::Bits(bits))) => {
            return offset(&[a], (bits as i64).wrapping_neg()).pop();
        }
        (Op::UConvert | Op::SConvert, Scalar::Address { .. }, None) if to.bits() <= from.bits() => {
            return Some(a);
        }
        (_, Scalar::Undef, _) | (_, _, Some(Scalar::Undef)) => return Some(Scalar::Undef),
        _ => {}
    }
    let Scalar::Bits(a) = a else { return None };
    if from.is_float() || to.is_float() {
        return None;
    }
    let value = match b {
        None => match op {
            Op::SNegate => evaluate::unary(Unary::Negate, from, a),
            Op::Not | Op::LogicalNot => evaluate::unary(Unary::Not, from, a),
            Op::UConvert => a,
            Op::SConvert => evaluate::signed(from, a) as u64,
            _ => return None,
        },
        Some(Scalar::Bits(b)) => match (binary_of(op), comparison_of(op)) {
            // An undefined result may be anything.
            (Some(operation), _) => evaluate::binary(operation, from, a, b).unwrap_or(0),
            (_, Some((comparison, false))) => evaluate::compare(comparison, from, a, b).into(),
            (_, Some((comparison, true))) => evaluate::compare(comparison, from, b, a).into(),
            _ => return None,
        },
        Some(_) => return None,
    };
    Some(Scalar::Bits(value & to.mask()))
}
