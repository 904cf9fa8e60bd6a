//! The shape of a SPIR-V module: what must hold of the words of any, before one knows what they mean.
//!
//! Programs are created of modules long before they are built, and a module that is no whole one is refused then.
//! Nothing is kept of it but a few ids, in memory that may be refused.

use std::collections::TryReserveError;

/// Why words are no module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// They are cut short, or none of a module.
    Malformed(&'static str),
    /// No memory to look at them.
    NoMemory,
}

impl From<TryReserveError> for Fault {
    fn from(_: TryReserveError) -> Self {
        Self::NoMemory
    }
}

/// Opcodes and a decoration (SPIR-V, section 3).
mod code {
    pub const MEMORY_MODEL: u32 = 14;
    pub const ENTRY_POINT: u32 = 15;
    pub const FUNCTION: u32 = 54;
    pub const FUNCTION_END: u32 = 56;
    pub const VARIABLE: u32 = 59;
    pub const DECORATE: u32 = 71;
    pub const DECORATION_GROUP: u32 = 73;
    pub const LINKAGE_ATTRIBUTES: u32 = 41;
}

/// Words before the first instruction.
const HEADER_WORDS: usize = 5;

/// Checks a module in host byte order: its version, that every instruction and function is whole, that there are a
/// memory model and a function or variable, and that what is an entry point or linked is there.
///
/// # Errors
/// It is not so, or there is no memory to look.
pub fn check(mut words: impl Iterator<Item = u32>) -> Result<(), Fault> {
    let mut header = [0; HEADER_WORDS];
    for word in &mut header {
        *word = words.next().ok_or(Fault::Malformed("the header is cut"))?;
    }
    let [_, version, _, bound, schema] = header;
    let is_known = version >> 16 == 1 && (version >> 8 & 0xff) <= 6 && schema == 0;
    if !is_known || bound == 0 {
        return Err(Fault::Malformed("the header is of no known version"));
    }
    let mut seen = Seen::default();
    while let Some(first) = words.next() {
        let mut operands = [0; 2];
        let count = (first >> 16) as usize;
        let rest = count
            .checked_sub(1)
            .ok_or(Fault::Malformed("an instruction has no words"))?;
        for index in 0..rest {
            let word = words
                .next()
                .ok_or(Fault::Malformed("an instruction is cut"))?;
            if let Some(operand) = operands.get_mut(index) {
                *operand = word;
            }
        }
        seen.take(first & 0xffff, operands)?;
    }
    seen.finish()
}

/// What was seen of a module so far.
#[derive(Default)]
struct Seen {
    has_memory_model: bool,
    in_function: bool,
    /// Functions, and variables of module scope.
    defined: Vec<u32>,
    /// What entry points and linkage speak of.
    wanted: Vec<u32>,
}

impl Seen {
    /// Takes an instruction with its first two operands, of which results are the second.
    fn take(&mut self, opcode: u32, [first, second]: [u32; 2]) -> Result<(), Fault> {
        match opcode {
            code::MEMORY_MODEL => self.has_memory_model = true,
            code::ENTRY_POINT => push(&mut self.wanted, second)?,
            code::DECORATE if second == code::LINKAGE_ATTRIBUTES => push(&mut self.wanted, first)?,
            code::DECORATION_GROUP => push(&mut self.defined, first)?,
            code::VARIABLE if !self.in_function => push(&mut self.defined, second)?,
            code::FUNCTION if self.in_function => {
                return Err(Fault::Malformed("a function begins within another"));
            }
            code::FUNCTION => {
                self.in_function = true;
                push(&mut self.defined, second)?;
            }
            code::FUNCTION_END => self.in_function = false,
            _ => {}
        }
        Ok(())
    }

    /// Whether the module that was seen is a whole one.
    fn finish(mut self) -> Result<(), Fault> {
        if self.in_function {
            return Err(Fault::Malformed("a function has no end"));
        }
        if !self.has_memory_model {
            return Err(Fault::Malformed("there is no memory model"));
        }
        // What linkage and names tell is cut away with them.
        if self.defined.is_empty() {
            return Err(Fault::Malformed("there is no function and no variable"));
        }
        self.defined.sort_unstable();
        if self
            .wanted
            .iter()
            .all(|id| self.defined.binary_search(id).is_ok())
        {
            Ok(())
        } else {
            Err(Fault::Malformed("an entry point or symbol is missing"))
        }
    }
}

fn push(list: &mut Vec<u32>, id: u32) -> Result<(), Fault> {
    list.try_reserve(1)?;
    list.push(id);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::testing::opencl_c;

    fn fault(words: &[u32]) -> Option<Fault> {
        check(words.iter().copied()).err()
    }

    #[test]
    fn whole_modules_are_taken_and_cut_ones_are_not() {
        let kernel = opencl_c(
            "constant int table[2] = {1, 2};
            __attribute__((noinline)) int f(int x) { return x * table[x & 1]; }
            kernel void k(global int *p) { *p = f(*p); }",
        );
        let library = opencl_c("int f(int x) { return x + 1; }");
        for module in [kernel, library] {
            assert_eq!(fault(&module), None);
            for length in 0..module.len() {
                assert!(fault(&module[..length]).is_some(), "cut to {length}");
            }
        }
    }

    #[test]
    fn headers_are_checked() {
        let module = opencl_c("kernel void k() {}");
        for (place, value) in [(1, 0x0002_0000), (1, 0x0001_0700), (3, 0), (4, 1)] {
            let mut changed = module.clone();
            changed[place] = value;
            assert!(fault(&changed).is_some(), "word {place} is {value:#x}");
        }
        let mut changed = module.clone();
        changed[HEADER_WORDS] &= 0xffff;
        assert_eq!(
            fault(&changed),
            Some(Fault::Malformed("an instruction has no words"))
        );
    }
}
