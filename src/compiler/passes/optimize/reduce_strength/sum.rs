//! Places in device memory as sums, as far as a loop is concerned: what is the same in all iterations, counters, and the rest.

use crate::compiler::analysis::{Induction, Invariance, Linear, Loop};
use crate::compiler::evaluate;
use crate::compiler::ir::{
    Binary, Block, Builder, Convert, Function, Inst, InstFlags, Op, Type, Value, ValueDef,
};
use smallvec::SmallVec;

/// How deep a place is followed.
const DEPTH: u32 = 12;

/// How an integer becomes one of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extension {
    None,
    Zero,
    Sign,
}

/// An integer as one of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extended {
    pub value: Value,
    pub extension: Extension,
}

impl Extended {
    pub fn build(self, b: &mut Builder<'_>) -> Value {
        let convert = match self.extension {
            Extension::None => return self.value,
            Extension::Zero => Convert::ZeroExtend,
            Extension::Sign => Convert::SignExtend,
        };
        b.convert(convert, self.value, Type::I64)
    }
}

/// What a summand is, before it is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A value that is the same in all iterations.
    Same(Extended),
    /// One of [`Counted::counters`].
    Counter(usize, Extension),
    /// Anything else.
    Other(Extended),
}

/// A part, times a constant, times something that is the same in all iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    pub part: Part,
    pub by: Option<Extended>,
    pub factor: u64,
}

impl Term {
    pub fn is_same(&self) -> bool {
        matches!(self.part, Part::Same(_))
    }

    pub fn is_other(&self) -> bool {
        matches!(self.part, Part::Other(_))
    }
}

pub type Terms = SmallVec<[Term; 4]>;

/// A parameter of the header to which each iteration adds the same.
pub struct Counter {
    pub param: Value,
    pub first: Value,
    pub step: Value,
    /// What the addition promises.
    pub flags: InstFlags,
}

/// A loop with one edge in and one back.
pub struct Counted {
    pub header: Block,
    pub blocks: Vec<Block>,
    pub before: Block,
    pub latch: Block,
    pub invariance: Invariance,
    pub counters: Vec<Counter>,
}

impl Counted {
    pub fn new(function: &Function, found: &Loop) -> Option<Self> {
        let [(before, first), (latch, next)] = found.entry_and_back(function)?;
        let invariance = Invariance::of(function, &found.blocks);
        let params = &function.block(found.header).params;
        let counters = params
            .iter()
            .zip(&first.args)
            .zip(&next.args)
            .filter_map(|((&param, &first), &next)| {
                let found = Induction::of(function, param, next)?;
                let counts = found.op == Binary::Add && invariance.is_given(function, found.by);
                counts.then_some(Counter {
                    param,
                    first,
                    step: found.by,
                    flags: found.flags,
                })
            })
            .collect();
        Some(Self {
            header: found.header,
            blocks: found.blocks.clone(),
            before,
            latch,
            invariance,
            counters,
        })
    }

    fn is_same(&self, function: &Function, value: Value) -> bool {
        self.invariance.is_given(function, value)
    }
}

/// The instruction behind a value.
fn definition(function: &Function, value: Value) -> Option<(Inst, &Op)> {
    match function.value(value).def {
        ValueDef::Result { inst, .. } => Some((inst, &function.inst(inst).op)),
        ValueDef::Parameter(_) => None,
    }
}

/// A place in device memory, as a pointer from before the loop and a sum in bytes.
#[derive(Debug)]
pub struct Sum {
    pub base: Value,
    /// Sorted, no two of them alike.
    pub terms: Terms,
    pub constant: u64,
}

impl Sum {
    /// None for what is not reckoned from a pointer from before the loop.
    pub fn of(function: &Function, counted: &Counted, pointer: Value) -> Option<Self> {
        let mut sum = Self {
            base: pointer,
            terms: Terms::new(),
            constant: 0,
        };
        while counted.invariance.is_defined_inside(sum.base) {
            let &Op::PtrAdd(base, offset) = function.op_of(sum.base)? else {
                return None;
            };
            if function.ty(offset) != Type::I64 {
                return None;
            }
            let offset = Extended {
                value: offset,
                extension: Extension::None,
            };
            sum.add(function, counted, offset, (1, None), DEPTH);
            sum.base = base;
        }
        sum.terms.sort_unstable();
        sum.terms.dedup_by(|next, term| {
            let alike = (next.part, next.by) == (term.part, term.by);
            if alike {
                term.factor = term.factor.wrapping_add(next.factor);
            }
            alike
        });
        sum.terms.retain(|term| term.factor != 0);
        Some(sum)
    }

    /// Adds an integer times a constant and, if there is one, something else.
    fn add(
        &mut self,
        function: &Function,
        counted: &Counted,
        Extended { value, extension }: Extended,
        (factor, by): (u64, Option<Extended>),
        depth: u32,
    ) {
        let of = |value| Extended { value, extension };
        if let Some(bits) = function.constant(value) {
            let constant = extended(bits, function.ty(value), extension).wrapping_mul(factor);
            match by {
                None => self.constant = self.constant.wrapping_add(constant),
                Some(by) => self.push(Part::Same(by), None, constant),
            }
            return;
        }
        if counted.is_same(function, value) {
            return self.push(Part::Same(of(value)), by, factor);
        }
        let counter = counted.counters.iter().position(|it| it.param == value);
        if let Some(counter) = counter
            && does_not_wrap(counted.counters[counter].flags, extension)
        {
            return self.push(Part::Counter(counter, extension), by, factor);
        }
        let Some((inst, op)) = definition(function, value).filter(|_| depth > 0) else {
            return self.push(Part::Other(of(value)), by, factor);
        };
        let depth = depth - 1;
        let widens = does_not_wrap(function.inst(inst).flags, extension);
        match Linear::of(function, value).filter(|_| widens) {
            Some(Linear::Sum(a, b)) => {
                self.add(function, counted, of(a), (factor, by), depth);
                return self.add(function, counted, of(b), (factor, by), depth);
            }
            Some(Linear::Difference(a, b)) => {
                self.add(function, counted, of(a), (factor, by), depth);
                let less = factor.wrapping_neg();
                return self.add(function, counted, of(b), (less, by), depth);
            }
            Some(Linear::Shifted(a, amount)) => {
                let factor = factor.wrapping_mul(1 << amount);
                return self.add(function, counted, of(a), (factor, by), depth);
            }
            Some(Linear::Product(a, b)) => {
                if let Some(bits) = function.constant(b) {
                    let bits = extended(bits, function.ty(b), extension);
                    let factor = factor.wrapping_mul(bits);
                    return self.add(function, counted, of(a), (factor, by), depth);
                }
                let (a, b) = if counted.is_same(function, a) {
                    (b, a)
                } else {
                    (a, b)
                };
                if by.is_none() && counted.is_same(function, b) {
                    return self.add(function, counted, of(a), (factor, Some(of(b))), depth);
                }
            }
            Some(Linear::Truncated(_)) | None => {}
        }
        match *op {
            Op::Convert(convert @ (Convert::ZeroExtend | Convert::SignExtend), from)
                if extension == Extension::None && function.ty(from) == Type::I32 =>
            {
                let from = Extended {
                    value: from,
                    extension: match convert {
                        Convert::ZeroExtend => Extension::Zero,
                        _ => Extension::Sign,
                    },
                };
                self.add(function, counted, from, (factor, by), depth);
            }
            _ => self.push(Part::Other(of(value)), by, factor),
        }
    }

    fn push(&mut self, part: Part, by: Option<Extended>, factor: u64) {
        self.terms.push(Term { part, by, factor });
    }
}

/// Whether the summands of an integer may be extended in its place.
fn does_not_wrap(flags: InstFlags, extension: Extension) -> bool {
    match extension {
        Extension::None => true,
        Extension::Zero => flags.no_unsigned_wrap,
        Extension::Sign => flags.no_signed_wrap,
    }
}

/// A constant in 64 bits.
fn extended(bits: u64, ty: Type, extension: Extension) -> u64 {
    match extension {
        Extension::Sign => evaluate::signed(ty, bits) as u64,
        _ => bits,
    }
}
