//! What the translation of a function's instructions needs: the values that ids stand for, and where instructions go.

use super::Source;
use super::constants::Scalar;
use super::decode::{Id, Instruction};
use super::input_pointer::InputPointer;
use super::slot::Slot;
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Block, Builder, Convert, Function, Inst, InstFlags, Op as IrOp, Type, Value,
};
use std::collections::HashMap;
use std::rc::Rc;

/// What an id of the function stands for.
#[derive(Clone)]
pub(super) enum Local {
    Values(Rc<[Value]>),
    /// A pointer to a built-in input.
    Input(InputPointer),
}

/// State of a function's translation.
pub(super) struct FunctionParser<'s, 'a> {
    pub source: &'s Source<'a>,
    pub function: Function,
    /// Instructions go to the end of this block.
    pub block: Block,
    pub flags: InstFlags,
    pub locals: HashMap<Id, (Id, Local)>,
    /// Reachable blocks by label.
    pub labels: HashMap<Id, Block>,
    /// Constants and addresses: they go before everything else.
    pub prologue: Vec<Inst>,
    /// The type that the function returns.
    pub result: Id,
    /// Size of the function's variables so far.
    pub private_bytes: u64,
    /// The stated alignment, in bytes, of parameters that are pointers.
    pub parameter_alignment: HashMap<Value, u32>,
}

impl<'a> FunctionParser<'_, 'a> {
    /// The end of the current block.
    pub fn build(&mut self) -> Builder<'_> {
        let mut builder = Builder::new(&mut self.function, self.block);
        builder.flags = self.flags;
        builder
    }

    /// Goes on in a new block, reached from wherever the caller makes it reached from.
    pub fn new_block(&mut self) -> Block {
        self.function.add_block()
    }

    /// The scalars of a value of a type.
    pub fn slots(&self, ty: Id) -> Result<Rc<[Slot]>, CompileError> {
        self.source.types.slots(ty).cloned()
    }

    /// The scalars of the instruction's result.
    pub fn result_slots(&self, inst: &Instruction<'a>) -> Result<Rc<[Slot]>, CompileError> {
        self.slots(inst.result_type()?)
    }

    /// Counts scalars made, so that a small module can't ask for any amount of them.
    pub fn spend(&self, scalars: usize) -> Result<(), CompileError> {
        const MAX_SCALARS: usize = 1 << 23;
        let total = self.source.scalars.get() + scalars;
        self.source.scalars.set(total);
        if total > MAX_SCALARS {
            return Err(CompileError::unsupported("the module is too large"));
        }
        Ok(())
    }

    /// Makes `values` the instruction's result, if they are what its type wants.
    pub fn define(&mut self, inst: &Instruction<'a>, values: &[Value]) -> Result<(), CompileError> {
        let ty = inst.result_type()?;
        let slots = self.slots(ty)?;
        let fits = slots.len() == values.len()
            && slots
                .iter()
                .zip(values)
                .all(|(slot, &value)| slot.ty == self.function.ty(value));
        if !fits {
            return Err(inst.invalid("the operands do not match the result's type"));
        }
        self.spend(values.len())?;
        let cut = self.cut(&slots, values);
        let values = cut.as_deref().unwrap_or(values);
        self.define_local(inst, ty, Local::Values(values.into()))
    }

    pub fn define_local(
        &mut self,
        inst: &Instruction<'a>,
        ty: Id,
        local: Local,
    ) -> Result<(), CompileError> {
        let id = inst.result()?;
        let elsewhere = self.source.constants.get(id).is_some();
        if elsewhere || self.locals.insert(id, (ty, local)).is_some() {
            return Err(inst.invalid(format!("{id} is defined twice")));
        }
        Ok(())
    }

    /// The type of an id, and what it stands for.
    pub fn local(&mut self, id: Id) -> Result<(Id, Local), CompileError> {
        if let Some(local) = self.locals.get(&id) {
            return Ok(local.clone());
        }
        if let Some(constant) = self.source.constants.get(id) {
            let local = (constant.ty, Local::Values(self.constant(id, constant.ty)?));
            self.locals.insert(id, local.clone());
            return Ok(local);
        }
        if let Some(variable) = self.source.variables.get(&id) {
            return Ok((variable.ty, Local::Input(InputPointer::new(variable))));
        }
        Err(CompileError::invalid(format!(
            "{id} is not a value, or not defined on every way here"
        )))
    }

    /// The type and scalars of an id.
    pub fn values(&mut self, id: Id) -> Result<(Id, Rc<[Value]>), CompileError> {
        match self.local(id)? {
            (ty, Local::Values(values)) => Ok((ty, values)),
            (_, Local::Input(_)) => Err(CompileError::invalid(
                "a pointer to a built-in input is used otherwise than for loading",
            )),
        }
    }

    /// The scalars of operand `index`, with signs where the instruction reads them.
    pub fn operand(
        &mut self,
        inst: &Instruction<'a>,
        index: usize,
    ) -> Result<Rc<[Value]>, CompileError> {
        let (ty, values) = self.values(inst.id(index)?)?;
        if !self.source.types.has_other_widths() {
            return Ok(values);
        }
        let slots = self.slots(ty)?;
        Ok(self.with_signs(inst.op, &slots, values))
    }

    /// The only scalar of operand `index`.
    pub fn scalar(&mut self, inst: &Instruction<'a>, index: usize) -> Result<Value, CompileError> {
        match *self.operand(inst, index)? {
            [value] => Ok(value),
            _ => Err(inst.invalid(format!("operand {} is not a scalar", index + 1))),
        }
    }

    /// The value of operand `index`, which must be an integer.
    pub fn integer(&mut self, inst: &Instruction<'a>, index: usize) -> Result<Value, CompileError> {
        let value = self.scalar(inst, index)?;
        if self.function.ty(value).is_int() {
            Ok(value)
        } else {
            Err(inst.invalid(format!("operand {} is not an integer", index + 1)))
        }
    }

    /// The value of a constant integer operand: scopes, memory semantics.
    pub fn constant_integer(
        &self,
        inst: &Instruction<'a>,
        index: usize,
    ) -> Result<u64, CompileError> {
        self.source
            .constants
            .integer(inst.id(index)?)
            .ok_or_else(|| inst.invalid(format!("operand {} is not a constant", index + 1)))
    }

    pub fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// A module-scope constant's scalars, built once for the function.
    fn constant(&mut self, id: Id, ty: Id) -> Result<Rc<[Value]>, CompileError> {
        let slots = self.slots(ty)?;
        self.spend(slots.len())?;
        let scalars = self.source.constants.flatten(id, &self.source.types)?;
        if scalars.len() != slots.len() {
            return Err(CompileError::invalid(format!(
                "the constant {id} does not match its type"
            )));
        }
        slots
            .iter()
            .zip(scalars)
            .map(|(slot, scalar)| self.constant_scalar(slot.ty, scalar))
            .collect()
    }

    fn constant_scalar(&mut self, ty: Type, scalar: Scalar) -> Result<Value, CompileError> {
        Ok(match scalar {
            Scalar::Undef => self.early(IrOp::Undef, ty),
            Scalar::Bits(bits) => self.early(IrOp::Const(bits & ty.mask()), ty),
            Scalar::Address { global, addend } => {
                let space = self.source.module.global(global).space;
                let own = Type::Ptr(space);
                let mut value = self.early(IrOp::GlobalAddress(global), own);
                if addend != 0 {
                    let offset = self.early(IrOp::Const(addend as u64), Type::I64);
                    value = self.early(IrOp::PtrAdd(value, offset), own);
                }
                match ty {
                    _ if ty == own => value,
                    Type::Ptr(_) => self.early(IrOp::Convert(Convert::AddressSpaceCast, value), ty),
                    Type::I64 => self.early(IrOp::Convert(Convert::PtrToInt, value), ty),
                    _ if ty.is_int() => {
                        let whole = self.early(IrOp::Convert(Convert::PtrToInt, value), Type::I64);
                        self.early(IrOp::Convert(Convert::Truncate, whole), ty)
                    }
                    _ => return Err(CompileError::invalid("an address is no value of this type")),
                }
            }
        })
    }

    /// An instruction of the function's prologue.
    fn early(&mut self, op: IrOp, ty: Type) -> Value {
        let inst = self.function.make_inst(op, [ty], InstFlags::default());
        self.prologue.push(inst);
        self.function.inst(inst).results[0]
    }
}
