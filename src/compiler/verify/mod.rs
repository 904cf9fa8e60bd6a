//! Checks a module against the rules of the IR and of a stage.
//!
//! Always: the types of operands and results, edges that match the parameters of their block, definitions
//! that dominate their uses, blocks and instructions that stand in one place. By stage: which operations,
//! places and types may still occur.

mod finding;
mod types;

pub use finding::{Finding, Place, Rule};

use super::analysis::Dominators;
use super::ir::{
    self, Block, Convert, FuncId, Function, Inst, Module, Op, Terminator, Type, Value, ValueDef,
};
use super::program::Implicit;
use std::collections::HashSet;
use types::Types;

/// How far a module has come; a later stage forbids what earlier ones still hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// From `parse`, also after linking.
    Parsed,
    /// After `lower::builtins`: no `OpenClStd`.
    BuiltinsLowered,
    /// After `lower::images`: no `Image`.
    ImagesLowered,
    /// After `lower::work_items`: no `WorkItem`.
    WorkItemsLowered,
    /// After `lower::arguments`: no `Implicit` but the data segment's and printf's.
    ArgumentsLowered,
    /// After `lower::pointers`: no pointer types and places, `Copy`, variables.
    PointersLowered,
    /// What `emit` accepts.
    Emit,
}

/// Violations listed for one module.
const MOST_FINDINGS: usize = 20;

/// Checks a module. A violation is a mistake of ours, not the application's.
///
/// # Errors
/// What breaks the rules, in the order of functions and blocks, up to some number.
pub fn module(module: &Module, stage: Stage) -> Result<(), Vec<Finding>> {
    let mut findings = Vec::new();
    for id in module.function_ids() {
        let function = module.function(id);
        let mut verifier = Verifier {
            module,
            function,
            id,
            stage,
            findings: Vec::new(),
        };
        verifier.function();
        findings.append(&mut verifier.findings);
        if findings.len() >= MOST_FINDINGS {
            break;
        }
    }
    let is_missing = |id: FuncId| id.index() >= module.functions.len();
    let missing = module.kernels.iter().filter(|it| is_missing(it.function));
    findings.extend(missing.map(|kernel| Finding {
        function: None,
        place: Place::Whole,
        broken: Rule::KernelHasFunction {
            kernel: kernel.name.clone(),
        },
    }));
    findings.truncate(MOST_FINDINGS);
    if findings.is_empty() {
        Ok(())
    } else {
        Err(findings)
    }
}

/// The first value, in layout order, that is used where its definition does not dominate.
pub fn first_dominance_error(function: &Function, dominators: &Dominators) -> Option<Value> {
    // Block and position (0 for parameters) of every definition.
    let mut defined: Vec<Option<(Block, usize)>> = vec![None; function.value_count()];
    for &block in function.layout() {
        let data = function.block(block);
        for &param in &data.params {
            defined[param.index()] = Some((block, 0));
        }
        for (position, &inst) in data.insts.iter().enumerate() {
            for &result in &function.inst(inst).results {
                defined[result.index()] = Some((block, position + 1));
            }
        }
    }
    let is_bad = |value: Value, block: Block, position: usize| match defined
        .get(value.index())
        .copied()
        .flatten()
    {
        Some((home, at)) if home == block => at > position,
        Some((home, _)) => !dominators.dominates(home, block),
        None => true,
    };
    for &block in dominators.reverse_postorder() {
        let data = function.block(block);
        for (position, &inst) in data.insts.iter().enumerate() {
            let operands = function.inst(inst).op.operands();
            if let Some(bad) = operands.into_iter().find(|&v| is_bad(v, block, position)) {
                return Some(bad);
            }
        }
        let operands = data.terminator.operands();
        let end = data.insts.len();
        if let Some(bad) = operands.into_iter().find(|&v| is_bad(v, block, end)) {
            return Some(bad);
        }
    }
    None
}

struct Verifier<'a> {
    module: &'a Module,
    function: &'a Function,
    id: FuncId,
    stage: Stage,
    findings: Vec<Finding>,
}

impl Verifier<'_> {
    fn find(&mut self, place: Place, broken: Rule) {
        self.findings.push(Finding {
            function: Some((self.id, self.function.name.clone())),
            place,
            broken,
        });
    }

    fn function(&mut self) {
        let function = self.function;
        let blocks: HashSet<Block> = function.layout().iter().copied().collect();
        if blocks.len() != function.layout().len() {
            self.find(Place::Whole, Rule::BlockStandsOnce);
        }
        let mut seen: HashSet<Inst> = HashSet::new();
        for &block in function.layout() {
            let data = function.block(block);
            for &param in &data.params {
                if function.value(param).def != ValueDef::Parameter(block) {
                    self.find(Place::Block(block), Rule::ParameterKnowsBlock(param));
                }
                self.stage_type(param, || Place::Block(block));
            }
            for &inst in &data.insts {
                if !seen.insert(inst) {
                    self.find(Place::Block(block), Rule::InstructionStandsOnce(inst));
                }
                self.instruction(block, inst);
            }
            self.terminator(block, &data.terminator, &blocks);
        }
        if !self.findings.is_empty() {
            return;
        }
        let dominators = function.analysis::<Dominators>();
        if dominators
            .reverse_postorder()
            .iter()
            .any(|&block| function.successors(block).contains(&function.entry()))
        {
            self.find(Place::Whole, Rule::EntryHasNoPredecessor);
        }
        if let Some(value) = first_dominance_error(function, &dominators) {
            self.find(Place::Whole, Rule::DefinitionDominates(value));
        }
    }

    fn terminator(&mut self, block: Block, terminator: &Terminator, blocks: &HashSet<Block>) {
        let function = self.function;
        let mut find = |broken| self.find(Place::Block(block), broken);
        let mut operands = terminator.operands().into_iter();
        if let Some(bad) = operands.find(|v| v.index() >= function.value_count()) {
            return find(Rule::ValueExists(bad));
        }
        for edge in terminator.edges() {
            if !blocks.contains(&edge.block) {
                find(Rule::TargetExists(edge.block));
                continue;
            }
            let params = function.block(edge.block).params.iter();
            let wanted = params.map(|&param| function.ty(param));
            if !wanted.eq(edge.args.iter().map(|&arg| function.ty(arg))) {
                find(Rule::EdgeFitsTarget(edge.block));
            }
        }
        match terminator {
            Terminator::Branch { condition, .. } => {
                let ty = function.ty(*condition);
                if ty != Type::Bool {
                    find(Rule::ConditionIsBoolean(ty));
                }
            }
            Terminator::Switch { value, cases, .. } => {
                let ty = function.ty(*value);
                if !ty.is_int() || cases.iter().any(|(case, _)| *case > ty.mask()) {
                    find(Rule::SwitchHoldsCases(ty));
                }
                let distinct: HashSet<u64> = cases.iter().map(|(case, _)| *case).collect();
                if distinct.len() != cases.len() {
                    find(Rule::CaseStandsOnce);
                }
            }
            Terminator::Return(values) => {
                let found: Vec<Type> = values.iter().map(|&v| function.ty(v)).collect();
                let said = function.return_types.clone();
                if found != said {
                    find(Rule::ReturnsWhatItSays { found, said });
                }
            }
            Terminator::Jump(_) | Terminator::Unreachable => {}
        }
    }

    /// Types that the stage has no more.
    fn stage_type(&mut self, value: Value, place: impl FnOnce() -> Place) {
        if self.stage >= Stage::PointersLowered && self.function.ty(value).is_pointer() {
            self.find(place(), Rule::PointersAreLowered(value));
        }
    }

    fn instruction(&mut self, block: Block, inst: Inst) {
        let function = self.function;
        let data = function.inst(inst);
        let place = || Place::Instruction(block, data.op.to_string());
        let operands = data.op.operands();
        let mut missing = operands.iter();
        if let Some(&bad) = missing.find(|v| v.index() >= function.value_count()) {
            self.find(place(), Rule::ValueExists(bad));
            return;
        }
        for (index, &result) in data.results.iter().enumerate() {
            let index = index as u32;
            if function.value(result).def != (ValueDef::Result { inst, index }) {
                self.find(place(), Rule::ResultKnowsInstruction(result));
            }
            self.stage_type(result, place);
        }
        let results: Vec<Type> = data.results.iter().map(|&v| function.ty(v)).collect();
        let operands: Vec<Type> = operands.iter().map(|&v| function.ty(v)).collect();
        let types = Types {
            module: self.module,
            function,
        };
        if !types.fit(&data.op, &operands, &results) {
            self.find(place(), Rule::TypesFit { operands, results });
        }
        if let Some(reason) = self.forbidden(&data.op) {
            self.find(place(), Rule::OperationIsLowered(reason));
        }
    }

    /// Why the stage has no such operation, if so.
    fn forbidden(&self, op: &Op) -> Option<&'static str> {
        let after = |stage| self.stage >= stage;
        match op {
            Op::OpenClStd(..) if after(Stage::BuiltinsLowered) => Some("built-ins are lowered"),
            Op::Image(..) if after(Stage::ImagesLowered) => Some("images are lowered"),
            Op::Pipe(..) if after(Stage::WorkItemsLowered) => Some("pipes are lowered"),
            Op::WorkItem(_) if after(Stage::WorkItemsLowered) => Some("queries are lowered"),
            Op::Printf { .. } if after(Stage::ArgumentsLowered) => Some("printf is lowered"),
            Op::Implicit(Implicit::DataSegment | Implicit::PrintfBuffer)
                if !after(Stage::PointersLowered) =>
            {
                None
            }
            Op::Implicit(_) if after(Stage::ArgumentsLowered) => Some("arguments are lowered"),
            Op::PtrAdd(..) | Op::VariableAddress(_) | Op::GlobalAddress(_) | Op::Copy { .. }
                if after(Stage::PointersLowered) =>
            {
                Some("pointers are lowered")
            }
            Op::Load(place, _) | Op::Store(place, ..) | Op::Atomic { place, .. } => match place {
                ir::Place::Pointer(_) if after(Stage::PointersLowered) => {
                    Some("pointers are lowered")
                }
                _ => None,
            },
            Op::Convert(
                Convert::PtrToInt
                | Convert::IntToPtr
                | Convert::AddressSpaceCast
                | Convert::AddressSpaceCastExplicit,
                _,
            ) if after(Stage::PointersLowered) => Some("pointers are lowered"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
