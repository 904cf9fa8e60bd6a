//! What a kernel's `printf` leaves for the host: the buffer's layout, and how to read each record.
//!
//! The device only copies arguments; the host, which has the format strings, makes text of them.
//!
//! **The buffer** ([`Implicit::PrintfBuffer`](super::program::Implicit::PrintfBuffer)) is made of 32-bit words:
//!
//! | word | holds |
//! |---|---|
//! | 0, 1 | how many words of records were asked for, which may be more than there is room for; 0 at the start |
//! | 2 | how many words of records there is room for, set by the host |
//! | 4… | records, one after the other; all zeros at the start |
//!
//! **A record** starts with the number of its call plus 1, the place in
//! [`CompiledKernel::printf_calls`](super::CompiledKernel). For a format that is not known at compile time the
//! two words of its address follow (low, high). Then come the components of all arguments in order, one word
//! each, or two (low, high) for those of 64 bits. A record has an even number of words, the last of which may mean
//! nothing: it is written by stores of 64 bits. A record that did not fit was not written: its first word is still 0,
//! and no record comes after it.

use serde::{Deserialize, Serialize};

/// Words before the first record.
pub const HEADER_WORDS: u32 = 4;

/// Which word holds how many words of records there is room for.
pub const CAPACITY_WORD: u32 = 2;

/// One `printf` in a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintfCall {
    pub format: PrintfFormat,
    pub arguments: Vec<PrintfArgument>,
}

/// Where a call's format string is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PrintfFormat {
    /// Here, without the NUL.
    Literal(Vec<u8>),
    /// At an address in the program's data segment that each record holds.
    Address,
}

/// The type of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintfArgument {
    /// 1 for scalars.
    pub components: u8,
    pub kind: PrintfKind,
}

/// The type of an argument's components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PrintfKind {
    Int8,
    Int16,
    Int32,
    Int64,
    Float16,
    Float32,
    Float64,
    Pointer,
}

impl PrintfKind {
    /// Words of a record that one component takes.
    pub fn words(self) -> usize {
        match self {
            Self::Int64 | Self::Float64 | Self::Pointer => 2,
            Self::Int8 | Self::Int16 | Self::Int32 | Self::Float16 | Self::Float32 => 1,
        }
    }

    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::Int8 => 8,
            Self::Int16 | Self::Float16 => 16,
            Self::Int32 | Self::Float32 => 32,
            Self::Int64 | Self::Float64 | Self::Pointer => 64,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Self::Float16 | Self::Float32 | Self::Float64)
    }
}

impl PrintfCall {
    /// Words of this call's records.
    pub fn record_words(&self) -> usize {
        let format = match self.format {
            PrintfFormat::Literal(_) => 0,
            PrintfFormat::Address => 2,
        };
        let arguments = self.arguments.iter();
        let words = 1
            + format
            + arguments
                .map(|argument| usize::from(argument.components) * argument.kind.words())
                .sum::<usize>();
        words.next_multiple_of(2)
    }
}
