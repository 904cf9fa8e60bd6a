//! Words → instructions: header, byte order, word counts, and which words are the result's type and id.
//!
//! Only the shape of an instruction comes from the grammar tables. Operands are read one by one where they
//! are used: clang-22 emits instructions with a word too many, which a strict reader would refuse.

use crate::compiler::CompileError;
use rspirv::grammar::{self, INSTRUCTION_TABLE, OperandKind};
use rspirv::spirv::{self, Op};
use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

/// An `<id>` of the source module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id(pub u32);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

/// One instruction of the source module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction<'a> {
    pub op: Op,
    /// Without the prefix `Op`.
    name: &'static str,
    pub offset_words: usize,
    result_type: Option<Id>,
    result: Option<Id>,
    /// What follows the result's type and id.
    pub operands: &'a [u32],
}

impl<'a> Instruction<'a> {
    /// The instruction breaks a rule.
    pub fn invalid(&self, reason: impl Into<String>) -> CompileError {
        self.locate(CompileError::invalid(reason))
    }

    /// The instruction asks for too much.
    pub fn unsupported(&self, reason: impl Into<String>) -> CompileError {
        self.locate(CompileError::unsupported(reason))
    }

    /// Blames this instruction, unless a place closer to the cause did.
    pub fn locate(&self, error: CompileError) -> CompileError {
        error.at(format!("Op{}", self.name), self.offset_words)
    }

    /// Blames a function of an extended instruction set.
    pub fn locate_extended(&self, error: CompileError, function: &str) -> CompileError {
        error.at(format!("OpExtInst {function}"), self.offset_words)
    }

    pub fn not_supported(&self) -> CompileError {
        self.unsupported(format!("Op{} is not supported", self.name))
    }

    pub fn result_type(&self) -> Result<Id, CompileError> {
        self.result_type
            .ok_or_else(|| self.invalid("the instruction has no result type"))
    }

    pub fn result(&self) -> Result<Id, CompileError> {
        self.result
            .ok_or_else(|| self.invalid("the instruction has no result"))
    }

    pub fn result_if_any(&self) -> Option<Id> {
        self.result
    }

    /// Operand `index`, counted from after the result.
    pub fn word(&self, index: usize) -> Result<u32, CompileError> {
        self.operands
            .get(index)
            .copied()
            .ok_or_else(|| self.invalid(format!("operand {} is missing", index + 1)))
    }

    pub fn id(&self, index: usize) -> Result<Id, CompileError> {
        self.word(index).map(Id)
    }

    /// The ids from operand `index` on.
    pub fn ids_from(&self, index: usize) -> impl DoubleEndedIterator<Item = Id> + Clone + 'a {
        self.operands
            .get(index..)
            .unwrap_or(&[])
            .iter()
            .map(|&word| Id(word))
    }

    /// The nul-terminated string at operand `index`, and the operand after it.
    pub fn string(&self, index: usize) -> Result<(String, usize), CompileError> {
        let words = self.operands.get(index..).unwrap_or(&[]);
        let (bytes, length) = string(words).ok_or_else(|| self.invalid("a string has no end"))?;
        Ok((String::from_utf8_lossy(&bytes).into_owned(), index + length))
    }
}

/// The bytes of a literal string and its length in words.
pub(super) fn string(words: &[u32]) -> Option<(Vec<u8>, usize)> {
    let mut bytes = Vec::new();
    for (index, word) in words.iter().enumerate() {
        for byte in word.to_le_bytes() {
            if byte == 0 {
                return Some((bytes, index + 1));
            }
            bytes.push(byte);
        }
    }
    None
}

/// The module in host byte order, if it starts as a module does.
pub(super) fn host_order(words: &[u32]) -> Result<Cow<'_, [u32]>, CompileError> {
    let header = |reason: &str| CompileError::invalid(format!("not a SPIR-V module: {reason}"));
    let words = match words.first() {
        Some(&spirv::MAGIC_NUMBER) => Cow::Borrowed(words),
        Some(word) if word.swap_bytes() == spirv::MAGIC_NUMBER => {
            Cow::Owned(words.iter().map(|word| word.swap_bytes()).collect())
        }
        _ => return Err(header("the magic number is missing")),
    };
    let &[_, version, _, _, schema, ..] = words.as_ref() else {
        return Err(header("the header is cut short"));
    };
    let (major, minor) = (version >> 16 & 0xff, version >> 8 & 0xff);
    if major != 1 || minor > 6 {
        return Err(header(&format!(
            "version {major}.{minor} is not 1.0 to 1.6"
        )));
    }
    if schema != 0 {
        return Err(header("the schema is not 0"));
    }
    Ok(words)
}

/// Whether LLVM's SPIR-V backend made a module that [`host_order`] accepted.
pub(super) fn is_llvm(words: &[u32]) -> bool {
    /// Its number in the registry of SPIR-V generators, the upper half of the word.
    const LLVM_SPIRV_BACKEND: u32 = 43;
    words
        .get(2)
        .is_some_and(|generator| generator >> 16 == LLVM_SPIRV_BACKEND)
}

/// Splits a module that [`host_order`] accepted into instructions.
pub(super) fn instructions(words: &[u32]) -> Result<Vec<Instruction<'_>>, CompileError> {
    const HEADER_WORDS: usize = 5;
    let mut instructions = Vec::new();
    let count = count(words.get(HEADER_WORDS..).unwrap_or(&[]));
    instructions.try_reserve_exact(count).map_err(|_| {
        CompileError::unsupported("the host has no memory for the module's instructions")
    })?;
    let mut offset_words = HEADER_WORDS;
    while let Some(&first) = words.get(offset_words) {
        let (count, opcode) = ((first >> 16) as usize, first & 0xffff);
        let cut = |what: &str| {
            CompileError::invalid(format!(
                "the module is malformed: {what} at word {offset_words}"
            ))
        };
        if count == 0 {
            return Err(cut("an instruction of no words"));
        }
        let Some(body) = words.get(offset_words + 1..offset_words + count) else {
            return Err(cut("an instruction reaches past the end"));
        };
        let Some(shape) = shape(opcode) else {
            return Err(cut(&format!("unknown instruction {opcode}")));
        };
        let mut rest = body;
        let mut take = |present: bool| -> Result<Option<Id>, CompileError> {
            if !present {
                return Ok(None);
            }
            let (&word, after) = rest
                .split_first()
                .ok_or_else(|| cut(&format!("Op{} without its result", shape.opname)))?;
            if word == 0 {
                return Err(cut(&format!("Op{} with an id of 0", shape.opname)));
            }
            rest = after;
            Ok(Some(Id(word)))
        };
        let has = |kind: OperandKind| shape.operands.iter().take(2).any(|o| o.kind == kind);
        let result_type = take(has(OperandKind::IdResultType))?;
        let result = take(has(OperandKind::IdResult))?;
        instructions.push(Instruction {
            op: shape.opcode,
            name: shape.opname,
            offset_words,
            result_type,
            result,
            operands: rest,
        });
        offset_words += count;
    }
    Ok(instructions)
}

/// How many instructions there are, up to one that is malformed: a list of them that grows would take up to three times the
/// memory, which is most of what a module takes that is large.
fn count(mut words: &[u32]) -> usize {
    let mut count = 0;
    while let Some(length) = words.first().map(|first| (first >> 16) as usize)
        && let Some(rest) = words.get(length..)
        && length > 0
    {
        words = rest;
        count += 1;
    }
    count
}

/// The grammar of an opcode.
fn shape(opcode: u32) -> Option<&'static grammar::Instruction<'static>> {
    static SHAPES: OnceLock<Vec<Option<&'static grammar::Instruction<'static>>>> = OnceLock::new();
    let shapes = SHAPES.get_or_init(|| {
        let mut shapes = Vec::new();
        for instruction in INSTRUCTION_TABLE.iter() {
            let index = instruction.opcode as usize;
            if index >= shapes.len() {
                shapes.resize(index + 1, None);
            }
            shapes[index] = Some(instruction);
        }
        shapes
    });
    shapes.get(opcode as usize).copied().flatten()
}
