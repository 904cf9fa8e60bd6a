//! What a statement can name, and the numbers that decide.

use crate::random::Random;
use crate::tree::Expr;
use crate::types::{Base, INTEGERS, Type};

/// Decides.
pub struct Dice {
    random: Random,
    /// There are no vectors.
    scalar: bool,
}

impl Dice {
    pub fn new(seed: u64, scalar: bool) -> Self {
        let mut random = Random::new(seed);
        // The first numbers of near seeds are near.
        for _ in 0..4 {
            random.next();
        }
        Self { random, scalar }
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.random.next() >> 11) as usize % bound.max(1)
    }

    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        let at = self.below(all.len());
        all.get(at).cloned()
    }

    pub fn number(&mut self) -> u64 {
        match self.below(8) {
            0 => u64::MAX,
            1 => 1 << self.below(64),
            2 => (1 << self.below(64)) - 1,
            _ => self.random.number(),
        }
    }

    /// A multiple of 1/4 of which products of eight are finite.
    pub fn quarter(&mut self) -> f32 {
        (self.random.float(8000.0) * 4.0).round() / 4.0
    }

    pub fn integer(&mut self) -> Base {
        INTEGERS[self.below(INTEGERS.len())]
    }

    pub fn width(&mut self) -> u32 {
        const WIDTHS: [u32; 10] = [1, 1, 1, 1, 2, 2, 3, 4, 8, 16];
        if self.scalar {
            return 1;
        }
        WIDTHS[self.below(WIDTHS.len())]
    }
}

/// Something of a type that can be read, and at times written.
#[derive(Clone)]
pub struct Variable {
    /// How it is named: `v3`, `s1.f2`, `(*p4)`.
    pub name: String,
    pub ty: Type,
    pub writable: bool,
    /// Whether a `private` (or generic) pointer may point to it.
    pub addressable: bool,
}

/// A power of two of elements that may be indexed.
#[derive(Clone)]
pub struct Array {
    pub name: String,
    pub ty: Type,
    pub length: u32,
    pub writable: bool,
    /// `private`, `local`, `global` or `constant`; empty for a generic pointer.
    pub space: &'static str,
}

/// A variable of a structure.
#[derive(Clone)]
pub struct Aggregate {
    pub name: String,
    /// Index into the structures of the kernel.
    pub structure: usize,
    pub writable: bool,
}

#[derive(Clone, Default)]
pub struct Scope {
    pub variables: Vec<Variable>,
    pub arrays: Vec<Array>,
    pub aggregates: Vec<Aggregate>,
}

/// Something that can be assigned to.
#[derive(Clone)]
pub struct Place {
    pub ty: Type,
    /// With an `@` for each operand.
    pub template: String,
    pub operands: Vec<Expr>,
}

/// A member of a structure.
#[derive(Clone)]
pub enum Member {
    Plain(Type),
    Array(Type, u32),
    Nested(usize),
}

#[derive(Clone)]
pub struct Structure {
    /// `struct k0_s1` or `union k0_s1`
    pub name: String,
    pub members: Vec<(String, Member)>,
    pub packed: bool,
    pub is_union: bool,
}

/// A function that a statement or an expression may call.
#[derive(Clone)]
pub struct Callee {
    pub name: String,
    pub result: Type,
    pub parameters: Vec<Parameter>,
    /// Whether it reads and writes nothing but its parameters.
    pub pure: bool,
}

#[derive(Clone)]
pub enum Parameter {
    Value(Type),
    Pointer(Type),
    Structure(usize),
    /// The elements of an array, how many, and in which address space (empty for any).
    Array(Type, u32, &'static str),
}
