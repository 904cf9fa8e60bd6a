//! Turns `Op::Copy` into loads and stores.
//!
//! After it no `Op::Copy` is left. A copy of a small constant size becomes straight code, any other a loop.
//! Both move as many bytes at once as alignment and size allow, up to 16 (four words).
//!
//! `memset` comes as a copy of a constant whose bytes are all the same: nothing is read for it, and what is
//! known of that constant's alignment does not matter.

use crate::compiler::ir::{
    Access, AddressSpace, Binary, Builder, Compare, Edge, Global, Module, Op, Place, Rewrite, Type,
    Value, Values, rewrite_instructions,
};
use crate::compiler::{CompileError, Context};

/// Copies of at most so many loads become straight code.
const STRAIGHT_LOADS: u64 = 32;

/// Runs the pass on every function.
pub fn run(module: &mut Module, _cx: &Context<'_>) -> Result<(), CompileError> {
    let patterns: Vec<Option<u8>> = module.globals.iter().map(repeated_byte).collect();
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            let Op::Copy {
                to,
                from,
                size_bytes,
                to_access,
                from_access,
            } = b.function.inst(inst).op
            else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            let fill = match b.function.op_of(from) {
                Some(Op::GlobalAddress(global)) => patterns.get(global.index()).copied().flatten(),
                _ => None,
            };
            let copy = Copy {
                to,
                from,
                to_access,
                from_access,
                fill,
            };
            match b.function.constant(size_bytes) {
                Some(size) => copy.constant(b, size),
                None => copy.in_a_loop(b, size_bytes, 1, 1),
            }
            Ok(Rewrite::Replace(Values::new()))
        })?;
    }
    Ok(())
}

/// The byte that a constant consists of.
fn repeated_byte(global: &Global) -> Option<u8> {
    let plain = global.space == AddressSpace::Constant
        && global.import.is_none()
        && global.relocations.is_empty();
    match &global.initializer {
        _ if !plain => None,
        None => Some(0),
        Some(bytes) => {
            let first = *bytes.first()?;
            bytes.iter().all(|&byte| byte == first).then_some(first)
        }
    }
}

struct Copy {
    to: Value,
    from: Value,
    to_access: Access,
    from_access: Access,
    /// What all bytes are that `from` points to, if that is known.
    fill: Option<u8>,
}

impl Copy {
    fn constant(&self, b: &mut Builder<'_>, size_bytes: u64) {
        let unit = self.unit_bytes();
        let words = if unit == 4 { 4 } else { 1 };
        let chunk = unit * words;
        let whole = size_bytes / chunk * chunk;
        let mut done = 0;
        if whole / chunk > STRAIGHT_LOADS {
            let size = b.i64(whole);
            self.in_a_loop(b, size, unit, words);
            done = whole;
        }
        while done < size_bytes {
            let left = size_bytes - done;
            // Largest power of two that is left, but for several words at once.
            let unit = unit.min(1 << left.ilog2());
            let count = if unit == 4 { (left / 4).min(4) } else { 1 };
            let offset = b.i64(done);
            self.part(b, offset, done, unit, count);
            done += unit * count;
        }
    }

    /// Bytes that one load can move wherever it stands in the copy.
    fn unit_bytes(&self) -> u64 {
        let align = match self.fill {
            Some(_) => self.to_access.align_bytes,
            None => self.to_access.align_bytes.min(self.from_access.align_bytes),
        };
        u64::from(align.clamp(1, 4))
    }

    /// Copies `size_bytes`, a multiple of `unit * count`, in steps of that.
    fn in_a_loop(&self, b: &mut Builder<'_>, size_bytes: Value, unit: u64, count: u64) {
        let size = b.resize_int(size_bytes, Type::I64, false);
        let (head, body, after) = (
            b.function.add_block(),
            b.function.add_block(),
            b.function.add_block(),
        );
        let done = b.function.add_param(head, Type::I64);
        let zero = b.i64(0);
        b.jump(Edge::new(head, [zero]));
        b.switch_to(head);
        let more = b.compare(Compare::ULess, done, size);
        b.branch(more, body, after);
        b.switch_to(body);
        // Every step starts at a multiple of its size.
        self.part(b, done, unit * count, unit, count);
        let next = b.binary_const(Binary::Add, done, unit * count);
        b.jump(Edge::new(head, [next]));
        b.switch_to(after);
    }

    /// Copies `count` times `unit` bytes at an offset that is a multiple of what `multiple` is one of.
    fn part(&self, b: &mut Builder<'_>, offset: Value, multiple: u64, unit: u64, count: u64) {
        let ty = match unit {
            1 => Type::I8,
            2 => Type::I16,
            _ => Type::I32,
        };
        let at = |b: &mut Builder<'_>, pointer: Value, access: Access| {
            let pointer = match b.function.constant(offset) {
                Some(0) => pointer,
                _ => b.ptr_add(pointer, offset),
            };
            let align_bytes = match multiple {
                0 => access.align_bytes,
                _ => access
                    .align_bytes
                    .min(1 << multiple.trailing_zeros().min(31)),
            };
            (
                Place::Pointer(pointer),
                Access {
                    align_bytes,
                    ..access
                },
            )
        };
        let values = match self.fill {
            Some(byte) => {
                let word = b.constant(ty, u64::from_ne_bytes([byte; 8]) & ty.mask());
                Values::from_elem(word, count as usize)
            }
            None => {
                let (from, from_access) = at(b, self.from, self.from_access);
                b.load(from, ty, count as usize, from_access)
            }
        };
        let (to, to_access) = at(b, self.to, self.to_access);
        b.store(to, values, to_access);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{FuncId, Function, GlobalId, Terminator};
    use crate::compiler::passes::testing;
    use smallvec::smallvec;

    /// Copies `size` bytes (or as many as the third parameter says) in memory and compares all of it.
    fn check(size: Option<u64>, align_bytes: u32, expect_loop: bool) {
        let mut function = Function::new("k");
        let entry = function.entry();
        let ty = Type::Ptr(AddressSpace::Global);
        let to = function.add_param(entry, ty);
        let from = function.add_param(entry, ty);
        let dynamic = function.add_param(entry, Type::I64);
        let mut b = Builder::new(&mut function, entry);
        let size_bytes = size.map_or(dynamic, |size| b.i64(size));
        b.op0(Op::Copy {
            to,
            from,
            size_bytes,
            to_access: Access::aligned(align_bytes),
            from_access: Access::aligned(align_bytes),
        });
        b.terminate(Terminator::Return(smallvec![]));
        let mut module = testing::module_of(function);
        testing::run(&mut module, run).unwrap();
        assert_eq!(module.functions[0].layout.len() > 1, expect_loop);

        let size = size.unwrap_or(23) as usize;
        let mut interpreter = Interpreter::new(&module);
        let source: Vec<u8> = (0..size).map(|i| (i * 7 + 1) as u8).collect();
        let from = interpreter.allocate(&source);
        let to = interpreter.allocate(&vec![0xee; size + 16]);
        interpreter
            .run(FuncId(0), &[to, from, size as u64])
            .unwrap();
        assert_eq!(interpreter.bytes(to, size), source);
        assert_eq!(interpreter.bytes(to + size as u64, 16), [0xee; 16]);
    }

    #[test]
    fn copies_of_every_size_and_alignment_copy_just_that() {
        for align in [1, 2, 4, 16] {
            for size in [0, 1, 2, 3, 4, 7, 8, 15, 16, 31] {
                check(Some(size), align, false);
            }
        }
    }

    #[test]
    fn copies_of_a_repeated_byte_read_nothing() {
        for (initializer, byte) in [(None, 0), (Some(vec![0xa5; 600]), 0xa5)] {
            let mut function = Function::new("k");
            let entry = function.entry();
            let to = function.add_param(entry, Type::Ptr(AddressSpace::Global));
            let mut b = Builder::new(&mut function, entry);
            let constant = Type::Ptr(AddressSpace::Constant);
            let from = b.op1(Op::GlobalAddress(GlobalId(0)), constant);
            let size_bytes = b.i64(599);
            b.op0(Op::Copy {
                to,
                from,
                size_bytes,
                to_access: Access::aligned(4),
                from_access: Access::aligned(1),
            });
            b.terminate(Terminator::Return(smallvec![]));
            let mut module = testing::module_of(function);
            module.add_global(Global {
                name: "bytes".into(),
                space: AddressSpace::Constant,
                size_bytes: 600,
                align_bytes: 1,
                initializer,
                relocations: Vec::new(),
                spec_id: None,
                export: None,
                import: None,
            });
            testing::run(&mut module, run).unwrap();
            let text = module.to_string();
            assert!(!text.contains("load"), "{text}");
            let mut interpreter = Interpreter::new(&module);
            let to = interpreter.allocate(&[0xee; 616]);
            interpreter.run(FuncId(0), &[to]).unwrap();
            assert_eq!(interpreter.bytes(to, 599), [byte; 599]);
            assert_eq!(interpreter.bytes(to + 599, 17), [0xee; 17]);
        }
    }

    #[test]
    fn long_copies_are_loops() {
        check(Some(100), 1, true);
        check(Some(1027), 4, true);
        check(Some(512), 16, false);
        check(None, 4, true);
    }
}
