//! Integers of other widths than 8, 16, 32 and 64 bits (`SPV_ALTERA_arbitrary_precision_integers`).
//!
//! OpenCL C has none, but LLVM makes them of variables that are written in parts: of
//! `((uchar *)&word)[3] = 1` a 24-bit and an 8-bit integer, of a structure of three bytes a load of 24 bits. Its SPIR-V
//! back end can write them as they are, or as integers of the next width, and then forgets to cut them.
//!
//! **Invariant.** An integer of another width is held in the next wider one of the four, with zeros above. What
//! may leave other bits there is cut ([`FunctionParser::define`]); what reads a sign gets it extended
//! ([`FunctionParser::operand`]). In memory it takes as many bytes as its bits need.

use super::decode::Instruction;
use super::function_parser::FunctionParser;
use super::narrow_integers::{container, cut};
use super::slot::Slot;
use crate::compiler::CompileError;
use crate::compiler::ir::{Binary, Value, Values};
use rspirv::spirv::{Decoration, Op};
use std::rc::Rc;

/// Whether an instruction takes its operands' highest bits for signs.
fn reads_signs(op: Op) -> bool {
    matches!(
        op,
        Op::SDiv
            | Op::SRem
            | Op::SMod
            | Op::SLessThan
            | Op::SLessThanEqual
            | Op::SGreaterThan
            | Op::SGreaterThanEqual
            | Op::ShiftRightArithmetic
            | Op::SConvert
            | Op::SatConvertSToU
            | Op::ConvertSToF
            | Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
    )
}

/// Whether an instruction means the width of its operands in a way that their containers have not.
fn needs_own_width(op: Op) -> bool {
    matches!(
        op,
        Op::BitReverse
            | Op::BitFieldInsert
            | Op::BitFieldSExtract
            | Op::IAddCarry
            | Op::ISubBorrow
            | Op::UMulExtended
            | Op::SMulExtended
            | Op::SatConvertUToS
            | Op::Bitcast
            | Op::AtomicStore
            | Op::GroupNonUniformAllEqual
            | Op::ExtInst
    )
}

/// Whether an instruction's result may be an integer of another width: [`FunctionParser::define`] cuts it.
fn makes_other_widths(op: Op) -> bool {
    matches!(
        op,
        Op::Phi
            | Op::Undef
            | Op::Load
            | Op::FunctionCall
            | Op::CopyObject
            | Op::CopyLogical
            | Op::ExpectKHR
            | Op::Select
            | Op::BitCount
            | Op::BitFieldUExtract
            | Op::UConvert
            | Op::SConvert
            | Op::ConvertFToU
            | Op::ConvertFToS
            | Op::ConvertPtrToU
            | Op::PtrDiff
            | Op::CompositeConstruct
            | Op::CompositeExtract
            | Op::CompositeInsert
            | Op::VectorExtractDynamic
            | Op::VectorInsertDynamic
            | Op::VectorShuffle
            | Op::ShiftRightLogical
            | Op::ShiftRightArithmetic
    ) || takes_low_bits(op)
}

/// Whether an instruction takes of wider operands the bits that its result has.
fn takes_low_bits(op: Op) -> bool {
    matches!(
        op,
        Op::SNegate
            | Op::Not
            | Op::IAdd
            | Op::ISub
            | Op::IMul
            | Op::UDiv
            | Op::SDiv
            | Op::UMod
            | Op::SRem
            | Op::SMod
            | Op::BitwiseAnd
            | Op::BitwiseOr
            | Op::BitwiseXor
            | Op::ShiftLeftLogical
    )
}

/// The operands of an instruction that have its result's type.
fn of_results_type(op: Op) -> std::ops::Range<usize> {
    match op {
        Op::SNegate
        | Op::Not
        | Op::CopyObject
        | Op::ShiftLeftLogical
        | Op::ShiftRightLogical
        | Op::ShiftRightArithmetic
        | Op::BitFieldUExtract => 0..1,
        Op::Select => 1..3,
        _ if takes_low_bits(op) => 0..2,
        _ => 0..0,
    }
}

impl<'a> FunctionParser<'_, 'a> {
    /// An error where an instruction on integers of another width is none of those that are translated.
    pub(super) fn check_widths(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        if !self.source.types.has_other_widths() {
            return Ok(());
        }
        self.check_result_width(inst)?;
        self.check_same_width(inst)?;
        if !needs_own_width(inst.op) {
            return Ok(());
        }
        // The set and the number of an extended instruction are no values.
        let first = if inst.op == Op::ExtInst { 2 } else { 0 };
        for id in inst.ids_from(first) {
            let Ok((ty, _)) = self.values(id) else {
                continue;
            };
            if let Some(slot) = self.slots(ty)?.iter().find(|slot| slot.is_cut()) {
                return Err(unsupported(inst, slot));
            }
        }
        Ok(())
    }

    /// An error where the result is of another width and the instruction would make one of its container's width.
    fn check_result_width(&self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let Some(id) = inst.result_if_any() else {
            return Ok(());
        };
        let decorations = &self.source.decorations;
        if makes_other_widths(inst.op) && !decorations.has(id, Decoration::SaturatedConversion) {
            return Ok(());
        }
        // What is no value has no width.
        let slots = inst.result_type().and_then(|ty| self.slots(ty));
        match slots.iter().flat_map(|it| it.iter()).find(|it| it.is_cut()) {
            Some(slot) => Err(unsupported(inst, slot)),
            None => Ok(()),
        }
    }

    /// An error where an operand is not as wide as the result, unless the instruction takes the low bits of a wider one.
    fn check_same_width(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        for index in of_results_type(inst.op) {
            let Ok((ty, _)) = self.values(inst.id(index)?) else {
                continue;
            };
            let (slots, results) = (self.slots(ty)?, self.result_slots(inst)?);
            let fits = |(slot, result): (&Slot, &Slot)| {
                slot.bits == result.bits || slot.bits > result.bits && takes_low_bits(inst.op)
            };
            if !slots.iter().zip(results.iter()).all(fits) {
                return Err(inst.invalid("the operands' types do not match"));
            }
        }
        Ok(())
    }

    /// The bits of the integers that operand `index` is made of; `None` of anything else.
    pub(super) fn width(
        &mut self,
        inst: &Instruction<'a>,
        index: usize,
    ) -> Result<Option<u32>, CompileError> {
        let (ty, _) = self.values(inst.id(index)?)?;
        let slots = self.slots(ty)?;
        let first = slots.first().filter(|slot| slot.ty.is_int());
        Ok(first.map(|slot| slot.bits))
    }

    /// Operand `index`; of wider integers the low `bits` bits, with signs where the instruction reads them.
    pub(super) fn low_bits_of(
        &mut self,
        inst: &Instruction<'a>,
        index: usize,
        bits: u32,
    ) -> Result<Rc<[Value]>, CompileError> {
        let (ty, values) = self.values(inst.id(index)?)?;
        let slots = self.slots(ty)?;
        let is_wider = |slot: &Slot| slot.ty.is_int() && slot.bits > bits;
        let container = container(bits).filter(|_| slots.iter().all(is_wider));
        let Some(ty) = container else {
            return self.operand(inst, index);
        };
        let slots: Vec<Slot> = slots
            .iter()
            .map(|slot| Slot { ty, bits, ..*slot })
            .collect();
        let mut b = self.build();
        let resized = values.iter().map(|&value| b.resize_int(value, ty, false));
        let resized: Values = resized.collect();
        let cut = self.cut(&slots, &resized).unwrap_or(resized);
        Ok(self.with_signs(inst.op, &slots, cut.as_slice().into()))
    }

    /// Values with zeros above the bits that their slots have.
    pub(super) fn cut(&mut self, slots: &[Slot], values: &[Value]) -> Option<Values> {
        if !slots.iter().any(Slot::is_cut) {
            return None;
        }
        let mut b = self.build();
        let pairs = slots.iter().zip(values);
        Some(
            pairs
                .map(|(slot, &value)| cut(&mut b, slot, value))
                .collect(),
        )
    }

    /// The operands of an instruction that reads signs, with them in the highest bits.
    pub(super) fn with_signs(
        &mut self,
        op: Op,
        slots: &[Slot],
        values: Rc<[Value]>,
    ) -> Rc<[Value]> {
        if !reads_signs(op) || !slots.iter().any(Slot::is_cut) {
            return values;
        }
        let mut b = self.build();
        let pairs = slots.iter().zip(values.iter());
        pairs
            .map(|(slot, &value)| {
                let unused = u64::from(slot.ty.bits() - slot.bits);
                let top = b.binary_const(Binary::Shl, value, unused);
                b.binary_const(Binary::AShr, top, unused)
            })
            .collect()
    }
}

fn unsupported(inst: &Instruction<'_>, slot: &Slot) -> CompileError {
    inst.unsupported(format!("integers of {} bits are not supported", slot.bits))
}
