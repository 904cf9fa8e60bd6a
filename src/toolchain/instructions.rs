//! The instructions of a SPIR-V module, as far as it takes to read names and add strings to one.

/// Opcodes (SPIR-V, section 3.52).
pub mod opcode {
    pub const SOURCE_CONTINUED: u16 = 2;
    pub const SOURCE: u16 = 3;
    pub const SOURCE_EXTENSION: u16 = 4;
    pub const NAME: u16 = 5;
    pub const STRING: u16 = 7;
    pub const EXTENSION: u16 = 10;
    pub const EXT_INST_IMPORT: u16 = 11;
    pub const MEMORY_MODEL: u16 = 14;
    pub const ENTRY_POINT: u16 = 15;
    pub const EXECUTION_MODE: u16 = 16;
    pub const CAPABILITY: u16 = 17;
    pub const TYPE_INT: u16 = 21;
    pub const TYPE_ARRAY: u16 = 28;
    pub const TYPE_STRUCT: u16 = 30;
    pub const TYPE_POINTER: u16 = 32;
    pub const FUNCTION: u16 = 54;
    pub const FUNCTION_PARAMETER: u16 = 55;
    pub const VARIABLE: u16 = 59;
    pub const LOAD: u16 = 61;
    pub const STORE: u16 = 62;
    pub const DECORATE: u16 = 71;
    pub const EXECUTION_MODE_ID: u16 = 331;
}

/// Storage class `Workgroup`.
pub const WORKGROUP: u32 = 4;

/// What stands before the names in a module (SPIR-V, section 2.4 "Logical Layout of a Module").
const BEFORE_NAMES: [u16; 11] = [
    opcode::SOURCE_CONTINUED,
    opcode::SOURCE,
    opcode::SOURCE_EXTENSION,
    opcode::STRING,
    opcode::EXTENSION,
    opcode::EXT_INST_IMPORT,
    opcode::MEMORY_MODEL,
    opcode::ENTRY_POINT,
    opcode::EXECUTION_MODE,
    opcode::CAPABILITY,
    opcode::EXECUTION_MODE_ID,
];

/// Words of the header.
const HEADER_WORDS: usize = 5;
/// Place of the bound in the header.
const BOUND: usize = 3;

/// One instruction of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction<'a> {
    pub opcode: u16,
    /// All words, the first too.
    pub words: &'a [u32],
}

/// The instructions of a module, to its end or to the first that reaches beyond it.
pub fn all(module: &[u32]) -> impl Iterator<Item = Instruction<'_>> {
    let mut rest = module.get(HEADER_WORDS..).unwrap_or_default();
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let count = ((first >> 16) as usize).max(1);
        let words = rest.get(..count)?;
        rest = &rest[count..];
        Some(Instruction {
            opcode: first as u16,
            words,
        })
    })
}

/// A literal string.
pub fn string(words: &[u32]) -> String {
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .take_while(|byte| *byte != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The module with an `OpString` for each text and then an `OpName` for each pair; `None` if it is malformed.
pub fn with_debug_info(
    module: &[u32],
    strings: &[String],
    names: &[(u32, String)],
) -> Option<Vec<u32>> {
    let mut bound = *module.get(BOUND)?;
    let (mut end, mut place) = (HEADER_WORDS, HEADER_WORDS);
    for instruction in all(module) {
        end += instruction.words.len();
        if BEFORE_NAMES.contains(&instruction.opcode) {
            place = end;
        }
    }
    if end != module.len() {
        return None;
    }
    let mut added = Vec::new();
    for text in strings {
        push(&mut added, opcode::STRING, bound, text);
        bound += 1;
    }
    for (id, name) in names {
        push(&mut added, opcode::NAME, *id, name);
    }
    let mut result = Vec::with_capacity(module.len() + added.len());
    result.extend_from_slice(module.get(..place)?);
    result.extend(added);
    result.extend_from_slice(module.get(place..)?);
    result[BOUND] = bound;
    Some(result)
}

/// An instruction of one id and one literal string; nothing if it would be too long for its count.
fn push(words: &mut Vec<u32>, opcode: u16, id: u32, text: &str) {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let Ok(count) = u16::try_from(2 + bytes.len() / 4) else {
        return;
    };
    words.extend([u32::from(count) << 16 | u32::from(opcode), id]);
    let (chunks, _) = bytes.as_chunks::<4>();
    words.extend(chunks.iter().map(|chunk| u32::from_le_bytes(*chunk)));
}
