//! Puts together a module of some of the library's functions and what they reach.

use super::index::{HEADER_WORDS, Index, Instructions, LINKAGE_ATTRIBUTES, opcode, opcode_of};
use crate::compiler::CompileError;
use std::collections::BTreeSet;

/// `Linkage Type` `Import`.
const IMPORT: u32 = 1;

impl Index {
    /// The words of a module that defines `wanted` functions and their callees. Functions for which
    /// `elsewhere` holds are only declared (`Import`), and nothing is included on their behalf.
    pub fn module_with(
        &self,
        wanted: &[&str],
        elsewhere: impl Fn(&str) -> bool,
    ) -> Result<Vec<u32>, CompileError> {
        let mut closure = Closure {
            library: self,
            defined: BTreeSet::new(),
            declared: BTreeSet::new(),
            globals: BTreeSet::new(),
        };
        let mut functions = Vec::new();
        for name in wanted {
            functions.push(self.function(name).ok_or_else(|| {
                CompileError::internal(format!("the built-in library has no function '{name}'"))
            })?);
        }
        while let Some(id) = functions.pop() {
            let offset = self.definitions[id as usize];
            let name = self.names.get(&id).map_or("", String::as_str);
            let new = if elsewhere(name) {
                closure.declared.insert(offset);
                closure.declare(offset);
                continue;
            } else {
                closure.defined.insert(offset)
            };
            if new {
                functions.extend(closure.define(offset));
            }
        }
        Ok(closure.words())
    }

    fn inst(&self, offset: usize) -> &[u32] {
        Instructions::new(&self.words, offset)
            .next()
            .map_or(&[], |(_, inst)| inst)
    }

    /// The instructions of the function at an offset, to `OpFunctionEnd`.
    fn body(&self, offset: usize) -> impl Iterator<Item = &[u32]> {
        let mut ended = false;
        Instructions::new(&self.words, offset)
            .map(|(_, inst)| inst)
            .take_while(move |inst| {
                !std::mem::replace(&mut ended, opcode_of(inst) == opcode::FUNCTION_END)
            })
    }
}

/// What goes into the module, by offset in the library, so that its order is kept.
struct Closure<'a> {
    library: &'a Index,
    defined: BTreeSet<usize>,
    declared: BTreeSet<usize>,
    globals: BTreeSet<usize>,
}

impl Closure<'_> {
    /// Includes what a function's definition refers to; returns the functions it calls.
    fn define(&mut self, offset: usize) -> Vec<u32> {
        let mut callees = Vec::new();
        for inst in self.library.body(offset) {
            self.include_operands(inst, &mut callees);
        }
        callees
    }

    /// Includes what a function's declaration refers to.
    fn declare(&mut self, offset: usize) {
        for inst in self.library.body(offset) {
            match opcode_of(inst) {
                opcode::FUNCTION | opcode::FUNCTION_PARAMETER => {
                    self.include_operands(inst, &mut Vec::new());
                }
                _ => break,
            }
        }
    }

    /// Includes the types, constants and variables among an instruction's operands; functions go to
    /// `callees`.
    fn include_operands(&mut self, inst: &[u32], callees: &mut Vec<u32>) {
        let mut work: Vec<u32> = references(inst).collect();
        while let Some(id) = work.pop() {
            let offset = match self.library.definitions.get(id as usize) {
                Some(&offset) if offset != 0 => offset,
                _ => continue,
            };
            let inst = self.library.inst(offset);
            if opcode_of(inst) == opcode::FUNCTION {
                // The function's own header names itself.
                if !self.defined.contains(&offset) {
                    callees.push(id);
                }
            } else if self.globals.insert(offset) {
                work.extend(references(inst));
            }
        }
    }

    fn words(&self) -> Vec<u32> {
        let library = self.library;
        let mut words = library.words[..HEADER_WORDS].to_vec();
        for &offset in &library.preamble {
            words.extend_from_slice(library.inst(offset));
        }
        for &(target, offset) in &library.decorations {
            let definition = library.definitions.get(target as usize).copied();
            let declared = definition.is_some_and(|offset| self.declared.contains(&offset));
            let included = definition.is_some_and(|offset| {
                self.globals.contains(&offset) || self.defined.contains(&offset)
            });
            let inst = library.inst(offset);
            if included || declared {
                words.extend_from_slice(inst);
            }
            if declared && inst.get(2) == Some(&LINKAGE_ATTRIBUTES) {
                words.pop();
                words.push(IMPORT);
            }
        }
        for &offset in &self.globals {
            words.extend_from_slice(library.inst(offset));
        }
        for &offset in &self.declared {
            for inst in library.body(offset) {
                if opcode_of(inst) == opcode::LABEL {
                    break;
                }
                if opcode_of(inst) != opcode::FUNCTION_END {
                    words.extend_from_slice(inst);
                }
            }
            words.push(1 << 16 | u32::from(opcode::FUNCTION_END));
        }
        for &offset in &self.defined {
            for inst in library.body(offset) {
                words.extend_from_slice(inst);
            }
        }
        words
    }
}

/// The words of an instruction that may be ids of types, constants, variables and functions. Words known
/// to be literals are left out; a literal of a rarer instruction taken for an id includes too much, which
/// does no harm.
fn references(inst: &[u32]) -> impl Iterator<Item = u32> {
    let (first, last) = match opcode_of(inst) {
        opcode::TYPE_INT | opcode::TYPE_FLOAT => (1, 1),
        opcode::TYPE_VECTOR => (2, 3),
        opcode::TYPE_POINTER => (3, 4),
        opcode::TYPE_ARRAY => (2, 4),
        opcode::CONSTANT => (1, 2),
        opcode::LOAD => (1, 4),
        opcode::STORE => (1, 3),
        opcode::COMPOSITE_EXTRACT => (1, 4),
        opcode::COMPOSITE_INSERT | opcode::VECTOR_SHUFFLE => (1, 5),
        _ => (1, inst.len()),
    };
    let skipped = match opcode_of(inst) {
        opcode::EXT_INST => 4,
        opcode::VARIABLE | opcode::FUNCTION => 3,
        _ => 0,
    };
    inst.iter()
        .enumerate()
        .filter(move |(index, _)| (first..last).contains(index) && *index != skipped)
        .map(|(_, word)| *word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn libclc() -> Index {
        Index::of_bytes(include_bytes!(concat!(env!("OUT_DIR"), "/libclc.spv"))).unwrap()
    }

    fn count(words: &[u32], wanted: u16) -> usize {
        Instructions::new(words, HEADER_WORDS)
            .filter(|(_, inst)| opcode_of(inst) == wanted)
            .count()
    }

    #[test]
    fn takes_the_closure_and_no_more() {
        let library = libclc();
        let words = library.module_with(&["_Z3tanf"], |_| false).unwrap();
        // tan, __clc_tan, argument reduction (small, large, and helpers), the kernel.
        let functions = count(&words, opcode::FUNCTION);
        assert!((6..=12).contains(&functions), "{functions}");
        assert!(words.len() < 12_000, "{}", words.len());
        assert_eq!(functions, count(&words, opcode::FUNCTION_END));
    }

    #[test]
    fn what_is_elsewhere_is_declared() {
        let library = libclc();
        let elsewhere = |name: &str| name == "_Z9__clc_tanf";
        let words = library.module_with(&["_Z3tanf"], elsewhere).unwrap();
        assert_eq!(count(&words, opcode::FUNCTION), 2);
        assert_eq!(count(&words, opcode::LABEL), 1);
    }

    #[test]
    fn a_function_that_is_not_there_is_named() {
        let library = libclc();
        let error = library.module_with(&["_Z3foof"], |_| false).unwrap_err();
        assert!(error.reason.contains("_Z3foof"));
    }
}
