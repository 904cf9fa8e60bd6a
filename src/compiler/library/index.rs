//! Finds functions and declarations in the library's words.

use crate::compiler::CompileError;
use std::collections::HashMap;

const SPIRV_MAGIC: u32 = 0x0723_0203;
/// Words before the first instruction.
pub(super) const HEADER_WORDS: usize = 5;

/// Opcodes of the SPIR-V specification, section 3.49, as far as the library holds them.
pub(super) mod opcode {
    pub const EXT_INST_IMPORT: u16 = 11;
    pub const EXT_INST: u16 = 12;
    pub const MEMORY_MODEL: u16 = 14;
    pub const CAPABILITY: u16 = 17;
    pub const TYPE_FIRST: u16 = 19;
    pub const TYPE_INT: u16 = 21;
    pub const TYPE_FLOAT: u16 = 22;
    pub const TYPE_VECTOR: u16 = 23;
    pub const TYPE_ARRAY: u16 = 28;
    pub const TYPE_POINTER: u16 = 32;
    pub const TYPE_LAST: u16 = 38;
    pub const CONSTANT_TRUE: u16 = 41;
    pub const CONSTANT: u16 = 43;
    pub const CONSTANT_NULL: u16 = 46;
    pub const UNDEF: u16 = 1;
    pub const FUNCTION: u16 = 54;
    pub const FUNCTION_PARAMETER: u16 = 55;
    pub const FUNCTION_END: u16 = 56;
    pub const VARIABLE: u16 = 59;
    pub const LOAD: u16 = 61;
    pub const STORE: u16 = 62;
    pub const DECORATE: u16 = 71;
    pub const VECTOR_SHUFFLE: u16 = 79;
    pub const COMPOSITE_EXTRACT: u16 = 81;
    pub const COMPOSITE_INSERT: u16 = 82;
    pub const LABEL: u16 = 248;
}

/// `Decoration` `LinkageAttributes`.
pub(super) const LINKAGE_ATTRIBUTES: u32 = 41;

/// A module of the built-in library: its words, and where things stand in them.
pub struct Index {
    pub(super) words: Vec<u32>,
    /// Capabilities, imports of instruction sets, memory model: offsets in words.
    pub(super) preamble: Vec<usize>,
    /// By id: the offset of the type, constant, variable or function, 0 for ids of other things.
    pub(super) definitions: Vec<usize>,
    /// (target, offset) of decorations of those, sorted.
    pub(super) decorations: Vec<(u32, usize)>,
    /// Ids of functions by their mangled name.
    functions: HashMap<String, u32>,
    /// The other way round.
    pub(super) names: HashMap<u32, String>,
}

impl Index {
    /// Indexes the bytes of a module.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, CompileError> {
        let words = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&word| u32::from_le_bytes(word))
            .collect();
        Self::new(words)
    }

    /// Indexes a library module: SPIR-V words in host byte order, functions with `LinkageAttributes`.
    pub fn new(words: Vec<u32>) -> Result<Self, CompileError> {
        let broken = || CompileError::internal("the built-in library is not a SPIR-V module");
        let (&[SPIRV_MAGIC, _, _, bound, _], _) = words.split_first_chunk().ok_or_else(broken)?
        else {
            return Err(broken());
        };
        if bound as usize > words.len() {
            return Err(broken());
        }
        let mut index = Self {
            preamble: Vec::new(),
            definitions: vec![0; bound as usize],
            decorations: Vec::new(),
            functions: HashMap::new(),
            names: HashMap::new(),
            words: Vec::new(),
        };
        let mut linkage = Vec::new();
        let mut in_function = false;
        for (offset, inst) in Instructions::new(&words, HEADER_WORDS) {
            let opcode = opcode_of(inst);
            let id = match opcode {
                _ if in_function => {
                    in_function = opcode != opcode::FUNCTION_END;
                    continue;
                }
                opcode::CAPABILITY | opcode::EXT_INST_IMPORT | opcode::MEMORY_MODEL => {
                    index.preamble.push(offset);
                    continue;
                }
                opcode::DECORATE => {
                    if let [_, target, LINKAGE_ATTRIBUTES, name @ ..] = inst {
                        linkage.push((*target, string(name)));
                    }
                    let &[_, target, ..] = inst else {
                        return Err(broken());
                    };
                    index.decorations.push((target, offset));
                    continue;
                }
                opcode::TYPE_FIRST..=opcode::TYPE_LAST => inst.get(1),
                opcode::FUNCTION => {
                    in_function = true;
                    inst.get(2)
                }
                opcode::CONSTANT_TRUE..=opcode::CONSTANT_NULL
                | opcode::UNDEF
                | opcode::VARIABLE => inst.get(2),
                _ => continue,
            };
            let slot = id.and_then(|&id| index.definitions.get_mut(id as usize));
            *slot.ok_or_else(broken)? = offset;
        }
        index.decorations.sort_unstable();
        for (id, name) in linkage {
            let offset = index.definitions.get(id as usize).copied();
            let inst = offset.and_then(|offset| words.get(offset));
            if inst.is_some_and(|word| *word as u16 == opcode::FUNCTION) {
                index.functions.insert(name.clone(), id);
                index.names.insert(id, name);
            }
        }
        index.words = words;
        Ok(index)
    }

    /// The id of the function of this mangled name, whether defined or only declared.
    pub fn function(&self, name: &str) -> Option<u32> {
        self.functions.get(name).copied()
    }

    /// The names of all functions.
    pub fn function_names(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }
}

/// Instructions from an offset on: (offset, its words).
pub(super) struct Instructions<'a> {
    words: &'a [u32],
    offset: usize,
}

impl<'a> Instructions<'a> {
    pub fn new(words: &'a [u32], offset: usize) -> Self {
        Self { words, offset }
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = (usize, &'a [u32]);

    /// Ends at the end of the words, or at an instruction that claims no length or more than there is.
    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.offset;
        let length = (self.words.get(offset)? >> 16) as usize;
        let inst = self.words.get(offset..offset + length.max(1))?;
        self.offset += length.max(1);
        Some((offset, inst))
    }
}

/// The opcode of an instruction.
pub(super) fn opcode_of(inst: &[u32]) -> u16 {
    inst.first().map_or(0, |word| *word as u16)
}

/// A literal string at the start of `words`.
fn string(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    String::from_utf8_lossy(&bytes.take_while(|byte| *byte != 0).collect::<Vec<_>>()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_module_is_an_error() {
        assert!(Index::new(vec![]).is_err());
        assert!(Index::new(vec![0; 100]).is_err());
        assert!(Index::new(vec![SPIRV_MAGIC, 0x10000, 0, u32::MAX, 0]).is_err());
    }
}
