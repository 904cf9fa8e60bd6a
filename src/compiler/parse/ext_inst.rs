//! `OpExtInst`: functions of `OpenCL.std`, split into components.

use super::ExtendedSet;
use super::decode::Instruction;
use super::ext_inst_types;
use super::function_parser::FunctionParser;
use crate::compiler::CompileError;
use crate::compiler::ir::{Binary, Op as IrOp, OpenClStd, Type, Value, Values};
use rspirv::spirv::{Op, OpenclStd100Op as ClStd};
use std::rc::Rc;

/// Operands of `OpExtInst` after the set and the number.
pub(super) const FIRST_ARGUMENT: usize = 2;

impl<'a> FunctionParser<'_, 'a> {
    /// Translates extended instructions; false if the instruction is another.
    pub(super) fn extended(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        if inst.op != Op::ExtInst {
            return Ok(false);
        }
        let set = inst.id(0)?;
        match self.source.extended_sets.get(&set) {
            Some(ExtendedSet::NonSemantic) => return Ok(true),
            Some(ExtendedSet::OpenClStd) => {}
            None => return Err(inst.invalid(format!("{set} is not an instruction set"))),
        }
        let number = inst.word(1)?;
        let function = ClStd::from_u32(number)
            .ok_or_else(|| inst.invalid(format!("OpenCL.std has no instruction {number}")))?;
        self.opencl_std(inst, function)
            .map_err(|error| inst.locate_extended(error, &format!("{function:?}")))?;
        Ok(true)
    }

    fn opencl_std(&mut self, inst: &Instruction<'a>, function: ClStd) -> Result<(), CompileError> {
        use ClStd::{
            cross, distance, fast_distance, fast_length, fast_normalize, length, normalize,
            prefetch, printf, shuffle, shuffle2,
        };
        match function {
            prefetch => Ok(()),
            printf => self.printf(inst),
            shuffle => {
                let from = self.operand(inst, FIRST_ARGUMENT)?;
                self.shuffle(inst, &from, FIRST_ARGUMENT + 1)
            }
            shuffle2 => {
                let first = self.operand(inst, FIRST_ARGUMENT)?;
                let second = self.operand(inst, FIRST_ARGUMENT + 1)?;
                if first.len() != second.len() {
                    return Err(inst.invalid("the vectors' types differ"));
                }
                let from: Values = first.iter().chain(&*second).copied().collect();
                self.shuffle(inst, &from, FIRST_ARGUMENT + 2)
            }
            cross | distance | length | normalize | fast_distance | fast_length
            | fast_normalize => self.geometric(inst, function),
            _ => {
                if self.vector_memory(inst, function)? {
                    Ok(())
                } else {
                    self.component_wise(inst, function)
                }
            }
        }
    }

    fn arguments(&mut self, inst: &Instruction<'a>) -> Result<Vec<Rc<[Value]>>, CompileError> {
        (FIRST_ARGUMENT..inst.operands.len())
            .map(|index| self.operand(inst, index))
            .collect()
    }

    /// Functions of whole vectors: all components in one instruction.
    fn geometric(&mut self, inst: &Instruction<'a>, function: ClStd) -> Result<(), CompileError> {
        let arguments = self.arguments(inst)?;
        let slots = self.result_slots(inst)?;
        let flat: Values = arguments
            .iter()
            .flat_map(|list| list.iter())
            .copied()
            .collect();
        let types: Vec<Type> = slots.iter().map(|slot| slot.ty).collect();
        let lists: Vec<usize> = arguments.iter().map(|list| list.len()).collect();
        let has_types = flat
            .iter()
            .all(|&value| Some(&self.ty(value)) == types.first());
        if !has_types || !ext_inst_types::fits_vectors(function, &lists, &types) {
            return Err(inst.invalid("the function does not take operands of these types"));
        }
        let number = OpenClStd(function as u32);
        let results = self.build().op(IrOp::OpenClStd(number, flat), types);
        self.define(inst, &results)
    }

    /// Whether a component-wise function has operands of the right types.
    fn function_takes(
        &self,
        function: ClStd,
        arguments: &[Rc<[Value]>],
        result: Option<Type>,
    ) -> bool {
        let types: Vec<Type> = arguments
            .iter()
            .filter_map(|argument| argument.first())
            .map(|&value| self.ty(value))
            .collect();
        result.is_some_and(|result| ext_inst_types::fits(function, &types, result))
    }

    /// Functions of each component for itself. A pointer operand (`sincos`, `modf`…) points to a vector with
    /// one element for each, whatever its type says: clang passes a pointer to a whole array or structure
    /// for one to its first element.
    fn component_wise(
        &mut self,
        inst: &Instruction<'a>,
        function: ClStd,
    ) -> Result<(), CompileError> {
        let mut arguments = self.arguments(inst)?;
        let slots = self.result_slots(inst)?;
        let result = slots.first().map(|slot| slot.ty);
        if !self.function_takes(function, &arguments, result) {
            // clang-22 forgets to narrow a number that it selects: `mad_hi` of a `short` that is 0 or 1.
            arguments = arguments
                .into_iter()
                .map(|argument| self.low_bits(inst, argument))
                .collect::<Result<_, _>>()?;
        }
        if !self.function_takes(function, &arguments, result) {
            return Err(inst.invalid("the function does not take operands of these types"));
        }
        if function == ClStd::select && slots.len() > 1 {
            self.select_by_highest_bit(inst, &mut arguments)?;
        }
        let mut strides = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            let is_pointer = argument
                .first()
                .is_some_and(|&value| self.ty(value).is_pointer());
            strides.push(is_pointer.then(|| match (function, slots.first()) {
                (ClStd::frexp | ClStd::remquo | ClStd::lgamma_r, _) | (_, None) => 4,
                (_, Some(slot)) => slot.ty.size_bytes(),
            }));
            let lanes = argument.len();
            if strides[index].is_none() && lanes != slots.len() && lanes != 1 {
                return Err(inst.invalid("the operands' numbers of components differ"));
            }
        }
        self.each(inst, slots.len(), |b, lane| {
            let operands = arguments
                .iter()
                .zip(&strides)
                .map(|(argument, stride)| match stride {
                    Some(bytes) => b.ptr_add_const(argument[0], i64::from(*bytes) * lane as i64),
                    None if argument.len() == 1 => argument[0],
                    None => argument[lane],
                })
                .collect();
            b.op1(
                IrOp::OpenClStd(OpenClStd(function as u32), operands),
                slots[lane].ty,
            )
        })
    }

    /// `select` on vectors looks at the highest bit of the condition, on scalars at all of it (OpenCL C
    /// section 6.15.6): afterwards the condition is the latter.
    fn select_by_highest_bit(
        &mut self,
        inst: &Instruction<'a>,
        arguments: &mut [Rc<[Value]>],
    ) -> Result<(), CompileError> {
        let [_, _, condition] = arguments else {
            return Err(inst.invalid("the number of operands is not three"));
        };
        if !condition.iter().all(|&value| self.ty(value).is_int()) {
            return Err(inst.invalid("the condition is not of integers"));
        }
        let mut b = self.build();
        *condition = condition
            .iter()
            .map(|&value| {
                let highest = u64::from(b.ty(value).bits()) - 1;
                b.binary_const(Binary::LShr, value, highest)
            })
            .collect();
        Ok(())
    }

    fn printf(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let (format, _) = self.pointer(inst, FIRST_ARGUMENT)?;
        let mut arguments = Values::new();
        let mut lanes = Vec::new();
        for list in self.arguments(inst)?.iter().skip(1) {
            lanes.push(
                list.len()
                    .try_into()
                    .map_err(|_| inst.invalid("an argument is neither a scalar nor a vector"))?,
            );
            arguments.extend_from_slice(list);
        }
        let op = IrOp::Printf {
            format,
            arguments,
            lanes,
        };
        let result = self.build().op1(op, Type::I32);
        self.define(inst, &[result])
    }
}
