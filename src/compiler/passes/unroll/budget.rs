//! What joined iterations may cost a driver that takes long over them.
//!
//! llvmpipe makes a coroutine of every kernel, with barriers or without, and LLVM (15, `buildCoroutineFrame`) lays out its
//! frame in time that is quadratic in two numbers:
//! - uses of a private array: it asks of every two of them whether work-items may wait between. An access is some for each
//!   work-item of a vector, with a constant index no less than with another. 400 stores take 8 seconds, 100 less than one;
//! - basic blocks. A branch makes none, as llvmpipe has masks instead, but each scalar of an access to other memory does,
//!   being a loop over the work-items: 800 loads take 3 seconds, 1600 take 12.
//!
//! All else is linear in the number of instructions, at 33 µs each. (Measured on Mesa 22.3.6; newer ones are the same with
//! other factors.) So a function has one budget for all its loops, in estimated time, of which each loop that is yet to be
//! looked at gets the same part.

use super::registers::variable_of;
use crate::compiler::ir::{AddressSpace, Block, Function, Op, Place, Type, Value, VariableId};
use std::collections::{HashMap, HashSet};

/// What joined iterations add to a function's cost at most, all loops together.
const JOINED_NS: u64 = 500_000_000;

const NS_OF_INSTRUCTION: u64 = 35_000;

/// Of two scalars in memory.
const NS_OF_SCALARS: u64 = 5_000;

/// Of two uses of a private array.
const NS_OF_USES: u64 = 50;

/// Uses that an access makes of a private array, for each scalar: an address and what is done there, for each of eight
/// work-items. A store also loads what work-items that take no part are to keep.
const USES_OF_LOAD: u64 = 16;
const USES_OF_STORE: u64 = 24;

/// What the back end pays for in some blocks.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    instructions: u64,
    /// Scalars loaded and stored, other than in private memory.
    scalars: u64,
    /// By private array that stays one: its uses. `None`: where it is not known which array it is.
    uses: HashMap<Option<VariableId>, u64>,
}

impl Cost {
    /// `registers` are the variables that do not stay in memory.
    pub fn of(function: &Function, blocks: &[Block], registers: &HashSet<VariableId>) -> Self {
        let mut cost = Self::default();
        let insts = blocks
            .iter()
            .flat_map(|&block| &function.block(block).insts);
        for &inst in insts {
            let data = function.inst(inst);
            cost.instructions += 1;
            let (place, count, uses) = match &data.op {
                Op::Load(place, _) => (place, data.results.len(), USES_OF_LOAD),
                Op::Store(place, values, _) => (place, values.len(), USES_OF_STORE),
                Op::Atomic { place, .. } => (place, 1, USES_OF_LOAD + USES_OF_STORE),
                _ => continue,
            };
            cost.access(function, place, count as u64, uses, registers);
        }
        cost
    }

    fn access(
        &mut self,
        function: &Function,
        place: &Place,
        scalars: u64,
        uses: u64,
        registers: &HashSet<VariableId>,
    ) {
        let Some(pointer) = private_pointer(function, place) else {
            self.scalars += scalars;
            return;
        };
        let variable = variable_of(function, pointer);
        if variable.is_none_or(|it| !registers.contains(&it)) {
            *self.uses.entry(variable).or_default() += uses * scalars;
        }
    }

    /// What it is with so many copies of another beside it.
    fn with(&self, other: &Self, copies: u64) -> Self {
        let mut sum = self.clone();
        sum.instructions += copies * other.instructions;
        sum.scalars += copies * other.scalars;
        for (&variable, uses) in &other.uses {
            *sum.uses.entry(variable).or_default() += copies * uses;
        }
        sum
    }

    /// The time it takes, about.
    fn nanoseconds(&self) -> u64 {
        let of_pairs = |count: u64, ns: u64| count.saturating_mul(count).saturating_mul(ns);
        let linear = self.instructions.saturating_mul(NS_OF_INSTRUCTION);
        let uses = self.uses.values().map(|&uses| of_pairs(uses, NS_OF_USES));
        uses.fold(linear, u64::saturating_add)
            .saturating_add(of_pairs(self.scalars, NS_OF_SCALARS))
    }
}

fn private_pointer(function: &Function, place: &Place) -> Option<Value> {
    match *place {
        Place::Pointer(pointer) => {
            (function.ty(pointer) == Type::Ptr(AddressSpace::Private)).then_some(pointer)
        }
        _ => None,
    }
}

/// A function's budget.
#[derive(Debug)]
pub struct Budget {
    most_ns: u64,
    /// Loops that are yet to be looked at.
    loops: u64,
}

impl Budget {
    /// One for so many loops of a function of that cost.
    pub fn new(before: &Cost, loops: usize) -> Self {
        Self {
            most_ns: before.nanoseconds().saturating_add(JOINED_NS),
            loops: loops as u64,
        }
    }

    /// How many copies of a loop there may be beside it, `most` at most, in a function that now costs `now`.
    pub fn copies(&mut self, now: &Cost, body: &Cost, most: usize) -> usize {
        let before = now.nanoseconds();
        let part = self.most_ns.saturating_sub(before) / self.loops.max(1);
        self.loops = self.loops.saturating_sub(1);
        let fits = |&copies: &usize| now.with(body, copies as u64).nanoseconds() - before <= part;
        (1..=most).take_while(fits).last().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(instructions: u64, scalars: u64, uses: u64) -> Cost {
        Cost {
            instructions,
            scalars,
            uses: HashMap::from([(None, uses)]),
        }
    }

    #[test]
    fn copies_are_paid_for_by_what_the_back_end_takes_long_over() {
        let nothing = cost(0, 0, 0);
        let copies = |body: &Cost, loops| Budget::new(&nothing, loops).copies(&nothing, body, 64);
        assert_eq!(copies(&cost(20, 1, 0), 1), 64);
        // Four vectors of sixteen: no more than 300 scalars.
        assert_eq!(copies(&cost(8, 64, 0), 1), 4);
        // One load and one store of an array: no more than 3,000 uses.
        assert_eq!(copies(&cost(8, 0, 80), 1), 39);
        // Each loop of many gets a part.
        assert!(copies(&cost(8, 0, 80), 16) < 10);
        assert_eq!(copies(&cost(100_000, 0, 0), 1), 0);
    }

    #[test]
    fn what_is_there_already_counts() {
        let (before, body) = (cost(0, 500, 0), cost(8, 16, 0));
        let copies = Budget::new(&before, 1).copies(&before, &body, 64);
        assert!((1..8).contains(&copies), "{copies}");
    }
}
