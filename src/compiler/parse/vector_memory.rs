//! `vloadn`, `vstoren` and the loads and stores of half: memory accesses aligned to an element only.

use super::decode::Instruction;
use super::ext_inst::FIRST_ARGUMENT;
use super::function_parser::FunctionParser;
use super::slot::Slot;
use crate::compiler::CompileError;
use crate::compiler::ir::{Access, AddressSpace, Binary, Convert, Rounding, Type, Value, Values};
use rspirv::spirv::{FPRoundingMode, OpenclStd100Op as ClStd};

/// One of these functions.
#[derive(Clone, Copy)]
struct Function {
    store: bool,
    half: bool,
    /// `vloada_half`, `vstorea_half`: aligned to the vector, three components take the place of four.
    aligned: bool,
    /// The rounding mode is the last operand.
    rounding: bool,
}

impl<'a> FunctionParser<'_, 'a> {
    /// Expands vector loads and stores; false if the function is another.
    pub(super) fn vector_memory(
        &mut self,
        inst: &Instruction<'a>,
        function: ClStd,
    ) -> Result<bool, CompileError> {
        let Some(function) = map_function(function) else {
            return Ok(false);
        };
        if function.store {
            self.vector_store(inst, function)?
        } else {
            self.vector_load(inst, function)?
        }
        Ok(true)
    }

    /// Operands: offset, pointer, and for `vloadn` the number of components.
    fn vector_load(
        &mut self,
        inst: &Instruction<'a>,
        function: Function,
    ) -> Result<(), CompileError> {
        let slots = self.result_slots(inst)?;
        let to = self.source.types.scalar(inst.result_type()?)?;
        let element = if function.half { Type::F16 } else { to };
        let (pointer, access) =
            self.vector_place(inst, FIRST_ARGUMENT, element, slots.len(), function)?;
        let loaded = self.load_slots(pointer, &consecutive(element, slots.len()), access)?;
        self.each(inst, slots.len(), |b, lane| {
            if b.ty(loaded[lane]) == to {
                loaded[lane]
            } else {
                b.convert(Convert::FloatToFloat(None), loaded[lane], to)
            }
        })
    }

    /// Operands: data, offset, pointer, and for some the rounding mode.
    fn vector_store(
        &mut self,
        inst: &Instruction<'a>,
        function: Function,
    ) -> Result<(), CompileError> {
        let data = self.operand(inst, FIRST_ARGUMENT)?;
        let Some(&first) = data.first() else {
            return Err(inst.invalid("the data is empty"));
        };
        let from = self.ty(first);
        if function.half && !from.is_float() {
            return Err(inst.invalid("the data is not of floats"));
        }
        let element = if function.half { Type::F16 } else { from };
        let rounding = if function.rounding {
            match FPRoundingMode::from_u32(inst.word(FIRST_ARGUMENT + 3)?) {
                Some(mode) => super::conversions::map_rounding(mode),
                None => return Err(inst.invalid("the rounding mode is unknown")),
            }
        } else {
            Rounding::Rte
        };
        let (pointer, access) =
            self.vector_place(inst, FIRST_ARGUMENT + 1, element, data.len(), function)?;
        let mut b = self.build();
        let values: Values = data
            .iter()
            .map(|&value| {
                if from == element {
                    value
                } else {
                    b.convert(Convert::FloatToFloat(Some(rounding)), value, element)
                }
            })
            .collect();
        self.store_slots(pointer, &consecutive(element, data.len()), &values, access)
    }

    /// Where the vector number (operand `index`) lies behind the pointer (the operand after).
    fn vector_place(
        &mut self,
        inst: &Instruction<'a>,
        index: usize,
        element: Type,
        lanes: usize,
        function: Function,
    ) -> Result<(Value, Access), CompileError> {
        let number = self.integer(inst, index)?;
        // What the pointer is said to point to does not matter: clang passes a pointer to a whole array or
        // structure for one to its first element.
        let (pointer, _) = self.pointer(inst, index + 1)?;
        let size = element.size_bytes();
        let padded = if function.aligned {
            lanes.next_power_of_two()
        } else {
            lanes
        } as u32;
        let access = Access {
            align_bytes: if function.aligned {
                size * padded
            } else {
                size
            },
            volatile: false,
            read_only: self.ty(pointer) == Type::Ptr(AddressSpace::Constant),
        };
        let small = matches!(
            self.ty(pointer),
            Type::Ptr(AddressSpace::Local | AddressSpace::Private)
        );
        let offset_type = if small { Type::I32 } else { Type::I64 };
        let mut b = self.build();
        let pointer = match b.function.constant(number) {
            Some(0) => pointer,
            _ => {
                let number = b.resize_int(number, offset_type, false);
                let bytes = b.binary_const(Binary::Mul, number, (size * padded).into());
                b.ptr_add(pointer, bytes)
            }
        };
        Ok((pointer, access))
    }
}

fn consecutive(ty: Type, count: usize) -> Vec<Slot> {
    (0..count as u64)
        .map(|index| Slot::new(ty, index * u64::from(ty.size_bytes())))
        .collect()
}

fn map_function(function: ClStd) -> Option<Function> {
    let new = |store, half, aligned, rounding| {
        Some(Function {
            store,
            half,
            aligned,
            rounding,
        })
    };
    match function {
        ClStd::vloadn => new(false, false, false, false),
        ClStd::vload_half | ClStd::vload_halfn => new(false, true, false, false),
        ClStd::vloada_halfn => new(false, true, true, false),
        ClStd::vstoren => new(true, false, false, false),
        ClStd::vstore_half | ClStd::vstore_halfn => new(true, true, false, false),
        ClStd::vstore_half_r | ClStd::vstore_halfn_r => new(true, true, false, true),
        ClStd::vstorea_halfn => new(true, true, true, false),
        ClStd::vstorea_halfn_r => new(true, true, true, true),
        _ => None,
    }
}
