//! Control flow: blocks, branches, calls and returns.

use super::decode::{Id, Instruction};
use super::function_parser::FunctionParser;
use super::narrow_integers::mask;
use super::slot::Layout;
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Access, Edge, Op as IrOp, PrivateVariable, Terminator, Type, Value, Values,
};
use rspirv::spirv::Op;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A block of the source: its instructions after the label, the last being its terminator.
pub(super) struct Body<'b, 'a> {
    pub instructions: &'b [Instruction<'a>],
    order: usize,
}

/// Cuts a function's body at its labels.
pub(super) fn split<'b, 'a>(
    body: &'b [Instruction<'a>],
) -> Result<HashMap<Id, Body<'b, 'a>>, CompileError> {
    let mut blocks = HashMap::new();
    let mut at = 0;
    while let Some(inst) = body.get(at) {
        if inst.op != Op::Label {
            if matches!(inst.op, Op::Line | Op::NoLine | Op::Nop | Op::ExtInst) {
                at += 1;
                continue;
            }
            return Err(inst.invalid("the instruction stands outside a block"));
        }
        let length = body[at..]
            .iter()
            .position(|inst| is_terminator(inst.op))
            .ok_or_else(|| inst.invalid("the block has no end"))?;
        let instructions = &body[at + 1..=at + length];
        if let Some(label) = instructions.iter().find(|inst| inst.op == Op::Label) {
            return Err(label.invalid("the block before has no end"));
        }
        let order = blocks.len();
        let block = Body {
            instructions,
            order,
        };
        if blocks.insert(inst.result()?, block).is_some() {
            return Err(inst.invalid("the id is defined twice"));
        }
        at += length + 1;
    }
    Ok(blocks)
}

fn is_terminator(op: Op) -> bool {
    matches!(
        op,
        Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Unreachable
            | Op::Kill
            | Op::TerminateInvocation
    )
}

/// Labels of the reachable blocks in reverse postorder, the entry first. `selector_bits` tells the width of
/// an integer id: that of a switch's literals.
pub(super) fn reverse_postorder(
    blocks: &HashMap<Id, Body<'_, '_>>,
    selector_bits: impl Fn(Id) -> Option<u32>,
) -> Result<Vec<Id>, CompileError> {
    let entry = blocks
        .iter()
        .find(|(_, block)| block.order == 0)
        .map(|(label, _)| *label)
        .ok_or_else(|| CompileError::invalid("the function has no blocks"))?;
    let mut order = Vec::with_capacity(blocks.len());
    let mut seen = HashSet::from([entry]);
    let first = successors(blocks, entry, &selector_bits)?;
    let mut stack = vec![(entry, first.into_iter())];
    while let Some((label, rest)) = stack.last_mut() {
        match rest.next() {
            Some(next) if next == entry => {
                return Err(CompileError::invalid(
                    "a branch goes to the function's first block",
                ));
            }
            Some(next) => {
                if seen.insert(next) {
                    let successors = successors(blocks, next, &selector_bits)?;
                    stack.push((next, successors.into_iter()));
                }
            }
            None => {
                order.push(*label);
                stack.pop();
            }
        }
    }
    order.reverse();
    Ok(order)
}

fn successors(
    blocks: &HashMap<Id, Body<'_, '_>>,
    label: Id,
    selector_bits: impl Fn(Id) -> Option<u32>,
) -> Result<Vec<Id>, CompileError> {
    let no_block = |id: Id| CompileError::invalid(format!("{id} is not a block"));
    let block = blocks.get(&label).ok_or_else(|| no_block(label))?;
    let Some(inst) = block.instructions.last() else {
        return Ok(Vec::new());
    };
    let targets = match inst.op {
        Op::Branch => vec![inst.id(0)?],
        Op::BranchConditional => vec![inst.id(1)?, inst.id(2)?],
        Op::Switch => {
            let bits = selector_bits(inst.id(0)?)
                .ok_or_else(|| inst.invalid("the selector is not an integer"))?;
            let step = literal_words(bits) + 1;
            let labels = inst.ids_from(2).skip(step - 1).step_by(step);
            std::iter::once(inst.id(1)?).chain(labels).collect()
        }
        _ => Vec::new(),
    };
    if let Some(&bad) = targets.iter().find(|target| !blocks.contains_key(target)) {
        return Err(inst.invalid(format!("{bad} is not a block of the function")));
    }
    Ok(targets)
}

/// Words of a switch's literal for a selector of `bits` bits.
fn literal_words(bits: u32) -> usize {
    if bits == 64 { 2 } else { 1 }
}

impl<'a> FunctionParser<'_, 'a> {
    /// What the function returns of integers of another type: clang 22 does not narrow a number of 32 bits that it makes of a
    /// condition and returns from a function of fewer, where it does not optimize.
    fn returned(
        &mut self,
        inst: &Instruction<'a>,
        values: Rc<[Value]>,
    ) -> Result<Rc<[Value]>, CompileError> {
        let other = || inst.invalid("the value has another type than the function returns");
        let slots = self.slots(self.result)?;
        let to = self.source.types.scalar(self.result).map_err(|_| other())?;
        let is_narrowed = values.iter().all(|&value| self.ty(value) != to);
        let values = self.narrowed(to, values);
        let is_right = values.iter().all(|&value| self.ty(value) == to)
            && slots.iter().all(|slot| !slot.is_cut());
        if values.len() == slots.len() && is_narrowed && is_right {
            Ok(values)
        } else {
            Err(other())
        }
    }

    /// Translates terminators and calls; false if the instruction is neither.
    pub(super) fn control(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        let terminator = match inst.op {
            Op::Branch => Terminator::Jump(self.edge(inst, 0)?),
            Op::BranchConditional => {
                let condition = self.scalar(inst, 0)?;
                if self.ty(condition) != Type::Bool {
                    return Err(inst.invalid("the condition is not a boolean"));
                }
                Terminator::Branch {
                    condition,
                    then: self.edge(inst, 1)?,
                    otherwise: self.edge(inst, 2)?,
                }
            }
            Op::Switch => self.switch(inst)?,
            Op::Return => {
                if self.source.types.is_void(self.result) {
                    Terminator::Return(Values::new())
                } else {
                    return Err(inst.invalid("the function returns a value"));
                }
            }
            Op::ReturnValue => {
                let (ty, values) = self.values(inst.id(0)?)?;
                let values = if self.source.types.interchangeable(ty, self.result) {
                    values
                } else {
                    self.returned(inst, values)?
                };
                Terminator::Return(values.iter().copied().collect())
            }
            Op::Unreachable => Terminator::Unreachable,
            Op::FunctionCall => {
                self.call(inst)?;
                return Ok(true);
            }
            _ => return Ok(false),
        };
        self.build().terminate(terminator);
        Ok(true)
    }

    /// The edge to a label; its arguments are filled in at the end.
    fn edge(&self, inst: &Instruction<'a>, index: usize) -> Result<Edge, CompileError> {
        let label = inst.id(index)?;
        match self.labels.get(&label) {
            Some(&block) => Ok(block.into()),
            None => Err(inst.invalid(format!("{label} is not a block of the function"))),
        }
    }

    fn switch(&mut self, inst: &Instruction<'a>) -> Result<Terminator, CompileError> {
        let value = self.integer(inst, 0)?;
        let literal_words = literal_words(self.ty(value).bits());
        // Literals have the selector's sign in the bits above its own.
        let mask = self.width(inst, 0)?.map_or(u64::MAX, mask);
        let default = self.edge(inst, 1)?;
        let mut cases: Vec<(u64, Edge)> = Vec::new();
        let mut seen = HashSet::new();
        let mut at = 2;
        while at < inst.operands.len() {
            let mut literal = u64::from(inst.word(at)?);
            if literal_words == 2 {
                literal |= u64::from(inst.word(at + 1)?) << 32;
            }
            let literal = literal & mask;
            if !seen.insert(literal) {
                return Err(inst.invalid(format!("case {literal} stands twice")));
            }
            cases.push((literal, self.edge(inst, at + literal_words)?));
            at += literal_words + 1;
        }
        Ok(if cases.is_empty() {
            Terminator::Jump(default)
        } else {
            Terminator::Switch {
                value,
                cases,
                default,
            }
        })
    }

    fn call(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        let callee_id = inst.id(0)?;
        let source = self.source;
        let callee = source
            .functions
            .get(&callee_id)
            .ok_or_else(|| inst.invalid(format!("{callee_id} is not a function")))?;
        if inst.operands.len() - 1 != callee.parameters.len() {
            return Err(inst.invalid("the number of arguments is not that of the parameters"));
        }
        if inst.result_type()? != callee.result {
            return Err(inst.invalid("the result is not that of the function"));
        }
        let mut arguments = Vec::with_capacity(callee.parameters.len());
        for (parameter, argument) in callee.parameters.iter().zip(inst.ids_from(1)) {
            let (ty, values) = self.values(argument)?;
            if !self.source.types.interchangeable(ty, parameter.ty) {
                return Err(inst.invalid(format!("{argument} has another type than the parameter")));
            }
            self.spend(values.len())?;
            arguments.push(values);
        }
        if let Some(name) = &callee.import
            && (self.named_builtin(inst, name, &arguments)? || self.image_builtin(inst, name)?)
        {
            return Ok(());
        }
        let mut args = Values::new();
        for (parameter, values) in callee.parameters.iter().zip(arguments) {
            match (parameter.by_value, &*values) {
                (Some(layout), &[original]) => args.push(self.copy_by_value(original, layout)),
                _ => args.extend_from_slice(&values),
            }
        }
        let results = source.module.function(callee.id).return_types.clone();
        let results = self.build().op(IrOp::Call(callee.id, args), results);
        if source.types.is_void(callee.result) {
            return Ok(());
        }
        self.define(inst, &results)
    }

    /// A copy of a structure for a callee, which owns what it gets: it may write there.
    fn copy_by_value(&mut self, original: Value, layout: Layout) -> Value {
        let variable = self.function.add_variable(PrivateVariable {
            name: "by_value".to_owned(),
            size_bytes: layout.size_bytes,
            align_bytes: layout.align_bytes,
        });
        let access = Access::aligned(layout.align_bytes);
        let ty = self.ty(original);
        let mut b = self.build();
        let copy = b.op1(IrOp::VariableAddress(variable), ty);
        let size_bytes = b.i64(layout.size_bytes);
        b.op0(IrOp::Copy {
            to: copy,
            from: original,
            size_bytes,
            to_access: access,
            from_access: access,
        });
        copy
    }
}
