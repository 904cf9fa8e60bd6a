//! Turns `Op::Copy` into loads and stores.
//!
//! After it no `Op::Copy` is left. A copy of a small constant size becomes straight code, any other a loop.
//! Both move as many bytes at once as alignment and size allow, up to 16 (four words).
//!
//! **Overlap.** What is copied is what lay at the source before, whichever bytes both have: clang makes
//! `memmove` of `for (j = n; j > 0; j--) a[j] = a[j - 1];`, and copies of it. Where [`overlap`] can't show that the
//! two are apart, straight code loads everything before it stores anything. A loop goes from the end that the copy
//! leaves behind: upwards if the target is below the source, downwards if it is above. If that is not known, the
//! addresses are compared.
//!
//! `memset` comes as a copy of a constant whose bytes are all the same: nothing is read for it, and what is
//! known of that constant's alignment does not matter.

use crate::compiler::ir::{
    Access, AddressSpace, Binary, Builder, Compare, Convert, Edge, Global, Module, Op, Place,
    Rewrite, Type, Value, Values, rewrite_instructions,
};
use crate::compiler::{CompileError, Context};
use overlap::Order;

mod overlap;

/// Copies of at most so many loads become straight code.
const STRAIGHT_LOADS: u64 = 32;

/// Straight code that must load everything first has at most so many scalars under way.
const STRAIGHT_SCALARS: u64 = 64;

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
                None => {
                    let order = copy.order(b, None);
                    copy.in_a_loop(b, size_bytes, BYTE, order);
                }
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

/// How many scalars of how many bytes one load takes.
#[derive(Clone, Copy)]
struct Step {
    unit_bytes: u64,
    count: u64,
}

const BYTE: Step = Step {
    unit_bytes: 1,
    count: 1,
};

impl Step {
    fn bytes(self) -> u64 {
        self.unit_bytes * self.count
    }

    fn ty(self) -> Type {
        match self.unit_bytes {
            1 => Type::I8,
            2 => Type::I16,
            _ => Type::I32,
        }
    }
}

/// A step at an offset that is a multiple of `multiple`; 0 is one of all.
#[derive(Clone, Copy)]
struct Part {
    offset: Value,
    multiple: u64,
    step: Step,
}

impl Part {
    /// Where the part lies behind a pointer.
    fn place(&self, b: &mut Builder<'_>, pointer: Value, access: Access) -> (Place, Access) {
        let pointer = match b.function.constant(self.offset) {
            Some(0) => pointer,
            _ => b.ptr_add(pointer, self.offset),
        };
        let align_bytes = match self.multiple {
            0 => access.align_bytes,
            _ => access
                .align_bytes
                .min(1 << self.multiple.trailing_zeros().min(31)),
        };
        let access = Access {
            align_bytes,
            ..access
        };
        (Place::Pointer(pointer), access)
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
        let unit_bytes = self.unit_bytes();
        let count = if unit_bytes == 4 { 4 } else { 1 };
        let step = Step { unit_bytes, count };
        let order = self.order(b, Some(size_bytes));
        let whole = size_bytes / step.bytes() * step.bytes();
        let (loads, scalars) = (whole / step.bytes(), whole / unit_bytes);
        let mut tail_start = 0;
        if loads > STRAIGHT_LOADS || (order != Order::Any && scalars > STRAIGHT_SCALARS) {
            tail_start = whole;
        }
        let tail = self.tail(b, tail_start, size_bytes);
        if order == Order::Any {
            self.loop_until(b, tail_start, step, order);
            for part in tail {
                let values = self.load(b, part);
                self.store(b, part, values);
            }
            return;
        }
        // Nothing that is stored below is read by these loads, and nothing that these stores write is read in the loop.
        let values: Vec<Values> = tail.iter().map(|&part| self.load(b, part)).collect();
        self.loop_until(b, tail_start, step, order);
        for (part, values) in tail.into_iter().zip(values) {
            self.store(b, part, values);
        }
    }

    /// Straight code's parts of the bytes `done..size_bytes`.
    fn tail(&self, b: &mut Builder<'_>, mut done: u64, size_bytes: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        while done < size_bytes {
            let left = size_bytes - done;
            // Largest power of two that is left, but for several words at once.
            let unit_bytes = self.unit_bytes().min(1 << left.ilog2());
            let count = if unit_bytes == 4 {
                (left / 4).min(4)
            } else {
                1
            };
            let step = Step { unit_bytes, count };
            parts.push(Part {
                offset: b.i64(done),
                multiple: done,
                step,
            });
            done += step.bytes();
        }
        parts
    }

    /// Bytes that one load can move wherever it stands in the copy.
    fn unit_bytes(&self) -> u64 {
        let align = match self.fill {
            Some(_) => self.to_access.align_bytes,
            None => self.to_access.align_bytes.min(self.from_access.align_bytes),
        };
        u64::from(align.clamp(1, 4))
    }

    /// In which order the bytes may be moved.
    fn order(&self, b: &Builder<'_>, size_bytes: Option<u64>) -> Order {
        match self.fill {
            Some(_) => Order::Any,
            None => overlap::order(b.function, self.to, self.from, size_bytes),
        }
    }

    fn loop_until(&self, b: &mut Builder<'_>, size_bytes: u64, step: Step, order: Order) {
        if size_bytes > 0 {
            let size = b.i64(size_bytes);
            self.in_a_loop(b, size, step, order);
        }
    }

    /// Copies `size_bytes`, a multiple of the step, step by step.
    fn in_a_loop(&self, b: &mut Builder<'_>, size_bytes: Value, step: Step, order: Order) {
        let size = b.resize_int(size_bytes, Type::I64, false);
        let down = self.is_downwards(b, order);
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
        let next = b.binary_const(Binary::Add, done, step.bytes());
        let offset = match down {
            None => done,
            Some(down) => {
                let from_the_end = b.binary(Binary::Sub, size, next);
                b.select(down, from_the_end, done)
            }
        };
        let part = Part {
            offset,
            // Every step starts at a multiple of its size.
            multiple: step.bytes(),
            step,
        };
        let values = self.load(b, part);
        self.store(b, part, values);
        b.jump(Edge::new(head, [next]));
        b.switch_to(after);
    }

    /// Whether a loop starts with the last bytes; none if it never does.
    fn is_downwards(&self, b: &mut Builder<'_>, order: Order) -> Option<Value> {
        match order {
            Order::Any | Order::Upwards => None,
            Order::Downwards => Some(b.bool(true)),
            Order::Unknown => {
                let (mut to, mut from) = (self.to, self.from);
                let generic = Type::Ptr(AddressSpace::Generic);
                if b.ty(to) != b.ty(from) {
                    for pointer in [&mut to, &mut from] {
                        if b.ty(*pointer) != generic {
                            *pointer = b.convert(Convert::AddressSpaceCast, *pointer, generic);
                        }
                    }
                }
                Some(b.compare(Compare::ULess, from, to))
            }
        }
    }

    fn load(&self, b: &mut Builder<'_>, part: Part) -> Values {
        let Step { count, .. } = part.step;
        let ty = part.step.ty();
        match self.fill {
            Some(byte) => {
                let word = b.constant(ty, u64::from_ne_bytes([byte; 8]) & ty.mask());
                Values::from_elem(word, count as usize)
            }
            None => {
                let (from, access) = part.place(b, self.from, self.from_access);
                b.load(from, ty, count as usize, access)
            }
        }
    }

    fn store(&self, b: &mut Builder<'_>, part: Part, values: Values) {
        let (to, access) = part.place(b, self.to, self.to_access);
        b.store(to, values, access);
    }
}

#[cfg(test)]
mod tests;
