//! Why a module was not compiled.

use std::fmt;

/// A build error: what a person can act on, and where in the module it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// What is wrong, in one sentence.
    pub reason: String,
    /// The instruction, as spelled in the SPIR-V specification (`OpLoad`), if one is to blame.
    pub instruction: Option<String>,
    /// Offset of that instruction from the start of the module, in words.
    pub offset_words: Option<usize>,
    /// The function or kernel it stands in, if named.
    pub function: Option<String>,
}

impl CompileError {
    /// An error without a location.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            instruction: None,
            offset_words: None,
            function: None,
        }
    }

    /// Names the instruction and its word offset, unless a place closer to the cause did.
    pub fn at(mut self, instruction: impl Into<String>, offset_words: usize) -> Self {
        if self.instruction.is_none() {
            self.instruction = Some(instruction.into());
            self.offset_words = Some(offset_words);
        }
        self
    }

    /// Names the function, unless a place closer to the cause did.
    pub fn in_function(mut self, function: impl Into<String>) -> Self {
        self.function.get_or_insert_with(|| function.into());
        self
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.reason)?;
        if let Some(instruction) = &self.instruction {
            write!(f, " (at {instruction}")?;
            if let Some(offset) = self.offset_words {
                write!(f, ", word {offset}")?;
            }
            write!(f, ")")?;
        }
        if let Some(function) = &self.function {
            write!(f, " in function '{function}'")?;
        }
        Ok(())
    }
}

impl std::error::Error for CompileError {}
