//! Conversions and bit casts.

use super::decode::Instruction;
use super::function_parser::FunctionParser;
use crate::compiler::CompileError;
use crate::compiler::ir::{Binary, Builder, Convert, Rounding, Type, Value, Values};
use rspirv::spirv::{Decoration, FPRoundingMode, Op};

impl<'a> FunctionParser<'_, 'a> {
    /// Translates conversions; false if the instruction is another.
    pub(super) fn conversion(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        if inst.op == Op::Bitcast {
            self.bitcast(inst)?;
            return Ok(true);
        }
        let (from_float, is_float) = match inst.op {
            Op::ConvertFToU | Op::ConvertFToS => (true, false),
            Op::ConvertSToF | Op::ConvertUToF => (false, true),
            Op::FConvert => (true, true),
            Op::UConvert | Op::SConvert | Op::SatConvertSToU | Op::SatConvertUToS => (false, false),
            _ => return Ok(false),
        };
        let id = inst.result()?;
        let decorations = &self.source.decorations;
        let rounding = match decorations.literal(id, Decoration::FPRoundingMode) {
            Some(mode) => Some(
                FPRoundingMode::from_u32(mode)
                    .map(map_rounding)
                    .ok_or_else(|| inst.invalid(format!("rounding mode {mode} is unknown")))?,
            ),
            None => None,
        };
        let saturate = decorations.has(id, Decoration::SaturatedConversion);
        let to = self.source.types.scalar(inst.result_type()?)?;
        let from = self.operand(inst, 0)?;
        let fits = from.iter().all(|&value| {
            let ty = self.ty(value);
            if from_float {
                ty.is_float()
            } else {
                ty.is_int()
            }
        });
        if !fits
            || (if is_float {
                !to.is_float()
            } else {
                !to.is_int()
            })
        {
            return Err(inst.invalid("the types are not those of the conversion"));
        }
        let op = inst.op;
        self.each(inst, from.len(), |b, lane| {
            let value = from[lane];
            match op {
                Op::ConvertFToU => {
                    b.convert(Convert::FloatToUnsigned { rounding, saturate }, value, to)
                }
                Op::ConvertFToS => {
                    b.convert(Convert::FloatToSigned { rounding, saturate }, value, to)
                }
                Op::ConvertSToF | Op::ConvertUToF | Op::FConvert => {
                    to_float(b, value, to, op == Op::ConvertSToF, rounding)
                }
                Op::SatConvertSToU => saturated(b, value, to, true, false),
                Op::SatConvertUToS => saturated(b, value, to, false, true),
                Op::UConvert if saturate => saturated(b, value, to, false, false),
                Op::SConvert if saturate => saturated(b, value, to, true, true),
                _ => b.resize_int(value, to, op == Op::SConvert),
            }
        })?;
        Ok(true)
    }

    fn bitcast(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let from = self.operand(inst, 0)?;
        let slots = self.result_slots(inst)?;
        let (Some(&first), Some(slot)) = (from.first(), slots.first()) else {
            return Err(inst.invalid("the operand is empty"));
        };
        let (source, target) = (self.ty(first), slot.ty);
        let mismatch = || inst.invalid("the sizes of the two types differ");
        let bits = |ty: Type, count: usize| ty.bits() as usize * count;
        if bits(source, from.len()) != bits(target, slots.len()) {
            return Err(mismatch());
        }
        let number = |ty: Type| ty.is_int() || ty.is_float();
        if source.is_pointer() || target.is_pointer() {
            return match (from.len(), source, target) {
                // An integer and a pointer of the same width, or two pointers to one space.
                (1, source, target) if source == target => self.define(inst, &from),
                (1, Type::Ptr(_), Type::I64) => {
                    self.convert1(inst, Convert::PtrToInt, first, target)
                }
                (1, Type::I64, Type::Ptr(_)) => {
                    self.convert1(inst, Convert::IntToPtr, first, target)
                }
                // From version 1.5 on: a pointer and a vector of integers of the same width.
                (1, Type::Ptr(_), Type::I32) => {
                    let mut b = self.build();
                    let address = b.convert(Convert::PtrToInt, first, Type::I64);
                    let words = repack(&mut b, &[address], target).ok_or_else(mismatch)?;
                    self.define(inst, &words)
                }
                (2, Type::I32, Type::Ptr(_)) => {
                    let mut b = self.build();
                    let address = repack(&mut b, &from, Type::I64).ok_or_else(mismatch)?;
                    let pointer = b.convert(Convert::IntToPtr, address[0], target);
                    self.define(inst, &[pointer])
                }
                (_, Type::Ptr(_), Type::Ptr(_)) => {
                    Err(inst.invalid("the pointers are to different address spaces"))
                }
                _ => Err(inst.invalid("a pointer is an integer, or two words, and nothing else")),
            };
        }
        if !number(source) || !number(target) {
            return Err(mismatch());
        }
        let mut b = self.build();
        let values = repack(&mut b, &from, target).ok_or_else(mismatch)?;
        self.define(inst, &values)
    }

    pub(super) fn convert1(
        &mut self,
        inst: &Instruction<'a>,
        op: Convert,
        value: Value,
        to: Type,
    ) -> Result<(), CompileError> {
        let value = self.build().convert(op, value, to);
        self.define(inst, &[value])
    }
}

/// A number as a float.
pub(super) fn to_float(
    b: &mut Builder<'_>,
    value: Value,
    to: Type,
    signed: bool,
    rounding: Option<Rounding>,
) -> Value {
    let op = match b.ty(value) {
        from if from == to => return value,
        from if from.is_float() => Convert::FloatToFloat(rounding),
        _ if signed => Convert::SignedToFloat(rounding),
        _ => Convert::UnsignedToFloat(rounding),
    };
    b.convert(op, value, to)
}

pub(super) fn map_rounding(mode: FPRoundingMode) -> Rounding {
    match mode {
        FPRoundingMode::RTE => Rounding::Rte,
        FPRoundingMode::RTZ => Rounding::Rtz,
        FPRoundingMode::RTP => Rounding::Rtp,
        FPRoundingMode::RTN => Rounding::Rtn,
    }
}

/// The bits of numbers as numbers of another width; the first holds the lowest bits of a wider one.
fn repack(b: &mut Builder<'_>, from: &[Value], to: Type) -> Option<Values> {
    let source = b.ty(*from.first()?);
    let (from_int, to_int) = (source.as_int()?, to.as_int()?);
    if source.bits() == to.bits() {
        return Some(from.iter().map(|&value| b.bitcast(value, to)).collect());
    }
    let from: Values = from
        .iter()
        .map(|&value| b.bitcast(value, from_int))
        .collect();
    let mut values = Values::new();
    if source.bits() < to.bits() {
        let ratio = (to.bits() / source.bits()) as usize;
        for group in from.chunks_exact(ratio) {
            let mut all: Option<Value> = None;
            for (index, &part) in group.iter().enumerate() {
                let mut part = b.convert(Convert::ZeroExtend, part, to_int);
                if index > 0 {
                    let bits = u64::from(source.bits()) * index as u64;
                    part = b.binary_const(Binary::Shl, part, bits);
                }
                all = Some(match all {
                    Some(all) => b.binary(Binary::Or, all, part),
                    None => part,
                });
            }
            values.push(b.bitcast(all?, to));
        }
    } else {
        let ratio = source.bits() / to.bits();
        for &whole in &from {
            for index in 0..ratio {
                let mut part = whole;
                if index > 0 {
                    let bits = u64::from(to.bits() * index);
                    part = b.binary_const(Binary::LShr, part, bits);
                }
                let part = b.convert(Convert::Truncate, part, to_int);
                values.push(b.bitcast(part, to));
            }
        }
    }
    Some(values)
}

/// An integer of another width and signedness, clamped to what it can hold.
fn saturated(
    b: &mut Builder<'_>,
    value: Value,
    to: Type,
    from_signed: bool,
    to_signed: bool,
) -> Value {
    let from = b.ty(value);
    let max = if to_signed { to.mask() >> 1 } else { to.mask() };
    let mut value = value;
    if from_signed {
        let from_max = from.mask() >> 1;
        if max < from_max {
            let limit = b.constant(from, max);
            value = b.binary(Binary::SMin, value, limit);
        }
        if !to_signed {
            let zero = b.constant(from, 0);
            value = b.binary(Binary::SMax, value, zero);
        } else if to.bits() < from.bits() {
            let limit = b.constant(from, !max);
            value = b.binary(Binary::SMax, value, limit);
        }
    } else if max < from.mask() {
        let limit = b.constant(from, max);
        value = b.binary(Binary::UMin, value, limit);
    }
    b.resize_int(value, to, from_signed && to_signed)
}
