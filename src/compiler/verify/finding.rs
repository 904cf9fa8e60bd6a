//! What the verifier finds.

use crate::compiler::ir::{Block, FuncId, Inst, Type, Value};
use std::fmt;

/// A rule that a module breaks, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The function, and its name; `None` for what is the module's.
    pub function: Option<(FuncId, String)>,
    pub place: Place,
    pub broken: Rule,
}

/// Where in a function a rule is broken.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Nowhere in particular.
    Whole,
    /// The block's parameters, or its terminator.
    Block(Block),
    /// An instruction of the block, as it is printed.
    Instruction(Block, String),
}

/// A rule, with what breaks it.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// A kernel has a function.
    KernelHasFunction { kernel: String },
    /// A block stands in one place.
    BlockStandsOnce,
    /// An instruction stands in one place.
    InstructionStandsOnce(Inst),
    /// The entry has no predecessor.
    EntryHasNoPredecessor,
    /// A definition dominates its uses.
    DefinitionDominates(Value),
    /// An operand is a value of the function.
    ValueExists(Value),
    /// A parameter knows its block.
    ParameterKnowsBlock(Value),
    /// A result knows its instruction.
    ResultKnowsInstruction(Value),
    /// An edge goes to a block of the function.
    TargetExists(Block),
    /// An edge has an argument for each parameter of its target, of its type.
    EdgeFitsTarget(Block),
    /// A condition is a boolean.
    ConditionIsBoolean(Type),
    /// A switch is on an integer that can hold its cases.
    SwitchHoldsCases(Type),
    /// A case stands once.
    CaseStandsOnce,
    /// A function returns the types that it says.
    ReturnsWhatItSays { found: Vec<Type>, said: Vec<Type> },
    /// The types of operands and results are those of the operation.
    TypesFit {
        operands: Vec<Type>,
        results: Vec<Type>,
    },
    /// There are no pointers any more.
    PointersAreLowered(Value),
    /// There is no such operation any more, for what the text says.
    OperationIsLowered(&'static str),
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KernelHasFunction { kernel } => write!(f, "kernel '{kernel}' has no function"),
            Self::BlockStandsOnce => write!(f, "a block stands twice in the layout"),
            Self::InstructionStandsOnce(inst) => write!(f, "{inst} stands in two places"),
            Self::EntryHasNoPredecessor => write!(f, "the entry has a predecessor"),
            Self::DefinitionDominates(value) => {
                write!(f, "the definition of {value} does not dominate a use")
            }
            Self::ValueExists(value) => write!(f, "{value} does not exist"),
            Self::ParameterKnowsBlock(value) => write!(f, "{value} is not its parameter"),
            Self::ResultKnowsInstruction(value) => write!(f, "{value} is not its result"),
            Self::TargetExists(block) => {
                write!(f, "an edge to {block}, which is not in the layout")
            }
            Self::EdgeFitsTarget(block) => {
                write!(f, "the edge to {block} does not match its parameters")
            }
            Self::ConditionIsBoolean(ty) => write!(f, "the condition is {ty}, not a boolean"),
            Self::SwitchHoldsCases(ty) => {
                write!(f, "a switch on {ty} with a case that it can't hold")
            }
            Self::CaseStandsOnce => write!(f, "a case stands twice"),
            Self::ReturnsWhatItSays { found, said } => write!(f, "returns {found:?}, not {said:?}"),
            Self::TypesFit { operands, results } => {
                write!(f, "operands {operands:?}, results {results:?}")
            }
            Self::PointersAreLowered(value) => write!(f, "{value} is still a pointer"),
            Self::OperationIsLowered(reason) => write!(f, "{reason}"),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((id, name)) = &self.function {
            write!(f, "{id} '{name}': ")?;
        }
        match &self.place {
            Place::Whole => {}
            Place::Block(block) => write!(f, "{block}: ")?,
            Place::Instruction(block, text) => write!(f, "{block}: {text}: ")?,
        }
        write!(f, "{}", self.broken)
    }
}
