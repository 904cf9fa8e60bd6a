//! Sizes of local variables, carried in the SPIR-V module.
//!
//! clang-22's SPIR-V back end takes the type of a variable in local memory from its uses. Where all of them
//! are atomics, asynchronous copies and the like, which take pointers to elements, or pointers that change in a
//! loop, an array becomes a single element or byte, and a structure its first member. Its LLVM IR still has the size; it is added to the module as a
//! string that our compiler knows:
//!
//! - `OpString "local_size.NAME.bytes"`

use super::instructions::{self, Instruction, opcode};
use std::collections::HashMap;

/// Names of the local variables that may be larger than the module says: those without an array or structure
/// for a type that more is done to than to load and store them.
pub fn doubtful(module: &[u32]) -> Vec<String> {
    let mut names = HashMap::new();
    let mut aggregates = Vec::new();
    let mut pointees = HashMap::new();
    let mut variables = HashMap::new();
    let mut used: Vec<u32> = Vec::new();
    for Instruction { opcode, words } in instructions::all(module) {
        match (opcode, words) {
            (opcode::NAME, [_, id, text @ ..]) => {
                names.insert(*id, instructions::string(text));
            }
            (opcode::TYPE_ARRAY | opcode::TYPE_STRUCT, [_, id, ..]) => aggregates.push(*id),
            (opcode::TYPE_POINTER, [_, id, instructions::WORKGROUP, pointee]) => {
                pointees.insert(*id, *pointee);
            }
            (opcode::VARIABLE, [_, ty, id, ..]) => {
                if let Some(pointee) = pointees.get(ty)
                    && !aggregates.contains(pointee)
                    && let Some(name) = names.get(id)
                {
                    variables.insert(*id, name.clone());
                }
            }
            // Loads and stores state the type of a variable that is no more than a scalar or a vector.
            (opcode::LOAD | opcode::STORE | opcode::NAME | opcode::DECORATE, _)
            | (opcode::ENTRY_POINT, _) => {}
            (_, words) if !variables.is_empty() => {
                used.extend(words.iter().filter(|word| variables.contains_key(word)));
            }
            _ => {}
        }
    }
    let mut doubtful: Vec<String> = variables
        .into_iter()
        .filter(|(id, _)| used.contains(id))
        .map(|(_, name)| name)
        .collect();
    doubtful.sort();
    doubtful
}

/// Adds the sizes that LLVM IR gives to these variables.
///
/// # Errors
/// The name of a variable whose size it does not give, or that can't be added: with the module's own size a kernel
/// would write over what lies behind it.
pub fn add(module: &[u32], variables: &[String], llvm_ir: &str) -> Result<Vec<u32>, String> {
    let mut texts = Vec::new();
    for name in variables {
        let size = size_of_variable(llvm_ir, name).ok_or_else(|| name.clone())?;
        texts.push(format!("local_size.{name}.{size}"));
    }
    instructions::with_debug_info(module, &texts, &[]).ok_or_else(|| variables.join(", "))
}

/// The size of `@NAME = internal addrspace(3) global TYPE undef, align 4`.
fn size_of_variable(llvm_ir: &str, name: &str) -> Option<u64> {
    let quoted = format!("@\"{name}\" =");
    let plain = format!("@{name} =");
    let line = llvm_ir
        .lines()
        .find(|line| line.starts_with(&plain) || line.starts_with(&quoted))?;
    let (_, ty) = line.split_once("addrspace(3) global ")?;
    let mut reader = TypeReader {
        rest: ty,
        llvm_ir,
        depth: 0,
    };
    Some(reader.read()?.size)
}

/// Size and alignment in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    size: u64,
    align: u64,
}

impl Layout {
    fn scalar(size: u64) -> Self {
        Self { size, align: size }
    }
}

/// Reads LLVM types in their text form, as the SPIR-V targets lay them out.
struct TypeReader<'a> {
    rest: &'a str,
    llvm_ir: &'a str,
    /// How many named structures this one is within: those of a module can't hold themselves, but text can.
    depth: u32,
}

impl<'a> TypeReader<'a> {
    fn read(&mut self) -> Option<Layout> {
        self.rest = self.rest.trim_start();
        if self.take("<{") {
            return self.members("}>", true);
        }
        if self.take("{") {
            return self.members("}", false);
        }
        if self.take("[") {
            let count = self.count()?;
            let element = self.read()?;
            self.rest = self.rest.trim_start().strip_prefix(']')?;
            return Some(Layout {
                size: count.checked_mul(element.size.checked_next_multiple_of(element.align)?)?,
                align: element.align,
            });
        }
        if self.take("<") {
            let count = self.count()?;
            let element = self.read()?;
            self.rest = self.rest.trim_start().strip_prefix('>')?;
            let size = count
                .checked_mul(element.size)?
                .checked_next_power_of_two()?;
            return Some(Layout::scalar(size));
        }
        if self.take("%") {
            return self.named();
        }
        let word = self.word();
        Some(match word {
            "half" => Layout::scalar(2),
            "float" => Layout::scalar(4),
            "double" => Layout::scalar(8),
            "ptr" => {
                if self.take(" addrspace(") {
                    self.rest = self.rest.split_once(')')?.1;
                }
                Layout::scalar(8)
            }
            _ => {
                let bits: u64 = word.strip_prefix('i')?.parse().ok()?;
                Layout::scalar(bits.div_ceil(8).checked_next_power_of_two()?)
            }
        })
    }

    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> &'a str {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// `12 x `
    fn count(&mut self) -> Option<u64> {
        let (count, rest) = self.rest.split_once(" x ")?;
        self.rest = rest;
        count.trim().parse().ok()
    }

    fn members(&mut self, end: &str, packed: bool) -> Option<Layout> {
        let mut all = Layout { size: 0, align: 1 };
        loop {
            self.rest = self.rest.trim_start();
            if self.take(end) {
                break;
            }
            let member = self.read()?;
            let align = if packed { 1 } else { member.align };
            all.align = all.align.max(align);
            all.size = all
                .size
                .checked_next_multiple_of(align)?
                .checked_add(member.size)?;
            self.rest = self.rest.trim_start();
            self.take(",");
        }
        all.size = all.size.checked_next_multiple_of(all.align)?;
        Some(all)
    }

    /// `%struct.name`, defined by a line `%struct.name = type { … }`.
    fn named(&mut self) -> Option<Layout> {
        const DEEPEST: u32 = 64;
        let end = match self.rest.strip_prefix('"') {
            Some(quoted) => quoted.find('"')? + 2,
            None => self
                .rest
                .find([' ', ',', ']', '>', '}'])
                .unwrap_or(self.rest.len()),
        };
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        let definition = self.llvm_ir.lines().find_map(|line| {
            line.strip_prefix('%')?
                .strip_prefix(name)?
                .strip_prefix(" = type ")
        })?;
        let mut reader = TypeReader {
            rest: definition,
            llvm_ir: self.llvm_ir,
            depth: self.depth + 1,
        };
        (reader.depth < DEEPEST).then(|| reader.read())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_that_is_not_known_is_an_error() {
        const HEADER: [u32; 5] = [0x0723_0203, 0x1_0400, 0, 1, 0];
        let variables = ["k.a".to_owned()];
        let known = "@k.a = internal addrspace(3) global [4 x i32] undef, align 4\n";
        assert!(add(&HEADER, &variables, known).is_ok());
        for text in ["", "@k.a = internal addrspace(3) global token undef\n"] {
            assert_eq!(add(&HEADER, &variables, text), Err("k.a".to_owned()));
        }
    }

    #[test]
    fn sizes_are_those_of_the_types() {
        let text = "%struct.s = type { i8, [3 x float], %\"struct.t u\" }\n\
            %\"struct.t u\" = type <{ i8, double }>\n\
            @k.a = internal addrspace(3) global [16384 x i16] undef, align 2\n\
            @k.b = internal addrspace(3) global [2 x %struct.s] undef, align 4\n\
            @\"k.c d\" = internal addrspace(3) global [5 x <3 x half>] undef, align 8\n\
            @k.e = internal addrspace(3) global { ptr addrspace(1), i32 } undef, align 8\n\
            @k.f = internal addrspace(3) global %struct.g undef, align 8\n\
            %struct.g = type { %struct.g }\n\
            @k.h = internal addrspace(3) global i32 undef, align 4\n";
        for (name, size) in [
            ("k.a", Some(32768)),
            ("k.b", Some(2 * (4 + 12 + 9 + 3))),
            ("k.c d", Some(40)),
            ("k.e", Some(16)),
            ("k.f", None),
            ("k.h", Some(4)),
            ("k", None),
        ] {
            assert_eq!(size_of_variable(text, name), size, "{name}");
        }
    }
}
