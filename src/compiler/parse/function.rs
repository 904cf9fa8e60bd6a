//! A function's body: blocks, phis, and the values that ids stand for.
//!
//! Blocks are translated in reverse postorder, so that an id is known before it is used, whatever order the
//! module has; unreachable blocks are left out. A phi becomes block parameters, its operands are attached to
//! the edges when all blocks are done.

use super::Source;
use super::control;
use super::decode::{Id, Instruction};
use super::function_parser::{FunctionParser, Local};
use crate::compiler::CompileError;
use crate::compiler::analysis::Dominators;
use crate::compiler::ir::{Block, Function, InstFlags, Value, Values};
use rspirv::spirv::{Decoration, FPFastMathMode, Op};
use std::collections::HashMap;
use std::rc::Rc;

/// A basic block of the source.
struct SourceBlock<'b, 'a> {
    phis: Vec<&'b Instruction<'a>>,
    instructions: &'b [Instruction<'a>],
    block: Block,
    /// Where the translation of the block ended: expansions may have split it.
    end: Block,
}

/// Translates the body of the function `id`; `function` has its parameters already.
pub(super) fn parse<'a>(
    source: &Source<'a>,
    id: Id,
    function: Function,
    body: &[Instruction<'a>],
) -> Result<Function, CompileError> {
    let missing = || CompileError::invalid("the function has no blocks");
    let declared = source.functions.get(&id).ok_or_else(missing)?;
    let mut parser = FunctionParser {
        source,
        block: function.entry(),
        function,
        flags: InstFlags::default(),
        locals: HashMap::new(),
        labels: HashMap::new(),
        prologue: Vec::new(),
        result: declared.result,
        private_bytes: 0,
        parameter_alignment: HashMap::new(),
    };
    let mut params = parser.function.params().to_vec().into_iter();
    for parameter in &declared.parameters {
        let count = source.types.slots(parameter.ty)?.len();
        let values: Rc<[Value]> = params.by_ref().take(count).collect();
        if let (&[value], Some(align)) = (&*values, source.alignment(parameter.id)) {
            parser.parameter_alignment.insert(value, align);
        }
        let local = (parameter.ty, Local::Values(values));
        if parser.locals.insert(parameter.id, local).is_some() {
            return Err(CompileError::invalid("a parameter's id is defined twice"));
        }
    }

    let blocks = control::split(body)?;
    let order = control::reverse_postorder(&blocks, |id| {
        let constant = source.constants.get(id).map(|constant| constant.ty);
        let local = parser.locals.get(&id).map(|(ty, _)| *ty);
        let ty = constant.or(local).or_else(|| {
            let definition = body.iter().find(|inst| inst.result_if_any() == Some(id))?;
            definition.result_type().ok()
        })?;
        let ty = source.types.scalar(ty).ok()?;
        ty.is_int().then_some(ty.bits())
    })?;
    let mut source_blocks: Vec<(Id, SourceBlock<'_, 'a>)> = Vec::with_capacity(order.len());
    for (index, label) in order.iter().enumerate() {
        let instructions = blocks.get(label).ok_or_else(missing)?.instructions;
        let block = match index {
            0 => parser.function.entry(),
            _ => parser.function.add_block(),
        };
        parser.labels.insert(*label, block);
        let phis: Vec<_> = instructions
            .iter()
            .filter(|inst| inst.op == Op::Phi)
            .collect();
        for phi in &phis {
            if index == 0 {
                return Err(phi.invalid("the first block of a function has no predecessors"));
            }
            parser.phi(phi, block).map_err(|error| phi.locate(error))?;
        }
        source_blocks.push((
            *label,
            SourceBlock {
                phis,
                instructions,
                block,
                end: block,
            },
        ));
    }

    for (_, source_block) in &mut source_blocks {
        parser.block = source_block.block;
        for inst in source_block.instructions {
            parser
                .instruction(inst)
                .map_err(|error| inst.locate(error))?;
        }
        source_block.end = parser.block;
    }
    parser.fill_edges(&source_blocks)?;

    let FunctionParser {
        mut function,
        prologue,
        ..
    } = parser;
    let entry = function.entry();
    function.block_mut(entry).insts.splice(0..0, prologue);
    check_dominance(&function)?;
    Ok(function)
}

impl<'a> FunctionParser<'_, 'a> {
    fn phi(&mut self, inst: &Instruction<'a>, block: Block) -> Result<(), CompileError> {
        let slots = self.slots(inst.result_type()?)?;
        let params: Values = slots
            .iter()
            .map(|slot| self.function.add_param(block, slot.ty))
            .collect();
        let ty = inst.result_type()?;
        self.spend(params.len())?;
        self.define_local(inst, ty, Local::Values(params.as_slice().into()))
    }

    /// Gives every edge the values of its target's phis.
    fn fill_edges(&mut self, blocks: &[(Id, SourceBlock<'_, 'a>)]) -> Result<(), CompileError> {
        let by_block: HashMap<Block, &SourceBlock<'_, 'a>> = blocks
            .iter()
            .map(|(_, source_block)| (source_block.block, source_block))
            .collect();
        // For each phi the operand for each predecessor.
        let mut incoming: HashMap<(Id, Id), Id> = HashMap::new();
        for (_, source_block) in blocks {
            for phi in &source_block.phis {
                for pair in phi.operands.chunks_exact(2) {
                    incoming.insert((phi.result()?, Id(pair[1])), Id(pair[0]));
                }
            }
        }
        for (label, source_block) in blocks {
            let mut terminator = self.function.block(source_block.end).terminator.clone();
            for edge in terminator.edges_mut() {
                let Some(target) = by_block.get(&edge.block) else {
                    continue;
                };
                for phi in &target.phis {
                    let value = incoming.get(&(phi.result()?, *label)).ok_or_else(|| {
                        phi.invalid(format!("there is no value for the predecessor {label}"))
                    })?;
                    let (ty, mut values) =
                        self.values(*value).map_err(|error| phi.locate(error))?;
                    if !self.source.types.interchangeable(ty, phi.result_type()?) {
                        self.block = source_block.end;
                        // As for other operations of clang-22.
                        let narrowed = self.low_bits(phi, Rc::clone(&values))?;
                        let (_, params) = self.values(phi.result()?)?;
                        if Rc::ptr_eq(&narrowed, &values) || narrowed.len() != params.len() {
                            return Err(phi.invalid(format!("{value} has another type")));
                        }
                        let slots = self.slots(phi.result_type()?)?;
                        values = match self.cut(&slots, &narrowed) {
                            Some(cut) => cut.as_slice().into(),
                            None => narrowed,
                        };
                    }
                    self.spend(values.len())?;
                    edge.args.extend_from_slice(&values);
                }
            }
            self.function.block_mut(source_block.end).terminator = terminator;
        }
        Ok(())
    }

    fn instruction(&mut self, inst: &Instruction<'a>) -> Result<(), CompileError> {
        self.flags = self.flags_of(inst);
        self.check_widths(inst)?;
        match inst.op {
            Op::Phi
            | Op::Label
            | Op::Line
            | Op::NoLine
            | Op::Nop
            | Op::LoopMerge
            | Op::SelectionMerge
            | Op::LoopControlINTEL
            | Op::LifetimeStop
            | Op::AssumeTrueKHR => Ok(()),
            Op::ExpectKHR => self.copy_object(inst),
            Op::LifetimeStart => self.start_of_lifetime(inst),
            _ => {
                if self.control(inst)?
                    || self.memory(inst)?
                    || self.pointer_instruction(inst)?
                    || self.arithmetic(inst)?
                    || self.bit_instruction(inst)?
                    || self.dot_product(inst)?
                    || self.conversion(inst)?
                    || self.composite(inst)?
                    || self.atomic(inst)?
                    || self.group(inst)?
                    || self.pipe(inst)?
                    || self.image(inst)?
                    || self.image_query(inst)?
                    || self.intel_group(inst)?
                    || self.intel_image_group(inst)?
                    || self.extended(inst)?
                {
                    Ok(())
                } else {
                    Err(inst.not_supported())
                }
            }
        }
    }

    fn flags_of(&self, inst: &Instruction<'a>) -> InstFlags {
        let Some(id) = inst.result_if_any() else {
            return InstFlags::default();
        };
        let decorations = &self.source.decorations;
        let fast = FPFastMathMode::FAST | FPFastMathMode::ALLOW_RECIP;
        InstFlags {
            no_contraction: decorations.has(id, Decoration::NoContraction),
            fast_math: decorations
                .literal(id, Decoration::FPFastMathMode)
                .is_some_and(|mode| FPFastMathMode::from_bits_truncate(mode).intersects(fast)),
            no_signed_wrap: decorations.has(id, Decoration::NoSignedWrap),
            no_unsigned_wrap: decorations.has(id, Decoration::NoUnsignedWrap),
        }
    }
}

/// Passes rely on definitions dominating their uses; here it is the application that could break that.
fn check_dominance(function: &Function) -> Result<(), CompileError> {
    let dominators = function.analysis::<Dominators>();
    match crate::compiler::verify::first_dominance_error(function, &dominators) {
        None => Ok(()),
        Some(_) => Err(CompileError::invalid(
            "a value is used where its definition does not dominate it",
        )),
    }
}
