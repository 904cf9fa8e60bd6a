//! Functions: signatures, blocks, block parameters as `OpPhi`, terminators, calls.

use super::Emitter;
use super::assembler::Id;
use super::blocks::emission_order;
use super::fields::{Field, fields};
use crate::compiler::CompileError;
use crate::compiler::ir::{Block, FuncId, Function, Inst, Merge, Op, Terminator, Type, Value};
use rspirv::spirv::{self, LoopControl, SelectionControl};
use std::collections::HashMap;

/// Emits one function under the id that [`Emitter::functions`] has for it.
pub fn emit_function(
    emitter: &mut Emitter,
    id: FuncId,
    is_entry: bool,
) -> Result<(), CompileError> {
    let module = emitter.module;
    let function = module.function(id);
    if is_entry && !(function.params().is_empty() && function.return_types.is_empty()) {
        return Err(CompileError::internal(
            "a kernel with parameters reached code generation",
        ));
    }
    let mut body = FunctionEmitter {
        ids: vec![None; function.value_count()],
        labels: vec![None; function.block_count()],
        pointers: HashMap::new(),
        fields: if emitter.capabilities.extracts_fields {
            fields(function)
        } else {
            HashMap::new()
        },
        function,
        emitter,
    };
    body.emit(id)
}

/// A function being emitted.
pub struct FunctionEmitter<'a, 'e> {
    pub emitter: &'a mut Emitter<'e>,
    pub function: &'e Function,
    /// By value.
    ids: Vec<Option<Id>>,
    /// By block.
    labels: Vec<Option<Id>>,
    /// The pointers made in a block so far, by address (one value, its two halves, or a base and an index) and type: not
    /// every driver sees that two are the same, and straight-line code is a quarter shorter.
    pub pointers: HashMap<(Value, Option<Value>, Id), Id>,
    /// What is a byte or a half of a word.
    pub fields: HashMap<Value, Field>,
}

impl FunctionEmitter<'_, '_> {
    fn emit(&mut self, id: FuncId) -> Result<(), CompileError> {
        let function = self.function;
        let return_type = self.emitter.return_type(&function.return_types)?;
        let mut signature = vec![return_type];
        for &param in function.params() {
            signature.push(self.emitter.ty(function.ty(param))?);
        }
        let function_type = self
            .emitter
            .asm
            .declare_type(spirv::Op::TypeFunction, &signature);
        let function_id = self.emitter.function_id(id)?;
        let asm = &mut self.emitter.asm;
        if !function.name.is_empty() {
            asm.name(function_id, &function.name);
        }
        asm.begin_function(function_id, return_type, function_type);
        for (&param, &ty) in function.params().iter().zip(&signature[1..]) {
            let id = self.value(param)?;
            let asm = &mut self.emitter.asm;
            asm.result_as(id, spirv::Op::FunctionParameter, ty, &[]);
        }

        let order = emission_order(function);
        let mut predecessors = vec![Vec::new(); function.block_count()];
        for &block in &order {
            for edge in function.block(block).terminator.edges() {
                predecessors[edge.block.index()].push((block, edge.args.clone()));
            }
        }
        for &block in &order {
            let label = self.label(block);
            let asm = &mut self.emitter.asm;
            asm.inst(spirv::Op::Label, &[label]);
            if block != function.entry() {
                self.params(block, &predecessors[block.index()])?;
            }
            self.pointers.clear();
            for &inst in &function.block(block).insts {
                self.inst(inst)?;
            }
            self.merge(block);
            self.terminator(block)?;
        }
        self.emitter.asm.inst(spirv::Op::FunctionEnd, &[]);
        Ok(())
    }

    /// The id of a value; constants and undefined values are declared outside the function.
    pub fn value(&mut self, value: Value) -> Result<Id, CompileError> {
        let slot = self.ids.get(value.index()).copied().ok_or_else(|| {
            CompileError::internal(format!("value {value} does not belong to the function"))
        })?;
        if let Some(id) = slot {
            return Ok(id);
        }
        let function = self.function;
        let ty = function.ty(value);
        let id = match function.op_of(value) {
            Some(&Op::Const(bits)) => self.emitter.constant(ty, bits)?,
            Some(Op::Undef) => self.emitter.undef(ty)?,
            Some(&Op::SpecConst { id, default }) if ty == Type::I32 => {
                self.emitter.spec_constant(id, default)
            }
            _ => self.emitter.asm.new_id(),
        };
        self.ids[value.index()] = Some(id);
        Ok(id)
    }

    pub fn values(&mut self, values: &[Value]) -> Result<Vec<Id>, CompileError> {
        values.iter().map(|&value| self.value(value)).collect()
    }

    pub fn ty(&mut self, value: Value) -> Result<Id, CompileError> {
        self.emitter.ty(self.function.ty(value))
    }

    /// Emits an instruction whose result is `value`.
    pub fn define(
        &mut self,
        value: Value,
        op: spirv::Op,
        operands: &[Id],
    ) -> Result<(), CompileError> {
        let ty = self.ty(value)?;
        let id = self.value(value)?;
        self.emitter.asm.result_as(id, op, ty, operands);
        Ok(())
    }

    /// The values take the components of a vector or structure, or are it when there is only one.
    pub fn take_apart(&mut self, values: &[Value], composite: Id) -> Result<(), CompileError> {
        for (index, &value) in values.iter().enumerate() {
            self.define(
                value,
                spirv::Op::CompositeExtract,
                &[composite, index as u32],
            )?;
        }
        Ok(())
    }

    /// What an instruction that cannot be emitted is answered with.
    pub fn unexpected(&self, inst: Inst) -> CompileError {
        let op = &self.function.inst(inst).op;
        CompileError::internal(format!("cannot generate code for the operation '{op}'"))
    }

    fn label(&mut self, block: Block) -> Id {
        let asm = &mut self.emitter.asm;
        *self.labels[block.index()].get_or_insert_with(|| asm.new_id())
    }

    fn params(
        &mut self,
        block: Block,
        predecessors: &[(Block, crate::compiler::ir::Values)],
    ) -> Result<(), CompileError> {
        let function = self.function;
        for (index, &param) in function.block(block).params.iter().enumerate() {
            let mut operands = Vec::with_capacity(predecessors.len() * 2);
            let mut seen: Vec<(Block, Value)> = Vec::new();
            for (predecessor, args) in predecessors {
                let &arg = args.get(index).ok_or_else(|| {
                    CompileError::internal(format!("{predecessor} gives {block} too few arguments"))
                })?;
                if let Some((_, other)) = seen.iter().find(|(block, _)| block == predecessor) {
                    // A phi has one value for each predecessor, not for each edge.
                    if *other != arg {
                        return Err(CompileError::internal(format!(
                            "{predecessor} goes to {block} twice with different arguments"
                        )));
                    }
                    continue;
                }
                seen.push((*predecessor, arg));
                operands.push(self.value(arg)?);
                operands.push(self.label(*predecessor));
            }
            if operands.is_empty() {
                self.define(param, spirv::Op::Undef, &[])?;
            } else {
                self.define(param, spirv::Op::Phi, &operands)?;
            }
        }
        Ok(())
    }

    fn merge(&mut self, block: Block) {
        let data = self.function.block(block);
        match data.merge {
            Some(Merge::Loop { merge, continues }) => {
                let keeps = self.emitter.capabilities.marks_loops || data.keeps_loop;
                let control = if keeps {
                    LoopControl::DONT_UNROLL
                } else {
                    LoopControl::NONE
                };
                let operands = [self.label(merge), self.label(continues), control.bits()];
                self.emitter.asm.inst(spirv::Op::LoopMerge, &operands);
            }
            Some(Merge::Selection { merge })
                if matches!(
                    data.terminator,
                    Terminator::Branch { .. } | Terminator::Switch { .. }
                ) =>
            {
                let control = if data.keeps_selection {
                    SelectionControl::DONT_FLATTEN
                } else {
                    SelectionControl::NONE
                };
                let operands = [self.label(merge), control.bits()];
                self.emitter.asm.inst(spirv::Op::SelectionMerge, &operands);
            }
            Some(Merge::Selection { .. }) | None => {}
        }
    }

    fn terminator(&mut self, block: Block) -> Result<(), CompileError> {
        match &self.function.block(block).terminator {
            Terminator::Jump(edge) => {
                let label = self.label(edge.block);
                self.emitter.asm.inst(spirv::Op::Branch, &[label]);
            }
            Terminator::Branch {
                condition,
                then,
                otherwise,
            } => {
                let operands = [
                    self.value(*condition)?,
                    self.label(then.block),
                    self.label(otherwise.block),
                ];
                self.emitter
                    .asm
                    .inst(spirv::Op::BranchConditional, &operands);
            }
            Terminator::Switch {
                value,
                cases,
                default,
            } => {
                let wide = self.function.ty(*value).bits() == 64;
                let mut operands = vec![self.value(*value)?, self.label(default.block)];
                for (case, edge) in cases {
                    operands.push(*case as u32);
                    if wide {
                        operands.push((*case >> 32) as u32);
                    }
                    operands.push(self.label(edge.block));
                }
                self.emitter.asm.inst(spirv::Op::Switch, &operands);
            }
            Terminator::Return(values) => self.return_values(values)?,
            Terminator::Unreachable => self.emitter.asm.inst(spirv::Op::Unreachable, &[]),
        }
        Ok(())
    }

    fn return_values(&mut self, values: &[Value]) -> Result<(), CompileError> {
        let ids = self.values(values)?;
        match ids.as_slice() {
            [] => self.emitter.asm.inst(spirv::Op::Return, &[]),
            &[one] => self.emitter.asm.inst(spirv::Op::ReturnValue, &[one]),
            all => {
                let function = self.function;
                let ty = self.emitter.return_type(&function.return_types)?;
                let asm = &mut self.emitter.asm;
                let composite = asm.result(spirv::Op::CompositeConstruct, ty, all);
                asm.inst(spirv::Op::ReturnValue, &[composite]);
            }
        }
        Ok(())
    }

    /// A call: several results come back in a structure.
    pub fn call(
        &mut self,
        callee: FuncId,
        args: &[Value],
        results: &[Value],
    ) -> Result<(), CompileError> {
        let mut operands = vec![self.emitter.function_id(callee)?];
        operands.extend(self.values(args)?);
        let types: Vec<Type> = results.iter().map(|&r| self.function.ty(r)).collect();
        let ty = self.emitter.return_type(&types)?;
        if let &[result] = results {
            return self.define(result, spirv::Op::FunctionCall, &operands);
        }
        let composite = self
            .emitter
            .asm
            .result(spirv::Op::FunctionCall, ty, &operands);
        self.take_apart(results, composite)
    }
}

impl Emitter<'_> {
    /// `void`, the one type, or a structure of all.
    fn return_type(&mut self, types: &[Type]) -> Result<Id, CompileError> {
        match types {
            [] => Ok(self.void()),
            &[one] => self.ty(one),
            all => {
                let members = all
                    .iter()
                    .map(|&ty| self.ty(ty))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(self.asm.declare_type(spirv::Op::TypeStruct, &members))
            }
        }
    }
}
