//! How many iterations the loops of a function make in all, where that is known.

use super::candidate::candidate;
use super::trip_count;
use crate::compiler::analysis::{Dominators, Loop, Loops};
use crate::compiler::ir::Function;
use std::iter;

/// Up to how many iterations of a loop are counted, and up to how many of them, those of the loops around multiplied, need no
/// care: a sixteenth of what a device with a limit makes.
const FEW: usize = 4096;

/// The most iterations of each loop of [`Loops::all`] in a run of the function.
pub struct Iterations(Vec<Option<usize>>);

impl Iterations {
    pub fn new(
        function: &Function,
        dominators: &Dominators,
        loops: &Loops,
        local_sizes: [u32; 3],
    ) -> Self {
        let all = loops.all();
        let mut most = vec![None; all.len()];
        // Those around come after those within.
        for (at, found) in all.iter().enumerate().rev() {
            let around = found.parent.map_or(Some(1), |parent| most[parent]);
            most[at] = around.and_then(|around: usize| {
                let own = of_each_entry(function, dominators, found, local_sizes)?;
                around.checked_mul(own)
            });
        }
        Self(most)
    }

    /// Whether a loop may use up what a device makes.
    pub fn are_many(&self, found: usize) -> bool {
        self.0[found].is_none_or(|most| most > FEW)
    }
}

/// What [`Iterations::are_many`] says of one loop.
pub fn are_many(
    function: &Function,
    dominators: &Dominators,
    loops: &Loops,
    local_sizes: [u32; 3],
    found: usize,
) -> bool {
    let all = loops.all();
    let mut those_around = iter::successors(Some(&all[found]), |it| Some(&all[it.parent?]));
    let most = those_around.try_fold(1_usize, |most, found| {
        let own = of_each_entry(function, dominators, found, local_sizes)?;
        most.checked_mul(own).filter(|&most| most <= FEW)
    });
    most.is_none()
}

/// The most iterations of a loop each time that it is entered, if that is known and no more than [`FEW`].
fn of_each_entry(
    function: &Function,
    dominators: &Dominators,
    found: &Loop,
    local_sizes: [u32; 3],
) -> Option<usize> {
    candidate(function, dominators, found)
        .and_then(|it| trip_count::count(function, &it, local_sizes, FEW))
        .or_else(|| trip_count::at_most(function, dominators, found, local_sizes, FEW))
}

/// The most iterations that a function makes of its loops, all together; `None` where that is not known.
pub fn most(
    function: &Function,
    dominators: &Dominators,
    loops: &Loops,
    local_sizes: [u32; 3],
) -> Option<usize> {
    let iterations = Iterations::new(function, dominators, loops, local_sizes);
    let mut all = iterations.0.into_iter();
    let sum = all.try_fold(0_usize, |sum, most| sum.checked_add(most?));
    sum.filter(|_| !loops.is_irreducible())
}
