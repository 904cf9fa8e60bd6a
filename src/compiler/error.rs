//! Why a module was not compiled.

use std::fmt;

/// Whose fault it is that a module was not compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The module breaks a rule of OpenCL C or SPIR-V.
    Invalid,
    /// The module asks for what the device lacks, or for what Pumice does not have or takes too much of.
    Unsupported,
    /// A mistake of the compiler.
    Internal,
}

/// A build error: what a person can act on, and where in the module it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    pub kind: ErrorKind,
    /// What is wrong, in one sentence.
    pub reason: String,
    /// The instruction, as spelled in the SPIR-V specification (`OpLoad`), if one is to blame.
    pub instruction: Option<String>,
    /// Offset of that instruction from the start of the module, in words.
    pub offset_words: Option<usize>,
    /// The function or kernel it stands in, if named.
    pub function: Option<String>,
    /// The pass that found it, if it is not the parser or the linker.
    pub pass: Option<&'static str>,
}

impl CompileError {
    fn new(kind: ErrorKind, reason: String) -> Self {
        Self {
            kind,
            reason,
            instruction: None,
            offset_words: None,
            function: None,
            pass: None,
        }
    }

    /// The module breaks a rule ([`ErrorKind::Invalid`]).
    pub fn invalid(reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, reason.into())
    }

    /// The module asks for too much ([`ErrorKind::Unsupported`]).
    pub fn unsupported(reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, reason.into())
    }

    /// The compiler made a mistake ([`ErrorKind::Internal`]).
    pub fn internal(reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, reason.into())
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

    /// Names the pass, unless a place closer to the cause did.
    pub fn in_pass(mut self, pass: &'static str) -> Self {
        self.pass.get_or_insert(pass);
        self
    }
}

/// The error as a build log has it: `error: invalid: undefined reference to 'f' in function 'k'`.
impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ErrorKind::Invalid => "invalid",
            ErrorKind::Unsupported => "not supported",
            ErrorKind::Internal => "internal",
        };
        write!(f, "error: {kind}: {}", self.reason)?;
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
        match (self.kind, self.pass) {
            (ErrorKind::Internal, Some(pass)) => write!(f, "; a mistake of Pumice in {pass}"),
            (ErrorKind::Internal, None) => write!(f, "; a mistake of Pumice"),
            (ErrorKind::Invalid | ErrorKind::Unsupported, _) => Ok(()),
        }
    }
}

impl std::error::Error for CompileError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_log_says_whose_fault_it_is() {
        let invalid = CompileError::invalid("undefined reference to 'f'").in_function("k");
        let text = "error: invalid: undefined reference to 'f' in function 'k'";
        assert_eq!(invalid.to_string(), text);
        let unsupported = CompileError::unsupported("doubles").at("OpFAdd", 7);
        let text = "error: not supported: doubles (at OpFAdd, word 7)";
        assert_eq!(unsupported.in_pass("lower::images").to_string(), text);
        let internal = CompileError::internal("no block")
            .in_pass("first")
            .in_pass("then");
        let text = "error: internal: no block; a mistake of Pumice in first";
        assert_eq!(internal.to_string(), text);
    }
}
