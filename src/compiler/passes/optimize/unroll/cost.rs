//! What the copies of iterations cost a driver that takes long over them, and may cost.
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

use super::variable::variable_of;
use crate::compiler::Capabilities;
use crate::compiler::analysis::AccessWidths;
use crate::compiler::ir::{
    Access, AddressSpace, Block, Function, Inst, Op, Place, Type, Value, VariableId,
};
use std::collections::{HashMap, HashSet};

/// What copies of iterations add to a function's cost at most, all loops together.
const MOST_NS: u64 = 500_000_000;

const NS_OF_INSTRUCTION: u64 = 35_000;

/// Nanoseconds that the back end takes for each pair of scalars in memory.
const NS_OF_SCALARS: u64 = 5_000;

/// Nanoseconds that the back end takes for each pair of uses of a private array.
const NS_OF_USES: u64 = 50;

/// What the back end pays for in some blocks.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    instructions: u64,
    /// Scalars loaded and stored, other than in private and local memory.
    scalars: u64,
    /// The accesses to local memory, which is taken for one array.
    local: AccessWidths,
    /// By private array that stays one: the accesses to it. `None`: where it is not known which array it is.
    arrays: HashMap<Option<VariableId>, AccessWidths>,
}

impl Cost {
    /// `registers` are the variables that do not stay in memory.
    pub fn of(function: &Function, blocks: &[Block], registers: &HashSet<VariableId>) -> Self {
        let mut cost = Self::default();
        let insts = blocks
            .iter()
            .flat_map(|&block| &function.block(block).insts);
        for &inst in insts {
            cost.instructions += 1;
            cost.add(function, inst, registers);
        }
        cost
    }

    fn add(&mut self, function: &Function, inst: Inst, registers: &HashSet<VariableId>) {
        let data = function.inst(inst);
        let types = |values: &[Value]| values.iter().map(|&value| function.ty(value)).collect();
        let (place, types, access, loads, stores): (_, Vec<Type>, _, _, _) = match &data.op {
            Op::Load(place, access) => (place, types(&data.results), *access, true, false),
            Op::Store(place, values, access) => (place, types(values), *access, false, true),
            Op::Atomic { place, .. } => (place, vec![Type::I32], Access::aligned(4), true, true),
            _ => return,
        };
        let widths = match pointer_in(function, place) {
            Some((AddressSpace::Private, pointer)) => {
                let variable = variable_of(function, pointer);
                if variable.is_some_and(|it| registers.contains(&it)) {
                    return;
                }
                self.arrays.entry(variable).or_default()
            }
            Some((AddressSpace::Local, _)) => &mut self.local,
            _ => {
                self.scalars += types.len() as u64;
                return;
            }
        };
        for (is_store, is_made) in [(false, loads), (true, stores)] {
            if is_made {
                widths.add(types.iter().copied(), access, is_store);
            }
        }
    }

    /// Whether there are accesses to memory.
    pub fn accesses_memory(&self) -> bool {
        self.scalars > 0 || !self.local.is_empty() || !self.arrays.is_empty()
    }

    /// What it is with so many copies of another beside it.
    pub fn with(&self, other: &Self, copies: u64) -> Self {
        let mut sum = self.clone();
        sum.instructions += copies * other.instructions;
        sum.scalars += copies * other.scalars;
        sum.local.add_all(&other.local, copies);
        for (&variable, widths) in &other.arrays {
            let all = sum.arrays.entry(variable).or_default();
            all.add_all(widths, copies);
        }
        sum
    }

    /// The time it takes, about.
    pub fn nanoseconds(&self, capabilities: &Capabilities) -> u64 {
        let of_pairs = |count: u64, ns: u64| count.saturating_mul(count).saturating_mul(ns);
        let linear = self.instructions.saturating_mul(NS_OF_INSTRUCTION);
        let uses = self.arrays.values().map(|widths| {
            let elements = widths.elements(widths.best(AddressSpace::Private, capabilities));
            of_pairs(elements.cost(), NS_OF_USES)
        });
        let local = self
            .local
            .elements(self.local.best(AddressSpace::Local, capabilities));
        let scalars = self
            .scalars
            .saturating_add(local.accesses_to_local_memory());
        uses.fold(linear, u64::saturating_add)
            .saturating_add(of_pairs(scalars, NS_OF_SCALARS))
    }
}

/// The pointer of a place, and the address space that it points into.
fn pointer_in(function: &Function, place: &Place) -> Option<(AddressSpace, Value)> {
    let &Place::Pointer(pointer) = place else {
        return None;
    };
    match function.ty(pointer) {
        Type::Ptr(space) => Some((space, pointer)),
        _ => None,
    }
}

/// A function's budget, in estimated nanoseconds of the back end.
#[derive(Debug)]
pub struct TimeBudget<'a> {
    capabilities: &'a Capabilities,
    most_ns: u64,
    /// Loops that are yet to be looked at.
    loops: u64,
}

impl<'a> TimeBudget<'a> {
    /// One for so many loops of a function of that cost.
    pub fn new(before: &Cost, loops: usize, capabilities: &'a Capabilities) -> Self {
        Self {
            capabilities,
            most_ns: before.nanoseconds(capabilities).saturating_add(MOST_NS),
            loops: loops as u64,
        }
    }

    /// How many copies of a loop there may be beside it, `most` at most, in a function that now costs `now`.
    pub fn copies(&mut self, now: &Cost, body: &Cost, most: usize) -> usize {
        let nanoseconds = |cost: &Cost| cost.nanoseconds(self.capabilities);
        let before = nanoseconds(now);
        let part = self.most_ns.saturating_sub(before) / self.loops.max(1);
        self.loops = self.loops.saturating_sub(1);
        let fits = |&copies: &usize| nanoseconds(&now.with(body, copies as u64)) - before <= part;
        (1..=most).take_while(fits).last().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cost of so many instructions, scalars in memory, and loads and stores of words of a private array.
    fn cost(instructions: u64, scalars: u64, words: usize) -> Cost {
        let mut widths = AccessWidths::default();
        for is_store in [false, true] {
            let types = std::iter::repeat_n(Type::I32, words);
            widths.add(types, Access::aligned(4), is_store);
        }
        Cost {
            instructions,
            scalars,
            local: AccessWidths::default(),
            arrays: HashMap::from([(None, widths)]),
        }
    }

    #[test]
    fn copies_are_paid_for_by_what_the_back_end_takes_long_over() {
        let (nothing, device) = (cost(0, 0, 0), Capabilities::lavapipe());
        let copies = |body: &Cost, loops| {
            TimeBudget::new(&nothing, loops, &device).copies(&nothing, body, 64)
        };
        assert_eq!(copies(&cost(20, 1, 0), 1), 64);
        // Four vectors of sixteen: no more than 300 scalars.
        assert_eq!(copies(&cost(8, 64, 0), 1), 4);
        // Two loads and two stores of an array: no more than 3,000 uses.
        assert_eq!(copies(&cost(8, 0, 2), 1), 39);
        // Each loop of many gets a part.
        assert!(copies(&cost(8, 0, 2), 16) < 10);
        assert_eq!(copies(&cost(100_000, 0, 0), 1), 0);
    }

    /// One that moves bytes among longs has all of local memory in words.
    #[test]
    fn parts_of_words_in_local_memory_are_stored_by_two_accesses() {
        let device = Capabilities::lavapipe();
        let local = |types: &[Type]| {
            let mut cost = cost(8, 0, 0);
            for is_store in [false, true] {
                let access = Access::aligned(types[0].size_bytes());
                cost.local.add(types.iter().copied(), access, is_store);
            }
            cost
        };
        let before = local(&[Type::I64; 64]);
        let copies = |body: &Cost| TimeBudget::new(&before, 1, &device).copies(&before, body, 64);
        let (longs, bytes) = (copies(&local(&[Type::I64])), copies(&local(&[Type::I8])));
        assert!(bytes > 0 && 2 * bytes < longs, "{bytes}, {longs}");
    }

    #[test]
    fn what_is_there_already_counts() {
        let (before, body) = (cost(0, 500, 0), cost(8, 16, 0));
        let device = Capabilities::lavapipe();
        let copies = TimeBudget::new(&before, 1, &device).copies(&before, &body, 64);
        assert!((1..8).contains(&copies), "{copies}");
    }
}
